"""Graph colouring: every vertex has one colour, and the two ends of an edge never have the same.

The reference holds a graph (see `graphs`) and its colours: a list `colors` or `color_options`, or a number
`num_colors`, `k` or `max_colors` (any names of colours are then allowed, but not more of them). The answer maps
vertices to colours: an object `{"A": "red"}`, lines `A: red` or pairs `(A, red)`. It may also list the vertices of each
colour, `Red: A, C`. If the vertices are called 0, 1, 2, …, it may be a list of colours in their order.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from verifiers.base import Example, InvalidItem, Item, Resources, Status, Verdict
from verifiers.caseless import caseless
from verifiers.puzzles import graphs, notation, puzzle, structures
from verifiers.puzzles.graphs import Graph
from verifiers.puzzles.puzzle import Offer, PuzzleParams, PuzzleVerifier, Rules, decoded, field, label, malformed


class GraphColoring(PuzzleVerifier[PuzzleParams]):
    name = "graph_coloring"
    version = "21"
    params = PuzzleParams
    summary = "A colouring of a graph's vertices with the given colours in which no edge has two ends of one colour"


def create(resources: Resources) -> GraphColoring:
    return GraphColoring(resources.workers, judge, Item("{A: 1, B: 2, C: 1}", PuzzleParams(reference=_PATH)))


def judge(item: Item[PuzzleParams]) -> Verdict:
    return puzzle.judge(item, _RULES)


Coloring = Mapping[str, str]


class _Puzzle(NamedTuple):
    graph: Graph
    colors: frozenset[str] | None
    """The allowed colours in lower case; None if only their number is given."""
    most: int
    """The number of colours that are allowed."""


# --- the puzzle


def _read(params: PuzzleParams) -> _Puzzle:
    reference: Any = decoded(params.reference)
    if not isinstance(reference, Mapping):
        raise malformed("expected an object with a graph and its colours")
    graph = graphs.read(reference)
    palette = field(reference, "color_options", "colors", "colours", "allowed_colors")
    count = field(reference, "num_colors", "k", "max_colors", "n_colors")
    colors: frozenset[str] | None = None
    if isinstance(palette, list | tuple):
        colors = frozenset([label(color).casefold() for color in palette])
        count = len(colors) if count is None else count
    elif palette is not None:
        count = palette
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise malformed("expected `colors`, a list, or `num_colors`, a number from 1")
    if any(edge.start == edge.end for edge in graph.edges):
        raise InvalidItem("no_solution", "an edge begins and ends at the same vertex")
    if count == 1 and graph.edges:
        raise InvalidItem("no_solution", "one colour is not enough for an edge")
    return _Puzzle(graph, colors, count)


def _impossible(puzzle_: _Puzzle) -> str | None:
    """Why the graph cannot be coloured. Two colours fail on a cycle of odd length. More colours would need a search."""
    if puzzle_.most != 2:
        return None
    neighbours: dict[str, list[str]] = {vertex: [] for vertex in puzzle_.graph.vertices}
    for edge in puzzle_.graph.edges:
        neighbours[edge.start].append(edge.end)
        neighbours[edge.end].append(edge.start)
    side: dict[str, bool] = {}
    for first in puzzle_.graph.vertices:
        if first in side:
            continue
        side[first] = True
        waiting = [first]
        while waiting:
            vertex = waiting.pop()
            for neighbour in neighbours[vertex]:
                if neighbour not in side:
                    side[neighbour] = not side[vertex]
                    waiting.append(neighbour)
                elif side[neighbour] is side[vertex]:
                    return "two colours are not enough for a cycle of odd length"
    return None


# --- the answer

_NAME = r"[\w.+-]{1,60}(?:[ ][\w.+-]{1,60}){0,3}"
_WHOLE_NAME = re.compile(_NAME)
_PAIR = re.compile(rf"\(\s?(?P<vertex>{_NAME})\s?,\s?(?P<color>{_NAME})\s?\)")
_ASSIGNS = re.compile(r"[:=|(→]|\s[-–—]\s|\b(?:is|gets|has|takes)\b", re.IGNORECASE)
_MARKS = " \t*•-(|`\"',;.)"
_VERTEX_WORDS = frozenset(["and", "vertex", "vertices", "node", "nodes", "region", "regions"])
_COLOR_WORDS = frozenset(["assigned", "colored", "coloured", "the", "color", "colour"])
_PICTURE = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")


def _offers(text: str, puzzle_: _Puzzle) -> list[Offer[Coloring]]:
    text = _plain(text)
    offers: list[Offer[Coloring]] = []
    for start, end, value in structures.offers(text, "{"):
        coloring = _coloring(value)
        if coloring is not None:
            offers.append(Offer(start, end, coloring))
    # `{"A": "red", "B": "blue"}`: with an object, the text around it is not read.
    if offers:
        return offers
    vertices = puzzle_.graph.vertices
    # Vertices 0, 1, 2, …: `["red", "blue", "red"]` colours them in their order.
    if vertices[0] in ("0", "1") and all(str(at + int(vertices[0])) == name for at, name in enumerate(vertices)):
        for start, end, value in structures.offers(text, "["):
            is_list = isinstance(value, list) and all(isinstance(color, str | int) for color in value)
            if is_list and len(value) == len(vertices):
                colors = [str(color).casefold() for color in value]
                offers.append(Offer(start, end, dict(zip(vertices, colors, strict=True))))
    return offers or _in_lines(text, puzzle_) or _in_classes(text, puzzle_)


def _plain(text: str) -> str:
    """The text in the same length, with one kind of arrow, without pictures, and with pairs written as lines are."""
    text = notation.plain(text)
    if not text.isascii():
        text = _PICTURE.sub(" ", text)
    return _PAIR.sub(lambda pair: f" {pair['vertex']}: {pair['color']}".ljust(len(pair[0])), text)


def _coloring(value: Any) -> Coloring | None:
    """The colouring of a mapping of names to names, or of an object that holds only such a mapping; else None."""
    # `{"coloring": {"A": "red"}}`
    if isinstance(value, Mapping) and len(value) == 1:
        content = next(iter(value.values()))
        value = content if isinstance(content, Mapping) else value
    if not isinstance(value, Mapping) or not value:
        return None
    # `{"A": ["red"]}` and `{"A": true}` are not colourings.
    if not all(isinstance(color, str | int) and not isinstance(color, bool) for color in value.values()):
        return None
    return {" ".join(vertex.split()): " ".join(str(color).casefold().split()) for vertex, color in value.items()}


def _in_lines(text: str, puzzle_: _Puzzle) -> list[Offer[Coloring]]:
    """Offers in lines `vertex: color`, or in one line of them. A block that colours a vertex twice is never right."""
    names = set(puzzle_.graph.vertices)
    offers: list[Offer[Coloring]] = []
    block: dict[str, str] = {}
    first = start = last = 0
    # `B is blue and C is green`, but not the vertex `Trinidad and Tobago`.
    parting = _PARTING if any(" and " in name for name in names) else _PARTING_BY_AND
    for piece in parting.split(text):
        assigned = _assigned(piece, puzzle_, names) if len(piece) <= 200 else None
        if assigned is not None:
            vertex, color = assigned
            first = start if not block else first
            # `A: red, A: blue`
            block[vertex] = color if block.get(vertex, color) == color else _TWICE
            last = start + len(piece)
        elif piece.strip(" \t\n,;") not in ("", "and"):
            # Other words end a block: `A: red, B: blue. Check: …`
            if block:
                offers.append(Offer(first, last, block))
            block = {}
        start += len(piece)
    if block:
        offers.append(Offer(first, last, block))
    return offers


_PARTING = re.compile(r"(\n|[,;](?=\s))")
_PARTING_BY_AND = re.compile(r"(\n|[,;](?=\s)|\sand\s)")


def _assigned(piece: str, puzzle_: _Puzzle, names: set[str]) -> tuple[str, str] | None:
    """The pair in `vertex: color`, also behind words that end in a colon, or in `vertex color` with a known colour."""
    piece = piece.strip(_MARKS)
    words = [word.strip(_MARKS) for word in piece.removeprefix("and ").split()]
    # `A red`
    if len(words) == 2 and words[0] in names and words[1].casefold() in (puzzle_.colors or ()):
        return words[0], words[1].casefold()
    assigns = _ASSIGNS.search(piece)
    if assigns is None:
        return None
    vertex = _name(piece[: assigns.start()], _VERTEX_WORDS)
    color = _name(piece[assigns.end() :], _COLOR_WORDS)
    # `vertex A is assigned the color red`
    if vertex in names and color is not None:
        return vertex, color.casefold()
    # `Final coloring: A = red`
    return _assigned(piece[assigns.end() :], puzzle_, names) if assigns[0] == ":" else None


def _name(text: str, said_before: frozenset[str]) -> str | None:
    """The name behind words that only lead to it."""
    words = text.strip(_MARKS).split()
    while len(words) > 1 and words[0].casefold() in said_before:
        words = words[1:]
    name = " ".join(words).strip(_MARKS)
    return name if _WHOLE_NAME.fullmatch(name) else None


_TWICE = ""
_MAX_CLASSES = 30
_MEMBER = re.compile(r"[\w.+-]*[\w+]")
_BETWEEN_CLASSES = re.compile(r"[\s*•`\"'|,;.(){}\[\]-]{0,40}")


def _in_classes(text: str, puzzle_: _Puzzle) -> list[Offer[Coloring]]:
    """Offers in rows of colours with their vertices: `Red: A, C`, `Red = {A, C}`.

    A vertex with two colours is wrong.
    """
    names = {name.casefold(): name for name in puzzle_.graph.vertices}
    colors = puzzle_.colors or frozenset()
    # A vertex that is called `red` cannot be told from the head of a row.
    if not 0 < len(colors) <= _MAX_CLASSES or colors.intersection(names) or len(names) < len(puzzle_.graph.vertices):
        return []
    heads = _heads(text, colors)
    offers: list[Offer[Coloring]] = []
    block: dict[str, str] = {}
    first = last = 0
    for head, limit in zip(heads, [*(following.start for following in heads[1:]), len(text)], strict=False):
        line_end = text.find("\n", head.end, limit)
        end = limit if line_end < 0 else line_end
        members = [word.casefold() for word in _MEMBER.findall(text[head.end : end])]
        members = [word for word in members if word not in _VERTEX_WORDS]
        is_class = bool(members) and text.find("?", head.end, end) < 0 and names.keys() >= set(members)
        # `Red: A, C. But then … Blue: B`: words between the rows end the block.
        if block and (not is_class or not _BETWEEN_CLASSES.fullmatch(text, last, head.start)):
            offers.append(Offer(first, last, block))
            block = {}
        if is_class:
            first, last = head.start if not block else first, end
            for vertex in (names[word] for word in members):
                block[vertex] = head.color if vertex not in block else _TWICE
    return [*offers, Offer(first, last, block)] if block else offers


class _Head(NamedTuple):
    """A colour before its vertices: `Red:`."""

    start: int
    end: int
    color: str


def _heads(text: str, colors: Iterable[str]) -> list[_Head]:
    """The heads of rows, in order. Of two that overlap, the first counts, and of two that begin together the longer."""
    small = caseless(text)
    heads: list[_Head] = []
    for color in colors:
        small_color = caseless(color)
        start = small.find(small_color)
        while start >= 0:
            tail = _BEHIND_COLOR.match(text, start + len(small_color))
            if tail and _WORD_EDGE.match(text, start):
                heads.append(_Head(start, tail.end(), text[start : start + len(small_color)].casefold()))
            start = small.find(small_color, start + 1)
    heads.sort(key=lambda head: (head.start, -len(head.color)))
    disjoint: list[_Head] = []
    for head in heads:
        if not disjoint or head.start >= disjoint[-1].end:
            disjoint.append(head)
    return disjoint


_BEHIND_COLOR = re.compile(r"[`*\"')]{0,4}\s?(?:vertices|nodes)?\s?(?::|=|->|→|\|)", re.IGNORECASE)
_WORD_EDGE = re.compile(r"\b")


def _colors_all(answer: Coloring, puzzle_: _Puzzle) -> bool:
    return answer.keys() >= set(puzzle_.graph.vertices)


def _check(answer: Coloring, puzzle_: _Puzzle) -> str | None:
    vertices = set(puzzle_.graph.vertices)
    # `D: red` in a graph of A, B and C.
    if not answer.keys() <= vertices:
        return "unknown_vertex"
    if len(answer) < len(vertices):
        return "incomplete"
    used = set(answer.values())
    if _TWICE in used:
        return "conflicting_answers"
    # `green` where only red and blue are allowed, or a third colour of two.
    if len(used) > puzzle_.most or (puzzle_.colors is not None and not used <= puzzle_.colors):
        return "wrong_colors"
    # `A: red, B: red` with an edge from A to B.
    if any(answer[edge.start] == answer[edge.end] for edge in puzzle_.graph.edges):
        return "wrong_answer"
    return None


_RULES = Rules(_read, _offers, _check, _impossible, _colors_all)

_PATH = {"vertices": ["A", "B", "C"], "edges": [["A", "B"], ["B", "C"]], "colors": ["red", "blue"]}
_TRIANGLE = {"edges": [[0, 1], [1, 2], [2, 0]], "num_colors": 2}

EXAMPLES = (
    Example('```json\n{"A": "red", "B": "blue", "C": "red"}\n```', {"reference": _PATH}, 1.0, "correct", "an object"),
    Example("<answer>A: blue\nB: red\nC: blue</answer>", {"reference": _PATH}, 1.0, "correct", "lines; any colouring"),
    Example("{A: red, B: red, C: blue}", {"reference": _PATH}, 0.0, "wrong_answer", "A and B are joined"),
    Example("{A: red, B: green, C: red}", {"reference": _PATH}, 0.0, "wrong_colors", "there is no green"),
    Example("{A: red, B: blue}", {"reference": _PATH}, 0.0, "incomplete", "C has no colour"),
    Example("{0: 1, 1: 2, 2: 1}", {"reference": _TRIANGLE}, None, "no_solution", "an odd cycle", Status.INVALID),
)
