"""The HTTP door from outside: a real server, a real client, and raw sockets for what no client would send."""

import asyncio
import gzip
import json
import resource
import signal
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
import pytest
import zstandard

from tests.service.slow_verifier import held, serving_slowly
from tests.tables import table
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]


def item(response: Any = "12", reference: Any = "12", **more: Any) -> JSON:
    return {"verifier": "numeric", "response": response, "reference": reference, **more}


def post(served: Any, body: Any, **more: Any) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(f"{served.url}/v1/score", content=content, timeout=PATIENCE_S, **more)


def problem(response: httpx.Response, status: int) -> JSON:
    assert response.status_code == status, response.text[:500]
    assert response.headers["content-type"] == "application/problem+json"
    body: JSON = response.json()
    assert body["status"] == status
    assert body["request_id"] == response.headers["x-request-id"]
    return body


def test_a_batch_gets_one_result_per_item_in_order(served: Any) -> None:
    reply = post(served, {"items": [item("12", id="a"), item("13"), item(verifier="numerik"), item("12", "x")]})
    assert reply.status_code == 200
    body = reply.json()
    assert [result["id"] for result in body["results"]] == ["a", 1, 2, 3]
    assert [result["status"] for result in body["results"]] == ["ok", "ok", "invalid", "invalid"]
    assert [result["score"] for result in body["results"]] == [1.0, 0.0, None, None]
    assert [result["reward"] for result in body["results"]] == [1.0, 0.0, None, None]
    assert set(body["results"][0]) == {
        "id", "status", "score", "reward", "reason", "verifier", "version",
        "extracted", "detail", "checks", "recipe", "cached", "elapsed_ms",
    }  # fmt: skip
    assert body["summary"]["items"] == 4
    assert "numeric" in body["results"][2]["detail"]["message"]


def test_the_stream_has_a_line_per_result_and_one_for_the_summary(served: Any) -> None:
    reply = post(served, {"items": [item(str(n)) for n in range(300)]}, headers={"Accept": "application/x-ndjson"})
    assert reply.headers["content-type"] == "application/x-ndjson"
    *results, summary = [json.loads(line) for line in reply.text.splitlines()]
    assert sorted(result["index"] for result in results) == list(range(300))
    assert all((result["score"] == 1.0) == (result["index"] == 12) for result in results)
    assert summary["summary"]["ok"] == 300


def test_responses_may_be_messages_and_references_shared(served: Any) -> None:
    messages = [{"role": "user", "content": "6+6?"}, {"role": "assistant", "content": [{"type": "text", "text": "12"}]}]
    body = {
        "references": {"p": "12"},
        "items": [
            {"verifier": "numeric", "response": messages, "reference_id": "p"},
            {"verifier": "numeric", "response": "12", "reference_id": "q"},
            {"verifier": "numeric", "response": "12", "reference_id": "p", "reference": "12"},
            {"verifier": "numeric", "response": [{"role": "user", "content": "12"}], "reference_id": "p"},
        ],
    }
    results = post(served, body).json()["results"]
    assert [result["reason"] for result in results] == ["correct", "unknown_reference", "ambiguous", "no_response"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "unroutable"),
        ({"tag": "nosuch"}, "unroutable"),
        ({"recipe": "think_maths"}, "unknown_recipe"),
        ({"recipe": "a", "verifier": "numeric"}, "ambiguous"),
        ({"verifier": "numerik"}, "unknown_verifier"),
        ({"verifier": "numeric", "params": {"abs_tolerance": 1}}, "bad_params"),
        ({"verifier": "numeric", "params": [1]}, "bad_params"),
        ({"verifier": "numeric", "params": {"reference": "12"}}, "bad_params"),
        ({"verifier": "numeric", "reference": {"a": [1]}}, "bad_reference"),
    ],
)
def test_an_item_that_cannot_be_judged_is_invalid_and_costs_nobody_else(served: Any, fields: JSON, reason: str) -> None:
    bad = {"response": "12", "reference": "12", **fields}
    results = post(served, {"items": [item(), bad, item()]}).json()["results"]
    assert [result["status"] for result in results] == ["ok", "invalid", "ok"]
    assert results[1]["reason"] == reason
    assert results[1]["detail"]["message"]


