"""Scores the speed of a right program by CPU times that were measured outside of it.

Against a reference time r of the same test:   1 - log2(max(t / r, 1)) / log2(SLOWEST)    as fast: 1; 8 times slower: 0
Against only the test's time limit T:          (T - t) / T

t is the least time of several runs. With a reference, times below `FLOOR_S` count as `FLOOR_S` on both sides, because
the overhead of a machine is as large as such a short run. The mean over tests is rounded to `STEP`, so that noise
seldom changes it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

SLOWEST: Final = 8.0
FLOOR_S: Final = 0.01
STEP: Final = 0.05
NOISY_SPREAD: Final = 0.2


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one test that was passed."""

    cpu_s: Sequence[float]
    """CPU seconds of each run."""
    limit_s: float
    reference_s: float | None = None

    @property
    def best_s(self) -> float:
        return min(self.cpu_s)

    @property
    def is_noisy(self) -> bool:
        """Whether the slowest run takes more than a fifth longer than the fastest."""
        return max(self.cpu_s) > (1 + NOISY_SPREAD) * max(self.best_s, FLOOR_S)

    @property
    def efficiency(self) -> float:
        taken_s = max(self.best_s, FLOOR_S)
        if self.reference_s is None:
            score = (self.limit_s - self.best_s) / self.limit_s
        else:
            ratio = taken_s / max(self.reference_s, FLOOR_S)
            score = 1 - math.log2(max(ratio, 1.0)) / math.log2(SLOWEST)
        return min(max(score, 0.0), 1.0)


def efficiency(passed: Sequence[Measured]) -> float:
    """The mean over the passed tests, in steps of `STEP`; 0 if there are none."""
    if not passed:
        return 0.0
    mean = math.fsum(test.efficiency for test in passed) / len(passed)
    return round(round(mean / STEP) * STEP, 2)


def total(correctness: float, weighted: Sequence[tuple[float, float | None]]) -> float:
    """The correctness times the weighted mean of `(weight, score)`; pairs without a score are left out."""
    present = [(weight, score) for weight, score in weighted if score is not None]
    weights = math.fsum(weight for weight, _ in present)
    mean = math.fsum(weight * score for weight, score in present) / weights
    return round(min(max(correctness * mean, 0.0), 1.0), 6)


def slowest(passed: Sequence[Measured]) -> list[Measured]:
    """The same tests with only the slowest run of each."""
    return [replace(test, cpu_s=[max(test.cpu_s)]) for test in passed]
