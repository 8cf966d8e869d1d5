"""Answers that are kept, and calls that several callers share."""

import asyncio
import tracemalloc
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from verifiers.judge.errors import EndpointFailure
from verifiers.judge.sharing import Shared

KEY = b"k" * 32


class Asked:
    """Counts how often it is asked; answers when `go` is set."""

    def __init__(self, value: bytes = b"A", *, keep: bool = True, ready: bool = True) -> None:
        self.times = 0
        self.value = value
        self.keep = keep
        self.failure: Exception | None = None
        self.go = asyncio.Event()
        if ready:
            self.go.set()

    async def __call__(self) -> tuple[bytes, bool]:
        self.times += 1
        await self.go.wait()
        if self.failure:
            raise self.failure
        return self.value, self.keep


class Store:
    """A store that does what it is told."""

    def __init__(self, get: Callable[[bytes], Awaitable[bytes | None]] | None = None) -> None:
        self.values: dict[bytes, bytes] = {}
        self.asked = 0
        self._get = get

    async def get(self, key: bytes) -> bytes | None:
        self.asked += 1
        return await self._get(key) if self._get else self.values.get(key)

    async def put(self, key: bytes, value: bytes) -> None:
        self.values[key] = value


async def started(*calls: Awaitable[tuple[bytes, bool]]) -> list[asyncio.Task[tuple[bytes, bool]]]:
    tasks = [asyncio.ensure_future(call) for call in calls]
    for _ in range(5):
        await asyncio.sleep(0)
    return tasks


async def test_what_was_asked_once_is_known() -> None:
    shared, asked = Shared(10_000), Asked()
    assert await shared.get(KEY, asked) == (b"A", False)
    assert await shared.get(KEY, asked) == (b"A", True)
    assert (asked.times, shared.counters.hits, shared.counters.misses) == (1, 1, 1)


async def test_what_is_not_to_be_kept_is_asked_again() -> None:
    shared, asked = Shared(10_000), Asked(keep=False)
    assert [await shared.get(KEY, asked) for _ in range(3)] == [(b"A", False)] * 3
    assert (asked.times, shared.used_bytes) == (3, 0)


async def test_off_neither_reads_nor_writes_and_refresh_writes_only() -> None:
    shared = Shared(10_000)
    await shared.get(KEY, Asked(b"old"))
    assert await shared.get(KEY, Asked(b"other"), use="off") == (b"other", False)
    assert await shared.get(KEY, Asked(b"new"), use="off") == (b"new", False)
    assert await shared.get(KEY, Asked()) == (b"old", True)
    assert await shared.get(KEY, Asked(b"new"), use="refresh") == (b"new", False)
    assert await shared.get(KEY, Asked()) == (b"new", True)


async def test_callers_at_once_share_one_call() -> None:
    shared, asked = Shared(10_000), Asked(ready=False)
    tasks = await started(*[shared.get(KEY, asked) for _ in range(50)])
    asked.go.set()
    results = await asyncio.gather(*tasks)
    assert asked.times == 1
    assert sorted(results) == [(b"A", False)] + [(b"A", True)] * 49
    assert shared.counters.joined == 49


async def test_different_keys_share_nothing() -> None:
    shared, one, two = Shared(10_000), Asked(b"1"), Asked(b"2")
    results = await asyncio.gather(shared.get(b"1", one), shared.get(b"2", two))
    assert list(results) == [(b"1", False), (b"2", False)]


async def test_a_leaders_failure_is_its_own() -> None:
    shared, leads, follows = Shared(10_000), Asked(ready=False), Asked(b"B")
    leads.failure = EndpointFailure("timeout", "slow")
    tasks = await started(shared.get(KEY, leads), shared.get(KEY, follows), shared.get(KEY, follows))
    leads.go.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[0], EndpointFailure)
    assert results[1:] == [(b"B", False), (b"B", False)]
    assert follows.times == 2


async def test_what_a_leader_may_not_share_each_asks_for_itself() -> None:
    shared, asked = Shared(10_000), Asked(keep=False, ready=False)
    tasks = await started(*[shared.get(KEY, asked) for _ in range(3)])
    asked.go.set()
    assert await asyncio.gather(*tasks) == [(b"A", False)] * 3
    assert asked.times == 3


