"""What a store of jobs promises, kept by both of them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from fairness import DEFAULT, TENANT, WEIGHTS
from service.errors import Conflict, Gone, Overloaded, TooLarge
from service.jobs.job import Claim, ClaimLost, JobStore, Limits, State
from service.jobs.memory_store import MemoryJobStore
from service.wire import Summary, encode
from tests.service.jobs.stores import items, job, limits, memory_store, redis_store, taken
from tests.virtual_time import in_virtual_time
from tests.waiting import PATIENCE_S, turns


@pytest.fixture(params=["memory", "redis"])
async def open_store(request: Any) -> AsyncIterator[Callable[[Limits], Any]]:
    """Opens a store of its own with the given limits."""
    async with AsyncExitStack() as stack:

        async def start(bounds: Limits) -> JobStore:
            if request.param == "memory":
                return await stack.enter_async_context(memory_store(bounds))
            url = request.getfixturevalue("redis_server").url
            return await stack.enter_async_context(redis_store(url, bounds))

        yield start


@pytest.fixture
async def store(open_store: Any) -> JobStore:
    found: JobStore = await open_store(limits())
    return found


SUMMARY = encode(Summary(items=2, ok=1, invalid=1))
LINES = [b'{"index":0,"status":"ok","cached":false}', b'{"index":1,"status":"invalid","cached":false}']


async def finished(store: JobStore, job_id: str) -> Claim:
    claim = await taken(store)
    assert claim.job_id == job_id
    await store.append(claim, 0, LINES)
    await store.finish(claim, b"{}")
    return claim


async def test_a_job_is_queued_taken_filled_and_done(store: JobStore) -> None:
    submission = await job(items(2))
    job_id = await store.submit(submission)
    queued = await store.read(job_id, 0)
    assert queued is not None
    assert (queued.state, queued.items, queued.done, queued.lines, queued.summary) == (State.QUEUED, 2, 0, [], None)
    claim = await taken(store)
    assert (claim.job_id, claim.attempt, claim.lines) == (job_id, 1, [])
    assert claim.submission.packed == submission.packed
    assert await store.append(claim, 0, LINES[:1]) == 1
    running = await store.read(job_id, 0)
    assert running is not None
    assert (running.state, running.done, running.lines, running.summary) == (State.RUNNING, 1, LINES[:1], None)
    assert await store.append(claim, 1, LINES[1:]) == 2
    await store.finish(claim, SUMMARY)
    for after in (0, 1, 2, 3):
        done = await store.read(job_id, after)
        assert done is not None
        assert (done.state, done.done, done.lines, done.summary) == (State.DONE, 2, LINES[after:], SUMMARY)
    with pytest.raises(ClaimLost):
        await store.append(claim, 2, LINES)


async def test_jobs_are_taken_in_their_order_and_waited_for(store: JobStore) -> None:
    taking = asyncio.create_task(taken(store))
    job_ids = [await store.submit(await job(items(1))) for _ in range(3)]
    assert (await taking).job_id == job_ids[0]
    assert [(await taken(store)).job_id for _ in range(2)] == job_ids[1:]


async def test_what_was_never_there_is_none(store: JobStore) -> None:
    assert await store.read("0" * 32, 0) is None
    assert await store.cancel("0" * 32) is None


async def test_the_same_key_and_body_are_the_same_job(store: JobStore) -> None:
    job_id = await store.submit(await job(items(2), key="a"))
    assert await store.submit(await job(items(2), key="a")) == job_id
    assert await store.submit(await job(items(2), key="b")) != job_id
    assert await store.submit(await job(items(2))) != await store.submit(await job(items(2)))
    with pytest.raises(Conflict):
        await store.submit(await job(items(3), key="a"))
    await finished(store, job_id)
    assert await store.submit(await job(items(2), key="a")) == job_id
    assert await store.cancel(job_id) is State.DONE
    assert await store.submit(await job(items(3), key="a")) != job_id


async def test_a_job_too_many_is_refused_until_one_is_removed(open_store: Any) -> None:
    store: JobStore = await open_store(limits(max_jobs=2))
    first, _ = [await store.submit(await job(items(1))) for _ in range(2)]
    for _ in range(2):
        with pytest.raises(Overloaded) as refused:
            await store.submit(await job(items(1)))
        assert refused.value.retry_after_s
        assert refused.value.retry_after_s >= 1
    await finished(store, first)
    with pytest.raises(Overloaded):
        await store.submit(await job(items(1)))
    assert await store.cancel(first) is State.DONE
    assert await store.read(first, 0) is None
    await store.submit(await job(items(1)))


async def test_bytes_are_bounded_and_a_finished_job_needs_fewer(open_store: Any) -> None:
    submission = await job(items(1000))
    store: JobStore = await open_store(limits(max_bytes=len(submission.packed) * 3 // 2))
    job_id = await store.submit(submission)
    with pytest.raises(Overloaded):
        await store.submit(submission)
    await finished(store, job_id)
    second = await store.submit(submission)
    assert second != job_id
    await store.cancel(second)
    await store.submit(submission)
    with pytest.raises(TooLarge):
        await store.submit(await job(items(3000)))


async def submitted(store: JobStore, tenant: str, count: int = 1, *, of: int = 1) -> list[str]:
    """The ids of jobs of a tenant, each of so many items."""
    TENANT.set(tenant)
    return [await store.submit(await job(items(of))) for _ in range(count)]


async def test_no_tenant_fills_the_store(open_store: Any) -> None:
    store: JobStore = await open_store(limits(max_jobs=20))
    first, *_ = await submitted(store, "greedy", 15)
    with pytest.raises(Overloaded, match=r"15 with .* of them yours") as refused:
        await submitted(store, "greedy")
    assert refused.value.retry_after_s
    await submitted(store, "modest", 3)
    with pytest.raises(Overloaded):
        await submitted(store, "greedy")
    for _ in range(2):
        assert await store.cancel(first) is not State.DONE
    await submitted(store, "third")
    assert await store.read(first, 0) is not None, "what a tenant holds is never taken from it"


async def test_no_tenant_fills_the_bytes_of_the_store(open_store: Any) -> None:
    size = len((await job(items(1000))).packed)
    store: JobStore = await open_store(limits(max_bytes=20 * size))
    for tenant, most in (("greedy", 15), ("modest", 3), ("third", 1)):
        with pytest.raises(Overloaded):
            await submitted(store, tenant, most + 1, of=1000)


async def test_the_only_tenant_fills_the_store(open_store: Any) -> None:
    store: JobStore = await open_store(limits(max_jobs=20))
    await submitted(store, DEFAULT, 20)
    with pytest.raises(Overloaded):
        await submitted(store, DEFAULT)


async def test_tenants_take_turns(store: JobStore) -> None:
    """By the items of their jobs, whatever came first. Who waited for nothing has saved nothing up."""
    large = await submitted(store, "greedy", 6, of=3)
    small = await submitted(store, "modest", 4)
    ours = await submitted(store, DEFAULT, 1)
    order = [(await taken(store)).job_id for _ in range(11)]
    assert sorted(order) == sorted(large + small + ours)
    assert [each for each in order if each in large] == large
    assert [each for each in order if each in small] == small
    assert {*order[:3]} == {large[0], small[0], ours[0]}
    assert order.index(small[-1]) <= 6


async def test_weights_divide_the_turns(store: JobStore) -> None:
    WEIGHTS.update(heavy=3, light=1)
    heavy, light = await submitted(store, "heavy", 12), await submitted(store, "light", 12)
    order = [(await taken(store)).job_id for _ in range(12)]
    assert (len({*order} & {*heavy}), len({*order} & {*light})) in ((9, 3), (8, 4))


async def test_jobs_of_a_tenant_that_is_passed_over_wait(store: JobStore) -> None:
    passed_over = ["greedy"]
    large = await submitted(store, "greedy", 2)
    [small] = await submitted(store, "modest")
    assert (await store.take(lambda: passed_over)).job_id == small
    taking = asyncio.create_task(store.take(lambda: passed_over))
    await submitted(store, "greedy")
    [next_one] = await submitted(store, DEFAULT)
    async with asyncio.timeout(PATIENCE_S):
        assert (await taking).job_id == next_one
        taking = asyncio.create_task(store.take(lambda: passed_over))
        await turns()
        passed_over.clear()
        store.look_again()
        assert (await taking).job_id == large[0]


async def test_a_job_of_a_tenant_is_cancelled_released_and_given_back_from_its_queue(store: JobStore) -> None:
    first, second, third = await submitted(store, "one", 3)
    assert await store.cancel(second) is State.QUEUED
    claim = await taken(store)
    await store.release(claim)
    assert (await taken(store)).job_id == third
    again = await taken(store)
    assert (again.job_id, again.attempt) == (first, 2)
    await store.append(again, 0, LINES[:1])
    await store.finish(again, b"{}")
    assert await store.cancel(first) is State.DONE
    assert await store.read(first, 0) is None


async def test_a_cancelled_job_is_never_taken_and_keeps_what_it_had(store: JobStore) -> None:
    queued, running = [await store.submit(await job(items(2))) for _ in range(2)]
    assert await store.cancel(queued) is State.QUEUED
    claim = await taken(store)
    assert claim.job_id == running
    await store.append(claim, 0, LINES[:1])
    keeping = asyncio.create_task(store.keep(claim))
    assert await store.cancel(running) is State.RUNNING
    with pytest.raises(ClaimLost):
        await keeping
    for attempt in (store.append(claim, 1, LINES[1:]), store.finish(claim, b"{}")):
        with pytest.raises(ClaimLost):
            await attempt
    snapshot = await store.read(running, 0)
    assert snapshot is not None
    assert (snapshot.state, snapshot.lines, snapshot.summary) == (State.CANCELLED, LINES[:1], None)
    assert await store.cancel(running) is State.CANCELLED
    assert await store.read(running, 0) is not None
    last = await store.submit(await job(items(1)))
    assert (await taken(store)).job_id == last


async def test_a_released_job_is_taken_again_with_what_it_has(store: JobStore) -> None:
    job_id = await store.submit(await job(items(2)))
    claim = await taken(store)
    await store.append(claim, 0, LINES[:1])
    await store.release(claim)
    again = await taken(store)
    assert (again.job_id, again.attempt, again.lines) == (job_id, 2, LINES[:1])
    with pytest.raises(ClaimLost):
        await store.append(claim, 1, LINES[1:])
    await store.append(again, 1, LINES[1:])
    await store.finish(again, b"{}")


async def test_jobs_go_when_their_time_is_over(open_store: Any) -> None:
    store: JobStore = await open_store(limits(ttl_s=0.05, unfinished_ttl_s=60, max_jobs=1))
    job_id = await store.submit(await job(items(2), key="a"))
    await finished(store, job_id)
    await gone(store, job_id)
    cancelled = await store.submit(await job(items(3), key="a"))
    assert cancelled != job_id
    await store.cancel(cancelled)
    await gone(store, cancelled)
    await store.submit(await job(items(1)))


async def test_an_abandoned_job_goes_when_its_time_is_over(open_store: Any) -> None:
    store: JobStore = await open_store(limits(ttl_s=60, unfinished_ttl_s=0.2, max_jobs=2))
    running, queued = [await store.submit(await job(items(2))) for _ in range(2)]
    claim = await taken(store)
    await store.append(claim, 0, LINES[:1])
    for job_id in (running, queued):
        await gone(store, job_id)
    await store.submit(await job(items(2)))
    with pytest.raises(ClaimLost):
        await store.finish(claim, b"{}")


async def test_a_job_that_has_ended_is_kept_for_its_own_time(open_store: Any) -> None:
    """Not for what is left of an unfinished one's."""
    store: JobStore = await open_store(limits(ttl_s=60, unfinished_ttl_s=0.5))
    done, cancelled, queued = [await store.submit(await job(items(2))) for _ in range(3)]
    await finished(store, done)
    await store.cancel(cancelled)
    await gone(store, queued)
    assert await store.read(done, 0) is not None
    assert await store.read(cancelled, 0) is not None


