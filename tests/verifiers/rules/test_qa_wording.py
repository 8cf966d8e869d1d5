"""Short answers that are said in a sentence, and what says something else."""

from typing import Any

import pytest

from tests.growth import stays_in_proportion
from tests.tables import table
from verifiers.rules.qa import Metric, QaParams, judge


def score(response: str, reference: Any, metric: Metric = "exact") -> float | None:
    return judge(response, QaParams(reference=reference, metric=metric, in_sentences=True)).score


@table(
    "response",
    [
        "Paris, not Lyon.",
        "Paris (not Lyon).",
        "Paris — not Lyon.",
        "Paris rather than Lyon.",
        "Not Lyon, Paris.",
        "Not Lyon but Paris.",
        "No, it's Paris.",
        "No. Paris.",
        "Yes — Paris.",
        "Sure! Paris.",
        "Of course! It is Paris.",
        "Well, Paris.",
        "Hmm... Paris.",
        "Great question! It's Paris.",
        "Here you go: Paris",
        "Therefore, Paris.",
        "So Paris.",
        "In short: Paris.",
        "TL;DR: Paris",
        "Result: Paris",
        "City: Paris",
        "I think Paris.",
        "I'd say Paris.",
        "My guess is Paris.",
        "I'm fairly confident it's Paris.",
        "Paris, I believe.",
        "Paris, of course.",
        "Paris it is.",
        "Paris is the answer.",
        "It has to be Paris.",
        "It seems to be Paris.",
        "The city is Paris.",
        "In Paris.",
        "He was born in Paris.",
        "According to the passage, Paris.",
        "Based on the search results, it is Paris.",
        "The answer you're looking for is Paris.",
        "Paris, because it is the seat of government.",
        "Paris, as it hosts the government.",
        "Paris since it's the seat of government.",
        "Paris, the capital of France.",
        "Paris, which is on the Seine.",
        "Paris; it is the seat of government.",
        "Paris (according to Doc 1).",
        "Paris. It is the seat of government.",
        "Paris\n\nExplanation: The city has been the capital since 987.",
        "**Paris**\n\nParis has been the capital of France since the 10th century.",
        "🎯 Paris",
        "→ Paris",
        "1. Paris",
        "<answer>It's Paris.</answer>",
        "<answer>Paris, not Lyon</answer>",
        "C'est Paris.",
        "Non, c'est Paris.",
        "Paris, pas Lyon.",
        "Es ist Paris.",
        "Paris, weil dort die Regierung sitzt.",
        "Cevap: Paris",
    ],
)
def test_what_an_answer_is_said_with_is_no_part_of_it(response: str) -> None:
    for metric in ("exact", "f1", "contains"):
        assert score(response, "Paris", metric) == 1.0
    assert score(response, "Lyon") == 0.0
    assert score(response, "Lyon", "contains") == 0.0


@table(
    ("response", "reference"),
    [
        ("不，是巴黎。", "巴黎"),
        ("巴黎，不是里昂。", "巴黎"),
        ("巴黎，因为它是法国的首都。", "巴黎"),
        ("我认为是巴黎。", "巴黎"),
        ("答：巴黎。", "巴黎"),
        ("いいえ、東京です。", "東京"),
        ("大阪ではなく東京です。", "東京"),
        ("東京だと思います。", "東京"),
        ("正解は「東京」です。", "東京"),
        ("부산이 아니라 서울입니다.", "서울"),
        ("아니요, 서울입니다.", "서울"),
        ("답: 서울", "서울"),
        ("باريس، وليس ليون.", "باريس"),
        ("Ich glaube, Paris.", "Paris"),
        ("Paris ist richtig.", "Paris"),
        ("Creo que es París.", "París"),
        ("لا، إنها باريس.", "باريس"),
        ("No, es París.", "París"),
        ("París, no Lyon.", "París"),
        ("Париж, а не Лион.", "Париж"),
        ("Нет, это Париж.", "Париж"),
        ("È Parigi, non Lione.", "Parigi"),
    ],
)
def test_answers_are_said_in_other_languages(response: str, reference: str) -> None:
    for metric in ("exact", "f1", "contains"):
        assert score(response, reference, metric) == 1.0


@table(
    ("response", "reference"),
    [
        ("Dr. Martin Luther King Jr.", "Martin Luther King Jr."),
        ("Written by Jane Austen.", "Jane Austen"),
        ("Jane Austen (1775–1817)", "Jane Austen"),
        ("*Emma* by Jane Austen", "Emma"),
        ("J. K. Rowling.", "J.K. Rowling"),
        ("Answer: J.K. Rowling", "J. K. Rowling"),
        ("The answer is St. Louis.", "St. Louis"),
        ("NASA (National Aeronautics and Space Administration)", "NASA"),
        ("In 1969.", "1969"),
        ("It happened in 1969.", "1969"),
        ("20 July 1969", "July 20, 1969"),
        ("July 20th, 1969", "July 20, 1969"),
        ("approximately 300 km", "300 km"),
    ],
)
def test_names_days_and_quantities(response: str, reference: str) -> None:
    assert score(response, reference) == 1.0


