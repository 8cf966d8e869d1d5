"""Turns the scorers of the package reasoning-gym into programs for boxes, without the code that makes puzzles.

    package's text ──parse──► definitions ──what `score_answer` reaches──► excerpt ─┐
                                                     frame, set-up and files of ours ┴──► Program

The package is never imported here: its files are parsed and split. The excerpt runs in a box, which needs neither the
package nor its dependencies. An excerpt takes milliseconds to load, the package five seconds. An excerpt holds all that
a scorer reaches, so a test can find what a scorer never calls.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from typing import Final

from sandbox.base import Program
from verifiers.reasoning_gym.tasks import Task

PACKAGE: Final = "reasoning_gym"
VERSION: Final = "0.1.25"
"""The only release that is used, because its scorers were read."""
FUNCTION: Final = "scores"
"""The entry point of the program: `scores(entry, answers)` gives the score of each answer, or the name of its error."""
HOW_TO_INSTALL: Final = f"pip install --no-deps reasoning-gym=={VERSION} magiccube==0.3.0"

_SCORE: Final = "score_answer"
_MOVED: Final = {("factory", "ProceduralDataset"): "dataset"}
"""The module that defines a name, by a module of the package that only passes the name on, and the name."""
_NOT_CUT: Final = "data"
"""A module that is not cut out. A scorer uses it only to find a file, and its set-up finds that file in another way."""

_FRAME: Final = """
import copy as _copy

scorer = object.__new__({scorer})
{config}
{setup}

def scores(entry, answers):
    found = []
    for answer in answers:
        own = _copy.deepcopy(entry)
        try:
            {prepare}
            found.append(float(scorer.score_answer(answer, own)))
        except Exception as error:
            found.append(type(error).__name__)
    return found
"""


class NotInstalled(Exception):
    """The text of the package, in the release that was read, is missing. The message says how to install it."""


def program(task: Task) -> Program:
    """Make the program that scores answers to a task's entries. It takes up to a tenth of a second."""
    package = _distribution(PACKAGE.replace("_", "-"), VERSION)
    module = _Module.read(package, task.module)
    scorer, config = module.registered()
    setup = ast.parse(task.setup)
    excerpt = _Excerpt(package)
    scorer_class = excerpt.take_class(
        module, scorer, [_SCORE, *_attributes(setup)], replaced=_attributes(setup, ast.Store)
    )
    excerpt.take_needs(module, setup)
    configured = ""
    if config is not None and "config" in _attributes(scorer_class):
        excerpt.take(module, config)
        configured = f"scorer.config = {config}()"
    frame = _FRAME.format(scorer=scorer, config=configured, setup=task.setup, prepare=task.prepare or "pass")
    return Program(excerpt.source() + frame, files=_files(task))


def _distribution(name: str, version: str | None = None) -> Distribution:
    try:
        installed = distribution(name)
    except PackageNotFoundError as error:
        raise NotInstalled(f"the package {name} is not installed: {HOW_TO_INSTALL}") from error
    if version is not None and installed.version != version:
        raise NotInstalled(f"{name} is installed as {installed.version}, and only {version} was read: {HOW_TO_INSTALL}")
    return installed


def _text(package: Distribution, path: str) -> str:
    try:
        return Path(str(package.locate_file(path))).read_text(encoding="utf-8")
    except OSError as error:
        raise NotInstalled(f"the package {package.name} is installed without {path}: {HOW_TO_INSTALL}") from error


def _files(task: Task) -> Mapping[str, bytes]:
    """The files beside the program.

    Each folder of modules gets an empty `__init__.py`, because nothing may run when it is imported.
    """
    files: dict[str, bytes] = {}
    for name, paths in task.files.items():
        package = _distribution(name)
        for path in paths:
            inside = PurePosixPath(path)
            if inside.suffix != ".py":
                files[inside.name] = _text(package, path).encode()
                continue
            files[path] = _text(package, path).encode()
            for folder in list(inside.parents)[:-1]:
                files.setdefault(f"{folder}/__init__.py", b"")
    return files


