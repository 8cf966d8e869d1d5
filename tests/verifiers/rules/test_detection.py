"""Boxes and labels against reference boxes."""

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sandbox.workers import Workers
from tests.tables import table
from verifiers import registry
from verifiers.base import Item, Resources, Status
from verifiers.rules.detection import DetectionParams, _is_inline, judge
from verifiers.rules.detection.boxes import MAX_BOXES, from_text
from verifiers.rules.detection.matching import best_pairs

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "rules" / "detection_examples.jsonl").read_text().splitlines()
]
METRICS = {"iou": "mean_iou", "giou": "giou", "shaped_iou": "shaped"}
CAT = {"bbox_2d": [0, 0, 10, 10], "label": "cat"}


def tagged(boxes: Any) -> str:
    return f"<answer>{json.dumps(boxes)}</answer>"


def score(boxes: Any, reference: Any, metric: str = "mean_iou", **params: Any) -> float | None:
    response = boxes if isinstance(boxes, str) else tagged(boxes)
    return judge(response, DetectionParams(reference=reference, metric=metric, **params)).score


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] != "parse"], ids=lambda row: row["id"])
def test_every_labelled_row_is_right(row: dict[str, Any]) -> None:
    if row["kind"] in ("iou", "giou"):
        found = score([row["box_a"]], [row["box_b"]], METRICS[row["kind"]], box_format=row["format"])
        exact = Fraction(row["expected_fraction"])
        assert found == float(exact if row["kind"] == "iou" else (exact + 1) / 2)
        return
    params = {"iou_thresholds": [row["iou_threshold"]]} if "iou_threshold" in row else {}
    typed = {"reference": row["ground_truth"], "metric": METRICS.get(row["kind"], row["kind"]), **params}
    verdict = judge(tagged(row["predictions"]), DetectionParams.model_validate(typed))
    assert verdict.score == float(Fraction(row["expected_fraction"]))
    if row["kind"] == "f1" and verdict.score:
        assert (verdict.detail["matches"], verdict.detail["mean_iou"]) == (row["matches"], row["mean_iou_over_gt"])


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] == "parse"], ids=lambda row: row["id"])
def test_every_labelled_form_is_read(row: dict[str, Any]) -> None:
    verdict = judge(row["response"], DetectionParams(reference=[CAT]), explain=True)
    assert verdict.detail.get("compared", {}).get("answer") == row["expected"]


@table(
    "text",
    [
        '[{"bbox_2d": [0, 0, 10, 10], "label": "cat"}]',
        '```json\n[{"bbox_2d": [0, 0, 10, 10], "label": "cat"}]\n```',
        'The cat:\n```json\n[{"bbox_2d": [0, 0, 10, 10], "label": "cat"}]\n```',
        "[{'bbox_2d': (0, 0, 10, 10), 'label': 'cat'},]",
        '[{"bbox": [0, 0, 10, 10.0], "category": "cat"}]',
        '[{"box": [0, 0, 1e1, 10], "class": " Cat ", "confidence": 0.5}]',
        '{"bbox_2d": [0, 0, 10, 10], "label": "cat"}',
        '{"objects": [{"bbox_2d": [0, 0, 10, 10], "label": "ＣＡＴ"}]}',
        '[[{"bbox_2d": [0, 0, 10, 10], "label": "cat"}]]',
        '[{"bbox_2d": [0, 0, 10, 10], "label": "c\\at"}]',
        'I found one cat.\n\n[{"bbox_2d": [0, 0, 10, 10], "label": "cat"}]',
        'One cat:\n{"objects": [\n {"bbox_2d": [0, 0, 10, 10], "label": "cat"}\n]}',
    ],
)
def test_models_write_boxes_in_many_forms(text: str) -> None:
    assert score(f"<answer>\n{text}\n</answer>", [CAT]) == 1.0


