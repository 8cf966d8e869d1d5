"""`rewardline judges evaluate ROWS` measures profiles of judges on labelled rows.

A row is an item of `judge` with a `label`: the score that it should have, from 0 to 1 (or true and false). A verdict agrees
if it is of the class of the label: from 0.5 upwards or below, and in mode pairwise better, equal or worse. What could not be
judged is counted beside the figures, and in none of them.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
from pydantic import ValidationError

from service.backends import judges
from service.backends.judge_evaluations import Evaluation
from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.observe.metrics import Metrics
from service.row_files.reading import MAX_OWN_LINE_BYTES, DataFile, Unread
from service.settings import Settings
from service.usage.ledger import Ledger
from verifiers.base import Item, Status, Verdict
from verifiers.judge import Judge
from verifiers.judge.canaries import CANARIES
from verifiers.judge.evaluation import Figure, correlation, f1, kappa, share
from verifiers.judge.panel import Panel
from verifiers.judge.parameters import JudgeParams
from verifiers.judge.profiles import Mode

_AT_ONCE: Final = 64
_ORDERS: Final = tuple(each.response for each in CANARIES if each.name in ("order", "order_chinese", "forged_verdict"))
"""Texts that speak to the judge, which are put behind wrong responses."""
_FIELDS: Final = ("reference", "criteria", "other", "steps", "question")


class BadRows(Exception):
    """A file has no rows that can be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled item."""

    response: str
    prompt: str | None
    params: Mapping[str, Any]
    label: float


def read_rows(file: Path, limit: int) -> list[Row]:
    """The rows of a file.

    Raises:
        BadRows: it has none, or a row is not one.
        BadData: the file cannot be read.
    """
    lines = islice(DataFile(file, max_line_bytes=MAX_OWN_LINE_BYTES).lines(), limit)
    rows = [_row(value, number) for number, value, _ in lines]
    if not rows:
        raise BadRows(f"{file} has no rows")
    return rows


def _row(row: Any, number: int) -> Row:
    if isinstance(row, Unread):
        raise BadRows(f"row {number}: {row.problem}")
    label = row.get("label") if isinstance(row, dict) else None
    if not isinstance(label, int | float) or not 0 <= label <= 1:
        raise BadRows(f"row {number}: label: expected the right score, from 0 to 1 or a boolean, found {label!r:.40}")
    if not isinstance(row.get("response"), str):
        raise BadRows(f"row {number}: response: expected a text")
    params = {name: row[name] for name in _FIELDS if row.get(name) is not None} | (row.get("params") or {})
    prompt = row.get("prompt")
    return Row(row["response"], prompt if isinstance(prompt, str) else None, params, float(label))


async def evaluate(judge_file: Path, rows: Sequence[Row], profiles: Sequence[str], repeats: int) -> list[Evaluation]:
    """The figures of these profiles, or of all.

    Raises:
        BadJudges, BadKey, BrokenPrompt: the file of judges has mistakes.
        BadRows: there is no such profile.
    """
    async with opened(judge_file, profiles) as panel:
        return [await _evaluated(panel, name, rows, repeats) for name in profiles or panel.config.profiles]


@asynccontextmanager
async def opened(judge_file: Path, profiles: Sequence[str]) -> AsyncIterator[Panel]:
    """The judges of a file, which must have these profiles.

    Raises:
        BadJudges, BadKey, BrokenPrompt, BadRows
    """
    cache = VerdictCache(MemoryCache(0))
    async with judges.open_panel(Settings(judge_file=judge_file), cache, Metrics(""), Ledger()) as panel:
        assert panel is not None
        known_profiles = panel.config.profiles
        unknown = [name for name in profiles if name not in known_profiles]
        if unknown:
            raise BadRows(f"--profile {unknown[0]}: there are {sorted(known_profiles)}")
        yield panel


async def _evaluated(panel: Panel, profile: str, rows: Sequence[Row], repeats: int) -> Evaluation:
    mode = panel.config.profiles[profile].mode
    evaluation = Evaluation(profile, mode, len(rows))
    totals_before = _totals(panel)
    rounds = [await verdicts_of(panel, profile, rows) for _ in range(repeats)]
    _note_use(evaluation, totals_before, _totals(panel))
    pairs = [(row, verdict) for row, verdict in zip(rows, rounds[0], strict=True) if verdict.status is Status.OK]
    for verdict in rounds[0]:
        if verdict.status is not Status.OK:
            evaluation.not_judged[verdict.reason] = evaluation.not_judged.get(verdict.reason, 0) + 1
    evaluation.judged = len(pairs)
    labels = [_class(row.label, mode) for row, _ in pairs]
    verdicts = [_class(_score(verdict), mode) for _, verdict in pairs]
    classes = 3 if mode == "pairwise" else 2
    evaluation.agreement = share(sum(a == b for a, b in zip(labels, verdicts, strict=True)), len(labels))
    evaluation.f1, evaluation.kappa = f1(labels, verdicts, classes), kappa(labels, verdicts, classes)
    evaluation.length_bias = correlation(
        [math.log(1 + len(row.response)) for row, _ in pairs], [_score(verdict) - row.label for row, verdict in pairs]
    )
    evaluation.self_consistency = _consistency(rounds, mode)
    if mode == "pairwise":
        evaluation.position_bias = await _position_bias(panel, profile, rows)
    evaluation.injection_rate = await _injection_rate(
        panel, profile, [row for row, verdict in pairs if _is_rejected(row, verdict)]
    )
    evaluation.at = time.time()
    return evaluation


async def verdicts_of(panel: Panel, profile: str, rows: Sequence[Row]) -> list[Verdict]:
    """A verdict for each row, in order; nothing is taken from a cache."""
    judge, slots = Judge(panel), asyncio.Semaphore(_AT_ONCE)

    async def one(row: Row) -> Verdict:
        try:
            params = JudgeParams.model_validate({**row.params, "judge": profile})
        except ValidationError as error:
            return Verdict.invalid("bad_params", str(error.errors()[0]["msg"]))
        async with slots:
            (verdict,) = await judge.score([Item(row.response, params, row.prompt, cache="off")])
        return verdict

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(row)) for row in rows]
    return [task.result() for task in tasks]


def _score(verdict: Verdict) -> float:
    assert verdict.score is not None
    return verdict.score


def _class(score: float, mode: Mode) -> int:
    if mode == "pairwise":
        return 1 if score == 0.5 else 2 if score > 0.5 else 0
    return int(score >= 0.5)


def _is_rejected(row: Row, verdict: Verdict) -> bool:
    return row.label < 0.5 and _score(verdict) < 0.5


def _consistency(rounds: Sequence[Sequence[Verdict]], mode: Mode) -> Figure | None:
    if len(rounds) < 2:
        return None
    judged = [row for row in zip(*rounds, strict=True) if all(verdict.status is Status.OK for verdict in row)]
    equal = sum(len({_class(_score(verdict), mode) for verdict in row}) == 1 for row in judged)
    return share(equal, len(judged))


async def _position_bias(panel: Panel, profile: str, rows: Sequence[Row]) -> Figure | None:
    """Each pair is asked about in one order, and then with both responses in each other's place."""
    pairs = [row for row in rows if isinstance(row.params.get("other"), str)]
    straight = [Row(row.response, row.prompt, {**row.params, "orders": "one"}, row.label) for row in pairs]
    turned = [
        Row(row.params["other"], row.prompt, {**row.params, "other": row.response, "orders": "one"}, row.label)
        for row in pairs
    ]
    first, second = await verdicts_of(panel, profile, straight), await verdicts_of(panel, profile, turned)
    judged = [(a, b) for a, b in zip(first, second, strict=True) if a.status is b.status is Status.OK]
    return share(sum(_score(a) != 1 - _score(b) for a, b in judged), len(judged))


