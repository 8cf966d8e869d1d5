"""Takes two answers apart: the values without units and names, and the places where they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from verifiers.math import units
from verifiers.math.patterns.codes import Pattern
from verifiers.math.tree import Node

LISTS = ("list", "or", "brace")
"""Kinds of nodes whose elements may be in any order."""
ROWS = ("paren", "bracket", "co", "oc", "matrix", "matrixv", "matrixB", "matrixV", "ratio")
"""Kinds of nodes whose elements have fixed places."""
EMPTY_SET = Node("sym", leaf="emptyset")
"""The empty set."""
MAX_ELEMENTS = 24
"""Longer lists get no diagnosis."""
MAX_PARTS = 8
"""At most this many differing parts are checked."""


@dataclass(frozen=True, slots=True)
class Part:
    """Two values that stand in the same place and differ."""

    answer: Node
    reference: Node
    place: str = ""
    """The place of the part; empty if it is the whole answer."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between two answers, without their units."""

    parts: Sequence[Part] = ()
    missing: Sequence[str] = ()
    extra: Sequence[str] = ()
    patterns: Sequence[Pattern] = ()
    """Patterns of the whole answer rather than of a part."""


OTHERWISE = Differences()
"""The two differ, and nothing more is known."""


def canonical(node: Node) -> Node:
    """A node without conditions, with ± as a list of two, degrees as a unit, and A(1, 2) as the point (1, 2)."""
    if node.kind == "where":
        node = node.args[0]
    if node.kind in LISTS:
        return Node(node.kind, tuple(part for item in node.args for part in _alternatives(item)))
    readings = _alternatives(node)
    if len(readings) > 1:
        return Node("list", readings)
    if node.kind == "deg":
        return Node("quantity", node.args, "degree")
    is_point = node.kind == "apply" and len(node.args) == 1 and node.args[0].kind == "list"
    return Node("paren", node.args[0].args) if is_point and str(node.leaf)[:1].isupper() else node


def _alternatives(node: Node) -> tuple[Node, ...]:
    if not any(part.kind in ("pm", "mp") for part in node.walk()):
        return (node,)
    return _with_signs(node, True), _with_signs(node, False)


def _with_signs(node: Node, upper: bool) -> Node:
    args = tuple(_with_signs(arg, upper) for arg in node.args)
    if node.kind not in ("pm", "mp"):
        return Node(node.kind, args, node.leaf)
    return Node("+", (args[0], args[1] if upper == (node.kind == "pm") else negated(args[1])))


def without_name(reference: Node, answer: Node) -> tuple[Node, Node]:
    """The values of assignments to one name, or of one beside a bare value; of equations, the sides that differ."""
    lhs, rhs = reference.kind == "=", answer.kind == "="
    if lhs and rhs:
        if reference.args[0] == answer.args[0]:
            return reference.args[1], answer.args[1]
        return (reference.args[0], answer.args[0]) if reference.args[1] == answer.args[1] else (reference, answer)
    if lhs and reference.args[0].kind in ("sym", "apply"):
        return reference.args[1], answer
    if rhs and answer.args[0].kind in ("sym", "apply"):
        return reference, answer.args[1]
    return reference, answer


def unit_and_value(node: Node) -> tuple[str | None, Node]:
    """A quantity's unit, and its value."""
    if node.kind == "deg":
        return "degree", node.args[0]
    if node.kind != "quantity":
        return None, node
    return units.key(str(node.leaf)) or str(node.leaf), node.args[0]


def number_node(value: Fraction) -> Node:
    """The node of a number."""
    return Node("num", leaf=value)


def negated(node: Node) -> Node:
    """A node with the opposite sign."""
    return node.args[0] if node.kind == "neg" else Node("neg", (node,))
