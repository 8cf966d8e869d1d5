"""Rows exactly as documents about ROLL show them, and as its data sets hold them, with a response, over real HTTP."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.settings import Settings
from tests.conftest import ROOT, Served
from tests.judge_upstream.grader import Grader
from tests.service.recipes.shipped.scorer import Scorer

JSON = dict[str, Any]
ROWS = ROOT / "tests" / "data" / "recipes" / "roll_rows.jsonl"

MATH: JSON = {
    "id": "unique_id_001",
    "messages": [
        {"role": "system", "content": "你是一个数学助手"},
        {"role": "user", "content": "解方程3x+5=14"},
    ],
    "tag": "math_rule",
    "difficulty": 2,
    "ground_truth": {"steps": ["3x=14-5", "3x=9", "x=3"], "final_answer": "3"},
}
CODE: JSON = {
    "id": "unique_id_002",
    "messages": [{"role": "user", "content": "写出所有排列"}],
    "tag": "code_sandbox",
    "difficulty": 2,
    "test_cases": [
        {"input": "[1,2,3]", "expected_output": "[[1,2,3],[1,3,2],[2,1,3],[2,3,1],[3,1,2],[3,2,1]]"},
    ],
    "case_type": "unittest",
}
REASONING: JSON = {
    "id": "unique_id_003",
    "messages": [{"role": "user", "content": "为什么天是蓝的?"}],
    "tag": "model_eval",
    "difficulty": 2,
    "evaluation_criteria": ["事实准确性", "逻辑连贯性", "表述清晰度"],
}
CALLED: JSON = {
    "role": "assistant",
    "content": "\\boxed{3}",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
PERMUTE = """```python
import itertools

def permute(numbers):
    return [list(order) for order in itertools.permutations(numbers)]
```"""
PRINT_ALL = """```python
import itertools, json
orders = itertools.permutations(json.loads(input()))
print(json.dumps([list(order) for order in orders], separators=(",", ":")))
```"""


def score(served: Served, *rows: JSON) -> list[JSON]:
    reply = httpx.post(f"{served.url}/v1/score", json={"items": rows}, timeout=120)
    assert reply.status_code == 200, reply.text[:500]
    results: list[JSON] = reply.json()["results"]
    assert [result["id"] for result in results] == [row["id"] for row in rows]
    return results


def test_a_math_row_with_steps_pays_for_the_answer_and_for_steps_on_the_way_to_a_wrong_one(served: Served) -> None:
    right, wrong, nothing = score(
        served,
        {**MATH, "response": "3x=9, x=3, \\boxed{3}"},
        {**MATH, "response": "3x=14-5=9, so x=4, \\boxed{4}"},
        {**MATH, "response": "I do not know."},
    )
    assert {result["recipe"] for result in (right, wrong, nothing)} == {"math_steps"}
    assert [result["reward"] for result in (right, wrong, nothing)] == pytest.approx([1.0, 0.2, 0.0])
    assert wrong["detail"]["steps"] == ["matched", "matched", "contradicted"]


def test_a_math_row_may_have_its_answer_as_text_or_without_steps(served: Served) -> None:
    response = "<think>3x=9</think>\n\\boxed{3}<|im_end|><|endoftext|><pad>"
    truths = ["3", {"final_answer": "3"}, 3, "4"]
    results = score(served, *({**MATH, "ground_truth": truth, "response": response} for truth in truths))
    assert [result["reward"] for result in results] == [1.0, 1.0, 1.0, 0.0]
    assert {result["recipe"] for result in results} == {"roll.math_rule"}


def test_a_code_row_of_unit_tests_is_judged_as_a_program_or_as_a_function(served: Served) -> None:
    results = score(
        served,
        {**CODE, "response": PRINT_ALL},
        {**CODE, "response": "```python\nprint([])\n```"},
        {**CODE, "test_case_function": "permute", "response": PERMUTE},
        {**CODE, "test_case_function": "permute", "response": PERMUTE.replace("permute", "other")},
    )
    assert [result["reward"] for result in results] == [1.0, 0.0, 1.0, 0.0]
    assert {result["recipe"] for result in results} == {"roll.code_sandbox"}


def test_an_expected_output_that_is_not_written_in_full_is_never_guessed(served: Served) -> None:
    cases = [{"input": "[1,2,3]", "expected_output": "[[1,2,3],[1,3,2],...]"}]
    (result,) = score(served, {**CODE, "test_cases": cases, "response": PRINT_ALL})
    assert (result["status"], result["reward"], result["reason"]) == ("invalid", None, "elided_tests")
    assert "written in full" in result["detail"]["message"]


def test_weights_and_bounds_of_a_configuration_may_stand_in_its_rows(served: Served) -> None:
    weights = {"reward_weights": {"math_rule": 0.6, "code_sandbox": 0.3, "model_eval": 0.1}}
    results = score(
        served,
        {**MATH, **weights, "reward_clip": 10, "response": "\\boxed{3}"},
        {**MATH, **weights, "reward_clip": 0.5, "response": "\\boxed{3}"},
        {**CODE, **weights, "reward_clip": [0, 10], "response": PRINT_ALL},
        {"id": "bare", **weights, "ground_truth": "3", "response": "\\boxed{3}"},
        {**MATH, "reward_weights": {"math_rules": 0.6}, "response": "\\boxed{3}"},
    )
    assert [result["reward"] for result in results] == [1.0, 0.5, 1.0, 1.0, None]
    assert [result["score"] for result in results] == [1.0, 1.0, 1.0, 1.0, None]
    assert "math_rules" in results[4]["detail"]["message"]


def test_rows_for_a_judge_are_not_judged_where_no_model_is_configured(served: Served) -> None:
    weights = {"math_rule": 0.6, "code_sandbox": 0.3, "model_eval": 0.1}
    bare = {name: value for name, value in REASONING.items() if name != "tag"}
    results = score(
        served,
        {**REASONING, "response": "Rayleigh."},
        {**REASONING, "tag": "RLVR", "ground_truth": "Muscles", "response": "Therefore, the answer is muscles."},
        {**REASONING, "reward_weights": weights, "response": "Rayleigh."},
        {**bare, "reward_weights": weights, "response": "x"},
        *({**REASONING, "response": response} for response in ("", [CALLED])),
        *(
            {"id": "1", "recipe": "math_then_judge", "reference": "3", "response": text}
            for text in ("\\boxed{3}", "", [CALLED])
        ),
    )
    assert [(result["status"], result["reward"]) for result in results] == [("failed", None)] * 9
    assert {result["reason"] for result in results} == {"judge_not_configured"}


def test_rows_for_a_judge_are_judged(tmp_path: Path) -> None:
    weights = {"reward_weights": {"math_rule": 0.6, "code_sandbox": 0.3, "model_eval": 0.1}}
    with Grader() as grader:
        scorer = Scorer(Settings(sandbox="none", workers=1, judge_file=grader.file(tmp_path)))
        try:
            items = (
                {**REASONING, "response": "事实准确性, 逻辑连贯性"},
                {**REASONING, **weights, "response": "事实准确性, 逻辑连贯性, 表述清晰度"},
                {"tag": "RLVR", "ground_truth": "Muscles", "response": "Therefore, the answer is muscles"},
                {"tag": "RLVR", "ground_truth": "Muscles", "response": "Therefore, the answer is bones"},
                {**weights, "ground_truth": "3", "response": "\\boxed{3}"},
            )
            results = scorer.score(*items)
        finally:
            scorer.close()
    assert [result.status for result in results] == ["ok"] * 5
    assert [result.reward for result in results] == pytest.approx([2 / 3, 1.0, 1.0, 0.0, 1.0])
    assert results[0].recipe == "roll.model_eval"
    assert [criterion["id"] for criterion in results[0].detail["criteria"]] == ["c1", "c2", "c3"]
    assert dict(grader.calls) == {"criteria": 2, "reference": 2}


def test_rows_of_its_data_sets_are_routed_and_their_own_references_are_right(served: Served) -> None:
    rows = _with_responses(ROWS, lambda reference: f"<think>Let me see.</think>\n\nIt is $\\boxed{{{reference}}}$.")
    results = score(served, *rows)
    assert len(results) == 100
    assert [result for result in results if result["reward"] != 1.0] == []
    assert {result["recipe"] for result in results} == {"roll.math_rule"}


def test_rows_of_its_data_sets_do_not_take_any_answer(served: Served) -> None:
    results = score(served, *_with_responses(ROWS, lambda reference: "\\boxed{-987654321}"))
    assert [result for result in results if result["reward"] != 0.0] == []


def _with_responses(path: Path, response_to: Callable[[str], str]) -> list[JSON]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{**row, "response": response_to(row["ground_truth"])} for row in rows]
