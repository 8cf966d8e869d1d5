"""One answer is committed to, whatever the puzzle: a later one may correct an earlier one, but not stand beside it."""

from typing import Any, NamedTuple

from tests.tables import table
from tests.verifiers.puzzles.asking import ask, score


class Puzzle(NamedTuple):
    name: str
    reference: Any
    right: str
    wrong: str
    other: str


PUZZLES = [
    Puzzle("countdown", {"target": 98, "nums": [44, 19, 35]}, "44 + 19 + 35", "44 - 19 + 35", "44 + 19 - 35"),
    Puzzle(
        "sudoku",
        "1..4.41.2.4..3.1",
        "1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1",
        "1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 1 2",
        "1 3 2 4\n2 4 1 3\n2 1 4 3\n4 3 2 1",
    ),
    Puzzle("arc_grid", [[8, 2, 8], [6, 2, 8]], "8 2 8\n6 2 8", "8 2 8\n6 2 9", "8 2 1\n6 2 8"),
    Puzzle("n_queens", 4, "[1, 3, 0, 2]", "[0, 2, 3, 1]", "[3, 1, 0, 2]"),
    Puzzle(
        "word_ladder",
        {"start": "COLD", "end": "WARM", "words": ["cord", "card", "ward", "word", "worm"]},
        "cold, cord, card, ward, warm",
        "cold, corm, worm, warm",
        "cold, wold, word, worm, warm",
    ),
    Puzzle(
        "shortest_path",
        {
            "edges": [["A", "B", 1], ["B", "C", 2], ["A", "C", 5], ["A", "D", 2], ["D", "C", 2]],
            "start": "A",
            "goal": "C",
        },
        "A -> B -> C",
        "A -> C",
        "A -> D -> C",
    ),
    Puzzle(
        "graph_coloring",
        {"edges": [["A", "B"], ["B", "C"]], "colors": ["red", "blue"]},
        '{"A": "red", "B": "blue", "C": "red"}',
        '{"A": "red", "B": "red", "C": "red"}',
        '{"A": "red", "B": "red", "C": "blue"}',
    ),
    Puzzle(
        "knights_and_knaves",
        {"names": ["Zoey", "Oliver"], "solution": [False, True]},
        "Zoey is a knave, Oliver is a knight",
        "Zoey is a knight, Oliver is a knave",
        "Zoey is a knight, Oliver is a knight",
    ),
    Puzzle(
        "zebra",
        {"header": ["House", "Name"], "rows": [["1", "Eric"], ["2", "Ann"]]},
        '{"House 1": {"Name": "Eric"}, "House 2": {"Name": "Ann"}}',
        '{"House 1": {"Name": "Ann"}, "House 2": {"Name": "Eric"}}',
        '{"House 1": {"Name": "Ann"}, "House 2": {"Name": "Ann"}}',
    ),
]
SIDE_BY_SIDE = [
    "{wrong}\n\n{other}\n\n{right}",
    "{wrong}\n\n{right}",
    "{right}\n\n{wrong}",
    "```\n{wrong}\n```\n```\n{other}\n```\n```\n{right}\n```",
    "{wrong}\nor\n{right}",
    "{right}\nor\n{wrong}",
    "Option 1:\n{wrong}\n\nOption 2:\n{right}",
    "Solution A:\n{wrong}\n\nSolution B:\n{right}",
    "There are several solutions:\n{wrong}\n\nAnother one is:\n{right}",
    "Either\n{wrong}\nor maybe\n{right}",
    "If the first clue holds:\n{wrong}\n\nIf it does not:\n{right}",
    "<answer>{wrong}\n\n{right}</answer>",
    "<answer>{wrong} <answer>{right}</answer></answer>",
    "<answer>{wrong}</answer>\n<answer>{right}</answer>",
    "{right}\n\nThat is wrong.",
    "The answer is not:\n{right}",
    "Is it {right}?",
    "My friend says {right}.",
    "<answer>not {right}</answer>",
    "Die Antwort ist nicht {right}.",
    "如果成立：\n{right}",
    "{right}\n\n无解。",
]
COMMITTED = [
    "{right}",
    "The answer is:\n{right}",
    "{right}\n\nSo the final answer is:\n{right}",
    "First attempt:\n{wrong}\n\nWait, that is a mistake. The corrected answer:\n{right}",
    "{wrong}\n\nThis does not work, so instead:\n{right}",
    "Attempt 1:\n{wrong}\n\nAttempt 2:\n{other}\n\nBoth fail. Therefore, the answer is:\n{right}",
    "<answer>\n{right}\n</answer>",
    "<think>{wrong}</think>\n{right}",
    "{wrong}\n\nLet me try again:\n{right}",
    "{wrong}\n\n不对，应该是：\n{right}",
    "答案是：\n{right}",
    "{right}\n\nNo better solution exists.",
    "<answer><answer>{right}</answer></answer>",
]