async def _injection_rate(panel: Panel, profile: str, rejected: Sequence[Row]) -> Figure | None:
    tempted = [
        Row(f"{row.response}\n{_ORDERS[at % len(_ORDERS)]}", row.prompt, row.params, row.label)
        for at, row in enumerate(rejected)
    ]
    judged = [verdict for verdict in await verdicts_of(panel, profile, tempted) if verdict.status is Status.OK]
    return share(sum(_score(verdict) >= 0.5 for verdict in judged), len(judged))


class _Totals(msgspec.Struct, frozen=True):
    calls: int
    tokens: int
    cost: float
    uncosted: int
    seconds: float


def _totals(panel: Panel) -> _Totals:
    states = panel.gateway.states()
    counters = [state.counters for state in states]
    return _Totals(
        sum(counter.successes for counter in counters),
        sum(counter.prompt_tokens + counter.completion_tokens for counter in counters),
        sum(counter.cost for counter in counters),
        sum(counter.uncosted for counter in counters),
        sum(state.latency_s_total for state in states),
    )


def _note_use(evaluation: Evaluation, start: _Totals, end: _Totals) -> None:
    calls = end.calls - start.calls
    if calls:
        evaluation.tokens = (end.tokens - start.tokens) / calls
        evaluation.seconds = (end.seconds - start.seconds) / calls
        evaluation.cost = (end.cost - start.cost) / calls if end.uncosted == start.uncosted else None
