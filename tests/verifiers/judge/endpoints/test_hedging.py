"""Late calls are sent to a second endpoint, too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.judge_upstream.behaviours import refuses, says, sends, when
from tests.judge_upstream.scripted import Behaviour, Scripted
from tests.verifiers.judge.endpoints.calls import QUESTION, endpoint, gateway, outcome
from verifiers.judge.endpoints import ChatReply, Gateway, Usage
from verifiers.judge.endpoints.balancing import Wanted
from verifiers.judge.endpoints.endpoint import Lease
from verifiers.judge.endpoints.hedging import HedgeBudget

HANGS = sends(b"", then="hang")
PRICED = {"price": {"input": 1.0, "output": 1.0}}


@asynccontextmanager
async def _two(
    slow: Behaviour, *quick: Behaviour, parts: dict[str, Any] = PRICED, **pool: Any
) -> AsyncIterator[tuple[Scripted, Scripted, Gateway]]:
    """Two endpoints: the usual time of `quick` is known, and the next call goes to `slow`."""
    async with (
        Scripted(slow) as first,
        Scripted(*[says()] * 20, *quick) as second,
        gateway({"slow": endpoint(first, weight=100, **parts), "quick": endpoint(second, **parts)}, **pool) as made,
    ):
        await _is_known(made, "quick")
        yield first, second, made


async def _is_known(made: Gateway, name: str) -> None:
    """Ask an endpoint until its usual time is known."""
    for _ in range(20):
        await made.ask("judges", QUESTION, only=name)


def _counts(made: Gateway) -> tuple[int, int]:
    counters = made.pool_states()[0].counters
    return counters.hedges, counters.hedges_won


def _in_flight(made: Gateway) -> list[int]:
    return [state.in_flight for state in made.states()]


async def test_an_endpoint_that_hangs_holds_no_call_and_is_told_to_stop() -> None:
    async with _two(HANGS, says()) as (slow, _quick, made):
        reply = await made.ask("judges", QUESTION)
        assert (reply.endpoint, reply.attempts, len(slow.calls)) == ("quick", 2, 1)
        assert (_counts(made), _in_flight(made)) == ((1, 1), [0, 0])
        await slow.calls[0].gone.wait()
        slow_state, quick_state = made.states()
        assert (slow_state.health, slow_state.counters.failures) == ("healthy", {})
        assert (quick_state.counters.successes, slow_state.counters.successes) == (21, 0)


async def test_the_lost_call_counts_towards_limits_and_its_time_towards_the_choice_of_endpoints() -> None:
    spent: list[tuple[float, float]] = []
    async with _two(HANGS, says()) as (slow, _quick, made):
        for state in made._dispatcher.endpoints.values():
            state._spent = lambda tokens, cost: spent.append((tokens, cost))
        await made.ask("judges", QUESTION)
        (lost,) = [tokens for tokens, _ in spent if tokens != 30]
        assert lost > QUESTION.max_tokens
        assert len(spent) == 2
        # What the slow one has not answered makes it the second choice, whatever its weight.
        for _ in range(5):
            await made.ask("judges", QUESTION, only="quick")
        assert made.states()[0].latency_count == 0
        assert made._dispatcher.endpoints["slow"].latency.estimate_s(0, asyncio.get_running_loop().time())
        assert len(slow.calls) == 1


@pytest.mark.parametrize(("hedge", "most"), [(0.05, 1 + 0.05 * 120), (0.0, 0)])
async def test_no_more_calls_are_doubled_than_the_budget_allows(hedge: float, most: float) -> None:
    answer = asyncio.Event()
    async with _two(when(answer, says()), says(), parts={"concurrency": {"start": 100}}, hedge=hedge) as (
        slow,
        _quick,
        made,
    ):
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(outcome(made)) for _ in range(100)]
            await _until_stuck(made, slow)
            answer.set()
        assert all(isinstance(call.result(), ChatReply) for call in calls)
        assert _counts(made)[0] <= most
        assert bool(_counts(made)[0]) == bool(most)
        assert _in_flight(made) == [0, 0]


async def _until_stuck(made: Gateway, slow: Scripted) -> None:
    """Return when the slow endpoint has calls, and no other call comes to an end."""
    await slow.until(10)
    before = -1
    while (now := made.states()[1].counters.requests) != before:
        before = now
        for _ in range(20):
            await asyncio.sleep(0)


@pytest.mark.parametrize("second", [refuses(500), sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")])
async def test_where_the_second_endpoint_fails_the_first_one_is_waited_for(second: Any) -> None:
    answer = asyncio.Event()
    async with _two(when(answer, says()), second) as (_slow, quick, made):
        call = asyncio.create_task(outcome(made))
        await quick.until(21)
        answer.set()
        reply = await call
        assert isinstance(reply, ChatReply)
        assert (reply.endpoint, _counts(made), _in_flight(made)) == ("slow", (1, 0), [0, 0])


async def test_where_the_first_endpoint_fails_the_second_one_is_waited_for() -> None:
    fail, answer = asyncio.Event(), asyncio.Event()
    async with _two(when(fail, refuses(500)), when(answer, says())) as (slow, quick, made):
        made._dispatcher.endpoints["slow"].observe = lambda endpoint, kind, seconds: answer.set()
        call = asyncio.create_task(outcome(made))
        await quick.until(21)
        fail.set()
        reply = await call
        assert isinstance(reply, ChatReply)
        assert (reply.endpoint, reply.attempts, len(slow.calls)) == ("quick", 2, 1)
        assert _in_flight(made) == [0, 0]


async def test_where_both_fail_another_endpoint_is_asked() -> None:
    fail = asyncio.Event()
    async with (
        Scripted(when(fail, refuses(500))) as slow,
        Scripted(*[says()] * 20, when(fail, refuses(401))) as quick,
        Scripted(says()) as third,
        gateway({"slow": endpoint(slow), "quick": endpoint(quick), "third": endpoint(third, weight=0.001)}) as made,
    ):
        await _is_known(made, "quick")
        call = asyncio.create_task(outcome(made))
        await quick.until(21)
        fail.set()
        reply = await call
        assert isinstance(reply, ChatReply)
        assert (reply.endpoint, reply.attempts) == ("third", 3)
        assert _in_flight(made) == [0, 0, 0]


async def test_a_caller_who_leaves_ends_both_calls() -> None:
    async with _two(HANGS, HANGS) as (slow, quick, made):
        call = asyncio.create_task(made.ask("judges", QUESTION))
        await quick.until(21)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await slow.calls[0].gone.wait()
        await quick.calls[-1].gone.wait()
        assert _in_flight(made) == [0, 0]


async def test_no_call_is_doubled_where_the_limit_of_the_pool_would_not_bear_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = asyncio.Event()
    async with _two(when(answer, says()), spend={"max_tokens": 20 * 30 + 535}) as (_slow, _quick, made):
        lease_now = made._dispatcher.lease_now

        def lease_and_end(call: Wanted) -> Lease | None:
            answer.set()
            return lease_now(call)

        call = asyncio.create_task(outcome(made))
        monkeypatch.setattr(made._dispatcher, "lease_now", lease_and_end)
        reply = await call
        assert isinstance(reply, ChatReply)
        assert (reply.endpoint, _counts(made)) == ("slow", (0, 0))


async def test_a_stream_is_not_doubled() -> None:
    answer = asyncio.Event()
    async with _two(when(answer, says()), says()) as (slow, _quick, made):
        call = asyncio.create_task(made.relay_stream("judges", {"messages": [], "stream": True}))
        await slow.until(1)
        for _ in range(200):
            await asyncio.sleep(0)
        answer.set()
        stream = await call
        assert b"".join([piece async for piece in stream.pieces])
        assert _counts(made) == (0, 0)


class _Waits:
    """An errand whose first endpoint answers at the moment in which a second one is taken."""

    tokens = 1.0
    affinity = None
    is_whole = True

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def run(self, lease: Lease, within_s: float, attempt: int) -> str:
        await self.may_end.wait()
        lease.succeeded(Usage())
        return lease.endpoint.name


async def test_a_second_call_that_never_began_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _two(says(), says()) as (_slow, _quick, made):
        errand, lease_now = _Waits(), made._dispatcher.lease_now

        def lease_and_end(call: Wanted) -> Lease | None:
            errand.may_end.set()
            return lease_now(call)

        monkeypatch.setattr(made._dispatcher, "lease_now", lease_and_end)
        until = asyncio.get_running_loop().time() + 60
        parts: dict[str, Any] = {"avoid": (), "only": None, "fail_open": True, "attempts": []}
        assert await made._pools["judges"].send(errand, until, **parts) == "slow"
        assert (_counts(made), _in_flight(made)) == ((1, 0), [0, 0])


def test_the_budget_is_a_share_of_all_calls_and_saves_up_no_more_than_a_hundred() -> None:
    budget = HedgeBudget(0.05)
    taken = 0
    for _ in range(1000):
        budget.called()
        if budget.is_open:
            budget.take()
            taken += 1
    assert taken == 51
    for _ in range(10_000):
        budget.called()
    while budget.is_open:
        budget.take()
        taken += 1
    assert taken == 151
