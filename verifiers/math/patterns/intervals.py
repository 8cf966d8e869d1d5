"""Finds how sets of reals differ: in an endpoint, in open or closed ends, or in direction."""

from collections.abc import Iterator, Sequence

from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.known import Known, is_infinite
from verifiers.math.patterns.parts import LISTS, MAX_ELEMENTS, MAX_PARTS, OTHERWISE, Differences, Part
from verifiers.math.patterns.wording import value_text
from verifiers.math.reals import PAIRS, Piece, Reals, reals
from verifiers.math.tree import Node, TooComplex

_SETS = (*PAIRS, "union", "cap", "setminus", "suchthat", "in", "!=", "<", ">", "<=", ">=", "chain")


def as_reals(reference: Node, answer: Node, known: Known) -> tuple[Reals, Reals] | None:
    """Both sides as sets of reals; None for two plain pairs, or if a number is not small."""
    is_written_so = any(part.kind in _SETS for node in (reference, answer) for part in (node, *node.args))
    if not is_written_so or reference.kind == answer.kind == "paren":
        return None
    if not all(_is_small(part, known) for node in (reference, answer) for part in _ends_of(node)):
        return None
    left, right = reals(reference), reals(answer)
    return (left, right) if left and right and left.pieces and right.pieces else None


def _ends_of(node: Node) -> Iterator[Node]:
    """The endpoints of a set: the parts between its brackets and signs."""
    if node.kind not in (*_SETS, *LISTS):
        yield node
    elif len(node.args) > MAX_ELEMENTS:
        raise TooComplex("too many elements for a diagnosis")
    else:
        for arg in node.args:
            yield from _ends_of(arg)


def _is_small(node: Node, known: Known) -> bool:
    return is_infinite(node) or known.exact(node) is not None or known.at(node, 0) is not None


def of_reals(reference: Reals, answer: Reals, known: Known) -> Differences | None:
    """How two sets of reals differ; None when they do not."""
    left, right = reference.pieces, answer.pieces
    missing = [piece for piece in left if not any(_is_same_piece(piece, other, known) for other in right)]
    extra = [piece for piece in right if not any(_is_same_piece(other, piece, known) for other in left)]
    if not missing and not extra:
        return None
    if len(left) == len(right):
        return Differences(patterns=[_TURNED]) if _is_turned(left[0], right[0], known) else _ends(left, right, known)
    if missing and extra and len(missing) == len(left):
        return OTHERWISE
    return Differences((), [_interval(piece) for piece in missing], [_interval(piece) for piece in extra])


def _ends(left: Sequence[Piece], right: Sequence[Piece], known: Known) -> Differences:
    """The differences between as many intervals on both sides."""
    ends = [
        Part(p, g, "an end of an interval")
        for one, two in zip(left, right, strict=True)
        for g, p in ((one.low, two.low), (one.high, two.high))
        if not known.same(p, g)
    ]
    return Differences(ends[:MAX_PARTS]) if ends else Differences(patterns=[_OTHER_END])


def _is_same_piece(one: Piece, two: Piece, known: Known) -> bool:
    is_alike = (one.low_open, one.high_open) == (two.low_open, two.high_open)
    return is_alike and known.same(two.low, one.low) and known.same(two.high, one.high)


def _is_turned(one: Piece, two: Piece, known: Known) -> bool:
    """Whether two rays go from one point in opposite directions."""
    if is_infinite(one.high) and is_infinite(two.low):
        return not is_infinite(one.low) and not is_infinite(two.high) and known.same(two.high, one.low)
    if is_infinite(one.low) and is_infinite(two.high):
        return not is_infinite(one.high) and not is_infinite(two.low) and known.same(two.low, one.high)
    return False


_OTHER_END = Pattern(Code.INTERVAL_END, "the same endpoints, but open where they should be closed or the reverse")
_TURNED = Pattern(Code.DIRECTION, "from the same endpoint to the other side")


def _interval(piece: Piece) -> str:
    low, high = "(" if piece.low_open else "[", ")" if piece.high_open else "]"
    return f"{low}{value_text(piece.low)}, {value_text(piece.high)}{high}"