@table("form", SIDE_BY_SIDE)
@table("puzzle", PUZZLES, [puzzle.name for puzzle in PUZZLES])
def test_answers_side_by_side_commit_to_none(puzzle: Puzzle, form: str) -> None:
    response = form.format(right=puzzle.right, wrong=puzzle.wrong, other=puzzle.other)
    assert score(puzzle.name, response, puzzle.reference) == 0.0


@table("form", COMMITTED)
@table("puzzle", PUZZLES, [puzzle.name for puzzle in PUZZLES])
def test_an_answer_that_corrects_or_concludes_counts(puzzle: Puzzle, form: str) -> None:
    response = form.format(right=puzzle.right, wrong=puzzle.wrong, other=puzzle.other)
    assert score(puzzle.name, response, puzzle.reference) == 1.0


@table("puzzle", PUZZLES, [puzzle.name for puzzle in PUZZLES])
def test_no_correction_is_accepted_where_conflicts_are_rejected(puzzle: Puzzle) -> None:
    response = f"{puzzle.wrong}\n\nWait, that is a mistake. Corrected:\n{puzzle.right}"
    verdict = ask(puzzle.name, response, puzzle.reference, on_conflict="reject")
    assert (verdict.score, verdict.reason) == (0.0, "conflicting_answers")


@table(
    ("name", "response"),
    [
        ("word_ladder", "cold, cord, card, ward, warm or cold, warm"),
        ("word_ladder", "cold, warm or cold, cord, card, ward, warm"),
        ("word_ladder", "<answer>cold, warm, cold, cord, card, ward, warm</answer>"),
        ("shortest_path", "A -> B -> C or infeasible"),
        ("shortest_path", "A -> C, A -> B -> C"),
        ("shortest_path", '{"path": "A -> B -> C, A -> C"}'),
        ("knights_and_knaves", "If Zoey is a knight, Oliver is a knave. If Zoey is a knave, Oliver is a knight."),
        ("knights_and_knaves", "Zoey is a knight.\nZoey is a knave.\nOliver is a knight."),
        ("countdown", "44 * 19 - 35 = 98\n44 + 19 + 35 = 98"),
    ],
)
def test_what_commits_to_nothing(name: str, response: str) -> None:
    reference = next(puzzle.reference for puzzle in PUZZLES if puzzle.name == name)
    assert score(name, response, reference) == 0.0


@table(
    ("name", "response"),
    [
        ("countdown", "44 + 19 - 35 = 28\n44 - 19 + 35 = 60\n44 + 19 + 35 = 98"),
        ("countdown", "(44 + 19) + 35 = 98\n\nEvery number is used once."),
        ("shortest_path", "A -> C has length 5.\nA -> B -> C has length 3.\nSo the shortest path is A -> B -> C."),
        ("shortest_path", "Direct: A -> C costs 5, but going through B is cheaper: A -> B -> C (3)."),
        ("word_ladder", "COLD -> WARM\n\nCOLD -> CORD -> CARD -> WARD -> WARM"),
        ("word_ladder", "cold, cord, card, ward, warm\n\nEach step changes one letter."),
        (
            "knights_and_knaves",
            "If Zoey is a knight, Oliver is a knave: a contradiction. So Zoey is a knave and Oliver a knight.",
        ),
        ("arc_grid", "Input:\n0 2 0\n6 0 8\n\nOutput:\n8 2 8\n6 2 8"),
        ("shortest_path", "A -> B -> C\n\nA -> C is wrong."),
        ("n_queens", "Row 1: column 2\nRow 2: column 4\nRow 3: column 1\nRow 4: column 3"),
    ],
)
def test_what_leads_to_an_answer_is_no_alternative(name: str, response: str) -> None:
    reference = next(puzzle.reference for puzzle in PUZZLES if puzzle.name == name)
    assert score(name, response, reference) == 1.0
