r"""Reads numbers of combinations and arrangements: `{}_5C_2`, `^5P_2`, and what `C_5^2` may mean."""

from fractions import Fraction

from verifiers.math.reader.levels import Levels
from verifiers.math.tree import Node, Unreadable

_MAX_ARGUMENT = 4_000


def read_count(reader: Levels) -> Node:
    """Read a letter with a raised or lowered number before it and behind it."""
    total = _index(reader)
    letter = reader.next()
    if letter.kind != "id" or letter.value not in ("C", "P", "A"):
        raise Unreadable("an index without a base")
    chosen = _index(reader)
    node = count(letter.value, total, chosen)
    if node is None and letter.value == "C":
        node = reader.node("binom", total, chosen)
    if node is None:
        raise Unreadable("no count of arrangements")
    return node


def _index(reader: Levels) -> Node:
    if not (reader.take("_") or reader.take("^")):
        raise Unreadable("an index is expected")
    return reader.nested(reader.argument)


def count(letter: str, total: Node, chosen: Node) -> Node | None:
    """The number of ways to choose (C), or to choose and arrange (A, P); None unless both are small numbers."""
    n, k = total.leaf, chosen.leaf
    if not (isinstance(n, Fraction) and isinstance(k, Fraction)) or n.denominator != 1 or k.denominator != 1:
        return None
    if not 0 <= k <= n <= _MAX_ARGUMENT:
        return None
    choices = Node("binom", (total, chosen))
    return choices if letter == "C" else Node("*", (choices, Node("!", (chosen,))))