@table(
    ("text", "reason"),
    [
        ("The box is [0, 0, 10, 10].", "correct"),
        ("The box is not [0, 0, 10, 10].", "unparseable"),
        ("It isn't at [0, 0, 10, 10].", "unparseable"),
        ("It is not [0, 0, 20, 20], but [0, 0, 10, 10].", "correct"),
        ("It is [0, 0, 20, 20], not [0, 0, 10, 10].", "wrong_answer"),
        ("**[0, 0, 10.0, 10]**", "correct"),
        ("[0, 0, 10, 10] it is: [0,0,10,10]", "unparseable"),
        ("It is at [0, 0, 10, 10], so [0,0,10,10]", "correct"),
        ("The box:\n[0, 0, 10, 10]", "correct"),
        ("It is [0, 0, 10, 10] or [5, 0, 10, 10]", "unparseable"),
        ("See [1]: it is [0, 0, 10, 10]", "unparseable"),
        ("The boxes: [[0, 0, 10, 10], [5,", "unparseable"),
        ("The boxes:\n[[0, 0, 10, 10], [5, 0", "unparseable"),
        ("It is [0, 0, 10]", "unparseable"),
        ("[[0, 0, 10, 10], [5,", "unparseable"),
    ],
)
def test_a_sentence_names_one_box(text: str, reason: str) -> None:
    assert judge(text, DetectionParams(reference=[[0, 0, 10, 10]], extract="whole")).reason == reason


def test_no_boxes_behind_prose_are_none() -> None:
    assert score("<answer>There is nothing.\n[]</answer>", []) == 1.0
    assert score("<answer>There is nothing.</answer>", []) == 0.0


@table(
    "text",
    [
        "a cat at [0, 0, 10, 10]",
        '[{"bbox_2d": [0, 0, 10, 10], "label": "cat"}, {"bbox_2d": [5, 5',
        "```\n[[0, 0, 10, 10]]\n```\nor\n```\n[[5, 0, 10, 10]]\n```",
        "",
        "7",
        '"[0, 0, 10, 10]"',
        "__import__('os').abort()",
        "[" * 50_000,
        "[" * 50_000 + "]" * 50_000,
        "'" * 100_001,
        '{"a":' * 20_000,
        "9" * 100_000,
    ],
)
def test_what_is_no_list_of_boxes(text: str) -> None:
    verdict = judge(f"<answer>{text}</answer>", DetectionParams(reference=[CAT]))
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)
    assert verdict.reason in ("unparseable", "no_answer")


@table(
    "item",
    [
        {"bbox_2d": [0, 0, 10], "label": "cat"},
        {"bbox_2d": [10, 0, 0, 10], "label": "cat"},
        {"bbox_2d": [0, 0, 10, True], "label": "cat"},
        {"bbox_2d": [0, 0, 10, "10"], "label": "cat"},
        {"bbox_2d": [0, 0, 10, 10]},
        {"bbox_2d": [0, 0, 10, 10], "label": 5},
        {"bbox_2d": [0, 0, 10, 10], "label": " "},
        {"label": "cat"},
        "cat",
        None,
    ],
)
def test_an_item_that_is_no_box_is_dropped(item: Any) -> None:
    verdict = judge(tagged([item, CAT]), DetectionParams(reference=[CAT]))
    assert (verdict.score, verdict.detail["boxes"], verdict.detail["dropped"]) == (1.0, 1, 1)


@table("number", ["NaN", "-Infinity", "1e999", "1e-999", "9" * 5000, "0." + "3" * 5000, "[]"])
def test_numbers_that_are_no_place_drop_their_box(number: str) -> None:
    text = f'<answer>[{{"bbox_2d": [0, 0, {number}, 10], "label": "cat"}}, {json.dumps(CAT)}]</answer>'
    assert judge(text, DetectionParams(reference=[CAT])).detail["dropped"] == 1


def test_apostrophes_belong_to_labels() -> None:
    reference = [{"bbox_2d": [0, 0, 10, 10], "label": "driver's cab"}]
    for shown in ('"driver\'s cab"', "'driver's cab'", "'driver\\'s cab'"):
        assert score(f"<answer>[{{'bbox_2d': [0, 0, 10, 10], 'label': {shown}}}]</answer>", reference) == 1.0


