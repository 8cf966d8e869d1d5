r"""What a `Node` is worth: exactly as a fraction, or numerically with as many digits as telling two values apart takes.

*Exact.* Integers, decimals and fractions under arithmetic stay fractions up to `MAX_EXACT_BITS`.

*Numeric.* A first pass at low precision finds the largest |log2| of any intermediate value, and the most bits of any
number written: M bits. The second works with 192 + 4M bits, where the error of a result is far below 2^(3M + 64 - bits):
a larger gap proves two values different. A smaller one is looked at again with twice the bits and 640 more, before they
are called the same. No fixed number of decimals decides, so 2^-70 is not 2^-69, \sqrt{10^{40}+1} is not 10^{20}, and
fifty digits of \pi are not \pi.

*Zero.* Computed, \sin\pi is what rounding left of it. In the second pass a part within rounding of an integer is that
integer, so it is not divided by, has no logarithm, and no factorial if it is a pole; and what is larger than anything the
first pass met has no value, as \tan(\pi/2) has none. As with equality, twice the bits and 640 more have to confirm that.

*With variables.* Both sides are evaluated at the same `points`. One where they differ proves them different; agreement
everywhere is equality up to chance.

*Domains.* Unless i is written on either side, letters and values are real: a root of even degree, a logarithm or a power
that is not real anywhere on the way puts the point outside the domain, as a division by zero does, and x^{1/3} is the real
root. A point outside the domain of one side says nothing (\sqrt{ab} is \sqrt a\sqrt b, x^2/x is x), unless the other side
goes further because of an absolute value that this one lacks: \ln|x| is not \ln x.

Every operation looks at the size of its operands first and raises `TooComplex` rather than build a huge number.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math.limits import MAX_EXACT_BITS, MAX_VALUE_BITS
from verifiers.math.matrices import same_product
from verifiers.math.points import (
    BOUND,
    CONJUGATES,
    ORIGIN,
    Coordinate,
    Letters,
    Point,
    has_i,
    letters,
    more_points,
    points,
)
from verifiers.math.points import names as names
from verifiers.math.tree import Node, TooComplex, show

Number = Any
"""mpmath's real or complex number; it has no types."""

_FIRST_BITS = 64
_SECOND_BITS = 1_024
_SPARE_BITS = 192
_MAX_FACTORIAL = 5_000
_MAX_TERMS = 3_000
"""In all sums and products at one point together."""
_MAX_GAMMA_BITS = 1_800
"""The factorial of what is no integer takes a series, slow with many digits."""
_RELATIONS = frozenset(["=", "!=", "<", "<=", ">", ">=", "in", "approx", "cong", "chain"])


ZERO = Node("num", leaf=Fraction(0))
ONE = Node("num", leaf=Fraction(1))


class NoValue(Exception):
    """This stands for no number: a set, a word, a division by zero, a sum only computer algebra can do."""


class OutsideDomain(NoValue):
    """There is no value for these values of the letters; for others there may be one."""


# --- exact values


