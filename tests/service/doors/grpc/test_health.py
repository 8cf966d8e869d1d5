"""gRPC's health service says what `/readyz` says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from service.doors.grpc.health import Health
from service.doors.grpc.server import _asked
from service.observe.readiness import Readiness
from tests.waiting import PATIENCE_S

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
LOST = Readiness({"sandbox": "the boxes are lost"})


class Standing:
    """How things stand with a service."""

    def __init__(self) -> None:
        self.now = Readiness({})

    def __call__(self) -> Readiness:
        return self.now


@asynccontextmanager
async def followed(standing: Standing) -> AsyncIterator[tuple[Any, Any]]:
    """A server of gRPC's with nothing but the health of something that stands so, and a channel to it."""
    server = grpc.aio.server()
    health = Health(standing, ("a.Service",), _asked)
    server.add_generic_rpc_handlers((health.handlers,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    following = asyncio.create_task(health.follow())
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel, health
    finally:
        following.cancel()
        await asyncio.wait([following])
        await server.stop(None)


def of(service: str) -> Any:
    return health_pb2.HealthCheckRequest(service=service)


@pytest.mark.contract
@pytest.mark.parametrize("service", ["", "a.Service"])
async def test_who_asks_and_who_watches_hear_of_lost_boxes_and_of_their_return(service: str) -> None:
    standing = Standing()
    async with followed(standing) as (channel, _):
        stub = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(of(service))
        for now, status in (
            (Readiness({}), SERVING),
            (LOST, NOT_SERVING),
            (Readiness({}, {"sandbox": "lost"}), SERVING),
        ):
            standing.now = now
            assert (await stub.Check(of(service))).status == status
            async with asyncio.timeout(PATIENCE_S):
                assert (await watch.read()).status == status
        watch.cancel()


async def test_services_that_are_not_there() -> None:
    async with followed(Standing()) as (channel, _):
        stub = health_pb2_grpc.HealthStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Check(of("nobody"))
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        watch = stub.Watch(of("nobody"))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        watch.cancel()


async def test_many_who_watch_without_reading_hold_up_nobody() -> None:
    standing = Standing()
    async with followed(standing) as (channel, health):
        stub = health_pb2_grpc.HealthStub(channel)
        idle = [stub.Watch(of("")) for _ in range(50)]
        watch = stub.Watch(of(""))
        for number in range(200):
            standing.now = LOST if number % 2 else Readiness({})
            async with asyncio.timeout(PATIENCE_S):
                health.notify_watchers()
                assert (await watch.read()).status == (NOT_SERVING if number % 2 else SERVING)
        for call in (*idle, watch):
            call.cancel()


@pytest.mark.contract
async def test_a_service_that_is_about_to_leave_says_so_while_it_still_answers(serve: Any) -> None:
    served = serve(ops_port="0", sandbox="none", workers="1", drain_timeout_s="2")
    async with grpc.aio.insecure_channel(served.grpc) as channel, httpx.AsyncClient() as caller:
        watch = health_pb2_grpc.HealthStub(channel).Watch(of("rewardline.v1.Verifier"))
        assert (await watch.read()).status == SERVING
        leaving = asyncio.create_task(caller.post(f"{served.ops}/drain", timeout=PATIENCE_S))
        async with asyncio.timeout(PATIENCE_S):
            assert (await watch.read()).status == NOT_SERVING
        assert (await caller.get(f"{served.url}/readyz")).status_code == 503
        assert (await caller.get(f"{served.url}/v1/verifiers")).status_code == 200
        await leaving
        watch.cancel()
