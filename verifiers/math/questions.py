"""Items whose answers have to be read, and the distinct answers among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.workers import Exit, Outcome
from verifiers.base import Status, Verdict
from verifiers.math import blame
from verifiers.math.first_look import FirstLook, Found
from verifiers.math.limits import MAX_READ_CHARS

INVALID = ("unparseable_reference", "reference_too_complex")
"""Outcomes for which the reference is at fault."""


class Question:
    """One item whose answer has to be read."""

    def __init__(self, index: int, look: FirstLook, finding: Found) -> None:
        self.index = index
        self.look = look
        self.found = finding

    def verdict(self, result: dict[str, Any]) -> Verdict:
        """The verdict for the result of comparing reference and answer."""
        if result["outcome"] in INVALID:
            return Verdict.invalid(result["outcome"], result["message"])
        return self.look.settle(self.found) or self._judged(result)

    def blamed(self, outcome: Outcome) -> Verdict:
        """The verdict after a limit was broken; `outcome` is that of the reference alone."""
        if outcome.exit is not Exit.OK:
            reference = self.look.terms.references[0][:100]
            message = f"reference {reference!r} takes more than a worker may spend: {outcome.exit}"
            return Verdict.invalid("reference_too_complex", message)
        verdict = self.verdict(outcome.value)
        if verdict.status is not Status.OK:
            return verdict
        if blame.is_ours(self.look.terms.references, self.found.answer or ""):
            return Verdict.failed("too_complex", "to compare the answer takes more than a worker may spend")
        return Verdict.wrong("too_complex", self.found.answer, **self._detail())

    def _judged(self, result: dict[str, Any]) -> Verdict:
        detail = self._detail(result.get("method"))
        if result["outcome"] == "equal":
            return Verdict.correct(self.found.answer, **detail)
        if result["outcome"] == "undecided":
            return Verdict.failed(
                "too_complex", f"it cannot be told whether it equals the reference: {result['message']}"
            )
        reason = "wrong_answer" if result["outcome"] == "different" else result["outcome"]
        return Verdict.wrong(reason, self.found.answer, **detail)

    def _detail(self, method: str | None = None) -> dict[str, Any]:
        return {**self.found.detail, "method": method} if method else dict(self.found.detail)


@dataclass(slots=True)
class GivenAnswer:
    """One answer to the same references, and all items that gave it."""

    look: FirstLook
    text: str | None
    """None if only the references are checked: there is no answer, or it is too long to be read."""
    questions: list[Question]

    @property
    def payload(self) -> list[Any]:
        """The payload for a worker."""
        return [self.look.terms.references, self.text, self.look.packed_options]

    @property
    def payload_without(self) -> list[Any]:
        """The payload for the references alone."""
        return [self.look.terms.references, None, self.look.packed_options]


def distinct(questions: Sequence[Question]) -> list[GivenAnswer]:
    """The answers to grade: each once, with answers to the same references next to each other."""
    by_look: dict[FirstLook, dict[str | None, GivenAnswer]] = {}
    for question in questions:
        text = question.found.answer
        if text is not None and len(text) > MAX_READ_CHARS:
            text = None
        answers = by_look.setdefault(question.look, {})
        answers.setdefault(text, GivenAnswer(question.look, text, [])).questions.append(question)
    return [answer for answers in by_look.values() for answer in answers.values()]
