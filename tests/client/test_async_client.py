"""AsyncClient over real HTTP: order, sizes, retries, deadlines, loops."""

from __future__ import annotations

import asyncio
import math
import pickle
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from rewardline import (
    AsyncClient,
    FailedItems,
    InvalidItems,
    InvalidRequest,
    RequestError,
    Status,
    TooLarge,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    raise_for_failed,
    raise_for_invalid,
)

from tests.waiting import PATIENCE_S

if TYPE_CHECKING:
    from tests.client.conftest import Body, FakeServer, Fault


def items(count: int) -> list[dict[str, Any]]:
    """Every third is right."""
    return [{"verifier": "math", "response": str(i), "reference": str(i) if i % 3 == 0 else "no"} for i in range(count)]


def right(count: int) -> list[float]:
    return [1.0 if i % 3 == 0 else 0.0 for i in range(count)]


def answering(status: int, headers: dict[str, str] | None = None, text: str = "") -> Fault:
    async def fault(request: web.Request, body: Body) -> web.StreamResponse:
        return web.Response(status=status, headers=headers, text=text)

    return fault


async def dropping(request: web.Request, body: Body) -> None:
    assert request.transport is not None
    request.transport.abort()


async def test_results_belong_to_items_whatever_request_ends_first(server: FakeServer) -> None:
    second_answered = asyncio.Event()

    async def first(request: web.Request, body: Body) -> None:
        await second_answered.wait()

    async def second(request: web.Request, body: Body) -> None:
        second_answered.set()

    server.faults.extend([first, second])
    async with AsyncClient(server.url, batch_items=10) as client:
        results = await client.score(items(35))
    assert [result.score for result in results] == right(35)
    assert [result.id for result in results] == [str(i) for i in range(35)]
    assert all(isinstance(result.score, float) for result in results)


async def test_a_batch_is_cut_by_items_and_requests_in_flight_are_bounded(server: FakeServer) -> None:
    async with AsyncClient(server.url, batch_items=10, max_in_flight=3) as client:
        assert len(await client.score(items(95))) == 95
    assert sorted(len(body["items"]) for body in server.bodies) == [5] + [10] * 9
    assert server.most_in_flight <= 3
    assert len(server.connections) <= 3


async def test_a_batch_is_cut_by_bytes_and_a_large_item_travels_alone(server: FakeServer) -> None:
    batch = [{"response": "x" * size, "reference": "x"} for size in (10, 400, 400, 400, 5000, 10)]
    async with AsyncClient(server.url, batch_bytes=1000, max_in_flight=1) as client:
        assert len(await client.score(batch)) == 6
    assert [len(body["items"]) for body in server.bodies] == [3, 1, 1, 1]


async def test_an_empty_batch_needs_no_request(server: FakeServer) -> None:
    async with AsyncClient(server.url) as client:
        assert await client.score([]) == []
    assert server.bodies == []


async def test_a_shared_reference_travels_once_per_request_that_uses_it(server: FakeServer) -> None:
    batch = [{"response": "7", "reference_id": "a"}] * 4 + [{"response": "8", "reference_id": "b"}] * 2
    async with AsyncClient(server.url, batch_items=3, max_in_flight=1) as client:
        results = await client.score(batch, references={"a": "7", "b": "8", "unused": "9"})
    assert [result.score for result in results] == [1.0] * 6
    assert [sorted(body["references"]) for body in server.bodies] == [["a"], ["a", "b"]]


async def test_only_failed_items_are_sent_again(server: FakeServer) -> None:
    server.fails.update({"3": 1, "4": 2})
    async with AsyncClient(server.url) as client:
        results = await client.score(items(6))
    assert [[item["response"] for item in body["items"]] for body in server.bodies] == [
        ["0", "1", "2", "3", "4", "5"],
        ["3", "4"],
        ["4"],
    ]
    assert [result.score for result in results] == right(6)


async def test_what_keeps_failing_stays_failed_without_a_score(server: FakeServer) -> None:
    server.fails["3"] = 1000
    async with AsyncClient(server.url, max_resends=2) as client:
        results = await client.score(items(5))
    assert len(server.bodies) == 3
    assert (results[3].status, results[3].score, results[3].reward) == (Status.FAILED, None, None)
    assert results[3].reason == "worker_lost"
    assert [result.status for index, result in enumerate(results) if index != 3] == [Status.OK] * 4
    with pytest.raises(FailedItems, match=r"items\[3\]: worker_lost"):
        raise_for_failed(results)


