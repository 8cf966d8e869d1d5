r"""Expressions that agree on one side of a fold, a jump or a branch only are different, wherever it is."""

from itertools import pairwise
from typing import Any

import pytest

from tests.tables import table
from tests.verifiers.math.test_values import outcome
from verifiers.math.points import letters
from verifiers.math.reader import read
from verifiers.math.values.folds import fold_points


@table(
    ("reference", "answer"),
    [
        (r"x+3", r"|x+3|"),
        (r"x", r"\max(x,-5)"),
        (r"x+5", r"\sqrt{(x+5)^2}"),
        (r"x+5", r"\sqrt{x^2+10x+25}"),
        (r"100-x", r"|x-100|"),
        (r"1", r"\operatorname{sgn}(x+10)"),
        (r"x", r"\min(x,100)"),
        (r"x", r"|x+10^{10}|-10^{10}"),
        (r"x", r"x+\max(0,x-10^{20})\cdot10^{-20}"),
        (r"e^{1000000-x}", r"e^{|x-1000000|}"),
        (r"x", r"x+\max(0,\sin(1000x)-0.9999999)"),
        (r"x^2-400", r"|x^2-400|"),
        (r"\frac{1}{x-70}", r"\sqrt{\frac{1}{x^2-140x+4900}}"),
        (r"\ln(x-1000)", r"|\ln(x-1000)|"),
        (r"x", r"\arctan(\tan x)"),
        (r"\frac{\pi}{2}", r"\arctan(x-90)+\arctan\frac{1}{x-90}"),
        (r"0", r"\left\lfloor\frac{x^2}{10^6}\right\rfloor"),
        (r"x+y", r"\max(x,-50)+\max(y,-80)"),
        (r"\max(x-50,0)+\max(y-50,0)", r"\max(x-50,y-50,0)"),
        (r"x-y", r"|x-y+1000|-1000"),
        (r"n+n!", r"\max(n,50)+n!"),
        (r"n!", r"\max(n,30)!"),
        (r"\sum_{k=1}^n k", r"\sum_{k=1}^n \min(k,40)"),
        (r"50x-\frac{x^2}{2}", r"\int_0^x |t-50| dt"),
        (r"z+\arg z-\arg z", r"\ln(e^z)+0\arg z"),
        (r"\operatorname{Re}(z)", r"|\operatorname{Re}(z)+60|-60"),
        (r"e^{x-70000}", r"\cosh(x-70000)"),
        (r"e^{80000-x}", r"e^{80000-x}+10^{-9}"),
    ],
)
def test_what_agrees_on_one_side_of_a_break_is_different(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "different"
    assert outcome(answer, reference) == "different"


@table(
    ("reference", "answer"),
    [
        (r"|x+5|", r"\sqrt{x^2+10x+25}"),
        (r"\max(x,y)", r"\frac{x+y+|x-y|}{2}"),
        (r"x-3", r"\operatorname{sgn}(x-3)|x-3|"),
        (r"x^2", r"|x^2-2x+1|+2x-1"),
        (r"x", r"\ln(e^x)"),
        (r"x", r"\log_2(2^x)"),
        (r"x", r"\sqrt[3]{x^3}"),
        (r"e^{|x-1000000|}", r"e^{\max(x-1000000,1000000-x)}"),
        (r"\frac{x|x|}{2}", r"\int_0^x |t| dt"),
        (r"\tan\frac{x}{2}", r"\frac{1-\cos x}{\sin x}"),
        (r"|\sin\frac{x}{2}|", r"\sqrt{\frac{1-\cos x}{2}}"),
        (r"\max(n,50)+n!", r"\frac{n+50+|n-50|}{2}+n!"),
        (r"\arctan x+\operatorname{arccot}x", r"\operatorname{arccot}x+\arctan x"),
        (r"\lfloor x\rfloor+\lfloor-x\rfloor", r"\lfloor x\rfloor-\lceil x\rceil"),
    ],
)
def test_what_agrees_on_both_sides_of_all_breaks_is_equal(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"
    assert outcome(answer, reference) == "equal"


@table(
    ("reference", "answer", "expected"),
    [
        ("y=x^2", "|y|=x^2", "different"),
        ("x=y", "|x|=|y|", "different"),
        ("y=x", r"\max(y,-9)=x", "different"),
        (r"y=\frac{1}{x}", "xy=1", "equal"),
        ("1=x", "1=1", "different"),
        ("5=y", "y=5", "equal"),
        ("5=y", "2+3=5", "different"),
    ],
)
def test_an_equation_is_solved_on_both_sides_of_its_folds(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@table(
    ("answer", "expected"),
    [
        (r"e^{e^x}\sqrt{(x-50)^2}", "equal"),  # part by part
        (r"e^{e^x}(x-50)", "different"),
        (r"\sin(e^{e^x})|x-50|", "different"),
    ],
)
def test_what_cannot_be_computed_beside_a_break_of_the_reference_is_not_claimed_to_be_equal(
    answer: str, expected: str
) -> None:
    assert outcome(r"e^{e^x}|x-50|", answer) == expected


def test_an_answer_that_cannot_be_computed_beside_its_own_break_is_no_limit_of_the_reference() -> None:
    assert outcome("x", r"x+\frac{|x-50|-|x-50|}{e^{e^x}}") in ("equal", "too_complex")
    assert outcome("x+1", r"x+\frac{e^{|x-50|}}{e^{|x-50|}}+\max(0,x-60)e^{-e^x}") == "too_complex"


@table(
    ("reference", "answer", "expected"),
    [
        (r"x, x>0", r"|x|", "equal"),
        (r"x \quad (x>0)", r"\sqrt{x^2}", "equal"),
        (r"|x|, x<0", r"-x", "equal"),
        (r"f(x)=x, x\ge 0", r"f(x)=|x|", "equal"),
        (r"ab, a>0, b>0", r"|a||b|", "equal"),
        (r"x, x>-5", r"|x|", "different"),
        (r"x^2, x>0", r"x^3, x>0", "different"),
        (r"x", r"|x|, x>0", "different"),
        (r"|x|", r"x, x\ge 0", "different"),
        (r"|x|", r"-x, x<0", "different"),
        (r"|x-100|", r"x-100, x>100", "different"),
    ],
)
def test_a_stated_domain_is_where_the_sides_are_compared(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@table(
    ("reference", "answer", "expected"),
    [
        ("y=2x+1", "y=2x+1, x>0", "different"),
        ("y=2x+1", r"y=2x+1 \text{ for } -1 \le x \le 1", "different"),
        ("xy=1", "xy=1, x>0", "different"),
        ("x^2+y^2=1", r"x^2+y^2=1, y\ge 0", "different"),
        (r"\ln x^2", r"2\ln x, x>0", "different"),
        (r"\ln x", r"\ln x, x>0", "equal"),
        (r"y=\sqrt{1-x^2}", r"y=\sqrt{1-x^2}, -1\le x\le 1", "equal"),
        (r"y=\sqrt{1-x^2}", r"y=\sqrt{1-x^2}, 0\le x\le 1", "different"),
        (r"\frac{x^2-1}{x-1}", r"x+1, x\ne 1", "equal"),
        (r"f(x)=x^2", r"f(x)=x^2, x\in\mathbb{R}", "equal"),
        ("2n", r"2n, n\ge 1", "equal"),
        ("ax^2", "ax^2, a>0", "equal"),
        (r"\sqrt{1-x^2}", r"\sqrt{1-x^2}, x\in[-1,1]", "equal"),
        (r"x^2, 0<x<1", r"x^2, x\in(0,1)", "equal"),
        (r"x^2, 0<x<1", r"x^2, x\in(0,2)", "different"),
    ],
)
def test_a_domain_that_only_the_answer_states_takes_no_values(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@table(
    ("reference", "answer", "expected"),
    [
        ("4", r"4\%", "equal"),
        ("4", r"400\%", "different"),
        ("12.5", r"12.5\%", "equal"),
        (r"\frac{1}{4}", r"25\%", "equal"),
        ("0.25", r"0.25\%", "different"),
        ("1", r"100\%", "equal"),
        (r"10\%", "10", "equal"),
        (r"10\%", "0.1", "equal"),
    ],
)
def test_a_reference_without_a_percent_sign_gives_the_sign_one_meaning(
    reference: str, answer: str, expected: str
) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        (r"|x-3|", [3]),
        (r"|(x-3)(x+500)|", [-500, 3]),
        (r"\sqrt{x^2-20x+100}", [10]),
        (r"\max(x^2,4)", [-2, 2]),
        (r"|\frac{x-1}{x-10^7}|", [1, 10**7]),
        (r"|e^x-\frac{1}{2}|", [-0.6931]),
    ],
)
def test_there_are_points_between_each_two_breaks(text: str, breaks: list[float]) -> None:
    node = read(text)
    places: list[Any] = [point.values["x"] for point in fold_points(node, node, letters(node), is_real=True)]
    ends = [float("-inf"), *breaks, float("inf")]
    assert all(any(low < place < high for place in places) for low, high in pairwise(ends))


def test_an_expression_without_breaks_has_no_such_points() -> None:
    node = read(r"\frac{e^x\sin x}{x^2-4}")
    assert list(fold_points(node, node, letters(node), is_real=True)) == []
