"""Watches the size of a process: collects garbage as it grows, and halves its memories when it is too large.

A full collection looks at all that lives, so Python's own rule, which counts objects, makes it take a sixth of the time of
the hot path. What counts is whether the process grew. So there is one after a growth of so many bytes, and none before the
last one has been paid for: a hundred times what it took. So collections cost at most one per cent.
"""

import ctypes
import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from memory import registry

GROWTH_BYTES: Final = 32_000_000
_REST_FACTOR: Final = 100
"""The least time between two collections, in durations of the last one."""
_HALVE_EVERY_S: Final = 10.0
"""Pages that are free go back after a while. What was halved is given this time to show."""
_LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class Watch:
    """The watch of one process. `check` is to be called regularly; it takes some microseconds when nothing has grown."""

    def __init__(
        self,
        *,
        growth_bytes: int = GROWTH_BYTES,
        bound_bytes: int | None = None,
        resident: "Callable[[], int] | None" = None,
        more_bytes: Callable[[], int] = lambda: 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`more_bytes`: what other processes have that count towards the bound."""
        self.bound_bytes = bound_bytes
        self.collections = 0
        self.collection_s = 0.0
        self.halvings = 0
        self.rss_bytes = 0
        self._growth_bytes = growth_bytes
        self._resident = resident or resident_bytes
        self._more_bytes = more_bytes
        self._clock = clock
        self._trim = _trimming()
        self._base_bytes = self._resident()
        self._collect_from_s = self._halve_from_s = clock()

    def check(self) -> bool:
        """Collect or halve if it is time to. Returns whether the memories were halved."""
        self.rss_bytes = self._resident()
        self._base_bytes = min(self._base_bytes, self.rss_bytes)
        now_s = self._clock()
        if self.is_over and now_s >= self._halve_from_s:
            self._halve_from_s = now_s + _HALVE_EVERY_S
            self.halvings += 1
            registry.halve()
            self._collect()
            return True
        if self.rss_bytes - self._base_bytes >= self._growth_bytes and now_s >= self._collect_from_s:
            registry.settle()
            self._collect()
        return False

    @property
    def is_over(self) -> bool:
        """Whether the processes are larger than the bound."""
        return self.bound_bytes is not None and self.rss_bytes + self._more_bytes() > self.bound_bytes

    def _collect(self) -> None:
        started_s = self._clock()
        gc.collect()
        self._trim()
        ended_s = self._clock()
        self.collections += 1
        self.collection_s += ended_s - started_s
        self._collect_from_s = ended_s + _REST_FACTOR * (ended_s - started_s)
        self.rss_bytes = self._base_bytes = self._resident()


def resident_bytes(pid: int | str = "self") -> int:
    """The resident memory of a process; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def machine_bytes() -> int:
    """The memory that this process may have: that of the machine, or of its control group if that is less."""
    least = os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES
    for limit in _LIMITS:
        try:
            least = min(least, int(Path(limit).read_text()))
        except (OSError, ValueError):  # there is no such file, or it says "max"
            continue
    return least


_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


def _trimming() -> Callable[[], object]:
    """The function that gives free pages back to the system, with glibc."""
    try:
        malloc_trim = ctypes.CDLL(None).malloc_trim
    except AttributeError:
        return lambda: None
    return lambda: malloc_trim(0)
