"""The types of requests and results, and how bytes become requests.

Both doors use these types. They are msgspec structs because this is the hot path: one pass of C code decodes and checks
a batch. `reference` and `params` stay raw bytes until the engine has seen whether it knows them.

A large body is decoded in slices (`service.json_slices`), so that it never holds the event loop for long.
"""

import asyncio
import contextlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from sys import getsizeof
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec

from service.errors import BadRequest, FieldError, RequestError, TooLarge, Unprocessable
from service.json_slices import (
    CONTAINER_BYTES,
    MAX_CONTAINERS,
    MAX_DIGITS,
    MAX_IN_ITEM,
    MAX_ITEM_BYTES,
    MAX_LONG_NUMBERS_BYTES,
    MAX_VALUES,
    SLICE_BYTES,
    Walk,
    containers,
    digits_bytes,
    excess,
    guess,
    is_light,
)
from service.shape_mistakes import not_json, sentence, where
from service.tenant import RUN_PATTERN
from verifiers.near_names import near

CacheMode = Literal["use", "refresh", "off"]
RunId = Annotated[str, msgspec.Meta(pattern=RUN_PATTERN)]
ShortText = Annotated[str, msgspec.Meta(max_length=256)]
LockName = Annotated[str, msgspec.Meta(min_length=1)]

WHOLE_BYTES = 16_000_000
"""The largest body of an interaction."""
LARGE_BYTES = 1_000_000
"""Parts of a body that are larger are decoded in a thread: 0.3 ms if they are text, 3 ms with characters of four bytes."""
_GUESSES = 3
"""Places that are tried as the end of a slice."""
_MARK = secrets.token_hex(8)
DAMAGED = f"\ufdd0{_MARK}"
"""A noncharacter that stands for a lone surrogate. Callers cannot know it, so no text holds it by itself."""
DAMAGED_JSON = rb"\ufdd0" + _MARK.encode()
"""The same mark inside a JSON string."""

NDJSON = "application/x-ndjson"
"""The media type of the stream: one JSON object per line."""

ABSENT = msgspec.Raw(b"")


Message: TypeAlias = dict[str, Any]
"""Messages in any dialect that `verifiers.conversation.dialects` reads. They are kept as they came, so that nothing is
lost."""


class RowFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The fields of an item that are named as in the rows of data sets."""

    messages: str | list[Message] | None = None
    """The prompt, under the name that data sets give it. Text may be a list of messages written as JSON."""
    ground_truth: msgspec.Raw = ABSENT
    """The reference, under the name that data sets give it."""
    test_cases: msgspec.Raw = ABSENT
    case_type: str | None = None
    test_case_function: str | None = None
    evaluation_criteria: msgspec.Raw = ABSENT
    difficulty: float | str | None = None
    """The difficulty of the row, for routes: a number, also as text, or easy, medium, hard for 1, 2, 3. It changes no
    reward."""
    reward_weights: dict[str, float] | None = None
    reward_clip: msgspec.Raw = ABSENT
    source: str | None = None
    """The source of the row. The service ignores it."""


class ScoreItem(RowFields, forbid_unknown_fields=True, gc=False):
    """One response to judge, what to judge it against, and how."""

    response: str | list[Message]
    verifier: ShortText | None = None
    reference: msgspec.Raw = ABSENT
    reference_id: ShortText | None = None
    params: msgspec.Raw = ABSENT
    prompt: str | list[Message] | None = None
    id: str | int | None = None
    metadata: msgspec.Raw = ABSENT
    recipe: ShortText | None = None
    domain: ShortText | None = None
    data_source: ShortText | None = None
    tag: ShortText | None = None
    checks: msgspec.Raw = ABSENT
    explain: bool = False
    """Explain the verdict of this item, whatever the request says."""
    group: msgspec.Raw = ABSENT
    """The group that this response is a member of: its size, its name, and how it is rewarded (docs/groups.md). The
    result comes when the group is decided."""


class ScoreRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A batch."""

    items: list[ScoreItem]
    references: dict[str, msgspec.Raw] = {}
    deadline_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    cache: CacheMode = "use"
    explain: bool = False
    run_id: RunId | None = None
    """What the batch is for, such as one training. Logs and traces have it; the header `X-Run-Id` says the same."""
    receipts: bool = False
    """Whether each verdict is to carry its receipt; the header `X-Receipt: 1` says the same (docs/versions.md)."""
    pin: LockName | dict[str, Any] | None = None
    """The versions that the batch is pinned to: the name of a lock, a date, or a lock; the header `X-Pin` says the same."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """What a door hands to the engine: the decoded request and the deadline of its caller."""

    items: Sequence[ScoreItem]
    references: Mapping[str, msgspec.Raw]
    cache: CacheMode
    explain: bool
    deadline: float
    """In seconds on the event loop's clock."""
    is_recorded: bool = True
    """Whether the audit log and the metrics of rewards record it: whether its responses are those of a model."""
    nbytes: int | None = None
    """The size of its body. None: it is not known, and any item may be large."""