@dataclass(frozen=True, slots=True)
class _Module:
    """A module of the package with its definitions."""

    name: str
    """The name below the package, with dots."""
    definitions: Mapping[str, ast.stmt]
    body: list[ast.stmt]

    @classmethod
    def read(cls, package: Distribution, name: str) -> "_Module":
        text = _text(package, f"{PACKAGE}/{name.replace('.', '/')}.py")
        body = ast.parse(text).body
        return cls(name, {defined: node for node in body for defined in _defined(node)}, body)

    def registered(self) -> tuple[str, str | None]:
        """The names of the class of its data set, and of the class of its configuration."""
        for node in self.body:
            match node:
                case ast.Expr(
                    ast.Call(func=ast.Name("register_dataset"), args=[_, ast.Name(scorer), ast.Name(config), *_])
                ):
                    return scorer, config
        return "ProceduralDataset", None

    def absolute(self, node: ast.ImportFrom) -> str | None:
        """The module that an import names, as a name below the package; None for another package."""
        if node.level:
            parents = self.name.split(".")[: -node.level]
            return ".".join([*parents, *([node.module] if node.module else [])])
        module = node.module or ""
        return module.removeprefix(PACKAGE).lstrip(".") if module.split(".")[0] == PACKAGE else None


def _defined(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign():
            yield from (name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name))
        case ast.AnnAssign(target=ast.Name(name)):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


@dataclass(slots=True)
class _Excerpt:
    """The definitions that were cut out so far. Each comes after those that it needs."""

    package: Distribution
    statements: list[ast.stmt] = field(default_factory=list)
    taken: set[tuple[str, str]] = field(default_factory=set)
    modules: dict[str, _Module] = field(default_factory=dict)

    def source(self) -> str:
        texts = [ast.unparse(ast.fix_missing_locations(node)) for node in self.statements]
        return "\n".join(dict.fromkeys(texts)) + "\n"

    def take_class(
        self, module: _Module, name: str, method_names: Sequence[str], replaced: Sequence[str] = ()
    ) -> ast.ClassDef:
        """Take a class without its bases, with the wanted methods and those that they call."""
        definition = module.definitions[name]
        assert isinstance(definition, ast.ClassDef)
        methods = {node.name: node for node in definition.body if isinstance(node, ast.FunctionDef)}
        reached: dict[str, ast.FunctionDef] = {}
        waiting = [*method_names]
        while waiting:
            method = waiting.pop()
            if method in methods and method not in reached and method not in replaced:
                reached[method] = methods[method]
                waiting += _attributes(methods[method])
        excerpt = ast.ClassDef(name, [], [], list(reached.values()), [])
        self.take_needs(module, excerpt)
        self.statements.append(excerpt)
        return excerpt

    def take(self, module: _Module, name: str) -> None:
        """Take a definition, and before it all that it needs. A name that the module does not define is a builtin."""
        node = module.definitions.get(name)
        if node is None or (module.name, name) in self.taken:
            return
        self.taken.add((module.name, name))
        if isinstance(node, ast.ImportFrom) and (origin := module.absolute(node)) is not None:
            self._take_from(origin, name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            aliases = [alias for alias in node.names if name == (alias.asname or alias.name.partition(".")[0])]
            self.statements.append(
                ast.Import(aliases) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, aliases, 0)
            )
        else:
            self.take_needs(module, node)
            self.statements.append(node)

    def _take_from(self, origin: str, name: str) -> None:
        """Take a name that a module imports from another module: a module, or a definition in it."""
        origin = _MOVED.get((origin, name), origin)
        if origin == _NOT_CUT:
            return
        module = self._module(origin or name)
        if origin:
            self.take(module, name)
            return
        functions = [defined for defined, node in module.definitions.items() if isinstance(node, ast.FunctionDef)]
        for defined in functions:
            self.take(module, defined)
        members = ast.unparse(
            ast.Call(ast.Name("dict"), [], [ast.keyword(function, ast.Name(function)) for function in functions])
        )
        self.statements += ast.parse(f"import types\n{name} = types.SimpleNamespace(**{members})").body

    def take_needs(self, module: _Module, node: ast.AST) -> None:
        for name in dict.fromkeys(child.id for child in ast.walk(node) if isinstance(child, ast.Name)):
            self.take(module, name)

    def _module(self, name: str) -> _Module:
        if name not in self.modules:
            self.modules[name] = _Module.read(self.package, name)
        return self.modules[name]


def _attributes(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> Sequence[str]:
    attributes = [child for child in ast.walk(node) if isinstance(child, ast.Attribute)]
    return [child.attr for child in attributes if isinstance(child.ctx, context)]
