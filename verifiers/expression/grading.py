"""Judges the expression in one response, in a worker."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memory import remember
from sandbox.workers import worker_function
from verifiers.base import Status, Verdict, clip
from verifiers.commitment import Channel, ExtractionParams, final_segment, supposes
from verifiers.commitment.alternatives import alternative
from verifiers.expression.comparison import Nearness, Result, compare
from verifiers.expression.evaluation import Quantity, WrongUnits, evaluate, in_base_units
from verifiers.expression.reading import Expression, read_expression
from verifiers.long_texts import fields_of
from verifiers.math.exact import number
from verifiers.math.first_look import FirstLook, Found, Terms
from verifiers.math.options import Options, UnitPolicy
from verifiers.math.patterns import find
from verifiers.math.patterns.rules import Context, numbers
from verifiers.math.rounding import last_place
from verifiers.math.solutions import final_answer
from verifiers.math.tree import Node, TooComplex, Unreadable, replace_names, with_parts
from verifiers.math.values import NoValue

_MAX_DIGITS_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why a text has no value; `reason` is the reason of the verdict."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An expression with its value; two values if the base of a logarithm is open."""

    node: Node
    quantities: Sequence[Quantity]


@worker_function
def grade(payload: Sequence[Any]) -> list[Any]:
    """The fields of a verdict; runs in a worker. The payload is `(references, unit, extraction, unit_policy, Nearness,
    missing_unit_credit, partial_credit, response, question, explain)`.

    If `response` is None, only the references are checked.
    """
    references, unit, extraction, policy, nearness, missing_unit_credit, partial_credit, *tail = payload
    response, question, explain = tail
    evaluated_references: list[Evaluated] = []
    for text in references:
        reference = _reference(text, unit)
        if isinstance(reference, Fault):
            return fields_of(Verdict.invalid(*_as_references(reference, text)))
        evaluated_references.append(reference)
    if response is None:
        return fields_of(Verdict.wrong("reference"))
    finding = _found(references, unit, extraction, response, explain)
    if finding.answer is None:
        return fields_of(Verdict.wrong(finding.reason, **finding.detail))
    answer = value_of(finding.answer)
    if _is_left_open(answer, finding, response):
        return fields_of(Verdict.wrong("conflicting_answers", **finding.detail))
    if isinstance(answer, Fault):
        return fields_of(Verdict.wrong(answer.reason, finding.answer, **finding.detail, message=clip(answer.message)))
    detail = {**finding.detail, "value": _shown(answer.quantities[0])}
    result, reference = _best(evaluated_references, answer, policy, Nearness.unpacked(nearness))
    if explain:
        detail["reference_value"] = _shown(reference.quantities[0])
    if result == "equal":
        return fields_of(Verdict.correct(finding.answer, **detail))
    if result == "missing_unit" and missing_unit_credit:
        return fields_of(Verdict(Status.OK, missing_unit_credit, "missing_unit", clip(finding.answer), detail))
    if explain:
        context = Context(question=question, response=response[-_CALCULATED_CHARS:])
        if errors := find(_with_units(reference), _with_units(answer), context):
            detail["error_patterns"] = [error.as_json() for error in errors]
    reason = "wrong_answer" if result == "different" else result
    if partial_credit and result == "different" and _is_attempt(answer, reference, question):
        return fields_of(Verdict(Status.OK, partial_credit, "partly_correct", clip(finding.answer), detail))
    return fields_of(Verdict.wrong(reason, finding.answer, **detail))


_CALCULATED_CHARS = 8_000


_MARKS = frozenset([Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4])


def _is_left_open(answer: Evaluated | Fault, finding: Found, response: str) -> bool:
    """Whether an expression with another value is offered beside a marked one."""
    span = finding.detail.get("span") if finding.detail.get("channel") in _MARKS else None
    other = alternative(response, span[1]) if span else None
    value = value_of(response[slice(*other)]) if other else None
    if not isinstance(answer, Evaluated) or not isinstance(value, Evaluated):
        return False
    return compare(answer.quantities[0], value.quantities[0], "convert", Nearness()) == "different"


