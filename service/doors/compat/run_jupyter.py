"""`POST /run_jupyter` runs cells of Python in one process, in the format of SandboxFusion.

    status         driver                                   cells
    Success        Finished, return code 0                  one each, whatever they raised
    Failed         TimeLimitExceeded, or another code       none: the process ended before the last cell did
    SandboxError   null                                     none: nothing is known of the cells

This is a subset of Jupyter, without a kernel: of magics there are `%matplotlib` and `!`. `display` holds what a cell
shows, in order: objects given to `display`, the value of its last expression, and figures of matplotlib (if the boxes
have it), each by media type: text/plain, and image/png, text/html and the like of objects with Jupyter's methods for
them. The time limits count CPU seconds (`total_timeout`) and the clock (`cell_timeout`).
"""

from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from sandbox.base import Exit, SandboxUnavailable
from service.doors.compat import notebook
from service.doors.compat.door import Door, Exchange, NoOptions, Route
from service.doors.compat.request_options import refusal
from service.doors.compat.run_code import (
    MAX_FILES,
    Base64,
    CommandResult,
    Path,
    encoded_files,
    files_of,
    run_result_of,
)
from service.errors import NotInTime
from service.wire import parse
from tracing.lines import Log

log = Log("rewardline.run_jupyter")

PATHS: Final = ("/run_jupyter", "/compat/sandboxfusion/run_jupyter")
_READING_S: Final = 25.0
_CALLER_WAITS_S: Final = 10.0
_MAX_CELLS: Final = 256


class RunJupyterRequest(msgspec.Struct):
    """Other fields are ignored."""

    cells: Annotated[list[str], msgspec.Meta(min_length=1, max_length=_MAX_CELLS)]
    cell_timeout: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.0
    """The time limit of each cell, by the clock. 0: as long as all cells together."""
    total_timeout: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 45.0
    """CPU seconds of all cells together."""
    memory_limit_mb: float = msgspec.field(default=-1, name="memory_limit_MB")
    kernel: Literal["python3"] = "python3"
    files: Annotated[dict[Path, Base64 | None], msgspec.Meta(max_length=MAX_FILES)] | None = None
    fetch_files: Annotated[list[Path], msgspec.Meta(max_length=MAX_FILES)] | None = None


class CellResult(msgspec.Struct):
    """The result of a cell."""

    stdout: str
    stderr: str
    display: list[dict[str, Any]]
    """What it shows, in order: data by media type. Pictures are base64."""
    error: list[notebook.CellError]
    """The exception, if the cell raised one."""


class RunJupyterResponse(msgspec.Struct):
    """The answer, in the form of the original."""

    status: Literal["Success", "Failed", "SandboxError"]
    message: str = ""
    driver: CommandResult | None = None
    cells: list[CellResult] = []
    executor_pod_name: str | None = None
    files: dict[str, str] = {}


class RunJupyter(Door):
    name = "run_jupyter"
    late = NotInTime
    routes: ClassVar = (
        Route(
            PATHS,
            "run_jupyter",
            "Run cells of Python",
            "In the shape of SandboxFusion: 200 whatever the cells do; `SandboxError` when they could not be run.",
            RunJupyterResponse,
            RunJupyterRequest,
            {"cells": ["a = 123", "a", "print(a)"], "total_timeout": 5},
            NoOptions,
            timeout_s=_READING_S,
        ),
    )

    async def answer(self, exchange: Exchange[Any]) -> RunJupyterResponse:
        request = parse(_decoder, exchange.body, [])
        exchange.body = b""
        settings = self.parts.settings
        total_s = min(request.total_timeout, settings.max_run_s)
        exchange.wait_for(total_s + _CALLER_WAITS_S)
        await exchange.hold(1, 1)
        wished_mb = request.memory_limit_mb
        try:
            ran = await notebook.run(
                self.parts.boxes,
                request.cells,
                total_s=total_s,
                cell_s=request.cell_timeout,
                memory_mb=int(min(wished_mb, settings.box_memory_mb) if wished_mb >= 1 else settings.box_memory_mb),
                file_mb=settings.box_disk_mb,
                files=files_of(request.files or {}, settings),
                fetch=request.fetch_files or [],
            )
        except SandboxUnavailable as error:
            if error.reason == "sandbox_busy":
                raise NotInTime(str(error)) from error
            log.warning("a notebook could not be run", reason=error.reason, message=str(error))
            return RunJupyterResponse("SandboxError", f"{error.reason}: {error}")
        except ValueError as error:
            raise refusal(["files"], f"a box cannot take these files: {error}") from error
        return _answer_of(ran)


def _answer_of(ran: notebook.Ran) -> RunJupyterResponse:
    result = ran.result
    if result is None:
        return RunJupyterResponse("SandboxError", ran.built.message)
    driver = run_result_of(result)
    if result.exit is Exit.EXITED and result.code == notebook.LATE and ran.cells is None:
        driver.status, driver.return_code = "TimeLimitExceeded", None
    if ran.cells is None or driver.status != "Finished":
        return RunJupyterResponse("Failed", driver=driver)
    cells = [_cell_of(cell) for cell in ran.cells]
    files = encoded_files(notebook.without_report(result.files))
    return RunJupyterResponse("Success", driver=driver, cells=cells, files=files)


def _cell_of(cell: notebook.Cell) -> CellResult:
    return CellResult(cell.stdout, cell.stderr, cell.display, [] if cell.error is None else [cell.error])


_decoder: Any = msgspec.json.Decoder(RunJupyterRequest)
