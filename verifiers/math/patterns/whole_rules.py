"""The rules for the whole answer: its structure, its unit, its form, and the origin of its value."""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from memory import remember
from verifiers.commitment import NUMBER
from verifiers.math import limits, units
from verifiers.math.equations import computations
from verifiers.math.exact import number
from verifiers.math.forms import fits
from verifiers.math.patterns.case import Case
from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.known import MAX_WEIGHT, weight_of
from verifiers.math.patterns.parts import unit_and_value
from verifiers.math.patterns.structures import is_same_element
from verifiers.math.patterns.wording import clipped, tree_text, value_text
from verifiers.math.reader import read
from verifiers.math.tree import Node, TooComplex, Unreadable
from verifiers.math.values import NoValue


def of_structure(case: Case) -> Iterator[Pattern]:
    """The patterns of structure: elements, order and ends of intervals."""
    yield from case.differences.patterns
    for code, elements in (
        (Code.MISSING_ELEMENT, case.differences.missing),
        (Code.EXTRA_ELEMENT, case.differences.extra),
    ):
        if elements:
            yield Pattern(code, ", ".join(elements))


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
    elif case.values.same(case.answer, case.reference):
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
        return is_same_element(step, case.answer, case.values) and not is_same_element(
            case.reference, step, case.values
        )
    except (NoValue, TooComplex):
        return False


def copied_input(case: Case) -> Iterator[Pattern]:
    """Whether the answer is a number of the question."""
    value, right = case.values.exact(case.answer), case.values.exact(case.reference)
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
