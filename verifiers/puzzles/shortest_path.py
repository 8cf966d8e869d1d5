"""Shortest path: the answer is a path from start to goal that exists and is as short as possible.

The reference is a graph (see `graphs`; with `start` or `source`, and `goal`, `end`, `target` or `destination`), or a
maze (see `mazes`; its rows as `matrix`, `maze` or `grid`). Weights are not negative. The length of the shortest path is
computed here; a `solution` of the reference is ignored. With `optimal=False` any path is right.

The answer lists the vertices from start to goal (`A -> B -> C`, `[A, B, C]`). For a maze it lists the moves (`up down
left right`, `UDLR`, arrows) or the cells as (row, column) from 0. An object `{"path": […], "length": 3}` must give the
true length. If there is no path, the right answer is "infeasible", "no path", "unreachable", "impossible", "none" or -1
on the last line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from verifiers.base import Example, Item, Resources, Status, Verdict
from verifiers.commitment.cues import Kind
from verifiers.commitment.stance import sentences
from verifiers.puzzles import graphs, mazes, notation, puzzle, structures
from verifiers.puzzles.graphs import Graph, Weight
from verifiers.puzzles.mazes import Maze
from verifiers.puzzles.puzzle import Offer, PuzzleParams, PuzzleVerifier, Rules, decoded, field, label, malformed


class ShortestPathParams(PuzzleParams):
    """The graph or the maze."""

    optimal: bool = True
    """Whether the path must be a shortest one."""


class ShortestPath(PuzzleVerifier[ShortestPathParams]):
    name = "shortest_path"
    version = "21"
    params = ShortestPathParams
    summary = "A path of a graph or a grid maze from start to goal that is valid and as short as possible"


def create(resources: Resources) -> ShortestPath:
    return ShortestPath(resources.workers, judge, Item("A -> B", ShortestPathParams(reference=_ROADS)))


def judge(item: Item[ShortestPathParams]) -> Verdict:
    return puzzle.judge(item, _RULES)


class _Network(NamedTuple):
    """A graph with the lightest edge of each pair of vertices."""

    names: Mapping[str, str]
    """The vertices by their names without case, if those names differ."""
    weights: Mapping[str, Mapping[str, Weight]]
    start: str
    goal: str


class _Puzzle(NamedTuple):
    field: _Network | Maze
    is_optimal: bool


class _Answer(NamedTuple):
    kind: Literal["path", "moves", "infeasible"]
    steps: tuple[str, ...] = ()
    length: Fraction | None = None
    """The length that the answer gives."""


# --- the puzzle


def _read(params: ShortestPathParams) -> _Puzzle:
    reference: Any = decoded(params.reference)
    if not isinstance(reference, Mapping):
        raise malformed("expected an object with a graph or a maze")
    rows = field(reference, "matrix", "maze", "grid")
    if rows is not None:
        return _Puzzle(mazes.read(reference, rows), params.optimal)
    return _Puzzle(_network(reference), params.optimal)


def _network(reference: Mapping[str, Any]) -> _Network:
    graph = graphs.read(reference)
    start = label(field(reference, "start", "source", "from", "start_node", "src"))
    goal = label(field(reference, "goal", "end", "target", "destination", "to", "end_node", "dst"))
    vertices = set(graph.vertices)
    if start not in vertices or goal not in vertices or start == goal:
        raise malformed("start and goal must be two different vertices of the graph")
    folded = [vertex.casefold() for vertex in graph.vertices]
    names = dict(zip(folded, graph.vertices, strict=True)) if len(set(folded)) == len(folded) else {}
    return _Network(names, _weights(graph), start, goal)


def _weights(graph: Graph) -> Mapping[str, Mapping[str, Weight]]:
    weights: dict[str, dict[str, Weight]] = {vertex: {} for vertex in graph.vertices}
    for start, end, weight in graph.edges:
        if weight < 0:
            raise malformed("a weight is negative")
        for a, b in ((start, end),) if graph.is_directed else ((start, end), (end, start)):
            weights[a][b] = min(weight, weights[a].get(b, weight))
    return weights


def _shortest(network: _Network) -> Weight | None:
    """The length of a shortest path, by Dijkstra's algorithm; None if there is no path."""
    visited: set[str] = set()
    waiting: list[tuple[Weight, str]] = [(0, network.start)]
    while waiting:
        length, vertex = heappop(waiting)
        if vertex == network.goal:
            return length
        if vertex in visited:
            continue
        visited.add(vertex)
        for following, weight in network.weights[vertex].items():
            if following not in visited:
                heappush(waiting, (length + weight, following))
    return None


