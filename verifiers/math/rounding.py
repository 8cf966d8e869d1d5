"""Decimals that stand for a value without being it: how near is near enough to be that value, rounded."""

from fractions import Fraction

_MAX_PLACES = 30


def is_rounded(shown: Fraction, value: Fraction, as_decimal: bool) -> bool:
    gap = abs(shown - value)
    unit = last_place(shown) if as_decimal else None
    return gap * 100 < abs(value) or (unit is not None and gap < unit)


def last_place(value: Fraction | None) -> Fraction | None:
    """One unit of the last place of a decimal number; None when it has less than two significant digits, or no end."""
    found = None if value is None else places(value)
    if value is None or found is None or abs(value) * 10**found < 10:
        return None
    return Fraction(1, 10**found)


def places(value: Fraction) -> int | None:
    """How many decimal places a number has; None when they have no end, or none near."""
    return next((places for places in range(_MAX_PLACES) if (value * 10**places).denominator == 1), None)
