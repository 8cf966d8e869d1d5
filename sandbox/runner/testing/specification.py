"""The tests as they were sent, and which names belong to them and not to the judged program."""

import ast
import builtins
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

from sandbox.runner.testing import library

_NEVER_OF_PROGRAM: Final = frozenset({"abs", "all", "any", "bool", "isinstance", "issubclass", "hasattr", "callable"})
"""Builtins that tests use to judge."""
_OF_FRAMEWORKS: Final = frozenset(
    {
        *("load_tests", "setUpModule", "tearDownModule", "setup_module", "teardown_module"),
        *("setup_function", "teardown_function", "pytest_plugins", "pytestmark"),
    }
)
"""Names that unittest and pytest look for in a test module."""
_BINDING: Final = ("import", "def", "class")
"""Without one of these words, no definition or import binds a name."""
MODULES_BY_SHORT_NAME: Final = {"np": "numpy", "pd": "pandas"}
"""Modules by their customary short name."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Specification:
    """See `sandbox.base.Tests`."""

    style: str
    cases: tuple[str, ...] = ()
    setup: str = ""
    entry_point: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    directory: str = "."
    """Where the files are written."""

    def own_names(self) -> frozenset[str]:
        """Names that the program must not take from its tests.

        These are names that the tests import or define, names that frameworks look for, and builtins.
        """
        bound = {name for source in self._sources for name in (*_bound_at_top(source), *_bound_before_star(source))}
        return frozenset(bound | {*vars(builtins)} | _OF_FRAMEWORKS) - self.program_builtins()

    def module_meant(self, name: str) -> ModuleType | None:
        """The module that tests mean by a name they do not bind, if they use it only for attributes of that module.

        Then the program's object of that name does not matter: `math.isclose(f(1), 2)` depends on `math`.

        Raises:
            ImportError: the name can only mean a module, and there is no such module here.
        """
        uses, attributes = 0, list[str]()
        for node in (node for source in self._sources for node in ast.walk(parsed(source))):
            uses += _is_name(node, name)
            if isinstance(node, ast.Attribute) and _is_name(node.value, name):
                attributes.append(node.attr)
        module = _module(name) if uses == len(attributes) else None
        return module if all(hasattr(module, attribute) for attribute in attributes) else None

    def library_object(self, name: str) -> Any:
        """The standard library's object under a common name that tests do not bind; None: they mean the program's.

        See `sandbox.runner.testing.library`.
        """
        cases, setup_trees = library.parsed_all(self.cases), library.parsed_all([self.setup])
        of_program = frozenset({self.entry_point} if self.entry_point else ())
        return library.library_object(name, cases, setup_trees, of_program)

    def free_names(self) -> frozenset[str]:
        """Names that the tests read and do not bind."""
        return frozenset(name for source in self._sources for name in _called_free("", source)) - self.own_names()

    def missing_module(self) -> str:
        """A module that all the tests need and this box lacks: the setup or a file imports it. Empty if there is none."""
        roots = {
            name.partition(".")[0]
            for source in (self.setup, *self.files.values())
            if "import" in source
            for statement in parsed(source).body
            for name in _imported(statement)
        }
        own_modules = {path.partition("/")[0].removesuffix(".py") for path in self.files}
        return next((root for root in sorted(roots - own_modules - {"solution"}) if not _exists(root)), "")

    def mentions(self, pattern: re.Pattern[str], *words: str) -> bool:
        """Whether the pattern occurs in the tests' text. First looks for any of `words`, which is fast."""
        return any(any(word in source for word in words) and pattern.search(source) for source in self._sources)

    @property
    def _sources(self) -> tuple[str, ...]:
        return self.setup, *self.cases, *self.files.values()

    def program_builtins(self) -> frozenset[str]:
        """Builtins that the program may redefine as functions of its own.

        With an entry point, that is the entry point. Otherwise, if the cases use no free names except builtins, any of
        those.
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
    """Whether tests may mean a module by the name."""
    return name in MODULES_BY_SHORT_NAME or name in sys.stdlib_module_names


def _imported(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    if isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        return [statement.module]
    return []


def _exists(module: str) -> bool:
    return module in sys.modules or module in sys.stdlib_module_names or importlib.util.find_spec(module) is not None


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(MODULES_BY_SHORT_NAME.get(name, name))
    except ImportError:
        if name in MODULES_BY_SHORT_NAME:
            raise  # without the module, no program can have it: an object of that name is something else
        return None


def parsed(source: str) -> ast.Module:
    """The syntax tree. Empty for a source with a syntax error, which is reported when the source is run."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _bound_at_top(source: str) -> Iterator[str]:
    if not any(word in source for word in _BINDING):
        return  # most cases bind nothing: this saves parsing them
    for statement in parsed(source).body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "solution":
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0]
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name


def _bound_before_star(source: str) -> Iterator[str]:
    """Names that a test module binds to its own objects before `from solution import *`."""
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
    """Nodes outside function definitions, in the order of the text."""
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _outside_definitions(ast.iter_child_nodes(node))


def _called_free(setup: str, case: str) -> set[str]:
    """Names that a case reads and that neither the case nor the setup binds."""
    nodes = [*ast.walk(parsed(setup)), *ast.walk(parsed(case))]
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return read - stored - arguments - {*_bound_at_top(setup), *_bound_at_top(case)}
