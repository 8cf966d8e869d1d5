"""How rows of each form are read, and what is refused."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.tables import table
from tests.verifiers.judge.rubrics.rows import judged
from verifiers.judge.criteria import Rule
from verifiers.judge.modes import questions
from verifiers.judge.parameters import JudgeParams
from verifiers.judge.profiles import Profile
from verifiers.judge.rubrics.rules import rule_of

_RAR = [
    {"title": "Diagnosis", "description": "Essential: names the stone", "weight": 5},
    {"title": "Dose", "description": "Optional: names a dose", "weight": 1},
]


def _params(row: Any, **more: Any) -> JudgeParams:
    return JudgeParams.model_validate({"criteria": row, **more})


def _criteria(params: JudgeParams) -> list[tuple[Any, ...]]:
    assert params.criteria is not None
    return [(each.name, each.text, each.weight, each.choices, each.tags) for each in params.criteria]


def test_rar_has_a_question_a_reference_and_two_formulas() -> None:
    row = {"question": "q?", "reference_answer": "a", "rubric": _RAR, "rubric_count": 2}
    params = _params(row)
    assert (params.format, params.formula, params.question, params.reference) == ("rar", "share", "q?", ("a",))
    assert _criteria(params)[0] == ("Diagnosis", "Essential: names the stone", 5.0, ("no", "yes"), ())
    assert judged(params, [1, 0]).score == 5 / 6
    implicit = _params(row, aggregate="grade")
    assert implicit.criteria is not None
    assert [len(each.choices) for each in implicit.criteria] == [10]
    assert "names a dose" in implicit.criteria[0].text
    found = judged(implicit, [6])
    assert (found.detail["rubric"]["value"], found.score) == (7.0, 6 / 9)


def test_a_checklist_of_wildbench_gets_one_grade() -> None:
    turns = [{"role": "user", "content": "Write."}, {"role": "assistant", "content": "What?"}]
    params = _params({"conversation_input": turns, "checklist": ["Is it short?", "Is it kind?"]})
    assert (params.format, params.question) == ("wildbench", "user: Write.\n\nassistant: What?")
    assert judged(params, [9]).score == 1.0


def test_the_weights_and_tags_of_prbench_are_in_its_annotations() -> None:
    notes = {"weight_class": "important", "important_weight": 6, "finance_criteria_category": "Risk", "other": None}
    params = _params({"rubric": [{"id": "7", "title": "Names the risk", "annotations": notes}]})
    assert _criteria(params) == [("7", "Names the risk", 6.0, ("no", "yes"), ("Risk",))]


def test_bands_have_descriptions() -> None:
    row = {"orig_criteria": "Kind?", "orig_instruction": "i"} | {
        f"orig_score{n}_description": f"d{n}" for n in range(1, 6)
    }
    params = _params(row)
    asked = questions("criteria", "x", None, params, Profile.model_validate({"mode": "criteria", "pool": "p"}))
    assert asked[0].data.criteria == {"c1": "Kind?\nanswers:\n1: d1\n2: d2\n3: d3\n4: d4\n5: d5"}


@table(
    ("row", "message"),
    [
        ({"rubric": [{**each, "weight": -1} for each in _RAR]}, "the sum of the weights is -2"),
        ({"rubrics": [{"criterion": "x", "points": -1}]}, "no weight is above 0"),
        ({"rubrics": [{"criterion": "x", "points": "many"}]}, "the weight 'many' is not a number"),
        ({"rubrics": [{"criterion": "", "points": 1}]}, "criterion 1 has no text"),
        ({"rubrics": [{"criterion_description": "x", "criterion_weight": "Huge"}]}, "'Huge' is not one of"),
        ({"TARGET_QUESTION": "x?", "PASS_CRITERIA": "MAYBE"}, "expected one of"),
        ({"rubric": [{"title": "x", "annotations": {"weight_class": "big"}}]}, "has no weight at"),
    ],
)
def test_what_a_row_lacks_is_named(row: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        _params(row)


def test_criteria_of_open_instruct_have_their_text_in_any_of_three_fields() -> None:
    label = {"query": "q?", "rubrics": [{"description": "a"}, {"Ingredient": "b"}, {"rubric_item": "c", "weight": -1}]}
    params = JudgeParams.model_validate({"reference": json.dumps(label)})
    assert (params.format, params.formula, params.reference) == ("open_instruct", "absolute", ())
    assert judged(params, [2, 1, 2]).detail["rubric"]["value"] == (1 + 0.5 - 1) / 3


@table(
    ("label", "message"),
    [
        ({"query": "q", "rubrics": []}, "0 criteria"),
        ({"rubrics": [{"criterion": "a", "points": 5}, {"criterion": "b"}]}, "unknown field 'points'"),
        ({"rubric": [{"weight": 1}]}, "criterion 1 has no text"),
        ([{"title": "a", "points": 3}], "unknown field 'points'"),
    ],
)
def test_a_label_that_is_a_broken_rubric_is_no_reference(label: Any, message: str) -> None:
    for value in (label, json.dumps(label)):
        with pytest.raises(ValidationError, match=message):
            JudgeParams.model_validate({"reference": value})


@table(
    ("label", "criteria"),
    [
        ({"rubrics": ["a", "b"]}, ["a", "b"]),
        ({"checklist": "- a\n- b"}, ["a", "b"]),
        ({"criteria": {"a": 0.5, "b": 0.5}}, ["a", "b"]),
        ([{"name": "n", "text": "a", "choices": ["no", "yes"]}], ["a"]),
    ],
)
def test_a_label_that_is_a_rubric_of_ones_own_is_no_reference(label: Any, criteria: list[str]) -> None:
    for field in ("reference", "criteria"):
        params = JudgeParams.model_validate({field: label})
        assert (params.usual_mode, params.reference) == ("criteria", ())
        assert [criterion[1] for criterion in _criteria(params)] == criteria


@table(
    ("label", "mode"),
    [
        ({"answer": "Paris", "criteria": ["a"]}, None),
        ({"name": "Paris", "country": "France"}, None),
        ([{"text": "Paris"}, {"text": "paris"}], None),
        (["Paris", "paris"], None),
        ('{"city": "Paris"}', None),
        ("- Paris\n- Lyon", None),
        ({"rubrics": ["a"]}, "reference"),
    ],
)
def test_an_answer_stays_a_reference_whatever_its_shape(label: Any, mode: str | None) -> None:
    params = JudgeParams.model_validate({"reference": label, "mode": mode})
    assert (params.usual_mode, params.criteria) == ("reference", None)


def test_an_empty_reference_is_none_at_all() -> None:
    empties: list[Any] = [None, "", [], {}]
    assert [JudgeParams.model_validate({"reference": empty}).reference for empty in empties] == [()] * 4


def test_weights_by_name_may_be_called_like_a_column() -> None:
    assert [each[1:3] for each in _criteria(_params({"criteria": 0.5, "clarity": 1}))] == [
        ("criteria", 0.5),
        ("clarity", 1.0),
    ]


def test_items_of_tinker_have_the_scale_that_their_instruction_names() -> None:
    """Its recipe for Prometheus' rows asks for 1 to 5, and takes the mean of these numbers."""
    ask = "Please output your score between {} wrapped in <score> ... </score>"
    share, marks, mixed = (
        {"rubric_items": [{"rubric_str": "x", "grader_output_format_instruction": ask.format(each)} for each in scales]}
        for scales in (["0 and 1"] * 2, ["1 and 5"] * 2, ["0 and 1", "1 and 5"])
    )
    assert judged(_params(share), [0.25, 0.5]).detail["rubric"] == {
        "formula": "share",
        "value": 0.375,
        "format": "tinker",
    }
    finding = judged(_params(marks), [3, 0])
    assert (finding.detail["rubric"]["value"], finding.score) == (2.5, 0.375)
    with pytest.raises(ValidationError, match="several with the same"):
        _params(mixed)


