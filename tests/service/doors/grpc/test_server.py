"""The gRPC door from outside, with a real channel."""

import asyncio
import contextlib
import json
import queue
import socket
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from rewardline.pb import rewardline_pb2 as pb

from tests.conftest import Serve
from tests.service.slow_verifier import held, serving_slowly
from tests.waiting import eventually

LIMITS = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
Code = grpc.StatusCode


class Stub:
    """The three methods over one channel."""

    def __init__(self, channel: Any) -> None:
        path = "/rewardline.v1.Verifier/"
        self.score_bytes = channel.unary_unary(f"{path}Score")
        self.score = channel.unary_unary(f"{path}Score", pb.ScoreRequest.SerializeToString, pb.ScoreResponse.FromString)
        self.stream = channel.stream_stream(f"{path}ScoreStream", pb.Item.SerializeToString, pb.Result.FromString)
        self.list = channel.unary_unary(
            f"{path}ListVerifiers", pb.ListVerifiersRequest.SerializeToString, pb.ListVerifiersResponse.FromString
        )


@pytest.fixture
def channel(served: Any) -> Iterator[Any]:
    with grpc.insecure_channel(served.grpc, LIMITS) as channel:
        yield channel


@pytest.fixture
def stub(channel: Any) -> Stub:
    return Stub(channel)


def item(response: str = "12", reference: object = "12", verifier: str = "numeric", **more: Any) -> Any:
    return pb.Item(response=response, verifier=verifier, reference_json=json.dumps(reference), **more)


def refused(call: Any, *arguments: Any, **options: Any) -> Any:
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **options)
    return caught.value


def test_a_batch_gets_one_result_per_item_in_order(stub: Stub) -> None:
    response = stub.score(pb.ScoreRequest(items=[item("12", id="a"), item("13"), item(verifier="nosuch")]))
    assert [result.id for result in response.results] == ["a", "1", "2"]
    assert [result.index for result in response.results] == [0, 1, 2]
    assert [result.status for result in response.results] == [pb.STATUS_OK, pb.STATUS_OK, pb.STATUS_INVALID]
    assert [result.score for result in response.results] == [1.0, 0.0, 0.0]
    assert [result.HasField("score") for result in response.results] == [True, True, False]
    assert [result.HasField("reward") for result in response.results] == [True, True, False]
    assert response.summary.items == 3


def test_json_that_is_none_is_invalid_alone(stub: Stub) -> None:
    items = [item(), pb.Item(response="12", verifier="numeric", reference_json="{"), item()]
    response = stub.score(pb.ScoreRequest(items=items))
    assert [result.reason for result in response.results] == ["correct", "bad_json", "correct"]


def test_bytes_that_are_no_message(stub: Stub) -> None:
    error = refused(stub.score_bytes, b"\xff\xff\xff")
    assert error.code() is Code.INVALID_ARGUMENT
    problem = json.loads(dict(error.trailing_metadata())["problem-bin"])
    assert problem["title"] == "Bad request"


@pytest.mark.parametrize("fields", [{"deadline_s": -1}, {"deadline_s": float("nan")}, {"cache": 77}])
def test_fields_out_of_range_are_named(stub: Stub, fields: dict[str, Any]) -> None:
    error = refused(stub.score, pb.ScoreRequest(items=[item()], **fields))
    assert error.code() is Code.INVALID_ARGUMENT
    assert json.loads(dict(error.trailing_metadata())["problem-bin"])["errors"][0]["loc"] == list(fields)


def test_too_many_items_and_too_many_bytes(stub: Stub) -> None:
    error = refused(stub.score, pb.ScoreRequest(items=[item()] * 5000))
    assert error.code() is Code.OUT_OF_RANGE
    assert "4096" in (error.details() or "")
    error = refused(stub.score, pb.ScoreRequest(items=[item("x" * 17_000_000)]))
    assert error.code() is Code.RESOURCE_EXHAUSTED


def test_a_message_beyond_grpcs_usual_four_megabytes(stub: Stub) -> None:
    response = stub.score(pb.ScoreRequest(items=[item("x" * 3_000_000)] * 5))
    assert [result.status for result in response.results] == [pb.STATUS_OK] * 5


def test_the_calls_deadline_bounds_the_work(stub: Stub) -> None:
    """Each of these takes the verifier its whole time limit; the answer comes before the call's deadline."""
    bomb = "\\boxed{" + "+".join(f"\\sqrt{{x^{n}+{n}}}" for n in range(2, 60)) + "}"
    items = [item(bomb + str(n), "x", "math") for n in range(64)] + [item()]
    response = None
    for patience_s in (3.0, 6.0, 12.0):  # a busy machine may take longer over the answer than is left for it
        with contextlib.suppress(grpc.RpcError):
            response = stub.score(pb.ScoreRequest(items=items, cache=pb.CACHE_MODE_OFF), timeout=patience_s)
            break
    assert response is not None
    assert response.results[-1].reason == "correct"
    assert all(result.HasField("score") == (result.status == pb.STATUS_OK) for result in response.results)


