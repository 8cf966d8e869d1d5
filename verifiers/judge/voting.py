"""Combines several votes into one decision."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from verifiers.judge.errors import JudgeFailure
from verifiers.judge.parsing import Reading

Tie = Literal["fail", "lower"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of the votes."""

    value: str | float | Mapping[str, float]
    score: float
    agreement: float
    """The share of valid votes that agree; for numbers, 1 minus their spread."""
    readings: Sequence[Reading]


def is_decided(readings: Sequence[Reading], votes: int, *, labels: bool) -> bool:
    """Whether the missing votes cannot change which label wins."""
    if not readings or not labels:
        return len(readings) >= votes
    counts = Counter(str(reading.value) for reading in readings).most_common(2)
    second = counts[1][1] if len(counts) > 1 else 0
    return counts[0][1] > second + votes - len(readings)


def decide(readings: Sequence[Reading], *, labels: bool, tie: Tie = "fail", unanimous: bool = False) -> Decision:
    """The majority of labels, the mean of numbers, the median of each criterion.

    `labels`: a number counts as a label, too (the number of a step). `unanimous`: a label that scores more than the
    lowest one must be that of every vote.

    Raises:
        JudgeFailure: `tie`.
    """
    if labels:
        return _majority(readings, tie, unanimous)
    if all(isinstance(reading.value, Mapping) for reading in readings):
        return _by_criterion(readings)
    scores = [reading.score for reading in readings]
    numbers = [float(reading.value) for reading in readings if isinstance(reading.value, int | float)]
    return Decision(statistics.fmean(numbers), statistics.fmean(scores), 1.0 - (max(scores) - min(scores)), readings)


def _majority(readings: Sequence[Reading], tie: Tie, unanimous: bool) -> Decision:
    counts = Counter(str(reading.value) for reading in readings)
    top = max(counts.values())
    leading = [value for value, count in counts.items() if count == top]
    if len(leading) > 1 and tie == "fail" and not unanimous:
        raise JudgeFailure("tie", f"the votes are divided: {dict(counts)}", retryable=True)
    lowest = min(leading, key=lambda value: _score_of(value, readings))
    if unanimous and len(counts) > 1:
        lowest = min(counts, key=lambda value: _score_of(value, readings))
    votes = [reading for reading in readings if str(reading.value) == lowest]
    return Decision(lowest, statistics.fmean(reading.score for reading in votes), len(votes) / len(readings), readings)


def _score_of(value: str, readings: Sequence[Reading]) -> float:
    return statistics.fmean(reading.score for reading in readings if str(reading.value) == value)


def _by_criterion(readings: Sequence[Reading]) -> Decision:
    values = [reading.value for reading in readings if isinstance(reading.value, Mapping)]
    medians = {name: float(statistics.median(value[name] for value in values)) for name in values[0]}
    agreements = [float(len({value[name] for value in values}) == 1) for name in medians]
    agreement = statistics.fmean(agreements) if agreements else 1.0
    return Decision(medians, statistics.fmean(reading.score for reading in readings), agreement, readings)
