"""What becomes of calls that are under way when the service has waited for them long enough."""

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from rewardline import AsyncClient
from rewardline.pb import rewardline_pb2 as pb

from service.run.http_server import first
from tests.conftest import Served, serving
from tests.ports import free_ports
from tests.service.doors.http.test_app import _all, _open
from tests.service.slow_verifier import installed
from tests.waiting import PATIENCE_S, eventually

JSON = Any
LONG_S = 10 * PATIENCE_S
SETTINGS = {"sandbox": "none", "workers": "1", "drain_timeout_s": "1"}


def slow(seconds: float, response: str = "a") -> JSON:
    return {"verifier": "slow", "response": response, "params": {"seconds": seconds}}


def message(item: JSON) -> Any:
    return pb.Item(verifier=item["verifier"], response=item["response"], params_json=json.dumps(item["params"]))


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What callers of every kind get from a service that stops waiting for them, and its log."""
    folder = tmp_path_factory.mktemp("ended")
    with (
        serving(folder / "log.jsonl", (), installed(folder / "plugins"), **SETTINGS) as served,
        ThreadPoolExecutor(8) as threads,
        grpc.insecure_channel(served.grpc) as channel,
        _open(served) as half_sent,
    ):
        half_sent.sendall(b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
        calls: dict[str, Future[Any]] = {
            "batch": threads.submit(_batch, served),
            "lines": threads.submit(_lines, served),
            "unary": threads.submit(_unary, channel),
            "stream": threads.submit(_stream, channel),
            "open stream": threads.submit(_held_stream, channel),
            "half a body": threads.submit(_all, half_sent),
        }
        eventually(lambda: "rewardline_in_flight_requests 6.0" in httpx.get(f"{served.url}/metrics").text)
        served.process.send_signal(signal.SIGTERM)
        yield {name: call.result(PATIENCE_S) for name, call in calls.items()} | {
            "exit code": served.process.wait(PATIENCE_S),
            "log": served.log.read_text(),
        }


def _batch(served: Served) -> httpx.Response:
    return httpx.post(f"{served.url}/v1/score", json={"items": [slow(0), slow(LONG_S)]}, timeout=PATIENCE_S)


def _lines(served: Served) -> list[bytes]:
    """Of the answer as it comes; the end is what httpx raises."""
    body = {"items": [slow(0), slow(LONG_S, "b")]}
    parts: list[bytes] = []
    accept = {"Accept": "application/x-ndjson"}
    with httpx.stream("POST", f"{served.url}/v1/score", json=body, headers=accept, timeout=PATIENCE_S) as answer:
        try:
            parts.extend(answer.iter_raw())
        except httpx.RemoteProtocolError as error:
            parts.append(str(error).encode())
    return parts


def _unary(channel: Any) -> grpc.RpcError:
    call = channel.unary_unary("/rewardline.v1.Verifier/Score", pb.ScoreRequest.SerializeToString)
    with pytest.raises(grpc.RpcError) as caught:
        call(pb.ScoreRequest(items=[message(slow(LONG_S, "c"))]), timeout=PATIENCE_S)
    return caught.value


def _stream(channel: Any) -> tuple[list[Any], grpc.RpcError]:
    call = channel.stream_stream("/rewardline.v1.Verifier/ScoreStream", pb.Item.SerializeToString, pb.Result.FromString)
    results: list[Any] = []
    with pytest.raises(grpc.RpcError) as caught:
        results.extend(call(iter([message(slow(LONG_S, "d"))]), timeout=PATIENCE_S))
    return results, caught.value


def _held_stream(channel: Any) -> tuple[list[Any], grpc.RpcError]:
    """One whose caller has not said that it is done, and waits for the one item's answer, or has it."""
    call = channel.stream_stream("/rewardline.v1.Verifier/ScoreStream", pb.Item.SerializeToString, pb.Result.FromString)
    over = threading.Event()

    def items() -> Iterator[Any]:
        yield message(slow(LONG_S, "e"))
        over.wait(PATIENCE_S)

    results: list[Any] = []
    with pytest.raises(grpc.RpcError) as caught:
        results.extend(call(items(), timeout=PATIENCE_S))
    over.set()
    return results, caught.value


