"""Text against text, character by character."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import Status
from verifiers.rules.exact_match import ExactMatchParams, judge


def score(response: str, reference: Any, **params: Any) -> float | None:
    return judge(response, ExactMatchParams(reference=reference, **params)).score


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1)


@given(text=WORDS)
def test_a_text_matches_itself_and_nothing_longer(text: str) -> None:
    assert score(f"\n {text} ", text) == 1.0
    assert score(text + "x", text) == 0.0
    assert score(text.upper(), text.lower(), ignore_case=True) == score(text, text.upper().lower(), ignore_case=True)


@table(
    ("response", "reference", "params", "expected"),
    [
        ("Paris", ["Rome", "Paris"], {}, 1.0),
        ("paris", "Paris", {}, 0.0),
        ("STRASSE", "Straße", {"ignore_case": True}, 1.0),
        ("e\u0301", "é", {}, 0.0),
        ("Ｐaris", "Paris", {}, 0.0),
        ("a b", "a  b", {}, 0.0),
        ("So:\nParis", "Paris", {}, 0.0),
        ("It is 15.\nIf order mattered, the answer would be 96.", "It is 15.", {}, 0.0),
        ("So:\nParis", "Paris", {"extract": "last_line"}, 1.0),
        ("\\boxed{Paris}", "Paris", {"extract": "boxed"}, 1.0),
        ("Paris", "Paris", {"extract": "boxed"}, 0.0),
        ("The answer is Paris.", "Paris", {"extract": "auto"}, 1.0),
        ("Paris", "Paris", {"extract": "auto"}, 1.0),
        ("<think>Paris</think>Rome", "Paris", {}, 0.0),
        ("<think>a</think>Paris<|im_end|>", "Paris", {}, 1.0),
        ("", "Paris", {}, 0.0),
    ],
)
def test_matches(response: str, reference: Any, params: dict[str, Any], expected: float) -> None:
    assert score(response, reference, **params) == expected


@table("reference", ["", " \n", ["Paris", ""]])
def test_an_empty_reference_is_the_callers_to_mend(reference: Any) -> None:
    verdict = judge("", ExactMatchParams(reference=reference))
    assert (verdict.status, verdict.reason) == (Status.INVALID, "empty_reference")


@table("bad", [{}, {"reference": 5}, {"reference": []}, {"reference": "a", "case": True}])
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ExactMatchParams(**bad)


def test_detail() -> None:
    verdict = judge("Rome", ExactMatchParams(reference=["Paris"]), explain=True)
    assert verdict.detail["compared"] == {"answer": "Rome", "references": ["Paris"]}
    assert verdict.detail["channel"] == "whole"
    assert len(judge("x" * 10_000, ExactMatchParams(reference="y")).extracted or "") <= 300
