"""Responses that are one document: where it stands, and reading JSON as RFC 8259 has it.

The document is the answer's whole text, or what stands in the one code fence around all of it. Prose beside it is no
part of a document, so a response that has both is none.
"""

import json
import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal, NoReturn

import msgspec
from pydantic import Field

from verifiers import commitment
from verifiers.commitment import Channel

MAX_DEPTH = 100
"""Deeper nesting is nobody's data; readers and validators need room below their own limits."""

Fault = Literal[
    "no_answer", "truncated", "empty", "not_readable", "too_deep", "too_large", "duplicate_key", "wrong_columns"
]


class DocumentParams(commitment.ExtractionParams):
    """Where the document stands."""

    extract: Literal["auto"] | Channel | Annotated[tuple[Channel, ...], Field(min_length=1, max_length=7)] = (
        Channel.WHOLE
    )
    allow_fence: bool = True
    """Whether the document may stand in a code fence, alone."""


class Unreadable(Exception):
    """The response is not such a document; `fault` says why as a verdict's reason."""

    def __init__(self, fault: Fault, message: str = "") -> None:
        super().__init__(message or fault)
        self.fault: Fault = fault


def document(response: str, params: DocumentParams, tags: Iterable[str]) -> str:
    """The text of the document; `tags` are the info strings its fence may have.

    Raises:
        Unreadable: the response has no answer to look at.
    """
    text = _answer(response, params)
    if not params.allow_fence or not text.startswith(("```", "~~~")):
        return text
    match = _FENCE.fullmatch(text)
    if match is None or match["tag"].casefold() not in ("", *tags) or f"\n{match['fence']}" in match["text"]:
        return text
    return match["text"]


def _answer(response: str, params: DocumentParams) -> str:
    segment = commitment.final_segment(response, params.think)
    if params.extract == Channel.WHOLE and segment.reason == "found":
        return response[segment.start : segment.end]
    extraction = commitment.extract(response, params, (Channel.ANSWER_TAG, Channel.WHOLE), segment)
    if extraction.answer is None:
        raise Unreadable("truncated" if extraction.reason == "truncated" else "no_answer")
    return extraction.answer


_FENCE = re.compile(
    r"(?P<fence>`{3,}|~{3,})[ \t]*(?P<tag>[A-Za-z0-9]{0,20})[ \t]*\r?\n(?P<text>.*)(?P=fence)", re.DOTALL
)


def read_json(text: str, *, unique_keys: bool) -> Any:
    """The value of a JSON text. No NaN or infinity, not even one spelled 1e999; integers have up to 4,300 digits.

    Raises:
        Unreadable: it is not JSON, or beyond the limits.
    """
    value = _decoded(text, _UNIQUE) if unique_keys else _any(text)
    if len(text) > MAX_DEPTH and text.count("[") + text.count("{") > MAX_DEPTH:
        check_depth(value)
    return value


def _any(text: str) -> Any:
    """What msgspec reads has the same value, three times as fast; of the rest some is JSON, such as lone surrogates."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return _decoded(text, _ANY)


def _decoded(text: str, decoder: json.JSONDecoder) -> Any:
    try:
        return decoder.decode(text)
    except RecursionError as error:
        raise Unreadable("too_deep") from error
    except ValueError as error:
        raise Unreadable("not_readable", str(error)) from error


def read_json_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins at `start`, and where it ends; otherwise as `read_json` with unique keys."""
    try:
        value, end = _UNIQUE.raw_decode(text, start)
    except RecursionError as error:
        raise Unreadable("too_deep") from error
    except ValueError as error:
        raise Unreadable("not_readable", str(error)) from error
    if text.count("[", start, end) + text.count("{", start, end) > MAX_DEPTH:
        check_depth(value)
    return value, end


def check_depth(value: Any) -> None:
    """Raise `Unreadable` where lists and mappings are nested more than `MAX_DEPTH` deep. No value may hold itself."""
    depth, level = 0, [value]
    while level := [inner for inner in level if isinstance(inner, dict | list)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise Unreadable("too_deep")
        level = [inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer)]


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"number {text[:40]} is too large")
    return number


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Unreadable("duplicate_key")
    return value


_ANY = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)
_UNIQUE = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant, object_pairs_hook=_without_duplicates)
