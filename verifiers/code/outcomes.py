"""The outcomes of tests, and the score they make.

The denominator is always the number of requested tests: a test that did not run has not passed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from sandbox.base import Exit

Policy = Literal["all", "ratio", "threshold", "first_n"]


class Status(StrEnum):
    """How one test ended."""

    PASS = "pass"  # noqa: S105  # a word, not a password
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    NOT_RUN = "not_run"


_OF_EXITS = {
    Exit.SIGNALLED: Status.RUNTIME_ERROR,
    Exit.TIME_LIMIT: Status.TIME_LIMIT,
    Exit.MEMORY_LIMIT: Status.MEMORY_LIMIT,
    Exit.OUTPUT_LIMIT: Status.OUTPUT_LIMIT,
}


def status_of(ended: Exit) -> Status:
    """The status of a program that ended without a result."""
    return _OF_EXITS.get(ended, Status.RUNTIME_ERROR)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one test."""

    name: str
    status: Status
    points: float = 0.0
    """1 for a passed test; a value between 0 and 1 only if a special judge gives part of the points."""
    difference: str = ""
    """A text for people: the first difference, or the cause of the program's end."""
    cpu_s: float = 0.0
    output: str | None = None
    """What the program gave, if the test only asks for that (`told`)."""

    def detail(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": self.name, "status": str(self.status), "cpu_s": round(self.cpu_s, 4)}
        if 0 < self.points < 1:
            fields["points"] = round(self.points, 6)
        if self.difference:
            fields["difference"] = self.difference[:_MAX_DIFFERENCE_CHARS]
        return fields


_MAX_DIFFERENCE_CHARS = 200
MAX_TESTS_SHOWN = 32


def passed(name: str, cpu_s: float = 0.0, points: float = 1.0) -> Outcome:
    return Outcome(name, Status.PASS, points, cpu_s=cpu_s)


def score_of(outcomes: Sequence[Outcome], policy: Policy, threshold: float) -> float:
    """The score from 0 to 1. For `first_n` the outcomes are already only those of the first tests."""
    if not outcomes:
        return 0.0
    share = sum(outcome.points for outcome in outcomes) / len(outcomes)
    if policy == "all":
        return 1.0 if all(outcome.points >= 1.0 for outcome in outcomes) else 0.0
    if policy == "threshold":
        return share if share >= threshold else 0.0
    return min(1.0, share)


def reason_of(outcomes: Sequence[Outcome], score: float) -> str:
    """`correct`, `partly_correct`, or the outcome of the first test that did not pass."""
    if score >= 1.0:
        return "correct"
    if score > 0.0:
        return "partly_correct"
    first = first_failure(outcomes)
    return str(first.status) if first is not None and first.status is not Status.PASS else "wrong_answer"


def first_failure(outcomes: Sequence[Outcome]) -> Outcome | None:
    return next((outcome for outcome in outcomes if outcome.points < 1.0), None)


def is_settled(outcomes: Sequence[Outcome | None], policy: Policy, threshold: float, *, fail_fast: bool) -> bool:
    """Whether the remaining tests cannot change the score, or must not run after a failure."""
    if not any(outcome is not None and outcome.points < 1.0 for outcome in outcomes):
        return False
    if fail_fast or policy == "all":
        return True
    if policy != "threshold":
        return False
    best = sum(1.0 if outcome is None else outcome.points for outcome in outcomes) / max(1, len(outcomes))
    return best < threshold
