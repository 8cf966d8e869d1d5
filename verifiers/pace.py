"""Work on the event loop in steps: after some milliseconds of it, other tasks get their turn."""

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Final

STEP_S: Final = 0.002
"""The longest time that items are judged without a pause, if none of them takes longer by itself."""


class Pace:
    """Counts the time of a step. It begins when the object is made."""

    __slots__ = ("_began", "_clock")

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._began = clock()

    def is_over(self) -> bool:
        return self._clock() - self._began > STEP_S

    async def rest(self) -> None:
        """End the step, and begin the next one."""
        await asyncio.sleep(0)
        self._began = self._clock()