class Result(msgspec.Struct, gc=False):
    """The verdict of one item as the caller sees it. `score` and `reward` are null unless `status` is ok."""

    id: str | int
    status: str
    score: float | None
    reward: float | None
    reason: str
    verifier: str | None
    version: str | None
    extracted: str | None
    detail: Mapping[str, Any]
    cached: bool
    elapsed_ms: float
    checks: list[dict[str, Any]] | None = None
    recipe: str | None = None
    """The recipe that shaped the reward. It is None for a composition that the item wrote itself, too."""


class IndexedResult(Result):
    """A line of the stream. Results come as they are ready; `index` is the position of the item."""

    index: int = 0


class Summary(msgspec.Struct):
    items: int = 0
    ok: int = 0
    invalid: int = 0
    failed: int = 0
    cached: int = 0
    deduplicated: int = 0
    elapsed_ms: float = 0.0


class ScoreResponse(msgspec.Struct):
    """`results[i]` belongs to `items[i]`."""

    results: list[Result]
    summary: Summary


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    items: list[msgspec.Raw]
    references: dict[str, msgspec.Raw] = {}
    deadline_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    cache: CacheMode = "use"
    explain: bool = False
    run_id: RunId | None = None
    receipts: bool = False
    pin: LockName | dict[str, Any] | None = None


_request_decoder = msgspec.json.Decoder(ScoreRequest)
_envelope_decoder = msgspec.json.Decoder(_Envelope)
_item_decoder = msgspec.json.Decoder(ScoreItem)
_items_decoder = msgspec.json.Decoder(list[ScoreItem])
_bare_decoder: msgspec.json.Decoder[dict[str, msgspec.Raw] | list[msgspec.Raw]] = msgspec.json.Decoder(
    dict[str, msgspec.Raw] | list[msgspec.Raw]
)
_row_decoder = msgspec.json.Decoder(RowFields)
_messages_decoder = msgspec.json.Decoder(list[Message])
_encoder = msgspec.json.Encoder()


async def decode_request(
    body: bytes, max_items: int, hold: Callable[[int], None] = lambda nbytes: None
) -> ScoreRequest:
    """Decode the request in a JSON body. One item, or a list of items, is a batch too.

    Args:
        body: The JSON.
        max_items: The most items that it may have.
        hold: Called with the bytes that the decoded values take beyond those of the body, before more are decoded.

    Raises:
        BadRequest: the body is not JSON.
        Unprocessable: the body does not have the shape of the contract. The error names the field.
        TooLarge: the request has more than `max_items` items, or too many values.
    """
    try:
        return await _decode(body, max_items, hold)
    except BadRequest:
        mended = await marked(body)
        if mended == body:
            raise
        return await _decode(mended, max_items, hold)


def with_options(body: bytes, options: Mapping[str, Any]) -> bytes:
    """A body that `decode_request` has read, with these options in place of none."""
    fields, body = _encoder.encode(options)[1:], body.strip()
    return b'{"items":%s,%s' % (body, fields) if body.startswith(b"[") else b"%s,%s" % (body[:-1], fields)


async def _decode(body: bytes, max_items: int, hold: Callable[[int], None]) -> ScoreRequest:
    has_digits = len(body) > SLICE_BYTES and await _has_many_digits(body)
    if has_digits or not is_light(body):
        request = None if has_digits else await _guessed(body, max_items, hold)
        request = request or await _walked(body, max_items, hold)
        if request is not None:
            return request
    try:
        request = _decode_whole(body, max_items)
    except Unprocessable:
        if (batch := _as_batch(body)) is None:
            raise
        request = _decode_whole(batch, max_items)
    if len(body) > SLICE_BYTES or not body.isascii():
        hold(sum(map(wide_bytes, request.items)))
    return request


