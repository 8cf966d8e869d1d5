"""Computes average precision over predictions ranked by score; equal scores keep the order of the response.

For each class of the reference and each threshold, a prediction takes the free reference box of its class that it
overlaps most, if the overlap reaches the threshold. Otherwise it is a false positive.

    coco   precision at 101 recalls, at most 100 predictions of a class  (pycocotools, one image, one area range)
    voc    the area under the precision envelope  (VOC 2010 and later)
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from verifiers.rules.detection.overlaps import Overlap

Interpolation = Literal["coco", "voc"]

_COCO_MOST = 100
_COCO_RECALLS = 101
_COCO_ALMOST_ONE = 1 - Fraction(1, 10**10)


def average_precision(
    scores: Sequence[Fraction],
    predicted_classes: Sequence[str],
    gold_classes: Sequence[str],
    overlaps: Mapping[tuple[int, int], Overlap],
    thresholds: Sequence[Fraction],
    kind: Interpolation,
    *,
    charge_extra: bool,
) -> Fraction:
    """The mean over classes and thresholds. With `charge_extra` a class that only predictions have counts as 0."""
    classes = set(gold_classes) | (set(predicted_classes) if charge_extra else set())
    total = Fraction(0)
    for name in sorted(set(gold_classes)):
        gold = [at for at, label in enumerate(gold_classes) if label == name]
        ranked = sorted((at for at, label in enumerate(predicted_classes) if label == name), key=lambda at: -scores[at])
        if kind == "coco":
            ranked = ranked[:_COCO_MOST]
        area = _AREAS[kind]
        for threshold in thresholds:
            minimum = min(threshold, _COCO_ALMOST_ONE) if kind == "coco" else threshold
            total += area(_hits(ranked, gold, overlaps, minimum), len(gold))
    return total / (len(classes) * len(thresholds))


def _hits(
    ranked: Sequence[int], gold: Sequence[int], overlaps: Mapping[tuple[int, int], Overlap], minimum: Fraction
) -> list[bool]:
    """Whether each ranked prediction finds a reference box. Of equal boxes the last is taken, as in pycocotools."""
    free = dict.fromkeys(gold)
    hits = []
    for prediction in ranked:
        best, best_iou = None, Fraction(-1)
        for at in free:
            overlap = overlaps.get((prediction, at))
            if overlap is not None and overlap.reaches(minimum) and (iou := overlap.iou()) >= best_iou:
                best, best_iou = at, iou
        hits.append(best is not None)
        if best is not None:
            del free[best]
    return hits


def _curve(hits: Sequence[bool], gold_count: int) -> tuple[list[Fraction], list[Fraction]]:
    """Recall after each prediction, and the best precision from there on."""
    right = 0
    recalls, precisions = [], []
    for count, hit in enumerate(hits, 1):
        right += hit
        recalls.append(Fraction(right, gold_count))
        precisions.append(Fraction(right, count))
    for at in range(len(precisions) - 2, -1, -1):
        precisions[at] = max(precisions[at], precisions[at + 1])
    return recalls, precisions


def _at_recalls(hits: Sequence[bool], gold_count: int) -> Fraction:
    recalls, precisions = _curve(hits, gold_count)
    total = Fraction(0)
    for step in range(_COCO_RECALLS):
        at = bisect_left(recalls, Fraction(step, _COCO_RECALLS - 1))
        total += precisions[at] if at < len(precisions) else 0
    return total / _COCO_RECALLS


def _under_curve(hits: Sequence[bool], gold_count: int) -> Fraction:
    recalls, precisions = _curve(hits, gold_count)
    total, previous = Fraction(0), Fraction(0)
    for recall, precision in zip(recalls, precisions, strict=True):
        total += (recall - previous) * precision
        previous = recall
    return total


_AREAS: Mapping[Interpolation, Callable[[Sequence[bool], int], Fraction]] = {"coco": _at_recalls, "voc": _under_curve}
