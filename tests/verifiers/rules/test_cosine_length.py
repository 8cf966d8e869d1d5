"""Rewards along half a cosine, with the values of the published functions."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from verifiers.base import Status, Verdict
from verifiers.rules.cosine_length import CosineLengthParams, judge


def ask(tokens: int, correct: bool | None, **params: Any) -> Verdict:
    return judge("", CosineLengthParams(max_length=100, completion_tokens=tokens, correct=correct, **params))


@table(
    ("tokens", "right", "wrong"),
    [(0, 1, -1), (25, 0.9268, -0.9268), (50, 0.75, -0.75), (75, 0.5732, -0.5732), (100, 0.5, -0.5), (200, 0.5, -0.5)],
)
def test_trls_values(tokens: int, right: float, wrong: float) -> None:
    assert ask(tokens, True).detail["reward"] == pytest.approx(right, abs=1e-4)
    assert ask(tokens, False).detail["reward"] == pytest.approx(wrong, abs=1e-4)


@given(st.integers(0, 100), st.booleans())
def test_up_to_the_maximum_it_equals_open_r1(length: int, correct: bool) -> None:
    low, high = (0.5, 1.0) if correct else (-0.5, 0.0)
    expected = low + 0.5 * (high - low) * (1.0 + math.cos(length / 100 * math.pi))
    verdict = judge("x" * length, CosineLengthParams(preset="open_r1", max_length=100, correct=correct))
    assert verdict.detail["reward"] == expected


def test_a_text_of_twice_the_maximum_is_as_bad_as_one_of_the_maximum() -> None:
    params = CosineLengthParams(preset="open_r1", correct=True)
    assert judge("x" * 1970, params).detail["reward"] == 0.5


def test_whoever_reaches_the_maximum_gets_its_own_reward() -> None:
    assert ask(99, True, preset="demystify").detail["reward"] == pytest.approx(1.0, abs=1e-3)
    assert ask(100, True, preset="demystify").detail["reward"] == -10.0
    assert ask(100, True, preset="demystify").score == 0.0
    assert ask(0, True, preset="demystify").score == 1.0


@given(st.integers(0, 300), st.booleans(), st.sampled_from(["trl", "open_r1", "demystify"]))
def test_the_reward_can_be_had_back_from_the_score(tokens: int, correct: bool, preset: str) -> None:
    verdict = ask(tokens, correct, preset=preset, unit="tokens")
    detail = verdict.detail
    assert verdict.score is not None
    assert detail["low"] + verdict.score * (detail["high"] - detail["low"]) == pytest.approx(detail["reward"])


def test_without_a_verdict_the_curve_itself_is_given() -> None:
    assert [ask(tokens, None).score for tokens in (0, 100, 1000)] == [1.0, 0.0, 0.0]
    assert ask(50, None).score == pytest.approx(0.5)


def test_what_cannot_be_judged_is_the_callers_to_mend() -> None:
    assert judge("x", CosineLengthParams()).reason == "missing_length"
    same: dict[str, Any] = dict.fromkeys(("min_wrong", "max_wrong", "min_correct", "max_correct"), 1.0)
    verdict = ask(5, True, **same)
    assert (verdict.status, verdict.reason) == (Status.INVALID, "constant_reward")
