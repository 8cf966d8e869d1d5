"""The engine's promises, with small verifiers that count, wait, fail and lie."""

import asyncio
import contextlib
import gc
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairness import TENANT
from service.cache.memory_cache import MemoryCache
from service.cache.redis_cache import RedisCache
from service.cache.verdict_cache import VerdictCache
from service.limits.budgets import Budget, Budgets
from service.observe.metrics import Metrics
from service.recipes import book as recipes
from service.scoring.engine import Engine, Scored
from service.scoring.pending_verdict import PendingVerdict
from service.tenant import RUN
from service.usage.ledger import Ledger
from service.wire import BatchRequest, CacheMode, Message, Result, ScoreItem, Summary
from tests.service.redis_server import RedisServer
from tests.virtual_time import in_virtual_time
from tests.waiting import PATIENCE_S, turns, until
from verifiers.base import Example, InvalidItem, Item, Params, Unavailable, Verdict, Verifier
from verifiers.pace import STEP_S
from verifiers.registry import Entry, Registry


class Reference(Params):
    reference: str = ""


class Counting(Verifier[Reference]):
    """Right when the response is the reference; counts what it is asked."""

    name, version, summary, params = "counting", "1", "test", Reference

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.calls = 0
        self.hundredth = asyncio.Event()

    async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
        self.calls += 1
        self.asked += [item.response for item in items]
        if len(self.asked) >= 100:
            self.hundredth.set()
        return [Verdict.correct() if item.response == item.params.reference else Verdict.wrong() for item in items]


class Gated(Counting):
    """Gives no verdict until its gate opens; remembers being stopped."""

    name = "gated"
    concurrency = 4

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.entered = asyncio.Event()
        self.stopped = 0

    async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
        self.entered.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return await super().score(items)


class Moody(Counting):
    """The response says what happens."""

    name = "moody"

    async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
        for item in items:
            if item.response == "raise":
                raise ZeroDivisionError(item.response)
            if item.response == "down":
                raise Unavailable("judge_down", "no judge answers")
            if item.response == "mend":
                raise InvalidItem("bad_reference", "mend it")
        if any(item.response == "short" for item in items):
            return []
        return await super().score(items)


class Piecemeal(Counting):
    """Delivers some verdicts, then hangs on `hang`."""

    name = "piecemeal"
    concurrency = None

    async def score_each(self, items: Sequence[Item[Reference]], deliver: Any) -> None:
        for position, item in enumerate(items):
            if item.response == "hang":
                await asyncio.Event().wait()
            deliver(position, Verdict.correct())


class Bounded(Piecemeal):
    name = "bounded"
    bounds_itself = True


class Rolling(Counting):
    name = "rolling"
    deterministic = False


@asynccontextmanager
async def engine_of(
    *verifiers: Verifier[Any],
    item_deadline_s: float = PATIENCE_S,
    clock: Callable[[], float] = perf_counter,
    cache: VerdictCache | None = None,
    metrics: Metrics | None = None,
    workers: int = 2,
    is_backed_up: Callable[[], bool] = lambda: False,
    is_starting: Callable[[], bool] = lambda: False,
    usage: Ledger | None = None,
) -> AsyncIterator[Engine]:
    entries = {verifier.name: Entry(verifier, [Example("", {}, 1.0, "", "")], "test") for verifier in verifiers}
    engine = Engine(
        registry := Registry(entries),
        cache or VerdictCache(MemoryCache(10_000_000)),
        metrics or Metrics("test"),
        workers=workers,
        is_backed_up=is_backed_up,
        is_starting=is_starting,
        item_deadline_s=item_deadline_s,
        max_response_bytes=1000,
        book=recipes.load(registry),
        clock=clock,
        usage=usage,
    )
    async with engine:
        yield engine


@asynccontextmanager
async def cache_over(server: RedisServer) -> AsyncIterator[VerdictCache]:
    """A memory of its own, and what others left in Redis."""
    cache = VerdictCache(MemoryCache(10_000_000), RedisCache(server.url, lookup_timeout_s=PATIENCE_S))
    await cache.start()
    try:
        yield cache
    finally:
        await cache.close()


def item(verifier: str | None, response: str, reference: str = "yes", **more: Any) -> ScoreItem:
    return ScoreItem(response, verifier, msgspec.Raw(msgspec.json.encode(reference)), **more)


