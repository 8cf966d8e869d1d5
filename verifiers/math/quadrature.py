r"""Computes integrals, infinite sums and infinite products without variables numerically.

Each is computed twice, with 30 and with 45 digits. There is a value only if the two agree in nearly all of the 30
digits, and the method's own estimate of its error is as small; otherwise `Unreliable` is raised. A sum is tried only if
its terms fall off as those of a convergent sum do, because extrapolation finds "sums" of divergent ones; a product is
the sum of its factors' logarithms.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math.binders import INFINITY
from verifiers.math.points import Coordinate, Point, has_i
from verifiers.math.tree import Node, TooComplex
from verifiers.math.values import Evaluation, NoValue, Number
from verifiers.math.values.folds import breaks

_DIGITS = (30, 45)
_SPARE_DIGITS = 10
_RELIABLE = 27
"""Both runs have to agree to this many decimals; `relation` uses one less."""
_MAX_TERMS = 4_000
"""The evaluations of integrands and terms, for all integrals and sums together."""
_LATE = (200, 400)
"""The number of terms by which convergence is judged."""


class Unreliable(Exception):
    """The numbers do not show the value; this says nothing about what it is."""


def relation(reference: Node, answer: Node, point: Point) -> bool:
    """Whether the two are equal at this point, in all of the digits computed.

    Raises:
        Unreliable: the numbers do not show it.
    """
    lhs, rhs = value(reference, point), value(answer, point)
    with mp.workdps(_DIGITS[1]):
        gap, scale = abs(lhs - rhs), max(abs(lhs), 1)
        if gap <= scale * mpmath.mpf(10) ** (1 - _RELIABLE):
            return True
        if gap >= scale * mpmath.mpf(10) ** (6 - _RELIABLE):
            return False
    raise Unreliable("neither clearly equal nor clearly different")


def value(node: Node, point: Point) -> Number:
    """The value to `_RELIABLE` decimals.

    Raises:
        Unreliable: it was not found to this precision.
    """
    rough, fine = (_computed(node, point, digits) for digits in _DIGITS)
    with mp.workdps(_DIGITS[1]):
        if abs(rough - fine) > max(abs(fine), 1) * mpmath.mpf(10) ** -_RELIABLE:
            raise Unreliable("two runs disagree")
    return fine


def _computed(node: Node, point: Point, digits: int) -> Number:
    with mp.workdps(digits + _SPARE_DIGITS):
        try:
            value = _Approximation(point.values, digits, not has_i(node)).value(node)
        except (NoValue, TooComplex, ArithmeticError, ValueError, TypeError) as error:
            raise Unreliable(str(error)) from error
        if not mpmath.isfinite(value):
            raise Unreliable("not finite")
        return value


class _Approximation(Evaluation):
    """An evaluation that also handles integrals and sums without end."""

    def __init__(self, point: Mapping[str, Coordinate], digits: int, is_real: bool) -> None:
        super().__init__(point, None, is_real)
        self._digits = digits
        self._terms_left = _MAX_TERMS

    def value(self, node: Node) -> Number:
        if node.kind == "int":
            return self._seen(self._integral(*node.args))
        if node.kind in ("sum", "prod") and node.args[2] == INFINITY:
            return self._seen(self._series(node.kind == "prod", *node.args))
        return super().value(node)

    def _integral(self, variable: Node, low: Node, high: Node, integrand: Node) -> Number:
        def inside(x: Number) -> Number:
            return self._term(integrand, str(variable.leaf), x)

        span = [self._end(low), self._end(high)]
        cuts = [cut for cut in breaks(integrand, str(variable.leaf), self._point) if min(span) < cut < max(span)]
        area, error = mpmath.quad(inside, [span[0], *(cuts if span[0] < span[1] else cuts[::-1]), span[1]], error=True)
        if error > mpmath.mpf(10) ** -_RELIABLE:
            raise NoValue("the quadrature does not converge")
        return area

    def _end(self, node: Node) -> Number:
        if node == INFINITY:
            return mpmath.inf
        return -mpmath.inf if node == Node("neg", (INFINITY,)) else self.value(node)

    def _series(self, is_product: bool, index: Node, low: Node, _: Node, term: Node) -> Number:
        first = self._bound(low)

        def at(k: Any) -> Number:
            return self._term(term, str(index.leaf), Fraction(int(k)))

        early, late = (abs(at(first + count) - is_product) * count for count in _LATE)
        if late > early * mpmath.mpf("0.75") and late != 0:
            raise NoValue("its terms do not fall off fast enough")
        if is_product:
            return mpmath.nprod(at, [first, mpmath.inf])
        return mpmath.nsum(at, [first, mpmath.inf])
