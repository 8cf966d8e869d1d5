"""A server's answer grows the trainer by what was asked for, raises the client's own errors, and shows no key."""

from __future__ import annotations

import gzip
import itertools
import json
import pickle
import traceback
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest
from aiohttp import web
from rewardline import AsyncClient, Client, RewardlineError, Status, Unauthorized, Unavailable, UnexpectedAnswer
from rewardline.answers import CALL_BYTES, most_values, parsed
from rewardline.hook import Hook
from rewardline.pb import rewardline_pb2 as pb
from rewardline.redaction import Secrets
from rewardline.retry import Backoff

from tests.client.conftest import Body, FakeServer, Fault
from tests.tables import table

KEY = "sk-0123456789abcdef"
ITEM = {"verifier": "v", "response": "a", "reference": "a"}
MB = 1_000_000
_GROWTH = 100 * MB
"""Far below what the answers here grow to, and above what a bounded one may come to."""
DEEP = b"[" * 200_000


def sending(body: bytes, status: int = 200, media: str = "application/json", encoding: str = "identity") -> Fault:
    async def fault(request: web.Request, _: Body) -> web.StreamResponse:
        headers = {"Content-Type": media} | ({} if encoding == "identity" else {"Content-Encoding": encoding})
        return web.Response(status=status, body=body, headers=headers)

    return fault


def endless(media: str = "application/json") -> Fault:
    """A body without an end, as chunks."""

    async def fault(request: web.Request, _: Body) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": media})
        await response.prepare(request)
        while True:
            await response.write(b" " * 65_536)

    return fault


def packed(body: bytes) -> bytes:
    return gzip.compress(body, 9)


def result(**more: Any) -> bytes:
    whole = {"id": "0", "status": "ok", "score": 1, "reward": 1, "reason": "correct", **more}
    return json.dumps({"results": [whole]}).encode()


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


LISTS = b'{"results":[{"detail":[' + b"[]," * (7 * MB)
"""More lists than an item's result may have: half a gigabyte of them."""
HOSTILE: dict[str, Fault] = {
    "a bomb of gzip": sending(packed(b" " * (60 * MB)), encoding="gzip"),
    "a bomb of many members": sending(packed(b" " * MB) * 60, encoding="gzip"),
    "a bomb of lists": sending(packed(LISTS), encoding="gzip"),
    "lists": sending(LISTS),
    "few bytes of lists": sending(b"[" + b"[]," * 100_000 + b"[]]"),
    "few bytes of texts": sending(b'["' + b'","' * 100_000 + b'"]'),
    "a body without an end": endless(),
    "a depth without an end": sending(DEEP),
    "objects of a depth without an end": sending(b'{"a":' * 100_000),
    "a depth that a copy does not survive": sending(result(detail={"a": nested(500)})),
    "zstd, which was not asked for": sending(b"\x28\xb5\x2f\xfd", encoding="zstd"),
    "a text for a number": sending(result(elapsed_ms="soon")),
    "a number beyond all": sending(result(score=10**400)),
    "a list for details": sending(result(detail=[1])),
    "a number for checks": sending(result(checks=7)),
    "a long integer": sending(b'{"results": [' + b"1" * 10_000 + b"]}"),
    "not UTF-8": sending(b'{"results": "\xff"}'),
}
HOSTILE_LINES: dict[str, Fault] = {
    "a line without an end": endless("application/x-ndjson"),
    "a bomb of lines": sending(packed(b"{}\n" * (20 * MB)), media="application/x-ndjson", encoding="gzip"),
    "lists in a line": sending(b'{"index":0,"a":[' + b"[]," * 60_000, media="application/x-ndjson"),
    "a deep line": sending(DEEP + b"\n", media="application/x-ndjson"),
    "a line that says a long index": sending(b'{"index":' + b"9" * 4_000 + b"}\n", media="application/x-ndjson"),
}


async def growth(work: Callable[[], Awaitable[object]]) -> int:
    tracemalloc.start()
    try:
        await work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


async def streamed(client: AsyncClient) -> None:
    async for _ in client.stream([ITEM]):
        pass


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_answer_is_an_error_of_ours_and_takes_little_memory(server: FakeServer, name: str) -> None:
    async with AsyncClient(server.url, gather_ms=0) as client:
        ways: list[Callable[[], Awaitable[object]]] = [
            lambda: client.score([ITEM]),
            lambda: client.score_one(ITEM),
            lambda: client.call("POST", "/v1/score", {"items": [ITEM]}),
        ]
        for way in ways[: 3 if name in ("a bomb of gzip", "a depth without an end", "few bytes of lists") else 1]:
            server.faults.append(HOSTILE[name])

            async def refused(way: Callable[[], Awaitable[object]] = way) -> None:
                with pytest.raises(UnexpectedAnswer):
                    await way()

            assert await growth(refused) < _GROWTH


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("name", HOSTILE_LINES)
async def test_a_hostile_stream_is_too(server: FakeServer, name: str) -> None:
    server.faults.append(HOSTILE_LINES[name])
    async with AsyncClient(server.url) as client:

        async def refused() -> None:
            with pytest.raises(UnexpectedAnswer):
                await streamed(client)

        assert await growth(refused) < _GROWTH


