r"""Evaluates an expression that was read: a number with its units.

    60 km/h · 2 h   ──►   120 (km/h)·h        5 km + 300 m   ──►   5.3 km        sin 30°   ──►   1/2

Numbers are exact fractions under arithmetic; irrational values have some 70 digits. Units are multiplied, divided and
raised to powers. A sum is in the unit of its first term; quantities with units of different kinds cannot be added. An
exponent may be as large as `MAX_EXPONENT`, and a value as large as `values` allows (100,000 bits): both are checked
before anything is computed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from memory import remember
from verifiers.commitment.latex import split
from verifiers.expression.reading import Expression
from verifiers.math import units, values
from verifiers.math.tree import Node, TooComplex
from verifiers.math.values import NoValue, Number

MAX_EXPONENT = 10_000
_MAX_NODES = 400
_MAX_UNIT_EXPONENT = 9
_BITS = 256
_NUMERIC = split("num const based + * / neg ^ ! root % mod abs floor ceil binom log fn bracket deg")
_OF_ANGLES = split("sin cos tan cot sec csc")


class WrongUnits(Exception):
    """Units that cannot be combined: metres plus seconds, the sine of a length."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with a product of units."""

    value: Fraction
    units: Mapping[str, int] = field(default_factory=dict)
    """The key of each unit with its exponent, which is never 0."""
    is_percent: bool = False
    """Whether it is written with a percent sign; `value` is then the hundredth part."""

    @property
    def unit(self) -> str | None:
        """The unit, if there is exactly one."""
        return next(iter(self.units)) if list(self.units.values()) == [1] else None


def evaluate(expression: Expression) -> Quantity:
    """The value of an expression.

    Raises:
        NoValue: it has none: a set, a word, a division by zero, a letter without a value, a number that is not real.
        TooComplex: it, or a part of it, is beyond the limits.
        WrongUnits: its units cannot be combined.
    """
    node = expression.node
    if sum(1 for _ in node.walk()) > _MAX_NODES:
        raise TooComplex("too many parts")
    for part in node.walk():
        _check_exponent(part)
    result = _Evaluation(expression.units).of(node)
    return Quantity(result.value, result.units, node.kind == "%")


def _check_exponent(node: Node) -> None:
    if node.kind != "^":
        return
    exponent = values.exact(node.args[1])
    if exponent is not None and abs(exponent) > MAX_EXPONENT:
        raise TooComplex("an exponent is too large")


def in_base_units(quantity: Quantity) -> tuple[Fraction, Mapping[str, int]]:
    """The number of base units, and their exponents; a plain angle's unit is none.

    Raises:
        WrongUnits: a scale such as °C occurs among other units, or a unit cannot be converted.
    """
    value, pi, exponents = quantity.value, 0, dict[str, int]()
    for unit, exponent in quantity.units.items():
        scale = units.in_base_units(unit)
        if scale is None or (units.has_zero_point(unit) and quantity.unit is None):
            raise WrongUnits(f"{unit[:40]} is not computed with")
        if units.has_zero_point(unit):
            converted = units.convert(value, unit, "K")
            assert converted is not None
            return converted, {"K": 1}
        value *= scale[0] ** exponent
        pi += scale[1] * exponent
        for base, power in scale[2].items():
            exponents[base] = exponents.get(base, 0) + power * exponent
    exponents.pop("rad", None)
    return value * _power_of_pi(pi), {base: power for base, power in exponents.items() if power}


@remember(64)
def _power_of_pi(exponent: int) -> Fraction:
    with mp.workprec(_BITS):
        return _fraction(mp.pi**exponent) if exponent else Fraction(1)


