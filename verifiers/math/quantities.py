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
from verifiers.math.values import NoValue

Equal = Callable[[Node, Node], bool]
_ANY_COUNT = frozenset(
    ["unit", "item", "thing", "way", "person", "piece", "time", "个", "人", "种", "object", "number"]
)
_DEGREE = "degree"
_MAX_EXPONENT = 6


def same_quantity(reference: Node, answer: Node, policy: UnitPolicy, equal: Equal) -> bool | None:
    """Whether two quantities are the same; None when there is no unit on either side."""
    left, right = _beside(reference, answer), _beside(answer, reference)
    if left.kind != "quantity" and right.kind != "quantity":
        return None
    if left.kind == right.kind:
        return _same_unit(left, right, policy, equal)
    if left.kind == "quantity":
        return policy != "require" and _unit_aside(left, right, equal)
    return _unit_aside(right, left, lambda value, bare: equal(bare, value))


def _unit_aside(quantity: Node, bare: Node, equal: Equal) -> bool:
    if equal(quantity.args[0], bare):
        return True
    return quantity.leaf == _DEGREE and equal(_times(quantity.args[0], Fraction(1, 180), 1), bare)


def _same_unit(left: Node, right: Node, policy: UnitPolicy, equal: Equal) -> bool:
    mine, its = str(left.leaf), str(right.leaf)
    if policy == "ignore" or mine == its or _is_any_count(mine, its):
        return equal(left.args[0], right.args[0])
    if not units.compatible(its, mine):
        return False
    converted = _converted(right.args[0], its, mine)
    return converted is not None and equal(left.args[0], converted)


def _is_any_count(mine: str, its: str) -> bool:
    return units.is_count(mine) and units.is_count(its) and bool({mine, its} & _ANY_COUNT)


def _converted(value: Node, source: str, target: str) -> Node | None:
    """The value of the same quantity in the target unit."""
    factor = units.pi_factor(source, target)
    if factor is not None:
        return _times(value, *factor)
    try:
        exact = values.exact(value)
    except NoValue:
        return None
    converted = None if exact is None else units.convert(exact, source, target)
    return None if converted is None else Node("num", leaf=converted)


def _times(value: Node, factor: Fraction, power_of_pi: int) -> Node:
    factors = [value, Node("num", leaf=factor)]
    if power_of_pi:
        pi = Node("const", leaf="pi")
        factors.append(Node("^", (pi, Node("num", leaf=Fraction(power_of_pi)))))
    return Node("*", tuple(factors))


def _beside(node: Node, other: Node) -> Node:
    """A product of a number and letters as a quantity, if the other side is a quantity with a unit of these letters."""
    if node.kind not in ("*", "/") or other.kind != "quantity":
        return node
    found = _split(node)
    if found is None or not found[1]:
        return node
    value, exponents = found
    name = "·".join(f"{letter}^{power}" if power != 1 else letter for letter, power in sorted(exponents.items()))
    unit = units.key(name)
    if unit is None or not (unit == other.leaf or units.compatible(unit, str(other.leaf))):
        return node
    return Node("quantity", (value,), unit)


def _split(node: Node) -> tuple[Node, Counter[str]] | None:
    """The factor without letters, and the letters with their powers."""
    rest: list[Node] = []
    exponents: Counter[str] = Counter()
    for factor, sign in _factors(node, 1):
        base, power = factor, 1
        if factor.kind == "^" and factor.args[0].kind == "sym":
            try:
                exponent = values.exact(factor.args[1])
            except NoValue:
                return None
            if exponent is None or exponent.denominator != 1 or abs(exponent) > _MAX_EXPONENT:
                return None
            base, power = factor.args[0], exponent.numerator
        if base.kind == "sym":
            exponents[str(base.leaf)] += sign * power
        elif values.names(base):
            return None
        else:
            rest.append(base if sign > 0 else Node("/", (values.ONE, base)))
    value = rest[0] if len(rest) == 1 else Node("*", tuple(rest)) if rest else values.ONE
    return value, exponents


def _factors(node: Node, sign: int) -> list[tuple[Node, int]]:
    if node.kind == "*":
        return [found for arg in node.args for found in _factors(arg, sign)]
    if node.kind == "/":
        return [*_factors(node.args[0], sign), *_factors(node.args[1], -sign)]
    return [(node, sign)]


def added(items: tuple[Node, ...]) -> Node | None:
    """Add quantities of falling units: `5 ft 3 in`, `4 dollars and 25 cents`; None if the items are no such list."""
    if len(items) < 2 or any(item.kind != "quantity" for item in items):
        return None
    parts: list[tuple[Fraction, str]] = []
    for item in items:
        try:
            value = values.exact(item.args[0])
        except NoValue:
            return None
        if value is None:
            return None
        parts.append((value, str(item.leaf)))
    found = units.compound(parts)
    return None if found is None else Node("quantity", (Node("num", leaf=found[0]),), found[1])


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
    left, right = _written(reference), _written(answer)
    if "clock" in kinds or is_hour:
        one, two = moments.time_of_day(left), moments.time_of_day(right)
        return one is not None and two is not None and one.same_as(two)
    first, second = moments.date(left), moments.date(right)
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
