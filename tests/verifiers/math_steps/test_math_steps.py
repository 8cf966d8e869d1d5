"""The verifier over real workers: what the final answer and the steps make together."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sandbox.workers import Exit, Outcome, Task
from tests.tables import table
from tests.verifiers.found import Found
from verifiers import math_steps
from verifiers.base import Item, Status, Verdict
from verifiers.long_texts import ask_workers
from verifiers.math_steps import _ORDINARY_CHARS, MathStepsParams, _combined

DATA = Path(__file__).parents[2] / "data" / "math"
EQUATION = {"steps": ["3x=14-5", "3x=9", "x=3"], "final_answer": "3"}
GSM8K = "She sold 48/2=<<48/2=24>>24 in May.\nIn all that is 48+24=<<48+24=72>>72 clips.\n#### 72"
Judge = Callable[..., Verdict]


@pytest.fixture
def judge(found: Found) -> Judge:
    def ask(reference: Any, response: str, *, explain: bool = False, **params: Any) -> Verdict:
        item = Item(response, MathStepsParams(reference=reference, **params), explain=explain)
        (verdict,) = found.score(found.registry["math_steps"], [item])
        return verdict

    return ask


def test_the_documents_example(judge: Judge) -> None:
    shorter, wrong = r"3x=9, x=3, \boxed{3}", r"3x=14-5=9 … x=4, \boxed{4}"
    for reference in (EQUATION, json.dumps(EQUATION, ensure_ascii=False), {**EQUATION, "answer_type": "Numerical"}):
        assert judge(reference, shorter).score == 1.0
        assert judge(reference, shorter, mode="weighted").score == 0.9
        verdict = judge(reference, wrong)
        assert (verdict.score, verdict.reason) == (0.2, "partly_correct")
        assert verdict.detail["steps"] == ["matched", "matched", "contradicted"]
        assert verdict.detail["first_missed"] == 2
        assert judge(reference, wrong, mode="weighted").score == 0.2
        assert judge(reference, wrong, mode="final_only").score == 0.0


@pytest.mark.parametrize(
    ("reference", "response", "score", "reason"),
    [
        ("3", r"\boxed{3}", 1.0, "correct"),
        (3, r"\boxed{3}", 1.0, "correct"),
        (["3", "4"], r"\boxed{4}", 1.0, "correct"),
        (r"\{1,2\}", r"\boxed{\{2,1\}}", 1.0, "correct"),
        ('{"final_answer": "3"}', r"\boxed{3}", 1.0, "correct"),
        ("3", r"3x=9, \boxed{4}", 0.0, "wrong_answer"),
        (GSM8K, "#### 72", 1.0, "correct"),
        (GSM8K, "48/2=24. So 48+24=73.\n#### 73", 0.15, "partly_correct"),
        (GSM8K, "48/2=25. So 48+25=73.\n#### 73", 0.0, "wrong_answer"),
        ({"final_answer": "5", "unit": "m", "steps": ["2+3=5"]}, r"\boxed{500 \text{ cm}}", 1.0, "correct"),
        ({"final_answer": "0.5", "tolerance": 0.1, "steps": ["1/2=0.5"]}, r"\boxed{0.45}", 1.0, "correct"),
        ({"final_answer": "8", "steps": [{"expr": "x=3", "weight": 3}, "y=5"]}, r"x=3, \boxed{7}", 0.225, "partly_correct"),
        ({"final_answer": "8", "steps": []}, r"x=3, \boxed{7}", 0.0, "wrong_answer"),
        (EQUATION, r"3x=14-5, 3x=9, x=3. \boxed{3} or \boxed{4}", 0.0, "conflicting_answers"),
        (EQUATION, "3x=14-5, 3x=9, and so on", 0.2, "partly_correct"),
        (EQUATION, r"3x=10, then x=3, so \boxed{4}", 0.0, "wrong_answer"),
        (EQUATION, "<think>3x=14-5, 3x=9", 0.0, "truncated"),
        (EQUATION, "", 0.0, "empty"),
    ],
)  # fmt: skip
def test_score_and_reason(judge: Judge, reference: Any, response: str, score: float, reason: str) -> None:
    verdict = judge(reference, response)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, score, reason), verdict


def test_a_right_answer_with_all_its_steps_is_simply_right_in_any_mode(judge: Judge) -> None:
    for mode in ("partial_if_wrong", "weighted", "final_only"):
        verdict = judge(EQUATION, r"3x=14-5, 3x=9, x=3, \boxed{3}", mode=mode)
        assert (verdict.score, verdict.reason) == (1.0, "correct")
    verdict = judge(EQUATION, r"\boxed{3}", mode="weighted")
    assert (verdict.score, verdict.reason) == (0.7, "steps_missing")


def test_who_commits_to_no_answer_gets_nothing_for_steps(judge: Judge) -> None:
    response = r"3x=14-5, 3x=9, x=3. \boxed{3} or \boxed{4}"
    for asked in ({}, {"explain": True}, {"mode": "weighted"}):
        verdict = judge(EQUATION, response, **asked)
        assert (verdict.score, verdict.reason) == (0.0, "conflicting_answers")


def test_explaining_tells_more_and_changes_nothing(judge: Judge) -> None:
    for response in (r"3x=9, \boxed{3}", r"3x=14-5=9, x=4, \boxed{4}", r"1+1=3, \boxed{9}", r"\boxed{1} or \boxed{2}"):
        plain, explained = judge(EQUATION, response), judge(EQUATION, response, explain=True)
        assert (plain.score, plain.reason) == (explained.score, explained.reason)
        assert {"steps", "taken", "arith_consistency"} <= set(explained.detail)
    assert judge(EQUATION, r"1+1=3, \boxed{9}", explain=True).detail["arith_consistency"] == {
        "checked": 1,
        "fraction": 0.0,
        "first_bad": "1+1 = 3",
    }


def test_an_answer_that_is_a_step_stopped_early(judge: Judge) -> None:
    verdict = judge(EQUATION, r"3x=9, so \boxed{9}", explain=True)
    assert "STOPPED_EARLY" in [pattern["code"] for pattern in verdict.detail["error_patterns"]]


def test_true_equations_are_never_paid_by_themselves(judge: Judge) -> None:
    verdict = judge(EQUATION, "1+1=2, 2+2=4, 3+3=6, 4+4=8, 5*5=25, so \\boxed{25}", explain=True)
    assert verdict.detail["arith_consistency"]["fraction"] == 1.0
    assert verdict.score == 0.0


@pytest.fixture
def out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have no time for the steps of responses, and enough for those of references."""

    async def ask(workers: Any, task: Task, payloads: Sequence[Any], take: Callable[[int, Outcome], None]) -> None:
        left = [place for place, (_, response, *_) in enumerate(payloads) if response is None]
        for place in set(range(len(payloads))).difference(left):
            take(place, Outcome(Exit.TIME_LIMIT))
        await ask_workers(workers, task, [payloads[place] for place in left], lambda at, found: take(left[at], found))

    monkeypatch.setattr(math_steps, "ask_workers", ask)


