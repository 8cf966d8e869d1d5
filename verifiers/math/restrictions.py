r"""Tells what a restriction such as `x > 0` takes from an expression, and puts a letter into an interval.

reference       answer             takes values
x^2             x^2, x > 0         yes: the reference has values for x < 0
\ln x           \ln x, x > 0       no
x^2 / x         x, x \ne 0         no: a single point
a x^2           a x^2, a > 0       no: what is said of a parameter is an assumption
"""

from collections.abc import Iterator

from verifiers.math import values
from verifiers.math.points import letters
from verifiers.math.reals import INFINITY, MINUS_INFINITY, Piece, Reals, reals
from verifiers.math.shapes import outermost_values
from verifiers.math.tree import Node, replace_names

VARIABLES = frozenset(("x", "t", "y", "u", "v", "z", "s", "r", "w", "\\theta", "\\varphi", "\\phi", "\\rho", "n"))
"""Letters that customarily are the variable of a function."""
_COORDINATES = VARIABLES - {"n", "r", "s", "\\rho"}
"""Those that are not customary names of an integer or a length, which are positive anyway."""


def takes_values(condition: Node, main: Node) -> bool:
    """Whether a condition excludes more than single values of a variable for which the main part has values."""
    terms = Node("+", tuple(outermost_values(main)))
    free = values.names(main.args[1]) if main.kind == "=" and main.args[0].kind == "sym" else values.names(terms)
    if condition.kind == "!=" or not free.intersection(letters(terms).real, _COORDINATES, values.names(condition)):
        return False
    restricted = reals(condition)
    if restricted is None or restricted.variable is None:
        return True
    name = restricted.variable
    return any(values.meet(part, part, None) for part in _outside(restricted, name, terms))


def _outside(restricted: Reals, name: str, main: Node) -> Iterator[Node]:
    """An expression with its letter between or beside the pieces of a set of reals; single points do not count."""
    low = MINUS_INFINITY
    for piece in (*restricted.pieces, Piece(INFINITY, INFINITY, True, True)):
        if piece.low not in (low, MINUS_INFINITY):
            yield replace_names(main, {name: inside_of(Piece(low, piece.low, True, True), name)})
        low = piece.high


def inside_of(piece: Piece, name: str) -> Node:
    """An expression that has all values in an interval while its letter goes through the reals, and no other."""
    letter = Node("sym", leaf=name)
    square = Node("*", (letter, letter))
    if piece.low == MINUS_INFINITY and piece.high == INFINITY:
        return letter
    if piece.high == INFINITY:
        return Node("+", (piece.low, square))
    if piece.low == MINUS_INFINITY:
        return Node("+", (piece.high, Node("neg", (square,))))
    middle = Node("+", (piece.low, Node("*", (piece.high, square))))
    return Node("/", (middle, Node("+", (values.ONE, square))))
