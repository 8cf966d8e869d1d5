r"""Reads an answer and its reference, and decides whether they are equal. Runs in worker processes only.

    reference ─read, checked against itself─► Node ┐
    answer    ─limits, read─────────────────► Node ┴─ Comparison: by what the reference is ─► values, or sympy

What is equal: the same words; the same value (`values`); the same elements, in order for a tuple, in any order for a
set or a list; the same set of reals however it is written; the same equation up to a factor; one assignment `x = v`
and v. What is not: anything else. An equation is never reduced to its right side, unless its left side is a name.

sympy is asked last, for sums, products, integrals and limits that numbers do not decide (`symbolic`). It gets our own
trees and never a text, because its own parsers evaluate the text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import process_time
from typing import Any

from memory import remember
from sandbox.workers import worker_function
from verifiers.chemistry.answers import Chemical
from verifiers.math import blame, formulas, limits, readings, units
from verifiers.math.comparison import Comparison
from verifiers.math.exact import plain, repaired, unwrap
from verifiers.math.forms import fits
from verifiers.math.options import DEFAULT, Options
from verifiers.math.reader import read, read_apart
from verifiers.math.readings import Reading
from verifiers.math.solutions import MAX_WORDS, final_answer, unanswered
from verifiers.math.tree import Node, TooComplex, Undecided, Unreadable, show
from verifiers.rules.numeric.notation import without_points

_MAX_SHOWN_CHARS = 300


@worker_function
def grade_several(payloads: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """`grade` for each payload, in order: at least the first, and more while other work need not wait too long."""
    started_s = process_time()
    results: list[dict[str, Any]] = []
    for payload in payloads:
        results.append(grade(payload))
        if process_time() - started_s > _TRIP_S:
            break
    return results


_TRIP_S = 0.02
"""CPU seconds; several times what a page of answers takes, and too short for anybody to notice."""


@worker_function
def grade(payload: Sequence[Any]) -> dict[str, Any]:
    """Judge one answer: `(references, answer, packed Options)`; if the answer is None, only the references are checked.

    The result's `outcome` is one of
        unparseable_reference, reference_too_complex   with `message`: the item's author must mend it
        equal, different, wrong_form                   with `method` and both sides as read
        unparseable, too_complex                       the answer is nothing that could equal the reference
        undecided                                      with `message`: it could, but this is not decided (`blame`)
    """
    references, answer, packed = payload
    options = Options.unpacked(packed)
    read_references, unscaled = [], list[Reading]()
    for written in (text for reference in references for text in of_column(str(reference))):
        reading = read_reference(localized(written, options), options.unit)
        if isinstance(reading, Fault):
            return {"outcome": reading.reason, "message": f"reference {written[:200]!r}: {reading.message}"}
        read_references.append(reading)
        if options.unit is not None and _is_scaled(options.unit):
            bare = read_reference(localized(written, options), None)
            unscaled += [] if isinstance(bare, Fault) else [bare]
    if answer is None:
        for reference in read_references:
            Comparison(options).exhaust(reference.node)
        return {"outcome": "different", "method": "reference"}
    answer = localized(answer, options)
    answer_text = plain(answer)
    if options.is_plain and any(plain(reference.text) == answer_text for reference in read_references):
        clipped_answer = answer_text[:_MAX_SHOWN_CHARS]
        return {"outcome": "equal", "method": "text", "reference": clipped_answer, "answer": clipped_answer}
    return _grade(read_references, unscaled, answer, options)


_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d+)(?:,|\{,\})(\d+)(?![\d.,])")
_GROUPS_BY_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.,])")


_QUOTED = re.compile(r"(?<=[\[({,\s])(['\"])([-+]?\d[\d.,/]{0,40}%?)\1(?=\s{0,4}[,\])}])")
"""A number in quotes among the elements of a list: `['1', '2']`."""
_LIST_OF_ONE = re.compile(r"\[\s*([^\[\]'\",;]{1,200})\s*\]")
_LIST_OF_TEXTS = re.compile(r"\[\s*((?:(['\"])[^'\"\n]{1,200}\2\s*,?\s*){1,64})\]")


def of_column(text: str) -> Sequence[str]:
    """The forms of a reference that is a list of a column: `['7']` and `[7]` are 7; `["7", "8"]` may be said with brackets."""
    text = text.strip()
    if texts := _LIST_OF_TEXTS.fullmatch(text) if "'" in text or '"' in text else None:
        parts = [part[1].replace("\\\\", "\\") for part in _TEXT.finditer(texts[1])]
        joined = ", ".join(parts)
        return [joined] if len(parts) == 1 else [joined, f"[{joined}]"]
    only = _LIST_OF_ONE.fullmatch(text)
    return [only[1].strip() if only else text]


_TEXT = re.compile(r"(?<=['\"])([^'\"\n,][^'\"\n]{0,200})(?=['\"])")


def localized(text: str, options: Options) -> str:
    """A text with repaired commands, and with numbers in the usual notation: 1.234,5 becomes 1234.5."""
    text = without_points(repaired(text))
    if "'" in text or '"' in text:
        text = _QUOTED.sub(r"\2", text)
    amount = _AMOUNT.fullmatch(text) if "," in text and len(text) <= _MAX_AMOUNT_CHARS else None
    if amount and (amount["currency"] or amount["unit"]):
        return f"{text[: amount.start('whole')]}{amount['whole'].replace('.', '')}.{text[amount.start('cents') :]}"
    if not options.has_decimal_comma or len(text) > limits.MAX_EQUAL_TEXT_CHARS:
        return text
    text = _DECIMAL_COMMA.sub(lambda number: f"{number[1].replace('.', '')}.{number[2]}", text)
    return _GROUPS_BY_POINTS.sub(lambda number: number[0].replace(".", ""), text)


_HEAD = r"[$\s]{0,2}[-−]?\s?(?P<currency>[€£¥]?)\s?"
_WITH_BOTH_MARKS = r"(?P<whole>\d{1,3}(?:\.\d{3})+),(?P<cents>\d{2})"
_TAIL = r"\s?(?P<unit>[€£¥]|[^\W\d_]{1,12})?[.$\s]{0,3}"
_AMOUNT = re.compile(_HEAD + _WITH_BOTH_MARKS + _TAIL)
"""A sum of money with both marks, which can be read in one way alone: 5.200,00 €."""
_MAX_AMOUNT_CHARS = 48


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why a reference cannot be used for comparison."""

    reason: str
    message: str


