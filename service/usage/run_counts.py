"""The items of the latest runs, for metrics, whose number of labels must stay small."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

OTHER: Final = "other"
"""Stands for all runs that were forgotten, and for items of no run; as a tenant, for all beyond `_MOST_TENANTS`."""
_MOST_TENANTS: Final = 10_000


class RunCounts:
    """Counts by tenant and run. Each only grows; a run that comes again after it was forgotten begins at 0."""

    def __init__(self, capacity: int) -> None:
        """`capacity` runs are told apart."""
        self._most = capacity
        self._latest: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._others: dict[str, float] = {}

    def add(self, tenant: str, run: str, items: float) -> None:
        if not run:
            self._add_to_others(tenant, items)
            return
        owner = (tenant, run)
        self._latest[owner] = self._latest.pop(owner, 0.0) + items
        if len(self._latest) > self._most:
            (tenant, _), forgotten = self._latest.popitem(last=False)
            self._add_to_others(tenant, forgotten)

    def _add_to_others(self, tenant: str, items: float) -> None:
        if tenant not in self._others and len(self._others) >= _MOST_TENANTS:
            tenant = OTHER
        self._others[tenant] = self._others.get(tenant, 0.0) + items

    def counts(self) -> Mapping[tuple[str, str], float]:
        """By tenant and run."""
        return {(tenant, OTHER): items for tenant, items in self._others.items()} | self._latest
