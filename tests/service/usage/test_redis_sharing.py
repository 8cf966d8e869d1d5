"""Replicas share their counts through a real Redis that is fine, dead, or loses an answer."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from service.errors import StateUnavailable
from service.limits.budgets import Budget, Budgets, Measure
from service.usage.account import Account
from service.usage.ledger import Ledger
from service.usage.redis_sharing import RedisSharing
from service.usage.usage import Usage
from tests.service.redis_server import RedisServer, redis_cluster
from tests.service.usage.test_ledger import NOON, Clock, serving

Made = tuple[Ledger, RedisSharing]
Make = Callable[[], Made]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def replica(redis_server: RedisServer, clock: Clock) -> AsyncIterator[Make]:
    """Makes replicas, each with a ledger of its own."""
    async with AsyncExitStack() as stack:

        def make() -> Made:
            ledger = Ledger(clock, max_runs=150)
            sharing = RedisSharing(ledger, redis_server.url, clock=clock, call_s=5.0)
            stack.push_async_callback(sharing.close)
            return ledger, sharing

        yield make


def used(ledger: Ledger, tenant: str, run: str, items: float) -> None:
    ledger.note(tenant, run, {Measure.ITEMS: items})


def items_of(account: Account) -> tuple[float, float]:
    return account.total.of(Measure.ITEMS), account.minute.of(Measure.ITEMS)


async def test_all_replicas_know_what_was_used_at_one(replica: Make, clock: Clock) -> None:
    (one, one_sharing), (two, two_sharing) = replica(), replica()
    used(one, "red", "r1", 3)
    one.note("red", "r1", {Measure.JUDGE_COST: 0.1})
    used(two, "red", "r2", 4)
    used(two, "blue {x}", "r1", 100)
    for sharing in (one_sharing, two_sharing, one_sharing):
        await sharing.share()
    clock.now += 5
    usages = [Usage(one, one_sharing), Usage(two, two_sharing)]
    for usage in usages:
        report = await usage.of("red")
        [red] = report.tenants
        assert report.shared
        assert (red.total.items, red.minute.items, red.total.judge_cost) == (7, 7, 0.1)
        assert {run.run_id: run.total.items for run in red.runs} == {"r1": 3, "r2": 4}
        assert red.since == "2027-01-15T08:00:00Z"
    [blue] = (await usages[0].of("blue {x}")).tenants
    assert blue.total.items == 100


async def test_a_budget_is_used_up_by_all_replicas_together(replica: Make, clock: Clock) -> None:
    (one, one_sharing), (two, two_sharing) = replica(), replica()
    for ledger in (one, two):
        ledger.use({"red": Budgets(budget=Budget(items_per_minute=10))})
    with serving("red"):
        for ledger in (one, two):
            assert ledger.begin(6) is None
        assert one.begin(1) is None
        for sharing in (one_sharing, two_sharing, one_sharing):
            await sharing.share()
            one.know("red", ())
        assert one.begin(1) is not None
        assert two.begin(1) is not None
        clock.now = NOON + 60
        assert one.begin(1) is None
        assert one.report("red").total.items == 14


async def test_what_is_noted_while_redis_is_away_is_written_later(
    replica: Make, redis_server: RedisServer, clock: Clock
) -> None:
    ledger, sharing = replica()
    used(ledger, "red", "r", 1)
    await sharing.share()
    redis_server.stop()
    for second in range(3):
        used(ledger, "red", "r", 10)
        with pytest.raises(StateUnavailable):
            await sharing.share()
        assert items_of(ledger.runs("red")[0]) == (11 + 10 * second, 11 + 10 * second)
    clock.now += 60
    used(ledger, "red", "r", 100)
    assert items_of(ledger.runs("red")[0]) == (131, 100)
    report = await Usage(ledger, sharing).of("red")
    assert (report.shared, report.tenants[0].total.items) == (False, 131)
    redis_server.start()
    await sharing.share()
    assert sharing.errors >= 3
    other, other_sharing = replica()
    await other_sharing.look_up("red")
    assert items_of(other.runs("red")[0]) == (130, 100), "this Redis had kept nothing: what was in it before is lost"


async def test_a_lost_answer_counts_nothing_twice(replica: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, sharing = replica()
    ask = sharing._link.ask

    async def loses(*command: Any) -> Any:
        await ask(*command)
        raise StateUnavailable("the answer is lost", retry_after_s=1.0)

    used(ledger, "red", "r", 5)
    monkeypatch.setattr(sharing._link, "ask", loses)
    with pytest.raises(StateUnavailable):
        await sharing.share()
    used(ledger, "red", "r", 2)
    monkeypatch.setattr(sharing._link, "ask", ask)
    await sharing.share()
    other, other_sharing = replica()
    await other_sharing.look_up("red")
    for each in (ledger, other):
        assert items_of(each.runs("red")[0]) == (7, 7)


async def test_redis_keeps_the_latest_runs_only_and_minutes_for_minutes(
    replica: Make, redis_server: RedisServer, clock: Clock
) -> None:
    ledger, sharing = replica()
    for number in range(160):
        clock.now = NOON + number / 10
        used(ledger, "red", f"r{number}", 1)
        if number % 40 == 39:
            await sharing.share()
    assert redis_server.call("ZCARD", "rl1use:{red}:runs") == 150
    for pattern in ("rl1use:{red}:minute:*", "rl1use:{red}:total:r*", "rl1use:{red}:sent:*"):
        names = redis_server.call("KEYS", pattern)
        assert names
        assert all(redis_server.call("TTL", name) > 0 for name in names)
    assert redis_server.call("TTL", "rl1use:{red}:total:") == -1
    other, other_sharing = replica()
    await other_sharing.look_up("red")
    assert [account.run for account in other.runs("red")[:2]] == ["r159", "r158"]
    assert other.report("red").total.items == 160
    before = redis_server.call("ZRANGE", "rl1use:{red}:runs", 0, -1, "WITHSCORES")
    redis_server.call("EXPIRE", "rl1use:{red}:total:r159", 100)
    clock.now += 1000
    await other_sharing.look_up("red")
    assert redis_server.call("ZRANGE", "rl1use:{red}:runs", 0, -1, "WITHSCORES") == before, "to look is not a use"
    assert 0 < redis_server.call("TTL", "rl1use:{red}:total:r159") <= 100
    assert [account.run for account in other.runs("red")[:2]] == ["r159", "r158"]


async def test_who_only_asks_leaves_nothing_behind(replica: Make, redis_server: RedisServer) -> None:
    ledger, sharing = replica()
    ledger.use({"red": Budgets(budget=Budget(items=0))})
    with serving("red", "r"):
        assert ledger.begin(1) is not None
    await sharing.share()
    assert [name for name in redis_server.call("KEYS", "rl1use:*") if b":sent:" not in name] == []


@pytest.mark.contract
async def test_a_cluster_is_asked_as_one_server_is(tmp_path: Path, clock: Clock) -> None:
    with redis_cluster(tmp_path) as servers:
        url = f"redis+cluster://127.0.0.1:{servers[0].port}"
        ledgers = [Ledger(clock), Ledger(clock)]
        sharings = [RedisSharing(ledger, url, clock=clock, call_s=5.0) for ledger in ledgers]
        for tenant in ("red", "blue", "green {x}"):
            used(ledgers[0], tenant, "r", 3)
        await sharings[0].share()
        for tenant in ("red", "blue", "green {x}"):
            await sharings[1].look_up(tenant)
            assert items_of(ledgers[1].runs(tenant)[0]) == (3, 3)
        for sharing in sharings:
            await sharing.close()
