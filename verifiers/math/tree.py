"""The result of reading an answer: a tree of nodes, or one of two refusals."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import msgspec


class Unreadable(Exception):
    """The text is not mathematics that the reader knows."""


class TooComplex(Exception):
    """The text or its value is beyond the limits."""


class Undecided(TooComplex):
    """No available method decides whether two expressions are equal; neither of them need be large."""


Leaf = Fraction | str | int | None


class Node(msgspec.Struct, frozen=True, cache_hash=True):
    """One part of an answer that was read; equal nodes were written alike, up to spacing and synonyms."""

    kind: str
    args: tuple["Node", ...] = ()
    leaf: Leaf = None
    depth: int = 1
    """How many levels the node has; it follows from the other fields."""

    def __post_init__(self) -> None:
        if self.args:
            msgspec.structs.force_setattr(self, "depth", 1 + max(arg.depth for arg in self.args))

    def walk(self) -> Iterator["Node"]:
        """The node and all nodes below it; each before its own parts."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            if node.args:
                waiting += node.args[::-1]


def number(value: Fraction | int) -> Node:
    """A number as a node."""
    size = Node("num", leaf=abs(Fraction(value)))
    return Node("neg", (size,)) if value < 0 else size


def infinite(node: Node) -> int:
    """1 for infinity, -1 for minus infinity, 0 for anything else."""
    sign, operand = (-1, node.args[0]) if node.kind == "neg" else (1, node)
    return sign if operand.kind == "const" and operand.leaf == "infty" else 0


def show(node: Node) -> str:
    """A node in prefix form, for people; a number with very many digits is shown as their count."""
    if not node.args:
        return _written(node.leaf) if node.leaf is not None else node.kind
    name = node.kind if node.leaf is None else f"{node.kind}:{node.leaf}"
    return f"{name}({', '.join(show(arg) for arg in node.args)})"


_MAX_SHOWN_BITS = 10_000


def _written(leaf: Leaf) -> str:
    if isinstance(leaf, Fraction) and max(leaf.numerator.bit_length(), leaf.denominator.bit_length()) > _MAX_SHOWN_BITS:
        return f"<{leaf.numerator.bit_length()} bits>"
    return str(leaf)


def with_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """The same node with each of its parts changed."""
    if not node.args:
        return node
    args = tuple(map(change, node.args))
    return node if args == node.args else Node(node.kind, args, node.leaf)


def replace_names(node: Node, replacements: Mapping[str, Node]) -> Node:
    """The same tree with other nodes in place of names."""
    if node.kind == "sym" and str(node.leaf) in replacements:
        return replacements[str(node.leaf)]
    return with_parts(node, lambda part: replace_names(part, replacements))
