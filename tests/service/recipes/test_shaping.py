import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.recipes.reward_shaping import PLAIN, Clip, Scale, Term, aggregate
from tests.tables import table

UNIT = st.floats(0, 1)


@table(
    ("scale", "score", "reason", "value"),
    [
        (PLAIN, 0.25, "", 0.25),
        (Scale(-1, 1), 0.0, "", -1.0),
        (Scale(-1, 1), 0.75, "", 0.5),
        (Scale(-1, 1), 1.0, "", 1.0),
        (Scale(-0.5, 0), 0.5, "", -0.25),
        (Scale(-1, -0.5), 1.0, "", -0.5),
        (Scale(0, 1, {"no_answer": -1.0}), 0.0, "no_answer", -1.0),
        (Scale(0, 1, {"no_answer": -1.0}), 0.0, "wrong_answer", 0.0),
        (Scale(-1, 1, threshold=0.9), 0.9, "", 1.0),
        (Scale(-1, 1, threshold=0.9), 0.8999, "", -1.0),
    ],
)
def test_a_scale_says_what_a_score_is_worth(scale: Scale, score: float, reason: str, value: float) -> None:
    assert scale.value(score, reason) == value


@given(UNIT, st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_scale_stays_between_its_ends_and_meets_them_exactly(score: float, wrong: float, correct: float) -> None:
    scale = Scale(wrong, correct)
    assert scale.value(0.0, "") == wrong
    assert scale.value(1.0, "") == correct
    slack = 1e-9 * max(abs(wrong), abs(correct))
    assert min(wrong, correct) - slack <= scale.value(score, "") <= max(wrong, correct) + slack


def test_aggregates() -> None:
    terms = [Term(1.0, 0.6), Term(0.0, 0.3), Term(-1.0, 0.1)]
    assert aggregate("weighted_mean", terms) == pytest.approx(0.5)
    assert aggregate("weighted_mean", terms[:2]) == pytest.approx(2 / 3)
    assert aggregate("weighted_sum", terms[:2]) == pytest.approx(0.6)
    assert aggregate("additive", terms) == 0.0
    assert aggregate("product", [Term(0.5), Term(0.5)]) == 0.25
    assert aggregate("min", terms) == -1.0
    assert aggregate("max", terms) == 1.0


@given(st.lists(st.tuples(UNIT, st.floats(1e-6, 1e6)), min_size=1, max_size=16))
def test_a_weighted_mean_of_scores_is_a_score(pairs: list[tuple[float, float]]) -> None:
    mean = aggregate("weighted_mean", [Term(*pair) for pair in pairs])
    assert -1e-12 <= mean <= 1 + 1e-12
    assert math.isclose(mean, sum(v * w for v, w in pairs) / sum(w for _, w in pairs), abs_tol=1e-9)


def test_there_is_no_mean_of_nothing() -> None:
    with pytest.raises(ValueError):
        aggregate("weighted_mean", [])
    with pytest.raises(ValueError):
        aggregate("weighted_mean", [Term(1.0, 0.0)])


def test_clip() -> None:
    assert [Clip(-1, 0.5).apply(value) for value in (-2.0, 0.25, 2.0)] == [-1, 0.25, 0.5]
