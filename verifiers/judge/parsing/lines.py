"""Finds verdicts in text: the last line with the verdict's key, or an output or last line that is only the verdict.

Lines in block quotes and code fences are quotations. The last key line decides. If it is empty or off the menu, there
is not a verdict, whatever an earlier line said. If a label (or a digit) follows it, there is no verdict either, because
the line was not the last word.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory import remember
from verifiers.judge.schemas import Schema

_FENCES: Final = ("```", "~~~")
_BARE_CHARS: Final = 40
_TAGGED: Final = re.compile(r"\s*<(answer|final_answer|verdict|judgment|score)>(.{0,200}?)</\1>\s*", re.DOTALL)
"""A verdict in tags, as trained verifiers write it: `<answer>B</answer>`."""


@dataclass(frozen=True, slots=True)
class Line:
    """A place in a text where a verdict is expected."""

    value: str
    begin: int
    """The position of `value` in the text."""
    after: str
    """The text after the line."""
    earlier: tuple[str, ...] = ()
    """The values of earlier key lines; for a bare line, the earlier lines that are short enough to be bare lines."""


def key_line(schema: Schema, text: str) -> Line | None:
    """The last line with one of the schema's keys."""
    pattern = _pattern(schema.lines)
    if pattern is None:
        return None
    last: Line | None = None
    values: list[str] = []
    for start, line in _open_lines(text):
        match = pattern.match(line)
        if match is not None:
            values.append(line[match.end() :].strip())
            last = Line(values[-1], start + match.end(), "")
            line_end = start + len(line)
    if last is None:
        return None
    return Line(last.value, last.begin, text[line_end:], tuple(values[:-1]))


def bare_lines(text: str) -> Iterator[Line]:
    """The whole text, and its last line, if that is not a quotation. Tags around a verdict are not part of it."""
    yield _untagged(text, 0)
    end = len(text.rstrip())
    begin_at = text.rfind("\n", 0, end) + 1
    lines = list(_open_lines(text)) if begin_at else []
    if any(at == begin_at for at, _ in lines):
        above = (line for at, line in lines if at < begin_at and 0 < len(line.strip()) <= _BARE_CHARS)
        earlier = tuple(_untagged(line, 0).value for line in above)
        yield _untagged(text[begin_at:end], begin_at, earlier)


def _untagged(text: str, start: int, earlier: tuple[str, ...] = ()) -> Line:
    tagged = _TAGGED.fullmatch(text)
    return Line(text, start, "", earlier) if tagged is None else Line(tagged[2], start + tagged.start(2), "", earlier)


def mentions_key(schema: Schema, text: str) -> bool:
    """Whether a text has a key line, or the verdict's JSON key in quotes."""
    return key_line(schema, text) is not None or f'"{schema.key}"' in text.casefold()


def _open_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside of block quotes and code fences, with their positions."""
    start, fence = 0, ""
    for line in text.split("\n"):
        stripped = line.lstrip()
        mark = stripped[:3]
        if fence:
            if mark == fence and not stripped.strip(fence[0]).strip():
                fence = ""
        elif mark in _FENCES:
            if mark not in stripped[3:]:
                fence = mark
        elif not stripped.startswith(">"):
            yield start, line
        start += len(line) + 1


@remember(256)
def _pattern(keys: tuple[str, ...]) -> re.Pattern[str] | None:
    """A pattern for a key at the start of a line, after at most a bullet or a heading mark, in emphasis or not."""
    if not keys:
        return None
    colon: list[str] = []
    open_ended: list[str] = []
    for key in sorted(keys, key=len, reverse=True):
        words = r"[ _]+".join(map(re.escape, re.split(r"[ _]+", key)))
        (open_ended if key.endswith(" is") else colon).append(words)
    alternatives = [rf"(?:{'|'.join(colon)})[*_`]{{0,3}}[ \t]*[:：=]"] if colon else []
    alternatives += [rf"(?:{'|'.join(open_ended)})\b[*_`]{{0,3}}[ \t]*[:：]?"] if open_ended else []
    return re.compile(
        rf"[ \t]*(?:[-*•+][ \t]+|#{{1,6}}[ \t]+|[0-9]{{1,3}}[.)][ \t]+)?[*_`]{{0,3}}(?:{'|'.join(alternatives)})[ \t]*",
        re.IGNORECASE,
    )
