"""Decides whether a right answer is also written in the requested form.

    simplified   nothing is left to compute: fractions in lowest terms, no like terms, no square under a square root
    decimal      a decimal number or an integer
    fraction     a fraction of two integers, or an integer

Only answers that equal the reference are checked; a right value in another form is wrong (`wrong_form`).
"""

from fractions import Fraction
from itertools import combinations

from verifiers.math import values
from verifiers.math.options import Form
from verifiers.math.tree import Node, TooComplex
from verifiers.math.values import NoValue

_MAX_TERMS = 12
_SQUARES = tuple(n * n for n in range(2, 100))


def fits(node: Node, form: Form) -> bool:
    """Whether the answer, or each element of it, is written in this form."""
    if form == "any":
        return True
    if node.kind in _AROUND:
        return all(fits(arg, form) for arg in node.args if arg.kind != "sym" or node.kind != "=")
    if form == "decimal":
        return _unsigned(node).kind == "num"
    if form == "fraction":
        return _is_fraction(_unsigned(node))
    return all(not _is_unfinished(part) for part in node.walk())


_AROUND = ("list", "or", "brace", "paren", "bracket", "co", "oc", "union", "quantity", "=", "where", "%")


def _unsigned(node: Node) -> Node:
    return node.args[0] if node.kind == "neg" else node


def _is_fraction(node: Node) -> bool:
    if node.kind == "/":
        return all(_is_integer(_unsigned(arg)) for arg in node.args)
    return _is_integer(node)


def _is_integer(node: Node) -> bool:
    return node.kind == "num" and isinstance(node.leaf, Fraction) and node.leaf.denominator == 1


def _is_unfinished(node: Node) -> bool:
    """Whether something can still be computed or cancelled at the top of this node."""
    if node.kind in ("num", "sym", "const", "text", "based"):
        return False
    if node.kind == "neg":
        return node.args[0].kind == "neg"
    try:
        value = values.exact(node)
    except (NoValue, TooComplex):
        return True
    if value is not None:
        return not _is_lowest_terms(node, value)
    if node.kind == "root":
        return _has_square(node)
    return node.kind == "+" and _has_like_terms(node)


def _is_lowest_terms(node: Node, value: Fraction) -> bool:
    if node.kind != "/" or not all(_is_integer(_unsigned(arg)) for arg in node.args):
        return node.kind == "%" and node.args[0].kind == "num"
    bottom = values.exact(node.args[1])
    return bottom == value.denominator and value.denominator > 1


def _has_square(root: Node) -> bool:
    inside, degree = root.args
    if degree != Node("num", leaf=Fraction(2)) or not _is_integer(inside) or not isinstance(inside.leaf, Fraction):
        return False
    return any(inside.leaf.numerator % square == 0 for square in _SQUARES)


def _has_like_terms(total: Node) -> bool:
    """Whether a sum has two terms of which one is a rational multiple of the other."""
    terms = total.args[:_MAX_TERMS]
    return any(_are_like(first, second) for first, second in combinations(terms, 2))


def _are_like(first: Node, second: Node) -> bool:
    return _kernel(first) == _kernel(second)


def _kernel(term: Node) -> tuple[Node, ...]:
    """The factors of a term that are not rational numbers, in a fixed order."""
    term = _unsigned(term)
    factors = term.args if term.kind == "*" else (term,)
    if term.kind == "/":
        factors = (*(term.args[0].args if term.args[0].kind == "*" else (term.args[0],)),)
        if not _is_integer(term.args[1]):
            factors = (*factors, Node("/", (Node("num", leaf=Fraction(1)), term.args[1])))
    irrational = [factor for factor in factors if not _is_rational(factor)]
    return tuple(sorted(irrational, key=repr))


def _is_rational(node: Node) -> bool:
    try:
        return values.exact_or_none(node) is not None
    except TooComplex:
        return False
