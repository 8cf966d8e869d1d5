"""What a service and all its processes hold: memory (shared pages count once) and open files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.processes import descendants, gone


@dataclass(frozen=True)
class Footprint:
    """The measurement of one moment."""

    memory_mb: float
    server_mb: float
    """The part of the service's own process."""
    files: int
    """The open files of the service's own process."""


def footprint(pid: int) -> Footprint:
    """Measure the service with this pid."""
    own = _pss_mb(pid)
    return Footprint(own + sum(map(_pss_mb, descendants(pid))), own, _files(pid))


def growth(values: Sequence[float]) -> float:
    """The growth from the second fifth of a run to its last, as a share. In the first fifth caches and heaps fill."""
    fifth = len(values) // 5
    if not fifth:
        raise ValueError(f"{len(values)} values are too few; five are the least")
    return median(values[-fifth:]) / median(values[fifth : 2 * fifth]) - 1


def _pss_mb(pid: int) -> float:
    """Memory in which each page counts by its share. It is 0 for a process that has ended."""
    with gone():
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1000
    return 0.0


def _files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
