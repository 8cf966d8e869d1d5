"""DAPO's soft overlong punishment: nothing, a line, everything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import Status
from verifiers.rules.overlong import OverlongParams, judge


def penalty(tokens: int, max_length: int = 100, buffer: int = 20) -> float:
    verdict = judge("", OverlongParams(max_length=max_length, buffer=buffer, completion_tokens=tokens))
    assert verdict.score is not None
    assert verdict.score == 1 + verdict.detail["penalty"]
    return verdict.score - 1


@table(("tokens", "expected"), [(0, 0), (79, 0), (80, 0), (81, -0.05), (90, -0.5), (100, -1), (101, -1), (10**9, -1)])
def test_the_published_values(tokens: int, expected: float) -> None:
    assert penalty(tokens) == pytest.approx(expected)


def test_without_a_buffer_there_is_a_cliff() -> None:
    assert (penalty(100, buffer=0), penalty(101, buffer=0)) == (0, -1)


@given(st.integers(1, 500), st.integers(0, 500), st.integers(0, 1000))
def test_longer_is_never_better(max_length: int, buffer: int, tokens: int) -> None:
    buffer = min(buffer, max_length)
    assert penalty(tokens + 1, max_length, buffer) <= penalty(tokens, max_length, buffer)


def test_tokens_are_not_guessed() -> None:
    assert judge("one two", OverlongParams()).status is Status.INVALID
    assert judge("one two", OverlongParams(max_length=4, buffer=4, unit="words")).score == 0.5


def test_a_buffer_longer_than_everything_is_refused() -> None:
    with pytest.raises(ValidationError, match="longer than max_length"):
        OverlongParams(max_length=10, buffer=11)
    with pytest.raises(ValidationError, match="less than or equal"):
        OverlongParams(completion_tokens=10**30)
