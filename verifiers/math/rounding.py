"""Decides how near a decimal must be to a value to count as its rounding."""

from fractions import Fraction

_MAX_PLACES = 30


def is_rounded(shown: Fraction, value: Fraction, as_decimal: bool) -> bool:
    gap = abs(shown - value)
    unit = last_place(shown) if as_decimal else None
    return gap * 100 < abs(value) or (unit is not None and gap < unit)


def last_place(value: Fraction | None) -> Fraction | None:
    """One unit of the last place of a decimal number; None if it has fewer than two significant digits, or no end."""
    found = None if value is None else places(value)
    if value is None or found is None or abs(value) * 10**found < 10:
        return None
    return Fraction(1, 10**found)


def places(value: Fraction) -> int | None:
    """The number of decimal places of a number; None if the places do not end, or only far behind the point."""
    return next((places for places in range(_MAX_PLACES) if (value * 10**places).denominator == 1), None)
