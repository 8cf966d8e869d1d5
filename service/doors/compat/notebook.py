"""Runs cells of Python in order in one process of a box. The result is the output of each, and what it displays.

    cells ──file──► driver in a box ──file──► stdout, stderr, value, display, error of each

There is no kernel; `notebook_driver` says what it has of one. The driver shares its process with the cells, which may
write any output about themselves. Nothing is judged by this output.
"""

import secrets
from pathlib import Path
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
    display: list[dict[str, Any]]
    """What it displays, in order: data by media type, as Jupyter has them. Pictures are base64."""
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
    order = {"cells": cells, "report": report, "cell_s": cell_s, "most": MAX_STREAM_BYTES, "late": LATE}
    inputs = {**(files or {}), _CELLS_FILE: msgspec.json.encode(order)}
    limits = Limits(
        cpu_s=total_s,
        wall_s=total_s + _WALL_BEHIND_S,
        memory_mb=memory_mb,
        file_mb=file_mb,
        output_bytes=MAX_REPORT_BYTES,
        stderr_bytes=MAX_STREAM_BYTES,
    )
    execute = Execute(files=inputs, fetch=[*(fetch or ()), report], arguments=[_CELLS_FILE], limits=limits)
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
_DRIVER: Final = Path(__file__).with_name("notebook_driver.py").read_text(encoding="utf-8")