async def test_a_leader_that_is_cancelled_hands_over_to_one() -> None:
    shared, leads, follows = Shared(10_000), Asked(ready=False), Asked(b"B", ready=False)
    tasks = await started(shared.get(KEY, leads), *[shared.get(KEY, follows) for _ in range(4)])
    tasks[0].cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    assert follows.times == 1
    follows.go.set()
    assert sorted(await asyncio.gather(*tasks[1:])) == [(b"B", False)] + [(b"B", True)] * 3
    assert tasks[0].cancelled()


async def test_a_follower_that_leaves_disturbs_nobody() -> None:
    shared, asked = Shared(10_000), Asked(ready=False)
    tasks = await started(*[shared.get(KEY, asked) for _ in range(3)])
    tasks[1].cancel()
    await asyncio.sleep(0)
    asked.go.set()
    assert await tasks[0] == (b"A", False)
    assert await tasks[2] == (b"A", True)


async def test_a_follower_keeps_its_own_deadline() -> None:
    shared, asked = Shared(10_000), Asked(ready=False)
    soon = asyncio.get_running_loop().time() + 0.05
    tasks = await started(shared.get(KEY, asked), shared.get(KEY, asked, deadline=soon))
    with pytest.raises(EndpointFailure, match="deadline"):
        await tasks[1]
    assert not tasks[0].done()
    asked.go.set()
    assert await tasks[0] == (b"A", False)


async def test_memory_is_bounded_and_the_least_recently_used_goes_first() -> None:
    shared = Shared(3 * (1 + 100 + 290))
    for key in (b"1", b"2", b"3"):
        await shared.get(key, Asked(b"x" * 100))
    await shared.get(b"1", Asked())
    await shared.get(b"4", Asked(b"x" * 100))
    asked = Asked(b"y" * 100)
    assert (await shared.get(b"1", asked))[1]
    assert not (await shared.get(b"2", asked))[1]
    assert shared.used_bytes == 3 * (1 + 100 + 290)
    await shared.get(b"5", Asked(b"x" * 5000))
    assert shared.used_bytes == 3 * (1 + 100 + 290)


async def test_encoded_answers_take_what_is_accounted() -> None:
    shared, answer = Shared(1 << 40), {"content": "x" * 400}
    tracemalloc.start()
    try:
        for index in range(2_000):
            await shared.get(index.to_bytes(20), Asked(msgspec.msgpack.encode(answer)))
        real = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert real <= shared.used_bytes


async def test_what_has_expired_is_asked_again() -> None:
    now = [0.0]
    shared, asked = Shared(10_000, clock=lambda: now[0]), Asked()
    await shared.get(KEY, asked, ttl_s=10)
    now[0] = 9.9
    assert (await shared.get(KEY, asked))[1]
    now[0] = 10.0
    assert not (await shared.get(KEY, asked))[1]
    assert asked.times == 2


async def test_an_outer_store_is_asked_once_for_all_and_told() -> None:
    store = Store()
    shared, asked = Shared(10_000, store), Asked(ready=False)
    tasks = await started(*[shared.get(KEY, asked) for _ in range(3)])
    asked.go.set()
    await asyncio.gather(*tasks)
    assert (store.asked, store.values) == (1, {KEY: b"A"})
    other = Shared(10_000, store)
    assert await other.get(KEY, asked) == (b"A", True)
    assert (asked.times, other.counters.outer_hits, other.counters.misses) == (1, 1, 0)
    assert await other.get(KEY, asked) == (b"A", True)
    assert store.asked == 2


async def test_a_broken_outer_store_is_a_miss_and_is_left_alone_for_a_while() -> None:
    async def broken(_: bytes) -> bytes | None:
        raise RuntimeError("whatever")

    now = [0.0]
    store = Store(broken)
    shared = Shared(10_000, store, outer_rest_s=5.0, clock=lambda: now[0])
    for key in (b"1", b"2", b"3"):
        assert await shared.get(key, Asked()) == (b"A", False)
    assert (store.asked, shared.counters.outer_failures) == (1, 1)
    now[0] = 5.0
    await shared.get(b"4", Asked())
    assert store.asked == 2


async def test_a_slow_outer_store_is_a_miss() -> None:
    async def slow(_: bytes) -> bytes | None:
        await asyncio.Event().wait()
        return None

    shared = Shared(10_000, Store(slow), outer_timeout_s=0.02)
    assert await shared.get(KEY, Asked()) == (b"A", False)
    assert shared.counters.outer_failures == 1
