"""Decides when a failed call is repeated: after a random wait, and within a budget.

Full jitter: waits are drawn evenly from 0 to a bound that doubles ("Exponential Backoff And Jitter", AWS, 2015). The
budget keeps an outage from multiplying the load. Calls beyond it wait instead of being dropped, because a dropped call
is a lost item.
"""

import random
from collections import deque

from verifiers.judge.endpoints.config import RetryConfig

_SLOTS = 10


def delay_s(config: RetryConfig, failures: int, chance: random.Random) -> float:
    """Seconds before the next attempt, after this many failures."""
    return chance.uniform(0, min(config.cap_s, config.base_s * 2.0 ** min(failures - 1, 30)))


class RetryBudget:
    """Counts calls and repeated calls within the last window."""

    def __init__(self, config: RetryConfig) -> None:
        self._config = config
        self._slot_s = config.budget_window_s / _SLOTS
        self._slots: deque[list[int]] = deque()
        """[slot, calls, repeated calls]"""
        self._calls = 0
        self._repeated = 0

    def called(self, now: float) -> None:
        self._slot(now)[1] += 1
        self._calls += 1

    def take(self, now: float) -> bool:
        """Whether a call may be repeated now; if so, it counts."""
        slot = self._slot(now)
        config = self._config
        if self._repeated + 1 > self._calls * config.budget + config.budget_floor_per_s * config.budget_window_s:
            return False
        slot[2] += 1
        self._repeated += 1
        return True

    @property
    def wait_s(self) -> float:
        """Seconds until it is worth asking again after a refusal."""
        return self._slot_s

    def _slot(self, now: float) -> list[int]:
        number = int(now / self._slot_s)
        while self._slots and self._slots[0][0] <= number - _SLOTS:
            _, calls, repeated = self._slots.popleft()
            self._calls -= calls
            self._repeated -= repeated
        if not self._slots or self._slots[-1][0] != number:
            self._slots.append([number, 0, 0])
        return self._slots[-1]
