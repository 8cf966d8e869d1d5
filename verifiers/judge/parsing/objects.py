"""Finds the JSON objects in a text that can be a verdict: a verdict must own its lines.

An object that begins a line (after spaces or a code fence) and closes is a candidate; it *owns* its lines when nothing
but spaces or a fence follows on its last one. Objects inside sentences, lists, block quotes and strings are quotations.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from verifiers.judge.errors import Unparseable

MAX_OBJECT_CHARS: Final = 65_536
MAX_DEPTH: Final = 64
_MAX_OBJECTS: Final = 1_000
_SCAN_CHARS: Final = 2_000_000
"""The limit on openings that never close: they are hostile or garbage, and each costs a scan of the rest."""

_START: Final = re.compile(r"^[ \t]*(?:(?:`{1,3}|~~~)[ \t]*\w{0,12}[ \t]*)?(?=\{|\[\s{0,200}\{)", re.MULTILINE)
_START_OF_OBJECT: Final = re.compile(r"\{|\[\s{0,200}\{")
_LEAD: Final = re.compile(r"\s*(?:(?:`{1,3}|~~~)[ \t]*\w{0,12}\s*)?(?=[{\[])")
_MARK: Final = re.compile(r'["{}\[\]]|\\.', re.DOTALL)
_STRING_END: Final = re.compile(r'"|\\.', re.DOTALL)
_LINE_END: Final = re.compile(r"[ \t]*(?:`{1,3}|~~~)?[ \t]*(?:\n|\Z)")
_AFTERMATH: Final = re.compile(r"[\w\"'{}\[\]()“”‘’«»「」『』]")
"""Word characters, and characters that close a quotation, so that an object before them was quoted."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A balanced object (or array of objects) that begins a line, as a span of the text."""

    begin: int
    end: int
    source: str
    is_initial: bool
    """Whether nothing but a fence stands before it."""
    owns_lines: bool
    is_terminal: bool
    """Whether nothing that could be a word or the end of a quotation follows it."""

    @property
    def is_array(self) -> bool:
        return self.source[0] == "["


def starts_with_object(text: str) -> bool:
    """Whether nothing but a fence stands before the text's first brace, closed or not."""
    lead = _LEAD.match(text)
    return lead is not None and _START_OF_OBJECT.match(text, lead.end()) is not None


def is_in_open_object(text: str, position: int) -> bool:
    """Whether an object that begins a line before this position never closes."""
    ends = {candidate.begin: candidate.end for candidate in candidates(text)}
    inside = 0
    for start in _START.finditer(text, 0, position):
        if start.end() < inside:
            continue
        if start.end() not in ends:
            return True
        inside = ends[start.end()]
    return False


def candidates(text: str) -> list[Candidate]:
    """The candidates of a text from left to right; none is inside another.

    Raises:
        Unparseable: there are too many candidates, or openings that never close.
    """
    last_word = _last_aftermath(text)
    lead = _LEAD.match(text)
    first = lead.end() if lead is not None else -1
    return [
        Candidate(
            start,
            end,
            text[start:end],
            is_initial=start == first,
            owns_lines=_LINE_END.match(text, end) is not None,
            is_terminal=last_word < end,
        )
        for start, end in _spans(text)
    ]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    position, budget, count = 0, _SCAN_CHARS, 0
    while (brace := _START.search(text, position)) is not None:
        start = brace.end()
        end = _close(text, start)
        if end is None:
            budget -= min(len(text) - start, MAX_OBJECT_CHARS)
            if budget < 0:
                raise Unparseable("ambiguous", "too many braces that never close")
            position = start + 1
            continue
        count += 1
        if count > _MAX_OBJECTS:
            raise Unparseable("ambiguous", f"more than {_MAX_OBJECTS} objects")
        yield start, end
        position = end


def _close(text: str, start: int) -> int | None:
    """The end of the object that opens at `start`; None if it does not close, or is too long or too deep."""
    limit = min(len(text), start + MAX_OBJECT_CHARS)
    depth, position = 0, start
    while (mark := _MARK.search(text, position, limit)) is not None:
        character = mark.group()
        position = mark.end()
        if character in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                return None
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return position
        elif character == '"':
            while (string_part := _STRING_END.search(text, position, limit)) is not None and string_part.group() != '"':
                position = string_part.end()
            if string_part is None:
                return None
            position = string_part.end()
    return None


def _last_aftermath(text: str) -> int:
    """The position of the last character that keeps an object before it from being terminal; -1 if there is none."""
    match = _AFTERMATH.search(text[::-1])
    return len(text) - 1 - match.start() if match is not None else -1
