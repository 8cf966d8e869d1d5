"""Who may go next: so many at once, and so much memory for all of them, in the order in which they came."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sandbox.containers.base import TaskRefused


@dataclass(slots=True, eq=False)
class _Waiter:
    memory_mb: int
    turn: asyncio.Future[None]


class Turns:
    """`slots` at once, with `memory_mb` together. None: memory has no limit."""

    def __init__(self, slots: int, memory_mb: int | None = None) -> None:
        self._slots = slots
        self._memory_mb = memory_mb
        self._taken = 0
        self._taken_mb = 0
        self._waiters: deque[_Waiter] = deque()

    @property
    def running(self) -> int:
        return self._taken

    @property
    def waiting(self) -> int:
        return len(self._waiters)

    @asynccontextmanager
    async def turn(self, memory_mb: int) -> AsyncIterator[None]:
        """Wait for a turn; it is over at the end of the block.

        Raises:
            TaskRefused: it would never come.
        """
        if self._memory_mb is not None and memory_mb > self._memory_mb:
            raise TaskRefused(
                "too_much_memory",
                f"the task wants {memory_mb} MB of memory; this server gives {self._memory_mb} MB at most",
            )
        waiter = _Waiter(memory_mb, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        self._call_next()
        try:
            await waiter.turn
        except asyncio.CancelledError:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
                self._call_next()
            else:
                self._give_back(waiter)
            raise
        try:
            yield
        finally:
            self._give_back(waiter)

    def _give_back(self, waiter: _Waiter) -> None:
        self._taken -= 1
        self._taken_mb -= waiter.memory_mb
        self._call_next()

    def _call_next(self) -> None:
        while self._waiters and self._has_room(self._waiters[0].memory_mb):
            waiter = self._waiters.popleft()
            self._taken += 1
            self._taken_mb += waiter.memory_mb
            waiter.turn.set_result(None)

    def _has_room(self, memory_mb: int) -> bool:
        if self._taken >= self._slots:
            return False
        return self._memory_mb is None or self._taken_mb + memory_mb <= self._memory_mb
