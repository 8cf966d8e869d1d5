"""The gRPC transport against a real grpc.aio server: the same results and errors as over HTTP."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from rewardline import AsyncClient, Client, InvalidRequest, Status, Unauthorized
from rewardline.pb import rewardline_pb2 as pb

from tests.waiting import PATIENCE_S


class FakeVerifier:
    """Judges by equality; `faults` are used up one per call."""

    def __init__(self) -> None:
        self.target = ""
        self.calls: list[list[str]] = []
        self.requests: list[Any] = []
        self.metadata: list[dict[str, Any]] = []
        self.time_left_s: list[float] = []
        self.fails: Counter[str] = Counter()
        self.faults: deque[Callable[[Any], Any]] = deque()

    async def score(self, request: Any, context: Any) -> Any:
        await self._begin([item.response for item in request.items], request, context)
        results = [self._judge(item, request.references_json) for item in request.items]
        return pb.ScoreResponse(results=results)

    async def score_stream(self, stream: Any, context: Any) -> AsyncIterator[Any]:
        items = [item async for item in stream]
        await self._begin([item.response for item in items], items, context)
        for index, item in reversed(list(enumerate(items))):
            result = self._judge(item, {})
            result.index = index
            yield result

    async def list_verifiers(self, request: Any, context: Any) -> Any:
        info = pb.VerifierInfo(name="math", version="2", params_schema_json='{"type": "object"}', examples_json="[]")
        return pb.ListVerifiersResponse(verifiers=[info])

    async def _begin(self, responses: list[str], request: Any, context: Any) -> None:
        self.calls.append(responses)
        self.requests.append(request)
        self.metadata.append(dict(context.invocation_metadata()))
        self.time_left_s.append(context.time_remaining())
        if self.faults:
            await self.faults.popleft()(context)

    def _judge(self, item: Any, references: Any) -> Any:
        result = pb.Result(id=item.id, verifier=item.verifier, version="1", detail_json='{"message": "m"}')
        if self.fails[item.response] > 0:
            self.fails[item.response] -= 1
            result.status, result.reason = pb.STATUS_FAILED, "worker_lost"
            return result
        reference = references.get(item.reference_id) or item.reference_json
        result.status = pb.STATUS_OK
        result.score = result.reward = float(f'"{item.response}"' == reference)
        return result


def aborting(code: grpc.StatusCode, detail: str = "", retry_after: str | None = None) -> Callable[[Any], Any]:
    async def fault(context: Any) -> None:
        trailing = () if retry_after is None else (("retry-after", retry_after),)
        await context.abort(code, detail, trailing)

    return fault


@pytest.fixture
async def verifier() -> AsyncIterator[FakeVerifier]:
    fake = FakeVerifier()
    handlers = {
        "Score": grpc.unary_unary_rpc_method_handler(
            fake.score, pb.ScoreRequest.FromString, pb.ScoreResponse.SerializeToString
        ),
        "ScoreStream": grpc.stream_stream_rpc_method_handler(
            fake.score_stream, pb.Item.FromString, pb.Result.SerializeToString
        ),
        "ListVerifiers": grpc.unary_unary_rpc_method_handler(
            fake.list_verifiers, pb.ListVerifiersRequest.FromString, pb.ListVerifiersResponse.SerializeToString
        ),
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("rewardline.v1.Verifier", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    fake.target = f"grpc://127.0.0.1:{port}"
    yield fake
    await server.stop(None)


def items(count: int) -> list[dict[str, Any]]:
    return [{"verifier": "math", "response": str(i), "reference": str(i) if i % 3 == 0 else "no"} for i in range(count)]


async def test_a_batch_comes_back_in_order_with_every_field(verifier: FakeVerifier) -> None:
    async with AsyncClient(verifier.target, batch_items=4, api_key="secret") as client:
        results = await client.score(items(10), explain=True, cache="refresh", deadline_s=30)
    assert [result.score for result in results] == [1.0 if i % 3 == 0 else 0.0 for i in range(10)]
    assert (results[9].id, results[9].detail, results[9].extracted) == ("9", {"message": "m"}, None)
    assert sorted(map(len, verifier.calls)) == [2, 4, 4]
    assert verifier.metadata[0]["authorization"] == "Bearer secret"
    assert (verifier.requests[0].explain, verifier.requests[0].cache) == (True, pb.CACHE_MODE_REFRESH)
    assert 0 < verifier.requests[0].deadline_s < 30
    assert 0 < verifier.time_left_s[0] <= 30


async def test_an_item_asks_for_its_own_explanation(verifier: FakeVerifier) -> None:
    first, second = items(2)
    async with AsyncClient(verifier.target) as client:
        await client.score([{**first, "explain": True}, second])
        assert [item.explain for item in verifier.requests[0].items] == [True, False]
        [_ async for _ in client.stream([{**first, "explain": True}, second])]
        assert [item.explain for item in verifier.requests[1]] == [True, False]
        with pytest.raises(InvalidRequest, match="expected true or false"):
            await client.score([{**first, "explain": "yes"}])


async def test_json_travels_as_text_and_messages_as_messages(verifier: FakeVerifier) -> None:
    item = {
        "response": [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}],
        "reference": {"n": 5, "big": 2**70},
        "params": {"k": [1]},
        "metadata": {"step": 1},
    }
    async with AsyncClient(verifier.target) as client:
        await client.score([item])
    (sent,) = verifier.requests[0].items
    assert [turn.content for turn in sent.response_messages.messages] == ["2+2?", "4"]
    assert sent.reference_json == '{"n":5,"big":1180591620717411303424}'
    assert (sent.params_json, sent.metadata_json) == ('{"k":[1]}', '{"step":1}')


async def test_single_calls_travel_together(verifier: FakeVerifier) -> None:
    async with AsyncClient(verifier.target, gather_ms=50) as client:
        await asyncio.gather(*(client.score_one(item) for item in items(64)))
    assert list(map(len, verifier.calls)) == [64]


async def test_a_stream_sends_options_and_references_with_each_item(verifier: FakeVerifier) -> None:
    batch = [{"response": str(i), "reference_id": "three"} for i in range(5)]
    verifier.fails["3"] = 1
    async with AsyncClient(verifier.target) as client:
        seen = {i: r.score async for i, r in client.stream(batch, references={"three": "3"}, cache="off")}
    assert seen == {0: 0.0, 1: 0.0, 2: 0.0, 3: 1.0, 4: 0.0}
    assert verifier.calls == [["0", "1", "2", "3", "4"], ["3"]]
    assert {item.cache for item in verifier.requests[0]} == {pb.CACHE_MODE_OFF}


async def test_overload_and_lost_servers_are_tried_again(verifier: FakeVerifier) -> None:
    verifier.faults.append(aborting(grpc.StatusCode.RESOURCE_EXHAUSTED, "busy", "0.1"))
    verifier.faults.append(aborting(grpc.StatusCode.UNAVAILABLE, "draining"))
    async with AsyncClient(verifier.target) as client:
        assert (await client.score(items(1)))[0].score == 1.0
        verifier.faults.append(aborting(grpc.StatusCode.RESOURCE_EXHAUSTED, "busy", "50"))
        result = (await client.score(items(1), deadline_s=30))[0]
    assert len(verifier.calls) == 4
    assert (result.status, result.reason, result.score) == (Status.FAILED, "overloaded", None)


async def test_the_deadline_ends_the_call(verifier: FakeVerifier) -> None:
    async def hang(context: Any) -> None:
        await asyncio.Event().wait()

    verifier.faults.append(hang)
    async with AsyncClient(verifier.target) as client, asyncio.timeout(PATIENCE_S):
        result = (await client.score(items(1), deadline_s=0.3))[0]
    assert (result.status, result.reason, result.score) == (Status.FAILED, "deadline", None)


@pytest.mark.parametrize(
    ("code", "kind"),
    [(grpc.StatusCode.INVALID_ARGUMENT, InvalidRequest), (grpc.StatusCode.UNAUTHENTICATED, Unauthorized)],
)
async def test_refusals_have_the_same_types_as_over_http(
    verifier: FakeVerifier, code: grpc.StatusCode, kind: type[Exception]
) -> None:
    verifier.faults.append(aborting(code, "because"))
    async with AsyncClient(verifier.target) as client:
        with pytest.raises(kind, match="because"):
            await client.score(items(1))
    assert len(verifier.calls) == 1


@pytest.mark.parametrize("bad", [{"verifer": "math"}, {"row": {}}, {"response": 5}, {"response": [5]}, {"id": 5}])
async def test_what_the_message_cannot_hold_is_refused_and_named(verifier: FakeVerifier, bad: dict[str, Any]) -> None:
    async with AsyncClient(verifier.target) as client:
        with pytest.raises(InvalidRequest, match=rf"items\[1\]\.{next(iter(bad))}"):
            await client.score([*items(1), {**items(1)[0], **bad}])
        with pytest.raises(ValueError, match=r"items\[0\]\.reference is not JSON"):
            await client.score([{"response": "1", "reference": float("nan")}])
    assert verifier.calls == []


async def test_a_lone_surrogate_costs_only_its_own_item(verifier: FakeVerifier) -> None:
    batch = [*items(2), {"response": "1", "reference": "a\ud800"}, *items(1)]
    async with AsyncClient(verifier.target) as client:
        results = await client.score(batch)
        alone = await client.score_one({"response": "1", "reference": ["\udfff"]})
    assert [result.status for result in results] == [Status.OK, Status.OK, Status.INVALID, Status.OK]
    assert [result.id for result in results] == ["0", "1", "2", "3"]
    assert (alone.status, alone.reason) == (Status.INVALID, "invalid_text")


async def test_the_sync_client_speaks_grpc_too(verifier: FakeVerifier) -> None:
    def use() -> tuple[list[float | None], list[dict[str, Any]]]:
        with Client(verifier.target) as client:
            return [result.score for result in client.score(items(4))], client.verifiers()

    scores, verifiers = await asyncio.to_thread(use)
    assert scores == [1.0, 0.0, 0.0, 1.0]
    assert verifiers[0]["params_schema"] == {"type": "object"}