@pytest.mark.usefixtures("out_of_time")
def test_a_response_whose_steps_take_too_long_loses_them_only(judge: Judge) -> None:
    slow = "3x=9 \n" * _ORDINARY_CHARS
    verdict = judge(EQUATION, slow + "\nx=3, so \\boxed{4}")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "wrong_answer")
    assert verdict.detail["steps_reason"] == "too_complex"
    verdict = judge(EQUATION, slow + "\nso \\boxed{3}", mode="weighted")
    assert (verdict.status, verdict.score) == (Status.OK, 0.7)


@pytest.mark.usefixtures("out_of_time")
def test_ordinary_steps_that_take_too_long_leave_no_score_where_they_are_paid(judge: Judge) -> None:
    verdict = judge(EQUATION, "3x=9\nx=3, so \\boxed{4}")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.FAILED, None, "too_complex")
    verdict = judge(EQUATION, "3x=9\nso \\boxed{3}", explain=True)
    assert (verdict.status, verdict.score) == (Status.OK, 1.0)


@table(
    "reference",
    [
        {"steps": ["x=3"]},
        {"steps": [" "], "final_answer": "3"},
        {"steps": ["x=3"] * 65, "final_answer": "3"},
        {"steps": ["x" * 301], "final_answer": "3"},
        {"steps": [{"expr": "x=3", "weight": 0}], "final_answer": "3"},
        {"steps": "x=3", "final_answer": "3"},
        {"steps": [3], "final_answer": "3"},
    ],
)
def test_steps_that_are_none_are_refused(reference: Any) -> None:
    with pytest.raises(ValidationError):
        MathStepsParams(reference=reference)


@given(
    mode=st.sampled_from(["partial_if_wrong", "weighted"]),
    weight=st.floats(0, 0.99),
    right=st.floats(0, 1),
    wrong=st.floats(0, 1),
)
def test_a_right_answer_goes_before_any_wrong_one(mode: Any, weight: float, right: float, wrong: float) -> None:
    params = MathStepsParams(reference="3", mode=mode, step_weight=weight)
    assert 0.0 <= _combined(params, 0.0, wrong) <= max(weight, 0.0)
    if mode == "partial_if_wrong":
        assert _combined(params, 1.0, right) == 1.0 > _combined(params, 0.0, wrong)
    else:
        assert _combined(params, 1.0, right) >= _combined(params, 0.0, right)


def test_models_solutions_of_gsm8k(found: Found) -> None:
    """Solutions with the label right or wrong, beside the annotated solutions of their questions."""
    references = [json.loads(line) for line in (DATA / "gsm8k_references.jsonl").read_text().splitlines()]
    params = {row["index"]: MathStepsParams(reference=row["answer"]) for row in references}
    rows = [json.loads(line) for line in (DATA / "gsm8k_model_solutions.jsonl").read_text().splitlines()]
    rows = [{**row, "index": int(row["source"].split(":")[1])} for row in rows]
    rows = [row for row in rows if row["index"] in params]
    items = [Item(row["response"], params[row["index"]], explain=True) for row in rows]
    verdicts = found.score(found.registry["math_steps"], items)
    right = [verdict for verdict, row in zip(verdicts, rows, strict=True) if row["expected"]]
    wrong = [verdict for verdict, row in zip(verdicts, rows, strict=True) if not row["expected"]]
    assert len(right) > 15
    assert {verdict.score for verdict in right} == {1.0}
    assert max(verdict.score or 0.0 for verdict in wrong) <= 0.3
    assert _mean_step_score(right) > 0.8
    assert _mean_step_score(wrong) < 0.35


def _mean_step_score(verdicts: list[Verdict]) -> float:
    return fmean(verdict.detail["step_score"] for verdict in verdicts if "step_score" in verdict.detail)
