"""The tests as they were sent, and which names belong to them and not to the judged program."""

import ast
import builtins
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

from sandbox.runner.testing import library

_NEVER_OF_PROGRAM: Final = frozenset({"abs", "all", "any", "bool", "isinstance", "issubclass", "hasattr", "callable"})
"""Builtins that tests judge with."""
_OF_FRAMEWORKS: Final = frozenset(
    {
        *("load_tests", "setUpModule", "tearDownModule", "setup_module", "teardown_module"),
        *("setup_function", "teardown_function", "pytest_plugins", "pytestmark"),
    }
)
"""Names of a test module that unittest and pytest look for in it."""
_BINDING: Final = ("import", "def", "class")
"""Without one of these words nothing is bound by a definition or an import."""
MODULES_BY_SHORT_NAME: Final = {"np": "numpy", "pd": "pandas"}
"""Of modules, by custom."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Specification:
    """See `sandbox.base.Tests`."""

    style: str
    cases: tuple[str, ...] = ()
    setup: str = ""
    entry_point: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    def own_names(self) -> frozenset[str]:
        """Names the program must not take from its tests: those they import, define or frameworks ask for, and builtins."""
        bound = {name for source in self._sources for name in (*_bound_at_top(source), *_bound_before_star(source))}
        return frozenset(bound | {*vars(builtins)} | _OF_FRAMEWORKS) - self.program_builtins()

    def module_meant(self, name: str) -> ModuleType | None:
        """The module that tests mean by a name they do not bind: all they do with it is to use what is in that module.

        What the program has under the name is then of no account: `math.isclose(f(1), 2)` is for `math` to say.

        Raises:
            ImportError: no module of this name is here, and none but a module is meant.
        """
        uses, taken = 0, list[str]()
        for node in (node for source in self._sources for node in ast.walk(parsed(source))):
            uses += _is_name(node, name)
            if isinstance(node, ast.Attribute) and _is_name(node.value, name):
                taken.append(node.attr)
        module = _module(name) if uses == len(taken) else None
        return module if all(hasattr(module, attribute) for attribute in taken) else None

    def library_object(self, name: str) -> Any:
        """What the standard library has under a common name that tests do not bind; None: they mean the program's.

        See `sandbox.runner.testing.library`.
        """
        cases, rest = library.parsed_all(self.cases), library.parsed_all([self.setup])
        of_program = frozenset({self.entry_point} if self.entry_point else ())
        return library.library_object(name, cases, rest, of_program)

    def mentions(self, pattern: re.Pattern[str], *words: str) -> bool:
        """Whether the pattern is found anywhere in the tests' text; not where none of these words is, which is told fast."""
        return any(any(word in source for word in words) and pattern.search(source) for source in self._sources)

    @property
    def _sources(self) -> tuple[str, ...]:
        return self.setup, *self.cases, *self.files.values()

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


def is_module_name(name: str) -> bool:
    """Whether tests may mean a module by it."""
    return name in MODULES_BY_SHORT_NAME or name in sys.stdlib_module_names


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(MODULES_BY_SHORT_NAME.get(name, name))
    except ImportError:
        if name in MODULES_BY_SHORT_NAME:
            raise  # no program has it then, and what one has in its place is not what is meant
        return None


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


def _bound_before_star(source: str) -> Iterator[str]:
    """Names a test module binds, other than to what is the program's, before it takes all of the program's names."""
    names: list[str] = []
    for node in _outside_definitions(parsed(source).body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        if isinstance(node, ast.ImportFrom) and node.module == "solution":
            if any(alias.name == "*" for alias in node.names):
                yield from names
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names += [alias.asname or alias.name.partition(".")[0] for alias in node.names]


def _outside_definitions(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """In the order of the text."""
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _outside_definitions(ast.iter_child_nodes(node))


def _called_free(setup: str, case: str) -> set[str]:
    """Names a case reads and neither it nor the setup binds."""
    nodes = [*ast.walk(parsed(setup)), *ast.walk(parsed(case))]
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return read - stored - arguments - {*_bound_at_top(setup), *_bound_at_top(case)}
