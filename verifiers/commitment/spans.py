"""Spans made narrower, past what surrounds an answer and is no part of it; the text itself is never copied."""

import re

_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\ufeff")
_EMPHASIS = "*`_"
_MATH_QUOTES = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
_ENDS_IN_DOTS = re.compile(r"\d\.\.\.$")
"""Digits that go on: `0.333...`."""


def strip(text: str, start: int, end: int, extra: str = "") -> tuple[int, int]:
    """Narrow a span past space, invisible characters and `extra`, of which none is a letter or a digit."""
    if start < end and text[start].isalnum() and text[end - 1].isalnum():
        return start, end
    while start < end and ((char := text[start]).isspace() or char in _INVISIBLE or char in extra):
        start += 1
    while start < end and ((char := text[end - 1]).isspace() or char in _INVISIBLE or char in extra):
        end -= 1
    return start, end


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Without emphasis, a final full stop, and the delimiters of mathematics around all of it."""
    if start < end and text[start].isalnum() and text[end - 1].isalnum():
        return start, end
    for _ in range(8):
        before = (start, end)
        start, end = strip(text, start, end, _EMPHASIS)
        end += text.startswith("^*", end - 1, before[1])
        while (
            start < end and text[end - 1] in ".。,，;；:：" and not _ENDS_IN_DOTS.search(text, max(start, end - 4), end)
        ):
            end -= 1
        start, end = unwrap(text, start, end)
        if (start, end) == before:
            break
    return start, end


def unwrap(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the delimiters of mathematics, if one pair of them is around all of it."""
    if start >= end or text[start] not in "$\\":
        return start, end
    for opening, closing in _MATH_QUOTES:
        inner_start, inner_end = start + len(opening), end - len(closing)
        if inner_start > inner_end or not text.startswith(opening, start, end):
            continue
        if text.find(closing, inner_start, end) == inner_end:
            return strip(text, inner_start, inner_end)
    return start, end


def behind_thinking(text: str) -> int:
    """A place that nothing stands before but thinking, most of which is not worth a look; 0 where no such is seen at once."""
    return text.rfind("</think>") + 1
