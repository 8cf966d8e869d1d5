"""Scale words that depend on the language of the text around them: `6 bin`, `6 mil`, `3 billions`."""

import re
from collections.abc import Set

from verifiers.commitment.language import languages_around
from verifiers.numerals.scales import LOCAL, SCALES, factor

POINT_LANGUAGES = frozenset(["en", "zh", "ja", "ko", "th", "hi", "he", "bn"])
"""Languages that write 1,234.5 (Unicode CLDR)."""
_WORDS = "|".join(sorted(LOCAL, key=len, reverse=True))
_LOCAL = re.compile(rf"(?<=\d)((?:\s|[*$}}]|\\text\s?\{{){{0,12}})({_WORDS})(?![^\W\d_])", re.IGNORECASE)
_NONE: Set[str] = frozenset()
_IN_ENGLISH = {10**3: "thousand", 10**6: "million", 10**9: "billion", 10**12: "trillion"}


def languages_for(text: str, response: str, span: tuple[int, int]) -> Set[str]:
    """The languages around a place of a response, if the scale in a text depends on them; else none."""
    word = None if text.isdecimal() else _LOCAL.search(text)
    return _NONE if word is None else languages_around(response, *span, word[2])


def with_point(text: str, response: str, span: tuple[int, int]) -> str:
    """A number with a decimal comma that was found at a place of a response, with a point if the language there has the comma."""
    if not _DECIMAL_COMMA.match(text):
        return text
    said = languages_around(response, *span, "")
    return text.replace(",", ".", 1) if said and said.isdisjoint(POINT_LANGUAGES) else text


_DECIMAL_COMMA = re.compile(r"[-−+]?\d{1,15},(?!\d{3}(?!\d))\d{1,15}(?![\d,.])")
"""Figures behind a comma that are no group of thousands."""


def is_local(text: str) -> bool:
    """Whether only the language of a text says whether the word behind a number multiplies it."""
    word = _LOCAL.search(text)
    return word is not None and word[2].casefold() not in SCALES


def in_english(text: str, response: str, span: tuple[int, int]) -> str:
    """An answer found at a place of a response, with such a scale word in English if it multiplies there."""
    word = _LOCAL.search(text)
    by = factor(word[2].casefold(), languages_around(response, *span, word[2])) if word else None
    if word is None or by is None:
        return text
    return f"{text[: word.start(2)]}{_IN_ENGLISH[int(by)]}{text[word.end() :]}"
