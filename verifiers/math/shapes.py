"""Recognises the shape of an answer beside another: a point, words, letters of choices, a tuple, a family of curves."""

from collections.abc import Iterable

from verifiers.commitment.latex import split
from verifiers.math import values
from verifiers.math.members import LISTS
from verifiers.math.reals import PAIRS
from verifiers.math.tree import Node
from verifiers.math.vectors import vector
from verifiers.math.words import word_key

RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "in", "approx", "cong", "chain")
"""Kinds of nodes that are relations."""
_NO_SOLUTION = ("no solution", "empty set", "none", "no real root")
_EVERYTHING = ("all real numbers", "all real number")
TUPLES = (*PAIRS, "matrix")
"""Kinds of nodes whose elements have fixed places."""
STRUCTURES = split("union cap setminus ratio suchthat matrix matrixv matrixB matrixV text cases case")
"""Kinds of nodes that are equal if their parts are."""


def labelled_point(node: Node) -> tuple[str, Node] | None:
    """The label and the coordinates of A(1, 2); None for any other node."""
    is_capital = node.kind == "apply" and isinstance(node.leaf, str) and node.leaf[:1].isupper()
    if not is_capital or len(node.args) != 1 or node.args[0].kind != "list":
        return None
    name = str(node.leaf)
    return (name, Node("paren", node.args[0].args)) if name[1:2] in ("", "_", "'") else None


def words_of(node: Node) -> str | None:
    """The words of an answer, with one wording for some ideas; None if the answer is not words."""
    if node.kind == "in" and node.args[0].kind == "sym":
        return words_of(node.args[1])
    words = word_key(str(node.leaf)) if node.kind in ("text", "sym", "const") else None
    if words in ("emptyset", *_NO_SOLUTION):
        return "no solution"
    if words == "infinity":
        return "infty"
    if words in ("mathbb r", *_EVERYTHING):
        return "all real numbers"
    return "all integers" if words == "mathbb z" else words


def each_named(node: Node, opposite: Node) -> Node:
    """Write `x = y = z = 0` as `x = 0, y = 0, z = 0` if the other side has several values."""
    if node.kind != "chain" or opposite.kind not in ("list", "paren", "=") or set(str(node.leaf).split()) != {"="}:
        return node
    *names, value = node.args
    if len(set(names)) < len(names) or any(name.kind != "sym" for name in names) or values.names(value):
        return node
    if opposite.kind == "=" and opposite.args[0].kind != "paren":
        return node
    return Node("list", tuple(Node("=", (name, value)) for name in names))


def same_letters(reference: Node, answer: Node) -> bool | None:
    """Whether letters in a row equal a list of letters.

    `AC` equals `A, C`: letters of choices, in rising order. `HTTH` equals `H, T, T, H`: a word of letters, in its
    order.
    """
    for run, opposite in ((reference, answer), (answer, reference)):
        if run.kind == "text" and opposite.kind in ("list", "paren") and _spelled(opposite) == run.leaf:
            return True
        letters = str(run.leaf) if run.kind in ("text", "sym") else ""
        if (
            not 2 <= len(letters) <= 6
            or list(letters) != sorted(set(letters))
            or not set(letters.upper()) <= set("ABCDEFGHIJ")
        ):
            continue
        names = [str(item.leaf).upper() for item in opposite.args if item.kind == "sym"]
        if opposite.kind in ("list", "brace", "paren") and len(names) == len(opposite.args):
            return sorted(names) == list(letters.upper())
    return None


def _spelled(node: Node) -> str | None:
    """The word that three or more single letters spell."""
    letters = [str(item.leaf).lower() for item in node.args if item.kind == "sym"]
    is_word = len(letters) == len(node.args) > 2 and all(len(letter) == 1 for letter in letters)
    return "".join(letters) if is_word else None


def as_tuple(node: Node, opposite: Node) -> Node:
    """A row, a column, a list in brackets or a sum of unit vectors as a tuple, if the other side is a tuple.

    Two elements in brackets are an interval.
    """
    if node.kind == "matrix" and node.leaf in (1, len(node.args)):
        return Node("paren", node.args)
    if node.kind == "bracket" and len(node.args) != 2 and opposite.kind in ("paren", "matrix"):
        return Node("paren", node.args)
    if node.kind in ("+", "*", "neg", "sym") and opposite.kind in ("paren", "matrix"):
        return vector(node, len(opposite.args)) or node
    return node


def outermost_values(node: Node) -> Iterable[Node]:
    """The largest parts of a node that may have a value."""
    if node.kind in (*LISTS, *PAIRS, *RELATIONS, *STRUCTURES, "quantity", "pm", "mp", "where", "prose"):
        for arg in node.args:
            yield from outermost_values(arg)
    else:
        yield node


def names_in_order(node: Node) -> Iterable[str]:
    """The letters of an expression, each once, in the order of their first place."""
    return dict.fromkeys(str(part.leaf) for part in node.walk() if part.kind == "sym" and part.leaf)


def may_be_moment(node: Node) -> bool:
    """Whether a ratio may be a time of day, such as 3:45, whose parts do not scale."""
    if len(node.args) != 2:
        return False
    hours, minutes = (values.exact_or_none(arg) for arg in node.args)
    if hours is None or minutes is None:
        return False
    return hours.denominator == minutes.denominator == 1 and 0 <= hours <= 24 and 10 <= minutes < 60