@lru_cache(maxsize=4096)
def exact(node: Node) -> Fraction | None:
    """The value of rational arithmetic; None for anything else.

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
    """The root, when it is rational; of a negative number only with an odd degree."""
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
    if value > _MAX_FACTORIAL:
        raise TooComplex("the factorial is too large")
    return Fraction(mpmath.libmp.ifac(value.numerator))


def _binomial(values: list[Fraction]) -> Fraction | None:
    n, k = values
    if n.denominator != 1 or k.denominator != 1 or n < 0:
        return None
    if k < 0 or k > n:
        return Fraction(0)
    if n > _MAX_FACTORIAL:
        raise TooComplex("the binomial is too large")
    return Fraction(math.comb(n.numerator, k.numerator))


def _remainder(values: list[Fraction]) -> Fraction | None:
    return values[0] % values[1] if values[1] != 0 else None


_EXACT: Mapping[str, Callable[[list[Fraction]], Fraction | None]] = {
    "+": lambda values: sum(values, Fraction(0)),
    "*": _product,
    "/": _quotient,
    "neg": lambda values: -values[0],
    "bracket": lambda values: values[0] if len(values) == 1 else None,
    "^": _power,
    "!": _factorial,
    "root": _root,
    "%": lambda values: values[0] / 100,
    "mod": _remainder,
    "abs": lambda values: abs(values[0]),
    "floor": lambda values: Fraction(values[0].__floor__()),
    "ceil": lambda values: Fraction(values[0].__ceil__()),
    "binom": _binomial,
}


# --- numeric values


class Evaluation:
    """Evaluates nodes at one precision and one point; remembers the largest magnitude it met.

    `is_real` says that nothing complex is meant: odd roots of negative numbers are real, and where there are letters,
    what is not real is outside the domain. `settles` says that the working precision was chosen by a first pass: then what
    rounding leaves of an integer is that integer, and what is beyond all that pass met is infinite.
    """

    def __init__(
        self, point: Mapping[str, Coordinate], log_base: int | None, is_real: bool = False, settles: bool = False
    ) -> None:
        self._point = point
        self._settles = settles
        self._settled_bits = mp.prec // 4 + _SETTLED_BITS
        self._log_base = log_base
        self._is_real = is_real
        self._terms_left = _MAX_TERMS
        self.magnitude = 1
        """Largest |log2| of any value so far, in bits."""

    def value(self, node: Node) -> Number:
        """The value at the current working precision.

        Raises:
            NoValue: there is none.
            TooComplex: it, or something inside it, is beyond `MAX_VALUE_BITS`.
        """
        if node.kind == "num" or node.kind == "based":
            fraction = exact(node)
            return self._literal(fraction if fraction is not None else Fraction(0))
        if node.kind == "const":
            return self._constant(str(node.leaf))
        if node.kind == "sym":
            if not node.leaf or str(node.leaf) in ("emptyset", "ldots"):
                raise NoValue(f"{node.leaf} is no number")
            return self._seen(_coordinate(self._point[str(node.leaf)]))
        if node.kind == "apply":
            return self._applied(node)
        if node.kind in ("sum", "prod"):
            return self._terms(node)
        if node.kind == "fn" and self._point and _is_constant(node):
            found = _constant(node, mp.prec, self._log_base, self._is_real, self._settles)
            self.magnitude = max(self.magnitude, found[1])
            return self._seen(found[0])
        if node.kind == "fn":
            values = [self.value(_radians(arg)) for arg in node.args]
            if node.leaf in _GROWING:
                self.magnitude = max(self.magnitude, *(2 * abs(int(mpmath.nint(mpmath.re(value)))) for value in values))
            return self._seen(self._function(str(node.leaf), values))
        operation = _NUMERIC.get(node.kind)
        if operation is None:
            raise NoValue(f"{node.kind} has no value")
        if node.kind == "log" and node.args[0] == _BARE_LOG:
            base: Number = mpmath.mpf(10) if self._log_base is None else +mp.e
            return self._seen(_logarithm(base, self.value(node.args[1])))
        if node.kind == "^":
            return self._seen(self._power(*node.args))
        return self._seen(operation(*(self.value(arg) for arg in node.args)))

    def _power(self, base: Node, exponent: Node) -> Number:
        foot, height = self.value(base), self.value(exponent)
        if self._is_real and mpmath.im(foot) == 0 and foot < 0 and not mpmath.isint(height):
            fraction = _exact_or_none(exponent)
            if fraction is not None and fraction.denominator % 2:
                size = _safe_power(-foot, height)
                return -size if fraction.numerator % 2 else size
        return _safe_power(foot, height)

    def _terms(self, node: Node) -> Number:
        """A sum or product of finitely many terms, each computed."""
        index, low, high, term = node.args
        first, last = self._bound(low), self._bound(high)
        if last < first - 1:
            raise OutsideDomain("bounds the wrong way round")
        if last - first >= self._terms_left:
            raise TooComplex("a sum or product of too many terms")
        values = [self._term(term, str(index.leaf), Fraction(number)) for number in range(first, last + 1)]
        if node.kind == "sum":
            return self._seen(_sum_of(*values))
        return self._seen(_product_of(mpmath.mpf(1), *values))

    def _term(self, term: Node, index: str, number: Coordinate) -> Number:
        """What stands inside a sum, product or integral, where its bound name has this value."""
        outer = self._point
        self._terms_left -= 1
        if self._terms_left < 0:
            raise TooComplex("too many terms")
        self._point = {**outer, index: number}
        try:
            return self.value(term)
        finally:
            self._point = outer

    def _bound(self, node: Node) -> int:
        value = self.value(node)
        if not mpmath.isint(value):
            raise OutsideDomain("the bound of a sum is no integer")
        return int(value)

    def _constant(self, name: str) -> Number:
        if name == "pi":
            return self._seen(+mp.pi)
        if name == "e":
            return self._seen(+mp.e)
        if name == "i":
            return mpmath.mpc(0, 1)
        raise NoValue(f"{name} is no number")

    def _applied(self, node: Node) -> Number:
        if node.leaf in CONJUGATES and len(node.args) == 1 and self._may_be_complex(node.args[0]):
            return self._seen(mpmath.conj(self.value(node.args[0])))
        if node.leaf in _SPECIAL and len(node.args) == 1:
            return self._seen(self._special(str(node.leaf), self.value(node.args[0])))
        if node.leaf == "!!" and len(node.args) == 1:
            return self._seen(_double_factorial(self.value(node.args[0])))
        return self._unknown(node)

    def _special(self, name: str, value: Number) -> Number:
        _check_gamma(value)
        try:
            return _SPECIAL[name](value)
        except ValueError as error:
            raise OutsideDomain(str(error)) from error

    def _may_be_complex(self, node: Node) -> bool:
        return has_i(node) or any(isinstance(self._point.get(name), tuple) for name in names(node))

    def _unknown(self, node: Node) -> Number:
        """Something known by name only: a number, of either sign, that depends on the name and on the values of its
        arguments.
        """
        written = [str(node.leaf)]
        for arg in node.args:
            try:
                written.append(mpmath.nstr(self.value(arg), 30))
            except OutsideDomain:
                raise
            except NoValue:
                written.append(show(arg))
        digest = hashlib.sha256("\0".join(written).encode()).digest()
        size = mpmath.mpf(1) / 2 + mpmath.mpf(int.from_bytes(digest[:8])) / 2**64
        return self._seen(size if digest[8] % 2 else -size)

    def _function(self, name: str, values: list[Number]) -> Number:
        function = _FUNCTIONS.get(name)
        if function is None:
            raise NoValue(f"{name} is not known")
        try:
            return function(*values)
        except (ValueError, ZeroDivisionError, TypeError) as error:
            raise OutsideDomain(f"{name}: {error}") from error

    def _literal(self, value: Fraction) -> Number:
        self.magnitude = max(self.magnitude, value.numerator.bit_length(), value.denominator.bit_length())
        return self._seen(_float(value))

    def _seen(self, value: Number) -> Number:
        if not mpmath.isfinite(value):
            raise OutsideDomain("not finite")
        if self._settles:
            value = _settled(value, self._settled_bits)
        if self._is_real and self._point and mpmath.im(value) != 0:
            raise OutsideDomain("not real")
        if value != 0:
            size = abs(int(mpmath.mag(value)))
            if size > MAX_VALUE_BITS:
                raise TooComplex("a value is too large or too small")
            self.magnitude = max(self.magnitude, size)
        return value


@lru_cache(maxsize=4096)
def _is_constant(node: Node) -> bool:
    return not names(node) and not any(part.kind in BOUND for part in node.walk())


@lru_cache(maxsize=1024)
def _constant(node: Node, bits: int, log_base: int | None, is_real: bool, settles: bool) -> tuple[Number, int]:
    """The value of a function of constants, which is the same at every point, and the largest magnitude met."""
    evaluation = Evaluation({}, log_base, is_real, settles)
    return evaluation.value(node), evaluation.magnitude


_BARE_LOG = Node("const", leaf="log")
_SETTLED_BITS = 80
"""With 192 + 4M bits, rounding is below 2^(3M + 64 - bits), which is 2^-(bits/4 + 80); what was met is above 2^-M."""


def _settled(value: Number, bits: int) -> Number:
    """The integer (for a complex number, of each part) that a value is next to, within 2^-bits; else the value.

    Raises:
        OutsideDomain: it is beyond 2^bits.
    """
    if isinstance(value, mpmath.mpc):
        real, imaginary = _settled(value.real, bits), _settled(value.imag, bits)
        return mpmath.mpc(real, imaginary) if imaginary != 0 else real
    if not isinstance(value, mpmath.mpf):
        return value
    digits, exponent = value.man_exp
    if digits.bit_length() + exponent > bits:
        raise OutsideDomain("no finite value")
    if -exponent <= bits:  # it is an integer, or has too few bits behind the point to come near one
        return value
    behind = digits & ((1 << -exponent) - 1)
    gap = min(behind, (1 << -exponent) - behind)
    return mpmath.nint(value) if gap.bit_length() <= -exponent - bits else value


def _float(value: Fraction) -> Number:
    return mpmath.mpf(value.numerator) / value.denominator


def _coordinate(value: Coordinate) -> Number:
    if isinstance(value, tuple):
        return mpmath.mpc(*map(_float, value))
    return _float(value) if isinstance(value, Fraction) else value


def _radians(node: Node) -> Node:
    """Degrees, where they are the argument of a function, are an angle."""
    if node.kind == "deg":
        return Node("/", (Node("*", (node.args[0], Node("const", leaf="pi"))), Node("num", leaf=Fraction(180))))
    if node.kind in ("+", "neg", "*", "/"):
        return Node(node.kind, tuple(_radians(arg) for arg in node.args))
    return node


def _safe_power(base: Number, exponent: Number) -> Number:
    if base == 0:
        if mpmath.im(exponent) == 0 and mpmath.re(exponent) > 0:
            return mpmath.mpf(0)
        if exponent == 0:
            return mpmath.mpf(1)
        raise OutsideDomain("division by zero")
    if abs(exponent) * (abs(mpmath.mag(base)) + 1) > 4 * MAX_VALUE_BITS:
        raise TooComplex("a power is too large")
    return mpmath.power(base, exponent)


def _safe_root(base: Number, degree: Number) -> Number:
    if degree == 0:
        raise OutsideDomain("a root of degree 0")
    if mpmath.im(base) == 0 and base < 0 and mpmath.isint(degree) and int(degree) % 2:
        return -_safe_power(-base, 1 / degree)
    return mpmath.sqrt(base) if degree == 2 else _safe_power(base, 1 / degree)


def _safe_quotient(top: Number, bottom: Number) -> Number:
    if bottom == 0:
        raise OutsideDomain("division by zero")
    return top / bottom


def _safe_factorial(value: Number) -> Number:
    _check_gamma(value)
    try:
        return mpmath.factorial(value)
    except ValueError as error:
        raise OutsideDomain(str(error)) from error


def _double_factorial(value: Number) -> Number:
    if not mpmath.isint(value) or value < -1:
        raise OutsideDomain("a double factorial of no natural number")
    if value > _MAX_FACTORIAL:
        raise TooComplex("a factorial is too large")
    return _float(Fraction(math.prod(range(int(value), 1, -2))))


def _safe_binomial(n: Number, k: Number) -> Number:
    _check_gamma(n, k)
    if mpmath.isint(n) and mpmath.isint(k) and n >= 0:
        found = _binomial([Fraction(int(n)), Fraction(int(k))])
        return _float(found if found is not None else Fraction(0))
    try:
        return mpmath.binomial(n, k)
    except ValueError as error:
        raise OutsideDomain(str(error)) from error


def _check_gamma(*values: Number) -> None:
    if any(abs(value) > _MAX_FACTORIAL for value in values):
        raise TooComplex("a factorial is too large")
    if mp.prec > _MAX_GAMMA_BITS and not all(mpmath.isint(value) for value in values):
        raise TooComplex("a factorial of no integer, with too many digits")


def _logarithm(base: Number, value: Number) -> Number:
    if base in (0, 1) or value == 0:
        raise OutsideDomain("no logarithm")
    return mpmath.log(value) if base == mp.e else mpmath.log(value) / mpmath.log(base)


def _whole(value: Number, up: bool) -> Number:
    """Floor or ceiling; none where rounding, not the value, would decide."""
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


def _sum_of(*values: Number) -> Number:
    return mpmath.fsum(values)


def _product_of(*values: Number) -> Number:
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


_NUMERIC: Mapping[str, Callable[..., Number]] = {
    "+": _sum_of,
    "*": _product_of,
    "/": _safe_quotient,
    "neg": lambda value: -value,
    "bracket": _only,
    "^": _safe_power,
    "!": _safe_factorial,
    "root": _safe_root,
    "%": lambda value: value / 100,
    "deg": lambda value: value,
    "mod": _modulo,
    "abs": abs,
    "floor": lambda value: _whole(value, up=False),
    "ceil": lambda value: _whole(value, up=True),
    "binom": _safe_binomial,
    "log": _logarithm,
}


_SPECIAL: Mapping[str, Callable[[Number], Number]] = {r"\Gamma": mpmath.gamma, r"\zeta": mpmath.zeta}
"""Functions that are read as names applied to something."""


def _exp(value: Number) -> Number:
    if abs(value) > MAX_VALUE_BITS:
        raise TooComplex("an exponential is too large")
    return mpmath.exp(value)


def _gcd(*values: Number) -> Number:
    if not all(mpmath.isint(value) for value in values):
        raise OutsideDomain("gcd of what is no integer")
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
        result = _product_of(result, abs(value) / divisor)
    return result


def _guarded(function: Callable[[Number], Number]) -> Callable[[Number], Number]:
    """For sinh and its like, which grow as exp does."""

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


_GROWING = frozenset(["sinh", "cosh", "tanh", "coth", "exp"])
"""Where e^x is met on the way: tanh(30) is near 1, but the difference is e^-60."""
_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "cot": mpmath.cot,
    "sec": mpmath.sec,
    "csc": mpmath.csc,
    "sinh": _guarded(mpmath.sinh),
    "cosh": _guarded(mpmath.cosh),
    "tanh": _guarded(mpmath.tanh),
    "coth": _guarded(mpmath.coth),
    "arcsin": mpmath.asin,
    "arccos": mpmath.acos,
    "arctan": mpmath.atan,
    "arccot": mpmath.acot,
    "arcsec": mpmath.asec,
    "arccsc": mpmath.acsc,
    "arsinh": mpmath.asinh,
    "arcosh": mpmath.acosh,
    "artanh": mpmath.atanh,
    "exp": _exp,
    "ln": lambda value: _logarithm(+mp.e, value),
    "lg": lambda value: _logarithm(mpmath.mpf(10), value),
    "sgn": mpmath.sign,
    "Re": mpmath.re,
    "Im": mpmath.im,
    "arg": mpmath.arg,
    "gcd": _gcd,
    "lcm": _lcm,
    "max": _real_only(max),
    "min": _real_only(min),
}


# --- comparing


def same(reference: Node, answer: Node) -> bool:
    """Whether two expressions have the same value wherever the reference has one.

    Raises:
        NoValue: the reference has none that we can compute.
        TooComplex: a value beyond the limits.
    """
    left, right = exact(reference), _exact_or_none(answer)
    if left is not None and right is not None:
        return left == right
    ordered = same_product(reference, answer)
    if ordered is not None:
        return ordered
    if _has_bare_log(reference) != _has_bare_log(answer):
        return any(_agree(reference, answer, log_base) for log_base in (None, 1))
    return _agree(reference, answer, None)


def close(reference: Node, answer: Node, absolute: float, relative: float) -> bool:
    """Whether two constants differ by no more than one of the two bounds.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    is_real = not (_is_complex(reference) or _is_complex(answer))
    left, right = _steady(reference, is_real), _steady(answer, is_real)
    with mp.workprec(_STEADY_BITS[0]):
        gap = abs(left - right)
        return bool(gap <= absolute or gap <= relative * abs(left))


