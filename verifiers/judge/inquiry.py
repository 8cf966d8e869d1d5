"""What judge models were asked about an item and what came of it, for people: with a verdict, and where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from verifiers.judge.errors import EndpointFailure, JudgeFailure, Unparseable
from verifiers.judge.rendering import Rendered

if TYPE_CHECKING:
    from verifiers.judge.panel import Vote

_MAX_SHOWN_QUESTIONS = 8
_MAX_SHOWN_CHARS = 8_000
_MAX_SHOWN_ATTEMPTS = 20


@dataclass(slots=True)
class Inquiry:
    """One question so far. The panel fills it while it asks."""

    asked: Rendered | None = None
    """The question as it was sent; None until it was made."""
    votes: "list[Vote]" = field(default_factory=list)
    failures: list[JudgeFailure] = field(default_factory=list)
    """Why the other votes gave no verdict."""


def explanation(inquiries: Sequence[Inquiry]) -> dict[str, Any]:
    """What was asked, and what came of it, with a verdict or without one. Empty if nothing was asked."""
    sent_questions = [(inquiry.asked, inquiry) for inquiry in inquiries if inquiry.asked is not None]
    if not sent_questions:
        return {}
    shown_questions = [_asked(prompt, inquiry) for prompt, inquiry in sent_questions[:_MAX_SHOWN_QUESTIONS]]
    return {"prompt_sha256": [prompt.sha256 for prompt, _ in sent_questions], "asked": shown_questions}


def _asked(prompt: Rendered, inquiry: Inquiry) -> dict[str, Any]:
    """A question as it was sent, what each model wrote, and the calls without a verdict; the middle of long texts is
    left out.
    """
    answers = [vote.as_json() | {"text": prompt.masked(vote.answer.text, _MAX_SHOWN_CHARS)} for vote in inquiry.votes]
    content = {"messages": prompt.shown(_MAX_SHOWN_CHARS), "answers": answers}
    failures = [_without_verdict(prompt, failure) for failure in inquiry.failures]
    return content | ({"failures": failures} if failures else {})


def _without_verdict(prompt: Rendered, failure: JudgeFailure) -> dict[str, Any]:
    """Why a vote gave no verdict. An endpoint is shown by its name only, never by its address or message."""
    if isinstance(failure, Unparseable):
        text = prompt.masked(failure.text, _MAX_SHOWN_CHARS)
        return {"kind": failure.kind, "endpoint": failure.endpoint, "text": text}
    if isinstance(failure, EndpointFailure) and failure.attempts:
        calls = [{"endpoint": a.endpoint, "kind": a.kind, "status": a.status} for a in failure.attempts]
        return {"kind": failure.kind, "attempts": calls[-_MAX_SHOWN_ATTEMPTS:]}
    return {"kind": failure.kind}