@pytest.mark.parametrize("detail", [{}, {"retry_after_s": 50.0}])
async def test_a_budget_that_is_used_up_for_longer_than_the_deadline_is_not_asked_again(
    server: FakeServer, detail: dict[str, Any]
) -> None:
    server.fails["1"] = 1000
    server.failure = {"reason": "budget_exhausted", "detail": detail}
    async with AsyncClient(server.url) as client, asyncio.timeout(PATIENCE_S):
        results = await client.score(items(3), deadline_s=30)
    assert len(server.bodies) == 1
    assert [result.score for result in results] == [right(3)[0], None, right(3)[2]]
    assert results[1].reason == "budget_exhausted"


async def test_a_budget_that_begins_anew_is_waited_for(server: FakeServer) -> None:
    server.fails["1"] = 1
    server.failure = {"reason": "budget_exhausted", "detail": {"retry_after_s": 0.3}}
    async with AsyncClient(server.url) as client:
        results = await client.score(items(3))
    assert [result.score for result in results] == right(3)
    assert server.arrived_at[1] - server.arrived_at[0] >= 0.3


@pytest.mark.contract
@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_waited_for(server: FakeServer, status: int) -> None:
    server.faults.extend([answering(status, {"Retry-After": "0.3"})] * 2)
    async with AsyncClient(server.url, max_retries=0) as client:
        assert (await client.score(items(1)))[0].score == 1.0
    gaps = [later - earlier for earlier, later in zip(server.arrived_at, server.arrived_at[1:], strict=False)]
    assert len(gaps) == 2
    assert min(gaps) >= 0.3


async def test_a_retry_after_beyond_the_deadline_is_not_slept_through(server: FakeServer) -> None:
    server.faults.append(answering(429, {"Retry-After": "50"}))
    async with AsyncClient(server.url) as client:
        async with asyncio.timeout(PATIENCE_S):
            results = await client.score(items(2), deadline_s=30)
    assert [(result.status, result.reason, result.score) for result in results] == [
        (Status.FAILED, "overloaded", None)
    ] * 2


@pytest.mark.parametrize("fault", [answering(500), answering(502), answering(503), dropping])
async def test_lost_connections_and_server_errors_are_tried_again(server: FakeServer, fault: Fault) -> None:
    server.faults.extend([fault, fault])
    async with AsyncClient(server.url) as client:
        assert [result.score for result in await client.score(items(4))] == right(4)
    assert len(server.bodies) == 3


async def test_retries_end_and_a_lost_chunk_does_not_cost_the_others(server: FakeServer) -> None:
    async def broken_for_the_first(request: web.Request, body: Body) -> web.StreamResponse | None:
        return web.Response(status=500) if body["items"][0]["response"] == "0" else None

    server.faults.extend([broken_for_the_first] * 50)
    async with AsyncClient(server.url, batch_items=2, max_retries=2) as client:
        results = await client.score(items(6))
    assert [result.reason for result in results[:2]] == ["server_error"] * 2
    assert [result.score for result in results] == [None, None, *right(6)[2:]]
    assert len(server.bodies) == 3 + 2


async def test_an_unreachable_server_is_a_failed_result_and_says_where() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        async with AsyncClient(f"http://127.0.0.1:{port}", max_retries=1) as client:
            result = await client.score_one({"id": "a", "verifier": "math", "response": "1", "reference": "1"})
            with pytest.raises(Unavailable, match=str(port)):
                await client.verifiers()
    assert (result.status, result.reason, result.score, result.id) == (Status.FAILED, "unreachable", None, "a")
    assert str(port) in result.detail["message"]


