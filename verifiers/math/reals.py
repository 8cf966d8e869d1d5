r"""Reads sets of reals from intervals, inequalities and set notation, and brings them into one form.

    (-\infty, 2) \cup (2, \infty)     x \ne 2     \mathbb{R} \setminus \{2\}     x < 2 \text{ or } x > 2

all become the same two pieces: disjoint, in order, each as long as possible. If an endpoint is not a constant (`x > a`),
the pieces cannot be sorted or joined, and stay as they were written.

"or" and ∪ unite; "and" and ∩ intersect; inequalities with commas between them hold together (`x > 1, x < 3`), unless
that set is empty: then they are the cases of a solution (`x < 1, x > 3`). Of `{element | condition}` only a bare
variable, or one from the reals, makes a set of reals; sets of integers are in `integers`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key

from verifiers.math import values
from verifiers.math.tree import Node, show
from verifiers.math.values import NoValue

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
PAIRS = ("paren", "bracket", "co", "oc")
_MAX_PIECES = 64


@dataclass(frozen=True, slots=True)
class Piece:
    """One interval of a set of reals; a point is closed on both sides."""

    low: Node
    high: Node
    low_open: bool
    high_open: bool


@dataclass(frozen=True, slots=True)
class Reals:
    """A set of reals, and the variable of its inequalities; None if there is no variable or it is bound."""

    pieces: tuple[Piece, ...]
    variable: str | None = None


def reals(node: Node) -> Reals | None:
    """The set of reals that a node describes; None if it describes none. A pair `(a, b)` is an interval."""
    described = _read(node)
    if described is None:
        return None
    try:
        return Reals(united(described.pieces), described.variable)
    except NoValue:
        return described


INFINITY = Node("const", leaf="infty")
MINUS_INFINITY = Node("neg", (INFINITY,))
ALL = (Piece(MINUS_INFINITY, INFINITY, True, True),)
_POSITIVE = (Piece(values.ZERO, INFINITY, True, True),)
_NEGATIVE = (Piece(MINUS_INFINITY, values.ZERO, True, True),)
_NAMED = {
    "mathbb R": ALL,
    **dict.fromkeys(("mathbb R^+", "mathbb R_+", "mathbb R_>0", "mathbb R_++"), _POSITIVE),
    **dict.fromkeys(("mathbb R^-", "mathbb R_-", "mathbb R_<0"), _NEGATIVE),
}


def _read(node: Node) -> Reals | None:
    reader = _READERS.get(node.kind)
    if reader is not None and node.kind in _CONDITIONS:
        node = Node(node.kind, tuple(_as_name(arg) for arg in node.args), node.leaf)
    return None if reader is None else reader(node)


_CONDITIONS = (*FLIPPED, "!=", "chain", "in")


def _as_name(node: Node) -> Node:
    """A condition with a function's value as one name: the f(x) of `0 < f(x) < 1`."""
    is_value = node.kind == "apply" and str(node.leaf).isalpha() and all(arg.kind == "sym" for arg in node.args)
    return Node("sym", leaf=show(node)) if is_value else node


def _line(node: Node) -> Reals | None:
    pieces = _NAMED.get(str(node.leaf))
    return None if pieces is None else Reals(pieces)


def _nonzero(node: Node) -> Reals | None:
    r"""Read `\mathbb{R}^*`: all reals but 0."""
    if node.leaf not in ("^*", "^ast", "^star") or node.args[0] != Node("sym", leaf="mathbb R"):
        return None
    return Reals((*_NAMED["mathbb R^-"], *_NAMED["mathbb R^+"]))


def _interval(node: Node) -> Reals | None:
    if len(node.args) != 2:
        return None
    return Reals((Piece(*node.args, node.kind in ("paren", "oc"), node.kind in ("paren", "co")),))


def _union(node: Node) -> Reals | None:
    sets = [_part(arg, node.kind == "union") for arg in node.args]
    readable = [part for part in sets if part is not None]
    if len(readable) < len(sets) or len({part.variable for part in readable}) != 1:
        return None
    pairs = [part.pieces[0] for arg, part in zip(node.args, readable, strict=True) if arg.kind in PAIRS]
    if _has_point(pairs, node.kind == "or"):
        return None
    return Reals(tuple(piece for part in readable for piece in part.pieces), readable[0].variable)


def _has_point(pairs: Sequence[Piece], is_choice: bool) -> bool:
    """Whether pairs are points of a plane: nobody unites with an empty interval, (6, 0), or offers one inside another as a choice."""
    try:
        return any(_is_empty(pair) for pair in pairs) or (
            is_choice and any(_within(lhs, rhs) for lhs in pairs for rhs in pairs if lhs != rhs)
        )
    except NoValue:
        return False


