"""What a value is, and the two ways of there being none."""

from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped] # it ships no types

from verifiers.math.tree import Node

Number = Any
"""mpmath's real or complex number; it has no types."""
MAX_FACTORIAL = 5_000
"""Beyond it a factorial or a binomial is refused, exact or not."""
ZERO = Node("num", leaf=Fraction(0))
"""The node of 0."""
ONE = Node("num", leaf=Fraction(1))
"""The node of 1."""


class NoValue(Exception):
    """This stands for no number: a set, a word, a division by zero, a sum only computer algebra can do."""


class OutsideDomain(NoValue):
    """There is no value for these values of the letters; for others there may be one."""


def as_number(value: Fraction) -> Number:
    """A fraction at the working precision of the caller."""
    return mpmath.mpf(value.numerator) / value.denominator
