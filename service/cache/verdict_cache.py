"""The verdict cache: memory first, then Redis if there is one. It is advisory: if anything goes wrong, the result is a
miss.

The engine makes the keys (digests of everything that a verdict depends on) and the values (encoded verdicts). To the
cache both are bytes without meaning.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from service.cache.counters import CacheCounters, State
from service.cache.memory_cache import MemoryCache

if TYPE_CHECKING:
    from service.cache.redis_cache import RedisCache  # its library is loaded only where there is a Redis


class VerdictCache:
    """Both layers, as the engine sees them. Without `redis` there is only memory."""

    def __init__(self, memory: MemoryCache, redis: "RedisCache | None" = None) -> None:
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
        """The value if this process has it. Only a hit is counted, since a lookup may follow."""
        value = self.memory.get(key)
        if value is not None:
            self.counters.hits_memory += 1
        return value

    async def lookup(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The value of each key, in order, or None. It asks Redis for the keys that memory lacks, and keeps the answers
        in memory.
        """
        values = [self.memory.get(key) for key in keys]
        absent = [position for position, value in enumerate(values) if value is None]
        self.counters.hits_memory += len(keys) - len(absent)
        missed = len(absent)
        if absent and self._redis:
            remote_values = await self._redis.get_many([keys[position] for position in absent])
            for position, value in zip(absent, remote_values, strict=True):
                if value is not None:
                    self.memory.set(keys[position], value)
                    values[position] = value
                    missed -= 1
            self.counters.hits_redis += len(absent) - missed
        self.counters.misses += missed
        return values

    def store(self, entries: Mapping[bytes, bytes]) -> None:
        """Store `entries` in memory now and in Redis in the background."""
        for key, value in entries.items():
            self.memory.set(key, value)
        if self._redis:
            self._redis.set_many(entries)
