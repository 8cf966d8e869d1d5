"""One committed number against a reference."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from verifiers.base import Status
from verifiers.rules.numeric import Number, NumericParams, Unreadable, judge, read


def score(response: str, reference: Any, **params: Any) -> float | None:
    return judge(response, NumericParams(reference=reference, **params)).score


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18", 18),
        ("-5", -5),
        ("−5", -5),
        ("negative 5", -5),
        ("$-5", -5),
        ("-$5", -5),
        ("1,234.50", "1234.5"),
        ("1{,}234", 1234),
        ("12\\,345", 12345),
        (".5", "1/2"),
        ("5.", 5),
        ("3/4 cup", "3/4"),
        ("\\frac34", "3/4"),
        ("-\\dfrac{3}{4}", "-3/4"),
        ("2 1/4", "9/4"),
        ("1\\frac14", "5/4"),
        ("2½", "5/2"),
        ("1.2E-3", "3/2500"),
        ("6.4\\times10^{-19}", "64/100000000000000000000"),
        ("3×10⁵", 300000),
        ("１２", 12),
        ("١٢", 12),
        ("x = 5", 5),
        ("3 + 4 = 7", 7),
        ("$5$", 5),
        ("**5**", 5),
        ("\\mathbf{5}", 5),
        ("5\\text{ cm}", 5),
        ("5 cm^2", 5),
        ("5°", 5),
        ("12平方米", 12),
        ("3 million", 3_000_000),
        ("3万", 30_000),
        ("-0", 0),
    ],
)
def test_numbers_are_read_exactly(text: str, value: str | int) -> None:
    number = read(text)
    assert isinstance(number, Number)
    assert number.value(percent_as_fraction=False) == Fraction(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unparseable"),
        ("five", "unparseable"),
        ("NaN", "unparseable"),
        ("-inf", "unparseable"),
        ("1/0", "unparseable"),
        ("\\frac{1}{0}", "unparseable"),
        ("7x", "unparseable"),
        ("7x+3", "unparseable"),
        ("2\\pi", "unparseable"),
        ("\\sqrt{4}", "unparseable"),
        ("2^10", "unparseable"),
        ("4:30", "unparseable"),
        ("1.2.3", "unparseable"),
        ("--5", "unparseable"),
        ("1e9999999999", "unparseable"),
        ("1" * 2000, "unparseable"),
        ("1," * 100_000, "unparseable"),
        ("between 10 and 20", "conflicting_answers"),
        ("10-20", "conflicting_answers"),
        ("10 or 20", "conflicting_answers"),
        ("1, 2", "conflicting_answers"),
        ("5 or more", "conflicting_answers"),
        ("at least 5", "conflicting_answers"),
        ("5以上", "conflicting_answers"),
    ],
)
def test_what_is_not_one_number(text: str, reason: str) -> None:
    assert read(text) == Unreadable(reason)


@given(top=st.integers(-(10**30), 10**30), bottom=st.integers(1, 10**30))
def test_a_fraction_equals_itself_and_no_other(top: int, bottom: int) -> None:
    assert score(f"\\boxed{{\\frac{{{top}}}{{{bottom}}}}}", f"{top}/{bottom}") == 1.0
    assert score(f"\\boxed{{{top}/{bottom}}}", f"{top + 1}/{bottom}") == 0.0


@given(number=st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12))
def test_a_decimal_equals_itself_however_it_is_grouped(number: Any) -> None:
    assert score(f"#### {number:,}", str(number)) == 1.0
    assert score(f"The answer is {number}", f"{number}1") == 0.0


@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("\\boxed{1e999999999}", "1e999999999", 1.0),
        ("\\boxed{10e999999998}", "1e999999999", 1.0),
        ("\\boxed{1e999999999}", "2e999999999", 0.0),
        ("\\boxed{-1e999999999}", "1e999999999", 0.0),
        ("\\boxed{1e-999999999}", 0, 0.0),
        ("\\boxed{1e999999999}", 5, 0.0),
        ("\\boxed{0e999999999}", 0, 1.0),
        ("\\boxed{12345678901234567891}", "12345678901234567890", 0.0),
        ("\\boxed{0.1}", 0.1, 1.0),
        ("\\boxed{0.30000000000000004}", "0.3", 0.0),
        ("€5", "$5", 0.0),
        ("5", "$5", 1.0),
    ],
)
def test_large_small_and_near(response: str, reference: Any, expected: float) -> None:
    assert score(response, reference) == expected
    if "e9" in response:
        assert score(response, reference, abs_tol=0.5, rel_tol=0.5) == expected


def test_tolerances_are_inclusive_and_the_wider_one_holds() -> None:
    assert score("10.1", 10, abs_tol=0.1) == 1.0
    assert score("10.11", 10, abs_tol=0.1) == 0.0
    assert score("99", 100, rel_tol=0.01) == 1.0
    assert score("98.9", 100, rel_tol=0.01, abs_tol=0.5) == 0.0
    assert score("-99", 100, rel_tol=0.01) == 0.0


def test_percent_is_a_unit_unless_it_is_asked_for_as_a_fraction() -> None:
    assert score("50%", 50) == 1.0
    assert score("50%", "0.5") == 0.0
    assert score("50\\%", "1/2", percent_as_fraction=True) == 1.0
    assert score("50%", 50, percent_as_fraction=True) == 0.0
    assert score("1/2", "50%", percent_as_fraction=True) == 1.0


@pytest.mark.parametrize("reference", ["", "five", "NaN", "1/0", "1 or 2", "x", "1e9999999999"])
def test_a_reference_that_is_no_number_is_the_callers_to_mend(reference: str) -> None:
    verdict = judge("\\boxed{1}", NumericParams(reference=reference))
    assert (verdict.status, verdict.score, verdict.reason) == (Status.INVALID, None, "unparseable_reference")


@pytest.mark.parametrize("bad", [{"reference": True}, {"reference": None}, {"reference": 1, "abs_tol": -1}, {}])
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        NumericParams(**bad)


def test_reasons_and_detail() -> None:
    wrong = judge("It is 41. \\boxed{42}", NumericParams(reference=43), explain=True)
    assert (wrong.score, wrong.reason, wrong.extracted) == (0.0, "wrong_answer", "42")
    assert wrong.detail["compared"] == {"answer": "42", "reference": "43"}
    assert wrong.detail["channel"] == "boxed"
    assert judge("<think>42", NumericParams(reference=42)).reason == "truncated"
    assert judge("It is 42, so \\boxed{}", NumericParams(reference=42)).reason == "no_answer"
    assert judge("\\boxed{41} or \\boxed{42}", NumericParams(reference=42)).reason == "conflicting_answers"
    assert judge("\\boxed{1} and \\boxed{42}", NumericParams(reference=42)).reason == "conflicting_answers"