@pytest.mark.parametrize(
    ("body", "status", "loc"),
    [
        (b"", 400, None),
        (b"not json", 400, None),
        (b'{"items": [', 400, None),
        (b'{"items": [{"response": "a", "reference": NaN}]}', 400, None),
        (b'{"items": [{"response": "\xff"}]}', 400, None),
        (b"[" * 100_000, 400, None),
        (b'{"items": [{"response": "a", "reference": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]}", 400, None),
        (b"3", 422, None),
        (b'{"response": 5, "verifier": "math", "id": \xff}', 400, None),
        (b'{"unheard": 5, "response": "a"', 400, None),
        (b'[{"response": "a"}], "explain": true', 400, None),
        (b'{"response": "a"} {}', 400, None),
        (b"[3]", 422, ["items", 0]),
        (b'[{"response": "a"}, {"response": 5}]', 422, ["items", 1, "response"]),
        (b'{"verifier": "math", "respons": "a"}', 422, ["items", 0, "respons"]),
        (b'{"response": "a", "deadline_s": 0}', 422, ["deadline_s"]),
        (b"{}", 422, ["items"]),
        (b'{"items": {}}', 422, ["items"]),
        (b'{"items": [{"response": "a"}, {"response": 5}]}', 422, ["items", 1, "response"]),
        (b'{"items": [{"response": "a"}, {}]}', 422, ["items", 1, "response"]),
        (b'{"items": [{"response": "a", "solution": 1}]}', 422, ["items", 0, "solution"]),
        (b'{"items": [{"response": "a", "id": 1.5}]}', 422, ["items", 0, "id"]),
        (b'{"items": [], "deadline_s": 0}', 422, ["deadline_s"]),
        (b'{"items": [], "deadline_s": "1"}', 422, ["deadline_s"]),
        (b'{"items": [], "cache": "maybe"}', 422, ["cache"]),
        (b'{"items": [], "itmes": []}', 422, ["itmes"]),
    ],
)
def test_a_body_that_is_no_request_is_refused_with_the_field(
    served: Any, body: bytes, status: int, loc: list[Any] | None
) -> None:
    found = problem(post(served, body), status)
    assert found["detail"]
    if loc is not None:
        assert found["errors"][0]["loc"] == loc
        assert found["errors"][0]["msg"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"items": [item(), {"verifier": "math", "respons": "12"}]}, "`respons`; did you mean `response`?"),
        ({"verifer": "math", "response": "12"}, "`verifer`; did you mean `verifier`?"),
        ({"items": [], "explan": True}, "`explan`; did you mean `explain`?"),
        ({"itmes": []}, "`itmes`; did you mean `items`?"),
        ({"deadline_s": 1}, '`items`; write {"items": [{"verifier": "math", '),
    ],
)
def test_a_refusal_says_what_to_write_instead(served: Any, body: JSON, said: str) -> None:
    assert said in problem(post(served, body), 422)["errors"][0]["msg"]


def test_an_unknown_parameter_is_compared_with_those_there_are(served: Any) -> None:
    (result,) = post(served, {"items": [item(params={"abs_tolerance": 1})]}).json()["results"]
    assert result["detail"]["message"] == "params.abs_tolerance: no such parameter; did you mean `abs_tol`?"


def test_one_item_or_a_list_of_items_is_a_batch(served: Any) -> None:
    right, wrong = item(), item("13")
    batch = post(served, {"items": [right, wrong], "cache": "off"}).json()
    listed = post(served, [right, wrong]).json()
    lone = post(served, {**wrong, "cache": "off", "deadline_s": 30}).json()
    shared = post(served, {"response": "12", "verifier": "numeric", "reference_id": "r", "references": {"r": "12"}})
    assert [result["score"] for result in batch["results"]] == [1.0, 0.0]
    assert [result["score"] for result in listed["results"]] == [1.0, 0.0]
    assert [result["score"] for result in lone["results"]] == [0.0]
    assert lone["summary"]["items"] == 1
    assert shared.json()["results"][0]["score"] == 1.0


