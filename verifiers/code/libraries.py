"""Whether the boxes have the libraries that a task asks for, which is found out once for a task, without a response.

    Python's tests      modules that the text before the program imports, and pytest
    joined programs     what the compiler or the interpreter lacks for the test, and for the imports of its prompt

What only a response imports is its own choice: it ends as a program that cannot be loaded. Modules that the tests of
Python import are tried by `rehearsal`.
"""

import hashlib
import re
import sys
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import structs

from sandbox.base import Execute, Limits, Program, RunResult, Sandbox, SandboxUnavailable, TestStyle
from sandbox.workers import Exit, Task, Workers
from verifiers.base import InvalidItem
from verifiers.base_runs import BaseRuns
from verifiers.code import joining
from verifiers.code.cases import CallTests, JoinedTest, Suite, TestPrograms

JOIN: Final = Task("verifiers.code.joining", "variant_in_worker", 20.0, output_bytes=64_000_000)
"""CPU seconds: ten times what the longest tests of a request need."""
INLINE_CHARS: Final = 8_000
"""A longer test is joined with its solution in a worker; this one takes up to four milliseconds."""
_LIMITS: Final = Limits(cpu_s=10.0, memory_mb=1024)


async def demand(sandbox: Sandbox, workers: Workers, suite: Suite, base_runs: BaseRuns[Sequence[str]]) -> None:
    """Check that the boxes have what a task asks for, whatever the response is.

    Raises:
        InvalidItem: it asks for a file that it does not bring.
        SandboxUnavailable: they lack a library, or nothing can be run now.
        WorkersUnavailable: nothing can be joined now.
    """
    program = await _importing(workers, suite)
    if program is None:
        return
    texts = (program.language, program.source, *program.files)
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass"))
    for content in program.files.values():
        digest.update(content)
    names = await base_runs.get(digest.digest(), lambda: _lacking(sandbox, program))
    if paths := [name for name in names if joining.is_own_file(name)]:
        raise InvalidItem(
            "tests_not_supported",
            f"the test loads the file {paths[0]!r}, which is not there: solution and test are one program; leave that line out",
        )
    if names:
        raise SandboxUnavailable(f"the task needs what is not in the boxes: {', '.join(names)}", "language_unavailable")


async def _importing(workers: Workers, suite: Suite) -> Program | None:
    """The program that fails if the boxes lack something; None if they cannot."""
    tests = suite.tests
    if isinstance(tests, JoinedTest):
        if len(tests.source) + len(tests.prompt) <= INLINE_CHARS:
            return Program(joining.without_solution(tests), tests.language, suite.files)
        packed = msgspec.msgpack.encode(structs.replace(tests, split=None))
        (outcome,) = await workers.map(JOIN, [["alone", "", packed, 0]])
        return Program(outcome.value, tests.language, suite.files) if outcome.exit is Exit.OK else None
    names = _modules(f"{suite.import_prefix}\n{suite.preamble}") - {path.partition(".")[0] for path in suite.files}
    if isinstance(tests, TestPrograms):
        names |= {"pytest" for program in tests.programs if program.style is TestStyle.PYTEST}
    elif not isinstance(tests, CallTests):
        return None
    return Program("".join(f"import {name}\n" for name in sorted(names))) if names else None


def _modules(head: str) -> set[str]:
    """The modules beyond the standard library that Python imports at its margin, where nothing catches an error."""
    lists = [start or names for start, names in _IMPORT.findall(head)]
    roots = {name.strip().partition(" ")[0].partition(".")[0] for names in lists for name in names.split(",")}
    return {root for root in roots if root.isidentifier()} - sys.stdlib_module_names


_IMPORT: Final = re.compile(r"^(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w., \t]+))", re.MULTILINE)


async def _lacking(sandbox: Sandbox, program: Program) -> Sequence[str]:
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return False

    built = await sandbox.run(program, [Execute(limits=_LIMITS)], take)
    stderr = "".join(result.stderr.decode("utf-8", "replace") for result in results)
    return sorted(joining.lacked(f"{built.message}\n{stderr}"))
