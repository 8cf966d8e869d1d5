"""A comparison that comes to no end: no score, unless the answer is larger than its reference can justify."""

from typing import Any

import pytest

from tests.tables import table
from verifiers.math.blame import is_ours
from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT

_NOBODY_KNOWS = r"\int_0^\infty \frac{\sin(x^3+\cos x)}{x+\ln(x+2)} dx"
_OPEN = r"\lim_{n\to\infty} n\sin\frac{x}{n}"
_SLOWLY = r"\lim_{n\to\infty} \sum_{k=1}^n \frac{1}{\sqrt{n^2+k}}"


def outcome(references: str | list[str], answer: str) -> Any:
    texts = [references] if isinstance(references, str) else references
    return grade([texts, answer, DEFAULT.packed()])["outcome"]


@pytest.mark.accuracy
@table(
    ("reference", "answer"),
    [
        (r"\lim_{n\to\infty} n\sin\frac{x}{n}", _SLOWLY.replace("{1}", "{x}")),  # the same where the reference holds it
        (r"\int_0^\infty \frac{\sin x}{x^2+1} dx", r"\lfloor \pi \rfloor + 1"),  # what it does not take beside one
        (r"\int_0^\infty \frac{\sin x}{x^2+1} dx", r"\frac{g(1)}{2}"),
    ],
)
def test_what_cannot_be_told_is_no_score(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "undecided"


@table(
    ("reference", "answer"),
    [
        ("2", _SLOWLY),  # a number leaves nothing to do
        (r"\frac{1}{3}", _SLOWLY),
        ("n", r"\prod_{k=1}^{100000} (x+k)"),
        ("n", r"\sum_{k=0}^{5000} \binom{5000}{k}"),
        (r"\pi", r"\sin(3^{10^8})"),
        ("5000!", r"\sin(5000!)"),  # nor does a large number that its logarithm tells from others
        ("7^{7^7}", r"7^{7^7}+\sin(5000!)"),
        (r"\frac{\pi}{2}", _SLOWLY),  # nor does an expression without a limit
        ("2x", _SLOWLY.replace("{1}", "{x}")),
        ("x=3", r"\int_0^1 f(x) dx"),
        (r"\pi", _SLOWLY + " + 0" * 100),  # out of proportion
        ("n", "(" * 40 + "n" + ")" * 40),
    ],
)
def test_an_answer_larger_than_its_reference_justifies_is_wrong(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "too_complex"


@table(
    ("reference", "answer", "expected"),
    [
        (r"\int_0^\infty \frac{\sin x}{x^2+1} dx", "(1, 2)", "different"),
        (r"\sum_{k=1}^n k", r"\frac{n(n+1)}{2}", "equal"),
        (r"\sum_{k=1}^n k", r"\frac{n(n+2)}{2}", "different"),
        (r"\int_0^x e^{-t^2} dt", r"\frac{\sqrt\pi}{2}\operatorname{erf}(x)", "equal"),
        (r"\int_0^x e^{-t^2} dt", r"\frac{\sqrt\pi}{3}\operatorname{erf}(x)", "different"),
        (r"\frac{\pi^2}{12}-\frac{\ln^2 2}{2}", r"\operatorname{Li}_2(1/2)", "equal"),
        (r"\lim_{n\to\infty} n\sin\frac{x}{n}", "x", "equal"),
        (r"\lim_{n\to\infty} n\sin\frac{x}{n}", "2x", "different"),
        (r"10^9\log_2 3", r"\log_2(3^{10^9})", "equal"),
        (r"10^9\log_2 3", r"\log_2(3^{10^9+1})", "different"),
        (r"10^9\ln 3", r"\ln(3^{10^9})", "equal"),
    ],
)
def test_what_can_be_told_is(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize("references", [[_OPEN, "3"], ["3", _OPEN]])
def test_of_several_references_one_that_leaves_it_open_is_enough(references: list[str]) -> None:
    assert outcome(references, _SLOWLY.replace("{1}", "{x}")) == "undecided"


def test_the_rule_is_about_the_final_answer_of_a_worked_solution() -> None:
    assert is_ours([r"\sum_{k=1}^\infty \frac1{k^3}"], _NOBODY_KNOWS)
    assert is_ours([r"\sum_{k=1}^n \frac1k"], r"\sum_{k=2}^n \frac1k")
    assert not is_ours([r"\sum_{k=1}^n \frac1k"], _NOBODY_KNOWS)
    assert not is_ours(["We add 2 and 3.\n#### 5"], _NOBODY_KNOWS)
    assert not is_ours([r"n"], _NOBODY_KNOWS * 5)
    assert is_ours(["5", r"\int_0^1 f(x) dx"], _NOBODY_KNOWS)
