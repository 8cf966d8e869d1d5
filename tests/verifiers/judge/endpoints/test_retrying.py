"""What happens between attempts."""

import asyncio
import random

import pytest

from tests.judge_upstream.behaviours import after, gives, refuses, says, sends, when
from tests.judge_upstream.scripted import Scripted
from tests.verifiers.judge.endpoints.calls import QUESTION, RETRY, endpoint, gateway, outcome
from verifiers.judge.endpoints import ChatReply, RetryConfig
from verifiers.judge.endpoints.faults import retry_after
from verifiers.judge.endpoints.retrying import RetryBudget, delay_s
from verifiers.judge.errors import EndpointFailure


def in_s(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 529])
async def test_a_passing_trouble_costs_one_more_call(status: int) -> None:
    async with Scripted(refuses(status), says()) as upstream, gateway({"one": endpoint(upstream)}) as made:
        reply = await made.ask("judges", QUESTION)
        assert (reply.attempts, len(upstream.calls)) == (2, 2)
        assert sum(made.pool_states()[0].counters.retries.values()) == 1


async def test_404_and_then_ok_where_404_means_loading() -> None:
    async with (
        Scripted(refuses(404), says()) as upstream,
        gateway({"one": endpoint(upstream, retry_404=True)}) as made,
    ):
        assert (await made.ask("judges", QUESTION)).attempts == 2


def test_waits_are_drawn_from_zero_to_a_bound_that_doubles() -> None:
    config, chance = RetryConfig(base_s=0.5, cap_s=3), random.Random(0)
    for failures, bound in ((1, 0.5), (2, 1.0), (3, 2.0), (4, 3.0), (2000, 3.0)):
        drawn = [delay_s(config, failures, chance) for _ in range(2000)]
        assert 0 <= min(drawn) < bound * 0.01
        assert bound * 0.99 < max(drawn) <= bound


def test_retry_after_is_read_in_all_its_forms() -> None:
    wall = 1_790_000_000.0  # Mon, 21 Sep 2026 14:13:20 GMT
    assert retry_after({"Retry-After": "7"}, wall) == 7
    assert retry_after({"Retry-After": "7", "retry-after-ms": "1500"}, wall) == 1.5
    assert retry_after({"Retry-After": "Mon, 21 Sep 2026 14:13:50 GMT"}, wall) == 30
    assert retry_after({"Retry-After": "Mon, 21 Sep 2020 14:13:50 GMT"}, wall) == 0
    for nonsense in ("", "soon", "-3", "nan", "inf", "9" * 400, "Mon, 99 Foo 2026 14:13:50 GMT"):
        assert retry_after({"Retry-After": nonsense}, wall) is None
    assert retry_after({}, wall) is None


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_beyond_the_deadline_fails_at_once_and_is_passed_on(status: int) -> None:
    async with (
        Scripted(refuses(status, Retry_After="3600")) as upstream,
        gateway({"one": endpoint(upstream)}) as made,
    ):
        failure = await outcome(made, deadline=in_s(100))
        assert isinstance(failure, EndpointFailure)
        assert (failure.kind, failure.retry_after_s) == ("rate_limited", 3600)
        assert len(upstream.calls) == 1
        # Nor is it asked by others meanwhile.
        assert isinstance(await outcome(made, deadline=in_s(100)), EndpointFailure)
        assert len(upstream.calls) == 1


async def test_retry_after_is_waited_for_and_then_the_same_endpoint_is_asked() -> None:
    async with (
        Scripted(refuses(429, retry_after_ms="30"), says()) as upstream,
        gateway({"one": endpoint(upstream)}) as made,
    ):
        assert (await made.ask("judges", QUESTION)).attempts == 2


async def test_an_endpoint_that_asks_for_a_pause_is_left_alone_while_another_works() -> None:
    async with (
        Scripted(refuses(429, Retry_After="60")) as busy,
        Scripted(says()) as free,
        gateway({"busy": endpoint(busy, weight=100), "free": endpoint(free)}) as made,
    ):
        for _ in range(5):
            assert (await made.ask("judges", QUESTION)).endpoint == "free"
        assert (len(busy.calls), len(free.calls)) == (1, 5)
        assert made.states()[0].health == "paused"


async def test_the_deadline_cuts_an_attempt_off_and_the_upstream_notices() -> None:
    async with Scripted(sends(b"", then="hang")) as upstream, gateway({"one": endpoint(upstream)}) as made:
        failure = await outcome(made, deadline=in_s(1.0))
        assert isinstance(failure, EndpointFailure)
        assert (failure.kind, failure.attempts[0].kind) == ("deadline", "deadline")
        assert len(upstream.calls) == 1
        await upstream.calls[0].gone.wait()
        assert made.states()[0].health == "healthy"
        assert "timeout" not in made.states()[0].counters.failures


async def test_a_deadline_that_is_over_asks_nobody() -> None:
    async with Scripted(says()) as upstream, gateway({"one": endpoint(upstream)}) as made:
        failure = await outcome(made, deadline=in_s(-1))
        assert isinstance(failure, EndpointFailure)
        assert (failure.kind, upstream.calls) == ("deadline", [])


