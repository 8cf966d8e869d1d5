"""Sudoku, queens and ARC: grids in all their forms, any solution right, anything else wrong."""

import json
import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tables import table
from tests.verifiers.puzzles.asking import FEW, ask, score

GIVEN = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"
SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"


def rows(flat: str) -> list[str]:
    side = math.isqrt(len(flat))
    return [flat[at : at + side] for at in range(0, len(flat), side)]


def banded(flat: str) -> str:
    lines = [" | ".join(" ".join(row[at : at + 3]) for at in (0, 3, 6)) for row in rows(flat)]
    return "\n------+-------+------\n".join("\n".join(lines[at : at + 3]) for at in (0, 3, 6))


NUMBERS = [[int(cell) for cell in row] for row in rows(SOLVED)]
SUDOKU_ANSWERS = [
    SOLVED,
    "\n".join(rows(SOLVED)),
    "\n".join(map(" ".join, rows(SOLVED))),
    "\n".join(",".join(row) for row in rows(SOLVED)),
    "\n".join(f"| {' | '.join(row)} |" for row in rows(SOLVED)),
    "\n".join(f"Row {at}: {' '.join(row)}" for at, row in enumerate(rows(SOLVED), start=1)),
    "\n".join(f"{row}," for row in NUMBERS),
    "\n\n".join("\n".join(rows(SOLVED)[at : at + 3]) for at in (0, 3, 6)),
    "\n".join(f"{row[:3]} {row[3:6]} {row[6:]}" for row in rows(SOLVED)),
    banded(SOLVED),
    json.dumps(NUMBERS),
    json.dumps(NUMBERS, indent=1),
    json.dumps({"grid": NUMBERS}),
    json.dumps(rows(SOLVED)),
    "\\begin{bmatrix}" + " \\\\ ".join(" & ".join(row) for row in rows(SOLVED)) + "\\end{bmatrix}",
    "```\n" + "\n".join(map(" ".join, rows(SOLVED))) + "\n```",
]
GIVEN_NUMBERS = [[int(cell) for cell in row] for row in rows(GIVEN)]
SUDOKUS: list[Any] = [
    GIVEN,
    GIVEN.replace("0", "."),
    "\n".join(" ".join(row).replace("0", "_") for row in rows(GIVEN)),
    banded(GIVEN).replace("0", "."),
    banded(GIVEN).replace("0", "-"),
    rows(GIVEN),
    GIVEN_NUMBERS,
    [int(cell) for cell in GIVEN],
    {"puzzle": [[cell or None for cell in row] for row in GIVEN_NUMBERS], "solution": SOLVED},
    {"quizzes": GIVEN, "solutions": SOLVED},
    {"metadata": {"puzzle": GIVEN_NUMBERS, "solution": NUMBERS, "num_empty": 51}},
    json.dumps({"puzzle": GIVEN_NUMBERS}),
    {"solution": SOLVED},
]


@table("answer", SUDOKU_ANSWERS)
@table("around", ["%s", "<answer>\n%s\n</answer>", "Puzzle:\n@\n\nSolved:\n\n%s\n\nDone."])
def test_sudoku_forms(around: str, answer: str) -> None:
    response = around.replace("@", SUDOKUS[2]) % answer
    assert [score("sudoku", response, reference) for reference in SUDOKUS] == [1.0] * len(SUDOKUS)


@pytest.mark.accuracy
@table(
    "response",
    [
        "",
        SOLVED[:-1] + "8",
        SOLVED[1:] + SOLVED[:1],
        SOLVED[9:] + SOLVED[:9],
        SOLVED[:-9],
        SOLVED + SOLVED[:9],
        GIVEN,
        banded(GIVEN),
        f"<answer>{SOLVED} or {SOLVED[9:] + SOLVED[:9]}</answer>",
        f"{SOLVED[9:] + SOLVED[:9]} or {SOLVED}",
        f"<think>{SOLVED}",
        "1" * 81,
        "[" * 100_000,
    ],
)
def test_what_solves_no_sudoku(response: str) -> None:
    assert [score("sudoku", response, reference) for reference in SUDOKUS] == [0.0] * len(SUDOKUS)


@table(
    ("reference", "reason"),
    [
        ("55" + GIVEN[2:], "no_solution"),
        ({"puzzle": "123.............4" + "." * 0 + ""}, "bad_puzzle"),
        ("12.." + "..3." + "...4" + "....", "no_solution"),
        (SOLVED, "bad_puzzle"),
        ({"puzzle": GIVEN, "solution": SOLVED[9:] + SOLVED[:9]}, "bad_puzzle"),
        ({"puzzle": GIVEN, "box": [2, 4]}, "bad_puzzle"),
        ([[1, 2], [2, 1]], "bad_puzzle"),
        ([[0] * 1000] * 1000, "puzzle_too_large"),
        ("0" * 1_000_000, "puzzle_too_large"),
        ([[0] * 9] * 8, "bad_puzzle"),
        ([["a" * 50] * 9] * 9, "bad_puzzle"),
        (None, "bad_puzzle"),
    ],
)
def test_sudokus_that_are_none(reference: Any, reason: str) -> None:
    verdict = ask("sudoku", SOLVED, reference)
    assert (verdict.score, verdict.reason) == (None, reason)


