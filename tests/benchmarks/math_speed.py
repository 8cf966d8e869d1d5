"""Math items per second: the service's verifier, its workers included, against a loop around Math-Verify.

Both judge the same slices of the same items in turn, each item once, so that what either remembers of an item helps
neither. The service judges without its cache. Then the same items by a service on one core and on two.
"""

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import msgspec
from math_verify import parse, verify

from service.engine import Engine
from service.jobs import Batch
from service.server import core
from service.settings import Settings
from service.wire import ScoreItem
from tests.benchmarks import servers
from tests.benchmarks.report import Cell, Report
from tests.conftest import ROOT

_SETS = {"gsm8k_model_solutions": 1500, "long_sample": 300, "hard_sample": 300}
"""Files of tests/data/math, and how many of their items are judged."""
_SLICES = 6
_DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class Problem:
    gold: str
    response: str

    def item(self) -> ScoreItem:
        return ScoreItem(self.response, "math", msgspec.Raw(json.dumps(self.gold).encode()))


async def run(*, quick: bool) -> list[Report]:
    cores = servers.cores()
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    sets = {name: _read(name)[: count // 5 if quick else count] for name, count in _SETS.items()}
    with servers.on_cores(cores[:1]):
        async with core(_settings(1)) as built:
            rows = [await _compare(name, problems, built.engine) for name, problems in sets.items()]
    note = (
        "items/s in process, no cache. math_verify: verify(parse('$gold$'), parse(response)) in one process. Both on core "
        f"{cores[0]}, slices in turn, each item once."
    )
    about = (
        "items/s, each set as one batch to a service that was just started; the fastest of several runs in turn, since the second core may be busy. What is decided in "
        "the service process itself gains nothing from a second core."
    )
    return [
        Report("(c) Math items per second against Math-Verify", note, rows),
        Report("(c) Math on two cores", about, await _scaling(sets, runs=1 if quick else 5)),
    ]


async def _scaling(sets: Mapping[str, Sequence[Problem]], runs: int) -> list[dict[str, Cell]]:
    """One worker on one core, and two on two; always with new workers, because they remember what they have read."""
    seconds: dict[tuple[str, int], list[float]] = {(name, workers): [] for name in sets for workers in (1, 2)}
    for _ in range(runs):
        for workers in (1, 2):
            with servers.on_cores(servers.cores()[:workers]):
                async with core(_settings(workers)) as built:
                    for name, problems in sets.items():
                        started = perf_counter()
                        await _judge(built.engine, problems)
                        seconds[name, workers].append(perf_counter() - started)
    rows: list[dict[str, Cell]] = []
    for name, problems in sets.items():
        one_s, two_s = (min(seconds[name, workers]) for workers in (1, 2))
        rows.append(
            {
                "items of": name,
                "1 core": len(problems) / one_s,
                "2 cores": len(problems) / two_s,
                "x": one_s / two_s,
            }
        )
    return rows


def _settings(workers: int) -> Settings:
    return Settings(workers=workers, cache_memory_mb=0)


def _read(name: str) -> list[Problem]:
    lines = (ROOT / f"tests/data/math/{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Problem(row["gold"], row["response"]) for row in map(json.loads, lines)]


async def _compare(name: str, problems: Sequence[Problem], engine: Engine) -> dict[str, Cell]:
    theirs_s, ours_s = [], []
    unjudged = agreed = 0
    for part in _slices(problems):
        started = perf_counter()
        their_scores = [float(verify(parse(f"${problem.gold}$"), parse(problem.response))) for problem in part]
        theirs_s.append(perf_counter() - started)
        started = perf_counter()
        scores = await _judge(engine, part)
        ours_s.append(perf_counter() - started)
        unjudged += scores.count(None)
        agreed += sum(mine == yours for mine, yours in zip(scores, their_scores, strict=True))
    return {
        "items of": name,
        "items": len(problems),
        "math_verify": len(problems) / sum(theirs_s),
        "ours": len(problems) / sum(ours_s),
        "x": sum(theirs_s) / sum(ours_s),
        "x, median slice": median(theirs / ours for theirs, ours in zip(theirs_s, ours_s, strict=True)),
        "same verdict": agreed,
        "not judged": unjudged,
    }


def _slices(problems: Sequence[Problem]) -> Iterator[Sequence[Problem]]:
    size = -(-len(problems) // _SLICES)
    for start in range(0, len(problems), size):
        yield problems[start : start + size]


async def _judge(engine: Engine, problems: Sequence[Problem]) -> list[float | None]:
    deadline = asyncio.get_running_loop().time() + _DEADLINE_S
    batch = Batch([problem.item() for problem in problems], {}, "off", False, deadline)
    return [result.score for result in (await engine.score(batch)).results]