async def test_no_attempt_begins_with_less_time_than_it_needs() -> None:
    retry = RETRY.model_copy(update={"min_attempt_s": 50.0})
    async with Scripted(refuses(500)) as upstream, gateway({"one": endpoint(upstream)}, retry=retry) as made:
        failure = await outcome(made, deadline=in_s(60))
        assert isinstance(failure, EndpointFailure)
        assert failure.kind == "upstream_5xx"
        failure = await outcome(made, deadline=in_s(40))
        assert isinstance(failure, EndpointFailure)
        assert (failure.kind, failure.attempts) == ("deadline", ())


async def test_slow_but_within_the_deadline_is_waited_for() -> None:
    async with Scripted(after(0.3, says())) as upstream, gateway({"one": endpoint(upstream)}) as made:
        assert (await made.ask("judges", QUESTION, deadline=in_s(60))).attempts == 1


async def test_a_caller_who_leaves_is_not_worked_for() -> None:
    async with Scripted(sends(b"", then="hang")) as upstream, gateway({"one": endpoint(upstream)}) as made:
        call = asyncio.create_task(made.ask("judges", QUESTION))
        await upstream.until(1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await upstream.calls[0].gone.wait()
        assert (made.states()[0].in_flight, made.states()[0].counters.failures) == (0, {})
        assert len(upstream.calls) == 1


async def test_a_retry_goes_to_an_endpoint_that_has_not_been_asked() -> None:
    async with Scripted(refuses(500)) as one, Scripted(refuses(500)) as two, Scripted(says()) as three:
        endpoints = {"one": endpoint(one, weight=9), "two": endpoint(two, weight=8), "three": endpoint(three)}
        async with gateway(endpoints) as made:
            reply = await made.ask("judges", QUESTION)
            assert (reply.endpoint, reply.attempts) == ("three", 3)
            assert [len(each.calls) for each in (one, two, three)] == [1, 1, 1]


async def test_one_only_is_asked_if_one_only_is_allowed() -> None:
    async with (
        Scripted(refuses(500)) as one,
        Scripted(says()) as two,
        gateway({"one": endpoint(one), "two": endpoint(two)}) as made,
    ):
        assert isinstance(await outcome(made, only="one"), EndpointFailure)
        assert (len(one.calls), len(two.calls)) == (3, 0)


async def test_who_is_to_be_avoided_is_asked_when_there_is_nobody_else() -> None:
    async with (
        Scripted(says()) as one,
        Scripted(refuses(401)) as two,
        gateway({"one": endpoint(one, weight=100), "two": endpoint(two)}) as made,
    ):
        reply = await made.ask("judges", QUESTION, avoid={"one"})
        assert (reply.endpoint, reply.attempts) == ("one", 2)
        assert len(two.calls) == 1


def test_the_budget_is_a_share_of_calls_above_a_floor() -> None:
    budget = RetryBudget(RetryConfig(budget=0.2, budget_window_s=10, budget_floor_per_s=1))
    for _ in range(100):
        budget.called(0.0)
    assert sum(budget.take(0.5) for _ in range(100)) == 30
    assert not budget.take(9.9)
    assert sum(budget.take(20.5) for _ in range(100)) == 10


async def test_beyond_the_budget_calls_wait_and_are_not_lost() -> None:
    retry = RETRY.model_copy(update={"budget": 0.0, "budget_window_s": 0.2, "budget_floor_per_s": 10.0})
    async with Scripted(*[refuses(500)] * 6, says()) as upstream:
        config = endpoint(upstream, health={"failures": 1000})
        async with gateway({"one": config}, retry=retry) as made, asyncio.TaskGroup() as group:
            calls = [group.create_task(outcome(made)) for _ in range(6)]
        replies = [call.result() for call in calls]
        assert all(isinstance(reply, ChatReply) for reply in replies)
        assert len(upstream.calls) == 12


async def test_calls_that_never_arrived_draw_on_no_budget() -> None:
    async with Scripted(says()) as dead:
        url = dead.url
    retry = RETRY.model_copy(update={"budget": 0.0, "budget_window_s": 1000.0, "budget_floor_per_s": 1e-9})
    async with (
        Scripted(says()) as good,
        gateway({"dead": endpoint(url, weight=5), "good": endpoint(good)}, retry=retry) as made,
    ):
        replies = [await made.ask("judges", QUESTION) for _ in range(5)]
        assert {reply.endpoint for reply in replies} == {"good"}


async def test_failures_of_another_endpoint_do_not_disturb_a_call_under_way() -> None:
    go = asyncio.Event()
    async with (
        Scripted(when(go, says())) as slow,
        Scripted(gives({})) as bad,
        gateway({"slow": endpoint(slow, weight=100), "bad": endpoint(bad)}) as made,
    ):
        call = asyncio.create_task(made.ask("judges", QUESTION))
        await slow.until(1)
        for _ in range(3):
            assert isinstance(await outcome(made, only="bad"), EndpointFailure)
        go.set()
        assert (await call).endpoint == "slow"
