"""Pins each working box to a processor, when there are at least as many boxes as processors.

The processes of a box take turns: one works while the others wait for it. Without pinning, the kernel moves each
process that wakes up to any processor that looks free: away from its caches, and often to where another box is at work
already. A sixth of the processors' time is lost. With fewer boxes than processors there is room, and no box is pinned.
"""

import os
import random


class Cores:
    """Numbers of processors, counted from 0 among those a box may use.

    All are given out equally often, or nearly so.
    """

    def __init__(self, count: int) -> None:
        """Begin with no box on any processor.

        Args:
            count: How many processors. 0: no box is pinned.
        """
        self._boxes = [0] * count
        self._first = (
            random.SystemRandom().randrange(count) if count else 0
        )  # so that services on one machine do not all begin with the same processor

    @classmethod
    def for_slots(cls, slots: int) -> "Cores":
        """The processors of this machine, for `slots` boxes at work at once."""
        count = len(os.sched_getaffinity(0))
        return cls(count if slots >= count else 0)

    def acquire(self) -> int | None:
        """A processor with the fewest boxes; None: do not pin."""
        if not self._boxes:
            return None
        core = self._boxes.index(min(self._boxes))
        self._boxes[core] += 1
        return (core + self._first) % len(self._boxes)

    def release(self, core: int | None) -> None:
        """Give back what `acquire` returned."""
        if core is not None:
            self._boxes[(core - self._first) % len(self._boxes)] -= 1
