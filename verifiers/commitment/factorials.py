"""Whether `!` is a sign of mathematics (`5!`) or the tone of a sentence ("It is 5!")."""

import re

from verifiers.commitment.offers import Offer

FORMULA_GOES_ON = re.compile(r"\$|\\[)\]]|\s?[+*/^=×·÷<>≤≥]|\s[-−]\s?\d|[\w(\[{!]| ?\\(?!f?box|text|q?quad)[a-zA-Z]")
"""The signs that follow a `!` inside a formula."""
_MAX_FORMULA_CHARS = 200
_VARIABLE, _LAST_VARIABLE = r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", r"(?<![A-Za-z])[a-z]"
_PART = rf"\\[A-Za-z]+|{_VARIABLE}|[\d\s+\-*/^_=(){{}}\[\],.·×]"
_SYMBOLIC = re.compile(rf"\$?(?=.*[a-z0-9])(?:{_PART})*(?:{_LAST_VARIABLE}|[)}}\]])")
"""A formula without words that ends in a bracket or a lower-case variable. A capital letter could be a choice."""
_PROSE_BEFORE = re.compile(r"[A-Za-z]{2,}[\s,:]+[A-Za-z]{2,}\W{0,12}$|[㐀-鿿]{2}\W{0,3}$")


def takes_factorial(text: str, start: int, first: int, stop: int) -> bool:
    """Whether the `!` from `first` to `stop` may be a sign: `5!`, `n!`, `(2n-1)!!`, but not `42!!`, `B!` or `Yes!`."""
    if start < first and text[first - 1].isdigit():
        return first == stop
    return first - start <= _MAX_FORMULA_CHARS and _SYMBOLIC.fullmatch(text, start, first) is not None


def is_factorial(text: str, start: int, end: int, number: Offer) -> bool:
    """Whether `!` behind a number is a factorial.

    Behind words it is the tone of a sentence; in a formula it is the sign.
    """
    if not text.startswith("!", number.end):
        return False
    if number.end + 1 < end and (FORMULA_GOES_ON.match(text, number.end + 1, end)):
        return True
    return _PROSE_BEFORE.search(text[max(start, number.start - 40) : number.start]) is None
