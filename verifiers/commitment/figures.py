"""The notation of numbers in text, and the place of the last digits."""

import re

_DIGITS = r"(?:\d{1,3}(?:(?:,|\{,\}|\\,|，|[\u2009\u202f\u00a0])\d{3})+(?!\d)|\d+)(?:[.．]\d+)?|[.]\d+"
_POWER = (
    r"(?:[eE][-+−]?\d{1,9}|\s?(?:\\times|\\cdot|[x×*·])\s?10\s?(?:\^\s?\{?\s?[-+−]?\d{1,9}\s?\}?|[⁻⁺]?[⁰¹²³⁴-⁹]{1,9}))?"
)
_LATEX_FRACTION = r"\\[dt]?frac\s?(?:\{\s?-?\d+\s?\}\s?\{\s?-?\d+\s?\}|\d\d)"
_SIGN = r"[-+−－＋]?\s?(?:[$€£¥￥₹]|\\\$)?\s?[-−]?"
_FRACTION = rf"(?:\d+\s?)?{_LATEX_FRACTION}|\d+[ \u00a0]\d+\s?[/⁄]\s?\d+|\d*\s?[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]"
_QUOTIENT = rf"(?:{_DIGITS}){_POWER}(?:\s?[/⁄]\s?(?:{_DIGITS}))?"
NUMBER = rf"{_SIGN}(?:{_FRACTION}|{_QUOTIENT})(?:\s?(?:\\?%|％))?"
"""A number in text: sign, currency, thousands separators, decimals, powers of ten, fractions, percent."""
ANY_DIGIT = re.compile(r"[\d½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]+")
"""A run of digits, or of single characters that are fractions."""
_LAST_DIGIT = re.compile(r"(?s).*[\d½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_FIRST_CHUNK, _MAX_CHUNK = 1 << 7, 1 << 16
OPERAND_BEFORE = re.compile(r"(?:\d|[)}\]]|(?<![^\W_])[A-Za-z])[ $]{0,2}\Z")
"""What stands before a minus between two terms: "8 minus 2", "x moins 2"."""


def last_digit_end(text: str, start: int, end: int) -> int | None:
    """The end of the last run of digits. The search takes ever longer pieces from the end."""
    stop, size = end, _FIRST_CHUNK
    while stop > start:
        chunk = max(start, stop - size)
        if last := _LAST_DIGIT.match(text, chunk, stop):
            return last.end()
        stop, size = chunk, min(2 * size, _MAX_CHUNK)
    return None
