"""Finds how sets of reals differ: in an endpoint, in open or closed ends, or in direction."""

from collections.abc import Iterator, Sequence

from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.known import Known, is_infinite
from verifiers.math.patterns.parts import LISTS, MAX_ELEMENTS, MAX_PARTS, OTHERWISE, Differences, Part
from verifiers.math.patterns.wording import value_text
from verifiers.math.reals import PAIRS, Piece, Reals, reals
from verifiers.math.tree import Node, TooComplex

_SETS = (*PAIRS, "union", "cap", "setminus", "suchthat", "in", "!=", "<", ">", "<=", ">=", "chain")


def as_reals(reference: Node, answer: Node, values: Known) -> tuple[Reals, Reals] | None:
    """Both sides as sets of reals; None for two plain pairs, or if a number is not small."""
    is_written_so = any(part.kind in _SETS for node in (reference, answer) for part in (node, *node.args))
    if not is_written_so or reference.kind == answer.kind == "paren":
        return None
    if not all(_is_small(part, values) for node in (reference, answer) for part in _ends_of(node)):
        return None
    lhs, rhs = reals(reference), reals(answer)
    return (lhs, rhs) if lhs and rhs and lhs.pieces and rhs.pieces else None


def _ends_of(node: Node) -> Iterator[Node]:
    """The endpoints of a set: the parts between its brackets and signs."""
    if node.kind not in (*_SETS, *LISTS):
        yield node
    elif len(node.args) > MAX_ELEMENTS:
        raise TooComplex("too many elements for a diagnosis")
    else:
        for arg in node.args:
            yield from _ends_of(arg)


def _is_small(node: Node, values: Known) -> bool:
    return is_infinite(node) or values.exact(node) is not None or values.at(node, 0) is not None


def of_reals(reference: Reals, answer: Reals, values: Known) -> Differences | None:
    """How two sets of reals differ; None when they do not."""
    lhs, rhs = reference.pieces, answer.pieces
    missing = [piece for piece in lhs if not any(_is_same_piece(piece, candidate, values) for candidate in rhs)]
    extra = [piece for piece in rhs if not any(_is_same_piece(candidate, piece, values) for candidate in lhs)]
    if not missing and not extra:
        return None
    if len(lhs) == len(rhs):
        return Differences(patterns=[_TURNED]) if _is_turned(lhs[0], rhs[0], values) else _ends(lhs, rhs, values)
    if missing and extra and len(missing) == len(lhs):
        return OTHERWISE
    return Differences((), [_interval(piece) for piece in missing], [_interval(piece) for piece in extra])


def _ends(lhs: Sequence[Piece], rhs: Sequence[Piece], values: Known) -> Differences:
    """The differences between as many intervals on both sides."""
    wrong_ends = [
        Part(p, g, "an end of an interval")
        for first, second in zip(lhs, rhs, strict=True)
        for g, p in ((first.low, second.low), (first.high, second.high))
        if not values.same(p, g)
    ]
    return Differences(wrong_ends[:MAX_PARTS]) if wrong_ends else Differences(patterns=[_OTHER_END])


def _is_same_piece(first: Piece, second: Piece, values: Known) -> bool:
    is_alike = (first.low_open, first.high_open) == (second.low_open, second.high_open)
    return is_alike and values.same(second.low, first.low) and values.same(second.high, first.high)


def _is_turned(first: Piece, second: Piece, values: Known) -> bool:
    """Whether two rays go from one point in opposite directions."""
    if is_infinite(first.high) and is_infinite(second.low):
        return not is_infinite(first.low) and not is_infinite(second.high) and values.same(second.high, first.low)
    if is_infinite(first.low) and is_infinite(second.high):
        return not is_infinite(first.high) and not is_infinite(second.low) and values.same(second.low, first.high)
    return False


_OTHER_END = Pattern(Code.INTERVAL_END, "the same endpoints, but open where they should be closed or the reverse")
_TURNED = Pattern(Code.DIRECTION, "from the same endpoint to the other side")


def _interval(piece: Piece) -> str:
    low, high = "(" if piece.low_open else "[", ")" if piece.high_open else "]"
    return f"{low}{value_text(piece.low)}, {value_text(piece.high)}{high}"
