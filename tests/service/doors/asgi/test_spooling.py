"""Bodies that are too large for memory go to a file, within limits."""

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from service.doors.asgi.request_body import Disconnected
from service.doors.asgi.spooling import spool
from service.errors import BadRequest, BodyTimeout, StateUnavailable, TooLarge
from tests.virtual_time import in_virtual_time


def sends(*parts: bytes, ends: bool = True) -> Callable[[], Awaitable[dict[str, Any]]]:
    messages = [
        {"type": "http.request", "body": part, "more_body": not ends or place < len(parts) - 1}
        for place, part in enumerate(parts)
    ]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop(0)
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    return receive


async def spooled(receive: Callable[[], Awaitable[dict[str, Any]]], file: Any = None, **headers: str) -> bytes:
    file = io.BytesIO() if file is None else file
    given = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
    await spool(given, receive, file, max_bytes=3_000_000, part_timeout_s=30.0)
    return bytes(file.getvalue())


async def test_a_body_of_many_parts_is_written_whole() -> None:
    parts = [bytes([n]) * 300_000 for n in range(10)]
    assert await spooled(sends(*parts), content_length="3000000") == b"".join(parts)


async def test_a_body_beyond_the_limit_is_refused_as_soon_as_it_is_known() -> None:
    with pytest.raises(TooLarge, match="3 MB"):
        await spooled(sends(), content_length="3000001")
    with pytest.raises(TooLarge, match="rewardline audit FILE"):
        await spooled(sends(*[b"x" * 1_000_000] * 4, ends=False))


async def test_an_empty_body_is_no_file() -> None:
    with pytest.raises(BadRequest, match="--data-binary"):
        await spooled(sends(b""))


async def test_a_full_disk_is_said() -> None:
    with io.FileIO("/dev/full", "w") as full, pytest.raises(StateUnavailable, match="No space left"):
        await spooled(sends(b"x"), full)


async def test_a_caller_that_hangs_up_ends_it() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(Disconnected):
        await spooled(receive)


@in_virtual_time
async def test_each_megabyte_has_its_time() -> None:
    with pytest.raises(BodyTimeout, match="30 s"):
        await spooled(sends(b"x" * 2_000_000, ends=False))
    assert asyncio.get_running_loop().time() == 30.0
