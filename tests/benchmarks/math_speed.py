"""Math items per second: the service's verifier with its workers, against a loop around Math-Verify.

Both judge the same items on the same core: a service that was just started, then Math-Verify, then another such service.
Each judges each item once, so that what it remembers of an item does not help, and judges in a row, as in use: in turns
of a tenth of a second, each would find the processor's caches full of the other's data. The service has no cache.
Unless stated otherwise, times are CPU times of the service and all its workers. Then each item is judged alone, by a
service that has not seen it; and the same items by a service on one core and on two.
"""

import asyncio
import gc
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from statistics import fmean
from time import perf_counter, process_time

import msgspec
from math_verify import parse, verify

from memory import GRADUAL_THRESHOLDS
from service.run.core import open_core
from service.scoring.engine import Engine
from service.settings import Settings
from service.wire import BatchRequest, ScoreItem
from tests import processes
from tests.benchmarks import servers
from tests.benchmarks.report import Cell, Effort, Report
from tests.conftest import ROOT

SETS = {"gsm8k_model_solutions": 1500, "long_sample": 300, "hard_sample": 300}
"""Files of tests/data/math, with the number of their items to judge."""
_SLICES = 6
_SCALING_ITEMS = {"gsm8k_model_solutions": 12_000, "long_sample": 9_000, "hard_sample": 300}
"""Batches that take at least two tenths of a second. Items are repeated with other responses, as samples of one
prompt are."""
_DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class Problem:
    gold: str
    response: str

    def item(self) -> ScoreItem:
        return ScoreItem(self.response, "math", msgspec.Raw(json.dumps(self.gold).encode()))


