"""Reads vectors and matrices that are not written in columns, and computes with them.

It reads sums of unit vectors and lists in lists, and computes multiples, sums, products and small determinants.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations

from verifiers.math import values
from verifiers.math.tree import Node

_UNITS: Mapping[str, int] = {"vec i": 0, "vec j": 1, "vec k": 2}
_LETTERS: Mapping[Node, int] = {Node("const", leaf="i"): 0, Node("sym", leaf="j"): 1, Node("sym", leaf="k"): 2}


def vector(node: Node, length: int | None = None) -> Node | None:
    """A linear combination of the unit vectors i, j, k as a tuple of its components; None for any other node.

    With `length`, plain letters i, j, k are unit vectors too, and components not mentioned are 0.
    """
    found: dict[int, Node] = {}
    for term in node.args if node.kind == "+" else (node,):
        component = _component(term, length is not None)
        if component is None or component[0] in found:
            return None
        found[component[0]] = component[1]
    if not found or (length is not None and not max(found) < length <= 3):
        return None
    size = length or max(2, *(index + 1 for index in found))
    return Node("paren", tuple(found.get(index, values.ZERO) for index in range(size)))


def _component(term: Node, letters: bool) -> tuple[int, Node] | None:
    """The number of the unit vector in a term, and its coefficient."""
    if term.kind == "neg":
        inner = _component(term.args[0], letters)
        return None if inner is None else (inner[0], Node("neg", (inner[1],)))
    if term.kind == "/":
        inner = _component(term.args[0], letters)
        return None if inner is None else (inner[0], Node("/", (inner[1], term.args[1])))
    factors = term.args if term.kind == "*" else (term,)
    units = [factor for factor in factors if _unit(factor, letters) is not None]
    if len(units) != 1:
        return None
    rest = tuple(factor for factor in factors if factor is not units[0])
    coefficient = rest[0] if len(rest) == 1 else Node("*", rest) if rest else values.ONE
    if any(_unit(part, letters) is not None for part in coefficient.walk()):
        return None
    index = _unit(units[0], letters)
    return None if index is None else (index, coefficient)


def _unit(node: Node, letters: bool) -> int | None:
    found = _UNITS.get(str(node.leaf)) if node.kind == "sym" else None
    return _LETTERS.get(node) if found is None and letters else found


def nested(node: Node) -> Node:
    """`[[1, 2], [3, 4]]` as a matrix by rows; any other node is unchanged."""
    if node.kind not in ("bracket", "paren") or not all(arg.kind == "bracket" for arg in node.args):
        return node
    widths = {len(row.args) for row in node.args}
    if len(widths) != 1 or len(node.args) < 2:
        return node
    return Node("matrix", tuple(cell for row in node.args for cell in row.args), widths.pop())


# --- arithmetic with tuples and matrices

_MAX_CELLS = 36
_MAX_ORDER = 3
"""Larger determinants are not written out."""


def combined(node: Node) -> Node | None:
    r"""`(1, 2) + t(4, 5)` and `\frac12 A` as one tuple or matrix, cell by cell; None if there is no such part."""
    if node.kind == "matrix" or (node.kind == "paren" and len(node.args) > 1):
        return node if len(node.args) <= _MAX_CELLS else None
    if node.kind == "neg":
        return _each(combined(node.args[0]), lambda cell: Node("neg", (cell,)))
    if node.kind == "/":
        return _each(combined(node.args[0]), lambda cell: Node("/", (cell, node.args[1])))
    if node.kind == "+":
        return _sum([combined(term) for term in node.args])
    return _product(node.args) if node.kind == "*" else None


def _each(found: Node | None, change: Callable[[Node], Node]) -> Node | None:
    return None if found is None else Node(found.kind, tuple(change(cell) for cell in found.args), found.leaf)


def _sum(terms: Sequence[Node | None]) -> Node | None:
    known = [term for term in terms if term is not None]
    if len(known) < len(terms) or len({(term.kind, term.leaf, len(term.args)) for term in known}) != 1:
        return None
    cells = zip(*(term.args for term in known), strict=True)
    return Node(known[0].kind, tuple(Node("+", cell) for cell in cells), known[0].leaf)


def _product(factors: Sequence[Node]) -> Node | None:
    """The product of numbers and one tuple, or of numbers and matrices of fitting sizes."""
    scalars: list[Node] = []
    whole: Node | None = None
    for factor in factors:
        found = combined(factor)
        if found is None:
            scalars.append(factor)
        elif whole is None:
            whole = found
        elif (whole := _matrix_product(whole, found)) is None:
            return None
    if not scalars:
        return whole
    return _each(whole, lambda cell: Node("*", (*scalars, cell)))


def _matrix_product(left: Node, right: Node) -> Node | None:
    if left.kind != "matrix" or right.kind != "matrix" or not isinstance(left.leaf, int):
        return None
    rows, columns = rows_of(left), list(zip(*rows_of(right), strict=True))
    if len(columns[0]) != left.leaf or len(rows) * len(columns) > _MAX_CELLS:
        return None
    cells = (
        Node("+", tuple(Node("*", pair) for pair in zip(row, column, strict=True)))
        for row in rows
        for column in columns
    )
    return Node("matrix", tuple(cells), len(columns))


def rows_of(matrix: Node) -> list[tuple[Node, ...]]:
    width = matrix.leaf if isinstance(matrix.leaf, int) else 1
    return [matrix.args[start : start + width] for start in range(0, len(matrix.args), width)]


def determinant(node: Node) -> Node | None:
    """A small determinant between bars as a sum of products; None for any other node."""
    rows = rows_of(node) if node.kind == "matrixv" else []
    if not rows or len(rows) != len(rows[0]) or len(rows) > _MAX_ORDER:
        return None
    terms = []
    for order in permutations(range(len(rows))):
        term = Node("*", tuple(row[column] for row, column in zip(rows, order, strict=True)))
        inversions = sum(one > two for one, two in combinations(order, 2))
        terms.append(Node("neg", (term,)) if inversions % 2 else term)
    return Node("+", tuple(terms))
