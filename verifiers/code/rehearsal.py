"""Whether any box can run tests is found out once for a task, without a response: see `sandbox.runner.testing.rehearsal`.

Most tests need no rehearsal: their text passes nothing to the program but what can be passed.
"""

import ast
import hashlib
import re
from typing import Final

import msgspec

from sandbox.base import Exit, Limits, Program, RunResult, Sandbox, SandboxUnavailable, Tests
from sandbox.runner.testing.outcomes import MISSING, UNTESTABLE
from verifiers.base import InvalidItem
from verifiers.base_runs import BaseRuns
from verifiers.code.cases import TestProgram, TestPrograms
from verifiers.code.syntax import nodes_of

_PLAIN_MODULES: Final = frozenset(
    {
        *("abc", "asyncio", "bisect", "calendar", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal"),
        *(
            "enum",
            "fractions",
            "functools",
            "heapq",
            "itertools",
            "json",
            "math",
            "numbers",
            "operator",
            "os",
            "pytest",
        ),
        *("random", "re", "solution", "statistics", "string", "sys", "textwrap", "time", "typing", "unittest"),
    }
)
"""Modules that every box has, and whose objects can be passed, or are lent."""
_PLAIN_BASES: Final = frozenset(
    {"ABC", "Enum", "IntEnum", "IsolatedAsyncioTestCase", "NamedTuple", "TestCase", "object"}
)
_SUSPECT: Final = frozenset(
    {"memoryview", "mock", "mocker", "monkeypatch", "patch", "Thread", "__import__", "TextIOWrapper"}
)
_LARGE: Final = 100_000
_LONG: Final = 1_000_000
"""Characters of tests that take 100 MB when they are compiled."""
_CPU_S: Final = 5.0
_LEAST_MEMORY_MB: Final = 512


def is_needed(tests: TestPrograms) -> bool:
    """Whether the text leaves open what tests pass to the program, which modules they need, or how much memory."""
    if tests.calls is not None:
        return False
    sources = [source for program in tests.programs for source in _sources(program)]
    return sum(map(len, sources)) > _LONG or any(map(_leaves_open, sources))


def _sources(program: TestProgram) -> tuple[str, ...]:
    return program.setup, *program.cases, *program.files.values()


def _leaves_open(source: str) -> bool:
    if not any(pattern.search(source) for pattern in _LIKELY):
        return False
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(map(_is_suspect, nodes_of(tree, *_SUSPECTED)))


_SUSPECTED: Final = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.Name, ast.arg, ast.BinOp, ast.Call, ast.Assign)
_LIKELY: Final = (
    re.compile(r"\b(?:import|class|memoryview|mock\w*|monkeypatch|patch|range|bytes|bytearray|__import__)\b"),
    re.compile(r"\*[ \t]*\(?\d|\d[ \t]*\)?[ \t]*\*"),
    re.compile(r"\b(\w+)[ \t]*=[ \t]*[\[({]+[ \t]*\1\b"),
)


def _is_suspect(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        return any(name.partition(".")[0] not in _PLAIN_MODULES or "mock" in name for name in names)
    if isinstance(node, ast.ClassDef):
        bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        return any(base not in _PLAIN_BASES and not base.endswith(("Error", "Exception")) for base in bases)
    if isinstance(node, ast.Name | ast.arg):
        return (node.id if isinstance(node, ast.Name) else node.arg) in _SUSPECT
    if isinstance(node, ast.BinOp):
        sides = node.left, node.right
        return isinstance(node.op, ast.Mult) and any(map(_is_sequence, sides)) and any(map(_is_large, sides))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in _REPEATING and any(map(_is_large, node.args))
    # made = [made]
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.List | ast.Tuple | ast.Dict):
        return False
    targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
    return any(isinstance(part, ast.Name) and part.id in targets for part in ast.walk(node.value))


def _is_sequence(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.Name) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _is_large(node: ast.expr) -> bool:
    """Whether a number is large, or computed: `17 << 20`"""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and node.value >= _LARGE
    return isinstance(node, ast.BinOp)


_REPEATING: Final = frozenset({"range", "bytes", "bytearray"})


async def demand_possible(
    sandbox: Sandbox, tests: TestPrograms, base_runs: BaseRuns[None], *, memory_mb: int = _LEAST_MEMORY_MB
) -> None:
    """Check that boxes can run tests in this memory, whatever the program is.

    Raises:
        InvalidItem: no box can.
        SandboxUnavailable: these lack a module, or nothing can be run now.
    """
    limits = Limits(cpu_s=_CPU_S, memory_mb=max(memory_mb, _LEAST_MEMORY_MB))
    runs = [
        Tests(
            program.style,
            program.cases,
            program.setup,
            program.entry_point,
            program.files,
            rehearses=True,
            limits=limits,
            shares_files=tests.shares_files,
        )
        for program in tests.programs
    ]
    key = hashlib.sha256(msgspec.json.encode(runs)).digest()
    await base_runs.get(key, lambda: _rehearsed(sandbox, runs))


async def _rehearsed(sandbox: Sandbox, runs: list[Tests]) -> None:
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return True

    await sandbox.run(Program(""), runs, take)
    if any(result.exit is Exit.MEMORY_LIMIT for result in results):
        raise InvalidItem("tests_not_supported", "the tests alone need more than memory_mb")
    for test in (test for result in results for test in result.tests):
        if test.message.startswith(MISSING):
            why = _printable(test.message.removeprefix(MISSING))
            raise SandboxUnavailable(f"test {test.name} needs what is not in the boxes: {why}", "language_unavailable")
        if test.message.startswith(UNTESTABLE):
            why = _printable(test.message.removeprefix(UNTESTABLE))
            raise InvalidItem("tests_not_supported", f"test {test.name} cannot be run in a box: {why}")


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()[:200]