@pytest.mark.parametrize("form", ['{"items": [%s]}', "[%s]", "%s"])
def test_half_a_character_of_a_response_is_judged_in_every_form(served: Any, form: str) -> None:
    one = json.dumps(item("12 \ud83d", "12 \ufffd", verifier="exact_match"))
    (result,) = post(served, (form % one).encode()).json()["results"]
    assert (result["status"], result["reason"]) == ("ok", "correct")


def test_half_a_character_of_a_call_is_judged(served: Any) -> None:
    call = {"function": {"name": "f", "arguments": {"a": "\ud83d"}}}
    said = {"role": "assistant", "tool_calls": [call]}
    wanted = {"name": "f", "arguments": {"a": "\ufffd"}}
    body = json.dumps({"items": [{"verifier": "tool_call", "response": [said], "reference": wanted}]})
    (result,) = post(served, body.encode()).json()["results"]
    assert (result["status"], result["reason"]) == ("ok", "correct")


def test_a_large_list_of_items_is_a_batch(served: Any) -> None:
    results = post(served, [item("x" * 100_000)] * 200 + [item()]).json()["results"]
    assert [result["score"] for result in results] == [0.0] * 200 + [1.0]


def test_an_item_may_ask_for_its_own_explanation(served: Any) -> None:
    plain, explained = post(served, {"items": [item(), item(explain=True)]}).json()["results"]
    assert plain["score"] == explained["score"] == 1.0
    assert plain["detail"].keys() < explained["detail"].keys()


def test_a_large_body_is_refused_in_the_same_words_as_a_small_one(served: Any) -> None:
    filler = item("x" * 100_000)
    small = post(served, {"items": [item(), item(5)]})
    large = post(served, {"items": [filler] * 200 + [item(5)]})
    assert problem(small, 422)["errors"][0] == {
        "loc": ["items", 1, "response"],
        "msg": "must be a text or a list; it is a number",
    }
    assert problem(large, 422)["errors"][0] == {
        "loc": ["items", 200, "response"],
        "msg": "must be a text or a list; it is a number",
    }


@table(
    "body, status, message",
    [
        (b"", 400, "the body is empty"),
        (
            b'{"items":[{"response":"a","reference":NaN}]}',
            400,
            "byte 38 begins NaN, which JSON does not have; write null",
        ),
        (b'{"items":[{"response":"a","reference":-Infinity}]}', 400, "begins -Infinity, which JSON does not have"),
        (b'{"items":{"response":"a"}}', 422, ": items must be a list; it is an object"),
        (b'{"items":[{"response":"a"},null]}', 422, ": items[1] must be an object; it is null"),
        (
            b'{"items":[{"response":"a"},{"response":null}]}',
            422,
            ": items[1].response must be a text or a list; it is null",
        ),
        (b'{"items":[{"response":"a","verifier":[]}]}', 422, ": items[0].verifier must be a text; it is a list"),
        (
            b'{"items":[{"response":"a","id":{}}]}',
            422,
            ": items[0].id must be a whole number or a text; it is an object",
        ),
        (b'{"items":[{"completion":"a"}]}', 422, ": items[0]: unknown field `completion`; write `response`"),
        (b'{"items":[{"answer":"a"}]}', 422, "`answer`; write `response` for what is judged, and `reference`"),
        (b'{"items":[{"response":"a","deadline_s":3}]}', 422, "`deadline_s`; write `deadline_s` beside `items`"),
        (b'{"items":[{"verifier":"math"}]}', 422, ": items[0]: missing field `response`"),
        (b'{"items":[],"deadline_s":0}', 422, ": deadline_s must be a number above 0"),
        (b'{"items":[],"run_id":"a b"}', 422, ": run_id must be at most 128 letters, digits and ._:@~+=/-, and begin"),
    ],
)
def test_a_mistake_in_a_body_is_told_in_plain_words(served: Any, body: bytes, status: int, message: str) -> None:
    assert message in problem(post(served, body), status)["detail"]


