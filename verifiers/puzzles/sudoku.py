"""Sudoku: any completion of the given grid is right that has every sign once in each row, column and box.

Grids have 4 to 25 rows. The box is the squarest one that fits (2 high and 3 wide for 6), or `box` = [height, width] of
the reference. The reference is the puzzle, or an object that holds it as `puzzle`, `grid`, `board`, `quizzes` or
`question`. The puzzle is a list of rows, rows of text, or one text of all cells. Blanks are 0 . _ - * x ? or null.
Beyond 9 a cell is a number (10, 11, ...) or a letter (A is 10; A is 0xA if the digit 0 is a sign, and 1 if all signs
are letters). If an object holds only a `solution`, the answer must equal it.

A reference is `invalid` if its givens contradict each other, leave a cell without a sign or a sign without a place, if
no cell is blank, or if its `solution` does not solve it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from verifiers.base import Example, InvalidItem, Item, Resources, Status, Verdict
from verifiers.puzzles import grids, puzzle
from verifiers.puzzles.grids import Grid, Shape
from verifiers.puzzles.notation import lines
from verifiers.puzzles.puzzle import Offer, PuzzleParams, PuzzleVerifier, Rules, decoded, field, malformed


class Sudoku(PuzzleVerifier[PuzzleParams]):
    name = "sudoku"
    version = "21"
    params = PuzzleParams
    summary = "A completed sudoku that keeps the givens and breaks no rule (4x4 to 25x25)"


def create(resources: Resources) -> Sudoku:
    return Sudoku(resources.workers, judge, Item("1", PuzzleParams(reference=_SMALL)))


def judge(item: Item[PuzzleParams]) -> Verdict:
    return puzzle.judge(item, _RULES)


Values = tuple[tuple[int, ...], ...]
"""Rows of signs, written as numbers from 1; 0 is a blank."""


class _Puzzle(NamedTuple):
    givens: Values
    box: tuple[int, int]
    """The number of rows and columns of a box."""
    signs: Mapping[str, int]


# --- the puzzle

_MAX_SIDE = 25
_BLANKS = frozenset("0._-*x?X")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _read(params: PuzzleParams) -> _Puzzle:
    reference: Any = decoded(params.reference)
    box: Any = None
    solution: Any = None
    rows: Any = reference
    if isinstance(reference, Mapping):
        rows = field(reference, "puzzle", "grid", "board", "quizzes", "quiz", "question", "givens", "sudoku", "initial")
        solution = field(reference, "solution", "solutions", "answer")
        box = field(reference, "box", "box_size")
        if rows is None and solution is None:
            raise malformed("expected `puzzle`, the grid with its blanks")
    is_solution = rows is None
    cells = _grid(solution if is_solution else rows)
    signs = _signs(cells)
    givens = _values(cells, signs)
    if givens is None:
        raise malformed("the givens are not the signs of a sudoku of this size")
    puzzle_ = _Puzzle(givens, _box(box, len(cells)), signs)
    if any(_repeats(unit) for unit in _units(givens, puzzle_.box)):
        raise InvalidItem("no_solution", "a given stands twice in a row, a column or a box")
    has_blanks = any(0 in row for row in givens)
    if is_solution is has_blanks:
        raise malformed("the puzzle has no blank" if not has_blanks else "the solution has blanks")
    if solution is not None and not is_solution:
        solved = _values(_grid(solution), _signs(_grid(solution), signs))
        if solved is None or len(solved) != len(givens) or _check(solved, puzzle_) is not None:
            raise malformed("the reference's own solution does not solve it")
    return puzzle_


def _grid(value: Any) -> Grid:
    value = decoded(value)
    if isinstance(value, str) and "\n" not in value.strip():
        value = _square(value.strip())
    elif isinstance(value, list | tuple) and value and not isinstance(value[0], list | tuple | str):
        value = _square(value)
    cells = grids.given(value, _is_cell, _MAX_SIDE)
    if len(cells) != len(cells[0]) or len(cells) < 4:
        raise malformed(f"expected a square of 4 to {_MAX_SIDE}, found {len(cells)} rows of {len(cells[0])}")
    return cells


def _square(cells: Any) -> Any:
    """The cells as rows, if they are a flat list or a text of single signs; otherwise unchanged."""
    if isinstance(cells, str):
        words = cells.replace(",", " ").split()
        cells = words if len(words) > 1 and math.isqrt(len(words)) ** 2 == len(words) else list("".join(words))
    side = math.isqrt(len(cells))
    if side * side != len(cells) or not 4 <= side <= _MAX_SIDE:
        raise malformed(f"{len(cells)} cells make no square of 4 to {_MAX_SIDE}")
    return [list(cells[at : at + side]) for at in range(0, len(cells), side)]


def _is_cell(cell: str) -> bool:
    """Whether a text is a cell: a blank, a number, or a letter in either case."""
    return cell in _BLANKS or (
        cell.isascii() and ((cell.isdigit() and len(cell) < 3) or (cell.isalpha() and len(cell) == 1))
    )


def _signs(cells: Grid, like: Mapping[str, int] | None = None) -> Mapping[str, int]:
    """The number of each sign. The signs of the puzzle hold for its solution, too."""
    if like is not None:
        return like
    side = len(cells)
    signs = {cell.upper() for row in cells for cell in row}
    numbers = {str(number): number for number in range(1, side + 1)}
    blank = {sign.upper(): 0 for sign in _BLANKS}
    if side <= 9:
        return blank | numbers
    has_letters = any(cell in _LETTERS for cell in signs - set(blank))
    if has_letters and not any(cell.isdigit() and cell != "0" for cell in signs):
        return blank | {letter: at for at, letter in enumerate(_LETTERS[:side], start=1)}
    if has_letters and "0" in signs and signs & {".", "_", "-", "*", "?"}:
        return blank | {f"{at:X}": at + 1 for at in range(10)} | dict(zip(_LETTERS, range(11, side + 1), strict=False))
    return blank | numbers | dict(zip(_LETTERS, range(10, side + 1), strict=False))


def _values(cells: Grid, signs: Mapping[str, int]) -> Values | None:
    """The signs of a grid as numbers; None if one is unknown."""
    try:
        return tuple(tuple(signs[cell.upper()] for cell in row) for row in cells)
    except KeyError:
        return None


def _box(sides: Any, side: int) -> tuple[int, int]:
    if isinstance(sides, int) and not isinstance(sides, bool):
        sides = [sides, side // sides if sides > 0 else 0]
    if sides is None:
        height = max(number for number in range(1, math.isqrt(side) + 1) if side % number == 0)
        sides = [height, side // height]
    if not isinstance(sides, list | tuple) or len(sides) != 2 or not all(type(length) is int for length in sides):
        raise malformed("expected `box` = [height, width]")
    if sides[0] < 1 or sides[0] * sides[1] != side:
        raise malformed(f"boxes of {sides[0]} by {sides[1]} do not fill a grid of {side}")
    return sides[0], sides[1]


def _units(values: Values, box: tuple[int, int]) -> Iterable[Sequence[int]]:
    """The values of all rows, columns and boxes."""
    yield from values
    yield from zip(*values, strict=True)
    side, (height, width) = len(values), box
    for top in range(0, side, height):
        for column in range(0, side, width):
            yield [value for row in values[top : top + height] for value in row[column : column + width]]


def _repeats(unit: Sequence[int]) -> bool:
    values = [value for value in unit if value]
    return len(set(values)) < len(values)


def _impossible(puzzle_: _Puzzle) -> str | None:
    """The reason why the puzzle has no solution, by one look at each blank and each sign, without a search."""
    givens, (height, width) = puzzle_.givens, puzzle_.box
    side = len(givens)
    full = (1 << side) - 1
    rows, columns, boxes = [0] * side, [0] * side, [0] * side
    cells = [(y, x, y // height * height + x // width) for y in range(side) for x in range(side)]
    for y, x, at in cells:
        if value := givens[y][x]:
            bit = 1 << value - 1
            rows[y], columns[x], boxes[at] = rows[y] | bit, columns[x] | bit, boxes[at] | bit
    possible_rows, possible_columns, possible_boxes = list(rows), list(columns), list(boxes)
    for y, x, at in cells:
        if givens[y][x]:
            continue
        free = full & ~(rows[y] | columns[x] | boxes[at])
        if not free:
            return f"no sign fits into row {y + 1}, column {x + 1}"
        possible_rows[y] |= free
        possible_columns[x] |= free
        possible_boxes[at] |= free
    if any(possible != full for possible in (*possible_rows, *possible_columns, *possible_boxes)):
        return "a sign has no place left in a row, a column or a box"
    return None


# --- the answer


def _offers(text: str, puzzle_: _Puzzle) -> list[Offer[Values]]:
    """The grids of the puzzle's signs, without the puzzle itself. A square in one line is a grid, too."""
    side = len(puzzle_.givens)
    signs = puzzle_.signs
    echo = _echo(puzzle_)
    offers: list[Offer[Values]] = []
    for start, end, cells in grids.offers(text, Shape(lambda cell: cell.upper() in signs, side, side)):
        values = _values(cells, signs)
        if values is not None and values != echo and len(values) > 1:
            offers.append(Offer(start, end, values))
    return sorted([*offers, *_in_one_line(text, puzzle_)], key=lambda offer: offer.start)


