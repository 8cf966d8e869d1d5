"""The shared layer of the verdict cache: Redis, which may fail at any time.

    get_many ─► waiting ─► a few MGETs at a time ─► Redis          set_many ─► queue ─► one writer ─► Redis
                              │ fails, or is late                                           │ fails
                              ▼                                                             ▼
                            misses                    breaker                  dropped, counted

A slow, dead or lying Redis costs a bounded wait and after that nothing. After a few failures in a row the breaker
opens: lookups are answered at once with misses, and only the keeper tries Redis every few seconds, until a new
connection answers in time. A lookup never pays for such a trial.

Redis holds `crc32(key + value)` and the value under `prefix + key`. If a broken server, proxy or connection mixes up
bytes, the result is a miss, never the verdict of another item. The checksum guards against accidents. It does not guard
against attackers: everyone with write access to this Redis is trusted.

Redis needs MGET, and EVAL with SET. In a cluster, keys are gathered under 64 hash tags that are spread evenly over the
slots, so that a batch travels as at most 64 MGETs.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from redis.asyncio import RedisCluster
from redis.crc import key_slot
from redis.exceptions import ClusterError, ResponseError

from service.cache.counters import CacheCounters, State
from service.cancellation import cancel
from service.storage.redis_client import Client, connect, described, disconnect, parse_redis_url
from service.system_random import SYSTEM_RANDOM
from tracing import spans

MAX_KEYS_PER_MGET = 1024
"""Keys of one MGET, so that no single reply holds up Redis or this event loop."""
_MAX_WAITING_KEYS = 16 * MAX_KEYS_PER_MGET
_KEYS_PER_SCRIPT = 256
_CLUSTER_TAGS = 64
_CLUSTER_SLOTS = 16384
_TTL_JITTER = 0.1
_SUM_BYTES = 4
_CONNECT_TIMEOUT_S = 1.0
_WRITE_TIMEOUT_S = 2.0
# EVAL, not EVALSHA: the script is shorter than the round trips that a server without it costs, and any node of a
# cluster may be without it. One call per few hundred keys costs a tenth of as many SETs in a pipeline.
_SET_MANY = "for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[i + 1], 'EX', ARGV[1]) end"

_log = logging.getLogger("rewardline.cache")


@dataclass(slots=True)
class _Request:
    """Some keys of one caller, at most `MAX_KEYS_PER_MGET`. The caller waits for `answer`."""

    keys: Sequence[bytes]
    answer: asyncio.Future[Sequence[bytes | None]]
    span: spans.Span | None = field(default_factory=spans.current)

    def settle(self, values: Sequence[bytes | None]) -> None:
        if not self.answer.done():
            self.answer.set_result(values)


class RedisCache:
    """Values by key in Redis. It runs in one event loop. After it is made, nothing here raises.

    An MGET may take `lookup_timeout_s`. Up to `max_mgets` run at once. Keys that come meanwhile travel together in the
    next one, so a lookup waits for at most one other, unless thousands of keys are ahead of it. The write queue holds
    at most `max_queued` entries and `max_queued_bytes`; the oldest entries are dropped first. Values longer than
    `max_value_bytes` are neither written nor accepted.

    Raises:
        ValueError: the URL has an unknown form, or its certificates cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "rl1:",
        ttl_s: float = 7 * 24 * 3600,
        lookup_timeout_s: float = 0.05,
        max_mgets: int = 4,
        max_value_bytes: int = 16 * 1024,
        max_queued: int = 65_536,
        max_queued_bytes: int = 32 * 1024 * 1024,
        failures_to_open: int = 5,
        probe_every_s: tuple[float, float] = (1.0, 5.0),
    ) -> None:
        if not prefix.isascii() or "{" in prefix:
            raise ValueError(f"a prefix is ASCII text without a brace, not {prefix!r}")
        self.counters = CacheCounters()
        self._address = parse_redis_url(url)
        self._prefix = prefix.encode()
        self._ttl_s = ttl_s
        self._lookup_timeout_s = lookup_timeout_s
        self._max_mgets = max_mgets
        self._max_value_bytes = max_value_bytes
        self._max_queued = max_queued
        self._max_queued_bytes = max_queued_bytes
        self._failures_to_open = failures_to_open
        self._probe_every_s = probe_every_s
        self._tags = _even_tags(_CLUSTER_TAGS) if self._address.is_cluster else []

        self._state: State = "open"
        self._failures = 0
        self._client = self._connect()
        self._waiting: deque[_Request] = deque()
        self._waiting_keys = 0
        self._flights: set[asyncio.Task[None]] = set()
        self._boarding = False
        self._queue: deque[tuple[bytes, bytes]] = deque()
        self._queued_bytes = 0
        self._writes_refused = False
        self._opened = asyncio.Event()
        self._writable = asyncio.Event()
        self._writing = asyncio.Lock()
        """The writer holds this lock while a batch is on its way, so that `close` can wait for the last batch."""
        self._tasks: list[asyncio.Task[None]] = []
        self._has_closed = False

    @property
    def state(self) -> State:
        """The state of the breaker: `closed` (Redis is in use), `open` (Redis is left alone) or `half_open` (Redis is
        on trial). Lookups are made only if it is closed.
        """
        return self._state

    @property
    def queued(self) -> int:
        """Entries that wait to be written."""
        return len(self._queue)

    async def start(self) -> None:
        """Try Redis for a second or two, and begin to write. If Redis does not answer, the breaker stays open and all
        lookups are misses.
        """
        if not await self._try_to_use():
            _log.warning("cache: starting without Redis at %s", self._address)
            self._opened.set()
        self._tasks = [asyncio.create_task(self._keep()), asyncio.create_task(self._write_forever())]

    async def close(self, flush_s: float = 1.0) -> None:
        """Write the queue for at most `flush_s`, and close the connections. Entries that are left count as dropped."""
        if self._has_closed:
            return
        self._has_closed = True
        with suppress(TimeoutError):
            async with asyncio.timeout(flush_s):
                while self._queue and self._state == "closed":
                    await self._write_some()
                async with self._writing:
                    pass
        await cancel(*self._tasks)
        self._drop(len(self._queue))
        self._state = "open"
        await cancel(*self._flights)
        self._answer_waiting_with_misses()
        await disconnect(self._client, _CONNECT_TIMEOUT_S)

    # Reading

    async def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The value of each key, in order. It is None if Redis has none or does not answer in time."""
        if self._state != "closed" or self._waiting_keys > _MAX_WAITING_KEYS:
            return [None] * len(keys)
        requests = [
            self._enqueue(keys[start : start + MAX_KEYS_PER_MGET]) for start in range(0, len(keys), MAX_KEYS_PER_MGET)
        ]
        try:
            return [value for request in requests for value in await request.answer]
        finally:
            for request in requests:
                request.answer.cancel()

    def _enqueue(self, keys: Sequence[bytes]) -> _Request:
        request = _Request(keys, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        self._waiting_keys += len(keys)
        self._launch()
        return request

    def _launch(self) -> None:
        """Start one more MGET, unless one is about to start. It takes all requests that come before the loop gets to
        it.
        """
        if self._boarding or len(self._flights) >= self._max_mgets:
            return
        self._boarding = True
        self._flights.add(asyncio.create_task(self._fly()))

    async def _fly(self) -> None:
        self._boarding = False
        flight = asyncio.current_task()
        assert flight
        try:
            while requests := self._board():
                if self._waiting:
                    self._launch()
                await self._answer(requests)
        finally:
            # This is not done in a callback, which would run later: a new request would wait for this MGET until then.
            self._flights.discard(flight)

    def _board(self) -> list[_Request]:
        """The next requests that are still wanted. Together they fit in one MGET."""
        requests: list[_Request] = []
        room = MAX_KEYS_PER_MGET
        while self._waiting and room >= len(self._waiting[0].keys):
            request = self._next_waiting()
            if not request.answer.done():
                requests.append(request)
                room -= len(request.keys)
        return requests

    def _next_waiting(self) -> _Request:
        request = self._waiting.popleft()
        self._waiting_keys -= len(request.keys)
        return request

    async def _answer(self, requests: Sequence[_Request]) -> None:
        keys = [key for request in requests for key in request.keys]
        values: Sequence[bytes | None] = [None] * len(keys)
        try:
            with spans.shared("redis MGET", (request.span for request in requests), "client", keys=len(keys)):
                values = await self._mget(keys)
        finally:
            start = 0
            for request in requests:
                end = start + len(request.keys)
                request.settle(values[start:end])
                start = end

    async def _mget(self, keys: Sequence[bytes]) -> list[bytes | None]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        self.counters.mgets += 1
        try:
            async with _timeout(self._lookup_timeout_s):
                values = await self._ask(self._client, keys)
        except Exception as error:  # noqa: BLE001  # any error that a broken server causes in the library is a miss
            self._on_failure(error)
            return [None] * len(keys)
        self._failures = 0
        self.counters.mget_s += loop.time() - began
        return [self._unframed(key, framed) for key, framed in zip(keys, values, strict=True)]

    async def _ask(self, client: Client, keys: Sequence[bytes]) -> list[Any]:
        """The server's values for `keys`, in order.

        Raises:
            _Nonsense: the answer is not one value per key.
            RedisError, OSError, TimeoutError, or whatever else the library meets in a broken reply.
        """
        if not isinstance(client, RedisCluster):
            names = [self._prefix + key for key in keys]
            reply = await client.execute_command("MGET", *names)  # type: ignore[no-untyped-call]  # so in redis-py
            return _checked(reply, len(keys))
        groups = self._by_tag(keys)
        pipeline = client.pipeline()
        for tag, positions in groups.items():
            pipeline.execute_command("MGET", *[tag + keys[position] for position in positions])
        values: list[Any] = [None] * len(keys)
        replies = _checked(await pipeline.execute(), len(groups))
        for positions, reply in zip(groups.values(), replies, strict=True):
            for position, framed in zip(positions, _checked(reply, len(positions)), strict=True):
                values[position] = framed
        return values

    def _by_tag(self, keys: Sequence[bytes]) -> dict[bytes, list[int]]:
        """The places of `keys`, by the start of their name in the cluster. Equal starts share a slot."""
        groups: dict[bytes, list[int]] = {}
        for position, key in enumerate(keys):
            tag = self._tags[key[0] % _CLUSTER_TAGS] if key else self._tags[0]
            groups.setdefault(self._prefix + tag, []).append(position)
        return groups

    def _unframed(self, key: bytes, framed: object) -> bytes | None:
        if framed is None:
            return None
        if isinstance(framed, bytes) and len(framed) <= _SUM_BYTES + self._max_value_bytes:
            value = framed[_SUM_BYTES:]
            if framed[:_SUM_BYTES] == _sum(key, value):
                return value
        self.counters.rejected += 1
        return None

    def _answer_waiting_with_misses(self) -> None:
        while self._waiting:
            request = self._next_waiting()
            request.settle([None] * len(request.keys))

    # Writing

    def set_many(self, entries: Mapping[bytes, bytes]) -> None:
        """Queue `entries`. One task writes them soon, in pipelined batches. The result is not reported."""
        if self._has_closed:
            self.counters.dropped_writes += len(entries)
            return
        for key, value in entries.items():
            if len(value) > self._max_value_bytes:
                self.counters.dropped_writes += 1
                continue
            self._queue.append((key, value))
            self._queued_bytes += len(value)
        while len(self._queue) > self._max_queued or self._queued_bytes > self._max_queued_bytes:
            self._drop(1)
        self._set_writable()

    def _drop(self, count: int) -> None:
        """Forget the `count` oldest entries of the queue."""
        self._take(count)
        self.counters.dropped_writes += count

    def _take(self, count: int) -> list[tuple[bytes, bytes]]:
        entries = [self._queue.popleft() for _ in range(count)]
        self._queued_bytes -= sum(len(value) for _, value in entries)
        return entries

    def _set_writable(self) -> None:
        if self._queue and self._state == "closed":
            self._writable.set()
        else:
            self._writable.clear()

    async def _write_forever(self) -> None:
        while True:
            await self._writable.wait()
            await self._write_some()
            self._set_writable()

    async def _write_some(self) -> None:
        async with self._writing:
            entries = self._take(min(len(self._queue), MAX_KEYS_PER_MGET))
            if not entries:
                return
            stored = 0
            try:
                async with asyncio.timeout(_WRITE_TIMEOUT_S):
                    stored = await self._send(self._client, entries)
            except Exception as error:  # noqa: BLE001  # as for reading
                self._on_failure(error)
            finally:
                self.counters.written += stored
                self.counters.dropped_writes += len(entries) - stored

    async def _send(self, client: Client, entries: Sequence[tuple[bytes, bytes]]) -> int:
        """Write `entries` in one pipeline. Returns how many Redis took."""
        groups = self._write_groups(entries)
        ttl_s = max(1, round(self._ttl_s * SYSTEM_RANDOM.uniform(1 - _TTL_JITTER, 1 + _TTL_JITTER)))
        pipeline = client.pipeline() if isinstance(client, RedisCluster) else client.pipeline(transaction=False)
        for names, values in groups:
            pipeline.execute_command("EVAL", _SET_MANY, len(names), *names, ttl_s, *values)
        replies = _checked(await pipeline.execute(raise_on_error=False), len(groups))
        stored = 0
        refusal: ResponseError | None = None
        for (names, _), reply in zip(groups, replies, strict=True):
            if isinstance(reply, ResponseError) and not isinstance(reply, ClusterError):
                refusal = reply
            elif isinstance(reply, Exception):
                raise reply
            else:
                stored += len(names)
        self._on_written(refusal)
        return stored

    def _write_groups(self, entries: Sequence[tuple[bytes, bytes]]) -> list[tuple[list[bytes], list[bytes]]]:
        """The names and framed values of each script call. In a cluster the names of one call share a slot."""
        positions: Mapping[bytes, Sequence[int]] = {self._prefix: range(len(entries))}
        if self._address.is_cluster:
            positions = self._by_tag([key for key, _ in entries])
        groups = []
        for tag, group in positions.items():
            for start in range(0, len(group), _KEYS_PER_SCRIPT):
                part = [entries[position] for position in group[start : start + _KEYS_PER_SCRIPT]]
                groups.append(([tag + key for key, _ in part], [_sum(key, value) + value for key, value in part]))
        return groups

    def _on_written(self, refusal: ResponseError | None) -> None:
        """Log when Redis begins or stops to refuse writes (out of memory, or it is a replica). Lookups go on
        meanwhile.
        """
        if refusal is not None and not self._writes_refused:
            _log.warning("cache: Redis at %s refuses writes: %s", self._address, described(refusal))
        if refusal is None and self._writes_refused:
            _log.info("cache: Redis at %s takes writes again", self._address)
        self._writes_refused = refusal is not None

    # The breaker

    def _on_failure(self, error: Exception) -> None:
        self.counters.errors += 1
        self._failures += 1
        if self._failures < self._failures_to_open or self._state != "closed":
            return
        self._state = "open"
        self.counters.breaker_opened += 1
        _log.warning(
            "cache: leaving Redis at %s alone after %d failures in a row, the last: %s",
            self._address,
            self._failures,
            described(error),
        )
        self._set_writable()
        self._answer_waiting_with_misses()
        self._opened.set()

    async def _keep(self) -> None:
        """After each opening of the breaker, try Redis until it answers."""
        shortest_s, longest_s = self._probe_every_s
        while True:
            await self._opened.wait()
            pause_s = shortest_s
            while True:
                await asyncio.sleep(pause_s * SYSTEM_RANDOM.uniform(0.8, 1.2))
                if await self._try_to_use():
                    break
                pause_s = min(2 * pause_s, longest_s)
            _log.info("cache: using Redis at %s", self._address)

    async def _try_to_use(self) -> bool:
        """Close the breaker if a new client answers in time.

        The client is new because the old one may hold dead connections, or addresses of servers that are not masters
        any more.
        """
        self._state = "half_open"
        discarded = client = self._connect()
        try:
            error = await self._probe(client)
            if error is not None:
                self._state = "open"
                _log.debug("cache: Redis at %s does not answer: %s", self._address, described(error))
                return False
            discarded, self._client = self._client, client
            self._failures = 0
            self._state = "closed"
            self._opened.clear()
            self._set_writable()
            return True
        finally:
            await disconnect(discarded, _CONNECT_TIMEOUT_S)

    async def _probe(self, client: Client) -> Exception | None:
        """The error that keeps `client` from being used, or None. This opens its connections, since lookups have no
        time for that.
        """
        keys = [bytes([tag]) for tag in range(_CLUSTER_TAGS)] if self._address.is_cluster else [b"\0"]
        try:
            async with asyncio.timeout(_CONNECT_TIMEOUT_S):
                async with asyncio.TaskGroup() as group:
                    for _ in range(self._max_mgets):
                        group.create_task(self._ask(client, keys))
            async with _timeout(self._lookup_timeout_s):
                await self._ask(client, keys)
        except Exception as error:  # noqa: BLE001  # as for reading
            return error
        return None

    def _connect(self) -> Client:
        return connect(
            self._address,
            timeout_s=_WRITE_TIMEOUT_S,
            connect_timeout_s=_CONNECT_TIMEOUT_S,
            # Room for the lookups, the writer, and connections that are being given back.
            max_connections=2 * self._max_mgets + 2,
        )


class _Nonsense(Exception):
    """The server's reply is well-formed but does not answer the question."""


