"""Overload: callers send five times what the service can do, at their own rate, whatever it answers, and do not retry.

The requests are raw, because the client library would wait as the service asks. The load has a core to itself. The
requests of the flood are written before it, and the answers are checked after it.
"""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from time import perf_counter

import aiohttp

from tests.chaos.servers import Server
from tests.load.cores import apart
from tests.ports import free_ports

_ITEMS = 32
_IN_FLIGHT = 512
_numbers = count(1)


@dataclass
class Flow:
    """What callers got in one period."""

    statuses: Counter[int] = field(default_factory=Counter)
    good: int = 0
    """The number of items with the right verdict."""
    wrong: int = 0
    seconds: float = 0.0
    refusals_s: list[float] = field(default_factory=list)
    """The seconds that refusals took."""
    waits_s: list[float] = field(default_factory=list)
    """The seconds that answers took."""
    without_retry_after: int = 0
    answers: list[tuple[bytes, Sequence[float], bool]] = field(default_factory=list)
    """Unchecked bodies, each with the right scores, and whether it came within the measured time."""

    def check_answers(self) -> None:
        """Check the answers, and count them."""
        for body, scores, counts in self.answers:
            given = [result["score"] for result in json.loads(body)["results"]]
            pairs = list(zip(given, scores, strict=True))
            self.wrong += sum(score not in (None, right) for score, right in pairs)
            self.good += counts * sum(score == right for score, right in pairs)
        self.answers.clear()

    @property
    def goodput(self) -> float:
        """Items with the right verdict, per second."""
        return self.good / self.seconds


@dataclass(frozen=True)
class Overload:
    """The flows before, during and after the flood."""

    capacity: Flow
    flood: Flow
    recovery_s: float
    """Seconds from the flood's end until a batch took no longer than twice the median before the flood."""
    cores: int
    """The number of cores that the service had."""


async def overload(folder: Path, seconds: float, times: float = 5.0) -> Overload:
    """Overload a service with one worker, which admits about a second of its work."""
    server = Server(
        folder / "overload.jsonl", "127.0.0.1", free_ports(3),
        sandbox="none", workers="1", max_items_in_flight=str(_IN_FLIGHT), max_items_per_request=str(_IN_FLIGHT),
        log_level="error",
    )  # fmt: skip
    await server.start()
    try:
        with apart(server.pid) as cores:
            async with aiohttp.ClientSession(server.url, connector=aiohttp.TCPConnector(limit=0)) as caller:
                await _closed_loop(caller, min(seconds, 3.0))  # warm up
                capacity = await _closed_loop(caller, seconds)
                lead_s = 2 * _IN_FLIGHT / capacity.goodput
                flood = await _open_loop(caller, seconds, times * capacity.goodput, lead_s)
                usual_s = 2 * sorted(capacity.waits_s)[len(capacity.waits_s) // 2]
                recovery_s = await _recovery(caller, usual_s)
                return Overload(capacity, flood, recovery_s, cores)
    finally:
        await server.end()


async def _closed_loop(caller: aiohttp.ClientSession, seconds: float, callers: int = 8) -> Flow:
    """Each caller sends its next batch when it has its answer."""
    flow = Flow()
    started = perf_counter()

    async def call() -> None:
        while perf_counter() - started < seconds:
            await _send(caller, flow, _batch())

    async with asyncio.TaskGroup() as tasks:
        for _ in range(callers):
            tasks.create_task(call())
    flow.seconds = perf_counter() - started
    flow.check_answers()
    return flow


async def _open_loop(caller: aiohttp.ClientSession, seconds: float, items_per_s: float, lead_s: float) -> Flow:
    """Send batches at this rate. Goodput counts answers within this time, without the lead, in which the service
    fills.
    """
    flow = Flow(seconds=seconds)
    random = Random(5)
    pauses_s = list(_pauses_s(random, items_per_s / _ITEMS, lead_s + seconds))
    batches = [_batch() for _ in pauses_s]
    started = due = perf_counter()
    span = (started + lead_s, started + lead_s + seconds)
    async with asyncio.TaskGroup() as tasks:
        for pause_s, batch in zip(pauses_s, batches, strict=True):
            due += pause_s
            await asyncio.sleep(max(0.0, due - perf_counter()))
            tasks.create_task(_send(caller, flow, batch, span))
    flow.check_answers()
    return flow


def _pauses_s(random: Random, per_s: float, seconds: float) -> Iterator[float]:
    """Random pauses, as between callers that know nothing of each other."""
    left_s = seconds
    while left_s > 0:
        pause_s = random.expovariate(per_s)
        left_s -= pause_s
        yield pause_s


async def _recovery(caller: aiohttp.ClientSession, usual_s: float) -> float:
    started = perf_counter()
    wait_s = math.inf
    while wait_s > usual_s:
        flow = Flow()
        await _send(caller, flow, _batch())
        wait_s = flow.waits_s[0] if flow.waits_s else math.inf
    return perf_counter() - started


async def _send(
    caller: aiohttp.ClientSession,
    flow: Flow,
    batch: tuple[bytes, Sequence[float]],
    span: tuple[float, float] = (0.0, math.inf),
) -> None:
    """Send one batch. Verdicts count as good if they come within `span`."""
    body, scores = batch
    headers = {"X-Item-Count": str(len(scores)), "Content-Type": "application/json"}
    sent = perf_counter()
    async with caller.post("/v1/score", data=body, headers=headers) as answer:
        payload = await answer.read()
    ended = perf_counter()
    flow.statuses[answer.status] += 1
    if answer.status == 429:
        flow.refusals_s.append(ended - sent)
        flow.without_retry_after += float(answer.headers.get("Retry-After", 0)) <= 0
    elif answer.status == 200:
        flow.waits_s.append(ended - sent)
        flow.answers.append((payload, scores, span[0] < ended <= span[1]))


def _batch() -> tuple[bytes, Sequence[float]]:
    """New items. Each takes some milliseconds of a worker's time."""
    numbers = [next(_numbers) for _ in range(_ITEMS)]
    items = [
        {"verifier": "math", "response": f"\\boxed{{x^2+{n}}}", "reference": f"x^2+{n + (n % 3 == 0)}+0"}
        for n in numbers
    ]
    return json.dumps({"items": items}).encode(), [float(n % 3 != 0) for n in numbers]