def _part(node: Node, of_sets: bool) -> Reals | None:
    """One set of a union, or one case of an `or`; an equation for a variable is a case, too."""
    if of_sets:
        return _points(node) if node.kind == "brace" else _read(node)
    if node.kind == "=" and node.args[0].kind == "sym" and not values.names(node.args[1]):
        return Reals((Piece(node.args[1], node.args[1], False, False),), str(node.args[0].leaf))
    return _read(node)


def _points(brace: Node) -> Reals | None:
    """The finite set {a, b} as pieces of no length."""
    if any(arg.kind in (*PAIRS, "list", "ldots") or arg.leaf == "ldots" for arg in brace.args):
        return None
    return Reals(tuple(Piece(arg, arg, False, False) for arg in brace.args))


def _intersection(node: Node) -> Reals | None:
    return _held_together([_read(arg) for arg in node.args])


def _held_together(sets: Sequence[Reals | None]) -> Reals | None:
    readable = [part for part in sets if part is not None]
    if len(readable) < len(sets) or len({part.variable for part in readable} - {None}) > 1:
        return None
    variable = next((part.variable for part in readable if part.variable is not None), None)
    try:
        pieces = united(readable[0].pieces)
        for part in readable[1:]:
            pieces = complement(united((*complement(pieces), *complement(united(part.pieces)))))
    except NoValue:
        return None
    return Reals(pieces, variable)


def _difference(node: Node) -> Reals | None:
    minuend, subtrahend = node.args
    lhs, rhs = _read(minuend), _points(subtrahend) if subtrahend.kind == "brace" else _read(subtrahend)
    if lhs is None or rhs is None:
        return None
    try:
        return _held_together([lhs, Reals(complement(united(rhs.pieces)))])
    except NoValue:
        return None


def _such_that(node: Node) -> Reals | None:
    r"""Read {x | condition} and {x \in \mathbb{R} | condition} as the set of all x that meet the condition.

    The variable is bound, so its name does not count. Any other element before the bar ({2x | …}, x from other sets) is
    not read.
    """
    element, condition = node.args
    pieces: tuple[Piece, ...] = ALL
    if element.kind == "in":
        element, domain = element.args
        base = _read(domain) if domain.kind == "sym" else None
        if base is None:
            return None
        pieces = base.pieces
    cond = _read(condition)
    if cond is None or element.kind != "sym" or cond.variable != element.leaf:
        return None
    return Reals(cond.pieces) if pieces == ALL else _held_together([Reals(pieces), Reals(cond.pieces)])


def _membership(node: Node) -> Reals | None:
    name, set_node = node.args
    members = _points(set_node) if set_node.kind == "brace" else _read(set_node)
    return None if members is None or name.kind != "sym" else Reals(members.pieces, str(name.leaf))


def _comma(node: Node) -> Reals | None:
    """Conditions on one variable, with commas or `and` between them; `and` always means that all of them hold."""
    if not all(arg.kind in (*FLIPPED, "!=", "chain", "in") for arg in node.args):
        return None
    condition_sets = [_read(arg) for arg in node.args]
    together = _held_together(condition_sets)
    if node.leaf == "and" or together is None or together.pieces:
        return together
    if len({part.variable for part in condition_sets if part}) != 1:
        return together
    return Reals(tuple(piece for part in condition_sets if part for piece in part.pieces), together.variable)


def _unequal(node: Node) -> Reals | None:
    name, value = node.args if node.args[0].kind == "sym" else node.args[::-1]
    if name.kind != "sym" or values.names(value):
        return None
    return Reals((Piece(MINUS_INFINITY, value, True, True), Piece(value, INFINITY, True, True)), str(name.leaf))


def _inequality(node: Node) -> Reals | None:
    """Read x > a, |x - a| < b and the like, with one name for the variable."""
    lhs, rhs = node.args
    operator = node.kind
    if not _has_variable(lhs):
        lhs, rhs, operator = rhs, lhs, FLIPPED[operator]
    is_open = operator in ("<", ">")
    if lhs.kind == "abs":
        return _distance(lhs.args[0], rhs, operator)
    if lhs.kind != "sym" or not lhs.leaf or str(lhs.leaf) in values.names(rhs):
        return None
    if operator[0] == "<":
        return Reals((Piece(MINUS_INFINITY, rhs, True, is_open),), str(lhs.leaf))
    return Reals((Piece(rhs, INFINITY, is_open, True),), str(lhs.leaf))


def _has_variable(node: Node) -> bool:
    return node.kind == "sym" or (node.kind == "abs" and bool(values.names(node)))


