"""Writes the body of a request to a file, for bodies that are too large for memory."""

import asyncio
from collections.abc import Mapping
from typing import IO, Final

from starlette.types import Receive

from service.doors.asgi.request_body import Disconnected
from service.errors import BadRequest, BodyTimeout, StateUnavailable, TooLarge, UnsupportedMedia

_PART_BYTES: Final = 1_000_000


async def spool(
    headers: Mapping[bytes, bytes], receive: Receive, file: IO[bytes], *, max_bytes: int, part_timeout_s: float
) -> None:
    """Write the body of a request to a file, a megabyte at a time.

    Args:
        headers: Of the request.
        receive: Gives the body.
        file: Where it goes.
        max_bytes: The most bytes that are taken.
        part_timeout_s: The longest time that each megabyte may take.

    Raises:
        RequestError: the body is empty, too large, too late or packed, or there is no room for it.
        Disconnected
    """
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise UnsupportedMedia("send the file without a Content-Encoding")
    declared = headers.get(b"content-length", b"")
    size = int(declared) if declared.isdigit() else 0
    _check_size(size, max_bytes)
    size, has_more = 0, True
    while has_more:
        part, has_more = await _part(receive, part_timeout_s)
        size += len(part)
        _check_size(size, max_bytes)
        try:
            await asyncio.to_thread(_write, file, part)
        except OSError as error:
            raise no_room(error) from error
    if not size:
        raise BadRequest("the body is empty; send the file as the body (curl --data-binary @FILE)")


def no_room(error: OSError) -> StateUnavailable:
    """The refusal of a file that cannot be written."""
    return StateUnavailable(
        f"the service cannot keep the file for now ({error.strerror}); send a smaller one, or give its TMPDIR more room",
        retry_after_s=30.0,
    )


async def _part(receive: Receive, timeout_s: float) -> tuple[bytes, bool]:
    """The next megabyte, and whether there is more."""
    pieces: list[bytes] = []
    size, has_more = 0, True
    try:
        async with asyncio.timeout(timeout_s):
            while has_more and size < _PART_BYTES:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Disconnected
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                has_more = message.get("more_body", False)
    except TimeoutError as error:
        raise BodyTimeout(f"the file stopped coming for {timeout_s:g} s") from error
    return b"".join(pieces), has_more


def _write(file: IO[bytes], part: bytes) -> None:
    file.write(part)
    file.flush()


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise TooLarge(
            f"the file has more than {max_bytes / 1e6:g} MB (setting max_dataset_mb); send a part of it, or run "
            "`rewardline audit FILE`, which takes any size"
        )
