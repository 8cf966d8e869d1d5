"""Jobs that somebody has overwritten in Redis: their owner is told once and for all, no item gets a score that it has not, and
nobody else waits.
"""

import asyncio
import json
from typing import Any

import pytest

from service.errors import Gone
from service.jobs.job import Snapshot, State
from service.jobs.redis_store import RedisJobStore
from tests.service.jobs.stores import JSON, items, job, redis_store, silence, taken
from tests.service.jobs.test_runner import Counting, ended, expected, running, scores
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S

PREFIX = "rl1:{jobs}:"
COUNT = 30


async def done(store: RedisJobStore) -> tuple[str, Snapshot]:
    """A job that has ended."""
    async with running(store, Counting()):
        job_id = await store.submit(await job(items(COUNT)))
        return job_id, await ended(store, job_id)


def overwrite(server: RedisServer, job_id: str, *positions: int, by: bytes = b"foreign bytes") -> None:
    for position in positions:
        server.call("LSET", f"{PREFIX}results:{job_id}", position, by)


async def read(store: RedisJobStore, job_id: str, after: int = 0) -> Snapshot:
    snapshot = await store.read(job_id, after)
    assert snapshot is not None
    return snapshot


@pytest.mark.parametrize("by", [b"", b"foreign bytes", b'\x00\x00\x00\x00{"index":0,"status":"ok","score":1}'])
async def test_a_damaged_result_of_a_job_that_has_ended_is_failed(redis_server: RedisServer, by: bytes) -> None:
    async with redis_store(redis_server.url) as store:
        job_id, before = await done(store)
        overwrite(redis_server, job_id, 3, 17, by=by)
        after = await read(store, job_id)
        lost = [json.loads(before.lines[position])["index"] for position in (3, 17)]
        found: list[JSON] = [json.loads(line) for line in after.lines]
        assert [line for place, line in enumerate(after.lines) if place not in (3, 17)] == [
            line for place, line in enumerate(before.lines) if place not in (3, 17)
        ]
        assert sorted(found[place]["index"] for place in (3, 17)) == sorted(lost)
        for place in (3, 17):
            assert (found[place]["status"], found[place]["score"], found[place]["reason"]) == (
                "failed",
                None,
                "result_damaged",
            )
        assert (after.state, after.done) == (State.DONE, COUNT)
        summary = json.loads(after.summary or b"")
        assert (summary["items"], summary["failed"], summary["ok"]) == (COUNT, 2, COUNT - 2)
        assert (await read(store, job_id, after=10)).lines == after.lines[10:]
        assert (await read(store, job_id, after=18)).lines == before.lines[18:]
        assert await store.cancel(job_id) is State.DONE
        assert await store.read(job_id, 0) is None


async def test_a_damaged_result_of_a_job_that_is_taken_over_is_judged_again(redis_server: RedisServer) -> None:
    silent, verifier = Counting(holds=["r28", "r29"]), Counting()
    async with redis_store(redis_server.url) as other:
        async with redis_store(redis_server.url) as store, running(store, silent):
            job_id = await store.submit(await job(items(COUNT)))
            before = await ended(store, job_id, done=28)
            overwrite(redis_server, job_id, 2, 9)
            running_now = await read(other, job_id)
            assert (running_now.state, running_now.done) == (State.RUNNING, 2)
            assert running_now.lines == before.lines[:2]
            assert (await read(other, job_id, after=5)).lines == []
        async with running(other, verifier):
            whole = await ended(other, job_id)
    lost = {json.loads(before.lines[place])["index"] for place in (2, 9)}
    assert sorted(verifier.asked) == sorted(f"r{index}" for index in {*lost, 28, 29})
    assert scores(whole) == expected(COUNT)
    kept = [place for place in range(28) if place not in (2, 9)]
    assert [whole.lines[place] for place in kept] == [before.lines[place] for place in kept]
    assert json.loads(whole.summary or b"")["ok"] == COUNT


