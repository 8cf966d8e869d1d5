"""JSON in the one form of RFC 8785 (JSON Canonicalization Scheme), so that equal values have equal bytes.

One addition: integers beyond 2^53, which RFC 8785 leaves out, are written with all their digits, so that two of them
never become the same double.
"""

import json
import math
from decimal import Decimal
from typing import Any, Final

_EXACT: Final = 2**53


def canonical(value: Any) -> bytes:
    """The canonical form of a JSON value.

    Raises:
        ValueError: it holds NaN, an infinity, or half a character.
    """
    try:
        return _text(value).encode()
    except RecursionError as error:
        raise ValueError("the value is nested too deeply") from error


def _text(value: Any) -> str:
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: str(member[0]).encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_quoted(str(name))}:{_text(member)}" for name, member in members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float):
        return _number(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if abs(value) > _EXACT else _number(float(value))
    raise ValueError(f"{type(value).__name__} is not JSON")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    """A double as ECMAScript writes it (ECMA-262, Number::toString)."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not JSON")
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent):+d}"
