"""Numbers in words, and numbers that are bounds."""

import json
from typing import Any

import pytest

from tests.growth import stays_in_proportion
from tests.tables import table
from verifiers.rules.numeric import NumericParams, judge
from verifiers.rules.regression import RegressionParams
from verifiers.rules.regression import judge as judge_distance


def score(response: str, reference: Any, **params: Any) -> float | None:
    return judge(response, NumericParams(reference=reference, **params)).score


@table(
    ("response", "reference", "expected"),
    [
        ("forty-two", 42, 1.0),
        ("Forty-two.", 42, 1.0),
        ("The answer is forty-two.", 42, 1.0),
        ("\\boxed{forty-two}", 42, 1.0),
        ("<answer>Forty two</answer>", 42, 1.0),
        ("#### forty-two", 42, 1.0),
        ("forty-two apples", 42, 1.0),
        ("\\boxed{\\text{forty-two}}", 42, 1.0),
        ("So she has forty-two apples.", 42, 1.0),
        ("Answer: one hundred and five", 105, 1.0),
        ("The total is one thousand two hundred thirty-four.", 1234, 1.0),
        ("The answer is a hundred.", 100, 1.0),
        ("Answer: minus seven", -7, 1.0),
        ("Answer: moins 12", -12, 1.0),
        ("Answer: menos 12", 12, 0.0),
        ("Answer: half 12", 12, 0.0),
        ("Answer: 12 and a half", 12, 0.0),
        ("Answer: sqrt 12", 12, 0.0),
        ("Answer: the remainder is 12", 12, 1.0),
        ("Answer: the price without tax is 12", 12, 1.0),
        ("The answer is negative twelve degrees.", -12, 1.0),
        ("It is two million three hundred thousand people.", 2300000, 1.0),
        ("Final answer: zero", 0, 1.0),
        ("The answer is one.", 1, 1.0),
        ("The answer is three and a half.", "7/2", 1.0),
        ("Answer: two thirds", "2/3", 1.0),
        ("Answer: forty-two percent", "42%", 1.0),
        ("答案是四十二", 42, 1.0),
        ("答案是四十二个", 42, 1.0),
        ("答案：一百零五。", 105, 1.0),
        ("所以一共有四十二个苹果。", 42, 1.0),
        ("答案是负七", -7, 1.0),
        ("答案是三分之二", "2/3", 1.0),
        ("答案是十二万三千", 123000, 1.0),
        ("The answer is forty-two dollars.", "$42", 1.0),
        ("**Forty-two**", 42, 1.0),
        ("3 + 4 = seven", 7, 1.0),
        ("There are twelve months in a year.", 12, 1.0),
        ("Answer: twelve apples", 12, 1.0),
        ("The answer is \\boxed{\\text{twelve}} apples.", 12, 1.0),
        ("Answer: twenty-one (21)", 21, 1.0),
        ("Answer: 21 (twenty-one)", 21, 1.0),
        ("The answer is five billion.", 5000000000, 1.0),
        ("seven hundred thousand and three", 700003, 1.0),
        ("Answer: thirty five", 35, 1.0),
        ("Answer: one dozen", 12, 1.0),
        ("forty-three", 42, 0.0),
        ("The answer is between two and four.", 4, 0.0),
        ("The answer is two or three.", 3, 0.0),
        ("one of the options is two", 1, 0.0),
        ("The answer is at least twelve.", 12, 0.0),
        ("more than twelve", 12, 0.0),
        ("Answer: twelve or more", 12, 0.0),
        ("Answer: not twelve", 12, 0.0),
        ("Answer: twenty-second", 22, 0.0),
        ("forty-second", 42, 0.0),
        ("The answer is one of them.", 1, 0.0),
        ("I am not the one.", 1, 0.0),
        ("No one knows.", 1, 0.0),
        ("Answer: two, three, four", 4, 0.0),
        ("Answer: two to four", 4, 0.0),
        ("Answer: about two and about three", 3, 0.0),
        ("She has 42 apples. The two of them are happy.", 42, 1.0),
        ("She has 42 apples. The two of them are happy.", 2, 0.0),
        ("Answer: twenty twelve", 2012, 0.0),
        ("Answer: five six", 6, 0.0),
        ("Answer: two times three", 3, 0.0),
        ("Answer: twelve plus one", 1, 0.0),
        ("Answer: less than twenty", 20, 0.0),
        ("大于十二", 12, 0.0),
        ("答案是十二以上", 12, 0.0),
        ("答案是两三个", 3, 0.0),
        ("Maybe it is twelve?", 12, 0.0),
        ("Is it twelve?", 12, 0.0),
        ("It is not twelve.", 12, 0.0),
        ("It isn't twelve", 12, 0.0),
        ("Step two", 2, 0.0),
        ("See equation twelve.", 12, 0.0),
        ("Two, three, or twelve.", 12, 0.0),
        ("The square root of nine", 9, 0.0),
        ("twice twelve", 12, 0.0),
        ("half of twelve", 12, 0.0),
        ("the answer is one half of twelve", 12, 0.0),
        ("one two three four five six seven eight nine ten eleven twelve", 12, 0.0),
        ("ten\neleven\ntwelve", 12, 0.0),
        ("- ten\n- eleven\n- twelve", 12, 0.0),
        ("One. Two. Three.", 3, 0.0),
        ("One\n***\nTwo", 2, 0.0),
        ("Big boats. Seven silly sailors. Ten tall towers tip.", 10, 0.0),
        ("six5", 65, 0.0),
        ("six5", 6, 0.0),
        ("She starts with twelve apples and buys thirty more. So she has forty-two apples.", 42, 1.0),
        ("She has 42 apples, and there are seven boxes.", 42, 1.0),
        ("She has 42 apples. Each box has twelve eggs.", 42, 1.0),
        ("She made 42 dollars. A week is seven days.", 42, 1.0),
        ("So the total of the three numbers is twelve.", 12, 1.0),
        ("It is a two-digit number.", 2, 0.0),
        ("A twenty-second delay.", 20, 0.0),
        ("That is the only one.", 1, 0.0),
        ("She is one of a kind.", 1, 0.0),
        ("The count is exactly seven.", 7, 1.0),
        ("The number of groups is two, not three.", 2, 0.0),
        ("I counted seven, then eight, then nine.", 9, 0.0),
        ("x equals minus five", -5, 1.0),
        ("x = minus five", -5, 1.0),
        ("It takes her twenty minutes.", 20, 1.0),
        ("It takes her at least twenty minutes.", 20, 0.0),
        ("It takes her more than twenty minutes.", 20, 0.0),
        ("It takes her twenty minutes or more.", 20, 0.0),
        ("共有一百二十人。", 120, 1.0),
        ("大约有三十多人。", 30, 0.0),
        ("这是第二十个。", 20, 0.0),
        ("千万不要。", 10000000, 0.0),
        ("一共有三个。", 3, 0.0),
        ("星期二十点", 20, 0.0),
        ("The probability is one third.", "1/3", 1.0),
        ("The price is forty-two percent.", "42%", 1.0),
        ("The result is twenty five million.", 25000000, 1.0),
        ("It was the twenty-first.", 21, 0.0),
        ("Suppose it is twelve.", 12, 0.0),
        ("Perhaps it is twelve.", 12, 0.0),
    ],
)
def test_words_count_where_they_state_the_number(response: str, reference: Any, expected: float) -> None:
    assert score(response, reference) == expected


