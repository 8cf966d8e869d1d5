"""Signs that make another value or another name count; accents of names do not."""

from typing import Any

from tests.tables import table
from tests.verifiers.found import Found

OTHERS = [
    ("-5", "5"), ("1.5", "15"), ("0.5", "05"), ("10:30", "1030"), ("1-2", "12"), ("1/2", "12"), ("2^5", "25"), ("5%", "5"), (">5", "5"), ("<5", ">5"),
    ("(1)(2)", "12"), ("C++", "C"), ("C#", "C++"), ("A+", "A"), ("A-", "A+"), ("Na+", "Na"), ("Fe3+", "Fe3-"), ("Ke$ha", "Keha"),
    (".5", "5"), ("-.5", "-5"), ("**-5**", "5"), ("*<5*", "5"),
]  # fmt: skip
SAME = [
    ("1,000", "1000"), ("+5", "5"), ("H₂O", "H2O"), ("2, 3, 5", "2,3,5"), ("\"Paris\".", "Paris"), ("the U.S.", "US"), ("well-known", "wellknown"),
    (".5", "0.5"), ("**-5**", "-5"), ("_<5_", "<5"), ("p. 5", "p 5"), ("Sao Paulo", "São Paulo"), ("Lodz", "Łódź"), ("ISTANBUL", "İstanbul"), ("Québec City", "Quebec City"),
]  # fmt: skip


@table("answer, reference", OTHERS)
def test_a_sign_makes_another_value(answer: str, reference: str, found: Found) -> None:
    for one, other in ((answer, reference), (reference, answer)):
        assert found.judge("qa", one, reference=other).score == 0
        assert found.judge("qa", one, reference=one).score == 1


@table("answer, reference", [("-5", "5"), ("1.5", "15"), ("C++", "C")])
def test_the_published_formula_drops_all_signs(answer: str, reference: str, found: Found) -> None:
    assert found.judge("qa", answer, reference=reference, normalise="squad").score == 1


@table("answer, reference", SAME)
def test_other_signs_and_the_accents_of_names_change_nothing(answer: str, reference: str, found: Found) -> None:
    assert found.judge("qa", answer, reference=reference).score == 1


@table("answer, reference, params", [("Sao Paulo", "São Paulo", {"accents": "count"}), ("ano", "año", {})])
def test_accents_may_count(answer: str, reference: str, params: dict[str, Any], found: Found) -> None:
    assert found.judge("qa", answer, reference=reference, **params).score == 0


DENIED = [
    "Mark Twain didn't write it.", "Mark Twain is not the author.", "Mark Twain never wrote it; Dickens did.", "Mark Twain hat es nicht geschrieben.",
    "Mark Twain n'a pas écrit ce livre.", "<answer>Mark Twain ou Dickens</answer>", "<answer>Mark Twain o Dickens</answer>",
]  # fmt: skip


@table("text", DENIED)
def test_a_denied_subject_and_one_of_two_are_not_stated(text: str, found: Found) -> None:
    assert found.judge("qa", text, reference="Mark Twain", metric="contains").score == 0


STATED = [
    ("It was signed on November 12, 2010.", "12 November 2010", 1),
    ("It was signed on November 13, 2010.", "12 November 2010", 0),
    ("Kirsten Vangsness plays Penelope.", "Kirsten Simone Vangsness", 1),
    ("The first Davis Cup was in 1900.", "The Ryder Cup", 0),
    ("It forms sedimentary rocks.", "Sedimentary rock", 1),
]


@table("text, reference, score", STATED)
def test_contains_reads_dates_names_and_plurals(text: str, reference: str, score: float, found: Found) -> None:
    assert found.judge("qa", text, reference=reference, metric="contains").score == score


TRUTHS = [
    ("Vero.", True),
    ("Wahr", True),
    ("हाँ", True),
    ("Falso", False),
    ("Hayır", False),
    ("It is not true that it converges.", False),
]


@table("text, value", TRUTHS)
def test_yes_and_no_in_other_languages(text: str, value: bool, found: Found) -> None:
    assert [found.judge("qa", text, reference=each, metric="bool").score for each in (value, not value)] == [1, 0]


@table(
    "text, reference, score",
    [("May 2023", "2023-05", 1), ("2023年", "2023", 1), ("2022-2023", "2023", 0), ("June 2023", "2023-05", 0)],
)
def test_a_date_may_be_a_month_or_a_year(text: str, reference: str, score: float, found: Found) -> None:
    assert found.judge("qa", text, reference=reference, metric="date").score == score


@table("text", ["[1,2,3]", "[[30,40,1,2]]", '[{"label": "cat"}]', "cat"])
def test_an_unread_claim_is_not_the_empty_list(text: str, found: Found) -> None:
    assert found.judge("detection", f"<answer>{text}</answer>", reference=[]).score == 0
