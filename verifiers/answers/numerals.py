"""How a number is written in text, and where the last digits are."""

import re

from verifiers.answers.offers import last_matches

_DIGITS = r"(?:\d{1,3}(?:(?:,|\{,\}|\\,|，|[\u2009\u202f\u00a0])\d{3})+(?!\d)|\d+)(?:[.．]\d+)?|[.]\d+"
_POWER = (
    r"(?:[eE][-+−]?\d{1,9}|\s?(?:\\times|\\cdot|[x×*·])\s?10\s?(?:\^\s?\{?\s?[-+−]?\d{1,9}\s?\}?|[⁻⁺]?[⁰¹²³⁴-⁹]{1,9}))?"
)
_LATEX_FRACTION = r"\\[dt]?frac\s?(?:\{\s?-?\d+\s?\}\s?\{\s?-?\d+\s?\}|\d\d)"
NUMBER = (
    rf"[-+−－＋]?\s?(?:[$€£¥￥₹]|\\\$)?\s?[-−]?"
    rf"(?:(?:\d+\s?)?{_LATEX_FRACTION}|\d+[ \u00a0]\d+\s?[/⁄]\s?\d+|\d*\s?[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]"
    rf"|(?:{_DIGITS}){_POWER}(?:\s?[/⁄]\s?(?:{_DIGITS}))?)(?:\s?(?:\\?%|％))?"
)
"""A number as it stands in text: sign, currency, thousands separators, decimals, powers of ten, fractions, percent."""
ANY_DIGIT = re.compile(r"[\d½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]+")
"""A run of digits, or of fractions that are one character."""
_CHUNK = 1 << 16


def last_digit_end(text: str, start: int, end: int) -> int | None:
    """End of the last run of digits."""
    stop = end
    while stop > start:
        chunk = max(start, stop - _CHUNK)
        runs = last_matches(ANY_DIGIT.finditer(text, chunk, stop), 1)
        if runs:
            return runs[0].end()
        stop = chunk
    return None
