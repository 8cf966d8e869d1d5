"""Finds tests that change a container after an object of the program may have kept it.

`a = [1]; s = Stack(a); a.append(2); assert s.items() == [1]`
"""

import ast
from collections.abc import Iterator

from sandbox.runner.testing.specification import Specification, parsed

_CHANGING = frozenset(
    {
        *("append", "extend", "insert", "pop", "popleft", "popitem", "remove", "clear", "update", "add", "discard"),
        *("setdefault", "sort", "reverse", "appendleft"),
    }
)


def changes_what_it_passed(specification: Specification) -> bool:
    """Whether a name is both passed to a class or method, and changed in place."""
    sources = (specification.setup, *specification.cases, *specification.files.values())
    nodes = [node for source in sources if source for node in ast.walk(parsed(source))]
    used = {
        used.id
        for node in nodes
        if isinstance(node, ast.Call | ast.Attribute)
        and isinstance(used := node.func if isinstance(node, ast.Call) else node.value, ast.Name)
    }
    # total = summing(a): a closure, or an object that a function makes
    makers = [
        node.value
        for node in nodes
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id in used for to in node.targets)
    ]
    passed = {name for node in nodes for name in _passed(node)} | {name for node in makers for name in _names(node)}
    return bool(passed) and any(name in passed for node in nodes for name in _changed(node))


def _passed(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and (
        (isinstance(node.func, ast.Attribute) and node.func.attr not in _CHANGING and "assert" not in node.func.attr)
        or (isinstance(node.func, ast.Name) and node.func.id[:1].isupper())
    ):
        yield from _names(node)


def _names(call: ast.AST) -> Iterator[str]:
    if isinstance(call, ast.Call):
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if isinstance(argument, ast.Name):
                yield argument.id


def _changed(node: ast.AST) -> Iterator[str]:
    """a.append(1); a[0].sort(); a[0] = 1; a[0][1] += 1; del a[0]; a += [1]"""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        yield _root(node.func.value)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        yield _root(node.value)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
