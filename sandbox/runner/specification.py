"""The tests as they were sent, and which names belong to them and not to the judged program."""

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

_NEVER_OF_PROGRAM: Final = frozenset({"abs", "all", "any", "bool", "isinstance", "issubclass", "hasattr", "callable"})
"""Builtins that tests judge with."""
_BINDING: Final = ("import", "def", "class")
"""Without one of these words nothing is bound by a definition or an import."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Specification:
    """See `sandbox.base.Tests`."""

    style: str
    cases: tuple[str, ...] = ()
    setup: str = ""
    entry_point: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    def own_names(self) -> frozenset[str]:
        """Names the program must not take from its tests: those they import or define, and builtins."""
        sources = (self.setup, *self.cases, *self.files.values())
        bound = {name for source in sources for name in _bound_at_top(source)}
        return frozenset(bound | {*vars(builtins)}) - self.program_builtins()

    def program_builtins(self) -> frozenset[str]:
        """Builtins whose names the program may give to functions of its own.

        That is the function under test; or where no name but those of builtins is left free in the cases, any of them.
        """
        if self.entry_point:
            return frozenset({self.entry_point})
        free: set[str] = set()
        for case in self.cases:
            free |= _called_free(self.setup, case)
            if not free <= vars(builtins).keys():
                return frozenset()
        return frozenset(free) - _NEVER_OF_PROGRAM


def parsed(source: str) -> ast.Module:
    """The syntax tree; an empty one for what has an error, which is told when it is run."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _bound_at_top(source: str) -> Iterator[str]:
    if not any(word in source for word in _BINDING):
        return  # as most cases do, which are not worth parsing for it
    for statement in parsed(source).body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "solution":
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0]
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name


def _called_free(setup: str, case: str) -> set[str]:
    """Names a case reads and neither it nor the setup binds."""
    nodes = [*ast.walk(parsed(setup)), *ast.walk(parsed(case))]
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return read - stored - arguments - {*_bound_at_top(setup), *_bound_at_top(case)}