def batch(
    *items: ScoreItem, cache: CacheMode = "use", explain: bool = False, deadline_s: float = PATIENCE_S
) -> BatchRequest:
    return BatchRequest(items, {}, cache, explain, asyncio.get_running_loop().time() + deadline_s)


def reasons(scored: Scored) -> list[str]:
    return [result.reason for result in scored.results]


async def test_results_stand_in_the_order_of_their_items() -> None:
    async with engine_of(Counting(), Moody()) as engine:
        names = ["counting", "moody", "absent"] * 200
        scored = await engine.score(batch(*(item(name, f"r{n}", f"r{n - n % 2}") for n, name in enumerate(names))))
    assert [result.id for result in scored.results] == list(range(600))
    for n, result in enumerate(scored.results):
        if names[n] == "absent":
            assert (result.status, result.reason, result.score) == ("invalid", "unknown_verifier", None)
        else:
            assert result.score == (1.0 if n % 2 == 0 else 0.0)


async def test_equal_items_are_judged_once_and_all_answered() -> None:
    counting = Counting()
    async with engine_of(counting) as engine:
        scored = await engine.score(batch(*[item("counting", "yes")] * 500))
    assert counting.asked == ["yes"]
    assert (scored.summary.items, scored.summary.ok) == (500, 500)
    assert scored.summary.cached + scored.summary.deduplicated == 499


async def test_what_has_been_judged_is_freed_without_the_garbage_collector() -> None:
    def pending() -> list[object]:
        return [each for each in gc.get_objects() if type(each) is PendingVerdict]

    async with engine_of(Counting()) as engine:
        gc.disable()
        try:
            earlier = pending()  # what other tests have left to the collector
            await engine.score(batch(*(item("counting", f"r{n}") for n in range(100))))
            await turns()
            left = pending()
        finally:
            gc.enable()
    assert {*map(id, left)} <= {*map(id, earlier)}


async def test_a_verdict_that_does_not_last_is_not_remembered() -> None:
    class Passing(Counting):
        async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
            return [msgspec.structs.replace(verdict, is_lasting=False) for verdict in await super().score(items)]

    passing = Passing()
    async with engine_of(passing) as engine:
        scored = [await engine.score(batch(item("counting", "yes"))) for _ in range(2)]
    assert [each.results[0].cached for each in scored] == [False, False]
    assert passing.asked == ["yes", "yes"]


async def test_a_second_request_is_answered_from_memory() -> None:
    counting = Counting()
    async with engine_of(counting) as engine:
        first = await engine.score(batch(item("counting", "yes")))
        second = await engine.score(batch(item("counting", "yes"), item("counting", "no")))
    assert [result.cached for result in second.results] == [True, False]
    assert counting.asked == ["yes", "no"]
    assert msgspec.structs.replace(second.results[0], cached=False, elapsed_ms=0) == msgspec.structs.replace(
        first.results[0], elapsed_ms=0
    )


async def test_equal_items_of_two_requests_share_one_flight() -> None:
    gated = Gated()
    async with engine_of(gated) as engine:
        first = asyncio.create_task(engine.score(batch(item("gated", "yes"))))
        await gated.entered.wait()
        second = asyncio.create_task(engine.score(batch(item("gated", "yes"))))
        await turns()
        gated.gate.set()
        await asyncio.gather(first, second)
    assert gated.asked == ["yes"]
    assert second.result().summary.deduplicated == 1


async def test_what_one_tenant_may_not_have_is_not_refused_to_another() -> None:
    class Paid(Gated):
        name = "paid"
        bounds_itself = True

        async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
            verdicts = await super().score(items)
            if TENANT.get() == "poor":
                raise Unavailable("budget_exhausted", "the tenant 'poor' has used its budget")
            return verdicts

    paid = Paid()
    async with engine_of(paid) as engine:

        async def score(tenant: str) -> Scored:
            TENANT.set(tenant)
            return await engine.score(batch(item("paid", "yes")))

        poor = asyncio.create_task(score("poor"))
        await paid.entered.wait()
        rich = asyncio.create_task(score("rich"))
        await turns()
        paid.gate.set()
        assert reasons(await poor) == ["budget_exhausted"]
        assert reasons(await rich) == ["correct"]


