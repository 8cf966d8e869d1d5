r"""Writes figures for the values of a text, so that a sentence about formulas or names reads as one about numbers.

    So it is $x^3$.        So it is 00001.        It should be 3*5.     It should be 002.
    It should be Lyon.     It should be 0003.     Then $n = 16$ holds.  unchanged: an equality is no value

Places stay as they are. A value that is the answer itself keeps its text, so that nothing stands in for it.
"""

import re
from typing import NamedTuple

from verifiers.commitment.cues import vocabulary
from verifiers.commitment.folding import fold

_OPERATORS = r"[-−+*/×·÷^]"
_VALUES = (
    re.compile(r"\$[^$\n=<>≤≥≠≈~]{1,80}\$"),
    re.compile(rf"(?<![\w.])\d+(?:\s?{_OPERATORS}\s?\(?\d+\)?){{1,12}}(?!\s{{0,2}}[=≠≈]|\w|\.\d)"),
    re.compile(r"[(\[{]\s?-?\d[\d./]{0,12}(?:\s?,\s?-?\d[\d./]{0,12}){1,6}\s?[)\]}]"),
)
"""Formulas, sums that no sign of equality follows, and lists of numbers in brackets."""
_NAME = re.compile(r"(?<![\w\\$])[A-Z][^\W_]+(?:\s[A-Z][^\W\d_]+){0,3}(?!\w)")
_HELD_NAME = re.compile(r"[^\W\d_][^\d\\$^=+*/<>{}()]{1,60}|[A-Z][A-Za-z\d]{1,30}")
_RELATION = re.compile(r"\\(?:leq?|geq?|neq?|approx|equiv|sim|in|to|implies|Rightarrow)(?![A-Za-z])|[∈→⇒]")
_LAYOUT = re.compile(r"\s+|\\[,;:! ]|\\left|\\right|[$*_()\[\]{}]")
_SIGNS = frozenset("$*/^(+×÷·")
_WORDS = re.compile(r"\w+")
_MAX_VALUES = 90


class Figured(NamedTuple):
    """A text with figures for its values."""

    text: str
    is_of_names: bool
    """Whether names have figures, too."""


def figured(text: str, start: int, answer: str) -> Figured:
    """The text with figures for the formulas behind a place, and for names if the answer is one."""
    start += text.startswith("$", start)
    tail = text[start:]
    is_of_names = _HELD_NAME.fullmatch(answer.strip(" .*_$")) is not None
    if not is_of_names and _SIGNS.isdisjoint(tail):
        return Figured(text, is_of_names=False)
    held, count, values = _bare(answer), 0, _NAME

    def shown(match: re.Match[str]) -> str:
        nonlocal count
        value = match[0]
        is_same = _bare(value) == held or (values is _NAME and _worded(value) in _worded(answer))
        is_value = not is_same and not _RELATION.search(value) and not _is_word(value)
        if not is_value or count >= _MAX_VALUES:
            return value
        count += 1
        return f"{count:0{len(value)}d}"

    for values in (*_VALUES, *([_NAME] if is_of_names else [])):
        tail = values.sub(shown, tail)
    return Figured(text[:start] + tail, is_of_names)


def _worded(text: str) -> str:
    """The words of a text between blanks: Lyon is in "Lyon, France", and CO is not in CO2."""
    return f" {' '.join(_WORDS.findall(text))} "


def _is_word(value: str) -> bool:
    """Whether a capital begins a word of a lexicon, and no name: "So", "The"."""
    return value[1:].islower() and value.casefold() in vocabulary()


def _bare(value: str) -> str:
    return _LAYOUT.sub("", fold(value)).strip(".").casefold()
