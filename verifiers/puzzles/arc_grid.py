"""ARC: the answer is the output grid, every cell of it.

The reference is the grid (rows of digits 0–9, as lists or text), or an object that holds it: `output`, `solution`,
`grid`, `answer`, the `test` of an ARC task (one test), or `test_example`. A flat list is a grid of one row, as in 1D-ARC.
Answers may be nested lists or rows of text, with or without gaps. There is no score for single cells.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from verifiers.base import Example, Item, Resources, Status, Verdict
from verifiers.puzzles import grids, puzzle
from verifiers.puzzles.grids import Grid, Shape
from verifiers.puzzles.puzzle import Offer, PuzzleParams, PuzzleVerifier, Rules, decoded, field


class ArcGrid(PuzzleVerifier[PuzzleParams]):
    name = "arc_grid"
    version = "21"
    params = PuzzleParams
    summary = "A grid of digits equals the reference grid (ARC-AGI, 1D-ARC, Re-ARC)"


def create(resources: Resources) -> ArcGrid:
    return ArcGrid(resources.workers, judge, Item("0 1\n1 0", PuzzleParams(reference=[[0, 1], [1, 0]])))


def judge(item: Item[PuzzleParams]) -> Verdict:
    return puzzle.judge(item, _RULES)


_MAX_SIDE = 100
_DIGITS = frozenset("0123456789")
_SHAPE = Shape(_DIGITS.__contains__)


def _read(params: PuzzleParams) -> Grid:
    value: Any = decoded(params.reference)
    if isinstance(value, Mapping):
        value = field(value, "test_example", "test", "output", "test_output", "solution", "grid", "answer")
    if isinstance(value, Sequence) and len(value) == 1 and isinstance(value[0], Mapping):
        value = value[0]
    if isinstance(value, Mapping):
        value = field(value, "output")
    value = decoded(value)
    if isinstance(value, list | tuple) and value and not isinstance(value[0], list | tuple | str):
        value = [value]
    return grids.given(value, _DIGITS.__contains__, _MAX_SIDE)


def _offers(text: str, _: Grid) -> list[Offer[Grid]]:
    return grids.offers(text, _SHAPE)


def _check(answer: Grid, expected: Grid) -> str | None:
    if answer == expected:
        return None
    same_shape = [len(row) for row in answer] == [len(row) for row in expected]
    return "wrong_answer" if same_shape else "wrong_shape"


_RULES = Rules(_read, _offers, _check)

_OUTPUT = [[8, 2, 8], [6, 2, 8]]

EXAMPLES = (
    Example("The pattern repeats.\n\n8 2 8\n6 2 8", {"reference": _OUTPUT}, 1.0, "correct", "the last grid"),
    Example("<answer>[[8, 2, 8], [6, 2, 8]]</answer>", {"reference": "828\n628"}, 1.0, "correct", "lists or text"),
    Example("<answer>8 2 8\n6 2 9</answer>", {"reference": _OUTPUT}, 0.0, "wrong_answer", "one cell differs"),
    Example("<answer>8 2 8</answer>", {"reference": {"output": _OUTPUT}}, 0.0, "wrong_shape", "a row is missing"),
    Example("8", {"reference": [[8, 2], [6]]}, None, "bad_puzzle", "no rectangle", Status.INVALID),
)
