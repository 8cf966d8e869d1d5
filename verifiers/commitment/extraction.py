"""The result for the caller: the answer of a response with its place, or the reason why there is none."""

from typing import Any, Literal

import msgspec

from verifiers.base import clip
from verifiers.commitment.channels import Channel
from verifiers.commitment.stance import Stance

Reason = Literal["found", "no_answer", "truncated", "conflicting_answers", "empty"]


class Candidate(msgspec.Struct, frozen=True):
    """One answer that the response offered."""

    text: str
    channel: Channel
    span: tuple[int, int]
    """Where `text` stands in the original response."""


class Mentioned(msgspec.Struct, frozen=True):
    """A value that a response names, with the stance by which it was judged."""

    span: tuple[int, int]
    """Its place in the original response."""
    stance: Stance
    channel: str = ""
    """How it was marked or found; empty for one in plain words."""
    is_answer: bool = False
    """Whether the response commits to it."""

    def as_json(self, reply: str) -> dict[str, Any]:
        """The mention with its text; `sent` is the response as it was sent."""
        text = clip(reply[slice(*self.span)]) or ""
        role: Literal["answer"] | None = "answer" if self.is_answer else None
        table: dict[str, Any] = msgspec.to_builtins(ShownMention(self.span, text, self.stance, self.channel, role))
        return table | {"span": list(self.span)}


class ShownMention(msgspec.Struct, omit_defaults=True):
    """A text that was read as a possible answer, in `detail.mentions` of an explained verdict."""

    span: tuple[int, int]
    """Its first character in the response as sent, and the one behind its last."""
    text: str
    stance: Stance
    channel: str = ""
    """How it was marked or found; left out for one in plain words."""
    role: Literal["answer"] | None = None
    """The answer, or a part of it; left out for other mentions."""


class Extraction(msgspec.Struct, frozen=True):
    """The answer of a response, or why there is none."""

    answer: str | None
    channel: Channel | None
    """Which channel decided; None when no channel was used."""
    span: tuple[int, int] | None
    """The place of the answer in the original response; an answer in several parts spans from the first to the last."""
    reason: Reason
    """`found` exactly when there is an answer."""
    candidates: tuple[Candidate, ...] = ()
    """The offers of the deciding channel, in order; at most the last `MAX_CANDIDATES`."""
    mentions: tuple[Mentioned, ...] = ()
    """All that was read as a possible answer, in order; none unless `sent` is given."""
    sent: str | None = None
    """The response as it was sent, if its mentions are wanted."""

    def detail(self, explain: bool = False) -> dict[str, Any]:
        """The part of a verdict's detail about extraction: `channel`, `span`, and the mentions if they were wanted.

        With `explain` also the candidates.
        """
        detail: dict[str, Any] = {}
        if self.channel is not None:
            detail["channel"] = str(self.channel)
        if self.span is not None:
            detail["span"] = list(self.span)
        if explain:
            detail["candidates"] = [clip(candidate.text) for candidate in self.candidates]
        if self.sent is not None:
            detail["mentions"] = [mention.as_json(self.sent) for mention in self.mentions]
        return detail


MAX_CANDIDATES = 16
"""The candidates of the deciding channel that an `Extraction` holds; earlier ones are left out."""
