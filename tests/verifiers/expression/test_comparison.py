"""When two quantities are the same."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from verifiers.expression.comparison import Nearness, compare
from verifiers.expression.evaluation import evaluate
from verifiers.expression.reading import read_expression
from verifiers.math.options import UnitPolicy


def result(reference: str, answer: str, policy: UnitPolicy = "convert", nearness: Nearness | None = None) -> str:
    one, two = (evaluate(read_expression(text)) for text in (reference, answer))
    return compare(one, two, policy, nearness or Nearness())


@table(
    ("reference", "answer", "expected"),
    [
        ("5 m", "500 cm", "equal"),
        ("5 m", "5", "equal"),
        ("5", "5 m", "equal"),
        ("5 m", "5 s", "dimension_mismatch"),
        ("5 m", "5 cm", "different"),
        ("36 km/h", "10 m/s", "equal"),
        ("120 km", "60 km/h * 2 h", "equal"),
        ("60 km/h * 2 h", "120", "equal"),
        ("60 km/h * 2 h", "120000 m", "equal"),
        ("60 km/h * 2 h", "120 h", "dimension_mismatch"),
        ("1 kWh", "3.6 MJ", "equal"),
        ("5 J", "5 N·m", "equal"),
        ("5 J", "5 kg·m^2/s^2", "equal"),
        ("1 L", "1000 cm^3", "equal"),
        ("25 °C", "298.15 K", "equal"),
        ("25 °C", "77 °F", "equal"),
        ("25 °C", "25 K", "different"),
        ("90°", "pi/2", "equal"),
        ("pi/2", "90°", "equal"),
        ("90°", "90", "equal"),
        ("1 revolution", "2 pi rad", "equal"),
        ("5 €", "5 $", "dimension_mismatch"),
        ("5 $", "500 cents", "equal"),
        ("50%", "0.5", "equal"),
        ("50%", "50", "equal"),
        ("0.5", "50%", "equal"),
        ("0.5%", "0.5", "different"),
        ("12 apples", "12", "equal"),
        ("12 apples", "12 people", "equal"),
        ("12 apples", "12 pears", "different"),
        ("1/3", "0.333333", "equal"),
        ("1/3", "0.333", "different"),
        ("10000000", "10000001", "different"),
        ("1000000.5", "1000000.6", "equal"),
        ("1.6e-19", "0", "different"),
        ("0", "1e-12", "equal"),
        ("0", "0.001", "different"),
        ("3e-9 m", "5e-9 m", "different"),
        ("3e-9 m", "3 nm", "equal"),
    ],
)
def test_two_quantities(reference: str, answer: str, expected: str) -> None:
    assert result(reference, answer) == expected


@table(
    ("policy", "reference", "answer", "expected"),
    [
        ("require", "5 m", "5", "missing_unit"),
        ("require", "5 m", "6", "different"),
        ("require", "5 m", "500 cm", "equal"),
        ("require", "5", "5 m", "equal"),
        ("require", "5 m", "5 s", "dimension_mismatch"),
        ("ignore", "5 m", "5 s", "equal"),
        ("ignore", "5 m", "500 cm", "different"),
    ],
)
def test_policies(policy: UnitPolicy, reference: str, answer: str, expected: str) -> None:
    assert result(reference, answer, policy) == expected


@table(
    ("nearness", "reference", "answer", "expected"),
    [
        (Nearness(abs_tol=1), "1000", "1001", "equal"),
        (Nearness(abs_tol=1), "1000", "1002", "different"),
        (Nearness(rel_tol=0.01), "1000", "1009", "equal"),
        (Nearness(rel_tol=0.01), "1000", "1011", "different"),
        (Nearness(abs_tol=0), "1/3", "0.333333333", "different"),
        (Nearness(sig_figs=3), "9.80665", "9.81", "equal"),
        (Nearness(sig_figs=3), "9.80665", "9.8", "different"),
        (Nearness(sig_figs=3), "9.80665", "9.82", "different"),
        (Nearness(sig_figs=2), "0.00123", "0.0012", "equal"),
        (Nearness(sig_figs=2), "1234", "1200", "equal"),
        (Nearness(sig_figs=2), "0", "0.1", "different"),
        (Nearness(sig_figs=2), "2**10000 + 1", "2**10000", "equal"),
        (Nearness(sig_figs=2), "2**-9999", "3 * 2**-9999", "different"),
        (Nearness(sig_figs=1), "10", "14.9", "equal"),
        (Nearness(sig_figs=1), "9", "9.6", "different"),
        (Nearness(abs_tol=1), "5 m", "520 cm", "equal"),
        (Nearness(abs_tol=1), "500 cm", "5.2 m", "different"),
    ],
)
def test_tolerances(nearness: Nearness, reference: str, answer: str, expected: str) -> None:
    assert result(reference, answer, nearness=nearness) == expected


VALUES = st.fractions(min_value=-1000, max_value=1000, max_denominator=10_000)


@given(value=VALUES, nearness=st.sampled_from([Nearness(), Nearness(0.0), Nearness(sig_figs=2), Nearness(rel_tol=0.1)]))
def test_a_value_is_near_itself(value: Fraction, nearness: Nearness) -> None:
    assert nearness.allows(value, value)


@given(one=st.integers(-(10**9), 10**9), two=st.integers(-(10**9), 10**9))
def test_integers_are_exact(one: int, two: int) -> None:
    assert Nearness().allows(Fraction(one), Fraction(two)) is (one == two)


@given(value=VALUES)
def test_nothing_is_near_what_is_not_nothing(value: Fraction) -> None:
    assert Nearness().allows(value, Fraction(0)) is (value == 0)
