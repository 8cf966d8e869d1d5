"""Sets of reals and of integers, however they are written."""

from typing import Any

import pytest

from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT


def outcome(reference: str, answer: str) -> Any:
    return grade([[reference], answer, DEFAULT.packed()])["outcome"]


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("(3,\\infty)", r"\{x\in\mathbb{R}\mid x>3\}"),
        ("x>3", r"x>3, x\in\mathbb{R}"),
        (r"(0,\infty)", r"\mathbb{R}^+"),
        (r"(0,\infty)", r"x\in\mathbb{R}^{+}"),
        (r"(-\infty,2)\cup(2,\infty)", r"\mathbb{R}-\{2\}"),
        (r"(-\infty,\infty)", r"\text{all real numbers}"),
        (r"x<-1 \text{ or } x>2", "x<-1, x>2"),
        ("1<x<3", r"x>1 \text{ and } x<3"),
        (r"\{0\}\cup[1,\infty)", r"x=0 \text{ or } x\ge 1"),
        (r"\{2x\mid 0<x<1\}", r"\{2t\mid 0<t<1\}"),
    ],
)
def test_the_same_reals(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"
    assert outcome(answer, reference) == "equal"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("(0,4)", r"\{x\in\mathbb{Z}\mid 0<x<4\}"),
        ("(0,1)", r"\{2x\mid 0<x<1\}"),
        ("x>3", r"\{x^2\mid x>3\}"),
        ("x>3", r"x>3, x\in\mathbb{Z}"),
        ("x>3", r"x\in\mathbb{N}, x>3"),
        (r"x<-1 \text{ or } x>2", r"x<-1 \text{ and } x>2"),
        (r"(0,\infty)", r"\mathbb{R}^-"),
        (r"\{2x\mid 0<x<1\}", r"\{3x\mid 0<x<1\}"),
        ("x>2", "y>2"),
    ],
)
def test_other_sets(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "different"
    assert outcome(answer, reference) == "different"


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\{x\in\mathbb{Z}\mid 0<x<4\}", "1,2,3", "equal"),
        (r"\{x\in\mathbb{Z}\mid 0<x<4\}", r"\{n\in\mathbb{N}\mid n\le 3, n\ge 1\}", "equal"),
        (r"\{x\in\mathbb{Z}\mid 0<x<4\}", r"\{1,2\}", "different"),
        (r"x>3, x\in\mathbb{Z}", r"x\in\mathbb{Z}, x\ge 4", "equal"),
        (r"\{x\in\mathbb{Z}\mid x^2<5\}", r"\{x\in\mathbb{Z}\mid x^2<6\}", "different"),
        (r"\{x\in\mathbb{Z}\mid |x|<\sqrt{5}\}", r"\{-2,-1,0,1,2\}", "equal"),
        (r"\{x\in\mathbb{N}\mid x<3\}", r"\{0,1,2\}", "equal"),
        (r"\{x\in\mathbb{N}\mid x<3\}", r"\{1,2\}", "equal"),
        (r"\{x\in\mathbb{N}^*\mid x<3\}", r"\{0,1,2\}", "different"),
        (r"\{x\in\mathbb{Z}\mid 0<x<10^{1000}\}", "5", "different"),
    ],
)
def test_integers_between_bounds(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected
