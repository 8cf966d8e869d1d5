"""The verdict cache: memory first, then Redis if there is one. Advisory: all that can go wrong is a miss.

The engine makes the keys (digests of all that a verdict depends on) and the values (encoded verdicts); here both are
bytes without meaning.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from service.redis_cache import CacheCounters, RedisCache, State

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


class VerdictCache:
    """Both layers, as the engine sees them. Without `redis`, memory alone."""

    def __init__(self, memory: MemoryCache, redis: RedisCache | None = None) -> None:
        self.memory = memory
        self.counters = redis.counters if redis else CacheCounters()
        self._redis = redis

    @property
    def redis_state(self) -> State | Literal["none"]:
        return self._redis.state if self._redis else "none"

    async def start(self) -> None:
        if self._redis:
            await self._redis.start()

    async def close(self) -> None:
        if self._redis:
            await self._redis.close()

    def peek(self, key: bytes) -> bytes | None:
        """The value if this process has it; counted only if so, since a lookup may follow."""
        value = self.memory.get(key)
        if value is not None:
            self.counters.hits_memory += 1
        return value

    async def lookup(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The value of each key, in order, or None; asks Redis for what memory lacks, and remembers what it says."""
        values = [self.memory.get(key) for key in keys]
        absent = [place for place, value in enumerate(values) if value is None]
        self.counters.hits_memory += len(keys) - len(absent)
        missed = len(absent)
        if absent and self._redis:
            found = await self._redis.get_many([keys[place] for place in absent])
            for place, value in zip(absent, found, strict=True):
                if value is not None:
                    self.memory.set(keys[place], value)
                    values[place] = value
                    missed -= 1
            self.counters.hits_redis += len(absent) - missed
        self.counters.misses += missed
        return values

    def store(self, entries: Mapping[bytes, bytes]) -> None:
        """Remember `entries` now, and have them written to Redis in the background."""
        for key, value in entries.items():
            self.memory.set(key, value)
        if self._redis:
            self._redis.set_many(entries)
