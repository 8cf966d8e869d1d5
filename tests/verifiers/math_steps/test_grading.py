"""Which steps a response takes, asked of what runs in the worker."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables import table
from verifiers.math.solutions import annotated_steps
from verifiers.math_steps.grading import consistency, grade

DATA = Path(__file__).parents[2] / "data" / "math"
EQUATION = ["3x=14-5", "3x=9", "x=3"]
LETTERS = {"matched": "m", "missing": "-", "contradicted": "x"}


def graded(steps: Sequence[Any], response: str, think: str = "auto") -> Mapping[str, Any]:
    pairs = [[step["expr"], step["weight"]] if isinstance(step, dict) else [step, 1.0] for step in steps]
    return grade([pairs, response, think, True])


def states(steps: Sequence[Any], response: str, think: str = "auto") -> str:
    return "".join(LETTERS[state] for state in graded(steps, response, think)["steps"])


def rows(name: str) -> list[Any]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", rows("derivations.jsonl"), ids=lambda row: row["solution"][:40])
def test_a_solution_takes_the_steps_it_states(row: Mapping[str, Any]) -> None:
    assert states(row["steps"], row["solution"]) == row["states"]


@table(
    ("response", "expected"),
    [
        (r"3x=9, x=3, \boxed{3}", "-mm"),
        (r"3x=14-5=9 … x=4, \boxed{4}", "mmx"),
        ("14-5=3x, 9 = 3x and 3=x", "mmm"),
        ("3x = 14 - 5\n3x = 9\nx = 9/3 = 3", "mmm"),
        ("x=3", "--m"),
        ("$3$", "--m"),
        ("x=3, 3x=9", "--m"),
        ("6x=18", "---"),
        ("x+0=3", "--m"),
        ("3x=10-1", "m--"),
        ("x>=3", "---"),
        ("The answer is 3.", "---"),
    ],
)
def test_sides_are_compared_and_not_solutions(response: str, expected: str) -> None:
    assert states(EQUATION, response) == expected


@table(
    ("response", "expected"),
    [
        ("x=4. No, x=3", "--m"),
        ("x=3. No, x=4", "--x"),
        ("x=3, where 3x=8", "xxm"),
        ("4 = x", "--x"),
        ("x = 3.0", "--m"),
        ("x = 2y", "---"),
    ],
)
def test_the_last_word_about_a_left_side_counts(response: str, expected: str) -> None:
    assert states(EQUATION, response) == expected


def test_a_root_among_two_contradicts_neither() -> None:
    assert states(["x^2=4", "x=2", "x=-2"], "x^2=4, so x=2 or x=-2") == "mmm"
    assert states(["x=2", "x=-2"], "x=2 or x=-1") == "mx"


@table(
    ("step", "response", "expected"),
    [
        ("9*2=18", "2*9 = 18", "m"),
        ("9*2=18", "She makes 9 x $2 = $18 a day", "m"),
        ("9*2=18", "9 eggs * 2 dollars = 18 dollars", "m"),
        ("9*2=18", "So $18$ in all", "m"),
        ("9*2=18", "Total = 18", "m"),
        ("9*2=18", "9*2=19", "x"),
        ("9*2=18", "9*3=18", "-"),
        ("10/3=3.33", "10/3 = 3.333", "m"),
        ("10/3=3.33", "10/3 = 3.5", "x"),
        ("50/200=25%", "50/200 = 0.25", "m"),
        ("1000*12=12000", "1,000 x 12 = 12,000", "m"),
        ("a^{-6}", r"$a^{-1}\times a^{-2}\times a^{-3} = a^{-6}$", "m"),
        ("x < 5", "$5 > x$", "m"),
        ("x < 5", "$x \\le 5$", "-"),
        (r"\angle A = 50^\circ", r"so $\angle A = 50^{\circ}$", "m"),
    ],
)
def test_one_step(step: str, response: str, expected: str) -> None:
    assert states([step], response) == expected


def test_weights_count() -> None:
    steps = [{"expr": "3x=9", "weight": 1.0}, {"expr": "x=3", "weight": 3.0}]
    assert graded(steps, "x=3")["step_score"] == 0.75
    assert graded(steps, "3x=9")["step_score"] == 0.25


def test_the_first_step_that_is_missed_is_named() -> None:
    assert graded(EQUATION, "3x=14-5, 3x=9, x=4")["first_missed"] == 2
    assert graded(EQUATION, "3x=14-5, 3x=9, x=3")["first_missed"] is None


# --- attacks


@table(
    "response",
    [
        "<think>3x=14-5, 3x=9, x=3</think> I do not know.",
        "<think>3x=14-5, 3x=9, x=3",
        "```\n3x=14-5\n3x=9\nx=3\n```",
        "```\n3x=14-5\n3x=9\nx=3",
        "`3x=14-5` `3x=9` `x=3`",
        'Somebody wrote "3x=14-5", "3x=9" and “x=3”.',
        "> 3x=14-5\n> 3x=9\n> x=3",
        "<!-- 3x=14-5, 3x=9, x=3 -->",
        "If 3x=9 ... if x=3",
        "It is not true that 3x=9. x=3 is wrong.",
        "3x=14-5=1, 3x=9=1, x=3=1",
        "3=3, 9=3, 18=3, 27=9",
        "",
        " ",
        "\0",
    ],
)
def test_what_is_not_said_is_no_step(response: str) -> None:
    assert graded(EQUATION, response)["step_score"] == 0.0


HONEST = graded(EQUATION, "I move 5 over: 3x = 14 - 5. So x = 2.")["step_score"]
"""One step of three, and then a mistake."""
CHAINS = ["16-3-4=9", "9*2=18", "18/6=3"]


@pytest.mark.parametrize(
    ("steps", "response"),
    [
        (EQUATION, "3x=9. " * 50),
        (EQUATION, "3x=9, 3x = 9, $3x=9$, 3 x = 9"),
        (EQUATION, ", ".join(f"x={n}" for n in range(100))),
        (EQUATION, ", ".join(f"${n}x=9$" for n in range(100))),
        (EQUATION, ", ".join(f"${n}x={m}$" for n in range(1, 10) for m in range(20))),
        (CHAINS, " ".join(f"${n}$" for n in range(100))),
        (CHAINS, " or ".join(f"maybe ${n}$" for n in range(60))),
        (CHAINS, "\n".join(f"Total = {n}" for n in range(60))),
        (CHAINS, "\n".join(f"{n} = {n}" for n in range(60))),
        (CHAINS, "\n".join(f"{n - 1}+1 = {n}" for n in range(150))),
        (CHAINS, "=".join(map(str, range(60)))),
        (CHAINS, "\n".join(f"{a}*{b}={a * b}" for a in range(1, 13) for b in range(1, 13))),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_listing_pays_no_more_than_honest_work(steps: Sequence[str], response: str) -> None:
    assert graded(steps, response)["step_score"] <= HONEST


def test_a_statement_is_one_step_however_often_it_is_made() -> None:
    assert states(EQUATION, "3x = 10 - 1. So 3x = 10 - 1. Thus 3x = 10 - 1.").count("m") == 1


def test_a_false_equation_earns_nothing_for_its_right_side() -> None:
    assert states(["46", "x=5"], "1+1 = 46, 2+2 = 5") == "--"
    assert graded(CHAINS, "1 = 9, 2 = 18, 5 = 3")["step_score"] == 0.0
    assert graded(CHAINS, "1+1 = 9, 2+2 = 18, 5+5 = 3")["step_score"] == 0.0


# --- GSM8K


ANNOTATED = [row for row in rows("gsm8k_references.jsonl") if "<<" in row["answer"]]


@pytest.mark.parametrize("row", ANNOTATED, ids=lambda row: row["index"])
def test_a_reference_solution_takes_all_of_its_own_steps(row: Mapping[str, Any]) -> None:
    found = graded(annotated_steps(row["answer"]), row["answer"])
    assert found["step_score"] == 1.0
    assert found["arith_consistency"]["fraction"] == 1.0


# --- laws

TEXTS = st.lists(
    st.sampled_from([*EQUATION, "x=4", "3x=14-5=9", "$3$", "9", "so", "\n", "`", "```", '"', "$", "x", "=", "1+1=3"]),
    max_size=12,
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(response=st.one_of(TEXTS, st.text('3x=9$\\[]()<>`"\n.,+- if', max_size=80)))
def test_any_response_has_a_share_of_the_steps(response: str) -> None:
    found = graded(EQUATION, response)
    assert found == graded(EQUATION, response)
    assert 0.0 <= found["step_score"] <= 1.0
    assert found["step_score"] <= sum(state == "matched" for state in found["steps"]) / 3 + 1e-6


@settings(max_examples=40, deadline=None)
@given(response=TEXTS)
def test_a_step_at_the_end_is_taken_unless_it_is_hidden(response: str) -> None:
    said = response.replace("`", "").replace('"', "").replace("$", "") + "\n\nHence:\n\n$x=3$"
    assert graded(EQUATION, said)["steps"][2] == "matched"


BOMBS = (
    "(" * 100_000,
    "=" * 100_000,
    "1=" * 50_000 + "1",
    "$" * 100_000,
    "`" * 100_000,
    '"' * 100_001,
    "<<" * 50_000,
    "\\[" * 40_000,
    "\\begin{align}" * 10_000,
    "\n".join(f"x=9^9^{n}" for n in range(300)),
    "x = " + "9**" * 400 + "9",
    "\n".join(f"3x={n}*(x+1)^{n}" for n in range(300)),
    "\n".join(rf"3x=\sin({n}x)+\cos(x^{n})" for n in range(300)),
    "$" + r"\frac{" * 500 + "$",
    "x=" + "(" * 5_000 + "1" + ")" * 5_000,
    "3x=9\n" * 20_000,
    "3 x " * 25_000 + "= 4",
)


@pytest.mark.accuracy(beyond=1)
@pytest.mark.parametrize("response", BOMBS, ids=lambda text: text[:20])
def test_a_bomb_has_its_share_too(response: str) -> None:
    assert graded(EQUATION, response)["step_score"] <= 1 / 3


# --- equations between numbers


def test_which_equations_hold_is_told() -> None:
    found = consistency("16 - 3 = 13 eggs, 13 * 2 = $27; 1/3 = 0.33.")
    assert found == {"checked": 3, "fraction": round(2 / 3, 6), "first_bad": "13 * 2 = 27"}
    assert consistency("no equations, x = 3") == {"checked": 0, "fraction": None, "first_bad": None}


@table("text", ["9**9**9 = 1+1", "1+1 = 9^9^9", "(" * 10_000 + "=1", "1+1=" * 20_000])
def test_what_is_too_large_is_not_told(text: str) -> None:
    assert consistency(text)["first_bad"] in (None, "1+1 = 1+1") or "1+1" in consistency(text)["first_bad"]
