"""Judges the expression in one response, in a worker."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memory import remember
from sandbox.workers import worker_function
from verifiers.base import Status, Verdict, clip
from verifiers.commitment import Channel, ExtractionParams, final_segment
from verifiers.expression.comparison import Nearness, Result, compare
from verifiers.expression.evaluation import Quantity, WrongUnits, evaluate, in_base_units
from verifiers.expression.reading import Expression, read_expression
from verifiers.long_texts import fields_of
from verifiers.math.exact import number
from verifiers.math.first_look import FirstLook, Found, Terms
from verifiers.math.options import Options, UnitPolicy
from verifiers.math.patterns import find
from verifiers.math.patterns.case import Context
from verifiers.math.patterns.whole_rules import numbers
from verifiers.math.rounding import last_place
from verifiers.math.solutions import final_answer
from verifiers.math.tree import Node, TooComplex, Unreadable, replace_names
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
    references, unit, extraction, policy, nearness, missing_unit_credit, partial_credit, *rest = payload
    response, question, explain = rest
    known: list[Evaluated] = []
    for text in references:
        reference = _reference(text, unit)
        if isinstance(reference, Fault):
            return fields_of(Verdict.invalid(*_as_references(reference, text)))
        known.append(reference)
    if response is None:
        return fields_of(Verdict.wrong("reference"))
    found = _found(references, unit, extraction, response, explain)
    if found.answer is None:
        return fields_of(Verdict.wrong(found.reason, **found.detail))
    given = value_of(found.answer)
    if isinstance(given, Fault):
        return fields_of(Verdict.wrong(given.reason, found.answer, **found.detail, message=clip(given.message)))
    detail = {**found.detail, "value": _shown(given.quantities[0])}
    result, reference = _best(known, given, policy, Nearness.unpacked(nearness))
    if explain:
        detail["reference_value"] = _shown(reference.quantities[0])
    if result == "equal":
        return fields_of(Verdict.correct(found.answer, **detail))
    if result == "missing_unit" and missing_unit_credit:
        return fields_of(Verdict(Status.OK, missing_unit_credit, "missing_unit", clip(found.answer), detail))
    if explain:
        context = Context(question=question, response=response[-_CALCULATED_CHARS:])
        if errors := find(_with_units(reference), _with_units(given), context):
            detail["error_patterns"] = [error.as_json() for error in errors]
    reason = "wrong_answer" if result == "different" else result
    if partial_credit and result == "different" and _is_attempt(given, reference, question):
        return fields_of(Verdict(Status.OK, partial_credit, "partly_correct", clip(found.answer), detail))
    return fields_of(Verdict.wrong(reason, found.answer, **detail))


_CALCULATED_CHARS = 8_000


def _found(references: list[str], unit: str | None, extraction: str, response: str, explain: bool) -> Found:
    """Find the answer as `math` does; but a response that is one expression is itself the answer."""
    found = FirstLook(Terms(references, Options(unit=unit), extraction)).find(response, explain)
    params = ExtractionParams.model_validate_json(extraction)
    channel = found.detail.get("channel")
    is_open = channel in (None, Channel.LAST_NUMBER) and found.reason in ("found", "no_answer", "conflicting_answers")
    if params.extract != "auto" or not is_open:
        return found
    segment = final_segment(response, params.think)
    if segment.end - segment.start > _MAX_WHOLE_CHARS:
        return found
    whole = response[segment.start : segment.end]
    fence = _FENCED.fullmatch(whole)
    start, end = (segment.start, segment.end) if fence is None else tuple(segment.start + at for at in fence.span(1))
    if "\n" in response[start:end] or isinstance(value_of(response[start:end]), Fault):
        return found
    return Found(response[start:end], "found", {"channel": str(Channel.WHOLE), "span": [start, end]})


_MAX_WHOLE_CHARS = 600
_FENCED = re.compile(r"```[a-z0-9]{0,12}[ \t]*\n([^`\n]+)\n?```")


@remember(4096)
def _reference(text: str, unit: str | None) -> Evaluated | Fault:
    found = value_of(final_answer(text))
    if isinstance(found, Fault) or unit is None or found.quantities[0].units:
        return found
    return Evaluated(
        Node("quantity", (found.node,), unit), [Quantity(each.value, {unit: 1}) for each in found.quantities]
    )


def _as_references(fault: Fault, text: str) -> tuple[str, str]:
    reason = "reference_too_complex" if fault.reason == "too_complex" else "unparseable_reference"
    return reason, f"reference {text[:200]!r}: {fault.message}"


def value_of(text: str) -> Evaluated | Fault:
    """The value of a text: of an expression, or of an equation with equal sides."""
    if _takes_several_values(text):
        return Fault("no_value", "one name stands for different values")
    sides = [side for side in _EQUALS.split(text) if side.strip()] or [text]
    read = [(side, _value(side)) for side in sides[:_MAX_SIDES]]
    found = [(side, value) for side, value in read if isinstance(value, Evaluated)]
    if not found or isinstance(last := read[-1][1], Fault):
        return next(value for _, value in reversed(read) if isinstance(value, Fault))
    is_rounded = _ABOUT.search(text) is not None
    if any(not _agree(*found[0], side, value, is_rounded) for side, value in found[1:]):
        return Fault("inconsistent_equation", "the sides of the equation differ")
    return last if len(found) == 1 else Evaluated(found[0][1].node, [q for _, value in found for q in value.quantities])


def _takes_several_values(text: str) -> bool:
    """Whether a text lists equations that cannot all hold: `x = 3, x = 5`."""
    known: dict[str, tuple[str, Evaluated]] = {}
    for name, side in _LISTED.findall(text)[:_MAX_SIDES]:
        value = _value(side)
        if isinstance(value, Evaluated) and not _agree(*known.setdefault(name, (side, value)), side, value, False):
            return True
    return False


_LISTED = re.compile(
    r"(?:^|[,;\n]|\b(?:or|and)\b)\s{0,4}(\\?[A-Za-z]\w{0,12})\s{0,4}=(?!=)([^=,;\n]{1,200}?)(?=[,;\n]|\b(?:or|and)\b|$)"
)
_MAX_SIDES = 8
_EQUALS = re.compile(r"(?<![<>!=:])=(?!=)|≈|\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])")
_ABOUT = re.compile(r"≈|\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])")


def _agree(side: str, one: Evaluated, other: str, two: Evaluated, is_rounded: bool) -> bool:
    """Whether two sides are the same, or one is a rounding of the other."""
    left, right = one.quantities[0], two.quantities[0]
    if any(compare(p, g, "convert", Nearness()) == "equal" for p in one.quantities for g in two.quantities):
        return True
    if left.units and right.units and left.units != right.units:
        return False
    gap = abs(left.value - right.value)
    units = [last_place(each.value) for text, each in ((side, left), (other, right)) if is_rounded or "." in text]
    return any(unit is not None and gap < unit for unit in units)


def _value(text: str) -> Evaluated | Fault:
    if "/" not in text and "frac" not in text and (plain := number(text)) is not None:
        return Evaluated(Node("num", leaf=plain), [Quantity(plain)])
    try:
        expression = read_expression(text)
        return Evaluated(_named(expression), [evaluate(each) for each in _readings(expression)])
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
    return Node(node.kind, tuple(map(_natural, node.args)), node.leaf)


def _named(expression: Expression) -> Node:
    return replace_names(expression.node, {name: Node("sym", leaf=unit) for name, unit in expression.units.items()})


def _best(
    known: Sequence[Evaluated], given: Evaluated, policy: UnitPolicy, nearness: Nearness
) -> tuple[Result, Evaluated]:
    """The best result for any of the references, and that reference."""
    results = [
        (compare(wanted, answer, policy, nearness), reference)
        for reference in known
        for wanted in reference.quantities
        for answer in given.quantities
    ]
    return min(results, key=lambda result: _ORDER.index(result[0]))


_ORDER: tuple[Result, ...] = ("equal", "missing_unit", "different", "dimension_mismatch")


def _with_units(found: Evaluated) -> Node:
    """A number with its unit as a node, for finding the kind of error."""
    quantity = found.quantities[0]
    if quantity.unit is None or found.node.kind == "quantity":
        return found.node
    return Node("quantity", (Node("num", leaf=quantity.value),), quantity.unit)


def _is_attempt(given: Evaluated, reference: Evaluated, question: str | None) -> bool:
    """Whether it computes with at least two numbers of the question, and has the right kind of quantity."""
    asked = frozenset[Fraction]() if question is None else numbers(question)
    if sum(part.kind == "num" and part.leaf in asked for part in given.node.walk()) < 2:
        return False
    try:
        return in_base_units(given.quantities[0])[1] == in_base_units(reference.quantities[0])[1]
    except WrongUnits:
        return False


def _shown(quantity: Quantity) -> str:
    value = quantity.value
    unit = quantity.unit or "·".join(f"({unit})^{times}" for unit, times in quantity.units.items())
    return f"{_digits(value)} {unit.replace('^1', '')}".strip()


def _digits(value: Fraction) -> str:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 4_000:
        return f"<{value.numerator.bit_length()} bits>"
    written = str(value)
    if len(written) <= _MAX_DIGITS_SHOWN:
        return written
    try:
        return f"{float(value):.15g}"
    except OverflowError:
        return f"{written[:_MAX_DIGITS_SHOWN]}…"