def test_a_cancelled_call_stops_the_work(tmp_path: Path) -> None:
    items = [
        pb.Item(verifier="slow", response=each["response"], params_json=json.dumps(each["params"]))
        for each in held(4000, tmp_path / "never")
    ]
    with serving_slowly(tmp_path) as served, grpc.insecure_channel(served.grpc) as channel:
        call = Stub(channel).score.future(pb.ScoreRequest(items=items))
        eventually(lambda: "rewardline_in_flight_items 4000.0" in httpx.get(f"{served.url}/metrics").text)
        call.cancel()
        eventually(lambda: "rewardline_in_flight_items 0.0" in httpx.get(f"{served.url}/metrics").text)
        assert 'code="CANCELLED"' in httpx.get(f"{served.url}/metrics").text


def test_the_stream_answers_items_as_they_come(stub: Stub) -> None:
    waiting: queue.Queue[Any] = queue.Queue()
    results = stub.stream(iter(waiting.get, None))
    for n in range(20):
        waiting.put(item(str(n)))
        result = next(results)
        assert (result.index, result.id, result.score) == (n, str(n), float(n == 12))
    waiting.put(None)
    assert list(results) == []


@pytest.mark.contract
def test_a_long_stream_loses_nothing(stub: Stub) -> None:
    results = list(stub.stream(item(str(n % 50)) for n in range(5000)))
    assert sorted(result.index for result in results) == list(range(5000))
    assert all(result.score == float(result.index % 50 == 12) for result in results)


@pytest.mark.contract
def test_the_stream_reads_no_further_than_its_window(served: Any) -> None:
    """A caller who sends without reading the answers is slowed down, and holds only so much of the service."""
    sent = 0

    def items() -> Iterator[Any]:
        nonlocal sent
        for n in range(200_000):
            sent = n
            yield item(str(n), reference="x" * 2000, verifier="exact_match")

    with grpc.insecure_channel(served.grpc) as channel:
        call = Stub(channel).stream(items())
        first = next(call)
        assert first.score == 0.0
        before = -1
        while sent != before:
            before = sent
            time.sleep(0.5)
        assert sent < 150_000
        call.cancel()
    eventually(lambda: "rewardline_in_flight_items 0.0" in httpx.get(f"{served.url}/metrics").text)


@pytest.mark.contract
async def test_calls_beyond_what_a_connection_may_have_open_wait_their_turn(serve: Serve) -> None:
    channel: Any
    async with grpc.aio.insecure_channel(serve(grpc_calls_per_connection="3", workers="1").grpc) as channel:
        await channel.unary_unary("/rewardline.v1.Verifier/ListVerifiers")(b"")  # now its bounds are known
        calls = [channel.stream_stream("/rewardline.v1.Verifier/ScoreStream")() for _ in range(4)]

        async def answered(call: Any) -> float:
            await call.write(item().SerializeToString())
            return float(pb.Result.FromString(await call.read()).score)

        assert [await answered(call) for call in calls[:3]] == [1.0] * 3  # they stay open
        last = asyncio.create_task(answered(calls[3]))
        assert not (await asyncio.wait([last], timeout=0.5))[0]
        calls[0].cancel()
        assert await last == 1.0


def test_a_broken_item_ends_the_stream_with_its_reason(served: Any) -> None:
    with grpc.insecure_channel(served.grpc) as channel:
        raw: Any = channel
        results = raw.stream_stream("/rewardline.v1.Verifier/ScoreStream")(iter([b"\xff\xff"]))
        error = refused(list, results)
    assert error.code() is Code.INVALID_ARGUMENT


async def test_an_asyncio_caller_who_writes_on_is_told_what_was_wrong(served: Any) -> None:
    """Its library says INTERNAL when a call ends while it writes; so we hear it out."""

    async def call(channel: grpc.aio.Channel, bodies: list[bytes]) -> str:
        stream = channel.stream_stream("/rewardline.v1.Verifier/ScoreStream", None, None)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            async for _ in stream(_sent(bodies), timeout=60):
                pass
        return f"{caught.value.code().name} {caught.value.details()}"

    good = item().SerializeToString()
    answers: list[str] = []
    async with grpc.aio.insecure_channel(served.grpc) as channel:
        for bodies in ([b"\xff\xff"] * 2, [good, *[b"\xff\xff"] * 5], [b"\xff" * 20_000] * 50):
            answers += await asyncio.gather(*(call(channel, bodies) for _ in range(64)))
    codes = Counter(text.partition(":")[0] for text in answers)
    # A caller whom a busy machine keeps from writing for longer than we hear it out may be told the other thing;
    # were none heard out, all of a kind were told it: a third.
    assert codes["INVALID_ARGUMENT not a rewardline.v1.Item"] >= 160, codes


async def _sent(bodies: list[bytes]) -> AsyncIterator[bytes]:
    for body in bodies:
        yield body


