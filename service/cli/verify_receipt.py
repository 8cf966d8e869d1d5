"""`rewardline verify-receipt FILE` checks receipts, and judges their items again."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
import uvloop
from rewardline import RewardlineError

from service.cli.console import fail, quiet_settings, say
from service.cli.local_scorer import scorer_here
from service.cli.remote_scorer import scorer_at
from service.diff import stored
from service.recipes.files import BadRecipes
from service.rollouts.bad_input import BadInput, Json
from service.rollouts.columns import Columns
from service.rollouts.judging import judge_fields
from service.row_files.reading import MAX_OWN_LINE_BYTES, BadData, DataFile
from service.run.core import CannotStart
from service.settings import SettingsError
from service.versions.receipts import (
    FIELD,
    JUDGES,
    LOGGED,
    PARTS,
    VERDICT,
    BadKeyFile,
    Key,
    problems_of,
    read_key,
    same_verdict,
)

_SEGMENT: Final = 256
_MAX_SHOWN: Final = 50
_WRONG, _NOT_JUDGED = 1, 3
_LACKS: Final = "verdicts without a receipt"
_UNREAD: Final = "lines that are not rows"
_LACKS_IN_LOG: Final = "records without a receipt"
"""A service that is not set to `receipts: always` makes them, too."""


class _Row(NamedTuple):
    line: int
    item: Json
    receipt: Any
    result: Mapping[str, Any]
    parts: Sequence[str]
    """Those that the item would hold."""


def command(
    file: Annotated[
        Path,
        typer.Argument(
            exists=True,
            help="Rows with an item and its `result` or `receipt`, or an audit log: what `rewardline score` reads.",
        ),
    ],
    key: Annotated[
        Path | None, typer.Option(help="The key: Ed25519 as PEM (public or private), or the secret of HMAC.")
    ] = None,
    judge: Annotated[bool, typer.Option(help="Judge the items again.")] = True,
    url: Annotated[str | None, typer.Option(help="Have this service judge; default: here.")] = None,
    api_key: Annotated[str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="For --url.")] = None,
) -> None:
    """Check that receipts are whole, signed, and of these items; judge the items again and compare the verdicts.

    Exit code 1: a receipt is wrong; 2: nothing was checked, because of a mistake; 3: some items could not be judged again
    by the same versions, a line is not a row, or a row (not of a log) has a verdict without a receipt.
    """
    tally: Counter[str] = Counter()
    try:
        checks = None if key is None else read_key(key)
        uvloop.run(_verify(file, checks, url, api_key, tally, judges=judge))
    except (BadInput, BadData, BadKeyFile, BadRecipes, CannotStart, RewardlineError, SettingsError) as error:
        raise fail(str(error)) from error
    lacking = tally[_LACKS] + tally[_LACKS_IN_LOG] + tally[_UNREAD]
    if tally.total() == lacking:
        raise fail(f"{file} holds no receipts; a request asks for them by the header X-Receipt: 1")
    unsigned = "" if checks is not None else " Signatures were not checked: name the --key."
    counts = ", ".join(f"{count} {outcome}" for outcome, count in tally.most_common() if count)
    say(f"{tally.total() - lacking} receipts: {counts}.{unsigned}")
    if tally["wrong"]:
        raise typer.Exit(_WRONG)
    if tally["not judged again"] or tally[_LACKS] or tally[_UNREAD]:
        raise typer.Exit(_NOT_JUDGED)


async def _verify(
    file: Path, key: Key | None, url: str | None, api_key: str | None, tally: Counter[str], *, judges: bool
) -> None:
    nonces: dict[str, int] = {}
    sound: list[_Row] = []
    shown_count = 0
    for row in _rows(file, tally):
        if row.receipt is None:
            tally[_LACKS if row.parts is PARTS else _LACKS_IN_LOG] += 1
            continue
        problems = problems_of(row.receipt, row.item, row.result, key, row.parts)
        nonce = str(row.receipt.get("nonce")) if isinstance(row.receipt, dict) else ""
        if not problems and nonce in nonces:
            problems = [f"it is the receipt of line {nonces[nonce]}, used again"]
        nonces.setdefault(nonce, row.line)
        if problems:
            tally["wrong"] += 1
            shown_count += 1
            if shown_count <= _MAX_SHOWN:
                say(f"line {row.line}: {'; '.join(problems)}")
        elif judges:
            sound.append(row)
        else:
            tally["right"] += 1
    if not sound:
        return
    async with scorer_at(url, api_key) if url else scorer_here(quiet_settings()) as scorer:
        for start in range(0, len(sound), _SEGMENT):
            rows = sound[start : start + _SEGMENT]
            for row, result in zip(
                rows, await judge_fields([row.item for row in rows], Columns(), scorer), strict=True
            ):
                outcome, message = same_verdict(row.receipt, result)
                tally[outcome] += 1
                if message:
                    say(f"line {row.line}: {message}")


def _rows(file: Path, tally: Counter[str]) -> Iterator[_Row]:
    """The rows that hold a receipt, or should."""
    for line, fields, _ in DataFile(file, max_line_bytes=MAX_OWN_LINE_BYTES).lines():
        if not isinstance(fields, dict):
            tally[_UNREAD] += 1
            continue
        result = fields["result"] if isinstance(fields.get("result"), dict) else fields
        receipt = fields.get(FIELD, _detail(result).get(FIELD))
        if receipt is None and "status" not in result:
            continue
        lack = stored.lack_of(fields) if stored.is_record(fields) else None
        item = fields["item"] if isinstance(fields.get("item"), dict) else fields
        is_record = stored.is_record(item)
        item = stored.fields_of(item) if is_record else item
        names = (*VERDICT, "id", *(JUDGES if "status" in result else ()))
        verdict = {name: result[name] for name in names if name in result and lack is None}
        yield _Row(line, Columns().item_of(item) or item, receipt, verdict, LOGGED if is_record else PARTS)


def _detail(result: Mapping[str, Any]) -> Mapping[str, Any]:
    detail = result.get("detail", result.get("verdict_detail"))
    if isinstance(detail, str):
        with suppress(ValueError, RecursionError):
            detail = json.loads(detail)
    return detail if isinstance(detail, dict) else {}