def test_the_last_tag_counts_and_three_are_a_flood() -> None:
    right, wrong, other = tagged([CAT]), tagged([[1, 2, 3, 4]]), tagged([])
    assert score(wrong + right, [CAT]) == 1.0
    assert score(right + wrong, [CAT]) == 0.0
    assert score(f"{wrong} Wait, I mean this instead: {right}", [CAT]) == 1.0
    assert score(f"{wrong} or {right}", [CAT]) == 0.0
    assert score(other + wrong + right, [CAT]) == 0.0
    assert score(wrong + right, [CAT], on_conflict="reject") == 0.0
    assert score(f"<think>{right}</think>I see none.", [CAT]) == 0.0
    assert score(f"<think>{right}", [CAT]) == 0.0


@table("form", ["{0} {1}</answer>", "{0}\n{1}", "<answer>{1}{2}</answer>"])
def test_lists_in_tags_inside_each_other_are_none(form: str) -> None:
    right, wrong = json.dumps([CAT]), json.dumps([[1, 2, 3, 4]])
    for first, second in ((wrong, right), (right, wrong)):
        response = form.format(f"<answer>{first}", f"<answer>{second}</answer>", first)
        assert score(response, [CAT]) == 0.0


@table("metric", ["coco_ap", "voc_ap"])
def test_a_class_that_nothing_is_predicted_of_has_no_precision(metric: str) -> None:
    dog = {"bbox_2d": [50, 50, 60, 60], "label": "dog"}
    assert score([CAT], [CAT, dog], metric) == 0.5
    assert score([dog], [CAT], metric) == 0.0


def test_nothing_is_right_where_there_is_nothing() -> None:
    for metric in ("f1", "mean_iou", "coco_ap", "voc_ap", "giou", "shaped"):
        assert score([], [], metric) == 1.0
        assert score([CAT], [], metric) == 0.0
        assert score([], [CAT], metric) == 0.0
        assert score("", [], metric) == 0.0
        assert score([CAT], [CAT], metric) == 1.0


def test_formats_of_boxes() -> None:
    for box_format, box in {
        "xyxy": [10, 20, 40, 60],
        "xywh": [10, 20, 30, 40],
        "cxcywh": [25, 40, 30, 40],
        "yxyx": [20, 10, 60, 40],
    }.items():
        assert score([box], [box], box_format=box_format, iou_thresholds=[1]) == 1.0
    assert score([[0, 0, 4, 4]], [[2, 2, 4, 4]], box_format="xywh") == float(Fraction(4, 28))


def test_pixels_are_scaled_to_a_thousand() -> None:
    assert score([[64, 48, 320, 240]], [[100, 100, 500, 500]], image_size=(640, 480), iou_thresholds=[1]) == 1.0
    assert score([[64, 48, 320, 240]], [[100, 100, 500, 500]], iou_thresholds=[1]) == 0.0


def test_labels() -> None:
    shown = [{"bbox_2d": [0, 0, 10, 10], "label": "Shiba  Dog"}]
    wanted = [{"bbox_2d": [0, 0, 10, 10], "label": "shiba dog"}]
    assert [score(shown, wanted, label_match=how) for how in ("folded", "exact", "ignore")] == [1.0, 0.0, 1.0]
    assert score(shown, [[0, 0, 10, 10]]) == 1.0
    assert score([[0, 0, 10, 10]], wanted) == 0.0
    assert score([[0, 0, 10, 10]], wanted, label_match="ignore") == 1.0


def test_references_may_be_text() -> None:
    text = "<answer>\n[{'bbox_2d': [0, 0, 10, 10], 'label': 'cat'}]\n</answer>"
    assert score([CAT], text) == score([CAT], json.dumps([CAT])) == score([CAT], CAT) == 1.0


@table(
    ("reference", "reason"),
    [
        ("a cat", "unparseable_reference"),
        ("", "unparseable_reference"),
        ([[0, 0, 10]], "unparseable_reference"),
        ([[10, 0, 0, 10]], "unparseable_reference"),
        ({"label": "cat"}, "unparseable_reference"),
        ([CAT, {"bbox_2d": [1, 2, 3, 4]}], "missing_label"),
        ([[0, 0, 1, 1]] * (MAX_BOXES + 1), "too_many_boxes"),
    ],
)
def test_a_bad_reference_is_the_callers_to_mend(reference: Any, reason: str) -> None:
    verdict = judge(tagged([CAT]), DetectionParams(reference=reference))
    assert (verdict.status, verdict.reason) == (Status.INVALID, reason)