async def _has_many_digits(body: bytes) -> bool:
    """Whether long runs of digits take much of the body. They may be numbers, or within texts."""
    size = 0
    for part, start in enumerate(range(0, len(body), _SEARCHED_BYTES), 1):
        size += digits_bytes(body[start : start + _SEARCHED_BYTES])
        if size > MAX_LONG_NUMBERS_BYTES:
            await asyncio.sleep(0)
            return True
        if part % _PARTS_IN_STEP == 0:
            await asyncio.sleep(0)
    return False


LONE_OPTIONS = ("deadline_s", "cache", "references", "run_id", "receipts", "pin")
"""The fields of a request that a lone item may have."""


def _as_batch(body: bytes) -> bytes | None:
    """The batch of a body that holds a list of items, or one item with the options of its request. None: it holds
    something else.

    Raises:
        BadRequest: the body is not JSON. Its first mistake in shape comes before the place where JSON ends.
        Unprocessable: it is neither a list nor an object.
    """
    fields = _parsed(_bare_decoder, body, [])
    if isinstance(fields, list):
        return _encoder.encode({"items": fields})
    if "items" in fields or fields.keys().isdisjoint(ScoreItem.__struct_fields__):
        return None
    options = {name: fields.pop(name) for name in LONE_OPTIONS if name in fields}
    return _encoder.encode({"items": [fields], **options})


def _decode_whole(body: bytes, max_items: int) -> ScoreRequest:
    request = _parsed(_request_decoder, body, [])
    check_count(len(request.items), max_items)
    return request


async def _guessed(body: bytes, max_items: int, hold: Callable[[int], None]) -> ScoreRequest | None:
    """The request in a body whose items look alike. None: they do not, or there is a mistake."""
    guessed = guess(body)
    if guessed is None:
        return None
    head = b'{"items":[' if guessed.is_list else body[: guessed.start]
    items: list[ScoreItem] = []
    at, count = guessed.start, 0
    try:
        _envelope_decoder.decode(head + b"]}")
        while len(body) - at > 2 * SLICE_BYTES:
            for end, next_at in islice(guessed.cuts(body, at), _GUESSES):  # noqa: B007  # used after the loop
                with contextlib.suppress(msgspec.MsgspecError):
                    text = b"[%b]" % body[at:end]
                    part = _items_decoder.decode(text)
                    break
            else:
                return None
            items += part
            check_count(len(items), max_items)
            count += _weighed(text, part, hold)
            if count > MAX_CONTAINERS:  # perhaps many are in texts
                return None
            at = next_at
            await asyncio.sleep(0)
        request = _request_decoder.decode(head + body[at:] + (b"}" if guessed.is_list else b""))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    _weighed(body[at:], request.items, hold)
    request.items = items + request.items
    check_count(len(request.items), max_items)
    return request


def _weighed(text: bytes, items: list[ScoreItem], hold: Callable[[int], None]) -> int:
    """The lists and objects in a slice, at most. Slices that are mostly responses hold few, and are not looked at."""
    wide = sum(map(wide_bytes, items))
    if sum([_chars(item.response) for item in items]) * 2 > len(text):
        hold(wide)
        return 0
    count = containers(text)
    hold(count * CONTAINER_BYTES + wide)
    return count


def _chars(response: str | list[Message]) -> int:
    if isinstance(response, str):
        return len(response)
    contents = [message.get("content") for message in response]
    return sum([len(content) for content in contents if isinstance(content, str)])


async def _walked(body: bytes, max_items: int, hold: Callable[[int], None]) -> ScoreRequest | None:
    """The request in a body of any look. None: it has no list of items."""
    walk = Walk(body)
    await walk.go()
    hold(walk.containers * CONTAINER_BYTES)
    spans = walk.items
    if spans is None:
        _check_item(walk.containers, len(body), walk.most_digits)
        return None
    check_count(len(spans), max_items)
    _check_item(walk.most_in_item, max([end - start for start, end in spans], default=0), walk.most_digits)
    request = await of_size(len(body) - walk.end + walk.start, lambda: _without_items(walk))
    check_references(request.references)
    decoded = counted = 0
    for position, (start, end) in enumerate(spans):
        item = await of_size(end - start, partial(_item_at, body, start, end, position))
        request.items.append(item)
        if end - decoded > SLICE_BYTES:
            decoded = end
            hold(sum(map(wide_bytes, request.items[counted:])))
            counted = len(request.items)
            await asyncio.sleep(0)
    hold(sum(map(wide_bytes, request.items[counted:])))
    return request


def _without_items(walk: Walk) -> ScoreRequest:
    frame = walk.body[: walk.start] + walk.body[walk.end :]
    return ScoreRequest(_parsed(_items_decoder, frame, [])) if walk.is_list else _parsed(_request_decoder, frame, [])