@table(
    ("response", "reference", "expected"),
    [
        ("Adding 12 and 30, we see that the total is forty-two.", 42, 1.0),
        ("The answer is the second.", 2, 0.0),
        ("There are 12 eggs. That leaves no one hungry.", 12, 1.0),
        ("12 < x", 12, 0.0),
        ("\\boxed{12 < x}", 12, 0.0),
        ("Answer: 12 < x", 12, 0.0),
        ("Answer: x > 12", 12, 0.0),
        ("x > 12", 12, 0.0),
        ("\\boxed{x > 12}", 12, 0.0),
        ("\\boxed{x \\ge 12}", 12, 0.0),
        ("\\boxed{12 \\le x}", 12, 0.0),
        (">= 12", 12, 0.0),
        ("Answer: >= 12", 12, 0.0),
        ("=> 12", 12, 1.0),
        ("Answer: more than 12", 12, 0.0),
        ("more than 12", 12, 0.0),
        ("It is more than 12.", 12, 0.0),
        ("大于12", 12, 0.0),
        ("答案是大于12", 12, 0.0),
        ("答案：12以上", 12, 0.0),
        ("不少于12", 12, 0.0),
        ("不超过12", 12, 0.0),
        ("12 or fewer", 12, 0.0),
        ("at most 12", 12, 0.0),
        ("12 > x", 12, 0.0),
        ("x ≥ 12", 12, 0.0),
        ("12 ≤ x", 12, 0.0),
        ("12 <= x", 12, 0.0),
        ("The answer is 12 < x.", 12, 0.0),
        ("So 12 < x.", 12, 0.0),
        ("x < 12", 12, 0.0),
        ("x ≠ 12", 12, 0.0),
        ("Answer: x != 12", 12, 0.0),
        ("!= 12", 12, 0.0),
        ("\\boxed{x \\neq 12}", 12, 0.0),
        ("Answer: 5 < x < 12", 12, 0.0),
        ("\\boxed{x = 12}", 12, 1.0),
        ("x = 12", 12, 1.0),
        ("x ≈ 12", 12, 1.0),
        ("Answer: x = 12 (> 10)", 12, 1.0),
        ("Answer: 12 (> 10)", 12, 1.0),
        ("x ≈ 12 (> 10)", 12, 1.0),
        ("Since 12 > 10, the answer is 12.", 12, 1.0),
        ("The answer is 12, which is greater than 10.", 12, 1.0),
        ("<answer>12</answer>", 12, 1.0),
        ("-> 12", 12, 1.0),
        ("> 12", 12, 1.0),
        ("12 at least", 12, 0.0),
        ("The answer is 3 at least.", 3, 0.0),
        ("<answer>3 at least</answer>", 3, 0.0),
        ("12 at most", 12, 0.0),
        ("12 and above", 12, 0.0),
        ("no more than 12", 12, 0.0),
        ("over 12", 12, 0.0),
        ("under 12", 12, 0.0),
        ("under 12 apples", 12, 0.0),
        ("Answer: up to 12", 12, 0.0),
        ("greater than or equal to 12", 12, 0.0),
        ("超过12", 12, 0.0),
        ("至少12", 12, 0.0),
        ("12以下", 12, 0.0),
        ("12以内", 12, 0.0),
        ("少于12个", 12, 0.0),
        ("高于12", 12, 0.0),
        ("低于12", 12, 0.0),
        ("小于等于12", 12, 0.0),
        ("大于或等于12", 12, 0.0),
        ("x 大于 12", 12, 0.0),
        ("12 大于 x", 12, 0.0),
        ("12小于x", 12, 0.0),
        ("Answer: n >= 12", 12, 0.0),
        ("12+", 12, 0.0),
        ("<12", 12, 0.0),
        ("~12", 12, 1.0),
        ("about 12", 12, 1.0),
        ("Answer: exceeds 12", 12, 0.0),
        ("Answer: 12 is less than x", 12, 0.0),
        ("Answer: 12 apples > 10", 12, 0.0),
        ("It takes 12 minutes or more.", 12, 0.0),
        ("It takes 12 minutes at least.", 12, 0.0),
        ("She is 12 years old and up.", 12, 0.0),
        ("She has 12 apples and more friends.", 12, 1.0),
        ("She has 12 apples at most stalls.", 12, 1.0),
        ("She has 12 apples.", 12, 1.0),
        ("He turned over 12 cards.", 12, 1.0),
        ("The function has a minimum of 12.", 12, 1.0),
        ("<p>So she has 12 <br></p>", 12, 1.0),
        ("So she has 12</s>", 12, 1.0),
        ("She has 12 -> done", 12, 1.0),
    ],
)
def test_a_bound_is_no_value(response: str, reference: Any, expected: float) -> None:
    assert score(response, reference) == expected


