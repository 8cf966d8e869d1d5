"""The values of small trees, exact or at a few fixed points, within the budget of one call."""

import zlib
from collections.abc import Callable
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math import values
from verifiers.math.points import has_i
from verifiers.math.tree import Node, TooComplex, infinite
from verifiers.math.values import Evaluation, NoValue, Number

MAX_WEIGHT = 800
"""Trees that weigh more get no diagnosis."""
BUDGET = 2_000
"""One call evaluates at most this many nodes."""
BITS = 640
"""The precision of all values here."""
MAX_MAGNITUDE = 128
"""A value beyond 2^± this counts as unknown."""
_MAX_EXACT_BITS = 4_096
POINTS = 8
"""Expressions with variables are compared at this many points."""
_MIN_POINTS = 3
_WEIGHTS = {"!": 100, "binom": 300, "^": 3, "root": 3, "log": 6, "fn": 6}
Relation = Callable[[Number, Number], tuple[Number, Number]]
"""A relation between the values of an answer and of a reference: the two numbers that have to be the same."""


def weight_of(node: Node) -> int:
    """The cost of evaluating a tree once."""
    return sum(_WEIGHTS.get(part.kind, 1) for part in node.walk())


class Known:
    """The values of trees, exact or at a few fixed points; all values of one call share one budget."""

    def __init__(self) -> None:
        self._left = BUDGET
        self._known: dict[tuple[Node, int], Number | None] = {}

    def exact(self, node: Node) -> Fraction | None:
        try:
            value = values.exact(node)
        except (NoValue, TooComplex):
            return None
        if value is None or value.numerator.bit_length() + value.denominator.bit_length() > _MAX_EXACT_BITS:
            return None
        return value

    def same(self, first: Node, second: Node) -> bool:
        """Whether two parts of answers are the same.

        Raises:
            NoValue, TooComplex: it cannot be decided.
        """
        if first == second or self._are_percents(first, second):
            return True
        if "text" in (first.kind, second.kind) or infinite(first) or infinite(second):
            return False
        if not (self._has_value(first) and self._has_value(second)):
            raise NoValue("nothing to compare")
        return self.holds(lambda p, g: (p, g), first, second)

    def holds(self, relation: Relation, answer: Node, reference: Node) -> bool:
        """Whether a relation between the two holds wherever the reference has a value.

        Raises:
            TooComplex: the budget is spent.
        """
        p, g = self.exact(answer), self.exact(reference)
        if p is not None and g is not None:
            lhs, rhs = relation(p, g)
            return bool(lhs == rhs)
        agreed = 0
        for index in self._points(answer, reference):
            expected = self.at(reference, index)
            if expected is None:
                continue
            value = self.at(answer, index)
            if value is None or not _agree(relation, value, expected):
                return False
            agreed += 1
        return agreed >= (_MIN_POINTS if values.names(answer) | values.names(reference) else 1)

    def at(self, node: Node, index: int) -> Number | None:
        """The value at one point; None if it does not exist, is not real, or is too large.

        Raises:
            TooComplex: the budget is spent.
        """
        key = (node, index)
        if key not in self._known:
            self._left -= weight_of(node)
            if self._left < 0:
                raise TooComplex("no more values are computed for a diagnosis")
            self._known[key] = _value(node, index)
        return self._known[key]

    def _are_percents(self, first: Node, second: Node) -> bool:
        """Whether the two are equal with a percent sign on one side only, read as a unit: 50 and 50%."""
        if (first.kind == "%") == (second.kind == "%"):
            return False
        lhs, rhs = (self.exact(node.args[0] if node.kind == "%" else node) for node in (first, second))
        return lhs is not None and lhs == rhs and abs(lhs) > 1

    def _points(self, *nodes: Node) -> range:
        return range(POINTS if any(values.names(node) for node in nodes) else 1)

    def _has_value(self, node: Node) -> bool:
        return self.exact(node) is not None or any(self.at(node, index) is not None for index in self._points(node))


def _value(node: Node, index: int) -> Number | None:
    names = values.names(node)
    evaluation = Evaluation({name: _coordinate(name, index) for name in names}, None)
    try:
        with mp.workprec(BITS):
            value = evaluation.value(node)
            is_real = abs(mpmath.im(value)) <= mpmath.ldexp(max(1, abs(value)), -BITS // 2)
    except (NoValue, TooComplex, ArithmeticError, ValueError):
        return None
    if evaluation.magnitude > MAX_MAGNITUDE or (names and not is_real and not has_i(node)):
        return None
    return value


def _coordinate(name: str, index: int) -> Fraction:
    """The value of a variable at a point: positive at the first points, then of either sign, then natural."""
    drawn = zlib.crc32(f"{index} {name}".encode())
    if index >= POINTS - 3:
        return Fraction(1 + drawn % 9)
    size = Fraction(3, 10) + Fraction(2 * (drawn % 2**20) + 1, 2**20)
    return -size if index >= 3 and drawn & 2**21 else size


def _agree(relation: Relation, answer: Number, reference: Number) -> bool:
    with mp.workprec(BITS):
        lhs, rhs = relation(answer, reference)
        gap, scale = abs(lhs - rhs), max(abs(lhs), abs(rhs))
        return bool(gap <= mpmath.ldexp(scale, -BITS // 2) or gap <= mpmath.ldexp(1, -MAX_MAGNITUDE - 64))