def test_the_client_without_a_loop_is_bounded_too(server: FakeServer) -> None:
    with Client(server.url) as client:
        for name in ("a bomb of gzip", "a depth without an end"):
            server.faults.append(HOSTILE[name])
            with pytest.raises(UnexpectedAnswer):
                client.score([ITEM])


@pytest.mark.contract
@pytest.mark.parametrize("status", [401, 422, 404])
async def test_a_refusal_is_told_by_its_status_however_long_it_is(server: FakeServer, status: int) -> None:
    for body in (packed(b" " * (60 * MB)), packed(DEEP)):
        server.faults.append(sending(body, status=status, encoding="gzip"))
        async with AsyncClient(server.url) as client:

            async def refused(client: AsyncClient = client) -> None:
                with pytest.raises(RewardlineError) as caught:
                    await client.score([ITEM])
                assert len(str(caught.value)) < 10_000
                assert isinstance(caught.value, Unauthorized) is (status == 401)

            assert await growth(refused) < _GROWTH


async def test_a_refusal_with_long_texts_and_wrong_places_is_one(server: FakeServer) -> None:
    errors = [{"loc": "items." + "9" * 5_000, "msg": "m" * MB}, {"loc": ["a"] * 10_000, "msg": "m"}]
    body = json.dumps({"title": "t" * MB, "detail": "d" * MB, "errors": errors})[: 4 * MB]
    server.faults.append(sending(body.encode()[: 10 * MB], status=422))
    async with AsyncClient(server.url) as client:
        with pytest.raises(RewardlineError) as caught:
            await client.score([ITEM])
    assert len(str(caught.value)) < 100_000


async def test_long_results_of_a_large_batch_are_read(server: FakeServer) -> None:
    """The bound follows from what was asked: each item may be quoted, and explained at length."""
    text = "x, [y], {z} " * 5_000
    mentions = [{"span": [1, 2], "text": "7", "stance": "said", "role": "answer", "channel": "prose"}] * 300
    server.extra_fields = {"extracted": text, "detail": {"mentions": mentions}}
    items = [{**ITEM, "response": text, "reference": text}] * 8
    async with AsyncClient(server.url, batch_items=4) as client:
        assert [each.extracted for each in await client.score(items)] == [text] * 8
        found = [each async for _, each in client.stream(items)]
    assert [each.score for each in found] == [1.0] * 8


async def test_compressed_answers_are_read(server: FakeServer) -> None:
    whole = result(detail={"message": '\\" , [ {'})
    for body in (packed(whole), packed(whole[:40]) + packed(whole[40:])):
        server.faults.append(sending(body, encoding="gzip"))
        async with AsyncClient(server.url) as client:
            assert [each.score for each in await client.score([ITEM])] == [1.0]


@table("body", [packed(result())[:-9], packed(result())[:20], b"\x1f\x8b nothing", zlib.compress(result())])
def test_a_compressed_answer_that_is_not_whole_is_asked_for_again(body: bytes) -> None:
    server = FakeServer()
    server.start()
    try:
        server.faults.append(sending(body, encoding="gzip"))
        with Client(server.url) as client:
            assert [each.score for each in client.score([ITEM])] == [1.0]
        assert len(server.bodies) == 2
    finally:
        server.stop()


