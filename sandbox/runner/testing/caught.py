"""Tests catch with a name of the program only what the program raised.

    try:                                        try:
        g()                                         g()
        assert False                   ──►          assert False
    except MyErr: pass                          except rewardline_caught(MyErr): pass

    with raises(MyErr):                         with raises(MyErr), rewardline_watch():
        assert g() == 2                             assert g() == 2

A program with `MyErr = AssertionError` would catch the failure of its own test. What the tests' own classes, and builtin
names in their text, catch is for the tests to say. A context has no say in what it catches: the test has failed.
"""

import ast
import builtins
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from sandbox.runner.testing.specification import Specification, parsed

_NAME: Final = "rewardline_caught"
_WATCH_NAME: Final = "rewardline_watch"
_MARK: Final = "_rewardline_raised"
_LIKELY: Final = re.compile(r"^[ \t]*(?:except\b|with\b[^\n]*(?:[Rr]aises|suppress))", re.MULTILINE)
_CATCHING: Final = ("raises", "suppress")
_OF_FAILURES: Final = frozenset({"AssertionError", "Exception", "BaseException"})
_MAX_CHARS: Final = 64_000


def marked(error: BaseException) -> BaseException:
    """The same exception, marked as one that the program has raised."""
    vars(error)[_MARK] = True
    return error


def catch_only_of_program(specification: Specification, note: Callable[[str], None]) -> Specification:
    """Rewrite the tests' handlers of exceptions that the program names, and note failures that a context may catch."""
    sources = [specification.setup, *specification.cases, *specification.files.values()]
    if not any(map(_LIKELY.search, sources)) or sum(map(len, sources)) > _MAX_CHARS:
        return specification
    bound = {name for source in sources for name in _names_of_tests(parsed(source))}
    setattr(builtins, _NAME, _caught)
    setattr(builtins, _WATCH_NAME, lambda: _Watch(note))
    files = {
        path: _rewritten(text, bound) if path.endswith(".py") else text for path, text in specification.files.items()
    }
    cases = tuple(_rewritten(case, bound) for case in specification.cases)
    return replace(specification, setup=_rewritten(specification.setup, bound), cases=cases, files=files)


def _caught(kinds: Any) -> Any:
    """What a handler catches: nothing, if the exception only says that the tests have failed."""
    error = sys.exception()
    return () if error is not None and _says_failure(error) else kinds


def _says_failure(error: BaseException) -> bool:
    """Whether an exception only says that the tests have failed."""
    if _MARK in vars(error):
        return False
    return isinstance(error, AssertionError) or type(error) is Exception or not isinstance(error, Exception)


class _Watch:
    """Notes failures of the tests that leave its block."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None and _says_failure(error):
            self._note(f"{type(error).__name__} of the tests, where they expect what the program raises")


def _names_of_tests(tree: ast.Module) -> set[str]:
    names = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names if alias.name != "solution"}
        elif isinstance(node, ast.ImportFrom) and node.module != "solution":
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
    return names


def _rewritten(source: str, bound: set[str]) -> str:
    if _LIKELY.search(source) is None:
        return source
    marker = _Marker(bound)
    tree = marker.visit(parsed(source))
    return ast.unparse(ast.fix_missing_locations(tree)) if marker.has_changed else source


class _Marker(ast.NodeTransformer):
    def __init__(self, bound: set[str]) -> None:
        self._own = bound
        self.has_changed = False

    def _is_of_program(self, *kinds: ast.expr) -> bool:
        names = {part.id for kind in kinds for part in ast.walk(kind) if isinstance(part, ast.Name)}
        return not names <= self._own and names.isdisjoint(_OF_FAILURES)

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        if any(self._is_of_program(*call.args) for call in calls if _catches(call)):
            node.items.append(ast.withitem(ast.Call(ast.Name(_WATCH_NAME, ast.Load()), [], [])))
            self.has_changed = True
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.type is not None and self._is_of_program(node.type):
            node.type = ast.Call(ast.Name(_NAME, ast.Load()), [node.type], [])
            self.has_changed = True
        return self.generic_visit(node)


def _catches(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return any(word in name.lower() for word in _CATCHING)