def _found(references: list[str], unit: str | None, extraction: str, response: str, explain: bool) -> Found:
    """Find the answer as `math` does; but a response that is one expression is itself the answer."""
    finding = FirstLook(Terms(references, Options(unit=unit), extraction)).find(response, explain)
    params = ExtractionParams.model_validate_json(extraction)
    channel = finding.detail.get("channel")
    is_open = channel in (None, Channel.LAST_NUMBER) and finding.reason in ("found", "no_answer", "conflicting_answers")
    if params.extract != "auto" or not is_open:
        return finding
    segment = final_segment(response, params.think)
    if segment.end - segment.start > _MAX_WHOLE_CHARS:
        return finding
    content = response[segment.start : segment.end]
    fence = _FENCED.fullmatch(content)
    start, end = (segment.start, segment.end) if fence is None else tuple(segment.start + at for at in fence.span(1))
    if "\n" in response[start:end] or isinstance(value_of(response[start:end]), Fault):
        return finding
    given = _GIVEN.search(response, start, end)
    if given is not None and supposes(response, start, given.start("value"), given.end()):
        return finding
    return Found(response[start:end], "found", {"channel": str(Channel.WHOLE), "span": [start, end]})


_GIVEN = re.compile(r"=\s?(?P<value>[-−]?\d[\d.,]{0,24}(?<=\d))")
_MAX_WHOLE_CHARS = 600
_FENCED = re.compile(r"```[a-z0-9]{0,12}[ \t]*\n([^`\n]+)\n?```")


@remember(4096)
def _reference(text: str, unit: str | None) -> Evaluated | Fault:
    gold = value_of(final_answer(text))
    if isinstance(gold, Fault) or unit is None or gold.quantities[0].units:
        return gold
    return Evaluated(Node("quantity", (gold.node,), unit), [Quantity(q.value, {unit: 1}) for q in gold.quantities])


def _as_references(fault: Fault, text: str) -> tuple[str, str]:
    reason = "reference_too_complex" if fault.reason == "too_complex" else "unparseable_reference"
    return reason, f"reference {text[:200]!r}: {fault.message}"


def value_of(text: str) -> Evaluated | Fault:
    """The value of a text: of an expression, or of an equation with equal sides."""
    if _takes_several_values(text):
        return Fault("no_value", "one name stands for different values")
    sides = [side for side in _EQUALS.split(text) if side.strip()] or [text]
    read = [(side, _value(side)) for side in sides[:_MAX_SIDES]]
    read_sides = [(side, value) for side, value in read if isinstance(value, Evaluated)]
    if not read_sides or isinstance(last := read[-1][1], Fault):
        return next(value for _, value in reversed(read) if isinstance(value, Fault))
    is_rounded = _ABOUT.search(text) is not None
    if any(not _agree(*read_sides[0], side, value, is_rounded) for side, value in read_sides[1:]):
        return Fault("inconsistent_equation", "the sides of the equation differ")
    return (
        last
        if len(read_sides) == 1
        else Evaluated(read_sides[0][1].node, [q for _, value in read_sides for q in value.quantities])
    )


def _takes_several_values(text: str) -> bool:
    """Whether a text lists equations that cannot all hold: `x = 3, x = 5`."""
    assigned: dict[str, tuple[str, Evaluated]] = {}
    for name, side in _LISTED.findall(text)[:_MAX_SIDES]:
        value = _value(side)
        if isinstance(value, Evaluated) and not _agree(*assigned.setdefault(name, (side, value)), side, value, False):
            return True
    return False


_LISTED = re.compile(
    r"(?:^|[,;\n]|\b(?:or|and)\b)\s{0,4}(\\?[A-Za-z]\w{0,12})\s{0,4}=(?!=)([^=,;\n]{1,200}?)(?=[,;\n]|\b(?:or|and)\b|$)"
)
_MAX_SIDES = 8
_EQUALS = re.compile(r"(?<![<>!=:])=(?!=)|≈|\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])")
_ABOUT = re.compile(r"≈|\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])")


