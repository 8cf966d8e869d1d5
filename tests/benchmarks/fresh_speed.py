"""New parameters for each item, for every verifier: beside the same items again, whose questions the service knows then.

A training run asks each question of several responses, so most items bring a reference and parameters that were read
before. The first of them pays for the reading: options, schemas, patterns and tools become expressions and tables.
Items go over HTTP in batches, one after the other, each round new ones and then the same again. No verdict is cached.

Lean and the containers of tasks are stand-ins (tests/siege/served.py), so their rows say only what new parameters cost.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from tests.benchmarks import servers
from tests.benchmarks.report import Cell, Effort, Report
from tests.judge_upstream.grader import Grader
from tests.siege.counts import batch_items
from tests.siege.fresh.items import GENERATORS, item
from tests.siege.stand import Stand, besieged

_STARTS_PROGRAMS: Final = frozenset({"code", "code_quality", "harbor", "lean", "reasoning_gym", "repository"})
"""They need boxes, or containers."""


async def run(effort: Effort) -> list[Report]:
    rounds, most_items = effort.of((9, 256), (3, 256), (1, 2))
    names = effort.of([*GENERATORS], [*GENERATORS], sorted(set(GENERATORS) - _STARTS_PROGRAMS))
    serving = effort.of(besieged, besieged, _without_boxes)
    with servers.on_cores(servers.cores()[:1]):
        stack = ExitStack()
        stand = stack.enter_context(serving())
    with stack:
        rows = [_measure(stand, name, rounds, min(most_items, batch_items(name))) for name in names]
    note = (
        f"Medians of {rounds} rounds, each a batch of new items and the same batch again, over HTTP without cached verdicts; "
        "service, workers and boxes on one core. ms: CPU time of the service's own process, for each new item."
    )
    return [Report("(k) New parameters for each item", note, rows)]


def _measure(stand: Stand, verifier: str, rounds: int, size: int) -> dict[str, Cell]:
    fresh, again, cpu_ms = [], [], []
    _post(stand, _batch(verifier, 0, size))
    for number in range(1, rounds + 1):
        batch = _batch(verifier, number, size)
        before = stand.spent()
        fresh.append(size / _post(stand, batch))
        cpu_ms.append((stand.spent().service_s - before.service_s) / size * 1000)
        again.append(size / _post(stand, batch))
    return {
        "verifier": verifier,
        "items": size,
        "new items/s": median(fresh),
        "again items/s": median(again),
        "new / again": median(new / old for new, old in zip(fresh, again, strict=True)),
        "service ms": median(cpu_ms),
    }


def _batch(verifier: str, number: int, size: int) -> bytes:
    items = [item(verifier, index) for index in range(number * size, (number + 1) * size)]
    return json.dumps({"items": items, "cache": "off", "deadline_s": 600}).encode()


def _post(stand: Stand, batch: bytes) -> float:
    """Seconds until the batch was judged."""
    started = perf_counter()
    answer = stand.request("POST", "/v1/score", batch, {"Content-Type": "application/json"})
    seconds = perf_counter() - started
    assert answer["summary"]["ok"] == answer["summary"]["items"], answer["results"][:3]
    return seconds


@contextmanager
def _without_boxes() -> Iterator[Stand]:
    """A service that starts soon."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        judges = stack.enter_context(Grader()).file(Path(folder))
        options = {"sandbox": "none", "workers": "1", "judge_file": str(judges)}
        ours = stack.enter_context(servers.ours(servers.cores()[:1], **options))
        yield stack.enter_context(closing(Stand(f"http://{ours.http}", "", ours.pid)))
