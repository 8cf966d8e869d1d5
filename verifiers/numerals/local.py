"""Scale words that depend on the language of the text around them: `6 bin`, `6 mil`, `3 billions`."""

import re
from collections.abc import Iterator, Set

from verifiers.commitment.language import languages_around
from verifiers.numerals.scales import LOCAL, SCALES, factor

POINT_LANGUAGES = frozenset(["en", "zh", "ja", "ko", "th", "hi", "he", "bn"])
"""Languages that write 1,234.5 (Unicode CLDR)."""
_BLANK_LANGUAGES = frozenset(["bg", "cs", "fi", "fr", "hu", "pl", "ru", "sv", "uk"])
"""Languages that write 1 234,5 (Unicode CLDR)."""
_BLANKS = re.compile(r"(?<![\d.,/^])(?<![\d.,] )[1-9]\d{0,2}(?: \d{3})+(?! ?\d|[.,/]\d)")
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


def blank_groups(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The numbers whose thousands are set apart by blanks: "70 000 dollars", and "12 500 kronor" if the language writes so."""
    for number in _BLANKS.finditer(text, start, end):
        around = languages_around(text, *number.span(), "")
        if number[0].endswith(" 000") or (around and around <= _BLANK_LANGUAGES):
            yield number.span()


def without_blanks(text: str, response: str, span: tuple[int, int]) -> str:
    """An answer found at a place of a response, without the blanks in its numbers if words stand beside them."""
    for first, stop in blank_groups(response, *span) if " " in text and text[-1:].isalpha() else ():
        text = text.replace(response[first:stop], response[first:stop].replace(" ", ""))
    return text


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
