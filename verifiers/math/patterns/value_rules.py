"""The rules for two values that stand in the same place."""

from collections.abc import Callable, Iterator
from fractions import Fraction

from mpmath import mp  # type: ignore[import-untyped] # it ships no types

from verifiers.math import values
from verifiers.math.patterns.case import Case
from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.known import BITS, Known, Relation
from verifiers.math.patterns.parts import Part
from verifiers.math.patterns.wording import is_decimal, value_text
from verifiers.math.rounding import is_rounded, last_place
from verifiers.math.tree import TooComplex
from verifiers.math.values import NoValue

Rule = Callable[[Part, Known], int]
"""Whether a part shows the pattern: 0 if it does not; for `POWER10` the exponent."""


def _any(*relations: Relation) -> Rule:
    def holds(part: Part, values: Known) -> int:
        return any(values.holds(relation, part.answer, part.reference) for relation in relations)

    return holds


def _exactly(part: Part, values: Known) -> tuple[Fraction, Fraction] | None:
    p, g = values.exact(part.answer), values.exact(part.reference)
    return None if p is None or g is None else (p, g)


_is_opposite = _any(lambda p, g: (p, -g))
_is_unit = _any(lambda _, g: (g * g, 1))


def _larger(factor: int) -> Rule:
    return _any(lambda p, g: (p, g * factor))


def _smaller(factor: int) -> Rule:
    return _any(lambda p, g: (p * factor, g))


_POWERS_OF_TEN = tuple(rule for k in range(1, 10) for rule in ((k, _larger(10**k)), (-k, _smaller(10**k))))


def _power_of_ten(part: Part, values: Known) -> int:
    return next((k for k, rule in _POWERS_OF_TEN if rule(part, values)), 0)


def _by(factor: int) -> Rule:
    return lambda part, values: _larger(factor)(part, values) or _smaller(factor)(part, values)


def _off_by_one(part: Part, evaluated: Known) -> int:
    exact = _exactly(part, evaluated)
    if exact is not None:
        return abs(exact[0] - exact[1]) == 1 and exact[0].denominator == 1
    if not values.names(part.answer) or not values.names(part.reference):
        return 0
    return _any(lambda p, g: (p, g + 1), lambda p, g: (p + 1, g))(part, evaluated)


def _square(part: Part, values: Known) -> int:
    return values.holds(lambda p, g: (p, g * g), part.answer, part.reference) and not _is_unit(part, values)


def _square_root(part: Part, values: Known) -> int:
    return values.holds(lambda p, g: (p * p, g), part.answer, part.reference) and not _is_unit(part, values)


def _rounding(part: Part, evaluated: Known) -> int:
    if values.names(part.answer) or values.names(part.reference):
        return 0
    exact = _exactly(part, evaluated)
    if exact is not None:
        return is_rounded(*exact, is_decimal(part.answer))
    p, g = evaluated.at(part.answer, 0), evaluated.at(part.reference, 0)
    if p is None or g is None:
        return 0
    with mp.workprec(BITS):
        unit = last_place(evaluated.exact(part.answer)) if is_decimal(part.answer) else None
        return bool(abs(p - g) * 100 < abs(g) or (unit is not None and abs(p - g) < values.as_number(unit)))


_VALUE_RULES: tuple[tuple[Code, Rule, str], ...] = (
    (Code.SIGN, _is_opposite, "{p} is minus {g}"),
    (Code.PERCENT, _by(100), "{p} is 100 times or a hundredth of {g}"),
    (Code.POWER10, _power_of_ten, "{p} is {g} · 10^{k}"),
    (Code.RECIPROCAL, _any(lambda p, g: (p * g, 1)), "{p} is 1 divided by {g}"),
    (Code.OFF_BY_ONE, _off_by_one, "{p} is one more or one less than {g}"),
    (Code.FACTOR_TWO, _by(2), "{p} is twice or half of {g}"),
    (Code.SQUARE, _square, "{p} is the square of {g}"),
    (Code.SQUARE_ROOT, _square_root, "{p} is a square root of {g}"),
    (Code.ROUNDING, _rounding, "{p} is near {g}"),
)


def of_values(case: Case) -> Iterator[Pattern]:
    """Apply the rules for two values to all parts that differ."""
    explained: set[int] = set()
    for code, rule, text in _VALUE_RULES:
        for at, part in enumerate(case.differences.parts):
            if code is Code.ROUNDING and at in explained:
                continue
            try:
                k = rule(part, case.values)
            except (NoValue, TooComplex):
                continue
            if k:
                explained.add(at)
                detail = text.format(p=value_text(part.answer), g=value_text(part.reference), k=int(k))
                yield Pattern(code, f"{part.place}: {detail}" if part.place else detail)
                break
