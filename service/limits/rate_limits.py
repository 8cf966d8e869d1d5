"""Limits of single keys: items in flight, and items per second.

The rate is a token bucket that may be overdrawn: a batch of any size passes while something is left, and its key then
waits until the debt is paid. So large batches need no larger bucket, and the average rate is kept.
"""

import time
from collections import Counter
from dataclasses import dataclass

from service.errors import Overloaded
from service.limits.keys import Caller

BURST_S = 2.0
"""After a pause, a key may ask at once for the items of so many seconds."""


@dataclass(slots=True)
class _Account:
    in_flight: int = 0
    left: float = 0.0
    """Items that the key may ask for now. A debt is negative."""
    at_s: float = 0.0
    is_new: bool = True


class RateLimits:
    """The accounts of all keys that have limits. It runs in one thread and needs no lock."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}
        self.refused: Counter[tuple[str, str]] = Counter()
        """Refusals by key and reason: `rate` or `in_flight`."""

    def take(self, caller: Caller, items: int) -> None:
        """Charge items to a key.

        Raises:
            Overloaded: the key has more items in flight, or asks for more, than it may.
        """
        if caller.items_per_s is None and caller.max_items_in_flight is None:
            return
        account = self._accounts.setdefault(caller.name, _Account())
        limit = caller.max_items_in_flight
        if limit is not None and account.in_flight and account.in_flight + items > limit:
            self.refused[caller.name, "in_flight"] += 1
            message = f"the key {caller.name!r} has {account.in_flight} items in flight; at most {limit} may be"
            raise Overloaded(message, retry_after_s=1.0)
        if caller.items_per_s is not None:
            self._spend(caller.name, account, caller.items_per_s, items)
        account.in_flight += items

    def _spend(self, name: str, account: _Account, rate: float, items: int) -> None:
        now_s = time.monotonic()
        burst = BURST_S * rate
        account.left = burst if account.is_new else min(burst, account.left + (now_s - account.at_s) * rate)
        account.at_s, account.is_new = now_s, False
        if account.left <= 0:
            self.refused[name, "rate"] += 1
            wait_s = (1.0 - account.left) / rate
            raise Overloaded(f"the key {name!r} asks for more than {rate:g} items per second", retry_after_s=wait_s)
        account.left -= items

    def give(self, caller: Caller, items: int) -> None:
        account = self._accounts.get(caller.name)
        if account is not None:
            account.in_flight = max(0, account.in_flight - items)
