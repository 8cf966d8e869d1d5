"""Memory cache alone, and both layers in front of real Redis servers that are fine, absent, dead, frozen or lying."""

import asyncio
import logging
import random
import subprocess
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.crc import key_slot

from service.cache.cached_verdict import CachedVerdict, encode_verdict
from service.cache.memory_cache import ENTRY_OVERHEAD_BYTES, MemoryCache
from service.cache.redis_cache import RedisCache, _even_tags
from service.cache.verdict_cache import VerdictCache
from service.storage.redis_client import parse_redis_url
from tests.ports import free_port
from tests.service.fault_proxy import Fault, fault_proxy
from tests.service.redis_server import RedisServer, SentinelServer, redis_cluster
from tests.waiting import PATIENCE_S, eventually, until

StartRedis = Callable[..., RedisServer]
WEEK_S = 7 * 24 * 3600


def entries_of(count: int, seed: int = 0) -> dict[bytes, bytes]:
    """Keys as the engine makes them, and values that say which key they belong to."""
    source = random.Random(seed)
    keys = [source.randbytes(20) for _ in range(count)]
    return {key: b"verdict of " + key + source.randbytes(source.randrange(200)) for key in keys}


async def written(cache: RedisCache, entries: Mapping[bytes, bytes]) -> None:
    """Store `entries` and wait until Redis has taken them."""
    goal = cache.counters.written + len(entries)
    cache.set_many(entries)
    await until(lambda: cache.counters.written >= goal)


