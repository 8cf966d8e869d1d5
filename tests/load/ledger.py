"""The ledger of a load. It records what happened to every item that was sent: none may be lost, and none wrongly
judged, whatever breaks.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rewardline import Result, Status

Judged = tuple[object, float]
"""An item as it is sent, and its right score."""


@dataclass
class Ledger:
    """The counts of items, and the times of batches."""

    sent: int = 0
    right: int = 0
    wrong: int = 0
    """Items that were judged wrongly. `invalid` counts too, because no item is invalid."""
    failed: int = 0
    """Items without a verdict when the client gave up."""
    lost: int = 0
    """Items without any result, or with an exception instead."""
    asked_again: int = 0
    """Items that the client library repeated by itself, after missing answers, refusals, and verdicts that were
    `failed`."""
    faults: Counter[str] = field(default_factory=Counter)
    """The reasons of repeats, in the client's words."""
    waits_s: list[float] = field(default_factory=list)
    """The times of whole batches, from the call to the last result."""
    examples: list[str] = field(default_factory=list)
    """Examples of wrong results."""

    @property
    def settled(self) -> int:
        """The number of items with a known outcome."""
        return self.right + self.wrong + self.failed + self.lost

    def settle(self, batch: Sequence[Judged], results: Sequence[Result | None], wait_s: float) -> None:
        """Record the results of a batch: `results[i]` belongs to `batch[i]`. Missing results at the end are lost."""
        self.waits_s.append(wait_s)
        surplus = len(results) - len(batch)
        if surplus > 0:
            self._count("wrong", f"{surplus} results too many", surplus)
        for (item, score), result in zip(batch, [*results, *[None] * max(-surplus, 0)], strict=False):
            self._count(_outcome(score, result), f"{item} should be {score}: {result}")

    def lose(self, batch: Sequence[Judged], error: Exception) -> None:
        """Record that the call ended with an exception."""
        self._count("lost", repr(error), len(batch))

    def wait_ms(self, share: float) -> float:
        """The wait that this share of the batches did not exceed. 1.0 gives the longest."""
        ordered = sorted(self.waits_s)
        return 1000 * ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan

    def _count(self, outcome: str, example: str, count: int = 1) -> None:
        setattr(self, outcome, getattr(self, outcome) + count)
        if outcome != "right" and len(self.examples) < 20:
            self.examples.append(f"{outcome}: {example[:400]}")


def _outcome(score: float, result: Result | None) -> str:
    if result is None:
        return "lost"
    if result.status is Status.FAILED:
        return "failed"
    return "right" if result.status is Status.OK and result.score == score else "wrong"
