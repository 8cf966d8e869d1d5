"""Numbers from the results of comparisons. A response without a comparison has None."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

Rating = Literal["win_loss", "points", "bradley_terry", "elo", "scores"]
_ELO_STEP: Final = 32.0
_ELO_SCALE: Final = 400.0
RANKING: Final = 3.5
"""The middle of a ranking from 1 (the first is much better) to 6."""
WORST: Final = 1.0
BEST: Final = 5.0
"""The scale of the rating `scores`."""
_PRIOR: Final = 2.0
"""Ties with an average player, which everybody is given: who won all games would else be infinitely strong, and a judge that
errs in a tenth of all pairs would be believed too much."""
_ROUNDS: Final = 200
_LONGEST_STEP: Final = 2.0
"""In logits: a longer step may leave the region where the likelihood is like a parabola."""
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
            rated = bradley_terry(count, games)
        case "elo":
            rated = elo(count, games)
        case "scores":
            rated = mean_scores(count, games)
        case _:
            rated = [sum_ / max(1, number) for sum_, number in zip(_won(count, games), played, strict=True)]
            if rating == "win_loss":
                rated = [2 * share - 1 for share in rated]
    return [value if number else None for value, number in zip(rated, played, strict=True)]


def as_score(rating: Rating, value: float) -> float:
    """A rating as a number from 0 to 1: the points that a game against an average player is worth, or the place on the
    judge's scale.
    """
    match rating:
        case "win_loss":
            return (value + 1) / 2
        case "bradley_terry":
            return 1 / (1 + math.exp(-value))
        case "elo":
            return 1 / (1 + 10 ** (-value / _ELO_SCALE))
        case "scores":
            return min(1.0, max(0.0, (value - WORST) / (BEST - WORST)))
        case _:
            return value


def _won(count: int, games: Sequence[Game]) -> list[float]:
    won = [0.0] * count
    for game in games:
        won[game.first] += game.result
        won[game.second] += 1 - game.result
    return won


def levelled(values: Sequence[float | None], texts: Sequence[str]) -> list[float | None]:
    """The values, where equal texts have the mean of theirs: which of them met whom says nothing of either."""
    of: dict[str, list[float]] = {}
    for value, text in zip(values, texts, strict=True):
        if value is not None:
            of.setdefault(text, []).append(value)
    means = {text: math.fsum(numbers) / len(numbers) for text, numbers in of.items()}
    return [means.get(text) for text in texts]


def bradley_terry(count: int, games: Sequence[Game]) -> list[float]:
    """The strengths of the model of Bradley and Terry, in logits with mean 0: the maximum of its likelihood by Newton's
    method, each with `_PRIOR` ties against an average player.
    """
    won = np.array(_won(count, games)) + _PRIOR / 2
    met = np.zeros((count, count))
    for game in games:
        met[game.first, game.second] += 1
        met[game.second, game.first] += 1
    logits = np.zeros(count)
    for _ in range(_ROUNDS):
        shares = 1 / (1 + np.exp(logits[None, :] - logits[:, None]))
        chances = 1 / (1 + np.exp(-logits))
        slope = won - (met * shares).sum(axis=1) - _PRIOR * chances
        bends = met * shares * (1 - shares)
        curvature = np.diag(bends.sum(axis=1) + _PRIOR * chances * (1 - chances)) - bends
        step = np.clip(np.linalg.solve(curvature, slope), -_LONGEST_STEP, _LONGEST_STEP)
        logits = logits + step
        if np.abs(step).max() < _CLOSE:
            break
    return [float(logit) for logit in logits - logits.mean()]


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