async def test_the_first_caller_may_leave_without_costing_the_second_its_verdict() -> None:
    gated = Gated()
    async with engine_of(gated) as engine:
        first = asyncio.create_task(engine.score(batch(item("gated", "yes"))))
        await gated.entered.wait()
        second = asyncio.create_task(engine.score(batch(item("gated", "yes"))))
        await turns()
        first.cancel()
        await asyncio.wait([first])
        gated.gate.set()
        assert reasons(await second) == ["correct"]
    assert gated.stopped == 0


@in_virtual_time
async def test_it_says_how_many_items_wait_for_each_verifier() -> None:
    gated = Gated()
    async with engine_of(gated, Counting(), clock=asyncio.get_running_loop().time) as engine:
        items = [item("gated", f"r{n}") for n in range(299)] + [item("gated", "same")] * 10
        scoring = asyncio.create_task(engine.score(batch(*items)))
        await gated.entered.wait()
        await turns()
        under_way = gated.concurrency * gated.chunk_items
        assert engine.queued() == {"gated": 300 - under_way, "counting": 0}
        assert engine.queued_s()["gated"] > engine.queued_s()["counting"] == 0
        gated.gate.set()
        await scoring
        assert engine.queued() == {"gated": 0, "counting": 0}


async def test_it_says_before_there_is_a_response_whether_one_could_be_judged() -> None:
    async with engine_of(Counting()) as engine:
        known, unknown = (engine.refusal(item(name, "")) for name in ("counting", "absent"))
    assert known is None
    assert unknown is not None
    assert unknown.reason == "unknown_verifier"


async def test_work_stops_when_nobody_waits_for_it() -> None:
    gated = Gated()
    async with engine_of(gated) as engine:
        scoring = asyncio.create_task(engine.score(batch(*(item("gated", f"r{n}") for n in range(2000)))))
        await gated.entered.wait()
        scoring.cancel()
        await asyncio.wait([scoring])
        await turns()
        assert gated.stopped >= 1
        gated.gate.set()
        gated.asked.clear()
        assert reasons(await engine.score(batch(item("gated", "last")))) == ["wrong_answer"]
    assert gated.asked == ["last"], "items that were still queued are never judged"


@pytest.mark.parametrize(("mode", "asked"), [("use", 1), ("refresh", 2), ("off", 2)])
async def test_cache_modes(mode: CacheMode, asked: int) -> None:
    counting = Counting()
    async with engine_of(counting) as engine:
        await engine.score(batch(item("counting", "yes")))
        await engine.score(batch(item("counting", "yes"), cache=mode))
    assert len(counting.asked) == asked


async def test_what_redis_has_is_not_judged_again_and_the_rest_is(redis_server: RedisServer) -> None:
    first, second = Counting(), Counting()
    async with cache_over(redis_server) as cache, engine_of(first, cache=cache) as engine:
        await engine.score(batch(item("counting", "yes"), item("counting", "no")))
        await until(lambda: cache.counters.written == 2)
    async with cache_over(redis_server) as cache, engine_of(second, cache=cache) as engine:
        scored = await engine.score(batch(*(item("counting", text) for text in ("new", "yes", "other", "no"))))
    assert second.asked == ["new", "other"]
    assert [result.score for result in scored.results] == [0.0, 1.0, 0.0, 0.0]
    assert [result.cached for result in scored.results] == [False, True, False, True]


async def test_who_refreshes_does_not_ask_redis(redis_server: RedisServer) -> None:
    counting = Counting()
    for times in (1, 2):
        async with cache_over(redis_server) as cache, engine_of(counting, cache=cache) as engine:
            await engine.score(batch(item("counting", "yes"), cache="refresh"))
            assert len(counting.asked) == times
            await until(lambda: cache.counters.written == 1)
            assert cache.counters.mgets == 0


async def test_who_refreshes_is_not_answered_by_what_redis_has_for_another(redis_server: RedisServer) -> None:
    gated = Gated()
    gated.gate.set()
    async with cache_over(redis_server) as cache, engine_of(gated, cache=cache) as engine:
        await engine.score(batch(item("gated", "yes")))
        await until(lambda: cache.counters.written == 1)
    gated = Gated()
    async with cache_over(redis_server) as cache, engine_of(gated, cache=cache) as engine:
        before = asyncio.create_task(engine.score(batch(*(item("gated", f"r{n}") for n in range(600)))))
        await gated.entered.wait()
        refreshing = asyncio.create_task(engine.score(batch(item("gated", "yes"), cache="refresh")))
        await turns()
        using = asyncio.create_task(engine.score(batch(item("gated", "yes"))))
        await until(lambda: cache.counters.hits_redis == 1)
        await turns()
        gated.gate.set()
        await before
        assert [result.cached for result in (await refreshing).results] == [False]
        assert reasons(await using) == ["correct"]
    assert gated.asked.count("yes") == 1


