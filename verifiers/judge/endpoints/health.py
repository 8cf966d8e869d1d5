"""Decides whether an endpoint is asked at all.

    unprobed ──probe──► healthy ──failures──► ejected ──time over──► trial ──success──► healthy
                           ▲                     ▲                     │
                           └──────probe──────────┴───────failure───────┘

A wrong key or model disables an endpoint: it is ejected for longer, since somebody must mend it, and then tried again.

A 429 means that an endpoint is overloaded, not that it is broken. A 401, 403 or 404 may be caused by the content of one
call (a filter between us and the model): a probe decides, and only a probe disables an endpoint.
"""

from collections import deque
from enum import StrEnum

from verifiers.judge.endpoints.config import HealthConfig


class State(StrEnum):
    UNPROBED = "unprobed"
    """The endpoint was never asked; its first probe is under way."""
    HEALTHY = "healthy"
    EJECTED = "ejected"
    TRIAL = "trial"
    """The ejection is over: the next call or probe decides."""
    DISABLED = "disabled"
    """The key or the model is wrong. It is tried again after `eject_cap_s`."""


class Health:
    """The state and the recent history of one endpoint."""

    def __init__(self, config: HealthConfig) -> None:
        self._config = config
        self._recent: deque[bool] = deque(maxlen=config.window)
        self._in_a_row = 0
        self._eject_s = config.eject_s
        self.state = State.HEALTHY
        self.why: str | None = None
        """The class of the failure that led to the ejection."""
        self.ejected_until = 0.0
        self._ejected_at = 0.0
        self.ejections = 0

    def await_probe(self) -> None:
        self.state = State.UNPROBED

    def succeeded(self, began_at: float = float("inf")) -> None:
        """Count a success of a call or probe. A call that began before the ejection does not end it."""
        self._in_a_row = 0
        self._recent.append(True)
        if self.state is State.DISABLED or (self.state is State.EJECTED and began_at < self._ejected_at):
            return
        if self.state is not State.HEALTHY:
            self._recover()
        elif self._eject_s > self._config.eject_s and all(self._recent) and len(self._recent) == self._config.window:
            self._eject_s = self._config.eject_s

    def failed(self, why: str, now: float) -> bool:
        """Count a failure; whether it led to an ejection."""
        self._in_a_row += 1
        self._recent.append(False)
        if self.state is State.TRIAL or self.state is State.UNPROBED:
            return self._eject(why, now)
        if self.state is State.HEALTHY and (self._in_a_row >= self._config.failures or self._failing):
            return self._eject(why, now)
        return False

    def tick(self, now: float) -> State:
        """The state now; an ejection may have ended."""
        if self.state in (State.EJECTED, State.DISABLED) and now >= self.ejected_until:
            self.state = State.TRIAL
        return self.state

    def eject(self, why: str, now: float) -> None:
        """Eject the endpoint at once, whatever happened before."""
        if self.state is not State.DISABLED:
            self._eject(why, now)

    def disable(self, why: str, now: float) -> None:
        self.state = State.DISABLED
        self.why = why
        self.ejected_until = now + self._config.eject_cap_s

    @property
    def _failing(self) -> bool:
        recent = self._recent
        return len(recent) == self._config.window and recent.count(False) >= self._config.failure_rate * len(recent)

    def _eject(self, why: str, now: float) -> bool:
        if self.state is State.TRIAL:
            self._eject_s = min(self._eject_s * 2, self._config.eject_cap_s)
        self.state = State.EJECTED
        self.why = why
        self.ejected_until = now + self._eject_s
        self._ejected_at = now
        self.ejections += 1
        return True

    def _recover(self) -> None:
        self.state = State.HEALTHY
        self.why = None
        self._recent.clear()
        self._recent.append(True)
