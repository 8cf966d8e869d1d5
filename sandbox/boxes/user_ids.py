"""User ids for boxes: what root in a box, and each of its runs, is outside.

The kernel counts processes by user, and where a box has no PID namespace its runner ends all of a user. So boxes of one
service have no ids in common as long as they last: what one box's programs take or leave is nobody's in another.
"""

import secrets
from dataclasses import dataclass
from typing import Final

from sandbox.base import SandboxUnavailable

RANGE: Final = 65536
LOWEST: Final = 1 << 28
HIGHEST: Final = 1 << 31
"""No distribution hands out ids between these two."""
FIRST_RUN: Final = 1000
"""In a box that has all ids from 0, below which are root and the names of /etc/passwd."""


@dataclass(frozen=True, slots=True)
class Range:
    first: int
    count: int

    @property
    def runs(self) -> int:
        """How many ids runs have in turn, from `FIRST_RUN` on; tests have as many, above those."""
        return (self.count - FIRST_RUN) // 2


class Ranges:
    """Those of one service, each lent to one box at a time."""

    def __init__(self, among: Range, each: int, *, is_shared: bool = False) -> None:
        """
        Args:
            among: All ids there are for boxes.
            each: How many of them a box gets.
            is_shared: Boxes may have the same ones, as there are too few and something else keeps them apart.
        """
        self._among = among
        self._each = each
        self._is_shared = is_shared
        self._lent: set[int] = set()

    def lend(self) -> Range:
        """Some that no living box has, drawn so that those of other services are others.

        Raises:
            SandboxUnavailable: all are lent.
        """
        places = self._among.count // self._each
        place = secrets.randbelow(places)
        if not self._is_shared:
            if len(self._lent) >= places:
                raise SandboxUnavailable(f"there are user ids for {places} boxes here, and each needs its own")
            while place in self._lent:
                place = (place + 1) % places
            self._lent.add(place)
        return Range(self._among.first + place * self._each, self._each)

    def give_back(self, ids: Range) -> None:
        """Nothing that has these ids is left."""
        self._lent.discard((ids.first - self._among.first) // self._each)


def ranges_of_a_machine() -> Ranges:
    """For who has all the ids of a machine."""
    return Ranges(Range(LOWEST, HIGHEST - LOWEST), RANGE)
