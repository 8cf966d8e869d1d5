r"""Compares functions by cases with each other and with expressions: x for x ≥ 0 and -x for x < 0 is |x|.

Cases of a whole number (n is even) are compared remainder by remainder.

Both sides are cut into the intervals on which each is one expression. They are equal if they are defined on the same reals, and
equal inside each common interval and at its ends.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

from verifiers.math import values
from verifiers.math.reals import ALL, Piece, Reals, complement, reals, united
from verifiers.math.restrictions import inside_of
from verifiers.math.tree import Node, number, replace_names
from verifiers.math.values import NoValue
from verifiers.math.values.rational import exact_or_none

Equal = Callable[[Node, Node], bool]
_MOST_CASES = 8
_Cut = list[tuple[Node, tuple[Piece, ...]]]
"""Expressions, each with the intervals on which it holds."""


def same_by_cases(reference: Node, answer: Node, equal: Equal) -> bool:
    """Whether two functions of one variable, of which at least one is given by cases, are equal."""
    try:
        if (modulus := _modulus(reference, answer)) is not None:
            return _same_by_remainders(reference, answer, modulus, equal)
        name = _variable(reference) or _variable(answer)
        reference_cut, answer_cut = _cut(reference, name), _cut(answer, name)
        if name is None or reference_cut is None or answer_cut is None or _domain(reference_cut) != _domain(answer_cut):
            return False
        return all(
            equal(replace_names(lhs, {name: inside}), replace_names(rhs, {name: inside}))
            for (lhs, domain), (rhs, answer_domain) in product(reference_cut, answer_cut)
            for inside in _insides(domain, answer_domain, name)
        )
    except NoValue:
        return False


def _modulus(*nodes: Node) -> int | None:
    """A common multiple of the moduli of all cases, if these are told by remainders of one letter."""
    conditions = [case.args[1] for node in nodes if node.kind == "cases" for case in node.args]
    classes = [_class(condition) for condition in conditions if condition != _OTHERWISE]
    if not classes or None in classes or len({of[0] for of in classes if of}) > 1:
        return None
    common = math.lcm(*(of[2] for of in classes if of))
    return common if common <= _LARGEST_MODULUS else None


def _class(condition: Node) -> tuple[str, int, int] | None:
    r"""The letter, the remainder and the modulus of a condition: n \equiv 1 (mod 2), 2 \mid n."""
    match condition:
        case Node("cong", (Node("sym", _, letter), remainder, modulus)):
            parts = exact_or_none(remainder), exact_or_none(modulus)
        case Node("divides", (modulus, Node("sym", _, letter))):
            parts = Fraction(0), exact_or_none(modulus)
        case _:
            return None
    numbers = [int(part) for part in parts if part is not None and part.denominator == 1]
    return (str(letter), numbers[0] % numbers[1], numbers[1]) if len(numbers) == 2 and numbers[1] > 0 else None


def _same_by_remainders(reference: Node, answer: Node, modulus: int, equal: Equal) -> bool:
    """Whether two functions of a whole number have equal values for each remainder."""
    conditions = (case.args[1] for node in (reference, answer) if node.kind == "cases" for case in node.args)
    name = next(of[0] for condition in conditions if (of := _class(condition)))
    for remainder in range(modulus):
        whole = Node("+", (Node("*", (number(modulus), Node("sym", leaf=name))), number(remainder)))
        sides = [_for_remainder(node, remainder) for node in (reference, answer)]
        if None in sides and sides != [None, None]:
            return False
        lhs, rhs = (None if side is None else replace_names(side, {name: whole}) for side in sides)
        if lhs is not None and rhs is not None and not equal(lhs, rhs):
            return False
    return True


def _for_remainder(node: Node, remainder: int) -> Node | None:
    """The expression that a function has for a remainder; None where it has none."""
    if node.kind != "cases":
        return node
    otherwise: Node | None = None
    for value, condition in (case.args for case in node.args):
        if condition == _OTHERWISE:
            otherwise = value
        elif (of := _class(condition)) and remainder % of[2] == of[1]:
            return value
    return otherwise


_OTHERWISE = Node("text", leaf="otherwise")
_LARGEST_MODULUS = 12


def _variable(node: Node) -> str | None:
    """The one variable that the conditions of all cases restrict; None if there are several."""
    if node.kind != "cases":
        return None
    restrictions = [_restricted(case.args[1]) for case in node.args]
    variables = {condition.variable for condition in restrictions if condition is not None}
    return variables.pop() if len(variables) == 1 else None


def _cut(node: Node, name: str | None) -> _Cut | None:
    """The expressions of a function with their intervals; None if a condition is not read, or if two cases overlap."""
    if node.kind != "cases":
        return [(node, ALL)]
    if len(node.args) > _MOST_CASES:
        return None
    cut: _Cut = []
    defaults: list[Node] = []
    for value, condition in (case.args for case in node.args):
        if condition == _OTHERWISE:
            defaults.append(value)
            continue
        restricted = _restricted(condition)
        if restricted is None or restricted.variable != name:
            return None
        cut.append((value, united(restricted.pieces)))
    domain = _domain(cut)
    if len(defaults) > 1 or any(
        list(_common(pieces, taken_before)) for at, (_, pieces) in enumerate(cut) for _, taken_before in cut[:at]
    ):
        return None
    return [*cut, *((value, complement(domain)) for value in defaults)]


def _restricted(condition: Node) -> Reals | None:
    """The reals for which a condition holds, also for a single one: `x = 0`."""
    if condition.kind == "=" and condition.args[0].kind == "sym" and not values.names(condition.args[1]):
        value = condition.args[1]
        return Reals((Piece(value, value, False, False),), str(condition.args[0].leaf))
    return reals(condition)


def _domain(cut: _Cut) -> tuple[Piece, ...]:
    return united([piece for _, pieces in cut for piece in pieces])


def _insides(pieces: tuple[Piece, ...], other_pieces: tuple[Piece, ...], name: str) -> Iterator[Node]:
    """What the variable is inside each common interval, and at each end that belongs to it."""
    for piece in _common(pieces, other_pieces):
        if values.order(piece.low, piece.high):
            yield inside_of(piece, name)
        yield from (end for end, is_open in ((piece.low, piece.low_open), (piece.high, piece.high_open)) if not is_open)


def _common(pieces: tuple[Piece, ...], other_pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    return complement(united((*complement(pieces), *complement(other_pieces))))
