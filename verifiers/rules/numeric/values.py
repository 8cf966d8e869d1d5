"""The number that a text states, or the reason why it states none.

Numbers are exact. Those beyond 10^±2000 are kept as digits and an exponent and never written out.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from verifiers.base import clip

MAX_EXPONENT = 2000


@dataclass(frozen=True, slots=True)
class Number:
    """`fraction` times 10 to the `exponent`, and the signs that stood beside it."""

    fraction: Fraction
    exponent: int = 0
    """The exponent is 0, unless `fraction` is an integer that does not end in 0."""
    is_percent: bool = False
    currency: str = ""

    def value(self, percent_as_fraction: bool) -> Fraction | None:
        """The number written out; None if it is too large or too small for that."""
        if self.exponent and abs(self.exponent) > MAX_EXPONENT:
            return None
        value = self.fraction * Fraction(10) ** self.exponent if self.exponent else self.fraction
        return value / 100 if self.is_percent and percent_as_fraction else value

    def show(self) -> str:
        content = f"{self.fraction}e{self.exponent}" if self.exponent else str(self.fraction)
        return (clip(content) or "") + ("%" if self.is_percent else "")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The reason why a text is not one number: `unparseable`, or `conflicting_answers` if it names several."""

    reason: str


def scaled(number: Number, scale: Fraction, negative: bool) -> Number:
    fraction = (-number.fraction if negative else number.fraction) * scale
    fraction, exponent = normal(fraction, number.exponent) if number.exponent else (fraction, 0)
    return replace(number, fraction=fraction, exponent=exponent)


def normal(fraction: Fraction, exponent: int) -> tuple[Fraction, int]:
    """The normal form of a number.

    Small exponents are written out; otherwise the fraction becomes an integer not ending in 0.
    """
    if abs(exponent) <= MAX_EXPONENT or not fraction:
        return (fraction * Fraction(10) ** exponent, 0) if fraction else (Fraction(0), 0)
    while fraction.denominator != 1:
        fraction, exponent = fraction * 10, exponent - 1
    numerator = fraction.numerator
    while numerator % 10 == 0:
        numerator, exponent = numerator // 10, exponent + 1
    return Fraction(numerator), exponent
