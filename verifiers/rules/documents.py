"""Finds the document of a response, and reads JSON by RFC 8259.

The document is the whole text of the answer, or the content of the single code fence around all of it. A response with
prose beside the document is not a document.
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
"""The deepest nesting. Real data is never deeper, and readers and validators need room below their own limits."""

Fault = Literal[
    "no_answer", "truncated", "empty", "not_readable", "too_deep", "too_large", "duplicate_key", "wrong_columns"
]


class DocumentParams(commitment.ExtractionParams):
    """The place of the document."""

    extract: Literal["auto"] | Channel | Annotated[tuple[Channel, ...], Field(min_length=1, max_length=7)] = (
        Channel.WHOLE
    )
    """The part of the response that is the document: the whole text, an answer tag, box, last line or another channel,
    or the first of several that is there; auto: the answer tag, or else the whole text."""
    allow_fence: bool = True
    """Whether the document may stand alone in a code fence."""


class Unreadable(Exception):
    """The response is not such a document; `fault` is the reason of the verdict."""

    def __init__(self, fault: Fault, message: str = "") -> None:
        super().__init__(message or fault)
        self.fault: Fault = fault


def document(response: str, params: DocumentParams, tags: Iterable[str]) -> str:
    """The text of the document; `tags` are the info strings its fence may have.

    Raises:
        Unreadable: the response has no answer.
    """
    text = _answer(response, params)
    if not params.allow_fence or not text.startswith(("```", "~~~")):
        return text
    match = _FENCE.fullmatch(text)
    if match is None or match["tag"].casefold() not in ("", *tags):
        return text
    # "```json {} ```": what begins on the line of its fence ends at the next fence.
    is_block = match["break"].endswith("\n")
    if ("\n" if is_block else "") + match["fence"] in match["text"]:
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
    r"(?P<fence>`{3,}|~{3,})[ \t]*(?P<tag>[A-Za-z0-9]{0,20})(?P<break>[ \t]*\r?\n|[ \t]+)(?P<text>.*)(?P=fence)",
    re.DOTALL,
)


def read_json(text: str, *, unique_keys: bool) -> Any:
    """The value of a JSON text. No NaN or infinity, not even one spelled 1e999; integers have up to 4,300 digits.

    Raises:
        Unreadable: the text is not JSON, or exceeds the limits.
    """
    value = _decoded(text, _UNIQUE) if unique_keys else _any(text)
    if len(text) > MAX_DEPTH and text.count("[") + text.count("{") > MAX_DEPTH:
        check_depth(value)
    return value


def _any(text: str) -> Any:
    """The value of a JSON text. Msgspec is three times as fast, but refuses some JSON, such as lone surrogates."""
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
    """The JSON value that begins at `start`, and its end; otherwise like `read_json` with unique keys."""
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
    """Raise `Unreadable` if lists and mappings are nested more than `MAX_DEPTH` deep. No value may hold itself."""
    depth, level = 0, [value]
    while level := [child for child in level if isinstance(child, dict | list)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise Unreadable("too_deep")
        level = [child for outer in level for child in (outer.values() if isinstance(outer, dict) else outer)]


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
