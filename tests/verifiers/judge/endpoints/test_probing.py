"""What is found out about endpoints in the background."""

import asyncio
from dataclasses import replace

from tests.judge_upstream.behaviours import after, capable, gives, refuses, says, sends, when
from tests.judge_upstream.scripted import Exchange, Scripted
from tests.verifiers.judge.endpoints.calls import QUESTION, RETRY, endpoint, gateway, outcome
from tests.waiting import until
from verifiers.judge.endpoints import ChatReply, EndpointState, Gateway
from verifiers.judge.errors import EndpointFailure

ASKING = replace(QUESTION, schema={"type": "object", "properties": {"verdict": {"enum": ["A"]}}}, top_logprobs=2)
QUICK = {"failures": 2, "eject_s": 0.05, "eject_cap_s": 0.2}


async def until_healthy(made: Gateway, health: str = "healthy") -> EndpointState:
    """Wait for the first endpoint to be so."""
    await until(lambda: made.states()[0].health == health)
    return made.states()[0]


async def test_a_probe_finds_out_what_an_endpoint_can_do() -> None:
    async with (
        Scripted(says(), probes=capable()) as upstream,
        gateway({"one": endpoint(upstream)}, probing=True) as made,
    ):
        state = await until_healthy(made)
        assert state.capabilities == {"schema": True, "logprobs": True, "several": True, "refused": []}
        assert upstream.calls == []


async def test_what_an_endpoint_ignores_is_not_asked_of_it() -> None:
    deaf = capable(schema=False, logprobs=False, several=False)
    async with (
        Scripted(says(), probes=deaf) as upstream,
        gateway({"one": endpoint(upstream)}, probing=True) as made,
    ):
        state = await until_healthy(made)
        assert state.capabilities == {"schema": False, "logprobs": False, "several": False, "refused": []}
        reply = await made.ask("judges", ASKING)
        assert reply.flags == ("no_schema", "no_logprobs")
        assert not {"response_format", "logprobs"} & set(upstream.calls[0].json)


async def test_what_the_file_says_counts_more_than_the_probe() -> None:
    deaf = capable(schema=False, logprobs=False)
    async with Scripted(says(), probes=deaf) as upstream:
        sure = endpoint(upstream, structured="response_format", logprobs=True)
        async with gateway({"one": sure}, probing=True) as made:
            await until_healthy(made)
            await made.ask("judges", ASKING)
            assert {"response_format", "logprobs"} <= set(upstream.calls[0].json)


async def test_a_reply_cut_off_before_its_form_could_be_seen_decides_nothing() -> None:
    runaway = says("{" + " " * 100, finish_reason="length")
    async with (
        Scripted(says(), probes=runaway) as upstream,
        gateway({"one": endpoint(upstream)}, probing=True) as made,
    ):
        assert (await until_healthy(made)).capabilities["schema"] is None
        await made.ask("judges", ASKING)
        assert "response_format" in upstream.calls[0].json


async def test_a_probe_leaves_out_what_is_refused() -> None:
    async def picky(exchange: Exchange) -> None:
        for name in ("n", "seed", "response_format"):
            if name in exchange.request.json:
                await refuses(400, "unsupported", param=name)(exchange)
                return
        await capable()(exchange)

    async with (
        Scripted(says(), probes=picky) as upstream,
        gateway({"one": endpoint(upstream)}, probing=True) as made,
    ):
        state = await until_healthy(made)
        assert state.capabilities["refused"] == ["n", "response_format", "seed"]
        assert (state.capabilities["schema"], state.capabilities["several"]) == (False, False)


async def test_an_endpoint_that_is_down_does_not_hold_up_the_start_and_is_found_when_it_comes() -> None:
    upstream = Scripted(says(), probes=capable())
    await upstream.listen()
    await upstream.stop()
    async with gateway({"one": endpoint(upstream, health=QUICK)}, probing=True) as made:
        await until_healthy(made, "ejected")
        await upstream.listen()
        try:
            await until_healthy(made)
            assert isinstance(await outcome(made), ChatReply)
        finally:
            await upstream.stop()


async def test_calls_wait_for_the_first_probe() -> None:
    go = asyncio.Event()
    async with (
        Scripted(says(), probes=when(go, capable())) as upstream,
        gateway({"one": endpoint(upstream)}, probing=True) as made,
    ):
        call = asyncio.create_task(made.ask("judges", QUESTION))
        await until(lambda: bool(upstream.requests))
        assert upstream.calls == []
        go.set()
        assert (await call).endpoint == "one"


