"""The nodes of a parsed text by their kinds. A text is walked once, however many questions are asked about it."""

import ast
from collections.abc import Mapping
from typing import Any, Final, TypeVar, overload

A = TypeVar("A", bound=ast.AST)
B = TypeVar("B", bound=ast.AST)
C = TypeVar("C", bound=ast.AST)
_KEY: Final = "nodes_by_kind"


@overload
def nodes_of(tree: ast.Module, kind: type[A], /) -> list[A]: ...
@overload
def nodes_of(tree: ast.Module, kind: type[A], second: type[B], /) -> list[A | B]: ...
@overload
def nodes_of(tree: ast.Module, kind: type[A], second: type[B], third: type[C], /) -> list[A | B | C]: ...
@overload
def nodes_of(tree: ast.Module, /, *kinds: type[ast.AST]) -> list[ast.AST]: ...
def nodes_of(tree: ast.Module, /, *kinds: type[ast.AST]) -> Any:
    """All nodes of these kinds below a module, kind by kind; those of one kind from the outermost to the innermost.

    They are those that the tree had when it was first asked.
    """
    by_kind: Mapping[type, list[ast.AST]] = vars(tree).get(_KEY) or _indexed(tree)
    return [node for kind in kinds for node in by_kind.get(kind, ())]


def _indexed(tree: ast.Module) -> Mapping[type, list[ast.AST]]:
    by_kind: dict[type, list[ast.AST]] = {ast.Module: []}
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
        if node is not tree:  # it would hold itself
            by_kind.setdefault(type(node), []).append(node)
    vars(tree)[_KEY] = by_kind
    return by_kind
