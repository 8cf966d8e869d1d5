"""Makes one reward from several checks. It is pure arithmetic on given scores.

    score ─threshold─► ─scale─► value ┐
    score ─threshold─► ─scale─► value ┼─aggregate─► ─scale─► ─clip─► reward
    (a closed gate)          skipped  ┘

A score is correctness in [0, 1]. A value is the worth of a check, any finite number. Nothing here judges: a check
without a score has no value either.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Aggregate = Literal["weighted_mean", "weighted_sum", "additive", "product", "min", "max"]


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps scores to values: a line from `wrong` (score 0) to `correct` (score 1), except for reasons that have a value
    of their own.
    """

    wrong: float = 0.0
    correct: float = 1.0
    reasons: Mapping[str, float] = field(default_factory=dict)
    """Values by the reason of the verdict. They come first: `no_answer` may be worth less than a wrong answer."""
    threshold: float | None = None
    """Scores from this one on count as 1, all others as 0."""

    def value(self, score: float, reason: str) -> float:
        """The value of a verdict."""
        fixed = self.reasons.get(reason)
        if fixed is not None:
            return fixed
        if self.threshold is not None:
            score = float(score >= self.threshold)
        if score in (0.0, 1.0):  # exact, whatever the rounding of the line
            return self.correct if score else self.wrong
        return self.wrong + (self.correct - self.wrong) * score


PLAIN = Scale()


@dataclass(frozen=True, slots=True)
class Term:
    """One check's part in a reward."""

    value: float
    weight: float = 1.0


def aggregate(how: Aggregate, terms: Sequence[Term]) -> float:
    """Make one number from the values of the terms.

    `weighted_mean` divides by the sum of the weights of these terms, `weighted_sum` does not. `additive`, `product`,
    `min` and `max` ignore weights.

    Raises:
        ValueError: there is no term, or no weight to divide by.
    """
    if not terms:
        raise ValueError("nothing to aggregate")
    values = [term.value for term in terms]
    match how:
        case "weighted_mean":
            return math.fsum(term.weight * term.value for term in terms) / _total(terms)
        case "weighted_sum":
            return math.fsum(term.weight * term.value for term in terms)
        case "additive":
            return math.fsum(values)
        case "product":
            return math.prod(values)
        case "min":
            return min(values)
        case "max":
            return max(values)


def _total(terms: Sequence[Term]) -> float:
    total = math.fsum(term.weight for term in terms)
    if total <= 0:
        raise ValueError("the weights of the remaining checks are all 0")
    return total


@dataclass(frozen=True, slots=True)
class Clip:
    """The bounds of a reward, both inclusive."""

    low: float
    high: float

    def apply(self, value: float) -> float:
        return min(max(value, self.low), self.high)
