"""Explains a verdict on request: both sides as they were read, and the kinds of error. Runs in worker processes.

The kinds of error (`patterns`) are complete and come in a fixed order: first errors in how the response gives its
answer and how it is written, then errors of a wrong answer compared with the reference. The verdict is made before and
does not change here.
"""

from collections.abc import Sequence
from typing import Any

from sandbox.workers import worker_function
from verifiers.commitment import MATH_CHANNELS, ExtractionParams, corrected, extract, without_html, without_struck
from verifiers.math.grading import localized, read_answer, read_reference
from verifiers.math.options import Options
from verifiers.math.patterns import find
from verifiers.math.patterns.codes import Pattern, in_order
from verifiers.math.patterns.responses import of_extraction, of_outcome, of_writing
from verifiers.math.patterns.rules import Context
from verifiers.math.readings import Reading
from verifiers.math.solutions import annotated_steps
from verifiers.math.tree import TooComplex, Unreadable, show

_MAX_SHOWN_CHARS = 300
_CALCULATED_CHARS = 8_000
"""This many characters at the end of a response are searched for equations."""


@worker_function
def diagnose(payload: Sequence[Any]) -> dict[str, Any]:
    """The detail that `explain` adds to a verdict.

    The payload is `(references, answer, packed Options, reason, response, question, steps, ExtractionParams as JSON)`.

    `reason` is the reason of the verdict: patterns of a wrong answer are searched only if it says that the answer or
    its form is wrong. `response` is None if the response is too long to be searched. `steps` are the steps of the
    reference; without any, the steps are used that a worked solution given as the reference annotates.
    """
    references, answer, packed, reason, response, question, steps, extraction = payload
    options = Options.unpacked(packed)
    read_references = [read_reference(localized(text, options), options.unit) for text in references]
    reference = next((reading for reading in read_references if isinstance(reading, Reading)), None)
    detail: dict[str, Any] = {}
    if reference is not None:
        detail["reference_as_read"] = show(reference.node)[:_MAX_SHOWN_CHARS]
    answer_read = _read(answer if answer is None else localized(answer, options))
    if answer_read is not None:
        detail["answer_as_read"] = show(answer_read.node)[:_MAX_SHOWN_CHARS]
    patterns = [] if response is None else _of_response(response, question, extraction)
    patterns += of_outcome(reason)
    if reference is not None and answer_read is not None and reason in ("wrong_answer", "wrong_form"):
        context = Context(
            question=question,
            steps=steps or annotated_steps(references[0]),
            response=None if response is None else response[-_CALCULATED_CHARS:],
            form=options.form,
            ordered=options.ordered,
            right=reason == "wrong_form",
        )
        patterns += find(reference.node, answer_read.node, context)
    if patterns:
        detail["error_patterns"] = [pattern.as_json() for pattern in in_order(patterns)]
    return detail


def _of_response(response: str, question: str | None, extraction: str) -> list[Pattern]:
    response = without_html(without_struck(response))
    params = ExtractionParams.model_validate_json(extraction)
    extraction_found = corrected(response, extract(response, params, MATH_CHANNELS), params.on_conflict)
    return [*of_extraction(extraction_found, response), *of_writing(response, question)]


def _read(answer: str | None) -> Reading | None:
    if answer is None:
        return None
    try:
        return read_answer(answer)
    except (Unreadable, TooComplex, RecursionError):
        return None
