"""What the values of a reward model come to: classes, steps, models and a reference to one value, and that to a score.

    values of the classes ─activation, label─► a value for each step ─reduce─► minus the cost of length
        ─ensemble─► minus that of the reference (margin) ─map─► score from 0 to 1

No value is made up: what is not a number, lacks its class or is not a probability where one is declared is a failure.
"""

import math
import statistics
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from verifiers.judge.endpoints.reward_servers import Rewards
from verifiers.judge.errors import JudgeFailure
from verifiers.judge.rewards.profiles import Affine, LengthCost, Probability, RewardModel, Sigmoid, Steps, ZScore

MAX_RUNS: Final = 1_000
"""The runs whose values are remembered; the one that was used least recently goes first."""


def by_step(model: RewardModel, rewards: Rewards, steps: int) -> list[float]:
    """The value of each step; of a model without steps, one value.

    Raises:
        JudgeFailure: the answer has no value of that class, or not one for each step.
    """
    count = steps if model.steps is not None else 1
    if len(rewards.rows) != count:
        hint = "; the server must give a value for each separator (vLLM: pooling type STEP)" if count > 1 else ""
        raise JudgeFailure("wrong_count", f"{len(rewards.rows)} values for {count} steps{hint}", retryable=False)
    at = _position(model, rewards)
    return [_activated(model, row)[at] for row in rewards.rows]


def _position(model: RewardModel, rewards: Rewards) -> int:
    classes = len(rewards.rows[0])
    if model.label is None:
        if classes == 1:
            return 0
        raise JudgeFailure("unknown_label", f"{classes} classes; the profile must name its label", retryable=False)
    name = model.label if isinstance(model.label, str) else f"LABEL_{model.label}"
    if name in rewards.labels:
        return rewards.labels.index(name)
    # Servers with labels list the best class first, so a position among several means nothing.
    if isinstance(model.label, int) and model.label < classes and (not rewards.labels or classes == 1):
        return model.label
    labels = list(rewards.labels) or f"{classes} without names"
    raise JudgeFailure("unknown_label", f"no class {model.label!r}; there are {labels}", retryable=False)


def _activated(model: RewardModel, row: Sequence[float]) -> Sequence[float]:
    match model.activation:
        case "sigmoid":
            return [_sigmoid(value) for value in row]
        case "softmax":
            highest = max(row)
            shares = [math.exp(value - highest) for value in row]
            return [share / math.fsum(shares) for share in shares]
        case "none":
            return row


def reduced(steps: Steps | None, values: Sequence[float]) -> float:
    if steps is None:
        return values[0]
    match steps.reduce:
        case "min":
            return min(values)
        case "product":
            return math.prod(values)
        case "last":
            return values[-1]
        case "mean":
            return statistics.fmean(values)


def length_cost(cost: LengthCost | None, chars: int) -> float:
    return 0.0 if cost is None else cost.weight * max(0, chars - cost.free_chars) / cost.chars


def ensembled(model: RewardModel, values: Sequence[float]) -> float:
    if len(values) == 1:
        return values[0]
    if model.ensemble == "min":
        return min(values)
    mean = statistics.fmean(values)
    return mean - model.deviations * statistics.pstdev(values) if model.ensemble == "deviation" else mean


def mapped(rule: Probability | Sigmoid | Affine, value: float) -> float:
    """The score of a value.

    Raises:
        JudgeFailure: it is not a probability where one is declared.
    """
    if isinstance(rule, Sigmoid):
        return _sigmoid((value - rule.center) / rule.scale)
    if isinstance(rule, Affine):
        return min(1.0, max(0.0, (value - rule.low) / (rule.high - rule.low)))
    if not 0.0 <= value <= 1.0:
        raise JudgeFailure("not_a_probability", f"{value:g} is not from 0 to 1; declare another map", retryable=False)
    return value


def rank(value: float, rivals: Sequence[float]) -> float:
    """The share of the others that are lower; an equal one counts half."""
    return math.fsum(1.0 if rival < value else 0.5 if rival == value else 0.0 for rival in rivals) / len(rivals)


def _sigmoid(value: float) -> float:
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    odds = math.exp(max(value, -700.0))
    return odds / (1 + odds)


@dataclass(slots=True)
class _Moments:
    """Mean and sum of squared deviations, updated value by value (Welford, 1962)."""

    count: float
    mean: float
    squares: float

    def add(self, value: float) -> None:
        self.count += 1
        deviation = value - self.mean
        self.mean += deviation / self.count
        self.squares += deviation * (value - self.mean)


class RunningScores:
    """The values of each run so far. They belong to one event loop, and are bounded by `MAX_RUNS`."""

    def __init__(self) -> None:
        self._runs: OrderedDict[Hashable, _Moments] = OrderedDict()

    def z(self, rule: ZScore, run: Hashable, value: float) -> float:
        """How many deviations the value is above the mean of those before it; it then is one of them."""
        moments = self._runs.get(run)
        if moments is None:
            moments = self._runs[run] = _Moments(rule.prior, rule.center, rule.prior * rule.scale**2)
            if len(self._runs) > MAX_RUNS:
                self._runs.popitem(last=False)
        self._runs.move_to_end(run)
        deviation = math.sqrt(moments.squares / moments.count)
        z = (value - moments.mean) / deviation
        moments.add(value)
        return z


def normal_share(z: float) -> float:
    """The share of a standard normal distribution below z."""
    return 0.5 * math.erfc(-z / math.sqrt(2))
