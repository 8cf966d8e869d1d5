"""Runs cells of Python in order in one process of a box. The result is the output of each, and the value of its last
expression.

    cells ──file──► driver in a box ──file──► stdout, stderr, value, error of each

There is no kernel, no magics and no top-level await, and values are shown only by their `repr`. The driver shares its
process with the cells, which may write any output about themselves. Nothing is judged by this output.
"""

import secrets
from typing import Any, Final

import msgspec

from sandbox.base import Built, Execute, Limits, Program, RunResult, Sandbox

MAX_STREAM_BYTES: Final = 1 << 20
MAX_REPORT_BYTES: Final = 8 << 20
LATE: Final = 124
"""The exit code of a notebook in which a cell took too long."""
_WALL_BEHIND_S: Final = 3.0
_CELLS_FILE: Final = ".rewardline-cells.json"


class CellError(msgspec.Struct):
    """An exception in Jupyter's form."""

    ename: str
    evalue: str
    traceback: list[str]


class Cell(msgspec.Struct):
    """The result of a cell."""

    stdout: str
    stderr: str
    value: str | None
    """The `repr` of its last expression. None if the value is None or there is no expression."""
    error: CellError | None


class Ran(msgspec.Struct):
    """The result of a notebook that ran in a box."""

    built: Built
    result: RunResult | None
    """None when the driver could not be loaded."""
    cells: list[Cell] | None
    """None when the process ended before the last cell did."""


async def run(
    sandbox: Sandbox,
    cells: list[str],
    *,
    total_s: float,
    cell_s: float = 0.0,
    memory_mb: int,
    file_mb: int,
    files: dict[str, bytes] | None = None,
    fetch: list[str] | None = None,
) -> Ran:
    """Run the cells. `cell_s` limits each by the clock; 0 sets no limit.

    Raises:
        SandboxUnavailable: the cells could not be run. This says nothing about them.
        ValueError: a box cannot take these files.
    """
    report = f".rewardline-report-{secrets.token_hex(8)}.json"
    given = {**(files or {}), _CELLS_FILE: msgspec.json.encode({"cells": cells, "report": report, "cell_s": cell_s})}
    limits = Limits(
        cpu_s=total_s,
        wall_s=total_s + _WALL_BEHIND_S,
        memory_mb=memory_mb,
        file_mb=file_mb,
        output_bytes=MAX_REPORT_BYTES,
        stderr_bytes=MAX_STREAM_BYTES,
    )
    execute = Execute(files=given, fetch=[*(fetch or ()), report], arguments=[_CELLS_FILE], limits=limits)
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return True

    built = await sandbox.run(Program(_DRIVER), [execute], take)
    result = results[0] if results else None
    return Ran(built, result, _cells_of(result, report, len(cells)) if result is not None else None)


def _cells_of(result: RunResult, report: str, count: int) -> list[Cell] | None:
    try:
        cells = _report.decode(result.files.get(report, b""))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return cells if len(cells) == count else None


def without_report(files: Any) -> dict[str, bytes]:
    """The files that the caller asked for."""
    return {path: content for path, content in files.items() if not path.startswith(".rewardline-report-")}


_report = msgspec.json.Decoder(list[Cell])
_DRIVER: Final = f"""\
def _run():
    import ast, builtins, json, linecache, os, signal, sys, tempfile, traceback, types

    most = {MAX_STREAM_BYTES}
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    os.unlink(sys.argv[1])
    sys.argv = [""]
    notebook = types.ModuleType("__main__")
    notebook.__builtins__ = builtins
    sys.modules["__main__"] = notebook
    report = []

    def late(*_):
        os._exit({LATE})

    def execute(source, name):
        tree = ast.parse(source, name)
        last = tree.body[-1] if tree.body else None
        value = None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        exec(compile(tree, name, "exec"), notebook.__dict__)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), notebook.__dict__)
        if value is None:
            return None
        notebook.__dict__["_"] = value
        return repr(value)

    def told(error):
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename in (__file__, "solution.py"):
            frames = frames.tb_next
        lines = traceback.format_exception(type(error), error, frames)
        return {{"ename": type(error).__name__, "evalue": str(error)[:most], "traceback": lines}}

    def text(file):
        file.seek(0)
        return file.read(most).decode("utf-8", "replace")

    signal.signal(signal.SIGALRM, late)
    kept = [os.dup(1), os.dup(2)]
    for number, source in enumerate(order["cells"], 1):
        name = "<cell %d>" % number
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        value = error = None
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            if order["cell_s"]:
                signal.setitimer(signal.ITIMER_REAL, order["cell_s"])
            try:
                value = execute(source, name)
            except BaseException as raised:
                error = told(raised)
            signal.setitimer(signal.ITIMER_REAL, 0)
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except Exception:
                    pass
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            cell = {{"stdout": text(out), "stderr": text(err), "value": value, "error": error}}
        report.append(cell)
    with open(order["report"], "w", encoding="utf-8", errors="replace") as file:
        json.dump(report, file)
    os._exit(0)


_run()
"""
