"""What `explain` adds: all patterns that a response shows, of its form and of its answer, in one order."""

from typing import Any

import pytest

from verifiers.commitment import ExtractionParams
from verifiers.math import MathParams
from verifiers.math.diagnosis import diagnose
from verifiers.math.options import DEFAULT
from verifiers.math.patterns.codes import Code

EXTRACTION = ExtractionParams().model_dump_json()


def codes(
    reference: str,
    answer: str | None,
    response: str | None,
    reason: str = "wrong_answer",
    question: str | None = None,
    steps: list[str] | None = None,
) -> list[str]:
    payload = [[reference], answer, DEFAULT.packed(), reason, response, question, steps or [], EXTRACTION]
    detail: dict[str, Any] = diagnose(payload)
    return [pattern["code"] for pattern in detail.get("error_patterns", [])]


@pytest.mark.parametrize(
    ("response", "answer", "reason", "expected"),
    [
        (r"\boxed{5}", "5", "correct", []),
        ("", None, "empty", ["EMPTY"]),
        ("I cannot say.", None, "no_answer", ["NO_ANSWER"]),
        ("<think>5", None, "truncated", ["TRUNCATED"]),
        (r"a</think>b</think>\boxed{5}", "5", "correct", ["THINK_MALFORMED"]),
        (r"\boxed{1} or \boxed{2}", None, "conflicting_answers", ["CONFLICTING_ANSWERS"]),
        (r"\boxed{@#!}", "@#!", "unparseable", ["UNPARSEABLE"]),
        ("wait, " * 40 + r"\boxed{5}", "5", "correct", ["REPETITION"]),
        ("wait, " * 40 + r"\boxed{@#!}", "@#!", "unparseable", ["UNPARSEABLE", "REPETITION"]),
        (r"\boxed{-5}", "-5", "wrong_answer", ["SIGN"]),
    ],
)
def test_the_form_of_a_response(response: str, answer: str | None, reason: str, expected: list[str]) -> None:
    assert codes("5", answer, response, reason) == expected


def test_a_script_that_the_question_does_not_use() -> None:
    question = "What is the sum of two and three?"
    mixed = "The sum is easy to find. 我们把两个数字加起来就可以得到正确的答案，这里没有什么困难。 It is 5."
    assert codes("5", "5", mixed, "correct", question) == ["LANGUAGE_MIX"]
    assert codes("5", "5", mixed, "correct", "二加三等于多少？请说明。") == ["LANGUAGE_MIX"]
    assert codes("5", "5", "The sum of two and three, as everybody knows, is 5.", "correct", question) == []


def test_steps_come_from_the_reference_or_from_a_solution_given_as_one() -> None:
    assert codes("3", "9", "So 9.", steps=["3x=14-5", "3x=9", "x=3"]) == ["STOPPED_EARLY"]
    assert codes("48/2=<<48/2=24>>24\n48+24=<<48+24=72>>72\n#### 72", "24", "#### 24") == ["STOPPED_EARLY"]
    assert "STOPPED_EARLY" not in codes("72", "24", "#### 24")


def test_all_that_is_found_is_told_in_the_order_of_the_codes() -> None:
    response = r"<think><think>a</think>" + "so, " * 40 + "1 + 1 = 3.\n```\n" + r"\boxed{-5}"
    found = codes("5", "-5", response, question="Is it -5?")
    assert found == ["TRUNCATED", "THINK_MALFORMED", "REPETITION", "SIGN", "COPIED_INPUT", "ARITHMETIC"]
    assert found == [code.value for code in Code if code.value in found]


def test_a_response_that_is_too_long_is_not_looked_through() -> None:
    assert codes("5", "-5", None) == ["SIGN"]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["3x=9", {"expr": "x=3", "weight": 2}], ["3x=9", "x=3"]),
        ([3, None, {"weight": 2}, ["x"], "x" * 301], []),
        ("3x=9", []),
        (None, []),
        (["x=3"] * 100, ["x=3"] * 64),
    ],
)
def test_a_references_steps_are_taken_as_far_as_they_are_texts(steps: Any, expected: list[str]) -> None:
    assert MathParams.model_validate({"reference": {"final_answer": "3", "steps": steps}}).steps == expected
