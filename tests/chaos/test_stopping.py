"""One of two replicas is stopped behind the proxy as it is deployed. Callers that try nothing twice notice nothing."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc
import httpx
import pytest
from rewardline.pb import rewardline_pb2 as pb

from tests.chaos.servers import Server
from tests.chaos.stand import haproxy
from tests.load.generator import until_true
from tests.ports import free_ports
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.chaos

_NOTICE_S = 15
"""More than the default, so that a busy machine does not decide this test."""
_CALLERS = 4
_CALM = 100
"""Answers between two steps."""
_BEYOND_THE_BUFFER = "x" * 100_000
"""HAProxy repeats only requests that fit its buffer."""

Call = Callable[[str], Awaitable[object]]


async def test_stopping_one_of_two_replicas_under_load_refuses_nobody(tmp_path: Path) -> None:
    async with _replicas(tmp_path) as (replicas, urls), AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=urls[0], timeout=PATIENCE_S))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(urls[1].removeprefix("grpc://")))
        await until_true(lambda: httpx.get(f"{urls[0]}/readyz").status_code == 200, PATIENCE_S)
        counts: Counter[object] = Counter()
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            for call in (_by_http(http), _by_http(http, _BEYOND_THE_BUFFER), _by_grpc(channel)):
                for number in range(_CALLERS):
                    tasks.create_task(_keep_calling(call, f"caller {number}", counts, stopping))
            await _more(counts)
            code = await replicas[0].stop()
            await _more(counts)
            stopping.set()
    assert counts.keys() == {1.0}, counts
    assert code == 0


@asynccontextmanager
async def _replicas(folder: Path) -> AsyncIterator[tuple[Sequence[Server], Sequence[str]]]:
    ports = free_ports(3)
    settings = {"sandbox": "none", "workers": "1", "drain_notice_s": str(_NOTICE_S), "repository_slots": "0"}
    replicas = [Server(folder / f"replica{n}.jsonl", f"127.0.0.{n}", ports, **settings) for n in (2, 3)]
    async with AsyncExitStack() as stack:
        for replica in replicas:
            stack.push_async_callback(replica.end)
        async with asyncio.TaskGroup() as tasks:
            for replica in replicas:
                tasks.create_task(replica.start())
        urls = stack.enter_context(haproxy(folder, [replica.url for replica in replicas], ports))
        yield replicas, urls


def _by_http(client: httpx.AsyncClient, padding: str = "") -> Call:
    async def call(text: str) -> object:
        item = {"verifier": "exact_match", "response": text + padding, "reference": text + padding}
        answer = await client.post("/v1/score", json={"items": [item]})
        return answer.json()["results"][0]["score"] if answer.status_code == 200 else answer.text

    return call


def _by_grpc(channel: grpc.aio.Channel) -> Call:
    score = channel.unary_unary(
        "/rewardline.v1.Verifier/Score", pb.ScoreRequest.SerializeToString, pb.ScoreResponse.FromString
    )

    async def call(text: str) -> object:
        item = pb.Item(verifier="exact_match", response=text, reference_json=f'"{text}"')
        answer = await score(pb.ScoreRequest(items=[item]), timeout=PATIENCE_S)
        return answer.results[0].score

    return call


async def _keep_calling(call: Call, name: str, counts: Counter[object], stopping: asyncio.Event) -> None:
    for number in itertools.count():
        if stopping.is_set():
            return
        try:
            counts[await call(f"{name}, {number}")] += 1
        except (httpx.TransportError, grpc.RpcError) as error:
            counts[repr(error)] += 1


async def _more(counts: Counter[object]) -> None:
    before = counts.total()
    await until(lambda: counts.total() > before + _CALM, lambda: counts)