@table("text", ["It's a Wonderful Life", "No Country for Old Men", "In Bruges", "About a Boy", "Yes Minister"])
def test_what_a_reference_begins_with_stays(text: str) -> None:
    assert score(text, text) == 1.0
    assert score(f"The answer is {text}.", text) == 1.0
    assert score(text.split(maxsplit=1)[1], text) == 0.0


@table(
    "response",
    [
        "Paris, Lyon",
        "Paris (Lyon)",
        "Paris; Lyon",
        "Paris. Lyon.",
        "Paris\n\nLyon",
        "Paris, Lyon, not Nice.",
        "Paris (the wrong answer).",
        "Paris, a common mistake.",
        "Paris, in contrast to the right answer Lyon.",
        "Paris, of course not",
        "It's Paris?",
        "The rest is Paris.",
        "The capital of Germany is Paris.",
        "He was rejected in Paris",
        "It used to be Paris.",
        "Es ist nicht Paris.",
        "Paris, the Louvre",
        "Paris, the capital, and Lyon",
        "Paris. It was Lyon.",
        "Paris, since it was Lyon",
        "Paris, but Lyon is better",
        "Paris. It could be Lyon.",
        "Paris. She is not the answer.",
        "Paris. That is wrong, however.",
        "Paris (incorrect)",
        "Paris, not sure",
        "Paris, not really",
        "Paris (not confident)",
        "Paris, not the answer",
        "Not Paris, Lyon",
        "Not Paris but Lyon",
        "I think not Paris",
        "It is hardly Paris",
        "I used to think Paris",
        "Lyon, not Paris.",
        "Lyon, because Paris is too big",
        "❌ Paris",
        "Wrong: Paris",
    ],
)
def test_what_offers_another_answer_or_takes_it_back_is_not_left_aside(response: str) -> None:
    assert score(response, "Paris") == 0.0


@table(
    ("response", "value"),
    [
        ("Yes, both are magazines.", "yes"),
        ("**Yes.** Both are magazines.", "yes"),
        ("<answer>Yes, they are.</answer>", "yes"),
        ("Sure! Yes.", "yes"),
        ("No, not both.", "no"),
        ("Answer: No, Lyon is not the capital.", "no"),
        ("No – only one of them is French.", "no"),
    ],
)
def test_yes_and_no_may_have_reasons(response: str, value: str) -> None:
    for metric in ("exact", "f1", "contains"):
        assert score(response, value, metric) == 1.0
        assert score(response, "no" if value == "yes" else "yes", metric) == 0.0


@table(
    ("response", "value"),
    [
        ("Yes, no", "yes"),
        ("No, yes.", "no"),
        ("Yes. Actually, no.", "yes"),
        ("Yes and no", "yes"),
        ("Definitely, no", "yes"),
        ("Of course not.", "yes"),
        ("No idea.", "no"),
        ("No one knows.", "no"),
        ("No doubt about it: yes.", "no"),
    ],
)
def test_neither_both_nor_no_idea_is_yes_or_no(response: str, value: str) -> None:
    for metric in ("exact", "f1", "contains"):
        assert score(response, value, metric) == 0.0


@table("response", ["Yes, but only one", "Yes, partly", "Yes, if both are"])
def test_half_a_yes_is_none(response: str) -> None:
    assert score(response, "yes") == score(response, "yes", "f1") == 0.0


@table(
    ("response", "reference"),
    [
        ("Paris/Lyon", "Paris"),
        ("Paris, alternatively Lyon.", "Paris"),
        ("Paris (possibly Lyon)", "Paris"),
        ("Paris, but it could also be Lyon.", "Paris"),
        ("Anywhere but Paris.", "Paris"),
        ("Paris can't be right.", "Paris"),
        ("Paris... no wait, Lyon.", "Paris"),
        ("Paris. I take that back; it's Lyon.", "Paris"),
        ("Paris. Sorry, I meant Lyon.", "Paris"),
        ("Paris. That is wrong, however.", "Paris"),
        ("Some people say Paris, but it's Lyon.", "Paris"),
        ("My teacher thinks it's Paris, but I disagree.", "Paris"),
        ("The user suggests Paris.", "Paris"),
        ("If it were Paris, it would be French.", "Paris"),
        ("Suppose it is Paris.", "Paris"),
        ("I don't know if it's Paris.", "Paris"),
        ("Paris is unlikely.", "Paris"),
        ("Paris is a common misconception; it's Lyon.", "Paris"),
        ('{"wrong_answer": "Paris"}', "Paris"),
        ("Wrong: Paris", "Paris"),
        ("❌ Paris ✅ Lyon", "Paris"),
        ("Paris ❌", "Paris"),
        ("Paris (rejected)", "Paris"),
        ("Paris has been eliminated.", "Paris"),
        ("Eliminate Paris.", "Paris"),
        ("At first I thought Paris, now Lyon.", "Paris"),
        ("可能是巴黎，也可能是里昂。", "巴黎"),
        ("巴黎，不，里昂。", "巴黎"),
        ("有人说是巴黎。", "巴黎"),
        ("除了巴黎", "巴黎"),
        ("東京以外です。", "東京"),
        ("서울 또는 부산", "서울"),
        ("서울 말고 부산", "서울"),
        ("باريس أو ليون", "باريس"),
        ("ليون وليس باريس", "باريس"),
        ("París o Lyon", "París"),
        ("Париж или Лион", "Париж"),
        ("Лион, а не Париж.", "Париж"),
        ("until 1969", "1969"),
        ("at least 3", "3"),
    ],
)
def test_contains_pays_no_choice_no_denial_and_nobody_elses_opinion(response: str, reference: str) -> None:
    assert score(response, reference, "contains") == 0.0


