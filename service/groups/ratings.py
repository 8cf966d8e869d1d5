"""Numbers from the results of comparisons. A response without a comparison has None."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Rating = Literal["win_loss", "points", "bradley_terry", "elo", "scores"]
_ELO_STEP: Final = 32.0
_ELO_SCALE: Final = 400.0
RANKING: Final = 3.5
"""The middle of a ranking from 1 (the first is much better) to 6."""
_PRIOR: Final = 0.5
"""Ties with an average player, which everybody is given: who won all games would else be infinitely strong."""
_ROUNDS: Final = 200
_CLOSE: Final = 1e-10


@dataclass(frozen=True, slots=True)
class Game:
    """The result of one comparison."""

    first: int
    second: int
    result: float
    """1 if the first is better, 0.5 for a tie, 0 if the second is better; or between them."""
    scores: tuple[float, float] | None = None
    """What the judge gave each of them, for the rating `scores`."""
    ranking: float = RANKING
    """From 1, the first is much better, to 6, the second is."""


def rate(rating: Rating, count: int, games: Sequence[Game]) -> list[float | None]:
    """The rating of each of `count` responses."""
    played = [0] * count
    for game in games:
        played[game.first] += 1
        played[game.second] += 1
    match rating:
        case "bradley_terry":
            found = bradley_terry(count, games)
        case "elo":
            found = elo(count, games)
        case "scores":
            found = mean_scores(count, games)
        case _:
            found = [sum_ / max(1, number) for sum_, number in zip(_won(count, games), played, strict=True)]
            if rating == "win_loss":
                found = [2 * share - 1 for share in found]
    return [value if number else None for value, number in zip(found, played, strict=True)]


def _won(count: int, games: Sequence[Game]) -> list[float]:
    won = [0.0] * count
    for game in games:
        won[game.first] += game.result
        won[game.second] += 1 - game.result
    return won


def bradley_terry(count: int, games: Sequence[Game]) -> list[float]:
    """The strengths of the model of Bradley and Terry, in logits with mean 0: by the iteration of Hunter (2004,
    doi 10.1214/aos/1079120141), each with `_PRIOR` ties against an average player.
    """
    won = [value + _PRIOR / 2 for value in _won(count, games)]
    met: list[dict[int, int]] = [{} for _ in range(count)]
    for game in games:
        met[game.first][game.second] = met[game.first].get(game.second, 0) + 1
        met[game.second][game.first] = met[game.second].get(game.first, 0) + 1
    strengths = [1.0] * count
    for _ in range(_ROUNDS):
        before = list(strengths)
        for at in range(count):
            met_by = sum(number / (strengths[at] + strengths[other]) for other, number in met[at].items())
            strengths[at] = won[at] / (met_by + _PRIOR / (strengths[at] + 1.0))
        if max(abs(new - old) for new, old in zip(strengths, before, strict=True)) < _CLOSE:
            break
    logits = [math.log(strength) for strength in strengths]
    mean = math.fsum(logits) / count
    return [logit - mean for logit in logits]


def elo(count: int, games: Sequence[Game]) -> list[float]:
    """Elo's ratings from 0, after the games in their order."""
    ratings = [0.0] * count
    for game in games:
        expected = 1 / (1 + 10 ** ((ratings[game.second] - ratings[game.first]) / _ELO_SCALE))
        change = _ELO_STEP * (game.result - expected)
        ratings[game.first] += change
        ratings[game.second] -= change
    return ratings


def mean_scores(count: int, games: Sequence[Game]) -> list[float]:
    """The mean of the scores that each was given (NeMo-Gym, genrm_compare). In a game with equal scores, the ranking
    moves both away from each other.
    """
    sums, numbers = [0.0] * count, [0] * count
    for game in games:
        first, second = game.scores or (game.result, 1 - game.result)
        if first == second and game.scores is not None:
            first, second = first + (RANKING - game.ranking), second - (RANKING - game.ranking)
        for at, score in ((game.first, first), (game.second, second)):
            sums[at] += score
            numbers[at] += 1
    return [total / max(1, number) for total, number in zip(sums, numbers, strict=True)]