async def test_off_writes_nothing_and_shares_nothing() -> None:
    counting = Counting()
    async with engine_of(counting) as engine:
        await engine.score(batch(item("counting", "yes"), item("counting", "yes"), cache="off"))
        await engine.score(batch(item("counting", "yes")))
    assert len(counting.asked) == 3


async def test_what_is_not_deterministic_is_never_shared() -> None:
    rolling = Rolling()
    async with engine_of(rolling) as engine:
        for _ in range(2):
            await engine.score(batch(item("rolling", "yes"), item("rolling", "yes")))
    assert len(rolling.asked) == 4


async def test_explained_and_plain_verdicts_are_kept_apart() -> None:
    counting = Counting()
    async with engine_of(counting) as engine:
        await engine.score(batch(item("counting", "yes")))
        await engine.score(batch(item("counting", "yes"), explain=True))
    assert len(counting.asked) == 2


async def test_one_bad_item_does_not_cost_the_others() -> None:
    async with engine_of(Moody()) as engine:
        scored = await engine.score(batch(*(item("moody", r) for r in ["yes", "raise", "down", "mend", "short", "no"])))
    assert [(result.status, result.reason) for result in scored.results] == [
        ("ok", "correct"),
        ("failed", "verifier_bug"),
        ("failed", "judge_down"),
        ("invalid", "bad_reference"),
        ("failed", "verifier_bug"),
        ("ok", "wrong_answer"),
    ]
    assert all((result.score is None) == (result.status != "ok") for result in scored.results)
    assert all(result.reward == result.score for result in scored.results)


@pytest.mark.parametrize("trouble", ["raise", "down", "mend", "short"])
async def test_trouble_of_any_kind_is_one_items_own(trouble: str) -> None:
    async with engine_of(Moody()) as engine:
        scored = await engine.score(batch(*(item("moody", response) for response in ("yes", trouble, "no"))))
    assert [result.score for result in scored.results] == [1.0, None, 0.0]


async def test_only_ok_verdicts_are_stored() -> None:
    moody = Moody()
    async with engine_of(moody) as engine:
        for _ in range(2):
            scored = await engine.score(batch(item("moody", "down"), item("moody", "mend")))
            assert not any(result.cached for result in scored.results)


@in_virtual_time
async def test_the_deadline_fails_what_is_not_judged_and_keeps_what_is() -> None:
    async with engine_of(Piecemeal()) as engine:
        scored = await engine.score(
            batch(item("piecemeal", "a"), item("piecemeal", "hang"), item("absent", "b"), deadline_s=0.2)
        )
    assert [(result.status, result.reason) for result in scored.results] == [
        ("ok", "correct"),
        ("failed", "deadline"),
        ("invalid", "unknown_verifier"),
    ]
    assert [result.verifier for result in scored.results] == ["piecemeal", "piecemeal", None]


@in_virtual_time
async def test_what_has_not_begun_by_the_deadline_is_failed_and_never_judged() -> None:
    counting = Counting()
    async with engine_of(counting) as engine:
        scored = await engine.score(batch(*(item("counting", f"r{n}") for n in range(1000)), deadline_s=0))
    assert reasons(scored)[-500:] == ["deadline"] * 500
    assert "r999" not in counting.asked


@in_virtual_time
async def test_an_item_that_never_ends_is_failed_by_its_own_limit() -> None:
    async with engine_of(Piecemeal(), item_deadline_s=0.1) as engine:
        scored = await engine.score(batch(item("piecemeal", "a"), item("piecemeal", "hang")))
    assert reasons(scored) == ["correct", "item_deadline"]


@in_virtual_time
async def test_what_an_item_waits_for_a_start_is_not_its_own_time() -> None:
    """Twice it is given up while workers start. Then its time counts."""
    starting = iter([True, True, False])
    async with engine_of(Piecemeal(), item_deadline_s=0.1, is_starting=lambda: next(starting)) as engine:
        scored = await engine.score(batch(item("piecemeal", "hang")))
    assert reasons(scored) == ["item_deadline"]
    assert next(starting, None) is None


