"""The real client against the real server."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from rewardline import (
    AsyncClient,
    Client,
    InvalidItems,
    InvalidRequest,
    Result,
    Status,
    TooLarge,
    Unauthorized,
    grpc_transport,
    raise_for_invalid,
)
from rewardline.batching import Entry, Request

from tests.ports import free_ports
from tests.waiting import PATIENCE_S

KEY = "0123456789abcdef-a-key"


def items(count: int) -> list[dict[str, Any]]:
    """Item n is right unless 3 divides n."""
    return [{"verifier": "numeric", "response": f"#### {n}", "reference": n if n % 3 else n + 1} for n in range(count)]


def scores(count: int) -> list[float]:
    return [float(n % 3 != 0) for n in range(count)]


def math_items(count: int) -> list[dict[str, Any]]:
    return [
        {"verifier": "math", "response": f"\\boxed{{x^2+{n}}}", "reference": f"x^2+{n if n % 3 else n + 1}+0"}
        for n in range(count)
    ]


def url_of(served: Any, door: str) -> str:
    return str(served.url) if door == "http" else f"grpc://{served.grpc}"


def comparable(results: list[Result]) -> list[tuple[Any, ...]]:
    """All that says something about the item, and not about this very call."""
    return [
        (r.id, r.status, r.score, r.reward, r.reason, r.verifier, r.version, r.extracted, r.detail) for r in results
    ]


def metric(served: Any, pattern: str) -> float:
    text = httpx.get(f"{served.url}/metrics").text
    return sum(float(value) for value in re.findall(rf"^rewardline_{pattern} (\S+)$", text, re.MULTILINE))


@pytest.mark.contract
@pytest.mark.load(beyond=1)
@pytest.mark.parametrize("door", ["http", "grpc"])
def test_ten_thousand_items_are_cut_and_come_back_in_order(served: Any, door: str) -> None:
    with Client(url_of(served, door), batch_items=700) as client:
        results = client.score(items(10_000), cache="off")
    assert [result.score for result in results] == scores(10_000)
    assert [result.id for result in results] == [str(n) for n in range(10_000)]


def test_both_doors_and_both_clients_give_the_same_results(served: Any) -> None:
    batch: list[dict[str, Any]] = [
        *items(40),
        {"verifier": "nosuch", "response": "1", "id": "mine"},
        {"verifier": "numeric", "response": "1", "reference": {"no": "number"}},
        {"verifier": "exact_match", "response": "ä \ud83d", "reference": "ä"},
        {"verifier": "multiple_choice", "response": "The answer is (B).", "reference": "B"},
        {"verifier": "regex", "response": "abcabc", "reference": r"(\w+)\1"},
        {"verifier": "numeric", "response": [{"role": "assistant", "content": "7"}], "reference_id": "shared"},
        *math_items(6),
    ]

    def sync(door: str) -> list[Result]:
        with Client(url_of(served, door), batch_items=16) as client:
            return client.score(batch, references={"shared": "7"}, explain=True)

    async def one_by_one(door: str) -> list[Result]:
        async with AsyncClient(url_of(served, door), batch_items=16) as client:
            return await client.score(batch, references={"shared": "7"}, explain=True)

    over_http = comparable(sync("http"))
    for other in (sync("grpc"), asyncio.run(one_by_one("http")), asyncio.run(one_by_one("grpc"))):
        assert comparable(other) == over_http
    assert {row[1] for row in over_http} == {Status.OK, Status.INVALID}


@pytest.mark.contract
@pytest.mark.parametrize("door", ["http", "grpc"])
async def test_single_calls_travel_together(serve: Any, door: str) -> None:
    served = await asyncio.to_thread(serve)
    async with AsyncClient(url_of(served, door), gather_ms=20) as client:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(client.score_one(item)) for item in items(500)]
        assert [call.result().score for call in calls] == scores(500)
    requests = await asyncio.to_thread(metric, served, r'requests_total\{.*method="(?:/v1/score|Score)"\}')
    assert 0 < requests < 50
    assert await asyncio.to_thread(metric, served, r"items_total\{.*\}") == 500


@pytest.mark.contract
@pytest.mark.parametrize("door", ["http", "grpc"])
async def test_the_stream_gives_every_index_once(served: Any, door: str) -> None:
    async with AsyncClient(url_of(served, door), batch_items=100) as client:
        found = {index: result.score async for index, result in client.stream(iter(items(1_000)))}
    assert [found[index] for index in range(1_000)] == scores(1_000)


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_invalid_items_come_back_as_results(served: Any, door: str) -> None:
    batch = items(300)
    batch[250] = {"verifier": "math", "response": "1", "reference": "\\frac{1}{"}
    with Client(url_of(served, door), batch_items=100) as client:
        results = client.score(batch)
    assert (results[250].status, results[250].score) == (Status.INVALID, None)
    assert [result.status for result in results].count(Status.OK) == 299
    with pytest.raises(InvalidItems, match=r"items\[250\]: unparseable_reference"):
        raise_for_invalid(results)


@pytest.mark.contract
@pytest.mark.parametrize("door", ["http", "grpc"])
def test_a_wrong_key_is_an_error_of_its_own_type(serve: Any, door: str) -> None:
    served = serve(api_keys=f"me={KEY}")
    for key, words in ((None, "send an API key"), ("wrong", "unknown API key")):
        with Client(url_of(served, door), api_key=key) as client, pytest.raises(Unauthorized, match=words):
            client.score(items(1))
    with Client(url_of(served, door), api_key=KEY) as client:
        assert [result.score for result in client.score(items(2))] == scores(2)
        assert "math" in [verifier["name"] for verifier in client.verifiers()]


def test_a_refused_field_is_named_by_its_place_in_the_call(served: Any) -> None:
    batch = items(300)
    batch[250]["solution"] = "?"
    with Client(served.url, batch_items=100) as client, pytest.raises(InvalidRequest) as caught:
        client.score(batch)
    assert caught.value.errors[0].loc == ("items", 250, "solution")


@pytest.mark.parametrize(
    ("field", "value"), [("deadline_s", -1.0), ("cache", "a mode of tomorrow")], ids=["deadline_s", "cache"]
)
async def test_grpc_errors_name_the_field(
    served: Any, monkeypatch: pytest.MonkeyPatch, field: str, value: object
) -> None:
    """Nothing a caller can pass is refused like this today, so the transport is asked for it directly."""
    monkeypatch.setitem(grpc_transport._CACHE_MODES, "a mode of tomorrow", 77)
    entries = [Entry(0, items(1)[0], grpc_transport.encode_item(0, items(1)[0]))]
    options: dict[str, Any] = {"deadline_s": 5.0, "cache": "use", field: value}
    transport = grpc_transport.GrpcTransport(served.grpc, None, tls=None)
    try:
        with pytest.raises(InvalidRequest) as caught:
            await transport.score(
                Request(entries, timeout_s=10.0, explain=False, stream=False, **options), lambda position, raw: None
            )
    finally:
        await transport.close()
    assert caught.value.title == "Unprocessable"
    assert [error.loc for error in caught.value.errors] == [(field,)]
    assert caught.value.errors[0].msg
    assert caught.value.detail


@pytest.mark.contract
@pytest.mark.parametrize("door", ["http", "grpc"])
def test_requests_larger_than_the_server_takes_are_halved(serve: Any, door: str) -> None:
    served = serve(max_items_per_request="60", max_items_in_flight="600")
    with Client(url_of(served, door), batch_items=500) as client:
        results = client.score(items(500))
    assert [result.score for result in results] == scores(500)


@pytest.mark.contract
@pytest.mark.parametrize("door", ["http", "grpc"])
def test_bytes_beyond_the_limit_are_halved_and_one_item_alone_is_refused(serve: Any, door: str) -> None:
    served = serve(max_body_mb="0.2")
    batch = [{**item, "response": "x" * 20_000 + item["response"]} for item in items(40)]
    with Client(url_of(served, door)) as client:
        assert [result.score for result in client.score(batch)] == scores(40)
        with pytest.raises(TooLarge):
            client.score([*items(3), {"verifier": "numeric", "response": "x" * 300_000, "reference": "1"}])


@pytest.mark.chaos
@pytest.mark.parametrize("door", ["http", "grpc"])
def test_a_busy_server_is_waited_for(serve: Any, door: str) -> None:
    """Four callers with more items than the server admits at once: each gets all its verdicts."""
    served = serve(max_items_in_flight="100", max_items_per_request="100")
    found: dict[int, list[Result]] = {}

    def call(number: int) -> None:
        with Client(url_of(served, door), batch_items=100, max_in_flight=1, timeout_s=60) as client:
            found[number] = client.score(math_items(200), cache="off")

    callers = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(90)
    assert [[result.score for result in found[number]] for number in range(4)] == [scores(200)] * 4
    assert metric(served, r'requests_total\{code="(?:429|RESOURCE_EXHAUSTED)".*\}') > 0


@contextmanager
def in_background(work: Any) -> Iterator[None]:
    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.chaos
@pytest.mark.parametrize("door", ["http", "grpc"])
def test_a_restart_in_the_middle_of_a_run_costs_no_item(serve: Any, door: str) -> None:
    """SIGTERM while requests are queued in the client, and a new server on the same ports."""
    http_port, grpc_port = free_ports(2)
    ports = ("--http-port", str(http_port), "--grpc-port", str(grpc_port))
    served = serve(*ports)
    count, found, begun = 1_000, dict[int, float | None](), threading.Event()

    def run() -> None:
        with Client(url_of(served, door), batch_items=50, max_in_flight=2, timeout_s=80, max_retries=60) as client:
            for index, result in client.stream(math_items(count), cache="off"):
                assert index not in found
                found[index] = result.score
                if len(found) == 200:
                    begun.set()

    with in_background(run):
        assert begun.wait(60)
        assert served.stop() == 0
        assert len(found) < count
        again = serve(*ports)
    assert [found[index] for index in range(count)] == scores(count)
    assert metric(again, r"items_total\{.*\}") > 0
