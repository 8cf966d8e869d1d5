"""`rewardline judges FILE` checks a file of judge models: whether the service would take it, and what its endpoints can
do. `rewardline judges evaluate ROWS` measures its profiles on labelled rows.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.table import Table
from typer.core import TyperGroup

from service.backends import judge_evaluations, judges
from service.backends.judge_evaluations import Evaluation
from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.cli.console import fail, out, quiet_settings, say
from service.cli.judge_calibration import Calibration, calibrate
from service.cli.judge_evaluation import BadRows, evaluate, read_rows
from service.observe.metrics import Metrics
from service.row_files.reading import BadData
from service.settings import Settings, SettingsError
from service.usage.ledger import Ledger
from verifiers.base import Item, Verdict
from verifiers.judge import Judge
from verifiers.judge.config import BadJudges
from verifiers.judge.endpoints import BadKey, EndpointState
from verifiers.judge.evaluation import Figure
from verifiers.judge.panel import Panel
from verifiers.judge.parameters import JudgeParams
from verifiers.judge.profiles import Mode
from verifiers.judge.rendering.templates import BrokenPrompt

_TICK_S: Final = 0.1
_SETTLED: Final = frozenset({"healthy", "paused", "ejected", "disabled"})
_QUESTION: Final = {"question": "What is 3 + 4?", "reference": "7"}
_ANSWERS: Final = ("It is seven.", "It is eight.")


class _ChecksFiles(TyperGroup):
    """`rewardline judges FILE` is `rewardline judges check FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["check", *args]
        arguments: list[str] = super().parse_args(ctx, args)
        return arguments


app = typer.Typer(
    cls=_ChecksFiles, no_args_is_help=True, help="Try a file of judge models, or measure its judges on labelled rows."
)


@app.command("check")
def command(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)],
    wait_s: Annotated[float, typer.Option(help="Longest time for all endpoints to answer.")] = 60.0,
) -> None:
    """Try a file of judge models: its mistakes, what each endpoint can do, and a question to each profile that takes one.

    Exit code 2: the service would not start with it; 1: an endpoint is not healthy, or a question was judged wrongly.
    """
    try:
        states, verdicts, skipped = asyncio.run(_tried(file, wait_s))
    except (BadJudges, BadKey, BrokenPrompt) as error:
        raise fail(str(error)) from error
    table = Table("endpoint", "model", "health", "schema", "log-probabilities", "several choices", "refuses")
    for state in states:
        can = state.capabilities
        health = state.health if state.why is None else f"{state.health}: {state.why}"
        abilities = (_yes(can["schema"]), _yes(can["logprobs"]), _yes(can["several"]), ", ".join(can["refused"]))
        table.add_row(state.name, state.model, health, *abilities)
    out.print(table)
    questions = Table("profile", *_ANSWERS, title=f"{_QUESTION['question']} ({_QUESTION['reference']})")
    for name, pair in verdicts:
        questions.add_row(name, *(_verdict_text(verdict) for verdict in pair))
    if verdicts:
        out.print(questions)
    for name, mode in skipped:
        say(f"profile {name}: not asked, because it is of mode {mode}; only those of mode reference are")
    wrong = [name for name, (right, second) in verdicts if (right.score, second.score) != (1.0, 0.0)]
    for name in wrong:
        say(f"profile {name}: it does not tell the right answer from the wrong one", is_error=True)
    if wrong or any(state.health != "healthy" for state in states):
        raise typer.Exit(1)


async def _tried(
    file: Path, wait_s: float
) -> tuple[list[EndpointState], list[tuple[str, Sequence[Verdict]]], list[tuple[str, Mode]]]:
    """The endpoints, the verdicts of each profile on `_ANSWERS`, and the profiles that were not asked, with their modes."""
    cache = VerdictCache(MemoryCache(0))
    async with judges.open_panel(Settings(judge_file=file), cache, Metrics(""), Ledger()) as panel:
        assert panel is not None
        for _ in range(round(wait_s / _TICK_S)):
            if all(state.health in _SETTLED for state in panel.gateway.states()):
                break
            await asyncio.sleep(_TICK_S)
        profiles = [name for name, profile in panel.config.profiles.items() if profile.mode == "reference"]
        verdicts = await asyncio.gather(*(_asked(panel, name, wait_s) for name in profiles))
        skipped = [(name, profile.mode) for name, profile in panel.config.profiles.items() if name not in profiles]
        return panel.gateway.states(), list(zip(profiles, verdicts, strict=True)), skipped


async def _asked(panel: Panel, profile: str, wait_s: float) -> Sequence[Verdict]:
    """The verdicts of a profile, by its own endpoints: nothing is taken from a cache, which goes by the model's name."""
    params = JudgeParams.model_validate({**_QUESTION, "judge": profile})
    deadline = asyncio.get_running_loop().time() + wait_s
    return await Judge(panel).score([Item(answer, params, deadline=deadline, cache="off") for answer in _ANSWERS])


def _yes(value: bool | None) -> str:
    return "?" if value is None else "yes" if value else "no"


def _verdict_text(verdict: Verdict) -> str:
    return f"{verdict.score:g} {verdict.reason}" if verdict.score is not None else verdict.reason


@app.command("evaluate")
def evaluation(
    rows: Annotated[Path, typer.Argument(exists=True, help="Items of `judge`, each with the right score as `label`.")],
    judge_file: Annotated[
        Path | None, typer.Option("--judges", exists=True, dir_okay=False, help="Default: the setting judge_file.")
    ] = None,
    profile: Annotated[list[str] | None, typer.Option(help="A profile; several times. Default: all.")] = None,
    repeats: Annotated[int, typer.Option(min=1, max=20, help="How often each row is asked about.")] = 2,
    limit: Annotated[int, typer.Option(min=1, help="The first rows alone.")] = 10_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure profiles on labelled rows: agreement, F1, kappa, biases, injections, use, with intervals of 95 %.

    Exit code 2: a mistake in the rows or the file of judges; 1: a profile judged no row.
    """
    try:
        file = judge_file or quiet_settings().judge_file
        if file is None:
            raise fail("name a file of judge models with --judges, or in the setting judge_file")
        results = asyncio.run(evaluate(file, read_rows(rows, limit), profile or [], repeats))
    except (BadJudges, BadKey, BadRows, BadData, BrokenPrompt, SettingsError) as error:
        raise fail(str(error)) from error
    if as_json:
        say(msgspec.json.encode(results).decode())
    else:
        out.print(_figures(results))
        for e in results:
            for reason, count in sorted(e.not_judged.items()):
                say(f"profile {e.profile}: {count} of {e.rows} rows not judged ({reason})")
    try:
        judge_evaluations.keep(file, results)
    except OSError as error:
        say(f"not kept for the console: {error}", is_error=True)
    if any(not e.judged for e in results):
        raise typer.Exit(1)


@app.command("calibrate")
def calibration(
    rows: Annotated[
        Path, typer.Argument(exists=True, help="Items of `judge`, as for `evaluate`: two halves, a hundred each.")
    ],
    profile: Annotated[str, typer.Option(help="The profile whose model is large.")],
    first: Annotated[str, typer.Option(help="The profile to ask first: a small model with score_source: expected.")],
    promised: Annotated[
        float, typer.Option("--disagreement", min=0, max=1, help="Share of items that may differ from the large model.")
    ] = 0.01,
    judge_file: Annotated[
        Path | None, typer.Option("--judges", exists=True, dir_okay=False, help="Default: the setting judge_file.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="The first rows alone.")] = 10_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the certainty at which a small judge may decide, and show on other rows what that saves and changes.

    Exit code 2: a mistake in the rows or the file of judges; 1: no certainty keeps the promise, or the other rows break it.
    """
    try:
        file = judge_file or quiet_settings().judge_file
        if file is None:
            raise fail("name a file of judge models with --judges, or in the setting judge_file")
        result = asyncio.run(calibrate(file, read_rows(rows, limit), profile, first, promised))
    except (BadJudges, BadKey, BadRows, BadData, BrokenPrompt, SettingsError) as error:
        raise fail(str(error)) from error
    if as_json:
        say(json.dumps(result.as_json()))
    else:
        _show_calibration(result)
    if not result.is_kept:
        raise typer.Exit(1)


def _show_calibration(result: Calibration) -> None:
    table = Table("", f"{result.first}, then {result.profile}")
    for name in result.as_json():
        if name not in ("profile", "first"):
            table.add_row(name.replace("_", " "), _shown(getattr(result, name)))
    out.print(table)
    if result.certainty is None:
        say(
            f"no certainty keeps the promise on {result.rows} rows; {result.promised:g} needs 1 / {result.promised:g} - 1 at least"
        )
    else:
        say(f"profiles.{result.profile}.cascade: {{profile: {result.first}, certainty: {result.certainty}}}")


_SHOWN: Final = (
    *("agreement", "f1", "kappa", "self_consistency", "length_bias", "position_bias", "injection_rate"),
    *("tokens", "cost", "seconds"),
)


def _figures(results: Sequence[Evaluation]) -> Table:
    table = Table("", *(e.profile for e in results))
    table.add_row("rows judged", *(f"{e.judged} of {e.rows}" for e in results))
    for name in _SHOWN:
        table.add_row(name.replace("_", " "), *(_shown(getattr(e, name)) for e in results))
    return table


def _shown(figure: Any) -> str:
    if figure is None:
        return "-"
    if isinstance(figure, Figure):
        return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"
    return f"{figure:.4g}"
