"""Budgets per minute: the expected usage of a call is debited before it, and corrected when the real usage is known."""

BURST_S = 10.0
"""A bucket holds the inflow of this time. A minute's inflow would let two minutes' worth pass in the first minute; a
second's inflow would queue every burst."""


class Bucket:
    """A budget that fills evenly; it may be in debt after a call that took more than expected."""

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
