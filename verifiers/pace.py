"""Work on the event loop: in steps, so that other tasks get their turn after some milliseconds; and calls made together."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Final, TypeVar

T = TypeVar("T")

STEP_S: Final = 0.002
"""The longest time that items are judged without a pause, if none of them takes longer by itself."""


class Pace:
    """Counts the time of a step. It begins when the object is made.

    Time in which other processes had the CPU counts, too: a pause costs less than a look at the CPU time would.
    """

    __slots__ = ("_clock", "_ends_s")

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._ends_s = clock() + STEP_S

    def is_over(self) -> bool:
        return self._clock() > self._ends_s

    async def keep(self) -> None:
        """Rest if the step is over."""
        if self.is_over():
            await self.rest()

    async def rest(self) -> None:
        """End the step, and begin the next one."""
        await asyncio.sleep(0)
        self._ends_s = self._clock() + STEP_S


async def together(awaitables: Sequence[Awaitable[T]]) -> list[T]:
    """Await all, in order; if one of them fails, cancel the others."""
    if len(awaitables) == 1:
        return [await awaitables[0]]
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
