"""The rewrites: what each writes, and that none of them changes what is written."""

import re

from tests.accuracy.real_data import benchmark_golds, deepmath_golds
from tests.accuracy.rewrites import (
    Rewrite,
    bare,
    fractions_as_slashes,
    response,
    slashes_as_fractions,
    spaced,
)
from tests.tables import table

GOLDS = [*deepmath_golds(), *benchmark_golds()]


@table(
    ("reference", "rewrite", "written"),
    [
        ("$x+1$", Rewrite.PLAIN, "Answer: x+1"),
        ("$48$, $384$", Rewrite.PLAIN, "Answer: $48$, $384$"),
        ("\\[\n(2n)!\n\\]", Rewrite.PLAIN, "Answer: (2n)!"),
        (r"\frac{1}{2}", Rewrite.DOLLARS, r"The final answer is $\frac{1}{2}$."),
        ("$7$", Rewrite.BOXED, r"Therefore the final answer is $\boxed{7}$."),
        ("48$, $384", Rewrite.BOXED, r"Therefore the final answer is $\boxed{48$, $384}$."),
        ("x+1", Rewrite.SPACED, r"Therefore the final answer is $\boxed{x\,+ 1}$."),
        ("1/2", Rewrite.FRACTIONS, r"Therefore the final answer is $\boxed{\frac{1}{2}}$."),
        (r"$\frac12$", Rewrite.ALONE, r"\frac12"),
        (r"\frac12", Rewrite.ALONE_IN_DOLLARS, r"$\frac12$"),
        (r"\frac12", Rewrite.FRACTIONS, r"Therefore the final answer is $\boxed{1/2}$."),
    ],
)
def test_a_reference_is_written_as_an_answer(reference: str, rewrite: Rewrite, written: str) -> None:
    found = response(reference, rewrite)
    assert found is not None
    assert found.splitlines()[-1] == written


@table(
    ("reference", "rewrite"),
    [
        ("one paragraph\n\nand another", Rewrite.PLAIN),
        ("Yes. It has a unique solution.", Rewrite.PLAIN),
        ("$48$, $384$", Rewrite.DOLLARS),
        ("no solution", Rewrite.DOLLARS),
        (r"\frac{81^{10}}{82^{10}", Rewrite.BOXED),
        ("1}+{2", Rewrite.BOXED),
        ("42", Rewrite.SPACED),
        ("concave up on x > 0", Rewrite.SPACED),
        ("$1/2$, $2/3$", Rewrite.FRACTIONS),
        ("x", Rewrite.FRACTIONS),
    ],
)
def test_what_cannot_be_written_so_is_left_out(reference: str, rewrite: Rewrite) -> None:
    assert response(reference, rewrite) is None


@table(
    "answer",
    [
        "1,234",
        "12{,}345",
        r"10,\!000",
        "2 3",
        r"\text{5 - 3, or more}",
        "5-day",
        "x^-1",
        "1e-10",
        "3:45",
        r"\operatorname{lcm}",
        "4210_7",
        r"\sqrt[3]{2} + 1",
        r"90^\circ",
        "n!",
        "50\\%",
    ],
)
def test_spaces_that_mean_something_are_left_alone(answer: str) -> None:
    assert spaced(answer) == answer


@table(
    ("answer", "written"),
    [
        ("(1, 234)", r"(\,1 , 234 )"),
        ("6e - 10", "6e -10"),
        (r"x \le y", r"x\le y"),
        (r"\frac { 1 } { 2 }", r"\frac{1}{2}"),
        ("x^{-1}", "x^{ - 1 }"),
        (r"\text{if } x - 1", r"\text{if } x-1"),
    ],
)
def test_spaces_beside_operators_brackets_and_in_braces_change(answer: str, written: str) -> None:
    assert spaced(answer) == written


def test_rewriting_spaces_changes_nothing_else() -> None:
    changed = [bare(gold) for gold in GOLDS if spaced(bare(gold)) != bare(gold)]
    assert len(changed) > 1_000
    assert [answer for answer in changed if _without_spaces(spaced(answer)) != _without_spaces(answer)] == []


@table(
    ("answer", "written"),
    [
        (r"\frac{a+b}{2}", "(a+b)/2"),
        (r"-\dfrac{1}{2}", "-1/2"),
        (r"\frac{1}{2}x", "(1/2)x"),
        (r"\frac{1}{2}^2", "(1/2)^2"),
        (r"2 \cdot \frac{1}{3}", r"2 \cdot (1/3)"),
        (r"e^{\frac{1}{2}}", "e^{1/2}"),
        (r"\frac{\frac{1}{2}}{3x}", "(1/2)/(3x)"),
        (r"\left(\frac{1}{2}, \frac{\pi}{3}\right)", r"\left(1/2, \pi/3\right)"),
        (r"2\frac{1}{2}", r"2\frac{1}{2}"),
        (r"x\frac{1}{2}", r"x\frac{1}{2}"),
        (r"2^\frac{1}{2}", r"2^\frac{1}{2}"),
        (r"1/\frac{2}{3}", r"1/\frac{2}{3}"),
        (r"\frac{dy}{dx}", r"\frac{dy}{dx}"),
        (r"\frac{\text{men}}{\text{women}}", r"\frac{\text{men}}{\text{women}}"),
        (r"\frac{1}{", r"\frac{1}{"),
    ],
)
def test_a_fraction_becomes_a_quotient_where_that_is_the_same(answer: str, written: str) -> None:
    assert fractions_as_slashes(answer) == written


@table(
    ("answer", "written"),
    [
        ("3/4", r"\frac{3}{4}"),
        ("-1 / 19", r"-\frac{1}{19}"),
        ("(1/2)x + 3/4", r"(\frac{1}{2})x + \frac{3}{4}"),
        (r"\pi/6, x^{2/3}", r"\frac{\pi}{6}, x^{\frac{2}{3}}"),
        *((answer, answer) for answer in ("2 1/4", "1/2x", "x^1/2", "x/2/3", "3/4/2020", "1,000/3", ".5/2", "2/3.5")),
        *((answer, answer) for answer in ("2!/3", "x_1/2", r"3\pi/2", "1/2(x+1)", "1/2,345", "1/2 x")),
    ],
)
def test_a_quotient_becomes_a_fraction_where_that_is_the_same(answer: str, written: str) -> None:
    assert slashes_as_fractions(answer) == written


def _without_spaces(text: str) -> str:
    return re.sub(r"\\,|\s", "", text)
