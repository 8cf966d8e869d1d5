"""Who is compared with whom. A pair is `(first, second)`, in the order in which a judge sees them."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from hashlib import blake2b
from typing import Final, Literal

import numpy as np

from service.groups.ratings import Game, bradley_terry

Pairing = Literal["circular", "all", "swiss", "baseline"]
Pair = tuple[int, int]
FEWEST: Final = 2
"""The fewest responses that can be compared."""


def drawn(texts: Sequence[str], seed: int | None) -> list[int]:
    """The positions of texts, in an order that depends on the texts and the seed alone; without a seed, as they are."""
    if seed is None:
        return list(range(len(texts)))
    copies: Counter[str] = Counter()
    lots = []
    for text in texts:
        lot = f"{seed}/{copies[text]}/{text}".encode("utf-8", "surrogatepass")
        lots.append(blake2b(lot, digest_size=16).digest())
        copies[text] += 1
    return sorted(range(len(texts)), key=lots.__getitem__)


def fixed(pairing: Pairing, count: int, *, chunk: int | None = None, baseline: int = 0) -> list[Pair]:
    """The pairs of `count` responses that are known beforehand. Every pairing but swiss knows all of them."""
    if pairing == "baseline":
        return [(at, baseline) for at in range(count) if at != baseline]
    size = min(chunk or count, count)
    run_starts = list(range(0, count, size))
    if len(run_starts) > 1 and count - run_starts[-1] == 1:
        run_starts.pop()  # one that would be left over belongs to the run before
    return [
        (start + first, start + second)
        for start, end in itertools.pairwise([*run_starts, count])
        for first, second in _within(pairing, end - start)
    ]


def _within(pairing: Pairing, count: int) -> list[Pair]:
    if pairing == "all":
        return list(itertools.combinations(range(count), 2))
    return [(at, (at + 1) % count) for at in range(count)] if count >= FEWEST else []


def turned(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs of a circle, or all pairs, such that each is first as often as second, or once more or less: those that are
    an even number of places apart are turned.
    """
    return [pair[::-1] if pair[0] < pair[1] and (pair[1] - pair[0]) % 2 == 0 else pair for pair in pairs]


def usual_rounds(count: int) -> int:
    """The rounds of a swiss tournament: enough to find the best of `count`, and one more."""
    return math.ceil(math.log2(max(2, count))) + 1


def swiss_round(points: Sequence[float], met: Set[frozenset[int]], number: int) -> list[Pair]:
    """The pairs of one round: neighbours who have not met yet, by their points, and of equal ones by the points of those
    whom they met (Buchholz). Of an odd number the last of those with the most games sits out: nobody does so twice before all
    others have.

    Args:
        points: The points of each so far; a round without a game changes none.
        met: The pairs that were compared already.
        number: The round, from 0. In the first round, with no points, the first half meets the second.
    """
    count = len(points)
    if number == 0:
        half = count // 2
        return [(at, at + half) for at in range(half)]
    opponents = [0.0] * count
    for first, second in map(tuple, met):
        opponents[first] += points[second]
        opponents[second] += points[first]
    standing = sorted(range(count), key=lambda at: (-points[at], -opponents[at], at))
    is_last = number + 1 >= usual_rounds(count)
    for pairs in _whole_rounds(standing, met):
        if is_last or any(_whole_rounds(standing, met | set(map(frozenset, pairs)))):
            return pairs
    return []


def _whole_rounds(standing: Sequence[int], met: Set[frozenset[int]]) -> Iterator[list[Pair]]:
    """Rounds in which all play who may, those of the closest neighbours first."""
    if len(standing) % 2 == 0:
        yield from _matchings(standing, met)
        return
    games = Counter(itertools.chain.from_iterable(met))
    most = max(games[at] for at in standing)
    for idle in reversed(standing):
        if games[idle] == most:
            yield from _matchings([at for at in standing if at != idle], met)


def _matchings(waiting: Sequence[int], met: Set[frozenset[int]]) -> Iterator[list[Pair]]:
    if not waiting:
        yield []
        return
    first, *others = waiting
    for at, second in enumerate(others):
        if frozenset((first, second)) not in met:
            for pairs in _matchings(others[:at] + others[at + 1 :], met):
                yield [(first, second), *pairs]


def conflict_round(count: int, games: Sequence[Game], met: Set[frozenset[int]], most: int) -> list[Pair]:
    """At most so many pairs, behind the rounds of a swiss tournament: of responses that have not met yet, those that are close,
    and whose results so far contradict the others'. They mend best what a judge has got wrong.
    """
    strengths = np.array(bradley_terry(count, games))
    chances = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    surprises = np.zeros(count)
    for game in games:
        surprise = abs(game.result - chances[game.first, game.second])
        surprises[[game.first, game.second]] += surprise
    weights = np.triu(chances * (1 - chances) * (surprises[:, None] + surprises[None, :]), k=1)
    pairs: list[Pair] = []
    paired: set[int] = set()
    for place in np.argsort(-weights, axis=None, kind="stable"):
        first, second = divmod(int(place), count)
        if len(pairs) == most:
            break
        if first < second and frozenset((first, second)) not in met and paired.isdisjoint((first, second)):
            pairs.append((first, second))
            paired |= {first, second}
    return pairs