async def test_the_deadline_ends_the_call_and_cancels_the_request(server: FakeServer) -> None:
    cancelled = threading.Event()

    async def hanging(request: web.Request, body: Body) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def hanging_for_the_second(request: web.Request, body: Body) -> None:
        if body["items"][0]["response"] == "1":
            await hanging(request, body)

    server.faults.extend([hanging_for_the_second] * 2)
    async with AsyncClient(server.url, batch_items=1) as client:
        async with asyncio.timeout(PATIENCE_S):
            results = await client.score(items(2), deadline_s=0.5)
    assert [(result.status, result.reason, result.score) for result in results] == [
        (Status.OK, "correct", 1.0),
        (Status.FAILED, "deadline", None),
    ]
    assert all(0 < body["deadline_s"] <= 0.45 for body in server.bodies)  # room for the answer to travel
    assert await asyncio.to_thread(cancelled.wait, 20)


@pytest.mark.contract
async def test_a_try_cut_short_by_the_deadline_says_what_an_earlier_one_came_to(server: FakeServer) -> None:
    async def hanging(request: web.Request, body: Body) -> None:
        await asyncio.Event().wait()

    server.faults.extend([answering(500, text="out of order"), hanging])
    async with AsyncClient(server.url) as client:
        result = await client.score_one(items(1)[0], deadline_s=3.0)
    assert (result.status, result.reason, result.score) == (Status.FAILED, "deadline", None)
    assert "no answer within the deadline; an earlier try: server_error:" in result.detail["message"]
    assert "out of order" in result.detail["message"]


@pytest.mark.contract
async def test_so_does_a_call_that_scores_nothing() -> None:
    connections = 0

    async def drop_two(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        if connections > 2:  # aiohttp asks by itself once more for what may be asked for twice
            await reader.read()
        writer.close()

    server = await asyncio.start_server(drop_two, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    async with server, AsyncClient(f"http://{host}:{port}", timeout_s=3.0) as client:
        with pytest.raises(Unavailable, match="deadline: no answer within the deadline; an earlier try: unreachable: "):
            await client.verifiers()
    assert connections > 2


async def test_the_deadline_holds_while_waiting_for_a_free_slot(server: FakeServer) -> None:
    held, arrived = asyncio.Event(), threading.Event()

    async def hold(request: web.Request, body: Body) -> None:
        arrived.set()
        await held.wait()

    server.faults.append(hold)
    async with AsyncClient(server.url, max_in_flight=1) as client:
        long = asyncio.create_task(client.score(items(1), deadline_s=60))
        assert await asyncio.to_thread(arrived.wait, 20)
        assert (await client.score(items(1), deadline_s=0.2))[0].reason == "deadline"
        server.release(held)
        assert (await long)[0].score == 1.0
    assert len(server.bodies) == 1


async def test_a_refused_item_is_named_by_its_place_in_the_whole_batch(server: FakeServer) -> None:
    batch: list[dict[str, Any]] = items(30)
    batch[25]["verifer"] = "math"
    async with AsyncClient(server.url, batch_items=10) as client:
        with pytest.raises(InvalidRequest, match=r"422 Invalid request.*items\[25\]\.verifer: unknown field") as caught:
            await client.score(batch)
    assert caught.value.errors[0].loc == ("items", 25, "verifer")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.errors, copy.status) == (str(caught.value), caught.value.errors, 422)


async def test_a_wrong_key_is_said_and_not_retried(server: FakeServer) -> None:
    server.api_key = "secret"
    async with AsyncClient(server.url, api_key="guess") as client:
        with pytest.raises(Unauthorized, match="401 Unauthorized"):
            await client.score(items(1))
        assert "guess" not in repr(client)
    assert len(server.bodies) == 1
    async with AsyncClient(server.url, api_key="secret") as client:
        assert (await client.score(items(1)))[0].score == 1.0


@pytest.mark.parametrize(
    ("status", "kind"), [(400, InvalidRequest), (401, Unauthorized), (403, Unauthorized), (413, TooLarge)]
)
async def test_each_refusal_has_its_type(server: FakeServer, status: int, kind: type[RequestError]) -> None:
    server.faults.append(answering(status, text="no"))
    async with AsyncClient(server.url) as client:
        with pytest.raises(kind, match=f"{status} .*; no") as caught:
            await client.score(items(1))
    assert caught.value.status == status
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "fault",
    [
        answering(404, text="page not found"),
        answering(308, {"Location": "https://elsewhere"}),
        answering(200, text="<html>hello</html>"),
        answering(200, text='{"results": []}'),
        answering(200, text='{"results": [{"status": "ok", "score": null, "reward": null}]}'),
        answering(200, text='{"results": [{"status": "failed", "score": 0, "reward": 0}]}'),
        answering(200, text='{"results": [{"status": "ok", "score": NaN, "reward": NaN}]}'),
        answering(200, text='{"results": [{"status": "ok", "score": 2, "reward": 2}]}'),
        answering(200, text='{"results": [{"status": "splendid", "score": 1, "reward": 1}]}'),
    ],
)
async def test_what_is_not_the_contract_is_never_a_score(server: FakeServer, fault: Fault) -> None:
    server.faults.append(fault)
    async with AsyncClient(server.url) as client:
        with pytest.raises(UnexpectedAnswer):
            await client.score(items(1))


