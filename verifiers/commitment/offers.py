"""Offers: the answers that a response gives in one channel, as spans of the response."""

import re
from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from verifiers.commitment.extraction import Reason

MAX_OFFERS = 256
"""The offers of each channel that are read, counted from the end; earlier ones are ignored."""


class Offer(msgspec.Struct, frozen=True):
    r"""An answer (`start`, `end`) and the text that marks it as one (`outer_start`, `outer_end`)."""

    start: int
    end: int
    outer_start: int
    outer_end: int
    box_end: int = 0
    """The end of the braces, for a box."""
    name: str = ""
    r"""The name of a box among several: `x` for `x = \boxed{42}`."""
    before: str = ""
    """The sign that stands before the mark, and belongs to the value."""
    after: str = ""
    """The words or signs behind the mark that belong to the value: "million", `/5`."""


class Offers(msgspec.Struct, frozen=True):
    """The offers of a response in one channel, in order."""

    items: Sequence[Offer] = ()
    reason: Reason | None = None
    """The reason, if the channel was used and its last use holds no answer."""
    at: int = 10**9
    """The place of that last use; by default behind everything else."""


NO_OFFERS = Offers()
"""The offers of a channel that the response does not use."""


def last_matches(positions: Iterable[re.Match[str]], count: int = MAX_OFFERS) -> list[re.Match[str]]:
    """The last `count` matches, in order."""
    return list(deque(positions, maxlen=count))
