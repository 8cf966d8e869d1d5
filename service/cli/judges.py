"""`rewardline judges FILE` checks a file of judge models: whether the service would take it, and what its endpoints can
do.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from service.backends import judges
from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.cli.console import err, fail, out, say
from service.observe.metrics import Metrics
from service.settings import Settings
from service.usage.ledger import Ledger
from verifiers.base import Item, Verdict
from verifiers.judge import Judge
from verifiers.judge.config import BadJudges
from verifiers.judge.endpoints import BadKey, EndpointState
from verifiers.judge.panel import Panel
from verifiers.judge.parameters import JudgeParams
from verifiers.judge.profiles import Mode
from verifiers.judge.rendering.templates import BrokenPrompt

_TICK_S: Final = 0.1
_SETTLED: Final = frozenset({"healthy", "paused", "ejected", "disabled"})
_QUESTION: Final = {"question": "What is 3 + 4?", "reference": "7"}
_ANSWERS: Final = ("It is seven.", "It is eight.")


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
        shown = (_yes(can["schema"]), _yes(can["logprobs"]), _yes(can["several"]), ", ".join(can["refused"]))
        table.add_row(state.name, state.model, health, *shown)
    out.print(table)
    questions = Table("profile", *_ANSWERS, title=f"{_QUESTION['question']} ({_QUESTION['reference']})")
    for name, given in verdicts:
        questions.add_row(name, *(_verdict_text(verdict) for verdict in given))
    if verdicts:
        out.print(questions)
    for name, mode in skipped:
        say(f"profile {name}: not asked, because it is of mode {mode}; only those of mode reference are")
    wrong = [name for name, (right, other) in verdicts if (right.score, other.score) != (1.0, 0.0)]
    for name in wrong:
        say(f"profile {name}: it does not tell the right answer from the wrong one", err)
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
    params = JudgeParams.model_validate({**_QUESTION, "judge": profile})
    deadline = asyncio.get_running_loop().time() + wait_s
    return await Judge(panel).score([Item(answer, params, deadline=deadline) for answer in _ANSWERS])


def _yes(value: bool | None) -> str:
    return "?" if value is None else "yes" if value else "no"


def _verdict_text(verdict: Verdict) -> str:
    return f"{verdict.score:g} {verdict.reason}" if verdict.score is not None else verdict.reason
