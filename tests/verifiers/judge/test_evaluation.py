"""The figures beside values of papers and textbooks, and where there is none."""

import math

import numpy as np
import pytest

from verifiers.judge.evaluation import correlation, f1, kappa, share


def test_a_share_has_wilsons_interval() -> None:
    """The interval of 81 of 263 that Newcombe gives (Statistics in Medicine 17, 1998, table I, method 3)."""
    found = share(81, 263)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)
    none, whole = share(0, 20), share(20, 20)
    assert none is not None
    assert whole is not None
    assert (none.low, round(none.high, 4)) == (0.0, 0.1611)
    assert (round(whole.low, 4), whole.high) == (0.8389, 1.0)
    assert share(0, 0) is None


def test_kappa_and_f1_of_a_table() -> None:
    labels = [1] * 25 + [0] * 25
    verdicts = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    found, other = kappa(labels, verdicts, 2), f1(labels, verdicts, 2)
    assert found is not None
    assert other is not None
    assert found.value == pytest.approx(0.4)  # 0.7 agreed, 0.5 by chance
    assert other.value == pytest.approx(2 * 20 / (25 + 30))
    assert found.low < 0.2 < found.value < 0.6 < found.high
    assert found == kappa(labels, verdicts, 2)


def test_the_interval_of_kappa_covers_as_often_as_it_says() -> None:
    """Of 200 draws of 200 rows, where the true kappa is 0.6."""
    draw, hits = np.random.default_rng(7), 0
    for _ in range(200):
        labels = draw.integers(0, 2, 200)
        verdicts = np.where(draw.random(200) < 0.8, labels, 1 - labels)
        found = kappa(labels.tolist(), verdicts.tolist(), 2)
        hits += found is not None and found.low <= 0.6 <= found.high
    assert 180 <= hits <= 200


def test_what_the_rows_do_not_tell_is_no_number() -> None:
    assert kappa([], [], 2) is None
    assert kappa([1, 1], [1, 1], 2) is None
    assert f1([0, 0], [0, 0], 2) is None
    assert correlation([1, 1, 1, 1], [1, 2, 3, 4]) is None
    assert correlation([1, 2, 3], [1, 2, 3]) is None


def test_a_correlation_has_fishers_interval() -> None:
    one = [float(at % 7) for at in range(50)]
    two = [value + (at % 3) for at, value in enumerate(one)]
    found = correlation(one, two)
    assert found is not None
    middle = (math.atanh(found.low) + math.atanh(found.high)) / 2
    assert found.value == pytest.approx(math.tanh(middle))
    assert math.atanh(found.high) - middle == pytest.approx(1.959964 / math.sqrt(47))
