"""Replicas share limits on cost, requests and tokens through a real Redis that is fine, dead, or loses an answer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from service.backends.judge_limits import LimitSharing
from service.errors import StateUnavailable
from service.storage.redis_link import RedisLink
from tests.judge_upstream.behaviours import after, says
from tests.judge_upstream.scripted import Scripted
from tests.service.redis_server import RedisServer
from tests.verifiers.judge.endpoints.calls import QUESTION, RETRY, endpoint
from tests.waiting import until
from verifiers.judge.endpoints import ChatReply, ChatRequest, Gateway, PoolConfig
from verifiers.judge.endpoints.config import SpendConfig
from verifiers.judge.endpoints.spending import Allowance
from verifiers.judge.errors import EndpointFailure

PRICE = {"input": 0, "output": 100}
COST = 0.001
"""Of a call that writes ten tokens; it reserves several times as much until calls are known."""
LIMIT = 0.05
USAGE = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}

_QUESTION = replace(QUESTION, max_tokens=10)

Replica = tuple[Gateway, LimitSharing]
Start = Callable[..., Awaitable[Replica]]


class LosingLink(RedisLink):
    """A link that loses the next answer."""

    loses = False

    async def ask(self, *command: Any) -> Any:
        answer = await super().ask(*command)
        if self.loses:
            self.loses = False
            raise StateUnavailable("lost", retry_after_s=1.0)
        return answer


@pytest.fixture
async def upstream() -> AsyncIterator[Scripted]:
    async with Scripted(after(0.005, says(usage=USAGE))) as scripted:
        yield scripted


@pytest.fixture
async def start(redis_server: RedisServer, upstream: Scripted) -> AsyncIterator[Start]:
    """Starts replicas, whose one endpoint has these parts."""
    async with AsyncExitStack() as stack:

        async def begin(pool_spend: SpendConfig | None = None, call_s: float = 5.0, **parts: Any) -> Replica:
            link = LosingLink(redis_server.url, "judge-limits", call_s=call_s, connect_s=1.0, max_calls=1)
            sharing = LimitSharing(link, asyncio.get_running_loop().time)
            pool = PoolConfig(members=["one"], retry=RETRY, spend=pool_spend)
            gateway = Gateway(
                {"one": endpoint(upstream, price=PRICE, **parts)}, {"judges": pool}, keys={}, limits=sharing.limits
            )
            stack.push_async_callback(sharing.close)
            task = asyncio.create_task(sharing.run())
            stack.callback(task.cancel)
            stack.push_async_callback(gateway.stop)
            return gateway, sharing

        yield begin


async def outcomes(
    gateway: Gateway, calls: int, within_s: float = 20.0, question: ChatRequest = _QUESTION
) -> list[str]:
    """`ok` or the kind of the failure, of so many calls at once."""
    deadline = asyncio.get_running_loop().time() + within_s

    async def ask() -> str:
        try:
            reply = await gateway.ask("judges", question, deadline=deadline)
        except EndpointFailure as failure:
            return failure.kind
        assert isinstance(reply, ChatReply)
        return "ok"

    return await asyncio.gather(*(ask() for _ in range(calls)))


SPEND: Any = {"spend": {"max_cost": LIMIT}}


@pytest.mark.judges(beyond=1)
@pytest.mark.parametrize("parts", [SPEND, {"pool_spend": SpendConfig(max_cost=LIMIT)}], ids=["endpoint", "pool"])
async def test_two_replicas_spend_what_one_may(start: Start, upstream: Scripted, parts: Any) -> None:
    (one, _), (two, _) = await start(**parts), await start(**parts)
    both = await asyncio.gather(outcomes(one, 80), outcomes(two, 80))
    kinds = [kind for kinds in both for kind in kinds]
    assert set(kinds) == {"ok", "budget_exhausted"}
    assert round(LIMIT / COST) - 2 <= kinds.count("ok") == len(upstream.calls) <= round(LIMIT / COST)
    assert all("ok" in kinds for kinds in both)


@pytest.mark.judges
async def test_a_replica_that_is_asked_alone_may_spend_all(start: Start, upstream: Scripted) -> None:
    (one, _), (two, _) = await start(**SPEND), await start(**SPEND)
    assert await outcomes(two, 1) == ["ok"]
    kinds = await outcomes(one, 100)
    assert round(LIMIT / COST) - 2 <= kinds.count("ok") + 1 <= round(LIMIT / COST)


@pytest.mark.judges
async def test_what_a_replica_gave_back_at_its_end_is_spent_by_another(start: Start) -> None:
    (one, ended), (two, _) = await start(**SPEND), await start(**SPEND)
    assert await outcomes(one, 10) == ["ok"] * 10
    await ended.share()
    kinds = await outcomes(two, 100)
    assert round(LIMIT / COST) - 2 <= kinds.count("ok") + 10 <= round(LIMIT / COST)


@pytest.mark.judges
@pytest.mark.parametrize(("limit", "burst"), [({"rpm": 120}, 20.0), ({"tpm": 3600}, 20.0)], ids=["rpm", "tpm"])
async def test_two_replicas_take_a_minutes_budget_of_one(
    start: Start, upstream: Scripted, limit: Any, burst: float
) -> None:
    """Two calls a second, and a burst; a call of tokens reserves more than its thirty until it is over."""
    (one, _), (two, _) = await start(**limit), await start(**limit)
    loop = asyncio.get_running_loop()
    began = loop.time()
    question = replace(QUESTION, max_tokens=60)
    both = await asyncio.gather(*(outcomes(each, 40, 2.0, question) for each in (one, two)))
    assert all("ok" in kinds for kinds in both)
    assert burst / 2 <= len(upstream.calls) <= burst + 2 * (loop.time() - began) + 1


@pytest.mark.judges
async def test_without_redis_each_replica_keeps_to_its_share(
    start: Start, upstream: Scripted, redis_server: RedisServer
) -> None:
    (one, first), (two, second) = [await start(call_s=0.5, **SPEND) for _ in range(2)]
    await second.share()
    assert await outcomes(one, 20) == ["ok"] * 20
    await asyncio.gather(first.share(), second.share())
    redis_server.freeze()
    await asyncio.gather(first.share(), second.share())
    both = await asyncio.gather(outcomes(one, 60), outcomes(two, 60))
    # Thirty calls are left, which both share.
    assert all(12 <= kinds.count("ok") <= 15 for kinds in both), both
    assert {kind for kinds in both for kind in kinds} == {"ok", "budget_exhausted"}
    redis_server.thaw()
    await asyncio.gather(first.share(), second.share())
    await asyncio.gather(outcomes(one, 20), outcomes(two, 20))
    assert round(LIMIT / COST) - 2 <= len(upstream.calls) <= round(LIMIT / COST)


async def test_what_a_dead_replica_was_granted_counts_as_spent(redis_server: RedisServer) -> None:
    async with AsyncExitStack() as stack:
        spendings = []
        for gone_s in (15.0, 1e-6):
            link = RedisLink(redis_server.url, "judge-limits", call_s=5.0, connect_s=1.0, max_calls=1)
            stack.push_async_callback(link.close)
            sharing = LimitSharing(link, lambda: 0.0, gone_s=gone_s)
            spending = sharing.limits.spending("pool p", SpendConfig(max_cost=1.0))
            spendings.append((sharing, spending))
        (dead, held), (alive, other) = spendings
        assert held.verdict(0, 0.5, 0.0) is Allowance.LATER
        await dead.share()
        assert held.verdict(0, 0.5, 0.0) is Allowance.YES
        held.reserve(0, 0.4)
        await dead.share()
        assert other.verdict(0, 0.9, 0.0) is Allowance.LATER
        await alive.share()
        assert other.verdict(0, 0.9, 0.0) is Allowance.NEVER
        assert other.verdict(0, 0.2, 0.0) is Allowance.YES


@pytest.mark.judges
@pytest.mark.parametrize("limit", [SPEND, {"rpm": 600}, {"tpm": 60_000}], ids=["cost", "rpm", "tpm"])
async def test_a_replica_that_never_met_redis_judges_within_its_own_limits(
    start: Start, redis_server: RedisServer, limit: Any
) -> None:
    redis_server.kill()
    one, sharing = await start(**limit)
    assert await outcomes(one, 5) == ["ok"] * 5
    redis_server.start()
    await sharing.share()
    assert await outcomes(one, 5) == ["ok"] * 5


@pytest.mark.judges
async def test_a_report_whose_answer_is_lost_counts_once(start: Start, upstream: Scripted) -> None:
    one, sharing = await start(**SPEND)
    assert await outcomes(one, 20) == ["ok"] * 20
    link = sharing._link
    assert isinstance(link, LosingLink)
    await until(lambda: not sharing._needed.is_set())
    link.loses = True
    await sharing.share()
    await sharing.share()
    kinds = await outcomes(one, 60)
    assert round(LIMIT / COST) - 2 <= kinds.count("ok") + 20 <= round(LIMIT / COST)