_STEADY_BITS = (256, 640, 1_600)


def _steady(node: Node, is_real: bool) -> Number:
    """The value of a constant, once more digits do not change it.

    Raises:
        NoValue: they always do, as those of 1 divided by what should be 0.
    """
    known: Number | None = None
    for bits in _STEADY_BITS:
        with mp.workprec(bits):
            value = Evaluation({}, None, is_real).value(node)
            if known is not None and abs(value - known) <= mpmath.ldexp(max(abs(value), 1), -_STEADY_BITS[0] // 2):
                return value
            known = value
    raise NoValue("more digits change it")


def settled(node: Node) -> Number:
    """The value of a constant to some 70 digits.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    return _steady(node, not _is_complex(node))


def approximate(node: Node) -> float:
    """A constant as a float, for ordering; infinity included.

    Raises:
        NoValue, TooComplex: it has no real value.
    """
    sign, inner = (-1, node.args[0]) if node.kind == "neg" else (1, node)
    if inner.kind == "const" and inner.leaf == "infty":
        return sign * float("inf")
    if names(node):
        raise NoValue("it depends on a variable")
    with mp.workprec(_FIRST_BITS):
        value = at(node, {})
        if mpmath.im(value) != 0:
            raise NoValue("not real")
        return float(value)


def order(left: Node, right: Node) -> int:
    """-1, 0 or 1: how two real constants, or infinities, lie on the line.

    Raises:
        NoValue: one is no real constant.
        TooComplex: a value beyond the limits.
    """
    if left == right:
        return 0
    one, two = _infinite(left), _infinite(right)
    if one or two:
        return (one > two) - (one < two)
    first, second = exact(left), exact(right)
    if first is not None and second is not None:
        return (first > second) - (first < second)
    if names(left) or names(right):
        raise NoValue("it depends on a variable")
    if same(left, right):
        return 0
    for left_value, right_value, bits, _ in _pairs(left, right, None):
        if right_value is None or not (_is_real(left_value, bits) and _is_real(right_value, bits)):
            raise NoValue("not real")
        return 1 if mpmath.re(left_value) > mpmath.re(right_value) else -1
    raise NoValue("no value")


def at(node: Node, point: Mapping[str, Fraction]) -> Number:
    """The value at one point, at the working precision of the caller.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    return Evaluation(point, None, not _is_complex(node)).value(node)


def measured(node: Node) -> tuple[Number, int]:
    """The value of a constant at the working precision of the caller, and the largest magnitude met on the way, in bits.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    evaluation = Evaluation({}, None, not _is_complex(node))
    return evaluation.value(node), evaluation.magnitude


def as_number(value: Fraction) -> Number:
    """A fraction at the working precision of the caller."""
    return _float(value)


def constant_difference(reference: Node, answer: Node) -> bool:
    """Whether two expressions in the same variables differ by the same number wherever both have a value."""
    differences: list[Number] = []
    try:
        for left, right, bits, magnitude in _pairs(reference, answer, 1):
            if right is None:
                return False
            with mp.workprec(bits):
                differences.append(left - right)
                if not _near(differences[0], differences[-1], bits, magnitude):
                    return False
    except (NoValue, TooComplex):
        return False
    return len(differences) >= _MIN_POINTS


def _infinite(node: Node) -> int:
    """1 for infinity, -1 for minus infinity, 0 for anything else."""
    sign, inner = (-1, node.args[0]) if node.kind == "neg" else (1, node)
    return sign if inner.kind == "const" and inner.leaf == "infty" else 0


def proportional(reference: Node, answer: Node, positive: bool) -> bool:
    """Whether the two are the same up to a constant factor that is not zero (`positive`: that is positive).

    Raises:
        NoValue: the reference has no values to compare.
        TooComplex: a value beyond the limits.
    """
    ratio: Number | None = None
    agreed = 0
    for left, right, bits, magnitude in _pairs(reference, answer, None):
        if right is None:
            return False
        with mp.workprec(bits):
            noise = _noise(bits, magnitude)
            smaller, larger = sorted((abs(left), abs(right)))
            if smaller <= noise < mpmath.ldexp(larger, -64):
                return False
            if smaller <= mpmath.ldexp(noise, 64):
                continue
            current = left / right
            if ratio is not None and abs(current - ratio) > mpmath.ldexp(abs(ratio) * noise / smaller, 4):
                return False
            ratio = current if ratio is None else ratio
            agreed += 1
    if ratio is None or agreed < _MIN_POINTS:
        raise NoValue("no points to compare at")
    return not positive or (mpmath.im(ratio) == 0 and ratio > 0)


def _exact_or_none(node: Node) -> Fraction | None:
    try:
        return exact(node)
    except NoValue:
        return None


def _has_bare_log(node: Node) -> bool:
    return any(part == _BARE_LOG for part in node.walk())


_MIN_POINTS = 3
_RATIONAL_POINTS = 4


def _agree(reference: Node, answer: Node, log_base: int | None) -> bool:
    agreed = 0
    for left, right, bits, magnitude in _pairs(reference, answer, log_base):
        if right is None or not _near(left, right, bits, magnitude):
            return False
        agreed += 1
    if agreed and not _confirmed(reference, answer, log_base):
        return False
    if agreed < (_MIN_POINTS if names(reference) | names(answer) else 1):
        raise NoValue("the two have values together at too few points")
    return True


def _near(left: Number, right: Number, bits: int, magnitude: int) -> bool:
    with mp.workprec(bits):
        return bool(abs(left - right) <= _noise(bits, magnitude))


def _noise(bits: int, magnitude: int) -> Number:
    """More than rounding at this precision can add to a value on whose way this magnitude was met."""
    return mpmath.ldexp(1, 3 * magnitude + 64 - bits)


def _confirmed(reference: Node, answer: Node, log_base: int | None) -> bool:
    """Whether the gap goes on shrinking with the precision, at the first point where both have values."""
    sampling = _Sampling(reference, answer, log_base)
    for point in sampling.points()[:3]:
        try:
            pair = sampling.pair(point, _most_bits(reference, answer, is_constant=not point.values), again=True)
        except TooComplex:
            continue
        if pair is not None:
            left, right, bits, magnitude = pair
            return right is not None and _near(left, right, bits, magnitude)
    return True


Pair = tuple[Number, Number | None, int, int]
"""Both values at one point, their precision in bits, and the largest magnitude met on the way to them."""


def _pairs(reference: Node, answer: Node, log_base: int | None) -> Iterator[Pair]:
    """Both values wherever they can be compared; the answer's is None where the two differ without it.

    Points where a value would be too large are left out, unless nothing else remains.

    Raises:
        NoValue, TooComplex: there is no variable, and the reference has no value, or one is too large.
    """
    sampling = _Sampling(reference, answer, log_base)
    first = sampling.points()
    cap = _most_bits(reference, answer, is_constant=first[0] is ORIGIN)
    passed = 0
    too_large: TooComplex | None = None
    for count, point in enumerate(sampling.all_points()):
        if count >= len(first) and passed >= _MIN_POINTS:
            return
        try:
            pair = sampling.pair(point, cap)
        except TooComplex as error:
            too_large = error
            continue
        if pair is not None:
            passed += 1
            yield pair
    if too_large is not None and not passed:
        raise too_large


def _most_bits(*nodes: Node, is_constant: bool) -> int:
    """How large values may be: what takes a series is slow with many digits, so there may only be few of them then."""
    series = sum(part.kind in _SERIES for node in nodes for part in node.walk())
    if is_constant and not series:
        return MAX_VALUE_BITS
    if is_constant and series <= _FEW_SERIES:
        return 6_000
    return max(min(3_000, _SERIES_BITS // series), _LEAST_BITS) if series else 3_000


_SERIES = frozenset(["fn", "log", "const", "apply"])
_FEW_SERIES = 6
_SERIES_BITS = 60_000
"""Of all series together: hundreds of them with thousands of bits take minutes."""
_LEAST_BITS = 256


class _Sampling:
    """Evaluates two expressions at the points where they are compared."""

    def __init__(self, reference: Node, answer: Node, log_base: int | None) -> None:
        self._reference = reference
        self._answer = answer
        self._log_base = log_base
        self._letters: Letters = letters(reference, answer)
        self._is_real = not (self._letters.complex or _is_complex(reference) or _is_complex(answer))
        self._needs_real = not (self._letters.complex or _is_complex(reference))
        self._bars = _bars(reference) - _bars(answer)

    def points(self) -> tuple[Point, ...]:
        """The points that are always looked at; rational functions that agree at four are equal up to chance."""
        found = points(self._letters)
        if _is_rational(self._reference) and _is_rational(self._answer):
            return found[:_RATIONAL_POINTS]
        return found

    def all_points(self) -> Iterator[Point]:
        """The same points, and more for expressions that have few values at those, unless they are very long."""
        yield from points(self._letters)
        if points(self._letters)[0] is not ORIGIN and not self._are_long():
            yield from more_points(self._letters)

    def _are_long(self) -> bool:
        return sum(1 for node in (self._reference, self._answer) for _ in node.walk()) > _LONG_NODES

    def pair(self, point: Point, cap: int, again: bool = False) -> Pair | None:
        """Both values at a point, `again` with more precision; None where the point says nothing."""
        left, right = self._first(self._reference, point), self._first(self._answer, point)
        bits, magnitude = _FIRST_BITS, 0
        for _ in range(_MAX_PASSES):
            if left.fails or right.fails or max(left.magnitude, right.magnitude) <= magnitude:
                break
            magnitude = max(left.magnitude, right.magnitude)
            if magnitude > cap:
                raise TooComplex("a value is too large")
            bits = _bits_for(magnitude, again)
            left, right = self._settled(self._reference, point, bits), self._settled(self._answer, point, bits)
        if left.fails and (point is ORIGIN or not left.is_outside):
            raise NoValue(left.fails)
        if left.fails or right.fails:
            return _DIFFERENT if self._differs(left, right, point) else None
        if point is not ORIGIN and self._needs_real and not _is_real(left.value, bits):
            return None
        return left.value, right.value, bits, magnitude

    def _differs(self, left: "_Found", right: "_Found", point: Point) -> bool:
        """Whether a value on one side only is a difference: the other has none at all, or lacks an absolute value."""
        if left.fails:
            return left.is_outside and not right.fails and self._bars < 0
        return point is ORIGIN or not right.is_outside or self._bars > 0

    def _first(self, node: Node, point: Point) -> "_Found":
        """At low precision; where a constant has no value there, it may have one at a higher."""
        found = self._found(node, point, _FIRST_BITS)
        return self._found(node, point, _SECOND_BITS) if found.fails and point is ORIGIN else found

    def _settled(self, node: Node, point: Point, bits: int) -> "_Found":
        """With the bits that the first pass asks for; with twice as many where there is no value with those."""
        found = self._found(node, point, bits, settles=True)
        return self._found(node, point, 2 * bits + _AGAIN_BITS, settles=True) if found.fails else found

    def _found(self, node: Node, point: Point, bits: int, settles: bool = False) -> "_Found":
        return _evaluated(node, point, bits, self._log_base, self._is_real, settles)


_LONG_NODES = 1_000
"""Of both sides together; to find no value of so long a one at 74 points takes longer than an answer may."""
_AGAIN_BITS = 640
_MAX_PASSES = 4
"""The first pass does not see all that is small; so often the magnitude may turn out to be larger."""
_BITS_STEP = 128
"""Precisions are rounded up, so that values can be found again."""


def _bits_for(magnitude: int, again: bool) -> int:
    bits = _SPARE_BITS + 4 * magnitude
    return 2 * bits + _AGAIN_BITS if again else -(-bits // _BITS_STEP) * _BITS_STEP


_DIFFERENT: Pair = (0, None, _FIRST_BITS, 1)


@dataclass(frozen=True, slots=True)
class _Found:
    """A value and the largest magnitude met on the way to it, or why there is none."""

    value: Number
    magnitude: int
    fails: str = ""
    is_outside: bool = False
    """There may be a value at other points."""


@lru_cache(maxsize=2048)
def _evaluated(node: Node, point: Point, bits: int, log_base: int | None, is_real: bool, settles: bool) -> _Found:
    with mp.workprec(bits):
        evaluation = Evaluation(point.values, log_base, is_real, settles)
        try:
            value = evaluation.value(node)
        except NoValue as error:
            return _Found(None, 1, str(error), isinstance(error, OutsideDomain))
        return _Found(value, evaluation.magnitude)


def _is_real(value: Number, bits: int) -> bool:
    imaginary = abs(mpmath.im(value))
    return bool(imaginary <= mpmath.ldexp(1, -bits // 2) * max(1, abs(value)))


@lru_cache(maxsize=4096)
def _is_complex(node: Node) -> bool:
    """Whether i is written in it, or the square root of a negative number, which is its other name."""
    if node.kind == "root" and _exact_or_none(node.args[1]) == 2:
        inside = _exact_or_none(node.args[0])
        if inside is not None and inside < 0:
            return True
    return has_i(node) or any(_is_complex(arg) for arg in node.args)


@lru_cache(maxsize=4096)
def _is_rational(node: Node) -> bool:
    """Whether it is made of numbers and letters by arithmetic alone, with integer powers."""
    if node.kind == "^":
        exponent = _exact_or_none(node.args[1])
        return exponent is not None and exponent.denominator == 1 and _is_rational(node.args[0])
    return node.kind in _RATIONAL and all(_is_rational(arg) for arg in node.args)


_RATIONAL = frozenset(["num", "sym", "+", "*", "/", "neg", "bracket"])


def _bars(node: Node) -> int:
    return sum(part.kind == "abs" for part in node.walk())
