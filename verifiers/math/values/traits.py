"""Finds what decides how an expression is evaluated: i, a bare log, absolute values, arithmetic alone."""

from memory import remember
from verifiers.commitment.latex import split
from verifiers.math.points import has_i
from verifiers.math.tree import Node
from verifiers.math.values.rational import exact_or_none

BARE_LOG = Node("const", leaf="log")
"""The base of a logarithm that is written without a base."""


def has_bare_log(node: Node) -> bool:
    """Whether an expression contains a logarithm without a base."""
    return any(part == BARE_LOG for part in node.walk())


@remember(4096, recursive=True)
def is_complex(node: Node) -> bool:
    """Whether an expression contains i, or the square root of a negative number, which means the same."""
    if node.kind == "root" and exact_or_none(node.args[1]) == 2:
        inside = exact_or_none(node.args[0])
        if inside is not None and inside < 0:
            return True
    return has_i(node) or any(is_complex(arg) for arg in node.args)


@remember(4096, recursive=True)
def is_piecewise_analytic(node: Node) -> bool:
    """Whether an expression is made of functions that are analytic between finitely many breaks in any interval, and of
    no other: nothing unknown, no jumps at all integers, no sums.
    """
    is_analytic = node.leaf in _ANALYTIC if node.kind == "fn" else node.kind in _ARITHMETIC
    return is_analytic and all(map(is_piecewise_analytic, node.args))


_ARITHMETIC = frozenset(["num", "sym", "const", "+", "*", "/", "neg", "bracket", "^", "root", "abs", "log"])
_ANALYTIC = split(
    "sin cos tan cot sec csc sinh cosh tanh coth exp ln lg max min sgn arcsin arccos arctan arsinh arcosh artanh"
)


def absolute_values(node: Node) -> int:
    """The number of absolute values in an expression."""
    return sum(part.kind == "abs" for part in node.walk())


_ENTIRE = frozenset(["sin", "cos", "sinh", "cosh", "tanh", "exp", "max", "min", "sgn", "arctan", "arsinh"])


def is_defined(node: Node) -> bool:
    """Whether an expression has real values for nearly all values of its letters, as it is written."""
    for part in node.walk():
        if part.kind == "fn" and part.leaf not in _ENTIRE:
            return False
        if part.kind == "^" and part.args[0] not in (Node("const", leaf="e"), Node("const", leaf="pi")):
            base, exponent = map(exact_or_none, part.args)
            if (exponent is None or exponent.denominator % 2 == 0) and (base is None or base <= 0):
                return False
        if part.kind not in ("num", "sym", "const", "+", "*", "/", "neg", "bracket", "%", "abs", "^", "fn"):
            return False
    return True
