r"""Compares products of matrices that are known by their names: B^{-1}A^{-1} is not A^{-1}B^{-1}.

Capital letters count as matrices if both sides are products of nothing else and one of them is inverted or transposed.
Then the order of factors counts. The inverse or transpose of a product is the product of the inverted or transposed
factors in reverse, and equal neighbours make a power, so A^{-1}A is the identity and (BA)^{-1}A is A^{-1}B^{-1}A.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from verifiers.math.tree import Node


@dataclass(frozen=True, slots=True)
class Factor:
    """One matrix in a product."""

    name: str
    exponent: int = 1
    is_transposed: bool = False


def same_product(reference: Node, answer: Node) -> bool | None:
    """Whether two products of matrices have the same factors in the same order; None unless both are such products."""
    lhs, rhs = _product(reference), _product(answer)
    if lhs is None or rhs is None or not (_is_of_matrices(lhs) or _is_of_matrices(rhs)):
        return None
    return _powers(lhs) == _powers(rhs)


def _is_of_matrices(factors: list[Factor]) -> bool:
    return any(factor.exponent < 0 or factor.is_transposed for factor in factors)


def _product(node: Node) -> list[Factor] | None:
    """The factors of a product in order; None if it holds anything but named matrices."""
    if node.kind == "sym" and str(node.leaf).isalpha() and str(node.leaf).isupper():
        return [Factor(letter) for letter in str(node.leaf)]
    if node.kind == "*":
        factor_lists = [_product(arg) for arg in node.args]
        return None if None in factor_lists else [factor for part in factor_lists if part for factor in part]
    factors = None
    if node.kind in ("^", "apply") and node.args and len(str(node.args[0].leaf or "A")) == 1:
        factors = _product(node.args[0])
    if factors is None:
        return None
    if _is_transpose(node):
        return [replace(factor, is_transposed=not factor.is_transposed) for factor in reversed(factors)]
    exponent = _integer(node.args[1]) if node.kind == "^" else None
    if exponent is None or abs(exponent) * len(factors) > _MAX_FACTORS:
        return None
    if exponent < 0:
        factors = [replace(factor, exponent=-factor.exponent) for factor in reversed(factors)]
    return factors * abs(exponent)


_MAX_FACTORS = 100


def _is_transpose(node: Node) -> bool:
    if node.kind == "apply":
        return node.leaf in ("^top", "^T")
    return node.args[1].kind == "sym" and node.args[1].leaf in ("T", "\\top")


def _integer(node: Node) -> int | None:
    sign, operand = (-1, node.args[0]) if node.kind == "neg" else (1, node)
    is_whole = isinstance(operand.leaf, Fraction) and operand.kind == "num" and operand.leaf.denominator == 1
    return sign * int(operand.leaf) if is_whole and isinstance(operand.leaf, Fraction) else None


def _powers(factors: list[Factor]) -> list[Factor]:
    """Join equal neighbours into one power; a zeroth power is left out."""
    powers: list[Factor] = []
    for factor in factors:
        last = powers[-1] if powers else None
        if last is None or (last.name, last.is_transposed) != (factor.name, factor.is_transposed):
            powers.append(factor)
            continue
        powers.pop()
        if last.exponent + factor.exponent:
            powers.append(replace(last, exponent=last.exponent + factor.exponent))
    return powers
