"""Limits that replicas share: each replica is granted a part of what is left, and asks for more before that is used up.

The grants of all replicas and what was spent never exceed the limit, so no replica asks a store before each call. `Report` and
`Grant` are what a replica and the store tell each other. While the store does not answer, a replica keeps to its share: its grant,
or what was left, divided by the replicas that the store knew.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from verifiers.judge.endpoints.config import SpendConfig
from verifiers.judge.endpoints.spending import SLOTS, Allowance, Spending, fits

BURST_S = 10.0
"""A bucket holds the inflow of this time. A minute's inflow would let two minutes' worth pass in the first minute; a
second's inflow would queue every burst."""


class Bucket:
    """A budget per minute that fills evenly. The expected usage of a call is debited before it, and corrected when the real
    usage is known; so it may be in debt.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self._per_s = per_minute / 60.0
        self._capacity = max(self._per_s * BURST_S, 1.0)
        self._level = self._capacity
        self._at = now

    def wait_s(self, amount: float, now: float) -> float:
        """Seconds until `amount` can be taken, 0 if at once. An amount above the capacity needs a full bucket."""
        self._fill(now)
        lacking = min(amount, self._capacity) - self._level
        # A lack of less than a millionth of the amount is a rounding error of the clock.
        return lacking / self._per_s if lacking > amount * 1e-6 else 0.0

    def take(self, amount: float, now: float) -> None:
        self._fill(now)
        self._level -= amount

    def settle(self, debit: float, used: float) -> None:
        """Replace the debit `debit` of a call by its real usage `used`, which is 0 if the call was never made."""
        self._level = min(self._level + debit - used, self._capacity)

    def _fill(self, now: float) -> None:
        self._level = min(self._level + max(now - self._at, 0.0) * self._per_s, self._capacity)
        self._at = now


_SOON_S: Final = 0.01
_LEAST: Final = 1e-12
"""The need of a replica that makes calls and lacks nothing yet: it is granted a part of what is left."""


class Peers:
    """What is known of the other replicas."""

    def __init__(self, ask: Callable[[], None] = lambda: None) -> None:
        self.replicas = 1
        self.is_lost = False
        """Whether the store did not answer last time."""
        self.only_reports = False
        """Whether no spending is to be granted yet: after an outage, all replicas say first what they have spent."""
        self.clock_offset_s = 0.0
        """The store's clock less ours."""
        self.ask = ask
        """Called when a grant does not suffice."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a replica tells the store about one limit."""

    limit: float
    """The most within the window; for a bucket, what it holds."""
    step: float
    """Seconds of one of the window's slots; for a bucket, its inflow per second."""
    change: float
    """Spent since the last report; for a bucket, given back."""
    held: float
    """Reserved by calls under way."""
    needed: float
    """What a waiting call lacks; 0 if nothing is asked for."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What the store answers."""

    granted: float
    level: float = 0.0
    """Of a bucket: what is left of it."""
    slots: tuple[tuple[int, float], ...] = ()
    """Of a window: what all replicas have spent, by the number of the slot."""


class Shared(Protocol):
    """One limit as the store's courier sees it."""

    def report(self, now: float) -> Report:
        """What to send. Until it is answered, `change` stays the same, and nothing new is allowed."""

    def take_grant(self, grant: Grant, now: float) -> None: ...


class _Window:
    """Amounts within the last slots."""

    def __init__(self) -> None:
        self.slots: deque[tuple[int, float]] = deque()

    def total(self, slot: int) -> float:
        while self.slots and self.slots[0][0] < slot - SLOTS:
            self.slots.popleft()
        return sum(amount for _, amount in self.slots)

    def add(self, slot: int, amount: float) -> None:
        if self.slots and self.slots[-1][0] == slot:
            amount += self.slots.pop()[1]
        self.slots.append((slot, amount))


class Meter:
    """One amount that is limited within a window."""

    def __init__(self, limit: float, window_s: float, peers: Peers) -> None:
        self._limit = limit
        self._slot_s = window_s / SLOTS
        self._peers = peers
        self._spent = _Window()
        """By all replicas, as the store said."""
        self._sent = _Window()
        """By this replica, in a report that was not answered."""
        self._unsent = _Window()
        self._is_sent = False
        self._reserved = 0.0
        self._granted = 0.0
        self._needed = 0.0

    def verdict(self, amount: float, now: float) -> Allowance:
        slot = self._slot(now)
        spent, own_spending = self._spent.total(slot), self._sent.total(slot) + self._unsent.total(slot)
        if not fits(spent + own_spending + amount, self._limit):
            return Allowance.NEVER
        if self._peers.is_lost:
            share = max(self._granted, (self._limit - spent) / self._peers.replicas)
            if fits(own_spending + self._reserved + amount, share):
                return Allowance.YES
            return Allowance.LATER if fits(own_spending + amount, share) else Allowance.NEVER
        if fits(self._unsent.total(slot) + self._reserved + amount, self._granted):
            return Allowance.YES
        self._needed = max(self._needed, amount)
        self._peers.ask()
        return Allowance.LATER

    def reserve(self, amount: float) -> None:
        self._reserved += amount

    def settle(self, reserved: float, spent: float, now: float) -> None:
        self._reserved -= reserved
        if spent:
            self._unsent.add(self._slot(now), spent)

    def retry_after_s(self, now: float) -> float:
        slot = self._slot(now)
        first = [window.slots[0][0] for window in (self._spent, self._sent, self._unsent) if window.slots]
        return max(min(first, default=slot) + SLOTS + 1 - slot, 1) * self._slot_s

    def report(self, now: float) -> Report:
        slot = self._slot(now)
        if not self._is_sent:
            self._sent, self._unsent, self._is_sent = self._unsent, _Window(), True
        change, reserved = self._sent.total(slot), max(self._reserved, 0.0) + self._unsent.total(slot)
        active = (change > 0 or reserved > 0 or self._needed > 0) and not self._peers.only_reports
        self._granted = reserved
        return Report(self._limit, self._slot_s, change, reserved, max(self._needed, _LEAST) if active else 0.0)

    def take_grant(self, grant: Grant, now: float) -> None:
        self._granted = grant.granted
        self._spent.slots = deque(sorted(grant.slots))
        self._sent, self._is_sent = _Window(), False
        self._needed = 0.0

    def _slot(self, now: float) -> int:
        return int((now + self._peers.clock_offset_s) / self._slot_s)