@asynccontextmanager
async def _timeout(seconds: float) -> AsyncIterator[None]:
    """Like `asyncio.timeout`, except that a reply that has come but has not been read yet is not late.

    A busy event loop must not look like a slow Redis. When the time is over, the loop gets the few turns that it takes
    to read a reply.
    """
    loop = asyncio.get_running_loop()
    handle: asyncio.Handle
    async with asyncio.timeout(None) as limit:

        def end(turns: int) -> None:
            nonlocal handle
            if turns:
                handle = loop.call_soon(end, turns - 1)
            else:
                limit.reschedule(loop.time())

        handle = loop.call_later(seconds, end, 5)
        try:
            yield
        finally:
            handle.cancel()


def _checked(reply: object, length: int) -> list[Any]:
    if not isinstance(reply, list) or len(reply) != length:
        raise _Nonsense(f"expected a list of {length}, got {type(reply).__name__}")
    return reply


def _sum(key: bytes, value: bytes) -> bytes:
    return crc32(key + value).to_bytes(_SUM_BYTES, "big")


def _even_tags(count: int) -> list[bytes]:
    """Hash tags, in order. There is one in each of `count` equal parts of the slots of a cluster."""
    tags: dict[int, bytes] = {}
    number = 0
    while len(tags) < count:
        tag = b"{%d}" % number
        tags.setdefault(key_slot(tag) * count // _CLUSTER_SLOTS, tag)
        number += 1
    return [tags[part] for part in range(count)]
