"""What several votes come to."""

from typing import Any

import pytest

from tests.tables import table
from verifiers.judge.errors import JudgeFailure
from verifiers.judge.parsing import Reading
from verifiers.judge.voting import decide, is_decided

_WORTH = {"A": 1.0, "B": 0.0, "C": 0.0}


def _said(values: Any) -> list[Reading]:
    return [Reading(value, _WORTH.get(value, 0.0) if isinstance(value, str) else 0.0) for value in values]


@table(
    ("said", "votes", "decided"),
    [
        ("", 1, False),
        ("A", 1, True),
        ("A", 3, False),
        ("AA", 3, True),
        ("AB", 3, False),
        ("AAB", 5, False),
        ("AABA", 5, True),
        ("AABC", 5, False),
        ("ABA", 3, True),
    ],
)
def test_votes_that_cannot_change_the_label_are_not_needed(said: str, votes: int, decided: bool) -> None:
    assert is_decided(_said(said), votes, labels=True) is decided


def test_numbers_are_decided_by_all_votes() -> None:
    assert not is_decided([Reading(5, 0.4), Reading(5, 0.4)], 3, labels=False)
    assert is_decided([Reading(5, 0.4)] * 3, 3, labels=False)


def test_the_majority_decides() -> None:
    decision = decide(_said("ABA"), labels=True)
    assert (decision.value, decision.score, decision.agreement) == ("A", 1.0, 2 / 3)


def test_divided_votes_are_no_verdict_unless_the_lower_one_is_wanted() -> None:
    with pytest.raises(JudgeFailure) as failure:
        decide(_said("AB"), labels=True)
    assert failure.value.kind == "tie"
    assert decide(_said("AB"), labels=True, tie="lower").value == "B"


def test_a_unanimous_accept_needs_every_vote() -> None:
    assert decide(_said("AAB"), labels=True, unanimous=True).value == "B"
    assert decide(_said("AAA"), labels=True, unanimous=True).score == 1.0


def test_numbers_are_averaged_and_criteria_take_their_median() -> None:
    decision = decide([Reading(4, 1 / 3), Reading(10, 1.0), Reading(7, 2 / 3)], labels=False)
    assert decision.value == pytest.approx(7.0)
    assert decision.score == pytest.approx(2 / 3)
    decision = decide([Reading({"a": 1.0, "b": 0.0}, 0.5), Reading({"a": 0.0, "b": 0.0}, 0.0)] * 2, labels=False)
    assert decision.value == {"a": 0.5, "b": 0.0}
    assert decision.agreement == 0.5


def test_the_first_wrong_step_is_a_label_though_it_is_a_number() -> None:
    assert decide([Reading(2, 0.0), Reading(3, 0.0), Reading(2, 0.0)], labels=True).value == "2"
