"""Reads the output of tests by a program of the task's author, in a box.

SWE-bench Pro, SWE-bench-Live and Multi-SWE-bench publish such a program, with each row or beside them. It is somebody else's, so it runs where programs of others
run, and sees the output alone.

    script      run as `program STDOUT STDERR RESULT`; it writes `{"tests": [{"name": …, "status": …}, …]}` to RESULT
    function    defines `parser(log)`, which returns the state of each test by its name
    class       a module of the package multi-swe-bench: it registers a class with `parse_log`   (package_module.py)
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from sandbox.base import Execute, Exit, Limits, Program, RunResult, Sandbox
from verifiers.base import InvalidItem
from verifiers.repository.reports.state import Report, State, UnreadableReport, merged

STDERR: Final = b"\0"
"""What comes before the standard error, where a command keeps it apart from its standard output."""
_FORMS: Final = ("script", "function", "class")
_RESULT: Final = "result.json"
_LIMITS: Final = Limits(cpu_s=60.0, memory_mb=2048, output_bytes=1 << 20)
_CALL: Final = """

import json as _json, sys as _sys
with open(_sys.argv[1], errors="replace") as _log:
    _states = parser(_log.read())
with open(_sys.argv[3], "w") as _result:
    _json.dump({"tests": [{"name": name, "status": state} for name, state in _states.items()]}, _result)
"""
_OF_CLASS: Final = Path(__file__).with_name("package_module.py").read_text(encoding="utf-8")
_STATES: Final = {"pass": State.PASSED, "skip": State.SKIPPED, "error": State.ERROR, "xfail": State.PASSED}


class _Test(msgspec.Struct):
    name: str
    status: str


class _Result(msgspec.Struct):
    tests: list[_Test]


def check(options: Mapping[str, str]) -> None:
    """See that a program is named.

    Raises:
        InvalidItem: none is, or its form is unknown.
    """
    if not options.get("program"):
        raise InvalidItem(
            "bad_reference", "log_options must have the text of a `program` in Python that reads the output"
        )
    if options.get("form", _FORMS[0]) not in _FORMS:
        raise InvalidItem("bad_reference", f"log_options.form must be one of {list(_FORMS)}")


async def report_of(sandbox: Sandbox, options: Mapping[str, str], log: bytes, owner: str) -> Report:
    """The states of the tests in an output.

    Raises:
        UnreadableReport: the program cannot read it.
        SandboxUnavailable: there is no box.
    """
    stdout, _, stderr = log.partition(STDERR)
    given, form = options["program"], options.get("form")
    source = _OF_CLASS if form == "class" else given + (_CALL if form == "function" else "")
    run = Execute(
        arguments=("stdout.log", "stderr.log", _RESULT),
        files={"stdout.log": stdout, "stderr.log": stderr, "module.py": given.encode()},
        fetch=(_RESULT,),
        limits=_LIMITS,
    )
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return True

    built = await sandbox.run(Program(source, owner=owner), [run], take)
    if not built.ok:
        raise UnreadableReport(f"log_options.program is not Python: {built.message}")
    (result,) = results
    if result.exit is not Exit.EXITED or result.code != 0:
        last_line = result.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UnreadableReport(f"log_options.program cannot read the output: {result.exit}: {last_line}")
    return Report(merged(_states(result.files.get(_RESULT, b""))))


def _states(content: bytes) -> Iterator[tuple[str, State]]:
    try:
        result: Any = msgspec.json.decode(content, type=_Result)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableReport(f"log_options.program wrote no list of tests: {error}") from error
    for test in result.tests:
        word = test.status.lower()
        yield test.name, next((state for prefix, state in _STATES.items() if word.startswith(prefix)), State.FAILED)
