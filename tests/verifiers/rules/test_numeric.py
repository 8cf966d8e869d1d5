"""One committed number against a reference."""

import json
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.growth import stays_in_proportion
from tests.tables import table
from verifiers.base import Status
from verifiers.rules.numeric import Number, NumericParams, Unreadable, judge, read

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "rules" / "qa_examples.jsonl").read_text().splitlines()
]


def score(response: str, reference: Any, **params: Any) -> float | None:
    return judge(response, NumericParams(reference=reference, **params)).score


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] == "numeric"], ids=lambda row: row["id"])
def test_every_labelled_row_is_right(row: dict[str, Any]) -> None:
    assert score(row["prediction"], tuple(row["golds"]), **row["params"]) == row["expected"]


@table(
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
        ("1.2 lakh crore", 12 * 10**11),
        ("($1,234)", -1234),
        ("$(5)", -5),
        ("(5)", 5),
        ("forty-two", 42),
        ("negative five", -5),
        ("二十", 20),
        ("三百", 300),
        ("\\mathbf{5}", 5),
        ("5\\text{ cm}", 5),
        ("5 cm^2", 5),
        ("5°", 5),
        ("12平方米", 12),
        ("3 million", 3_000_000),
        (r"3\text{ million}", 3_000_000),
        (r"\(3\) million people", 3_000_000),
        ("3万", 30_000),
        ("-0", 0),
        ("1 000 000", 1_000_000),
        ("1'234.5", "1234.5"),
        ("12,34,567", 1_234_567),
        ("٣٫٥", "7/2"),
        ("–5", -5),
        ("[5]", 5),
        ("$3.5bn", 3_500_000_000),
        ("$1.5m", 1_500_000),
        ("5 M dollars", 5_000_000),
        ("5k", 5000),
        ("7.8B", 7_800_000_000),
        ("2 mio", 2_000_000),
        ("3 crore", 30_000_000),
        ("2 dozen eggs", 24),
        ("5 thousand million", 5_000_000_000),
        ("1.4亿", 140_000_000),
        ("3亿5000万", 350_000_000),
        ("1万2千", 12_000),
        ("2百万", 2_000_000),
        ("5千克", 5),
        ("1.5m", "3/2"),
        ("300 K", 300),
        ("50 percent", 50),
        ("百分之50", 50),
        ("half a million people", 500000),
    ],
)
def test_numbers_are_read_exactly(text: str, value: str | int) -> None:
    number = read(text)
    assert isinstance(number, Number)
    assert number.value(percent_as_fraction=False) == Fraction(value)


