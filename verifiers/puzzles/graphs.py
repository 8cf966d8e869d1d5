"""Reads graphs in the forms of data sets.

{"vertices": [...], "edges": [[a, b], [a, b, weight], {"from": a, "to": b, "weight": w}, "a-b", ...]}
{"graph": {a: [b, c], ...}}          neighbours; also as `adjacency` or `adjacency_list`
{"graph": {a: {b: weight}, ...}}     weighted neighbours
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from verifiers.puzzles.puzzle import field, label, malformed

MAX_VERTICES = 20_000
MAX_EDGES = 60_000


Weight = int | Fraction


class Edge(NamedTuple):
    start: str
    end: str
    weight: Weight


class Graph(NamedTuple):
    vertices: tuple[str, ...]
    edges: tuple[Edge, ...]
    is_directed: bool


_EDGE_TEXT = re.compile(r"\s*(.{1,60}?)\s*(?:->|→|--|—|–|-|,)\s*(.{1,60}?)\s*")


def read(reference: Mapping[str, Any]) -> Graph:
    """The graph of a reference.

    Raises:
        InvalidItem: the reference holds no graph, or one that is too large.
    """
    neighbours = field(reference, "graph", "adjacency", "adjacency_list", "adj")
    if isinstance(neighbours, Mapping) and ("edges" in neighbours or "vertices" in neighbours):
        reference = {**reference, **neighbours}
        neighbours = None
    edges = field(reference, "edges", "links", "edge_list")
    if edges is None and isinstance(neighbours, Mapping):
        found = [_edge(edge) for edge in _of_neighbours(neighbours)]
        is_directed = reference.get("directed", reference.get("is_directed", True)) is not False
        named = [*map(label, neighbours)]
    elif isinstance(edges, list | tuple):
        if len(edges) > MAX_EDGES:
            raise malformed(f"a graph has at most {MAX_EDGES} edges, this one has {len(edges)}")
        found = [_edge(edge) for edge in edges]
        is_directed = reference.get("directed", reference.get("is_directed", False)) is True
        named = []
    else:
        raise malformed("expected `edges`, a list of pairs, or `graph`, the neighbours of each vertex")
    named += _vertices(reference)
    vertices = dict.fromkeys(named)
    ends = dict.fromkeys(end for edge in found for end in edge[:2])
    if _vertices(reference) and not ends.keys() <= vertices.keys():
        raise malformed("an edge ends at a vertex that is not among the vertices")
    vertices |= ends
    if not 0 < len(vertices) <= MAX_VERTICES:
        raise malformed(f"a graph has 1 to {MAX_VERTICES} vertices, this one has {len(vertices)}")
    return Graph(tuple(vertices), tuple(found), is_directed)


def _vertices(reference: Mapping[str, Any]) -> list[str]:
    given = field(reference, "vertices", "nodes")
    if given is None:
        given = field(reference, "num_vertices", "num_nodes", "n")
    if given is None:
        return []
    if isinstance(given, int) and not isinstance(given, bool) and 0 < given <= MAX_VERTICES:
        return [str(number) for number in range(given)]
    if not isinstance(given, list | tuple) or len(given) > MAX_VERTICES:
        raise malformed(f"expected `vertices`, a list of at most {MAX_VERTICES} names")
    return [label(vertex.get("id") if isinstance(vertex, Mapping) else vertex) for vertex in given]


def _of_neighbours(neighbours: Mapping[str, Any]) -> Iterable[Any]:
    count = 0
    for start, ends in neighbours.items():
        if not isinstance(ends, Mapping | list | tuple):
            raise malformed("expected the neighbours of each vertex as a list or an object of weights")
        count += len(ends)
        if count > MAX_EDGES:
            raise malformed(f"a graph has at most {MAX_EDGES} edges")
        if isinstance(ends, Mapping):
            yield from ([start, end, weight] for end, weight in ends.items())
        else:
            for end in ends:
                yield [start, *end] if isinstance(end, list | tuple) else [start, end]


def _edge(edge: Any) -> Edge:
    if isinstance(edge, str) and (match := _EDGE_TEXT.fullmatch(edge)) is not None:
        edge = [match[1], match[2]]
    if isinstance(edge, Mapping):
        ends = [field(edge, "from", "source", "u", "start"), field(edge, "to", "target", "v", "end")]
        weight = field(edge, "weight", "w", "cost", "distance", "length")
        edge = ends if weight is None else [*ends, weight]
    if not isinstance(edge, list | tuple) or len(edge) not in (2, 3):
        raise malformed(f"expected an edge as [from, to] or [from, to, weight], found {str(edge)[:60]!r}")
    weight = edge[2] if len(edge) == 3 else 1
    if isinstance(weight, Mapping):
        weight = field(weight, "weight") or 1
    return Edge(label(edge[0]), label(edge[1]), number(weight))


_MAX_WEIGHT = 10**15


def number(value: Any) -> Weight:
    """A weight, with exactly the written value."""
    try:
        if not isinstance(value, bool) and isinstance(value, int | float) and abs(value) <= _MAX_WEIGHT:
            return value if isinstance(value, int) else Fraction(str(value))
    except ValueError:
        pass
    raise malformed(f"expected a weight, found {str(value)[:40]!r}")
