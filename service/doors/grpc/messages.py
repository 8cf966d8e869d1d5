"""Converts protobuf messages to requests and verdicts to protobuf messages, in slices, so that other tasks can run."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from google.protobuf.message import DecodeError

from service.doors.grpc.pb import rewardline_pb2 as pb
from service.errors import BadRequest, FieldError, Unprocessable
from service.wire import ABSENT, CacheMode, Message, Result, ScoreItem, Summary, add_row, encode
from service.wire import parse as decoded

_SLICE_ITEMS: Final = 256
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


async def items_of(messages: Any) -> list[ScoreItem]:
    """The items of a request, as `item_of` reads each."""
    items: list[ScoreItem] = []
    raw = Raws()
    for start in range(0, len(messages), _SLICE_ITEMS):
        if start:
            await asyncio.sleep(0)
        part = messages[start : start + _SLICE_ITEMS]
        items.extend([item_of(message, raw, start + at) for at, message in enumerate(part)])
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
    return item


def _said(item: Any, field: str, index: int) -> str | list[Message] | None:
    """A response or a prompt, in any of its forms."""
    match item.WhichOneof(f"{field}_kind"):
        case None:
            return None
        case "response_json" | "prompt_json" as name:
            return decoded(_messages, getattr(item, name).encode(), ["items", index, name])
        case "response_messages" | "prompt_messages" as name:
            return [{"role": each.role, "content": each.content} for each in getattr(item, name).messages]
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
