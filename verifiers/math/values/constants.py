"""Computes values of expressions without variables, which are final once more digits change nothing."""

from collections.abc import Mapping
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math.points import names
from verifiers.math.tree import Node, infinite
from verifiers.math.values.evaluation import Evaluation
from verifiers.math.values.numbers import NoValue, Number
from verifiers.math.values.sampling import FIRST_BITS
from verifiers.math.values.traits import is_complex


def close(reference: Node, answer: Node, absolute: float, relative: float) -> bool:
    """Whether two constants differ by no more than one of the two bounds.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    is_real = not (is_complex(reference) or is_complex(answer))
    lhs, rhs = _steady(reference, is_real), _steady(answer, is_real)
    with mp.workprec(_STEADY_BITS[0]):
        gap = abs(lhs - rhs)
        return bool(gap <= absolute or gap <= relative * abs(lhs))


_STEADY_BITS = (256, 640, 1_600)


def _steady(node: Node, is_real: bool) -> Number:
    """The value of a constant, once more digits do not change it.

    Raises:
        NoValue: more digits always change it, as for 1 divided by an expression that should be 0.
    """
    last: Number | None = None
    for bits in _STEADY_BITS:
        with mp.workprec(bits):
            value = Evaluation({}, None, is_real).value(node)
            if last is not None and abs(value - last) <= mpmath.ldexp(max(abs(value), 1), -_STEADY_BITS[0] // 2):
                return value
            last = value
    raise NoValue("more digits change it")


def settled(node: Node) -> Number:
    """The value of a constant to some 70 digits.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    return _steady(node, not is_complex(node))


def approximate(node: Node) -> float:
    """A constant as a float, for ordering; infinity included.

    Raises:
        NoValue, TooComplex: it has no real value.
    """
    if sign := infinite(node):
        return sign * float("inf")
    if names(node):
        raise NoValue("it depends on a variable")
    with mp.workprec(FIRST_BITS):
        value = at(node, {})
        if mpmath.im(value) != 0:
            raise NoValue("not real")
        return float(value)


def at(node: Node, point: Mapping[str, Fraction]) -> Number:
    """The value at one point, at the working precision of the caller.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    return Evaluation(point, None, not is_complex(node)).value(node)


def measured(node: Node) -> tuple[Number, int]:
    """The value of a constant at the working precision of the caller, and the largest magnitude met on the way, in bits.

    Raises:
        NoValue, TooComplex: as `same`.
    """
    evaluation = Evaluation({}, None, not is_complex(node))
    return evaluation.value(node), evaluation.magnitude
