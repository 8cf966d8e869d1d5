"""Answers with parameters, with conditions, and with arbitrary constants."""

from typing import Any

import pytest

from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT


def outcome(reference: str, answer: str) -> Any:
    return grade([[reference], answer, DEFAULT.packed()])["outcome"]


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"x=k\pi,k\in\mathbb{Z}", r"x=n\pi,n\in\mathbb{Z}", "equal"),
        (r"x=k\pi,k\in\mathbb{Z}", r"k=x\pi,x\in\mathbb{Z}", "different"),
        (r"x=k\pi,k\in\mathbb{Z}", r"y=k\pi,k\in\mathbb{Z}", "different"),
        (r"[k\pi,k\pi+1](k\in\mathbf{Z})", r"[n\pi,n\pi+1], n\in\mathbb{Z}", "equal"),
        (r"(2n+1)\pi, n=0,1,2,\ldots", r"(2k+1)\pi, k=0,1,2,\ldots", "equal"),
        (r"(2n+1)\pi, n=0,1,2,\ldots", r"(2k+1)\pi, k\in\mathbb{Z}", "different"),
        (r"\{x\mid x=k\pi,k\in\mathbb{Z}\}", r"x=k\pi\ (k\in\mathbb{Z})", "equal"),
        (r"x\equiv 2\pmod 5", r"x=5k-3, k\in\mathbb{Z}", "equal"),
        (r"x\equiv 2\pmod 5", r"x=5k+3, k\in\mathbb{Z}", "different"),
    ],
)
def test_parameters_are_free_to_choose_and_values_are_not(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\cos t=0 \text{ when } t=\frac{\pi}{2}+\pi k", r"\cos t=0 \text{ when } t=\frac{\pi}{3}+\pi k", "different"),
        (r"y=k x \text{ where } k=2", "y=2x", "equal"),
        ("y=3x", r"y=k x \text{ where } k=2", "different"),
        (r"y=k x \text{ where } k=2", "y=k x", "different"),
        ("x^2, x>0", "x^2, x<0", "different"),
        ("x^2", r"x^2 \text{ if } x>0", "different"),
        ("5", r"5 \text{ if } n \text{ is odd}", "different"),
        ("5", r"5 \text{ where } 5 \text{ is wrong}", "different"),
        ("y=2x", r"y=k x \text{ where } 3 \text{ and } k=2", "different"),
        ("85", r"a+b \text{ with } a=44 \text{ and } 41", "different"),
    ],
)
def test_conditions_count(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\frac{x^2}{2}+C", r"\frac{x^2}{2}+5+K", "equal"),
        (r"\frac{x^2}{2}+C", r"\frac{x^2}{2}", "different"),
        ("P=C+I", "P=K+I", "different"),
        ("P=C+I", "P=C+I+5", "different"),
        ("y=Ce^{2x}", "y=Ke^{2x}", "equal"),
        ("y=Ce^{2x}", "y=Ke^{3x}", "different"),
        (r"\frac{C}{x}", r"\frac{K}{x}", "different"),
        ("E=mc^2", "E=mK^2", "different"),
        ("x^2+y^2=C", "x^2+y^2=K", "equal"),
        ("x^2+y^2=C", "x^2-y^2=K", "different"),
    ],
)
def test_only_arbitrary_constants_are_renamed(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected
