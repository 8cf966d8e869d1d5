r"""Finds the formulas of a text: `$…$`, `\(…\)`, `\[…\]`, environments, annotations, and the plain lines between them.

    text ──hide──► without code, quotations and comments ──pieces──► formulas and plain lines, in their order

A `$` is a currency sign if it cannot open or close a formula: a formula has no blank behind its opening sign or before
its closing sign, and no digit behind the closing sign. Everything is linear in the length of the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from verifiers.commitment import Think, final_segment
from verifiers.commitment.latex import split
from verifiers.math.solutions import ANNOTATION

MAX_TEXT_CHARS = 60_000
"""This much of the end of a response is searched for steps."""
_MAX_FORMULA_CHARS = 2_000

HIDDEN = "\0"
"""Marks a place from which text was removed that the response does not itself state; nothing is read across it."""

_BLOCKS = (("```", "```"), ("~~~", "~~~"), ("<!--", "-->"))
_QUOTES = (("`", "`"), ('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"))
_NOT_SAID = re.compile(
    "|".join(
        [
            *(f"{opening}(?:(?!{closing}).)*+(?:{closing})?" for opening, closing in _BLOCKS),
            r"(?m:^[ \t]{0,3}>[^\n]*)",
            *(rf"{opening}[^{closing}\n]{{1,300}}{closing}" for opening, closing in _QUOTES),
        ]
    ),
    re.DOTALL,
)


class Kind(Enum):
    """The ways to read a piece of text."""

    FORMULA = auto()
    ANNOTATION = auto()
    LINE = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """A formula, or the text in one line between formulas."""

    kind: Kind
    text: str
    before: str = ""
    """The last characters before it in its line."""
    after: str = ""
    """The next characters in its line."""


def said(response: str, think: Think) -> str:
    """The text of a response after its thinking, without code, quotations and comments."""
    segment = final_segment(response, think)
    text = response[max(segment.start, segment.end - MAX_TEXT_CHARS) : segment.end]
    return _NOT_SAID.sub(HIDDEN, text)


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a text in order; an annotation comes before its line."""
    position = 0
    for start, end, content in _formulas(text):
        yield from _lines(text[position:start])
        yield Piece(Kind.FORMULA, content, text[max(start - _BESIDE, 0) : start], text[end : end + _BESIDE])
        position = end
    yield from _lines(text[position:])


_BESIDE = 32


def _lines(text: str) -> Iterator[Piece]:
    for line in text.split("\n"):
        if "<<" in line:
            for match in ANNOTATION.finditer(line):
                yield Piece(Kind.ANNOTATION, match[1])
            line = ANNOTATION.sub("", line)
        if line.strip():
            yield Piece(Kind.LINE, line)


_OPENING = re.compile(r"\\\[|\\\(|\\begin\{(?P<name>[a-z]{1,12}\*?)\}|\$\$|(?<!\\)\$(?=[^\s$])")
_CLOSING = {"\\[": "\\]", "\\(": "\\)", "$$": "$$"}
_CLOSING_DOLLAR = re.compile(r"(?<=[^\s\\])\$(?!\d)")
_ENVIRONMENTS = split("align aligned equation gather gathered eqnarray split multline cases")


def _formulas(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and inside of each formula; an opening sign without a closing sign is ignored."""
    missing: set[str] = set()
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        position = opening.end()
        closing = _closed(text, opening, missing)
        if closing is not None:
            yield opening.start(), closing[1], text[opening.end() : closing[0]]
            position = closing[1]


def _closed(text: str, opening: re.Match[str], missing: set[str]) -> tuple[int, int] | None:
    """The end of a formula's inside and of the formula.

    Closing signs that were not found up to the end of the text are added to `missing`.
    """
    sign = opening[0]
    if sign == "$":
        line_end = text.find("\n", opening.end(), opening.end() + _MAX_FORMULA_CHARS)
        limit = min(len(text), opening.end() + _MAX_FORMULA_CHARS) if line_end < 0 else line_end
        match = _CLOSING_DOLLAR.search(text, opening.end() + 1, limit)
        return None if match is None else (match.start(), match.end())
    name = opening["name"]
    if name is not None and name.rstrip("*") not in _ENVIRONMENTS:
        return None
    closing = _CLOSING[sign] if name is None else f"\\end{{{name}}}"
    if closing in missing:
        return None
    at = text.find(closing, opening.end())
    if at < 0:
        missing.add(closing)
    return None if at < 0 or at - opening.end() > _MAX_FORMULA_CHARS else (at, at + len(closing))