async def test_a_batch_too_large_for_the_server_is_cut_further(server: FakeServer) -> None:
    server.max_items = 3
    async with AsyncClient(server.url) as client:
        assert [result.score for result in await client.score(items(20))] == right(20)
        server.max_bytes = 1000
        with pytest.raises(TooLarge, match="413"):
            await client.score([*items(3), {"response": "x" * 2000, "reference": "x"}])


async def test_fields_of_a_newer_server_are_kept(server: FakeServer) -> None:
    server.extra_fields = {"confidence": 0.5}
    async with AsyncClient(server.url) as client:
        assert (await client.score(items(1)))[0].extra == {"confidence": 0.5}


async def test_invalid_results_are_returned_and_raised_on_demand(server: FakeServer) -> None:
    async with AsyncClient(server.url) as client:
        results = await client.score([*items(2), {"response": "1"}])
    assert [result.status for result in results] == [Status.OK, Status.OK, Status.INVALID]
    assert len(server.bodies) == 1
    raise_for_failed(results)
    with pytest.raises(InvalidItems, match=r"items\[2\]: no_reference") as caught:
        raise_for_invalid(results)
    assert pickle.loads(pickle.dumps(caught.value)).results == {2: results[2]}


@pytest.mark.parametrize("bad", [math.nan, math.inf])
async def test_nan_is_refused_here_and_named(server: FakeServer, bad: float) -> None:
    async with AsyncClient(server.url) as client:
        with pytest.raises(ValueError, match=r"items\[2\] is not JSON"):
            await client.score([*items(2), {"response": "1", "reference": bad}])
        with pytest.raises(TypeError, match=r"items\[0\] is not JSON"):
            await client.score([{"response": "1", "reference": {1, 2}}])
        with pytest.raises(TypeError, match=r"items\[1\]: expected a mapping, found str"):
            await client.score([*items(1), "text"])  # type: ignore[list-item]  # what a caller may do
    assert server.bodies == []


async def test_a_lone_surrogate_costs_only_its_own_item(server: FakeServer) -> None:
    async with AsyncClient(server.url) as client:
        results = await client.score([*items(2), {"response": "a\ud800b", "reference": "1"}, *items(1)])
    assert [result.status for result in results] == [Status.OK, Status.OK, Status.INVALID, Status.OK]


async def test_text_of_any_language_arrives_as_it_was(server: FakeServer) -> None:
    texts = ["答案是三", "\U0001f600", "a\x00b\u2028", "<|im_end|>", '"\\']
    async with AsyncClient(server.url) as client:
        results = await client.score([{"response": text, "reference": text} for text in texts])
    assert [result.score for result in results] == [1.0] * len(texts)


async def test_stream_yields_what_is_ready_and_reads_no_further_than_it_must(server: FakeServer) -> None:
    held = asyncio.Event()
    read = 0

    async def hold(request: web.Request, body: Body) -> None:
        await held.wait()

    def source() -> Iterator[dict[str, Any]]:
        nonlocal read
        for item in items(1000):
            read += 1
            yield item

    server.faults.append(hold)
    seen: dict[int, float | None] = {}
    async with AsyncClient(server.url, batch_items=5, max_in_flight=2) as client:
        async for index, result in client.stream(source()):
            if not seen:
                assert index >= 5  # the first request is held
                assert read <= 2 * 5 + 1
                server.release(held)
            assert index not in seen
            seen[index] = result.score
            assert read <= len(seen) + 3 * 5 + 1
    assert [seen[i] for i in range(1000)] == right(1000)
    assert all("application/x-ndjson" in headers["Accept"] for headers in server.headers)


