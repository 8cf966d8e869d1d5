"""A cache of decoded values, bounded in bytes: training batches repeat their references and parameters. And what this
process remembers of tenants' texts beside it.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from sandbox.workers import memories

V = TypeVar("V")
_ENTRY_OVERHEAD_BYTES = 1_500


class LruCache(Generic[V]):
    """A cache that drops the least recently used values first. It counts the bytes of keys."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[tuple[object, ...], V] = OrderedDict()
        self._used_bytes = 0

    def get(self, key: tuple[object, ...]) -> V | None:
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: tuple[object, ...], value: V) -> None:
        """Remember a value; the key must be new."""
        self._values[key] = value
        self._used_bytes += _cost(key)
        while self._used_bytes > self._max_bytes:
            oldest, _ = self._values.popitem(last=False)
            self._used_bytes -= _cost(oldest)

    def clear(self) -> None:
        self._values.clear()
        self._used_bytes = 0


def _cost(key: tuple[object, ...]) -> int:
    # The decoded value holds the same texts again.
    return _ENTRY_OVERHEAD_BYTES + 2 * sum(len(part) for part in key if isinstance(part, (bytes, str)))


class Memories:
    """What functions in this process remember of texts. If `by_tenant`, those of one tenant are forgotten before those
    of another are read.
    """

    def __init__(self, *, by_tenant: bool) -> None:
        self._by_tenant = by_tenant
        self._reading: Counter[str] = Counter()
        """The tenants whose texts are being read, and how often."""
        self._remembered: set[str] = set()
        """The tenants whose texts may be remembered."""
        if by_tenant:
            memories.find()

    @contextmanager
    def of(self, tenant: str) -> Iterator[None]:
        """Read texts of this tenant in this context. Others may be read meanwhile, if it waits."""
        if not self._by_tenant:
            yield
            return
        if self._remembered - {tenant}:
            memories.forget()
            self._remembered = set(self._reading)
        self._remembered.add(tenant)
        self._reading[tenant] += 1
        try:
            yield
        finally:
            self._reading[tenant] -= 1
            if not self._reading[tenant]:
                del self._reading[tenant]
