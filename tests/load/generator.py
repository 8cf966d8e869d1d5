"""The load: callers that use our client library as a trainer does, over HTTP and gRPC, and record the results.

Each caller has one batch in flight. Together they send as fast as they get answers, or at a given rate.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

from rewardline import AsyncClient, RewardlineError
from rewardline.batching import Deliver, Request, Transport

from tests.load.ledger import Ledger
from tests.load.mix import Mix
from tests.waiting import until

PATIENT: Mapping[str, Any] = {"max_retries": 1_000_000, "max_resends": 1_000_000, "timeout_s": 120.0}
"""The options of hooks for trainers that know no abstention."""
DEFAULTS: Mapping[str, Any] = {}
"""The defaults of the library."""


class Pace:
    """Lets this many items pass per second. Without a rate it lets all pass."""

    def __init__(self, items_per_s: float | None) -> None:
        self._items_per_s = items_per_s
        self._due = perf_counter()

    async def wait(self, items: int) -> None:
        if self._items_per_s is None:
            return
        self._due = max(self._due, perf_counter() - 1.0) + items / self._items_per_s
        await asyncio.sleep(max(0.0, self._due - perf_counter()))


@asynccontextmanager
async def loading(
    urls: Sequence[str],
    ledger: Ledger,
    mix: Mix,
    *,
    callers: int = 4,
    items_per_s: float | None = None,
    client: Mapping[str, Any] = PATIENT,
) -> AsyncIterator[None]:
    """Send load in the background of the block. When the block ends, no new batch begins, and those in flight are
    awaited.
    """
    ending = asyncio.Event()
    pace = Pace(items_per_s)
    async with asyncio.TaskGroup() as tasks:
        for number in range(callers):
            tasks.create_task(_call(urls[number % len(urls)], client, mix, ledger, pace, ending))
        try:
            yield
        finally:
            ending.set()


async def _call(
    url: str, options: Mapping[str, Any], mix: Mix, ledger: Ledger, pace: Pace, ending: asyncio.Event
) -> None:
    async with counting_client(url, ledger, options) as client:
        while not ending.is_set():
            batch = mix.take(mix.size())
            await pace.wait(len(batch))
            ledger.sent += len(batch)
            started = perf_counter()
            try:
                results = await client.score([item for item, _ in batch])
            except RewardlineError as error:
                ledger.lose(batch, error)
            else:
                ledger.settle(batch, results, perf_counter() - started)


def counting_client(url: str, ledger: Ledger, options: Mapping[str, Any] = PATIENT) -> AsyncClient:
    """A client of the library that records in the ledger what it does by itself."""
    client = AsyncClient(url, **options)
    opened = client._wire.open
    client._wire = replace(client._wire, open=lambda: _Counting(opened(), ledger))
    return client


class _Counting(Transport):
    """Counts the failed items of each attempt."""

    def __init__(self, inner: Transport, ledger: Ledger) -> None:
        self._inner = inner
        self._ledger = ledger

    async def score(self, request: Request, deliver: Deliver) -> None:
        judged = 0

        def count(position: int, raw: Any) -> None:
            nonlocal judged
            if raw["status"] == "failed":
                self._ledger.faults[f"failed: {raw['reason']}"] += 1
            else:
                judged += 1
            deliver(position, raw)

        try:
            await self._inner.score(request, count)
        except RewardlineError as error:
            self._ledger.faults[str(getattr(error, "reason", type(error).__name__))] += 1
            raise
        finally:
            self._ledger.asked_again += len(request.entries) - judged

    async def call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        return await self._inner.call(method, path, body, headers)

    async def verifiers(self, timeout_s: float) -> list[dict[str, Any]]:
        return await self._inner.verifiers(timeout_s)

    async def close(self) -> None:
        await self._inner.close()


async def more(ledger: Ledger, items: int, within_s: float = 120.0) -> None:
    """Return when this many more items are settled.

    Raises:
        TimeoutError
    """
    wanted = ledger.settled + items
    async with asyncio.timeout(within_s):
        await until(lambda: ledger.settled >= wanted)


async def until_true(ask: Callable[[], bool], within_s: float = 60.0) -> None:
    """Wait until a blocking question is answered with true."""
    async with asyncio.timeout(within_s):
        while not await asyncio.to_thread(ask):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


Disturb = Callable[[], Awaitable[None]]
