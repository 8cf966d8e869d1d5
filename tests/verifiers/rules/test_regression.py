"""One committed number, graded by its distance."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import Status
from verifiers.rules.regression import RegressionParams, judge


def score(response: str, reference: Any, **params: Any) -> float | None:
    return judge(response, RegressionParams(reference=reference, **params)).score


@table(
    ("answer", "reference", "params", "expected"),
    [
        ("90", 100, {}, 0.9),
        ("110", 100, {}, 0.9),
        ("-100", 100, {}, 0.0),
        ("200", 100, {}, 0.0),
        ("-9", -10, {}, 0.9),
        ("0", 0, {}, 1.0),
        ("0.001", 0, {}, 0.0),
        ("0.001", 0, {"scale": 1}, 0.999),
        ("3.1 million", "3 million", {}, float(1 - Fraction(1, 30))),
        ("1/3", "1/3", {}, 1.0),
        ("95", 100, {"max_error": 0.1}, 0.5),
        ("90", 100, {"max_error": 0.1}, 0.0),
        ("7", 5, {"scale": 10}, 0.8),
        ("7", 5, {"scale": 10, "max_error": 0.4}, 0.5),
        ("3,5", 3.5, {"decimal_comma": True}, 1.0),
        ("50%", 0.5, {"percent_as_fraction": True}, 1.0),
        ("50", "50%", {}, 0.0),
        ("50%", "50%", {}, 1.0),
        ("$5", "€5", {}, 0.0),
        ("1e400", 5, {}, 0.0),
        ("1e99999999", 5, {}, 0.0),
    ],
)
def test_the_score_falls_with_the_error(answer: str, reference: Any, params: dict[str, Any], expected: float) -> None:
    assert score(f"The answer is \\boxed{{{answer}}}.", reference, **params) == expected


@table(
    ("answer", "expected"),
    [("100", 1.0), ("96", 1.0), ("95", 0.9), ("105", 0.9), ("88", 0.8), ("55", 0.1), ("50", 0.0), ("151", 0.0)],
)
def test_mean_relative_accuracy_counts_the_tolerances_kept(answer: str, expected: float) -> None:
    assert score(answer, 100, metric="mra") == expected


@table(
    "response",
    [
        "",
        "about a hundred or so",
        "between 90 and 110",
        "\\boxed{90} or \\boxed{100}",
        "<think>100</think>",
        "<think>100",
        "nan",
        "\\boxed{inf}",
        "\\boxed{9**9**9}",
        "\\boxed{x+100}",
        "\\boxed{}",
    ],
)
def test_what_commits_to_no_number_earns_nothing(response: str) -> None:
    assert score(response, 100) == score(response, 100, metric="mra") == 0.0


@table("reference", ["a few", "", "1 or 2", "1e9999"])
def test_a_reference_that_is_no_number_is_the_callers_to_mend(reference: str) -> None:
    assert judge("5", RegressionParams(reference=reference)).status is Status.INVALID


@table("bad", [{"reference": True}, {"reference": 1, "scale": 0}, {"reference": 1, "max_error": 0}])
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RegressionParams.model_validate(bad)


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(["linear", "mra"]))
def test_nearer_is_never_worse(reference: int, one: int, other: int, metric: str) -> None:
    near, far = sorted((one, other))
    left = score(f"Answer: {reference + near}", reference, metric=metric)
    right = score(f"Answer: {reference + far}", reference, metric=metric)
    assert left is not None
    assert right is not None
    assert 1 >= left >= right >= 0


def test_what_was_found_is_told() -> None:
    verdict = judge("Answer: 90", RegressionParams(reference=100), explain=True)
    assert (verdict.reason, verdict.extracted) == ("partial", "90")
    assert verdict.detail["compared"] == {"answer": "90", "reference": "100"}
