"""Whether a returned value is the expected one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.runner.values.encoding import Opaque
from verifiers.code.equality import Tolerance, equal, equal_in_python, find_difference


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ((1, 2), [1, 2]),
        ([(1, (2,))], [[1, [2]]]),
        (2, 2.0),
        (2.0, 2),
        (0.1 + 0.2, 0.3),
        (None, None),
        (True, True),
        ("a", "a"),
        ({"a": 1}, {"a": 1.0}),
        ({1: "x"}, {"1": "x"}),
        ({1, 2}, {"$set": [2, 1]}),
        (set(), {"$set": []}),
        ({1, 2}, {1, 2}),
        (float("inf"), float("inf")),
        (float("nan"), float("nan")),
        (10**30, 10**30),
        (b"a", b"a"),
        ([], []),
    ],
)
def test_these_are_the_same(got: Any, expected: Any) -> None:
    assert equal(got, expected)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (True, 1),
        (1, True),
        (0, False),
        (0, None),
        ("1", 1),
        (1, "1"),
        ([1], 1),
        (1, [1]),
        ([1, 2], [2, 1]),
        ([1, 2], {"$set": [1, 2]}),
        ({1, 2}, [1, 2]),
        ({1, 2}, {"$set": [1, 2, 3]}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, 1: 2, "1": 2}, {"a": 1, "1": 2}),
        (10**30 + 1, 10**30),
        (10**400, 1.0),
        (float("nan"), 1.0),
        (1.0, float("nan")),
        (float("inf"), 1e308),
        (0.3001, 0.3),
        (b"a", "a"),
        ({"$set": [1]}, {"$set": [1]}),
        (Opaque("X"), "X"),
        ([Opaque("X")], [1]),
        (Opaque("X"), None),
        ("abc", ["a", "b", "c"]),
        ({}, []),
    ],
)
def test_these_differ(got: Any, expected: Any) -> None:
    assert not equal(got, expected)


def test_a_tolerance_may_be_given() -> None:
    assert equal(3.14, 3.1416, Tolerance(0.01, 0))
    assert equal(314, 315, Tolerance(0, 0.01))
    assert not equal(3.14, 3.1416, Tolerance(1e-6, 1e-6))


def test_order_is_of_no_account_where_it_is_said() -> None:
    assert equal([[2, 1], [3]], [[3], [1, 2]], unordered=True)
    assert equal({1, 2}, [2, 1], unordered=True)
    assert not equal([1, 1, 2], [1, 2, 2], unordered=True)
    assert equal(list(range(2000)), list(range(1999, -1, -1)), unordered=True)
    assert not equal(list(range(2000)), list(range(2000, 0, -1)), unordered=True)


def test_letter_case_counts_unless_asked() -> None:
    assert not equal("Yes", "YES")
    assert equal(["Yes"], ["YES"], ignore_case=True)


def test_an_assert_compares_as_python_does() -> None:
    assert equal_in_python(True, 1)
    assert not equal_in_python([1], (1,))
    assert not equal_in_python(0.1 + 0.2, 0.3)
    assert not equal_in_python(Opaque("X"), None)


@pytest.mark.parametrize("value", [10**100_000, list(range(10**6)), "x" * 10**6, [[[[[[[[[[1]]]]]]]]]]], ids=type)
def test_the_difference_of_huge_values_is_short(value: Any) -> None:
    assert len(find_difference(value, 1)) < 300


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.boxes
@given(_PLAIN)
def test_every_value_equals_itself_in_any_mode(value: Any) -> None:
    assert equal(value, value)
    assert equal(value, value, unordered=True)
    assert equal(value, value, Tolerance(0, 0))


@given(_PLAIN, _PLAIN)
def test_two_values_never_raise(got: Any, expected: Any) -> None:
    assert equal(got, expected) in (True, False)
    assert isinstance(find_difference(got, expected), str)
