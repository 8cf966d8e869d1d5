"""Efficiency: the formula, its floor against noise, and what never pays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.code_quality.efficiency import FLOOR_S, STEP, Measured, efficiency, slowest, total

TIMES = st.floats(0, 100)


def against(reference_s: float | None, *cpu_s: float, limit_s: float = 2.0) -> Measured:
    return Measured(cpu_s, limit_s, reference_s)


@pytest.mark.parametrize(
    ("slower", "score"), [(0.1, 1.0), (1.0, 1.0), (2.0, 0.65), (4.0, 0.35), (8.0, 0.0), (100.0, 0.0)]
)
def test_each_doubling_of_the_references_time_costs_a_third(slower: float, score: float) -> None:
    assert efficiency([against(0.1, 0.1 * slower)]) == pytest.approx(score)


@pytest.mark.parametrize(("cpu_s", "score"), [(0.0, 1.0), (0.5, 0.75), (1.0, 0.5), (2.0, 0.0), (3.0, 0.0)])
def test_without_a_reference_the_limit_is_the_measure(cpu_s: float, score: float) -> None:
    assert efficiency([against(None, cpu_s)]) == pytest.approx(score)


def test_the_fastest_run_counts() -> None:
    assert efficiency([against(0.1, 0.9, 0.1, 0.5)]) == 1.0
    assert efficiency(slowest([against(0.1, 0.9, 0.1, 0.5)])) == 0.0


def test_runs_too_short_to_measure_are_as_fast_as_any() -> None:
    assert efficiency([against(0.0001, 0.009)]) == 1.0
    assert not against(0.0001, 0.0001, FLOOR_S).is_noisy


def test_runs_far_apart_are_noisy() -> None:
    assert against(None, 0.1, 0.13).is_noisy
    assert not against(None, 0.1, 0.11).is_noisy


def test_nothing_passed_is_not_fast() -> None:
    assert efficiency([]) == 0.0


def test_the_mean_is_over_the_tests() -> None:
    assert efficiency([against(0.1, 0.1), against(0.1, 0.8)]) == 0.5


@given(st.lists(st.builds(against, st.none() | TIMES, TIMES, TIMES, limit_s=st.floats(0.1, 100)), max_size=5))
def test_it_is_a_multiple_of_the_step_between_nought_and_one(tests: list[Measured]) -> None:
    score = efficiency(tests)
    assert 0.0 <= score <= 1.0
    assert score == pytest.approx(round(score / STEP) * STEP)


@given(TIMES, TIMES, TIMES)
def test_slower_is_never_better(reference_s: float, one_s: float, other_s: float) -> None:
    fast, slow = sorted((one_s, other_s))
    assert efficiency([against(reference_s, fast)]) >= efficiency([against(reference_s, slow)])
    assert efficiency([against(None, fast)]) >= efficiency([against(None, slow)])


def test_what_has_no_score_has_no_weight() -> None:
    assert total(1.0, [(0.8, 1.0), (0.15, 1.0), (0.05, None)]) == 1.0
    assert total(1.0, [(0.8, 1.0), (0.15, 0.0), (0.05, None)]) == pytest.approx(0.8 / 0.95, abs=1e-6)
    assert total(0.5, [(0.8, 1.0), (0.15, 0.5), (0.05, 1.0)]) == pytest.approx(0.4625)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_style_and_speed_never_pay_for_wrong_code(correctness: float, fast: float, tidy: float) -> None:
    assert total(correctness, [(0.8, 1.0), (0.15, fast), (0.05, tidy)]) <= round(correctness, 6)
    assert total(0.0, [(0.8, 1.0), (0.15, fast), (0.05, tidy)]) == 0.0
