"""Computes the overlap of two boxes, in whole numbers.

Sides are continuous lengths (no pixel is added). IoU and GIoU stay the same when one axis is stretched, so coordinates
are made integers first, and every comparison with a threshold is exact.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from verifiers.rules.detection.boxes import Box

Sides = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Overlap:
    """The areas of two boxes: `shared`, `union`, and `hull`, the smallest common box."""

    shared: int
    union: int
    hull: int

    def iou(self) -> Fraction:
        """The IoU; 0 if neither box has an area."""
        return Fraction(self.shared, self.union) if self.union else Fraction(0)

    def giou(self) -> Fraction:
        """The GIoU in [-1, 1] (Rezatofighi et al. 2019); 0 for two boxes that are one point or lie on one line."""
        return self.iou() - (Fraction(self.hull - self.union, self.hull) if self.hull else 0)

    def reaches(self, threshold: Fraction) -> bool:
        return self.union > 0 and self.shared * threshold.denominator >= self.union * threshold.numerator


def on_grid(predicted: Sequence[Box], gold: Sequence[Box]) -> tuple[list[Sides], list[Sides]]:
    """The sides of all boxes as integers of one common scale per axis."""
    boxes = [*predicted, *gold]
    across = math.lcm(*{side.denominator for box in boxes for side in (box.x1, box.x2)})
    down = math.lcm(*{side.denominator for box in boxes for side in (box.y1, box.y2)})
    sides = [
        (_times(box.x1, across), _times(box.y1, down), _times(box.x2, across), _times(box.y2, down)) for box in boxes
    ]
    return sides[: len(predicted)], sides[len(predicted) :]


def _times(side: Fraction, scale: int) -> int:
    """A side as an integer of a scale that its denominator divides."""
    return side.numerator * (scale // side.denominator)


def overlap(first: Sides, second: Sides) -> Overlap:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    shared = width * height if width > 0 and height > 0 else 0
    union = (first[2] - first[0]) * (first[3] - first[1]) + (second[2] - second[0]) * (second[3] - second[1]) - shared
    hull = (max(first[2], second[2]) - min(first[0], second[0])) * (max(first[3], second[3]) - min(first[1], second[1]))
    return Overlap(shared, union, hull)
