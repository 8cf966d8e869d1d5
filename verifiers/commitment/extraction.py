"""The result for the caller: the answer of a response with its place, or the reason why there is none."""

from typing import Any, Literal

import msgspec

from verifiers.base import clip
from verifiers.commitment.channels import Channel

Reason = Literal["found", "no_answer", "truncated", "conflicting_answers", "empty"]


class Candidate(msgspec.Struct, frozen=True):
    """One answer that the response offered."""

    text: str
    channel: Channel
    span: tuple[int, int]
    """Where `text` stands in the original response."""


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

    def detail(self, explain: bool = False) -> dict[str, Any]:
        """The part of a verdict's detail about extraction: `channel` and `span`; with `explain`, the candidates too."""
        detail: dict[str, Any] = {}
        if self.channel is not None:
            detail["channel"] = str(self.channel)
        if self.span is not None:
            detail["span"] = list(self.span)
        if explain:
            detail["candidates"] = [clip(candidate.text) for candidate in self.candidates]
        return detail


MAX_CANDIDATES = 16
"""The candidates of the deciding channel that an `Extraction` holds; earlier ones are left out."""
