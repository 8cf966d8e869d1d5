r"""Reads sets of integers from inequalities over \mathbb{Z} and \mathbb{N}, and brings them into one form.

    {x \in \mathbb{Z} | 0 < x < 4}     {x \in \mathbb{N} | x \le 3}     {1, 2, 3}

are all spans of consecutive integers. Whether \mathbb{N} begins with 0 or with 1 differs by country and by book; such a
set has two readings if 0 makes a difference.
"""

import math
from collections.abc import Sequence

from verifiers.math import values
from verifiers.math.reals import Piece, reals
from verifiers.math.tree import Node, TooComplex, infinite, number
from verifiers.math.values import NoValue

Span = tuple[int | None, int | None]
"""The first and the last integer of a span; None if it has no such end."""
_MAX_LISTED = 200

_LOWEST: dict[str, tuple[int | None, ...]] = {
    "mathbb Z": (None,), "Z": (None,), "mathbf Z": (None,), "mathbb N": (1, 0), "N": (1, 0), "mathbf N": (1, 0),
    "mathbb Z^+": (1,), "mathbb Z_+": (1,), "mathbb N^+": (1,), "mathbb N_+": (1,), "mathbb N^*": (1,),
    "mathbb Z_>0": (1,), "mathbb N_0": (0,),
}  # fmt: skip


def is_number_set(node: Node) -> bool:
    """Whether a node names the set of all integers, natural numbers or reals."""
    return _set_name(node) in _LOWEST or _set_name(node) in ("mathbb R", "R", "mathbf R")


def integers(node: Node) -> tuple[tuple[Span, ...], ...]:
    """The set of integers that a node describes: ordered spans, once for each reading; empty if it describes none."""
    if node.kind == "sym" and str(node.leaf).startswith("mathbb"):
        lowest = _LOWEST.get(_set_name(node), ())
        return tuple(((low, None),) for low in lowest)
    if node.kind == "in" and node.args[0].kind == "sym":
        return integers(node.args[1])
    if node.kind != "suchthat" or node.args[0].kind != "in":
        return ()
    name, domain = node.args[0].args
    condition_set = reals(node.args[1])
    if condition_set is None or condition_set.variable != name.leaf or name.kind != "sym":
        return ()
    try:
        spans = [span for piece in condition_set.pieces if (span := _span(piece)) is not None]
    except (NoValue, TooComplex):
        return ()
    return tuple(dict.fromkeys(_from(spans, low) for low in _LOWEST.get(_set_name(domain), ())))


def listed(spans: Sequence[Span]) -> Node | None:
    """A finite set written out; None when it is infinite or large."""
    elements: list[Node] = []
    for low, high in spans:
        if low is None or high is None or len(elements) + high - low > _MAX_LISTED:
            return None
        elements += [number(value) for value in range(low, high + 1)]
    return Node("brace", tuple(elements)) if elements else Node("sym", leaf="emptyset")


def _set_name(node: Node) -> str:
    if node.kind == "apply" and node.leaf == "^*" and node.args[0].kind == "sym":
        return f"{node.args[0].leaf}^*"
    return str(node.leaf) if node.kind == "sym" else ""


def _span(piece: Piece) -> Span | None:
    """The integers in an interval; None when there are none."""
    low = None if infinite(piece.low) else _ceiling(piece.low, piece.low_open)
    high = None if infinite(piece.high) else -_ceiling(Node("neg", (piece.high,)), piece.high_open)
    return None if low is not None and high is not None and low > high else (low, high)


def _ceiling(node: Node, is_strict: bool) -> int:
    """The least integer that is not below a value; `is_strict`: the least that is above it.

    Raises:
        NoValue: the value is not a constant, or too near to an integer to tell.
    """
    value = values.exact(node)
    if value is not None:
        return math.floor(value) + 1 if is_strict else math.ceil(value)
    near = values.approximate(node)
    if not math.isfinite(near) or abs(near - round(near)) < 1e-6 * max(1.0, abs(near)):
        raise NoValue("too near to an integer to tell which one it is")
    return math.ceil(near)


def _from(spans: Sequence[Span], lowest: int | None) -> tuple[Span, ...]:
    """The spans from an integer on, joined where they follow each other."""
    joined: list[Span] = []
    for low, high in spans:
        if lowest is not None:
            if high is not None and high < lowest:
                continue
            low = lowest if low is None else max(low, lowest)
        if joined and joined[-1][1] is not None and low == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)