@table(
    ("text", "reason"),
    [
        ("", "unparseable"),
        ("a few", "unparseable"),
        ("five of them", "unparseable"),
        ("5?", "unparseable"),
        ("5 is wrong", "conflicting_answers"),
        ("It isn't 5", "conflicting_answers"),
        ("up to 5", "conflicting_answers"),
        ("5!", "unparseable"),
        ("(5)!", "unparseable"),
        ("(10^{8})!", "unparseable"),
        ("5 ± 0.1", "unparseable"),
        (">5", "unparseable"),
        ("1万2", "unparseable"),
        ("3,5", "conflicting_answers"),
        ("12 34", "conflicting_answers"),
        ("2020 100", "conflicting_answers"),
        ("5 million or so", "conflicting_answers"),
        ("2020-01-05", "conflicting_answers"),
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
    assert score(f"\\boxed{{{top}/{bottom}}}", f"{top + 1}/{bottom}", rel_tol=0.0) == 0.0


@given(number=st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12))
def test_a_decimal_equals_itself_however_it_is_grouped(number: Any) -> None:
    assert score(f"#### {number:,}", str(number)) == 1.0
    assert score(f"The answer is {number}", f"{number}1") == 0.0


@table(
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


def test_significant_figures_round_both_sides() -> None:
    assert score("9.81", 9.80665, significant_figures=3) == 1.0
    assert score("9.8", 9.80665, significant_figures=3) == 0.0
    assert score("-9.81", 9.80665, significant_figures=3) == 0.0
    assert score("999.6", 1000, significant_figures=3) == 1.0
    assert score("0.000012", "0.0000115", significant_figures=2) == 1.0
    assert score("0", 0, significant_figures=2) == 1.0
    assert score("9.80665", 9.81, significant_figures=3) == 1.0


def test_a_decimal_comma_is_one_only_where_the_caller_says_so() -> None:
    assert score("3,5", 3.5) == 0.0
    assert score("3,5", 3.5, decimal_comma=True) == 1.0
    assert score("Es kostet 1.234,50 Euro.", 1234.5, decimal_comma=True) == 1.0
    assert score("\\boxed{1.000}", 1000, decimal_comma=True) == 1.0
    assert score("\\boxed{1.000}", 1) == 1.0
    assert score("3,5", "3,5", decimal_comma=True) == 1.0
    assert score("1.234", 1.234, decimal_comma=True) == 0.0


def test_one_of_several_references_is_enough() -> None:
    assert score("12", ["13", 12]) == 1.0
    assert score("14", ["13", 12]) == 0.0
    assert judge("12", NumericParams(reference=("12", "x"))).reason == "unparseable_reference"
    assert judge("12 or 13", NumericParams(reference=("12", "13"))).reason == "conflicting_answers"


def test_currencies_and_percent_of_a_reference_are_wanted() -> None:
    assert score("5 euros", "$5") == 0.0
    assert score("5 dollars", "$5") == 1.0
    assert score("5", "$5") == 1.0
    assert score("50 cents", "$50") == 0.0
    assert score("¥5", "5元") == 1.0
    assert score("5 yen", "5元") == 0.0
    assert score("50", "50%") == 0.0
    assert score("50 percent", "50%") == 1.0


@table(
    ("response", "reference", "expected"),
    [
        ("The population is 1 000 000.", 1_000_000, 1.0),
        ("It is 3,5.", 5, 0.0),
        ("So 1,2,3,5", 5, 0.0),
        ("The revenue is $3.5bn.", 3_500_000_000, 1.0),
        ("The revenue is $3.5bn.", "3.5", 0.0),
        ("共3亿5000万人", 350_000_000, 1.0),
        ("共3亿5000万人", 50_000_000, 0.0),
        ("它重5千克", 5, 1.0),
        ("In 2020 500 people", 500, 0.0),
        ("It holds 1.2 lakh crore rupees.", 12 * 10**11, 1.0),
        ("10+", 10, 0.0),
        ("That makes 10 or more.", 10, 0.0),
        ("< 10", 10, 0.0),
        ("≥10", 10, 0.0),
        ("> 10", 10, 1.0),
        ("5k", 5000, 1.0),
        ("At least 17 coins are needed.", 17, 1.0),
        ("x is at least 17.", 17, 0.0),
        ("The bus travels at 80 km/h (about 50 mph).", 80, 1.0),
        ("The length is 5 m (500 cm).", 5, 1.0),
        ("The length is 5 m (50 cm).", 5, 0.0),
        ("It takes 90 minutes (1 hour).", 90, 0.0),
        ("The room is 4.5 m (±0.5 m) long: 4.5 m (14.8 ft)", 4.5, 1.0),
        ("The class has 45 pupils (30 girls).", 45, 0.0),
        ("So 3.2 g of CO2 are formed.", 3.2, 1.0),
        ("So 3.2 g of CO2 are formed.", 2, 0.0),
        ("minus 5", -5, 1.0),
        ("Twelve.", 12, 1.0),
        ("The answer is twelve.", 12, 1.0),
        ("百分之五十", "50%", 1.0),
        ("one of them", 1, 0.0),
        ("Step 5", 5, 0.0),
        ("#1", 1, 1.0),
        ("**#1**", 1, 1.0),
        ("Issue #1", 1, 0.0),
        ("#1: yes", 1, 0.0),
    ],
)
def test_the_last_number_of_a_text_is_a_whole_one(response: str, reference: Any, expected: float) -> None:
    assert score(response, reference) == expected


@table(
    "response", ["", "\u200b", "5\u200b6", "between 5 and 6", "5 or 6", "5/6/7", "4, 5, 6", "5-6", "5..6", "at least 5"]
)
def test_what_commits_to_no_number_earns_nothing(response: str) -> None:
    for form in (response, f"Answer: {response}", f"\\boxed{{{response}}}", f"<answer>{response}</answer>"):
        assert score(form, 5) == 0.0
        assert score(form, 6) == 0.0


@pytest.mark.growth
@pytest.mark.parametrize("unit", ["1 000 ", "1,23,", "1.000", "1'", "3亿", "$1", "5 million ", "千", "-", "½"])
def test_a_flood_is_over_soon(unit: str) -> None:
    for chars in (3_900, 200_000):
        for form in ("{}", "\\boxed{{{}}}"):
            framed = partial(_framed_score, form)
            assert stays_in_proportion(framed, unit, chars)


def _framed_score(form: str, text: str) -> float | None:
    return score(form.format(text), 5, decimal_comma=True)


def test_percent_is_a_unit_unless_it_is_asked_for_as_a_fraction() -> None:
    assert score("50%", 50) == 1.0
    assert score("50%", "0.5") == 0.0
    assert score("50\\%", "1/2", percent_as_fraction=True) == 1.0
    assert score("50%", 50, percent_as_fraction=True) == 0.0
    assert score("1/2", "50%", percent_as_fraction=True) == 1.0


@table("reference", ["", "a few", "NaN", "1/0", "1 or 2", "x", "1e9999999999"])
def test_a_reference_that_is_no_number_is_the_callers_to_mend(reference: str) -> None:
    verdict = judge("\\boxed{1}", NumericParams(reference=reference))
    assert (verdict.status, verdict.score, verdict.reason) == (Status.INVALID, None, "unparseable_reference")


@table("bad", [{"reference": True}, {"reference": None}, {"reference": 1, "abs_tol": -1}, {}])
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


@table(
    ("response", "reference", "params", "expected"),
    [
        ("0.333333", "1/3", {}, 1.0),
        ("0.3333", "1/3", {}, 0.0),
        ("0.333333", "1/3", {"rel_tol": 0.0}, 0.0),
        ("0.333333", "1/3", {"abs_tol": 1e-9}, 0.0),
        ("1/3", "0.3333333", {}, 1.0),
        ("10/3", "3.3333333", {}, 1.0),
        ("333333/1000000", "0.333333333", {}, 0.0),
        ("2/7", "1/3", {}, 0.0),
        ("1111111", "3333334/3", {}, 0.0),
        ("10000001", "10000000", {}, 0.0),
        ("1234567.88", "1234567.89", {}, 0.0),
    ],
)
def test_only_a_fraction_that_no_decimal_equals_is_met_to_a_millionth(
    response: str, reference: str, params: dict[str, float], expected: float
) -> None:
    assert score(response, reference, **params) == expected


@table(
    ("response", "reference"),
    [
        ("١٬٠٠٠", "1000"),
        ("الإجابة هي ١٬٢٣٤٫٥", "1234.5"),
        ("The total is ۱٬۰۰۰٬۰۰۰ rials.", "1000000"),
        ("#### ٣٫٥", 3.5),
    ],
)
def test_arabic_marks_part_thousands_and_decimals(response: str, reference: Any) -> None:
    assert score(response, reference) == 1.0
    assert score(response, "7") == 0.0


def test_an_answer_with_arabic_marks_stands_where_it_was_written() -> None:
    verdict = judge("المجموع ١٬٠٠٠ دينار", NumericParams(reference="1000"))
    assert verdict.detail["span"] == [8, 13]


@table(
    ("response", "written"),
    [("The value is $10^{-2}$.", "10^{-2}"), ("It is 10⁻²", "10⁻²"), ("It is 10^ {-2} in all", "10^ {-2}")],
)
def test_a_power_of_ten_is_shown_as_it_is_written(response: str, written: str) -> None:
    found = judge(response, NumericParams(reference="0.01"))
    assert (found.score, found.extracted) == (1.0, written)
