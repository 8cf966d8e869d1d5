"""What the glance rules out, a reading of all words rules out as well."""

from collections.abc import Callable

import pytest

from verifiers.commitment.cues import Kind, shortest
from verifiers.commitment.glance import may_commit, may_deny, may_limit
from verifiers.commitment.stance import ANNOUNCES, DENIES, Sentence, Stance


def sentence(text: str) -> Sentence:
    return Sentence(text, 0, len(text), "")


def said(phrase: tuple[str, ...]) -> str:
    return " ".join(phrase).replace(" n't", "n't").replace(" 's", "'s")


@pytest.mark.parametrize("shown", [str, str.upper, lambda text: text.replace("'", "\u2019")])
def test_no_phrase_that_denies_is_overlooked(shown: Callable[[str], str]) -> None:
    told = [sentence(f"So {shown(said(phrase))} 12 km.") for phrase in shortest(DENIES)]
    denying = [each for each in told if not each.kinds.isdisjoint(DENIES)]
    assert len(denying) > 1000
    assert [each.text for each in denying if not may_deny(each)] == []


@pytest.mark.parametrize("shown", [str, str.upper])
@pytest.mark.parametrize("beside", [" 12 km", " *$12$*", "\xa0\\(12\\)", " \\text{12}", "12"])
def test_no_phrase_that_limits_is_overlooked(shown: Callable[[str], str], beside: str) -> None:
    told = [sentence(f"So {shown(said(phrase))}{beside}") for phrase in shortest(frozenset([Kind.BOUND]))]
    places = [(each, each.text.index("12")) for each in told]
    limits = [(each, at) for each, at in places if each.bounds((at, at + 2))]
    assert len(limits) > 40
    assert [each.text for each, at in limits if not may_limit(each, at)] == []


@pytest.mark.parametrize("form", ["{} 12", "12 {}", "{} it is 12", "is it 15, {} 12", "{} the right one is 12"])
def test_no_phrase_that_commits_is_overlooked(form: str) -> None:
    kinds = ANNOUNCES | {Kind.ONLY, Kind.EXCEPT, Kind.YES, Kind.CALLED, Kind.FITS, Kind.TRUE, Kind.CHOOSE, Kind.SO}
    told = [sentence(form.replace("{}", said(phrase))) for phrase in shortest(kinds)]
    place = [each.text.index("12") for each in told]
    committed = [(each, at) for each, at in zip(told, place, strict=True) if each.stance((at, at + 2)) in COMMITTED]
    assert len(committed) > 200
    assert [each.text for each, at in committed if not may_commit(each, [at], None)] == []


COMMITTED = frozenset([Stance.ANNOUNCED, Stance.CONCLUDED, Stance.CALLED, Stance.TRUE, Stance.SINGLED])


@pytest.mark.parametrize("text", ["Thus the area is 36 cm², or ≈ 40.", "So f(x) isn 36.", "Now add both: 36"])
def test_a_plain_sentence_is_not_read(text: str) -> None:
    assert not may_deny(sentence(text))
    assert not may_limit(sentence(text), text.index("36"))


@pytest.mark.parametrize("text", ["But it isn't 36", "It isn\u2019t 36", "[ ] 36", "36 est faux", "答案不是 36"])
def test_a_sentence_that_may_deny_is_read(text: str) -> None:
    assert may_deny(sentence(text))


def test_a_letter_is_no_tick_without_its_brackets() -> None:
    assert may_commit(sentence("[x] B"), [4], None)
    assert not may_commit(sentence("Where x meets B"), [14], None)
