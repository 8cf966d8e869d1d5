"""The two stores, and Redis when it is not what it should be."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from fairness import TENANT
from service.errors import Gone, Overloaded, StateUnavailable
from service.storage.memory_records import MemoryRecords
from service.storage.record_store import VERSION, Change, RecordStore
from service.storage.records import OwnedRecords
from service.storage.redis_records import RedisRecords
from tests.service.redis_server import RedisServer, redis_cluster


async def test_a_store_changes_nothing_from_another_version(store: RecordStore) -> None:
    assert await store.swap("n", None, Change({VERSION: b"1", "x": b"a", "y": b"b"}, 10))
    assert not await store.swap("n", None, Change({VERSION: b"2", "x": b"c"}, 10))
    assert not await store.swap("n", b"0", Change({VERSION: b"2", "x": b"c"}, 10, ["y"]))
    assert not await store.swap("m", b"0", Change({VERSION: b"2", "x": b"c"}, 10, ["y"]))
    assert await store.read("n", [VERSION, "x", "y", "z"]) == [b"1", b"a", b"b", None]
    assert await store.swap("n", b"1", Change({VERSION: b"2", "x": b"c"}, 10, ["y", "z"]))
    assert await store.read("n", [VERSION, "x", "y"]) == [b"2", b"c", None]
    assert await store.read("m", [VERSION, "x"]) == [None, None]


async def test_memory_is_bounded_by_bytes_too_and_a_refused_change_changes_nothing() -> None:
    store = MemoryRecords(100, 10_000)
    assert await store.swap("n", None, Change({VERSION: b"1", "x": b"a" * 5000}, 10))
    with pytest.raises(Overloaded):
        await store.swap("m", None, Change({VERSION: b"1", "x": b"a" * 5000}, 10))
    with pytest.raises(Overloaded):
        await store.swap("n", b"1", Change({VERSION: b"2", "y": b"a" * 5000}, 10))
    assert await store.read("n", [VERSION, "y"]) == [b"1", None]
    assert await store.swap("n", b"1", Change({VERSION: b"2", "y": b"a" * 8000}, 10, ["x"], is_over=True))
    assert await store.swap("m", None, Change({VERSION: b"1", "x": b"a" * 5000}, 10))
    assert await store.read("n", [VERSION]) == [None]
    await store.close()


async def test_encoded_fields_take_what_is_accounted() -> None:
    records = MemoryRecords(2_000, 1 << 40)
    tracemalloc.start()
    try:
        for index in range(1_000):
            fields = {VERSION: b"1", **{name: msgspec.json.encode("x" * 700) for name in "abcd"}}
            await records.swap(f"n{index}", None, Change(fields, 10))
        real = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert real <= records.held_bytes
    await records.close()


async def test_no_tenant_fills_the_memory_and_none_loses_what_another_keeps() -> None:
    records = MemoryRecords(20, 1_000_000)
    store = OwnedRecords(records)

    async def keep(tenant: str, name: str, *, is_over: bool = False) -> bool:
        TENANT.set(tenant)
        return await store.swap(name, None, Change({VERSION: b"1"}, 10, is_over=is_over))

    for number in range(3):
        assert await keep("modest", f"m{number}", is_over=True)
    for number in range(12):
        assert await keep("greedy", f"n{number}")
    with pytest.raises(Overloaded, match=r"12 of .* yours") as refused:
        await keep("greedy", "n")
    assert refused.value.retry_after_s
    TENANT.set("modest")
    assert [await store.read(f"m{number}", [VERSION]) for number in range(3)] == [[b"1"]] * 3
    assert await keep("modest", "m3")
    TENANT.set("greedy")
    assert await store.swap("n0", b"1", Change({VERSION: b"2"}, 10, is_over=True))
    assert await keep("greedy", "n")
    assert await store.read("n0", [VERSION]) == [None], "its own made room"
    await store.close()


@pytest.mark.chaos
async def test_a_cluster_holds_each_record_whole(tmp_path: Path) -> None:
    with redis_cluster(tmp_path) as servers:
        store = RedisRecords(
            "redis+cluster://" + ",".join(f"127.0.0.1:{server.port}" for server in servers), prefix="t:"
        )
        names = [f"n{number}" for number in range(30)]
        for name in names:
            assert await store.swap(name, None, Change({VERSION: b"1", "x": name.encode()}, 100))
            assert await store.swap(name, b"1", Change({VERSION: b"2"}, 100, ["y"]))
        assert [await store.read(name, ["x", VERSION]) for name in names] == [[name.encode(), b"2"] for name in names]
        assert all(server.call("DBSIZE") for server in servers)
        await store.close()


async def test_without_redis_nothing_is_known_and_nothing_is_made_up(redis_server: RedisServer) -> None:
    store = RedisRecords(redis_server.url, prefix="t:", call_s=0.3)
    fields = {VERSION: b"1", "x": b"a"}
    assert await store.swap("n", None, Change(fields, 100))
    redis_server.freeze()
    with pytest.raises(StateUnavailable) as frozen:
        await store.read("n", ["x"])
    redis_server.thaw()
    assert frozen.value.retry_after_s
    assert await store.read("n", ["x"]) == [b"a"]
    redis_server.kill()
    with pytest.raises(StateUnavailable):
        await store.read("n", ["x"])
    with pytest.raises(StateUnavailable):
        await store.swap("n", b"1", Change({VERSION: b"2"}, 100))
    assert store.errors == 3
    redis_server.start()
    assert await store.read("n", ["x"]) == [None]
    await store.close()


async def test_a_server_without_memory_refuses_and_the_record_stays_as_it_was(
    start_redis: Callable[..., RedisServer],
) -> None:
    server = start_redis("--maxmemory-policy", "noeviction")
    store = RedisRecords(server.url, prefix="t:")
    assert await store.swap("n", None, Change({VERSION: b"1", "x": b"a"}, 100))
    server.call("CONFIG", "SET", "maxmemory", "1")
    with pytest.raises(StateUnavailable):
        await store.swap("n", b"1", Change({VERSION: b"2", "y": b"b"}, 100, ["x"]))
    assert await store.read("n", [VERSION, "x", "y"]) == [b"1", b"a", None]
    await store.close()


async def test_what_is_in_the_place_of_a_record_is_gone_until_it_is_replaced(shared_redis: RedisServer) -> None:
    shared_redis.call("FLUSHALL")
    store = RedisRecords(shared_redis.url, prefix="t:")
    assert await store.swap("n", None, Change({VERSION: b"1"}, 100))
    [key] = shared_redis.call("KEYS", "*")
    shared_redis.call("DEL", key)
    shared_redis.call("SET", key, "text")
    with pytest.raises(Gone):
        await store.read("n", [VERSION])
    assert not await store.swap("n", b"1", Change({VERSION: b"2"}, 100))
    assert await store.swap("n", None, Change({VERSION: b"3"}, 100))
    assert await store.read("n", [VERSION]) == [b"3"]
    shared_redis.call("SET", key, "text")
    await store.remove("n")
    assert await store.read("n", [VERSION]) == [None]
    await store.close()