# --- the answer

_NO_PATH = frozenset(["-1", "none", "[]"])
_ARROW = re.compile(r"\s*[→>]\s*")
_MOVE = re.compile(r"[^\W_]+|[^\s,;>\"'`*\[\]._-]")
_LIST_MARK = re.compile(r"\s{0,4}(?:\d{1,3}[.)]|[-•])\s")
_MOVES_OF_SIGNS = {"↑": "up", "⬆": "up", "↓": "down", "⬇": "down", "←": "left", "⬅": "left", "→": "right"}
_MOVES_OF_LETTERS = {"U": "up", "D": "down", "L": "left", "R": "right"}
_MAX_LABEL_CHARS = 80
_TAIL_CHARS = 300
_MAX_LINE_CHARS = 100_000


def _offers(text: str, puzzle_: _Puzzle) -> list[Offer[_Answer]]:
    text = notation.plain(text)
    offers = _in_maze(text, puzzle_.field) if isinstance(puzzle_.field, Maze) else _in_network(text, puzzle_.field)
    return offers or _without_path(text)


def _without_path(text: str) -> list[Offer[_Answer]]:
    """The offer of a last line which says that there is no path; else nothing."""
    end = len(text.rstrip("` \n"))
    tail = list(sentences(text, max(text.rfind("\n", 0, end) + 1, end - _TAIL_CHARS), end))
    # `Is there no path?` and `If there is no path, …` say nothing.
    if not tail or any(sentence.asks or sentence.has(Kind.IF, 0, len(sentence.words)) for sentence in tail):
        return []
    last, answer = tail[-1], _Answer("infeasible")
    for sentence in reversed(tail):
        if cues := [cue for cue in sentence.cues if cue.kind is Kind.NONE]:
            words = sentence.words
            return [Offer(words[cues[0].first].start, words[cues[-1].stop - 1].end, answer)]
    # `Answer: -1`, `Path: []`
    tokens = text[last.start : last.end].replace("[ ]", "[]").replace(":", " ").split()
    return [Offer(last.start, last.end, answer)] if tokens and tokens[-1].strip("*").lower() in _NO_PATH else []


def _in_maze(text: str, maze: Maze) -> list[Offer[_Answer]]:
    """The answers in lines of moves, where lines in a row are one answer; without any, all cells from the start on."""
    blocks: list[tuple[int, int, list[str]]] = []
    for start, line in notation.lines(text):
        first, moves = _moves_of_line(line) if len(line) <= _MAX_LINE_CHARS else (0, [])
        # Moves on the next line go on with the same answer.
        if moves and blocks and blocks[-1][1] == start - 1:
            block_start, _, block_moves = blocks.pop()
            blocks.append((block_start, start + len(line), [*block_moves, *moves]))
        elif moves:
            blocks.append((start + first, start + len(line), moves))
    if blocks:
        return [Offer(start, end, _Answer("moves", tuple(moves))) for start, end, moves in blocks]
    cells = list(notation.PAIR.finditer(text))
    if len(cells) < 2:
        return []
    positions = [(int(cell[1]), int(cell[2])) for cell in cells]
    origin = max((at for at, position in enumerate(positions) if position == maze.start), default=0)
    return [Offer(cells[origin].start(), cells[-1].end(), _Answer("moves", _moves(positions[origin:])))]


def _moves_of_line(line: str) -> tuple[int, list[str]]:
    """The moves of a line that holds only moves behind a label, and the place where they begin.

    Arrows between words or letters only separate them.
    """
    label = line[: _MAX_LABEL_CHARS + 1]
    first = max(label.rfind(":"), label.rfind("：")) + 1
    first = mark.end() if (mark := _LIST_MARK.match(line, first)) else first
    signs = _MOVE.findall(line, first)
    words = [part for part in signs if part not in _MOVES_OF_SIGNS]
    # `→ → ↓ ↓`
    if not words:
        return first, [_MOVES_OF_SIGNS[part] for part in signs]
    # `right, right, down` and `right → right → down`
    if all(word.lower() in mazes.MOVES for word in words):
        return first, [word.lower() for word in words]
    # `RRDD` and `R R D D`
    letters = "".join(words)
    return first, [_MOVES_OF_LETTERS[sign] for sign in letters] if _MOVES_OF_LETTERS.keys() >= set(letters) else []


