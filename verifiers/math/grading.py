r"""Whether an answer equals a reference, once both are read. This runs in worker processes only.

    reference ─read, checked against itself─► Node ┐
    answer    ─limits, read─────────────────► Node ┴─ Comparison: by what the reference is ─► values, or sympy

What is equal: the same words; the same value (`values`); the same elements, in order for a tuple, in any order for a
set or a list; the same set of reals however it is written; the same equation up to a factor; one assignment `x = v`
and v. What is not: anything else. An equation is never reduced to its right side, unless its left side is a name.

sympy is asked only for sums, products, integrals and limits (`big`), which it reads through latex2sympy2_extended.
"""

import os

os.environ["SYMPY_GROUND_TYPES"] = "python"  # noqa: TID251 - before the first import of sympy; not a setting

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig, latex2sympy

from verifiers.math import limits, values
from verifiers.math.exact import Tolerance, plain
from verifiers.math.reader import read
from verifiers.math.tree import Node, TooComplex, Unreadable, show
from verifiers.math.values import NoValue
from verifiers.math.words import word_key

_MAX_SHOWN_CHARS = 300


def grade(payload: Sequence[Any]) -> dict[str, Any]:
    """Judge one answer: `(references, answer, abs_tol, rel_tol)`, where an answer of None asks for the first step only.

    The result's `outcome` is one of
        unparseable_reference, reference_too_complex   with `message`: the item's author must mend it
        equal, different                               with `method` and both sides as read
        unparseable, too_complex                       the answer is nothing that could equal the reference
    """
    references, answer, absolute, relative = payload
    read_references = []
    for reference in references:
        known = _reference(str(reference))
        if isinstance(known, _Fault):
            return {"outcome": known.reason, "message": f"reference {reference[:200]!r}: {known.message}"}
        read_references.append(known)
    if answer is None:
        return {"outcome": "different", "method": "reference"}
    wanted = plain(answer)
    if any(plain(reference) == wanted for reference in references):
        return {
            "outcome": "equal",
            "method": "text",
            "reference": wanted[:_MAX_SHOWN_CHARS],
            "answer": wanted[:_MAX_SHOWN_CHARS],
        }
    return _grade(read_references, answer, Tolerance(absolute, relative))


@dataclass(frozen=True, slots=True)
class _Fault:
    reason: str
    message: str


@lru_cache(maxsize=4096)
def _reference(text: str) -> Node | _Fault:
    refusal = limits.refusal(text)
    if refusal is not None:
        reason = "reference_too_complex" if refusal == "too_complex" else "unparseable_reference"
        return _Fault(reason, "too long, nested too deeply, or more like code than like an answer")
    try:
        node = read(text)
        if not Comparison(Tolerance()).checks(node):
            return _Fault("unparseable_reference", "it does not equal itself as it was read")
        return node
    except Unreadable as error:
        return _Fault("unparseable_reference", f"not read as mathematics or as words: {error}")
    except TooComplex as error:
        return _Fault("reference_too_complex", str(error))
    except RecursionError:
        return _Fault("reference_too_complex", "nested too deeply")


def _grade(references: Sequence[Node], answer: str, tolerance: Tolerance) -> dict[str, Any]:
    refusal = limits.refusal(answer)
    if refusal is not None:
        return {"outcome": refusal}
    try:
        node = read(answer)
    except Unreadable as error:
        return {"outcome": "unparseable", "message": str(error)}
    except (TooComplex, RecursionError) as error:
        return {"outcome": "too_complex", "message": str(error)}
    shown = {"reference": show(references[0])[:_MAX_SHOWN_CHARS], "answer": show(node)[:_MAX_SHOWN_CHARS]}
    outcome = "different"
    comparison = Comparison(tolerance)
    for reference in references:
        try:
            if comparison.equal(reference, node):
                shown["reference"] = show(reference)[:_MAX_SHOWN_CHARS]
                return {"outcome": "equal", "method": comparison.method, **shown}
        except (TooComplex, RecursionError) as error:
            outcome, shown["message"] = "too_complex", str(error)
        except Unreadable as error:
            outcome, shown["message"] = "unparseable", str(error)
    return {"outcome": outcome, "method": comparison.method, **shown}


# --- comparing trees

_LISTS = ("list", "or", "brace")
_PAIRS = ("paren", "bracket", "co", "oc")
_RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "in", "approx", "cong", "chain")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NO_SOLUTION = ("no solution", "empty set", "none", "no real root")
_EVERYTHING = ("all real numbers", "all real number")