def test_more_items_than_a_request_may_hold(served: Any) -> None:
    found = problem(post(served, {"items": [item()] * 100_000}), 413)
    assert "4096" in found["detail"]


def test_a_hundred_megabyte_body(served: Any) -> None:
    problem(post(served, b"x" * 100_000_000), 413)


def test_a_body_without_a_length_is_held_to_the_same_limit(served: Any) -> None:
    def endless() -> Any:
        for _ in range(100):
            yield b"x" * 1_000_000

    problem(httpx.post(f"{served.url}/v1/score", content=endless(), timeout=PATIENCE_S), 413)


def test_a_ten_megabyte_response_is_invalid_alone(served: Any) -> None:
    results = post(served, {"items": [item(), item("1" * 10_000_000), item()]}).json()["results"]
    assert [result["status"] for result in results] == ["ok", "invalid", "ok"]
    assert results[1]["reason"] == "response_too_large"


def test_a_lone_surrogate_of_a_reference_is_invalid_alone(served: Any) -> None:
    """Legal JSON, but no text: half of a pair. A response has U+FFFD in its place."""
    body = rb"""{"items": [
        {"verifier": "numeric", "response": "12", "reference": "12"},
        {"verifier": "numeric", "response": "12 \ud83d", "reference": "12"},
        {"verifier": "numeric", "response": "\ude00 12", "reference": "12"},
        {"verifier": "exact_match", "response": "\ud83d\ude00\\ud83d", "reference": "\ud83d\ude00\\ud83d"},
        {"verifier": "exact_match", "response": "12", "reference": "\udfff"}]}"""
    results = post(served, body).json()["results"]
    assert [result["reason"] for result in results] == [
        "correct",
        "correct",
        "correct",
        "correct",
        "invalid_text",
    ]


def test_a_noncharacter_is_text_like_any_other(served: Any) -> None:
    """U+FDD0 may come from a model, one byte at a time."""
    text = "\ufdd0 \uffff \ufffe"
    results = post(served, {"items": [item(text, text, verifier="exact_match")]}).json()["results"]
    assert results[0]["reason"] == "correct"


def test_nul_bytes_duplicate_ids_and_an_empty_batch_are_fine(served: Any) -> None:
    body = {"items": [item("\x0012\x00", id="same"), item("12", id="same"), item("a", "a", verifier="exact_match")]}
    results = post(served, body).json()["results"]
    assert [result["status"] for result in results] == ["ok", "ok", "ok"]
    assert [result["id"] for result in results] == ["same", "same", 2]
    assert post(served, {"items": []}).json()["results"] == []


def test_deadline_of_the_request(served: Any) -> None:
    reply = post(served, {"items": [item()], "deadline_s": 1e-9})
    assert reply.status_code == 200
    assert reply.json()["results"][0]["status"] in ("ok", "failed")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_compressed_bodies(served: Any, encoding: str) -> None:
    plain = json.dumps({"items": [item()] * 3000}).encode()
    compress = gzip.compress if encoding == "gzip" else zstandard.ZstdCompressor().compress
    reply = post(served, compress(plain), headers={"Content-Encoding": encoding})
    assert reply.json()["summary"]["ok"] == 3000
    problem(post(served, compress(plain)[:-9], headers={"Content-Encoding": encoding}), 400)
    problem(post(served, b"plain", headers={"Content-Encoding": encoding}), 400)


@pytest.mark.contract
@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_compression_bomb_is_refused(served: Any, encoding: str) -> None:
    compress = gzip.compress if encoding == "gzip" else zstandard.ZstdCompressor().compress
    bomb = compress(b" " * 500_000_000)
    problem(post(served, bomb, headers={"Content-Encoding": encoding}), 413)


def test_unknown_encodings_and_types(served: Any) -> None:
    problem(post(served, b"x", headers={"Content-Encoding": "br"}), 415)
    problem(post(served, b"x", headers={"Content-Type": "text/plain"}), 415)
    assert post(served, {"items": []}, headers={"Content-Type": "application/json; charset=utf-8"}).status_code == 200


