"""The results of one job: those that other processes stored, and those of this process, which are stored soon after
they are made.

The list only grows, and it is stored from its beginning on. If the store loses results at its end, the same results are
stored again in the same order.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar

import msgspec

from service.errors import StateUnavailable
from service.jobs.job import Claim, Damaged, JobStore
from service.wire import Result, Summary, encode, stream_line

_GATHER_S = 0.1
"""Results that come within this time are stored together."""
_MOST_LINES = 256
_AGAIN_S = 0.5

T = TypeVar("T")


class _Head(msgspec.Struct):
    """The fields that a summary counts."""

    index: int
    status: str
    cached: bool


_head_decoder = msgspec.json.Decoder(_Head)


class JobResults:
    """The results of a claim.

    Raises:
        Damaged: the stored lines of other processes are not results.
    """

    def __init__(self, store: JobStore, claim: Claim) -> None:
        self._store = store
        self._claim = claim
        self._lines = list(claim.lines)
        self._stored = len(self._lines)
        self._has_more = asyncio.Event()
        self._is_whole = asyncio.Event()
        self._began = asyncio.get_running_loop().time()
        self._indexes: set[int] = set()
        self._summary = Summary(items=claim.submission.items)
        for line in self._lines:
            try:
                head = _head_decoder.decode(line)
            except msgspec.MsgspecError as error:
                raise Damaged("a stored line is not a result") from error
            self._count(head.index, head.status, cached=head.cached)

    def missing(self) -> list[int]:
        """The positions of the items that have no result."""
        return [index for index in range(self._claim.submission.items) if index not in self._indexes]

    def add(self, results: Iterable[tuple[int, Result]]) -> None:
        for index, result in results:
            assert index not in self._indexes
            self._count(index, result.status, cached=result.cached)
            self._lines.append(stream_line(index, result).rstrip())
        self._has_more.set()

    def add_shared(self, count: int) -> None:
        """Note that so many items shared the verdict of another item."""
        self._summary.deduplicated += count

    async def store_until_whole(self) -> None:
        """Store added results until `complete` has been called and all are stored, however long the store is away.

        Raises:
            ClaimLost
        """
        while not self._is_whole.is_set() or self._stored < len(self._lines):
            await self._has_more.wait()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GATHER_S):
                    await self._is_whole.wait()
            self._has_more.clear()
            while self._stored < len(self._lines):
                lines = self._lines[self._stored : self._stored + _MOST_LINES]
                self._stored = await _patiently(partial(self._store.append, self._claim, self._stored, lines))

    def complete(self) -> None:
        """Note that all results have been added."""
        self._is_whole.set()
        self._has_more.set()

    async def finish(self) -> None:
        """Mark the job as done.

        Raises:
            ClaimLost
        """
        assert not self.missing()
        elapsed_s = self._claim.age_s + asyncio.get_running_loop().time() - self._began
        self._summary.elapsed_ms = round(elapsed_s * 1000, 3)
        await _patiently(partial(self._store.finish, self._claim, encode(self._summary)))

    def _count(self, index: int, status: str, *, cached: bool) -> None:
        self._indexes.add(index)
        self._summary.cached += cached
        match status:
            case "ok":
                self._summary.ok += 1
            case "invalid":
                self._summary.invalid += 1
            case _:
                self._summary.failed += 1


async def _patiently(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask the store until it answers, however long it is away."""
    while True:
        try:
            return await ask()
        except StateUnavailable:
            await asyncio.sleep(_AGAIN_S)
