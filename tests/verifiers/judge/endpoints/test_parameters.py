"""What is sent to endpoints that can do different things, and what becomes of parameters that they refuse."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.judge_upstream.behaviours import completion, gives, refuses, says
from tests.judge_upstream.scripted import Behaviour, Exchange, Scripted
from tests.verifiers.judge.endpoints.calls import QUESTION, endpoint, gateway, outcome
from verifiers.judge.endpoints import ChatReply, ChatRequest
from verifiers.judge.errors import EndpointFailure

SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["A", "B"]}}}
FULL = ChatRequest(
    messages=QUESTION.messages, temperature=0.5, top_p=0.9, seed=3, max_tokens=100, schema=SCHEMA, top_logprobs=5
)


def refusing(parameter: str, refusal: Behaviour, *others: str) -> Behaviour:
    """Refuses requests with a parameter, and answers those without."""

    async def behave(exchange: Exchange) -> None:
        asked = {parameter, *others} & set(exchange.request.json)
        await (refusal if asked else says())(exchange)

    return behave


REFUSALS: dict[str, tuple[str, Behaviour]] = {
    "param": ("seed", refuses(400, "Unsupported parameter", code="unsupported_parameter", param="seed")),
    "message": ("top_p", refuses(400, "Unrecognized request argument supplied: top_p")),
    "value": (
        "temperature",
        refuses(400, "'temperature' does not support 0.5", code="unsupported_value", param="temperature"),
    ),
    "nested_param": ("response_format", refuses(400, "is not supported", param="response_format.json_schema")),
    "detail": (
        "response_format",
        gives({"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}, 422),
    ),
    "detail_text": ("logprobs", gives({"detail": "logprobs is not supported"}, 422)),
    "old_vllm": ("seed", gives({"object": "error", "message": "unknown field: seed", "code": 400}, 400)),
    "500_that_is_a_validation_error": (
        "response_format",
        refuses(
            500,
            "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text'\"}]",
        ),
    ),
    "text": ("top_logprobs", refuses(400, "top_logprobs: not allowed for this model")),
}


@pytest.mark.parametrize(("parameter", "refusal"), REFUSALS.values(), ids=REFUSALS)
async def test_a_parameter_that_is_refused_is_left_out_and_remembered(parameter: str, refusal: Behaviour) -> None:
    async with Scripted(refusing(parameter, refusal)) as upstream, gateway({"one": endpoint(upstream)}) as made:
        first = await made.ask("judges", FULL)
        assert (first.attempts, len(upstream.calls)) == (1, 2)
        assert parameter in upstream.calls[0].json
        second = await made.ask("judges", FULL)
        assert (second.attempts, len(upstream.calls)) == (1, 3)
        flag = {"response_format": "no_schema", "logprobs": "no_logprobs", "top_logprobs": "no_logprobs"}
        assert flag.get(parameter, f"dropped:{parameter}") in second.flags
        kept = {"messages", "model", "max_tokens"}
        assert kept <= set(upstream.calls[2].json)
        assert made.states()[0].counters.failures == {}
        assert made.states()[0].capabilities["refused"] == [parameter]


async def test_max_tokens_has_two_names() -> None:
    refusal = refuses(400, "Use 'max_completion_tokens' instead.", code="unsupported_parameter", param="max_tokens")
    async with Scripted(refusing("max_tokens", refusal)) as upstream, gateway({"one": endpoint(upstream)}) as made:
        await made.ask("judges", FULL)
        assert upstream.calls[1].json["max_completion_tokens"] == 100


async def test_without_any_bound_on_the_reply_nothing_is_asked() -> None:
    async def neither(exchange: Exchange) -> None:
        name = next(name for name in exchange.request.json if name.startswith("max_"))
        await refuses(400, f"unknown parameter {name}", param=name)(exchange)

    async with Scripted(neither) as upstream, gateway({"one": endpoint(upstream)}) as made:
        failure = await outcome(made)
        assert isinstance(failure, EndpointFailure)
        assert failure.kind == "bad_upstream_request"
        assert len(upstream.calls) == 2


async def test_calls_at_once_leave_the_same_parameter_out_and_none_fails() -> None:
    refusal = refuses(400, "unsupported", param="seed")
    async with Scripted(refusing("seed", refusal)) as upstream, gateway({"one": endpoint(upstream)}) as made:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(outcome(made, FULL)) for _ in range(8)]
        assert all(isinstance(call.result(), ChatReply) for call in calls)


async def test_an_endpoint_that_refuses_everything_is_asked_a_bounded_number_of_times() -> None:
    async def first_named(exchange: Exchange) -> None:
        names = [name for name in exchange.request.json if name not in ("model", "messages")]
        await refuses(400, "unsupported", param=names[0])(exchange)

    async with Scripted(first_named) as upstream, gateway({"one": endpoint(upstream)}) as made:
        assert isinstance(await outcome(made, FULL), EndpointFailure)
        assert len(upstream.calls) <= 12


async def test_a_prompt_cannot_talk_parameters_away() -> None:
    """Some servers repeat what they could not read; what a response says must not change what later ones get."""

    async def parrot(exchange: Exchange) -> None:
        said = exchange.request.json["messages"][-1]["content"]
        await (refuses(400, f"cannot read: {said}") if "unsupported" in said else says())(exchange)

    async with Scripted(parrot) as upstream, gateway({"one": endpoint(upstream)}) as made:
        for parameter in ("response_format", "max_tokens", "logprobs"):
            text = f"{parameter} is an unsupported parameter"
            failure = await outcome(made, replace(FULL, messages=({"role": "user", "content": text},)))
            assert isinstance(failure, EndpointFailure)
        before = len(upstream.calls)
        await made.ask("judges", FULL)
        assert made.states()[0].capabilities["refused"] == []
        assert {"response_format", "max_tokens", "logprobs"} <= set(upstream.calls[before].json)


async def test_a_refusal_that_names_nothing_of_ours_is_final() -> None:
    async with Scripted(refuses(400, "unknown parameter: frobnicate")) as upstream:
        made_of = endpoint(upstream, extra_body={"frobnicate": 1})
        async with gateway({"one": made_of}) as made:
            failure = await outcome(made, FULL)
            assert isinstance(failure, EndpointFailure)
            assert (failure.kind, len(upstream.calls)) == ("bad_upstream_request", 1)


async def sent(request: ChatRequest = FULL, **config: Any) -> tuple[dict[str, Any], ChatReply]:
    async with Scripted(says()) as upstream, gateway({"one": endpoint(upstream, **config)}) as made:
        reply = await made.ask("judges", request)
        body: dict[str, Any] = upstream.calls[0].json
        return body, reply


async def test_a_plain_request() -> None:
    body, reply = await sent(ChatRequest(messages=QUESTION.messages, max_tokens=7))
    assert body == {
        "model": "judge",
        "messages": [{"role": "user", "content": "is it right?"}],
        "max_tokens": 7,
        "temperature": 0.0,
    }
    assert reply.flags == ()


async def test_a_schema_is_asked_for_in_the_way_of_the_endpoint() -> None:
    body, _ = await sent()
    wanted = {"name": "verdict", "schema": SCHEMA, "strict": True}
    assert body["response_format"] == {"type": "json_schema", "json_schema": wanted}
    body, _ = await sent(structured="structured_outputs")
    assert body["structured_outputs"] == {"json": SCHEMA}
    assert "response_format" not in body
    body, reply = await sent(structured="none")
    assert not {"response_format", "structured_outputs"} & set(body)
    assert "no_schema" in reply.flags


async def test_log_probabilities_that_do_not_come_are_flagged() -> None:
    body, reply = await sent()
    assert (body["logprobs"], body["top_logprobs"], reply.flags) == (True, 5, ("no_logprobs",))
    body, reply = await sent(logprobs=False)
    assert "logprobs" not in body
    assert reply.flags == ("no_logprobs",)


async def test_max_tokens_stays_below_its_cap() -> None:
    body, _ = await sent(replace(FULL, max_tokens=500, max_tokens_cap=300))
    assert body["max_tokens"] == 300


async def test_a_prompt_that_cannot_fit_is_not_sent() -> None:
    long = replace(FULL, messages=({"role": "user", "content": "x" * 2000},))
    async with Scripted(says()) as upstream, gateway({"one": endpoint(upstream, context_tokens=100)}) as made:
        failure = await outcome(made, long)
        assert isinstance(failure, EndpointFailure)
        assert (failure.kind, upstream.requests) == ("context_overflow", [])


@pytest.mark.parametrize(
    ("answered", "flagged"),
    [
        ("judge", False),
        ("org/Judge", False),
        ("judge-2026-01-01", False),
        ("other", True),
        ("", False),
        (None, False),
        (7, False),
    ],
)
async def test_another_model_is_flagged(answered: Any, flagged: bool) -> None:
    async with Scripted(gives(completion(model=answered))) as upstream, gateway({"one": endpoint(upstream)}) as made:
        reply = await made.ask("judges", QUESTION)
        assert ("model_mismatch" in reply.flags) is flagged


@pytest.mark.parametrize(
    ("status", "code"), [(400, "content_filter"), (403, "moderation"), (400, "content_policy_violation")]
)
async def test_a_prompt_that_a_filter_refuses_is_answered_by_no_verdict(status: int, code: str) -> None:
    async with (
        Scripted(refuses(status, "filtered", code=code)) as upstream,
        gateway({"one": endpoint(upstream)}) as made,
    ):
        reply = await made.ask("judges", QUESTION)
        assert (reply.finish_reason, reply.message["content"], reply.flags) == ("content_filter", None, ("filtered",))
        assert len(upstream.calls) == 1
        assert made.states()[0].health == "healthy"


async def test_the_key_goes_where_azure_wants_it() -> None:
    async with Scripted(says()) as upstream:
        azure = endpoint(upstream, api_key_env="KEY", api_version="2026-01", headers_env={"X-Team": "TEAM"})
        async with gateway({"one": azure}) as made:
            await made.ask("judges", QUESTION)
        seen = upstream.calls[0]
        assert seen.path == "/v1/chat/completions?api-version=2026-01"
        assert (seen.headers["api-key"], seen.headers["x-team"]) == ("secret-of-KEY", "secret-of-TEAM")
        assert "authorization" not in seen.headers


async def test_a_decision_is_asked_for_and_given_as_a_text() -> None:
    answer = {"model": "judge", "answers": {"verdict": {"type": "choice", "probabilities": {"A": 0.9, "B": 0.1}}}}
    async with (
        Scripted(gives(answer)) as upstream,
        gateway({"one": endpoint(upstream, protocol="decisions")}) as made,
    ):
        failure = await outcome(made)
        assert isinstance(failure, EndpointFailure)
        decision = {"state": {"question": "q"}, "questions": [{"id": "verdict"}]}
        reply = await made.ask("judges", replace(QUESTION, decision=decision))
        assert upstream.calls[0].path == "/v1/decisions"
        assert upstream.calls[0].json == {"model": "judge", **decision}
        assert '"answers":{"verdict"' in reply.message["content"]


async def test_what_is_no_json_is_not_sent() -> None:
    odd = ChatRequest(messages=({"role": "user", "content": "half of a pair: \ud800"},))
    async with Scripted(says()) as upstream, gateway({"one": endpoint(upstream)}) as made:
        failure = await outcome(made, odd)
        assert isinstance(failure, EndpointFailure)
        assert (failure.kind, upstream.requests) == ("bad_upstream_request", [])
