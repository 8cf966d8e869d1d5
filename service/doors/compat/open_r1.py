"""`POST /compat/open_r1/execute_batch` stands in for the router of Open R1's E2B sandboxes (`e2b_router_url`, without
`http://`).

    {"scripts": [text], "languages": ["python"], "timeout": 30, "request_timeout": 28}
        ►  [{"execution": {"results", "logs", "error", "execution_count"}, "exception_str": null}]

The reward of a script is the value of its last expression. `execution` is null if the script did not end or could not
be run; the client turns this into None, no reward. As in the original, a script that uses up its time has `execution:
null`. The client has no time limit of its own. Scripts that have not run after `?deadline_s=` are null with the reason.
"""

import asyncio
from typing import Annotated, Any, ClassVar, Final

import msgspec

from sandbox import languages
from sandbox.base import SandboxUnavailable
from service.doors.compat import notebook
from service.doors.compat.door import Door, Exchange, Route
from service.doors.compat.request_options import PatienceOptions, refusal
from service.wire import parse

PATH: Final = "/compat/open_r1/execute_batch"
_TIMEOUT_S: Final = 300.0
_MAX_SCRIPTS: Final = 4096

Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]


class Scripts(msgspec.Struct):
    """Other fields are ignored. `language` is the field of older clients, for all scripts."""

    scripts: Annotated[list[str], msgspec.Meta(max_length=_MAX_SCRIPTS)]
    languages: list[str] | None = None
    language: str | None = None
    timeout: Seconds = 30.0
    """CPU seconds of each script."""


class Logs(msgspec.Struct):
    stdout: list[str]
    stderr: list[str]


class Value(msgspec.Struct):
    text: str
    is_main_result: bool = True


class Raised(msgspec.Struct):
    name: str
    value: str
    traceback: str


class Execution(msgspec.Struct):
    """The result in the form of e2b's code interpreter."""

    results: list[Value]
    logs: Logs
    error: Raised | None
    execution_count: int = 1


class Executed(msgspec.Struct):
    """The result of one script. Exactly one of the two is null."""

    execution: Execution | None
    exception_str: str | None


class OpenR1(Door):
    name = "open_r1"
    routes: ClassVar = (
        Route(
            (PATH,),
            "open_r1_execute_batch",
            "Run scripts for Open R1",
            "Each in a process of its own; the value of its last expression is its result.",
            list[Executed],
            Scripts,
            {"scripts": ["1 / 4"], "languages": ["python"], "timeout": 5},
            PatienceOptions,
            timeout_s=_TIMEOUT_S,
        ),
    )

    async def answer(self, exchange: Exchange[PatienceOptions]) -> list[Executed]:
        request = parse(_decoder, exchange.body, [])
        exchange.body = b""
        scripts = request.scripts
        names = request.languages if request.languages is not None else [request.language or "python"] * len(scripts)
        if len(names) != len(scripts):
            raise refusal(
                ["languages"], f"{len(names)} languages for {len(scripts)} scripts; there must be one for each"
            )
        await exchange.hold(len(scripts), self.parts.settings.max_items_per_request)
        until = exchange.deadline - 0.5
        turns = asyncio.Semaphore(max(1, self.parts.boxes.slots))
        executed: list[Executed] = [_none("not run before the request's deadline")] * len(scripts)

        async def execute(position: int) -> None:
            try:
                async with asyncio.timeout_at(until), turns:
                    executed[position] = await self._executed(scripts[position], names[position], request.timeout)
            except TimeoutError:
                return

        async with asyncio.TaskGroup() as group:
            for position in range(len(scripts)):
                group.create_task(execute(position))
        return executed

    async def _executed(self, script: str, language: str, timeout_s: float) -> Executed:
        known_language = languages.find(language)
        if known_language is None or known_language.name != "python":
            return _none(f"no language {language[:40]!r} here; there is python")
        settings = self.parts.settings
        try:
            ran = await notebook.run(
                self.parts.boxes,
                [script],
                total_s=min(timeout_s, settings.max_run_s),
                memory_mb=settings.box_memory_mb,
                file_mb=settings.box_disk_mb,
            )
        except SandboxUnavailable as error:
            return _none(f"{error.reason}: {error}")
        if ran.cells is None:
            return _none(f"the script ended: {ran.result.exit if ran.result is not None else ran.built.message}")
        return Executed(_execution(ran.cells[0]), None)


def _execution(cell: notebook.Cell) -> Execution:
    error = cell.error
    return Execution(
        [] if cell.value is None else [Value(cell.value)],
        Logs(_lines(cell.stdout), _lines(cell.stderr)),
        None if error is None else Raised(error.ename, error.evalue, "".join(error.traceback)),
    )


def _lines(text: str) -> list[str]:
    return [text] if text else []


def _none(why: str) -> Executed:
    return Executed(None, why)


_decoder: Any = msgspec.json.Decoder(Scripts)