class _Evaluation:
    """The evaluation of one expression. All methods raise the errors of `evaluate`."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def of(self, node: Node) -> Quantity:
        if not self._has_units(node):
            return Quantity(number(node))
        rule = _RULES.get(node.kind)
        if rule is None:
            raise NoValue(f"{node.kind} of what has a unit")
        return rule(self, node)

    def _has_units(self, node: Node) -> bool:
        return any(
            part.kind in ("quantity", "deg") or (part.kind == "sym" and str(part.leaf) in self._names)
            for part in node.walk()
        )

    def name(self, node: Node) -> Quantity:
        return Quantity(Fraction(1), {self._names[str(node.leaf)]: 1})

    def quantity(self, node: Node) -> Quantity:
        return Quantity(number(node.args[0]), {str(node.leaf): 1})

    def degrees(self, node: Node) -> Quantity:
        return Quantity(number(node.args[0]), {"degree": 1})

    def negative(self, node: Node) -> Quantity:
        operand = self.of(node.args[0])
        return Quantity(-operand.value, operand.units)

    def absolute(self, node: Node) -> Quantity:
        operand = self.of(node.args[0])
        return Quantity(abs(operand.value), operand.units)

    def inside(self, node: Node) -> Quantity:
        if len(node.args) != 1:
            raise NoValue("an interval")
        return self.of(node.args[0])

    def sum(self, node: Node) -> Quantity:
        terms = [self.of(arg) for arg in node.args]
        first = next(term for term in terms if term.units)
        _check_scales(*terms)
        return Quantity(sum((_converted(term, first) for term in terms), Fraction(0)), first.units)

    def product(self, node: Node) -> Quantity:
        factors = [self.of(arg) for arg in node.args]
        with_units = [factor for factor in factors if factor.units]
        if len(with_units) > 1 or with_units[0].value != 1:  # otherwise it is a number and its unit, of any kind
            _check_scales(*factors)
        return _multiplied([(factor, 1) for factor in factors])

    def quotient(self, node: Node) -> Quantity:
        numerator, denominator = map(self.of, node.args)
        _check_scales(numerator, denominator)
        return _multiplied([(numerator, 1), (denominator, -1)])

    def power(self, node: Node) -> Quantity:
        base, exponent = self.of(node.args[0]), number(node.args[1])
        _check_scales(base)
        if exponent.denominator != 1 or abs(exponent) > _MAX_UNIT_EXPONENT:
            raise NoValue("a unit to a power that is not a small integer")
        return _multiplied([(base, exponent.numerator)])

    def root(self, node: Node) -> Quantity:
        radicand, degree = self.of(node.args[0]), number(node.args[1])
        if degree.denominator != 1 or not 0 < degree <= _MAX_UNIT_EXPONENT:
            raise NoValue("a root of a unit whose degree is not a small integer")
        _check_scales(radicand)
        unit_exponents = radicand.units
        if any(exponent % degree for exponent in unit_exponents.values()):
            value, unit_exponents = in_base_units(radicand)
            radicand = Quantity(value, unit_exponents)
        if any(exponent % degree or units.key(unit) != unit for unit, exponent in unit_exponents.items()):
            raise WrongUnits("a root of a unit that is not a power")
        value = number(Node("root", (_num(radicand.value), node.args[1])))
        return Quantity(value, {unit: exponent // degree.numerator for unit, exponent in unit_exponents.items()})

    def function(self, node: Node) -> Quantity:
        """A function of an angle, or of a number whose units have cancelled."""
        args = []
        for arg in node.args:
            value, exponents = in_base_units(self.of(arg))
            if exponents or (node.leaf not in _OF_ANGLES and self._is_angle(arg)):
                raise WrongUnits(f"{node.leaf} of what has a unit")
            args.append(arg if arg.kind == "deg" else _num(value))
        return Quantity(number(Node("fn", tuple(args), node.leaf)))

    def _is_angle(self, node: Node) -> bool:
        return bool(self.of(node).units)


_RULES: Mapping[str, Callable[[_Evaluation, Node], Quantity]] = {
    "sym": _Evaluation.name,
    "quantity": _Evaluation.quantity,
    "deg": _Evaluation.degrees,
    "neg": _Evaluation.negative,
    "abs": _Evaluation.absolute,
    "bracket": _Evaluation.inside,
    "+": _Evaluation.sum,
    "*": _Evaluation.product,
    "/": _Evaluation.quotient,
    "^": _Evaluation.power,
    "root": _Evaluation.root,
    "fn": _Evaluation.function,
}


def number(node: Node) -> Fraction:
    """The value of a node without units."""
    for part in node.walk():
        if part.kind not in _NUMERIC:
            raise NoValue("a letter without a value" if part.kind == "sym" else f"{part.kind} is not a number")
    exact = values.exact(node)
    if exact is not None:
        return exact
    with mp.workprec(_BITS):
        value = values.settled(node)
        if mpmath.im(value) != 0:
            raise NoValue("not a real number")
        return _fraction(mpmath.re(value))


def _fraction(value: Number) -> Fraction:
    digits, exponent = (int(part) for part in abs(value).man_exp)
    size = Fraction(digits << exponent) if exponent >= 0 else Fraction(digits, 1 << -exponent)
    return -size if value < 0 else size


def _num(value: Fraction) -> Node:
    return Node("num", leaf=value)


def _check_scales(*quantities: Quantity) -> None:
    if any(units.has_zero_point(unit) for quantity in quantities for unit in quantity.units):
        raise WrongUnits("a temperature on a scale is not a part of a calculation")


def _multiplied(factors: Sequence[tuple[Quantity, int]]) -> Quantity:
    """The product of quantities, each to its power."""
    powers = [Node("^", (_num(factor.value), _num(Fraction(exponent)))) for factor, exponent in factors]
    total: dict[str, int] = {}
    for factor, exponent in factors:
        for unit, times in factor.units.items():
            total[unit] = total.get(unit, 0) + times * exponent
    if any(abs(exponent) > _MAX_UNIT_EXPONENT for exponent in total.values()):
        raise TooComplex("too high a power of a unit")
    return Quantity(number(Node("*", tuple(powers))), {unit: times for unit, times in total.items() if times})


def _converted(term: Quantity, into: Quantity) -> Fraction:
    """The number of a term in the units of another one."""
    if dict(term.units) == dict(into.units):
        return term.value
    if not term.units and term.value == 0:
        return term.value
    value, exponents = in_base_units(term)
    unit_value, target_exponents = in_base_units(Quantity(Fraction(1), into.units))
    if exponents != target_exponents or bool(term.units) != bool(into.units):
        raise WrongUnits("quantities of different kinds are not added")
    return value / unit_value