@table(
    "bad",
    [
        {"iou_thresholds": []},
        {"iou_thresholds": [0]},
        {"iou_thresholds": [1.5]},
        {"metric": "mean_iou", "iou_thresholds": [0.5, 0.75]},
        {"parts": {}},
        {"parts": {"iou": 0}},
        {"parts": {"map90": 1}},
        {"image_size": [0, 10]},
        {"metric": "iou"},
        {"size_penalty": -0.1},
    ],
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DetectionParams.model_validate({"reference": [CAT], **bad})


# --- exploits


@table("metric", ["f1", "mean_iou", "shaped"])
def test_more_boxes_than_objects_never_pay(metric: str) -> None:
    gold = [[0, 0, 100, 100], [200, 200, 300, 300]]
    honest = score(gold[:1], gold, metric)
    assert honest is not None
    assert honest > 0
    duplicates = score([gold[0]] * 9, gold, metric)
    flood = score([[20 * n, 20 * n, 20 * n + 100, 20 * n + 100] for n in range(20)] + gold, gold, metric)
    whole_image = score([[0, 0, 1000, 1000]], gold, metric)
    assert duplicates is not None
    assert flood is not None
    assert duplicates < honest
    assert flood < honest
    assert whole_image == 0.0 or metric == "mean_iou"
    assert judge(tagged([gold[0]] * 301), DetectionParams(reference=gold)).reason == "too_many_boxes"


def test_one_right_box_does_not_pay_for_two() -> None:
    """The bug of ROLL's iou_first matcher, which gives both pairs the IoU of the best one."""
    assert score([[0, 0, 10, 10], [90, 90, 99, 99]], [[0, 0, 10, 10], [40, 40, 50, 50]]) == 0.5


def test_classes_that_do_not_exist_can_be_charged() -> None:
    shown = [CAT, {"bbox_2d": [5, 5, 50, 50], "label": "ufo"}]
    for metric in ("coco_ap", "voc_ap"):
        assert score(shown, [CAT], metric) == 1.0
        assert score(shown, [CAT], metric, extra_labels="charge") == 0.5


def test_giou_is_mapped_and_boxes_without_area_have_nothing_in_common() -> None:
    assert score([[0, 0, 1, 1]], [[2, 0, 3, 1]], "giou") == float((Fraction(-1, 3) + 1) / 2)
    verdict = judge(tagged([[0, 0, 1, 1], [9, 9, 9, 9]]), DetectionParams(reference=[[0, 0, 1, 1]], metric="giou"))
    assert (verdict.score, verdict.detail["giou"]) == (0.5, 0.0)
    assert score([[5, 5, 5, 5]], [[5, 5, 5, 5]]) == 0.0


def test_a_threshold_makes_it_all_or_nothing() -> None:
    shown, wanted = [[0, 0, 10, 5]], [[0, 0, 10, 10]]
    assert score(shown, wanted, threshold=0.5) == 1.0
    assert score(shown, wanted, threshold=0.51) == 0.0


def test_the_shaped_reward_has_the_parts_that_are_asked_for() -> None:
    shown, wanted = [[0, 0, 10, 6]], [[0, 0, 10, 10]]
    parts = {"map": 1, "map50": 1, "map75": 1}
    assert score(shown, wanted, "shaped", parts=parts) == float((Fraction(3, 10) + 1 + 0) / 3)
    assert score(shown, wanted, "shaped", iou_thresholds=[0.5], completeness_weight=0) == 0.6


# --- average precision, by its definition


def _defined(hits: str, wanted: int) -> tuple[Fraction, Fraction]:
    """COCO's 101 points and the area under the envelope, as sums over every recall."""
    precision = [Fraction(hits[: n + 1].count("+"), n + 1) for n in range(len(hits))]
    recall = [Fraction(hits[: n + 1].count("+"), wanted) for n in range(len(hits))]

    def best(at_least: Fraction) -> Fraction:
        return max((p for p, r in zip(precision, recall, strict=True) if r >= at_least), default=Fraction(0))

    points = sum((best(Fraction(k, 100)) for k in range(101)), Fraction(0)) / 101
    area = sum((best(Fraction(k, wanted)) for k in range(1, wanted + 1)), Fraction(0)) / wanted
    return points, area


@table(("hits", "wanted"), [("+", 1), ("-+", 1), ("++-", 3), ("+-+-", 2), ("--+", 4), ("-", 2), ("+-++--+", 7)])
def test_average_precision_is_what_it_is_defined_to_be(hits: str, wanted: int) -> None:
    gold = [[100 * n, 0, 100 * n + 50, 50] for n in range(wanted)]
    boxes, free = [], iter(gold)
    for rank, hit in enumerate(hits):
        place = next(free) if hit == "+" else [0, 900 + rank, 5, 905 + rank]
        boxes.append({"bbox_2d": place, "label": "x", "score": (50 - rank) / 50})
    reference = [{"bbox_2d": place, "label": "x"} for place in gold]
    points, area = _defined(hits, wanted)
    for order in (boxes, boxes[::-1]):
        assert score(order, reference, "coco_ap", iou_thresholds=[0.5]) == float(points)
        assert score(order, reference, "voc_ap") == float(area)


def test_without_scores_the_order_of_the_response_counts() -> None:
    wrong = [0, 900, 5, 905]
    assert score([CAT["bbox_2d"], wrong], [CAT["bbox_2d"]], "voc_ap") == 1.0
    assert score([wrong, CAT["bbox_2d"]], [CAT["bbox_2d"]], "voc_ap") == 0.5


# --- pairs

_WORTH = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.fractions(min_value=0, max_value=1, max_denominator=50),
    max_size=25,
)


