"""The queue of one verifier. It serves tenants fairly, and the batches of each tenant fairly.

Each verifier has its own queue, so that cheap work never waits for costly work. In a queue, tenants that wait share the
workers' time by their weights, however many batches each has. Each batch has its own line, and a chunk takes items from
each line in turn. So an item of a small batch waits for the chunk under way, but not for a large batch that came
earlier. One chunk can hold items of many small batches.

A chunk holds a few milliseconds of work, estimated from how long recent items of this verifier took. A chunk that takes
much longer gives up its place, so that hanging items hold back only themselves. But no chunk gives it up because it
waits for workers, boxes or judges, which are bounded anyway: more chunks under way would only be a second queue, and an
unfair one.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import copy_context
from time import perf_counter

from fairness import TENANT, Turns, weight_of
from service.scoring.pending_verdict import Chunk, PendingVerdict, Waiter
from service.tenant import RUN

TARGET_CHUNK_S = 0.004
LATE_CHUNK_S = 0.1
MAX_LATE_CHUNKS = 64
_CHUNK_CHARS = 200_000
"""The time to read hostile text is some hundred nanoseconds per character."""
_Lines = OrderedDict[Waiter, deque[PendingVerdict]]
"""The lines of one tenant's batches."""


class FairQueue:
    """The queue of one verifier."""

    def __init__(
        self,
        judge: Callable[[Chunk], Awaitable[None]],
        tasks: asyncio.TaskGroup,
        *,
        slots: int,
        chunk_items: int,
        abreast: int = 1,
        gives_up_places: bool = True,
        mixes: bool = True,
        is_backed_up: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """
        Args:
            judge: Judges a chunk.
            tasks: Where chunks run.
            slots: Most chunks under way, without those that gave up their places.
            chunk_items: Most items of a chunk.
            abreast: Chunks under way that share one worker, so that each takes this many times as long as its own work.
            gives_up_places: Whether late chunks give up their places.
            mixes: Whether a chunk may hold items of several tenants and runs. If not, what it costs is theirs alone.
            is_backed_up: Whether work waits for workers, so that a late chunk may not have begun.
            clock: Seconds.
        """
        self._judge = judge
        self._is_backed_up = is_backed_up
        self._clock = clock
        self._tasks = tasks
        self._slots = slots
        self._chunk_items = chunk_items
        self._target_s = TARGET_CHUNK_S * abreast
        self._mixes = mixes
        self._max_late = MAX_LATE_CHUNKS if gives_up_places else 0
        self._tenants: dict[str, _Lines] = {}
        """The tenants that wait."""
        self._turns = Turns()
        self._running = 0
        self._late: set[Chunk] = set()
        """The chunks in `_chunks` that gave up their places."""
        self._chunks: set[Chunk] = set()
        self._timers: dict[Chunk, asyncio.TimerHandle] = {}
        self._item_s = TARGET_CHUNK_S / chunk_items
        self._chars = 0
        """Characters in the chunk that is being put together."""
        self._run = ""
        """The run of that chunk. If it mixes runs, it is one of them."""
        self.queued = 0
        """Items that wait. Withdrawn items count until their turn comes."""

    def put(self, batch: Waiter, verdicts: Sequence[PendingVerdict]) -> None:
        """Put the verdicts into the line of this batch."""
        self._tenants.setdefault(batch.tenant, OrderedDict()).setdefault(batch, deque()).extend(verdicts)
        self.queued += len(verdicts)
        self._pump()

    @property
    def queued_s(self) -> float:
        """The seconds for which the waiting items will occupy one place of this queue, estimated from recent items."""
        return self.queued * self._item_s

    def stop(self) -> None:
        """Judge nothing more, and cancel the chunks that have begun."""
        self._tenants.clear()
        for chunk in self._chunks:
            chunk.cancel()

    def _pump(self) -> None:
        while self._running < self._slots and self._tenants:
            verdicts, charged = self._take()
            if verdicts:
                chunk = Chunk(verdicts)
                self._running += 1
                self._chunks.add(chunk)
                context = copy_context()
                context.run(TENANT.set, next(iter(charged)))
                context.run(RUN.set, self._run)
                chunk.start(self._tasks.create_task(self._work(chunk, charged), context=context))

    def _take(self) -> tuple[list[PendingVerdict], dict[str, int]]:
        """The next chunk, and how many items of it each tenant is charged for. Tenants that wait get their shares by
        weight; the batches of a tenant get equal ones, in turn.
        """
        room = max(1, min(self._chunk_items, int(self._target_s / self._item_s)))
        verdicts: list[PendingVerdict] = []
        charged: dict[str, int] = {}
        self._chars = 0
        while self._tenants and len(verdicts) < room and self._chars < _CHUNK_CHARS:
            tenant = self._turns.next(self._tenants)
            weights = sum(map(weight_of, self._tenants))
            lines = self._tenants[tenant]
            chosen = self._take_from(lines, max(1, (room - len(verdicts)) * weight_of(tenant) // weights))
            if not lines:
                del self._tenants[tenant]
            if chosen:
                verdicts += chosen
                charged[tenant] = charged.get(tenant, 0) + len(chosen)
                self._turns.charge(tenant, len(chosen) * self._item_s)
                if not self._mixes:
                    break
        return verdicts, charged

    def _take_from(self, lines: _Lines, room: int) -> list[PendingVerdict]:
        verdicts: list[PendingVerdict] = []
        while lines and len(verdicts) < room and self._chars < _CHUNK_CHARS:
            share = max(1, (room - len(verdicts)) // len(lines))
            batch, line = lines.popitem(last=False)
            if not verdicts:
                self._run = batch.run
            elif not self._mixes and batch.run != self._run:
                lines[batch] = line
                lines.move_to_end(batch, last=False)
                break
            for _ in range(min(share, len(line))):
                pending = line.popleft()
                self.queued -= 1
                if pending.take():
                    verdicts.append(pending)
                    self._chars += len(pending.prepared.response)
                    if self._chars >= _CHUNK_CHARS:
                        break
            if line:
                lines[batch] = line
        return verdicts

    async def _work(self, chunk: Chunk, charged: Mapping[str, int]) -> None:
        started, expected = self._clock(), self._item_s
        self._watch(chunk)
        finished = False
        try:
            if chunk.begin():
                await self._judge(chunk)
                finished = True
        finally:
            self._timers.pop(chunk).cancel()
            self._chunks.discard(chunk)
            spent = (self._clock() - started) / len(chunk.verdicts)
            for tenant, items in charged.items():
                self._turns.correct(tenant, items * (spent - expected))
            if chunk in self._late:
                self._late.discard(chunk)
            else:
                self._running -= 1
                if finished:
                    self._item_s += 0.2 * (max(spent, 1e-7) - self._item_s)
            self._pump()

    def _watch(self, chunk: Chunk) -> None:
        self._timers[chunk] = asyncio.get_running_loop().call_later(LATE_CHUNK_S, self._give_up_place, chunk)

    def _give_up_place(self, chunk: Chunk) -> None:
        if self._is_backed_up():
            self._watch(chunk)
        elif len(self._late) < self._max_late:
            self._late.add(chunk)
            self._running -= 1
            self._pump()