FRAMES = [
    "{}",
    "{}.",
    "The answer is {}.",
    "She has {} apples.",
    "So the total is {}",
    "It is not {}.",
    "It is at least {}.",
    "It is more than {}.",
    "{} or more",
    "Maybe it is {}.",
    "Is it {}?",
    "See equation {}.",
    "Step {}",
    "- {}",
    "x > {}",
    "{} < x",
    "The square root of {}",
    "{} times as many",
    "x + {}",
    "\\boxed{{{}}}",
    "<answer>{} cm</answer>",
    "That is wrong: it is {}. I do not know.",
    "{}-digit",
    "{}th",
    "{} of them",
    "the {} of them",
]


@table("frame", FRAMES)
@table(("words", "figures"), [("forty-two", 42), ("two", 2), ("one", 1), ("seven hundred", 700), ("minus five", -5)])
def test_words_earn_nothing_where_figures_would_not(frame: str, words: str, figures: int) -> None:
    by_words, by_figures = score(frame.format(words), figures), score(frame.format(figures), figures)
    assert by_words is not None
    assert by_figures is not None
    assert by_words <= by_figures


@table(
    "response",
    [
        "Hence it is 4, not 5.",
        "It's 4 (not 5).",
        "I got 4 and not 5.",
        "It is $4$, not $5$.",
        "So she has 4 apples, not 5.",
        "It is 4 instead of the 5.",
        "It is 4 rather than the expected 5.",
        "Not 5 but 4.",
    ],
)
def test_a_number_is_told_from_what_it_is_not(response: str) -> None:
    assert (score(response, 4), score(response, 5)) == (1.0, 0.0)


