"""`/v1/chat/completions` over real HTTP, with callers' own prompts."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.run.core import CannotStart, open_core
from service.settings import Settings
from tests.conftest import Served, serving
from tests.judge_upstream.behaviours import completion, gives, refuses, says, sends
from tests.judge_upstream.scripted import Behaviour, Scripted
from tests.ports import free_port
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]
KEY = "the-upstream-key-0123456789"
ASK: JSON = {"model": "judges", "temperature": 0, "messages": [{"role": "user", "content": "Is 0.5 the same as 1/2?"}]}
PORT_FILE = "judges.yaml"


class Upstream:
    """A scripted upstream on the port that the server's configuration names; one per test, in its event loop."""

    def __init__(self, served: Served, port: int) -> None:
        self.served = served
        self._port = port

    def plays(self, *script: Behaviour) -> Scripted:
        scripted = Scripted(*script)
        scripted.port = self._port
        return scripted


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory, monkeypatch_module: pytest.MonkeyPatch) -> Iterator[Upstream]:
    folder = tmp_path_factory.mktemp("chat")
    port = free_port()
    endpoint = {
        "base_url": f"http://127.0.0.1:{port}/v1",
        "model": "real-model",
        "api_key_env": "SOME_JUDGE_KEY",
        "health": {"probe": False, "failures": 1000, "failure_rate": 1.0, "window": 1000},
    }
    retry = {"attempts": 2, "base_s": 0.01, "cap_s": 0.02}
    content = {
        "endpoints": {"one": endpoint},
        "pools": {"judges": {"members": ["one"], "retry": retry}},
        "proxy": {"models": {"gpt-x": "judges"}, "deadline_s": 20},
    }
    (folder / PORT_FILE).write_text(json.dumps(content))
    monkeypatch_module.setenv("SOME_JUDGE_KEY", KEY)
    with serving(folder / "log.jsonl", sandbox="none", workers="1", judge_file=str(folder / PORT_FILE)) as served:
        yield Upstream(served, port)
        assert KEY not in served.log.read_text()


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


async def _post(upstream: Upstream, request: JSON, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=upstream.served.url, timeout=PATIENCE_S) as client:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await client.post("/v1/chat/completions", json=request, headers=named)


@pytest.mark.judges
async def test_a_request_goes_on_as_it_is_with_our_key_and_the_real_model(upstream: Upstream) -> None:
    request = {**ASK, "temperature": 0.7, "model": "gpt-x", "odd_field": [1, {"a": None}], "max_tokens": 5}
    async with upstream.plays(says("Yes, both are one half.")) as scripted:
        reply = await _post(upstream, request, Authorization="Bearer the-callers-own")
    assert (reply.status_code, reply.json()) == (200, completion("Yes, both are one half."))
    assert reply.headers["x-rewardline-endpoint"] == "one"
    (seen,) = scripted.calls
    assert seen.json == {**request, "model": "real-model"}
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert "the-callers-own" not in str(seen.headers)


@pytest.mark.judges
async def test_replies_to_deterministic_requests_are_kept_unless_the_caller_says_no(upstream: Upstream) -> None:
    request = {**ASK, "messages": [{"role": "user", "content": "kept?"}]}
    async with upstream.plays(says("one"), says("two"), says("three"), says("four")) as scripted:
        replies = [
            await _post(upstream, request, **headers)
            for headers in (
                {},
                {},
                {"x_rewardline_cache": "off"},
                {},
                {"x_rewardline_cache": "refresh"},
                {},
            )
        ]
    answers = [
        (reply.headers["x-rewardline-cache"], reply.json()["choices"][0]["message"]["content"]) for reply in replies
    ]
    assert answers == [
        ("miss", "one"),
        ("hit", "one"),
        ("off", "two"),
        ("hit", "one"),
        ("miss", "three"),
        ("hit", "three"),
    ]
    assert len(scripted.calls) == 3


