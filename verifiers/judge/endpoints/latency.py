"""Estimates how long an endpoint takes to answer.

The estimate is a moving average of its successes, with two corrections. An endpoint that has calls and answers none of
them is at least as slow as its silence is long. An endpoint that is not asked may have become faster, so its average
loses half its weight in every `_HALF_LIFE_S`, until it is asked again.
"""

from collections import deque

_WEIGHT = 0.2
_HALF_LIFE_S = 10.0
_KEPT = 100
"""The last answers, of which `late_s` is a quantile: of so many, and after so many more it is computed again."""
_RENEWED_AFTER = 20
_LATE = 0.95


class Latency:
    def __init__(self) -> None:
        self._average_s: float | None = None
        self._heard_at = 0.0
        """The time of its last answer, or a later time at which it got a call while it had none."""
        self.total_s = 0.0
        self.count = 0
        self.late_s: float | None = None
        """The time in which 95 of 100 of its last answers came; None before twenty."""
        self._last: deque[float] = deque(maxlen=_KEPT)

    def began(self, in_flight: int, now: float) -> None:
        """Note that a call begins beside `in_flight` others."""
        if in_flight == 0:
            if self._average_s is not None:
                self._average_s = self._faded(now)
            self._heard_at = now

    def answered(self, seconds: float, now: float) -> None:
        self._heard_at = now
        self.total_s += seconds
        self.count += 1
        self._last.append(seconds)
        if self.count % _RENEWED_AFTER == 0:
            self.late_s = sorted(self._last)[int(_LATE * len(self._last))]
        self._learn(seconds)

    def gave_up(self, seconds: float) -> None:
        """Note that no answer came within `seconds`; how much longer it would have taken is not known."""
        if self._average_s is None or seconds > self._average_s:
            self._learn(seconds)

    def estimate_s(self, in_flight: int, now: float) -> float | None:
        """The estimate in seconds; None if nothing is known yet."""
        if not in_flight:
            return self._faded(now)
        silence = now - self._heard_at
        return silence if self._average_s is None else max(self._average_s, silence)

    def _learn(self, seconds: float) -> None:
        average_s = self._average_s
        self._average_s = seconds if average_s is None else average_s + _WEIGHT * (seconds - average_s)

    def _faded(self, now: float) -> float | None:
        if self._average_s is None:
            return None
        return float(self._average_s * 0.5 ** ((now - self._heard_at) / _HALF_LIFE_S))