@pytest.mark.parametrize(
    "summary", [b"", b"{", b"7", b'{"items":30,"ok":31}', b'{"items":3,"ok":3}', b"\xff", b"[" * 5000]
)
async def test_a_damaged_summary_is_counted_again(redis_server: RedisServer, summary: bytes) -> None:
    async with redis_store(redis_server.url) as store:
        job_id, before = await done(store)
        redis_server.call("HSET", f"{PREFIX}job:{job_id}", "summary", summary)
        after = await read(store, job_id, after=COUNT)
    whole, counted = json.loads(before.summary or b""), json.loads(after.summary or b"")
    assert {name: counted[name] for name in ("items", "ok", "invalid", "failed", "cached")} == {
        name: whole[name] for name in ("items", "ok", "invalid", "failed", "cached")
    }
    assert (after.lines, after.done) == ([], COUNT)


DAMAGE: dict[str, Any] = {
    "state": ("HSET", "job", "state", "foreign"),
    "items": ("HSET", "job", "items", "many"),
    "done": ("HSET", "job", "done", "-"),
    "another type": ("SET", "job", "foreign"),
    "results of another type": ("SET", "results", "foreign"),
}


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.parametrize("has_ended", [True, False])
async def test_a_damaged_record_is_gone_and_its_owner_deletes_it(
    redis_server: RedisServer, name: str, has_ended: bool
) -> None:
    command, part, *arguments = DAMAGE[name]
    async with redis_store(redis_server.url) as store:
        job_id = (await done(store))[0] if has_ended else await store.submit(await job(items(2)))
        redis_server.call(command, f"{PREFIX}{part}:{job_id}", *arguments)
        if name == "done":  # it is taken for one of which a part was evicted
            assert await store.read(job_id, 0) is None
            return
        for _ in range(2):
            with pytest.raises(Gone, match="DELETE it"):
                await store.read(job_id, 0)
        assert await store.cancel(job_id) in (State.DONE, State.CANCELLED, State.QUEUED)
        assert await store.cancel(job_id) in (None, State.CANCELLED)
        following = await store.submit(await job(items(2)))
        assert (await taken(store)).job_id == following
        if has_ended:
            assert await store.read(job_id, 0) is None


UNSOUND: dict[str, Any] = {
    "packed": ("HSET", "job", "packed", b"\x28\xb5\x2f\xfdnothing"),
    "digest": ("HSET", "job", "digest", b"x" * 32),
    "size": ("HSET", "job", "size", b"x"),
    "items": ("HSET", "job", "items", b"x"),
    "another count": ("HSET", "job", "items", b"3"),
    "weight": ("HSET", "job", "weight", b"x"),
    "attempts": ("HSET", "job", "attempts", b"x"),
    "no request": ("HDEL", "job", "packed"),
    "another type": ("SET", "job", "foreign"),
}


@pytest.mark.parametrize("name", UNSOUND)
async def test_a_damaged_job_ends_and_keeps_no_other_waiting(redis_server: RedisServer, name: str) -> None:
    command, part, *arguments = UNSOUND[name]
    async with redis_store(redis_server.url) as store:
        job_id = await store.submit(await job(items(2), key="k"))
        redis_server.call(command, f"{PREFIX}{part}:{job_id}", *arguments)
        other = await store.submit(await job(items(COUNT)))
        async with running(store, Counting()):
            assert scores(await ended(store, other)) == expected(COUNT)
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    try:
                        assert (await store.read(job_id, 0)) is not None
                    except Gone:
                        break
                    await asyncio.sleep(0)
        if name != "another type":
            again = await store.submit(await job(items(2), key="k"))
            assert again != job_id
        else:
            assert await store.cancel(job_id) is State.CANCELLED
        assert await store.read(job_id, 0) is None


async def test_a_job_that_is_silent_and_damaged_is_not_taken_again(redis_server: RedisServer) -> None:
    async with redis_store(redis_server.url) as store:
        job_id = await store.submit(await job(items(2)))
        await taken(store)
        redis_server.call("HSET", f"{PREFIX}job:{job_id}", "started", "x")
        silence(redis_server, job_id)
        following = await store.submit(await job(items(2)))
        assert (await taken(store)).job_id == following
        with pytest.raises(Gone):
            await store.read(job_id, 0)
