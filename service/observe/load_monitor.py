"""Measures twice a second how late the event loop is and how much work waits, so that peaks between two scrapes count.

Reinforcement learning sends its work in bursts, one per step. So the number of replicas depends on the peak of the
recent past, not on the moment or the mean.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping

TICK_S = 0.5
PEAK_S = 600.0
LAG_S = 15.0


class RollingMax:
    """The highest value of the last `span_s` seconds."""

    def __init__(self, span_s: float) -> None:
        self._span_s = span_s
        self._falling: deque[tuple[float, float]] = deque()
        """Pairs of time and value. Each value is higher than all later ones."""

    def note(self, at_s: float, value: float) -> None:
        while self._falling and self._falling[-1][1] <= value:
            self._falling.pop()
        self._falling.append((at_s, value))
        while self._falling[0][0] <= at_s - self._span_s:
            self._falling.popleft()

    @property
    def value(self) -> float:
        return self._falling[0][1] if self._falling else 0.0


class LoadMonitor:
    """Measures the load; `run` runs for as long as the service does."""

    def __init__(self, queued_s: Callable[[], Mapping[str, float]]) -> None:
        self._queued_s = queued_s
        self._lag = RollingMax(LAG_S)
        self._peak = RollingMax(PEAK_S)

    @property
    def lag_s(self) -> float:
        """The worst recent delay of the event loop."""
        return self._lag.value

    @property
    def peak_s(self) -> float:
        """The most work that waited at once in the last ten minutes, in seconds."""
        return self._peak.value

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK_S
            await asyncio.sleep(TICK_S)
            now = loop.time()
            self._lag.note(now, max(0.0, now - due))
            self._peak.note(now, sum(self._queued_s().values()))
