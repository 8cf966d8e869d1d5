"""Compares values with units, clock times and dates.

    5 m        500 cm       the same quantity in another unit (`unit_policy="convert"`)
    5 m        5            a unit on one side only is ignored, unless the policy is `require`
    5 m        5 s          never
    12 apples  12 people    a counted noun is a unit like another; only general ones (`items`, `ways`) stand for any
    90°        pi/2         an angle without a unit is in radians, or in the reference's degrees

A letter behind a number is a unit if the other side has that unit: `5 m` is five metres beside `500 cm`.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

from verifiers.math import moments, units, values
from verifiers.math.options import UnitPolicy
from verifiers.math.tree import Node

Equal = Callable[[Node, Node], bool]
_ANY_COUNT = frozenset(
    ["unit", "item", "thing", "way", "person", "piece", "time", "个", "人", "种", "object", "number"]
)
_DEGREE = "degree"
_MAX_EXPONENT = 6


def same_quantity(reference: Node, answer: Node, policy: UnitPolicy, equal: Equal) -> bool | None:
    """Whether two quantities are the same; None when there is no unit on either side."""
    lhs, rhs = _beside(reference, answer), _beside(answer, reference)
    if lhs.kind != "quantity" and rhs.kind != "quantity":
        return None
    if lhs.kind == rhs.kind:
        return _same_unit(lhs, rhs, policy, equal)
    if lhs.kind == "quantity":
        return policy != "require" and _unit_aside(lhs, rhs, equal)
    return _unit_aside(rhs, lhs, lambda value, bare: equal(bare, value))


def _unit_aside(quantity: Node, bare: Node, equal: Equal) -> bool:
    if equal(quantity.args[0], bare):
        return True
    return quantity.leaf == _DEGREE and equal(_times(quantity.args[0], Fraction(1, 180), 1), bare)


def _same_unit(lhs: Node, rhs: Node, policy: UnitPolicy, equal: Equal) -> bool:
    unit, target = str(lhs.leaf), str(rhs.leaf)
    if policy == "ignore" or unit == target or _is_any_count(unit, target):
        return equal(lhs.args[0], rhs.args[0])
    if not units.compatible(target, unit):
        return False
    converted = _converted(rhs.args[0], target, unit)
    return converted is not None and equal(lhs.args[0], converted)


def _is_any_count(unit: str, target: str) -> bool:
    return units.is_count(unit) and units.is_count(target) and bool({unit, target} & _ANY_COUNT)


def _converted(value: Node, source: str, target: str) -> Node | None:
    """The value of the same quantity in the target unit."""
    factor = units.pi_factor(source, target)
    if factor is not None:
        return _times(value, *factor)
    exact = values.exact_or_none(value)
    converted = None if exact is None else units.convert(exact, source, target)
    return None if converted is None else Node("num", leaf=converted)


def _times(value: Node, factor: Fraction, power_of_pi: int) -> Node:
    factors = [value, Node("num", leaf=factor)]
    if power_of_pi:
        pi = Node("const", leaf="pi")
        factors.append(Node("^", (pi, Node("num", leaf=Fraction(power_of_pi)))))
    return Node("*", tuple(factors))


def _beside(node: Node, opposite: Node) -> Node:
    """A product of a number and letters as a quantity, if the other side is a quantity with a unit of these letters."""
    if node.kind not in ("*", "/") or opposite.kind != "quantity":
        return node
    split = _split(node)
    if split is None or not split[1]:
        return node
    value, exponents = split
    name = "·".join(f"{letter}^{power}" if power != 1 else letter for letter, power in sorted(exponents.items()))
    unit = units.key(name)
    if unit is None or not (unit == opposite.leaf or units.compatible(unit, str(opposite.leaf))):
        return node
    return Node("quantity", (value,), unit)


def _split(node: Node) -> tuple[Node, Counter[str]] | None:
    """The factor without letters, and the letters with their powers."""
    letterless: list[Node] = []
    exponents: Counter[str] = Counter()
    for factor, sign in _factors(node, 1):
        base, power = factor, 1
        if factor.kind == "^" and factor.args[0].kind == "sym":
            exponent = values.exact_or_none(factor.args[1])
            if exponent is None or exponent.denominator != 1 or abs(exponent) > _MAX_EXPONENT:
                return None
            base, power = factor.args[0], exponent.numerator
        if base.kind == "sym":
            exponents[str(base.leaf)] += sign * power
        elif values.names(base):
            return None
        else:
            letterless.append(base if sign > 0 else Node("/", (values.ONE, base)))
    value = letterless[0] if len(letterless) == 1 else Node("*", tuple(letterless)) if letterless else values.ONE
    return value, exponents


def _factors(node: Node, sign: int) -> list[tuple[Node, int]]:
    if node.kind == "*":
        return [factor for arg in node.args for factor in _factors(arg, sign)]
    if node.kind == "/":
        return [*_factors(node.args[0], sign), *_factors(node.args[1], -sign)]
    return [(node, sign)]


def added(items: tuple[Node, ...]) -> Node | None:
    """Add quantities of falling units: `5 ft 3 in`, `4 dollars and 25 cents`; None if the items are no such list."""
    if len(items) < 2 or any(item.kind != "quantity" for item in items):
        return None
    amounts: list[tuple[Fraction, str]] = []
    for item in items:
        value = values.exact_or_none(item.args[0])
        if value is None:
            return None
        amounts.append((value, str(item.leaf)))
    total = units.compound(amounts)
    return None if total is None else Node("quantity", (Node("num", leaf=total[0]),), total[1])


def same_moment(reference: Node, answer: Node) -> bool | None:
    """Whether two clock times, or two dates, are the same; None when neither side is one.

    Two values such as `12:00`, with minutes under 60, are times, because ratios would be reduced.
    """
    kinds = {reference.kind, answer.kind}
    if kinds == {"ratio"} and reference.leaf == answer.leaf == "clock":
        return reference.args == answer.args
    is_hour = reference.leaf == "clock" and _is_hour(answer)
    if not (kinds & {"clock", "date"} or is_hour):
        return None
    reference_text, answer_text = _written(reference), _written(answer)
    if "clock" in kinds or is_hour:
        reference_time, answer_time = moments.time_of_day(reference_text), moments.time_of_day(answer_text)
        return reference_time is not None and answer_time is not None and reference_time.same_as(answer_time)
    first, second = moments.date(reference_text), moments.date(answer_text)
    return first is not None and second is not None and first.same_as(second)


def _is_hour(node: Node) -> bool:
    """Whether a quantity may name a time of the day: `17 h`, `17 horas`."""
    return node.kind == "quantity" and node.leaf == "h" and node.args[0].kind == "num"


def _written(node: Node) -> str:
    """The text of a moment; a ratio `3:45` and a full hour `17 h` are written as times."""
    if _is_hour(node):
        return f"{node.args[0].leaf}:00"
    if node.kind == "ratio" and len(node.args) == 2 and all(isinstance(arg.leaf, Fraction) for arg in node.args):
        hours, minutes = (arg.leaf for arg in node.args)
        return f"{hours}:{str(minutes).zfill(2)}"
    return str(node.leaf) if node.kind in ("clock", "date") else ""