@table("response", ["4 or 5, not 6", "between 4 and 5, not 6", "at least 4, not 6", "not 4, not 6"])
def test_what_a_number_is_not_settles_nothing_else(response: str) -> None:
    assert [score(response, reference) for reference in (4, 5, 6)] == [0.0] * 3


def test_words_are_told_as_they_stand() -> None:
    response = "There are three rows. So she has negative forty-two apples."
    verdict = judge(response, NumericParams(reference=-42), explain=True)
    start, end = verdict.detail["span"]
    assert verdict.extracted == response[start:end] == "negative forty-two"
    assert verdict.detail["channel"] == "last_number"
    assert json.loads(json.dumps(verdict.detail))["compared"] == {"answer": "-42", "reference": "-42"}
    assert judge("Step two", NumericParams(reference=2)).extracted is None


def test_a_reference_that_is_a_bound_is_the_callers_to_mend() -> None:
    assert judge("12", NumericParams(reference="x >= 12")).reason == "unparseable_reference"
    assert judge("12", NumericParams(reference="大于12")).reason == "unparseable_reference"
    assert judge("9:30", NumericParams(reference="九点三十分")).reason == "unparseable_reference"
    assert judge("1", NumericParams(reference="一个整数")).reason == "unparseable_reference"


def test_distances_are_measured_from_words_too() -> None:
    assert judge_distance("So it is about ninety.", RegressionParams(reference=100)).score == 0.9
    assert judge_distance("The answer is ninety.", RegressionParams(reference=100)).score == 0.9
    assert judge_distance("x >= 90", RegressionParams(reference=100)).score == 0.0


@table("unit", ["kΩ", "one ", "one hundred ", "twelve. ", "x is twelve ", "一百", "十二。", "minus ", "12 < x "])
def test_a_flood_of_words_is_over_soon(unit: str) -> None:
    assert score(unit * 50_000, 5) == 0.0


@table(
    "response",
    [
        "The answer is 12. Actually, 13.",
        "<answer>12</answer> Oh wait, 13.",
        "<answer>12</answer> No, this can't be right.",
    ],
)
def test_an_answer_that_is_corrected_is_none(response: str) -> None:
    assert judge(response, NumericParams(reference=12)).reason == "conflicting_answers"


@table(
    "response",
    [
        "The answer is 12. Sorry, it should be 13.",
        "\\boxed{12}. But wait, it's 13.",
        "The answer is 12. Wait, no, 13.",
        "The answer is 12... no wait, 13.",
        "The answer is 12. No, 13.",
        "The answer is 12. Correction: 13.",
        "The answer is 12 apples. I mean 13 apples.",
        "The answer is 12. Scratch that, 13.",
        "$\\boxed{12}$. Hmm, no, $13$.",
        "#### 12\nNo, 13.",
        "The answer is 12. Just kidding, 13!",
        "Answer: 12\n\nHmm, that doesn't look right. 13.",
    ],
)
def test_an_answer_that_is_replaced_gives_way(response: str) -> None:
    assert [score(response, reference) for reference in (12, 13)] == [0.0, 1.0]


