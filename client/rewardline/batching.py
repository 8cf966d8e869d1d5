"""How a call's items become requests: each item is encoded once, and requests are cut by items and by bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

Item = Mapping[str, Any]
"""What is judged: a JSON object with `response`, `reference` and one of `verifier`, `recipe`, `checks` or a routing tag."""


class Payload(NamedTuple):
    """An item or a reference, ready for one transport."""

    wire: Any
    size: int
    """Bytes on the wire."""


class Unsendable(Exception):
    """This item cannot travel and must not cost the others; it becomes an `invalid` result."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One item of a call."""

    index: int
    """Position in the caller's items."""
    item: Item
    payload: Payload
    reference: tuple[str, Payload] | None = None
    """Name and content of the shared reference it uses."""

    @property
    def default_id(self) -> str:
        return str(self.index)


@dataclass
class Request:
    """What travels at once; results are delivered by the position in `entries`."""

    entries: Sequence[Entry]
    deadline_s: float
    """What the server is told."""
    timeout_s: float
    """When this side stops waiting."""
    cache: str
    explain: bool
    stream: bool
    """Deliver each result as soon as the server has it."""
    references: dict[str, Payload] = field(init=False)

    def __post_init__(self) -> None:
        self.references = dict(entry.reference for entry in self.entries if entry.reference)


Deliver = Callable[[int, Any], None]
"""Takes the position of an entry in its request, and its result as JSON."""


class Transport(Protocol):
    """One way to a server, bound to one event loop.

    Raises RequestError, UnexpectedAnswer, or Unavailable; what was delivered before Unavailable stands.
    """

    async def score(self, request: Request, deliver: Deliver) -> None: ...
    async def verifiers(self, timeout_s: float) -> list[dict[str, Any]]: ...
    async def call(self, method: str, path: str, body: bytes | None) -> Any: ...
    async def close(self) -> None: ...


EncodeItem = Callable[[int, Item], Payload]
EncodeReference = Callable[[Any], Payload]


class Encoder:
    """Makes entries of a call's items. Raises what says which item is at fault: ValueError, TypeError, InvalidRequest."""

    def __init__(
        self, encode_item: EncodeItem, encode_reference: EncodeReference, references: Mapping[str, Any] | None = None
    ) -> None:
        self._encode_item = encode_item
        self._encode_reference = encode_reference
        self._references = references or {}
        self._encoded: dict[str, tuple[str, Payload]] = {}

    def entry(self, index: int, item: Item) -> Entry:
        if not isinstance(item, Mapping):
            raise TypeError(f"items[{index}]: expected a mapping, found {type(item).__name__}")
        return Entry(index, item, self._encode_item(index, item), self._reference(item.get("reference_id")))

    def _reference(self, name: Any) -> tuple[str, Payload] | None:
        if not isinstance(name, str) or name not in self._references:
            return None  # the server says which name is not there
        if name not in self._encoded:
            with _blamed(f"references[{name!r}]"):
                self._encoded[name] = (name, self._encode_reference(self._references[name]))
        return self._encoded[name]


def chunks(entries: Iterable[Entry], max_items: int, max_bytes: int) -> Iterator[list[Entry]]:
    """Cut into requests, in order; an item larger than `max_bytes` travels alone, a shared reference counts once."""
    chunk: list[Entry] = []
    names: set[str] = set()
    size = 0
    for entry in entries:
        added = _added(entry, names)
        if chunk and (len(chunk) >= max_items or size + added > max_bytes):
            yield chunk
            chunk, names, size = [], set(), 0
            added = _added(entry, names)
        chunk.append(entry)
        size += added
        if entry.reference:
            names.add(entry.reference[0])
    if chunk:
        yield chunk


def _added(entry: Entry, names: set[str]) -> int:
    if entry.reference is None or entry.reference[0] in names:
        return entry.payload.size
    return entry.payload.size + entry.reference[1].size


def to_json(value: Any) -> str:
    """Strict JSON: no NaN, no infinities."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def json_bytes(value: Any) -> bytes:
    """Strict JSON in UTF-8. A lone surrogate is written as its escape, so that only its own item suffers."""
    text = to_json(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def encode_item_as_json(index: int, item: Item) -> Payload:
    with _blamed(f"items[{index}]"):
        wire = json_bytes(dict(item))
    return Payload(wire, len(wire))


def encode_reference_as_json(value: Any) -> Payload:
    wire = json_bytes(value)
    return Payload(wire, len(wire))


class _blamed:  # noqa: N801 - reads as a phrase: with _blamed("items[3]")
    """Errors of encoding say whose they are."""

    def __init__(self, whose: str) -> None:
        self._whose = whose

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, RecursionError):
            raise ValueError(f"{self._whose} is nested too deeply for JSON") from error
        if isinstance(error, TypeError):
            raise TypeError(f"{self._whose} is not JSON: {error} (numpy values: use .tolist())") from error
        if isinstance(error, ValueError):
            raise ValueError(f"{self._whose} is not JSON: {error}") from error
