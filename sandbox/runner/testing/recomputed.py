"""Tests that compute what they expect from an argument, after the program has had it.

    assert f(data) == sorted(data)          a program that empties `data` and returns [] would pass

In such tests the program's changes of its arguments stay in its own process. The tests' text decides. They come back, as
always, if it looks at an argument itself (`assert data == [1, 2]`) or calls the program for nothing else (`f(data)`).
"""

import ast
import builtins
import re
from typing import Final

from sandbox.runner.testing.specification import Specification, parsed

_LIKELY: Final = re.compile(r"\b\w+\(\s*[A-Za-z_]\w*\s*[,)][^\n]*(?:==|,)|(?:==|,)[^\n]*\b\w+\(\s*[A-Za-z_]\w*\s*[,)]")
_MAX_CHARS: Final = 32_000


def recomputes_from_arguments(specification: Specification) -> bool:
    """Whether the tests compare answers with what they compute from arguments of the program."""
    sources = [
        source for source in (specification.setup, *specification.cases, *specification.files.values()) if source
    ]
    if sum(map(len, sources)) > _MAX_CHARS or not any(map(_LIKELY.search, sources)):
        return False
    nodes = [node for source in sources for node in ast.walk(parsed(source))]
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)} | set(dir(builtins))
    own |= {alias.asname or alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    own |= {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module != "solution"
        for alias in node.names
    }

    def is_of_program(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in own

    passed = {name for node in nodes if is_of_program(node) for name in _names_passed(node)}
    if not passed or any(isinstance(node, ast.Expr) and is_of_program(node.value) for node in nodes):
        return False
    sides = [side for node in nodes for side in _sides(node)]
    if any(_root(side) in passed for side in sides):
        return False
    return any(
        isinstance(part, ast.Call) and not is_of_program(part) and not passed.isdisjoint(_names_passed(part))
        for side in sides
        for part in ast.walk(side)
    )


def _names_passed(call: ast.AST) -> set[str]:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []
    return {argument.id for argument in arguments if isinstance(argument, ast.Name)}


def _sides(node: ast.AST) -> list[ast.expr]:
    """What a node compares: `a == b`, `self.assertEqual(a, b)`."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    is_assertion = (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "assert" in node.func.attr.lower()
    )
    return [*node.args] if is_assertion and isinstance(node, ast.Call) else []


def _root(node: ast.expr) -> str:
    """The variable that is looked at: `data`, `data[0]`, `data.size`."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