def _every_choice(pairs: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    choices = []
    for columns in permutations(range(5)):
        choices.append([pair for pair in enumerate(columns) if pair in pairs])
    return choices


@pytest.mark.wording
@given(_WORTH, st.booleans())
@settings(max_examples=150, deadline=None)
def test_pairs_are_worth_most_of_all_choices(worth: dict[tuple[int, int], Fraction], most_pairs: bool) -> None:
    found = best_pairs(worth, most_pairs=most_pairs)
    assert len({row for row, _ in found}) == len({column for _, column in found}) == len(found)
    total = sum((worth[pair] for pair in found), Fraction(0))
    values = [
        (len(choice) if most_pairs else 0, sum((worth[pair] for pair in choice), Fraction(0)))
        for choice in _every_choice(list(worth))
    ]
    assert (len(found) if most_pairs else 0, total) == max(values)


_SIDE = st.integers(0, 6)
_BOXES = st.lists(
    st.tuples(_SIDE, _SIDE, _SIDE, _SIDE).map(lambda b: [b[0], b[1], b[0] + b[2], b[1] + b[3]]), min_size=1, max_size=5
)


@given(_BOXES, _BOXES, st.sampled_from(["f1", "mean_iou", "giou", "shaped"]))
@settings(max_examples=150, deadline=None)
def test_scores_do_not_depend_on_order_place_or_unit(
    shown: list[list[int]], wanted: list[list[int]], metric: str
) -> None:
    first = score(shown, wanted, metric)
    assert first is not None
    assert 0 <= first <= 1
    assert score(shown[::-1], wanted[::-1], metric) == first
    moved = [[[side / 10 + 3 for side in box] for box in boxes] for boxes in (shown, wanted)]
    near, far = ([[round(side, 6) for side in box] for box in boxes] for boxes in moved)
    assert score(near, far, metric) == first


@given(st.text(max_size=80), st.sampled_from(["", "<answer>"]))
@settings(deadline=None)
def test_any_text_gets_a_verdict(text: str, before: str) -> None:
    verdict = judge(f"{before}{text}</answer>", DetectionParams(reference=[CAT]))
    assert verdict.score == 0.0
    from_text(text, "xyxy", needs_label=False)


@pytest.mark.bombs
async def test_many_boxes_are_judged_elsewhere_to_the_same_verdict() -> None:
    workers = Workers(1)
    verifier = registry.load(Resources(workers))["detection"].verifier
    await workers.start()
    try:
        many = [[n, n, n + 400, n + 400 + n % 7] for n in range(MAX_BOXES)]
        near = [[x1 + 0.25, y1, x2, y2] for x1, y1, x2, y2 in many]
        params = DetectionParams(reference=many, metric="mean_iou")
        (verdict,) = await verifier.score([Item(tagged(near), params)])
        assert verdict.status is Status.OK
        assert verdict.score == judge(tagged(near), params).score
    finally:
        await workers.stop()


DOG = {"bbox_2d": [50, 50, 60, 60], "label": "dog"}


@table(
    "text",
    [
        "<ref>cat</ref><box>[[0, 0, 10, 10]]</box><ref>dog</ref><box>[[50, 50, 60, 60]]</box>",
        "<ref>cat</ref><box>(0,0),(10,10)</box>\n<ref>dog</ref><box>(50,50),(60,60)</box>",
        "<|object_ref_start|>cat<|object_ref_end|><|box_start|>(0,0),(10,10)<|box_end|>"
        "<|object_ref_start|>dog<|object_ref_end|><|box_start|>(50,50),(60,60)<|box_end|>",
        '[{"label": "cat", "x1": 0, "y1": 0, "x2": 10, "y2": 10},'
        ' {"label": "dog", "bbox": {"xmin": 50, "ymin": 50, "xmax": 60, "ymax": 60}}]',
        '{"boxes": [[0, 0, 10, 10], [50, 50, 60, 60]], "labels": ["cat", "dog"]}',
        f"{json.dumps(CAT)}\n{json.dumps(DOG)}",
        f"{json.dumps(CAT)}, {json.dumps(DOG)}",
        '[{"bounding_box": [0, 0, 10, 10], "class_name": "cat"}, {"coordinates": [50, 50, 60, 60], "object": "dog"}]',
    ],
)
def test_models_write_several_boxes_in_many_forms(text: str) -> None:
    assert score(f"<answer>{text}</answer>", [CAT, DOG], "f1") == 1.0
    assert score(f"<answer>{text}</answer>", [CAT], "f1") == float(Fraction(2, 3))


def test_opposite_corners_are_a_box() -> None:
    boxes = [[0, 0, 10, 10], [50, 50, 60, 60]]
    for text in ("(0, 0), (10, 10), (50, 50), (60, 60)", "<box>(0,0),(10,10)(50,50),(60,60)</box>"):
        assert score(f"<answer>{text}</answer>", boxes) == 1.0
        assert score(f"<answer>{text}</answer>", [CAT]) == 0.0


def test_named_sides_are_what_they_are_called_in_any_format() -> None:
    named = [{"x1": 10, "y1": 20, "x2": 40, "y2": 60}]
    for box_format, box in {"xywh": [10, 20, 30, 40], "yxyx": [20, 10, 60, 40]}.items():
        assert score(named, [box], box_format=box_format, iou_thresholds=[1]) == 1.0


@table(
    "text",
    [
        "<ref>cat</ref><box>[[0, 0, 10, 10]]",
        "<ref>cat</ref><box>[[0, 0, 10, 10]]</box> or <ref>cat</ref><box>[[5, 0, 10, 10]]</box>",
        "<ref>cat</ref>",
        "<box>a cat</box>",
        '{"boxes": [[0, 0, 10, 10]], "labels": ["cat", "dog"]}',
        f"{json.dumps(CAT)} or {json.dumps(DOG)}",
        f'{json.dumps(CAT)}\n{{"bbox_2d": [5',
        "(0, 0)",
        "<box>" * 20_000,
        "(1,2)," * 30_000 + "[",
        "{} " * 40_000,
    ],
)
def test_what_looks_like_boxes_in_those_forms_and_is_none(text: str) -> None:
    assert score(f"<answer>{text}</answer>", [CAT], "f1") == 0.0


def test_boxes_with_named_sides_are_counted_before_judging() -> None:
    named = json.dumps([{"x1": 0, "y1": 0, "x2": 10, "y2": 10}] * MAX_BOXES)
    assert not _is_inline(Item(f"<answer>{named}</answer>", DetectionParams(reference=[CAT])))