@pytest.mark.parametrize("more", [{"temperature": 0.5}, {"temperature": None}, {"n": 2}])
async def test_replies_to_other_requests_are_not_kept(upstream: Upstream, more: JSON) -> None:
    request = {**ASK, "messages": [{"role": "user", "content": f"other {more}"}], **more}
    async with upstream.plays(says("one"), says("two")) as scripted:
        replies = [await _post(upstream, request) for _ in range(2)]
    assert [reply.headers["x-rewardline-cache"] for reply in replies] == ["off", "off"]
    assert len(scripted.calls) == 2


@pytest.mark.parametrize(
    "first",
    [says("cut", finish_reason="length"), says(""), says(None, refusal="I will not."), refuses(400, "too long")],
    ids=["cut", "empty", "refused", "400"],
)
async def test_what_is_no_whole_reply_is_passed_on_and_not_kept(
    upstream: Upstream, first: Behaviour, request: pytest.FixtureRequest
) -> None:
    asked = {**ASK, "messages": [{"role": "user", "content": request.node.name}]}
    async with upstream.plays(first, says("whole")) as scripted:
        await _post(upstream, asked)
        second = await _post(upstream, asked)
    assert second.json()["choices"][0]["message"]["content"] == "whole"
    assert len(scripted.calls) == 2


@pytest.mark.judges(beyond=1)
@pytest.mark.parametrize(
    ("behaviour", "status", "code", "calls"),
    [
        (refuses(500), 502, "upstream_5xx", 2),
        (refuses(429, Retry_After="1"), 429, "rate_limited", 2),
        (sends(b"", then="reset"), 502, "connect", 2),
        (gives([1]), 502, "bad_upstream_body", 2),
    ],
    ids=["500", "429", "reset", "no object"],
)
async def test_trouble_is_told_in_the_form_that_callers_try_again_after(
    upstream: Upstream, behaviour: Behaviour, status: int, code: str, calls: int
) -> None:
    async with upstream.plays(behaviour) as scripted:
        reply = await _post(upstream, {**ASK, "temperature": 1})
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert KEY not in reply.text
    assert len(scripted.calls) >= calls


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 422),
        (b'{"messages": []}', 422),
        (b'{"messages": [{"role": "user", "content": "x"}]}', 422),
        (b'{"model": "nobody", "messages": [{"role": "user", "content": "x"}]}', 404),
        (b'{"model": 7, "messages": [{"role": "user", "content": "x"}]}', 422),
        (b'{"model": "judges", "messages": "x"}', 422),
    ],
)
async def test_what_is_no_request_is_refused(upstream: Upstream, body: bytes, status: int) -> None:
    async with httpx.AsyncClient(base_url=upstream.served.url) as client:
        reply = await client.post("/v1/chat/completions", content=body)
        assert reply.status_code == status, reply.text
        assert (await client.get("/v1/chat/completions")).status_code == 405


async def test_callers_are_not_told_where_the_endpoints_are(upstream: Upstream) -> None:
    reply = await _post(upstream, {**ASK, "temperature": 1})  # nobody listens
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "connect")
    assert "127.0.0.1" not in reply.text


async def test_models_are_listed(upstream: Upstream) -> None:
    async with httpx.AsyncClient(base_url=upstream.served.url) as client:
        reply = (await client.get("/v1/models")).json()
    assert [model["id"] for model in reply["data"]] == ["gpt-x", "judges"]


