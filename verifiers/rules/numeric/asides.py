"""Removes asides at the end of a text that state no other number.

An aside shows how the number was computed (`12 (3 × 4)`), or gives the same value again (`3/4, or 0.75`).
"""

import re

from verifiers.commitment.cues import Kind, adverbs, cues, words
from verifiers.rules.numeric.reading import read
from verifiers.rules.numeric.values import Number

_CHARS = 80
_END = r"(?=[\s.。$*!)}\]]{0,6}(?:</answer>\s{0,4})?\Z)"
_VALUE = r"[$\\]{0,2}[-−]?\d[\d.,]{0,20}(?:/\d{1,12})?(?:\s?\\?%)?\$?"
_DIGITS = r"\d[\d.,]{0,12}"
_CALCULATION = re.compile(
    rf"\s\(\s?(?:=\s?)?{_DIGITS}(?:\s?(?:[×x*+÷/·]|\s[-−]\s)\s?{_DIGITS}){{1,5}}(?:\s?=\s?{_DIGITS})?\s?\)" + _END
)
_COUNTED_BEFORE = re.compile(r"\d(?:\s?[^\W\d_]{1,12}){0,2}[$*°%]{0,3}\Z")
_AGAIN = re.compile(
    rf"(?<![\w.,/])(?P<value>{_VALUE})(?P<aside>(?P<lead>,?\s[^\W\d][^\n\d]{{1,24}}?)(?P<again>{_VALUE})){_END}"
)
_SAME = frozenset([Kind.OR, Kind.CHOOSE, Kind.BECAUSE])
"""The kinds of words that introduce the same value again."""


def without_asides(text: str) -> str:
    """A text of the same length, without the asides at its end."""
    first = max(0, len(text) - _CHARS)
    if ")" in text[-_BRACKET_CHARS:]:
        made = _CALCULATION.search(text, max(first, text.rfind("(") - 1))
        if made and _COUNTED_BEFORE.search(text, first, made.start()):
            text = _blank(text, *made.span())
    again = _AGAIN.search(text, first)
    is_same = again and _is_lead(again["lead"]) and _is_same(again["value"], again["again"])
    return _blank(text, *again.span("aside")) if again and is_same else text


_BRACKET_CHARS = 24
"""Text that may stand behind an aside in brackets: a mark, an end tag."""


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _is_lead(text: str) -> bool:
    """Whether all words only introduce the same value again: "or", "that is", "equivalently"."""
    said = words(text)
    same = {place for cue in cues(said) if cue.kind in _SAME for place in range(cue.first, cue.stop)}
    return bool(same) and all(
        place in same or word.text in adverbs() for place, word in enumerate(said) if word.text.isalpha()
    )


def _is_same(value: str, again: str) -> bool:
    one, other = read(value), read(again)
    return isinstance(one, Number) and one == other
