"""Watches the size of a process: collects garbage as it grows, and halves its memories when it is too large.

A full collection looks at all that lives, so Python's own rule, which counts objects, makes it take a sixth of the time of
the hot path. What counts is whether the process grew. So there is one after a growth of so many bytes, and none before the
last one has been paid for: a hundred times what it took. So collections cost at most one per cent.

A process whose event loop must not stand looks at each object once or twice (`is_gradual`). Python collects among so few new
objects at a time (`GRADUAL_THRESHOLDS`) that none takes 5 ms, and what survives is left out of the next ones. A growth has
the newest collected. Cycles among what had survived before are found by a whole collection, after a growth of many times as
much.
"""

import ctypes
import gc
import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from memory import registry

GROWTH_BYTES: Final = 32_000_000
GRADUAL_GROWTH_BYTES: Final = 4_000_000
"""Of small objects: some 20,000, which take 2 ms."""
GRADUAL_THRESHOLDS: Final = (10_000, 0, 1_000_000_000)
"""For `gc.set_threshold`: each second time that so many new objects live, what survived the first time is looked at again,
20,000 objects at most, with six references each. A quiet machine takes 2 ms for them. The oldest generation is never looked
at unasked."""
_YOUNG: Final = 1
_ALL: Final = 2
WHOLE_GROWTH_BYTES: Final = 256_000_000
"""A whole collection takes 20 ms or more."""
_STAYS_CHECKS: Final = 30
"""A size that so many checks have seen stays."""
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
        is_gradual: bool = False,
        settle: Callable[[], object] = registry.settle,
        trim: Callable[[], object] | None = None,
        bound_bytes: int | None = None,
        resident: "Callable[[], int] | None" = None,
        more_bytes: Callable[[], int] = lambda: 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """
        Args:
            growth_bytes: A process that grew by this has garbage collected.
            is_gradual: Whether to collect among what is new only. The process has set `GRADUAL_THRESHOLDS`.
            settle: Has memories measured that do not count themselves.
            trim: Gives free pages back to the system.
            bound_bytes: The bound of the process and of the others.
            resident: The size of the process.
            more_bytes: What other processes have that count towards the bound.
            clock: Seconds.
        """
        self.bound_bytes = bound_bytes
        self.collections = 0
        self.collection_s = 0.0
        self.halvings = 0
        self.rss_bytes = 0
        self._growth_bytes = growth_bytes
        self._resident = resident or resident_bytes
        self._more_bytes = more_bytes
        self._clock = clock
        self._is_gradual = is_gradual
        self._settle = settle
        self._trim = trim or trimming()
        self._base_bytes = self._whole_base_bytes = self._resident()
        self._last_sizes: deque[int] = deque(maxlen=_STAYS_CHECKS)
        self._collect_from_s = self._halve_from_s = clock()

    def check(self) -> bool:
        """Collect or halve if it is time to. Returns whether the memories were halved."""
        self.rss_bytes = self._resident()
        self._last_sizes.append(self.rss_bytes)
        self._base_bytes = min(self._base_bytes, self.rss_bytes)
        now_s = self._clock()
        if self.is_over and now_s >= self._halve_from_s:
            self._halve_from_s = now_s + _HALVE_EVERY_S
            self.halvings += 1
            registry.halve()
            self._collect(is_whole=True)
            return True
        if self.rss_bytes - self._base_bytes >= self._growth_bytes and now_s >= self._collect_from_s:
            self._settle()
            self._collect(is_whole=self._has_stayed_large())
        return False

    @property
    def is_over(self) -> bool:
        """Whether the processes are larger than the bound."""
        return self.bound_bytes is not None and self.rss_bytes + self._more_bytes() > self.bound_bytes

    def _has_stayed_large(self) -> bool:
        """Whether the process has grown by much, and not for the time of a large request."""
        if len(self._last_sizes) < _STAYS_CHECKS:
            return False
        return min(self._last_sizes) - self._whole_base_bytes >= WHOLE_GROWTH_BYTES

    def _collect(self, *, is_whole: bool) -> None:
        started_s = self._clock()
        gc.collect(_YOUNG if self._is_gradual and not is_whole else _ALL)
        self._trim()
        ended_s = self._clock()
        self.collections += 1
        self.collection_s += ended_s - started_s
        self._collect_from_s = ended_s + _REST_FACTOR * (ended_s - started_s)
        self.rss_bytes = self._base_bytes = self._resident()
        if is_whole:
            self._whole_base_bytes = self.rss_bytes


def resident_bytes(pid: int | str = "self") -> int:
    """The resident memory of a process; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def machine_bytes() -> int:
    """The memory that this process may have: that of the machine, or of its control group if that is less."""
    limit_bytes = os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES
    for limit in _LIMITS:
        try:
            limit_bytes = min(limit_bytes, int(Path(limit).read_text()))
        except (OSError, ValueError):  # there is no such file, or it says "max"
            continue
    return limit_bytes


_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


def trimming() -> Callable[[], object]:
    """The function that gives free pages back to the system, with glibc."""
    try:
        malloc_trim = ctypes.CDLL(None).malloc_trim
    except AttributeError:
        return lambda: None
    return lambda: malloc_trim(0)