def _distance(inside: Node, bound: Node, operator: str) -> Reals | None:
    """Read |x - a| < b as the interval around a, and |x - a| > b as the reals outside of it."""
    name, centre = _centre(inside)
    if name is None or values.names(bound):
        return None
    low, high = Node("+", (centre, Node("neg", (bound,)))), Node("+", (centre, bound))
    is_open = operator in ("<", ">")
    if operator[0] == "<":
        return Reals((Piece(low, high, is_open, is_open),), name)
    return Reals((Piece(MINUS_INFINITY, low, True, is_open), Piece(high, INFINITY, is_open, True)), name)


def _centre(inside: Node) -> tuple[str | None, Node]:
    """The variable and a of x, x + a', x - a or a - x; a is a constant."""
    if inside.kind == "sym":
        return str(inside.leaf), values.ZERO
    if inside.kind != "+" or len(inside.args) != 2:
        return None, values.ZERO
    for name, constant in (inside.args, inside.args[::-1]):
        is_minus = name.kind == "neg" and name.args[0].kind == "sym"
        if (name.kind == "sym" or is_minus) and not values.names(constant):
            centre = constant if is_minus else Node("neg", (constant,))
            return str((name.args[0] if is_minus else name).leaf), centre
    return None, values.ZERO


def _chain(node: Node) -> Reals | None:
    """Read a < x <= b, with the variable, or a distance |x - a|, in the middle."""
    if len(node.args) != 3 or not _has_variable(node.args[1]):
        return None
    first, second = str(node.leaf).split()
    low, middle, high = node.args
    if first not in FLIPPED or second not in FLIPPED or first[0] != second[0]:
        return None
    if middle.kind == "abs":
        return _held_together([_inequality(Node(first, (low, middle))), _inequality(Node(second, (middle, high)))])
    if str(middle.leaf) in values.names(low) | values.names(high):
        return None
    if first[0] == ">":
        first, second, low, high = FLIPPED[second], FLIPPED[first], high, low
    return Reals((Piece(low, high, first == "<", second == "<"),), str(middle.leaf))


_READERS: dict[str, Callable[[Node], Reals | None]] = {
    "sym": _line, "apply": _nonzero, "union": _union, "or": _union, "cap": _intersection, "setminus": _difference,
    "suchthat": _such_that, "in": _membership, "list": _comma, "!=": _unequal, "chain": _chain,
    **dict.fromkeys(PAIRS, _interval), **dict.fromkeys(FLIPPED, _inequality),
}  # fmt: skip


# --- sets with constant endpoints


def united(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The same set as disjoint pieces in order, joined where they meet.

    Raises:
        NoValue: an endpoint is not a real constant or infinity.
    """
    if len(pieces) > _MAX_PIECES:
        raise NoValue("too many pieces")
    real = [piece for piece in pieces if not _is_empty(piece)]
    real.sort(key=cmp_to_key(lambda a, b: values.order(a.low, b.low) or a.low_open - b.low_open))
    joined: list[Piece] = []
    for piece in real:
        if joined and _meet(joined[-1], piece):
            joined[-1] = _join(joined[-1], piece)
        else:
            joined.append(piece)
    return tuple(joined)


def _is_empty(piece: Piece) -> bool:
    sign = values.order(piece.low, piece.high)
    return sign > 0 or (sign == 0 and (piece.low_open or piece.high_open))


def _meet(lhs: Piece, rhs: Piece) -> bool:
    gap = values.order(rhs.low, lhs.high)
    return gap < 0 or (gap == 0 and not (lhs.high_open and rhs.low_open))


def _within(inner: Piece, outer: Piece) -> bool:
    low, high = values.order(inner.low, outer.low), values.order(inner.high, outer.high)
    return (low > 0 or (low == 0 and outer.low_open <= inner.low_open)) and (
        high < 0 or (high == 0 and outer.high_open <= inner.high_open)
    )


def _join(lhs: Piece, rhs: Piece) -> Piece:
    order = values.order(lhs.high, rhs.high)
    if order > 0:
        return lhs
    high_open = rhs.high_open if order else lhs.high_open and rhs.high_open
    return Piece(lhs.low, rhs.high, lhs.low_open, high_open)


def complement(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """All reals that are in none of the pieces, which are disjoint and in order."""
    low, low_open = MINUS_INFINITY, True
    gaps: list[Piece] = []
    for piece in pieces:
        gaps.append(Piece(low, piece.low, low_open, not piece.low_open))
        low, low_open = piece.high, not piece.high_open
    gaps.append(Piece(low, INFINITY, low_open, True))
    return tuple(gap for gap in gaps if not _is_empty(gap) and gap.low != INFINITY and gap.high != MINUS_INFINITY)