def _echo(puzzle_: _Puzzle) -> Values | None:
    """The values of the puzzle, which are not answers; None if the reference has only the solution."""
    return puzzle_.givens if any(0 in row for row in puzzle_.givens) else None


_ROW_LABEL = re.compile(r"\b(?:row|line|r)\s?\d{1,2}\s?[:.)=]", re.IGNORECASE)
_BETWEEN_SIGNS = re.compile(r"[\s,;|/&\[\](){}`*\"'$.]+")
_MAX_LINE_CHARS = 4_000


def _in_one_line(text: str, puzzle_: _Puzzle) -> list[Offer[Values]]:
    """The grids in one line, in signs, in words for rows, or in one word: `1 2 3 4 / 3 4 1 2 / …`, `1234 …`."""
    side = len(puzzle_.givens)
    grids: list[Offer[Values]] = []
    for start, line in lines(text):
        if not side * side <= len(line) <= _MAX_LINE_CHARS:
            continue
        words = [word for word in _BETWEEN_SIGNS.split(_ROW_LABEL.sub(" ", line).rpartition(":")[2]) if word]
        offered: list[Sequence[str]] = [word for word in words if len(word) == side * side]
        if len(words) == side and all(len(word) == side for word in words):
            words = list("".join(words))
        if len(words) == side * side:
            offered.append(words)
        for cells in offered:
            rows = tuple(tuple(cells[at : at + side]) for at in range(0, len(cells), side))
            values = _values(rows, puzzle_.signs)
            if values is not None and values != _echo(puzzle_):
                first = max(line.find(cells), 0) if isinstance(cells, str) else 0
                grids.append(Offer(start + first, start + len(line), values))
    return grids


