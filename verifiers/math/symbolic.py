r"""Compares expressions that hold sums, products, integrals or limits (`big`).

    same notation ──► equal: one tree, whatever the bound names are called          (binders)
    finite        ──► written out term by term, at the points of any expression     (values)
    integrals and infinite sums ──► equal or different if numbers show it           (quadrature)
    anything else ──► sympy, which proves equality or evaluates both

If an expression cannot be evaluated in any of these ways, nothing is known about the answer: such a reference is
refused when it is checked, unless it is about unknown functions, which can be compared by notation only; such an answer
is undecided.
"""

import os

os.environ["SYMPY_GROUND_TYPES"] = "python"  # noqa: TID251 - before the first import of sympy; not a setting

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from memory import remember
from verifiers.math import quadrature, values
from verifiers.math.binders import is_finite, same_notation, unfolded, with_elements
from verifiers.math.points import BOUND, has_i, letters, names, points
from verifiers.math.quadrature import Unreliable
from verifiers.math.tree import Node, TooComplex, Undecided, Unreadable
from verifiers.math.values import NoValue
from verifiers.math.values.folds import fold_points
from verifiers.math.values.sampling import has_values

_DIGITS = (30, 60)
_MAX_TERMS = 1_000
_CONSTANTS = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "infty": sympy.oo}
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": sympy.Add, "*": sympy.Mul, "^": sympy.Pow, "/": lambda top, bottom: top / bottom, "neg": lambda value: -value,
    "%": lambda value: value / 100, "root": lambda value, degree: sympy.Pow(value, 1 / degree), "!": sympy.factorial,
    "abs": sympy.Abs, "binom": sympy.binomial,
}  # fmt: skip
_NAMED = {
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec, "csc": sympy.csc,
    "sinh": sympy.sinh, "cosh": sympy.cosh, "tanh": sympy.tanh, "arcsin": sympy.asin, "arccos": sympy.acos,
    "arctan": sympy.atan, "exp": sympy.exp, "ln": sympy.log, "floor": sympy.floor, "ceil": sympy.ceiling,
}  # fmt: skip
_ENOUGH_POINTS = 3
_MOST_BESIDE = 4
"""Points beside breaks: an integral takes long."""


class _Unevaluated(Exception):
    """sympy finds no number, at all or yet. This says nothing about the value of the expression."""


def same(reference: Node, answer: Node) -> bool:
    """Whether two expressions are equal.

    Raises:
        Unreadable: the answer is not what sympy's grammar reads.
        TooComplex: the answer asks for more terms than are written out.
        Undecided: nothing here evaluates it, or compares the two.
    """
    if reference == answer:
        return True
    lhs, rhs = _tree(reference), _tree(answer)
    if lhs is not None and rhs is not None:
        lhs, rhs = with_elements(lhs, rhs)
        verdict = _decided(lhs, rhs)
        if verdict and not (is_finite(lhs) and is_finite(rhs)) and not same_notation(lhs, rhs, values.surely_same):
            verdict = _same_beside_breaks(lhs, rhs)
        if verdict is not None:
            return verdict
        reference, answer = lhs, rhs
    if lhs is not None and _is_unknown(lhs):
        return False
    return _same_for_sympy(reference, answer)


def _tree(node: Node) -> Node | None:
    try:
        return unfolded(node)
    except Unreadable:
        return None


def _is_unknown(tree: Node) -> bool:
    """Whether an integral, a limit or an endless sum contains something that is known by name only."""
    if tree.kind in BOUND and not is_finite(tree):
        return any(part.kind == "apply" for part in tree.walk())
    return any(_is_unknown(arg) for arg in tree.args)


def _decided(lhs: Node, rhs: Node) -> bool | None:
    """The decision by notation and numbers; None if they do not decide."""
    if same_notation(lhs, rhs, values.surely_same):
        return True
    if is_finite(lhs) and is_finite(rhs):
        try:
            return values.same(lhs, rhs)
        except NoValue:
            return None
    if _is_unknown(lhs) or _is_unknown(rhs):
        return None
    return _same_by_numbers(lhs, rhs)


def _same_by_numbers(lhs: Node, rhs: Node) -> bool | None:
    agreed = failed = 0
    enough = _ENOUGH_POINTS if names(lhs) | names(rhs) else 1
    for point in points(letters(lhs, rhs)):
        try:
            if not quadrature.relation(lhs, rhs, point):
                return False
            agreed += 1
        except Unreliable:
            failed += 1
        if agreed == enough:
            return True
        if failed == enough and not agreed:
            return None
    return None


def _same_beside_breaks(lhs: Node, rhs: Node) -> bool | None:
    """Whether numbers show two expressions, which agree at some points, to agree on both sides of their breaks."""
    break_points = fold_points(lhs, rhs, letters(lhs, rhs), not (has_i(lhs) or has_i(rhs)))
    close_points = [point for point in break_points if point.is_close][:_MOST_BESIDE]
    try:
        return all(quadrature.relation(lhs, rhs, point) for point in close_points)
    except Unreliable:
        return None


