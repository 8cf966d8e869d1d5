"""User ids for boxes: what root in a box, and each of its runs, is outside.

Each box has a range of its own where there are enough, so that what one leaves belongs to nobody in another.
"""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

RANGE: Final = 65536
FIRST_RUN: Final = 1000
"""In a box, below which are root and the names of /etc/passwd."""

_SETGID, _SETUID = 6, 7
_LOWEST: Final = 1 << 28
_HIGHEST: Final = 1 << 31
"""No distribution hands out ids between these two."""
_FEWEST: Final = 4 * FIRST_RUN


@dataclass(frozen=True, slots=True)
class Range:
    first: int
    count: int

    @property
    def runs(self) -> int:
        """How many ids runs have in turn; tests have as many, above those."""
        return (self.count - FIRST_RUN) // 2


def new_range() -> Range | None:
    """A range for a box, or None where the service may not use other ids than its own."""
    return choose(Path("/proc/self/uid_map").read_text()) if may_change_ids() else None


def choose(uid_map: str) -> Range | None:
    """A range among the ids there are, or None when they are too few.

    Args:
        uid_map: The lines of /proc/PID/uid_map, see user_namespaces(7).
    """
    extents = _extents(uid_map)
    if any(first <= _LOWEST and first + count >= _HIGHEST for first, count in extents):
        return Range(_LOWEST + secrets.randbelow((_HIGHEST - _LOWEST) // RANGE) * RANGE, RANGE)
    first, count = max(extents, key=lambda extent: extent[1])
    half = min(count // 2, RANGE)
    return Range(first + count - half, half) if half >= _FEWEST else None


def may_change_ids() -> bool:
    """Whether this process is root with the rights that root usually has over user ids."""
    if os.geteuid() != 0:
        return False
    status = Path("/proc/self/status").read_text().splitlines()
    capabilities = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))
    wanted = 1 << _SETUID | 1 << _SETGID
    return capabilities & wanted == wanted


def is_machine_root() -> bool:
    """Whether this process is root outside of any user namespace too, as far as it can see."""
    rows = [[int(word) for word in line.split()] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    return os.geteuid() == 0 and rows[0][:2] == [0, 0]


def _extents(uid_map: str) -> Sequence[tuple[int, int]]:
    """First and how many, as seen inside."""
    rows = [[int(word) for word in line.split()] for line in uid_map.splitlines()]
    return [(inside, count) for inside, _, count in rows]
