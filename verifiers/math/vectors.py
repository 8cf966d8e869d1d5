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
    components: dict[int, Node] = {}
    for term in node.args if node.kind == "+" else (node,):
        component = _component(term, length is not None)
        if component is None or component[0] in components:
            return None
        components[component[0]] = component[1]
    if not components or (length is not None and not max(components) < length <= 3):
        return None
    size = length or max(2, *(index + 1 for index in components))
    return Node("paren", tuple(components.get(index, values.ZERO) for index in range(size)))


def _component(term: Node, letters: bool) -> tuple[int, Node] | None:
    """The number of the unit vector in a term, and its coefficient."""
    if term.kind == "neg":
        component = _component(term.args[0], letters)
        return None if component is None else (component[0], Node("neg", (component[1],)))
    if term.kind == "/":
        component = _component(term.args[0], letters)
        return None if component is None else (component[0], Node("/", (component[1], term.args[1])))
    factors = term.args if term.kind == "*" else (term,)
    units = [factor for factor in factors if _unit(factor, letters) is not None]
    if len(units) != 1:
        return None
    coefficients = tuple(factor for factor in factors if factor is not units[0])
    coefficient = coefficients[0] if len(coefficients) == 1 else Node("*", coefficients) if coefficients else values.ONE
    if any(_unit(part, letters) is not None for part in coefficient.walk()):
        return None
    index = _unit(units[0], letters)
    return None if index is None else (index, coefficient)


def _unit(node: Node, letters: bool) -> int | None:
    unit_number = _UNITS.get(str(node.leaf)) if node.kind == "sym" else None
    return _LETTERS.get(node) if unit_number is None and letters else unit_number


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


def _each(node: Node | None, change: Callable[[Node], Node]) -> Node | None:
    return None if node is None else Node(node.kind, tuple(change(cell) for cell in node.args), node.leaf)


def _sum(terms: Sequence[Node | None]) -> Node | None:
    vectors = [term for term in terms if term is not None]
    if len(vectors) < len(terms) or len({(term.kind, term.leaf, len(term.args)) for term in vectors}) != 1:
        return None
    cells = zip(*(term.args for term in vectors), strict=True)
    return Node(vectors[0].kind, tuple(Node("+", cell) for cell in cells), vectors[0].leaf)


def _product(factors: Sequence[Node]) -> Node | None:
    """The product of numbers and one tuple, or of numbers and matrices of fitting sizes."""
    scalars: list[Node] = []
    result: Node | None = None
    for factor in factors:
        factor_combined = combined(factor)
        if factor_combined is None:
            scalars.append(factor)
        elif result is None:
            result = factor_combined
        elif (result := _matrix_product(result, factor_combined)) is None:
            return None
    if not scalars:
        return result
    return _each(result, lambda cell: Node("*", (*scalars, cell)))


def _matrix_product(lhs: Node, rhs: Node) -> Node | None:
    if lhs.kind != "matrix" or rhs.kind != "matrix" or not isinstance(lhs.leaf, int):
        return None
    rows, columns = rows_of(lhs), list(zip(*rows_of(rhs), strict=True))
    if len(columns[0]) != lhs.leaf or len(rows) * len(columns) > _MAX_CELLS:
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
        inversions = sum(earlier > later for earlier, later in combinations(order, 2))
        terms.append(Node("neg", (term,)) if inversions % 2 else term)
    return Node("+", tuple(terms))
