"""A cache of decoded values, bounded in bytes: training batches repeat their references and parameters. And what this
process remembers of tenants' texts beside it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final, Generic, TypeVar

import memory
from memory import Store

V = TypeVar("V")
_ENTRY_OVERHEAD_BYTES: Final = 1_500
_EARLY_SAMPLES: Final = 16
_EARLY_EVERY: Final = 64
_EVERY: Final = 512
"""One in so many values of a kind is measured; of its first values, one in `_EARLY_EVERY`."""
_LATEST_SAMPLES: Final = 16


class LruCache(Store[tuple[object, ...], V], Generic[V]):
    """A cache that drops the least recently used values first.

    A value grows after it was put: parameters keep what is compiled from them at their first use. So some are measured, a
    while after they were put. From these measurements it is known how large values of a kind are for the texts in their
    keys.
    """

    def __init__(self, name: str, max_bytes: int, kind: Callable[[V], str], size: Callable[[V], int]) -> None:
        """`kind(value)` is one of few words; `size(value)` is what the value takes now."""
        super().__init__(name, max_bytes)
        self._kind = kind
        self._value_size = size
        self._samples: dict[str, _Samples] = {}

    def put(self, key: tuple[object, ...], value: V) -> None:
        kind = self._kind(value)
        samples = self._samples.get(kind)
        if samples is None:
            samples = self._samples[kind] = _Samples()
        self._keep(key, value, int(_bytes_of(key) * samples.factor))
        samples.until_next -= 1
        if not samples.until_next:
            marked = self._kept.get(samples.marked)
            if marked is not None:
                samples.add(self._value_size(marked[0]), _bytes_of(samples.marked))
            samples.mark(key, is_soon=marked is None)


class _Samples:
    """What was measured of the values of one kind."""

    __slots__ = ("_measured", "_number", "_texts", "factor", "marked", "until_next")

    def __init__(self) -> None:
        self.factor = 2.0
        """The bytes of an entry, by those of its key. Before the first measurement, a value is as large as its key."""
        self.marked: tuple[object, ...] = ()
        """The key of the value that is measured next."""
        self.until_next = _EARLY_EVERY
        """Values until then."""
        self._measured = self._texts = self._number = 0

    def mark(self, key: tuple[object, ...], *, is_soon: bool) -> None:
        """`is_soon`: the last one was gone before it was measured."""
        self.marked = key
        self.until_next = _EARLY_EVERY if is_soon or self._number < _EARLY_SAMPLES else _EVERY

    def add(self, value_bytes: int, key_bytes: int) -> None:
        self._number += 1
        self._measured += value_bytes
        self._texts += key_bytes
        self.factor = 1 + self._measured / self._texts
        if self._number % _LATEST_SAMPLES == 0:  # the latest ones count most
            self._measured //= 2
            self._texts //= 2


def _bytes_of(key: tuple[object, ...]) -> int:
    texts = _ENTRY_OVERHEAD_BYTES
    for part in key:
        if isinstance(part, (bytes, str)):
            texts += len(part)
    return texts


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
