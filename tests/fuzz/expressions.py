r"""Expressions with values that are known without the verifier: made from choices, written in LaTeX, evaluated here.

    choices ──formula──► Term ──written──► "\frac{1}{2}+x"      what the verifier reads
                           └────value────► 500 digits or more   what it must agree with

`rewritten` changes a term without changing its value anywhere. `disturbed` changes it so that its value nearly always
changes. This module shares no code with `verifiers.math`: two independent implementations must agree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from tests.fuzz.choices import Choices

_SIZES = (100, 1_000)
"""The numbers of digits that a value may have before the point. A term with a larger value anywhere inside has no
value here."""
_DIGITS_PER_SIZE = 5
"""This many times as many digits are computed, so that rounding is far below any difference that counts."""
Point = Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Term:
    """A node of an expression. `kind` is num, var, const, or an operation on `args`."""

    kind: str
    args: tuple["Term", ...] = ()
    leaf: Fraction | str | None = None

    def size(self) -> int:
        return 1 + sum(arg.size() for arg in self.args)


def num(value: Fraction | int) -> Term:
    return Term("num", leaf=Fraction(value))


_VARIABLES = tuple(Term("var", leaf=name) for name in ("x", "y", "n"))
_CONSTANTS = tuple(Term("const", leaf=name) for name in ("pi", "e"))
_FUNCTIONS = ("sin", "cos", "tan", "exp", "ln", "arctan", "sinh")
_UNARY = ("neg", "sqrt", "cbrt", "abs", "square", *_FUNCTIONS)
_BINARY = ("+", "-", "*", "/", "^")


def formula(choices: Choices, depth: int = 4) -> Term:
    """Any expression. About half of them have no variables."""
    leaves = (*_CONSTANTS, *_VARIABLES) if choices.chance(2) else _CONSTANTS
    return _formula(choices, depth, leaves)


def _formula(choices: Choices, depth: int, leaves: tuple[Term, ...]) -> Term:
    form = choices.below(8) if depth > 0 else choices.below(3)
    if form < 2:
        return num(choices.rational())
    if form == 2:
        return choices.one(leaves)
    if form < 5:
        return Term(choices.one(_UNARY), (_formula(choices, depth - 1, leaves),))
    if form == 5 and choices.chance(4):
        return Term("!", (num(choices.below(30)),))
    kind = choices.one(_BINARY)
    left = _formula(choices, depth - 1, leaves)
    if kind == "^":
        return Term(kind, (left, num(choices.below(9) - 3)))
    return Term(kind, (left, _formula(choices, depth - 1, leaves)))


# --- values


class Undefined(Exception):
    """There is no real value here, or it is too large to be exact enough."""


POINTS: tuple[Point, ...] = tuple(
    {"x": Fraction(x), "y": Fraction(y), "n": Fraction(n)}
    for x, y, n in (
        ("13/10", "7/10", "3"),
        ("-17/10", "23/10", "5"),
        ("1/7", "-3/11", "2"),
        ("29/3", "31/7", "7"),
        ("-1/9", "-47/10", "1"),
    )
)


@lru_cache(maxsize=2048)
def value(term: Term, index: int, size: int) -> mpmath.mpf:
    """The value at `POINTS[index]`, if no intermediate value has more than `size` digits before the point.

    Raises:
        Undefined: no real value, or a part of it is too large or, as a divisor, too small.
    """
    with mp.workdps(_DIGITS_PER_SIZE * size):
        if term.kind == "num":
            assert isinstance(term.leaf, Fraction)
            return _bounded(mpmath.mpf(term.leaf.numerator) / term.leaf.denominator)
        if term.kind == "var":
            fraction = POINTS[index][str(term.leaf)]
            return mpmath.mpf(fraction.numerator) / fraction.denominator
        if term.kind == "const":
            return +(mp.pi if term.leaf == "pi" else mp.e)
        return _bounded(_OPERATIONS[term.kind](*(value(arg, index, size) for arg in term.args)))


def _largest() -> mpmath.mpf:
    return mpmath.mpf(10) ** (mp.dps // _DIGITS_PER_SIZE)


def _bounded(result: mpmath.mpf) -> mpmath.mpf:
    if mpmath.im(result) != 0 or not mpmath.isfinite(result) or abs(result) > _largest():
        raise Undefined
    return result


def _divide(top: mpmath.mpf, bottom: mpmath.mpf) -> mpmath.mpf:
    return top / _not_small(bottom)


def _not_small(number: mpmath.mpf) -> mpmath.mpf:
    """A value that perhaps only rounding keeps from being zero must not be a divisor."""
    if abs(number) * _largest() < 1:
        raise Undefined
    return number


def _power(base: mpmath.mpf, exponent: mpmath.mpf) -> mpmath.mpf:
    return (_not_small(base) if exponent <= 0 else base) ** int(exponent)


def _at_least_zero(number: mpmath.mpf) -> mpmath.mpf:
    if number < 0:
        raise Undefined
    return number


def _root(number: mpmath.mpf, degree: int) -> mpmath.mpf:
    """A root has half or a third of the digits that its radicand has behind the point: of rounding it makes a value."""
    return number and mpmath.sign(number) * mpmath.root(abs(_not_small(number)), degree)


def _no_larger(number: mpmath.mpf) -> mpmath.mpf:
    if abs(number) > mpmath.log(_largest()):
        raise Undefined
    return number


_OPERATIONS: Mapping[str, Callable[..., mpmath.mpf]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divide,
    "^": _power,
    "neg": lambda number: -number,
    "square": lambda number: number * number,
    "sqrt": lambda number: _root(_at_least_zero(number), 2),
    "cbrt": lambda number: _root(number, 3),
    "abs": abs,
    "!": mpmath.factorial,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": lambda number: mpmath.sin(number) / _not_small(mpmath.cos(number)),
    "exp": lambda number: mpmath.exp(_no_larger(number)),
    "ln": lambda number: mpmath.log(_not_small(_at_least_zero(number))),
    "arctan": mpmath.atan,
    "sinh": lambda number: mpmath.sinh(_no_larger(number)),
}


def values(term: Term, size: int = _SIZES[0]) -> list[mpmath.mpf | None]:
    """The value at each of `POINTS`. None if there is none."""
    found: list[mpmath.mpf | None] = []
    for index in range(len(POINTS)):
        try:
            found.append(value(term, index, size))
        except Undefined:
            found.append(None)
    return found


def difference(left: Term, right: Term) -> float | None:
    """The largest relative difference at any point where both have a value. It is 0.0 if no difference shows, and
    None if no point has both values.
    """
    for size in _SIZES:
        pairs = list(zip(values(left, size), values(right, size), strict=True))
        known = [(one, two) for one, two in pairs if one is not None and two is not None]
        if known:
            return max(_relative(one, two, size) for one, two in known)
    return None


def _relative(left: mpmath.mpf, right: mpmath.mpf, size: int) -> float:
    with mp.workdps(_DIGITS_PER_SIZE * size):
        gap = abs(left - right)
        if gap * _largest() ** 2 < 1:
            return 0.0
        return max(float(gap / max(abs(left), abs(right))), 5e-324)


# --- LaTeX


def written(term: Term, choices: Choices) -> str:
    """The term in LaTeX, in one of the many ways to write it."""
    text = _write(term, choices)
    if choices.chance(4):
        for latex, sign in ((r"\pi", "π"), (r"\cdot ", "·"), (r"\times ", "×"), ("-", "−")):
            text = text.replace(latex, sign)
    return text


def _write(term: Term, choices: Choices) -> str:
    match term.kind:
        case "num":
            assert isinstance(term.leaf, Fraction)
            return _number(term.leaf, choices)
        case "var":
            return str(term.leaf)
        case "const":
            return r"\pi" if term.leaf == "pi" else "e"
        case "/":
            return _division(term, choices)
        case "*":
            sign = choices.one((r"\cdot ", r"\times ", "*", ""))
            left, right = _grouped(term.args[0], choices), _grouped(term.args[1], choices)
            return (
                left + right
                if not sign and left.endswith(")") and right.startswith("(")
                else f"{left}{sign or '*'}{right}"
            )
        case "+" | "-":
            return f"{_grouped(term.args[0], choices)}{term.kind}{_grouped(term.args[1], choices)}"
        case "^":
            exponent = _write(term.args[1], choices)
            return f"{_grouped(term.args[0], choices)}^{{{exponent}}}"
        case "square":
            return f"{_grouped(term.args[0], choices)}{choices.one(('^2', '^{2}', '²'))}"
        case "neg":
            return f"-{_grouped(term.args[0], choices)}"
        case "sqrt":
            return rf"\sqrt{{{_write(term.args[0], choices)}}}"
        case "cbrt":
            return rf"\sqrt[3]{{{_write(term.args[0], choices)}}}"
        case "abs":
            return rf"\lvert {_write(term.args[0], choices)}\rvert "
        case "!":
            return f"{_write(term.args[0], choices)}!"
    opening, closing = choices.one((("(", ")"), (r"\left(", r"\right)"), ("{(", ")}")))
    return rf"\{term.kind}{opening}{_write(term.args[0], choices)}{closing}"


def _number(number: Fraction, choices: Choices) -> str:
    if number < 0:
        return f"-{_number(-number, choices)}"
    if number.denominator == 1:
        text = str(number)
        if len(text) > 3 and choices.chance(4):
            return f"{number.numerator:,}".replace(",", "{,}")
        return text
    forms = [rf"\frac{{{number.numerator}}}{{{number.denominator}}}"]
    if 1000 % number.denominator == 0:
        whole, rest = divmod(number.numerator * (1000 // number.denominator), 1000)
        forms.append(f"{whole}.{rest:03}".rstrip("0"))
    return choices.one(forms)


def _division(term: Term, choices: Choices) -> str:
    top, bottom = term.args
    if choices.chance(3):
        return f"{_grouped(top, choices)}/{_grouped(bottom, choices)}"
    return rf"\{choices.one(('frac', 'dfrac'))}{{{_write(top, choices)}}}{{{_write(bottom, choices)}}}"


def _grouped(term: Term, choices: Choices) -> str:
    text = _write(term, choices)
    if term.kind in ("var", "const") or (term.kind == "num" and text.isdigit()):
        return text
    opening, closing = choices.one((("(", ")"), (r"\left(", r"\right)")))
    return f"{opening}{text}{closing}"


# --- terms with the same value, and with another one


def rewritten(term: Term, choices: Choices) -> Term:
    """A term with the same value wherever the given term has a value."""
    for _ in range(1 + choices.below(4)):
        term = _somewhere(term, choices, _rewrite)
    return term


def disturbed(term: Term, choices: Choices) -> Term:
    """A term with one small change, which nearly always changes its value."""
    return _somewhere(term, choices, _disturb)


def _somewhere(term: Term, choices: Choices, change: Callable[[Term, Choices], Term]) -> Term:
    """Change one part: the whole or any below it."""
    if not term.args or choices.chance(2):
        return change(term, choices)
    index = choices.below(len(term.args))
    if term.kind in ("^", "!") and index == len(term.args) - 1:
        return change(term, choices)  # not every term may stand for their numbers
    args = list(term.args)
    args[index] = _somewhere(args[index], choices, change)
    return Term(term.kind, tuple(args), term.leaf)


def _rewrite(term: Term, choices: Choices) -> Term:
    some = num(1 + choices.below(9))
    forms = [
        Term("+", (term, num(0))),
        Term("*", (num(1), term)),
        Term("neg", (Term("neg", (term,)),)),
        Term("-", (Term("+", (term, some)), some)),
        Term("/", (Term("*", (term, some)), some)),
        Term("-", (Term("*", (num(2), term)), term)),
        Term("/", (term, num(1))),
    ]
    if term.kind in ("+", "*"):
        forms.append(Term(term.kind, term.args[::-1]))
    if term.kind == "-":
        forms.append(Term("neg", (Term("-", term.args[::-1]),)))
        forms.append(Term("+", (term.args[0], Term("neg", (term.args[1],)))))
    if term.kind == "/":
        forms.append(Term("*", (term.args[0], Term("/", (num(1), term.args[1])))))
    if term.kind == "*" and term.args[1].kind in ("+", "-"):
        inner = term.args[1]
        forms.append(Term(inner.kind, tuple(Term("*", (term.args[0], arg)) for arg in inner.args)))
    if term.kind == "square":
        forms.append(Term("*", (term.args[0], term.args[0])))
        if term.args[0].kind == "+":
            left, right = term.args[0].args
            middle = Term("*", (num(2), Term("*", (left, right))))
            forms.append(Term("+", (Term("+", (Term("square", (left,)), middle)), Term("square", (right,)))))
    if term.kind == "num" and isinstance(term.leaf, Fraction):
        forms.append(Term("+", (num(term.leaf - 1), num(1))))
        forms.append(Term("*", (num(term.leaf / 3), num(3))))
    return choices.one(forms)


def _disturb(term: Term, choices: Choices) -> Term:
    tiny = num(Fraction(1, 10 ** (1 + choices.below(60))))
    forms = [
        Term("+", (term, num(1))),
        Term("+", (term, tiny)),
        Term("*", (term, Term("-", (num(1), tiny)))),
        Term("neg", (term,)),
        Term("*", (num(2), term)),
        Term("abs", (term,)),
        Term("sin", (term,)),
        Term("square", (term,)),
    ]
    if term.kind in ("-", "/"):
        forms.append(Term(term.kind, term.args[::-1]))
    if term.kind == "num" and isinstance(term.leaf, Fraction):
        forms.append(num(term.leaf + 1))
        forms.append(num(term.leaf * 10))
    return choices.one(forms)