@dataclass(frozen=True, slots=True)
class Piece:
    """One interval of a set of reals; a point is closed on both sides."""

    low: Node
    high: Node
    low_open: bool
    high_open: bool


class Comparison:
    """Compares what was read; `reference` is always the left side."""

    def __init__(self, tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self.method = "value"
        """`symbolic` once sympy was asked."""

    def checks(self, reference: Node) -> bool:
        """Whether a reference can be compared with at all: every value in it is computed once.

        Raises:
            TooComplex: a value is beyond the limits, or sympy cannot evaluate it.
            Unreadable: it holds a sum or an integral that sympy does not read.
        """
        for part in _outermost_values(reference):
            try:
                if _is_big(part):
                    _check_value(_to_sympy(part))
                elif not values.same(part, part):
                    return False
            except NoValue:
                continue
        return self.equal(reference, reference)

    def equal(self, reference: Node, answer: Node) -> bool:
        """Whether the two are the same answer.

        Raises:
            TooComplex: deciding needs a value beyond the limits.
            Unreadable: the answer holds a sum or an integral that sympy does not read.
        """
        reference, answer = _canonical(reference), _canonical(answer)
        if reference == answer:
            return True
        for compare in _ORDER:
            verdict = compare(self, reference, answer)
            if verdict is not None:
                return verdict
        return self._expressions(reference, answer)

    # words

    def _words(self, reference: Node, answer: Node) -> bool | None:
        if "text" not in (reference.kind, answer.kind):
            return None
        left, right = _words_of(reference), _words_of(answer)
        return left is not None and left == right

    # relations

    def _relations(self, reference: Node, answer: Node) -> bool | None:
        left, right = reference.kind in _RELATIONS, answer.kind in _RELATIONS
        if not left and not right:
            return None
        if left and right:
            return self._two_relations(reference, answer)
        if (sets := self._sets(reference, answer)) is not None:
            return sets
        value = _assigned(reference if left else answer)
        if value is None:
            return False
        return self.equal(value, answer) if left else self.equal(reference, value)

    def _two_relations(self, reference: Node, answer: Node) -> bool:
        if reference.kind == answer.kind == "cong":
            return self._congruences(reference, answer)
        left, right = _assigned(reference), _assigned(answer)
        if left is not None and right is not None and reference.args[0] == answer.args[0]:
            return self.equal(left, right)
        if reference.kind == answer.kind == "chain" or "chain" in (reference.kind, answer.kind):
            return self._chains(reference, answer)
        flipped = _FLIPPED.get(answer.kind)
        if reference.kind in ("=", "!=") and reference.kind == answer.kind:
            return self._same_up_to_factor(reference, answer.args, positive=False)
        if reference.kind in _FLIPPED and reference.kind == answer.kind:
            return self._same_up_to_factor(reference, answer.args, positive=True)
        if reference.kind in _FLIPPED and reference.kind == flipped:
            return self._same_up_to_factor(reference, answer.args[::-1], positive=True)
        return reference.kind == answer.kind and self._in_order(reference.args, answer.args)

    def _same_up_to_factor(self, reference: Node, sides: Sequence[Node], positive: bool) -> bool:
        if self._in_order(reference.args, sides) or (not positive and self._in_order(reference.args, sides[::-1])):
            return True
        try:
            return values.proportional(_difference(reference.args), _difference(sides), positive)
        except NoValue:
            return False

    def _chains(self, reference: Node, answer: Node) -> bool:
        pieces = _pieces(reference), _pieces(answer)
        if pieces[0] is not None and pieces[1] is not None:
            return _variable(reference) == _variable(answer) and self._same_pieces(pieces[0], pieces[1])
        if reference.kind != answer.kind:
            return False
        operators = str(answer.leaf).split()
        if reference.leaf == answer.leaf and self._in_order(reference.args, answer.args):
            return True
        turned = " ".join(_FLIPPED.get(operator, operator) for operator in reversed(operators))
        return reference.leaf == turned and self._in_order(reference.args, answer.args[::-1])

    def _congruences(self, reference: Node, answer: Node) -> bool:
        if len(reference.args) != 3 or len(answer.args) != 3:
            return self._in_order(reference.args, answer.args)
        left, right, modulus = reference.args
        if not self.equal(modulus, answer.args[2]) or not self.equal(left, answer.args[0]):
            return False
        remainder = Node("mod", (_difference((right, answer.args[1])), modulus))
        try:
            return values.exact(remainder) == 0 or self.equal(right, answer.args[1])
        except NoValue:
            return False

    # sets of reals

    def _sets(self, reference: Node, answer: Node) -> bool | None:
        """None unless both are sets of reals, and not both plain pairs such as (1, 2)."""
        if reference.kind in _PAIRS and answer.kind in _PAIRS:
            return None
        left, right = _pieces(reference), _pieces(answer)
        if left is None or right is None:
            return None
        return self._same_pieces(left, right)

    def _same_pieces(self, left: Sequence[Piece], right: Sequence[Piece]) -> bool:
        if len(left) != len(right):
            return False
        return all(
            (one.low_open, one.high_open) == (two.low_open, two.high_open)
            and self.equal(one.low, two.low)
            and self.equal(one.high, two.high)
            for one, two in zip(_sorted(left), _sorted(right), strict=True)
        )

    # elements

    def _elements(self, reference: Node, answer: Node) -> bool | None:
        if reference.kind in _LISTS or answer.kind in _LISTS:
            return self._lists(reference, answer)
        if reference.kind in _PAIRS or answer.kind in _PAIRS:
            reference, answer = _as_tuple(reference), _as_tuple(answer)
            return reference.kind == answer.kind and self._in_order(reference.args, answer.args)
        if reference.kind != answer.kind or reference.kind not in _STRUCTURES:
            return None if not {reference.kind, answer.kind} & _STRUCTURES else False
        if reference.leaf != answer.leaf:
            return False
        if reference.kind in ("union", "cap"):
            return self._in_any_order(reference.args, answer.args)
        return self._in_order(reference.args, answer.args)

    def _lists(self, reference: Node, answer: Node) -> bool:
        if "paren" in (reference.kind, answer.kind):
            if "brace" in (reference.kind, answer.kind):
                return False
            return self._in_order(reference.args, answer.args)
        left, right = _items(reference), _items(answer)
        if any(item.leaf == "ldots" for item in (*left, *right)):
            return self._in_order(left, right)
        return self._in_any_order(left, right)

    def _in_order(self, left: Sequence[Node], right: Sequence[Node]) -> bool:
        return len(left) == len(right) and all(self.equal(one, two) for one, two in zip(left, right, strict=True))

    def _in_any_order(self, left: Sequence[Node], right: Sequence[Node]) -> bool:
        if len(left) != len(right):
            return False
        rest = list(right)
        for one in left:
            found = next((two for two in rest if one == two), None)
            if found is None:
                found = next((two for two in rest if self.equal(one, two)), None)
            if found is None:
                return False
            rest.remove(found)
        return True

    # quantities and values

    def _quantities(self, reference: Node, answer: Node) -> bool | None:
        """Different units are different answers; a unit on one side only is left aside."""
        if reference.kind == answer.kind == "quantity":
            return reference.leaf == answer.leaf and self.equal(reference.args[0], answer.args[0])
        if reference.kind == "quantity":
            return self.equal(reference.args[0], answer)
        if answer.kind == "quantity":
            return self.equal(reference, answer.args[0])
        return None

    def _percents(self, reference: Node, answer: Node) -> bool | None:
        """A percent sign on one side only may be a unit, when the number is not itself a part of one."""
        if (reference.kind == "%") == (answer.kind == "%"):
            return None
        return self._expressions(reference, answer) or self._percent_as_unit(reference, answer)

    def _percent_as_unit(self, reference: Node, answer: Node) -> bool:
        left = reference.args[0] if reference.kind == "%" else reference
        right = answer.args[0] if answer.kind == "%" else answer
        try:
            one, two = values.exact(left), values.exact(right)
        except NoValue:
            return False
        return one is not None and one == two and abs(one) > 1

    def _based(self, reference: Node, answer: Node) -> bool | None:
        """Digits in a base equal the same value, and the same digits with the base left out."""
        if reference.kind != "based" or answer.kind != "num":
            return None
        return str(answer.leaf) == str(reference.leaf).split("_")[0]

    def _expressions(self, reference: Node, answer: Node) -> bool:
        if _is_big(reference) or _is_big(answer):
            self.method = "symbolic"
            return _sympy_same(reference, answer)
        try:
            if values.same(reference, answer):
                return True
            if self._tolerance != Tolerance() and not values.names(reference) and not values.names(answer):
                return values.close(reference, answer, self._tolerance.absolute, self._tolerance.relative)
        except NoValue:
            return self._same_shape(reference, answer)
        return False

    def _same_shape(self, reference: Node, answer: Node) -> bool:
        """For what has no value: the same notation around equal parts."""
        if (reference.kind, reference.leaf) != (answer.kind, answer.leaf) or not reference.args:
            return False
        return self._in_order(reference.args, answer.args)


_STRUCTURES = frozenset(
    ("union", "cap", "setminus", "ratio", "suchthat", "matrix", "matrixv", "matrixB", "matrixV", "text")
)
_ORDER: tuple[Callable[[Comparison, Node, Node], bool | None], ...] = (
    Comparison._words,
    Comparison._relations,
    Comparison._sets,
    Comparison._elements,
    Comparison._quantities,
    Comparison._percents,
    Comparison._based,
)


# --- reading structure


def _canonical(node: Node) -> Node:
    """Without ± (it becomes a list) and with degrees as a unit; A(1, 2) is the point (1, 2)."""
    if node.kind in ("list", "or", "brace"):
        items = [part for item in node.args for part in _alternatives(item)]
        return node if len(items) == len(node.args) else Node(node.kind, tuple(items))
    found = _alternatives(node)
    if len(found) > 1:
        return Node("list", found)
    if node.kind == "deg":
        return Node("quantity", node.args, "degree")
    return Node("paren", node.args[0].args) if _is_point(node) else node


def _is_point(node: Node) -> bool:
    """A(1, 2): one capital letter before a list of coordinates."""
    is_capital = node.kind == "apply" and isinstance(node.leaf, str) and len(node.leaf) == 1 and node.leaf.isupper()
    return is_capital and len(node.args) == 1 and node.args[0].kind == "list"


def _alternatives(node: Node) -> tuple[Node, ...]:
    """Both values of what has a ± in it; all its signs change together."""
    if not any(part.kind in ("pm", "mp") for part in node.walk()):
        return (node,)
    return _with_sign(node, True), _with_sign(node, False)


def _with_sign(node: Node, upper: bool) -> Node:
    args = tuple(_with_sign(arg, upper) for arg in node.args)
    if node.kind not in ("pm", "mp"):
        return Node(node.kind, args, node.leaf)
    right = args[1] if upper == (node.kind == "pm") else Node("neg", (args[1],))
    return Node("+", (args[0], right))


def _words_of(node: Node) -> str | None:
    words = word_key(str(node.leaf)) if node.kind in ("text", "sym", "const") else None
    if words in ("emptyset", *_NO_SOLUTION):
        return "no solution"
    if words == "infinity":
        return "infty"
    if words in ("mathbb r", *_EVERYTHING):
        return "all real numbers"
    return words


def _items(node: Node) -> tuple[Node, ...]:
    return node.args if node.kind in _LISTS else (node,)


def _as_tuple(node: Node) -> Node:
    """A row or a column is a tuple when it is compared with one."""
    if node.kind == "matrix" and node.leaf in (1, len(node.args)):
        return Node("paren", node.args)
    return node


def _outermost_values(node: Node) -> Iterable[Node]:
    """The largest parts that may have a value."""
    if node.kind in (*_LISTS, *_PAIRS, *_RELATIONS, *_STRUCTURES, "quantity", "pm", "mp"):
        for arg in node.args:
            yield from _outermost_values(arg)
    else:
        yield node


def _is_name(node: Node) -> bool:
    """Whether the left side of `=` names what is on the right: x, f(x), |AB|, (a, b), dy/dx."""
    if node.kind in ("sym", "apply"):
        return True
    if node.kind in ("paren", "list"):
        return all(_is_name(arg) for arg in node.args)
    if node.kind == "/":
        return all(arg.kind == "*" and arg.args[0] == Node("sym", leaf="d") for arg in node.args)
    return node.kind == "abs" and node.args[0].kind == "sym" and len(str(node.args[0].leaf)) > 1


def _assigned(relation: Node) -> Node | None:
    """The value a relation gives to a name; None when it is not an assignment."""
    operators = str(relation.leaf).split() if relation.kind == "chain" else [relation.kind]
    if set(operators) - {"=", "approx", "in"} or ("in" in operators and operators != ["in"]):
        return None
    sides = list(relation.args)
    if "approx" in operators[1:]:
        sides = sides[: operators.index("approx", 1) + 1]
    elif operators == ["approx"] and not _is_name(sides[0]):
        return sides[0]
    if _is_name(sides[0]):
        constants = [side for side in sides[1:] if not values.names(side)]
        return sides[-1] if len(constants) < 2 or _all_same(constants) else None
    return sides[-1] if _all_same(sides) or (len(sides) > 2 and _all_same(sides[1:])) else None


def _all_same(sides: Sequence[Node]) -> bool:
    """A chain such as 2 + 3 = 5, without names and true."""
    try:
        return all(not values.names(side) and values.same(sides[0], side) for side in sides)
    except NoValue:
        return False


def _difference(sides: Sequence[Node]) -> Node:
    return Node("+", (sides[0], Node("neg", (sides[1],))))


_MINUS_INFINITY = Node("neg", (Node("const", leaf="infty"),))
_INFINITY = Node("const", leaf="infty")


def _pieces(node: Node) -> tuple[Piece, ...] | None:
    """A set of reals as intervals, in the order written; None when it is not written as one."""
    if node == Node("sym", leaf="mathbb R"):
        return (Piece(_MINUS_INFINITY, _INFINITY, True, True),)
    if node.kind in _PAIRS and len(node.args) == 2:
        return (Piece(*node.args, node.kind in ("paren", "oc"), node.kind in ("paren", "co")),)
    if node.kind in ("union", "or"):
        parts = [_pieces(arg) for arg in node.args]
        if node.kind == "or" and len({_variable(arg) for arg in node.args}) != 1:
            return None
        return None if any(part is None for part in parts) else tuple(piece for part in parts for piece in part or ())
    if node.kind == "suchthat":
        return _pieces(node.args[1])
    if node.kind == "in":
        return _pieces(node.args[1]) if _is_name(node.args[0]) else None
    return _inequality(node)


def _inequality(node: Node) -> tuple[Piece, ...] | None:
    """A < x < b, x > a, |x| < a and their like, with one name for the variable."""
    if node.kind in _FLIPPED:
        left, right = node.args
        operator = node.kind
        if not _is_variable(left):
            left, right, operator = right, left, _FLIPPED[operator]
        is_open = operator in ("<", ">")
        if left.kind == "abs" and left.args[0].kind == "sym":
            return _absolute(right, operator)
        if left.kind != "sym" or str(left.leaf) in values.names(right):
            return None
        if operator[0] == "<":
            return (Piece(_MINUS_INFINITY, right, True, is_open),)
        return (Piece(right, _INFINITY, is_open, True),)
    if node.kind == "chain" and len(node.args) == 3 and node.args[1].kind == "sym":
        first, second = str(node.leaf).split()
        low, _, high = node.args
        if first in (">", ">=") and second in (">", ">="):
            first, second, low, high = second, first, high, low
        elif first not in ("<", "<=") or second not in ("<", "<="):
            return None
        return (Piece(low, high, first in ("<", ">"), second in ("<", ">")),)
    return None


def _absolute(bound: Node, operator: str) -> tuple[Piece, ...]:
    minus = Node("neg", (bound,))
    is_open = operator in ("<", ">")
    if operator[0] == "<":
        return (Piece(minus, bound, is_open, is_open),)
    return Piece(_MINUS_INFINITY, minus, True, is_open), Piece(bound, _INFINITY, is_open, True)


def _is_variable(node: Node) -> bool:
    return node.kind == "sym" or (node.kind == "abs" and node.args[0].kind == "sym")


def _variable(node: Node) -> str | None:
    """The variable that an inequality is about."""
    if node.kind == "chain" and len(node.args) == 3:
        return str(node.args[1].leaf)
    for side in node.args[:2]:
        if _is_variable(side):
            return str((side.args[0] if side.args else side).leaf)
    return None


def _sorted(pieces: Sequence[Piece]) -> Sequence[Piece]:
    try:
        return sorted(pieces, key=lambda piece: values.approximate(piece.low))
    except NoValue:
        return pieces


# --- sympy, for sums, products, integrals and limits

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
_NAMED = {"sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "exp": sympy.exp, "ln": sympy.log}


def _is_big(node: Node) -> bool:
    return any(part.kind == "big" for part in node.walk())


class _Unevaluated(Exception):
    """sympy comes to no number: it cannot, or it cannot yet. Says nothing about what the expression equals."""


def _sympy_same(reference: Node, answer: Node) -> bool:
    """Whether two expressions are equal according to sympy.

    The reference was evaluated when it was checked; an answer that cannot be is more than we can compare with.

    Raises:
        Unreadable: the answer is not what sympy's grammar reads.
        TooComplex: the answer cannot be evaluated, or not be compared.
    """
    left, right = _to_sympy(reference), _to_sympy(answer)
    _check_terms(right)
    if left == right:
        return True
    try:
        if left.free_symbols or right.free_symbols:
            return bool(sympy.simplify((left - right).doit()) == 0)
        one, two = _evaluated(left), _evaluated(right)
        if sympy.oo in (abs(one[0]), abs(two[0])):
            return bool(one == two)
        scales = (max(abs(value), 1) for value in one)
        gaps = (abs(mine - its) for mine, its in zip(one, two, strict=True))
        return all(
            bool(gap <= scale * sympy.Rational(10) ** (8 - digits))
            for gap, scale, digits in zip(gaps, scales, _DIGITS, strict=True)
        )
    except (_Unevaluated, *_SYMPY_FAILS) as error:
        raise TooComplex("sympy cannot evaluate it") from error


_SYMPY_FAILS = (ArithmeticError, AttributeError, NotImplementedError, TypeError, ValueError)
"""What sympy raises, among others, where it knows no way."""


@lru_cache(maxsize=256)
def _evaluated(expression: Any) -> tuple[Any, ...]:
    """The value of an expression without variables, to each of `_DIGITS`.

    Raises:
        _Unevaluated: there is no finite or infinite number, or sympy does not find it.
    """
    try:
        done = expression.doit()
        found = tuple(sympy.N(done, digits) for digits in _DIGITS)
    except _SYMPY_FAILS as error:
        raise _Unevaluated from error
    if done in (sympy.oo, -sympy.oo):
        return (done, done)
    if not all(value.is_number and value.is_finite and not value.atoms(*_UNDONE) for value in found):
        raise _Unevaluated
    return found


_UNDONE = (sympy.Sum, sympy.Product, sympy.Integral, sympy.Limit)


def _check_value(expression: Any) -> None:
    """Do alone what a comparison with this reference will do, so that what it costs and whether it can be done is known
    before an answer is judged by it.

    Raises:
        TooComplex: it has no variables, and sympy cannot evaluate it.
    """
    _check_terms(expression)
    try:
        if expression.free_symbols:
            expression.doit()
        else:
            _evaluated(expression)
    except (_Unevaluated, *_SYMPY_FAILS) as error:
        raise TooComplex("sympy cannot evaluate it") from error


def _check_terms(expression: Any) -> None:
    """Refuse sums and products that would be written out term by term for long."""
    for part in expression.atoms(sympy.Sum, sympy.Product):
        for _, low, high in part.limits:
            terms = sympy.N(high - low, 5)
            if terms.is_Float and terms > _MAX_TERMS:
                raise TooComplex("a sum or product of too many terms")


def _to_sympy(node: Node) -> Any:
    if isinstance(node.leaf, Fraction):
        return sympy.Rational(node.leaf.numerator, node.leaf.denominator)
    if node.kind == "sym" and node.leaf:
        return sympy.Symbol(str(node.leaf).lstrip("\\"), real=True)
    if node.kind == "const" and node.leaf in _CONSTANTS:
        return _CONSTANTS[str(node.leaf)]
    if node.kind == "big":
        return _big_to_sympy(str(node.leaf))
    operation = _NAMED.get(str(node.leaf)) if node.kind == "fn" else _ARITHMETIC.get(node.kind)
    if operation is None:
        raise Unreadable(f"{node.kind} beside a sum or an integral")
    return operation(*(_to_sympy(arg) for arg in node.args))


@lru_cache(maxsize=256)
def _big_to_sympy(latex: str) -> Any:
    try:
        expression = latex2sympy(latex, is_real=True, normalization_config=None, conversion_config=_AS_WRITTEN)
    except Exception as error:  # the grammar's error listener raises bare Exception
        raise Unreadable(f"sympy: {type(error).__name__}") from error
    if not isinstance(expression, sympy.Expr):
        raise Unreadable("not an expression")
    return expression


_AS_WRITTEN = ConversionConfig(lowercase_symbols=False)