def test_other_paths_and_methods(served: Any) -> None:
    problem(httpx.get(f"{served.url}/nosuch"), 404)
    problem(httpx.get(f"{served.url}/v1/verifiers/nosuch"), 404)
    found = httpx.get(f"{served.url}/v1/score")
    problem(found, 405)
    assert found.headers["allow"] == "POST"


def test_request_ids(served: Any) -> None:
    def sent(**headers: str) -> str:
        names = {key.replace("_", "-"): value for key, value in headers.items()}
        return post(served, {"items": []}, headers=names).headers["x-request-id"]

    assert sent(x_request_id="run7-step3") == "run7-step3"
    trace = "0af7651916cd43dd8448eb211c80319c"
    assert sent(traceparent=f"00-{trace}-b7ad6b7169203331-01") == trace
    assert sent(x_request_id="x" * 500) != "x" * 500
    assert sent() != sent()
    lines = served.logged()
    assert any(line.get("request_id") == "run7-step3" and line["event"] == "request" for line in lines)


def test_no_text_of_a_response_reaches_the_log(served: Any) -> None:
    secret = "the-answer-is-a-secret-7381"
    post(served, {"items": [item(secret, secret), item(secret, verifier=secret), {"response": secret}]})
    post(served, b"{" + secret.encode())
    assert secret not in Path(served.log).read_text()


def test_discovery_health_and_docs(served: Any) -> None:
    names = [entry["name"] for entry in httpx.get(f"{served.url}/v1/verifiers").json()["verifiers"]]
    assert {"exact_match", "math", "multiple_choice", "numeric", "regex"} <= set(names)
    one = httpx.get(f"{served.url}/v1/verifiers/numeric").json()
    assert "reference" in one["params_schema"]["properties"]
    assert {example["score"] for example in one["examples"]} >= {0.0, 1.0}
    assert httpx.get(f"{served.url}/healthz").json() == {"status": "alive"}
    assert httpx.get(f"{served.url}/readyz").json() == {"status": "ready"}
    assert "/openapi.json" in httpx.get(f"{served.url}/docs").text
    document = httpx.get(f"{served.url}/openapi.json").json()
    assert "ScoreItem" in document["components"]["schemas"]
    assert "/v1/score" in document["paths"]


def test_metrics_count_items_by_verifier_status_and_reason(served: Any) -> None:
    def value(name: str, **labels: str) -> float:
        inside = ",".join(f'{key}="{text}"' for key, text in sorted(labels.items()))
        lines = httpx.get(f"{served.url}/metrics").text.splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name}{{{inside}}}"))

    labels = {"verifier": "numeric", "status": "ok", "reason": "correct"}
    before = value("rewardline_items_total", **labels)
    post(served, {"items": [item(), item(), item("7")], "cache": "off"})
    assert value("rewardline_items_total", **labels) == before + 2
    text = httpx.get(f"{served.url}/metrics").text
    for name in (
        "rewardline_requests_total", "rewardline_request_seconds_bucket", "rewardline_verifier_seconds_bucket",
        "rewardline_queue_items", "rewardline_in_flight_items", "rewardline_items_deduplicated_total",
        "rewardline_cache_redis_state", "rewardline_workers_busy",
    ):  # fmt: skip
        assert name in text


def test_keys(serve: Any) -> None:
    served = serve(api_keys="alice=alice-secret-0123456,bob=bob-secret-0123456789")
    found = problem(post(served, {"items": []}), 401)
    assert "Bearer" in found["detail"]
    problem(post(served, {"items": []}, headers={"Authorization": "Bearer wrong"}), 401)
    problem(post(served, {"items": []}, headers={"Authorization": "Basic alice-secret-0123456"}), 401)
    for name, key in (("alice", "alice-secret-0123456"), ("bob", "bob-secret-0123456789")):
        headers = {"Authorization": f"Bearer {key}"}
        assert post(served, {"items": []}, headers=headers).status_code == 200
        text = httpx.get(f"{served.url}/metrics", headers=headers).text
        assert f'rewardline_requests_total{{code="200",door="http",key="{name}",method="/v1/score"}} 1.0' in text
    problem(httpx.get(f"{served.url}/metrics"), 401)
    assert httpx.get(f"{served.url}/readyz").status_code == 200
    assert "secret" not in Path(served.log).read_text()