def _same_for_sympy(reference: Node, answer: Node) -> bool:
    try:
        lhs, rhs = to_sympy(reference), to_sympy(answer)
    except Unreadable as error:
        if all(part.kind in _OF_VALUES for part in answer.walk()):
            raise Undecided(str(error)) from error
        raise
    _check_terms(rhs)
    if lhs == rhs:
        return True
    try:
        if lhs.free_symbols or rhs.free_symbols:
            gap = (lhs - rhs).doit()
            if sympy.simplify(gap) == 0:
                return True
            if _differs_somewhere(gap):
                return False
            raise Undecided("sympy cannot prove it, and does not say that it is false")
        lhs_values, rhs_values = _evaluated(lhs), _evaluated(rhs)
        if sympy.oo in (abs(lhs_values[0]), abs(rhs_values[0])):
            return bool(lhs_values == rhs_values)
        scales = (max(abs(value), 1) for value in lhs_values)
        gaps = (abs(lhs_value - rhs_value) for lhs_value, rhs_value in zip(lhs_values, rhs_values, strict=True))
        return all(
            bool(gap <= scale * sympy.Rational(10) ** (8 - digits))
            for gap, scale, digits in zip(gaps, scales, _DIGITS, strict=True)
        )
    except (_Unevaluated, *SYMPY_FAILS) as error:
        raise Undecided("sympy cannot evaluate it") from error


def _differs_somewhere(gap: Any) -> bool:
    """Whether a fully evaluated difference with letters in it is a number other than 0 at some point."""
    if gap.atoms(*_UNDONE):
        return False
    names = sorted(gap.free_symbols, key=str)
    for shift in range(_ENOUGH_POINTS):
        point = {name: sympy.Rational(7 + 4 * position + 3 * shift, 5) for position, name in enumerate(names)}
        value = sympy.N(gap.subs(point), _DIGITS[0])
        if value.is_number and value.is_finite and abs(value) > sympy.Rational(10) ** -8:
            return True
    return False


_OF_VALUES = frozenset([*values.NUMERIC, *BOUND, "num", "sym", "const", "based", "fn", "apply"])
"""Node kinds of expressions; any other kind has no value, which is not a limit of this service."""
SYMPY_FAILS = (ArithmeticError, AttributeError, NotImplementedError, RecursionError, TypeError, ValueError)
"""Errors that sympy raises, among others, if it knows no method."""


@remember(256)
def _evaluated(expression: Any) -> tuple[Any, ...]:
    """The value of an expression without variables, to each of `_DIGITS`.

    Raises:
        _Unevaluated: there is no finite or infinite number, or sympy does not find it.
    """
    try:
        value = expression.doit()
        if value.atoms(*_UNDONE):  # sympy would give a number for it that it cannot vouch for
            raise _Unevaluated
        numbers = tuple(sympy.N(value, digits) for digits in _DIGITS)
    except SYMPY_FAILS as error:
        raise _Unevaluated from error
    if value in (sympy.oo, -sympy.oo):
        return (value, value)
    if not all(digits_value.is_number and digits_value.is_finite for digits_value in numbers):
        raise _Unevaluated
    return numbers


def _has_numbers(tree: Node) -> bool:
    """Whether `_decided` compares this reference by numbers."""
    try:
        if is_finite(tree) and has_values(tree):
            return True
        return _decided(tree, Node("+", (tree, values.ZERO))) is True
    except TooComplex:
        if is_finite(tree):
            raise
        return False


_UNDONE = (sympy.Sum, sympy.Product, sympy.Integral, sympy.Limit)


def check_value(node: Node) -> None:
    """Do alone what a comparison with this reference will do.

    This shows what the comparison costs, and whether it can be done, before an answer is judged by the reference.

    Raises:
        TooComplex: it has no variables, and sympy cannot evaluate it.
    """
    tree = _tree(node)
    if tree is not None and (_is_unknown(tree) or _has_numbers(tree)):
        return
    expression = to_sympy(node if tree is None else tree)
    _check_terms(expression)
    try:
        if expression.free_symbols:
            expression.doit()
        else:
            _evaluated(expression)
    except (_Unevaluated, *SYMPY_FAILS) as error:
        raise TooComplex("sympy cannot evaluate it") from error


def _check_terms(expression: Any) -> None:
    """Refuse sums and products that would take long to write out term by term."""
    for part in expression.atoms(sympy.Sum, sympy.Product):
        for _, low, high in part.limits:
            terms = sympy.N(high - low, 5)
            if terms.is_Float and terms > _MAX_TERMS:
                raise TooComplex("a sum or product of too many terms")


def to_sympy(node: Node) -> Any:
    if isinstance(node.leaf, Fraction):
        return sympy.Rational(node.leaf.numerator, node.leaf.denominator)
    if node.kind == "sym" and node.leaf:
        return sympy.Symbol(str(node.leaf).lstrip("\\"), real=True)
    if node.kind == "const" and node.leaf in _CONSTANTS:
        return _CONSTANTS[str(node.leaf)]
    if node.kind in BOUND:
        return _bound_to_sympy(node)
    if node.kind == "log":
        base = (
            sympy.Integer(10) if node.args[0].kind == "const" and node.args[0].leaf == "log" else to_sympy(node.args[0])
        )
        return sympy.log(to_sympy(node.args[1]), base)
    operation = _NAMED.get(str(node.leaf)) if node.kind == "fn" else _ARITHMETIC.get(node.kind)
    if operation is None:
        raise Unreadable(f"{node.kind} beside a sum or an integral")
    return operation(*(to_sympy(arg) for arg in node.args))


def _bound_to_sympy(node: Node) -> Any:
    name, low, high, term = (to_sympy(arg) for arg in node.args)
    if node.kind == "lim":
        return sympy.Limit(term, name, low, str(node.leaf) or ("-" if low in (sympy.oo, -sympy.oo) else "+-"))
    if node.kind in ("sum", "prod"):
        index = sympy.Symbol(str(name), integer=True)
        kind = sympy.Sum if node.kind == "sum" else sympy.Product
        return kind(term.subs(name, index), (index, low, high))
    return sympy.Integral(term, (name, low, high))
