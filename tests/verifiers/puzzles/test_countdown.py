"""Countdown and the 24 game."""

from fractions import Fraction
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tables import table
from tests.verifiers.puzzles.asking import FEW, ask, score

TWO = {"target": 24, "nums": [3, 8]}


@table(
    "response",
    [
        "<answer>3*8</answer>",
        "<answer> (3 * 8) </answer>",
        "<think>3+8?</think>\n<answer>3 * 8 = 24</answer>",
        "<answer>24 = 3*8</answer>",
        "<answer>3 × 8</answer>",
        "<answer>3 x 8</answer>",
        "<answer>３＊８</answer>",
        "\\boxed{3 \\times 8}",
        "$$\\boxed{3\\cdot 8 = 24}$$",
        "The answer is 3 * 8.",
        "Answer: 8*3",
        "<answer>\n```\n3*8\n```\n</answer>",
        "<answer>$3 \\times 8$</answer>",
        "So **3*8**",
        "<answer>**3*8**</answer>",
        "3 * 8 = 24",
        "Final expression: 3 * 8",
        "<answer>-(-3*8)</answer>",
        "<answer>Expression: 3*8</answer>",
        "#### 3*8",
    ],
)
def test_forms_of_a_right_answer(response: str) -> None:
    assert score("countdown", response, TWO) == 1.0


@table(
    "response",
    [
        "",
        "<answer></answer>",
        "<answer>24</answer>",
        "<answer>38</answer>",
        "<answer>3**8</answer>",
        "<answer>3//8</answer>",
        "<answer>3*8*1</answer>",
        "<answer>3*8+0</answer>",
        "<answer>3*8 = 25</answer>",
        "<answer>3*8 = ?</answer>",
        "<answer>3 8</answer>",
        "<answer>3(8)</answer>",
        "<answer>3*8 or 8*3*1</answer>",
        "<answer>3*8, 8+3</answer>",
        "<answer>3*8</answer> or <answer>8+16</answer>",
        "<answer>3*8\n3+8</answer>",
        "<answer>03*8</answer>",
        "<answer>3/0*8</answer>",
        "<answer>3/(8-8)</answer>",
        "<answer>__import__('os').getpid()</answer>",
        "<answer>3*8 # 9**9**9</answer>",
        "<answer>9**9**9**9</answer>",
        "<answer>" + "(" * 150 + "3*8" + ")" * 40 + "</answer>",
        "<answer>" + "(" * 5_000_000 + "</answer>",
        "<answer>3*" + "8" * 1_000_000 + "</answer>",
        "[3, 8] 24",
        "Using the numbers [3, 8], make 24.",
        "Take 3+8 or 3*8",
        "It is not 3*8",
        "I do not know whether 3*8",
    ],
)
def test_what_is_no_right_answer(response: str) -> None:
    assert score("countdown", response, TWO) == 0.0


@table("joined", ["3`2", "3²", "3\\,2", "3$2", "3 2", "3\u200b2", "3_2", "3**2", "3,2"])
def test_digits_are_not_joined(joined: str) -> None:
    assert score("countdown", f"<answer>{joined}</answer>", {"nums": [32], "target": 32}) == 0.0


@table(
    ("reference", "params"),
    [
        ({"numbers": [3, 3, 8, 8], "target": 24}, {}),
        ({"nums": ["3", "3", "8", "8"], "target": "24"}, {}),
        ('{"target": 24, "numbers": [3, 3, 8, 8]}', {}),
        ("{'target': 24, 'numbers': [3, 3, 8, 8]}", {}),
        ({"metadata": {"source_dataset": "puzzle24", "numbers": [3, 3, 8, 8]}}, {}),
        ([3, 3, 8, 8], {"target": 24}),
        ("3 3 8 8", {"target": 24}),
    ],
)
def test_forms_of_the_puzzle(reference: Any, params: dict[str, Any]) -> None:
    assert score("countdown", "<answer>8/(3-8/3)</answer>", reference, **params) == 1.0
    assert score("countdown", "\\boxed{\\frac{8}{3 - \\frac{8}{3}}}", reference, **params) == 1.0
    assert score("countdown", "<answer>8*3</answer>", reference, **params) == 0.0


@table(
    "reference",
    [
        {"nums": [], "target": 3},
        {"nums": [3]},
        {"target": 3},
        {"nums": [1.5e300], "target": 3},
        {"nums": [10**30], "target": 3},
        {"nums": [-3], "target": 3},
        {"nums": [True], "target": 1},
        {"nums": [1] * 21, "target": 1},
        "prose",
        None,
        7,
    ],
)
def test_malformed_puzzles(reference: Any) -> None:
    assert ask("countdown", "<answer>3</answer>", reference).reason == "bad_puzzle"


def test_numbers_may_be_left_out_only_where_that_is_allowed() -> None:
    three = {"target": 24, "nums": [3, 8, 1]}
    assert score("countdown", "<answer>3*8</answer>", three) == 0.0
    assert score("countdown", "<answer>3*8</answer>", three, use="at_most_once") == 1.0
    assert score("countdown", "<answer>8+8+8</answer>", three, use="at_most_once") == 0.0


@st.composite
def solved(draw: st.DrawFn) -> tuple[list[int], Fraction, str]:
    """Numbers, what an expression of them is worth, and the expression."""
    numbers = draw(st.lists(st.integers(1, 99), min_size=2, max_size=6))
    parts = [(Fraction(number), str(number)) for number in numbers]
    while len(parts) > 1:
        at = draw(st.integers(0, len(parts) - 2))
        (a, left), (b, right) = parts[at : at + 2]
        sign = draw(st.sampled_from("+-*/" if b else "+-*"))
        value = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else a}[sign]
        parts[at : at + 2] = [(value, f"({left} {sign} {right})")]
    assume(parts[0][0].denominator == 1 and abs(parts[0][0]) < 10**9)
    return numbers, parts[0][0], parts[0][1]


@FEW
@given(solved())
def test_a_solution_is_right_and_any_change_is_wrong(puzzle: tuple[list[int], Fraction, str]) -> None:
    numbers, value, expression = puzzle
    reference = {"nums": numbers, "target": int(value)}
    assert score("countdown", f"<answer>{expression}</answer>", reference) == 1.0
    assert score("countdown", f"<answer>{expression} = {value}</answer>", reference) == 1.0
    assert score("countdown", f"<answer>{expression} + 0</answer>", reference) == 0.0
    assert score("countdown", f"<answer>{expression} = {value + 1}</answer>", reference) == 0.0
    assert score("countdown", f"<answer>{expression}</answer>", {**reference, "target": int(value) + 1}) == 0.0
    assert score("countdown", f"<answer>{expression}</answer>", {**reference, "nums": [*numbers, 1]}) == 0.0
    assert score("countdown", f"<answer>{int(value)}</answer>", reference) == 0.0
    assert score("countdown", f"Make {value} of {numbers}.", reference) == 0.0
