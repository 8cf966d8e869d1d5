"""Runs tests once without a program, to see whether any box can run them: then no response decides that.

    db = sqlite3.connect(":memory:")              a connection cannot be passed to another process
    assert count(db) == 3                ──►      the task says so, also where a response crashes before

What stands in for the program answers whatever it is asked. Each statement of the tests runs for itself, whatever the one
before it raised: so all that they pass is seen, unless a value of the program alone leads there.
"""

import ast
import builtins
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any, Final

from sandbox.runner.testing.protocol import COMPUTED, ORDER
from sandbox.runner.testing.remote_program import RemoteProgram
from sandbox.runner.testing.specification import Specification, parsed

_NOTE: Final = "rewardline_rehearsed"
_ALONE: Final = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Assert, ast.Delete, ast.Raise)


class RehearsedProgram(RemoteProgram):
    """A program that has every name, and answers with what can be used as anything."""

    free_names: frozenset[str] = frozenset()
    """What `from solution import *` brings."""

    def public_names(self) -> list[str]:
        return sorted(self.free_names)

    def get(self, target: int, name: str) -> Any:
        self.uses += 1
        return _Anything(self)

    def call(self, target: int, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        self._text([*self._arguments([_plain(argument) for argument in (*arguments, *keywords.values())], [])])
        return _Anything(self)

    def set(self, target: int, name: str, value: object) -> None:
        self.call(0, (value,), {})


class _Anything:
    """What the program may have returned."""

    def __init__(self, owner: RehearsedProgram) -> None:
        self._rewardline_owner = owner

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._rewardline_owner.call(0, arguments, keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(self._rewardline_owner)

    def __iter__(self) -> Iterator[Any]:
        return iter([_Anything(self._rewardline_owner)])

    def __mro_entries__(self, _: object) -> tuple[type, ...]:
        return ()

    def __enter__(self) -> Any:
        return self

    def __await__(self) -> Generator[Any, Any, Any]:
        yield from ()
        return _Anything(self._rewardline_owner)


for _name in (*(f"__{name}__" for name in (*COMPUTED, "getitem", "neg", "abs")), "__exit__"):
    setattr(_Anything, _name, lambda self, *_: _Anything(self._rewardline_owner))
for _name in (*(f"__{name}__" for name in ORDER), "__eq__", "__ne__", "__contains__", "__bool__"):
    setattr(_Anything, _name, lambda *_: True)
for _name, _value in {"len": 1, "int": 1, "index": 1, "float": 1.0, "str": "1", "hash": 1}.items():
    setattr(_Anything, f"__{_name}__", lambda _, value=_value: value)


def _plain(value: Any) -> Any:
    """What is passed back to the program needs no image; nor does a part of a container, if it is large."""
    if type(value) is _Anything:
        return None
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return {key: _plain(member) for key, member in value.items()} if type(value) is dict else value


def softened(specification: Specification, note: Callable[[BaseException], object]) -> Specification:
    """The specification with tests in which no statement keeps the next from running, and notes what it raises."""
    setattr(builtins, _NOTE, lambda: note(sys.exception() or Exception()))
    files = {path: _softened(text) if path.endswith(".py") else text for path, text in specification.files.items()}
    cases = tuple(map(_softened, specification.cases))
    return replace(specification, setup=_softened(specification.setup), cases=cases, files=files)


def _softened(source: str) -> str:
    tree = parsed(source)
    if not tree.body:
        return source  # what cannot be parsed raises that when it runs
    return ast.unparse(ast.fix_missing_locations(_Softener().visit(tree)))


class _Softener(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> Any:
        self.generic_visit(node)
        if isinstance(node, _ALONE):
            return [_ignoring([node])]
        if isinstance(node, ast.With | ast.AsyncWith | ast.For | ast.AsyncFor):
            # with raises(MyErr): a context that cannot be entered does not hide what is in it
            return [_ignoring([node], node.body)]
        if isinstance(node, ast.While):
            return [_ignoring([ast.If(node.test, node.body, [])], node.body)]
        return node


def _ignoring(statements: list[ast.stmt], otherwise: list[ast.stmt] | None = None) -> ast.stmt:
    noted = ast.Expr(ast.Call(ast.Name(_NOTE, ast.Load()), [], []))
    handler = ast.ExceptHandler(ast.Name("BaseException", ast.Load()), None, [noted, *(otherwise or ())])
    return ast.Try(statements, [handler], [], [])
