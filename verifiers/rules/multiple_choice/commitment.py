"""From the offers that a response makes in one way to the option it commits to."""

from collections.abc import Sequence

import msgspec

from verifiers.rules.multiple_choice.choices import MultipleChoiceParams
from verifiers.rules.multiple_choice.options import Options

_SPAM = 3


class Found(msgspec.Struct, frozen=True):
    """The options a response names; None with a reason when it commits to none."""

    labels: frozenset[str] | None
    reason: str = "found"
    channel: str = ""
    span: tuple[int, int] | None = None
    seen: tuple[str, ...] = ()


def commit(
    offers: Sequence[tuple[str, tuple[int, int]]],
    channel: str,
    params: MultipleChoiceParams,
    options: Options,
    last_must_name: bool = False,
) -> Found | None:
    """The last offer that names an option, unless the offers commit to none."""
    named = [(options.named(text, is_declared=True), span) for text, span in offers]
    seen = tuple(text for text, _ in offers)
    if last_must_name and named and named[-1][0] is None:
        return Found(None, "unparseable", channel, None, seen)
    given = [(labels, span) for labels, span in named if labels is not None]
    if not given:
        return None
    labels, span = given[-1]
    parts = labels if params.multi else frozenset[str]()
    distinct = {labels, *(each for each, _ in given if not each or not each <= parts)}
    if not labels or len(distinct) >= _SPAM or (params.on_conflict == "reject" and len(distinct) > 1):
        return Found(None, "conflicting_answers", channel, None, seen)
    if not params.multi and len(labels) > 1:
        return Found(None, "conflicting_answers", channel, None, seen)
    return Found(labels, "found", channel, span, seen)
