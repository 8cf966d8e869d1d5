"""Histograms of rewards, by verifier or recipe and by the label of the rows. A training team looks at these first.

A mean that jumps means that a verifier changed, that a policy found a hole, or that a data set was mixed anew. Only
judged items count. Callers can invent labels of rows, so only labels that a route names appear by themselves.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from typing import Final

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.wire import Result, ScoreItem

BOUNDS: Final = (-1.0, -0.5, 0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
OTHER: Final = "other"
"""The name for all labels that no route names, and for all recipes beyond the limit."""
_MAX_SERIES: Final = 500


class RewardCounts(Collector):
    """A histogram that is filled batch by batch and rendered at each scrape."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], list[float]] = {}
        """By recipe and label: the count of each bucket, the count beyond the last bound, and the sum of rewards."""

    def observe(self, items: Sequence[ScoreItem], results: Sequence[Result], labels: Set[str]) -> None:
        """Count results, a part of a batch or all. `results[i]` belongs to `items[i]`. `labels` holds the labels that routes name."""
        for item, result in zip(items, results, strict=True):
            if result.reward is None:
                continue
            label = item.tag or item.data_source or item.domain or ""
            if label and label not in labels:
                label = OTHER
            counts = self._of(result.recipe or result.verifier or "", label)
            counts[bisect_left(BOUNDS, result.reward)] += 1
            counts[-1] += result.reward

    def _of(self, recipe: str, label: str) -> list[float]:
        counts = self._counts.get((recipe, label))
        if counts is None:
            if len(self._counts) >= _MAX_SERIES:
                recipe, label = OTHER, OTHER
            counts = self._counts.setdefault((recipe, label), [0.0] * (len(BOUNDS) + 2))
        return counts

    def collect(self) -> Iterator[Metric]:
        # The library's own family leaves out sum and count where a bound is negative, as a counter must not fall; a mean
        # over some minutes is what they are for here.
        about = "Rewards of judged items, by recipe (or verifier) and by the rows' label"
        family = Metric("rewardline_reward", about, "histogram")
        for (recipe, label), counts in self._counts.items():
            labels = {"recipe": recipe, "tag": label}
            total = 0.0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts[:-1], strict=True):
                total += count
                family.add_sample("rewardline_reward_bucket", {**labels, "le": bound}, total)
            family.add_sample("rewardline_reward_count", labels, total)
            family.add_sample("rewardline_reward_sum", labels, counts[-1])
        yield family