@table(
    "response",
    [
        "The answer is 12. Actually, this was tested in 2013.",
        "The answer is 12. Wait 13 minutes.",
        "The answer is 12. Actually, we can check: 13 - 1 = 12.",
        "The answer is 12. No, there are no 13 others.",
        "The answer is 12. Actually, that's 13 - 1.",
        "The answer is 12. I mean 13 minus 1.",
        "The answer is 12. Wait, let me check. Yes, 12.",
        "The answer is 12 apples. Actually, 12.",
        "\\boxed{12}. No, Tom does not count.",
        "\\boxed{12}. Actually, I am done.",
        "The answer is 12. Hmm, is that right? Yes.",
        "The answer is 12. No, it is not a trick.",
        "<answer>12</answer>",
    ],
)
def test_what_follows_an_answer_need_not_correct_it(response: str) -> None:
    assert judge(response, NumericParams(reference=12)).score == 1.0


@table(
    ("response", "reference", "expected"),
    [
        ("The result is 12 [1].", 12, 1),
        ("The answer is 12 [1][2].", 12, 1),
        ("12 [1]", 12, 1),
        ("12 million people [3]", 12_000_000, 1),
        ("It had 12 people.[1]", 12, 1),
        ("The distance is 12 km [2, 3].", 12, 1),
        ("It has 12 floors [^1].", 12, 1),
        ("It has 12 floors 【4†L3-L5】.", 12, 1),
        ("The result is 12 [1].", 1, 0),
        ("12 million people [3]", 3, 0),
        ("The output is [12].", 12, 1),
        ("So 5 gives [12].", 12, 1),
        ("Of the 3 numbers the largest is [12].", 12, 1),
        ("[12]", 12, 1),
        ("12 [1] + 3", 12, 0),
    ],
)
def test_a_mark_of_a_source_is_no_amount(response: str, reference: int, expected: int) -> None:
    assert score(response, reference) == expected


@table(
    ("response", "reference", "expected"),
    [
        ("12 ≡ 4 (mod 8)", 4, 1),
        (r"So $12 \equiv 4 \pmod 8$.", 4, 1),
        (r"Hence $7^{100} \equiv 4 \pmod{9}$", 4, 1),
        ("7^2 ≡ 49 ≡ 1 (mod 12)", 1, 1),
        ("x ≡ 5 mod 7", 5, 1),
        ("Answer: 5 (mod 7)", 5, 1),
        (r"\boxed{5 \pmod 7}", 5, 1),
        (r"\boxed{x \equiv 5 \pmod{7}}", 5, 1),
        ("12 ≡ 4 (mod 8)", 8, 0),
        ("12 ≡ 4 (mod 8)", 12, 0),
        (r"\boxed{5 \pmod 7}", 7, 0),
        ("17 mod 5", 17, 0),
        ("17 (mod 5) + 3", 17, 0),
        ("This works since 3^6 ≡ 1 (mod 7).", 1, 0),
        ("It is not true that 12 ≡ 4 (mod 8)", 4, 0),
        ("x ≡ 5 or 6 (mod 7)", 6, 0),
        ("Answer: 5, 6 (mod 7)", 6, 0),
    ],
)
def test_the_residue_of_a_congruence_is_its_value(response: str, reference: int, expected: int) -> None:
    assert score(response, reference) == expected


@table(
    "response",
    [
        "Total cost = $12.00",
        "Cost = 12",
        "So the total cost equals 12.",
        "The tank = 12 liters",
        "He logs = 12",
        "sum = 12",
    ],
)
def test_a_word_that_begins_as_a_function_does_is_none(response: str) -> None:
    assert score(response, 12) == 1.0


@table("response", ["cos x = 12", "log(x) = 12", "sin(2x) = 12", "tanx = 12", "sqrt x = 12"])
def test_the_value_of_a_function_is_not_what_is_asked(response: str) -> None:
    assert score(response, 12) == 0.0


@table("response", ["12 of the 30 students passed.", "So 12 of his 30 apples are red.", "12 of all 30"])
def test_what_a_part_is_of_is_not_the_part(response: str) -> None:
    assert score(response, 30) == 0.0


@table("response", ["He ate all 30.", "So he sold all of the 30 apples.", "She reads the 30 pages."])
def test_all_of_something_is_an_amount(response: str) -> None:
    assert score(response, 30) == 1.0


@table(
    "response",
    [
        "The volume is 30 cm^3.",
        "The volume is 30 cm^{3}, as required.",
        "$30\\text{ cm}^3$",
        "The density is 30 kg/m^3.",
        "It is 30 kg m^2 s^{-2}.",
        "It is 3 \\cdot 10^{1}\\ \\text{mol}^{-1}.",
        "The rate is 30 s^-1.",
        "Area: 30 m2",
    ],
)
def test_a_unit_may_have_a_power(response: str) -> None:
    assert score(response, 30) == 1.0
    assert [score(response, exponent) for exponent in (1, 2, 3, -1, -2)] == [0.0] * 5


