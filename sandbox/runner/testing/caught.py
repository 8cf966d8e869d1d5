"""Tests catch with a name of the program only what the program raised.

    try:                                        try:
        g()                                         g()
        assert False                   ──►          assert False
    except MyErr: pass                          except rewardline_caught(MyErr): pass

A program with `MyErr = AssertionError` would catch the failure of its own test. What the tests' own classes, and builtin
names in their text, catch is for the tests to say.
"""

import ast
import builtins
import re
import sys
from dataclasses import replace
from typing import Any, Final

from sandbox.runner.testing.specification import Specification, parsed

_NAME: Final = "rewardline_caught"
_MARK: Final = "_rewardline_raised"
_LIKELY: Final = re.compile(r"^[ \t]*except\b", re.MULTILINE)
_OF_FAILURES: Final = frozenset({"AssertionError", "Exception", "BaseException"})
_MAX_CHARS: Final = 64_000


def marked(error: BaseException) -> BaseException:
    """The same exception, marked as one that the program has raised."""
    vars(error)[_MARK] = True
    return error


def catch_only_of_program(specification: Specification) -> Specification:
    """Rewrite the tests' handlers of exceptions that the program names."""
    sources = [specification.setup, *specification.cases, *specification.files.values()]
    if not any(map(_LIKELY.search, sources)) or sum(map(len, sources)) > _MAX_CHARS:
        return specification
    own = {name for source in sources for name in _names_of_tests(parsed(source))}
    setattr(builtins, _NAME, _caught)
    files = {
        path: _rewritten(text, own) if path.endswith(".py") else text for path, text in specification.files.items()
    }
    cases = tuple(_rewritten(case, own) for case in specification.cases)
    return replace(specification, setup=_rewritten(specification.setup, own), cases=cases, files=files)


def _caught(kinds: Any) -> Any:
    """What a handler catches: nothing, if the exception only says that the tests have failed."""
    error = sys.exception()
    if error is None or _MARK in vars(error):
        return kinds
    says_failure = isinstance(error, AssertionError) or type(error) is Exception or not isinstance(error, Exception)
    return () if says_failure else kinds


def _names_of_tests(tree: ast.Module) -> set[str]:
    names = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {one.asname or one.name.partition(".")[0] for one in node.names if one.name != "solution"}
        elif isinstance(node, ast.ImportFrom) and node.module != "solution":
            names |= {one.asname or one.name for one in node.names}
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
    return names


def _rewritten(source: str, own: set[str]) -> str:
    if _LIKELY.search(source) is None:
        return source
    marker = _Marker(own)
    tree = marker.visit(parsed(source))
    return ast.unparse(ast.fix_missing_locations(tree)) if marker.has_changed else source


class _Marker(ast.NodeTransformer):
    def __init__(self, own: set[str]) -> None:
        self._own = own
        self.has_changed = False

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        names = {part.id for part in ast.walk(node.type) if isinstance(part, ast.Name)} if node.type else set()
        if node.type is not None and not names <= self._own and names.isdisjoint(_OF_FAILURES):
            node.type = ast.Call(ast.Name(_NAME, ast.Load()), [node.type], [])
            self.has_changed = True
        return self.generic_visit(node)
