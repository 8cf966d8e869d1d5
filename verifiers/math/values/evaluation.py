"""Evaluates one expression at one point, and records how large the values on the way are."""

import hashlib
from collections.abc import Mapping
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from memory import remember
from verifiers.math.limits import MAX_VALUE_BITS
from verifiers.math.points import BOUND, CONJUGATES, Coordinate, has_i, names
from verifiers.math.tree import Node, TooComplex, show, with_parts
from verifiers.math.values.numbers import NoValue, Number, OutsideDomain, as_number
from verifiers.math.values.operations import (
    FUNCTIONS,
    GROWING,
    NUMERIC,
    SETTLED_BITS,
    SPECIAL,
    check_gamma,
    double_factorial,
    logarithm,
    product_of,
    rounded_off,
    safe_power,
    sum_of,
)
from verifiers.math.values.rational import exact, exact_or_none
from verifiers.math.values.traits import BARE_LOG

_MAX_TERMS = 3_000
"""The limit on terms in all sums and products at one point together."""
_ROUNDED_BITS = 128


class Evaluation:
    """Evaluates nodes at one precision and one point, and keeps the largest magnitude on the way.

    `is_real` excludes complex values: odd roots of negative numbers are real, and with letters a value that is not real
    is outside the domain. `settles` means that a first pass chose the working precision: then a value within rounding
    of an integer is that integer, and a value beyond all values of that pass is infinite.
    """

    def __init__(
        self, point: Mapping[str, Coordinate], log_base: int | None, is_real: bool = False, settles: bool = False
    ) -> None:
        self._point = point
        self._settles = settles
        self._settled_bits = mp.prec // 4 + SETTLED_BITS
        self._log_base = log_base
        self._is_real = is_real
        self._terms_left = _MAX_TERMS
        self.magnitude = 1
        """Largest |log2| of any value so far, in bits."""
        self.is_rounded = False
        """Whether any value so far was within rounding of an integer, and was replaced by it."""

    def value(self, node: Node) -> Number:
        """The value at the current working precision.

        Raises:
            NoValue: it has none.
            TooComplex: it, or something inside it, is beyond `MAX_VALUE_BITS`.
        """
        if node.kind == "num" or node.kind == "based":
            fraction = exact(node)
            return self._literal(fraction if fraction is not None else Fraction(0))
        if node.kind == "const":
            return self._constant(str(node.leaf))
        if node.kind == "sym":
            if not node.leaf or str(node.leaf) in ("emptyset", "ldots"):
                raise NoValue(f"{node.leaf} is not a number")
            return self._seen(_coordinate(self._point[str(node.leaf)]))
        if node.kind == "apply":
            return self._applied(node)
        if node.kind in ("sum", "prod"):
            return self._terms(node)
        if node.kind == "fn" and self._point and _is_constant(node):
            constant = _constant(node, mp.prec, self._log_base, self._is_real, self._settles)
            self.magnitude = max(self.magnitude, constant[1])
            self.is_rounded |= constant[2]
            return self._seen(constant[0])
        if node.kind == "fn":
            values = [self.value(_radians(arg) if _has_degrees(arg) else arg) for arg in node.args]
            if node.leaf in GROWING:
                self.magnitude = max(self.magnitude, *(2 * abs(int(mpmath.nint(mpmath.re(value)))) for value in values))
            return self._seen(self._function(str(node.leaf), values))
        operation = NUMERIC.get(node.kind)
        if operation is None:
            raise NoValue(f"{node.kind} has no value")
        if node.kind == "log" and node.args[0] == BARE_LOG:
            base: Number = mpmath.mpf(10) if self._log_base is None else +mp.e
            return self._seen(logarithm(base, self.value(node.args[1])))
        if node.kind == "^":
            return self._seen(self._power(*node.args))
        return self._seen(operation(*(self.value(arg) for arg in node.args)))

    def _power(self, base: Node, exponent: Node) -> Number:
        foot, height = self.value(base), self.value(exponent)
        if self._is_real and mpmath.im(foot) == 0 and foot < 0 and not mpmath.isint(height):
            fraction = exact_or_none(exponent)
            if fraction is not None and fraction.denominator % 2:
                size = safe_power(-foot, height)
                return -size if fraction.numerator % 2 else size
        return safe_power(foot, height)

    def _terms(self, node: Node) -> Number:
        """A sum or product of finitely many terms, each of which is computed."""
        index, low, high, term = node.args
        first, last = self._bound(low), self._bound(high)
        if last < first - 1:
            raise OutsideDomain("bounds the wrong way round")
        if last - first >= self._terms_left:
            raise TooComplex("a sum or product of too many terms")
        values = [self._term(term, str(index.leaf), Fraction(number)) for number in range(first, last + 1)]
        if node.kind == "sum":
            return self._seen(sum_of(*values))
        return self._seen(product_of(mpmath.mpf(1), *values))

    def _term(self, term: Node, index: str, number: Coordinate) -> Number:
        """The value inside a sum, product or integral for one value of its bound name."""
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
            raise OutsideDomain("the bound of a sum is not an integer")
        return int(value)

    def _constant(self, name: str) -> Number:
        if name == "pi":
            return self._seen(+mp.pi)
        if name == "e":
            return self._seen(+mp.e)
        if name == "i":
            return mpmath.mpc(0, 1)
        raise NoValue(f"{name} is not a number")

    def _applied(self, node: Node) -> Number:
        if node.leaf in CONJUGATES and len(node.args) == 1 and self._may_be_complex(node.args[0]):
            return self._seen(mpmath.conj(self.value(node.args[0])))
        if node.leaf in SPECIAL and len(node.args) == 1:
            return self._seen(self._special(str(node.leaf), self.value(node.args[0])))
        if node.leaf == "!!" and len(node.args) == 1:
            return self._seen(double_factorial(self.value(node.args[0])))
        return self._unknown(node)

    def _special(self, name: str, value: Number) -> Number:
        check_gamma(value)
        try:
            return SPECIAL[name](value)
        except ValueError as error:
            raise OutsideDomain(str(error)) from error

    def _may_be_complex(self, node: Node) -> bool:
        return has_i(node) or any(isinstance(self._point.get(name), tuple) for name in names(node))

    def _unknown(self, node: Node) -> Number:
        """The value of something known by name only.

        It is a number of either sign that depends on the name and on the values of its arguments.
        """
        texts = [str(node.leaf)]
        for arg in node.args:
            try:
                texts.append(_rounded(self.value(arg)))
            except OutsideDomain:
                raise
            except NoValue:
                texts.append(show(arg))
        digest = hashlib.sha256("\0".join(texts).encode()).digest()
        size = mpmath.mpf(1) / 2 + mpmath.mpf(int.from_bytes(digest[:8])) / 2**64
        return self._seen(size if digest[8] % 2 else -size)

    def _function(self, name: str, values: list[Number]) -> Number:
        function = FUNCTIONS.get(name)
        if function is None:
            raise NoValue(f"{name} is not known")
        try:
            return function(*values)
        except (ValueError, ZeroDivisionError, TypeError) as error:
            raise OutsideDomain(f"{name}: {error}") from error

    def _literal(self, value: Fraction) -> Number:
        self.magnitude = max(self.magnitude, value.numerator.bit_length(), value.denominator.bit_length())
        return self._seen(as_number(value))

    def _seen(self, value: Number) -> Number:
        if not (_is_finite(value) if isinstance(value, mpmath.mpf) else mpmath.isfinite(value)):
            raise OutsideDomain("not finite")
        if self._settles:
            unrounded, value = value, rounded_off(value, self._settled_bits)
            self.is_rounded |= value is not unrounded and value != unrounded
        if isinstance(value, mpmath.mpc) and value.imag == 0:
            value = value.real  # as it can be compared, which no complex number can
        if isinstance(value, mpmath.mpf):
            size = _size(value)
        elif self._is_real and self._point and mpmath.im(value) != 0:
            raise OutsideDomain("not real")
        else:
            size = abs(int(mpmath.mag(value))) if value != 0 else 0
        if size > MAX_VALUE_BITS:
            raise TooComplex("a value is too large or too small")
        self.magnitude = max(self.magnitude, size)
        return value


