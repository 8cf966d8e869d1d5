"""Jobs in Redis: other processes, a Redis that is away, and what it may have lost."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fairness import DEFAULT, TENANT
from service.errors import StateUnavailable
from service.jobs.job import ClaimLost, State
from service.jobs.redis_store import RedisJobStore
from tests.service.jobs.stores import items, job, limits, reached, redis_store, silence, silences_ms, taken
from tests.service.jobs.test_stores import LINES, finished, gone
from tests.service.redis_server import RedisServer, redis_cluster
from tests.waiting import turns, until

PREFIX = "rl1:{jobs}:"


async def test_a_silent_process_loses_its_job_to_another(redis_server: RedisServer) -> None:
    async with redis_store(redis_server.url) as silent, redis_store(redis_server.url) as other:
        job_id = await silent.submit(await job(items(2)))
        lost = await taken(silent)
        await silent.append(lost, 0, LINES[:1])
        silence(redis_server, job_id)
        claim = await taken(other)
        assert (claim.job_id, claim.attempt, claim.lines) == (job_id, 2, LINES[:1])
        keeping = asyncio.create_task(silent.keep(lost))
        for attempt in (silent.append(lost, 1, LINES[1:]), silent.finish(lost, b"{}")):
            with pytest.raises(ClaimLost):
                await attempt
        silent.board.ring_all()
        await other.append(claim, 1, LINES[1:])
        await other.finish(claim, b"{}")
        with pytest.raises(ClaimLost):
            await keeping
        snapshot = await silent.read(job_id, 0)
        assert snapshot is not None
        assert (snapshot.state, snapshot.lines) == (State.DONE, LINES)


async def test_a_process_that_gives_signs_keeps_its_job(redis_server: RedisServer) -> None:
    async with redis_store(redis_server.url) as working, redis_store(redis_server.url) as dead:
        kept, left = [await working.submit(await job(items(2))) for _ in range(2)]
        claim = await taken(working)
        keeping = asyncio.create_task(working.keep(claim))
        await taken(dead)
        silence(redis_server, kept, left)
        working.board.ring_all()
        await until(lambda: silences_ms(redis_server)[0] <= 60_000)
        async with redis_store(redis_server.url) as other:
            assert (await taken(other)).job_id == left
        assert await working.append(claim, 0, LINES) == 2
        await working.finish(claim, b"{}")
        keeping.cancel()


async def test_nobody_loses_a_job_by_an_outage_of_redis(start_redis: Callable[..., RedisServer]) -> None:
    """Redis counts the outage as silence of the process."""
    server = start_redis("--appendonly", "yes")
    async with redis_store(server.url) as working, redis_store(server.url) as other:
        job_id = await working.submit(await job(items(2)))
        claim = await taken(working)
        server.stop()
        await until(lambda: not working.is_reached and not other.is_reached)
        server.start()
        await reached(working)
        await reached(other)
        silence(server, job_id)
        next_id = await working.submit(await job(items(2)))
        assert (await taken(other)).job_id == next_id
        await working.append(claim, 0, LINES)
        await working.finish(claim, b"{}")


async def test_a_silent_process_is_found_behind_many_that_are_not(redis_server: RedisServer) -> None:
    """XAUTOCLAIM looks at ten entries for each one that is asked for."""
    async with redis_store(redis_server.url) as store, redis_store(redis_server.url) as other:
        job_ids = [await store.submit(await job(items(1))) for _ in range(40)]
        for job_id in job_ids:
            assert (await taken(store)).job_id == job_id
        silence(redis_server, job_ids[-1])
        assert (await taken(other)).job_id == job_ids[-1]


async def test_what_a_process_leaves_is_taken_at_once_and_counts_for_nothing(redis_server: RedisServer) -> None:
    async with redis_store(redis_server.url) as leaving, redis_store(redis_server.url) as other:
        job_ids = [await leaving.submit(await job(items(2))) for _ in range(2)]
        claims = [await taken(leaving) for _ in range(2)]
        await leaving.append(claims[0], 0, LINES[:1])
        taking = asyncio.create_task(taken(other))
        await leaving.leave()
        both = [await taking, await taken(other)]
        assert [(claim.job_id, claim.attempt) for claim in both] == [(job_id, 1) for job_id in job_ids]
        assert [claim.lines for claim in both] == [LINES[:1], []]
        with pytest.raises(ClaimLost):
            await leaving.append(claims[0], 1, LINES[1:])
        snapshot = await other.read(job_ids[0], 0)
        assert snapshot is not None
        assert snapshot.state is State.RUNNING


async def test_what_is_taken_while_we_end_is_left_too(redis_server: RedisServer) -> None:
    async with redis_store(redis_server.url) as leaving, redis_store(redis_server.url) as other:
        job_id = await leaving.submit(await job(items(2)))
        redis_server.freeze()
        taking = asyncio.create_task(leaving.take())
        await turns()
        taking.cancel()
        await turns()
        ended = taking.done()
        redis_server.thaw()
        assert not ended
        with pytest.raises(asyncio.CancelledError):
            await taking
        await leaving.leave()
        claim = await taken(other)
        assert (claim.job_id, claim.attempt) == (job_id, 1)


async def test_results_stored_twice_are_there_once(redis_server: RedisServer) -> None:
    """As when the reply is lost and the store asked again."""
    async with redis_store(redis_server.url) as store:
        job_id = await store.submit(await job(items(2)))
        claim = await taken(store)
        assert await store.append(claim, 0, LINES[:1]) == 1
        assert await store.append(claim, 0, LINES) == 2
        assert await store.append(claim, 0, LINES) == 2
        for _ in range(2):
            await store.finish(claim, b"{}")
        snapshot = await store.read(job_id, 0)
        assert snapshot is not None
        assert snapshot.lines == LINES


async def test_results_that_redis_has_lost_are_asked_for(redis_server: RedisServer) -> None:
    """As after a failover to a replica that lags behind."""
    async with redis_store(redis_server.url) as store:
        job_id = await store.submit(await job(items(2)))
        claim = await taken(store)
        await store.append(claim, 0, LINES[:1])
        redis_server.call("RPOP", f"{PREFIX}results:{job_id}")
        assert await store.append(claim, 1, LINES[1:]) == 0
        assert await store.append(claim, 0, LINES) == 2


@pytest.mark.parametrize("by_reading", [True, False])
@pytest.mark.parametrize("lost", ["job", "results"])
async def test_a_job_of_which_redis_has_lost_a_part_is_gone(
    redis_server: RedisServer, lost: str, by_reading: bool
) -> None:
    async with redis_store(redis_server.url, limits(max_jobs=1 if by_reading else 2)) as store:
        job_id = await store.submit(await job(items(2)))
        claim = await taken(store)
        await store.append(claim, 0, LINES)
        redis_server.call("DEL", f"{PREFIX}{lost}:{job_id}")
        if by_reading:
            assert await store.read(job_id, 0) is None
            with pytest.raises(ClaimLost):
                await store.finish(claim, b"{}")
        else:
            silence(redis_server, job_id)
        next_id = await store.submit(await job(items(2)))
        assert (await taken(store)).job_id == next_id


async def test_a_redis_that_was_away_is_used_again(start_redis: Any) -> None:
    server: RedisServer = start_redis("--appendonly", "yes", "--appendfsync", "always")
    async with redis_store(server.url) as store:
        job_id = await store.submit(await job(items(2)))
        claim = await taken(store)
        await store.append(claim, 0, LINES[:1])
        server.stop()
        for attempt in (store.submit(await job(items(1))), store.read(job_id, 0), store.cancel(job_id)):
            with pytest.raises(StateUnavailable):
                await attempt
        with store.board.waiting(job_id) as rung:
            server.start()
            await rung.wait()
        await store.append(claim, 1, LINES[1:])
        await store.finish(claim, b"{}")
        snapshot = await store.read(job_id, 0)
        assert snapshot is not None
        assert (snapshot.state, snapshot.lines) == (State.DONE, LINES)


async def test_a_redis_that_comes_late_is_used(start_redis: Any, redis_server: RedisServer) -> None:
    redis_server.stop()
    async with redis_store(redis_server.url, is_there=False) as store:
        with pytest.raises(StateUnavailable):
            await store.submit(await job(items(1)))
        taking = asyncio.create_task(taken(store))
        redis_server.start()
        await reached(store)
        job_id = await store.submit(await job(items(1)))
        assert (await taking).job_id == job_id


async def test_processes_tell_one_another(redis_server: RedisServer) -> None:
    async with redis_store(redis_server.url) as one, redis_store(redis_server.url) as other:
        taking = asyncio.create_task(taken(other))
        job_id = await one.submit(await job(items(2)))
        claim = await taking
        with one.board.waiting(job_id, for_news=True) as rung:
            await other.append(claim, 0, LINES)
            await rung.wait()
        keeping = asyncio.create_task(other.keep(claim))
        await one.cancel(job_id)
        with pytest.raises(ClaimLost):
            await keeping


async def test_what_is_over_leaves_nothing_behind(redis_server: RedisServer) -> None:
    async with redis_store(redis_server.url, limits(ttl_s=0.05)) as store:
        for key in ("a", "b", ""):
            await finished(store, await store.submit(await job(items(2), key=key)))
        for tenant in ("one", "other", DEFAULT):
            TENANT.set(tenant)
            cancelled = await store.submit(await job(items(2)))
            await store.cancel(cancelled)
            await gone(store, cancelled)
        await store._call("tend")
        await store.leave()
    assert {key.decode() for key in redis_server.call("KEYS", "*")} == {
        f"{PREFIX}{name}" for name in ("queue", "events", "sizes")
    }
    assert redis_server.call("HGETALL", f"{PREFIX}sizes") == {b"total": b"0"}
    assert redis_server.call("XLEN", f"{PREFIX}queue") == 0
    assert redis_server.call("XINFO", "CONSUMERS", f"{PREFIX}queue", "workers") == []


async def test_every_key_of_a_job_has_an_end(redis_server: RedisServer) -> None:
    """Also when no service is left to remove it."""
    async with redis_store(redis_server.url) as store:
        TENANT.set("one")
        await store.submit(await job(items(2), key="a"))
        await store.append(await taken(store), 0, LINES)
    for name in redis_server.call("KEYS", f"{PREFIX}*:*"):
        assert 60_000 < redis_server.call("PTTL", name) <= 120_000, name


@pytest.mark.chaos
async def test_a_cluster_is_a_redis_too(tmp_path: Any) -> None:
    def start() -> Any:
        return redis_cluster(tmp_path)

    with start() as nodes:
        url = "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        async with redis_store(url) as store, redis_store(url) as other:
            taking = asyncio.create_task(taken(other))
            job_id = await store.submit(await job(items(2), key="a"))
            claim = await taking
            with store.board.waiting(job_id, for_news=True) as rung:
                await other.append(claim, 0, LINES)
                await rung.wait()
            await other.finish(claim, b"{}")
            snapshot = await store.read(job_id, 1)
            assert snapshot is not None
            assert (snapshot.state, snapshot.lines) == (State.DONE, LINES[1:])


def test_an_url_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="Redis URL"):
        RedisJobStore("http://x", limits(), counters=None, claim_idle_s=1)  # type: ignore[arg-type]  # not looked at


async def begun(store: RedisJobStore, *, results: int) -> str:
    """A job that the store has taken, with so many results."""
    job_id = await store.submit(await job(items(2)))
    claim = await taken(store)
    assert claim.job_id == job_id
    if results:
        await store.append(claim, 0, LINES[:results])
    return job_id


async def test_a_job_with_results_is_left_to_its_edition(redis_server: RedisServer) -> None:
    """Its process died, or handed it back: others take what comes after it, and its own edition finds it."""
    url = redis_server.url
    async with redis_store(url, edition="new") as new, redis_store(url, edition="old") as old:
        async with redis_store(url, edition="old") as dying, redis_store(url, edition="old") as ending:
            dead, handed_back = await begun(dying, results=1), await begun(ending, results=1)
            silence(redis_server, dead)
            await ending.leave()
        for _ in range(3):  # it is passed over again and again
            after = await new.submit(await job(items(2)))
            assert (await taken(new)).job_id == after
        claims = [await taken(old) for _ in range(2)]
        assert {claim.job_id for claim in claims} == {dead, handed_back}
        assert [(claim.lines, claim.is_foreign) for claim in claims] == [(LINES[:1], False)] * 2
        for claim in claims:
            await old.append(claim, 1, LINES[1:])
            await old.finish(claim, b"{}")
        assert redis_server.call("XPENDING", f"{PREFIX}queue", "workers")["pending"] == 3  # those of `new`


async def test_a_job_without_results_is_taken_by_any_edition(redis_server: RedisServer) -> None:
    url = redis_server.url
    async with redis_store(url, edition="new") as new, redis_store(url, edition="old") as old:
        job_id = await begun(old, results=0)
        silence(redis_server, job_id)
        claim = await taken(new)
        assert (claim.job_id, claim.is_foreign) == (job_id, False)
        await new.append(claim, 0, LINES[:1])
        silence(redis_server, job_id)
        later = await old.submit(await job(items(2)))
        assert (await taken(old)).job_id == later  # the job is the new edition's now


@pytest.mark.chaos
async def test_a_job_whose_edition_is_gone_is_taken_as_a_foreign_one_after_a_while(redis_server: RedisServer) -> None:
    url = redis_server.url
    async with redis_store(url, edition="new", edition_wait_s=0.001) as new, redis_store(url, edition="old") as old:
        dead = await begun(old, results=1)
        silence(redis_server, dead)
        claim = await taken(new)
        assert (claim.job_id, claim.lines, claim.is_foreign) == (dead, LINES[:1], True)
        await new.append(claim, 1, LINES[1:])
        await new.finish(claim, b"{}")
        assert (await finished_state(new, dead)) is State.DONE


async def finished_state(store: RedisJobStore, job_id: str) -> State:
    snapshot = await store.read(job_id, 0)
    assert snapshot is not None
    return snapshot.state


async def test_a_job_of_a_release_that_named_no_edition_is_taken(redis_server: RedisServer) -> None:
    async with redis_store(redis_server.url, edition="new") as new, redis_store(redis_server.url, edition="old") as old:
        job_id = await begun(old, results=1)
        redis_server.call("HDEL", f"{PREFIX}job:{job_id}", "edition")
        silence(redis_server, job_id)
        claim = await taken(new)
        assert (claim.job_id, claim.is_foreign) == (job_id, False)
