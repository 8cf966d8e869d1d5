"""A cache of decoded values, bounded in bytes: training batches repeat their references and parameters. And what this
process remembers of tenants' texts beside it.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Generic, TypeVar

import memory
from memory import Store

V = TypeVar("V")
_ENTRY_OVERHEAD_BYTES = 1_500
_MEASURE_EVERY = 32
_MEASURED_LATER = 16


class LruCache(Store[tuple[object, ...], V], Generic[V]):
    """A cache that drops the least recently used values first.

    A value grows after it was put: parameters keep what is compiled from them at their first use. So one in 32 is
    measured some time after it was put. From these measurements it is known how large values of a kind are for the texts
    in their keys.
    """

    def __init__(self, name: str, max_bytes: int, kind: Callable[[V], str], size: Callable[[V], int]) -> None:
        """`kind(value)` is one of few words; `size(value)` is what the value takes now."""
        super().__init__(name, max_bytes, size=self._cost)
        self._kind = kind
        self._value_size = size
        self._sums: dict[str, tuple[int, int]] = {}
        """The bytes that were measured and those of the keys, by kind."""
        self._puts = 0
        self._to_measure: deque[tuple[object, ...]] = deque()

    def put(self, key: tuple[object, ...], value: V) -> None:
        super().put(key, value)
        self._puts += 1
        if self._puts % _MEASURE_EVERY == 0:
            self._to_measure.append(key)
            if len(self._to_measure) > _MEASURED_LATER:
                self._measure(self._to_measure.popleft())

    def _measure(self, key: tuple[object, ...]) -> None:
        value = self.get(key)
        if value is None:
            return
        kind = self._kind(value)
        measured, texts = self._sums.get(kind, (0, 0))
        self._sums[kind] = (measured + self._value_size(value), texts + _bytes_of(key))

    def _cost(self, key: tuple[object, ...], value: V) -> int:
        texts = _bytes_of(key)
        measured, of_texts = self._sums.get(self._kind(value), (0, 0))
        return texts + (measured * texts // of_texts if measured else texts)


def _bytes_of(key: tuple[object, ...]) -> int:
    return _ENTRY_OVERHEAD_BYTES + sum(len(part) for part in key if isinstance(part, (bytes, str)))


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
        self._changing = Lock()
        """Large items are read in a thread."""
        if by_tenant:
            memory.find_libraries()

    @contextmanager
    def of(self, tenant: str) -> Iterator[None]:
        """Read texts of this tenant in this context. Others may be read meanwhile, if it waits."""
        if not self._by_tenant:
            yield
            return
        with self._changing:
            if self._remembered - {tenant}:
                memory.forget()
                self._remembered = set(self._reading)
            self._remembered.add(tenant)
            self._reading[tenant] += 1
        try:
            yield
        finally:
            with self._changing:
                self._reading[tenant] -= 1
                if not self._reading[tenant]:
                    del self._reading[tenant]