@table(
    ("response", "reference"),
    [
        ("❌ Lyon ✅ Paris", "Paris"),
        ("Wrong: Lyon. Right: Paris", "Paris"),
        ("Some people say Lyon, but it's Paris.", "Paris"),
        ("According to Wikipedia, Paris topped the table.", "Paris"),
        ("It is believed that he died in Paris.", "Paris"),
        ("It could only be Paris.", "Paris"),
        ("A dot over the letters i and j.", "dot"),
        ("If it were Lyon, it would be on the Rhône; it is Paris.", "Paris"),
        ("Lyon has been eliminated, so it is Paris.", "Paris"),
        ("There is no doubt: Paris.", "Paris"),
        ("大阪以外なら東京です。", "東京"),
        ("確か東京です。", "東京"),
        ("그러나 서울", "서울"),
        ("Yes, there is no difference.", "yes"),
        ("No way, the two differ: no.", "no"),
    ],
)
def test_contains_hears_what_is_said_of_others(response: str, reference: str) -> None:
    assert score(response, reference, "contains") == 1.0


@table(
    ("metric", "response", "expected"),
    [
        ("exact", "I think Paris", 0.0),
        ("exact", "The capital is Paris", 0.0),
        ("f1", "The capital is Paris", 0.5),
        ("f1", "It is Paris", 0.5),
    ],
)
def test_by_default_every_word_counts_as_in_the_published_formulas(
    metric: Metric, response: str, expected: float
) -> None:
    assert judge(response, QaParams(reference="Paris", metric=metric)).score == expected
    assert judge(response, QaParams(reference="Paris", metric=metric, in_sentences=True)).score == 1.0


def test_by_default_days_and_initials_are_compared_as_written() -> None:
    for response, reference in (("20 July 1969", "July 20, 1969"), ("J. K. Rowling", "J.K. Rowling")):
        assert judge(response, QaParams(reference=reference)).score == 0.0
        assert judge(response, QaParams(reference=reference, in_sentences=True)).score == 1.0


def test_a_reason_lowers_no_score() -> None:
    said = "It is a fact that the cat sat, because it was tired."
    assert score(said, said, "f1") == 1.0
    assert score(said, "It is a fact that the cat sat", "f1") == 1.0


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize("metric", ["exact", "f1", "contains"])
@pytest.mark.parametrize(
    "unit", ["not Paris, ", "so it is ", "; it is Paris", "Paris. It is ", ", which ", "❌ ", "(the "]
)
def test_a_flood_of_words_is_over_soon(metric: Metric, unit: str) -> None:
    params = QaParams(reference="x Paris", metric=metric, in_sentences=True)
    assert stays_in_proportion(lambda text: judge(text, params), unit, 50_000)


@table(
    "behind",
    [
        "Actually, Lyon.",
        "Sorry, Lyon.",
        "Then again, Lyon.",
        "Oops, Lyon.",
        "My mistake, Lyon.",
        "Not really.",
        "I take it back.",
    ],
)
@table("metric", ["exact", "contains"])
def test_what_the_response_turns_from_is_no_answer(metric: str, behind: str) -> None:
    params = QaParams.model_validate({"reference": "Paris", "metric": metric, "in_sentences": True})
    for answer in ("The answer is Paris.", "Paris.", "It's Paris."):
        assert judge(answer, params).score == 1.0
        assert judge(f"{answer} {behind}", params).score == 0.0


def test_what_actually_adds_something_takes_nothing_back() -> None:
    params = QaParams.model_validate({"reference": "Paris", "metric": "contains"})
    assert judge("Paris. Actually, it is also the largest city.", params).score == 1.0
    assert judge("It's Paris. Sorry for the delay.", params).score == 1.0


@table(("reference", "score"), [("Paris", 1.0), ("Lyon", 0.0)])
@table("response", ["It is not Lyon but Paris.", "So it is not Lyon but Paris, I think."])
def test_what_is_put_in_the_place_of_what_it_is_not_is_the_answer(response: str, reference: str, score: float) -> None:
    params = QaParams.model_validate({"reference": reference, "metric": "exact", "in_sentences": True})
    assert judge(response, params).score == score
