"""Measures how near a list of boxes is to the reference: six measures, each in [0, 1] (GIoU in [-1, 1]).

Both lists hold at least one box here. Only boxes of the same class are compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from verifiers.rules.detection.average_precision import average_precision
from verifiers.rules.detection.boxes import Box
from verifiers.rules.detection.matching import Pair, best_pairs
from verifiers.rules.detection.overlaps import Overlap, on_grid, overlap

Metric = Literal["f1", "mean_iou", "coco_ap", "voc_ap", "giou", "shaped"]
Part = Literal["iou", "map", "map50", "map75"]

COCO_THRESHOLDS = tuple(Fraction(step, 20) for step in range(10, 20))
HALF = (Fraction(1, 2),)
THRESHOLDS: Mapping[Metric, tuple[Fraction, ...]] = {
    "f1": HALF,
    "coco_ap": COCO_THRESHOLDS,
    "voc_ap": HALF,
    "shaped": (*COCO_THRESHOLDS, Fraction(99, 100)),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The constants of the shaped reward."""

    completeness_weight: Fraction
    size_penalty: Fraction
    parts: Mapping[Part, Fraction]


class Scene:
    """Predictions and reference boxes, at least one of each, and the overlaps of those that may be the same."""

    def __init__(self, predicted: Sequence[Box], gold: Sequence[Box], classes: tuple[list[str], list[str]]) -> None:
        self.predicted, self.gold = predicted, gold
        self.predicted_classes, self.gold_classes = classes
        mine, gold_sides = on_grid(predicted, gold)
        self.overlaps: dict[Pair, Overlap] = {
            (row, column): overlap(sides, gold_box)
            for row, sides in enumerate(mine)
            for column, gold_box in enumerate(gold_sides)
            if self.gold_classes[column] == self.predicted_classes[row]
        }
        self._ious = {pair: shared.iou() for pair, shared in self.overlaps.items() if shared.shared}
        self._matched: dict[Fraction, list[Overlap]] = {}

    def matched(self, threshold: Fraction) -> list[Overlap]:
        """The overlaps of the largest set of one-to-one pairs that reach the threshold.

        Of equal sets the most alike.
        """
        if threshold not in self._matched:
            worth = {pair: iou for pair, iou in self._ious.items() if self.overlaps[pair].reaches(threshold)}
            pairs = best_pairs(worth, most_pairs=True)
            self._matched[threshold] = [self.overlaps[pair] for pair in pairs]
        return self._matched[threshold]

    def f1(self, thresholds: Sequence[Fraction]) -> Fraction:
        sizes = len(self.predicted) + len(self.gold)
        return _mean([Fraction(2 * len(self.matched(threshold)), sizes) for threshold in thresholds])

    def mean_iou(self, threshold: Fraction) -> Fraction:
        """The sum of IoU over the larger number of boxes, so that every surplus box costs."""
        worth = {pair: iou for pair, iou in self._ious.items() if self.overlaps[pair].reaches(threshold)}
        chosen = best_pairs(worth, most_pairs=threshold > 0)
        return sum((worth[pair] for pair in chosen), Fraction(0)) / max(len(self.predicted), len(self.gold))

    def giou(self) -> Fraction:
        """The mean GIoU over the larger number of boxes, in [-1, 1]. Boxes without a partner have -1."""
        halves = {pair: (shared.giou() + 1) / 2 for pair, shared in self.overlaps.items()}
        chosen = best_pairs(halves, most_pairs=False)
        larger = max(len(self.predicted), len(self.gold))
        return sum((halves[pair] for pair in chosen), Fraction(0)) / larger * 2 - 1

    def average_precision(
        self, kind: Literal["coco", "voc"], thresholds: Sequence[Fraction], charge_extra: bool
    ) -> Fraction:
        return average_precision(
            [box.score for box in self.predicted],
            self.predicted_classes,
            self.gold_classes,
            self.overlaps,
            thresholds,
            kind,
            charge_extra=charge_extra,
        )

    def shaped(self, thresholds: Sequence[Fraction], shape: Shape) -> Fraction:
        """ROLL's reward for detection (from One RL to See Them All), with pairs that are matched one to one."""
        penalty = shape.size_penalty ** abs(len(self.predicted) - len(self.gold))
        total = sum((self._part(part, thresholds, shape) * weight for part, weight in shape.parts.items()), Fraction(0))
        return penalty * total / sum(shape.parts.values(), Fraction(0))

    def _part(self, part: Part, thresholds: Sequence[Fraction], shape: Shape) -> Fraction:
        if part == "iou":
            return _mean([self._shaped_iou(threshold, shape.completeness_weight) for threshold in thresholds])
        at = {"map": COCO_THRESHOLDS, "map50": HALF, "map75": (Fraction(3, 4),)}[part]
        return self.average_precision("coco", at, charge_extra=False)

    def _shaped_iou(self, threshold: Fraction, weight: Fraction) -> Fraction:
        matched = self.matched(threshold)
        mean = sum((match.iou() for match in matched), Fraction(0)) / len(self.gold)
        missed = Fraction(len(self.gold) - len(matched), len(self.gold))
        false_alarms = Fraction(len(self.predicted) - len(matched), len(self.predicted))
        return mean * (1 - weight) + (1 - (missed + false_alarms) / 2) * weight


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)
