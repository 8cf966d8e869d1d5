"""How many samples the watch reads: a budget that grows with time, not with the rate of items, divided fairly.

It is divided by the tenants that were active of late, and the part of each by its runs. So no run takes the reading of another one,
and no number of runs that of another tenant. This is the token bucket of networks (RFC 2697, section 3), as a tree of three levels.
"""

import math
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

SAMPLES_PER_S: Final = 24.0
"""Samples that are read in the long run, at most: 0.7 % of a CPU."""
_OF_CPU: Final = 1.5
"""So much faster than its CPU time the clock of a process goes. So samples cost 1 % of that CPU time ..."""
_SLOWEST: Final = 0.5
"""... but never slower than this part of real time, which is 0.4 % of a CPU: a process that has little to do is not a busy one."""
RUN_SAMPLES_PER_S: Final = 6.0
"""The same for one run."""
_FULL_S: Final = 400.0 / RUN_SAMPLES_PER_S
"""What may be read at once after a pause is what comes together in this time: the responses of a step often come together.
After such a pause a budget is full, so what was known of it may be forgotten."""
_MOST: Final = 64
"""Tenants, and runs of each, that are told apart."""


_FIRST_S: Final = _FULL_S * 4.75
"""The same for all at once. New buckets of n tenants hold 1 + 1/2 + ... + 1/n of it together, and 4.75 for 64: so this binds only
where more tenants come and go than are told apart."""


@dataclass(slots=True)
class _Bucket:
    """The samples that may be read. A bucket that is new is full."""

    at_s: float
    saved: float = math.inf

    def fill(self, per_s: float, now_s: float, full_s: float = _FULL_S) -> None:
        self.saved = min(full_s * per_s, self.saved + per_s * (now_s - self.at_s))
        self.at_s = now_s


class _Buckets:
    """The buckets of a number of takers that share a rate, the one that took last at the end."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Bucket] = OrderedDict()
        self.parts: dict[str, _Buckets] = {}
        """The buckets of the runs of each tenant."""

    def filled(self, name: str, per_s: float, most_per_s: float, now_s: float) -> tuple[_Bucket, float]:
        """The bucket of a taker, filled with its part of the rate, and this part."""
        while self._kept and next(iter(self._kept.values())).at_s < now_s - _FULL_S:
            self._forget()
        bucket = self._kept.get(name) or _Bucket(now_s)
        self._kept[name] = bucket
        self._kept.move_to_end(name)
        if len(self._kept) > _MOST:
            self._forget()
        part_per_s = min(most_per_s, per_s / len(self._kept))
        bucket.fill(part_per_s, now_s)
        return bucket, part_per_s

    def _forget(self) -> None:
        name, _ = self._kept.popitem(last=False)
        self.parts.pop(name, None)


class Clock:
    """The time that a process had for its work, in seconds. Where others take the CPU it goes slower, down to half: what is read
    must not take more of the work than it does on a machine that is free.
    """

    def __init__(self) -> None:
        self._now_s = 0.0
        self._last = (time.monotonic(), time.process_time())

    def now_s(self) -> float:
        (wall_s, cpu_s), self._last = self._last, (time.monotonic(), time.process_time())
        passed_s = self._last[0] - wall_s
        self._now_s += max(_SLOWEST * passed_s, min(passed_s, _OF_CPU * (self._last[1] - cpu_s)))
        return self._now_s


class Budget:
    """The samples that may be read of each run. Its memory is bounded by `_MOST` tenants with as many runs."""

    def __init__(self) -> None:
        self._tenants = _Buckets()
        self._all = _Bucket(0.0)

    def take(self, tenant: str, run: str, wanted: int, now_s: float) -> int:
        """Take so many samples of a run, or what there is. `now_s` is of a clock that never goes back."""
        whole, per_s = self._tenants.filled(tenant, SAMPLES_PER_S, SAMPLES_PER_S, now_s)
        runs = self._tenants.parts.setdefault(tenant, _Buckets())
        part, _ = runs.filled(run, per_s, RUN_SAMPLES_PER_S, now_s)
        self._all.fill(SAMPLES_PER_S, now_s, _FIRST_S)
        levels = (self._all, whole, part)
        count = min(wanted, *(int(level.saved) for level in levels))
        for level in levels:
            level.saved -= count
        return count
