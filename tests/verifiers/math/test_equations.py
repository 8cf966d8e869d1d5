"""Equations between numbers in a text, and whether they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.math.equations import computations


def holding(text: str) -> list[bool | None]:
    return [found.holds for found in computations(text, 6_000)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 1 = 2", [True]),
        ("1 + 1 = 3", [False]),
        ("<<48/2=24>>24", [True]),
        ("She has 16 - 3 = 13 eggs; 13 * 2 = $27", [True, False]),
        ("3*3=9=10-1", [True, True]),
        ("2/3 = 0.67", [True]),
        ("2/3 = 0.7", [False]),
        ("1 + 1 = 9^9^9", [None]),
        ("x + 1 = 3", []),
        ("5 = 5", []),
        ("", []),
    ],
)
def test_what_holds(text: str, expected: list[bool | None]) -> None:
    assert holding(text) == expected


@given(left=st.integers(0, 999), right=st.integers(1, 999), off=st.integers(0, 3))
def test_sums_and_products_of_integers_are_exact(left: int, right: int, off: int) -> None:
    assert holding(f"{left} + {right} = {left + right + off}") == [off == 0]
    assert holding(f"{left} * {right} = {left * right + off}") == [off == 0]


def test_no_more_is_read_than_was_asked_for() -> None:
    assert len(list(computations("1 + 1 = 2\n" * 100, 60))) < 10
