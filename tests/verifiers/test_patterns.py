"""Expressions that can be read, each in one place; and nothing of a library that is its own."""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import verifiers
from sandbox.workers import Workers
from tests.growth import ends
from verifiers import registry
from verifiers.base import Resources

MODULES = {path: path.read_text("utf-8") for path in sorted(Path(verifiers.__file__).parent.rglob("*.py"))}
LONGEST = 120
SHORT = 10
"""Below it an expression has no meaning of its own: `\\s+`."""
CALLS = {"compile", "match", "search", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
PARTS = re.compile(r"\\[sdwbWS(\[{]|\(\?[:P<=!]|\[\^")
"""What a text of its own has that is a part of an expression."""
DOCUMENTED = {"_replace", "_asdict", "_fields", "_make", "_getframe"}
"""Names that begin so, though the manual of Python has them."""


def written(node: ast.expr) -> str:
    """The characters of a text that stand in the source, without what is put into it."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(map(written, values))
        case ast.BinOp(left=left, right=right):
            return written(left) + written(right)
        case _:
            return ""


@cache
def expressions(source: str) -> list[tuple[int, str, str]]:
    """The regular expressions of a module and their parts: line, what is written, and with names of what is put in."""
    return list(_expressions(source))


def _expressions(source: str) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call | ast.Assign):
            continue
        found: ast.expr | None = None
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re" | "re2"), attr=name), args=[first, *_]):
                found = first if name in CALLS else None
            case ast.Call(func=ast.Name(id="Scan"), args=[first, *_]):
                found = first
            case ast.Assign(value=ast.Constant() | ast.JoinedStr() | ast.BinOp() as value):
                found = value if PARTS.search(written(value)) else None
        if found is not None and written(found):
            yield node.lineno, written(found), ast.unparse(found)


def too_long(source: str) -> list[int]:
    return [line for line, text, _ in expressions(source) if len(text) > LONGEST]


def repeated(modules: Mapping[str, str]) -> Mapping[str, list[str]]:
    found = defaultdict(list)
    for name, source in modules.items():
        for line, text, whole in expressions(source):
            if len(text) >= SHORT:
                found[whole].append(f"{name}:{line}")
    return {whole: places for whole, places in found.items() if len(places) > 1}


def of_others(source: str) -> list[str]:
    """Private names that a module uses and neither makes itself nor has as a method."""
    tree = ast.parse(source)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    own |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case ast.Attribute(attr=name) if name not in own | DOCUMENTED:
                names = [name]
            case ast.ImportFrom(module=module, names=imported):
                names = [*(module or "").split("."), *(each.name for each in imported)]
            case ast.Call(func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(value=str(name)), *_]):
                names = [name]
            case _:
                continue
        found += [name for name in names if name.startswith("_") and not name.startswith("__")]
    return found


def test_no_expression_is_longer_than_can_be_read() -> None:
    assert {str(path): lines for path, source in MODULES.items() if (lines := too_long(source))} == {}


def test_no_expression_is_written_twice() -> None:
    assert repeated({str(path): source for path, source in MODULES.items()}) == {}


def test_nothing_private_of_another_is_used() -> None:
    assert {str(path): names for path, source in MODULES.items() if (names := of_others(source))} == {}


SIGNS = "Aa1 .-(,\n\\{x*中é'$=/<"
FLOODS = [
    (unit * 60)[:60] + end for unit in (*SIGNS, *map("".join, product("Aa1中", SIGNS))) for end in ("", "!", "\0")
]
"""Short: what takes a moment for a run of 60 signs stays in proportion, or is one that tests of growth find."""


def compiled(values: Iterable[object]) -> Iterator[re.Pattern[str]]:
    """The expressions among values, and within their tables."""
    for value in values:
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
            yield value
        elif isinstance(value, tuple | list | frozenset):
            yield from compiled(value)
        elif isinstance(value, dict):
            yield from compiled(value.values())


def flood(pattern: re.Pattern[str]) -> None:
    for text in FLOODS:
        pattern.fullmatch(text)
        pattern.search(text)


@pytest.mark.growth
def test_no_expression_backtracks_for_long() -> None:
    """A part of a reference or a response that nearly matches: in "(?:[A-Z][a-z]*[.]?[a-z]*){1,4}", a run of capitals."""
    registry.load(Resources(Workers(1)))
    modules = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] in ("verifiers", "service")]
    patterns = {pattern: None for module in modules for pattern in compiled(vars(module).values())}
    assert len(patterns) > 1_000
    for pattern in patterns:
        ends(lambda: flood(pattern))  # noqa: B023 - it is called at once


def test_each_of_these_is_seen() -> None:
    assert too_long(f"import re\n\n_X = re.compile(rf'{'a' * 70}{{y}}' r'{'b' * 60}')") == [3]
    assert too_long(f"_PART = r'\\s{'a' * 120}'") == [1]
    assert set(repeated({"a": "re.search(r'[a-z]{1,20}x', t)", "b": "_Y = re2.compile(r'[a-z]{1,20}x')"})) == {
        "'[a-z]{1,20}x'"
    }
    assert of_others("import yaml\nyaml._load(x)") == ["_load"]
    assert of_others("from yaml import _load\nfrom yaml._yaml import y") == ["_load", "_yaml"]
    assert of_others("class A:\n    def _f(self): ...\n\nA()._f()") == []