@in_virtual_time
async def test_a_verifier_with_limits_of_its_own_is_bounded_by_the_request_alone() -> None:
    async with engine_of(Bounded(), item_deadline_s=0.1) as engine:
        scored = await engine.score(batch(item("bounded", "a"), item("bounded", "hang"), deadline_s=0.5))
    assert reasons(scored) == ["correct", "deadline"]


@in_virtual_time
async def test_a_short_deadline_of_one_request_does_not_fail_another() -> None:
    gated = Gated()
    async with engine_of(gated) as engine:
        hasty = asyncio.create_task(engine.score(batch(item("gated", "yes"), deadline_s=0.1)))
        await gated.entered.wait()
        patient = asyncio.create_task(engine.score(batch(item("gated", "yes"))))
        assert reasons(await hasty) == ["deadline"]
        gated.gate.set()
        assert reasons(await patient) == ["correct"]


async def test_a_small_request_is_served_beside_a_big_one() -> None:
    counting = Counting()
    async with engine_of(counting) as engine:
        big = asyncio.create_task(engine.score(batch(*(item("counting", f"big{n}") for n in range(4000)))))
        await counting.hundredth.wait()
        await engine.score(batch(item("counting", "small")))
        assert not big.done()
        position = counting.asked.index("small")
        await big
    assert position < 1000, f"the small request was judged at place {position} of 4001"


async def test_a_tenant_is_served_beside_many_large_requests_of_another() -> None:
    tenants = {"large": 0, "small": 0}

    class Heard(Counting):
        async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
            tenants[TENANT.get()] += 1
            return await super().score(items)

    counting = Heard()
    async with engine_of(counting) as engine:

        async def score(tenant: str, request: int) -> None:
            TENANT.set(tenant)
            await engine.score(batch(*(item("counting", f"{tenant} {request} {n}") for n in range(640))))

        large = [asyncio.create_task(score("large", request)) for request in range(30)]
        await counting.hundredth.wait()
        await asyncio.create_task(score("small", 0))
        asked = list(counting.asked)
        await asyncio.gather(*large)
    before = len([response for response in asked if response.startswith("large")])
    assert before < 4 * 640, f"{before} items of the other tenant went before the last of 640"
    assert tenants["small"]


@in_virtual_time
async def test_tenants_share_a_verifier_by_the_time_that_their_items_take() -> None:
    order: list[str] = []

    class Slow(Counting):
        name = "slow"
        chunk_items = 1

        async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
            await asyncio.sleep(1.0 if TENANT.get() == "large" else 0.1)
            order.append(TENANT.get())
            return await super().score(items)

    async with engine_of(Slow(), clock=asyncio.get_running_loop().time) as engine:

        async def score(tenant: str, items: int) -> None:
            TENANT.set(tenant)
            await engine.score(batch(*(item("slow", f"{tenant} {n}") for n in range(items))))

        large = asyncio.create_task(score("large", 200))
        await asyncio.sleep(10)
        begun = len(order)
        await asyncio.create_task(score("small", 50))
        assert order[begun:].count("large") <= 15  # each second of the one costs a second of the other
        large.cancel()


async def test_what_costs_money_is_judged_in_chunks_of_one_tenant_and_one_run() -> None:
    heard: list[tuple[str, str, list[str]]] = []

    class Paid(Gated):
        name, concurrency, bounds_itself = "paid", 1, True

        async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
            heard.append((TENANT.get(), RUN.get(), [item.response for item in items]))
            return await super().score(items)

    paid = Paid()
    async with engine_of(paid) as engine:

        async def score(tenant: str, run: str) -> Scored:
            TENANT.set(tenant)
            RUN.set(run)
            return await engine.score(batch(*(item("paid", f"{tenant} {run} {n}") for n in range(3))))

        first = asyncio.create_task(engine.score(batch(item("paid", "first"))))
        await paid.entered.wait()
        whose = [(tenant, run) for tenant in ("red", "blue") for run in ("", "r1", "r2")]
        rest = [asyncio.create_task(score(*each)) for each in whose]
        await turns(20)
        paid.gate.set()
        await asyncio.gather(first, *rest)
    for tenant, run, responses in heard[1:]:
        assert all(response.startswith(f"{tenant} {run} ") for response in responses)
    assert sorted(response for *_, responses in heard[1:] for response in responses) == sorted(
        f"{tenant} {run} {n}" for tenant, run in whose for n in range(3)
    )


