"""Several answers to the same references, graded together: the references are read once, by one worker."""

from collections.abc import Sequence
from typing import Any

from verifiers.math.grading import grade


def grade_all(payload: Sequence[Any]) -> list[dict[str, Any]]:
    """Runs in a worker: `grade` for each answer of `(references, answers, packed Options)`, in order."""
    references, answers, packed = payload
    return [grade([references, answer, packed]) for answer in answers]
