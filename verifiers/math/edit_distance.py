r"""Grades a wrong expression by how few edits turn it into the reference. Runs in worker processes only.

PHYBench's Expression Edit Distance (arXiv 2504.16074, section 4.2): both expressions are simplified for positive letters,
and become trees of operators, functions, letters and numbers. An edit inserts, removes or renames one node at a cost of
1, or inserts or removes a whole subtree of n > 5 nodes at a cost of 5 + 0.6 (n - 5). With the cost D of the cheapest
edits, and N nodes in the reference, the score is 0.6 - D / N, or 0 if that is less.

    2mg + 4mv²/l  beside  2mg + 2mv²/l     two edits of a tree of 15 nodes:  0.6 - 2/15

The tree edit distance is that of Zhang and Shasha (SIAM J. Comput. 18, 1989), with subtrees as a fifth and sixth edit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from sandbox.workers import worker_function
from verifiers.math import limits
from verifiers.math.exact import unwrap
from verifiers.math.grading import localized
from verifiers.math.options import Options
from verifiers.math.points import BOUND
from verifiers.math.reader import read_apart
from verifiers.math.solutions import final_answer
from verifiers.math.symbolic import SYMPY_FAILS, to_sympy
from verifiers.math.tree import Node, TooComplex, Unreadable, with_parts

BEST = 0.6
"""An expression that is wrong never scores more."""
_SINGLE_COSTS_UP_TO = 5
_COST_BEYOND = 0.6
_MAX_TREE_NODES = 150
"""The distance of two trees of this size takes about half a second. Larger ones earn nothing."""
_LONGEST_SHARE = 3
"""An answer that is written with more than three times the characters of the reference earns nothing, as in PHYBench."""


@worker_function
def nearest(payload: Sequence[Any]) -> float:
    """The best score beside any reference, in [0, 0.6]; 0 for what is not an expression, or too large to be compared.

    The payload is `(references, answer, packed Options, whether to simplify)`. Simplifying may take long. The expressions
    are then compared as they were written, as PHYBench does.
    """
    references, answer, packed, simplifies = payload
    options = Options.unpacked(packed)
    return max(_score(localized(text, options), localized(answer, options), simplifies) for text in references)


def _score(reference: str, answer: str, simplifies: bool) -> float:
    reference, answer = unwrap(final_answer(reference)), unwrap(answer)
    if len(answer) > _LONGEST_SHARE * len(reference):
        return 0.0
    try:
        theirs, mine = (_postorder(expression(text, simplifies)) for text in (reference, answer))
    except (Unreadable, TooComplex, *SYMPY_FAILS):
        return 0.0
    return max(0.0, BEST - distance(mine, theirs) / len(theirs))


def expression(text: str, simplifies: bool) -> Any:
    """An expression as sympy's; of an equation, its last side.

    Raises:
        Unreadable: it has no value, or a sum, a product, an integral or a limit.
        TooComplex: it is too large.
    """
    if limits.refusal(text) is not None:
        raise Unreadable("too large, or more like code than like an answer")
    node = read_apart(text)
    while node.kind == "=":
        node = node.args[-1]
    if any(part.kind == "big" or part.kind in BOUND for part in node.walk()):
        raise Unreadable("a sum, a product, an integral or a limit")
    built = _built(node)
    if not simplifies:
        return built
    positive, letters = sympy.posify(built)
    return sympy.simplify(positive).subs(letters)


def _built(node: Node) -> Any:
    """A node as sympy's, with functions that have no meaning but their name."""
    calls: dict[Any, Any] = {}

    def without_calls(node: Node) -> Node:
        if node.kind == "apply":
            standin = Node("sym", leaf=f"call {len(calls)}")
            calls[to_sympy(standin)] = sympy.Function(str(node.leaf))(*map(_built, node.args))
            return standin
        return with_parts(node, without_calls)

    return to_sympy(without_calls(node)).xreplace(calls)


@dataclass(frozen=True, slots=True)
class _Place:
    """A node of a tree, at its place in postorder."""

    label: tuple[str, str]
    first: int
    """The place of the first leaf below it, or its own if it is a leaf."""
    whole: float
    """The cost of the subtree, inserted or removed in one edit."""


def _postorder(root: Any) -> list[_Place]:
    """The nodes of an expression, each behind its arguments.

    Raises:
        Unreadable: a part is not an operator, function, letter or number.
        TooComplex: there are more than `_MAX_TREE_NODES`.
    """
    nodes: list[_Place] = []

    def add(part: Any) -> None:
        first = len(nodes)
        label = _label(part)
        for arg in () if label[0] in ("number", "symbol") else part.args:
            add(arg)
        if len(nodes) >= _MAX_TREE_NODES:
            raise TooComplex("too many parts for an edit distance")
        size = len(nodes) - first + 1
        weight = (
            size if size <= _SINGLE_COSTS_UP_TO else _SINGLE_COSTS_UP_TO + _COST_BEYOND * (size - _SINGLE_COSTS_UP_TO)
        )
        nodes.append(_Place(label, first, weight))

    add(root)
    return nodes


def _label(part: Any) -> tuple[str, str]:
    if part.is_Number or part.is_NumberSymbol or part is sympy.I:
        return "number", str(part)
    if part.is_Symbol:
        return "symbol", str(part)
    if part.is_Add or part.is_Mul or part.is_Pow:
        return "operator", type(part).__name__
    if part.is_Function:
        return "function", part.func.__name__
    raise Unreadable(f"{type(part).__name__} in an expression")


def distance(tree: Sequence[_Place], goal: Sequence[_Place]) -> float:
    """The cost of the cheapest edits that turn one tree into the other; both in postorder."""
    trees = [[0.0] * len(goal) for _ in tree]
    for root in _keyroots(tree):
        for target_root in _keyroots(goal):
            _compare(tree, goal, root, target_root, trees)
    return trees[-1][-1]


def _keyroots(nodes: Sequence[_Place]) -> list[int]:
    """The last place for each first leaf: the root, and each node that has a sister before it."""
    return sorted({node.first: index for index, node in enumerate(nodes)}.values())


def _compare(
    tree: Sequence[_Place], goal: Sequence[_Place], root: int, goal_root: int, trees: list[list[float]]
) -> None:
    """Fill `trees` with the distances of the subtrees that begin with the same leaves as those at `root` and `goal_root`.

    `costs[i][j]` is the distance of the forests of the first i and j places.
    """
    low, start = tree[root].first, goal[goal_root].first
    costs = [[0.0] * (goal_root - start + 2) for _ in range(root - low + 2)]
    for i in range(low, root + 1):
        costs[i - low + 1][0] = costs[tree[i].first - low][0] + tree[i].whole
    for j in range(start, goal_root + 1):
        costs[0][j - start + 1] = costs[0][goal[j].first - start] + goal[j].whole
    for i in range(low, root + 1):
        x = tree[i]
        above_row, row, first = costs[i - low], costs[i - low + 1], costs[x.first - low]
        for j in range(start, goal_root + 1):
            y, column = goal[j], j - start + 1
            gap = y.first - start
            cost = min(above_row[column] + 1, row[column - 1] + 1, first[column] + x.whole, row[gap] + y.whole)
            if x.first == low and y.first == start:
                cost = trees[i][j] = min(cost, above_row[column - 1] + (x.label != y.label))
            else:
                cost = min(cost, first[gap] + trees[i][j])
            row[column] = cost
