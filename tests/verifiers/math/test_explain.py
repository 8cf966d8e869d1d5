"""What a caller sees who asks why, and the parameters that say what is asked of an answer."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from verifiers.base import Item, Status, Verdict
from verifiers.math import Math, MathParams

Judge = Callable[..., Awaitable[Verdict]]


def codes(verdict: Verdict) -> list[str]:
    return [pattern["code"] for pattern in verdict.detail.get("error_patterns", [])]


@pytest.mark.parametrize(
    ("reference", "answer", "code"),
    [
        ("5", "-5", "SIGN"),
        ("0.25", "25", "PERCENT"),
        ("(1,2)", "(2,1)", "ORDER"),
        ("[1,2]", "(1,2)", "INTERVAL_END"),
        (r"\{1,2,3\}", r"\{1,2\}", "MISSING_ELEMENT"),
        (r"5\text{ m}", r"5\text{ cm}", "UNIT_MISMATCH"),
        ("7", "8", "OFF_BY_ONE"),
    ],
)
async def test_the_kind_of_error_is_named(judge: Judge, reference: str, answer: str, code: str) -> None:
    verdict = await judge(reference, rf"So \boxed{{{answer}}}.", explain=True)
    assert verdict.score == 0.0
    assert code in codes(verdict)
    assert {"reference_as_read", "answer_as_read", "candidates", "channel", "method"} <= set(verdict.detail)


async def test_without_asking_nothing_is_explained(judge: Judge) -> None:
    verdict = await judge("5", r"\boxed{-5}")
    assert not {"error_patterns", "reference_as_read", "candidates"} & set(verdict.detail)


async def test_a_right_answer_has_no_error_pattern(judge: Judge) -> None:
    verdict = await judge(r"\frac12", r"\boxed{0.5}", explain=True)
    assert verdict.score == 1.0
    assert codes(verdict) == []
    assert verdict.detail["answer_as_read"] == "1/2"


async def test_explaining_changes_no_verdict(judge: Judge) -> None:
    for reference, response in [("5", r"\boxed{5}"), ("5", r"\boxed{6}"), ("5", "no idea"), ("5", r"\boxed{@#!}")]:
        plain, explained = await judge(reference, response), await judge(reference, response, explain=True)
        assert (plain.status, plain.score, plain.reason) == (explained.status, explained.score, explained.reason)


async def test_a_number_of_the_question_is_recognised(verifier: Math) -> None:
    item = Item(r"\boxed{24}", MathParams(reference="72"), prompt="She sold 48 clips and then 24.", explain=True)
    (verdict,) = await verifier.score([item])
    assert "COPIED_INPUT" in codes(verdict)


@pytest.mark.parametrize(
    ("params", "reference", "answer", "score", "reason"),
    [
        ({"form": "fraction"}, "0.5", r"\frac{1}{2}", 1.0, "correct"),
        ({"form": "fraction"}, "0.5", "0.5", 0.0, "wrong_form"),
        ({"form": "decimal"}, r"\frac12", "0.5", 1.0, "correct"),
        ({"form": "decimal"}, r"\frac12", r"\frac12", 0.0, "wrong_form"),
        ({"form": "simplified"}, r"\frac12", r"\frac24", 0.0, "wrong_form"),
        ({"form": "simplified"}, r"\frac12", r"\frac12", 1.0, "correct"),
        ({"form": "simplified"}, r"2\sqrt2", r"\sqrt8", 0.0, "wrong_form"),
        ({"form": "simplified"}, "5x", "2x+3x", 0.0, "wrong_form"),
        ({"ordered": True}, "1, 2", "2, 1", 0.0, "wrong_answer"),
        ({"ordered": True}, "1, 2", "1, 2", 1.0, "correct"),
        ({"ordered": False}, "1, 2", "2, 1", 1.0, "correct"),
        ({"unit_policy": "require"}, r"5\text{ m}", "5", 0.0, "wrong_answer"),
        ({"unit_policy": "require"}, r"5\text{ m}", r"500\text{ cm}", 1.0, "correct"),
        ({"unit_policy": "ignore"}, r"5\text{ m}", r"5\text{ cm}", 1.0, "correct"),
        ({"unit_policy": "convert"}, r"5\text{ m}", r"5\text{ cm}", 0.0, "wrong_answer"),
        ({}, {"final_answer": "5", "unit": "m"}, r"500\text{ cm}", 1.0, "correct"),
        ({}, {"final_answer": "5", "unit": "m"}, r"5\text{ cm}", 0.0, "wrong_answer"),
        ({}, {"final_answer": 5, "tolerance": 0.1}, "5.05", 1.0, "correct"),
        ({"abs_tol": 0.0}, {"final_answer": 5, "tolerance": 0.1}, "5.05", 0.0, "wrong_answer"),
        ({}, ["5", "6"], "6", 1.0, "correct"),
    ],
)
async def test_what_is_asked_of_an_answer(
    judge: Judge, params: dict[str, Any], reference: Any, answer: str, score: float, reason: str
) -> None:
    verdict = await judge(reference, rf"\boxed{{{answer}}}", **params)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, score, reason)


def test_what_is_no_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="unit"):
        MathParams.model_validate({"reference": {"final_answer": 5, "unit": "or more"}})
