"""Converts protobuf messages to requests and verdicts to protobuf messages, in slices, so that other tasks can run."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from google.protobuf.message import DecodeError
from rewardline.pb import rewardline_pb2 as pb

from service.errors import BadRequest, FieldError, TooLarge, Unprocessable
from service.json_slices import MAX_IN_ITEM, SLICE_BYTES
from service.wire import (
    ABSENT,
    CacheMode,
    Message,
    Result,
    ScoreItem,
    Summary,
    add_row,
    check_count,
    check_item_bytes,
    encode,
)
from service.wire import parse as decoded

_SLICE_ITEMS: Final = 256
_WHOLE_BYTES: Final = 64_000
"""A message up to this size is parsed at once. In the worst case that takes 5 ms."""
_STEP_FIELDS: Final = 1_000
_VARINT_BITS: Final = 70
_ITEMS: Final = pb.ScoreRequest.ITEMS_FIELD_NUMBER
_CACHE_MODES: Final[Mapping[int, CacheMode]] = {
    pb.CACHE_MODE_UNSPECIFIED: "use",
    pb.CACHE_MODE_USE: "use",
    pb.CACHE_MODE_REFRESH: "refresh",
    pb.CACHE_MODE_OFF: "off",
}
_STATUSES: Final = {"ok": pb.STATUS_OK, "invalid": pb.STATUS_INVALID, "failed": pb.STATUS_FAILED}


def parse(kind: type[Any], body: bytes) -> Any:
    """Parse a message of this type.

    Raises:
        BadRequest
    """
    try:
        return kind.FromString(body)
    except DecodeError as error:
        raise BadRequest(f"not a {kind.DESCRIPTOR.full_name}: {error}") from error


async def batch_of(body: bytes, max_items: int) -> Any:
    """Parse a `ScoreRequest`, a slice of its fields at a time.

    Raises:
        BadRequest
        TooLarge: it has more items, or more parts than any batch.
    """
    if len(body) <= _WHOLE_BYTES:
        return parse(pb.ScoreRequest, body)
    request = pb.ScoreRequest()
    start = item_start = items = 0
    for count, (number, end) in enumerate(_fields(pb.ScoreRequest.DESCRIPTOR, body, 0, len(body)), 1):
        items += number == _ITEMS
        if items > max_items:
            check_count(items, max_items)
        if number:
            check_item_bytes(end - item_start)
            item_start = end
        if count % _STEP_FIELDS == 0:
            await asyncio.sleep(0)
        if end - start >= SLICE_BYTES or end == len(body):
            _merge(request, body[start:end])
            start = end
            await asyncio.sleep(0)
    return request


def _merge(request: Any, body: bytes) -> None:
    try:
        request.MergeFromString(body)
    except DecodeError as error:
        raise BadRequest(f"not a {request.DESCRIPTOR.full_name}: {error}") from error


async def check_fields(kind: type[Any], body: bytes) -> None:
    """Refuse a message with more parts than any that is meant seriously.

    Raises:
        BadRequest, TooLarge
    """
    if len(body) > _WHOLE_BYTES:
        for count, _ in enumerate(_fields(kind.DESCRIPTOR, body, 0, len(body))):
            if count % _STEP_FIELDS == 0:
                await asyncio.sleep(0)


def _fields(kind: Any, body: bytes, at: int, until: int) -> Iterator[tuple[int, int]]:
    """Number and end of each field of a message, as they come (https://protobuf.dev/programming-guides/encoding). Large
    messages in it are looked through, too.
    """
    for _ in range(MAX_IN_ITEM):
        if at >= until:
            return
        tag, at = _varint(body, at, until)
        start, end = _ends_of(tag & 7, body, at, until, kind)
        number = tag >> 3
        field = kind.fields_by_number.get(number)
        if end - start > _WHOLE_BYTES and field is not None and field.message_type is not None:
            for _inner in _fields(field.message_type, body, start, end):
                yield 0, start
        yield number, end
        at = end
    raise TooLarge(f"a {kind.full_name} has more than {MAX_IN_ITEM} fields; split the batch")


def _ends_of(wire_type: int, body: bytes, at: int, until: int, kind: Any) -> tuple[int, int]:
    """Where the content of a field begins and ends."""
    match wire_type:
        case 0:
            start, end = at, _varint(body, at, until)[1]
        case 2:
            size, start = _varint(body, at, until)
            end = start + size
        case 1 | 5:
            start, end = at, at + (8 if wire_type == 1 else 4)
        case _:
            start, end = at, until + 1
    if end > until:
        raise BadRequest(f"not a {kind.full_name}: a field of type {wire_type} at byte {at} has no end")
    return start, end


def _varint(body: bytes, at: int, until: int) -> tuple[int, int]:
    """A number of variable length, and the place behind it."""
    value = shift = 0
    while at < until and shift < _VARINT_BITS:
        byte = body[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise BadRequest(f"not protobuf: the number at byte {at} has no end")


async def items_of(messages: Any, nbytes: int) -> list[ScoreItem]:
    """The items of a request of so many bytes, as `item_of` reads each. Large ones are read in a thread."""
    items: list[ScoreItem] = []
    raw = Raws()
    for start in range(0, len(messages), _SLICE_ITEMS):
        if start:
            await asyncio.sleep(0)
        part = messages[start : start + _SLICE_ITEMS]
        if nbytes <= SLICE_BYTES:
            items.extend([item_of(message, raw, start + at) for at, message in enumerate(part)])
            continue
        read = 0
        for at, message in enumerate(part, start):
            size = message.ByteSize()
            if size > SLICE_BYTES:
                items.append(await asyncio.to_thread(item_of, message, Raws(), at))
                continue
            items.append(item_of(message, raw, at))
            read += size
            if read > SLICE_BYTES:
                read = 0
                await asyncio.sleep(0)
    return items


class Raws(dict[str, msgspec.Raw]):
    """JSON texts as raw bytes. The texts of one request repeat themselves, so each is converted once."""

    def __missing__(self, text: str) -> msgspec.Raw:
        self[text] = raw = raw_of(text)
        return raw


def item_of(message: Any, raw: Raws, index: int) -> ScoreItem:
    """The item of a message, equal to the same item over HTTP. Its JSON texts, except for messages, are decoded later,
    like those of HTTP.

    Raises:
        RequestError: `row_json` is not a row, or `response_json` or `prompt_json` is not messages.
    """
    response = message.response or _said(message, "response", index)  # text is quicker to read than to ask for
    item = ScoreItem(
        "" if response is None else response,
        message.verifier or None,
        raw[message.reference_json],
        message.reference_id or None,
        raw[message.params_json],
        message.prompt or _said(message, "prompt", index),
        message.id or None,
        raw[message.metadata_json],
        message.recipe or None,
        message.domain or None,
        message.data_source or None,
        message.tag or None,
    )
    if message.row_json:
        add_row(item, message.row_json.encode(), index)
    if message.checks_json:
        item.checks = raw[message.checks_json]
    if message.explain:
        item.explain = True
    if message.group_json:
        item.group = raw[message.group_json]
    return item


def _said(item: Any, field: str, index: int) -> str | list[Message] | None:
    """A response or a prompt, in any of its forms."""
    match item.WhichOneof(f"{field}_kind"):
        case None:
            return None
        case "response_json" | "prompt_json" as name:
            return decoded(_messages, getattr(item, name).encode(), ["items", index, name])
        case "response_messages" | "prompt_messages" as name:
            return [{"role": message.role, "content": message.content} for message in getattr(item, name).messages]
        case name:
            return str(getattr(item, name))


_messages: Final = msgspec.json.Decoder(list[Message])


def raw_of(text: str) -> msgspec.Raw:
    """JSON text in the form in which HTTP's decoder leaves it."""
    return msgspec.Raw(text.encode()) if text else ABSENT


def cache_mode_of(number: int) -> CacheMode:
    """The cache mode of a number in a message.

    Raises:
        Unprocessable: there is no such mode.
    """
    mode = _CACHE_MODES.get(number)
    if mode is None:
        raise Unprocessable(
            f"cache mode {number} is unknown", errors=[FieldError(["cache"], f"there are {sorted(_CACHE_MODES)}")]
        )
    return mode


async def response_of(results: list[Result], summary: Summary) -> bytes:
    """A `ScoreResponse`."""
    response = pb.ScoreResponse(summary=pb.Summary(**msgspec.structs.asdict(summary)))
    add = response.results.add
    for index, result in enumerate(results):
        fill(add(), result, index)
        if index % _SLICE_ITEMS == _SLICE_ITEMS - 1:
            await asyncio.sleep(0)
    return bytes(response.SerializeToString())


def fill(message: Any, result: Result, index: int) -> None:
    """Set the fields of a `Result` message in place, which is the quickest way."""
    message.id = str(result.id)
    message.status = _STATUSES[result.status]
    if result.score is not None:
        message.score = result.score
    if result.reward is not None:
        message.reward = result.reward
    message.reason = result.reason
    if result.verifier is not None:
        message.verifier = result.verifier
    if result.version is not None:
        message.version = result.version
    if result.extracted is not None:
        message.extracted = result.extracted
    message.detail_json = text_of(result.detail) if result.detail else "{}"
    message.cached = result.cached
    message.elapsed_ms = result.elapsed_ms
    message.index = index
    if result.checks is not None:
        message.checks_json = text_of(result.checks)
    if result.recipe is not None:
        message.recipe = result.recipe


def text_of(value: object) -> str:
    """The value as JSON text."""
    return encode(value).decode()