async def test_beyond_a_budget_nothing_is_judged_and_nothing_is_kept() -> None:
    counting, ledger = Counting(), Ledger()
    ledger.use({"red": Budgets(budget=Budget(items=2), run_budget=Budget(items=1))})
    TENANT.set("red")
    async with engine_of(counting, usage=ledger) as engine:
        RUN.set("r1")
        assert (await engine.score(batch(item("counting", "yes")))).results[0].score == 1.0
        for _ in range(2):
            scored = await engine.score(batch(item("counting", "yes"), item("counting", "no")))
            assert [(result.status, result.reason, result.score) for result in scored.results] == [
                ("failed", "budget_exhausted", None)
            ] * 2
            assert scored.summary.failed == 2
        streamed = [part async for part in engine.stream(batch(item("counting", "new")))]
        assert isinstance(streamed[0], list)
        assert streamed[0][0][1].reason == "budget_exhausted"
        assert counting.asked == ["yes"]
        RUN.set("r2")
        assert (await engine.score(batch(item("counting", "yes")))).results[0].cached
        RUN.set("")
        [refused] = (await engine.score(batch(item("counting", "new")))).results
        assert refused.detail["of"] == "tenant"
        ledger.use({})
        assert (await engine.score(batch(item("counting", "new")))).results[0].score == 0.0
    told = ledger.report("red")
    assert (told.total.items, told.total.judged) == (3, 2)
    assert {run.run_id: (run.total.items, run.total.judged) for run in told.runs} == {"r1": (1, 1), "r2": (1, 0)}


@pytest.mark.parametrize(
    ("responses", "at_once"),
    [
        ([""] * 130, [64, 64, 2]),
        (["a" * 200_001] * 5, [2, 2, 1]),
        (["a" * 400_000, "", "b"] * 2, [3, 3]),
        (["a" * 400_001, "a" * 400_001, ""], [1, 1, 1]),
        (["a" * 399_000, [], [], []], [3, 1]),
    ],
    ids=["many", "long", "just not too long", "too long", "conversations"],
)
async def test_others_have_a_turn_after_each_slice_of_a_batch(
    responses: Sequence[str | list[Message]], at_once: list[int]
) -> None:
    items = [ScoreItem(response, "absent") for response in responses]
    async with engine_of(clock=lambda: 0.0) as engine:
        parts = [part async for part in engine.stream(batch(*items))]
    assert [len(part) for part in parts if not isinstance(part, Summary)] == at_once


async def test_a_slice_ends_when_it_has_taken_milliseconds() -> None:
    ticks = itertools.count()
    async with engine_of(clock=lambda: next(ticks) * STEP_S * 0.6) as engine:
        parts = [part async for part in engine.stream(batch(*[ScoreItem("", "absent")] * 9))]
    sizes = [len(part) for part in parts if not isinstance(part, Summary)]
    assert sum(sizes) == 9
    assert max(sizes) <= 2


class Waiting(Counting):
    """Counts the calls that wait at its gate, of one item each."""

    name = "waiting"
    concurrency = None
    chunk_items = 1

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.begun = 0

    async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
        self.begun += 1
        await self.gate.wait()
        return await super().score(items)


@in_virtual_time
async def test_twice_as_many_calls_are_under_way_as_there_are_workers() -> None:
    waiting = Waiting()
    async with engine_of(waiting, workers=3) as engine:
        scoring = asyncio.create_task(engine.score(batch(*(item("waiting", f"r{n}") for n in range(20)))))
        await turns()
        assert waiting.begun == 6
        waiting.gate.set()
        await scoring


@in_virtual_time
async def test_who_waits_for_workers_makes_no_second_queue_there_and_who_hangs_holds_back_only_itself() -> None:
    waiting, backed_up = Waiting(), True
    async with engine_of(waiting, workers=3, is_backed_up=lambda: backed_up) as engine:
        scoring = asyncio.create_task(engine.score(batch(*(item("waiting", f"r{n}") for n in range(20)))))
        await asyncio.sleep(10)
        assert waiting.begun == 6
        backed_up = False
        await asyncio.sleep(1)
        assert waiting.begun == 20
        waiting.gate.set()
        await scoring