def _moves(positions: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """The moves from cell to cell; `jump` if two cells are not neighbours."""
    names = {step: name for name, step in mazes.MOVES.items()}
    return tuple([names.get((b[0] - a[0], b[1] - a[1]), "jump") for a, b in pairwise(positions)])


def _in_network(text: str, network: _Network) -> list[Offer[_Answer]]:
    offers: list[Offer[_Answer]] = []
    for start, end, value in structures.offers(text, "{"):
        if isinstance(value, Mapping):
            path = field(value, "path", "shortest_path", "route", "nodes", "solution", "answer")
            length = field(
                value, "length", "cost", "distance", "weight", "total_weight", "total_cost", "total_distance"
            )
            # `{"path": ["A", "B", "C"], "length": 3}`
            if (steps := _steps(path, network)) is not None:
                offers.append(Offer(start, end, _Answer("path", steps, _length(length))))
    if offers:
        return offers
    for start, end, value in structures.offers(text, "["):
        # `["A", "B", "C"]`
        if (steps := _steps(value, network)) is not None:
            offers.append(Offer(start, end, _Answer("path", steps)))
    for start, line in notation.lines(text):
        if len(line) <= _MAX_LINE_CHARS:
            for chain in _chains(line, network):
                offers.append(Offer(start + chain.start, start + chain.end, _Answer("path", chain.answer)))
    return sorted(offers, key=lambda offer: offer.start) or _in_last_line(text, network)


def _in_last_line(text: str, network: _Network) -> list[Offer[_Answer]]:
    """The offer of a last line of only vertices, with commas, dashes or spaces between them."""
    end = len(text.rstrip())
    start = max(text.rfind("\n", 0, end), text.rfind(":", 0, end)) + 1
    if end - start <= _MAX_LINE_CHARS:
        # `A, B, C`, `A-B-C` or `A B C`
        for separator in (",", "-", None):
            names = [name.strip("`*\"'$()[]. ") for name in text[start:end].split(separator)]
            if len(names) > 1 and all(_is_vertex(name, network) for name in names):
                return [Offer(start, end, _Answer("path", _known(names, network) or ()))]
    return []


def _length(value: Any) -> Fraction | None:
    """The length as a number. A value that is not a number becomes a length that no path has."""
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**18
    return Fraction(str(value)) if is_number else Fraction(-1)


def _steps(value: Any, network: _Network) -> tuple[str, ...] | None:
    """The steps of a list of at least two names, or of a text with arrows or commas.

    The first and last are vertices.
    """
    if isinstance(value, str):
        # `"A -> B -> C"`, `"A, B, C"`
        chains = list(_chains(value, network)) or list(_chains(value.replace(",", "→"), network))
        return chains[0].answer if len(chains) == 1 else None
    if not isinstance(value, list) or len(value) < 2 or not all(isinstance(name, str | int) for name in value):
        return None
    return _known([str(name) for name in value], network)


def _known(names: Sequence[str], network: _Network) -> tuple[str, ...] | None:
    """The names as the graph writes them; None unless the first and the last are vertices."""
    names = [" ".join(name.strip("`*\"' ").split()) for name in names]
    vertices = tuple([name if name in network.weights else network.names.get(name.casefold(), name) for name in names])
    return vertices if vertices[0] in network.weights and vertices[-1] in network.weights else None


def _chains(line: str, network: _Network) -> Iterator[Offer[tuple[str, ...]]]:
    """The chains of names with arrows between them.

    Words may stand before a chain (`Path: A -> B`) and behind it (`A -> B (length 3)`). If more than a name stands
    between two arrows, one chain ends and another one begins.
    """
    arrows = [arrow.span() for arrow in _ARROW.finditer(line)]
    names: list[str] = []
    chain_start = 0
    for number, ((_, start), (stop, _)) in enumerate(pairwise([(0, 0), *arrows, (len(line), 0)])):
        part = line[start:stop]
        name, is_inner = _bare_name(part, network), 0 < number < len(arrows)
        # B in `A -> B -> C`
        if is_inner and _is_vertex(name, network):
            names.append(name)
            continue
        head, tail = _first_name(part, network), _last_name(part, network)
        # A name that the graph does not know stays a step, so that the path is wrong.
        if is_inner and not (_is_vertex(head, network) and _is_vertex(tail, network)):
            names.append(name)
            continue
        # `A -> B, then C -> D`: one chain ends with B, and the next begins with C.
        if names and (steps := _known([*names, head], network)) is not None:
            yield Offer(chain_start, start + max(part.find(head), 0) + len(head), steps)
        names, chain_start = [tail], start + max(part.rfind(tail), 0)


def _bare_name(text: str, network: _Network) -> str:
    """A name without marks, and without a remark behind it: `B` for `B (2)`."""
    name = text.strip(_MARKS)
    return name if _is_vertex(name, network) else _REMARK.sub("", text).strip(_MARKS)


_MARKS = "`*\"'$()[]{} "
_REMARK = re.compile(r"(?<=\S)\s{0,4}\([^()]{0,30}\)\s{0,4}$")


_MAX_NAME_WORDS = 4


def _last_name(text: str, network: _Network) -> str:
    words = text[-300:].replace(":", " ").split()
    for at in range(max(0, len(words) - _MAX_NAME_WORDS), len(words)):
        if _is_vertex(name := " ".join(words[at:]).strip(_MARKS), network):
            return name
    match = _BEHIND_HAN.search(text[-_MAX_NAME_CHARS:])
    return match[0] if match else text


_MAX_NAME_CHARS = 60
_BEHIND_HAN = re.compile(r"(?<=[\u4e00-\u9fff])[A-Za-z0-9_]{1,40}\Z")


def _first_name(text: str, network: _Network) -> str:
    words = text[:300].split()
    for count in range(min(_MAX_NAME_WORDS, len(words)), 0, -1):
        for name in (" ".join(words[:count]), " ".join(words[:count]).rstrip(".,;:)=*`$\"'")):
            if _is_vertex(name, network):
                return name
    return _FIRST_PART.split(text, maxsplit=1)[0].strip(_MARKS)


_FIRST_PART = re.compile(r"[,;，；。]")


def _is_vertex(name: str, network: _Network) -> bool:
    return name in network.weights or name.casefold() in network.names


# --- judging


def _check(answer: _Answer, puzzle_: _Puzzle) -> str | None:
    network = puzzle_.field
    if isinstance(network, Maze):
        return _check_maze(answer, network, puzzle_.is_optimal)
    return _check_network(answer, network, puzzle_.is_optimal)


def _check_maze(answer: _Answer, maze: Maze, is_optimal: bool) -> str | None:
    if answer.kind == "infeasible":
        return None if mazes.steps(maze) is None else "wrong_answer"
    # Through a wall, off the grid, to a cell that is not a neighbour, or not to the goal.
    if "jump" in answer.steps or mazes.walked(maze, answer.steps) != maze.goal:
        return "no_path"
    return None if not is_optimal or len(answer.steps) == mazes.steps(maze) else "not_shortest"


def _check_network(answer: _Answer, network: _Network, is_optimal: bool) -> str | None:
    if answer.kind == "infeasible":
        return None if _shortest(network) is None else "wrong_answer"
    steps = answer.steps
    if steps[0] != network.start or steps[-1] != network.goal:
        return "no_path"
    length: Weight = 0
    for a, b in pairwise(steps):
        weight = network.weights.get(a, {}).get(b)
        if weight is None:
            return "no_path"
        length += weight
    # The right path with `"length": 4` where it is 3.
    if answer.length is not None and answer.length != length:
        return "wrong_length"
    return None if not is_optimal or length == _shortest(network) else "not_shortest"


def _is_of_the_ends(answer: _Answer, puzzle_: _Puzzle) -> bool:
    network = puzzle_.field
    return (
        isinstance(network, Maze)
        or answer.kind != "path"
        or (answer.steps[0], answer.steps[-1]) == (network.start, network.goal)
    )


_RULES = Rules(_read, _offers, _check, is_whole=_is_of_the_ends)

_ROADS = {"edges": [["A", "B", 1], ["B", "C", 2], ["A", "C", 5]], "start": "A", "goal": "C"}
_MAZE = {"matrix": ["* O O", "X X O", "# O O"]}

EXAMPLES = (
    Example("The shortest path is\nA -> B -> C (length 3).", {"reference": _ROADS}, 1.0, "correct", "vertices"),
    Example("<answer>right right down down left left</answer>", {"reference": _MAZE}, 1.0, "correct", "moves"),
    Example("<answer>A -> C</answer>", {"reference": _ROADS}, 0.0, "not_shortest", "a path of length 5"),
    Example("<answer>down down</answer>", {"reference": _MAZE}, 0.0, "no_path", "through a wall"),
    Example("<answer>infeasible</answer>", {"reference": _MAZE}, 0.0, "wrong_answer", "there is a path"),
    Example(
        "A -> B", {"reference": {"edges": [["A", "B"]], "start": "A"}}, None, "bad_puzzle", "no goal", Status.INVALID
    ),
)
