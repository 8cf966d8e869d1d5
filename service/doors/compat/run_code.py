"""`POST /run_code` runs one program once, in the format of SandboxFusion, which the clients of verl and ROLL use.

    status         compile_result       run_result
    Success        null, or Finished    Finished, return code 0; null: CUDA, which is only compiled
    Failed         null, or Finished    Finished with another code, Error (a limit), TimeLimitExceeded
    Failed         of the compiler      null: it did not compile
    SandboxError   null                 null: nothing is known of the program; ROLL tries again

All of these are HTTP 200. 504 says that the program's turn did not come while the caller waited; it is the only answer
after which verl retries. There are differences from the original. Time limits count CPU seconds, with the wall clock a
little behind them. Output beyond `MAX_OUTPUT_BYTES` ends the program. A memory limit beyond that of a box is cut to it.

The language `pytest` runs a Python file by pytest: output and return code are those of pytest (0: all tests passed). As
in the original, solution and tests share one process, in which either can lie about the other. The verifier `code`
keeps them apart. `args` are more arguments for pytest; in other languages they are ignored, as in the original.

`files` lie beside the source when it is compiled, and in the working directory when it runs. No box has a GPU, so
programs in CUDA are not run.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Final, Literal

import msgspec
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
from tracing.lines import Log

log = Log("rewardline.run_code")

PATHS: Final = ("/run_code", "/compat/sandboxfusion/run_code")
MAX_OUTPUT_BYTES: Final = 8 << 20
MAX_STDERR_BYTES: Final = 256 << 10
MAX_FILES: Final = 256
MAX_ARGUMENTS: Final = 64
MAX_ARGUMENT_CHARS: Final = 1000
MAX_PATH_CHARS: Final = 255
PATH_PATTERN: Final = r"^(?:(?!\.{1,2}/)[^/\x00]+/)*(?!\.{1,2}$)[^/\x00]+$"
"""A relative path without parts that are empty, `.` or `..`."""
_READING_S: Final = 25.0
"""The longest time until the body is in. How long the caller waits is known only from the body."""
_WALL_BEHIND_S: Final = 3.0
"""Seconds that a compiler or program may sleep or wait beyond its CPU seconds."""
_CALLER_WAITS_S: Final = 8.0
"""Seconds beyond both time limits. verl's client waits ten seconds more than those, and the answer needs some of
them."""
PYTEST: Final = "pytest"
"""The name that these clients use like a language."""
_CAPITALS: Final = ("D_ut", "R")
"""The names that these clients write with capitals. Any letter case is accepted."""
_LANGUAGE_NAMES: Final = sorted(
    (
        PYTEST,
        *_CAPITALS,
        *(name for language in languages.all_languages().values() for name in (language.name, *language.aliases)),
    )
)
_TEST_FILE: Final = "test_solution.py"
_RUN_PYTEST: Final = """\
import os, sys
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
import pytest
sys.exit(pytest.main(["-p", "no:cacheprovider", "--rootdir", os.getcwd(), *sys.argv[1:]]))
"""
"""The command of pytest without plugins: in local boxes plugins are those of the machine, and the request asks for none
of them."""
_BASE64_PATTERN: Final = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_NUMBER: Final = r"(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?:[eE][+-]?[0-9]{1,2})?"

RunStatus = Literal["Finished", "Error", "TimeLimitExceeded"]
Seconds = (
    Annotated[float, msgspec.Meta(gt=0)] | Annotated[str, msgspec.Meta(pattern=rf"^ *\+?(?=[^eE]*[1-9]){_NUMBER} *$")]
)
"""Numbers. As in the original, they may be in quotation marks."""
Megabytes = float | Annotated[str, msgspec.Meta(pattern=rf"^ *[+-]?{_NUMBER} *$")]
Path = Annotated[str, msgspec.Meta(max_length=MAX_PATH_CHARS, pattern=PATH_PATTERN)]
Base64 = Annotated[str, msgspec.Meta(extra_json_schema={"contentEncoding": "base64", "pattern": _BASE64_PATTERN})]
Argument = Annotated[str, msgspec.Meta(max_length=MAX_ARGUMENT_CHARS, pattern=r"^[^\x00]*$")]
LanguageName = Annotated[str, msgspec.Meta(extra_json_schema={"enum": _LANGUAGE_NAMES})]


class RunCodeRequest(msgspec.Struct):
    """A program and its input. Other fields are ignored, because clients send some of their own."""

    code: str
    language: LanguageName
    compile_timeout: Seconds = 10.0
    run_timeout: Seconds = 10.0
    memory_limit_mb: Megabytes = msgspec.field(default=-1, name="memory_limit_MB")
    stdin: str | None = None
    files: Annotated[dict[Path, Base64 | None], msgspec.Meta(max_length=MAX_FILES)] | None = None
    """The files by relative path. One without content is not written."""
    fetch_files: Annotated[list[Path], msgspec.Meta(max_length=MAX_FILES)] | None = None
    args: Annotated[list[Argument], msgspec.Meta(max_length=MAX_ARGUMENTS)] | None = None
    """Arguments of pytest behind the file of tests."""


class CommandResult(msgspec.Struct):
    """How a compiler or program ended."""

    status: RunStatus
    execution_time: float
    return_code: int | None
    """The return code: minus the signal that ended it, or null if its time was up."""
    stdout: str
    stderr: str


class RunCodeResponse(msgspec.Struct):
    """The answer, in the form of the original."""

    status: Literal["Success", "Failed", "SandboxError"]
    message: str = ""
    compile_result: CommandResult | None = None
    run_result: CommandResult | None = None
    executor_pod_name: str | None = None
    files: dict[str, str] = {}
    """The base64 of those of `fetch_files` that exist."""


_decoder = msgspec.json.Decoder(RunCodeRequest)


class RunCode:
    """The door as an ASGI application. `observe(status)` counts answers."""

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
            runs = [] if order.language.compile_only else [order.run]
            built = await self._sandbox.run(order.program, runs, take)
        except SandboxUnavailable as error:
            if error.reason == "sandbox_busy":
                raise NotInTime(str(error)) from error
            log.warning("a program could not be run", reason=error.reason, message=str(error))
            return RunCodeResponse("SandboxError", f"{error.reason}: {error}")
        except ValueError as error:
            raise Unprocessable(f"a box cannot take these files: {error}") from error
        return answer_of(order.language, built, results[0] if results else None)


class Order(msgspec.Struct, frozen=True):
    """A request in the form for the sandbox."""

    language: Language
    program: Program
    run: Execute
    timeout_s: float
    """How long the caller waits for the answer, counted from the arrival of the request."""


def order_of(request: RunCodeRequest, settings: Settings) -> Order:
    """The program to run. Limits beyond the allowed ones are cut.

    Raises:
        Unprocessable: a field is wrong. The error names it.
    """
    is_pytest = request.language.strip().lower() == PYTEST
    language = languages.find("python" if is_pytest else request.language)
    if language is None:
        names = sorted((*languages.all_languages(), PYTEST))
        raise _unprocessable(["language"], f"no language {request.language[:40]!r}; there are {names}")
    compile_s = min(float(request.compile_timeout), settings.max_run_s)
    run_s = min(float(request.run_timeout), settings.max_run_s)
    wished_mb = float(request.memory_limit_mb)
    memory_mb = min(wished_mb, settings.box_memory_mb) if wished_mb > 0 else settings.box_memory_mb
    files = files_of(request.files or {}, settings)
    source, arguments = request.code, list[str]()
    if is_pytest:
        name = _unused(_TEST_FILE, files)
        files[name] = request.code.encode("utf-8", "replace")
        source, arguments = _RUN_PYTEST, [name, *(request.args or [])]
    # Compilers and includes need the files beside the source. Python's modules are found in the working directory.
    side_files = {} if language.name == "python" else {k: v for k, v in files.items() if k != language.source_file}
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
    program = Program(source, language.name, side_files, compile_limits=compiling, needs_pytest=is_pytest)
    return Order(language, program, run, compile_s + run_s + _CALLER_WAITS_S)


def files_of(contents: Mapping[str, str | None], settings: Settings) -> dict[str, bytes]:
    """The files of a request by path, without those that have no content.

    Raises:
        Unprocessable: a file is not base64 or lies below another file, or the files are more than a box holds.
    """
    folders = {str(folder) for path in contents for folder in PurePosixPath(path).parents}
    files: dict[str, bytes] = {}
    for path, text in contents.items():
        if path in folders:
            raise _unprocessable(["files", path], "this file is also the folder of another file; rename one of them")
        try:
            if text is not None:
                files[path] = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise _unprocessable(["files", path], f"not base64: {error}") from error
    if sum(map(len, files.values())) > settings.box_disk_mb << 20:
        raise _unprocessable(["files"], f"the files have more than the {settings.box_disk_mb} MB that a box holds")
    return files


def encoded_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """The files in base64, as they travel."""
    return {path: base64.b64encode(content).decode() for path, content in files.items()}


def _unused(name: str, files: Mapping[str, bytes]) -> str:
    """The name with as many underscores as it takes to differ from all files and folders."""
    used = {PurePosixPath(path).parts[0] for path in files}
    while name in used:
        name = name.replace(".py", "_.py")
    return name


def _unprocessable(loc: list[str | int], message: str) -> Unprocessable:
    return Unprocessable(message, errors=[FieldError(loc, message)])


def answer_of(language: Language, built: Built, result: RunResult | None) -> RunCodeResponse:
    """The answer for a program that was given to a box. `result` is None if the program could not be loaded, or its
    language is only compiled.
    """
    if not built.ok and not language.compile:
        # In the original, a program that is not valid Python has run and failed.
        failed = CommandResult("Finished", built.cpu_s, 1, "", built.message)
        return RunCodeResponse("Failed", run_result=failed)
    compiled = _compile_result(built) if language.compile else None
    if not built.ok:
        return RunCodeResponse("Failed", compile_result=compiled)
    if language.compile_only:
        return RunCodeResponse("Success", compile_result=compiled)
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
    """The end of a program in the form of the original."""
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
