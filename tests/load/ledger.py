"""What became of every item that was sent: nothing may be lost, nothing may be wrong, whatever breaks meanwhile."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rewardline import Result, Status

Judged = tuple[object, float]
"""An item as it is sent, and the score that is right."""


@dataclass
class Ledger:
    """Counts of items, and what batches took."""

    sent: int = 0
    right: int = 0
    wrong: int = 0
    """Judged, but not as they should be; called `invalid`, which none of them is, counts too."""
    failed: int = 0
    """Without a verdict when the client gave up."""
    lost: int = 0
    """Without any result, or with an exception in its place."""
    asked_again: int = 0
    """By the client library, of itself: answers that did not come, refusals, and verdicts that were `failed`."""
    faults: Counter[str] = field(default_factory=Counter)
    """Why, by the client's word for it."""
    waits_s: list[float] = field(default_factory=list)
    """Of whole batches, from the call to the last result."""
    examples: list[str] = field(default_factory=list)
    """Of what should not have been."""

    @property
    def settled(self) -> int:
        """Items of which it is known what became of them."""
        return self.right + self.wrong + self.failed + self.lost

    def settle(self, batch: Sequence[Judged], results: Sequence[Result | None], wait_s: float) -> None:
        """`results[i]` belongs to `batch[i]`; what is missing at the end is lost."""
        self.waits_s.append(wait_s)
        surplus = len(results) - len(batch)
        if surplus > 0:
            self._count("wrong", f"{surplus} results too many", surplus)
        for (item, score), result in zip(batch, [*results, *[None] * max(-surplus, 0)], strict=False):
            self._count(_outcome(score, result), f"{item} should be {score}: {result}")

    def lose(self, batch: Sequence[Judged], error: Exception) -> None:
        """The call ended with an exception."""
        self._count("lost", repr(error), len(batch))

    def wait_ms(self, share: float) -> float:
        """The wait that this share of the batches did not exceed; 1.0 is the longest."""
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
