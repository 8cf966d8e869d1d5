"""What a refused call leaves behind: nothing. The server is in this process, so that its garbage can be looked at."""

import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from types import FrameType
from typing import Any

import grpc
import pytest
from rewardline.pb import rewardline_pb2 as pb

from service.doors.grpc.server import build_server
from service.limits.admission import Admission
from service.limits.keys import Keys
from service.observe.metrics import Metrics
from service.observe.readiness import Readiness
from service.settings import Settings

_TOO_MANY = pb.ScoreRequest(items=[pb.Item()] * 9_000).SerializeToString()
_NO_MESSAGE = b"\xff" * 1_000
_BUG = pb.ScoreRequest(items=[pb.Item(verifier="math")]).SerializeToString()
"""There is no engine that could score it."""


@contextmanager
def garbage() -> Iterator[list[Any]]:
    """What only the collector of garbage could free of what the block left. The list is filled at its end."""
    found: list[Any] = []
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@asynccontextmanager
async def serving() -> AsyncIterator[grpc.aio.Channel]:
    settings = Settings(sandbox="none")
    admission = Admission(settings.max_items_in_flight, settings.max_body_bytes)
    engine: Any = None  # no call comes so far
    server, _ = build_server(
        settings, Keys({}), engine, engine, engine, admission, Metrics("0"), partial(Readiness, {})
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(None)


@pytest.mark.parametrize(
    ("method", "message", "code"),
    [
        ("rewardline.v1.Verifier/Score", _TOO_MANY, "OUT_OF_RANGE"),
        ("rewardline.v1.Verifier/Score", _NO_MESSAGE, "INVALID_ARGUMENT"),
        ("rewardline.v1.Verifier/Score", _BUG, "INTERNAL"),
        ("rewardline.v1.Verifier/ScoreStream", _NO_MESSAGE, "INVALID_ARGUMENT"),
        ("grpc.health.v1.Health/Check", _NO_MESSAGE, "INVALID_ARGUMENT"),
        ("grpc.health.v1.Health/Watch", _NO_MESSAGE, "INVALID_ARGUMENT"),
        ("grpc.health.v1.Health/Check", b"\x0a\x01x", "NOT_FOUND"),
    ],
    ids=["items", "no message", "bug", "stream", "no message of health", "watch of health", "health of nobody"],
)
async def test_a_refused_message_is_held_by_nothing(method: str, message: bytes, code: str) -> None:
    with garbage() as left:
        async with serving() as channel:
            assert await answer(channel, method, message) == (code, [])
    ours = [
        part.f_code.co_qualname for part in left if isinstance(part, FrameType) and "service" in part.f_code.co_filename
    ]
    assert ours == []


async def answer(channel: grpc.aio.Channel, method: str, message: bytes) -> tuple[str, list[bytes]]:
    """The code of a call, and the messages that came before it: a caller who reads a stream sees them all."""
    call: Any = channel.stream_stream(f"/{method}")(iter([message]))  # type: ignore[call-arg]  # both serializers are optional
    messages: list[bytes] = []
    try:
        async for part in call:
            messages.append(part)
    except grpc.aio.AioRpcError as error:
        return error.code().name, messages
    return "OK", messages
