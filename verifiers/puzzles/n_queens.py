"""N queens: one queen in each row and column, no two on a diagonal, and the given queens stay in place.

The reference is the number of queens, a board, or an object. The object has a board as `puzzle`, `board` or `grid`, or
`n` and optionally `queens` (their [row, column], from 0). On a board Q, q, ♕, ♛, 👑 and 1 are queens; _ . 0 - * x, empty
squares (⬜ ⬛), empty cells, and null are free. The answer is a board, a list of columns (one for each row), or a list of
all [row, column]. Numbers may count from 0 or from 1; the largest and smallest of them show which.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from verifiers.base import Example, InvalidItem, Item, Resources, Status, Verdict
from verifiers.puzzles import grids, puzzle
from verifiers.puzzles.grids import Grid, Shape
from verifiers.puzzles.notation import PAIR
from verifiers.puzzles.puzzle import Offer, PuzzleParams, PuzzleVerifier, Rules, decoded, field, malformed


class NQueens(PuzzleVerifier[PuzzleParams]):
    name = "n_queens"
    version = "21"
    params = PuzzleParams
    summary = "A placement of n queens that attack each other nowhere and keeps the queens that were given"


def create(resources: Resources) -> NQueens:
    return NQueens(resources.workers, judge, Item("[1, 3, 0, 2]", PuzzleParams(reference=4)))


def judge(item: Item[PuzzleParams]) -> Verdict:
    return puzzle.judge(item, _RULES)


Queens = tuple[tuple[int, int], ...]
"""The queens as rows and columns from 0, in order."""


class _Puzzle(NamedTuple):
    side: int
    given: Queens


# --- the puzzle

_MAX_SIDE = 100
_QUEENS = frozenset("Qq♕♛👑1")
_FREE = frozenset("_.0-*xX⬜⬛□■·")
_SQUARES = _QUEENS | _FREE


def _read(params: PuzzleParams) -> _Puzzle:
    reference: Any = decoded(params.reference)
    side: Any = reference
    board: Any = reference if isinstance(reference, list | tuple | str) else None
    queens: Any = None
    if isinstance(reference, Mapping):
        board = field(reference, "puzzle", "board", "grid")
        side = field(reference, "n", "size", "board_size")
        queens = field(reference, "queens", "preplaced", "placed", "given")
    if isinstance(board, str) and board.strip().isdecimal() and len(board.strip()) <= 3:
        side, board = int(board), None
    if board is not None:
        cells = grids.given(decoded(board), lambda cell: cell in _QUEENS or cell in _FREE, _MAX_SIDE)
        if len(cells) != len(cells[0]) or (isinstance(side, int) and side != len(cells)):
            raise malformed("the board is not a square of n rows")
        fixed = _queens(cells)
        side = len(cells)
    else:
        fixed = _listed(queens)
    if isinstance(side, bool) or not isinstance(side, int) or not 1 <= side <= _MAX_SIDE:
        raise malformed(f"expected a board, or `n` from 1 to {_MAX_SIDE}, found {str(side)[:40]!r}")
    if any(not (0 <= row < side and 0 <= column < side) for row, column in fixed):
        raise malformed("a given queen stands outside the board; rows and columns count from 0")
    if side in (2, 3):
        raise InvalidItem("no_solution", f"{side} queens cannot stand on such a board")
    if _attacks(fixed):
        raise InvalidItem("no_solution", "the given queens attack each other")
    if len(fixed) == side > 1:
        raise malformed("all queens are given: nothing is left to place")
    return _Puzzle(side, fixed)


def _queens(cells: Grid) -> Queens:
    return tuple((y, x) for y, row in enumerate(cells) for x, cell in enumerate(row) if cell in _QUEENS)


def _listed(queens: Any) -> Queens:
    if queens is None:
        return ()
    if not isinstance(queens, list | tuple) or len(queens) > _MAX_SIDE:
        raise malformed("expected `queens` as a list of [row, column]")
    squares = []
    for queen in queens:
        if not isinstance(queen, list | tuple) or len(queen) != 2 or not all(type(part) is int for part in queen):
            raise malformed("expected `queens` as a list of [row, column], counted from 0")
        squares.append((queen[0], queen[1]))
    return tuple(sorted(squares))


def _attacks(queens: Queens) -> bool:
    lines = ([y for y, _ in queens], [x for _, x in queens], [y + x for y, x in queens], [y - x for y, x in queens])
    return any(len(set(line)) < len(queens) for line in lines)


def _impossible(puzzle_: _Puzzle) -> str | None:
    """The reason, if a row or a column has no safe square left. There is no search."""
    side, fixed = puzzle_
    rows, columns = {y for y, _ in fixed}, {x for _, x in fixed}
    sums, differences = {y + x for y, x in fixed}, {y - x for y, x in fixed}
    free = [
        (y, x)
        for y in range(side)
        if y not in rows
        for x in range(side)
        if x not in columns and y + x not in sums and y - x not in differences
    ]
    # Each row and each column without a queen needs a free square.
    if len({y for y, _ in free}) < side - len(rows) or len({x for _, x in free}) < side - len(columns):
        return "a row or a column has no square left that no given queen attacks"
    return None


# --- the answer

_PAIRS = re.compile(rf"{PAIR.pattern}(?:\s{{0,4}}[,;]?\s{{0,4}}(?:and\s)?{PAIR.pattern})+")


def _offers(text: str, puzzle_: _Puzzle) -> list[Offer[Queens]]:
    side = puzzle_.side
    offers: list[Offer[Queens]] = []
    shape = Shape(lambda cell: cell in _QUEENS or cell in _FREE or (cell.isdecimal() and len(cell) <= 3), blank="_")
    for start, end, cells in grids.offers(text, shape):
        queens = _placed(cells, side)
        # A copy of the given board is the puzzle and not an answer.
        if queens is not None and queens != puzzle_.given:
            offers.append(Offer(start, end, queens))
    offers.extend(_in_columns(text, side))
    # `(1, 2), (2, 4), (3, 1), (4, 3)`
    for run in _PAIRS.finditer(text):
        squares = [(int(pair[1]), int(pair[2])) for pair in PAIR.finditer(run[0])]
        if len(squares) == side:
            offers.append(Offer(run.start(), run.end(), _from_pairs(squares, side)))
    # `Row one: (0, 1). Row two: (1, 3). …`: the pairs of the whole text are one answer.
    if not offers and (pairs := list(PAIR.finditer(text))):
        queens = _from_pairs([(int(pair[1]), int(pair[2])) for pair in pairs], side)
        offers.append(Offer(pairs[0].start(), pairs[-1].end(), queens))
    return _outermost(sorted(offers, key=lambda offer: (offer.start, -offer.end)))


def _outermost(offers: Sequence[Offer[Queens]]) -> list[Offer[Queens]]:
    """The offers, without single rows of a board and without a second reading of a place that gives the same queens."""
    outermost: list[Offer[Queens]] = []
    for offer in offers:
        previous = outermost[-1] if outermost else None
        # `[[0, 1, 0, 0], …]`: the inner lists are rows of the board before them.
        is_row = previous is not None and previous.start < offer.start and offer.end < previous.end
        if previous is None or not (is_row or (offer.start < previous.end and offer.answer == previous.answer)):
            outermost.append(offer)
    return outermost


def _in_columns(text: str, side: int) -> list[Offer[Queens]]:
    """The lists of one column per row behind words (`Solution: [2, 4, 1, 3]`), and lines `Row 1: column 2`."""
    offers: list[Offer[Queens]] = []
    for listed in _LIST.finditer(text):
        columns = [int(number) for number in listed["columns"].split(",")]
        if len(columns) == side:
            offers.append(Offer(listed.start(), listed.end(), _from_pairs(list(enumerate(columns)), side, True)))
    rows = list(_ROW.finditer(text))
    for at in range(0, len(rows) if len(rows) % side == 0 else 0, side):
        pairs = [(int(row["row"]), int(row["column"])) for row in rows[at : at + side]]
        offers.append(Offer(rows[at].start(), rows[at + side - 1].end(), _from_pairs(pairs, side)))
    return offers


_LIST = re.compile(
    r"(?<![\[(,\d])[\[(]\s{0,4}(?P<columns>\d{1,3}(?:\s{0,4},\s{0,4}\d{1,3})*+)\s{0,4}[\])](?!\s{0,4}[\])])"
)
_ROW = re.compile(
    r"\brow\s{0,2}(?P<row>\d{1,3})\W{1,8}(?:(?:the|queen|is|in|at|on)\s){0,5}col(?:umn)?\s{0,2}(?P<column>\d{1,3})\b",
    re.IGNORECASE,
)


def _placed(cells: Grid, side: int) -> Queens | None:
    """The queens of a board, of a row of columns, or of rows of pairs; None if the cells are none of the three."""
    # `_ Q _ _`, four of them
    if len(cells) == side and all(len(row) == side and _SQUARES.issuperset(row) for row in cells):
        return _queens(cells)
    # `2 4 1 3`: the column of the queen in each row
    if len(cells) == 1 and len(cells[0]) == side and all(cell.isdecimal() for cell in cells[0]):
        return _from_pairs(list(enumerate(map(int, cells[0]))), side, rows_are_counted=True)
    # `[[0, 1], [1, 3], [2, 0], [3, 2]]`: a row and a column each
    if len(cells) == side and all(len(row) == 2 and row[0].isdecimal() and row[1].isdecimal() for row in cells):
        return _from_pairs([(int(row[0]), int(row[1])) for row in cells], side)
    return None


def _from_pairs(pairs: Sequence[tuple[int, int]], side: int, rows_are_counted: bool = False) -> Queens:
    """The queens counted from 0, as the numbers show. Rows that were counted here already start at 0."""
    # `[2, 4, 1, 3]` on four columns counts from 1, `[1, 3, 0, 2]` from 0.
    column_base = 1 if any(x == side for _, x in pairs) else 0
    row_base = 0 if rows_are_counted else 1 if any(y == side for y, _ in pairs) else 0
    return tuple(sorted((y - row_base, x - column_base) for y, x in pairs))


def _check(answer: Queens, puzzle_: _Puzzle) -> str | None:
    side, fixed = puzzle_
    # A given queen was moved.
    if not set(fixed) <= set(answer):
        return "givens_changed"
    if len(answer) != side:
        return "incomplete" if len(answer) < side else "wrong_answer"
    on_board = all(0 <= y < side and 0 <= x < side for y, x in answer)
    return None if on_board and not _attacks(answer) else "wrong_answer"


def _has_all_queens(answer: Queens, puzzle_: _Puzzle) -> bool:
    return len(answer) == puzzle_.side


_RULES = Rules(_read, _offers, _check, _impossible, _has_all_queens)

_BOARD = "_ Q _ _\n_ _ _ _\n_ _ _ _\n_ _ _ _"

EXAMPLES = (
    Example("_ Q _ _\n_ _ _ Q\nQ _ _ _\n_ _ Q _", {"reference": {"puzzle": _BOARD}}, 1.0, "correct", "a board"),
    Example("<answer>[2, 4, 1, 3]</answer>", {"reference": {"n": 4}}, 1.0, "correct", "columns, here from 1"),
    Example(
        "_ _ Q _\nQ _ _ _\n_ _ _ Q\n_ Q _ _",
        {"reference": _BOARD},
        0.0,
        "givens_changed",
        "a solution of the empty board, but the given queen was moved",
    ),
    Example("<answer>[0, 1, 2, 3]</answer>", {"reference": 4}, 0.0, "wrong_answer", "all on one diagonal"),
    Example("[0, 2, 1]", {"reference": 3}, None, "no_solution", "no such placement", Status.INVALID),
)
