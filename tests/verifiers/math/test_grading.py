"""What equals what. Asked of the function that runs in workers, in this process; sizes and kills are in test_safety."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT, Options


def outcome(reference: str, answer: str, absolute: float = 0.0, relative: float = 0.0) -> Any:
    return grade([[reference], answer, Options(absolute, relative).packed()])["outcome"]


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (r"\frac{1}{3}", r"0.\overline{3}"),
        ("5/4", "1 1/4"),
        ("5/4", r"1\frac14"),
        ("6", "2(3)"),
        (r"50\%", "0.5"),
        (r"50\%", r"\frac12"),
        ("28", r"28\%"),
        ("1234567", r"1\,234\,567"),
        ("1.6e-19", r"1.6\times 10^{-19}"),
        ("[1,2]", r"1\le x\le 2"),
        (r"1\le x\le 2", "[1,2]"),
        ("(0,1)", r"\left]0,1\right["),
        (r"(-\infty,-1)\cup(1,\infty)", "|x|>1"),
        (r"(-\infty,-1)\cup(1,\infty)", r"x<-1 \text{ or } x>1"),
        (r"\{x \mid x > 2\}", r"(2,\infty)"),
        (r"\{-2,5\}", r"x=5 \text{ or } x=-2"),
        (r"\frac{-1\pm\sqrt5}{2}", r"\frac{-1-\sqrt5}{2}, \frac{-1+\sqrt5}{2}"),
        ("y=3x-7", "3x-y-7=0"),
        ("(2,-1)", "x=2, y=-1"),
        ("x=5", "5"),
        ("10", "x=5+5=10"),
        (r"e^{i\pi/3}", r"\frac12+\frac{\sqrt3}{2}i"),
        ("0", r"\sqrt2\sqrt3-\sqrt6"),
        ("1", r"\sin^2 x+\cos^2 x"),
        (r"\frac12", r"\sin(30^\circ)"),
        (r"\ln(x^2)", r"2\ln|x|"),
        ("-2", r"\sqrt[3]{-8}"),
        ("-2", r"\sqrt[3]{-8+0\ln(-3)}"),  # complex on the way, real in the end
        ("-8", r"(-2+0\ln(-3))^3"),
        ("0", r"(0\ln(-3))^3"),
        ("1", r"(0\ln(-3))!!"),
        ("0", r"\max(0\ln(-3), -1)"),
        (r"5\text{ cm}", "5"),
        (r"\$18", r"18 \text{ dollars}"),
        ("3:45 PM", "3:45 p.m."),
        (r"\emptyset", r"\text{no solution}"),
        ("Western blot", r"\text{western  Blot}"),
        ("x^2+2x+1", "(x+1)²"),
        (r"2\pi", "2π"),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\left[\begin{array}{c}1\\2\end{array}\right]"),
        ("4210_7", r"4210_{\text{seven}}"),
        (r"x\equiv 2\pmod 5", r"x\equiv 7\pmod{5}"),
        (r"\frac{n(n+1)}{2}", r"\sum_{k=1}^{n} k"),
        ("1/3", r"\int_0^1 x^2 dx"),
        ("f(x)=2x", "f(x) = 2 x"),
    ],
)
def test_equal(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (r"\frac13", "0.333"),
        (r"6.4\times10^{-19}", r"6.4\times10^{-18}"),
        (r"6.4\times10^{-19}", r"-6.4\times10^{-19}"),
        (r"\frac{1}{2^{70}}", "2^{-69}"),
        (r"\frac{2}{52!}", r"\frac{1}{52!}"),
        ("e^{-50}", "e^{-51}"),
        (r"\cos(1)^{100}", r"\cos(1)^{101}"),
        (r"\sqrt{10^{40}+1}", "10^{20}"),
        (r"e^{\pi\sqrt{163}}", "262537412640768744"),
        ("0.0000012", "0.000001"),
        ("2", "2+e^{-900}"),
        ("x^2+10^{-100}", "x^2"),
        ("5", "2(3)"),
        ("5.5", r"5\left(\frac12\right)"),
        (r"50\%", r"5\%"),
        ("0", "x^2-4=0"),
        ("25", "x^2+y^2=25"),
        ("2", "x=1=2"),
        ("5", "12x"),
        (r"5\text{ m}", r"5\text{ cm}"),
        ("5 kg", "5 g"),
        ("3:45 PM", "3:45 AM"),
        (r"\$5", "5 cents"),
        ("HTH", "THH"),
        ("DACB", "ABCD"),
        ("AB", "-AB"),
        ("a+A", "2a"),
        ("4210_7", "4210_8"),
        ("(2,1)", "(1,2)"),
        ("(2,1)", r"\{2,1\}"),
        ("[1,2]", "(1,2)"),
        (r"\{-2,5\}", "5"),
        ("1,2,3", r"1,2,\ldots"),
        ("1,2", "1,2,3"),
        (r"\sin 1^\circ", r"\sin 1"),
        ("x", r"\sqrt{x^2}"),
        (r"\arcsin(\sin x)", "x"),
        ("|x-3|", "3-x"),
        ("y=3x-7", "3x+y-7=0"),
        ("x=5", "y=5"),
        ("x>2", r"x\ge 2"),
        ("2:3", "3:2"),
        ("23", "2^3"),
        ("52", "5²"),
        ("5x", "5ˣ"),
        ("P(A)", "P(B)"),
        (r"x\equiv 2\pmod 5", r"x\equiv 3\pmod 5"),
        (r"\mathbb{Z}", r"\mathbb{R}"),
    ],
)
def test_different(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "different"


@pytest.mark.parametrize("answer", ["@#!", r"\frac{1}{", r"\ge", "()", "3 4", "", "%", "[1,2"])
def test_what_is_no_answer_is_unparseable(answer: str) -> None:
    assert outcome("5", answer) == "unparseable"


@pytest.mark.parametrize("reference", [r"\frac{1}{", "3 4", "((", r"\begin{aligned}", "-", "__import__('os')", "\x00"])
def test_a_reference_that_cannot_be_read_is_never_judged(reference: str) -> None:
    for answer in ("5", reference, None):
        assert grade([[reference], answer, DEFAULT.packed()])["outcome"] == "unparseable_reference"


@pytest.mark.parametrize("reference", ["{" * 200 + "1" + "}" * 200, "x+" * 6000 + "x"])
def test_a_reference_that_is_too_large_to_be_read_is_never_judged(reference: str) -> None:
    for answer in ("5", reference):
        assert outcome(reference, answer) == "reference_too_complex"


LARGE = [
    # reference, the same in another order, another value, what cannot be told
    ("2^{100000}+1", r"1+2 \cdot 2^{99999}", "2^{100000}", None),
    ("100000!+1", "1+100000!", "100000!", None),
    (r"\binom{10^6}{3}", r"\frac{10^6(10^6-1)(10^6-2)}{6}", r"\binom{10^6}{4}", None),
    ("(x+1)^{100000}", "(1+x)^{100000}", "(x+2)^{100000}", None),
    (
        r"\sin(31x)+e^{37291x}",
        r"e^{37290x}e^x+\sin(31x)",
        r"e^{37291x}+2\sin(31x)",
        r"\sin(31x)+e^{37291x}\cos^2\lfloor\frac{1}{2+x^2}\rfloor",
    ),
    ("x e^{37291x}", "e^{37291x} x", "x e^{37290x}", None),
    ("n^{2^{2024}}", r"n \cdot n^{2^{2024}-1}", "n^{2^{2023}}", None),
    ("9^{9^{9^{9^9}}}", "9^{9^{9^{9^{10-1}}}}", "5", "8^{9^{9^{9^9}}}"),
    ("(((10^8)!)!)!", "(((10^7 \\cdot 10)!)!)!", "5", "(((10^9)!)!)!"),
    (r"\sqrt{2}^{100001}", r"\sqrt{2} \cdot 2^{50000}", r"\sqrt{2} \cdot 2^{50001}", None),
    (r"\frac{3^{90000}}{6}", r"\frac{3^{89999}}{2}", r"\frac{3^{90000}}{2}", None),
    ("(a-b)(a+b)^{90000}", "a(a+b)^{90000}-(a+b)^{90000}b", "a(a+b)^{90000}+(a+b)^{90000}b", None),
]


@pytest.mark.parametrize(("reference", "same", "other", "unknown"), LARGE)
def test_a_large_reference_is_compared_by_its_form(reference: str, same: str, other: str, unknown: str | None) -> None:
    assert [outcome(reference, answer) for answer in (reference, same)] == ["equal", "equal"]
    assert outcome(reference, other) == "different"
    assert outcome(reference, "@#!") == "unparseable"
    if unknown is not None:
        assert outcome(reference, unknown) == "undecided"


def test_any_of_several_references_will_do_and_all_are_checked() -> None:
    assert grade([["5", "x^2"], "x x", DEFAULT.packed()])["outcome"] == "equal"
    assert grade([["5", r"\frac{1}{"], "5", DEFAULT.packed()])["outcome"] == "unparseable_reference"


def test_tolerance_is_for_numbers_wherever_they_stand() -> None:
    assert outcome(r"\pi", "3.1416", relative=1e-4) == "equal"
    assert outcome(r"(\pi, 1)", "(3.1416, 1)", absolute=1e-4) == "equal"
    assert outcome(r"\pi", "3.15", relative=1e-4) == "different"
    assert outcome("x", "x+0.00001", absolute=1.0) == "different"


NUMBERS = st.integers(-999, 999).map(str)
ATOMS = st.one_of(NUMBERS, st.sampled_from(["x", "y", "n", r"\pi", "e", r"\alpha", "x_1"]))


def _combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def of(form: str) -> st.SearchStrategy[str]:
        return st.tuples(parts, parts).map(lambda pair: form.replace("A", pair[0]).replace("B", pair[1]))

    return st.sampled_from(
        [r"\frac{A}{B}", "(A)+(B)", r"(A)\cdot (B)", r"\sqrt{(A)^2+1}", "(A)^{2}", r"\cos(A)", r"|A|", "(A, B)"]
    ).flatmap(of)


FORMULAS = st.recursive(ATOMS, _combined, max_leaves=6)


@settings(max_examples=60, deadline=None)
@given(formula=FORMULAS)
def test_an_answer_equals_itself_and_wrapping_changes_nothing(formula: str) -> None:
    known = grade([[formula], None, DEFAULT.packed()])["outcome"]
    if known != "different":
        return  # a division by zero, or a value beyond the limits: no reference
    for written in (formula, f"${formula}$", rf"\boxed{{{formula}}}", rf"\({formula}\)", f" {formula} ."):
        assert outcome(formula, written) == "equal"
        assert outcome(written, formula) == "equal"


@settings(max_examples=60, deadline=None)
@given(formula=FORMULAS, other=FORMULAS)
def test_wrapping_does_not_change_what_differs(formula: str, other: str) -> None:
    bare = outcome(formula, other)
    assert outcome(formula, f"${other}$") == bare
    assert outcome(formula, rf"\boxed{{{other}}}") == bare


@settings(max_examples=150, deadline=None)
@given(text=st.text("\\{}[]()|^_$%!,;:=<>+-*/.'0123456789abxyz αé½²√ \n", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert outcome("5", text) in {"equal", "different", "unparseable", "too_complex"}


@pytest.mark.accuracy(beyond=1)
@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\infty", r"\lim_{x\to\infty} x", "equal"),
        (r"\lim_{x\to\infty} x", r"\infty", "equal"),
        (r"\lim_{x\to\infty} x", r"-\infty", "different"),
        (r"\lim_{x\to\infty} x", "1", "different"),
        (r"\sum_{n=1}^\infty \frac{1}{n^2}", r"\frac{\pi^2}{6}", "equal"),
        (r"\frac12", r"\prod_{n=2}^\infty \left(1-\frac{1}{n^2}\right)", "equal"),
        (r"\prod_{n=2}^\infty \frac{n^3-1}{n^3+1}", r"\frac23", "equal"),
        (r"\prod_{n=2}^\infty \frac{n^3-1}{n^3+1}", r"\frac34", "different"),
        (r"\sum_{n=1}^\infty \frac{1}{n^2}", "1.6", "different"),
        (r"\int_0^1 x^2 dx", r"\frac13", "equal"),
        (r"\sum_{k=1}^{n} k", r"\frac{n(n+1)}{2}", "equal"),
    ],
)
def test_what_sympy_evaluates(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected
