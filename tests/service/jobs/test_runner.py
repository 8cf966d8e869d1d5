"""Jobs seen through: whole, once, within bounds, and by whoever is left."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fairness import TENANT
from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.jobs.job import MAX_ATTEMPTS, Claim, JobCounters, JobStore, Snapshot, State
from service.jobs.memory_store import MemoryJobStore
from service.jobs.runner import Runner
from service.limits.admission import Admission
from service.observe.metrics import Metrics
from service.recipes.book import Book
from service.scoring.engine import Engine
from tests.service.jobs.stores import JSON, items, job, limits, memory_store, reached, redis_store, silence, taken
from tests.service.redis_server import RedisServer
from tests.virtual_time import in_virtual_time
from tests.waiting import PATIENCE_S, turns
from verifiers.base import Example, Item, Params, Unavailable, Verdict, Verifier
from verifiers.registry import Entry, Registry


class Reference(Params):
    reference: str = ""


class Counting(Verifier[Reference]):
    """Right when the response is the reference; counts what it is asked, and holds back what `holds` until its gate opens."""

    name, version, summary, params = "counting", "1", "test", Reference
    concurrency, chunk_items = 64, 1

    def __init__(self, holds: Sequence[str] = ()) -> None:
        self.asked: list[str] = []
        self.holds = holds
        self.held = asyncio.Event()
        self.gate = asyncio.Event()
        self.stopped = 0
        self._news = asyncio.Event()

    async def until_asked(self, count: int) -> None:
        while len(self.asked) < count:
            self._news.clear()
            await self._news.wait()

    async def until_stopped(self) -> None:
        while not self.stopped:
            self._news.clear()
            await self._news.wait()

    async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
        [item] = items
        self.asked.append(item.response)
        self._news.set()
        if item.response in self.holds:
            self.held.set()
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.stopped += 1
                self._news.set()
                raise
        if item.response == "down":
            raise Unavailable("judge_down", "no judge answers")
        return [Verdict.correct() if item.response == item.params.reference else Verdict.wrong()]


def admission(max_items: int = 10_000) -> Admission:
    return Admission(max_items, 10_000_000)


@asynccontextmanager
async def running(
    store: JobStore,
    verifier: Counting,
    admitted: Admission | None = None,
    *,
    max_under_way: int = 4,
    max_deadline_s: float = 60.0,
) -> AsyncIterator[Runner]:
    """One process as far as jobs are concerned: an engine and a runner; leaving the block is its SIGTERM."""
    registry = Registry({verifier.name: Entry(verifier, [Example("", {}, 1.0, "", "")], "test")})
    engine = Engine(
        registry,
        VerdictCache(MemoryCache(10_000_000)),
        Metrics("test"),
        workers=2,
        item_deadline_s=PATIENCE_S,
        max_response_bytes=1000,
        book=Book({}, [], [], {}),
    )
    async with (
        engine,
        Runner(
            store,
            engine,
            admitted or admission(),
            JobCounters(),
            max_under_way=max_under_way,
            max_deadline_s=max_deadline_s,
        ) as runner,
    ):
        yield runner


async def ended(store: JobStore, job_id: str, *, done: int | None = None) -> Snapshot:
    """The job when it has ended, or has as many results."""
    async with asyncio.timeout(PATIENCE_S):
        with store.board.waiting(job_id, for_news=done is not None) as rung:
            while True:
                rung.clear()
                snapshot = await store.read(job_id, 0)
                assert snapshot is not None
                if snapshot.state.is_last or snapshot.done == done:
                    return snapshot
                await rung.wait()


def results(snapshot: Snapshot) -> list[JSON]:
    """In the order of the items, each exactly once."""
    found = sorted((json.loads(line) for line in snapshot.lines), key=lambda result: int(result["index"]))
    assert [result["index"] for result in found] == list(range(len(found)))
    return found


def scores(snapshot: Snapshot) -> list[float | None]:
    return [result["score"] for result in results(snapshot)]


def expected(count: int) -> list[float]:
    return [float(n % 3 != 0) for n in range(count)]


async def test_every_item_is_judged_once_and_keeps_its_id() -> None:
    verifier = Counting()
    batch = items(1200)
    batch[700]["id"] = "mine"
    batch[800]["reference"] = {"no": "text"}
    batch.append({"verifier": "counting", "response": "down"})
    async with memory_store() as store, running(store, verifier):
        snapshot = await ended(store, await store.submit(await job(batch)))
    found = results(snapshot)
    assert [result["id"] for result in found] == [n if n != 700 else "mine" for n in range(1201)]
    assert [result["score"] for n, result in enumerate(found[:1200]) if n != 800] == [
        score for n, score in enumerate(expected(1200)) if n != 800
    ]
    assert [(found[n]["status"], found[n]["score"], found[n]["reason"]) for n in (800, 1200)] == [
        ("invalid", None, "bad_reference"),
        ("failed", None, "judge_down"),
    ]
    assert snapshot.summary is not None
    summary = json.loads(snapshot.summary)
    assert summary.pop("elapsed_ms") > 0
    assert summary == {"items": 1201, "ok": 1199, "invalid": 1, "failed": 1, "cached": 0, "deduplicated": 0}
    assert len(verifier.asked) == len(set(verifier.asked)) == 1200


async def test_a_job_without_items_is_done() -> None:
    async with memory_store() as store, running(store, Counting()):
        snapshot = await ended(store, await store.submit(await job([])))
    assert (snapshot.state, snapshot.items, snapshot.done) == (State.DONE, 0, 0)
    assert json.loads(snapshot.summary or b"")["items"] == 0


async def test_equal_items_share_their_verdict() -> None:
    verifier = Counting()
    async with memory_store() as store, running(store, verifier):
        snapshot = await ended(store, await store.submit(await job(items(1) * 700)))
    assert snapshot.done == 700
    assert verifier.asked == ["r0"]
    summary = json.loads(snapshot.summary or b"")
    assert summary["deduplicated"] + summary["cached"] == 699


async def test_results_are_there_before_the_last_one_is() -> None:
    verifier = Counting(holds=["r5"])
    async with memory_store() as store, running(store, verifier):
        job_id = await store.submit(await job(items(40)))
        partial = await ended(store, job_id, done=39)
        assert partial.state is State.RUNNING
        assert partial.summary is None
        verifier.gate.set()
        whole = await ended(store, job_id)
    assert whole.lines[:39] == partial.lines
    assert scores(whole) == expected(40)


async def test_a_cancelled_job_is_stopped() -> None:
    verifier = Counting(holds=[f"r{n}" for n in range(600)])
    async with memory_store() as store, running(store, verifier) as runner:
        job_id = await store.submit(await job(items(600)))
        await verifier.held.wait()
        await store.cancel(job_id)
        second = await store.submit(await job([{"verifier": "counting", "response": "x", "reference": "x"}]))
        assert scores(await ended(store, second)) == [1.0]
        verifier.gate.set()
        assert runner.under_way == 0
    assert verifier.stopped > 0
    assert len(verifier.asked) < 600


async def test_what_others_have_stored_is_not_judged_again(redis_server: RedisServer) -> None:
    first, second = Counting(holds=["r7"]), Counting()
    async with redis_store(redis_server.url) as dying, redis_store(redis_server.url) as other:
        job_id = await dying.submit(await job(items(60)))
        async with running(dying, first):
            before = await ended(dying, job_id, done=59)
            dying.leave = stay  # type: ignore[method-assign]  # it is killed, and gives nothing back
        assert before.state is State.RUNNING
        silence(redis_server, job_id)
        async with running(other, second):
            whole = await ended(other, job_id)
    assert whole.lines[:59] == before.lines
    assert second.asked == ["r7"]
    assert scores(whole) == expected(60)
    summary = json.loads(whole.summary or b"")
    assert (summary["items"], summary["ok"]) == (60, 60)


async def stay() -> None:
    pass


async def test_what_is_handed_back_is_finished_by_another(redis_server: RedisServer) -> None:
    """And of what the first one's end has stopped nothing is stored."""
    first, second = Counting(holds=["r7", "r8"]), Counting()
    async with redis_store(redis_server.url) as one, redis_store(redis_server.url) as other:
        job_id = await one.submit(await job(items(60)))
        async with running(one, first):
            await ended(one, job_id, done=58)
        snapshot = await other.read(job_id, 0)
        assert snapshot is not None
        assert (snapshot.state, snapshot.done) == (State.QUEUED, 58)
        async with running(other, second):
            assert scores(await ended(other, job_id)) == expected(60)
    assert first.stopped == 2
    assert sorted(second.asked) == ["r7", "r8"]


async def test_a_job_that_kills_is_begun_only_so_often(redis_server: RedisServer) -> None:
    verifier = Counting()
    batch = items(5)
    batch[1]["id"] = "mine"
    async with redis_store(redis_server.url) as store:
        job_id = await store.submit(await job(batch))
        for attempt in range(MAX_ATTEMPTS):
            async with redis_store(redis_server.url) as killed:
                claim = await taken(killed)
                assert claim.attempt == attempt + 1
                if not attempt:
                    await killed.append(claim, 0, [b'{"index":3,"id":3,"status":"ok","score":1.0,"cached":false}'])
            silence(redis_server, job_id)
        async with running(store, verifier):
            snapshot = await ended(store, job_id)
    found = results(snapshot)
    assert [(result["id"], result["status"], result["score"]) for result in found] == [
        (0, "failed", None),
        ("mine", "failed", None),
        (2, "failed", None),
        (3, "ok", 1.0),
        (4, "failed", None),
    ]
    assert {result["reason"] for result in found if result["status"] == "failed"} == {"job_abandoned"}
    assert json.loads(snapshot.summary or b"")["failed"] == 4
    assert verifier.asked == []


@pytest.mark.parametrize("named", [True, False])
@in_virtual_time
async def test_what_is_not_judged_in_time_failed(named: bool) -> None:
    verifier = Counting(holds=["r1"])
    more: JSON = {"deadline_s": 0.3} if named else {}
    async with memory_store() as store, running(store, verifier, max_deadline_s=60 if named else 0.3):
        snapshot = await ended(store, await store.submit(await job(items(3), **more)))
    assert [result["reason"] for result in results(snapshot)] == ["wrong_answer", "deadline", "correct"]
    assert snapshot.state is State.DONE


async def test_a_job_waits_for_room_and_is_not_refused() -> None:
    verifier, admitted = Counting(), admission(max_items=512)
    async with memory_store() as store, running(store, verifier, admitted):
        with admitted.enter() as permit:
            permit.add(items=100)
            job_id = await store.submit(await job(items(1300)))
            small = await store.submit(await job([{"verifier": "counting", "response": "x", "reference": "x"}]))
            await ended(store, small)
            assert "r0" not in verifier.asked
        assert scores(await ended(store, job_id)) == expected(1300)
    assert (admitted.items, admitted.bytes, admitted.requests) == (0, 0, 0)


@in_virtual_time
async def test_what_finds_no_room_in_time_failed() -> None:
    verifier, admitted = Counting(), admission(max_items=10)
    async with memory_store() as store, running(store, verifier, admitted):
        with admitted.enter() as permit:
            permit.add(items=10)
            snapshot = await ended(store, await store.submit(await job(items(3), deadline_s=0.1)))
    assert {(result["status"], result["reason"]) for result in results(snapshot)} == {("failed", "deadline")}
    assert verifier.asked == []


async def test_only_so_many_run_at_once() -> None:
    verifier = Counting(holds=["r0"])
    async with memory_store() as store, running(store, verifier, max_under_way=2) as runner:
        job_ids = [await store.submit(await job(items(1), cache="off")) for _ in range(3)]
        await verifier.until_asked(2)
        third = await store.read(job_ids[2], 0)
        assert third is not None
        assert third.state is State.QUEUED
        assert runner.under_way == 2
        verifier.gate.set()
        for job_id in job_ids:
            assert scores(await ended(store, job_id)) == [0.0]


class Stumbling(MemoryJobStore):
    """Raises what nobody expects, the first few times."""

    stumbles = 2

    async def append(self, claim: Claim, offset: int, lines: Sequence[bytes]) -> int:
        if self.stumbles:
            self.stumbles -= 1
            raise ZeroDivisionError("a bug")
        return await super().append(claim, offset, lines)


async def test_a_bug_of_ours_costs_an_attempt_and_no_item() -> None:
    store = Stumbling(limits(), JobCounters())
    async with running(store, Counting()):
        snapshot = await ended(store, await store.submit(await job(items(50))))
    assert scores(snapshot) == expected(50)
    await store.close()


async def test_results_that_come_while_redis_is_away_are_stored_later(start_redis: Any) -> None:
    server: RedisServer = start_redis("--appendonly", "yes", "--appendfsync", "always")
    verifier = Counting(holds=["r9"])
    async with redis_store(server.url) as store, running(store, verifier):
        job_id = await store.submit(await job(items(30)))
        before = await ended(store, job_id, done=29)
        server.stop()
        verifier.gate.set()
        await verifier.until_asked(30)
        with store.board.waiting(job_id) as rung:
            server.start()
            await rung.wait()
        whole = await ended(store, job_id)
    assert whole.lines[:29] == before.lines
    assert scores(whole) == expected(30)
    assert len(verifier.asked) == 30


async def test_a_job_that_redis_has_forgotten_is_let_go(redis_server: RedisServer) -> None:
    verifier = Counting(holds=["r9"])
    async with redis_store(redis_server.url) as store, running(store, verifier):
        job_id = await store.submit(await job(items(30)))
        await ended(store, job_id, done=29)
        redis_server.kill()
        redis_server.start()
        await verifier.until_stopped()
        await reached(store)
        assert await store.read(job_id, 0) is None
        again = await store.submit(await job(items(5)))
        assert scores(await ended(store, again)) == expected(5)


def _held(number: int) -> JSON:
    """An item whose verdict waits for the gate, and is no other's."""
    return {"verifier": "counting", "response": "greedy", "reference": f"{number}"}


async def test_the_last_place_is_not_for_a_tenant_that_runs_jobs_already() -> None:
    verifier = Counting(holds=["greedy"])
    async with memory_store() as store, running(store, verifier, max_under_way=4) as runner:
        TENANT.set("greedy")
        waiting = [await store.submit(await job([_held(n)])) for n in range(6)]
        await verifier.until_asked(3)
        await turns()
        assert runner.under_way == 3
        TENANT.set("modest")
        assert (await ended(store, await store.submit(await job(items(1))))).state is State.DONE
        assert runner.under_way == 3
        verifier.gate.set()
        for job_id in waiting:
            assert (await ended(store, job_id)).state is State.DONE
