"""Refuses texts that are too large or too strange to be read, in one pass over the text.

Nothing here evaluates anything. A text that passes is still bounded twice: `reader` counts nodes while it reads, and
`values` refuses an operation, before it is done, if its result would be larger than `MAX_VALUE_BITS`.
"""

import re

MAX_EQUAL_TEXT_CHARS = 100_000
"""Longer texts are not even compared as text."""
MAX_READ_CHARS = 10_000
"""Longer answers are not read as mathematics."""
MAX_NESTING = 30
"""Braces, brackets and parentheses inside each other; the reader spends about nine Python frames on each."""
MAX_DIGITS = 4_000
"""Digits in a row; under Python's own limit for converting text to an integer."""
MAX_DEPTH = 60
"""Levels of one expression that was read: a/b/c/d is nested without brackets."""
MAX_NODES = 4_000
"""Parts of one expression that was read."""
MAX_ITEMS = 200
"""Elements of one list, set or tuple."""
MAX_VALUE_BITS = 20_000
"""No number with a larger exponent is built with floating precision; 2004! has 19,000 bits."""
MAX_EXACT_BITS = 100_000
"""No exact integer or fraction is built with more bits."""

_PYTHON = r"__|`|(?<!\\)\blambda\b[^:=]{0,40}:|\bimport\s+[a-z]|\b(?:eval|exec|open|compile|getattr|globals)\s*\("
_CODE = re.compile(rf"{_PYTHON}|\\(?:input|include|write|openout|def|csname)\b")
_LONG_DIGITS = re.compile(rf"\d{{{MAX_DIGITS + 1}}}")


def refusal(text: str) -> str | None:
    """The reason why a text is not read as mathematics: `too_complex` or `unparseable`; None if it may be read."""
    if len(text) > MAX_READ_CHARS or _LONG_DIGITS.search(text) or nesting(text) > MAX_NESTING:
        return "too_complex"
    if _CODE.search(text) or (not text.isprintable() and any(not c.isprintable() and not c.isspace() for c in text)):
        return "unparseable"
    return None


def nesting(text: str) -> int:
    """The greatest nesting depth of a text's brackets; every opening bracket counts."""
    depth = deepest = 0
    for c in text:
        if c in "{([":
            depth += 1
            deepest = max(deepest, depth)
        elif c in "})]" and depth:
            depth -= 1
    return deepest
