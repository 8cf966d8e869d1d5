"""Reads numbers on a known scale: a number in range, or no verdict.

Nothing is clamped or rescaled, and no word is a number.
"""

import math
import re
import unicodedata
from typing import Any, Final

from verifiers.judge.errors import Unparseable

_WRAPPERS: Final = " \t\r\n*`_'\"[](){}$“”‘’"
_NUMBER: Final = re.compile(
    r"([+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?)(?:\s{0,9}(?:/|out\s{1,9}of)\s{0,9}([0-9]{1,300}(?:\.[0-9]{1,300})?))?",
    re.IGNORECASE,
)


def read_number(value: Any, low: float, high: float, *, is_integer: bool = False) -> int | float:
    """Read a JSON number, or a text that is one: "7", and unless `is_integer` is set "7/10", "7 out of 10".

    Raises:
        Unparseable: schema_mismatch, out_of_range, scale_mismatch.
    """
    number = _number_of_text(value, high, is_integer) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise Unparseable("schema_mismatch", f"expected a number, found {type(value).__name__}")
    if math.isnan(number):
        raise Unparseable("schema_mismatch", "not a number")
    if not low <= number <= high:
        raise Unparseable("out_of_range", f"expected a number from {low:g} to {high:g}")
    if float(number).is_integer():
        return int(number)
    if is_integer:
        raise Unparseable("schema_mismatch", "expected a whole number")
    return number


def _number_of_text(text: str, high: float, is_integer: bool) -> float:
    stripped = unicodedata.normalize("NFKC", text[:2000]).strip(_WRAPPERS)
    if stripped.endswith("."):
        stripped = stripped[:-1].rstrip(_WRAPPERS)
    match = _NUMBER.fullmatch(stripped)
    if match is None or len(text) > 2000 or (is_integer and match[2] is not None):
        raise Unparseable("schema_mismatch", "expected a number and nothing else")
    if match[2] is not None and float(match[2]) != high:
        raise Unparseable("scale_mismatch", f"expected a number out of {high:g}")
    return float(match[1])


def has_digits(text: str) -> bool:
    return any(character.isdigit() for character in text)
