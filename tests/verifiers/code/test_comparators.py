"""Whether an output is the expected one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from verifiers.code.comparators import Comparator, difference


def same(got: str, expected: str, **options: Any) -> bool:
    return difference(got, expected, Comparator(**options)) is None


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ("3\n", "3"),
        ("3", "3\n"),
        ("3\r\n4\r\n", "3\n4\n"),
        ("3   \n4\t\n", "3\n4"),
        ("\n\n3\n\n\n", "3"),
        ("3.0", "3"),
        ("1e2", "100"),
        ("-0", "0"),
        ("+5", "5"),
        (".5", "0.50"),
        ("1  2", "1 2"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("", "\n"),
    ],
)
def test_by_lines_these_are_the_same(got: str, expected: str) -> None:
    assert same(got, expected)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ("3", "4"),
        ("3\n4", "3 4"),
        ("3 4", "3\n4"),
        ("3\n\n4", "3\n4"),
        ("", "3"),
        ("3", ""),
        ("YES", "yes"),
        ("nan", "3"),
        ("inf", "1e400"),
        ("5e16", "50000000000000001"),
        ("50000000000000000", "50000000000000001"),
        ("0.3333", "0.33333"),
        ("３", "3"),
        ("1_000", "1000"),
        ("0x10", "16"),
        ("True", "1"),
        ("3 4 5", "3 4"),
        ("PASS\n3", "3"),
    ],
)
def test_by_lines_these_differ(got: str, expected: str) -> None:
    assert not same(got, expected)


def test_by_tokens_line_breaks_do_not_count() -> None:
    assert same("1\n2 3\n", "1 2\n3", mode="tokens")
    assert not same("1 2", "1 2 3", mode="tokens")
    assert not same("12 3", "1 23", mode="tokens")


def test_exactly_means_every_character_but_carriage_returns() -> None:
    assert same("a\r\n", "a\n", mode="exact")
    assert not same("a", "a\n", mode="exact")
    assert not same("a ", "a", mode="exact")


def test_trimmed_lines_are_compared_as_characters() -> None:
    assert same("a  \n\n", "a", mode="trim")
    assert not same("3.0", "3", mode="trim")
    assert not same("a  b", "a b", mode="trim")


def test_json_is_compared_as_a_value() -> None:
    assert same('{"a": 1, "b": [1, 2.0]}', '{"b":[1.0,2],"a":1}', mode="json")
    assert not same("[1, true]", "[1, 1]", mode="json")
    assert not same("[1, 2", "[1, 2]", mode="json")
    assert same("[2, 1]", "[1, 2]", mode="json", unordered=True)
    assert same("[0.5000001]", "[0.5]", mode="json", abs_tol=1e-5)


def test_a_tolerance_is_absolute_or_relative_and_of_finite_numbers() -> None:
    assert same("0.30000001", "0.3", abs_tol=1e-6)
    assert not same("0.3001", "0.3", abs_tol=1e-6)
    assert same("1000001", "1000000", rel_tol=1e-5)
    assert same("0.1", "0.2", mode="tokens", abs_tol=0.1), "the border is inside"
    for odd in ("nan", "inf", "-inf", "1e9999", "infinity"):
        assert not same(odd, "1.0", abs_tol=1e9)
        assert not same("1.0", odd, abs_tol=1e9)


def test_letter_case_counts_unless_asked() -> None:
    assert same("yes", "YES", ignore_case=True)
    assert same("Straße", "STRASSE", mode="exact", ignore_case=True)


def test_lines_in_any_order() -> None:
    assert same("b\na\n", "a\nb", unordered=True)
    assert same("2.0\n1", "1\n2", unordered=True)
    assert not same("a\na\nb", "a\nb\nb", unordered=True)
    assert not same("2.0\n1", "1\n2", unordered=True, mode="trim")
    assert same("2.01\n1", "1\n2", unordered=True, abs_tol=0.1)
    assert not same("2.01\n1", "1\n3", unordered=True, abs_tol=0.1)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "exact", "abs_tol": 0.1},
        {"mode": "tokens", "unordered": True},
        {"abs_tol": -1},
        {"rel_tol": 1.0},
        {"mode": "fuzzy"},
        {"abs_tol": float("nan")},
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Comparator(**options)


def test_giant_numbers_are_text() -> None:
    assert not same("1" + "0" * 500, "1" + "0" * 499 + "0.0")
    assert not same("1e999999999999", "1")
    assert not same("9" * 1_000_000, "9" * 999_999, abs_tol=1e300)


def test_the_difference_shows_where_it_is_and_stays_short() -> None:
    shown = difference("x" * 1000 + "a" * 1000, "x" * 1000 + "b" * 1000, Comparator())
    assert shown is not None
    assert "line 1" in shown
    assert "aaa" in shown
    assert "bbb" in shown
    assert len(shown) < 300
    assert difference("1\n2\n", "1\n2\n3\n", Comparator()) == "3 lines expected, 2 written"


_OUTPUTS = st.text("0123456789.eE+-naif \n\tab", max_size=60)


@given(_OUTPUTS, st.sampled_from(["lines", "tokens", "trim", "exact"]))
def test_every_output_equals_itself(text: str, mode: str) -> None:
    assert same(text, text, mode=mode)
    assert same(text + "\n", text, mode=mode) or mode == "exact"


@given(_OUTPUTS, _OUTPUTS)
def test_a_stricter_mode_never_accepts_more(got: str, expected: str) -> None:
    by_mode = [same(got, expected, mode=mode) for mode in ("exact", "trim", "lines", "tokens")]
    assert by_mode == sorted(by_mode)
    assert same(got, expected) == same(expected, got)
    assert same(got, expected, abs_tol=0.0) or not same(got, expected)


@given(st.lists(st.sampled_from(["1", "2.0", "a b", "x"]), max_size=6), st.randoms())
def test_order_does_not_matter_where_it_is_said_not_to(lines: list[str], random: Any) -> None:
    shuffled = random.sample(lines, len(lines))
    assert same("\n".join(shuffled), "\n".join(lines), unordered=True)
