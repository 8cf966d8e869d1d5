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
        edges_read = [_edge(edge) for edge in _of_neighbours(neighbours)]
        is_directed = reference.get("directed", reference.get("is_directed", True)) is not False
        names = [*map(label, neighbours)]
    elif isinstance(edges, list | tuple):
        if len(edges) > MAX_EDGES:
            raise malformed(f"a graph has at most {MAX_EDGES} edges, this one has {len(edges)}")
        edges_read = [_edge(edge) for edge in edges]
        is_directed = reference.get("directed", reference.get("is_directed", False)) is True
        names = []
    else:
        raise malformed("expected `edges`, a list of pairs, or `graph`, the neighbours of each vertex")
    names += _vertices(reference)
    vertices = dict.fromkeys(names)
    endpoints = dict.fromkeys(end for edge in edges_read for end in edge[:2])
    if _vertices(reference) and not endpoints.keys() <= vertices.keys():
        raise malformed("an edge ends at a vertex that is not among the vertices")
    vertices |= endpoints
    if not 0 < len(vertices) <= MAX_VERTICES:
        raise malformed(f"a graph has 1 to {MAX_VERTICES} vertices, this one has {len(vertices)}")
    return Graph(tuple(vertices), tuple(edges_read), is_directed)


def _vertices(reference: Mapping[str, Any]) -> list[str]:
    vertices = field(reference, "vertices", "nodes")
    if vertices is None:
        vertices = field(reference, "num_vertices", "num_nodes", "n")
    if vertices is None:
        return []
    if isinstance(vertices, int) and not isinstance(vertices, bool) and 0 < vertices <= MAX_VERTICES:
        return [str(number) for number in range(vertices)]
    if not isinstance(vertices, list | tuple) or len(vertices) > MAX_VERTICES:
        raise malformed(f"expected `vertices`, a list of at most {MAX_VERTICES} names")
    return [label(vertex.get("id") if isinstance(vertex, Mapping) else vertex) for vertex in vertices]


def _of_neighbours(neighbours: Mapping[str, Any]) -> Iterable[Any]:
    count = 0
    for start, targets in neighbours.items():
        if not isinstance(targets, Mapping | list | tuple):
            raise malformed("expected the neighbours of each vertex as a list or an object of weights")
        count += len(targets)
        if count > MAX_EDGES:
            raise malformed(f"a graph has at most {MAX_EDGES} edges")
        if isinstance(targets, Mapping):
            yield from ([start, end, weight] for end, weight in targets.items())
        else:
            for end in targets:
                yield [start, *end] if isinstance(end, list | tuple) else [start, end]


def _edge(edge: Any) -> Edge:
    if isinstance(edge, str) and (match := _EDGE_TEXT.fullmatch(edge)) is not None:
        edge = [match[1], match[2]]
    if isinstance(edge, Mapping):
        endpoints = [field(edge, "from", "source", "u", "start"), field(edge, "to", "target", "v", "end")]
        weight = field(edge, "weight", "w", "cost", "distance", "length")
        edge = endpoints if weight is None else [*endpoints, weight]
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
