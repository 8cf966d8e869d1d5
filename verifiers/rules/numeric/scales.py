"""Words and characters that multiply the number before them: `3 million`, `$3bn`, `5 lakh`, `3亿5000万`, `35만`."""

import re
from collections.abc import Set
from fractions import Fraction

from verifiers.numerals.scales import SCALES, factor, scale_word

_SCALE_LETTER = re.compile(r"[kKMB](?![A-Za-zΩ/^²³])")
"""Letters directly behind a number. `m`, and a letter after a space, is a unit unless the number is money."""
_MONEY_SCALE_LETTER = re.compile(r"\s?[kmbt](?![a-z])", re.IGNORECASE)
_MAX_SCALES = 2
_MYRIADS = re.compile(
    r"(?<![\d.,])(\d{1,12})(?:([亿億万萬])零?|([억만])\s?)(\d{1,8})((?:[백천]?만|천|[万萬千百])?)(?![\d.,亿億万萬千百十억만천])"
)


def scale_behind(tail: str, is_money: bool, languages: Set[str] = frozenset()) -> tuple[Fraction | None, str]:
    """The factor of the number, and the text behind the scale. The factor is None if the word has no one meaning."""
    letter = (_MONEY_SCALE_LETTER if is_money else _SCALE_LETTER).match(tail)
    if letter and not scale_word(tail, languages):
        return SCALES[letter[0].strip().lower()], tail[letter.end() :]
    scale: Fraction | None = Fraction(1)
    for _ in range(_MAX_SCALES):
        if word := scale_word(tail, languages):
            by = factor(word, languages)
            scale = None if scale is None or by is None else scale * by
            tail = tail.lstrip(" ")[len(word) :]
    return scale, tail


def with_decimal_point(text: str) -> str:
    """A text with a point for the decimal comma that a scale word shows: `1,5 Millionen`. It lists no two numbers."""
    number = _COMMA_BEFORE_SCALE.search(text)
    if number is None or not scale_word(text[number.end() :], frozenset()):
        return text
    return text[: number.start(1)] + "." + text[number.end(1) :]


_COMMA_BEFORE_SCALE = re.compile(r"(?<![\d.,])\d{1,3}(,)\d{1,2}(?=\s[^\W\d_]{3})")


def without_myriads(text: str) -> str:
    return _MYRIADS.sub(_myriads, text)


def _myriads(number: re.Match[str]) -> str:
    """`3亿5000万` and `1万2千` in digits. A lower part without its scale (`1万2`) has no clear meaning."""
    high, low = _factor(number[2] or number[3]), int(number[4]) * _factor(number[5])
    is_whole = bool(number[5]) or len(number[4]) == len(str(high)) - 1
    return str(int(number[1]) * high + low) if low < high and is_whole else number[0]


def _factor(word: str) -> int:
    return int(SCALES[word] or 0) if word else 1