class Taking(Counting):
    """Each item takes its time by a clock of the verifier's own."""

    name = "taking"

    def __init__(self, item_s: float) -> None:
        super().__init__()
        self.item_s = item_s
        self.now = 0.0
        self.sizes: list[int] = []

    async def score(self, items: Sequence[Item[Reference]]) -> Sequence[Verdict]:
        self.now += len(items) * self.item_s
        self.sizes.append(len(items))
        return await super().score(items)


class TakingWorkers(Taking):
    concurrency = None


@pytest.mark.parametrize(
    ("taking", "chunk"),
    [(Taking(0.00001), 64), (Taking(0.0009), 4), (Taking(1.0), 1), (TakingWorkers(0.0009), 8), (TakingWorkers(1.0), 1)],
)
async def test_chunks_are_a_few_milliseconds_of_what_items_took_lately(taking: Taking, chunk: int) -> None:
    """Two chunks share a worker, so that each takes twice as long as its own work."""
    async with engine_of(taking, clock=lambda: taking.now) as engine:
        await engine.score(batch(*(item("taking", f"r{n}") for n in range(800))))
    assert taking.sizes[-2] == chunk
    assert sum(taking.sizes) == 800


async def test_metrics_are_told_how_long_a_verifier_took() -> None:
    taking, metrics = Taking(2.5), Metrics("test")
    taking.now = 10.0
    async with engine_of(taking, clock=lambda: taking.now, metrics=metrics) as engine:
        await engine.score(batch(item("taking", "yes")))
    assert metrics.registry.get_sample_value("rewardline_verifier_seconds_sum", {"verifier": "taking"}) == 2.5


async def test_many_single_items_fill_chunks_together() -> None:
    counting = Counting()
    async with engine_of(counting) as engine:
        await asyncio.gather(*(engine.score(batch(item("counting", f"r{n}"))) for n in range(640)))
    assert len(counting.asked) == 640
    assert counting.calls < 320


async def test_the_stream_gives_each_result_once_and_ends_with_the_summary() -> None:
    async with engine_of(Counting(), Moody()) as engine:
        items = [item(name, f"r{n}") for n, name in enumerate(["counting", "moody", "absent"] * 100)]
        seen: dict[int, Result] = {}
        summary: Summary | None = None
        async for part in engine.stream(batch(*items)):
            if isinstance(part, Summary):
                summary = part
            else:
                assert summary is None
                assert not seen.keys() & {index for index, _ in part}
                seen.update(part)
    assert sorted(seen) == list(range(300))
    assert summary is not None
    assert (summary.ok, summary.invalid) == (200, 100)


async def test_work_stopped_before_it_begins_gives_its_place_back() -> None:
    counting = Counting()
    async with engine_of(counting) as engine:
        for n in range(8):
            stream = engine.stream(batch(item("counting", f"gone {n}")))
            first = asyncio.ensure_future(anext(stream))
            await turns(1)
            first.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await first
        scored = await engine.score(batch(item("counting", "yes")))
    assert scored.results[0].score == 1.0


async def test_a_stream_left_early_stops_its_work() -> None:
    gated = Gated()
    async with engine_of(gated) as engine:
        stream = engine.stream(batch(item("absent", "now"), item("gated", "later")))
        part = await anext(stream)
        assert not isinstance(part, Summary)
        assert [index for index, _ in part] == [0]
        await gated.entered.wait()
        await stream.aclose()
        await turns()
    assert gated.stopped == 1


async def test_an_empty_batch_has_no_results() -> None:
    async with engine_of() as engine:
        assert (await engine.score(batch())).results == []
        assert [type(part) async for part in engine.stream(batch())] == [Summary]


texts = st.text(max_size=6) | st.sampled_from(["yes", "no"])


@pytest.mark.contract
@given(st.lists(st.tuples(st.sampled_from(["counting", "moody", "absent"]), texts), max_size=40), st.randoms())
@settings(max_examples=60, deadline=None)
def test_neighbours_order_and_cache_do_not_matter(pairs: list[tuple[str, str]], random: Any) -> None:
    async def run() -> None:
        async with engine_of(Counting(), Moody()) as engine:
            alone = [(await engine.score(batch(item(*pair), cache="off"))).results[0].reason for pair in pairs]
            order = list(range(len(pairs)))
            random.shuffle(order)
            for _ in ("cold", "warm"):
                scored = await engine.score(batch(*(item(*pairs[place]) for place in order)))
                assert reasons(scored) == [alone[place] for place in order]

    asyncio.run(run())