async def test_a_stream_cut_short_sends_only_the_rest_again(server: FakeServer) -> None:
    async def cut(request: web.Request, body: Body) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await answer.prepare(request)
        await answer.write(b'{"index": 1, "status": "ok", "score": 0, "reward": 0, "reason": "wrong"}\n{"ind')
        assert request.transport is not None
        request.transport.close()
        return answer

    server.faults.append(cut)
    async with AsyncClient(server.url) as client:
        seen = {index: result.score async for index, result in client.stream(items(4))}
    assert seen == dict(enumerate(right(4)))
    assert [item["response"] for item in server.bodies[1]["items"]] == ["0", "2", "3"]


async def test_leaving_a_stream_early_cancels_what_is_on_its_way(server: FakeServer) -> None:
    arrived, cancelled = threading.Event(), threading.Event()

    async def hanging_for_the_second(request: web.Request, body: Body) -> None:
        if body["items"][0]["response"] == "2":
            arrived.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

    server.faults.extend([hanging_for_the_second] * 2)
    async with AsyncClient(server.url, batch_items=2) as client:
        stream = client.stream(items(4))
        assert (await stream.__anext__())[0] < 2
        assert await asyncio.to_thread(arrived.wait, 20)
        await stream.aclose()
        assert await asyncio.to_thread(cancelled.wait, 20)


async def test_concurrent_single_calls_travel_together(server: FakeServer) -> None:
    async with AsyncClient(server.url, gather_ms=50) as client:
        results = await asyncio.gather(*(client.score_one(item) for item in items(64)))
        assert [result.score for result in results] == right(64)
        assert [len(body["items"]) for body in server.bodies] == [64]
        item = items(1)[0]
        await asyncio.gather(client.score_one(item, explain=True), client.score_one(item, cache="off"))
    options = sorted((body["explain"], body["cache"]) for body in server.bodies[1:])
    assert options == [(False, "off"), (True, "use")]


async def test_a_full_group_does_not_wait_for_the_window(server: FakeServer) -> None:
    async with AsyncClient(server.url, gather_ms=60_000, gather_items=8) as client:
        async with asyncio.timeout(PATIENCE_S):
            results = await asyncio.gather(*(client.score_one(item) for item in items(16)))
    assert [result.score for result in results] == right(16)
    assert [len(body["items"]) for body in server.bodies] == [8, 8]


@pytest.mark.parametrize("gather_ms", [0.0, 2.0])
async def test_a_lone_call_needs_no_company(server: FakeServer, gather_ms: float) -> None:
    async with AsyncClient(server.url, gather_ms=gather_ms) as client:
        result = await client.score_one({"id": "mine", "response": "1", "reference": "1"})
    assert (result.id, result.score) == ("mine", 1.0)


async def test_without_a_window_each_call_is_its_own_request(server: FakeServer) -> None:
    async with AsyncClient(server.url, gather_ms=0) as client:
        await asyncio.gather(*(client.score_one(item) for item in items(5)))
    assert [len(body["items"]) for body in server.bodies] == [1] * 5


async def test_one_callers_bad_item_costs_the_others_nothing(server: FakeServer) -> None:
    batch: list[dict[str, Any]] = items(20)
    batch[7]["verifer"] = batch[11]["refrence"] = "?"
    batch[3]["reference"] = math.nan
    async with AsyncClient(server.url, gather_ms=50) as client:
        results = await asyncio.gather(*(client.score_one(item) for item in batch), return_exceptions=True)
    for index, result in enumerate(results):
        if index == 3:
            assert isinstance(result, ValueError)
        elif index in (7, 11):
            assert isinstance(result, InvalidRequest)
            assert result.errors[0].loc == ("items", 0, "verifer" if index == 7 else "refrence")
        else:
            assert not isinstance(result, BaseException)
            assert result.score == right(20)[index]


