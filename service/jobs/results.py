"""The results of one job: those that other processes stored, and those of this process, which are stored soon after
they are made.

The list only grows, and it is stored from its beginning on. If the store loses results at its end, the same results are
stored again in the same order.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import takewhile
from typing import Final, TypeVar

import msgspec

from service.errors import StateUnavailable
from service.jobs.job import Claim, Damaged, JobStore
from service.wire import Result, Summary, encode, stream_line
from verifiers.base import Verdict

_GATHER_S = 0.1
"""Results that come within this time are stored together."""
_MOST_LINES = 256
_AGAIN_S = 0.5
_DAMAGED: Final = Verdict.failed("result_damaged", "the stored result of this item is damaged; send the item again")

T = TypeVar("T")


class _Head(msgspec.Struct):
    """The fields that a summary counts."""

    index: int
    status: str
    cached: bool


_head_decoder = msgspec.json.Decoder(_Head)
_summary_decoder = msgspec.json.Decoder(Summary)


class JobResults:
    """The results of a claim.

    Raises:
        Damaged: the stored lines of other processes are not the results of this job.
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
        self._holes = [position for position, line in enumerate(self._lines) if line is None]
        """The positions of damaged results. Items that are judged again go there."""
        self._to_mend: list[int] = []
        for line in self._lines:
            if line is not None:
                head = _head(line)
                self._count(head.index, head.status, cached=head.cached)
        if len(self._lines) + len(self.missing()) != self._summary.items + len(self._holes):
            raise Damaged("there are results of other items")

    def missing(self) -> list[int]:
        """The positions of the items that have no result."""
        return [index for index in range(self._claim.submission.items) if index not in self._indexes]

    def add(self, results: Iterable[tuple[int, Result]]) -> None:
        for index, result in results:
            assert index not in self._indexes
            self._count(index, result.status, cached=result.cached)
            line = stream_line(index, result).rstrip()
            if self._holes:
                self._lines[self._holes[0]] = line
                self._to_mend.append(self._holes.pop(0))
            else:
                self._lines.append(line)
        self._has_more.set()

    def add_shared(self, count: int) -> None:
        """Note that so many items shared the verdict of another item."""
        self._summary.deduplicated += count

    async def store_until_whole(self) -> None:
        """Store added results until `complete` has been called and all are stored, however long the store is away.

        Raises:
            ClaimLost
        """
        while not self._is_whole.is_set() or self._to_mend or self._stored < len(self._lines):
            await self._has_more.wait()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GATHER_S):
                    await self._is_whole.wait()
            self._has_more.clear()
            while self._to_mend:
                position = self._to_mend[0]
                await _patiently(partial(self._store.mend, self._claim, position, self._lines[position] or b""))
                self._to_mend.pop(0)
            while lines := _whole(self._lines[self._stored : self._stored + _MOST_LINES]):
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


def unjudged(item_id: str | int, verdict: Verdict) -> Result:
    """The result of an item that has none of an engine."""
    return Result(
        id=item_id,
        status=verdict.status.value,
        score=None,
        reward=None,
        reason=verdict.reason,
        verifier=None,
        version=None,
        extracted=None,
        detail=verdict.detail,
        cached=False,
        elapsed_ms=0.0,
    )


def completed(lines: Sequence[bytes | None], items: int) -> tuple[list[bytes], bytes]:
    """The results of a job that has ended, with `failed` in place of those that are damaged, and their summary.

    Raises:
        Damaged: there are results of other items.
    """
    heads = [_head(line) for line in lines if line is not None]
    missing = iter(sorted(set(range(items)) - {head.index for head in heads}))
    results: list[bytes] = []
    summary = Summary(items=items, cached=sum(head.cached for head in heads))
    for line in lines:
        if line is not None:
            results.append(line)
            continue
        index = next(missing, None)
        if index is None:
            raise Damaged("there are results of other items")
        results.append(stream_line(index, unjudged(index, _DAMAGED)).rstrip())
    statuses = [_head(line).status for line in results]
    summary.ok, summary.invalid = statuses.count("ok"), statuses.count("invalid")
    summary.failed = len(statuses) - summary.ok - summary.invalid
    return results, encode(summary)


def is_summary(stored: bytes, items: int) -> bool:
    """Whether this is the summary of a job with so many items."""
    try:
        summary = _summary_decoder.decode(stored)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    counts = (summary.ok, summary.invalid, summary.failed, summary.cached, summary.deduplicated)
    return summary.items == items == sum(counts[:3]) and min(counts) >= 0


def _head(line: bytes) -> _Head:
    try:
        return _head_decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Damaged("a stored line is not a result") from error


def _whole(lines: Sequence[bytes | None]) -> list[bytes]:
    """The results before the first that is damaged and not judged again yet."""
    return [line for line in takewhile(lambda line_or_hole: line_or_hole is not None, lines) if line is not None]


async def _patiently(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask the store until it answers, however long it is away."""
    while True:
        try:
            return await ask()
        except StateUnavailable:
            await asyncio.sleep(_AGAIN_S)
