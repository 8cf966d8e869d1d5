"""Applies operations and functions to numbers at the working precision, each within the limits and its domain."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math.limits import MAX_VALUE_BITS
from verifiers.math.tree import TooComplex
from verifiers.math.values.numbers import MAX_FACTORIAL, NoValue, Number, OutsideDomain, as_number
from verifiers.math.values.rational import exact_binomial

_MAX_GAMMA_BITS = 1_800
"""The factorial of a number that is not an integer takes a series, which is slow with many digits."""
SETTLED_BITS = 80
"""With 192 + 4M bits, rounding is below 2^(3M + 64 - bits), which is 2^-(bits/4 + 80); values on the way are above
2^-M."""


def rounded_off(value: Number, bits: int) -> Number:
    """The integer within 2^-bits of a value (for a complex number, of each part); otherwise the value itself.

    Raises:
        OutsideDomain: it is beyond 2^bits.
    """
    if isinstance(value, mpmath.mpc):
        real, imaginary = rounded_off(value.real, bits), rounded_off(value.imag, bits)
        return mpmath.mpc(real, imaginary) if imaginary != 0 else real
    if not isinstance(value, mpmath.mpf):
        return value
    digits, exponent = value.man_exp
    if digits.bit_length() + exponent > bits:
        raise OutsideDomain("no finite value")
    if -exponent <= bits:  # it is an integer, or has too few bits behind the point to come near one
        return value
    if digits.bit_length() <= -exponent - bits:  # next to 0: perhaps by more bits than there is memory for
        return mpmath.mpf(0)
    fraction_bits = digits & ((1 << -exponent) - 1)
    gap = min(fraction_bits, (1 << -exponent) - fraction_bits)
    return mpmath.nint(value) if gap.bit_length() <= -exponent - bits else value


def safe_power(base: Number, exponent: Number) -> Number:
    """A power that is finite, and not beyond the limits."""
    if base == 0:
        if mpmath.im(exponent) == 0 and mpmath.re(exponent) > 0:
            return mpmath.mpf(0)
        if exponent == 0:
            return mpmath.mpf(1)
        raise OutsideDomain("division by zero")
    if abs(exponent) * (abs(mpmath.mag(base)) + 1) > 4 * MAX_VALUE_BITS:
        raise TooComplex("a power is too large")
    return mpmath.exp(exponent) if base == mp.e else mpmath.power(base, exponent)


def _safe_root(base: Number, degree: Number) -> Number:
    if degree == 0:
        raise OutsideDomain("a root of degree 0")
    if mpmath.im(base) == 0 and base < 0 and mpmath.isint(degree) and int(degree) % 2:
        return -safe_power(-base, 1 / degree)
    return mpmath.sqrt(base) if degree == 2 else safe_power(base, 1 / degree)


def _safe_quotient(top: Number, bottom: Number) -> Number:
    if bottom == 0:
        raise OutsideDomain("division by zero")
    return top / bottom


def _safe_factorial(value: Number) -> Number:
    check_gamma(value)
    try:
        return mpmath.factorial(value)
    except ValueError as error:
        raise OutsideDomain(str(error)) from error


def double_factorial(value: Number) -> Number:
    """The double factorial of a natural number: 6!! = 6 · 4 · 2."""
    if not mpmath.isint(value) or value < -1:
        raise OutsideDomain("a double factorial of no natural number")
    if value > MAX_FACTORIAL:
        raise TooComplex("a factorial is too large")
    return as_number(Fraction(math.prod(range(int(value), 1, -2))))


def _safe_binomial(n: Number, k: Number) -> Number:
    if mpmath.isint(n) and mpmath.isint(k) and n >= 0:
        coefficient = exact_binomial([Fraction(int(n)), Fraction(int(k))])
        return as_number(coefficient if coefficient is not None else Fraction(0))
    check_gamma(n, k)
    try:
        return mpmath.binomial(n, k)
    except ValueError as error:
        raise OutsideDomain(str(error)) from error


def check_gamma(*values: Number) -> None:
    """Raise `TooComplex` for factorials that take too long."""
    if any(abs(value) > MAX_FACTORIAL for value in values):
        raise TooComplex("a factorial is too large")
    if mp.prec > _MAX_GAMMA_BITS and not all(mpmath.isint(value) for value in values):
        raise TooComplex("a factorial of no integer, with too many digits")


def logarithm(base: Number, value: Number) -> Number:
    """The logarithm to a base."""
    if base in (0, 1) or value == 0:
        raise OutsideDomain("no logarithm")
    return mpmath.log(value) if base == mp.e else mpmath.log(value) / mpmath.log(base)


def _whole(value: Number, up: bool) -> Number:
    """Floor or ceiling; an error if rounding, not the value, would decide it."""
    if mpmath.im(value) != 0:
        raise OutsideDomain("floor of a complex number")
    nearest = mpmath.nint(value)
    if value == nearest:
        return nearest
    if abs(value - nearest) < mpmath.ldexp(1, -mp.prec // 2):
        return nearest
    return mpmath.ceil(value) if up else mpmath.floor(value)


def _modulo(value: Number, modulus: Number) -> Number:
    if modulus == 0 or mpmath.im(value) != 0 or mpmath.im(modulus) != 0:
        raise OutsideDomain("no remainder")
    return value - modulus * _whole(value / modulus, up=False)


def sum_of(*values: Number) -> Number:
    """The sum of numbers."""
    return mpmath.fsum(values)


def product_of(*values: Number) -> Number:
    """The product of numbers, refused as soon as it is too large."""
    result = values[0]
    for value in values[1:]:
        result = result * value
        if result != 0 and abs(mpmath.mag(result)) > MAX_VALUE_BITS:
            raise TooComplex("a product is too large")
    return result


def _only(*values: Number) -> Number:
    if len(values) != 1:
        raise NoValue("brackets around more than one value")
    return values[0]


NUMERIC: Mapping[str, Callable[..., Number]] = {
    "+": sum_of, "*": product_of, "/": _safe_quotient, "neg": lambda value: -value, "bracket": _only, "^": safe_power,
    "!": _safe_factorial, "root": _safe_root, "%": lambda value: value / 100, "deg": lambda value: value,
    "mod": _modulo, "abs": abs, "floor": lambda value: _whole(value, up=False),
    "ceil": lambda value: _whole(value, up=True), "binom": _safe_binomial, "log": logarithm,
}  # fmt: skip
"""The operation of each kind of node on the values of its parts."""
SPECIAL: Mapping[str, Callable[[Number], Number]] = {
    r"\Gamma": mpmath.gamma, r"\zeta": mpmath.zeta, "erf": mpmath.erf, "erfc": mpmath.erfc, "erfi": mpmath.erfi,
    "Ei": mpmath.ei, "Si": mpmath.si, "Ci": mpmath.ci, "li": mpmath.li, "Li_2": lambda value: mpmath.polylog(2, value),
}  # fmt: skip
"""Functions that are written as names applied to arguments."""


def _exp(value: Number) -> Number:
    if abs(value) > MAX_VALUE_BITS:
        raise TooComplex("an exponential is too large")
    return mpmath.exp(value)


def _gcd(*values: Number) -> Number:
    if not all(mpmath.isint(value) for value in values):
        raise OutsideDomain("gcd of what is not an integer")
    result = 0
    for value in values:
        result = mpmath.libmp.gcd(result, abs(int(value)))
    return mpmath.mpf(result)


def _lcm(*values: Number) -> Number:
    result = mpmath.mpf(1)
    for value in values:
        divisor = _gcd(result, value)
        if divisor == 0:
            return mpmath.mpf(0)
        result = product_of(result, abs(value) / divisor)
    return result


def _guarded(function: Callable[[Number], Number]) -> Callable[[Number], Number]:
    """Guard sinh and the like, which grow as exp does, against large arguments."""

    def call(value: Number) -> Number:
        if abs(value) > MAX_VALUE_BITS:
            raise TooComplex("a hyperbolic function is too large")
        return function(value)

    return call


def _real_only(function: Callable[..., Number]) -> Callable[..., Number]:
    def call(*values: Number) -> Number:
        if any(mpmath.im(value) != 0 for value in values):
            raise OutsideDomain("no order among complex numbers")
        return function(*values)

    return call


GROWING = frozenset(["sinh", "cosh", "tanh", "coth", "exp"])
"""Functions with e^x in them: tanh(30) is near 1, but the difference is e^-60."""
FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "cot": mpmath.cot, "sec": mpmath.sec, "csc": mpmath.csc,
    "sinh": _guarded(mpmath.sinh), "cosh": _guarded(mpmath.cosh), "tanh": _guarded(mpmath.tanh),
    "coth": _guarded(mpmath.coth), "arcsin": mpmath.asin, "arccos": mpmath.acos, "arctan": mpmath.atan,
    "arccot": mpmath.acot, "arcsec": mpmath.asec, "arccsc": mpmath.acsc, "arsinh": mpmath.asinh,
    "arcosh": mpmath.acosh, "artanh": mpmath.atanh, "exp": _exp, "ln": lambda value: logarithm(+mp.e, value),
    "lg": lambda value: logarithm(mpmath.mpf(10), value), "sgn": mpmath.sign, "Re": mpmath.re, "Im": mpmath.im,
    "arg": mpmath.arg, "gcd": _gcd, "lcm": _lcm, "max": _real_only(max), "min": _real_only(min),
}  # fmt: skip
"""The function of each name."""
