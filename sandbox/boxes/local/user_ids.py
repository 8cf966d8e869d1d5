"""Finds the user ids that a service may use for its boxes, and what else root may do."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from sandbox.boxes.user_ids import HIGHEST, LOWEST, RANGE, Range, Ranges, ranges_of_a_machine

_CAPABILITIES: Final = {"DAC_OVERRIDE": 1, "KILL": 5, "SETGID": 6, "SETUID": 7, "SYS_CHROOT": 18, "SYS_ADMIN": 21}
"""Their numbers, see capability.h of the kernel."""
_FEWEST: Final = 4000
_FEWEST_OF_BOX: Final = 2048
"""For the runs of a job and as many tests, see `sandbox.runner.process.runs`."""


def ranges(*, may_share: bool) -> Ranges | None:
    """Ranges for boxes, or None when the service may use no id but its own.

    Args:
        may_share: Boxes have PID namespaces, so that all of them can use the same ids.
    """
    if missing_capabilities(("SETGID", "SETUID")):
        return None
    return choose(Path("/proc/self/uid_map").read_text(), may_share=may_share)


def choose(uid_map: str, *, may_share: bool) -> Ranges | None:
    """Choose ranges out of the mapped ids; None when there are too few.

    Args:
        uid_map: The lines of /proc/PID/uid_map, see user_namespaces(7).
        may_share: See `ranges`.
    """
    extents = _extents(uid_map)
    if any(first <= LOWEST and first + count >= HIGHEST for first, count in extents):
        return ranges_of_a_machine()
    first, count = max(extents, key=lambda extent: extent[1])
    half = min(count // 2, RANGE)
    if half < _FEWEST:
        return None
    upper = Range(first + count - half, half)
    return Ranges(upper, half, is_shared=True) if may_share else Ranges(upper, _FEWEST_OF_BOX)


def missing_capabilities(names: Iterable[str]) -> list[str]:
    """Those of the capabilities that this process lacks: all of them if it is not root."""
    status = Path("/proc/self/status").read_text().splitlines()
    effective = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))
    return [name for name in names if os.geteuid() != 0 or not effective >> _CAPABILITIES[name] & 1]


def is_machine_root() -> bool:
    """Whether this process is root outside of any user namespace too, as far as it can see."""
    rows = [[int(word) for word in line.split()] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    return os.geteuid() == 0 and rows[0][:2] == [0, 0]


def _extents(uid_map: str) -> Sequence[tuple[int, int]]:
    """First id and count of each mapped range, as seen inside."""
    rows = [[int(word) for word in line.split()] for line in uid_map.splitlines()]
    return [(inside, count) for inside, _, count in rows]