@asynccontextmanager
async def running(url: str, **options: Any) -> AsyncIterator[RedisCache]:
    """A started cache that tries again soon after a failure, on a machine that may be busy."""
    cache = RedisCache(url, **{"probe_every_s": (0.05, 0.1), "lookup_timeout_s": 0.2, **options})
    await cache.start()
    try:
        yield cache
    finally:
        await cache.close()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class TestMemoryCache:
    def test_least_recently_used_entries_go_first(self) -> None:
        size = 20 + 50 + ENTRY_OVERHEAD_BYTES
        memory = MemoryCache(3 * size)
        a, b, c, d = (bytes([number]) * 20 for number in range(4))
        for key in (a, b, c):
            memory.set(key, bytes(50))
        memory.get(a)
        memory.set(d, bytes(50))
        assert [memory.get(key) is not None for key in (a, b, c, d)] == [True, False, True, True]
        assert (len(memory), memory.used_bytes) == (3, 3 * size)

    def test_replaced_entry_counts_as_used_and_frees_its_old_bytes(self) -> None:
        memory = MemoryCache(2 * (20 + 50 + ENTRY_OVERHEAD_BYTES))
        a, b, c = (bytes([number]) * 20 for number in range(3))
        memory.set(a, bytes(50))
        memory.set(b, bytes(50))
        memory.set(a, b"new" + bytes(47))
        memory.set(c, bytes(50))
        assert memory.get(a) == b"new" + bytes(47)
        assert memory.get(b) is None

    def test_value_that_can_never_fit_is_not_kept_nor_is_what_it_would_have_replaced(self) -> None:
        memory = MemoryCache(1000)
        memory.set(b"key", b"old")
        memory.set(b"other", b"kept")
        memory.set(b"key", bytes(1000))
        assert memory.get(b"key") is None
        assert memory.get(b"other") == b"kept"

    def test_no_room_at_all_means_no_cache(self) -> None:
        memory = MemoryCache(0)
        memory.set(b"key", b"value")
        assert (memory.get(b"key"), len(memory), memory.used_bytes) == (None, 0, 0)

    def test_entry_ends_with_its_time_to_live(self) -> None:
        clock = Clock()
        memory = MemoryCache(10_000, clock=clock)
        memory.set(b"short", b"1", ttl_s=10)
        memory.set(b"endless", b"2")
        clock.now = 9.9
        assert memory.get(b"short") == b"1"
        clock.now = 10.0
        assert memory.get(b"short") is None
        assert memory.get(b"endless") == b"2"
        memory.set(b"short", b"3")
        clock.now = 100.0
        assert memory.get(b"short") == b"3"

    def test_clear_leaves_nothing(self) -> None:
        memory = MemoryCache(10_000)
        memory.set(b"key", b"value", ttl_s=5)
        memory.clear()
        assert (memory.get(b"key"), len(memory), memory.used_bytes) == (None, 0, 0)

    @given(
        steps=st.lists(
            st.one_of(
                st.tuples(st.just("get"), st.integers(0, 5)),
                st.tuples(st.just("set"), st.integers(0, 5), st.binary(max_size=300), st.none() | st.floats(0.5, 5)),
                st.tuples(st.just("wait"), st.floats(0, 3)),
            ),
            max_size=60,
        ),
        room=st.integers(0, 6),
    )
    def test_agrees_with_a_dict_but_for_what_had_no_room(self, steps: list[Any], room: int) -> None:
        clock = Clock()
        max_bytes = room * (20 + 300 + ENTRY_OVERHEAD_BYTES)
        memory = MemoryCache(max_bytes, clock=clock)
        model: dict[bytes, tuple[bytes, float]] = {}
        for step in steps:
            match step:
                case ("get", number):
                    value, ends = model.get(bytes([number]) * 20, (None, float("inf")))
                    expected = value if clock.now < ends else None
                    got = memory.get(bytes([number]) * 20)
                    assert got == expected or (got is None and room < 6)
                case ("set", number, value, ttl_s):
                    memory.set(bytes([number]) * 20, value, ttl_s)
                    model[bytes([number]) * 20] = (value, float("inf") if ttl_s is None else clock.now + ttl_s)
                case ("wait", seconds):
                    clock.now += seconds
            assert memory.used_bytes <= max_bytes

    @pytest.mark.parametrize("count", [5_000, 44_000])
    def test_memory_in_use_is_what_is_accounted(self, count: int) -> None:
        tracemalloc.start()
        try:
            memory = MemoryCache(1 << 40)
            source = random.Random(0)
            for _ in range(count):
                memory.set(source.randbytes(20), source.randbytes(100))
            real = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert 0.7 * memory.used_bytes < real <= memory.used_bytes

    def test_verdicts_take_what_is_accounted(self) -> None:
        """An encoder's bytes hold more memory than their length says."""
        tracemalloc.start()
        try:
            memory = MemoryCache(1 << 40)
            for index in range(5_000):
                memory.set(index.to_bytes(20), encode_verdict(CachedVerdict(1.0, "correct", "x" * (index % 400), {})))
            real = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert real <= memory.used_bytes


class TestVerdictCache:
    async def test_memory_alone_serves_without_redis(self) -> None:
        cache = VerdictCache(MemoryCache(10_000))
        await cache.start()
        cache.store({b"a": b"1"})
        assert cache.peek(b"a") == b"1"
        assert cache.peek(b"b") is None
        assert await cache.lookup([b"b", b"a", b"b"]) == [None, b"1", None]
        assert cache.redis_state == "none"
        assert (cache.counters.hits_memory, cache.counters.misses) == (2, 2)
        await cache.close()

    async def test_another_process_finds_what_this_one_stored(self, redis_server: RedisServer) -> None:
        entries = entries_of(3000)
        async with running(redis_server.url) as near, running(redis_server.url) as far:
            one, other = VerdictCache(MemoryCache(1 << 24), near), VerdictCache(MemoryCache(1 << 24), far)
            one.store(entries)
            await until(lambda: near.counters.written == len(entries))
            absent = b"absent" + bytes(14)
            assert await other.lookup([*entries, absent]) == [*entries.values(), None]
            assert other.peek(next(iter(entries))) == next(iter(entries.values()))
            assert (other.counters.hits_redis, other.counters.misses) == (3000, 1)
            mgets = far.counters.mgets
            assert await other.lookup(list(entries)) == list(entries.values())
            assert far.counters.mgets == mgets

    async def test_entries_end_after_the_time_to_live_give_or_take_a_tenth(self, redis_server: RedisServer) -> None:
        async with running(redis_server.url) as cache:
            for seed in range(10):
                await written(cache, entries_of(3, seed))
        times = {redis_server.call("TTL", key) for key in redis_server.call("KEYS", "rl1:*")}
        assert all(0.9 * WEEK_S - 60 <= ttl <= 1.1 * WEEK_S for ttl in times)
        assert len(times) > 5

    async def test_close_writes_what_is_queued(self, redis_server: RedisServer) -> None:
        async with running(redis_server.url) as redis:
            cache = VerdictCache(MemoryCache(1 << 24), redis)
            cache.store(entries_of(5000))
            await cache.close()
            assert redis.counters.written == 5000
        assert redis_server.call("DBSIZE") == 5000