def _agree(side: str, first: Evaluated, side2: str, second: Evaluated, is_rounded: bool) -> bool:
    """Whether two sides are the same, or one is a rounding of the other."""
    lhs, rhs = first.quantities[0], second.quantities[0]
    if any(compare(p, g, "convert", Nearness()) == "equal" for p in first.quantities for g in second.quantities):
        return True
    if lhs.units and rhs.units and lhs.units != rhs.units:
        return False
    gap = abs(lhs.value - rhs.value)
    units = [last_place(q.value) for text, q in ((side, lhs), (side2, rhs)) if is_rounded or "." in text]
    return any(unit is not None and gap < unit for unit in units)


def _value(text: str) -> Evaluated | Fault:
    if "/" not in text and "frac" not in text and (plain := number(text)) is not None:
        return Evaluated(Node("num", leaf=plain), [Quantity(plain)])
    try:
        expression = read_expression(text)
        return Evaluated(_named(expression), [evaluate(reading) for reading in _readings(expression)])
    except Unreadable as error:
        return Fault("unparseable", str(error))
    except (TooComplex, RecursionError) as error:
        return Fault("too_complex", str(error))
    except NoValue as error:
        return Fault("no_value", str(error))
    except WrongUnits as error:
        return Fault("wrong_units", str(error))


def _readings(expression: Expression) -> list[Expression]:
    """The readings of an expression: a logarithm without a base is decimal or natural."""
    node = expression.node
    if not any(part == _BARE_LOG for part in node.walk()):
        return [expression]
    return [expression, Expression(_natural(node), expression.units)]


_BARE_LOG = Node("const", leaf="log")


def _natural(node: Node) -> Node:
    if node.kind == "log" and node.args[0] == _BARE_LOG:
        return Node("fn", (_natural(node.args[1]),), "ln")
    return with_parts(node, _natural)


def _named(expression: Expression) -> Node:
    return replace_names(expression.node, {name: Node("sym", leaf=unit) for name, unit in expression.units.items()})


def _best(
    evaluated_references: Sequence[Evaluated], evaluated_answer: Evaluated, policy: UnitPolicy, nearness: Nearness
) -> tuple[Result, Evaluated]:
    """The best result for any of the references, and that reference."""
    results = [
        (compare(expected, answer, policy, nearness), reference)
        for reference in evaluated_references
        for expected in reference.quantities
        for answer in evaluated_answer.quantities
    ]
    return min(results, key=lambda result: _ORDER.index(result[0]))


_ORDER: tuple[Result, ...] = ("equal", "missing_unit", "different", "dimension_mismatch")


def _with_units(evaluated: Evaluated) -> Node:
    """A number with its unit as a node, for finding the kind of error."""
    quantity = evaluated.quantities[0]
    if quantity.unit is None or evaluated.node.kind == "quantity":
        return evaluated.node
    return Node("quantity", (Node("num", leaf=quantity.value),), quantity.unit)


def _is_attempt(answer: Evaluated, reference: Evaluated, question: str | None) -> bool:
    """Whether it computes with at least two numbers of the question, and has the right kind of quantity."""
    question_numbers = frozenset[Fraction]() if question is None else numbers(question)
    if sum(part.kind == "num" and part.leaf in question_numbers for part in answer.node.walk()) < 2:
        return False
    try:
        return in_base_units(answer.quantities[0])[1] == in_base_units(reference.quantities[0])[1]
    except WrongUnits:
        return False


def _shown(quantity: Quantity) -> str:
    value = quantity.value
    unit = quantity.unit or "·".join(f"({unit})^{times}" for unit, times in quantity.units.items())
    return f"{_digits(value)} {unit.replace('^1', '')}".strip()


def _digits(value: Fraction) -> str:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 4_000:
        return f"<{value.numerator.bit_length()} bits>"
    digits = str(value)
    if len(digits) <= _MAX_DIGITS_SHOWN:
        return digits
    try:
        return f"{float(value):.15g}"
    except OverflowError:
        return f"{digits[:_MAX_DIGITS_SHOWN]}…"
