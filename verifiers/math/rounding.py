"""Decides how near a decimal must be to a value to count as its rounding."""

from fractions import Fraction

_MAX_PLACES = 100


def is_rounded(rounded: Fraction, value: Fraction, as_decimal: bool) -> bool:
    gap = abs(rounded - value)
    unit = last_place(rounded) if as_decimal else None
    return gap * 100 < abs(value) or (unit is not None and gap < unit)


def last_place(value: Fraction | None) -> Fraction | None:
    """One unit of the last place of a decimal number; None if it has fewer than two significant digits, or no end."""
    decimals = None if value is None else places(value)
    if value is None or decimals is None or abs(value) * 10**decimals < 10:
        return None
    return Fraction(1, 10**decimals)


def places(value: Fraction) -> int | None:
    """The number of decimal places of a number; None if the places do not end, or only far behind the point."""
    return next((decimals for decimals in range(_MAX_PLACES) if (value * 10**decimals).denominator == 1), None)
