"""Callers who keep to no protocol, or to its letter only: they cost themselves their connection, and others nothing."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
from rewardline.pb import rewardline_pb2 as pb

from tests.conftest import Served, serving
from tests.service.doors.http.test_app import _all, _open
from tests.service.slow_verifier import installed
from tests.waiting import PATIENCE_S, eventually

BATCH = json.dumps({"items": [{"verifier": "numeric", "response": "1", "reference": "1"}]}).encode()
HOST = b"Host: localhost\r\n"
CHUNKED = b"POST /v1/score HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


def post(headers: bytes = b"", body: bytes = BATCH) -> bytes:
    return b"POST /v1/score HTTP/1.1\r\n" + HOST + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service that waits for nobody for long, and has a verifier that takes its time."""
    folder = tmp_path_factory.mktemp("hasty")
    plugins = installed(folder / "plugins")
    settings = {"sandbox": "none", "workers": "1", "header_timeout_s": "1", "body_timeout_s": "1"}
    with serving(
        folder / "log.jsonl", (), plugins, **settings, max_items_in_flight="64", max_items_per_request="64"
    ) as served:
        yield served
        assert _raised(served) == []


def _raised(served: Served) -> list[str]:
    """By us or by uvicorn; gRPC itself tells of each answer that its caller cancelled at the last moment."""
    lines = served.logged()
    raised = [line for line in lines if line["level"] == "error" or "exception" in line]
    return [str(line) for line in raised if not line["logger"].startswith("grpc.")]


def answer(served: Served, *parts: bytes) -> bytes:
    """What comes until the connection ends."""
    with _open(served) as caller:
        for part in parts:
            caller.sendall(part)
        try:
            return _all(caller)
        except ConnectionResetError:
            return b""


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize(
    "request_",
    [
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"a: " + b"x" * 70_000 + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"a: b\r\n" * 11_000 + b"\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        CHUNKED + b"%x\r\n%s\r\n0\r\n" % (len(BATCH), BATCH) + b"x: y\r\n" * 11_000 + b"\r\n",
    ],
    ids=["one header", "many headers", "path", "trailers"],
)
def test_a_head_beyond_all_measure(hasty: Served, request_: bytes) -> None:
    reply = answer(hasty, request_)
    assert reply.startswith(b"HTTP/1.1 431 Request Header Fields Too Large")
    problem = json.loads(reply.partition(b"\r\n\r\n")[2])
    assert (problem["title"], problem["status"]) == ("Head too large", 431)


def test_a_header_without_end_is_not_kept(hasty: Served) -> None:
    with _open(hasty) as caller:
        caller.sendall(b"GET /healthz HTTP/1.1\r\na: ")
        sent = 0
        with contextlib.suppress(OSError):
            while sent < 50_000_000:
                sent += caller.send(b"x" * 60_000)
    assert sent < 20_000_000


def test_what_is_no_http_is_told_so_in_the_words_of_all_refusals(hasty: Served) -> None:
    for request in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        CHUNKED + b"FFFFFFFFFFFFFFFFF\r\n{}",
        b"GET /\xff HTTP/1.1\r\n\r\n",
    ):
        head, _, body = answer(hasty, request).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400")
        assert b"application/problem+json" in head
        assert json.loads(body)["title"] == "Bad request"


@pytest.mark.contract
def test_the_second_head_of_a_connection_is_waited_for_no_longer_than_the_first(hasty: Served) -> None:
    for drip in (b"\r\n", b"GET /healthz HTTP/1.1\r\na: b"):
        with _open(hasty) as caller:
            caller.sendall(post())
            caller.recv(65536)
            caller.sendall(drip)
            caller.settimeout(20)  # the keep-alive's end would come after 75 s
            assert b"HTTP/1.1" not in _all(caller)


