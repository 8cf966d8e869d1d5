"""Criteria as data sets write them, and what they add up to."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.tables import table
from verifiers.judge.criteria import Criterion, read, total
from verifiers.judge.parameters import JudgeParams


def _read(value: Any) -> tuple[Criterion, ...]:
    params = JudgeParams.model_validate({"criteria": value})
    assert params.criteria is not None
    return params.criteria


@table(
    "value",
    [
        ["事实准确性", "逻辑连贯性"],
        [{"text": "事实准确性"}, {"description": "逻辑连贯性", "weight": 1}],
        {"事实准确性": 1, "逻辑连贯性": 1.0},
        '["事实准确性", "逻辑连贯性"]',
        [{"id": "c1", "name": "事实准确性"}, {"criterion": "逻辑连贯性", "must_pass": False}],
    ],
)
def test_names_become_criteria_of_equal_weight(value: Any) -> None:
    assert [(each.id, each.text, each.weight, each.must_pass) for each in _read(value)] == [
        ("c1", "事实准确性", 1.0, False),
        ("c2", "逻辑连贯性", 1.0, False),
    ]


def test_a_text_that_is_no_list_is_one_criterion() -> None:
    assert [each.text for each in _read("The answer is polite.")] == ["The answer is polite."]


@table(
    "text",
    [
        "Names Paris\nNames the river",
        "- Names Paris\n- Names the river\n",
        "Checklist:\n1. Names Paris\n2. Names\n   the river",
        "[ ] Names Paris\n[x] Names the river",
        "(a) Names Paris\n\n(b) Names the river",
    ],
)
def test_a_checklist_as_text_has_a_criterion_in_each_line(text: str) -> None:
    assert [each.text for each in _read(text)] == ["Names Paris", "Names the river"]


@table(
    ("value", "message"),
    [
        ([], "must be 1 to 2000"),
        (["x"] * 2001, "must be 1 to 2000"),
        ([{"text": "x", "choices": ["yes", "Yes"]}], "two or more different answers"),
        ([{"weight": 2}], "criterion 1 has no text"),
        ([{"text": "x", "wieght": 2}], "unknown field 'wieght'"),
        ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "several criteria have the id 'a'"),
        ([3], "expected a text or an object"),
        ("[1,", "not JSON"),
        ([{"text": "x", "weight": float("inf")}], "criteria"),
        ([{"id": "a b", "text": "x"}], "criteria"),
        ([{"text": "x", "weight": 0}], "all weights are 0"),
        (7, "criteria"),
    ],
)
def test_what_cannot_be_read_says_why(value: Any, message: str) -> None:
    with pytest.raises(ValidationError, match="(?s).*" + message.replace("(", r"\(")):
        _read(value)


@table(
    ("weights", "scores", "expected"),
    [
        ([1, 1], [1, 0], 0.5),
        ([3, 1], [1, 0], 0.75),
        ([2, 1, 1], [1, 0.5, 0], 0.625),
        ([2, -1], [1, 1], 0.5),
        ([1, -3], [1, 1], 0.0),
        ([-1, -3], [1, 0], 0.75),
        ([-1], [0], 1.0),
    ],
)
def test_faults_are_taken_off(weights: list[float], scores: list[float], expected: float) -> None:
    chosen = [Criterion(id=f"c{at}", text="x", weight=weight) for at, weight in enumerate(weights)]
    assert total(chosen, {f"c{at}": score for at, score in enumerate(scores)}) == expected


def test_one_that_must_pass_decides() -> None:
    chosen = [Criterion(id="a", text="x", must_pass=True), Criterion(id="b", text="y", weight=9)]
    assert total(chosen, {"a": 0.5, "b": 1.0}) == 0.0
    assert total(chosen, {"a": 1.0, "b": 0.0}) == 0.1


def test_reading_twice_changes_nothing() -> None:
    once = read([{"text": "x", "weight": 2}, "y"])
    assert read(once) == once
