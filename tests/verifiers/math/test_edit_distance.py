"""What a wrong expression earns by PHYBench's Expression Edit Distance."""

import random
from collections.abc import Awaitable, Callable

import pytest

from tests.tables import table
from verifiers.base import Status, Verdict
from verifiers.math.edit_distance import BEST, nearest
from verifiers.math.options import DEFAULT

Judge = Callable[..., Awaitable[Verdict]]


def credit(reference: str, answer: str, simplifies: bool = True) -> float:
    return nearest([[reference], answer, DEFAULT.packed(), simplifies])


@table(
    "reference, answer, score",
    [
        (r"2 m g + 4\frac{mv_0^2}{l}", r"2 m g+2\frac{mv_0^2}{l}", 0.46666666666666664),
        (r"$$T_2 = 2mg + 4m \frac{v_0^2}{l}$$", r"T_2 = 2mg + 2m \frac{v_0^2}{l}", 0.46666666666666664),
        (r"$$F_{\max} = 5m\omega^2R$$", r"6m\omega^2R", 0.45714285714285713),
        (
            "$$\n\\boxed{\\sigma=\\frac{2\\varepsilon_{0}E_{0}a}{\\sqrt{a^{2}-r^{2}}}}\n$$  ",
            r"\frac{\varepsilon_{0}E_{0}a}{\sqrt{a^{2}+r^{2}}}",
            0.4125,
        ),
        ("a+b+c+d", r"a+\sin(b^2+c\sqrt{d+e}+fg)", 0.0),
        ("5", "7", 0.0),
    ],
)
def test_the_score_is_the_one_of_phybench(reference: str, answer: str, score: float) -> None:
    """References are PHYBench's (MIT), from its readme and its data; the scores are its function's for these pairs."""
    assert credit(reference, answer) == pytest.approx(score)


def test_no_wrong_expression_earns_more_than_the_best_and_none_less_than_nothing() -> None:
    dice = random.Random(3)

    def grown(depth: int) -> str:
        if not depth:
            return dice.choice(["x", "y", "2", "m"])
        one, other = grown(depth - 1), grown(depth - 1)
        return dice.choice([f"({one}+{other})", f"\\frac{{{one}}}{{{other}}}", f"{one} {other}", f"\\sin({one})"])

    for _ in range(40):
        assert 0 <= credit(grown(3), grown(3), simplifies=False) <= BEST


@table(
    "answer",
    [
        "not an expression", r"\int_0^1 x dx", r"\sum_{k=1}^n k", "x=", "(1, 2)", "x > 2",
        "+".join(["x"] * 40), r"\frac{1}{0}", "(" * 20,
    ],
)  # fmt: skip
def test_what_is_not_an_expression_or_too_long_earns_nothing(answer: str) -> None:
    assert credit("x^2+2x+1", answer) == 0


def test_a_tree_that_is_too_large_earns_nothing() -> None:
    large = "+".join(f"x_{{{index}}}" for index in range(200))
    assert credit(large, large + "+1", simplifies=False) == 0


async def test_only_who_asks_for_it_pays_for_a_wrong_expression(judge: Judge) -> None:
    reference, response = r"2mg+\frac{4mv^2}{l}", r"\boxed{2mg+\frac{2mv^2}{l}}"
    plain = await judge(reference, response)
    paid = await judge(reference, response, edit_distance=True)
    assert (plain.score, plain.reason) == (0.0, "wrong_answer")
    assert paid.score == pytest.approx(0.6 - 2 / 15)
    assert paid.reason == "partial"
    assert (await judge(reference, rf"\boxed{{{reference}}}", edit_distance=True)).score == 1


async def test_an_explanation_still_names_the_error(judge: Judge) -> None:
    verdict = await judge("a+b+c+d+e+f", r"\boxed{a-b+c+d+e+f}", edit_distance=True, explain=True)
    assert verdict.reason == "partial"
    assert verdict.detail["answer_as_read"] == "+(a, neg(b), c, d, e, f)"


@pytest.mark.accuracy
async def test_a_response_that_cannot_be_simplified_in_time_is_wrong_and_never_unjudged(judge: Judge) -> None:
    factors = "".join(rf"(\sin(x_{{{i}}})+\cos(y_{{{i}}})+{i})^{{9}}" for i in range(1, 9))
    verdict = await judge(f"{factors}+z", rf"\boxed{{{factors}+w}}", edit_distance=True)
    assert verdict.status is Status.OK
    assert verdict.score is not None
    assert verdict.score < 1