@table("response", ["30 x^2", "30x^3", "10 m^2 + 30 m^2", "20 m^2 or 30 m^2", "not 30 m^2", "m^2"])
def test_what_has_a_power_is_no_unit_or_not_stated(response: str) -> None:
    assert score(response, 30) == 0.0


@table(
    ("response", "value"),
    [
        ("So the total is 10^6.", 10**6),
        ("So the total is $10^{6}$.", 10**6),
        ("There are 10⁶ of them.", 10**6),
        ("10^6", 10**6),
        ("\\boxed{10^{-3}}", "0.001"),
        ("So it is 10^-3.", "0.001"),
        ("So it is 10⁻³.", "0.001"),
    ],
)
def test_powers_of_ten_are_numbers(response: str, value: Any) -> None:
    assert score(response, value) == 1.0
    assert [score(response, other) for other in (10, 6, 3, -3)] == [0.0] * 4
    assert score(str(value), "10^6" if value == 10**6 else "10^{-3}") == 1.0


@table("response", ["10^6!", "110^6", "10^6^2", "3 + 10^6", "10^6 + 1", "f(10^6)", "10^5 or 10^6", "at least 10^6"])
def test_powers_of_ten_inside_of_something_else_are_none(response: str) -> None:
    assert score(response, 10**6) == 0.0


@table("response", ["x^-3", "x⁻³", "The value is 2^-3", "s^-1"])
def test_a_negative_exponent_is_no_answer(response: str) -> None:
    assert [score(response, other) for other in (3, -3, 1, -1, 2)] == [0.0] * 5


@table(
    ("response", "value", "digits"),
    [
        ("Es sind 3,2 Millionen Menschen.", 3_200_000, 3.2),
        ("3,2 millions d'habitants", 3_200_000, 3.2),
        ("3,2 millones", 3_200_000, 3.2),
        ("3,2 млн", 3_200_000, 3.2),
        ("2 Milliarden", 2 * 10**9, 2),
        ("5 тысяч", 5000, 5),
        ("정답은 35만원입니다.", 350_000, 35),
        ("3만 5천원", 35_000, 5),
        ("3억 5천만 원", 350_000_000, 3),
        ("12만 3456", 123_456, 12),
        ("약 5백만 명", 5_000_000, 5),
        ("$2.5T", 2_500_000_000_000, 2.5),
        ("US$3.2m", 3_200_000, 3.2),
        ("1.000.000", 1_000_000, 0),
        ("Es sind 1.000.000 Menschen.", 1_000_000, 1000),
    ],
)
def test_scales_and_thousands_of_other_languages(response: str, value: int, digits: float) -> None:
    assert score(response, value, decimal_comma="," in response or ".000" in response) == 1.0
    assert score(response, digits, decimal_comma="," in response or ".000" in response) == 0.0


def test_a_minus_sign_may_have_a_space_behind_it() -> None:
    assert [score("− 3", value) for value in (-3, 3)] == [1.0, 0.0]
    assert [score("x = − 3", value) for value in (-3, 3)] == [1.0, 0.0]
    assert [score("5 − 3", value) for value in (-3, 3, 2)] == [0.0, 0.0, 0.0]


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize("unit", ["kΩ", "30 m^2 ", "m^2 s^{-2}", "10^", "1.000.", "10⁻", "kg ", "35만 "])
def test_other_signs_take_time_in_proportion(unit: str) -> None:
    params = NumericParams(reference=30, decimal_comma=True)
    assert stays_in_proportion(lambda text: judge(text, params), unit, 200_000)


@table(
    "response",
    [
        "Die Antwort ist nicht 20.",
        "mindestens 20",
        "mehr als 20",
        "au moins 20",
        "plus de 20 personnes",
        "La respuesta no es 20.",
        "al menos 20",
        "más de 20",
        "pelo menos 20",
        "não é 20",
        "almeno 20",
        "не менее 20",
        "20개 이상",
        "20 미만",
        "20歳未満",
        "20ではありません",
        "20이 아닙니다",
        "答えは20ではない",
        "정답: 20 이상",
        "\\boxed{mindestens 20}",
        "entre 10 y 20",
        "10 o 20",
        "10か20",
        "10から20",
        "10에서 20 사이",
        "20分之20",
    ],
)
def test_bounds_denials_and_choices_in_other_languages_state_no_number(response: str) -> None:
    assert score(response, 20) == 0.0
    assert judge_distance(response, RegressionParams(reference=20)).score == 0.0


