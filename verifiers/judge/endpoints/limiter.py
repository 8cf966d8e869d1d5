"""Learns how many calls an endpoint can take at once: additive increase, multiplicative decrease (Chiu and Jain, 1989).

Until the first refusal the limit grows by one with each success, so it doubles per round trip (the slow start of RFC
5681, 3.1); after that it grows by one per round trip. A refusal lowers it by a tenth, at most once per round trip:
refusals of calls that began before the last decrease concern the limit before it.

A 429 says more: the calls that are still under way were taken. The limit becomes their number, and stays there for a
while, since each attempt to pass it costs the pause that the endpoint asks for.
"""

from verifiers.judge.endpoints.config import ConcurrencyConfig

_DECREASE = 0.9
_HOLD_S = 10.0
_HOLD_CAP_S = 320.0
"""How long the limit stays at what an endpoint has taken: doubled with each refusal beyond it."""
_FIRST_DECREASE = 0.5
"""The decrease after the slow start: doubling exceeds the capacity by up to a factor of two."""


class Limiter:
    """The limit, and the number of calls under way."""

    def __init__(self, config: ConcurrencyConfig) -> None:
        self._config = config
        self._limit = float(config.start)
        self._decreased_at = float("-inf")
        self._held_until = float("-inf")
        self._hold_s = _HOLD_S
        self.learned = False
        """Whether a refusal has shown where the limit is."""
        self.in_flight = 0

    @property
    def limit(self) -> int:
        return int(self._limit)

    @property
    def has_room(self) -> bool:
        return self.in_flight < int(self._limit)

    def begin(self) -> None:
        self.in_flight += 1

    def end(self) -> None:
        """Note the end of a call, whatever its result."""
        self.in_flight -= 1

    def succeeded(self, now: float) -> None:
        """Note a success. Call it before `end`: the limit grows only if it was in use."""
        if self.in_flight >= int(self._limit) and now >= self._held_until:
            self._limit = min(self._limit + (1.0 / self._limit if self.learned else 1.0), float(self._config.max))

    def refused_beyond_taken(self, now: float) -> None:
        """Note a 429. Call it before `end`: all other calls under way were taken, or will be refused as well."""
        accepted = max(self.in_flight - 1, self._config.min)
        if accepted < int(self._limit):
            self._limit = float(accepted)
        if now >= self._held_until:
            self._held_until = now + self._hold_s
            self._hold_s = min(2 * self._hold_s, _HOLD_CAP_S)
        self.learned = True

    def refused(self, began_at: float, now: float) -> None:
        """Note a 503 or a timeout of a call that began at `began_at`."""
        if began_at < self._decreased_at:
            return
        overshot = not self.learned and self._limit > self._config.start
        self._limit = max(self._limit * (_FIRST_DECREASE if overshot else _DECREASE), float(self._config.min))
        self._decreased_at = now
        self.learned = True
