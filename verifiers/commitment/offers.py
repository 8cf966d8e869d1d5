"""What one channel holds: the answers that a response offers in it, as spans of the response."""

import re
from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from verifiers.commitment.extraction import Reason

MAX_OFFERS = 256
"""Of each channel; earlier ones are not looked at."""


class Offer(msgspec.Struct, frozen=True):
    r"""An answer (`start`, `end`) and the text that makes it one (`outer_start`, `outer_end`)."""

    start: int
    end: int
    outer_start: int
    outer_end: int
    box_end: int = 0
    """Of a box: where its braces end."""
    name: str = ""
    r"""Of a box among several: `x` in `x = \boxed{42}`."""


class Offers(msgspec.Struct, frozen=True):
    """What a response offers in one channel, in order."""

    items: Sequence[Offer] = ()
    reason: Reason | None = None
    """Set when the channel was used, and its last use holds no answer."""
    at: int = 10**9
    """Where that last use is; by default behind all else."""


NO_OFFERS = Offers()
"""Of a channel that the response does not use."""


def last_matches(positions: Iterable[re.Match[str]], count: int = MAX_OFFERS) -> list[re.Match[str]]:
    """The last `count` of them, in order."""
    return list(deque(positions, maxlen=count))
