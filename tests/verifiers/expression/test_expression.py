"""The verifier over real workers."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sandbox.workers import Exit, Outcome
from tests.tables import table
from tests.verifiers.found import Found
from verifiers import expression
from verifiers.base import Item, Status, Verdict
from verifiers.expression import ExpressionParams
from verifiers.long_texts import fields_of

Judge = Callable[..., Verdict]
TRIP = "A car drives 3 hours at 60 km/h. How far does it come?"


@pytest.fixture
def judge(found: Found) -> Judge:
    def ask(
        reference: Any, response: str, *, prompt: str | None = None, explain: bool = False, **params: Any
    ) -> Verdict:
        item = Item(response, ExpressionParams(reference=reference, **params), prompt, explain)
        (verdict,) = found.score(found.registry["expression"], [item])
        return verdict

    return ask


@pytest.mark.parametrize(
    ("reference", "response", "score", "reason"),
    [
        (12, "3*4", 1.0, "correct"),
        (12, "3*4 = 12", 1.0, "correct"),
        (12, "The answer is 3*4.", 1.0, "correct"),
        (12, "答案是 3*4", 1.0, "correct"),
        (12, "<think>13</think><answer>2**3 + 4</answer>", 1.0, "correct"),
        (12, "```python\n3*4\n```", 1.0, "correct"),
        (92, "comb(10, 3) // 2 + 2**5", 1.0, "correct"),
        (["11", "12"], r"\boxed{3 \cdot 4}", 1.0, "correct"),
        ("120 km", "60 km/h * 2 h", 1.0, "correct"),
        ({"final_answer": "120", "unit": "km"}, r"\boxed{120000 \text{ m}}", 1.0, "correct"),
        ({"final_answer": "120", "tolerance": 5}, r"\boxed{118}", 1.0, "correct"),
        ("60 km/h * 2 h", r"\boxed{120 \text{ km}}", 1.0, "correct"),
        ("log(100)", r"\boxed{2}", 1.0, "correct"),
        ("ln(100)", r"\boxed{\log 100}", 1.0, "correct"),
        ("sqrt(2)", r"\boxed{\sqrt2 \approx 1.41}", 1.0, "correct"),
        ("10/3", r"\boxed{\frac{10}{3} = 3.33}", 1.0, "correct"),
        (180, r"\boxed{181 = 180}", 0.0, "inconsistent_equation"),
        (180, r"\boxed{181 \approx 180}", 0.0, "inconsistent_equation"),
        (180, r"\boxed{180} or \boxed{181}", 0.0, "conflicting_answers"),
        (30, r"\boxed{5}\boxed{6}", 0.0, "conflicting_answers"),
        (180, r"\boxed{180, 181}", 0.0, "no_value"),
        (180, r"\boxed{170 < x < 190}", 0.0, "unparseable"),
        (12, r"\boxed{x}", 0.0, "unparseable"),
        (12, r"\boxed{1/0}", 0.0, "no_value"),
        (12, r"\boxed{9^{9^{9^9}}}", 0.0, "too_complex"),
        (12, r"I tried 3*4 = 12, but it is \boxed{13}", 0.0, "wrong_answer"),
        (12, "<think>3*4</think>", 0.0, "empty"),
        (12, "<think>3*4", 0.0, "truncated"),
        (12, "", 0.0, "empty"),
        (12, "(" * 100_000, 0.0, "no_answer"),
        (12, r"\boxed{" + "9**" * 3_000 + "9}", 0.0, "too_complex"),
    ],
)
def test_score_and_reason(judge: Judge, reference: Any, response: str, score: float, reason: str) -> None:
    verdict = judge(reference, response)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, score, reason), verdict


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("x + 1", "unparseable_reference"),
        ("1/0", "unparseable_reference"),
        ("5 m + 3 s", "unparseable_reference"),
        (["12", "(1, 2)"], "unparseable_reference"),
        ("9**9**9", "reference_too_complex"),
        ("9" * 3_000, "reference_too_complex"),
    ],
)
def test_a_reference_that_cannot_be_evaluated_is_the_authors_to_mend(judge: Judge, reference: Any, reason: str) -> None:
    for response in ("12", "", r"\boxed{x}"):
        verdict = judge(reference, response)
        assert (verdict.status, verdict.score, verdict.reason) == (Status.INVALID, None, reason)


def test_a_missing_unit_is_worth_what_its_author_says(judge: Judge) -> None:
    asked = {"reference": "180 km", "response": r"\boxed{180}", "unit_policy": "require"}
    assert judge(**asked).score == 0.5
    assert judge(**asked, missing_unit_credit=0.25).score == 0.25
    assert (judge(**asked, missing_unit_credit=0).score, judge(**asked).reason) == (0.0, "missing_unit")
    assert judge("180 km", r"\boxed{180}").score == 1.0
    assert judge("180 km", r"\boxed{181}", unit_policy="require").score == 0.0


@pytest.mark.parametrize(
    ("answer", "prompt", "score"),
    [
        ("3 + 60", TRIP, 0.5),
        ("60/3", TRIP, 0.5),
        ("63", TRIP, 0.0),
        ("3 + 59", TRIP, 0.0),
        ("3 * 1", TRIP, 0.0),
        ("3 + 60", None, 0.0),
        ("3 km + 60 km", TRIP, 0.5),
        ("3 h + 60 h", TRIP, 0.0),
        ("x + 3 + 60", TRIP, 0.0),
        ("3 * 60", TRIP, 1.0),
    ],
)
def test_an_attempt_is_paid_if_its_author_says_so(judge: Judge, answer: str, prompt: str | None, score: float) -> None:
    reference = "180 km" if "km" in answer or "h" in answer else "180"
    assert judge(reference, rf"\boxed{{{answer}}}", prompt=prompt, partial_credit=0.5).score == score
    assert judge(reference, rf"\boxed{{{answer}}}", prompt=prompt).score == float(score == 1.0)


def test_explaining_tells_the_kind_of_error_and_changes_nothing(judge: Judge) -> None:
    for answer, code in [
        ("-5 m", "SIGN"),
        ("5 s", "DIMENSION_MISMATCH"),
        ("5 cm", "UNIT_MISMATCH"),
        ("50 m", "POWER10"),
    ]:
        plain, explained = (judge("5 m", rf"\boxed{{{answer}}}", explain=explain) for explain in (False, True))
        assert (plain.score, plain.reason) == (explained.score, explained.reason)
        assert code in [pattern["code"] for pattern in explained.detail["error_patterns"]]
        assert explained.detail["reference_value"] == "5 m"


def test_what_takes_too_long_is_wrong_and_no_trouble_of_ours(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression, "GRADE", dataclasses.replace(expression.GRADE, time_limit_s=0.01))
    slow = "+".join(rf"\sin({n}^{{{n}}})" for n in range(2, 250))
    verdict = judge("1", rf"\boxed{{{slow}}}")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "too_complex")


@pytest.mark.parametrize("exit_", [Exit.TIME_LIMIT, Exit.MEMORY_LIMIT])
def test_a_limit_of_ours_is_no_wrong_answer(exit_: Exit) -> None:
    def blamed(reference: str, response: str) -> tuple[Status, float | None, str]:
        item = Item(response, ExpressionParams(reference=reference))
        fine = Outcome(Exit.OK, fields_of(Verdict.wrong("no_answer")))
        verdict = expression._blamed(Outcome(exit_), fine, item)
        return verdict.status, verdict.score, verdict.reason

    assert blamed("2", r"\boxed{\sin(1)}") == (Status.OK, 0.0, "too_complex")
    assert blamed(r"\sqrt{2}", r"\boxed{\sin(1)}") == (Status.FAILED, None, "too_complex")
    assert blamed("2", "so " * 20_000 + r"\boxed{2}") == (Status.OK, 0.0, "too_complex")


@table("params", [{"partial_credit": 1}, {"partial_credit": -0.1}, {"rel_tol": 1}, {"sig_figs": 0}])
def test_parameters_that_are_none_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ExpressionParams(reference="1", **params)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.integers(-999, 999), other=st.integers(-999, 999), credit=st.sampled_from([0.0, 0.5]))
def test_right_goes_before_wrong(judge: Judge, value: int, other: int, credit: float) -> None:
    reference = value + other
    right = judge(reference, rf"\boxed{{({value}) + ({other})}}", partial_credit=credit, prompt=f"{value}, {other}")
    wrong = judge(reference, rf"\boxed{{({value}) + ({other}) + 1}}", partial_credit=credit, prompt=f"{value}, {other}")
    assert right.score == 1.0
    assert wrong.score is not None
    assert wrong.score <= credit
