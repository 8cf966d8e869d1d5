"""Compiles expressions to functions on floats, which show where an expression changes sign but never what it is."""

import cmath
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from memory import remember
from verifiers.math.tree import Node
from verifiers.math.values.numbers import NoValue
from verifiers.math.values.rational import exact_or_none
from verifiers.math.values.traits import BARE_LOG

Float = Any
"""A float, or a complex number."""
Compiled = Callable[[Mapping[str, Float]], Float]
"""The value for the values of the names; it raises an arithmetic error or a `ValueError` where there is none."""
FAILS = (ArithmeticError, ValueError, TypeError)


@remember(512, recursive=True)
def compiled(node: Node, is_real: bool) -> Compiled:
    """The function of an expression on floats; on complex numbers unless `is_real`.

    Raises:
        NoValue: it holds something that floats do not show, such as an unknown function or an integral.
    """
    operands = [compiled(arg, is_real) for arg in node.args] if node.kind != "log" else []
    match node.kind:
        case "num" if isinstance(node.leaf, Fraction):
            return _constant(node.leaf)
        case "const" if node.leaf in _CONSTANTS:
            return _constant(_CONSTANTS[str(node.leaf)])
        case "const" if node.leaf == "i" and not is_real:
            return _constant(1j)
        case "sym" if node.leaf:
            return operator.itemgetter(str(node.leaf))
        case "^" | "root":
            return _power(operands, _exponent(node), is_real)
        case "log":
            base = _constant(10) if node.args[0] == BARE_LOG else compiled(node.args[0], is_real)
            return _applied(math.log if is_real else cmath.log, [compiled(node.args[1], is_real), base])
        case "sum" | "prod" if node.args[0].leaf:
            return _terms(str(node.args[0].leaf), operands, sum if node.kind == "sum" else math.prod)
        case "fn" if node.leaf in _FUNCTIONS:
            return _applied(_function(str(node.leaf), is_real), operands)
        case kind if kind in _OPERATIONS:
            return _applied(_OPERATIONS[kind], operands)
    raise NoValue(f"{node.kind} is not computed with floats")


def _constant(value: Fraction | float | complex) -> Compiled:
    try:
        number = value if isinstance(value, complex) else float(value)
    except OverflowError as error:
        raise NoValue("too large for a float") from error
    return lambda point: number


def _applied(function: Callable[..., Float], operands: list[Compiled]) -> Compiled:
    if len(operands) == 1:
        (only,) = operands
        return lambda point: function(only(point))
    if len(operands) == 2:
        first, second = operands
        return lambda point: function(first(point), second(point))
    return lambda point: function(*(part(point) for part in operands))


def _terms(name: str, operands: Sequence[Compiled], join: Callable[[Iterable[Float]], Float]) -> Compiled:
    """The sum or product of few terms."""
    _, low, high, term = operands

    def value(point: Mapping[str, Float]) -> Float:
        first, last = _whole(low(point)), _whole(high(point))
        if not -1 <= last - first <= _MOST_TERMS:
            raise ValueError("too many terms, or bounds the wrong way round")
        return join(term({**point, name: float(number)}) for number in range(first, last + 1))

    return value


def _binomial(above: Float, below: Float) -> int:
    n, k = _whole(above), _whole(below)
    if not 0 <= k <= n <= _MOST_CHOICES:
        raise ValueError("no binomial coefficient of small natural numbers")
    return math.comb(n, k)


def _whole(value: Float) -> int:
    if value != int(value):
        raise ValueError("not an integer")
    return int(value)


_MOST_TERMS, _MOST_CHOICES = 200, 1_000


def _exponent(node: Node) -> Fraction | None:
    value = exact_or_none(node.args[1])
    return 1 / value if value and node.kind == "root" else value


def _power(operands: list[Compiled], exponent: Fraction | None, is_real: bool) -> Compiled:
    base, height = operands
    if exponent is None:
        return lambda point: _real_power(base(point), height(point)) if is_real else base(point) ** height(point)
    if exponent.denominator == 1:
        integer_power = exponent.numerator
        return lambda point: base(point) ** integer_power
    fixed, is_odd, turns = float(exponent), exponent.denominator % 2 == 1, exponent.numerator % 2 == 1

    def power(point: Mapping[str, Float]) -> Float:
        foot = base(point)
        if not is_real or foot >= 0:
            return foot**fixed
        if not is_odd:
            raise ValueError("not real")
        return -((-foot) ** fixed) if turns else (-foot) ** fixed

    return power


def _real_power(base: float, exponent: float) -> Float:
    if base < 0 and exponent != int(exponent):
        raise ValueError("not real")
    return base**exponent


def _real(value: Float) -> float:
    if isinstance(value, complex):
        if abs(value.imag) > 1e-9 * (1 + abs(value)):
            raise ValueError("not real")
        return value.real
    return float(value)


_CONSTANTS = {"pi": math.pi, "e": math.e}
_OPERATIONS: Mapping[str, Callable[..., Float]] = {
    "+": lambda *values: sum(values), "*": lambda *values: reduce(operator.mul, values), "/": operator.truediv,
    "neg": operator.neg, "bracket": lambda value: value, "%": lambda value: value / 100, "abs": abs,
    "!": lambda value: math.gamma(_real(value) + 1), "binom": _binomial,
    "floor": lambda value: math.floor(_real(value)), "ceil": lambda value: math.ceil(_real(value)),
    "mod": lambda value, modulus: _real(value) % _real(modulus),
}  # fmt: skip
_INVERSES = {"cot": "tan", "sec": "cos", "csc": "sin", "coth": "tanh"}
_NAMES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arsinh": "asinh", "arcosh": "acosh", "artanh": "atanh", "ln": "log",
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")},
}  # fmt: skip
_OWN: Mapping[str, Callable[..., Float]] = {
    "max": lambda *values: max(map(_real, values)), "min": lambda *values: min(map(_real, values)),
    "sgn": lambda value: (_real(value) > 0) - (_real(value) < 0), "Re": lambda value: complex(value).real,
    "Im": lambda value: complex(value).imag, "arg": lambda value: cmath.phase(value),
}  # fmt: skip
_FUNCTIONS = frozenset([*_INVERSES, *_NAMES, *_OWN])


def _function(name: str, is_real: bool) -> Callable[..., Float]:
    if name in _OWN:
        return _OWN[name]
    module = math if is_real else cmath
    function: Callable[..., Float] = getattr(module, _INVERSES.get(name) or _NAMES[name])
    return (lambda value: 1 / function(value)) if name in _INVERSES else function
