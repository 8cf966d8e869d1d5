"""`POST /run_code`: one program, run once, in the shape of SandboxFusion, which the clients of verl and ROLL speak.

    status         compile_result       run_result
    Success        null, or Finished    Finished, return code 0
    Failed         null, or Finished    Finished with another code, Error (a limit), TimeLimitExceeded
    Failed         of the compiler      null: it did not compile
    SandboxError   null                 null: nothing is known of the program; ROLL tries again

All of these are HTTP 200. 504 says that the program's turn did not come while the caller waited, which is the one answer
that verl tries again after. Differences from the original: time limits count CPU seconds, with the wall clock a little
behind them; output beyond `MAX_OUTPUT_BYTES` ends the program; a memory limit beyond a box's own is cut to that.

The language `pytest` is Python whose file is given to pytest: output and return code are pytest's (0: all tests passed).
As in the original, solution and tests share one process, in which either can lie about the other: the verifier `code` keeps
them apart.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Final, Literal

import msgspec
import structlog
from starlette.types import Receive, Scope, Send

from sandbox import languages
from sandbox.base import Built, Execute, Exit, Limits, Program, RunResult, Sandbox, SandboxUnavailable
from sandbox.languages import Language
from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.errors import FieldError, MethodNotAllowed, NotInTime, Unprocessable
from service.limits.admission import Admission
from service.settings import Settings
from service.wire import encode, parse

log = structlog.get_logger("rewardline.run_code")

PATHS: Final = ("/run_code", "/compat/sandboxfusion/run_code")
MAX_OUTPUT_BYTES: Final = 8 << 20
MAX_STDERR_BYTES: Final = 256 << 10
MAX_FILES: Final = 256
MAX_PATH_CHARS: Final = 255
PATH_PATTERN: Final = r"^(?:(?!\.{1,2}/)[^/\x00]+/)*(?!\.{1,2}$)[^/\x00]+$"
"""Relative, and none of its parts is empty, `.` or `..`."""
_READING_S: Final = 25.0
"""Longest time until the body is in; how long its caller waits is only known from it."""
_WALL_BEHIND_S: Final = 3.0
"""What a compiler or program may sleep or wait beyond its CPU seconds."""
_CALLER_WAITS_S: Final = 8.0
"""verl's client waits for both time limits and ten seconds; an answer takes its way, too."""
PYTEST: Final = "pytest"
"""To these clients a language."""
_LANGUAGE_NAMES: Final = sorted(
    (PYTEST, *(name for language in languages.all_languages().values() for name in (language.name, *language.aliases)))
)
_TEST_FILE: Final = "test_solution.py"
_RUN_PYTEST: Final = """\
import os, sys
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
import pytest
sys.exit(pytest.main(["-p", "no:cacheprovider", "--rootdir", os.getcwd(), sys.argv[1]]))
"""
"""Plugins are those of the machine for local boxes, and none of them is part of what is asked for."""
_BASE64_PATTERN: Final = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_NUMBER: Final = r"(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?:[eE][+-]?[0-9]{1,2})?"

RunStatus = Literal["Finished", "Error", "TimeLimitExceeded"]
Seconds = (
    Annotated[float, msgspec.Meta(gt=0)] | Annotated[str, msgspec.Meta(pattern=rf"^ *\+?(?=[^eE]*[1-9]){_NUMBER} *$")]
)
"""The original takes numbers in quotation marks too."""
Megabytes = float | Annotated[str, msgspec.Meta(pattern=rf"^ *[+-]?{_NUMBER} *$")]
Path = Annotated[str, msgspec.Meta(max_length=MAX_PATH_CHARS, pattern=PATH_PATTERN)]
Base64 = Annotated[str, msgspec.Meta(extra_json_schema={"contentEncoding": "base64", "pattern": _BASE64_PATTERN})]
LanguageName = Annotated[str, msgspec.Meta(extra_json_schema={"enum": _LANGUAGE_NAMES})]


class RunCodeRequest(msgspec.Struct):
    """A program and its input; other fields are passed over, because clients send some of their own."""

    code: str
    language: LanguageName
    compile_timeout: Seconds = 10.0
    run_timeout: Seconds = 10.0
    memory_limit_mb: Megabytes = msgspec.field(default=-1, name="memory_limit_MB")
    stdin: str | None = None
    files: Annotated[dict[Path, Base64 | None], msgspec.Meta(max_length=MAX_FILES)] | None = None
    """By relative path."""
    fetch_files: Annotated[list[Path], msgspec.Meta(max_length=MAX_FILES)] | None = None