def test_tags_may_be_an_object_and_name_a_rule() -> None:
    rule = {"verifier": "rule", "function": "math_verify", "parameters": "42"}
    params = _params({"rubrics": [{"criterion": "a", "points": 2, "tags": rule}, {"criterion": "b", "points": 1}]})
    assert params.criteria is not None
    assert [rule_of(criterion) for criterion in params.criteria] == [Rule(verifier="math", reference="42"), None]


def test_a_format_can_be_named_and_must_fit() -> None:
    assert _params(_RAR, format="open_instruct").formula == "absolute"
    with pytest.raises(ValidationError, match="not those of format 'healthbench'"):
        _params(_RAR, format="healthbench")
    with pytest.raises(ValidationError, match="no 'healthbanch'"):
        _params(_RAR, format="healthbanch")


def test_own_forms_are_no_rows_and_what_was_read_stays_as_it_is() -> None:
    for own in (["a", "b"], {"accuracy": 0.7}, [{"text": "a", "weight": 2}], '["a"]'):
        assert _params(own).format is None
    once = _params({"rubric": json.dumps(_RAR)})
    again = JudgeParams.model_validate_json(once.as_json())
    assert again == once


def test_a_mode_of_the_item_keeps_an_object_as_the_reference() -> None:
    params = JudgeParams.model_validate({"mode": "reference", "reference": {"rubric": _RAR}})
    assert params.criteria is None
    assert len(params.reference) == 1


def test_a_long_response_is_judged_in_chunks_and_the_best_counts() -> None:
    profile = Profile.model_validate(
        {"mode": "criteria", "pool": "p", "on_truncate": "chunks", "limits": {"response_chars": 200}}
    )
    text = "\n\n".join(f"{number} " + "word " * 15 for number in range(9))
    asked = questions("criteria", text, None, _params(["x"]), profile)
    assert len(asked) > 3
    assert "\n\n".join(each.data.response or "" for each in asked) == text
    assert all(len(each.data.response or "") <= 150 for each in asked)
