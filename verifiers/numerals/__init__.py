"""Numbers spelled in words, English and Chinese, and digits with a multiplier word behind them.

Conventions. English has the short scale (a billion is 10^9) and `and` only where speech has it: behind `hundred`, and
before a last part below a hundred. Chinese counts by myriads (万 = 10^4, 亿 = 10^8); a bare last digit is worth a tenth
of the unit before it (三万五 is 35000), a gap has 零. An ordinal is no number except as the denominator of a fraction.
A spelling with two readings (`one hundred and two thirds`) has no value: everything here is exact or None.

    spelling   the text without its layout       english   chinese
"""

import re
from fractions import Fraction

from verifiers.numerals.chinese import HAN_GAP, HAN_NUMBER, han, han_followed
from verifiers.numerals.english import ORDINALS, VOCABULARY, WORD, number_of, number_words
from verifiers.numerals.spelling import spoken

_SECOND = re.compile(r"second(?![a-z])", re.IGNORECASE)
"""Behind a number other than one: `twenty second` is the 22nd."""
_OF = re.compile(r"of(?![a-z])", re.IGNORECASE)
"""Makes `a fifth` a part: `a fifth of the class`, but not `a fifth grader`."""
_GOING_ON = re.compile(r"(?:to|or|plus|over|out|by)(?![a-z])", re.IGNORECASE)
"""Makes a range, a choice or a calculation of it: `five to seven`, `three over four`."""
_HALF_A = re.compile(r"half an? (?=[a-z])", re.IGNORECASE)


def value(text: str) -> Fraction | None:
    """The number the whole text spells; plain figures (`12`, `12%`) are nobody's words and have none here."""
    spelled = spoken(text)
    if spelled is None:
        return None
    if HAN_NUMBER.search(spelled):
        return han(HAN_GAP.sub("", spelled))
    words, end = number_words(spelled, every_word=True)
    return number_of(words) if end == len(spelled) else None


def followed(text: str) -> tuple[Fraction, str] | None:
    """The number a text begins with, and what it counts: `two hours` is 2 and `hours`.

    The number is as long as the words of numbers go on; when these make no number (`five six apples`, `十几个`), or
    nothing or a hyphen (`two-digit`) comes behind, there is none.
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
