"""Budgets per minute: what a call will take is debited before it, and settled when its real usage is known."""

BURST_S = 10.0
"""A bucket holds what flows in during so long: a minute's worth would let two minutes' worth pass in the first, a
second's worth would make any burst a queue."""


class Bucket:
    """Fills evenly; may be in debt, when a call took more than was thought."""

    def __init__(self, per_minute: float, now: float) -> None:
        self._per_s = per_minute / 60.0
        self._capacity = max(self._per_s * BURST_S, 1.0)
        self._level = self._capacity
        self._at = now

    def wait_s(self, amount: float, now: float) -> float:
        """How long until `amount` can be taken, 0 if at once. What is more than the bucket holds needs it full."""
        self._fill(now)
        lacking = min(amount, self._capacity) - self._level
        # Less than a millionth of what is asked for is the rounding of the clock.
        return lacking / self._per_s if lacking > amount * 1e-6 else 0.0

    def take(self, amount: float, now: float) -> None:
        self._fill(now)
        self._level -= amount

    def settle(self, taken: float, used: float) -> None:
        """`used` was what a call came to for which `taken` had been debited; 0 if it never happened."""
        self._level = min(self._level + taken - used, self._capacity)

    def _fill(self, now: float) -> None:
        self._level = min(self._level + max(now - self._at, 0.0) * self._per_s, self._capacity)
        self._at = now
