"""Values by key, bounded in bytes. The least recently used go."""

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Generic, TypeVar

from memory.registry import ENTRY_BYTES, add_store, forgets
from memory.sizes import size_of

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Store(Generic[K, V]):
    """A memory of at most `max_bytes`, and of `max_entries` if there is such a number.

    An entry counts as `size(key, value)` when it is put. One that could never fit is not kept.
    """

    def __init__(
        self,
        name: str,
        max_bytes: int,
        *,
        size: Callable[[K, V], int] | None = None,
        max_entries: int = sys.maxsize,
        of_texts: bool = False,
    ) -> None:
        """`of_texts`: it is emptied when the process is to forget what it read. Such a store lives as long as the process."""
        self.name = name
        self.max_bytes = max_bytes
        self._max_entries = max_entries
        self._size = size or _measured
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._used_bytes = 0
        add_store(self)
        if of_texts:
            forgets(self.clear)

    @property
    def entries(self) -> int:
        return len(self._kept)

    @property
    def used_bytes(self) -> int:
        return self._used_bytes

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: K) -> bool:
        return key in self._kept

    def get(self, key: K) -> V | None:
        entry = self._kept.get(key)
        if entry is None:
            return None
        self._kept.move_to_end(key)
        return entry[0]

    def items(self) -> list[tuple[K, V]]:
        """All that is kept, the least recently used first. Call it in any thread."""
        while True:
            with suppress(RuntimeError):  # another thread has used the store meanwhile
                return [(key, value) for key, (value, _) in [*self._kept.items()]]

    def put(self, key: K, value: V) -> None:
        self._keep(key, value, self._size(key, value))

    def _keep(self, key: K, value: V, size: int) -> None:
        entries = self._kept
        if key in entries:
            self.pop(key)
        if size > self.max_bytes:
            return
        entries[key] = (value, size)
        self._used_bytes += size
        while self._used_bytes > self.max_bytes or len(entries) > self._max_entries:
            self._drop_oldest()

    def pop(self, key: K) -> V | None:
        entry = self._kept.pop(key, None)
        if entry is None:
            return None
        self._used_bytes -= entry[1]
        return entry[0]

    def halve(self) -> None:
        target = self._used_bytes // 2
        while self._used_bytes > target:
            self._drop_oldest()

    def clear(self) -> None:
        self._kept.clear()
        self._used_bytes = 0

    def _drop_oldest(self) -> None:
        if not self._kept:  # two threads have put the same key at once, and both have counted it
            self._used_bytes = 0
            return
        _, (_, size) = self._kept.popitem(last=False)
        self._used_bytes -= size


def _measured(key: object, value: object) -> int:
    return ENTRY_BYTES + size_of(key) + size_of(value)