class SharedSpending(Spending):
    """The tokens and the cost of all replicas within the last window."""

    def __init__(self, config: SpendConfig, peers: Peers) -> None:
        super().__init__(config)
        self.tokens = None if config.max_tokens is None else Meter(config.max_tokens, config.window_s, peers)
        self.cost = None if config.max_cost is None else Meter(config.max_cost, config.window_s, peers)

    def verdict(self, tokens: float, cost: float, now: float) -> Allowance:
        verdicts = {meter.verdict(amount, now) for meter, amount in self._with(tokens, cost)}
        return next((a for a in (Allowance.NEVER, Allowance.LATER) if a in verdicts), Allowance.YES)

    def reserve(self, tokens: float, cost: float) -> None:
        for meter, amount in self._with(tokens, cost):
            meter.reserve(amount)

    def settle(self, reserved: tuple[float, float], spent: tuple[float, float], now: float) -> None:
        for (meter, amount), (_, used) in zip(self._with(*reserved), self._with(*spent), strict=True):
            meter.settle(amount, used, now)

    def retry_after_s(self, now: float) -> float:
        return max(meter.retry_after_s(now) for meter, _ in self._with(0.0, 0.0))

    def _with(self, tokens: float, cost: float) -> list[tuple[Meter, float]]:
        return [(meter, amount) for meter, amount in ((self.tokens, tokens), (self.cost, cost)) if meter is not None]


class SharedBucket(Bucket):
    """A budget per minute that all replicas take from. What this one was granted is its level."""

    def __init__(self, per_minute: float, now: float, peers: Peers) -> None:
        super().__init__(per_minute, now)
        self._whole = self._capacity
        self._elsewhere = self._capacity
        """What the store has left."""
        self._level = 0.0
        self._peers = peers
        self._needed = 0.0
        self._taken = False
        self._change: float | None = None
        self._filled = 0.0
        """What came in while the store was lost, and is still to be told."""

    def wait_s(self, amount: float, now: float) -> float:
        wait_s = super().wait_s(amount, now)
        if wait_s <= 0 or self._peers.is_lost:
            return wait_s * (self._peers.replicas if self._peers.is_lost else 1)
        lacking = wait_s * self._per_s
        self._needed = max(self._needed, lacking)
        self._peers.ask()
        return max((lacking - self._elsewhere) / self._per_s, _SOON_S)

    def take(self, amount: float, now: float) -> None:
        super().take(amount, now)
        self._taken = True

    def report(self, now: float) -> Report:
        self._fill(now)
        active = self._taken or self._needed > 0
        if self._change is None:
            back = min(self._level, 0.0) if active else self._level
            self._level -= back
            self._change, self._filled = back - self._filled, 0.0
        return Report(self._whole, self._per_s, self._change, 0.0, max(self._needed, _LEAST) if active else 0.0)

    def take_grant(self, grant: Grant, now: float) -> None:
        self._level = min(self._level + grant.granted, self._whole)
        self._elsewhere = grant.level
        self._change, self._needed, self._taken = None, 0.0, False

    def _fill(self, now: float) -> None:
        share = 1 / self._peers.replicas
        self._capacity = max(self._whole * share, 1.0) if self._peers.is_lost else self._whole
        if self._peers.is_lost:
            inflow = max(min(max(now - self._at, 0.0) * self._per_s * share, self._capacity - self._level), 0.0)
            self._level += inflow
            self._filled += inflow
        self._at = now


class Limits:
    """Makes the limits of endpoints and pools; these are for one process alone."""

    def bucket(self, name: str, per_minute: float, now: float) -> Bucket:
        return Bucket(per_minute, now)

    def spending(self, name: str, config: SpendConfig) -> Spending:
        return Spending(config)

    def tell(self, changed: Callable[[], None]) -> None:
        """`changed` is to be called when more is allowed than before."""


class SharedLimits(Limits):
    """Makes limits that replicas share. Their names are the same at all replicas."""

    def __init__(self, peers: Peers) -> None:
        self.peers = peers
        self.by_name: dict[str, Shared] = {}
        self.changed: Callable[[], None] = lambda: None

    def bucket(self, name: str, per_minute: float, now: float) -> Bucket:
        bucket = self.by_name[name] = SharedBucket(per_minute, now, self.peers)
        return bucket

    def spending(self, name: str, config: SpendConfig) -> Spending:
        spending = SharedSpending(config, self.peers)
        for measure, meter in (("tokens", spending.tokens), ("cost", spending.cost)):
            if meter is not None:
                self.by_name[f"{name}/spent {measure}"] = meter
        return spending

    def tell(self, changed: Callable[[], None]) -> None:
        self.changed = changed