@remember(4096)
def read_reference(text: str, unit: str | None) -> Reading | Fault:
    """Read a reference; `unit` is its unit if the text itself names none."""
    if (remark := unanswered(text)) is not None:
        return Fault(
            "unparseable_reference", f"it has {remark} and is not an answer: give the answer, or leave the row out"
        )
    text = final_answer(text)
    refusal = limits.refusal(text)
    if refusal is not None:
        reason = "reference_too_complex" if refusal == "too_complex" else "unparseable_reference"
        return Fault(reason, "too long, nested too deeply, or more like code than like an answer")
    chemical = formulas.of_reference(text) if unit is None else None
    reading = _read_reference(text, unit, chemical)
    if chemical is not None and isinstance(reading, Fault) and reading.reason == "unparseable_reference":
        return Reading(text, formulas.shown(text), chemical=chemical, is_chemical=True)
    return reading


def _read_reference(text: str, unit: str | None, chemical: Chemical | None) -> Reading | Fault:
    try:
        node = _with_unit(read(text), unit)
        if chemical is not None and formulas.is_alone(chemical, text):
            return Reading(text, formulas.shown(text), chemical=chemical, is_chemical=True)
        if sum(len(str(part.leaf).split()) for part in node.walk() if part.kind == "text") > MAX_WORDS:
            return Fault(
                "unparseable_reference", "prose in which no answer is marked or announced: give the answer alone"
            )
        comparison = Comparison(DEFAULT)
        if not comparison.checks(node):
            return Fault("unparseable_reference", "it does not equal itself as it was read")
        return Reading(text, node, comparison.is_large, chemical)
    except Unreadable as error:
        return Fault("unparseable_reference", f"not read as mathematics or as words: {error}")
    except TooComplex as error:
        return Fault("reference_too_complex", str(error))
    except RecursionError:
        return Fault("reference_too_complex", "nested too deeply")


def _is_scaled(unit: str) -> bool:
    """Whether a number alone may be the value in a unit although it is not the value: 1.5 for `$10^{3}$ N` or a percent."""
    scaled = units.scaled_key(unit)
    return scaled is not None and (scaled[0] != 0 or scaled[1] == units.PERCENT)