@table(
    "response",
    [
        "Es sind insgesamt 20.",
        "Sie sind nicht 25, sondern 20.",
        "Le total est de 20.",
        "El total es de 20 manzanas.",
        "La respuesta es 20.",
        "no 25 sino 20",
        "Ответ: 20",
        "25 ではなく 20 です。",
        "25가 아니라 20입니다.",
        "총 20명이 있습니다.",
        "20になります",
    ],
)
def test_a_number_stated_in_another_language(response: str) -> None:
    assert score(response, 20) == 1.0


@table("unit", ["kΩ", "\\Omega", "\\ \\Omega", "\\,k\\Omega", " \\mu m", "\\,\\mathrm{m\\,s^{-1}}", "\\,\\mu\\text{m}"])
def test_units_in_latex(unit: str) -> None:
    assert score(f"\\boxed{{20{unit}}}", 20) == 1.0
    assert score(f"\\boxed{{21{unit}}}", 20) == 0.0


def test_about_a_number() -> None:
    assert score("\\boxed{\\sim 20}", 20) == 1.0


@table(
    "response",
    [
        "Answer: 12 (confidence 0.95)",
        "Answer: 12 (confidence: 95%)",
        "Answer: 12 (95% confident)",
        "Answer: 12, confidence: 95%",
        "Answer: 12 | Confidence: 95%",
        "The answer is 12 (confidence: high).",
        "The answer is 12 with 95% confidence.",
        "So she has 12 apples (confidence: 90%).",
        "**12** — Confidence: 95%",
        "\\boxed{12} (confidence: 0.9)",
    ],
)
def test_how_sure_an_answer_is_is_no_part_of_it(response: str) -> None:
    assert score(response, 12) == 1.0
    assert score(response, 95) == score(response, "95%") == score(response, "0.9") == 0.0


def test_a_confidence_may_be_the_answer() -> None:
    assert score("The confidence level is 95%.", 95) == 1.0
    assert score("Answer: 95% confidence", 95) == 1.0


@table(
    "response",
    [
        "If x were 12, it'd work",
        "If x = 12, the equation would hold.",
        "But if it were 12, both would match.",
        "If it were 12 we'd be done, but it is not.",
        "Were x equal to 12, both sides would match.",
        "Had it been 12, it would have worked.",
        "Suppose the answer is 12.",
        "If the answer is 12, fine.",
        "We get x > 3.\nLet's try x = 12.",
        "Now try 12",
        "We can rule out 12.",
        "This rules out x = 12.",
    ],
)
def test_a_number_that_is_supposed_is_not_stated(response: str) -> None:
    assert score(response, 12) == 0.0


@table(
    "response",
    [
        "If she sells 4 for $3 she makes 12 dollars.",
        "If 3x = 36 then x = 12.",
        "If you add 5 and 7 you get 12.",
        "She would have 12 if she bought two more.",
        "She has 12 apples. If she had 12, she would have enough.",
        "With 12 apples, she would have enough.",
        "Had she sold 3 more, she would have 12.",
        "Let's try 3*4 = 12",
        "Try 11: no. Try 12: yes, so x = 12.",
        "There were 12, as we would expect.",
    ],
)
def test_what_follows_from_a_supposition_is_stated(response: str) -> None:
    assert score(response, 12) == 1.0


@table(
    "response",
    [
        "Between 10 and 15, 12 is right.",
        "The number that may be needed is 12.",
        "The number of coins which could be missing is 12.",
    ],
)
def test_a_range_or_a_clause_that_says_which_number_is_meant_leaves_it_stated(response: str) -> None:
    assert score(response, 12) == 1.0


@table(
    "response",
    [
        "It is between 10 and 12.",
        "So the fraction is 12 over 13.",
        "So the fraction is 11 over 12.",
        "La solución es 11 ó 12.",
        "The value that might be right is 12.",
        "I think that might mean it is 12.",
    ],
)
def test_the_end_of_a_range_and_a_doubt_are_not_stated(response: str) -> None:
    assert score(response, 12) == 0.0
