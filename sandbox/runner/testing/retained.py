"""Finds tests that look at a container again, or change it, after an object of the program may have kept it.

`a = [2, 1]; s = Stack(a); a.append(3); assert s.items() == [2, 1, 3]; s.sort(); assert a == [1, 2, 3]`
"""

import ast
from collections import Counter
from collections.abc import Iterator

from sandbox.runner.testing.specification import Specification, parsed


def uses_what_it_passed(specification: Specification) -> bool:
    """Whether a name is passed to a class, a method, a context or what makes an object, and used elsewhere, too."""
    sources = (specification.setup, *specification.cases, *specification.files.values())
    nodes = [node for source in sources if source for node in ast.walk(parsed(source))]
    holders = {
        holder.id
        for node in nodes
        if isinstance(node, ast.Call | ast.Attribute)
        and isinstance(holder := node.func if isinstance(node, ast.Call) else node.value, ast.Name)
    }
    # total = summing(a): a closure, or an object that a function makes
    makers = [
        node.value
        for node in nodes
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id in holders for to in node.targets)
    ]
    makers += [node.context_expr for node in nodes if isinstance(node, ast.withitem)]
    passed = {name for node in nodes for name in _passed(node)} | {name for node in makers for name in _names(node)}
    uses = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return any(uses[name] > 1 for name in passed)


def _passed(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and (
        (isinstance(node.func, ast.Attribute) and "assert" not in node.func.attr)
        or (isinstance(node.func, ast.Name) and node.func.id[:1].isupper())
    ):
        yield from _names(node)


def _names(call: ast.AST) -> Iterator[str]:
    if isinstance(call, ast.Call):
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if isinstance(argument, ast.Name):
                yield argument.id
