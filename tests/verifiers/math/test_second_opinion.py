"""Math-Verify as a second opinion: what of it counts, and that its rejection never does."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from math_verify import parse, verify

from verifiers.base import Status, Verdict
from verifiers.math import vetoes
from verifiers.math.second_opinion import second
from verifiers.math_verify import grading

Judge = Callable[..., Awaitable[Verdict]]

TOO_NEAR = [
    (r"6.4\times10^{-19}", r"6.4\times10^{-18}"),
    (r"\frac{1}{2^{70}}", "2^{-69}"),
    ("e^{-50}", "e^{-51}"),
    ("0.0000012", "0.000001"),
    (r"\frac{1}{3}", "0.333333"),
    (r"\sqrt{10^{40}+1}", "10^{20}"),
    (r"\{10^{-20}\}", r"\{10^{-21}\}"),
]
"""Values that differ, and by less than Math-Verify looks at."""
DROPPED = [
    (r"5\text{ m}", r"5\text{ cm}"),
    ("5", r"5\text{ or more}"),
    ("a+A", "2a"),
    ("25", "x^2+y^2=25"),
    (r"\sin 1^\circ", r"\sin 1"),
    ("5", r"5\%"),
    (r"9.8\ \mathrm{m/s^2}", r"9.8\ \mathrm{m/s}"),
    (r"\frac{dy}{dx}=2x", r"\frac{dx}{dy}=2x"),
    (r"2\mathbf{i}-3\mathbf{j}", r"2\mathbf{i}+3\mathbf{j}"),
    (r"1 - \frac{1}{\mathrm{e}}", r"1 + \frac{1}{\mathrm{e}}"),
    ("6!!", "720!"),
]
"""More of what it passes over."""


def _accepted(reference: str, answer: str) -> bool:
    return bool(verify(parse(f"${reference}$"), parse(f"${answer}$")))


@pytest.mark.parametrize("veto", vetoes.VETOES, ids=lambda veto: veto.name)
def test_each_veto_stops_what_math_verify_accepts_wrongly(veto: vetoes.Veto) -> None:
    assert _accepted(veto.reference, veto.accepted)
    assert vetoes.first(veto.reference, veto.accepted) == veto.name
    assert not second([[veto.reference], veto.accepted])


@pytest.mark.parametrize(("reference", "answer"), [*TOO_NEAR, *DROPPED])
def test_its_other_known_false_accepts_do_not_count(reference: str, answer: str) -> None:
    assert _accepted(reference, answer)
    assert not second([[reference], answer])


@pytest.mark.parametrize(
    ("reference", "answer"),
    [(r"\frac{1}{2}", "0.5"), ("x^2+2x+1", "(x+1)^2"), ("0.1", r"\frac{1}{10}"), (r"\{1,2\}", r"\{2,1\}"), ("x", "x")],
)
def test_a_right_answer_is_accepted(reference: str, answer: str) -> None:
    assert second([["7", reference], answer])


@pytest.mark.parametrize("answer", ["__import__('os').getpid()", "9" * 10_001, "(" * 200 + "1" + ")" * 200])
def test_what_is_not_read_here_is_not_shown_to_others(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr(grading, "read", None)
    assert not second([[answer], answer])


PROSE = r"f(x)=a x+b$, where $b$ is an arbitrary integer, and $a$ is an arbitrary positive integer with $\mho(a)=0"
"""A reference that our reader refuses."""


async def test_an_acceptance_counts_where_the_reference_cannot_be_read_and_a_rejection_does_not(judge: Judge) -> None:
    for setting, reason in (("never", "unparseable_reference"), ("unreadable", "correct"), ("always", "correct")):
        right = await judge(PROSE, rf"\boxed{{{PROSE}}}", second_opinion=setting)
        assert right.reason == reason
        wrong = await judge(PROSE, rf"\boxed{{{PROSE.replace('=a x', '=2 a x')}}}", second_opinion=setting)
        assert (wrong.status, wrong.reason) == (Status.INVALID, "unparseable_reference")
    assert right.detail["method"] == "second_opinion"


async def test_what_math_verify_cannot_read_either_stays_unparseable(judge: Judge) -> None:
    for setting in ("never", "unreadable", "always"):
        verdict = await judge("5", r"\boxed{@#!}", second_opinion=setting)
        assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "unparseable")


@pytest.mark.parametrize("params", [{"form": "decimal"}, {"unit_policy": "require"}, {"ordered": True}])
async def test_where_more_than_equality_is_asked_nobody_else_is(judge: Judge, params: dict[str, Any]) -> None:
    plain = await judge("x+1", r"\boxed{x+2}", **params)
    assert await judge("x+1", r"\boxed{x+2}", second_opinion="always", **params) == plain
