"""What the service process decides on its own."""

import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.math.exact import EXACT, Tolerance, decide, number, plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18", Fraction(18)),
        ("-3.50", Fraction(-7, 2)),
        ("1,234.5", Fraction(2469, 2)),
        (r"1,\!234", Fraction(1234)),
        ("3/4", Fraction(3, 4)),
        (r"\dfrac{3}{4}", Fraction(3, 4)),
        (r"\frac12", Fraction(1, 2)),
        ("1.5e3", Fraction(1500)),
        ("$42$", Fraction(42)),
        (r"\boxed{42.}", Fraction(42)),
        ("−7", Fraction(-7)),
    ],
)
def test_a_plain_number_has_its_value(text: str, value: Fraction) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "x", "5²", "1,23", "1/0", "3 4", "1e99999", "9" * 2000, "5%", "1,2,3", "2(3)"])
def test_anything_else_is_left_to_the_reader(text: str) -> None:
    assert number(text) is None


@given(left=st.integers(), right=st.integers())
def test_two_plain_numbers_are_decided_both_ways(left: int, right: int) -> None:
    assert decide(str(left), str(right), EXACT) == (left == right, "text" if left == right else "exact")


@given(value=st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-1000, max_value=1000))
def test_a_decimal_is_the_fraction_it_spells(value: object) -> None:
    assert number(str(value)) == Fraction(str(value))


def test_tolerance_counts_from_the_reference() -> None:
    assert Tolerance(relative=0.1).allows(Fraction(100), Fraction(110))
    assert not Tolerance(relative=0.1).allows(Fraction(100), Fraction(111))
    assert Tolerance(absolute=0.5).allows(Fraction(0), Fraction(1, 2))


def test_only_a_wrapper_around_everything_is_taken_off() -> None:
    assert plain("$x$") == plain(r"\boxed{x}") == plain("x") == "x"
    assert plain("$x$ and $y$") == "$x$ and $y$"
    assert plain(r"\boxed{x}+\boxed{y}") == r"\boxed{x}+\boxed{y}"


def test_the_service_process_never_imports_sympy() -> None:
    code = "import sys, verifiers.math; print(sorted({m.split('.')[0] for m in sys.modules}))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'verifiers'" in found
    for module in ("sympy", "mpmath", "math_verify", "latex2sympy2_extended", "antlr4"):
        assert f"'{module}'" not in found


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("\frac{1}{2}", r"\frac{1}{2}"),
        ("a<\frac{1}{a}", r"a<\frac{1}{a}"),
        ("\binom{5}{2}", r"\binom{5}{2}"),
        ("5\f", "5"),
    ],
)
def test_an_escape_before_a_letter_was_a_command(text: str, meant: str) -> None:
    assert plain(text) == meant


def test_years_have_no_share_of_themselves_to_spare() -> None:
    relaxed = Tolerance(relative=0.05, exact_years=True)
    for reference, answer, is_right in (("2014", "2015", False), ("2014.5", "2015", True), ("99", "100", True)):
        assert decide(reference, answer, relaxed) == (is_right, "exact")
