"""Work on the event loop in steps: after some milliseconds of it, other tasks get their turn."""

import asyncio
from time import perf_counter
from typing import Final

STEP_S: Final = 0.002
"""The longest time that items are judged without a pause, if none of them takes longer by itself."""


class Pace:
    """Counts the time of a step. It begins when the object is made."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = perf_counter()

    def is_over(self) -> bool:
        return perf_counter() - self._began > STEP_S

    async def rest(self) -> None:
        """End the step, and begin the next one."""
        await asyncio.sleep(0)
        self._began = perf_counter()
