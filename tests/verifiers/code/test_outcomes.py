"""From outcomes to a score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.base import Exit
from verifiers.code.outcomes import Outcome, Policy, Status, is_settled, passed, reason_of, score_of, status_of

YES, NO, SLOW = passed("y"), Outcome("n", Status.WRONG_ANSWER), Outcome("s", Status.TIME_LIMIT)
LEFT = Outcome("l", Status.NOT_RUN)


@pytest.mark.parametrize(
    ("outcomes", "policy", "score", "reason"),
    [
        ([YES, YES], "all", 1.0, "correct"),
        ([YES, SLOW, NO], "all", 0.0, "time_limit"),
        ([YES, LEFT], "all", 0.0, "not_run"),
        ([YES, NO], "ratio", 0.5, "partly_correct"),
        ([NO, LEFT], "ratio", 0.0, "wrong_answer"),
        ([YES, YES, NO, NO], "threshold", 0.5, "partly_correct"),
        ([YES, NO, NO, NO], "threshold", 0.0, "wrong_answer"),
        ([passed("p", points=0.4)], "all", 0.0, "wrong_answer"),
        ([passed("p", points=0.4), YES], "ratio", 0.7, "partly_correct"),
        ([], "all", 0.0, "wrong_answer"),
        ([], "ratio", 0.0, "wrong_answer"),
    ],
)
def test_each_policy_scores_as_it_says(outcomes: list[Outcome], policy: Policy, score: float, reason: str) -> None:
    assert score_of(outcomes, policy, 0.5) == pytest.approx(score)
    assert reason_of(outcomes, score) == reason


@given(
    st.lists(st.sampled_from([YES, NO, SLOW, None]), min_size=1, max_size=6),
    st.sampled_from(["all", "ratio", "threshold", "first_n"]),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)
def test_a_settled_score_stays_whatever_the_rest_does(
    outcomes: list[Outcome | None], policy: Policy, threshold: float
) -> None:
    if is_settled(outcomes, policy, threshold, fail_fast=False):
        best = [outcome or YES for outcome in outcomes]
        worst = [outcome or NO for outcome in outcomes]
        assert score_of(best, policy, threshold) == score_of(worst, policy, threshold) == 0.0


def test_one_failure_settles_where_that_is_wanted() -> None:
    assert is_settled([YES, NO, None], "ratio", 1.0, fail_fast=True)
    assert not is_settled([YES, YES, None], "all", 1.0, fail_fast=True)


def test_every_end_of_a_program_has_a_status() -> None:
    assert {status_of(ended) for ended in Exit} == {
        Status.RUNTIME_ERROR,
        Status.TIME_LIMIT,
        Status.MEMORY_LIMIT,
        Status.OUTPUT_LIMIT,
    }


def test_details_stay_small() -> None:
    detail = Outcome("x", Status.WRONG_ANSWER, difference="d" * 10_000).detail()
    assert len(str(detail)) < 400
