"""Callers' own requests: passed on as they are, answered as the upstream answers, streams included."""

import asyncio
import json
from typing import Any

import pytest

from tests.judge_upstream.behaviours import completion, gives, gives_bytes, refuses, says, sends, streams
from tests.judge_upstream.scripted import Behaviour, Scripted
from tests.verifiers.judge.endpoints.calls import endpoint, gateway
from verifiers.judge.endpoints import Gateway, RelayedStream
from verifiers.judge.errors import EndpointFailure

BODY = {
    "model": "whatever the caller says",
    "messages": [{"role": "user", "content": "hello"}],
    "temperature": 0.25,
    "n": 2,
    "stop": ["x"],
    "unheard_of": {"of": [1, None]},
}
EVENTS = (b'data: {"choices": [{"delta": {"content": "\xc3', b'\xa4"}}]}\n\n: still here\n\n', b"data: [DONE]\n\n")


async def whole(stream: RelayedStream) -> bytes:
    return b"".join([piece async for piece in stream.pieces])


async def into(pieces: list[bytes], stream: RelayedStream) -> str | None:
    """Keep what comes; the class of the failure in which it ends."""
    try:
        async for piece in stream.pieces:
            pieces.append(piece)
    except EndpointFailure as failure:
        return failure.kind
    return None


async def streamed(made: Gateway, **parts: Any) -> bytes | EndpointFailure:
    try:
        return await whole(await made.relay_stream("judges", BODY | {"stream": True}, **parts))
    except EndpointFailure as failure:
        return failure


async def test_a_large_answer_to_a_callers_own_request_passes() -> None:
    """A caller may ask for the probabilities of many tokens. Of such an answer only the usage is decoded."""
    many = [{"token": "a", "logprob": -0.5, "bytes": [97]}] * 20_000
    answer = json.dumps(completion() | {"logprobs": many}).encode()
    async with (
        Scripted(gives_bytes(answer)) as upstream,
        gateway({"one": endpoint(upstream)}) as made,
    ):
        relayed = await made.relay("judges", BODY)
        assert (relayed.body, relayed.usage.prompt, relayed.usage.completion) == (answer, 20, 10)


async def test_a_request_passes_but_for_its_model_and_an_answer_as_it_is() -> None:
    answer = json.dumps(completion() | {"extra": [1]}, indent=3).encode()
    async with (
        Scripted(gives_bytes(answer, x_request_id="r1", Set_Cookie="a=b", Server="s")) as upstream,
        gateway({"one": endpoint(upstream, api_key_env="KEY", extra_body={"top_k": 1, "temperature": 9})}) as made,
    ):
        relayed = await made.relay("judges", BODY)
        assert (relayed.status, relayed.body, relayed.endpoint) == (200, answer, "one")
        assert relayed.headers == {"Content-Type": "application/json", "x-request-id": "r1"}
        assert (relayed.usage.prompt, relayed.usage.completion) == (20, 10)
        assert upstream.calls[0].json == BODY | {"model": "judge", "top_k": 1}
        assert upstream.calls[0].headers["authorization"] == "Bearer secret-of-KEY"


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_what_the_caller_did_wrong_the_caller_is_told(status: int) -> None:
    async with (
        Scripted(refuses(status, "your secret-of-KEY and seed are unsupported")) as upstream,
        gateway({"one": endpoint(upstream, api_key_env="KEY")}) as made,
    ):
        relayed = await made.relay("judges", BODY | {"seed": 1})
        assert relayed.status == status
        assert b"your [key] and seed are unsupported" in relayed.body
        stream = await made.relay_stream("judges", BODY)
        assert (stream.status, await whole(stream)) == (status, relayed.body)
        assert len(upstream.calls) == 2
        assert made.states()[0].in_flight == 0


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (refuses(401, "bad key secret-of-KEY"), "auth"),
        (refuses(404), "model_not_found"),
        (refuses(500), "upstream_5xx"),
        (refuses(429), "rate_limited"),
        (gives({}, 307, Location="http://127.0.0.1:9/"), "bad_upstream_body"),
        (gives_bytes(b"<html>"), "bad_upstream_body"),
        (gives({"error": {"message": "x"}}), "bad_upstream_body"),
    ],
)
async def test_what_is_not_the_callers_fault_is_tried_elsewhere_and_else_a_failure(
    behaviour: Behaviour, kind: str
) -> None:
    async with Scripted(behaviour) as bad, Scripted(says()) as good:
        endpoints = {"bad": endpoint(bad, api_key_env="KEY", weight=100), "good": endpoint(good)}
        async with gateway(endpoints) as made:
            assert (await made.relay("judges", BODY)).endpoint == "good"
        async with gateway({"bad": endpoints["bad"]}) as made:
            with pytest.raises(EndpointFailure) as failure:
                await made.relay("judges", BODY)
            assert failure.value.kind == kind
            assert "secret" not in str(failure.value)
            result = await streamed(made)
            assert isinstance(result, EndpointFailure)
            assert made.states()[0].in_flight == 0