@pytest.mark.contract
def test_a_batch_is_refused_so_that_another_replica_gets_it(ended: dict[str, Any]) -> None:
    reply = ended["batch"]
    assert (reply.status_code, reply.headers["content-type"]) == (503, "application/problem+json")
    assert int(reply.headers["retry-after"]) >= 1
    assert reply.headers["connection"] == "close"
    problem = reply.json()
    assert (problem["title"], problem["status"]) == ("Shutting down", 503)
    assert problem["request_id"] == reply.headers["x-request-id"]


@pytest.mark.contract
def test_half_a_body_gets_the_same_answer(ended: dict[str, Any]) -> None:
    head, _, body = ended["half a body"].partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    assert json.loads(body)["title"] == "Shutting down"


def test_lines_that_were_sent_are_whole_and_the_rest_is_seen_to_be_missing(ended: dict[str, Any]) -> None:
    lines = b"".join(ended["lines"]).split(b"\n")
    assert json.loads(lines[0])["index"] == 0
    assert b"incomplete" in lines[1]
    assert b"summary" not in b"".join(lines)


@pytest.mark.parametrize("name", ["unary", "stream", "open stream"])
def test_grpc_calls_are_told_that_the_service_is_unavailable(ended: dict[str, Any], name: str) -> None:
    results, error = ([], ended[name]) if name == "unary" else ended[name]
    assert results == []
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    trailers = dict(error.trailing_metadata())
    assert float(trailers["retry-after"]) >= 1
    assert json.loads(trailers["problem-bin"])["title"] == "Shutting down"


def test_the_service_ends_cleanly_and_says_how_many_it_refused(ended: dict[str, Any]) -> None:
    assert ended["exit code"] == 0
    lines = [json.loads(line) for line in ended["log"].splitlines()]
    (drained,) = [line for line in lines if line["event"] == "drained"]
    assert drained["calls_ended"] == 6
    assert not [line for line in lines if "exception" in line or "Cancel" in line["event"]]
    codes = {line["code"] for line in lines if line["event"] == "request" and line["method"] != "/metrics"}
    assert codes == {"200", "503", "UNAVAILABLE"}  # 200: the readiness probe, and the lines


@pytest.mark.chaos
def test_the_client_library_gets_all_verdicts_from_the_next_process(tmp_path: Path) -> None:
    plugins = installed(tmp_path / "plugins")
    http_port, grpc_port = free_ports(2)
    urls = (f"http://127.0.0.1:{http_port}", f"grpc://127.0.0.1:{grpc_port}")

    def life(number: int) -> Any:
        ports = ("--http-port", str(http_port), "--grpc-port", str(grpc_port))
        return serving(tmp_path / f"log{number}.jsonl", ports, plugins, **SETTINGS)

    async def scored(url: str, *, streams: bool) -> list[Any]:
        items = [slow(seconds, f"{url} {streams} {seconds}") for seconds in (0, 3, 3.5)]
        async with AsyncClient(url, max_retries=50) as client:
            if streams:
                return [result async for _, result in client.stream(items)]
            return list(await client.score(items))

    async def all_scored() -> list[list[Any]]:
        return await asyncio.gather(*(scored(url, streams=streams) for url in urls for streams in (False, True)))

    with ThreadPoolExecutor(1) as threads:
        with life(1) as served:
            call = threads.submit(lambda: asyncio.run(all_scored()))
            eventually(
                lambda: 'rewardline_queue_items{verifier="slow"} 0.0' in _metrics(served) and _items(served) >= 8
            )
            served.process.send_signal(signal.SIGTERM)
            assert served.process.wait(PATIENCE_S) == 0
        with life(2):
            results = call.result(60)
    assert [[result.score for result in part] for part in results] == [[1.0] * 3] * 4


def _items(served: Served) -> float:
    (line,) = [line for line in _metrics(served).splitlines() if line.startswith("rewardline_in_flight_items ")]
    return float(line.rpartition(" ")[2])


def _metrics(served: Served) -> str:
    return httpx.get(f"{served.url}/metrics").text


async def test_what_waited_beside_the_first_ends_with_it() -> None:
    """A task that nobody awaits is told of in the log when it is forgotten."""
    begun = asyncio.all_tasks()
    await first(asyncio.sleep(0), asyncio.Event().wait())
    assert asyncio.all_tasks() == begun
