r"""Compares functions by cases with each other and with expressions: x for x ≥ 0 and -x for x < 0 is |x|.

Both sides are cut into the intervals on which each is one expression. They are equal if they are defined on the same reals, and
equal inside each common interval and at its ends.
"""

from collections.abc import Callable, Iterator
from itertools import product

from verifiers.math import values
from verifiers.math.reals import ALL, Piece, Reals, complement, reals, united
from verifiers.math.restrictions import inside_of
from verifiers.math.tree import Node, replace_names
from verifiers.math.values import NoValue

Equal = Callable[[Node, Node], bool]
_MOST_CASES = 8
_Cut = list[tuple[Node, tuple[Piece, ...]]]
"""Expressions, each with the intervals on which it holds."""


def same_by_cases(reference: Node, answer: Node, equal: Equal) -> bool:
    """Whether two functions of one variable, of which at least one is given by cases, are equal."""
    try:
        name = _variable(reference) or _variable(answer)
        one, two = _cut(reference, name), _cut(answer, name)
        if name is None or one is None or two is None or _domain(one) != _domain(two):
            return False
        return all(
            equal(replace_names(left, {name: inside}), replace_names(right, {name: inside}))
            for (left, here), (right, there) in product(one, two)
            for inside in _insides(here, there, name)
        )
    except NoValue:
        return False


def _variable(node: Node) -> str | None:
    """The one variable that the conditions of all cases restrict; None if there are several."""
    if node.kind != "cases":
        return None
    found = [_restricted(case.args[1]) for case in node.args]
    variables = {condition.variable for condition in found if condition is not None}
    return variables.pop() if len(variables) == 1 else None


def _cut(node: Node, name: str | None) -> _Cut | None:
    """The expressions of a function with their intervals; None if a condition is not read, or if two cases overlap."""
    if node.kind != "cases":
        return [(node, ALL)]
    if len(node.args) > _MOST_CASES:
        return None
    cut: _Cut = []
    others: list[Node] = []
    for value, condition in (case.args for case in node.args):
        if condition.kind == "text" and condition.leaf == "otherwise":
            others.append(value)
            continue
        restricted = _restricted(condition)
        if restricted is None or restricted.variable != name:
            return None
        cut.append((value, united(restricted.pieces)))
    told = _domain(cut)
    if len(others) > 1 or any(list(_common(here, there)) for at, (_, here) in enumerate(cut) for _, there in cut[:at]):
        return None
    return [*cut, *((value, complement(told)) for value in others)]


def _restricted(condition: Node) -> Reals | None:
    """The reals for which a condition holds, also for a single one: `x = 0`."""
    if condition.kind == "=" and condition.args[0].kind == "sym" and not values.names(condition.args[1]):
        value = condition.args[1]
        return Reals((Piece(value, value, False, False),), str(condition.args[0].leaf))
    return reals(condition)


def _domain(cut: _Cut) -> tuple[Piece, ...]:
    return united([piece for _, pieces in cut for piece in pieces])


def _insides(here: tuple[Piece, ...], there: tuple[Piece, ...], name: str) -> Iterator[Node]:
    """What the variable is inside each common interval, and at each end that belongs to it."""
    for piece in _common(here, there):
        if values.order(piece.low, piece.high):
            yield inside_of(piece, name)
        yield from (end for end, is_open in ((piece.low, piece.low_open), (piece.high, piece.high_open)) if not is_open)


def _common(here: tuple[Piece, ...], there: tuple[Piece, ...]) -> tuple[Piece, ...]:
    return complement(united((*complement(here), *complement(there))))
