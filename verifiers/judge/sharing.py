"""Shares answers between callers: later callers get the stored answer, and concurrent callers wait for the same one.

If several callers want the same at once, the first one leads and the others wait for it, each until its own deadline.
They all get an answer. A failure goes to the leader only: the others then try for themselves. If the leader is
cancelled, the next caller leads.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol

from memory.registry import add_store
from memory.sizes import exact
from verifiers.judge.errors import EndpointFailure

log = logging.getLogger("rewardline.judge")

Use = Literal["use", "refresh", "off"]
Compute = Callable[[], Awaitable[tuple[bytes, bool]]]
"""Computes a value, and whether it may be kept and given to others."""

_ENTRY_OVERHEAD_BYTES = 290
"""The memory of an entry beside its key and value: as in the service's own cache, and a tuple with a time."""


class Outer(Protocol):
    """A store outside of this process. It is advisory: if it is slow or broken, it counts as empty."""

    async def get(self, key: bytes) -> bytes | None: ...

    async def put(self, key: bytes, value: bytes) -> None: ...


@dataclass(slots=True)
class SharingCounters:
    hits: int = 0
    joined: int = 0
    """The number of callers that got a value which another caller had requested."""
    outer_hits: int = 0
    outer_failures: int = 0
    misses: int = 0


class _End(Enum):
    FAILED = "failed"
    CANCELLED = "cancelled"


class Shared:
    """Values by key.

    They are kept in memory up to `max_bytes`, and the least recently used go first. One event loop uses them, so there
    is not a lock.
    """

    name = "judges"

    def __init__(
        self,
        max_bytes: int,
        outer: Outer | None = None,
        *,
        outer_timeout_s: float = 0.25,
        outer_rest_s: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create an empty store.

        `outer_rest_s`: `outer` is not used for this long after it was slow or broken. `clock` must be the event loop's.
        """
        self.counters = SharingCounters()
        self._max_bytes = max_bytes
        self._outer = outer
        self._outer_timeout_s = outer_timeout_s
        self._outer_rest_s = outer_rest_s
        self._outer_back_at = float("-inf")
        self._clock = clock
        self._values: OrderedDict[bytes, tuple[bytes, float]] = OrderedDict()
        """The value, and the time at which it expires."""
        self._used_bytes = 0
        add_store(self)
        self._flights: dict[bytes, asyncio.Future[bytes | _End]] = {}

    @property
    def entries(self) -> int:
        return len(self._values)

    def halve(self) -> None:
        target = self._used_bytes // 2
        while self._used_bytes > target:
            self._drop(next(iter(self._values)))

    def clear(self) -> None:
        self._values.clear()
        self._used_bytes = 0

    @property
    def used_bytes(self) -> int:
        """Used memory with overhead; never above `max_bytes`."""
        return self._used_bytes

    async def get(
        self,
        key: bytes,
        compute: Compute,
        *,
        use: Use = "use",
        deadline: float | None = None,
        ttl_s: float | None = None,
    ) -> tuple[bytes, bool]:
        """The value, and whether another caller had requested it.

        refresh: the value is computed anew and then kept; off: it is computed anew and not kept.

        Raises:
            EndpointFailure: `deadline` passed while another caller was asking; or an error of `compute`.
        """
        if use == "off":
            return (await compute())[0], False
        if use == "refresh":
            return await self._compute(key, compute, ttl_s), False
        while True:
            value = self._look_up(key)
            if value is not None:
                self.counters.hits += 1
                return value, True
            flight = self._flights.get(key)
            if flight is None:
                return await self._lead(key, compute, ttl_s)
            end = await self._follow(flight, deadline)
            if isinstance(end, bytes):
                self.counters.joined += 1
                return end, True
            if end is _End.FAILED:
                return await self._compute(key, compute, ttl_s), False

    async def _lead(self, key: bytes, compute: Compute, ttl_s: float | None) -> tuple[bytes, bool]:
        flight: asyncio.Future[bytes | _End] = asyncio.get_running_loop().create_future()
        self._flights[key] = flight
        end: bytes | _End = _End.FAILED
        keep = False
        try:
            value = await self._ask_outer(key)
            has_value = value is not None
            if value is None:
                self.counters.misses += 1
                value, keep = await compute()
            if has_value or keep:
                end = value
                self._remember(key, value, ttl_s)
        except asyncio.CancelledError:
            end = _End.CANCELLED
            raise
        finally:
            del self._flights[key]
            flight.set_result(end)
        if keep:
            await self._tell_outer(key, value)
        return value, has_value

    async def _follow(self, flight: asyncio.Future[bytes | _End], deadline: float | None) -> bytes | _End:
        try:
            async with asyncio.timeout(None if deadline is None else deadline - self._clock()):
                # Shielded: a follower that goes away must not cancel the shared call.
                return await asyncio.shield(flight)
        except TimeoutError as error:
            raise EndpointFailure("deadline", "another call for the same answer did not end in time") from error

    async def _compute(self, key: bytes, compute: Compute, ttl_s: float | None) -> bytes:
        self.counters.misses += 1
        value, keep = await compute()
        if keep:
            self._remember(key, value, ttl_s)
            await self._tell_outer(key, value)
        return value

    def _look_up(self, key: bytes) -> bytes | None:
        entry = self._values.get(key)
        if entry is None:
            return None
        value, expires = entry
        if self._clock() >= expires:
            self._drop(key)
            return None
        self._values.move_to_end(key)
        return value

    def _remember(self, key: bytes, value: bytes, ttl_s: float | None) -> None:
        if key in self._values:
            self._drop(key)
        size = _size(key, value)
        if size > self._max_bytes:
            return
        self._values[key] = (exact(value), float("inf") if ttl_s is None else self._clock() + ttl_s)
        self._used_bytes += size
        while self._used_bytes > self._max_bytes:
            self._drop(next(iter(self._values)))

    def _drop(self, key: bytes) -> None:
        value, _ = self._values.pop(key)
        self._used_bytes -= _size(key, value)

    async def _ask_outer(self, key: bytes) -> bytes | None:
        if self._outer is None or self._clock() < self._outer_back_at:
            return None
        value = await self._guarded(self._outer.get(key))
        if value is not None:
            self.counters.outer_hits += 1
        return value

    async def _tell_outer(self, key: bytes, value: bytes) -> None:
        if self._outer is not None and self._clock() >= self._outer_back_at:
            await self._guarded(self._outer.put(key, value))

    async def _guarded(self, question: Awaitable[bytes | None]) -> bytes | None:
        try:
            async with asyncio.timeout(self._outer_timeout_s):
                return await question
        except Exception as error:  # noqa: BLE001 -- any error of an outside store is a miss
            self.counters.outer_failures += 1
            self._outer_back_at = self._clock() + self._outer_rest_s
            log.warning("the judge's outer store is left alone for %s s: %s", self._outer_rest_s, type(error).__name__)
            return None


def _size(key: bytes, value: bytes) -> int:
    return len(key) + len(value) + _ENTRY_OVERHEAD_BYTES