def _item_at(body: bytes, start: int, end: int, position: int) -> ScoreItem:
    return _parsed(_item_decoder, body[start:end], ["items", position])


async def of_size(nbytes: int, decode: "Callable[[], T]") -> "T":
    """What `decode` returns. In a thread if it decodes much: there it is counted, and interrupted between its steps."""
    return decode() if nbytes <= LARGE_BYTES else await asyncio.to_thread(decode)


def check_references(references: Mapping[str, msgspec.Raw]) -> None:
    """Refuse references that are larger than an item may be.

    Raises:
        TooLarge
    """
    for name, reference in references.items():
        if len(reference) > MAX_ITEM_BYTES:
            raise TooLarge(f"references.{name[:100]} has {len(reference)} bytes; at most {MAX_ITEM_BYTES}")


def wide_bytes(item: ScoreItem) -> int:
    """What the item's texts take in memory beyond one byte a character. One character decides for a whole text."""
    return sum([getsizeof(text) - len(text) for text in (item.response, item.prompt) if isinstance(text, str)])


def _check_item(count: int, nbytes: int, digits: int) -> None:
    if count > MAX_IN_ITEM:
        raise TooLarge(f"an item holds {count} lists and objects; at most {MAX_IN_ITEM}")
    check_item_bytes(nbytes)
    if digits > MAX_LONG_NUMBERS_BYTES:
        raise TooLarge(
            f"an item holds more than {MAX_LONG_NUMBERS_BYTES} bytes of numbers with more than {MAX_DIGITS} digits; "
            "write them as texts"
        )


def check_item_bytes(nbytes: int) -> None:
    if nbytes > MAX_ITEM_BYTES:
        raise TooLarge(f"an item has {nbytes} bytes; at most {MAX_ITEM_BYTES}")


T = TypeVar("T")


def parse(
    decoder: msgspec.json.Decoder[T], data: bytes | msgspec.Raw, prefix: list[str | int], max_values: int = MAX_VALUES
) -> T:
    """Decode JSON with at most so many values. Errors name fields below `prefix`.

    Raises:
        BadRequest: the body is not JSON.
        Unprocessable: the JSON does not have the shape of the decoder.
        TooLarge: it holds too many values.
    """
    if much := excess(bytes(data), max_values):
        raise TooLarge(f"the body holds {much}; send less at once")
    return _parsed(decoder, data, prefix)


def _parsed(decoder: msgspec.json.Decoder[T], data: bytes | msgspec.Raw, prefix: list[str | int]) -> T:
    """Decode JSON that is known to hold little."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise _unprocessable(error, prefix) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"the body is not valid JSON: {not_json(str(error), bytes(data))}") from error
    except RecursionError as error:
        raise BadRequest("the body is nested too deeply") from error


async def free(items: list[ScoreItem]) -> None:
    """Free items of a large request one by one: the system takes as long to take their memory back as to give it."""
    while items:
        items.pop()
        await asyncio.sleep(0)


def messages_of(text: str) -> list[Message] | None:
    """The messages that a data set keeps as JSON text in a column. None: it is plain text."""
    try:
        return _messages_decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def add_row(item: ScoreItem, row: bytes, index: int) -> None:
    """Give an item the fields of a row that travelled as JSON text.

    Raises:
        BadRequest, Unprocessable: the fields are not those of a row. The error names the field.
    """
    fields = parse(_row_decoder, row, ["items", index, "row"])
    for name in RowFields.__struct_fields__:
        setattr(item, name, getattr(fields, name))


def check_count(items: int, max_items: int) -> None:
    if items > max_items:
        raise TooLarge(f"{items} items in one request; at most {max_items}, split the batch")


_PATH = re.compile(r"^(?P<message>.*?) - at `(?P<key>key in )?\$(?P<path>[^`]*)`$", re.DOTALL)
_MAX_MESSAGE = 600
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z_0-9]*)|\[(\d+|\.\.\.)\]")
_FIELD = re.compile(r"(?:unknown|missing) field `([^`]*)`")


def _unprocessable(error: msgspec.ValidationError, prefix: list[str | int]) -> RequestError:
    """The error for the caller: the decoder's message, with the path in it turned into `loc`."""
    text = str(error)
    if len(text) > _MAX_MESSAGE:  # it names a field of the caller, which may be long; the path is at the end
        text = f"{text[: _MAX_MESSAGE // 2]}...{text[-_MAX_MESSAGE // 2 :]}"
    match = _PATH.match(text)
    message, path = (match["message"], match["path"]) if match else (text, "")
    loc = prefix + [int(index) if index.isdecimal() else name or index for name, index in _STEP.findall(path)]
    at = where(loc)
    message = sentence(message)
    if field := _FIELD.search(message):
        loc = [*loc, field[1]]
        message += _hint(loc, field[1])
    full = f"{at}{' ' if message.startswith('must be') else ': '}{message}" if at else message
    return Unprocessable(f"the body does not have the shape of a request: {full}", errors=[FieldError(loc, message)])