def test_many_requests_sent_at_once_on_one_connection_are_answered_in_turn(hasty: Served) -> None:
    requests = [post(b"X-Request-Id: n%d\r\n" % n, BATCH if n % 3 else b"{") for n in range(60)]
    reply = answer(hasty, b"".join(requests[:-1]), post(b"X-Request-Id: n59\r\nConnection: close\r\n"))
    ids = [line.partition(b": ")[2] for line in reply.split(b"\r\n") if line.startswith(b"x-request-id")]
    assert ids == [b"n%d" % n for n in range(60)]
    assert (reply.count(b"HTTP/1.1 200"), reply.count(b"HTTP/1.1 400")) == (40, 20)


@contextlib.contextmanager
def half_closed(served: Served, *requests: bytes) -> Iterator[socket.socket]:
    with _open(served) as caller:
        caller.sendall(b"".join(requests))
        caller.shutdown(socket.SHUT_WR)
        yield caller


def test_who_closes_its_side_after_a_request_is_answered(hasty: Served) -> None:
    with half_closed(hasty, post()) as caller:
        reply = _all(caller)
    assert reply.count(b"HTTP/1.1 200") == 1
    assert json.loads(reply.rpartition(b"\r\n\r\n")[2])["summary"]["ok"] == 1
    with half_closed(hasty, post(), post(), post()) as caller:
        assert _all(caller).count(b'"summary"') == 3
    with half_closed(hasty, post()[:-5]) as caller:
        assert b"HTTP/1.1 200" not in _all(caller)


def test_who_closes_its_side_waits_for_its_answer_and_who_is_gone_does_not(hasty: Served, tmp_path: Path) -> None:
    done = tmp_path / "done"
    held = json.dumps({"items": [{"verifier": "slow", "response": "a", "params": {"until": str(done)}}]}).encode()
    with half_closed(hasty, post(body=held)) as waiting:
        with half_closed(hasty, post(body=held.replace(b'"a"', b'"b"'))):
            eventually(lambda: gauge(hasty, "in_flight_requests") == 2)
        eventually(lambda: gauge(hasty, "in_flight_requests") == 1)
        done.touch()
        assert b"HTTP/1.1 200" in _all(waiting)


def test_an_answer_counts_until_it_is_read(hasty: Served) -> None:
    item = {"verifier": "exact_match", "response": "a", "reference": "a", "id": "i" * 500_000}
    large = json.dumps({"items": [item] * 60}).encode()
    with _open(hasty) as caller:
        caller.sendall(post(body=large))
        eventually(lambda: gauge(hasty, "in_flight_requests") == 0 and gauge(hasty, "in_flight_bytes") > 10_000_000)
        assert len(caller.recv(65536)) > 0
    eventually(lambda: gauge(hasty, "in_flight_bytes") == 0)