def test_overload_is_refused_at_once_with_the_time_to_wait(serve: Any) -> None:
    served = serve(max_items_in_flight="100", max_items_per_request="100")
    with _open(served) as first:
        # A body that has been announced but does not come holds its bytes, not its items.
        first.sendall(b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
        assert post(served, {"items": [item()] * 100}).status_code == 200
    served = serve(max_mb_in_flight="1", max_body_mb="1")
    with _open(served) as first:
        first.sendall(b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n{")
        eventually(lambda: "rewardline_in_flight_bytes 900000.0" in httpx.get(f"{served.url}/metrics").text)
        reply = post(served, b" " * 200_000)
        problem(reply, 429)
        assert 1 <= int(reply.headers["retry-after"]) <= 45
    eventually(lambda: "rewardline_in_flight_bytes 0.0" in httpx.get(f"{served.url}/metrics").text)
    assert post(served, {"items": [item()]}).status_code == 200


@pytest.mark.load
def test_two_thousand_connections_with_an_item_each(serve: Any) -> None:
    """The server is started with the usual soft limit of open files, which is less than that."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, most))
    served = serve()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8192), most))

    async def one(session: aiohttp.ClientSession, n: int) -> float:
        async with session.post(f"{served.url}/v1/score", json={"items": [item(f"{n} eggs", str(n))]}) as reply:
            return float((await reply.json())["results"][0]["score"])

    async def all_at_once() -> list[float]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            return await asyncio.gather(*(one(session, n) for n in range(2000)))

    assert asyncio.run(all_at_once()) == [1.0] * 2000


@pytest.mark.contract
def test_half_a_body_and_then_silence(serve: Any) -> None:
    served = serve(body_timeout_s="0.5")
    with _open(served) as caller:
        caller.sendall(b'POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"items": [')
        reply = _all(caller)
    assert reply.startswith(b"HTTP/1.1 408")
    assert b"Body timeout" in reply


def test_half_a_head_and_then_silence(serve: Any) -> None:
    served = serve(header_timeout_s="0.5")
    with _open(served) as caller:
        caller.sendall(b"POST /v1/score HTTP/1.1\r\nHost")
        assert _all(caller) == b""


def test_a_caller_who_hangs_up_stops_the_work(tmp_path: Path) -> None:
    body = json.dumps({"items": held(4000, tmp_path / "never")}).encode()
    head = f"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with serving_slowly(tmp_path) as served:
        with _open(served) as caller:
            caller.sendall(head + body)
            eventually(lambda: "rewardline_in_flight_items 4000.0" in httpx.get(f"{served.url}/metrics").text)
        eventually(lambda: "rewardline_in_flight_items 0.0" in httpx.get(f"{served.url}/metrics").text)
        assert 'code="499"' in httpx.get(f"{served.url}/metrics").text


@pytest.mark.contract
def test_sigterm_finishes_what_was_admitted(tmp_path: Path) -> None:
    go_on = tmp_path / "go on"
    body = json.dumps({"items": held(500, go_on)}).encode()
    head = f"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with serving_slowly(tmp_path, drain_timeout_s=f"{PATIENCE_S}") as served, _open(served) as caller:
        caller.sendall(head + body)
        eventually(lambda: "rewardline_in_flight_items 500.0" in httpx.get(f"{served.url}/metrics").text)
        served.process.send_signal(signal.SIGTERM)
        go_on.touch()
        code = served.process.wait(timeout=PATIENCE_S)
        reply = _all(caller)
    assert code == 0
    assert reply.startswith(b"HTTP/1.1 200")
    assert json.loads(reply.partition(b"\r\n\r\n")[2])["summary"]["ok"] == 500


def _open(served: Any) -> socket.socket:
    address = urlsplit(served.url)
    return socket.create_connection((address.hostname, address.port), timeout=60)


def _all(caller: socket.socket) -> bytes:
    parts = []
    while part := caller.recv(65536):
        parts.append(part)
    return b"".join(parts)