def _check(answer: Values, puzzle_: _Puzzle) -> str | None:
    givens = puzzle_.givens
    side = len(givens)
    if len(answer) != side or any(len(row) != side for row in answer):
        return "wrong_shape"
    pairs = [pair for rows in zip(givens, answer, strict=True) for pair in zip(*rows, strict=True)]
    if any(clue and clue != cell for clue, cell in pairs):
        return "givens_changed"
    if any(not cell for _, cell in pairs):
        return "incomplete"
    return "wrong_answer" if any(_repeats(unit) for unit in _units(answer, puzzle_.box)) else None


def _is_filled(answer: Values, _: _Puzzle) -> bool:
    return all(map(all, answer))


_RULES = Rules(_read, _offers, _check, _impossible, _is_filled)

_SMALL = [[1, 0, 0, 4], [0, 4, 1, 0], [2, 0, 4, 0], [0, 3, 0, 1]]

EXAMPLES = (
    Example(
        "<answer>1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1</answer>",
        {"reference": {"puzzle": _SMALL}},
        1.0,
        "correct",
        "rows of text; any completion by the rules is right",
    ),
    Example("1234\n3412\n2143\n4321", {"reference": "1..4.41.2.4..3.1"}, 1.0, "correct", "a puzzle as one text"),
    Example(
        "<answer>1 2 3 4\n3 4 1 2\n2 3 4 1\n4 1 2 3</answer>",
        {"reference": _SMALL},
        0.0,
        "givens_changed",
        "a sudoku, but not a completion of this one",
    ),
    Example("1 _ _ 4\n_ 4 1 _\n2 _ 4 _\n_ 3 _ 1", {"reference": _SMALL}, 0.0, "no_answer", "the puzzle itself"),
    Example("1234\n3412\n2143\n4321", {"reference": "11.." * 4}, None, "no_solution", "1 twice", Status.INVALID),
)