class TestTraffic:
    async def test_lookups_made_at_once_share_a_few_mgets(self, redis_server: RedisServer) -> None:
        entries = entries_of(3000)
        async with running(redis_server.url) as cache:
            await written(cache, entries)
            before = redis_server.calls("MGET")
            async with asyncio.TaskGroup() as group:
                lookups = [group.create_task(cache.get_many([key])) for key in entries]
            assert [lookup.result() for lookup in lookups] == [[value] for value in entries.values()]
            assert redis_server.calls("MGET") - before <= 8

    async def test_a_batch_is_one_mget_and_one_pipelined_write(self, redis_server: RedisServer) -> None:
        entries = entries_of(1024)
        async with running(redis_server.url) as cache:
            await written(cache, entries)
            before = redis_server.calls("MGET")
            assert await cache.get_many(list(entries)) == list(entries.values())
            assert redis_server.calls("MGET") - before == 1
            assert redis_server.calls("EVAL") == 4

    async def test_lookup_given_up_by_its_caller_does_not_cost_the_others(self, redis_server: RedisServer) -> None:
        entries = entries_of(400)
        keys = list(entries)
        async with running(redis_server.url) as cache:
            await written(cache, entries)
            lookups = [asyncio.create_task(cache.get_many([key])) for key in keys]
            await asyncio.sleep(0)
            for lookup in lookups[::2]:
                lookup.cancel()
            await asyncio.wait(lookups)
            assert [lookup.result() for lookup in lookups[1::2]] == [[entries[key]] for key in keys[1::2]]

    async def test_writes_beyond_the_queue_drop_the_oldest(self, redis_server: RedisServer) -> None:
        entries = entries_of(100)
        cache = RedisCache(redis_server.url, max_queued=10)
        cache.set_many(entries)
        assert (cache.queued, cache.counters.dropped_writes) == (10, 90)
        await cache.start()
        await until(lambda: cache.counters.written == 10)
        assert await cache.get_many(list(entries)) == [None] * 90 + list(entries.values())[90:]
        await cache.close()

    async def test_queue_is_bounded_in_bytes_too(self) -> None:
        cache = RedisCache("redis://127.0.0.1:1", max_queued_bytes=10_000)
        cache.set_many({bytes([number]) * 20: bytes(1000) for number in range(100)})
        assert cache.queued == 10
        await cache.close()
        assert cache.counters.dropped_writes == 100

    async def test_busy_event_loop_does_not_make_redis_late(self, redis_server: RedisServer) -> None:
        entries = entries_of(10)
        async with running(redis_server.url, lookup_timeout_s=0.05) as cache:
            await written(cache, entries)
            sent = redis_server.calls("MGET") + 1
            lookup = asyncio.create_task(cache.get_many(list(entries)))
            for _ in range(5):
                await asyncio.sleep(0)
            eventually(lambda: redis_server.calls("MGET") == sent)  # blocks the loop
            blocked_until = time.monotonic() + 0.1
            eventually(lambda: time.monotonic() > blocked_until)
            assert await lookup == list(entries.values())

    async def test_lookups_behind_thousands_of_others_are_misses_at_once(self, redis_server: RedisServer) -> None:
        async with running(redis_server.url, lookup_timeout_s=1) as cache:
            redis_server.freeze()
            early = asyncio.create_task(cache.get_many(list(entries_of(20_000))))
            await asyncio.sleep(0)
            assert await cache.get_many([b"a"]) == [None]
            assert not early.done()
            redis_server.thaw()
            assert await early == [None] * 20_000
            assert cache.counters.errors == 0


