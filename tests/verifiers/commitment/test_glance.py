"""The quick look at a sentence never misses what its cues hold."""

import pytest

from verifiers.commitment.byname import denies_by_name
from verifiers.commitment.cues import Kind, cues, shortest, words
from verifiers.commitment.glance import may_hold, tokens
from verifiers.commitment.stance import UNMADE, Sentence, Stance, sentences


@pytest.mark.parametrize("kind", Kind)
def test_no_phrase_of_a_kind_is_overlooked(kind: Kind) -> None:
    for phrase in map(" ".join, shortest(frozenset([kind]))):
        text = f"(and {phrase.upper()}, 5"
        if kind in {cue.kind for cue in cues(words(text))}:
            assert may_hold(tokens(text, 0, len(text)), {kind}), text


@pytest.mark.parametrize(
    "text",
    [
        "My friend says the answer is",
        "Allegedly, it is",
        "According to Tom, it is",
        "Bob's answer is",
        "As others say,",
        "我的老师说答案是",
        "王芳的答案是",
        "Laut meinem Lehrer ist die Lösung",
        "Jürgen sagt, die Lösung ist",
    ],
)
def test_no_opinion_is_overlooked(text: str) -> None:
    assert Sentence(text, 0, len(text), "").may_tell_opinion


@pytest.mark.parametrize(
    "text",
    [
        "All but C are wrong.",
        "The false statement is C.",
        "C fits. [x]",
        "C with London. Yes",
        "It is C.",
        "B is left => C",
        "Not B, but C.",
        "Only C is in France.",
        "I pick C.",
        "Die Antwort ist C.",
        "答案是C。",
    ],
)
def test_no_choice_is_overlooked(text: str) -> None:
    sentence, at = next(sentences(text, 0, len(text))), text.index("C")
    assert sentence.stance((at, at + 1)) not in UNMADE | {Stance.STATED}
    assert sentence.may_choose()


def test_most_sentences_are_ruled_out() -> None:
    sentence = Sentence("So the number of bags that are left is 5", 0, 40, ".")
    assert not sentence.may_hold(frozenset([Kind.NOT, Kind.MAYBE, Kind.IF]))
    assert not sentence.may_tell_opinion


@pytest.mark.parametrize(
    "text",
    [
        "There are 12 bags in room C of the house.",
        "Im Zimmer C stehen 12 Körbe.",
        "房间C里有12个袋子。",
        "В комнате C 12 сумок.",
    ],
)
def test_a_sentence_that_only_names_a_value_chooses_none(text: str) -> None:
    assert not Sentence(text, 0, len(text) - 1, ".").may_choose()


@pytest.mark.parametrize(
    "text", ["We reject x = 42", "42 seems too small", "42 ist falsch", "42 no es correcto", "42是错的"]
)
def test_no_verdict_against_a_value_is_overlooked(text: str) -> None:
    sentence, at = Sentence(text, 0, len(text), ""), text.index("42")
    assert denies_by_name(sentence, (at, at + 2)) or sentence.stance((at, at + 2)) is Stance.DENIED
    assert sentence.may_reject()
    assert not Sentence("So it is 42", 0, 11, "").may_reject()
