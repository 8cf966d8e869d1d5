"""The layer of the verdict cache in this process. When it is full, the least recently used entries go."""

import time
from collections import OrderedDict
from collections.abc import Callable

from memory.registry import add_store
from memory.sizes import exact

ENTRY_OVERHEAD_BYTES = 210
"""The memory of an entry beside the bytes of key and value: the heads of two bytes objects, rounded up by the
allocator, and its share of the tables, which double when full. By tracemalloc, which does not see the rounding, it is
140 to 190 bytes."""


class MemoryCache:
    """Values by key in this process. When `max_bytes` are full, the least recently used go.

    It counts the bytes of keys and values and a fixed overhead per entry. There is one event loop, so it needs no lock.
    """

    name = "verdicts"

    def __init__(self, max_bytes: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._values: OrderedDict[bytes, bytes] = OrderedDict()
        self._expires: dict[bytes, float] = {}
        """When entries expire; only entries with a time to live are here."""
        self._bytes = 0
        add_store(self)

    @property
    def used_bytes(self) -> int:
        """The bytes in use, overhead included. They never exceed `max_bytes`."""
        return self._bytes

    @property
    def entries(self) -> int:
        return len(self._values)

    def halve(self) -> None:
        target = self._bytes // 2
        while self._bytes > target:
            self._remove(next(iter(self._values)))

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: bytes) -> bytes | None:
        value = self._values.get(key)
        if value is None:
            return None
        if self._expires and self._clock() >= self._expires.get(key, float("inf")):
            self._remove(key)
            return None
        self._values.move_to_end(key)
        return value

    def set(self, key: bytes, value: bytes, ttl_s: float | None = None) -> None:
        """Keep `value` for `ttl_s` seconds, or until there is no room. A value that can never fit is not kept."""
        if key in self._values:
            self._remove(key)
        size = len(key) + len(value) + ENTRY_OVERHEAD_BYTES
        if size > self._max_bytes:
            return
        self._values[key] = exact(value)
        if ttl_s is not None:
            self._expires[key] = self._clock() + ttl_s
        self._bytes += size
        while self._bytes > self._max_bytes:
            self._remove(next(iter(self._values)))

    def clear(self) -> None:
        self._values.clear()
        self._expires.clear()
        self._bytes = 0

    def _remove(self, key: bytes) -> None:
        value = self._values.pop(key)
        self._expires.pop(key, None)
        self._bytes -= len(key) + len(value) + ENTRY_OVERHEAD_BYTES
