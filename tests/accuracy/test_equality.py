"""Pairs that are drawn: none that is equal on a part of the line only is paid, nearly all that are equal are."""

import random

import pytest

from tests.accuracy.equality import (
    EQUAL,
    NEAR,
    PARTLY,
    Pair,
    as_rows,
    equal,
    judge_with_sympy,
    near_miss,
    pairs,
    partly_equal,
)
from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT


def outcome(pair: Pair) -> str:
    return str(grade([[pair.reference], pair.answer, DEFAULT.packed()])["outcome"])


@pytest.mark.parametrize("count", [250, pytest.param(20_000, marks=pytest.mark.accuracy)])
def test_no_pair_that_is_equal_on_a_part_of_the_line_only_is_paid(count: int) -> None:
    outcomes = [(pair, outcome(pair)) for pair in pairs(count, count, partly_equal)]
    assert [pair for pair, found in outcomes if found == "equal"] == []
    assert sum(found != "different" for _, found in outcomes) <= count / 100


@pytest.mark.parametrize("count", [120, pytest.param(20_000, marks=pytest.mark.accuracy)])
def test_no_pair_that_misses_an_identity_by_a_slip_is_paid(count: int) -> None:
    outcomes = [(pair, outcome(pair)) for pair in pairs(count, count, near_miss)]
    assert [pair for pair, found in outcomes if found == "equal"] == []
    assert sum(found != "different" for _, found in outcomes) <= max(1, count / 100)


@pytest.mark.parametrize("count", [80, pytest.param(4_000, marks=pytest.mark.accuracy)])
def test_pairs_that_are_equal_by_an_identity_are_paid(count: int) -> None:
    outcomes = [(pair, outcome(pair)) for pair in pairs(count, count, equal)]
    assert [pair for pair, found in outcomes if found == "different"] == []
    assert sum(found == "equal" for _, found in outcomes) >= 0.99 * count


def test_there_are_many_shapes_and_the_same_pairs_for_a_seed() -> None:
    assert len(PARTLY) >= 500
    assert len({pair.shape for pair in pairs(2_000, 1, partly_equal)}) >= 500
    assert len(EQUAL) >= 500
    assert len(NEAR) >= 500
    for draw in (equal, partly_equal, near_miss):
        assert list(pairs(50, 3, draw)) == list(pairs(50, 3, draw)) != list(pairs(50, 4, draw))


def test_the_sides_of_a_pair_are_put_into_the_same_expression() -> None:
    pair = partly_equal(random.Random(8))
    assert pair.reference != pair.answer
    assert not pair.is_equal


@pytest.mark.accuracy
def test_sympy_judges_pairs_without_an_end() -> None:
    drawn = [
        Pair("x^2-1", "(x-1)(x+1)", True, ""),
        Pair("x", "x+1", False, ""),
        Pair("x", r"\begin{", False, ""),
    ]
    found = judge_with_sympy(as_rows("three", drawn), limit_s=60)
    assert [verdict["score"] for verdict in found.verdicts] == [1.0, 0.0, None]