class CommandResult(msgspec.Struct):
    """How a compiler or program ended."""

    status: RunStatus
    execution_time: float
    return_code: int | None
    """Minus the signal that ended it; null when its time was up."""
    stdout: str
    stderr: str


class RunCodeResponse(msgspec.Struct):
    """What the original answers."""

    status: Literal["Success", "Failed", "SandboxError"]
    message: str = ""
    compile_result: CommandResult | None = None
    run_result: CommandResult | None = None
    executor_pod_name: str | None = None
    files: dict[str, str] = {}
    """Base64 of those of `fetch_files` that are there."""


_decoder = msgspec.json.Decoder(RunCodeRequest)


class RunCode:
    """The door as an ASGI application; `observe(status)` counts answers."""

    def __init__(
        self, settings: Settings, admission: Admission, sandbox: Sandbox, observe: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._admission = admission
        self._sandbox = sandbox
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowed(f"{scope['method']} {scope['path']}; it takes POST")
        scope["state"]["call"].items = 1
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout_at(started + _READING_S) as clock:
                with self._admission.enter() as permit:
                    await permit.add_when_possible(items=1)
                    body = await read_body(
                        self._settings, scope["state"]["headers"], receive, permit.reserve_when_possible
                    )
                    request = parse(_decoder, body, [])
                    del body
                    order = order_of(request, self._settings)
                    clock.reschedule(started + order.timeout_s)
                    async with cancelled_on_disconnect(receive):
                        answer = await self._run(order)
        except TimeoutError as error:
            raise NotInTime("no box was free for as long as the caller waits") from error
        self._observe(answer.status)
        payload = encode(answer)
        await asgi_response.respond(send, 200, payload)

    async def _run(self, order: "Order") -> RunCodeResponse:
        results: list[RunResult] = []

        def take(_: int, result: RunResult) -> bool:
            results.append(result)
            return True

        try:
            built = await self._sandbox.run(order.program, [order.run], take)
        except SandboxUnavailable as error:
            if error.reason == "sandbox_busy":
                raise NotInTime(str(error)) from error
            log.warning("a program could not be run", reason=error.reason, message=str(error))
            return RunCodeResponse("SandboxError", f"{error.reason}: {error}")
        except ValueError as error:
            raise Unprocessable(f"no box takes such files: {error}") from error
        return answer_of(order.language, built, results[0] if results else None)


class Order(msgspec.Struct, frozen=True):
    """A request as the sandbox takes it."""

    language: Language
    program: Program
    run: Execute
    timeout_s: float
    """From its arrival on, how long the caller waits for the answer."""


def order_of(request: RunCodeRequest, settings: Settings) -> Order:
    """What is to be run, with every wish cut to what may be had.

    Raises:
        Unprocessable: names the field.
    """
    is_pytest = request.language.strip().lower() == PYTEST
    language = languages.find("python" if is_pytest else request.language)
    if language is None:
        known = sorted((*languages.all_languages(), PYTEST))
        raise _unprocessable(["language"], f"no language {request.language[:40]!r}; there are {known}")
    compile_s = min(float(request.compile_timeout), settings.max_run_s)
    run_s = min(float(request.run_timeout), settings.max_run_s)
    wished_mb = float(request.memory_limit_mb)
    memory_mb = min(wished_mb, settings.box_memory_mb) if wished_mb > 0 else settings.box_memory_mb
    files = files_of(request.files or {}, settings)
    source, arguments = request.code, list[str]()
    if is_pytest:
        name = _unused(_TEST_FILE, files)
        files[name] = request.code.encode("utf-8", "replace")
        source, arguments = _RUN_PYTEST, [name]
    run = Execute(
        stdin=(request.stdin or "").encode("utf-8", "replace"),
        arguments=arguments,
        files=files,
        fetch=request.fetch_files or [],
        limits=Limits(
            cpu_s=run_s,
            wall_s=run_s + _WALL_BEHIND_S,
            memory_mb=max(1, int(memory_mb)),
            file_mb=settings.box_disk_mb,
            output_bytes=MAX_OUTPUT_BYTES,
            stderr_bytes=MAX_STDERR_BYTES,
        ),
    )
    compiling = Limits(
        cpu_s=compile_s,
        wall_s=compile_s + _WALL_BEHIND_S,
        memory_mb=settings.box_memory_mb,
        file_mb=settings.box_disk_mb,
        output_bytes=MAX_STDERR_BYTES,
        stderr_bytes=MAX_STDERR_BYTES,
    )
    program = Program(source, language.name, compile_limits=compiling, needs_pytest=is_pytest)
    return Order(language, program, run, compile_s + run_s + _CALLER_WAITS_S)


def files_of(given: Mapping[str, str | None], settings: Settings) -> dict[str, bytes]:
    """The files of a request by path.

    Raises:
        Unprocessable: one is not base64, or lies below another, or they are more than a box holds.
    """
    folders = {str(folder) for path in given for folder in PurePosixPath(path).parents}
    files: dict[str, bytes] = {}
    for path, text in given.items():
        if path in folders:
            raise _unprocessable(["files", path], "another file lies below this one")
        try:
            files[path] = base64.b64decode(text or "", validate=True)
        except (binascii.Error, ValueError) as error:
            raise _unprocessable(["files", path], f"not base64: {error}") from error
    if sum(map(len, files.values())) > settings.box_disk_mb << 20:
        raise _unprocessable(["files"], f"more than the {settings.box_disk_mb} MB a box holds")
    return files


def encoded_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """In base64, as they travel."""
    return {path: base64.b64encode(content).decode() for path, content in files.items()}


def _unused(name: str, files: Mapping[str, bytes]) -> str:
    """The name, or one with more underscores: neither file nor folder is called so."""
    taken = {PurePosixPath(path).parts[0] for path in files}
    while name in taken:
        name = name.replace(".py", "_.py")
    return name


def _unprocessable(loc: list[str | int], message: str) -> Unprocessable:
    return Unprocessable(message, errors=[FieldError(loc, message)])


def answer_of(language: Language, built: Built, result: RunResult | None) -> RunCodeResponse:
    """The answer to a program that was given to a box; `result` is None when it could not be loaded."""
    if not built.ok and not language.compile:
        # To the original a program that is no Python is one that ran and died of it.
        failed = CommandResult("Finished", built.cpu_s, 1, "", built.message)
        return RunCodeResponse("Failed", run_result=failed)
    compiled = _compile_result(built) if language.compile else None
    if not built.ok:
        return RunCodeResponse("Failed", compile_result=compiled)
    assert result is not None
    run = run_result_of(result)
    succeeded = run.status == "Finished" and run.return_code == 0
    return RunCodeResponse(
        "Success" if succeeded else "Failed",
        _LIMITS.get(result.exit, ""),
        compiled,
        run,
        files=encoded_files(result.files),
    )


def _compile_result(built: Built) -> CommandResult:
    if built.exit is Exit.TIME_LIMIT:
        return CommandResult("TimeLimitExceeded", built.cpu_s, None, "", built.message)
    return CommandResult("Finished", built.cpu_s, 0 if built.ok else 1, "", built.message)


_LIMITS: Final = {
    Exit.MEMORY_LIMIT: "memory limit exceeded",
    Exit.OUTPUT_LIMIT: "output limit exceeded",
    Exit.TIME_LIMIT: "time limit exceeded",
}


def run_result_of(result: RunResult) -> CommandResult:
    """How a program ended, as the original tells it."""
    stdout, stderr = (text.decode("utf-8", "replace") for text in (result.stdout, result.stderr))
    match result.exit:
        case Exit.TIME_LIMIT:
            return CommandResult("TimeLimitExceeded", result.wall_s, None, stdout, stderr)
        case Exit.MEMORY_LIMIT | Exit.OUTPUT_LIMIT:
            return CommandResult("Error", result.wall_s, -9, stdout, stderr)
        case Exit.SIGNALLED:
            return CommandResult("Finished", result.wall_s, -result.signal, stdout, stderr)
        case Exit.EXITED:
            return CommandResult("Finished", result.wall_s, result.code, stdout, stderr)
