"""The layer of the verdict cache in this process: the least recently used entries go when it is full."""

import time
from collections import OrderedDict
from collections.abc import Callable

ENTRY_OVERHEAD_BYTES = 210
"""What an entry costs beside the bytes of key and value: the heads of two bytes objects, rounded up by the allocator,
and its share of the tables, which double when full: 140 to 190 bytes by tracemalloc, which does not see the rounding."""


class MemoryCache:
    """Values by key in this process; the least recently used go when `max_bytes` are full.

    The bytes counted are those of keys and values and a fixed overhead per entry. One event loop, so no lock.
    """

    def __init__(self, max_bytes: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._values: OrderedDict[bytes, bytes] = OrderedDict()
        self._expires: dict[bytes, float] = {}
        """Only of the entries that were given a time to live."""
        self._bytes = 0

    @property
    def used_bytes(self) -> int:
        """Overhead included; never above `max_bytes`."""
        return self._bytes

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
        """Keep `value` until `ttl_s` seconds are over, or there is no room; what can never fit is not kept."""
        if key in self._values:
            self._remove(key)
        size = len(key) + len(value) + ENTRY_OVERHEAD_BYTES
        if size > self._max_bytes:
            return
        self._values[key] = value
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
