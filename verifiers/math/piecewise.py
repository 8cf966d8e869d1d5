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
        if condition.kind == "text" and condition.leaf == "otherwise":
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
