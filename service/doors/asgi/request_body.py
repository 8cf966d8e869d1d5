"""Reads the body of an HTTP request within limits, and cancels work when the caller hangs up.

Bytes are reserved with the admission before they are read, so that unfinished bodies are limited too.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Set
from types import TracebackType

from starlette.types import Receive

from service import decompression
from service.errors import BodyTimeout, TooLarge, UnsupportedMedia
from service.settings import Settings

JSON_TYPES = frozenset({"application/json", "", "application/x-www-form-urlencoded"})
"""The accepted types of JSON bodies. `curl -d` sends the last one. A body that is not JSON gets an error that says
so."""
_PREFERRED = "application/json"
_READ_REST_S, _READ_REST_BYTES = 3.0, 200_000_000
_WATCH_AFTER_S = 0.02
_FEW_PARTS = 16
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
    media_type = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if media_type not in media:
        raise UnsupportedMedia(
            f"Content-Type {media_type[:60]!r}; send {_PREFERRED if media is JSON_TYPES else max(media)}"
        )
    limit = settings.max_body_bytes
    declared = headers.get(b"content-length", b"")
    if declared.isdigit():
        _check_size(int(declared), limit)
        await reserve(int(declared))
    pieces, size = [], 0
    try:
        async with asyncio.timeout(settings.body_timeout_s):
            has_more = True
            while has_more:
                part, has_more = await _chunk(receive)
                size += len(part)
                _check_size(size, limit)
                if not declared:
                    await reserve(len(part))
                if part:
                    pieces.append(part)
    except TimeoutError as error:
        raise BodyTimeout(f"the body did not arrive within {settings.body_timeout_s:g} s; {size} bytes did") from error
    body = await _joined(pieces)
    encoding = headers.get(b"content-encoding", b"identity").decode("latin-1").strip().lower()
    return body if encoding == "identity" else await _inflated(body, encoding, limit, reserve)


async def _inflated(body: bytes, encoding: str, limit: int, reserve: Callable[[int], Awaitable[None]]) -> bytes:
    """The body inflated, step by step: in a thread, unless it is small."""
    steps = decompression.parts(body, encoding, limit)
    pieces: list[bytes] = []
    size = reserved = len(body)
    while (part := await _step(steps, is_small=len(body) < _THREAD_BYTES // 16 and not pieces)) is not None:
        pieces.append(part)
        size += len(part)
        if size - len(body) > reserved:
            await reserve(size - len(body) - reserved)
            reserved = size - len(body)
    return await _joined(pieces)


async def _step(steps: Iterator[bytes], *, is_small: bool) -> bytes | None:
    return next(steps, None) if is_small else await asyncio.to_thread(next, steps, None)


async def _joined(pieces: list[bytes]) -> bytes:
    """The parts as one. Joining many, and freeing them, takes long. A thread gives the interpreter to others meanwhile."""
    if len(pieces) == 1:
        return pieces[0]
    if len(pieces) < _FEW_PARTS:
        return b"".join(pieces)
    return await asyncio.to_thread(_join, pieces)


def _join(pieces: list[bytes]) -> bytes:
    joined = b"".join(pieces)
    while pieces:  # each goes back to the system by itself, so that other threads run in between
        pieces.pop()
    return joined


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise TooLarge(f"the body has more than {limit} bytes; split the batch")


async def _chunk(receive: Receive) -> tuple[bytes, bool]:
    """The next part of the body, and whether there are more."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Disconnected
    return message.get("body", b""), message.get("more_body", False)


async def drain_body(receive: Receive) -> None:
    """Read the rest of a refused body, within limits.

    If the connection were closed with unread bytes, it would be reset, and the caller would see that instead of the
    answer.
    """
    size = 0
    with contextlib.suppress(TimeoutError, Disconnected):
        async with asyncio.timeout(_READ_REST_S):
            has_more = True
            while has_more and size <= _READ_REST_BYTES:
                part, has_more = await _chunk(receive)
                size += len(part)


def cancelled_on_disconnect(receive: Receive) -> "_CancelledOnDisconnect":
    """Cancel the block when the caller hangs up. uvicorn does not do that by itself.

    Raises:
        Disconnected: the caller hung up.
    """
    return _CancelledOnDisconnect(receive)


class _CancelledOnDisconnect:
    """The block of `cancelled_on_disconnect`."""

    __slots__ = ("_gone", "_receive", "_timer", "_watcher", "_worker")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._gone = False
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        worker = asyncio.current_task()
        assert worker is not None
        self._worker = worker
        # Most requests are answered sooner. A task for each would be a tenth of their cost.
        self._timer = asyncio.get_running_loop().call_later(_WATCH_AFTER_S, self._begin)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait([self._watcher])
        if isinstance(error, asyncio.CancelledError) and self._gone and self._worker.uncancel() == 0:
            raise Disconnected from None

    def _begin(self) -> None:
        self._watcher = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._worker.cancel()