class TestUntrustedValues:
    async def test_what_was_not_stored_by_us_is_a_miss(self, redis_server: RedisServer) -> None:
        entries = entries_of(6)
        a, b, c, d, e, f = entries
        async with running(redis_server.url, max_value_bytes=500) as cache:
            await written(cache, entries)
            name = b"rl1:%b"
            redis_server.call("DEL", name % a)
            redis_server.call("LPUSH", name % a, "a list")
            redis_server.call("SET", name % b, redis_server.call("GET", name % c))
            redis_server.call("SET", name % d, bytes(100_000))
            redis_server.call("SET", name % e, b"")
            assert await cache.get_many([a, b, c, d, e, f]) == [None, None, entries[c], None, None, entries[f]]
            assert cache.counters.rejected == 3
            await written(cache, entries)
            assert await cache.get_many(list(entries)) == list(entries.values())

    async def test_value_too_long_to_be_believed_is_not_written(self, redis_server: RedisServer) -> None:
        async with running(redis_server.url, max_value_bytes=100) as cache:
            await written(cache, {b"a": bytes(100)})
            cache.set_many({b"b": bytes(101)})
            assert cache.counters.dropped_writes == 1
            assert await cache.get_many([b"a", b"b"]) == [bytes(100), None]


class TestFaults:
    async def test_redis_absent_at_the_start_is_used_once_it_comes(self, tmp_path: Path) -> None:
        port = free_port()
        async with running(f"redis://127.0.0.1:{port}") as cache:
            assert cache.state == "open"
            assert await cache.get_many([b"a"]) == [None]
            cache.set_many({b"a": b"1"})
            with RedisServer(tmp_path, port=port):
                await until(lambda: cache.counters.written == 1)
                assert await cache.get_many([b"a"]) == [b"1"]

    async def test_redis_that_dies_in_use_means_misses_until_it_is_back(
        self, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, "rewardline.cache")
        entries = entries_of(10)
        async with running(redis_server.url) as cache:
            await written(cache, entries)
            redis_server.kill()
            while cache.state == "closed":
                assert await cache.get_many(list(entries)) == [None] * 10
            redis_server.start()
            await until(lambda: cache.state == "closed")
            await written(cache, entries)
            assert await cache.get_many(list(entries)) == list(entries.values())
        texts = [record.getMessage() for record in caplog.records if record.name == "rewardline.cache"]
        assert len(texts) == 2
        assert "leaving Redis" in texts[0]
        assert "using Redis" in texts[1]

    async def test_frozen_redis_costs_a_few_short_waits_and_then_none(self, redis_server: RedisServer) -> None:
        entries = entries_of(10)
        async with running(redis_server.url, lookup_timeout_s=0.05, probe_every_s=(0.2, 0.2)) as cache:
            await written(cache, entries)
            redis_server.freeze()
            async with asyncio.timeout(PATIENCE_S):
                while cache.state == "closed":
                    assert await cache.get_many(list(entries)) == [None] * 10
            mgets = cache.counters.mgets
            assert mgets == cache.counters.errors == 5
            for _ in range(100):
                assert await cache.get_many(list(entries)) == [None] * 10
            assert cache.counters.mgets == mgets
            redis_server.thaw()
            await until(lambda: cache.state == "closed")
            assert await cache.get_many(list(entries)) == list(entries.values())

    async def test_close_does_not_wait_for_a_frozen_redis(self, redis_server: RedisServer) -> None:
        async with running(redis_server.url) as cache:
            redis_server.freeze()
            lookup = asyncio.create_task(cache.get_many([b"a"]))
            await asyncio.sleep(0)
            cache.set_many(entries_of(5000))
            async with asyncio.timeout(PATIENCE_S):
                await cache.close(flush_s=0.1)
            assert await lookup == [None]
            assert cache.counters.dropped_writes == 5000
            redis_server.thaw()

    @pytest.mark.chaos(beyond=1)
    @pytest.mark.parametrize("fault", ["latency", "black_hole", "reset", "drop", "insert"])
    async def test_broken_connections_mean_misses_and_are_left_behind(
        self, redis_server: RedisServer, fault: Fault
    ) -> None:
        entries = entries_of(500)
        async with fault_proxy(redis_server.port) as proxy, running(proxy.url, lookup_timeout_s=0.1) as cache:
            await written(cache, entries)
            assert await cache.get_many(list(entries)) == list(entries.values())
            proxy.fault = fault
            async with asyncio.timeout(PATIENCE_S):
                while cache.state == "closed":
                    assert await cache.get_many(list(entries)) == [None] * 500
            proxy.fault = "none"
            await until(lambda: cache.state == "closed")
            assert await cache.get_many(list(entries)) == list(entries.values())

    @pytest.mark.contract(beyond=1)
    @pytest.mark.parametrize("seed", range(3))
    async def test_garbage_never_becomes_a_value(self, redis_server: RedisServer, seed: int) -> None:
        entries = entries_of(300, seed)
        keys = list(entries)
        source = random.Random(seed)
        async with (
            fault_proxy(redis_server.port, seed=seed) as proxy,
            running(proxy.url, failures_to_open=1_000_000, lookup_timeout_s=0.03) as cache,
        ):
            await written(cache, entries)
            proxy.fault = "garbage"
            hits = 0
            for _ in range(150):
                wanted = source.sample(keys, source.randrange(1, 30))
                for key, value in zip(wanted, await cache.get_many(wanted), strict=True):
                    assert value in (None, entries[key])
                    hits += value is not None
            assert hits > 0
            assert cache.counters.errors > 0
            assert cache.counters.rejected > 0
            proxy.fault = "none"
            async with asyncio.timeout(PATIENCE_S):
                while await cache.get_many(keys) != list(entries.values()):
                    await proxy.close_connections()

    @pytest.mark.contract
    async def test_late_replies_never_answer_the_next_lookup(self, redis_server: RedisServer) -> None:
        entries = entries_of(300)
        keys = list(entries)
        source = random.Random(0)
        async with (
            fault_proxy(redis_server.port) as proxy,
            running(proxy.url, failures_to_open=1_000_000, lookup_timeout_s=0.01) as cache,
        ):
            await written(cache, entries)
            hits = 0
            for _ in range(150):
                proxy.fault = source.choice(["none", "latency"])
                proxy.latency_s = source.uniform(0, 0.02)
                wanted = source.sample(keys, 5)
                for key, value in zip(wanted, await cache.get_many(wanted), strict=True):
                    assert value in (None, entries[key])
                    hits += value is not None
            assert hits > 0
            assert cache.counters.errors > 0
            assert cache.counters.rejected == 0

    async def test_full_redis_refuses_writes_and_serves_reads(
        self, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, "rewardline.cache")
        first, second = entries_of(300, 1), entries_of(300, 2)
        async with running(redis_server.url) as cache:
            await written(cache, first)
            redis_server.call("CONFIG SET", "maxmemory", "1")
            for _ in range(7):
                dropped = cache.counters.dropped_writes
                cache.set_many(second)
                await until(lambda dropped=dropped: cache.counters.dropped_writes == dropped + 300)  # type: ignore[misc]
            assert await cache.get_many([*first, *second]) == [*first.values(), *[None] * 300]
            assert cache.state == "closed"
            redis_server.call("CONFIG SET", "maxmemory", "0")
            await written(cache, second)
        texts = [record.getMessage() for record in caplog.records if record.name == "rewardline.cache"]
        assert len(texts) == 2
        assert "refuses writes" in texts[0]
        assert "takes writes again" in texts[1]

    async def test_replica_serves_reads_and_refuses_writes(
        self, redis_server: RedisServer, start_redis: StartRedis
    ) -> None:
        entries = entries_of(10)
        replica = start_redis("--replicaof", "127.0.0.1", str(redis_server.port))
        async with running(redis_server.url) as master_cache, running(replica.url) as cache:
            await written(master_cache, entries)
            await asyncio.to_thread(eventually, lambda: replica.call("DBSIZE") == 10)
            cache.set_many({b"a": b"1"})
            await until(lambda: cache.counters.dropped_writes == 1)
            assert await cache.get_many([b"a", *entries]) == [None, *entries.values()]
            assert cache.state == "closed"


