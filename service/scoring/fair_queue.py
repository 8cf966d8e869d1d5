"""Queues of work waiting for a verifier, served fairly between requests.

Each verifier has a lane of its own, so that work of different cost never waits for each other. Within a lane every
request has a queue, and chunks are filled by taking from each in turn: an item of a small request waits for the chunk
under way, never for the big batch behind it. Items of many small requests fill one chunk together.

A chunk is sized to a few milliseconds of work by what items of this lane have taken lately. One that takes much longer
gives up its place, so that hanging items hold back nobody but themselves; unless what the lane's verifier waits for is
bounded anyway, as boxes are: then more chunks under way would only be another queue, and not a fair one.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from service.scoring.batches import BatchState, Chunk, PendingVerdict

TARGET_CHUNK_S = 0.004
LATE_CHUNK_S = 0.1
MAX_LATE_CHUNKS = 64
_CHUNK_CHARS = 200_000
"""Reading hostile text takes some hundred nanoseconds per character."""


class FairQueue:
    """The queue before one verifier."""

    def __init__(
        self,
        ask: Callable[[Chunk], Awaitable[None]],
        tasks: asyncio.TaskGroup,
        *,
        slots: int,
        chunk_items: int,
        gives_up_places: bool = True,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._tasks = tasks
        self._slots = slots
        self._chunk_items = chunk_items
        self._max_late = MAX_LATE_CHUNKS if gives_up_places else 0
        self._queues: OrderedDict[BatchState, deque[PendingVerdict]] = OrderedDict()
        self._running = 0
        self._late = 0
        self._chunks: set[Chunk] = set()
        self._item_s = TARGET_CHUNK_S / chunk_items
        self.queued = 0
        """Items waiting; those withdrawn count until their turn comes."""

    def put(self, owner: BatchState, flights: Sequence[PendingVerdict]) -> None:
        """Queue the flights on this request's account."""
        queue = self._queues.get(owner)
        if queue is None:
            queue = self._queues[owner] = deque()
        queue.extend(flights)
        self.queued += len(flights)
        self._pump()

    @property
    def queued_s(self) -> float:
        """Seconds that those which wait will take one of the lane's places, by what items took lately."""
        return self.queued * self._item_s

    def stop(self) -> None:
        """Judge nothing more; what has begun is cancelled."""
        self._queues.clear()
        for chunk in self._chunks:
            if chunk.task is not None:
                chunk.task.cancel()

    def _pump(self) -> None:
        while self._running < self._slots and self._queues:
            flights = self._take()
            if flights:
                chunk = Chunk(flights, wanted=len(flights))
                for flight in flights:
                    flight.chunk = chunk
                self._running += 1
                self._chunks.add(chunk)
                chunk.task = self._tasks.create_task(self._work(chunk))

    def _take(self) -> list[PendingVerdict]:
        """The next chunk: an equal share of each waiting request, in turn."""
        room = max(1, min(self._chunk_items, int(TARGET_CHUNK_S / self._item_s)))
        flights: list[PendingVerdict] = []
        chars = 0
        while self._queues and len(flights) < room and chars < _CHUNK_CHARS:
            share = max(1, (room - len(flights)) // len(self._queues))
            owner, queue = self._queues.popitem(last=False)
            for _ in range(min(share, len(queue))):
                flight = queue.popleft()
                self.queued -= 1
                if flight.waiting and not flight.taken:
                    flight.taken = True
                    flights.append(flight)
                    chars += len(flight.prepared.response)
                    if chars >= _CHUNK_CHARS:
                        break
            if queue:
                self._queues[owner] = queue
        return flights

    async def _work(self, chunk: Chunk) -> None:
        loop = asyncio.get_running_loop()
        started = self._clock()
        timer = loop.call_later(LATE_CHUNK_S, self._give_up_place, chunk)
        chunk.begun = True
        finished = False
        try:
            if chunk.wanted:
                await self._ask(chunk)
                finished = True
        finally:
            timer.cancel()
            self._chunks.discard(chunk)
            if chunk.late:
                self._late -= 1
            else:
                self._running -= 1
            if finished and not chunk.late:
                spent = (self._clock() - started) / len(chunk.flights)
                self._item_s += 0.2 * (max(spent, 1e-7) - self._item_s)
            self._pump()

    def _give_up_place(self, chunk: Chunk) -> None:
        if self._late < self._max_late:
            chunk.late = True
            self._late += 1
            self._running -= 1
            self._pump()
