"""`rewardline check` judges cases again, and compares with what a person said of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer
import uvloop
from rewardline import RewardlineError

from service.cli.console import fail, quiet_settings, say
from service.cli.local_scorer import scorer_here
from service.cli.remote_scorer import scorer_at
from service.recipes.files import BadRecipes
from service.rollouts.bad_input import BadInput, Json
from service.row_files.reading import MAX_OWN_LINE_BYTES, BadData, DataFile, Unread
from service.run.core import CannotStart
from service.settings import SettingsError

_AT_ONCE: Final = 256
_TOLERANCE: Final = 1e-6
_ITEM: Final = (
    *(
        "id",
        "verifier",
        "recipe",
        "checks",
        "response",
        "reference",
        "ground_truth",
        "test_cases",
        "prompt",
        "messages",
    ),
    *("params", "data_source", "domain", "metadata"),
)
_DIFFERS, _NOT_JUDGED = 1, 3
Case = tuple[str, Json, float | str, str]
"""Its file and line, the item, what is expected of it, and why."""


def command(
    files: Annotated[list[Path], typer.Argument(metavar="CASES...", help="JSON lines: items with `expected`.")],
    url: Annotated[str | None, typer.Option(help="Have this service judge; default: here.")] = None,
    api_key: Annotated[str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="For --url.")] = None,
) -> None:
    """Judge cases, and say which do not get the verdict that they should: those that the page Log kept, or your own.

    `expected` is a score, true, false or "invalid". Exit code 1: some differ; 2: a mistake; 3: some could not be judged.
    """
    try:
        cases = [case for file in files for case in _cases(file)]
        if not cases:
            raise BadInput(f"no cases in {', '.join(map(str, files))}")
        scorer = scorer_at(url, api_key) if url else scorer_here(quiet_settings())
        results = uvloop.run(_judged(scorer, [item for _, item, _, _ in cases]))
    except (BadInput, BadData, BadRecipes, RewardlineError, CannotStart, SettingsError) as error:
        raise fail(str(error)) from error
    verdicts = [_verdict(case, result) for case, result in zip(cases, results, strict=True)]
    for _, message in verdicts:
        if message:
            say(message)
    kinds = [kind for kind, _ in verdicts]
    say(f"{kinds.count(0)} of {len(cases)} cases hold.")
    if code := _DIFFERS if _DIFFERS in kinds else max(kinds):
        raise typer.Exit(code)


def _cases(path: Path) -> Iterator[Case]:
    try:
        for number, value, _ in DataFile(path, max_line_bytes=MAX_OWN_LINE_BYTES).lines():
            origin = f"{path}:{number}"
            if isinstance(value, Unread):
                raise BadInput(f"{origin}: {value.problem}")
            if not isinstance(value, dict) or "response" not in value:
                raise BadInput(f"{origin}: a case is an object with response, verifier or recipe, and expected")
            item = {name: value[name] for name in _ITEM if value.get(name) is not None}
            yield origin, item, _expected(value.get("expected"), origin), str(value.get("note") or "")
    except BadData as error:
        raise BadInput(f"{path}: {error}") from error


def _expected(value: Any, origin: str) -> float | str:
    if value == "invalid" or (isinstance(value, int | float) and 0 <= value <= 1):
        return value if isinstance(value, str) else float(value)
    raise BadInput(f'{origin}: expected is {value!r}; write a score from 0 to 1, true, false or "invalid"')


async def _judged(scorer: Any, items: Sequence[Json]) -> list[Json]:
    async with scorer as judge:
        results: list[Json] = []
        for start in range(0, len(items), _AT_ONCE):
            results.extend(await judge(items[start : start + _AT_ONCE]))
        return results


def _verdict(case: Case, result: Json) -> tuple[int, str]:
    """The exit code that the case alone would give, and the message about it."""
    origin, _, expected, note = case
    status, score = result["status"], result["score"]
    if status == "ok" and not isinstance(expected, str) and abs(score - expected) <= _TOLERANCE:
        return 0, ""
    if status == expected:
        return 0, ""
    is_failed = status == "failed"
    got = f"{score:g}" if status == "ok" else status
    wanted = expected if isinstance(expected, str) else f"{expected:g}"
    detail = (result.get("detail") or {}).get("message")
    why = "; ".join(part for part in (result["reason"].replace("_", " "), detail, note and f"note: {note}") if part)
    return _NOT_JUDGED if is_failed else _DIFFERS, f"{origin}: expected {wanted}, got {got} ({why})"