async def test_so_is_one_who_writes_on_without_a_key(serve: Any) -> None:
    served = serve(api_keys="alice=alice-secret-0123456", sandbox="none", workers="1")
    async with grpc.aio.insecure_channel(served.grpc) as channel:
        stream = channel.stream_stream("/rewardline.v1.Verifier/ScoreStream", None, None)
        for _ in range(32):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                async for _ in stream(_sent([item().SerializeToString()] * 20)):
                    pass
            assert caught.value.code() is Code.UNAUTHENTICATED


def test_one_who_says_no_more_but_does_not_hang_up_is_told_soon(served: Any) -> None:
    over = threading.Event()

    def bodies() -> Iterator[bytes]:
        yield b"\xff\xff"
        over.wait(60)

    with grpc.insecure_channel(served.grpc) as channel:
        raw: Any = channel
        error = refused(list, raw.stream_stream("/rewardline.v1.Verifier/ScoreStream")(bodies(), timeout=30))
        over.set()
    assert error.code() is Code.INVALID_ARGUMENT


def test_a_row_that_is_no_json_ends_the_stream_after_the_answers_before_it(stub: Stub) -> None:
    results: list[Any] = []
    with pytest.raises(grpc.RpcError) as caught:
        results.extend(stub.stream(iter([item(), pb.Item(response="1", row_json="{"), item()]), timeout=20))
    assert caught.value.code() is Code.INVALID_ARGUMENT
    assert [result.score for result in results] == [1.0]


def test_keys_in_metadata(serve: Any) -> None:
    served = serve(api_keys="alice=alice-secret-0123456")
    with grpc.insecure_channel(served.grpc) as channel:
        stub = Stub(channel)
        error = refused(stub.score, pb.ScoreRequest())
        assert error.code() is Code.UNAUTHENTICATED
        error = refused(list, stub.stream(iter([item()])))
        assert error.code() is Code.UNAUTHENTICATED
        metadata = (("authorization", "Bearer alice-secret-0123456"),)
        assert stub.score(pb.ScoreRequest(items=[item()]), metadata=metadata).summary.ok == 1
        assert len(list(stub.stream(iter([item()]), metadata=metadata))) == 1


def test_overload_says_when_to_come_back(serve: Any) -> None:
    served = serve(max_mb_in_flight="1", max_body_mb="1")
    with grpc.insecure_channel(served.grpc, LIMITS) as channel:
        stub = Stub(channel)
        url = httpx.URL(served.url)
        with socket.create_connection((url.host, url.port)) as holder:
            holder.sendall(b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n{")
            eventually(lambda: "rewardline_in_flight_bytes 900000.0" in httpx.get(f"{served.url}/metrics").text)
            error = refused(stub.score, pb.ScoreRequest(items=[item("x" * 200_000)]))
        assert error.code() is Code.RESOURCE_EXHAUSTED
        trailers = dict(error.trailing_metadata())
        assert float(trailers["retry-after"]) >= 1
        assert b"google.rpc.RetryInfo" in trailers["grpc-status-details-bin"]


def test_discovery_health_and_reflection(stub: Stub, channel: Any, served: Any) -> None:
    infos = {info.name: info for info in stub.list(pb.ListVerifiersRequest()).verifiers}
    over_http = {entry["name"]: entry for entry in httpx.get(f"{served.url}/v1/verifiers").json()["verifiers"]}
    assert set(infos) == set(over_http)
    for name, info in infos.items():
        assert json.loads(info.params_schema_json) == over_http[name]["params_schema"]
        assert json.loads(info.examples_json) == over_http[name]["examples"]
    health = health_pb2_grpc.HealthStub(channel)
    for service in ("", "rewardline.v1.Verifier"):
        reply = health.Check(health_pb2.HealthCheckRequest(service=service))
        assert reply.status == health_pb2.HealthCheckResponse.SERVING
    reflection = reflection_pb2_grpc.ServerReflectionStub(channel)
    asked = reflection_pb2.ServerReflectionRequest(list_services="")
    (reply,) = reflection.ServerReflectionInfo(iter([asked]))
    assert "rewardline.v1.Verifier" in {service.name for service in reply.list_services_response.service}


@pytest.mark.parametrize("method", ["Check", "Watch"])
def test_what_is_no_question_of_health_is_the_callers_mistake(channel: Any, served: Any, method: str) -> None:
    logged = len(served.log.read_text())
    kind = channel.unary_unary if method == "Check" else channel.unary_stream
    call = kind(f"/grpc.health.v1.Health/{method}", None, None)
    with pytest.raises(grpc.RpcError) as caught:
        list(call(b"\xff")) if method == "Watch" else call(b"\xff")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "Traceback" not in served.log.read_text()[logged:]


@pytest.mark.contract
def test_a_second_server_on_the_same_port_does_not_start(serve: Any) -> None:
    served = serve()
    taken = served.grpc.rpartition(":")[2]
    with pytest.raises(AssertionError, match="cannot listen"):
        serve("--grpc-port", taken)


@pytest.mark.contract
def test_health_tells_of_the_end_before_it_comes(serve: Any) -> None:
    served = serve()
    with grpc.insecure_channel(served.grpc) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=""))
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        stopping = threading.Thread(target=served.stop)
        stopping.start()
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        stopping.join()
