"""Expressions with units, and those of programs, read and evaluated."""

from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables import table
from verifiers.expression.evaluation import Quantity, WrongUnits, evaluate
from verifiers.expression.reading import read_expression
from verifiers.math.tree import TooComplex, Unreadable
from verifiers.math.values import NoValue


def value(text: str) -> Quantity:
    return evaluate(read_expression(text))


@table(
    ("text", "expected"),
    [
        ("2**3", 8),
        ("2**3**2", 512),
        ("2^3", 8),
        ("-2**2", -4),
        ("(3+4)*2", 14),
        ("2(3+4)", 14),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("7 % 3", 1),
        ("12.5 % 5", Fraction(5, 2)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("0.1 + 2**-1", Fraction(3, 5)),
        ("1/3", Fraction(1, 3)),
        ("50%", Fraction(1, 2)),
        ("5000*(2.5/100)", 125),
        ("1_000 + 1", 1001),
        ("comb(5, 2)", 10),
        ("math.comb(5, 2) // 3", 3),
        ("perm(5, 2)", 20),
        ("factorial(5)", 120),
        ("5!", 120),
        ("gcd(12, 18)", 6),
        ("lcm(4, 6)", 12),
        ("math.gcd(12, 18)", 6),
        ("abs(-3)", 3),
        ("math.fabs(-3)", 3),
        ("floor(2.5) + ceil(2.5)", 5),
        ("sqrt(16)", 4),
        ("math.sqrt(16)", 4),
        ("cbrt(27)", 3),
        ("isqrt(17)", 4),
        ("hypot(3, 4)", 5),
        ("log2(8)", 3),
        ("log(8, 2)", 3),
        ("max(1, 2) + min(3, 4)", 5),
        ("pow(2, 10)", 1024),
        ("sin(30°)", Fraction(1, 2)),
        ("sin(90 degrees)", 1),
        ("cos(pi/3)", Fraction(1, 2)),
        ("(-8)**(1/3)", -2),
        (r"\frac{60}{100} \cdot 5", 3),
        (r"\binom{5}{2}", 10),
        ("100!/98!", 9900),
        ("10**-5", Fraction(1, 10**5)),
        ("2**10000", 2**10000),
    ],
)
def test_a_number(text: str, expected: Fraction) -> None:
    found = value(text)
    assert abs(found.value - expected) <= Fraction(1, 10**40)
    assert not found.units


@table(
    ("text", "expected", "units"),
    [
        ("12 m^2", 12, {"m^2": 1}),
        ("25 °C", 25, {"°C": 1}),
        ("-5 °C", -5, {"°C": 1}),
        ("3 m * 4 m", 12, {"m": 2}),
        ("60 km/h * 2 h", 120, {"km/h": 1, "h": 1}),
        ("60 miles per hour * 2 hours", 120, {"mi/h": 1, "h": 1}),
        ("5 km + 300 m", Fraction("5.3"), {"km": 1}),
        ("3 h + 20 min", Fraction(10, 3), {"h": 1}),
        ("6 m / 2 s", 3, {"m": 1, "s": -1}),
        ("(3 + 4) m / (2 s)", Fraction(7, 2), {"m": 1, "s": -1}),
        ("(3 m)^2", 9, {"m": 2}),
        ("sqrt(16 m^2)", 4, {"m": 1}),
        ("3.0e8 m/s", 3 * 10**8, {"m/s": 1}),
        (r"3.0 \times 10^8 m/s", 3 * 10**8, {"m/s": 1}),
        (r"5\text{ km} + 300\text{ m}", Fraction("5.3"), {"km": 1}),
        (r"5\,\mathrm{m/s^2} \cdot 3\,\mathrm{s}", 15, {"m/s^2": 1, "s": 1}),
        ("5米 × 3", 15, {"m": 1}),
        ("3人 + 4人", 7, {"person": 1}),
        ("2 h 30 min", 150, {"min": 1}),
        ("5€ + 3€", 8, {"euro": 1}),
        ("2**3 m", 8, {"m": 1}),
        ("6 m / 3 m", 2, {}),
    ],
)
def test_a_quantity(text: str, expected: Fraction, units: Mapping[str, int]) -> None:
    assert value(text) == Quantity(Fraction(expected), units)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x + 1", Unreadable),
        ("hello", Unreadable),
        ("", Unreadable),
        ("5 + 3 =", Unreadable),
        ("lambda: 1", Unreadable),
        ("().__class__", Unreadable),
        ("__import__('os').system('true')", Unreadable),
        ("eval('1')", Unreadable),
        ("'a' ** 9", Unreadable),
        ("1j ** 2", Unreadable),
        ("True ** 2", Unreadable),
        ("math.open ** 2", Unreadable),
        ("os.getpid() ** 2", Unreadable),
        ("[1] ** 2", Unreadable),
        ("(1 if 1 else 2) ** 2", Unreadable),
        ("(a := 2) ** 2", Unreadable),
        ("comb(5)", Unreadable),
        ("pow(2, 3, 5)", Unreadable),
        ("comb(n=5, k=2)", Unreadable),
        ("f(2) ** 2", Unreadable),
        ("2 ** 2; 3", Unreadable),
        ("1/0", NoValue),
        ("1 // 0", NoValue),
        ("0**-1", NoValue),
        ("sqrt(-1)", NoValue),
        ("log(0, 2)", NoValue),
        ("(1, 2)", NoValue),
        ("[1, 2]", NoValue),
        ("5, 6", NoValue),
        ("5 m + 3 s", WrongUnits),
        ("5 m + 3", WrongUnits),
        ("sin(3 m)", WrongUnits),
        ("2 * 25 °C", WrongUnits),
        ("25 °C - 20 °C", WrongUnits),
        ("5€ + $3", WrongUnits),
        ("sqrt(16 m)", WrongUnits),
        ("9**9**9", TooComplex),
        ("9^9^9", TooComplex),
        ("2**10001", TooComplex),
        ("(10**100)**10000", TooComplex),
        ("10**10000 * 10**10000 * 10**10000 * 10**10000", TooComplex),
        ("10000!", TooComplex),
        ("factorial(factorial(20))", TooComplex),
        ("comb(10**9, 5 * 10**8)", TooComplex),
        ("exp(10**9)", TooComplex),
        ("sin(10**9999)", TooComplex),
        ("(" * 100_000, TooComplex),
        ("(" * 200 + "1" + ")" * 200, TooComplex),
        ("-" * 3_000 + "1", TooComplex),
        ("+".join(["1"] * 900), TooComplex),
        ("2**-" + "-" * 1_500 + "1", TooComplex),
        ("1 // " * 100 + "1", TooComplex),
        ("9" * 5_000, TooComplex),
        ("2" + "**2" * 300, TooComplex),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else value.__name__,
)
def test_what_has_no_value(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        value(text)


NUMBERS = st.integers(0, 50).map(str)
TREES = st.recursive(
    NUMBERS,
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(" ".join).map("({})".format),
)


@settings(max_examples=60, deadline=None)
@given(text=TREES)
def test_integer_arithmetic_is_pythons(text: str) -> None:
    """Its own operators are the oracle; what they raise has no value."""
    try:
        expected = eval(text, {"__builtins__": {}})
    except ZeroDivisionError:
        with pytest.raises(NoValue):
            value(f"{text} // 1")
        return
    assert value(f"{text} // 1").value == expected


@settings(max_examples=80, deadline=None)
@given(text=st.text("0123456789+-*/%^().,e! mskg°Cpi_u√\\{}", max_size=60))
def test_any_text_has_a_value_or_a_reason(text: str) -> None:
    try:
        found = value(text)
    except (Unreadable, TooComplex, NoValue, WrongUnits):
        return
    assert all(found.units.values())