async def test_a_filter_that_refuses_the_callers_prompt_is_an_answer() -> None:
    async with (
        Scripted(refuses(400, "filtered", code="content_filter")) as upstream,
        gateway({"one": endpoint(upstream)}) as made,
    ):
        assert (await made.relay("judges", BODY)).status == 400
        assert len(upstream.calls) == 1
        assert made.states()[0].in_flight == 0


async def test_a_stream_passes_byte_by_byte() -> None:
    async with Scripted(streams(*EVENTS)) as upstream, gateway({"one": endpoint(upstream)}) as made:
        stream = await made.relay_stream("judges", BODY)
        assert (stream.status, stream.headers["Content-Type"]) == (200, "text/event-stream")
        assert made.states()[0].in_flight == 1
        assert await whole(stream) == b"".join(EVENTS)
        assert upstream.calls[0].json["stream"] is True
        state = made.states()[0]
        assert (state.in_flight, state.counters.successes) == (0, 1)


async def test_a_stream_without_its_last_word_passes_as_it_is() -> None:
    async with Scripted(streams(*EVENTS[:2])) as upstream, gateway({"one": endpoint(upstream)}) as made:
        assert await streamed(made) == b"".join(EVENTS[:2])


async def test_the_usage_at_the_end_of_a_stream_is_counted() -> None:
    last = b'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5}}\n\n'
    async with (
        Scripted(streams(*EVENTS[:2], last, EVENTS[2])) as upstream,
        gateway({"one": endpoint(upstream)}) as made,
    ):
        await streamed(made)
        counters = made.states()[0].counters
        assert (counters.prompt_tokens, counters.completion_tokens) == (7, 5)


async def test_a_stream_that_fails_before_its_first_byte_is_tried_elsewhere() -> None:
    for bad in (
        refuses(503),
        sends(b""),
        streams(),
        streams(b'data: {"error": {"message": "x"}}\n\n'),
        streams(b"data", end="whole", Content_Encoding="gzip"),
        sends(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
    ):
        async with (
            Scripted(bad) as one,
            Scripted(streams(*EVENTS)) as two,
            gateway({"one": endpoint(one, weight=100), "two": endpoint(two)}) as made,
        ):
            assert await streamed(made) == b"".join(EVENTS)
            assert (len(one.calls), len(two.calls)) == (1, 1)
            assert [state.in_flight for state in made.states()] == [0, 0]


async def test_a_stream_that_breaks_off_is_not_begun_again() -> None:
    async with (
        Scripted(streams(EVENTS[0], end="cut")) as one,
        Scripted(streams(*EVENTS)) as two,
        gateway({"one": endpoint(one, weight=100), "two": endpoint(two)}) as made,
    ):
        pieces = list[bytes]()
        assert await into(pieces, await made.relay_stream("judges", BODY)) == "bad_upstream_body"
        assert (b"".join(pieces), two.calls) == (EVENTS[0], [])
        assert [state.in_flight for state in made.states()] == [0, 0]


async def test_a_stream_that_stalls_ends_as_a_timeout() -> None:
    async with (
        Scripted(streams(EVENTS[0], end="hang")) as upstream,
        gateway({"one": endpoint(upstream, timeout={"idle_s": 0.2})}) as made,
    ):
        result = await streamed(made)
        assert isinstance(result, EndpointFailure)
        assert result.kind == "timeout"
        await upstream.calls[0].gone.wait()


async def test_a_stream_ends_with_its_deadline() -> None:
    async with (
        Scripted(streams(EVENTS[0], end="hang")) as upstream,
        gateway({"one": endpoint(upstream)}) as made,
    ):
        result = await streamed(made, deadline=asyncio.get_running_loop().time() + 1.0)
        assert isinstance(result, EndpointFailure)
        assert result.kind == "deadline"
        assert made.states()[0].health == "healthy"


async def test_a_caller_who_leaves_a_stream_ends_it() -> None:
    async with (
        Scripted(streams(*EVENTS[:2], end="hang")) as upstream,
        gateway({"one": endpoint(upstream)}) as made,
    ):
        stream = await made.relay_stream("judges", BODY)
        async for _ in stream.pieces:
            break
        await stream.aclose()
        await upstream.calls[0].gone.wait()
        assert made.states()[0].in_flight == 0
        assert await whole(stream) == b""


async def test_an_answer_in_one_piece_though_a_stream_was_asked_for_passes() -> None:
    async with Scripted(says()) as upstream, gateway({"one": endpoint(upstream)}) as made:
        stream = await made.relay_stream("judges", BODY)
        assert stream.headers["Content-Type"] == "application/json"
        assert json.loads(await whole(stream)) == completion()
        assert made.states()[0].in_flight == 0


@pytest.mark.parametrize(
    "odd",
    [{}, {"messages": "x"}, {"messages": [1, None]}, {"messages": [{"content": [1]}], "max_tokens": "many", "n": -1}],
)
async def test_an_odd_request_is_the_upstreams_to_refuse(odd: dict[str, Any]) -> None:
    async with Scripted(refuses(400)) as upstream, gateway({"one": endpoint(upstream, tpm=1000)}) as made:
        assert (await made.relay("judges", odd)).status == 400
        assert upstream.calls[0].json == odd | {"model": "judge"}
