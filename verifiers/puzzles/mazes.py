"""Grid mazes, read as graphs of their open cells: four directions, one step each.

Signs: `S` or `*` is the start. `G`, `E` or `T` is the goal, and so is `#` if `*` is the start. `X`, `█`, 1, and a `#`
that is not the goal, are walls. `O`, `.`, `_`, 0 and a space are open. `start` and `goal` of the reference, as [row,
column] from 0, take precedence over signs.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from verifiers.puzzles.grids import Grid
from verifiers.puzzles.puzzle import field, malformed

Cell = tuple[int, int]
"""Row and column, from 0."""

MAX_SIDE = 300
MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class Maze(NamedTuple):
    rows: int
    columns: int
    walls: frozenset[Cell]
    start: Cell
    goal: Cell

    def is_open(self, cell: Cell) -> bool:
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns and cell not in self.walls


_OPEN = frozenset("O.o0_ ")
_WALLS = frozenset("Xx█■1W")
_GOALS = frozenset("GETgF")


def read(reference: Mapping[str, Any], rows: Any) -> Maze:
    """The maze of a reference.

    Raises:
        InvalidItem: the reference holds no maze.
    """
    cells = _cells(rows)
    start_cells = _places(cells, "S") or _places(cells, "*") or _places(cells, "s")
    is_hash_goal = bool(_places(cells, "*")) and len(_places(cells, "#")) == 1 and not _places(cells, "S")
    goals = _places(cells, "#") if is_hash_goal else [cell for sign in sorted(_GOALS) for cell in _places(cells, sign)]
    start = _given(field(reference, "start", "source"), cells) or _only(start_cells, "start")
    goal = _given(field(reference, "goal", "end", "target", "destination"), cells) or _only(goals, "goal")
    walls = []
    for y, row in enumerate(cells):
        for x, sign in enumerate(row):
            if sign in _WALLS or (sign == "#" and not is_hash_goal):
                walls.append((y, x))
            elif sign not in _OPEN and (y, x) not in (*start_cells, *goals):
                raise malformed(f"{sign[:10]!r} is not a sign of a maze")
    if start == goal or start in walls or goal in walls:
        raise malformed("start and goal must be two open cells")
    return Maze(len(cells), len(cells[0]), frozenset(walls), start, goal)


def _cells(rows: Any) -> Grid:
    lines = rows.strip("\n").split("\n") if isinstance(rows, str) else rows
    if not isinstance(lines, list | tuple) or not 0 < len(lines) <= MAX_SIDE:
        raise malformed(f"expected a maze of at most {MAX_SIDE} rows")
    grid = []
    for line in lines:
        if not isinstance(line, str | list | tuple):
            raise malformed("expected each row of the maze as a text or a list")
        if (
            isinstance(line, str)
            and (words := line.split())
            and len(words) > 1
            and all(len(word) == 1 for word in words)
        ):
            line = words
        grid.append(tuple([str(cell) if cell != "" else " " for cell in line]))
    if not 0 < len(grid[0]) <= MAX_SIDE or len({len(row) for row in grid}) != 1:
        raise malformed("the rows of the maze are missing, too long, or not of the same length")
    return tuple(grid)


def _places(cells: Grid, sign: str) -> list[Cell]:
    return [(y, x) for y, row in enumerate(cells) if sign in row for x, mark in enumerate(row) if mark == sign]


def _only(marked: Sequence[Cell], role: str) -> Cell:
    if len(marked) != 1:
        raise malformed(f"expected one {role} in the maze, found {len(marked)}")
    return marked[0]


def _given(value: Any, cells: Grid) -> Cell | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(type(part) is int for part in value):
        raise malformed("expected `start` and `goal` of a maze as [row, column]")
    if not (0 <= value[0] < len(cells) and 0 <= value[1] < len(cells[0])):
        raise malformed("`start` or `goal` lies outside the maze; rows and columns count from 0")
    return value[0], value[1]


def steps(maze: Maze) -> int | None:
    """The number of steps of a shortest path, by breadth-first search; None if there is no path."""
    distance = {maze.start: 0}
    waiting = deque([maze.start])
    while waiting:
        cell = waiting.popleft()
        if cell == maze.goal:
            return distance[cell]
        for move in MOVES.values():
            following = (cell[0] + move[0], cell[1] + move[1])
            if following not in distance and maze.is_open(following):
                distance[following] = distance[cell] + 1
                waiting.append(following)
    return None


def walked(maze: Maze, moves: Sequence[str]) -> Cell | None:
    """The cell that these moves lead to; None if one leads into a wall or off the grid."""
    cell = maze.start
    for move in moves:
        step = MOVES[move]
        cell = (cell[0] + step[0], cell[1] + step[1])
        if not maze.is_open(cell):
            return None
    return cell
