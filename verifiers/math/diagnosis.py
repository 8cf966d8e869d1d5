"""Why an answer was judged as it was, for a caller who asks for it. Runs in worker processes.

Both sides as they were read, and what kind of error a wrong answer shows (`patterns`). The verdict is made before and
is not changed by anything found here.
"""

from collections.abc import Sequence
from typing import Any

from verifiers.math import patterns
from verifiers.math.grading import read_answer, read_reference
from verifiers.math.options import Options
from verifiers.math.readings import Reading
from verifiers.math.tree import TooComplex, Unreadable, show

_MAX_SHOWN_CHARS = 300


def diagnose(payload: Sequence[Any]) -> dict[str, Any]:
    """What `explain` adds: `(references, answer, packed Options, reason, response, question)` as a verdict's detail.

    `reason` is the verdict's own: patterns are looked for where it names a wrong answer or a wrong form.
    """
    references, answer, packed, reason, response, question = payload
    options = Options.unpacked(packed)
    known = [read_reference(text, options.unit) for text in references]
    reference = next((each for each in known if isinstance(each, Reading)), None)
    detail: dict[str, Any] = {}
    if reference is not None:
        detail["reference_as_read"] = show(reference.node)[:_MAX_SHOWN_CHARS]
    given = _read(answer)
    if given is not None:
        detail["answer_as_read"] = show(given.node)[:_MAX_SHOWN_CHARS]
    found = patterns.of_outcome(reason)
    if reference is not None and given is not None and reason in ("wrong_answer", "wrong_form"):
        context = patterns.Context(
            question=question,
            response=response,
            form=options.form,
            ordered=options.ordered,
            right=reason == "wrong_form",
        )
        found = [*found, *patterns.find(reference.node, given.node, context)]
    if found:
        detail["error_patterns"] = [pattern.as_json() for pattern in found]
    return detail


def _read(answer: str | None) -> Reading | None:
    if answer is None:
        return None
    try:
        return read_answer(answer)
    except (Unreadable, TooComplex, RecursionError):
        return None
