"""Work on the event loop in steps: after some milliseconds of it, other tasks get their turn."""

import asyncio
from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Final

STEP_S: Final = 0.002
"""The longest time that items are judged without a pause, if none of them takes longer by itself."""


class Pace:
    """Counts the CPU time of a step. It begins when the object is made."""

    __slots__ = ("_began", "_clock", "_cpu_began", "_cpu_clock")

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        """`clock`: a look at it is cheap, so it is looked at first. Any other than the default counts as CPU time."""
        self._clock = clock
        self._cpu_clock = thread_time if clock is perf_counter else clock
        self._began, self._cpu_began = clock(), self._cpu_clock()

    def is_over(self) -> bool:
        now = self._clock()
        if now - self._began <= STEP_S:
            return False
        # Time in which other processes had the CPU does not count.
        self._began = now
        return self._cpu_clock() - self._cpu_began > STEP_S

    async def rest(self) -> None:
        """End the step, and begin the next one."""
        await asyncio.sleep(0)
        self._began, self._cpu_began = self._clock(), self._cpu_clock()
