"""Computes exact values by arithmetic on fractions; each operation is refused before its result would be too large."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from memory import remember
from verifiers.math.limits import MAX_EXACT_BITS
from verifiers.math.tree import Node, TooComplex
from verifiers.math.values.numbers import MAX_FACTORIAL, NoValue


@remember(4096, recursive=True)
def exact(node: Node) -> Fraction | None:
    """The value of rational arithmetic; None for any other node.

    Raises:
        TooComplex: the value would have more than `MAX_EXACT_BITS` bits.
        NoValue: division by zero.
    """
    if node.kind == "num":
        return node.leaf if isinstance(node.leaf, Fraction) else None
    if node.kind == "based":
        return exact(node.args[0])
    operation = _EXACT.get(node.kind)
    if operation is None:
        return None
    values = []
    for arg in node.args:
        value = exact(arg)
        if value is None:
            return None
        values.append(value)
    result = operation(values)
    if result is not None and _bits(result) > MAX_EXACT_BITS:
        raise TooComplex("the value is too large")
    return result


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


def _product(values: list[Fraction]) -> Fraction:
    result = Fraction(1)
    for value in values:
        if _bits(result) + _bits(value) > MAX_EXACT_BITS:
            raise TooComplex("the product is too large")
        result *= value
    return result


def _quotient(values: list[Fraction]) -> Fraction:
    if values[1] == 0:
        raise NoValue("division by zero")
    return values[0] / values[1]


def _power(values: list[Fraction]) -> Fraction | None:
    base, exponent = values
    if exponent.denominator != 1:
        return _root([base**exponent.numerator, Fraction(exponent.denominator)]) if _small(base, exponent) else None
    if base == 0 and exponent < 0:
        raise NoValue("division by zero")
    if base in (0, 1, -1):
        return Fraction(1) if exponent % 2 == 0 and (base or exponent == 0) else base
    if abs(exponent.numerator) * max(base.numerator.bit_length(), base.denominator.bit_length()) > MAX_EXACT_BITS:
        raise TooComplex("the power is too large")
    return base**exponent.numerator


def _small(base: Fraction, exponent: Fraction) -> bool:
    return base > 0 and abs(exponent.numerator) * _bits(base) <= MAX_EXACT_BITS


def _root(values: list[Fraction]) -> Fraction | None:
    """The root if it is rational; for a negative number only with an odd degree."""
    base, degree = values
    if degree.denominator != 1 or not 1 <= degree <= 1000:
        return None
    n = degree.numerator
    if base < 0:
        root = _root([-base, degree]) if n % 2 else None
        return None if root is None else -root
    top, bottom = _integer_root(base.numerator, n), _integer_root(base.denominator, n)
    return None if top is None or bottom is None else Fraction(top, bottom)


def _integer_root(value: int, n: int) -> int | None:
    with mp.workprec(value.bit_length() + 32):
        guess = int(mpmath.nint(mpmath.root(value, n))) if value else 0
    return guess if guess**n == value else None


def _factorial(values: list[Fraction]) -> Fraction | None:
    value = values[0]
    if value.denominator != 1 or value < 0:
        return None
    if value > MAX_FACTORIAL:
        raise TooComplex("the factorial is too large")
    return Fraction(math.factorial(value.numerator))


def exact_binomial(values: list[Fraction]) -> Fraction | None:
    """The binomial of two integers."""
    n, k = values
    if n.denominator != 1 or k.denominator != 1 or n < 0:
        return None
    if k < 0 or k > n:
        return Fraction(0)
    if n > MAX_FACTORIAL and min(k, n - k) * n.numerator.bit_length() > MAX_EXACT_BITS:
        raise TooComplex("the binomial is too large")
    return Fraction(math.comb(n.numerator, k.numerator))


def _remainder(values: list[Fraction]) -> Fraction | None:
    return values[0] % values[1] if values[1] != 0 else None


_EXACT: Mapping[str, Callable[[list[Fraction]], Fraction | None]] = {
    "+": lambda values: sum(values, Fraction(0)), "*": _product, "/": _quotient, "neg": lambda values: -values[0],
    "bracket": lambda values: values[0] if len(values) == 1 else None, "^": _power, "!": _factorial, "root": _root,
    "%": lambda values: values[0] / 100, "mod": _remainder, "abs": lambda values: abs(values[0]),
    "floor": lambda values: Fraction(values[0].__floor__()), "ceil": lambda values: Fraction(values[0].__ceil__()),
    "binom": exact_binomial,
}  # fmt: skip


def exact_or_none(node: Node) -> Fraction | None:
    """The exact value; None also if there is no value at all."""
    try:
        return exact(node)
    except NoValue:
        return None