async def gone(store: JobStore, job_id: str, after: int = 0) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while await store.read(job_id, after) is not None:  # noqa: ASYNC110  # nobody is told when a time is over
            await asyncio.sleep(0.01)


async def test_who_waits_is_told(store: JobStore) -> None:
    job_id = await store.submit(await job(items(2)))
    claim = await taken(store)
    with store.board.waiting(job_id, for_news=True) as news, store.board.waiting(job_id) as end:
        await store.append(claim, 0, LINES)
        await news.wait()
        assert not end.is_set()
        await store.finish(claim, b"{}")
        await end.wait()
    with store.board.waiting(job_id) as end:
        await store.cancel(job_id)
        await end.wait()


async def test_a_dropped_job_is_gone(store: JobStore) -> None:
    job_id = await store.submit(await job(items(2)))
    await store.drop(await taken(store))
    if isinstance(store, MemoryJobStore):
        assert await store.read(job_id, 0) is None
        return
    with pytest.raises(Gone):
        await store.read(job_id, 0)
    assert await store.cancel(job_id) is State.CANCELLED
    assert await store.read(job_id, 0) is None


async def test_results_that_go_with_the_process_are_kept_for_those_who_come_at_once() -> None:
    async with memory_store() as store:
        before, collected, left = [await store.submit(await job(items(2 + n))) for n in range(3)]
        await finished(store, before)
        ending = asyncio.create_task(store.all_ended(timeout_s=PATIENCE_S))
        await turns()
        await finished(store, collected)
        await finished(store, left)
        await store.read(collected, 0)
        await store.read(left, 1_000)  # how far it is, not what came out
        await turns()
        assert not ending.done()
        await store.read(left, 0)
        await ending


@in_virtual_time
async def test_nobody_is_waited_for_without_end() -> None:
    async with memory_store() as store:
        job_id = await store.submit(await job(items(2)))
        ending = asyncio.create_task(store.all_ended(timeout_s=60.0))
        await asyncio.sleep(30.0)
        assert not ending.done()
        await finished(store, job_id)
        await ending
