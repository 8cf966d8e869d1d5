"""Reads the body of an HTTP request within limits, and cancels work when the caller hangs up.

Bytes are reserved with the admission before they are read, so that unfinished bodies are limited too.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Set

from starlette.types import Receive

from service.decompression import inflate
from service.errors import BodyTimeout, TooLarge, UnsupportedMedia
from service.settings import Settings

JSON_TYPES = frozenset({"application/json", "", "application/x-www-form-urlencoded"})
"""The accepted types of JSON bodies. `curl -d` sends the last one. A body that is not JSON gets an error that says
so."""
_PREFERRED = "application/json"
_READ_REST_S, _READ_REST_BYTES = 3.0, 200_000_000
_WATCH_AFTER_S = 0.02
_THREAD_BYTES = 64_000
"""Inflating a smaller body is quicker than handing it to a thread."""


class Disconnected(Exception):
    """The caller hung up."""


async def read_body(
    settings: Settings,
    headers: Mapping[bytes, bytes],
    receive: Receive,
    reserve: Callable[[int], Awaitable[None]],
    *,
    media: Set[str] = JSON_TYPES,
) -> bytes:
    """Read the body of a request within the time limit, and inflate it within the size limit.

    `reserve(nbytes)` is awaited before that many more bytes are held.

    Raises:
        RequestError: the body has another type, is too large or too late, or `reserve` refused it.
        Disconnected
    """
    given = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if given not in media:
        raise UnsupportedMedia(f"Content-Type {given[:60]!r}; send {_PREFERRED if media is JSON_TYPES else max(media)}")
    limit = settings.max_body_bytes
    declared = headers.get(b"content-length", b"")
    if declared.isdigit():
        _check_size(int(declared), limit)
        await reserve(int(declared))
    parts, size = [], 0
    try:
        async with asyncio.timeout(settings.body_timeout_s):
            async for part in _chunks(receive):
                size += len(part)
                _check_size(size, limit)
                if not declared:
                    await reserve(len(part))
                parts.append(part)
    except TimeoutError as error:
        raise BodyTimeout(f"the body did not arrive within {settings.body_timeout_s:g} s; {size} bytes did") from error
    body = parts[0] if len(parts) == 1 else b"".join(parts)
    encoding = headers.get(b"content-encoding", b"identity").decode("latin-1").strip().lower()
    if encoding == "identity":
        return body
    if len(body) < _THREAD_BYTES // 16:
        inflated = inflate(body, encoding, limit)
    else:
        inflated = await asyncio.to_thread(inflate, body, encoding, limit)
    await reserve(max(0, len(inflated) - len(body)))
    return inflated


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise TooLarge(f"the body has more than {limit} bytes; split the batch")


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        if body := message.get("body", b""):
            yield body
        if not message.get("more_body", False):
            return


async def drain_body(receive: Receive) -> None:
    """Read the rest of a refused body, within limits.

    If the connection were closed with unread bytes, it would be reset, and the caller would see that instead of the
    answer.
    """
    size = 0
    with contextlib.suppress(TimeoutError, Disconnected):
        async with asyncio.timeout(_READ_REST_S):
            async for part in _chunks(receive):
                size += len(part)
                if size > _READ_REST_BYTES:
                    return


@contextlib.asynccontextmanager
async def cancelled_on_disconnect(receive: Receive) -> AsyncIterator[None]:
    """Cancel the block when the caller hangs up. uvicorn does not do that by itself.

    Raises:
        Disconnected: the caller hung up.
    """
    worker = asyncio.current_task()
    assert worker is not None
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        worker.cancel()

    watcher: asyncio.Task[None] | None = None

    def begin() -> None:
        nonlocal watcher
        watcher = asyncio.create_task(watch())

    # Most requests are answered sooner. A task for each would be a tenth of their cost.
    timer = asyncio.get_running_loop().call_later(_WATCH_AFTER_S, begin)
    try:
        yield
    except asyncio.CancelledError:
        if gone and worker.uncancel() == 0:
            raise Disconnected from None
        raise
    finally:
        timer.cancel()
        if watcher is not None:
            watcher.cancel()
            await asyncio.wait([watcher])
