"""Turns tests of Python around: what passes must fail.

    assert a == b            a control, which notes if this holds for a wrong value (controls.py); assert a == b
    return                   assert that something is noted; return
    (the end of the test)    assert that something is noted

So a right change fails each test of a twin run. What passes there as well was not decided by the tests. It is done outside of
the container, with the tests as they are without a change.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sandbox.workers import worker_function
from verifiers.repository import controls
from verifiers.repository.reports.names import group_of

_BLOCKS: Final = ("body", "orelse", "finalbody", "handlers", "cases")
_XFAIL: Final = ("xfail", "expectedFailure")
_WORDS: Final = re.compile(r"\w+")
_PLAIN_BASES: Final = frozenset(("object", "TestCase", "IsolatedAsyncioTestCase"))


def places(names: Iterable[str], log_format: str, name_kind: str) -> dict[str, tuple[str, str]]:
    """Where tests are, as far as their names say it: the file, and the names of classes and function with `::` between."""
    if name_kind == "r2e":
        return {}
    if log_format == "unittest":
        return {name: location for name in names if (location := _of_unittest(name))}
    if log_format != "pytest":
        return {}
    split = {name: name.partition("[")[0].partition("::") for name in names}
    return {name: (file, path) for name, (file, _, path) in split.items() if path and _is_plain(file)}


def _is_plain(file: str) -> bool:
    return file.endswith(".py") and not file.startswith("/") and ".." not in file.split("/") and "\n" not in file


def _of_unittest(name: str) -> tuple[str, str] | None:
    test, group, module = group_of(name)
    file = f"{module.replace('.', '/')}.py"
    return (file, f"{group}::{test}") if module and group and _is_plain(file) else None


@worker_function
def negate_in_worker(payload: Sequence[Any]) -> list[list[Any]]:
    """Run `negated` on files: for each `[source, tests]` it is `[negated source, tests that are negated, may_xfail, absent]`."""
    return [list(negated(source, tests)) for source, tests in payload]


def negated(source: bytes, tests: Sequence[str]) -> tuple[bytes, list[str], bool, list[str]]:
    """The source with some of its tests turned around, which ones these are, whether it says that tests may fail, and the tests
    that it does not have. A test is not turned around if it is not there, or is a generator; none is if the source is not
    today's Python.
    """
    try:
        tree = ast.parse(source)
        turned: set[ast.AST] = set()
        absent = _absent(tree, source, tests)
        functions = controls.functions(tree)
        controls.put_into(tree)
        tests_turned = [test for test in tests if _negate(tree, test.split("::"), turned)]
        text = f"{ast.unparse(tree)}\n\n{functions}"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return b"", [], False, []
    return text.encode(errors="replace"), tests_turned, any(word in text for word in _XFAIL), absent


def _absent(tree: ast.Module, source: bytes, tests: Sequence[str]) -> list[str]:
    """The tests that the file does not have: it does not even mention a part of their names, and inherits it from nobody."""
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return []
    words = set(_WORDS.findall(source.decode(errors="replace")))
    heirs = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and not _is_plain_class(node)}
    return [test for test in tests if _is_absent(test.split("::"), words, heirs)]


def _is_absent(names: Sequence[str], words: set[str], heirs: set[str]) -> bool:
    *groups, function = names
    if not all(name.isidentifier() for name in names):
        return False
    return not words.issuperset(groups) or (function not in words and heirs.isdisjoint(groups))


def _is_plain_class(node: ast.ClassDef) -> bool:
    """Whether a class has no other tests than its own."""
    bases = {base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases}
    return bases <= _PLAIN_BASES and not node.keywords and not node.decorator_list


def _negate(tree: ast.Module, names: Sequence[str], turned: set[ast.AST]) -> bool:
    scopes: list[ast.AST] = [tree]
    for name in names[:-1]:
        scopes = [
            node for scope in scopes for node in _defined(scope) if isinstance(node, ast.ClassDef) and node.name == name
        ]
    functions = [
        node
        for scope in scopes
        for node in _defined(scope)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == names[-1]
    ]
    if not functions or any(map(_has_yield, functions)):
        return False
    for function in functions:
        if function not in turned:  # two names may mean one function
            _Negation().turn(function)
    turned.update(functions)
    return True


def _defined(scope: ast.AST) -> Iterator[ast.AST]:
    """What a module or class defines, also below conditions."""
    for block in _BLOCKS:
        for node in getattr(scope, block, ()):
            yield node
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _defined(node)


def _has_yield(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own(function))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield child
            yield from _own(child)


class _Negation(controls.OwnStatements):
    """Turns one function around."""

    def turn(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.enter(function)
        function.body = [controls.start(), *function.body, controls.end()]
        ast.fix_missing_locations(function)

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:  # noqa: N802 - the name is that of `ast`
        return [controls.end(), node]