def pattern(height: int, width: int) -> list[list[int]]:
    """A sudoku of any size: each row is the one before, shifted."""
    side = height * width
    return [[(y % height * width + y // height + x) % side + 1 for x in range(side)] for y in range(side)]


@st.composite
def sudokus(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]], tuple[int, int]]:
    height, width = draw(st.sampled_from([(2, 2), (2, 3), (3, 3), (2, 4), (4, 4)]))
    signs = draw(st.permutations(range(1, height * width + 1)))
    solved = [[signs[cell - 1] for cell in row] for row in pattern(height, width)]
    blanks = draw(st.sets(st.integers(0, (height * width) ** 2 - 1), min_size=1))
    side = height * width
    given = [[0 if y * side + x in blanks else solved[y][x] for x in range(side)] for y in range(side)]
    return given, solved, (height, width)


@FEW
@given(sudokus(), st.data())
def test_a_solved_sudoku_is_right_and_any_other_cell_is_wrong(
    sudoku: tuple[list[list[int]], list[list[int]], tuple[int, int]], data: st.DataObject
) -> None:
    given, solved, box = sudoku
    reference = {"puzzle": given, "box": list(box)}
    text = "\n".join(" ".join(map(str, row)) for row in solved)
    assert score("sudoku", text, reference) == 1.0
    assert score("sudoku", json.dumps(solved), {"puzzle": given}) == 1.0
    side = len(solved)
    y, x = data.draw(st.tuples(st.integers(0, side - 1), st.integers(0, side - 1)))
    other = [list(row) for row in solved]
    other[y][x] = data.draw(st.sampled_from([sign for sign in range(1, side + 1) if sign != solved[y][x]]))
    assert score("sudoku", json.dumps(other), reference) == 0.0
    assert score("sudoku", json.dumps(given), reference) == 0.0
    assert score("sudoku", "\n".join(" ".join(map(str, row)).replace(" 0", " _") for row in given), reference) == 0.0
    assert score("sudoku", "", reference) == 0.0


def test_letters_of_a_large_sudoku() -> None:
    solved = pattern(4, 4)
    given = [[0 if x == y else cell for x, cell in enumerate(row)] for y, row in enumerate(solved)]
    for signs, blank in (("123456789ABCDEFG", "."), ("0123456789ABCDEF", "."), ("ABCDEFGHIJKLMNOP", "_")):
        puzzle = "".join(signs[cell - 1] if cell else blank for row in given for cell in row)
        answer = "\n".join("".join(signs[cell - 1] for cell in row) for row in solved)
        assert score("sudoku", answer, puzzle) == 1.0
        assert score("sudoku", answer[::-1], puzzle) == 0.0


# --- queens

BOARD = "_ _ _ _\n_ _ _ Q\n_ _ _ _\n_ _ _ _"
QUEENS = [
    "_ Q _ _\n_ _ _ Q\nQ _ _ _\n_ _ Q _",
    ".Q..\n...Q\nQ...\n..Q.",
    '[".Q..","...Q","Q...","..Q."]',
    "[[0,1,0,0],[0,0,0,1],[1,0,0,0],[0,0,1,0]]",
    "| . | Q | . | . |\n| . | . | . | Q |\n| Q | . | . | . |\n| . | . | Q | . |",
    "[1,3,0,2]",
    "<answer>[2,4,1,3]</answer>",
    "<answer>1 3 0 2</answer>",
    "(0,1), (1,3), (2,0), (3,2)",
    "[[0,1],[1,3],[2,0],[3,2]]",
    "(1,2),(2,4),(3,1),(4,3)",
]


@table("answer", QUEENS)
@table(
    "reference",
    [BOARD, {"puzzle": [row.split() for row in BOARD.split("\n")]}, 4, "4", {"n": 4, "queens": [[1, 3]]}, {"size": 4}],
)
def test_queens_forms(answer: str, reference: Any) -> None:
    assert score("n_queens", answer, reference) == 1.0
    assert score("n_queens", f"Board:\n{BOARD}\n\nSolution:\n{answer}", reference) == 1.0


@pytest.mark.accuracy
@table(
    "response", [BOARD, "", "Q Q Q Q\n" * 4, "[0,0,0,0]", "[0,1,2,3]", "[1,3,0]", "[2,0,3,1]", "[1,3,0,9]", "[" * 10**6]
)
def test_what_places_no_queens(response: str) -> None:
    assert score("n_queens", response, BOARD) == 0.0


@table(
    ("reference", "reason"),
    [
        (3, "no_solution"),
        (0, "bad_puzzle"),
        (10**9, "bad_puzzle"),
        (True, "bad_puzzle"),
        ({"n": 4, "queens": [[0, 0], [1, 1]]}, "no_solution"),
        ({"n": 4, "queens": [[0, 0]]}, None),
        ({"n": 4, "queens": [[0, 4]]}, "bad_puzzle"),
        ("Q _ _ _\n_ _ Q _\n_ _ _ _\n_ _ _ _", "no_solution"),
        (QUEENS[0], "bad_puzzle"),
        ("_ _\n_", "bad_puzzle"),
    ],
)
def test_queens_that_cannot_be_placed(reference: Any, reason: str | None) -> None:
    verdict = ask("n_queens", "[1,3,0,2]", reference)
    assert verdict.score is (None if reason else verdict.score)
    assert reason is None or verdict.reason == reason


@FEW
@given(st.permutations(range(6)), st.integers(0, 6))
def test_queens_are_judged_by_the_rules(columns: list[int], given_rows: int) -> None:
    lines = [(y + x, y - x) for y, x in enumerate(columns)]
    is_right = all(len(set(line)) == 6 for line in zip(*lines, strict=True))
    assert score("n_queens", json.dumps(columns), 6) == float(is_right)
    assert score("n_queens", json.dumps([column + 1 for column in columns]), 6) == float(is_right)
    board = "\n".join(" ".join("Q" if x == column else "_" for x in range(6)) for column in columns)
    assert score("n_queens", board, 6) == float(is_right)
    assume(given_rows < 6)
    kept = {"n": 6, "queens": [[given_rows, columns[given_rows]]]}
    assert score("n_queens", board, kept) in ((1.0,) if is_right else (0.0, None))


# --- ARC

OUTPUT = [[8, 2, 8], [6, 2, 8]]


@table(
    "response",
    [
        "8 2 8\n6 2 8",
        "828\n628",
        "8,2,8\n6,2,8",
        "[[8,2,8],[6,2,8]]",
        "[[8 2 8]\n [6 2 8]]",
        "```\n8 2 8\n6 2 8\n```",
        "<answer>[[8, 2, 8], [6, 2, 8]]</answer>",
        "| 8 | 2 | 8 |\n| 6 | 2 | 8 |",
        "\\boxed{\\begin{matrix} 8 & 2 & 8 \\\\ 6 & 2 & 8 \\end{matrix}}",
        json.dumps(OUTPUT, indent=2),
        "Input:\n1 2\n3 4\n\nOutput:\n8 2 8\n6 2 8",
        '{"output": [[8,2,8],[6,2,8]]}',
    ],
)
@table(
    "reference",
    [
        OUTPUT,
        "828\n628",
        "8 2 8\n6 2 8",
        json.dumps(OUTPUT),
        {"output": OUTPUT, "input": [[1]]},
        {"test": [{"input": [[1]], "output": OUTPUT}]},
        {"metadata": {"test_example": {"input": [[0]], "output": OUTPUT}}},
    ],
)
def test_arc_forms(response: str, reference: Any) -> None:
    assert score("arc_grid", response, reference) == 1.0


@table(
    "response",
    [
        "",
        "8 2 8 6 2 8",
        "8 2 8\n6 2 8\n6 2 8",
        "8 2\n6 2",
        "<answer>8 2 8\n6 2 8\n\n8 2 8\n6 2 9</answer>",
        "8 2 8\n6 2 8 or\n8 2 8\n6 2 9",
        "<answer></answer>8 2 8\n6 2 8",
        "1\n" * 100_000,
        "0 " * 1_000_000,
    ],
)
def test_what_is_another_grid(response: str) -> None:
    assert score("arc_grid", response, OUTPUT) == 0.0


@FEW
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=8), st.data())
def test_every_cell_counts(grid: list[list[int]], data: st.DataObject) -> None:
    forms = [json.dumps(grid), "\n".join(" ".join(map(str, row)) for row in grid)]
    assert [score("arc_grid", form, grid) for form in forms] == [1.0, 1.0]
    y, x = data.draw(st.tuples(st.integers(0, len(grid) - 1), st.integers(0, 2)))
    other = [list(row) for row in grid]
    other[y][x] = (other[y][x] + data.draw(st.integers(1, 9))) % 10
    assert score("arc_grid", json.dumps(other), grid) == 0.0
    assert score("arc_grid", f"<answer>{forms[0]}\n\n{json.dumps(other)}</answer>", grid) == 0.0


def test_a_row_is_a_grid() -> None:
    assert score("arc_grid", "2 5 5", {"test_example": {"output": [2, 5, 5]}}) == 1.0
    assert ask("arc_grid", "1", [[1, 2], [3]]).reason == "bad_puzzle"
    assert ask("arc_grid", "1", [[1, 12]]).reason == "bad_puzzle"
    assert ask("arc_grid", "1", [[1] * 101]).reason == "bad_puzzle"
