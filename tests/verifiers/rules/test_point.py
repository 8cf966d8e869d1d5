"""One committed point in a box, or near a point."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.growth import stays_in_proportion
from tests.tables import table
from verifiers.base import Status
from verifiers.rules.point import PointParams, judge

BOX = [450, 250, 550, 350]


def score(response: str, reference: Any, **params: Any) -> float | None:
    return judge(response, PointParams(reference=reference, **params)).score


@table(
    "text",
    [
        "<point>500, 300</point>",
        "<point>(500,300)</point>",
        "<point>500 300</point>",
        '<point x="500" y="300" alt="ok">ok</point>',
        "(500, 300)",
        "[500, 300]",
        "500, 300",
        "(500.0,300.00)",
        "(5e2, 300)",
        "<point>5.0E+02 3e2</point>",
        "click(x=50e1, y=3000e-1)",
        "（500，300）",
        '{"point_2d": [500, 300], "label": "ok"}',
        "{'coordinate': (500, 300)}",
        '```json\n[{"point_2d": [500, 300]}]\n```',
        '{"x": 500, "y": 300}',
        "pyautogui.click(x=500, y=300)",
        "pyautogui.doubleClick(500, 300)",
        "click(start_box='(500,300)')",
        "Action: CLICK(500, 300)",
        "<|box_start|>(500,300)<|box_end|>",
        "The button is at (500, 300), right of 2 others.",
        "<think>(1, 1) or (2, 2)?</think><answer>(500, 300)</answer>",
        "(1, 1)\n<answer>(500, 300)</answer>",
        "(1, 1) is not it: <point>500, 300</point>",
        "(500, 300), that is (500.0, 300)",
    ],
)
def test_points_are_written_in_many_forms(text: str) -> None:
    assert score(text, BOX) == 1.0
    assert score(text, [500, 300]) == 1.0


@table(
    "text",
    [
        "",
        "the button",
        "500",
        "[450, 250, 550, 350]",
        '{"bbox_2d": [450, 250, 550, 350]}',
        "(NaN, 300)",
        "(1e999, 300)",
        "(5e2.5, 300)",
        "(5e, 300)",
        "(inf, inf)",
        f"({'9' * 4000}, 300)",
        "<think>(500, 300)</think>",
        "<think>(500, 300)",
        "<answer>(500, 300)",
        "(500, 300) or (510, 300)",
        "<point>500, 300</point><point>0, 0</point>",
        " ".join(f"({x}, {y})" for x in range(0, 1000, 50) for y in range(0, 1000, 50)),
        "f(500, 300)",
        "__import__('os').abort()",
    ],
)
def test_what_is_no_point_earns_nothing(text: str) -> None:
    assert score(text, BOX) == score(text, [500, 300]) == 0.0


def test_edges_of_a_box_are_in_it() -> None:
    assert score("(450, 250)", BOX) == score("(550, 350)", BOX) == 1.0
    assert score("(449.999, 250)", BOX) == score("(550, 350.001)", BOX) == 0.0


def test_the_distance_to_a_point_is_graded() -> None:
    assert score("(530, 340)", [500, 300]) == float(Fraction(4, 9))
    assert score("(500, 450)", [500, 300]) == 0.0
    assert score("(500, 310)", [500, 300], max_error=0.1) == 0.81
    assert score("(3, 4)", [0, 0], scale=100, max_error=0.1) == 0.25
    assert score("(0.5, 0.5)", [0.5, 0.4], scale=1, max_error=0.2) == 0.25
    assert score("(100, 60)", [100, 50], scale=[1000, 100], max_error=0.2) == 0.25


def test_pixels_are_scaled() -> None:
    assert score("(960, 540)", [500, 500], image_size=[1920, 1080]) == 1.0
    assert score("(960, 540)", [0.5, 0.5], image_size=[1920, 1080], scale=1) == 1.0


def test_the_best_of_several_references_counts() -> None:
    assert score("(500, 300)", [[1, 1], BOX, {"point": [9, 9]}]) == 1.0
    assert score("(30, 40)", [[0, 0], [500, 300]]) == float(Fraction(4, 9))


@table("reference", [BOX, {"bbox": BOX}, {"bbox_2d": BOX, "label": "ok"}, {"point_2d": [500, 300]}, [{"bbox": BOX}]])
def test_references_come_in_many_forms(reference: Any) -> None:
    assert score("(500, 300)", reference) == 1.0


@table(
    "bad",
    [
        {"reference": []},
        {"reference": [1]},
        {"reference": [1, 2, 3]},
        {"reference": [5, 5, 1, 9]},
        {"reference": {"label": "ok"}},
        {"reference": "somewhere"},
        {"reference": [1, 2], "scale": 0},
        {"reference": [1, 2], "max_error": 0},
        {"reference": [float("nan"), 2]},
    ],
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PointParams.model_validate(bad)


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000))
def test_nearer_is_never_worse(x: int, nearer: int, further: int) -> None:
    near, far = sorted((nearer, further))
    left, right = score(f"({x + near}, 5)", [x, 5]), score(f"({x + far}, 5)", [x, 5])
    assert left is not None
    assert right is not None
    assert left >= right


@given(st.text(max_size=100))
def test_any_text_gets_a_verdict(text: str) -> None:
    assert judge(text, PointParams(reference=(500, 300))).status is Status.OK


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize("unit", ["(", "(1,", "x=1", "click(", "<point>", "[ ", "1, ", "((1, 2", '"point": [', "x = "])
def test_a_flood_is_over_soon(unit: str) -> None:
    params = PointParams(reference=(500, 300))
    assert stays_in_proportion(lambda text: judge(text, params), unit, 200_000)


@table(
    "text",
    [
        "座標は(500, 300)です。",
        "坐标为(500,300)。",
        "좌표는(500, 300)입니다.",
        "不是(100,100)，而是(500,300)",
        "(100,100)ではなく(500,300)です",
        '<points x1="500" y1="300" alt="ok">ok</points>',
        "<click>500, 300</click>",
        '{"x": "500", "y": "300"}',
    ],
)
def test_points_beside_letters_without_spaces_and_in_other_tags(text: str) -> None:
    assert score(text, BOX) == 1.0


@table(
    "text",
    [
        "不是(500, 300)",
        "(500, 300)ではありません",
        "(500, 300)이 아닙니다",
        "从(500,300)到(100,100)",
        '<points x1="500" y1="300" x2="10" y2="10" alt="ok">ok</points>',
        "max(500, 300)",
    ],
)
def test_points_that_are_denied_or_several_in_other_forms(text: str) -> None:
    assert score(text, BOX) == 0.0
