"""Makes requests of a call's items: encodes each item once, and cuts by number of items and by bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

Item = Mapping[str, Any]
"""What the server judges: a JSON object with `response`, `reference` and one of `verifier`, `recipe`, `checks` or a routing tag."""


class Payload(NamedTuple):
    """An item or a reference, ready for one transport."""

    wire: Any
    size: int
    """Bytes on the wire."""


class Unsendable(Exception):
    """This item cannot be sent. It becomes an `invalid` result; the other items are sent."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One item of a call."""

    index: int
    """Position in the caller's items."""
    item: Item
    payload: Payload
    reference: tuple[str, Payload] | None = None
    """Name and content of the shared reference that the item uses."""

    @property
    def default_id(self) -> str:
        return str(self.index)


@dataclass
class Request:
    """One request. Its results are delivered by their position in `entries`."""

    entries: Sequence[Entry]
    deadline_s: float
    """What the request tells the server."""
    timeout_s: float
    """When the client stops waiting."""
    cache: str
    explain: bool
    stream: bool
    """The server sends each result as soon as it has it."""
    run_id: str | None = None
    references: dict[str, Payload] = field(init=False)
    item_bytes: int = field(init=False)
    """The size of all items, each with its reference, which is sent once for all that share it."""

    def __post_init__(self) -> None:
        self.references = dict(entry.reference for entry in self.entries if entry.reference)
        self.item_bytes = sum(
            entry.payload.size + (entry.reference[1].size if entry.reference else 0) for entry in self.entries
        )


def run_header(run_id: str | None) -> dict[str, str]:
    """The header, or metadata of gRPC, that names the run of a call."""
    return {} if run_id is None else {"x-run-id": run_id}


Deliver = Callable[[int, Any], None]
"""Takes the position of an entry in its request, and its result as JSON."""


class Transport(Protocol):
    """One way to a server, bound to one event loop.

    Raises RequestError, UnexpectedAnswer, or Unavailable. Results that were delivered before Unavailable stay valid.
    """

    async def score(self, request: Request, deliver: Deliver) -> None: ...
    async def verifiers(self, timeout_s: float) -> list[dict[str, Any]]: ...
    async def call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any: ...
    async def close(self) -> None: ...


EncodeItem = Callable[[int, Item], Payload]
EncodeReference = Callable[[Any], Payload]


class Encoder:
    """Makes entries of a call's items. Raises ValueError, TypeError or InvalidRequest, each with the position of the item."""

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
            return None  # the server says which name is missing
        if name not in self._encoded:
            with _naming(f"references[{name!r}]"):
                self._encoded[name] = (name, self._encode_reference(self._references[name]))
        return self._encoded[name]


def chunks(entries: Iterable[Entry], max_items: int, max_bytes: int) -> Iterator[list[Entry]]:
    """Cut entries into requests, in order. An item larger than `max_bytes` is sent alone. A shared reference counts once."""
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
    """Encode as strict JSON: NaN and infinities raise ValueError."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def json_bytes(value: Any) -> bytes:
    """Encode as strict JSON in UTF-8. A lone surrogate becomes its escape, so that the server refuses that item alone."""
    text = to_json(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def encode_item_as_json(index: int, item: Item) -> Payload:
    with _naming(f"items[{index}]"):
        wire = json_bytes(dict(item))
    return Payload(wire, len(wire))


def encode_reference_as_json(value: Any) -> Payload:
    wire = json_bytes(value)
    return Payload(wire, len(wire))


class _naming:  # noqa: N801 - reads as a phrase: with _naming("items[3]")
    """Names the item or reference in errors of its encoding."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, RecursionError):
            raise ValueError(f"{self._name} is nested too deeply for JSON") from error
        if isinstance(error, TypeError):
            raise TypeError(f"{self._name} is not JSON: {error} (numpy values: use .tolist())") from error
        if isinstance(error, ValueError):
            raise ValueError(f"{self._name} is not JSON: {error}") from error
