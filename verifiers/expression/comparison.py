"""Compares two quantities, within a tolerance and by a policy about units.

    ignore     the numbers alone, without their units
    convert    the same quantity in any unit of its kind; a unit on one side only is ignored
    require    the same, but an answer must have a unit if the reference has one

Units of different kinds are never the same. Without a tolerance, integers must be equal exactly; other numbers may
differ by a millionth of the reference, and by a millionth absolutely if that is small beside the reference: for a
reference of 1.6e-19, 0 is not near.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from verifiers.expression.evaluation import Quantity, WrongUnits, in_base_units, number
from verifiers.math import units
from verifiers.math.options import UnitPolicy
from verifiers.math.quantities import same_quantity
from verifiers.math.tree import Node

Result = Literal["equal", "missing_unit", "dimension_mismatch", "different"]
DEFAULT_TOLERANCE = 1e-6
_SMALL_BESIDE = Fraction(1, 1000)


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a number must be; None if the caller did not say."""

    abs_tol: float | None = None
    rel_tol: float | None = None
    sig_figs: int | None = None

    @classmethod
    def unpacked(cls, packed: list[Any]) -> "Nearness":
        return cls(*packed)

    def packed(self) -> list[Any]:
        return [self.abs_tol, self.rel_tol, self.sig_figs]

    def allows(self, reference: Fraction, answer: Fraction) -> bool:
        gap = abs(reference - answer)
        if gap == 0:
            return True
        if self.sig_figs is not None and gap * 2 <= _last_figure(reference, self.sig_figs):
            return True
        if self.abs_tol is None and self.rel_tol is None:
            if self.sig_figs is not None or reference.denominator == answer.denominator == 1:
                return False
            near = Fraction(DEFAULT_TOLERANCE)
            if reference == 0:
                return gap <= near
            return gap <= max(near * abs(reference), min(near, _SMALL_BESIDE * abs(reference)))
        return gap <= max(Fraction(self.abs_tol or 0), Fraction(self.rel_tol or 0) * abs(reference))


def _last_figure(value: Fraction, figures: int) -> Fraction:
    """One unit of the last of `figures` significant figures; 0 for zero, which has none."""
    if value == 0:
        return Fraction(0)
    size = abs(value)
    exponent = int((size.numerator.bit_length() - size.denominator.bit_length()) * _LOG10_OF_2)
    while size < Fraction(10) ** exponent:
        exponent -= 1
    while size >= Fraction(10) ** (exponent + 1):
        exponent += 1
    return Fraction(10) ** (exponent - figures + 1)


_LOG10_OF_2 = 0.30103


def compare(reference: Quantity, answer: Quantity, policy: UnitPolicy, nearness: Nearness) -> Result:
    """Compare an answer with a reference."""
    if policy == "ignore":
        return _result(nearness.allows(reference.value, answer.value))
    if not reference.units or not answer.units:
        is_same = _unit_aside(reference, answer, nearness)
        return "missing_unit" if is_same and reference.units and policy == "require" else _result(is_same)
    if reference.unit is not None and answer.unit is not None:
        if not _are_compatible(reference.unit, answer.unit):
            return "dimension_mismatch"
        return _result(_same_quantity(reference, answer, nearness))
    try:
        (value, exponents), (answer_value, answer_exponents) = in_base_units(reference), in_base_units(answer)
        (unit_value, _) = in_base_units(Quantity(Fraction(1), reference.units))
    except WrongUnits:
        return "dimension_mismatch"
    if exponents != answer_exponents:
        return "dimension_mismatch"
    return _result(nearness.allows(value / unit_value, answer_value / unit_value))


def _result(is_same: bool) -> Result:
    return "equal" if is_same else "different"


def _unit_aside(reference: Quantity, answer: Quantity, nearness: Nearness) -> bool:
    """Compare if one side has no unit: as numbers; an angle also in radians, and a percent sign also as a unit."""
    if nearness.allows(reference.value, answer.value):
        return True
    if reference.is_percent != answer.is_percent:
        lhs, rhs = (q.value * 100 if q.is_percent else q.value for q in (reference, answer))
        return abs(lhs) > 1 and nearness.allows(lhs, rhs)
    return bool(reference.unit or answer.unit) and _same_quantity(reference, answer, nearness)


def _are_compatible(first: str, second: str) -> bool:
    return first == second or units.compatible(first, second) or (units.is_count(first) and units.is_count(second))


def _same_quantity(reference: Quantity, answer: Quantity, nearness: Nearness) -> bool:
    def equal(first: Node, second: Node) -> bool:
        return nearness.allows(number(first), number(second))

    return bool(same_quantity(_node(reference), _node(answer), "convert", equal))


def _node(quantity: Quantity) -> Node:
    value = Node("num", leaf=quantity.value)
    return value if quantity.unit is None else Node("quantity", (value,), quantity.unit)
