"""Numbers spelled in words, and digits with a multiplier word behind them: English, Chinese, and small ones of forty languages.

Conventions. English has the short scale (a billion is 10^9). `and` is allowed behind `hundred`, and before a last part
below a hundred. Chinese counts by myriads (万 = 10^4, 亿 = 10^8). A bare last digit is worth a tenth of the unit before
it (三万五 is 35000), and a gap has 零. An ordinal is not a number, except as the denominator of a fraction. A spelling
with two readings (`one hundred and two thirds`) has no value: every result is exact or None.

    spelling   the text without its layout       english   chinese   languages
"""

import re
from fractions import Fraction

from verifiers.numerals.chinese import HAN_GAP, HAN_NUMBER, han, han_followed
from verifiers.numerals.english import ORDINALS, VOCABULARY, WORD, number_of, number_words
from verifiers.numerals.languages import in_words
from verifiers.numerals.scales import SCALES
from verifiers.numerals.spelling import spoken

_SECOND = re.compile(r"second(?![a-z])", re.IGNORECASE)
"""The word `second`. Behind a number other than one it is an ordinal: `twenty second` is the 22nd."""
_OF = re.compile(r"of(?![a-z])", re.IGNORECASE)
"""A word behind `a fifth` that makes it a part: `a fifth of the class`, but not `a fifth grader`."""
_GOING_ON = re.compile(r"(?:to|or|plus|over|out|by)(?![a-z])", re.IGNORECASE)
"""A word behind a number that makes it a range, a choice or a calculation: `five to seven`, `three over four`."""
_HALF_A = re.compile(r"half an? (?=[a-z])", re.IGNORECASE)


def value(text: str) -> Fraction | None:
    """The number that the whole text spells; None for plain figures (`12`, `12%`), which are not words."""
    spelled = spoken(text)
    if spelled is None:
        return None
    if HAN_NUMBER.search(spelled):
        number = han(HAN_GAP.sub("", spelled))
        return in_words(spelled) if number is None and len(spelled) > 1 else number
    words, end = number_words(spelled, every_word=True)
    number = number_of(words) if end == len(spelled) else None
    if number is None and (times := _MULTIPLIED.fullmatch(spelled)) and (scale := SCALES.get(times[2].casefold())):
        return Fraction(times[1].replace(",", "")) * scale
    return in_words(spelled) if number is None else number


_MULTIPLIED = re.compile(r"([+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,30})(?:\.\d{1,30})?) ?([^\x00-\x7f]|\D{2,24})")
"""Figures and a scale word. A single letter is a unit."""


def followed(text: str) -> tuple[Fraction, str] | None:
    """The number at the beginning of a text, and the counted noun: `two hours` is 2 and `hours`.

    The number takes all words of numbers in a row. The result is None if these make no number (`five six apples`,
    `十几个`), or if nothing or a hyphen (`two-digit`) follows.
    """
    spelled = spoken(text)
    if spelled is None:
        return None
    if HAN_NUMBER.match(spelled):
        return han_followed(HAN_GAP.sub("", spelled))
    if half := _HALF_A.match(spelled):
        counted = spelled[half.end() :]
        if (first := WORD.match(counted)) and first[1].lower() not in VOCABULARY:
            return Fraction(1, 2), counted
    words, end = number_words(spelled, every_word=False)
    counted = spelled[end:].strip()
    number = number_of(words)
    if number is None or not counted or not (counted[0].isalpha() or counted[0] in "\\$€£°"):
        return None
    if _GOING_ON.match(counted):
        return None
    is_part = words[0] != "a" or words[-1] not in ORDINALS or _OF.match(counted)
    is_ordinal = number != 1 and _SECOND.match(counted)
    return None if is_ordinal or not is_part or spelled[end] == "-" else (number, counted)