def gauge(served: Served, name: str) -> float:
    lines = httpx.get(f"{served.url}/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"rewardline_{name} "))


def test_who_asks_before_sending_a_body_is_refused_without_it(hasty: Served) -> None:
    head = b"POST /v1/score HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 1000\r\n"
    reply = answer(hasty, head + b"Content-Type: application/xml\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 415")
    assert b"connection: close" in reply
    with _open(hasty) as caller:
        caller.sendall(head.replace(b"1000", b"%d" % len(BATCH)) + b"Connection: close\r\n\r\n")
        assert caller.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        caller.sendall(BATCH)
        assert _all(caller).startswith(b"HTTP/1.1 200")


@pytest.mark.contract
def test_who_takes_no_answer_is_hung_up_on(hasty: Served) -> None:
    """One whose answers fill every buffer on the way, and keep what they hold of the service."""
    address = urlsplit(hasty.url)
    files = _files(hasty)
    with socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        caller.connect((address.hostname, address.port))
        caller.sendall(b"GET /v1/verifiers HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
        eventually(lambda: _files(hasty) > files)
        eventually(lambda: _files(hasty) == files)


def _files(served: Served) -> int:
    return len(os.listdir(f"/proc/{served.process.pid}/fd"))


def test_a_full_service_refuses_by_the_head_and_holds_nothing_for_what_is_announced(hasty: Served) -> None:
    with _open(hasty) as holder, _open(hasty) as announcing:
        announcing.sendall(
            b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nX-Item-Count: 64\r\nContent-Length: 9000\r\n\r\n{"
        )
        body = {"items": [{"verifier": "slow", "response": str(n), "params": {"seconds": 30}} for n in range(60)]}
        holder.sendall(post(body=json.dumps(body).encode()))
        eventually(lambda: "rewardline_in_flight_items 60.0" in httpx.get(f"{hasty.url}/metrics").text)
        for count, status in (
            (b"5", 429),
            (b"4", 400),
            (b"\xb2", 400),
            (b"9" * 30, 400),
            (b"-1", 400),
            (b"99999999", 429),
        ):
            reply = answer(hasty, post(b"X-Item-Count: %s\r\nConnection: close\r\n" % count, b"{"))
            assert reply.startswith(b"HTTP/1.1 %d" % status), count
        with grpc.insecure_channel(hasty.grpc) as channel:
            raw: Any = channel
            call = raw.unary_unary("/rewardline.v1.Verifier/Score")
            for announced, code in (("5", grpc.StatusCode.RESOURCE_EXHAUSTED), ("4", grpc.StatusCode.INVALID_ARGUMENT)):
                with pytest.raises(grpc.RpcError) as caught:
                    call(b"\xff", metadata=(("x-item-count", announced),))
                assert caught.value.code() is code
    eventually(lambda: "rewardline_in_flight_items 0.0" in httpx.get(f"{hasty.url}/metrics").text)


async def test_storms_of_cancelled_and_late_grpc_calls_leave_nothing_behind(hasty: Served) -> None:
    slow = pb.Item(verifier="slow", response="a", params_json='{"seconds":30}')
    codes: set[str] = set()
    async with grpc.aio.insecure_channel(hasty.grpc) as channel:
        score = channel.unary_unary("/rewardline.v1.Verifier/Score", pb.ScoreRequest.SerializeToString, None)
        stream = channel.stream_stream("/rewardline.v1.Verifier/ScoreStream", pb.Item.SerializeToString, None)

        async def late(timeout_s: float) -> None:
            try:
                await score(pb.ScoreRequest(items=[slow]), timeout=timeout_s)
            except grpc.aio.AioRpcError as error:
                codes.add(error.code().name)

        async def cancelled(number: int) -> None:
            call: Any = score(pb.ScoreRequest(items=[slow])) if number % 2 else stream(iter([slow, slow]))
            await asyncio.sleep(0.001 * (number % 20))
            call.cancel()

        for _ in range(5):
            await asyncio.gather(*(late(n * 0.0005) for n in range(60)), *(cancelled(n) for n in range(100)))
        for metadata in ((("x-bomb", "x" * 200_000),), (("x-bin", b"\xff" * 3000),)):
            try:
                await score(pb.ScoreRequest(), metadata=metadata, timeout=10)
            except grpc.aio.AioRpcError as error:
                codes.add(error.code().name)
        assert await score(pb.ScoreRequest(), compression=grpc.Compression.Gzip) is not None
    assert codes <= {"DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "CANCELLED"}
    for gauge in ("items", "bytes", "requests"):
        zero = f"rewardline_in_flight_{gauge} 0.0"
        eventually(lambda zero=zero: zero in httpx.get(f"{hasty.url}/metrics").text)  # type: ignore[misc]


def test_the_grpc_port_takes_what_is_no_grpc(hasty: Served) -> None:
    host, _, port = hasty.grpc.rpartition(":")
    files = _files(hasty)
    for junk in (b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 100, os.urandom(2000)):
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as caller:
            caller.sendall(junk)
            caller.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                _all(caller)
    eventually(lambda: _files(hasty) <= files)
    with grpc.insecure_channel(hasty.grpc) as channel:
        raw: Any = channel
        answered = raw.unary_unary("/rewardline.v1.Verifier/Score", pb.ScoreRequest.SerializeToString)(
            pb.ScoreRequest(), timeout=20
        )
        assert answered is not None