_OTHER_NAMES = {
    **dict.fromkeys(("completion", "prediction", "output", "generation", "solution_str", "text"), "`response`"),
    **dict.fromkeys(("label", "target", "solution", "gold"), "`reference`"),
    "answer": "`response` for what is judged, and `reference` for the right answer",
    "question": "`prompt`",
}
"""Names that trainers and data sets give to fields of an item."""


def _hint(loc: Sequence[str | int], field: str) -> str:
    """What the caller may have meant by an unknown field, or how to write a missing one."""
    if loc == ["items"]:
        return '; write {"items": [{"verifier": "math", "response": "...", "reference": "..."}]}'
    of_item = loc[:1] == ["items"]
    fields = (ScoreItem if of_item else ScoreRequest).__struct_fields__
    if field in fields:
        return ""
    if of_item and field in ScoreRequest.__struct_fields__:
        return f"; write `{field}` beside `items`, not in an item"
    return f"; write {_OTHER_NAMES[field]}" if of_item and field in _OTHER_NAMES else near(field, fields)


_ESCAPE = re.compile(
    rb"\\(?:u(?P<high>[dD][89abAB][0-9a-fA-F]{2})(?P<low>\\u[dD][c-fC-F][0-9a-fA-F]{2})?"
    rb"|u(?P<lone>[dD][c-fC-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


_SLICE_ESCAPES = 10_000
"""Bytes that are searched for escapes in one slice: about 5 ms."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE_BYTES = 4
_SEARCHED_BYTES = 1_000_000
_PARTS_IN_STEP = 8
"""Parts that are searched for digits in one step. Where there are none it takes 0.1 ms a part."""


async def marked(body: bytes) -> bytes:
    """The body with `DAMAGED` for each escaped lone surrogate."""
    return await _mark_lone_surrogates(body) if await _has_surrogates(body) else body


async def _has_surrogates(body: bytes) -> bool:
    for start in range(0, len(body), _SEARCHED_BYTES):
        if _SURROGATE.search(body, start, start + _SEARCHED_BYTES + _SURROGATE_BYTES):
            return True
        if start:
            await asyncio.sleep(0)
    return False


async def _mark_lone_surrogates(body: bytes) -> bytes:
    """The body with each escaped lone surrogate (legal JSON, but no character) replaced by `DAMAGED`.

    The engine then finds only those items invalid, so that one broken response does not spoil the whole batch.
    """
    chunks: list[bytes] = []
    copied = 0
    for count, match in enumerate(_ESCAPE.finditer(body), 1):
        if match["lone"] or (match["high"] and not match["low"]):
            chunks += (body[copied : match.start()], DAMAGED_JSON)
            copied = match.end()
        if count % _SLICE_ESCAPES == 0:
            await asyncio.sleep(0)
    return b"".join([*chunks, body[copied:]])


def render(results: list[Result], summary: Summary) -> Iterator[bytes]:
    """The JSON body of a response, some results at a time."""
    yield b'{"results":['
    for start in range(0, len(results), 256):
        rendered = _encoder.encode(results[start : start + 256])[1:-1]
        yield b"," + rendered if start else rendered
    yield b'],"summary":' + _encoder.encode(summary) + b"}"


async def rendered(results: list[Result], summary: Summary) -> bytes:
    """The body that `render` yields. Other tasks run between its parts."""
    if len(results) <= 256:
        return _encoder.encode(ScoreResponse(results, summary))
    chunks = []
    for chunk in render(results, summary):
        chunks.append(chunk)
        await asyncio.sleep(0)
    return b"".join(chunks)


def stream_line(index: int, result: Result) -> bytes:
    """One NDJSON line."""
    return b'{"index":%d,' % index + _encoder.encode(result)[1:] + b"\n"


def summary_line(summary: Summary) -> bytes:
    return b'{"summary":' + _encoder.encode(summary) + b"}\n"


def encode(value: object) -> bytes:
    return _encoder.encode(value)
