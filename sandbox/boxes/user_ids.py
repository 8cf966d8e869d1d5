"""User ids for boxes: the ids that root in a box, and each of its runs, have outside.

The kernel counts processes by user. In a box without a PID namespace, the runner kills all processes of a user. So the
living boxes of one service share no ids: the processes that one box's programs use up or leave behind are never
another's.
"""

import secrets
from dataclasses import dataclass
from typing import Final

from sandbox.base import SandboxUnavailable

RANGE: Final = 65536
LOWEST: Final = 1 << 28
HIGHEST: Final = 1 << 31
"""No distribution assigns ids between these two."""
FIRST_RUN: Final = 1000
"""The first id for runs in a box that has all ids from 0. Below it are root and the names of /etc/passwd."""


@dataclass(frozen=True, slots=True)
class Range:
    first: int
    count: int

    @property
    def runs(self) -> int:
        """How many ids the runs use in turn, starting at `FIRST_RUN`. Tests have as many, above those."""
        return (self.count - FIRST_RUN) // 2


class Ranges:
    """The user ids of one service. Each range is lent to one box at a time."""

    def __init__(self, among: Range, range_size: int, *, is_shared: bool = False) -> None:
        """Divide ids into ranges of equal size.

        Args:
            among: All ids that boxes may use.
            range_size: How many ids a box gets.
            is_shared: Boxes may have the same ids, because there are too few and something else keeps boxes apart.
        """
        self._among = among
        self._each = range_size
        self._is_shared = is_shared
        self._lent: set[int] = set()

    def lend(self) -> Range:
        """Lend a range that no living box has. It is drawn at random, so that other services get other ranges.

        Raises:
            SandboxUnavailable: all ranges are lent.
        """
        range_count = self._among.count // self._each
        index = secrets.randbelow(range_count)
        if not self._is_shared:
            if len(self._lent) >= range_count:
                raise SandboxUnavailable(
                    f"all user ids are in use: there are enough for {range_count} boxes, and each box needs its own"
                )
            while index in self._lent:
                index = (index + 1) % range_count
            self._lent.add(index)
        return Range(self._among.first + index * self._each, self._each)

    def give_back(self, ids: Range) -> None:
        """Take a range back, once no process or file with these ids is left."""
        self._lent.discard((ids.first - self._among.first) // self._each)


def ranges_of_a_machine() -> Ranges:
    """Ranges for a service that may use all ids of a machine."""
    return Ranges(Range(LOWEST, HIGHEST - LOWEST), RANGE)
