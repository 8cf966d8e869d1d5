"""Scores boxes and labels against reference boxes.

    f1         2 · matches / (predicted + reference boxes); a match is a pair of the same label with IoU >= threshold
    mean_iou   the sum of the pairs' IoU over the larger number of boxes
    giou       the same with (GIoU + 1) / 2, so that 2s - 1 is the mean GIoU and boxes that merely touch have about 1/2
    coco_ap    COCO's average precision over thresholds 0.5 to 0.95; voc_ap: the area under the curve at 0.5
    shaped     ROLL's detection reward: IoU, completeness, and 0.6 to the power of the boxes too many or too few

Pairs are one to one and chosen for the largest sum, never greedily, so that a second box on the same object earns
nothing. Average precision takes the boxes in the order of their scores, or in the order of the response if there are no
scores. By its definition it forgives false alarms behind the right boxes, and classes that the reference lacks
(`extra_labels`). A policy learns to exploit that: prefer f1 or mean_iou as a reward.

The answer stands in the last answer tag (`extract: "whole"` takes the text or its code fence). `boxes.py` describes its
forms, and which items are boxes. All values are computed in exact fractions of the decimals as written.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from msgspec.structs import replace
from pydantic import Field, StrictInt, StrictStr, model_validator

from sandbox.workers import Workers
from verifiers import commitment, long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.commitment import Channel
from verifiers.long_texts import INLINE_CHARS, judge_all
from verifiers.rules.detection import boxes
from verifiers.rules.detection.boxes import MAX_BOXES, Box, BoxFormat
from verifiers.rules.detection.scoring import THRESHOLDS, Metric, Part, Scene, Shape

_Share = Annotated[float, Field(ge=0, le=1)]
_Threshold = Annotated[float, Field(gt=0, le=1)]
_Pixels = Annotated[StrictInt, Field(gt=0, le=1_000_000)]


class DetectionParams(commitment.ExtractionParams):
    """The reference boxes, and how other boxes are compared with them."""

    reference: Annotated[StrictStr, Field(max_length=boxes.MAX_TEXT_CHARS)] | list[Any] | dict[str, Any]
    """Boxes as `[{"bbox_2d": [x1, y1, x2, y2], "label": "cat"}]`, or without labels as `[[x1, y1, x2, y2]]`.

    Both may also be given as text, in an answer tag or not.
    """
    metric: Metric = "f1"
    """The measure of the boxes: f1, mean_iou, giou, coco_ap, voc_ap or shaped."""
    iou_thresholds: Annotated[tuple[_Threshold, ...], Field(min_length=1, max_length=16)] | None = None
    """The thresholds that a pair must reach; scores are averaged over them.

    If they are left out: 0.5 for f1 and voc_ap, 0.5 to 0.95 for coco_ap, these and 0.99 for shaped, none for mean_iou.
    giou has no threshold.
    """
    label_match: Literal["folded", "exact", "ignore"] = "folded"
    """How labels are compared: without case and spacing, character by character, or not at all."""
    box_format: BoxFormat = "xyxy"
    """The meaning of the four numbers, in responses and reference."""
    image_size: tuple[_Pixels, _Pixels] | None = None
    """Width and height of the image in which the response's boxes are pixels.

    They are scaled to 0-1000 (Qwen2.5-VL).
    """
    extra_labels: Literal["ignore", "charge"] = "ignore"
    """For average precision: whether a class that the reference lacks counts as one more class with nothing right."""
    completeness_weight: _Share = 0.3
    """For `shaped`: the share of completeness beside IoU (`iou_completeness`)."""
    size_penalty: _Share = 0.6
    """For `shaped`: the factor for each box too many or too few."""
    parts: dict[Part, _Share] = Field(default={"iou": 1.0}, min_length=1)
    """For `shaped`: the weights of the average (`det_reward_ratio`).

    They belong to the IoU part, and to COCO's AP over all thresholds, at 0.5 and at 0.75.
    """
    threshold: _Threshold | None = None
    """A score of at least this value becomes 1, a smaller one 0."""

    @model_validator(mode="after")
    def _check(self) -> "DetectionParams":
        if not any(self.parts.values()):
            raise ValueError("parts: at least one share must be above 0")
        if self.metric == "mean_iou" and self.iou_thresholds is not None and len(self.iou_thresholds) > 1:
            raise ValueError("iou_thresholds: mean_iou takes one threshold")
        return self


class Detection(Verifier[DetectionParams]):
    name = "detection"
    version = "19"
    params = DetectionParams
    summary = "Boxes and labels against reference boxes: F1, mean IoU, COCO and VOC AP, GIoU, ROLL's shaped reward"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[DetectionParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items, _is_inline)


def create(resources: Resources) -> Detection:
    long_texts.register(resources.workers, judge, DetectionParams, EXAMPLES[0])
    return Detection(resources.workers)


_INLINE_PAIRS = 100
"""Pairs of boxes times thresholds that are judged inline: about 1 ms."""
_INLINE_REFERENCE_CHARS = 4_000


def _is_inline(item: Item[DetectionParams]) -> bool:
    """Whether an item is judged inline.

    Each box has its own opening bracket or brace, so their number bounds the work.
    """
    params = item.params
    reference = params.reference
    if len(item.response) > INLINE_CHARS or (isinstance(reference, str) and len(reference) > _INLINE_REFERENCE_CHARS):
        return False
    thresholds = len(THRESHOLDS.get(params.metric, "-") if params.iou_thresholds is None else params.iou_thresholds)
    count = _brackets(reference) if isinstance(reference, str) else len(reference)
    return min(_brackets(item.response), MAX_BOXES) * count * thresholds <= _INLINE_PAIRS


def _brackets(text: str) -> int:
    return max(text.count("[") + text.count("("), text.count("{"))


def judge(response: str, params: DetectionParams, explain: bool = False) -> Verdict:
    gold = _gold(params)
    if isinstance(gold, Verdict):
        return gold
    counts_labels = params.label_match != "ignore" and any(box.label for box in gold)
    extraction = commitment.extract(response, params, (Channel.ANSWER_TAG,), sent=response if explain else None)
    answer = extraction.answer
    if answer is None and (last := _last_of_adjacent(response, extraction, params.on_conflict)) is not None:
        answer = last.text
        extraction = replace(commitment.judged_at(extraction, last.span), span=last.span)
    detail = extraction.detail(explain)
    if answer is None:
        return Verdict.wrong(extraction.reason, **detail)
    answered = boxes.from_text(answer, params.box_format, needs_label=counts_labels)
    if answered is None:
        return Verdict.wrong("unparseable", answer, **detail)
    detail |= {"boxes": len(answered.kept), "dropped": answered.dropped, "reference_boxes": len(gold)}
    if len(answered.kept) + answered.dropped > MAX_BOXES:
        return Verdict.wrong("too_many_boxes", answer, **detail)
    predicted = [_scaled(box, params.image_size) for box in answered.kept]
    if explain:
        detail["compared"] = {"answer": _shown(predicted), "reference": _shown(gold)}
    if not predicted or not gold:
        is_right = not predicted and not gold and not answered.dropped
        return Verdict.correct(answer, **detail) if is_right else Verdict.wrong(extracted=answer, **detail)
    score = _score(
        Scene(predicted, gold, _classes(predicted, gold, params.label_match if counts_labels else "ignore")),
        params,
        detail,
    )
    if params.threshold is not None:
        detail["likeness"] = float(score)
        score = Fraction(score >= _exact(params.threshold))
    return _verdict(float(score), answer, detail)


def _verdict(score: float, answer: str, detail: dict[str, Any]) -> Verdict:
    if score == 1.0:
        return Verdict.correct(answer, **detail)
    if score == 0.0:
        return Verdict.wrong(extracted=answer, **detail)
    return Verdict(Status.OK, score, "partial", clip(answer), detail)


def _score(scene: Scene, params: DetectionParams, detail: dict[str, Any]) -> Fraction:
    limits = params.iou_thresholds
    thresholds = THRESHOLDS.get(params.metric, ()) if limits is None else tuple(map(_exact, limits))
    match params.metric:
        case "f1":
            matched = scene.matched(thresholds[0])
            detail["matches"] = len(matched)
            detail["mean_iou"] = float(sum((overlap.iou() for overlap in matched), Fraction(0)) / len(scene.gold))
            return scene.f1(thresholds)
        case "mean_iou":
            return scene.mean_iou(thresholds[0] if thresholds else Fraction(0))
        case "giou":
            giou = scene.giou()
            detail["giou"] = float(giou)
            return (giou + 1) / 2
        case "coco_ap":
            return scene.average_precision("coco", thresholds, params.extra_labels == "charge")
        case "voc_ap":
            return scene.average_precision("voc", thresholds, params.extra_labels == "charge")
        case "shaped":
            weights = {part: _exact(share) for part, share in params.parts.items() if share}
            shape = Shape(_exact(params.completeness_weight), _exact(params.size_penalty), weights)
            return scene.shaped(thresholds, shape)


def _exact(value: float) -> Fraction:
    return Fraction(repr(value))


# --- the boxes


def _gold(params: DetectionParams) -> list[Box] | Verdict:
    reference = params.reference
    if isinstance(reference, str):
        tagged = commitment.extract(reference, commitment.ExtractionParams(think="none", extract=Channel.ANSWER_TAG))
        text = tagged.answer if tagged.answer is not None else reference
        boxes_read = boxes.from_text(text, params.box_format, needs_label=False)
    else:
        boxes_read = boxes.from_value(reference, params.box_format, needs_label=False)
    if boxes_read is None or boxes_read.dropped:
        fault = "is not a list of boxes" if boxes_read is None else f"has {boxes_read.dropped} items that are not box"
        message = f"reference {clip(str(reference))!r} {fault}: each is [x1, y1, x2, y2] with x1 <= x2 and y1 <= y2"
        return Verdict.invalid("unparseable_reference", message)
    if params.label_match != "ignore" and len({bool(box.label) for box in boxes_read.kept}) > 1:
        return Verdict.invalid("missing_label", "some reference boxes have a label and others none; label all or none")
    if len(boxes_read.kept) > MAX_BOXES:
        return Verdict.invalid("too_many_boxes", f"the reference has {len(boxes_read.kept)} boxes; at most {MAX_BOXES}")
    return list(boxes_read.kept)


_MAX_COMMITTED = 2


def _last_of_adjacent(
    response: str, extraction: commitment.Extraction, on_conflict: commitment.OnConflict
) -> commitment.Candidate | None:
    """The last of two adjacent lists in tags, without words between them: it corrects the first.

    Three lists are a flood, and tags inside each other hold no list.
    """
    tags = extraction.candidates
    if extraction.reason != "conflicting_answers" or on_conflict == "reject" or len(tags) != _MAX_COMMITTED:
        return None
    between = response[tags[0].span[1] : tags[1].span[0]]
    return tags[1] if _ADJACENT.fullmatch(between) else None


_ADJACENT = re.compile(r"[\W_]*</answer\s{0,4}>[\W_]*<answer\s{0,4}>[\W_]*", re.IGNORECASE)


_QWEN_RANGE = 1000


def _scaled(box: Box, image_size: tuple[int, int] | None) -> Box:
    if image_size is None:
        return box
    across, down = (Fraction(_QWEN_RANGE, side) for side in image_size)
    return Box(box.x1 * across, box.y1 * down, box.x2 * across, box.y2 * down, box.label, box.score)


def _classes(
    predicted: Sequence[Box], gold: Sequence[Box], label_match: Literal["folded", "exact", "ignore"]
) -> tuple[list[str], list[str]]:
    if label_match == "ignore":
        return [""] * len(predicted), [""] * len(gold)
    form = boxes.folded if label_match == "folded" else str
    return [form(box.label) for box in predicted], [form(box.label) for box in gold]


_MAX_SHOWN = 16


def _shown(predicted: Sequence[Box]) -> list[dict[str, Any]]:
    return [
        {"bbox_2d": [float(side) for side in (box.x1, box.y1, box.x2, box.y2)], "label": clip(box.label)}
        for box in predicted[:_MAX_SHOWN]
    ]


_CAT = '<answer>[{"bbox_2d": [0, 0, 10, 10], "label": "cat"}]</answer>'


def _cat(x2: int, label: str = "cat") -> dict[str, Any]:
    return {"bbox_2d": [0, 0, x2, 10], "label": label}


EXAMPLES = (
    Example(_CAT, {"reference": [_cat(10)]}, 1.0, "correct", "the same box and label"),
    Example(_CAT, {"reference": [_cat(10), _cat(90)]}, 2 / 3, "partial", "one of two objects found"),
    Example(_CAT, {"reference": [_cat(10, "dog")]}, 0.0, "wrong_answer", "the right box with another label"),
    Example(_CAT, {"reference": [_cat(20)], "metric": "mean_iou"}, 0.5, "partial", "half of the reference box"),
    Example(_CAT, {"reference": [_cat(20)], "metric": "shaped"}, 0.65 / 11, "partial", "reaches 1 threshold of 11"),
    Example(
        "[[0, 0, 10, 10], [0, 0, 10, 10]]",
        {"reference": [[0, 0, 10, 10]], "extract": "whole", "metric": "mean_iou"},
        0.5,
        "partial",
        "the same object twice is one too many",
    ),
    Example(
        '[{"bbox_2d": [0, 0, 10, 10], "label": "cat"}]',
        {"reference": [_cat(10)]},
        0.0,
        "no_answer",
        "looks right, but is in no answer tag",
    ),
    Example("<answer>[]</answer>", {"reference": []}, 1.0, "correct", "there is nothing to be found"),
    Example(_CAT, {"reference": "a cat"}, None, "unparseable_reference", "mend it", Status.INVALID),
)
