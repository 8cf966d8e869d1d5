"""Tags of HTML that change a text's looks only are not part of an answer, by whichever verifier."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import stays_in_proportion
from tests.tables import table
from verifiers.base import Verdict
from verifiers.commitment import ExtractionParams, without_html, without_struck
from verifiers.math.first_look import FirstLook, Terms
from verifiers.math.options import DEFAULT
from verifiers.rules import exact_match, multiple_choice, numeric, qa

CITIES = ["London", "Berlin", "Paris", "Madrid"]
WAYS = [
    "<b>{}</b>",
    "<p>{}</p>",
    "The answer is <b>{}</b>.",
    "The answer is <span class='x'>{}</span>",
    "<p>The answer is <strong>{}</strong>.</p>",
    "<b>The answer is {}</b>",
    "<B>Answer:</B> {}",
    "<strong>Answer</strong>: {}",
    "Answer:<br>{}",
    "We look.<br/>The answer is {}<br>",
    "<answer><b>{}</b></answer>",
    "<answer><i><b>{}</b></i></answer>",
    "#### <em>{}</em>",
    "\\boxed{{<b>{}</b>}}",
    "<div><h3>Answer: <u>{}</u></h3></div>",
]


def by_qa(response: str, reference: str) -> Verdict:
    return qa.judge(response, qa.QaParams(reference=reference))


def by_numeric(response: str, reference: str) -> Verdict:
    return numeric.judge(response, numeric.NumericParams(reference=reference))


def by_choice(response: str, reference: str) -> Verdict:
    params = {"reference": reference, "choices": CITIES}
    return multiple_choice.judge(response, multiple_choice.MultipleChoiceParams.model_validate_json(json.dumps(params)))


@table("way", WAYS)
@table(
    ("judge", "answer", "another"),
    [(by_qa, "Paris", "Rome"), (by_numeric, "12", "13"), (by_choice, "C", "B"), (by_choice, "Paris", "B")],
)
def test_an_answer_may_be_emphasised(judge: Callable[[str, str], Verdict], answer: str, another: str, way: str) -> None:
    assert judge(way.format(answer), answer).score == 1.0
    assert judge(way.format(answer), another).score == 0.0


@table("way", WAYS)
@table("answer", ["12", "x^2+1", r"\frac{1}{2}"])
def test_mathematics_may_be_emphasised(way: str, answer: str) -> None:
    terms = Terms([answer], DEFAULT, ExtractionParams().model_dump_json())
    found = FirstLook(terms).find(way.format(answer), explain=False)
    assert found.answer is not None
    assert found.answer.strip() == answer


@table(
    ("response", "reference"),
    [
        ("<b>12</b> or <b>13</b>", "13"),
        ("The answer is <b>12</b> or <b>13</b>.", "13"),
        ("The answer is not <b>12</b>.", "12"),
        ("The answer is <s>12</s>.", "12"),
        ("So it is <s>12</s>", "12"),
        ("So it is <del>12</del>", "12"),
        ("10<sup>12</sup>", "12"),
        ("x<sub>12</sub>", "12"),
        ("a<12", "12"),
        ("a <b><12", "12"),
        ("<think><b>12</b>", "12"),
    ],
)
def test_tags_that_say_something_and_what_is_no_answer_without_tags(response: str, reference: str) -> None:
    assert by_numeric(response, reference).score == 0.0


@table("response", ["The total is <result>12</result>", "<final_answer>12</final_answer>", "<n>12</n>"])
def test_a_number_may_be_all_of_an_element(response: str) -> None:
    assert by_numeric(response, "12").score == 1.0
    assert by_numeric(response, "2").score == 0.0


def test_a_tag_may_be_the_answer() -> None:
    assert by_qa("The answer is <b>", "<b>").score == 1.0
    assert by_qa("The answer is <b></b>", "<b></b>").score == 1.0
    assert by_qa("The answer is <em>", "<b>").score == 0.0
    assert by_qa("<answer><b>bold</b></answer>", "<b>bold</b>").score == 1.0
    params = exact_match.ExactMatchParams(reference="<b>bold</b>")
    assert exact_match.judge("<b>bold</b>", params).score == 1.0


PIECES = (
    "<b>",
    "</b>",
    "<B >",
    "</ b>",
    "<p id='1'>",
    "</p>",
    "<br/>",
    "<i>",
    "</i>",
    "<s>",
    "x",
    " ",
    "<",
    ">",
    "\n",
    "é",
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_only_tags_become_space_and_all_else_stays_in_its_place(text: str) -> None:
    shown = without_html(text)
    assert len(shown) == len(text)
    assert all(now == was or now in " \n" for now, was in zip(shown, text, strict=True))
    assert [shown.count(kept) for kept in ("x", "é", "<s>")] == [text.count(kept) for kept in ("x", "é", "<s>")]
    assert without_html(shown) == shown


@pytest.mark.growth
@pytest.mark.parametrize(
    "unit", ["<b>", "<b>x</b>", "<b> </b>", "</b>", "<br>", "<b", "<b ", "<b x", "<", "<br " * 3, "</b "]
)
def test_a_flood_takes_as_long_as_it_is(unit: str) -> None:
    assert stays_in_proportion(without_html, unit, 400_000)
    assert stays_in_proportion(lambda text: without_html(text + "x" + "</b>" * (len(text) // 3)), unit, 200_000)


@table(
    "response",
    [
        "~~12~~ 13",
        "Answer: ~~12~~ 13",
        "The answer is ~~12~~ **13**.",
        "The answer is <del>12</del> 13",
        "The answer is <s>12</s> 13.",
        "<answer><s>12</s> 13</answer>",
        "\\boxed{13}\n~~\\boxed{12}~~",
        "Answer: 13\n~~Answer: 12~~",
        "The answer is <strike>12</strike> 13",
    ],
)
def test_what_is_struck_out_is_taken_back(response: str) -> None:
    for judge in (by_numeric, by_qa):
        assert judge(response, "13").score == 1.0
        assert judge(response, "12").score == 0.0


@table("response", ["~~12~~", "Answer: ~~12~~", "<del>12</del>", "<answer><s>12</s></answer>"])
def test_what_is_all_struck_out_is_no_answer(response: str) -> None:
    assert by_numeric(response, "12").score == by_qa(response, "12").score == 0.0
    params = multiple_choice.MultipleChoiceParams(reference="C")
    assert multiple_choice.judge(response.replace("12", "C"), params).score == 0.0


@table(
    "text",
    [
        "<s>12</s>",
        "x\n<s>The answer is 12.</s>",
        "Okay~~ the answer is 12~~",
        "好的~~答案是12~~",
        "~~~\n12\n~~~",
        "$x=1,~~y=2,~~z=3$",
        "$x=1 ~~y=2 ~~z=3$",
        "$x=1, ~~y=2,~~\\text{so}$",
        "~~ 12 ~~",
        r"\colorbox{black}{\color{white}\boxed{12}}",
        '<b style="background-color:white">12</b>',
        r"\phantom{0}12",
    ],
)
def test_not_all_that_looks_like_it_is_struck_out(text: str) -> None:
    assert without_struck(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[s]12[/s]",
        r"\textcolor{white}{\boxed{12}}",
        r"{\color{white}\boxed{12}}",
        r"[//]: # (\boxed{12})",
        '<span style="color:white">12</span>',
        '<p style="visibility:hidden">12</p>',
    ],
)
def test_what_nobody_sees_is_blank(text: str) -> None:
    assert not any(map(str.isalnum, without_struck(text).replace("color", "").replace("white", "")))


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize(
    "unit",
    [
        "[s]",
        r"\color{white}",
        "\n% ",
        r"\phantom{",
        "~~",
        " ~~a",
        "~~ ",
        "<del>",
        "<del>a</del",
        "a <s>",
        " ~~" + "a" * 399,
    ],
)
def test_looking_for_what_is_struck_out_takes_as_long_as_a_text_is(unit: str) -> None:
    assert stays_in_proportion(without_struck, unit, 200_000)


@table("before", ["", "<think>~~1~~ or 2</think>", "<think>2</think>\n"])
@table("struck", ["~~12~~", "<del>12</del>", "so <s>12</s>"])
def test_what_is_struck_out_is_blank_also_behind_thinking(before: str, struck: str) -> None:
    text = without_struck(f"{before}{struck} 13")
    assert text.startswith(before)
    assert text[len(before) :].split() == (["so", "13"] if struck.startswith("so") else ["13"])
    assert len(text) == len(f"{before}{struck} 13")