def _is_finite(value: Number) -> bool:
    """As `mpmath.isfinite` for a real number: what is not finite has no digits, but an exponent."""
    digits, exponent = value.man_exp
    return bool(digits) or not exponent


def _size(value: Number) -> int:
    """|log2| of a real number, up to one bit; 0 for zero."""
    digits, exponent = value.man_exp
    return abs(int(exponent + digits.bit_length())) if digits else 0


@remember(4096, recursive=True)
def _is_constant(node: Node) -> bool:
    return not names(node) and not any(part.kind in BOUND for part in node.walk())


@remember(1024, recursive=True)
def _constant(node: Node, bits: int, log_base: int | None, is_real: bool, settles: bool) -> tuple[Number, int, bool]:
    """The value of a function of constants, which is the same at every point, the largest magnitude on the way to it,
    and whether anything was rounded off.
    """
    evaluation = Evaluation({}, log_base, is_real, settles)
    return evaluation.value(node), evaluation.magnitude, evaluation.is_rounded


def _coordinate(value: Coordinate) -> Number:
    if isinstance(value, tuple):
        return mpmath.mpc(*map(as_number, value))
    return as_number(value) if isinstance(value, Fraction) else value


def _rounded(value: Number) -> str:
    """A number to 30 digits; for a number with a long mantissa `nstr` would write thousands."""
    with mpmath.workprec(_ROUNDED_BITS):
        return str(mpmath.nstr(+value, 30))


@remember(1024)
def _has_degrees(node: Node) -> bool:
    return any(part.kind == "deg" for part in node.walk())


def _radians(node: Node) -> Node:
    """Degrees as an angle, if they are the argument of a function."""
    if node.kind == "deg":
        return Node("/", (Node("*", (node.args[0], Node("const", leaf="pi"))), Node("num", leaf=Fraction(180))))
    return with_parts(node, _radians) if node.kind in ("+", "neg", "*", "/") else node
