"""Who is compared with whom. A pair is `(first, second)`, in the order in which a judge sees them."""

import itertools
import math
from collections.abc import Sequence
from typing import Final, Literal

Pairing = Literal["circular", "all", "swiss", "baseline"]
Pair = tuple[int, int]
FEWEST: Final = 2
"""The fewest responses that can be compared."""


def fixed(pairing: Pairing, count: int, *, chunk: int | None = None, baseline: int = 0) -> list[Pair]:
    """The pairs of `count` responses that are known beforehand. Every pairing but swiss knows all of them."""
    if pairing == "baseline":
        return [(at, baseline) for at in range(count) if at != baseline]
    size = chunk or count
    return [
        (start + first, start + second)
        for start in range(0, count, size)
        for first, second in _within(pairing, min(size, count - start))
    ]


def _within(pairing: Pairing, count: int) -> list[Pair]:
    if pairing == "all":
        return list(itertools.combinations(range(count), 2))
    if count == FEWEST:
        return [(0, 1)]  # a circle of two would ask about the same pair twice
    return [(at, (at + 1) % count) for at in range(count)] if count > FEWEST else []


def turned(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with every other one turned, so that nobody is mostly shown first."""
    return [pair if at % 2 == 0 else (pair[1], pair[0]) for at, pair in enumerate(pairs)]


def usual_rounds(count: int) -> int:
    """The rounds of a swiss tournament: enough to find the best of `count`, and one more."""
    return math.ceil(math.log2(max(2, count))) + 1


def swiss_round(points: Sequence[float], met: set[frozenset[int]], number: int) -> list[Pair]:
    """The pairs of one round: neighbours by points who have not met yet. Of an odd number one is left over.

    Args:
        points: The points of each so far.
        met: The pairs that were compared already.
        number: The round, from 0. In the first round, with no points, the first half meets the second.
    """
    count = len(points)
    if number == 0:
        half = count // 2
        return [(at, at + half) for at in range(half)]
    waiting = sorted(range(count), key=lambda at: (-points[at], at))
    pairs: list[Pair] = []
    while len(waiting) > 1:
        first = waiting.pop(0)
        place = next((at for at, other in enumerate(waiting) if frozenset((first, other)) not in met), None)
        if place is not None:
            pairs.append((first, waiting.pop(place)))
    return turned(pairs)
