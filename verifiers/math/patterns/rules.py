"""The rules: which mistakes the differences between an answer and its reference show."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from mpmath import mp  # type: ignore[import-untyped] # it ships no types

from memory import remember
from verifiers.commitment import NUMBER
from verifiers.math import limits, units, values
from verifiers.math.equations import computations
from verifiers.math.exact import number
from verifiers.math.forms import fits
from verifiers.math.options import Form
from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.differences import (
    Differences,
    Part,
    bare,
    between,
    clipped,
    converted,
    is_decimal,
    is_same_element,
    tree_text,
    unit_and_value,
    value_text,
)
from verifiers.math.patterns.known import BITS, MAX_WEIGHT, Known, Relation, weight_of
from verifiers.math.reader import read
from verifiers.math.rounding import is_rounded, last_place
from verifiers.math.tree import Node, TooComplex, Unreadable
from verifiers.math.values import NoValue


@dataclass(frozen=True, slots=True)
class Context:
    """The context of an answer beside its reference."""

    question: str | None = None
    steps: Sequence[str] = ()
    """Intermediate values on the way to the reference, in order."""
    response: str | None = None
    form: Form = "any"
    ordered: bool = False
    """Whether the elements of lists and sets must be in order."""
    right: bool = False
    """Whether the comparison found the value right, so that only the form of the answer is checked."""


class Case:
    """One call of `find`: the bare values of both sides, and how they differ."""

    def __init__(self, reference: Node, answer: Node, context: Context) -> None:
        self.context, self.written, self.known = context, answer, Known()
        lhs, rhs = bare(reference, answer)
        self.reference_unit, self.reference = unit_and_value(lhs)
        self.answer_unit, self.answer = unit_and_value(rhs)
        self.is_same = False
        """Whether the two differ at most in their unit or their form."""
        self.differences = Differences()
        try:
            value = converted(self.answer, self.answer_unit, self.reference_unit, self.known)
            if value is not None:
                differences = between(self.reference, value, context.ordered, self.known)
                self.is_same, self.differences = differences is None, differences or Differences()
        except (NoValue, TooComplex):
            pass


# --- of the value


def _by(factor: int) -> tuple[Relation, Relation]:
    return lambda p, g: (p, g * factor), lambda p, g: (p * factor, g)


_VALUE_RULES: tuple[tuple[Code, Sequence[Relation], str], ...] = (
    (Code.SIGN, [lambda p, g: (p, -g)], "{p} is minus {g}"),
    (Code.PERCENT, _by(100), "{p} is 100 times or a hundredth of {g}"),
    (Code.POWER10, [relation for k in range(1, 10) for relation in _by(10**k)], "{p} is {g} · 10^{k}"),
    (Code.OFF_BY_ONE, [lambda p, g: (p, g + 1), lambda p, g: (p + 1, g)], "{p} is one more or one less than {g}"),
    (Code.FACTOR_TWO, _by(2), "{p} is twice or half of {g}"),
    (Code.ROUNDING, [], "{p} is near {g}"),
)


def of_values(case: Case) -> Iterator[Pattern]:
    """The patterns of two values that stand in the same place: of each, the first part that shows it."""
    explained: set[int] = set()
    for code, relations, text in _VALUE_RULES:
        for at, part in enumerate(case.differences.parts):
            try:
                place = (
                    _relation(code, relations, part, case.known) if code != Code.ROUNDING else _near(part, case.known)
                )
            except (NoValue, TooComplex):
                continue
            if place is not None and not (code is Code.ROUNDING and at in explained):
                explained.add(at)
                k = (place // 2 + 1) * (-1 if place % 2 else 1)
                detail = text.format(p=value_text(part.answer), g=value_text(part.reference), k=k)
                yield Pattern(code, f"{part.place}: {detail}" if part.place else detail)
                break


def _relation(code: Code, relations: Sequence[Relation], part: Part, known: Known) -> int | None:
    """The place of the first relation that holds between two values."""
    p, g = part.answer, part.reference
    if code is Code.OFF_BY_ONE:
        exact = known.exact(p)
        if exact.denominator != 1 if exact is not None else not (values.names(p) and values.names(g)):
            return None
    return next((at for at, relation in enumerate(relations) if known.holds(relation, p, g)), None)


def _near(part: Part, known: Known) -> int | None:
    """0 if the answer is a rounding of the reference."""
    if values.names(part.answer) or values.names(part.reference):
        return None
    p, g = known.exact(part.answer), known.exact(part.reference)
    if p is not None and g is not None:
        return 0 if is_rounded(p, g, is_decimal(part.answer)) else None
    near, value = known.at(part.answer, 0), known.at(part.reference, 0)
    if near is None or value is None:
        return None
    unit = last_place(p) if is_decimal(part.answer) else None
    with mp.workprec(BITS):
        gap = abs(near - value)
        return 0 if gap * 100 < abs(value) or (unit is not None and gap < values.as_number(unit)) else None


# --- of the whole answer


def of_structure(case: Case) -> Iterator[Pattern]:
    """The patterns of structure: elements, order and ends of intervals."""
    differences = case.differences
    yield from differences.patterns
    for code, nodes in ((Code.MISSING_ELEMENT, differences.missing), (Code.EXTRA_ELEMENT, differences.extra)):
        if nodes:
            yield Pattern(code, ", ".join(map(value_text, nodes)))


def of_unit(case: Case) -> Iterator[Pattern]:
    """The patterns of the unit."""
    expected, answer_unit = case.reference_unit, case.answer_unit
    if expected is None or answer_unit == expected:
        return
    if answer_unit is None:
        if case.is_same:
            yield Pattern(Code.UNIT_MISSING, f"the unit {clipped(expected)} is missing")
        return
    are_known = units.dimension(expected) is not None and units.dimension(answer_unit) is not None
    if are_known and not units.compatible(expected, answer_unit):
        yield Pattern(Code.DIMENSION_MISMATCH, f"{clipped(answer_unit)} does not measure what {clipped(expected)} does")
    elif case.is_same:
        yield Pattern(Code.UNIT_MISMATCH, f"the same quantity in {clipped(answer_unit)}, not in {clipped(expected)}")
    elif case.known.same(case.answer, case.reference):
        yield Pattern(Code.UNIT_MISMATCH, f"the same number of {clipped(answer_unit)}, not of {clipped(expected)}")


def unsimplified(case: Case) -> Iterator[Pattern]:
    """Whether the right value has a form that was not asked for."""
    if (
        case.context.form != "simplified"
        or not (case.context.right or case.is_same)
        or fits(case.written, "simplified")
    ):
        return
    part = case.written
    while (unsimplified_arg := next((arg for arg in part.args if not fits(arg, "simplified")), None)) is not None:
        part = unsimplified_arg
    yield Pattern(Code.UNSIMPLIFIED, f"not simplified: {tree_text(part)}")


_MAX_STEPS = 32
_MAX_STEP_CHARS = 300


def stopped_early(case: Case) -> Iterator[Pattern]:
    """Whether the answer is the value of a step before the last."""
    if case.is_same:
        return
    for step in case.context.steps[:_MAX_STEPS]:
        value = _step_value(step)
        if value is not None and _is_step(value, case):
            yield Pattern(Code.STOPPED_EARLY, f"the value of the step {clipped(step)}")
            return


@remember(2048)
def _step_value(step: str) -> Node | None:
    """The value of a step: the last side of an equation, or the whole step."""
    if len(step) > _MAX_STEP_CHARS or limits.refusal(step) is not None:
        return None
    try:
        node = read(step)
    except (Unreadable, TooComplex):
        return None
    if node.kind == "=" or (node.kind == "chain" and "=" in str(node.leaf).split()):
        node = node.args[-1]
    return unit_and_value(node)[1] if weight_of(node) <= MAX_WEIGHT // 4 else None


def _is_step(step: Node, case: Case) -> bool:
    try:
        return is_same_element(step, case.answer, case.known) and not is_same_element(case.reference, step, case.known)
    except (NoValue, TooComplex):
        return False


def copied_input(case: Case) -> Iterator[Pattern]:
    """Whether the answer is a number of the question."""
    value, right = case.known.exact(case.answer), case.known.exact(case.reference)
    if value is None or value == right or case.is_same or case.context.question is None:
        return
    if value in numbers(case.context.question):
        yield Pattern(Code.COPIED_INPUT, f"{value_text(case.answer)} is a number of the question")


_NUMBER = re.compile(NUMBER)
_NO_SIGNS = dict.fromkeys(map(ord, "$€£¥￥₹%％"))
_MAX_QUESTION_CHARS = 20_000
_MAX_NUMBERS = 400


@remember(256)
def numbers(question: str) -> frozenset[Fraction]:
    """The numbers in a question, each with its sign and without."""
    values: set[Fraction] = set()
    for match in islice(_NUMBER.finditer(question[:_MAX_QUESTION_CHARS]), _MAX_NUMBERS):
        value = number(match[0].replace(r"\$", "").replace(r"\%", "").translate(_NO_SIGNS))
        if value is not None:
            values |= {value, abs(value)}
    return frozenset(values)


_MAX_EQUATION_CHARS = 1_500


def false_equation(response: str | None) -> Iterator[Pattern]:
    """The first equation between numbers in the response that holds in no reading of its sides."""
    for equation in computations(response or "", _MAX_EQUATION_CHARS):
        if equation.holds is False:
            yield Pattern(Code.ARITHMETIC, f"{clipped(equation.left)} is not {clipped(equation.right)}")
            return