@dataclass(slots=True)
class _Spent:
    """The seconds of several pieces of work."""

    cpu_s: list[float] = field(default_factory=list)
    own_s: list[float] = field(default_factory=list)
    """The part of the CPU time that this process used itself."""
    wall_s: list[float] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Measure the block: the CPU time of this process and of its workers."""
        workers_s, started, own_s = processes.below_s(), perf_counter(), process_time()
        yield
        own_s, wall_s = process_time() - own_s, perf_counter() - started
        self.wall_s.append(wall_s)
        self.own_s.append(own_s)
        self.cpu_s.append(own_s + max(0.0, processes.below_s() - workers_s))

    def row(self, who: str) -> dict[str, Cell]:
        """The distribution of the CPU milliseconds."""
        ordered = sorted(spent * 1000 for spent in self.cpu_s)
        return {
            f"{who} p50 ms": ordered[len(ordered) // 2],
            f"{who} p99 ms": ordered[ceil(len(ordered) * 0.99) - 1],
            f"{who} max ms": ordered[-1],
        }


async def run(effort: Effort) -> list[Report]:
    cores = servers.cores()
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    sets = {name: read(name)[: effort.of(count, count // 5, 10)] for name, count in SETS.items()}
    theirs_alone = {name: _Spent() for name in sets}
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GRADUAL_THRESHOLDS)
    with servers.on_cores(cores[:1]):
        before = await _ours(sets)
        theirs = {name: _theirs(problems, theirs_alone[name]) for name, problems in sets.items()}
        after = await _ours(sets)
        rows = [_compared(name, theirs[name], before[name], after[name]) for name in sets]
        async with open_core(_settings(1)) as built:
            alone = [await _alone(name, sets[name], built.engine, theirs_alone[name]) for name in sets]
    note = (
        "items per second of CPU time in process, no cache, garbage collector as served; x wall: by wall time. math_verify: "
        f"verify(parse('$gold$'), parse(response)) in one process. All on core {cores[0]}; ours twice, by a new service before "
        "and after Math-Verify, and 'ours' is both together."
    )
    about_alone = (
        "CPU time of each item asked alone; ours through the engine, and to a worker and back where it goes there."
    )
    about_cores = (
        "items/s by wall time, each set as one batch to a service that was just started; the fastest of several runs in "
        "turn, since the second core may be busy. CPU time tells what two cores could do with nobody else on them."
    )
    return [
        Report("(c) Math items per second against Math-Verify", note, rows),
        Report("(c) What one math item takes", about_alone, alone),
        Report("(c) Math on two cores", about_cores, await _scaling(sets, effort)),
    ]


async def _scaling(sets: Mapping[str, Sequence[Problem]], effort: Effort) -> list[dict[str, Cell]]:
    """One worker on one core, and two on two. The workers are always new, because workers remember what they have
    read.
    """
    counts = {name: effort.of(count, count, 10) for name, count in _SCALING_ITEMS.items()}
    batches = {name: _repeated(problems, counts[name]) for name, problems in sets.items()}
    spent = {(name, workers): _Spent() for name in sets for workers in (1, 2)}
    for _ in range(effort.of(7, 1, 1)):
        for workers in (1, 2):
            with servers.on_cores(servers.cores()[:workers]):
                async with open_core(_settings(workers)) as built:
                    for name, items in batches.items():
                        with spent[name, workers].one():
                            await _judge(built.engine, items)
    rows: list[dict[str, Cell]] = []
    for name, items in batches.items():
        one, two = spent[name, 1], spent[name, 2]
        rows.append(
            {
                "items of": name,
                "items": len(items),
                "1 core": len(items) / min(one.wall_s),
                "2 cores": len(items) / min(two.wall_s),
                "x": min(one.wall_s) / min(two.wall_s),
                "1 core: CPU us/item": min(one.cpu_s) / len(items) * 1e6,
                "2 cores: CPU us/item": min(two.cpu_s) / len(items) * 1e6,
                "of it in the service": min(two.own_s) / len(items) * 1e6,
            }
        )
    return rows


def _repeated(problems: Sequence[Problem], count: int) -> list[ScoreItem]:
    """This many items, sample after sample of each problem. No two responses are equal."""
    samples = ceil(count / len(problems))
    return [
        replace(problem, response=f"Sample {sample}.\n{problem.response}").item()
        for problem in problems
        for sample in range(samples)
    ]


def _settings(workers: int) -> Settings:
    return Settings(workers=workers, cache_memory_mb=0)


def read(name: str) -> list[Problem]:
    lines = (ROOT / f"tests/data/math/{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Problem(row["gold"], row["response"]) for row in map(json.loads, lines)]


@dataclass(slots=True)
class _Judged:
    """What one of the two spent on a set, and its scores."""

    spent: _Spent = field(default_factory=_Spent)
    scores: list[float | None] = field(default_factory=list)


async def _ours(sets: Mapping[str, Sequence[Problem]]) -> dict[str, _Judged]:
    """All sets, judged by a new service."""
    judged = {name: _Judged() for name in sets}
    async with open_core(_settings(1)) as built:
        for name, problems in sets.items():
            for part in _slices(problems):
                items = [problem.item() for problem in part]
                with judged[name].spent.one():
                    judged[name].scores += await _judge(built.engine, items)
    return judged


def _theirs(problems: Sequence[Problem], alone: _Spent) -> _Judged:
    judged = _Judged()
    with judged.spent.one():
        for problem in problems:
            with alone.one():
                judged.scores.append(float(verify(parse(f"${problem.gold}$"), parse(problem.response))))
    return judged


def _compared(name: str, theirs: _Judged, *ours: _Judged) -> dict[str, Cell]:
    count = len(theirs.scores)
    their_s, our_s = sum(theirs.spent.cpu_s), [sum(judged.spent.cpu_s) for judged in ours]
    return {
        "items of": name,
        "items": count,
        "math_verify": count / their_s,
        "ours": count / fmean(our_s),
        "x": their_s / fmean(our_s),
        "x before": their_s / our_s[0],
        "x after": their_s / our_s[-1],
        "x wall": sum(theirs.spent.wall_s) / fmean(sum(judged.spent.wall_s) for judged in ours),
        "same verdict": sum(mine == yours for mine, yours in zip(ours[-1].scores, theirs.scores, strict=True)),
        "not judged": ours[-1].scores.count(None),
    }


async def _alone(name: str, problems: Sequence[Problem], engine: Engine, theirs: _Spent) -> dict[str, Cell]:
    ours = _Spent()
    for problem in problems:
        items = [problem.item()]
        with ours.one():
            await _judge(engine, items)
    return {"items of": name, "items": len(problems), **theirs.row("math_verify"), **ours.row("ours")}


def _slices(problems: Sequence[Problem]) -> Iterator[Sequence[Problem]]:
    size = -(-len(problems) // _SLICES)
    for start in range(0, len(problems), size):
        yield problems[start : start + size]


async def _judge(engine: Engine, items: Sequence[ScoreItem]) -> list[float | None]:
    deadline = asyncio.get_running_loop().time() + _DEADLINE_S
    batch = BatchRequest(items, {}, "off", False, deadline)
    return [result.score for result in (await engine.score(batch)).results]
