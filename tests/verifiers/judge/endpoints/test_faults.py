"""Every way in which an upstream can fail, one by one: what the call comes to, and how often the upstream was asked."""

import asyncio
import gzip
import json
import socket
import zlib
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.judge_upstream.behaviours import (
    GZIPPED,
    USAGE,
    VERDICT,
    completion,
    drips,
    gives,
    gives_bytes,
    refuses,
    says,
    sends,
    streams,
)
from tests.judge_upstream.scripted import Behaviour, Scripted
from tests.verifiers.judge.endpoints.calls import QUESTION, endpoint, gateway, outcome
from verifiers.judge.endpoints import ChatReply
from verifiers.judge.errors import EndpointFailure

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = json.dumps(completion()).encode()
SHORT = {"total_s": 1.0}


@dataclass(frozen=True)
class Case:
    """`kind`: of the failure, where every try goes so; `calls`: how often a pool of this endpoint alone asks it."""

    name: str
    behaviour: Behaviour
    kind: str
    calls: int
    config: dict[str, Any] = field(default_factory=dict)
    status: int | None = None
    elsewhere: bool = True
    """Whether another endpoint is asked."""


CASES = [
    # Transport.
    Case("accept_then_close", sends(b""), "connect", 3),
    Case("reset_before_the_head", sends(b"", then="reset"), "connect", 3),
    Case("reset_in_mid_body", sends(HEAD + b"Content-Length: 900\r\n\r\n{", then="reset"), "any", 3),
    Case("hang_before_headers", sends(b"", then="hang"), "timeout", 2, {"timeout": SHORT}),
    Case(
        "headers_then_hang", sends(HEAD + b"Content-Length: 900\r\n\r\n", then="hang"), "timeout", 2, {"timeout": SHORT}
    ),
    Case(
        "stall_in_mid_body",
        sends(HEAD + b"Content-Length: 900\r\n\r\n{", then="hang"),
        "timeout",
        2,
        {"timeout": SHORT},
    ),
    Case("drip", drips(), "timeout", 2, {"timeout": SHORT}),
    Case("content_length_too_long", sends(HEAD + b"Content-Length: 9999\r\n\r\n" + GOOD), "bad_upstream_body", 3),
    Case("content_length_too_short", gives_bytes(GOOD, Content_Length=str(len(GOOD) - 9)), "bad_upstream_body", 3),
    Case("chunked_without_end", streams(b"{", end="cut"), "bad_upstream_body", 3),
    Case("corrupt_gzip", gives_bytes(b"\x1f\x8bxyz", Content_Encoding="gzip"), "bad_upstream_body", 3),
    Case("gzip_cut_off", gives_bytes(GZIPPED[:-9], Content_Encoding="gzip"), "bad_upstream_body", 3),
    Case("unknown_encoding", gives_bytes(GOOD, Content_Encoding="br"), "bad_upstream_body", 1),
    Case("huge_body", gives_bytes(b" " * 300_000 + GOOD), "bad_upstream_body", 1, {"max_response_bytes": 100_000}),
    Case(
        "huge_body_without_length",
        streams(*[b" " * 50_000] * 6, Content_Type="application/json"),
        "bad_upstream_body",
        1,
        {"max_response_bytes": 100_000},
    ),
    Case(
        "zip_bomb",
        gives_bytes(gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"),
        "bad_upstream_body",
        1,
        {"max_response_bytes": 100_000},
    ),
    Case("lists", gives_bytes(b'{"choices":[' + b"[]," * 100_000 + b"[]]}"), "bad_upstream_body", 3),
    Case("texts", gives_bytes(b'{"choices":["' + b'","' * 100_000 + b'"]}'), "bad_upstream_body", 3),
    Case("lists_and_halves", gives_bytes(b'{"a":["\\ud800",' + b"[]," * 100_000 + b"[]]}"), "bad_upstream_body", 3),
    Case("deep", gives_bytes(b"[" * 500_000), "bad_upstream_body", 3),
    Case("deep_object", gives_bytes(b'{"a":' * 100_000), "bad_upstream_body", 3),
    Case("deep_with_halves", gives_bytes(b'["\\ud800",' + b"[" * 19_000), "bad_upstream_body", 3),
    Case("not_http", sends(b"SSH-2.0-OpenSSH\r\n\r\n"), "bad_upstream_body", 3),
    Case("huge_header", gives_bytes(GOOD, X_Long="x" * 100_000), "bad_upstream_body", 3),
    Case("204", gives_bytes(b"", 204), "bad_upstream_body", 3, status=204),
    Case("206", gives_bytes(GOOD, 206), "bad_upstream_body", 3, status=206),
    Case("redirect_301", gives({}, 301, Location="http://127.0.0.1:9/"), "bad_upstream_body", 1),
    Case("redirect_307", gives({}, 307, Location="http://127.0.0.1:9/"), "bad_upstream_body", 1),
    Case("redirect_308", gives({}, 308, Location="http://127.0.0.1:9/"), "bad_upstream_body", 1),
    # Statuses.
    Case("429_without_header", refuses(429), "rate_limited", 3, status=429),
    Case("429_insufficient_quota", refuses(429, code="insufficient_quota"), "quota", 1, status=429),
    Case("402", refuses(402), "quota", 1, status=402),
    Case("500", refuses(500), "upstream_5xx", 3, status=500),
    Case("501", refuses(501), "upstream_5xx", 1, status=501),
    Case("502_html", gives_bytes(b"<html>", 502, Content_Type="text/html"), "upstream_5xx", 3, status=502),
    Case("503_loading", refuses(503, "Loading model"), "upstream_5xx", 3, status=503),
    Case("504", gives_bytes(b"", 504), "upstream_5xx", 3, status=504),
    Case("520", gives_bytes(b"error code: 520", 520), "upstream_5xx", 3, status=520),
    Case("529", gives({"type": "error"}, 529), "upstream_5xx", 3, status=529),
    Case("408", refuses(408), "timeout", 2, status=408),
    Case("409", refuses(409), "upstream_5xx", 3, status=409),
    Case("425", refuses(425), "upstream_5xx", 3, status=425),
    Case("401", refuses(401), "auth", 1, status=401),
    Case("403", refuses(403), "auth", 1, status=403),
    Case("404_model", refuses(404, code="model_not_found"), "model_not_found", 1, status=404),
    Case("404_while_loading", refuses(404), "upstream_5xx", 3, {"retry_404": True}, status=404),
    Case("400_model", refuses(400, code="model_not_found"), "model_not_found", 1, status=400),
    Case("400", refuses(400, "broken"), "bad_upstream_request", 1, status=400, elsewhere=False),
    Case("413", refuses(413), "bad_upstream_request", 1, status=413, elsewhere=False),
    Case("422_detail", gives({"detail": "what?"}, 422), "bad_upstream_request", 1, status=422, elsewhere=False),
    Case("405", refuses(405), "bad_upstream_request", 1, status=405, elsewhere=False),
    Case(
        "context_openai",
        refuses(400, "This model's maximum context length is 8 tokens", code="context_length_exceeded"),
        "context_overflow",
        1,
        elsewhere=False,
    ),
    Case(
        "context_llama_cpp",
        gives({"error": {"code": 400, "message": "too long", "type": "exceed_context_size_error", "n_ctx": 8}}, 400),
        "context_overflow",
        1,
        elsewhere=False,
    ),
    Case(
        "context_vllm",
        refuses(400, "You passed 9 input tokens, however max_tokens is 4", param="input_tokens"),
        "context_overflow",
        1,
        elsewhere=False,
    ),
    Case(
        "context_old_vllm",
        gives(
            {"object": "error", "message": "This model's maximum context length is 8 tokens. max_tokens", "code": 400},
            400,
        ),
        "context_overflow",
        1,
        elsewhere=False,
    ),
    Case("x_should_retry_false", refuses(503, x_should_retry="false"), "upstream_5xx", 1, status=503, elsewhere=False),
    # Bodies.
    Case("empty_body", gives_bytes(b""), "bad_upstream_body", 3),
    Case("not_json", gives_bytes(b"hello"), "bad_upstream_body", 3),
    Case("truncated_json", gives_bytes(GOOD[:-5]), "bad_upstream_body", 3),
    Case("html_with_200", gives_bytes(b"<html></html>", Content_Type="text/html"), "bad_upstream_body", 3),
    Case("json_array", gives([completion()]), "bad_upstream_body", 3),
    Case("json_null", gives(None), "bad_upstream_body", 3),
    Case("nan", gives_bytes(b'{"choices": NaN, "\\ud800": 1}'), "bad_upstream_body", 3),
    Case("deep_json", gives_bytes(b"[" * 90_000), "bad_upstream_body", 3),
    Case("no_choices", gives({"id": "x"}), "bad_upstream_body", 3),
    Case("choices_empty", gives({"choices": []}), "bad_upstream_body", 3),
    Case("choices_of_nulls", gives({"choices": [None]}), "bad_upstream_body", 3),
    Case("message_missing", gives({"choices": [{"index": 0}]}), "bad_upstream_body", 3),
    Case("message_a_string", gives({"choices": [{"index": 0, "message": "A"}]}), "bad_upstream_body", 3),
    Case("only_index_1", gives({"choices": [{"index": 1, "message": {"content": "A"}}]}), "bad_upstream_body", 3),
    Case(
        "two_choices_that_differ",
        gives({"choices": [{"index": 0, "message": {"content": text}} for text in "AB"]}),
        "bad_upstream_body",
        3,
    ),
    Case(
        "deep_error",
        gives_bytes(b'{"detail": %s}' % (b"[" * 900 + b"]" * 900), 422),
        "bad_upstream_request",
        1,
        elsewhere=False,
    ),
    Case("error_with_200", gives({"error": {"message": "oh"}}), "bad_upstream_body", 3),
    Case("error_429_with_200", gives({"error": {"message": "oh", "code": 429}}), "rate_limited", 3),
    Case(
        "error_context_with_200",
        gives({"error": {"message": "context size", "code": 400}}),
        "context_overflow",
        1,
        elsewhere=False,
    ),
    Case("invalid_utf8", gives_bytes(GOOD.replace(b"same", b"\xff\xfe")), "bad_upstream_body", 3),
    Case("events_though_no_stream", streams(b'data: {"choices": []}\n\n', b"data: [DONE]\n\n"), "bad_upstream_body", 3),
]


@pytest.mark.judges(beyond=1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_alone_it_is_a_failure_and_no_verdict(case: Case) -> None:
    async with Scripted(case.behaviour) as upstream:
        one = endpoint(upstream, api_key_env="KEY_ONE", health={"failures": 100}, **case.config)
        async with gateway({"one": one}) as made:
            failure = await outcome(made)
            assert isinstance(failure, EndpointFailure)
            kinds = {"connect", "bad_upstream_body"} if case.kind == "any" else {case.kind}
            assert failure.kind in kinds
            assert len(upstream.calls) == case.calls == len(failure.attempts)
            assert {attempt.endpoint for attempt in failure.attempts} == {"one"}
            if case.status is not None:
                assert {attempt.status for attempt in failure.attempts} == {case.status}
            assert "secret" not in str(failure) + repr(failure.__dict__) + repr(failure.__cause__)
            assert all(seen.headers["authorization"] == "Bearer secret-of-KEY_ONE" for seen in upstream.calls)
            assert made.states()[0].in_flight == 0
            assert made.waiting == 0


@pytest.mark.judges(beyond=1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_beside_a_sound_endpoint_it_costs_an_attempt_and_no_item(case: Case) -> None:
    async with Scripted(case.behaviour) as bad, Scripted(says()) as good:
        endpoints = {
            "bad": endpoint(bad, api_key_env="KEY_BAD", weight=1000, **case.config),
            "good": endpoint(good, api_key_env="KEY_GOOD", timeout={"total_s": 50}),
        }
        async with gateway(endpoints) as made:
            result = await outcome(made)
            assert len(bad.calls) == 1
            assert {seen.headers["authorization"] for seen in good.calls} <= {"Bearer secret-of-KEY_GOOD"}
            assert {seen.headers["authorization"] for seen in bad.calls} == {"Bearer secret-of-KEY_BAD"}
            if case.elsewhere:
                assert isinstance(result, ChatReply)
                assert (result.endpoint, result.attempts, result.message["content"]) == ("good", 2, VERDICT)
            else:
                assert isinstance(result, EndpointFailure)
                assert good.calls == []


SOUND = {
    "plain": gives_bytes(GOOD),
    "gzip": gives_bytes(GZIPPED, Content_Encoding="gzip"),
    "deflate": gives_bytes(zlib.compress(GOOD), Content_Encoding="deflate"),
    "raw_deflate": gives_bytes(zlib.compress(GOOD, wbits=-15), Content_Encoding="deflate"),
    "http_1_0": sends(b"HTTP/1.0 200 OK\r\n\r\n" + GOOD),
    "chunked": streams(*[GOOD[place : place + 7] for place in range(0, len(GOOD), 7)], Content_Type="application/json"),
    "wrong_content_type": gives_bytes(GOOD, Content_Type="text/plain"),
    "continue_100": sends(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(GOOD) + GOOD
    ),
    "parts": says([{"type": "text", "text": VERDICT[:9]}, {"type": "text", "text": VERDICT[9:]}]),
    "same_choice_twice": gives(completion() | {"choices": completion()["choices"] * 2}),
    "no_index": gives({"choices": [{"message": {"content": VERDICT}, "finish_reason": "stop"}]}),
    "error_null": gives(completion() | {"error": None}),
}


@pytest.mark.parametrize("behaviour", SOUND.values(), ids=SOUND)
async def test_unusual_but_sound_replies_are_read(behaviour: Behaviour) -> None:
    async with Scripted(behaviour) as upstream, gateway({"one": endpoint(upstream)}) as made:
        reply = await made.ask("judges", QUESTION)
        assert (reply.message["content"], reply.finish_reason, reply.attempts) == (VERDICT, "stop", 1)
        assert len(upstream.calls) == 1


UNREADABLE = {
    "content_null": completion(None),
    "content_empty_reasoning_full": completion("", reasoning_content="A"),
    "refusal": completion(None, refusal="I can't"),
    "tool_calls": completion(None, tool_calls=[{"id": "1", "type": "function"}]),
    "finish_length": completion("{", finish_reason="length"),
    "finish_content_filter": completion("", finish_reason="content_filter"),
    "finish_null": completion(finish_reason=None),
    "finish_unknown": completion(finish_reason="whatever"),
    "parts_of_other_kinds": completion([{"type": "image_url", "image_url": {}}]),
    "whitespace_runaway": completion("{" + " " * 5000, finish_reason="length"),
    "huge_content": completion("A" * 1_000_000),
    "nul": completion("\x00A"),
}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
async def test_what_the_model_said_is_passed_on_for_the_parser_to_judge(body: dict[str, Any]) -> None:
    async with Scripted(gives(body)) as upstream, gateway({"one": endpoint(upstream)}) as made:
        reply = await made.ask("judges", QUESTION)
        assert reply.message == body["choices"][0]["message"]
        assert reply.finish_reason == body["choices"][0]["finish_reason"]
        assert len(upstream.calls) == 1


async def test_half_of_a_surrogate_pair_becomes_a_replacement_character() -> None:
    half = gives_bytes(GOOD.replace(b"same", b"\\ud83d"))
    async with Scripted(half) as upstream, gateway({"one": endpoint(upstream)}) as made:
        reply = await made.ask("judges", QUESTION)
        assert reply.message["content"] == VERDICT.replace("same", "\ufffd")


USAGES: dict[str, tuple[Any, tuple[int | None, ...]]] = {
    "whole": (USAGE, (20, 5, 10)),
    "missing": (None, (None, None, None)),
    "null_details": (USAGE | {"prompt_tokens_details": None}, (20, None, 10)),
    "negative": (USAGE | {"prompt_tokens": -1}, (None, 5, 10)),
    "strings": (USAGE | {"completion_tokens": "10"}, (20, 5, None)),
    "booleans": (USAGE | {"completion_tokens": True}, (20, 5, None)),
    "absurd": (USAGE | {"completion_tokens": 10**30}, (20, 5, None)),
    "no_mapping": ([1], (None, None, None)),
}


@pytest.mark.parametrize(("usage", "expected"), USAGES.values(), ids=USAGES)
async def test_usage_that_is_none_is_unknown(usage: Any, expected: tuple[int | None, ...]) -> None:
    price = {"input": 1, "output": 2}
    async with Scripted(says(usage=usage)) as upstream, gateway({"one": endpoint(upstream, price=price)}) as made:
        reply = await made.ask("judges", QUESTION)
        assert (reply.usage.prompt, reply.usage.cached, reply.usage.completion) == expected
        assert (reply.cost is None) is (expected[0] is None or expected[2] is None)


async def test_a_refused_connection_is_asked_for_again_and_then_reported() -> None:
    async with Scripted(says()) as upstream:
        url = upstream.url
    async with gateway({"one": endpoint(url, health={"failures": 100})}) as made:
        failure = await outcome(made)
        assert isinstance(failure, EndpointFailure)
        assert (failure.kind, len(failure.attempts), failure.retryable) == ("connect", 3, True)


async def test_a_name_that_does_not_exist_is_a_failure_to_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    # No resolver is asked: a test does not reach beyond this machine.
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    async with gateway({"one": endpoint("http://judge.invalid:1/v1")}) as made:
        failure = await outcome(made)
        assert isinstance(failure, EndpointFailure)
        assert failure.kind == "connect"


async def test_plain_http_where_tls_is_expected_is_a_failure_to_connect() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with gateway({"one": endpoint(f"https://127.0.0.1:{port}/v1")}) as made:
            failure = await outcome(made)
            assert isinstance(failure, EndpointFailure)
            assert failure.kind == "connect"


async def test_a_connection_that_was_closed_meanwhile_costs_no_call() -> None:
    async def once(exchange: Any) -> None:
        await exchange.send(200, GOOD)
        exchange.writer.close()

    async with Scripted(once) as upstream, gateway({"one": endpoint(upstream)}) as made:
        for _ in range(5):
            assert (await made.ask("judges", QUESTION)).message["content"] == VERDICT


async def test_a_redirect_does_not_take_the_key_along() -> None:
    async with Scripted(says()) as thief:
        redirect = gives({}, 307, Location=f"{thief.url}/chat/completions")
        async with Scripted(redirect) as upstream, gateway({"one": endpoint(upstream, api_key_env="KEY")}) as made:
            assert isinstance(await outcome(made), EndpointFailure)
            assert len(upstream.calls) == 1
            assert thief.requests == []


async def test_a_key_that_an_upstream_repeats_is_not_shown() -> None:
    leak = refuses(400, "your key secret-of-KEY is nice")
    async with Scripted(leak) as upstream, gateway({"one": endpoint(upstream, api_key_env="KEY")}) as made:
        failure = await outcome(made)
        assert isinstance(failure, EndpointFailure)
        assert "secret" not in str(failure)
        assert "[key]" in str(failure)


async def test_an_upstream_cannot_write_lines_or_escapes_into_our_messages() -> None:
    loud = refuses(400, "a\nERROR b\x1b[31m\u202ec" + "x" * 5000)
    async with Scripted(loud) as upstream, gateway({"one": endpoint(upstream)}) as made:
        text = str(await outcome(made))
        assert text.isprintable()
        assert len(text) < 400


async def test_a_long_text_with_marks_of_json_is_an_answer() -> None:
    """Only values count, not what looks like them within a text."""
    text = '[{"a": ["\\\\", 1]}, ' * 10_000 + VERDICT
    async with Scripted(says(text)) as upstream, gateway({"one": endpoint(upstream)}) as made:
        reply = await outcome(made)
    assert isinstance(reply, ChatReply)
    assert reply.message["content"] == text
