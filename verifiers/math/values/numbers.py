"""The types of values, and the two errors for a missing value."""

from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped] # it ships no types

from verifiers.math.tree import Node

Number = Any
"""A real or complex number of mpmath, which has no types."""
MAX_FACTORIAL = 5_000
"""A factorial or a binomial of a larger number is refused, exact or not."""
ZERO = Node("num", leaf=Fraction(0))
"""The node of 0."""
ONE = Node("num", leaf=Fraction(1))
"""The node of 1."""


class NoValue(Exception):
    """The node stands for no number: a set, a word, a division by zero, a sum for computer algebra only."""


class OutsideDomain(NoValue):
    """There is no value for these values of the letters; other values of them may have one."""


def as_number(value: Fraction) -> Number:
    """A fraction at the working precision of the caller."""
    number = mpmath.mpf(value.numerator)
    return number if value.denominator == 1 else number / value.denominator
