"""What a service and all its processes hold: memory, shared pages counted once, and open files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.processes import descendants, gone


@dataclass(frozen=True)
class Footprint:
    """At one moment."""

    memory_mb: float
    server_mb: float
    """Of it, the service's own process."""
    files: int
    """Open in the service's own process."""


def footprint(pid: int) -> Footprint:
    """Of the service with this pid."""
    own = _pss_mb(pid)
    return Footprint(own + sum(map(_pss_mb, descendants(pid))), own, _files(pid))


def growth(values: Sequence[float]) -> float:
    """From the second fifth of a run (in the first, caches and heaps fill) to its last, as a share."""
    fifth = len(values) // 5
    if not fifth:
        raise ValueError(f"{len(values)} values are too few; five are the least")
    return median(values[-fifth:]) / median(values[fifth : 2 * fifth]) - 1


def _pss_mb(pid: int) -> float:
    """Each page's share; 0 for a process that has ended."""
    with gone():
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1000
    return 0.0


def _files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
