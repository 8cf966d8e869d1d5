"""The queue of one verifier. It serves batches fairly.

Each verifier has its own queue, so that cheap work never waits for costly work. In a queue, each batch has its own
line, and a chunk takes items from each line in turn. So an item of a small batch waits for the chunk under way, but not
for a large batch that came earlier. One chunk can hold items of many small batches.

A chunk holds a few milliseconds of work, estimated from how long recent items of this verifier took. A chunk that takes
much longer gives up its place, so that hanging items hold back only themselves. There is one exception: some verifiers
wait for a resource that is bounded anyway, such as boxes. More chunks under way would then only be a second queue, and
an unfair one.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from service.scoring.pending_verdict import Chunk, PendingVerdict, Waiter

TARGET_CHUNK_S = 0.004
LATE_CHUNK_S = 0.1
MAX_LATE_CHUNKS = 64
_CHUNK_CHARS = 200_000
"""The time to read hostile text is some hundred nanoseconds per character."""


class FairQueue:
    """The queue of one verifier."""

    def __init__(
        self,
        judge: Callable[[Chunk], Awaitable[None]],
        tasks: asyncio.TaskGroup,
        *,
        slots: int,
        chunk_items: int,
        gives_up_places: bool = True,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._judge = judge
        self._clock = clock
        self._tasks = tasks
        self._slots = slots
        self._chunk_items = chunk_items
        self._max_late = MAX_LATE_CHUNKS if gives_up_places else 0
        self._lines: OrderedDict[Waiter, deque[PendingVerdict]] = OrderedDict()
        self._running = 0
        self._late: set[Chunk] = set()
        """The chunks in `_chunks` that gave up their places."""
        self._chunks: set[Chunk] = set()
        self._item_s = TARGET_CHUNK_S / chunk_items
        self.queued = 0
        """Items that wait. Withdrawn items count until their turn comes."""

    def put(self, batch: Waiter, verdicts: Sequence[PendingVerdict]) -> None:
        """Put the verdicts into the line of this batch."""
        line = self._lines.get(batch)
        if line is None:
            line = self._lines[batch] = deque()
        line.extend(verdicts)
        self.queued += len(verdicts)
        self._pump()

    @property
    def queued_s(self) -> float:
        """The seconds for which the waiting items will occupy one place of this queue, estimated from recent items."""
        return self.queued * self._item_s

    def stop(self) -> None:
        """Judge nothing more, and cancel the chunks that have begun."""
        self._lines.clear()
        for chunk in self._chunks:
            chunk.cancel()

    def _pump(self) -> None:
        while self._running < self._slots and self._lines:
            verdicts = self._take()
            if verdicts:
                chunk = Chunk(verdicts)
                self._running += 1
                self._chunks.add(chunk)
                chunk.start(self._tasks.create_task(self._work(chunk)))

    def _take(self) -> list[PendingVerdict]:
        """The next chunk. It takes an equal share from each waiting batch, in turn."""
        room = max(1, min(self._chunk_items, int(TARGET_CHUNK_S / self._item_s)))
        verdicts: list[PendingVerdict] = []
        chars = 0
        while self._lines and len(verdicts) < room and chars < _CHUNK_CHARS:
            share = max(1, (room - len(verdicts)) // len(self._lines))
            batch, line = self._lines.popitem(last=False)
            for _ in range(min(share, len(line))):
                pending = line.popleft()
                self.queued -= 1
                if pending.take():
                    verdicts.append(pending)
                    chars += len(pending.prepared.response)
                    if chars >= _CHUNK_CHARS:
                        break
            if line:
                self._lines[batch] = line
        return verdicts

    async def _work(self, chunk: Chunk) -> None:
        loop = asyncio.get_running_loop()
        started = self._clock()
        timer = loop.call_later(LATE_CHUNK_S, self._give_up_place, chunk)
        finished = False
        try:
            if chunk.begin():
                await self._judge(chunk)
                finished = True
        finally:
            timer.cancel()
            self._chunks.discard(chunk)
            if chunk in self._late:
                self._late.discard(chunk)
            else:
                self._running -= 1
                if finished:
                    spent = (self._clock() - started) / len(chunk.verdicts)
                    self._item_s += 0.2 * (max(spent, 1e-7) - self._item_s)
            self._pump()

    def _give_up_place(self, chunk: Chunk) -> None:
        if len(self._late) < self._max_late:
            self._late.add(chunk)
            self._running -= 1
            self._pump()
