"""Why an answer was judged as it was, for a caller who asks for it. Runs in worker processes.

Both sides as they were read, and what kinds of error the response shows (`patterns`), all of them and in one order:
first those of how it gives its answer and how it is written, then those of a wrong answer beside the reference. The
verdict is made before and is not changed by anything found here.
"""

from collections.abc import Sequence
from typing import Any

from sandbox.workers import worker_function
from verifiers.commitment import MATH_CHANNELS, ExtractionParams, corrected, extract, without_html, without_struck
from verifiers.math.grading import localized, read_answer, read_reference
from verifiers.math.options import Options
from verifiers.math.patterns import find
from verifiers.math.patterns.case import Context
from verifiers.math.patterns.codes import Pattern, in_order
from verifiers.math.patterns.responses import of_extraction, of_outcome, of_writing
from verifiers.math.readings import Reading
from verifiers.math.solutions import annotated_steps
from verifiers.math.tree import TooComplex, Unreadable, show

_MAX_SHOWN_CHARS = 300
_CALCULATED_CHARS = 8_000
"""So much of the end of a response is looked through for equations."""


@worker_function
def diagnose(payload: Sequence[Any]) -> dict[str, Any]:
    """What `explain` adds, as a verdict's detail:
    `(references, answer, packed Options, reason, response, question, steps, ExtractionParams as JSON)`.

    `reason` is the verdict's own: patterns of a wrong answer are looked for where it names one, or a wrong form. A
    `response` of None is too long to be looked through. `steps` are the reference's; without any, those that a solution
    given as the reference annotates.
    """
    references, answer, packed, reason, response, question, steps, extraction = payload
    options = Options.unpacked(packed)
    known = [read_reference(localized(text, options), options.unit) for text in references]
    reference = next((each for each in known if isinstance(each, Reading)), None)
    detail: dict[str, Any] = {}
    if reference is not None:
        detail["reference_as_read"] = show(reference.node)[:_MAX_SHOWN_CHARS]
    given = _read(answer if answer is None else localized(answer, options))
    if given is not None:
        detail["answer_as_read"] = show(given.node)[:_MAX_SHOWN_CHARS]
    found = [] if response is None else _of_response(response, question, extraction)
    found += of_outcome(reason)
    if reference is not None and given is not None and reason in ("wrong_answer", "wrong_form"):
        context = Context(
            question=question,
            steps=steps or annotated_steps(references[0]),
            response=None if response is None else response[-_CALCULATED_CHARS:],
            form=options.form,
            ordered=options.ordered,
            right=reason == "wrong_form",
        )
        found += find(reference.node, given.node, context)
    if found:
        detail["error_patterns"] = [pattern.as_json() for pattern in in_order(found)]
    return detail


def _of_response(response: str, question: str | None, extraction: str) -> list[Pattern]:
    response = without_html(without_struck(response))
    params = ExtractionParams.model_validate_json(extraction)
    found = corrected(response, extract(response, params, MATH_CHANNELS), params.on_conflict)
    return [*of_extraction(found, response), *of_writing(response, question)]


def _read(answer: str | None) -> Reading | None:
    if answer is None:
        return None
    try:
        return read_answer(answer)
    except (Unreadable, TooComplex, RecursionError):
        return None
