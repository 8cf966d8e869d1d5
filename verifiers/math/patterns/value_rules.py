"""The rules for two values that stand in the same place."""

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.math import values
from verifiers.math.patterns.case import Case
from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.known import BITS, IMAGINARY_UNIT, POINTS, Known, Relation
from verifiers.math.patterns.parts import Part, negated, number_node
from verifiers.math.patterns.wording import is_decimal, value_text
from verifiers.math.rounding import is_rounded, last_place
from verifiers.math.tree import Node, TooComplex
from verifiers.math.values import NoValue

Rule = Callable[[Part, Known], int]
"""Whether a part shows the pattern: 0 if it does not; for `POWER10` the exponent."""


def _any(*relations: Relation) -> Rule:
    def holds(part: Part, known: Known) -> int:
        return any(known.holds(relation, part.answer, part.reference) for relation in relations)

    return holds


def _exactly(part: Part, known: Known) -> tuple[Fraction, Fraction] | None:
    p, g = known.exact(part.answer), known.exact(part.reference)
    return None if p is None or g is None else (p, g)


_is_opposite = _any(lambda p, g: (p, -g))
_is_unit = _any(lambda _, g: (g * g, 1))


def _larger(factor: int) -> Rule:
    return _any(lambda p, g: (p, g * factor))


def _smaller(factor: int) -> Rule:
    return _any(lambda p, g: (p * factor, g))


_POWERS_OF_TEN = tuple(rule for k in range(1, 10) for rule in ((k, _larger(10**k)), (-k, _smaller(10**k))))


def _power_of_ten(part: Part, known: Known) -> int:
    return next((k for k, rule in _POWERS_OF_TEN if rule(part, known)), 0)


def _by(factor: int) -> Rule:
    return lambda part, known: _larger(factor)(part, known) or _smaller(factor)(part, known)


def _negative_reciprocal(part: Part, known: Known) -> int:
    return known.holds(lambda p, g: (p * g, -1), part.answer, part.reference) and not _is_opposite(part, known)


def _off_by_one(part: Part, known: Known) -> int:
    exact = _exactly(part, known)
    if exact is not None:
        return abs(exact[0] - exact[1]) == 1 and exact[0].denominator == 1
    if not values.names(part.answer) or not values.names(part.reference):
        return 0
    return _any(lambda p, g: (p, g + 1), lambda p, g: (p + 1, g))(part, known)


def _square(part: Part, known: Known) -> int:
    return known.holds(lambda p, g: (p, g * g), part.answer, part.reference) and not _is_unit(part, known)


def _square_root(part: Part, known: Known) -> int:
    return known.holds(lambda p, g: (p * p, g), part.answer, part.reference) and not _is_unit(part, known)


def _complement(part: Part, known: Known) -> int:
    exact = _exactly(part, known)
    return exact is not None and 0 < exact[1] < 1 and exact[0] == 1 - exact[1]


def _degrees_for_radians(part: Part, known: Known) -> int:
    if _exactly(part, known):
        return 0
    return _any(lambda p, g: (p * mpmath.pi, g * 180), lambda p, g: (p * 180, g * mpmath.pi))(part, known)


_MAX_RADICALS = 4
_MAX_FLIPS = 12


def _conjugate(part: Part, known: Known) -> int:
    return _may_differ_in_terms(part, known) and any(
        _is(variant, part, known) for variant in _conjugates(part.reference, known)
    )


def _may_differ_in_terms(part: Part, known: Known) -> bool:
    """Whether the reference is more than a rational number, the variables agree, and not all signs differ."""
    if known.exact(part.reference) is not None or values.names(part.answer) != values.names(part.reference):
        return False
    return not _is_opposite(part, known)


def _conjugates(node: Node, known: Known) -> Iterator[Node]:
    if IMAGINARY_UNIT in node.walk():
        yield _replaced(node, (IMAGINARY_UNIT,))
    found = (part for part in node.walk() if part.kind == "root" and part.args[1] == number_node(Fraction(2)))
    radicals = tuple(dict.fromkeys(part for part in found if known.exact(part) is None))[:_MAX_RADICALS]
    for radical in radicals:
        yield _replaced(node, (radical,))
    if len(radicals) > 1:
        yield _replaced(node, radicals)


def _replaced(node: Node, opposites: Sequence[Node]) -> Node:
    """A node with a minus sign before each of the given parts."""
    if node in opposites:
        return negated(node)
    return Node(node.kind, tuple(_replaced(arg, opposites) for arg in node.args), node.leaf) if node.args else node


def _is(variant: Node, part: Part, known: Known) -> bool:
    return known.holds(lambda p, g: (p, g), part.answer, variant)


def _term_sign(part: Part, known: Known) -> int:
    return _may_differ_in_terms(part, known) and any(
        _is(variant, part, known) for variant in islice(_flips(part.reference), _MAX_FLIPS)
    )