async def test_a_cancelled_call_leaves_its_group_and_the_last_one_ends_the_work(server: FakeServer) -> None:
    held, cancelled, arrived = asyncio.Event(), threading.Event(), threading.Event()

    async def hold(request: web.Request, body: Body) -> None:
        arrived.set()
        try:
            await held.wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    server.faults.extend([hold, hold])
    async with AsyncClient(server.url, gather_ms=5) as client:
        first, second = (asyncio.create_task(client.score_one(item)) for item in items(2))
        assert await asyncio.to_thread(arrived.wait, 20)
        first.cancel()
        server.release(held)
        assert (await second).score == 0.0
        assert first.cancelled()

        held.clear()
        arrived.clear()
        alone = asyncio.create_task(client.score_one(items(1)[0]))
        assert await asyncio.to_thread(arrived.wait, 20)
        alone.cancel()
        assert await asyncio.to_thread(cancelled.wait, 20)


async def test_connections_are_used_again(server: FakeServer) -> None:
    async with AsyncClient(server.url) as client:
        for _ in range(20):
            await client.score(items(3))
    assert len(server.bodies) == 20
    assert len(server.connections) == 1


async def test_large_bodies_are_compressed_on_demand(server: FakeServer) -> None:
    large = [{"response": "x" * 100_000, "reference": "x" * 100_000}]
    async with AsyncClient(server.url, compress="gzip") as client:
        assert (await client.score(large))[0].score == 1.0
        assert (await client.score(items(1)))[0].score == 1.0
    assert [headers.get("Content-Encoding") for headers in server.headers] == ["gzip", None]
    assert int(server.headers[0]["Content-Length"]) < 10_000


async def test_verifiers_are_listed_after_a_retry(server: FakeServer) -> None:
    server.faults.append(answering(500))
    async with AsyncClient(server.url) as client:
        assert await client.verifiers() == [{"name": "math", "version": "1"}]


async def test_calls_in_flight_end_when_the_client_is_closed(server: FakeServer) -> None:
    arrived = threading.Event()

    async def hanging(request: web.Request, body: Body) -> None:
        arrived.set()
        await asyncio.Event().wait()

    server.faults.append(hanging)
    client = AsyncClient(server.url)
    call = asyncio.create_task(client.score_one(items(1)[0]))
    assert await asyncio.to_thread(arrived.wait, 20)
    await client.close()
    await client.close()
    with pytest.raises(RuntimeError, match="closed"):
        await call
    with pytest.raises(RuntimeError, match="closed"):
        await client.score(items(1))


def test_one_client_serves_the_loops_of_several_threads(server: FakeServer) -> None:
    client = AsyncClient(server.url)
    scores: list[list[float | None]] = []
    together = threading.Barrier(3)

    async def use() -> None:
        await client.score(items(1))
        await asyncio.to_thread(together.wait, 20)
        scores.append([result.score for result in await client.score(items(9))])

    threads = [threading.Thread(target=lambda: asyncio.run(use())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert scores == [right(9)] * 3
    assert len(server.connections) == 3


def test_loops_one_after_the_other_leave_nothing_open(server: FakeServer) -> None:
    script = """
        import asyncio, gc, sys
        from rewardline import AsyncClient
        client = AsyncClient(sys.argv[1])
        for _ in range(3):
            print(asyncio.run(client.score([{"response": "1", "reference": "1"}]))[0].score)
            gc.collect()
    """
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", textwrap.dedent(script), server.url],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["1.0"] * 3
    assert done.stderr == ""


async def test_a_pickled_client_is_its_configuration(server: FakeServer) -> None:
    server.api_key = "secret"
    async with AsyncClient(server.url, api_key="secret", batch_items=2) as client:
        await client.score(items(1))
        copy = pickle.loads(pickle.dumps(client))
    async with copy:
        assert [result.score for result in await copy.score(items(4))] == right(4)
    assert [len(body["items"]) for body in server.bodies] == [1, 2, 2]


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host", "http://"])
def test_an_address_that_cannot_be_one_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="expected http://"):
        AsyncClient(url)


@pytest.mark.parametrize("options", [{"timeout_s": 0}, {"batch_items": 0}, {"gather_ms": -1}, {"compress": "lzma"}])
def test_options_that_cannot_work_are_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        AsyncClient("http://host", **options)


async def test_call_options_that_cannot_work_are_refused(server: FakeServer) -> None:
    async with AsyncClient(server.url) as client:
        with pytest.raises(ValueError, match="cache"):
            await client.score(items(1), cache="never")
        with pytest.raises(ValueError, match="deadline"):
            await client.score_one(items(1)[0], deadline_s=math.inf)
    assert server.bodies == []
