"""Narrows spans past signs that surround an answer and are not part of it. The text itself is never copied."""

import re

Span = tuple[int, int]
"""The places of a part of a text: where it begins, and behind its end."""
_INVISIBLE = frozenset(
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2066\u2067\u2068\u2069\ufeff"
)

_EMPHASIS = "*`_•∴→⇒⟹➜➔➡✓✔✅☑\ufe0f"
"""Emphasis, and marks that may stand beside an answer."""
_LEADS = ("=> ", "-> ", "# ")
"""Arrows before an answer, and the mark of a heading that is the answer."""
_QUOTES = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "‹": "›", "‘": "’"}
_ESCAPED = '\\"'
"""A quote inside a string of JSON."""
_CLOSING_QUOTES = frozenset('"”’»』」')
_STOPS = frozenset(".!?。！？")
_MATH_QUOTES = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
_ENDS_IN_DOTS = re.compile(r"\d\.\.\.$")
"""Digits that continue: `0.333...`."""


def strip(text: str, start: int, end: int, extra: str = "") -> tuple[int, int]:
    """Narrow a span past space, invisible characters and the characters of `extra` (no letters or digits)."""
    if start < end and text[start].isalnum() and text[end - 1].isalnum():
        return start, end
    while start < end and ((char := text[start]).isspace() or char in _INVISIBLE or char in extra):
        start += 1
    while start < end and ((char := text[end - 1]).isspace() or char in _INVISIBLE or char in extra):
        end -= 1
    return start, end


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Narrow a span past emphasis, a final full stop, and the delimiters of mathematics around all of it."""
    if start < end and text[start].isalnum() and text[end - 1].isalnum():
        return start, end
    for _ in range(8):
        span = (start, end)
        start, end = strip(text, start, end, _EMPHASIS)
        end += text.startswith("^*", end - 1, span[1])
        start += text.find(" ", start) - start if text.startswith(_LEADS, start, end) else 0
        while (
            start < end
            and text[end - 1] in ".。．,，;；:："
            and not _ENDS_IN_DOTS.search(text, max(start, end - 4), end)
        ):
            end -= 1
        start, end = unwrap(text, *_unquoted(text, start, end))
        if (start, end) == span:
            break
    return start, end


def _unquoted(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the only pair of quotes around all of it, and without a quote that ends what began before it."""
    if end - start > 2 * len(_ESCAPED) and text.startswith(_ESCAPED, start):
        last = text.find(_ESCAPED, start + 1, end)
        return (start + len(_ESCAPED), last) if last + len(_ESCAPED) == end else (start, end)
    closing = _QUOTES.get(text[start]) if end - start > 2 else None
    if closing is not None and text[end - 1] in closing:
        is_pair = text.find(text[end - 1], start + 1, end) == end - 1
        return (start + 1, end - 1) if is_pair else (start, end)
    # `"reasoning": "... The answer is 2.", "answer": "2"`, and no inches: 2"
    if end - start > 2 and text[end - 1] in _CLOSING_QUOTES and text[end - 2] in _STOPS:
        end -= text.count(text[end - 1], start, end) == 1
    return start, end


def unwrap(text: str, start: int, end: int) -> tuple[int, int]:
    """Narrow a span past the delimiters of mathematics, if one pair surrounds all of it."""
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
    """A place that has only thinking before it; 0 if none is seen at once. Most thinking need not be read."""
    return text.rfind("</think>") + 1