def _events(*parts: str) -> Behaviour:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    lines = [f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': part}}]})}\n\n" for part in parts]
    data = b"".join(f"{len(line):x}\r\n".encode() + line.encode() + b"\r\n" for line in [*lines, "data: [DONE]\n\n"])
    return sends(head + data + b"0\r\n\r\n")


async def test_streams_are_passed_through(upstream: Upstream) -> None:
    request = {**ASK, "stream": True}
    async with upstream.plays(_events("Yes", ", they", " are")) as scripted:
        reply = await _post(upstream, request)
    assert reply.headers["content-type"] == "text/event-stream"
    events = [line.removeprefix("data: ") for line in reply.text.splitlines() if line]
    assert events[-1] == "[DONE]"
    text = "".join(json.loads(event)["choices"][0]["delta"]["content"] for event in events[:-1])
    assert text == "Yes, they are"
    assert scripted.calls[0].json["stream"] is True


async def test_a_stream_that_breaks_off_ends_with_an_error_and_without_done(upstream: Upstream) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    event = b'data: {"choices": []}\n\n'
    cut = sends(head + f"{len(event):x}\r\n".encode() + event + b"\r\n", then="reset")
    async with upstream.plays(cut):
        reply = await _post(upstream, {**ASK, "stream": True})
    *_, last = [line for line in reply.text.splitlines() if line]
    assert "error" in json.loads(last.removeprefix("data: "))
    assert "[DONE]" not in reply.text


async def test_a_caller_who_hangs_up_ends_the_call(upstream: Upstream) -> None:
    hanging = sends(b"", then="hang")
    async with upstream.plays(hanging) as scripted:
        asking = asyncio.create_task(_post(upstream, {**ASK, "temperature": 1}))
        await scripted.until(1)
        asking.cancel()
        async with asyncio.timeout(PATIENCE_S):
            await scripted.calls[0].gone.wait()
    assert len(scripted.calls) == 1


def test_calls_are_counted(upstream: Upstream) -> None:
    metrics = httpx.get(f"{upstream.served.url}/metrics").text
    assert 'method="/v1/chat/completions"' in metrics
    assert "rewardline_judge_endpoint_requests" in metrics
    assert KEY not in metrics


def test_without_a_configuration_there_are_no_models(served: Served) -> None:
    reply = httpx.post(f"{served.url}/v1/chat/completions", json=ASK)
    assert (reply.status_code, "judge_file" in reply.json()["detail"]) == (404, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("endpoints: {}", "endpoints"),
        ("[1]", "expected a mapping"),
        ("endpoints: {a: {base_url: 'http://x/v1', model: m}}\npools: {p: {members: [b]}}", "no 'b'"),
        ("endpoints: {a: {base_url: 'http://x/v1', model: m, wieght: 2}}\npools: {p: {members: [a]}}", "wieght"),
        (
            "endpoints: {a: {base_url: 'http://x/v1', model: m, api_key_env: NOT_SET_ANYWHERE}}\npools: {p: {members: [a]}}",
            "NOT_SET_ANYWHERE",
        ),
        (
            "endpoints: {a: {base_url: 'http://x/v1', model: m}}\npools: {p: {members: [a]}}\n"
            "profiles: {q: {mode: quality, pool: p, prompt: 'rubric@1'}}",
            "not for mode quality",
        ),
        (
            "endpoints: {a: {base_url: 'http://x/v1', model: m}}\npools: {p: {members: [a]}}\n"
            "profiles: {q: {mode: reference, pool: p, rewards: {a: 0.5}}}",
            "no label 'a'",
        ),
    ],
)
async def test_a_configuration_with_mistakes_stops_the_start(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "judges.yaml"
    file.write_text(content)
    with pytest.raises(CannotStart, match=message):
        async with open_core(Settings(sandbox="none", workers=1, judge_file=file)):
            raise AssertionError("it started")


async def test_a_kept_reply_belongs_to_who_asked(upstream: Upstream) -> None:
    request = {**ASK, "messages": [{"role": "user", "content": "Whose is this?"}]}
    async with upstream.plays(says("Mine."), says("Yours.")):
        replies = [await _post(upstream, request, x_tenant=tenant) for tenant in ("red", "blue", "red", "blue")]
    said = [reply.json()["choices"][0]["message"]["content"] for reply in replies]
    assert said == ["Mine.", "Yours.", "Mine.", "Yours."]