class TestDeployments:
    async def test_unix_socket(self, redis_server: RedisServer) -> None:
        async with running(f"unix://{redis_server.socket_path}?db=3") as cache:
            await written(cache, {b"a": b"1"})
            assert await cache.get_many([b"a"]) == [b"1"]
        assert redis_server.call("INFO", "keyspace")["db3"]["keys"] == 1

    @pytest.mark.contract
    async def test_tls_with_a_password_that_is_never_logged(
        self, start_redis: StartRedis, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG, "rewardline.cache")
        key, certificate = _certificate(tmp_path)
        port = free_port()
        tls = ("--tls-port", str(port), "--tls-key-file", str(key), "--tls-cert-file", str(certificate))
        server = start_redis(*tls, "--tls-ca-cert-file", str(certificate), "--tls-auth-clients", "no")
        server.call("CONFIG SET", "requirepass", "se/cr@et")
        address = f"127.0.0.1:{port}/0?ssl_ca_certs={certificate}"
        async with running(f"rediss://:se%2Fcr%40et@{address}", lookup_timeout_s=2) as cache:
            await written(cache, {b"a": b"1"})
            assert await cache.get_many([b"a"]) == [b"1"]
        async with running(f"rediss://:wro%2Fng@{address}", lookup_timeout_s=2) as cache:
            assert cache.state == "open"
            assert await cache.get_many([b"a"]) == [None]
        async with running(f"rediss://:se%2Fcr%40et@127.0.0.1:{port}", lookup_timeout_s=2) as cache:
            assert cache.state == "open", "a certificate that nobody vouches for was accepted"
        assert "without Redis" in caplog.text
        for secret in ("se/cr@et", "se%2Fcr%40et", "wro/ng", "wro%2Fng"):
            assert secret not in caplog.text

    async def test_sentinel_failover_leads_to_the_new_master(
        self, redis_server: RedisServer, start_redis: StartRedis, tmp_path: Path
    ) -> None:
        entries = entries_of(100)
        replica = start_redis("--replicaof", "127.0.0.1", str(redis_server.port))
        with SentinelServer(tmp_path, redis_server.port) as sentinel:
            await asyncio.to_thread(eventually, lambda: _replicas_known(sentinel) == [replica.port])
            absent = free_port()
            url = f"redis+sentinel://127.0.0.1:{absent},127.0.0.1:{sentinel.port}/{sentinel.service}/0"
            async with running(url) as cache:
                await written(cache, entries)
                assert await cache.get_many(list(entries)) == list(entries.values())
                redis_server.kill()
                while cache.state == "closed":
                    assert await cache.get_many([b"a"]) == [None]
                await until(lambda: cache.state == "closed")
                more = entries_of(100, 1)
                await written(cache, more)
                assert await cache.get_many(list(more)) == list(more.values())
                assert replica.call("DBSIZE") >= 100

    @pytest.mark.chaos
    async def test_cluster_holds_many_keys_and_survives_a_lost_node(self, tmp_path: Path) -> None:
        entries = entries_of(5000)
        with redis_cluster(tmp_path) as nodes:
            hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
            async with running(f"redis+cluster://{hosts}", lookup_timeout_s=1) as cache:
                await written(cache, entries)
                assert await cache.get_many(list(entries)) == list(entries.values())
                shares = [node.call("DBSIZE") for node in nodes]
                assert sum(shares) == 5000
                assert min(shares) > 1000
                nodes[1].kill()
                while cache.state == "closed":
                    for key, value in zip(entries, await cache.get_many(list(entries)), strict=True):
                        assert value in (None, entries[key])
                nodes[1].start()
                await until(lambda: cache.state == "closed")
                await written(cache, entries)
                assert await cache.get_many(list(entries)) == list(entries.values())

    def test_cluster_tags_lie_evenly_over_the_slots(self) -> None:
        slots = [key_slot(tag) for tag in _even_tags(64)]
        assert [slot * 64 // 16384 for slot in slots] == list(range(64))


def _replicas_known(sentinel: SentinelServer) -> list[int]:
    replicas: list[dict[str, Any]] = sentinel.call("SENTINEL SLAVES", sentinel.service)
    return [replica["port"] for replica in replicas if replica["flags"] == "slave"]


def _certificate(folder: Path) -> tuple[Path, Path]:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {key} -out {certificate}"
    options = ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command.split(), *options], check=True, capture_output=True)
    return key, certificate


