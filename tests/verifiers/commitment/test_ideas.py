"""An idea does the same to an answer in every language: what pays nothing in English pays nothing in the others."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tables import table
from tests.verifiers.commitment.test_parity import CHOICES
from tests.verifiers.found import Found
from verifiers.commitment.cues import languages

IDEAS = yaml.safe_load((Path(__file__).parents[2] / "data" / "commitment" / "ideas.yaml").read_text("utf-8"))
WITHOUT_MOOD = {"id", "ja", "ko", "th", "vi", "zh"}
"""Languages in which nothing tells an unreal condition from a real one."""
SAID = [
    "doubt",
    "bound",
    "range",
    "retraction",
    "attribution",
    "condition",
    "falsehood",
    "no_wrong",
    "was_wrong",
    "actually",
]
SAID += ["least_likely", "expected_but"]
"""What a sentence says of an answer."""
OF_NUMBERS = {"bound", "range", "actually", "expected_but"}
IN_MARKS = ["minus", "root", "half", "mixed", "other", "perhaps"]
"""What the words beside a number in a mark make of it."""
MARKS = ["<answer>{}</answer>", "Answer: {}", r"\boxed{\text{{}}}"]


def rows(*ideas: str) -> list[tuple[str, str, str]]:
    return [(language, idea, text) for idea in ideas for language, text in IDEAS[idea].items()]


def test_every_language_has_every_idea() -> None:
    for idea, texts in IDEAS.items():
        missing = WITHOUT_MOOD if idea == "condition" else set()
        assert set(texts) == set(languages()) - missing, idea


@table("language, idea, text", rows(*SAID))
def test_no_idea_pays_a_number(language: str, idea: str, text: str, found: Found) -> None:
    shown = text.replace("{}", "12")
    for verifier, reference in (("math", "12"), ("numeric", 12)):
        assert found.judge(verifier, shown, reference=reference).score == 0.0, verifier
    assert found.judge("qa", shown, reference="12", in_sentences=True).score == 0.0


@table("language, idea, text", rows("option_wrong", *(idea for idea in SAID if idea not in OF_NUMBERS)))
def test_no_idea_pays_an_option(language: str, idea: str, text: str, found: Found) -> None:
    shown = text.replace("{}", "C")
    assert found.judge("multiple_choice", shown, reference="C", choices=CHOICES).score == 0.0


@table("language, idea, text", rows(*IN_MARKS))
def test_no_word_beside_a_number_in_a_mark_is_left_unread(language: str, idea: str, text: str, found: Found) -> None:
    for mark in MARKS:
        shown = mark.replace("{}", text.replace("{}", "42"))
        assert found.judge("numeric", shown, reference=42).score == 0.0, mark


@table("language, idea, text", rows("minus"))
def test_a_word_for_a_minus_sign_belongs_to_its_number(language: str, idea: str, text: str, found: Found) -> None:
    said = languages()[language]["says"].replace("{}", text.replace("{}", "42"))
    for shown in (said, text.replace("{}", "42")):
        for verifier in ("math", "numeric"):
            assert found.judge(verifier, shown, reference="42").score == 0.0, (verifier, shown)
            assert found.judge(verifier, shown, reference="-42").score == 1.0, (verifier, shown)


@table("language, idea, text", rows("half", "mixed"))
def test_a_fraction_in_words_belongs_to_its_number(language: str, idea: str, text: str, found: Found) -> None:
    said = languages()[language]["says"].replace("{}", text.replace("{}", "42"))
    for verifier in ("math", "numeric"):
        assert found.judge(verifier, said, reference="42").score == 0.0, (verifier, said)
        if idea == "mixed":
            assert found.judge(verifier, said, reference="42.5").score == 1.0, (verifier, said)


@table("language, idea, text", rows("absence"))
def test_what_does_not_exist_is_stated_in_every_language(language: str, idea: str, text: str, found: Found) -> None:
    assert found.judge("math", text, reference=r"\text{DNE}").score == 1.0
    assert found.judge("math", text, reference="0").score == 0.0


@table(
    "text, score",
    [
        ("La température est de moins 42 degrés.", 1.0),
        ("Температура минус 42 градуса.", 1.0),
        ("気温はマイナス42度です。", 1.0),
        ("气温是零下42度。", 1.0),
        ("The temperature is minus 42 degrees.", 1.0),
        ("On obtient 8 moins 42.", 0.0),
        ("On obtient x moins 42.", 0.0),
        ("Hay al menos 42 cajas.", 0.0),
        ("Hay más o menos 42 cajas.", 0.0),
    ],
)
def test_a_last_number_has_the_word_for_its_minus_sign(text: str, score: float, found: Found) -> None:
    for verifier in ("math", "numeric"):
        assert found.judge(verifier, text, reference="-42").score == score, verifier


@table("language, idea, text", rows("perhaps"))
def test_a_mark_that_doubts_pays_no_option(language: str, idea: str, text: str, found: Found) -> None:
    shown = MARKS[0].replace("{}", text.replace("{}", "C"))
    assert found.judge("multiple_choice", shown, reference="C", choices=CHOICES).score == 0.0


@table("language, idea, text", rows("incorrect_behind"))
def test_an_answer_that_is_called_wrong_behind_its_mark_is_none(
    language: str, idea: str, text: str, found: Found
) -> None:
    for verifier, answer in (("math", "42"), ("numeric", "42"), ("qa", "Rome")):
        shown = f"<answer>{answer}</answer>\n{text}"
        assert found.judge(verifier, shown, reference=answer).score == 0.0, verifier
    shown = f"<answer>C</answer>\n{text}"
    assert found.judge("multiple_choice", shown, reference="C", choices=CHOICES).score == 0.0


MARKED = [("math", r"\boxed{42}. {}"), ("numeric", "<answer>42</answer>\n{}"), ("numeric", "#### 42\n{}")]


TAKEN_BACK = ["not_right_behind", "mistake_behind", "ignore_behind", "other_mind_behind"]
TAKEN_BACK += ["slip_behind", "contradiction_behind"]


@table("language, idea, text", rows(*TAKEN_BACK))
def test_an_answer_that_its_speaker_takes_back_is_none(language: str, idea: str, text: str, found: Found) -> None:
    for verifier, shown, answer in _behind(language, text):
        assert found.judge(verifier, shown, reference=answer, **_choices(verifier)).score == 0.0, shown


@table("language, idea, text", rows("no_mistake_behind", "right_behind"))
def test_an_answer_that_its_speaker_calls_right_stands(language: str, idea: str, text: str, found: Found) -> None:
    for verifier, shown, answer in _behind(language, text):
        assert found.judge(verifier, shown, reference=answer, **_choices(verifier)).score == 1.0, shown


def _behind(language: str, text: str) -> list[tuple[str, str, str]]:
    """A verdict behind a statement and behind marks: verifier, response and answer."""
    says = languages()[language]["says"]
    space = " " if says[-1] in ".。।" else "\n"
    said = [(verifier, says.replace("{}", answer) + space + text, answer) for verifier, answer in SAID_BY]
    return said + [(verifier, form.replace("{}", text), "42") for verifier, form in MARKED]


def _choices(verifier: str) -> dict[str, Any]:
    return {"choices": CHOICES} if verifier == "multiple_choice" else {}


SAID_BY = [("math", "42"), ("numeric", "42"), ("qa", "42"), ("multiple_choice", "C")]


@table("language, idea, text", rows("teacher", "textbook", "attribution"))
def test_the_opinion_of_another_is_no_answer(language: str, idea: str, text: str, found: Found) -> None:
    for verifier, answer in (*SAID_BY, ("math", r"\boxed{42}")):
        if (language, answer) in NO_MARK:
            continue
        shown, reference = text.replace("{}", answer), "42" if answer.startswith("\\") else answer
        assert found.judge(verifier, shown, reference=reference, **_choices(verifier)).score == 0.0, (verifier, shown)


NO_MARK = {("he", r"\boxed{42}")}
"""Hebrew joins "that" to the noun of the answer."""


@table(
    "text, answer, score",
    [
        ("No mistake was made. The answer is 42.", "42", 1.0),
        ("I was wrong at first; the answer is 42.", "42", 1.0),
        ("The answer is 42. I was wrong at first.", "42", 1.0),
        ("Wait, no. The answer is 42. I was wrong.", "42", 1.0),
        ("The answer is 42. That's not right-angled.", "42", 1.0),
        ("The answer is 42. Hmm, that's not right. Let me check. No, it is right.", "42", 1.0),
        ("The answer is 42, but this fails the check.", "42", 0.0),
        ("The answer is 42. We add 6 and 36. Please disregard my answer.", "42", 0.0),
        ("I think the answer is 42. Actually no, 6*8=48. So 48.", "48", 1.0),
        ("I think the answer is 42. Actually no, 6*8=48. So 48.", "42", 0.0),
        ("The answer is 7.\n\nP.S. If you meant 3 boxes, the answer would be 9.", "7", 1.0),
        ("According to the formula, the answer is 42.", "42", 1.0),
        ("The answer is 42, according to my teacher.", "42", 0.0),
        ("According to the answer key, the answer is 42, but I get 40.", "42", 0.0),
        ("Maybe \\boxed{42}.", "42", 0.0),
        ("Suppose x = 2. Then \\boxed{42}.", "42", 1.0),
        ("The students said they have \\boxed{42} books.", "42", 1.0),
        ("Maybe\n#### 42", "42", 0.0),
        ("In 3 years he is 21 years old\n#### 21", "21", 1.0),
        ("x=42（舍去）", "42", 0.0),
        ("x=2或x=-3（舍去）", "2", 1.0),
        ("x = 2 or x = -3 (rejected)", "2", 1.0),
        ("x = 2 or x = -3 (rejected)", "-3", 0.0),
        ("x = 42 ist keine Lösung.", "42", 0.0),
        ("Tentative answer: 42", "42", 0.0),
    ],
)
def test_the_last_word_of_a_speaker_counts(text: str, answer: str, score: float, found: Found) -> None:
    assert found.judge("math", text, reference=answer).score == score


@table(
    "text, answer, score",
    [
        ("C. Actually, no.", "C", 0.0),
        ("C is correct. I've changed my mind.", "C", 0.0),
        ("The answer is A. Wrong, Wrong", "A", 1.0),
        ("The answer is C. A is wrong.", "C", 1.0),
        ("Nobody believes the answer is C.", "C", 0.0),
        ("I'm 10% sure the answer is C.", "C", 0.0),
        ("I'm 90% sure the answer is C.", "C", 1.0),
        ("The least likely option is C.", "C", 0.0),
        ("My friend got \\boxed{C}.", "C", 0.0),
    ],
)
def test_the_last_word_on_an_option_counts(text: str, answer: str, score: float, found: Found) -> None:
    assert found.judge("multiple_choice", text, reference=answer).score == score


@table("language, idea, text", rows("exactly", "not_but"))
def test_plain_numbers_pay(language: str, idea: str, text: str, found: Found) -> None:
    shown = text.replace("{}", "42") if idea == "not_but" else MARKS[0].replace("{}", text.replace("{}", "42"))
    assert found.judge("numeric", shown, reference=42).score == 1.0


@table("language, idea, text", rows("before", "after"))
def test_a_time_before_or_after_a_year_is_not_the_year(language: str, idea: str, text: str, found: Found) -> None:
    shown = text.replace("{}", "1912")
    assert found.judge("qa", shown, reference="1912", metric="contains").score == 0.0


@pytest.mark.parametrize("language", ["en", "id", "zh"])
def test_a_real_condition_pays(language: str, found: Found) -> None:
    text = {
        "en": "If x is 3, the answer is 12.",
        "id": "Jika x adalah 3, jawabannya adalah 12.",
        "zh": "如果x是3，答案是12。",
    }
    assert found.judge("numeric", text[language], reference=12).score == 1.0
