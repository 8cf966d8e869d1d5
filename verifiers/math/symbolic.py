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

_DIGITS = (30, 60)
_MAX_TERMS = 1_000
_CONSTANTS = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "infty": sympy.oo}
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": sympy.Add,
    "*": sympy.Mul,
    "^": sympy.Pow,
    "/": lambda top, bottom: top / bottom,
    "neg": lambda value: -value,
    "%": lambda value: value / 100,
    "root": lambda value, degree: sympy.Pow(value, 1 / degree),
    "!": sympy.factorial,
    "abs": sympy.Abs,
    "binom": sympy.binomial,
}
_NAMED = {
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec, "csc": sympy.csc,
    "sinh": sympy.sinh, "cosh": sympy.cosh, "tanh": sympy.tanh, "arcsin": sympy.asin, "arccos": sympy.acos,
    "arctan": sympy.atan, "exp": sympy.exp, "ln": sympy.log, "floor": sympy.floor, "ceil": sympy.ceiling,
}  # fmt: skip
_ENOUGH_POINTS = 3
_MOST_BESIDE = 4
"""Points beside breaks: an integral takes long."""


def is_big(node: Node) -> bool:
    return any(part.kind == "big" for part in node.walk())


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
    left, right = _tree(reference), _tree(answer)
    if left is not None and right is not None:
        left, right = with_elements(left, right)
        found = _decided(left, right)
        if found and not (is_finite(left) and is_finite(right)) and not same_notation(left, right, _same_value):
            found = _same_beside_breaks(left, right)
        if found is not None:
            return found
        reference, answer = left, right
    if left is not None and _is_unknown(left):
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


def _decided(left: Node, right: Node) -> bool | None:
    """The decision by notation and numbers; None if they do not decide."""
    if same_notation(left, right, _same_value):
        return True
    if is_finite(left) and is_finite(right):
        try:
            return values.same(left, right)
        except NoValue:
            return None
    if _is_unknown(left) or _is_unknown(right):
        return None
    return _same_by_numbers(left, right)


def _same_value(one: Node, two: Node) -> bool:
    try:
        return values.same(one, two)
    except (NoValue, TooComplex):
        return False


def _same_by_numbers(left: Node, right: Node) -> bool | None:
    agreed = failed = 0
    wanted = _ENOUGH_POINTS if names(left) | names(right) else 1
    for point in points(letters(left, right)):
        try:
            if not quadrature.relation(left, right, point):
                return False
            agreed += 1
        except Unreliable:
            failed += 1
        if agreed == wanted:
            return True
        if failed == wanted and not agreed:
            return None
    return None


def _same_beside_breaks(left: Node, right: Node) -> bool | None:
    """Whether numbers show two expressions, which agree at some points, to agree on both sides of their breaks."""
    found = fold_points(left, right, letters(left, right), not (has_i(left) or has_i(right)))
    beside = [point for point in found if point.is_close][:_MOST_BESIDE]
    try:
        return all(quadrature.relation(left, right, point) for point in beside)
    except Unreliable:
        return None


def _same_for_sympy(reference: Node, answer: Node) -> bool:
    try:
        left, right = to_sympy(reference), to_sympy(answer)
    except Unreadable as error:
        if all(part.kind in _OF_VALUES for part in answer.walk()):
            raise Undecided(str(error)) from error
        raise
    _check_terms(right)
    if left == right:
        return True
    try:
        if left.free_symbols or right.free_symbols:
            gap = (left - right).doit()
            if sympy.simplify(gap) == 0:
                return True
            if _differs_somewhere(gap):
                return False
            raise Undecided("sympy cannot prove it, and does not say that it is false")
        one, two = _evaluated(left), _evaluated(right)
        if sympy.oo in (abs(one[0]), abs(two[0])):
            return bool(one == two)
        scales = (max(abs(value), 1) for value in one)
        gaps = (abs(mine - its) for mine, its in zip(one, two, strict=True))
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
        point = {name: sympy.Rational(7 + 4 * place + 3 * shift, 5) for place, name in enumerate(names)}
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
        done = expression.doit()
        if done.atoms(*_UNDONE):  # sympy would give a number for it that it cannot vouch for
            raise _Unevaluated
        found = tuple(sympy.N(done, digits) for digits in _DIGITS)
    except SYMPY_FAILS as error:
        raise _Unevaluated from error
    if done in (sympy.oo, -sympy.oo):
        return (done, done)
    if not all(value.is_number and value.is_finite for value in found):
        raise _Unevaluated
    return found


def _has_numbers(tree: Node) -> bool:
    """Whether `_decided` compares this reference by numbers."""
    try:
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