def _flips(node: Node) -> Iterator[Node]:
    """All variants of an expression in which one term of one sum has the other sign."""
    if node.kind == "+":
        for at, term in enumerate(node.args):
            yield Node("+", (*node.args[:at], negated(term), *node.args[at + 1 :]))
    for at, arg in enumerate(node.args):
        for changed in _flips(arg):
            yield Node(node.kind, (*node.args[:at], changed, *node.args[at + 1 :]), node.leaf)


def _coefficient(part: Part, known: Known) -> int:
    """Whether p - g is a multiple of one term of g that has a variable and stands beside other terms."""
    terms = part.reference.args if part.reference.kind == "+" and values.names(part.reference) else ()
    if not values.names(part.answer) <= values.names(part.reference) or _is_opposite(part, known):
        return 0
    if _term_sign(part, known) or _lacks_constant(part, known):
        return 0
    gap = _difference(part.answer, part.reference)
    return any(_is_multiple(gap, term, known) for term in terms[:_MAX_FLIPS])


_CONSTANT = re.compile(r"[CcKk](?:_\{?\w{1,3}\}?)?")


def _lacks_constant(part: Part, known: Known) -> int:
    """Whether p is one member of the family g = F + C: p - F is the same number everywhere."""
    names = values.names(part.reference) - values.names(part.answer)
    letters = [term for term in part.reference.args if term.kind == "sym" and str(term.leaf) in names]
    if part.reference.kind != "+" or len(names) != 1 or len(letters) != 1:
        return 0
    if not _CONSTANT.fullmatch(str(letters[0].leaf)):
        return 0
    function = Node("+", tuple(term for term in part.reference.args if term != letters[0]))
    gap = _difference(part.answer, function)
    return bool(values.names(function)) and (_is_multiple(gap, values.ONE, known) or _is(function, part, known))


def _difference(one: Node, two: Node) -> Node:
    return Node("+", (one, Node("neg", (two,))))


def _is_multiple(node: Node, unit: Node, known: Known) -> bool:
    """Whether one expression is a number times another."""
    found = ((known.at(node, index), known.at(unit, index)) for index in range(POINTS))
    first = next(((value, divisor) for value, divisor in found if value is not None and divisor), None)
    return first is not None and known.holds(lambda p, g: (p * first[1], g * first[0]), node, unit)


def _rounding(part: Part, known: Known) -> int:
    if values.names(part.answer) or values.names(part.reference):
        return 0
    exact = _exactly(part, known)
    if exact is not None:
        return is_rounded(*exact, is_decimal(part.answer))
    p, g = known.at(part.answer, 0), known.at(part.reference, 0)
    if p is None or g is None:
        return 0
    with mp.workprec(BITS):
        unit = last_place(known.exact(part.answer)) if is_decimal(part.answer) else None
        return bool(abs(p - g) * 100 < abs(g) or (unit is not None and abs(p - g) < values.as_number(unit)))


_VALUE_RULES: tuple[tuple[Code, Rule, str], ...] = (
    (Code.SIGN, _is_opposite, "{p} is minus {g}"),
    (Code.PERCENT, _by(100), "{p} is 100 times or a hundredth of {g}"),
    (Code.POWER10, _power_of_ten, "{p} is {g} · 10^{k}"),
    (Code.RECIPROCAL, _any(lambda p, g: (p * g, 1)), "{p} is 1 divided by {g}"),
    (Code.NEGATIVE_RECIPROCAL, _negative_reciprocal, "{p} is -1 divided by {g}"),
    (Code.OFF_BY_ONE, _off_by_one, "{p} is one more or one less than {g}"),
    (Code.FACTOR_TWO, _by(2), "{p} is twice or half of {g}"),
    (Code.SQUARE, _square, "{p} is the square of {g}"),
    (Code.SQUARE_ROOT, _square_root, "{p} is a square root of {g}"),
    (Code.COMPLEMENT, _complement, "{p} is 1 - {g}"),
    (Code.DEG_RAD, _degrees_for_radians, "{p} is {g} with degrees taken for radians or the reverse"),
    (Code.CONJUGATE, _conjugate, "{p} is conjugate to {g}"),
    (Code.TERM_SIGN, _term_sign, "{p} has the other sign at one term of {g}"),
    (Code.COEFFICIENT, _coefficient, "{p} differs in one coefficient from {g}"),
    (Code.CONSTANT_OF_INTEGRATION, _lacks_constant, "{p} has no constant of integration"),
    (Code.ROUNDING, _rounding, "{p} is near {g}"),
)


def of_values(case: Case) -> Iterator[Pattern]:
    """Apply the rules for two values to all parts that differ."""
    explained: set[int] = set()
    for code, rule, text in _VALUE_RULES:
        for at, part in enumerate(case.differences.parts):
            if code is Code.ROUNDING and at in explained:
                continue
            try:
                k = rule(part, case.values)
            except (NoValue, TooComplex):
                continue
            if k:
                explained.add(at)
                detail = text.format(p=value_text(part.answer), g=value_text(part.reference), k=int(k))
                yield Pattern(code, f"{part.place}: {detail}" if part.place else detail)
                break
