"""What a chat model says behind its answer is not a part of it, and hides none."""

import json

import pytest

from tests.growth import stays_in_proportion
from tests.tables import table
from verifiers.commitment import MATH_CHANNELS, ExtractionParams, extract, without_courtesy
from verifiers.rules.multiple_choice import MultipleChoiceParams
from verifiers.rules.multiple_choice import judge as judge_choice
from verifiers.rules.numeric import NumericParams
from verifiers.rules.numeric import judge as judge_number

COURTESIES = [
    "Hope this helps!",
    "I hope this helps.",
    "I really hope that clarifies things 😊",
    "Let me know if you have any questions!",
    "Please let me know if you'd like a longer explanation.",
    "Feel free to ask.",
    "Don't hesitate to reach out if anything is unclear!",
    "If you have any other questions, just ask.",
    "Would you like me to go through another example?",
    "Is there anything else I can help you with?",
    "Good luck with your exam!",
    "Happy studying!",
    "Have a great day!",
    "Thank you for the question.",
    "Hope this helps! Let me know if you'd like more detail. Good luck!",
    "希望对你有帮助！",
    "如有其他问题，请随时告诉我。",
    "Lass es mich wissen, wenn du noch etwas brauchst.",
    "N'hésitez pas à me demander.",
    "¡Buena suerte!",
    "Espero que isso ajude!",
    "Fammi sapere.",
    "Надеюсь, это поможет!",
    "お役に立てれば幸いです。",
    "도움이 되었길 바랍니다.",
]
WAYS = ["{} {}", "{}\n\n{}", "We look at all of it.\n\n{}\n\n{}"]


@table("courtesy", COURTESIES)
@table("way", WAYS)
def test_an_answer_stands_before_a_courtesy(way: str, courtesy: str) -> None:
    params = MultipleChoiceParams.model_validate_json(
        json.dumps({"reference": "D", "choices": ["London", "Berlin", "Paris", "Madrid"]})
    )
    assert judge_choice(way.format("D fits.", courtesy), params).score == 1.0
    assert judge_choice(way.format("B fits.", courtesy), params).score == 0.0
    assert judge_number(way.format("She has twelve apples.", courtesy), NumericParams(reference=12)).score == 1.0
    assert judge_number(way.format("She has 12 apples.", courtesy), NumericParams(reference=12)).score == 1.0
    found = extract(way.format("Therefore $x^2+1$.", courtesy), ExtractionParams(), MATH_CHANNELS)
    assert found.answer == "x^2+1"


@table(
    "line",
    [
        "Confidence: 95",
        "Confidence: 95%",
        "**Confidence:** 0.9",
        "My confidence is 80%.",
        "Confidence level: 9/10",
        "confidence = high",
        "Konfidenz: 95%",
        "Confiance : 95 %",
        "Уверенность: 95%",
        "置信度：95%",
        "確信度: 95%",
    ],
)
def test_an_answer_stands_above_how_sure_its_model_is(line: str) -> None:
    for answer in ("12", "**12**", "She has 12 apples.", "She has twelve apples."):
        assert judge_number(f"{answer}\n\n{line}", NumericParams(reference=12)).score == 1.0
    for number in ("95", 95, 0.9, 80, 9):
        assert judge_number(f"She has 12 apples.\n{line}", NumericParams(reference=number)).score == 0.0
    found = extract(f"Therefore $x^2+1$.\n{line}", ExtractionParams(), MATH_CHANNELS)
    assert found.answer == "x^2+1"


def test_how_sure_one_is_may_be_what_was_asked() -> None:
    assert judge_number("Confidence: 95%", NumericParams(reference="95%")).score == 1.0
    assert judge_number("So the confidence is 95%.", NumericParams(reference="95%")).score == 1.0
    assert judge_number("We used z = 1.96, so:\nThe confidence level: 95", NumericParams(reference=95)).score == 1.0


@table(
    "sentence",
    [
        "Let me know if B is better.",
        "I hope this helps, but I am not sure.",
        "Let me know if this is wrong.",
        "If you need 13, take that.",
        "Thank you, I meant 13.",
        "I hope it is 12.",
        "Let me know if $x = 2$.",
        "希望对，但不确定。",
        "The total is twelve.",
    ],
)
def test_a_sentence_that_says_more_is_no_courtesy(sentence: str) -> None:
    text = f"So it is what it is. {sentence}"
    assert without_courtesy(text, 0, len(text)) == len(text)


def test_what_is_nothing_but_courtesy_stays() -> None:
    for courtesy in COURTESIES[:4]:
        assert without_courtesy(courtesy, 0, len(courtesy)) == len(courtesy)
    text = "Paris. Hope this helps!"
    assert without_courtesy(text, 7, len(text)) == len(text)


def test_an_earlier_sentence_is_never_taken_for_one() -> None:
    text = "Hope this helps! The answer might be found in Paris."
    assert without_courtesy(text, 0, len(text)) == len(text)


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize("unit", ["Thanks! ", "Hope this helps ", "let me know ", " ", ". ", "!", "thank you, "])
def test_a_flood_is_looked_at_where_it_ends_only(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert without_courtesy(text, 0, len(text)) > len(text) - 1_000
    assert stays_in_proportion(lambda text: without_courtesy(text, 0, len(text)), unit, 400_000)