def _with_unit(node: Node, unit: str | None) -> Node:
    if unit is None or node.kind in ("quantity", "text", "prose"):
        return node
    scaled = units.scaled_key(unit)
    if scaled is None:
        raise Unreadable(f"{unit[:40]!r} is not a unit")
    exponent, unit_key = scaled
    if exponent:
        node = Node("*", (node, Node("num", leaf=Fraction(10) ** exponent)))
    if unit_key == units.PERCENT:
        return Node("%", (node,))
    return Node("quantity", (node,), unit_key) if unit_key else node


def _grade(references: Sequence[Reading], unscaled: Sequence[Reading], answer: str, options: Options) -> dict[str, Any]:
    """`unscaled` are the references without a power of ten that belongs to their unit; a number alone may be these."""
    texts = {
        "method": "chemistry",
        "reference": references[0].text[:_MAX_SHOWN_CHARS],
        "answer": answer[:_MAX_SHOWN_CHARS],
    }
    outcome = "different"
    scaled = []
    for reference in references:
        if reference.chemical is not None:
            is_word = formulas.is_word(reference.text, reference.node)
            outcome = formulas.outcome(reference.chemical, reference.text, answer, reference.is_chemical or is_word)
            if outcome == "equal":
                return {"outcome": outcome, **texts}
            if reference.is_chemical or (is_word and outcome == "different"):
                continue
        scaled.append(reference)
    references = scaled
    if not references:
        return {"outcome": outcome, **texts}
    try:
        answer_reading = read_answer(answer)
    except Unreadable as error:
        return {"outcome": "unparseable", "message": str(error)}
    except (TooComplex, RecursionError) as error:
        return {"outcome": "too_complex", "message": str(error)}
    if answer_reading.node.kind != "quantity":
        references = [*references, *unscaled]
    texts = {"reference": _shown(references[0]), "answer": _shown(answer_reading)}
    outcome = "different"
    comparison = Comparison(options)
    for reference in references:
        try:
            if _equal(comparison, reference, answer_reading):
                outcome = "equal" if fits(answer_reading.node, options.form) else "wrong_form"
                return {"outcome": outcome, "method": comparison.method, **texts, "reference": _shown(reference)}
        except (TooComplex, RecursionError) as error:
            is_large = isinstance(error, TooComplex) and not isinstance(error, Undecided)
            is_ours = (
                reference.is_large
                or (not is_large and blame.is_ours([reference.text], answer_reading.text))
                or (is_large and comparison.is_large_beside_breaks(reference.node))
            )
            outcome = "undecided" if is_ours or outcome == "undecided" else "too_complex"
            texts["message"] = str(error)
        except Unreadable as error:
            outcome = "undecided" if outcome == "undecided" else "unparseable"
            texts["message"] = str(error)
    return {"outcome": outcome, "method": comparison.method, **texts}


def read_answer(answer: str) -> Reading:
    """Read what a response gave as its answer.

    Raises:
        Unreadable, TooComplex: it is not an answer as we read them.
    """
    answer = unwrap(answer)
    refusal = limits.refusal(answer)
    if refusal == "too_complex":
        raise TooComplex("too long, or nested too deeply")
    if refusal is not None:
        raise Unreadable("more like code than like an answer")
    return Reading(answer, read(answer))


def _shown(reading: Reading) -> str:
    return show(reading.node)[:_MAX_SHOWN_CHARS]


def _equal(comparison: Comparison, reference: Reading, answer_reading: Reading) -> bool:
    """Whether they are equal as they were read, or in a second reading of one of them."""
    if comparison.equal(reference.node, answer_reading.node):
        return True
    try:
        for node in readings.others(answer_reading.node, answer_reading.text, reference.node, read_apart):
            if comparison.equal(reference.node, node):
                return True
        for node in readings.others(reference.node, reference.text, answer_reading.node, read_apart):
            if comparison.equal(node, answer_reading.node):
                return True
        if (letter := readings.chosen(answer_reading.text, reference.text)) is not None:
            return comparison.equal(reference.node, letter)
        if (pair := readings.both_apart(reference, answer_reading, read_apart)) is not None:
            return comparison.equal(*pair)
    except Undecided:
        raise
    except (Unreadable, TooComplex, RecursionError):
        return False
    return False