class TestUrls:
    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("redis://cache", "redis://cache:6379"),
            ("redis://cache:7000/2", "redis://cache:7000/2"),
            ("redis://user:pass@[::1]:7000", "redis://***@[::1]:7000"),
            ("rediss://:pa%40ss@cache?ssl_cert_reqs=none", "rediss://***@cache:6379"),
            ("unix:///run/redis.sock?db=4", "unix:///run/redis.sock/4"),
            ("redis+sentinel://:p@a,b:7/verdicts/1", "redis+sentinel://***@a:26379,b:7/verdicts/1"),
            ("rediss+cluster://a:1,b:2", "rediss+cluster://a:1,b:2"),
        ],
    )
    def test_known_forms(self, url: str, shown: str) -> None:
        assert str(parse_redis_url(url)) == shown
        RedisCache(url)

    @pytest.mark.parametrize(
        ("url", "says"),
        [
            ("", "expected one of"),
            ("cache:6379", "expected one of"),
            ("http://secret@cache", "expected one of"),
            ("redis://", "expected a host"),
            ("redis://:secret@", "expected a host"),
            ("redis://:se/secret@cache", "percent-encode"),
            ("redis://:se#secret@cache", "percent-encode"),
            ("redis://:se?secret@cache", "percent-encode"),
            ("redis://cache:secret", "port is a number"),
            ("redis://cache:0", "expected a host"),
            ("redis://cache:70000", "port is a number"),
            ("redis://cache/secret", "database is a number"),
            ("redis://a,b", "takes one host"),
            ("redis://cache?secret=1", "unknown option"),
            ("redis://cache?secret", "name=value"),
            ("redis://cache?retry_on_timeout=yes", "unknown option"),
            ("rediss://cache?ssl_cert_reqs=secret", "ssl_cert_reqs"),
            ("rediss://cache?ssl_check_hostname=secret", "ssl_check_hostname"),
            ("unix://cache/run/redis.sock", "unix:///path"),
            ("unix://", "unix:///path"),
            ("redis+sentinel://a,b", "service_name"),
            ("redis+sentinel://a/service/0/secret", "service_name"),
            ("redis+cluster://a/1", "no database"),
            ("redis+cluster://a,,b", "expected a host"),
        ],
    )
    def test_others_are_refused_without_being_quoted(self, url: str, says: str) -> None:
        with pytest.raises(ValueError, match=says) as refusal:
            RedisCache(url)
        assert "secret" not in str(refusal.value)

    def test_prefix_with_a_brace_would_break_the_cluster_slots(self) -> None:
        with pytest.raises(ValueError, match="prefix"):
            RedisCache("redis://cache", prefix="{x}")
