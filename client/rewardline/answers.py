"""Reads what a server answered, within bounds that follow from what was asked.

bytes     so many for each item, and a few times what was sent, since a result may quote its item; the same after
          inflating
values    of the JSON, so many for each item: an empty list takes two bytes, and thirty times as much memory
depth     of the JSON
"""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from rewardline.errors import Unavailable, UnexpectedAnswer

if TYPE_CHECKING:
    import aiohttp

    from rewardline.batching import Request

MAX_DEPTH = 64
"""The most levels of lists and objects in an answer."""
CALL_BYTES = 16 * 1024 * 1024
"""The longest answer to a call that scores no items: an interaction, the list of verifiers."""
REFUSAL_BYTES = 1024 * 1024
"""The part of a refusal that is read."""
_EXCERPT_CHARS = 200
_BASE_BYTES, _ITEM_BYTES, _QUOTES = 256 * 1024, 64 * 1024, 4
"""A result has its item's texts at most so many times: in `extracted`, in `detail` and in its checks."""
_BASE_VALUES, _ITEM_VALUES, _VALUE_BYTES = 16_384, 4_096, 2
"""A result has a value for each few bytes of its item at most: a judge's, a dozen for each criterion."""
_CALL_VALUES = 500_000
_STEP_BYTES = 64 * 1024
_MARKS_OF_STRINGS = 4
"""Quotation marks for each value, which may have a name."""


def most_bytes(request: Request) -> int:
    """The longest answer to a request."""
    return _BASE_BYTES + _ITEM_BYTES * len(request.entries) + _QUOTES * request.item_bytes


def most_values(items: int, item_bytes: int = 0) -> int:
    """The most values in the JSON of an answer with results of so many items, which have so many bytes together."""
    return _BASE_VALUES + _ITEM_VALUES * items + item_bytes // _VALUE_BYTES


async def pieces(response: aiohttp.ClientResponse, max_bytes: int) -> AsyncIterator[bytes]:
    """The parts of a body, inflated.

    Raises:
        UnexpectedAnswer: It has more than `max_bytes` bytes, or another encoding than was asked for.
        Unavailable: It is not whole.
    """
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise UnexpectedAnswer(f"Content-Encoding {encoding[:40]!r}; the client asked for gzip")
    if (response.content_length or 0) > max_bytes:
        raise too_long(max_bytes)
    stream = _Gunzip() if encoding == "gzip" else None
    sent_bytes = size = 0
    async for data in response.content.iter_any():
        sent_bytes += len(data)
        if sent_bytes > max_bytes:
            raise too_long(max_bytes)
        for part in (data,) if stream is None else stream.parts(data):
            size += len(part)
            if size > max_bytes:
                raise too_long(max_bytes)
            yield part
    if stream is not None and not stream.is_whole:
        raise Unavailable("unreachable", "the compressed answer ended too early")


async def read(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """A whole body. Raises as `pieces`."""
    return b"".join([part async for part in pieces(response, max_bytes)])


async def read_refusal(response: aiohttp.ClientResponse) -> bytes:
    """The body of a refusal, or as much of it as can be read. Its status says enough."""
    chunks = []
    try:
        async for chunk in pieces(response, REFUSAL_BYTES):
            chunks.append(chunk)
    except (UnexpectedAnswer, Unavailable):
        pass
    return b"".join(chunks)


class _Gunzip:
    """Inflates a body in small steps. It may have several members (RFC 1952)."""

    def __init__(self) -> None:
        self._member: Any = None

    @property
    def is_whole(self) -> bool:
        return self._member is None

    def parts(self, data: bytes) -> list[bytes] | Any:
        while data:
            self._member = self._member or zlib.decompressobj(wbits=31)
            try:
                part = self._member.decompress(data, _STEP_BYTES)
            except zlib.error as error:
                raise Unavailable("unreachable", f"the answer is not gzip: {error}") from error
            if part:
                yield part
            data = self._member.unconsumed_tail
            if self._member.eof:
                data, self._member = self._member.unused_data, None


def parsed(body: bytes, max_values: int = _CALL_VALUES) -> Any:
    """The JSON of an answer, with at most so many values.

    Raises:
        UnexpectedAnswer
    """
    # The characters are in texts, too. So most answers are known to be small enough at once.
    if _values(body) > max_values and _values(_without_texts(body, max_values)) > max_values:
        raise UnexpectedAnswer(f"more than {max_values} values in an answer")
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except ValueError as error:
        raise UnexpectedAnswer(f"not JSON ({error}): {excerpt(body)}") from error
    except RecursionError:
        raise too_deep() from None


def check_depth(answer: Any) -> None:
    """
    Raises:
        UnexpectedAnswer: The answer has more than `MAX_DEPTH` levels, so that others could not copy or send it.
    """
    level = [answer]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for outer in level
            for child in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return
    raise too_deep()


def too_long(max_bytes: int) -> UnexpectedAnswer:
    return UnexpectedAnswer(f"an answer of more than {max_bytes} bytes; is this the address of a Rewardline server?")


def too_deep() -> UnexpectedAnswer:
    return UnexpectedAnswer(f"an answer of more than {MAX_DEPTH} levels; is this the address of a Rewardline server?")


def excerpt(body: bytes) -> str:
    return body[:_EXCERPT_CHARS].decode("utf-8", "replace")


def _values(body: bytes) -> int:
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _without_texts(body: bytes, max_values: int) -> bytes:
    bare = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if bare.count(b'"') > _MARKS_OF_STRINGS * max_values:
        raise UnexpectedAnswer(f"more than {max_values} values in an answer")
    return b"".join(bare.split(b'"')[::2])


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")
