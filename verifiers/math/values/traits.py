"""Finds what decides how an expression is evaluated: i, a bare log, absolute values, arithmetic alone."""

from memory import remember
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
def is_rational(node: Node) -> bool:
    """Whether an expression is made of numbers and letters by arithmetic alone, with integer powers."""
    if node.kind == "^":
        exponent = exact_or_none(node.args[1])
        return exponent is not None and exponent.denominator == 1 and is_rational(node.args[0])
    return node.kind in _RATIONAL and all(is_rational(arg) for arg in node.args)


_RATIONAL = frozenset(["num", "sym", "+", "*", "/", "neg", "bracket"])


def absolute_values(node: Node) -> int:
    """The number of absolute values in an expression."""
    return sum(part.kind == "abs" for part in node.walk())
