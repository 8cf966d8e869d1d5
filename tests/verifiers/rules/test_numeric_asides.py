"""What is said beside a number and states no other, and numbers that are disowned."""

from typing import Any

import pytest

from tests.growth import stays_in_proportion
from tests.tables import table
from verifiers.rules.numeric import NumericParams, judge
from verifiers.rules.regression import RegressionParams
from verifiers.rules.regression import judge as judge_distance


def score(response: str, reference: Any, **params: Any) -> float | None:
    found = judge(response, NumericParams(reference=reference, **params)).score
    graded = judge_distance(response, RegressionParams(reference=reference, **params)).score
    assert (found == 1.0) == (graded == 1.0)
    return found


@table(
    "response",
    [
        "12, not 15.",
        "12 — not 15.",
        "12 (not 15)",
        "She has 12 apples, not 15 apples.",
        "12, pas 15",
        "12, nicht 15",
        "12, а не 15.",
        "12，不是15。",
        "是12，而不是15。",
        "不是15，而是12。",
        "<answer>12, not 15</answer>",
        "\\boxed{12}, not 15",
        "12 (3 × 4)",
        "12 apples (3 × 4)",
        "12 (= 3 × 4)",
        "12 (3 x 4 = 12)",
        "12 = 3 × 4",
        "The answer is 12 = 3 × 4.",
        "<answer>12 = 7 + 5</answer>",
        "12 (see line 4)",
        "So it is 12.\n\nSource: table 7",
        "Also 12.\n\nQuellen:\n[1] Schmidt 2004",
        r"\boxed{{12}}",
        "12일",
        "R$ 12",
        "箱が**12**個あります。",
        "### Lopullinen vastaus\n\nKoulussa on 12 oppilasta.",
        "12 (Theorem 2.1).",
        "12, or 12.0",
        "12, i.e. 24/2",
        "<answer>It's 12.</answer>",
        "<answer>I think it's 12</answer>",
        "\\boxed{That's 12}",
        "Some say 15, but it is 12.",
        "I don't know if 15 is meant, but the answer is 12.",
        "No doubt it's 12.",
        "I don't doubt that it is 12.",
        "My first guess was 15, but it is 12.",
        "❌ 15\n✅ 12",
        "There are 12 students excluded from the list.",
        "It is 12. The textbook says 12.",
    ],
)
def test_asides_state_no_other_number(response: str) -> None:
    assert score(response, 12) == 1.0
    assert score(response, 15) == 0.0


@table(
    "response",
    [
        "12 = 3 × 5", "2 + 12 = 10 + 4", "a_12 = 6 + 6", "12x = 6 + 6", "12 (wrong, see line 4)", "12 (or see line 4)", "12 (at least 4)",
        "12 + 3 = 15", "12超", "12弱", "12여 명", "12ish", "Answer: at a minimum, 12", r"\boxed{{12}{3}}", "x**12", "Source: 12 or 13", "12 -", "12-", "The total is 12–",
    ],
)  # fmt: skip
def test_another_value_and_a_cut_off_one_are_no_asides(response: str) -> None:
    assert score(response, 12) == 0.0


@table(
    "response",
    [
        "There are 12 vehicles: 7 cars and 5 trucks.",
        "There are 12 vehicles, of which 5 are trucks.",
        "一共有12辆车，其中5辆是卡车。",
        "Il y a 12 véhicules, dont 5 camions.",
        "So the total is 12.\n\nVerification: 12 - 7 = 5 ✓",
        "Donc le total est 12.\n\nVérification : 12 - 7 = 5.",
        "So the total is 12. (12 - 7 = 5.)",
        "It takes 12 years.\n\nNote: at the end of year 5, he has just broken even.",
    ],
)
def test_what_was_counted_and_a_check_state_no_other_number(response: str) -> None:
    assert score(response, 12) == 1.0
    assert score(response, 5) == 0.0


@table(
    "response",
    [
        "Each pack has 5 pens. Check how many are in 12 packs: 12 * 5 = 60.",
        "He earns 5 a month.\nNote that a year has 12 months: 12 * 5 = 60.",
        "So the total is 5.\n\nCheck: that is wrong, it is 60.",
        "Is it 5? Check: 6 * 10 = 60.",
    ],
)
def test_a_check_that_goes_on_is_read(response: str) -> None:
    assert score(response, 5) == 0.0


@table(
    "response",
    [
        "anything but 12",
        "except 12",
        "neither 12",
        "unless it is 12",
        "I doubt it's 12.",
        "It's unlikely to be 12.",
        "I don't know if it is 12.",
        "Some say 12.",
        "My friend says 12.",
        "The user thinks it's 12.",
        "The textbook claims 12.",
        "My first guess was 12.",
        "e.g. 12",
        "for example, 12",
        "numbers such as 12",
        "a number like 12",
        "Incorrect: 12",
        "❌ 12",
        "12 ❌",
        "12 (wrong)",
        "12 (rejected)",
        "12 excluded",
        "12 is close, but no.",
        "12左右吗",
        "12が正しくない",
        "ليس 12",
        "15, not 12",
        "<answer>15, not 12</answer>",
        "不是12，而是15。",
        "15 (3 × 4)",
        "15, or 12",
        "12, or 15",
        "12 (15)",
        "12, not at all, 15",
        "more than 12, not 15",
        "<answer>It's 12 or 13</answer>",
        "<answer>It's 12x</answer>",
    ],
)
def test_disowned_numbers_and_others_are_not_the_answer(response: str) -> None:
    assert score(response, 12) == 0.0


@table(
    ("response", "reference"),
    [
        ("The probability is 3/4, or 0.75.", "3/4"),
        ("12 and a half", 12.5),
        ("It takes 12 and a half hours.", 12.5),
        ("12 and a quarter", 12.25),
        ("12 hours and a half", 12.5),
    ],
)
def test_the_same_value_again_and_halves(response: str, reference: Any) -> None:
    assert score(response, reference) == 1.0
    assert score(response, 12) == 0.0


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize("unit", ["12, not 15 ", "e.g. 12 ", "12 (3 × 4) ", "doubt it's ", "12 or 12 ", "❌ 12 "])
def test_a_flood_of_asides_is_over_soon(unit: str) -> None:
    params = NumericParams(reference=12)
    assert stays_in_proportion(lambda text: judge(text, params), unit, 50_000)
