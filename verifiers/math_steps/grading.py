"""Compares the steps of a response with those of a reference, in a worker."""

from collections.abc import Sequence
from typing import Any

from memory import remember
from sandbox.workers import worker_function
from verifiers.math.equations import computations
from verifiers.math_steps.alignment import Alignment, State, Step, align
from verifiers.math_steps.matching import is_read
from verifiers.math_steps.spans import MAX_TEXT_CHARS, said
from verifiers.math_steps.statements import lines, of_step, statements

_MAX_EQUATIONS_CHARS = 6_000
_MAX_SHOWN_CHARS = 120


@worker_function
def grade(payload: Sequence[Any]) -> dict[str, Any]:
    """Compare steps: `(steps as pairs of text and weight, response or None, think, explain)`. Runs in a worker.

    Without a response only the steps are read. The result has `step_score`, `steps` (a state each), `first_missed`; with
    `explain` also `taken` and `arith_consistency`.
    """
    weighted_texts, response, think, explain = payload
    steps = [_step(text, weight) for text, weight in weighted_texts]
    text = "" if response is None else said(response, think)
    alignment = align(steps, statements(text), lines(text))
    missed = [position for position, state in enumerate(alignment.states) if state is not State.MATCHED]
    result: dict[str, Any] = {
        "step_score": round(alignment.score, 6),
        "steps": [state.value for state in alignment.states],
        "first_missed": missed[0] if missed else None,
    }
    if explain:
        result["taken"] = _shown(alignment)
        result["arith_consistency"] = consistency((response or "")[-MAX_TEXT_CHARS:])
    return result


@remember(4096)
def _step(text: str, weight: float) -> Step:
    return Step([statement for statement in of_step(text) if is_read(statement)], text, weight)


def _shown(alignment: Alignment) -> list[str | None]:
    return [None if text is None else text[:_MAX_SHOWN_CHARS] for text in alignment.taken]


def consistency(text: str) -> dict[str, Any]:
    """How many of a text's equations between numbers hold, of those that can be decided, and the first false one."""
    checked = [equation for equation in computations(text, _MAX_EQUATIONS_CHARS) if equation.holds is not None]
    bad = next((equation for equation in checked if not equation.holds), None)
    right = sum(equation.holds is True for equation in checked)
    return {
        "checked": len(checked),
        "fraction": round(right / len(checked), 6) if checked else None,
        "first_bad": None if bad is None else f"{bad.left[:_MAX_SHOWN_CHARS]} = {bad.right[:_MAX_SHOWN_CHARS]}",
    }