def test_marks_in_texts_are_no_values() -> None:
    for text in ("[,{" * 50_000, '\\"[,{' * 30_000, "\\\\", '\\\\"' * 9):
        assert parsed(json.dumps([text]).encode(), most_values(1)) == [text]
    with pytest.raises(UnexpectedAnswer, match="values"):
        parsed(b'["' + b'\\"' * (MB // 2) + b'",' + b"[]," * 100_000, most_values(1))


def test_a_verdict_may_say_something_of_each_criterion_of_its_item() -> None:
    """A rubric of PaperBench has 1,963 criteria, and a dozen values of each in the detail."""
    criteria = [{"criterion": f"names {number}", "points": 1} for number in range(1_963)]
    item = {**ITEM, "reference": {"rubrics": criteria}}
    said = [dict.fromkeys("abcdefghijkl", number) for number in range(len(criteria))]
    server = FakeServer()
    server.start()
    try:
        server.faults.extend(sending(result(detail={"criteria": said})) for _ in range(2))
        with Client(server.url, max_retries=0) as client:
            [verdict] = client.score([item])
            assert len(verdict.detail["criteria"]) == len(criteria)
            with pytest.raises(UnexpectedAnswer, match="values"):
                client.score([ITEM])
    finally:
        server.stop()


# --- keys


def shown(error: BaseException) -> str:
    """All that a log, a debugger or another process could show of an error."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(cause)
    whole = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return whole + repr(pickle.loads(pickle.dumps(error)).__dict__) + "".join(f"{each!r} {each}" for each in chain)


async def told(work: Awaitable[object]) -> str:
    """What the result shows, or the error."""
    try:
        return repr(await work)
    except RewardlineError as error:
        return shown(error)


def echoing(status: int, form: str) -> Fault:
    """Quotes the header with the key."""

    async def fault(request: web.Request, _: Body) -> web.StreamResponse:
        said = request.headers["Authorization"]
        if form == "text":
            return web.Response(status=status, text=f"header {said}")
        if form == "stream":
            line = json.dumps({"index": 7, "said": said}) + "\n"
            return web.Response(status=status, text=f"{said}\n{line}", content_type="application/x-ndjson")
        if form == "head":
            transport = request.transport
            assert transport is not None
            transport.write(f"HTTP/1.1 {said} no\r\n{said}\r\n\r\n".encode())
            transport.close()
            return web.Response()
        problem = {"title": said, "detail": said, "errors": [{"loc": ["items", 0, said], "msg": said}]}
        headers = {"Location": said, "Retry-After": "999"}
        return web.json_response(problem, status=status, headers=headers)

    return fault


REFUSALS = (200, 302, 400, 401, 403, 404, 409, 413, 422, 429, 500, 503)
ECHOES = [*itertools.product(REFUSALS, ("text", "problem")), (200, "stream"), (200, "head")]


@pytest.mark.parametrize(("status", "form"), ECHOES)
async def test_no_error_shows_the_key_that_a_server_quotes(server: FakeServer, status: int, form: str) -> None:
    client = AsyncClient(server.url, api_key=KEY, max_retries=0, gather_ms=0)
    seen = []
    async with client:
        for work in (client.score([ITEM]), client.call("POST", "/v1/score", {"items": [ITEM]}), streamed(client)):
            server.faults.append(echoing(status, form))
            seen.append(await told(work))
            server.faults.clear()
    assert len(seen) == 3
    assert not [each for each in seen if KEY in each]


async def test_no_result_shows_it_either(server: FakeServer) -> None:
    server.extra_fields = {"detail": {"message": f"header Bearer {KEY}"}, "extracted": KEY}
    async with AsyncClient(server.url, api_key=KEY) as client:
        results = await client.score([ITEM]) + [each async for _, each in client.stream([ITEM])]
    assert KEY not in repr(results)
    assert {each.detail["message"] for each in results} == {"header Bearer [key]"}


def test_nothing_that_holds_a_key_shows_it() -> None:
    url = f"http://any:{KEY}@judge.example"
    client = Client(url, api_key=KEY)
    hook = Hook(verifier="math", api_key=KEY)
    for each in (client, client._config, client._client, hook, Secrets(url, KEY)):
        assert KEY not in repr(each), type(each)
    assert repr(client) == "Client('http://judge.example')"
    assert pickle.loads(pickle.dumps(client))._config.api_key == KEY
    with pytest.raises(ValueError, match="api_key holds characters") as caught:
        Client("http://judge.example", api_key=f"{KEY}\n")
    assert KEY not in shown(caught.value)
    with pytest.raises(ValueError, match="expected http") as caught:
        Client(f"ftp://any:{KEY}@judge.example")
    assert KEY not in shown(caught.value)


async def test_a_password_in_the_address_is_not_shown() -> None:
    with Client(f"http://any:{KEY}@127.0.0.1:9", max_retries=0) as client:
        assert KEY not in repr(client.score([ITEM]))
        with pytest.raises(Unavailable) as caught:
            client.verifiers()
    assert KEY not in shown(caught.value)


# --- gRPC


class HostileVerifier:
    """Sends bytes in place of messages."""

    def __init__(self, *bodies: bytes, abort: grpc.StatusCode | None = None) -> None:
        self._bodies = bodies
        self._abort = abort

    async def __aenter__(self) -> str:
        def handler(kind: Any, function: Any) -> Any:
            return kind(function, request_deserializer=None, response_serializer=None)

        self._server = grpc.aio.server(
            options=[("grpc.max_send_message_length", 1 << 30)], compression=grpc.Compression.Gzip
        )
        handlers = {
            "Score": handler(grpc.unary_unary_rpc_method_handler, self._score),
            "ListVerifiers": handler(grpc.unary_unary_rpc_method_handler, self._score),
            "ScoreStream": handler(grpc.stream_stream_rpc_method_handler, self._stream),
        }
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("rewardline.v1.Verifier", handlers),)
        )
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        return f"grpc://127.0.0.1:{port}"

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop(0)

    async def _begin(self, context: Any) -> None:
        if self._abort is not None:
            said = dict(context.invocation_metadata())["authorization"]
            problem = json.dumps({"title": said, "detail": said}).encode()
            await context.abort(self._abort, said, (("problem-bin", problem),))

    async def _score(self, request: bytes, context: Any) -> bytes:
        await self._begin(context)
        return self._bodies[0]

    async def _stream(self, requests: Any, context: Any) -> Any:
        await self._begin(context)
        for body in self._bodies:
            yield body


def of_results(*results: Any) -> bytes:
    return bytes(pb.ScoreResponse(results=results).SerializeToString())


OK: Any = {"status": pb.STATUS_OK, "score": 1.0, "reward": 1.0}
HOSTILE_MESSAGES: dict[str, bytes] = {
    "long": b"\x0a\x00" * (5 * MB),
    "many": b"\x0a\x00" * 150_000,
    "more than may arrive": b"\x00" * (70 * MB),
    "no message": b"\xff" * 100,
    "cut": of_results(pb.Result(**OK))[:-3],
    "deep": of_results(pb.Result(**OK, detail_json="[" * 100_000)),
    "lists": of_results(pb.Result(**OK, detail_json="[" + "[]," * 60_000 + "[]]")),
    "too deep for a copy": of_results(pb.Result(**OK, detail_json=json.dumps({"a": nested(500)}))),
    "texts that are not JSON": of_results(pb.Result(**OK, checks_json="{")),
}


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("name", HOSTILE_MESSAGES)
async def test_a_hostile_message_is_an_error_of_ours_and_takes_little_memory(name: str) -> None:
    async with HostileVerifier(HOSTILE_MESSAGES[name]) as url, AsyncClient(url, max_retries=0) as client:

        async def refused() -> None:
            with pytest.raises(RewardlineError):
                await client.score([ITEM])

        assert await growth(refused) < _GROWTH


@pytest.mark.contract
async def test_hostile_messages_of_a_large_batch_are_counted_before_they_are_made() -> None:
    items = [{**ITEM, "response": str(n)} for n in range(200)]
    bodies = (b"\x0a\x00" * (5 * MB), b"\x12\x00" * (5 * MB), b"\x08\x01" * (5 * MB))
    for body in bodies:
        async with HostileVerifier(body) as url, AsyncClient(url, max_retries=0) as client:

            async def refused(client: AsyncClient = client) -> None:
                with pytest.raises(UnexpectedAnswer):
                    await client.score(items)

            assert await growth(refused) < _GROWTH


async def test_a_hostile_stream_of_messages_is_too() -> None:
    message = pb.Result(**OK, detail_json="[" * 100_000).SerializeToString()
    for body in (message, b"\x0a\x00" * (5 * MB), b"\xff"):
        async with HostileVerifier(body) as url, AsyncClient(url, max_retries=0) as client:
            with pytest.raises(UnexpectedAnswer):
                await streamed(client)


@pytest.mark.siege
async def test_no_error_of_grpc_shows_the_key() -> None:
    for code in grpc.StatusCode:
        if code is grpc.StatusCode.OK:
            continue
        async with HostileVerifier(abort=code) as url, AsyncClient(url, api_key=KEY, timeout_s=0.5) as client:
            seen = [await told(work) for work in (client.score([ITEM]), client.verifiers(), streamed(client))]
            assert not [each for each in seen if KEY in each], code


async def test_no_result_of_grpc_shows_it_either() -> None:
    body = of_results(pb.Result(**OK, detail_json=json.dumps({"message": KEY}), extracted=KEY, reason=KEY))
    async with HostileVerifier(body) as url, AsyncClient(url, api_key=KEY) as client:
        (found,) = await client.score([ITEM])
    assert found.status is Status.OK
    assert KEY not in repr(found)


# --- a server that restarts


def test_the_defaults_outlast_a_restart() -> None:
    """The service takes 4 to 7 s from its end to its first answer, and twice as long on a busy machine."""
    client = Client("http://judge.example")
    tries = client._config.max_retries
    for _ in range(200):
        backoff = Backoff()
        assert 13.0 <= sum(backoff.next_s() for _ in range(tries)) <= 27.0
    assert client._config.timeout_s >= 2 * 27.0
    assert CALL_BYTES > MB
