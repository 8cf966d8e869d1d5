"""On which processor each box at work stays, where boxes are to use up all of them.

The processes of a box take turns: one of them works while the others wait for it. Left to itself the kernel puts each that
wakes up where it sees room, away from what it has in its caches, and often where another box is at work already: a sixth of
the processors' time is lost. Where there are fewer boxes than processors, there is room, and nobody is told to stay.
"""

import os
import random


class Cores:
    """Numbers of processors, counted from 0 among those a box may use. Each is given out as often as any other, or nearly."""

    def __init__(self, count: int) -> None:
        """
        Args:
            count: Of processors. 0: no box is told to stay.
        """
        self._boxes = [0] * count
        self._first = random.SystemRandom().randrange(count) if count else 0  # other services begin with others

    @classmethod
    def for_slots(cls, slots: int) -> "Cores":
        """Of this machine, for so many boxes at work at once."""
        count = len(os.sched_getaffinity(0))
        return cls(count if slots >= count else 0)

    def acquire(self) -> int | None:
        """One of those that have the fewest boxes."""
        if not self._boxes:
            return None
        place = self._boxes.index(min(self._boxes))
        self._boxes[place] += 1
        return (place + self._first) % len(self._boxes)

    def release(self, core: int | None) -> None:
        """What `take` returned."""
        if core is not None:
            self._boxes[(core - self._first) % len(self._boxes)] -= 1