async def test_no_call_waits_for_a_probe_where_another_endpoint_is_ready() -> None:
    async with Scripted(says(), probes=sends(b"", then="hang")) as cold, Scripted(says(), probes=capable()) as warm:
        endpoints = {"cold": endpoint(cold, weight=100), "warm": endpoint(warm)}
        async with gateway(endpoints, probing=True) as made:
            assert (await made.ask("judges", QUESTION)).endpoint == "warm"


async def test_an_ejected_endpoint_gets_no_calls_until_a_probe_succeeds() -> None:
    async with Scripted(refuses(500), probes=capable()) as ill, Scripted(says(), probes=capable()) as well:
        health = QUICK | {"eject_s": 1000, "eject_cap_s": 1000}
        endpoints = {"ill": endpoint(ill, weight=100, health=health), "well": endpoint(well)}
        async with gateway(endpoints, probing=True) as made:
            await until_healthy(made)
            for _ in range(10):
                assert (await made.ask("judges", QUESTION)).endpoint == "well"
            assert len(ill.calls) == 2
            assert made.states()[0].health == "ejected"


async def test_after_its_time_one_probe_decides() -> None:
    retry = RETRY.model_copy(update={"attempts": 2})
    async with (
        Scripted(refuses(500), probes=capable()) as upstream,
        gateway({"one": endpoint(upstream, health=QUICK)}, probing=True, retry=retry) as made,
    ):
        assert isinstance(await outcome(made), EndpointFailure)
        await until(lambda: made.states()[0].counters.probes == 2)
        state = await until_healthy(made)
        assert (state.ejections, len(upstream.calls)) == (1, 2)


async def test_where_all_are_ejected_the_least_bad_is_tried() -> None:
    health = QUICK | {"eject_s": 1000, "eject_cap_s": 1000}
    async with (
        Scripted(refuses(500), refuses(500), says(), probes=capable()) as upstream,
        gateway({"one": endpoint(upstream, health=health)}, probing=True) as made,
    ):
        assert isinstance(await outcome(made), ChatReply)
        state = await until_healthy(made)
        assert (state.ejections, state.counters.probes) == (1, 1)


async def test_a_refused_key_is_found_at_the_start_and_no_call_is_made() -> None:
    async with (
        Scripted(says(), probes=refuses(401)) as upstream,
        gateway({"one": endpoint(upstream)}, probing=True) as made,
    ):
        await until_healthy(made, "disabled")
        failure = await outcome(made)
        assert isinstance(failure, EndpointFailure)
        assert (failure.kind, failure.retryable) == ("auth", False)
        assert upstream.calls == []


async def test_one_call_that_is_forbidden_does_not_cost_the_endpoint() -> None:
    """What stands between us and a model may refuse what one response says."""
    async with (
        Scripted(refuses(403), says(), probes=capable()) as upstream,
        gateway({"one": endpoint(upstream)}, probing=True) as made,
    ):
        await until_healthy(made)
        assert isinstance(await outcome(made), EndpointFailure)
        assert isinstance(await outcome(made), ChatReply)
        assert made.states()[0].health == "healthy"


async def test_a_key_that_is_withdrawn_is_noticed() -> None:
    async with Scripted(refuses(401), probes=refuses(401)) as upstream:
        upstream.probes = capable()
        async with gateway({"one": endpoint(upstream)}, probing=True) as made:
            await until_healthy(made)
            upstream.probes = refuses(401)
            assert isinstance(await outcome(made), EndpointFailure)
            await until_healthy(made, "disabled")
            assert len(upstream.calls) == 1


async def test_an_endpoint_too_busy_for_a_probe_is_there() -> None:
    async with (
        Scripted(says(), probes=refuses(429)) as upstream,
        gateway({"one": endpoint(upstream)}, probing=True) as made,
    ):
        state = await until_healthy(made)
        assert state.capabilities["schema"] is None


async def test_health_is_asked_before_the_model() -> None:
    async def by_path(exchange: Exchange) -> None:
        await (gives({}, 503) if exchange.request.path == "/health" else says())(exchange)

    async with (
        Scripted(by_path) as upstream,
        gateway({"one": endpoint(upstream, health_path="/health")}, probing=True) as made,
    ):
        await until_healthy(made, "ejected")
        assert {seen.path for seen in upstream.requests} == {"/health"}


async def test_a_cold_start_is_waited_for_by_the_probe_alone() -> None:
    cold = after(0.5, capable())
    async with Scripted(says(), probes=cold) as upstream:
        patient = endpoint(upstream, timeout={"total_s": 0.1, "probe_s": 60})
        async with gateway({"one": patient}, probing=True) as made:
            assert (await until_healthy(made)).counters.probes == 1
