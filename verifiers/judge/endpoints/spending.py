"""Limits the spending within a sliding window.

The expected usage of calls under way is reserved, so that many calls at once cannot exceed a limit that each alone
would keep. A call waits while only reservations are in its way: most calls use less than they may. If an endpoint does not report its usage, the reservation counts: unknown usage is not free.
"""

from collections import deque
from enum import Enum
from typing import Final

from verifiers.judge.endpoints.config import PriceConfig, SpendConfig
from verifiers.judge.endpoints.messages import Usage

SLOTS = 60
"""The number of steps in which the window moves."""
_MEASURED: Final = 20
"""Reservations are by measured use after this many calls."""
_REMEMBERED: Final = 200
_MARGIN: Final = 1.1


class Allowance(Enum):
    """Whether a limit allows a call."""

    YES = "yes"
    LATER = "later"
    """Not now: reservations of calls under way may be in the way."""
    NEVER = "never"
    """Not before spending leaves the window."""


class Use:
    """The largest share of its estimate that any of the last calls has really used."""

    def __init__(self) -> None:
        self._shares: deque[float] = deque(maxlen=_REMEMBERED)

    @property
    def share(self) -> float:
        """At most 1, with a margin; 1 until enough calls are known."""
        return min(1.0, _MARGIN * max(self._shares)) if len(self._shares) >= _MEASURED else 1.0

    def note(self, share: float) -> None:
        self._shares.append(share)


class Spending:
    """The tokens and the cost within the last window."""

    def __init__(self, config: SpendConfig) -> None:
        self._config = config
        self._slot_s = config.window_s / SLOTS
        self._slots: deque[tuple[int, float, float]] = deque()
        self._tokens = 0.0
        self._cost = 0.0
        self._reserved_tokens = 0.0
        self._reserved_cost = 0.0

    def verdict(self, tokens: float, cost: float, now: float) -> Allowance:
        self._move(now)
        if not self._fits(self._tokens + tokens, self._cost + cost):
            return Allowance.NEVER
        tokens, cost = tokens + self._reserved_tokens, cost + self._reserved_cost
        return Allowance.YES if self._fits(self._tokens + tokens, self._cost + cost) else Allowance.LATER

    def _fits(self, tokens: float, cost: float) -> bool:
        return fits(tokens, self._config.max_tokens) and fits(cost, self._config.max_cost)

    def reserve(self, tokens: float, cost: float) -> None:
        self._reserved_tokens += tokens
        self._reserved_cost += cost

    def settle(self, reserved: tuple[float, float], spent: tuple[float, float], now: float) -> None:
        """Replace the reservation of a finished call by its tokens and its cost."""
        self._reserved_tokens -= reserved[0]
        self._reserved_cost -= reserved[1]
        if spent == (0.0, 0.0):
            return
        self._move(now)
        self._tokens += spent[0]
        self._cost += spent[1]
        slot = int(now / self._slot_s)
        if self._slots and self._slots[-1][0] == slot:
            _, tokens, cost = self._slots.pop()
            spent = (spent[0] + tokens, spent[1] + cost)
        self._slots.append((slot, *spent))

    def retry_after_s(self, now: float) -> float:
        """Seconds until the oldest spending leaves the window."""
        if not self._slots:
            return self._slot_s
        return max((self._slots[0][0] + SLOTS + 1) * self._slot_s - now, self._slot_s)

    def _move(self, now: float) -> None:
        first = int(now / self._slot_s) - SLOTS
        while self._slots and self._slots[0][0] < first:
            _, tokens, cost = self._slots.popleft()
            self._tokens -= tokens
            self._cost -= cost


def fits(amount: float, limit: float | None) -> bool:
    # Sums of many prices have rounding errors.
    return limit is None or amount <= limit * (1 + 1e-9)


def cost_of(usage: Usage, price: PriceConfig | None) -> float | None:
    """What a call cost; None if its price or its usage is unknown."""
    if price is None or usage.prompt is None or usage.completion is None:
        return None
    cached = min(usage.cached or 0, usage.prompt)
    cached_price = price.input if price.cached_input is None else price.cached_input
    return ((usage.prompt - cached) * price.input + cached * cached_price + usage.completion * price.output) / 1e6
