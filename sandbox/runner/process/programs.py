"""Loads a program: puts its files where runs cannot write, and compiles its source once for all runs.

Python is compiled in the process that its runs are forked from (`sandbox.runner.process.compiling`). For other
languages the compiler is a run like any other, confined and limited, in its own directory; its output is moved over
afterwards.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from sandbox.runner.errors import BoxUnusable
from sandbox.runner.process.compiling import NotCompiled
from sandbox.runner.process.forks import Forker
from sandbox.runner.process.supervision import End, Result
from sandbox.runner.process.workspace import Workspace, read_files, write_file
from sandbox.runner.requests import Compile, Execute, Load

_MAX_MESSAGE_CHARS: Final = 8000
_MAX_KEPT_BYTES: Final = 256 << 20
_MAX_KEPT_FILES: Final = 1000
_MAX_FILES_MADE: Final = 10_000
_PLACEHOLDER: Final = "{program}"

SEARCH_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """What runs need to know about a program."""

    is_python: bool
    """It is compiled in the process that its runs are forked from; otherwise `argv` is executed."""
    argv: Sequence[str]
    environment: dict[str, str]
    data_limit: bool
    files: dict[str, bytes]
    """They are in the working directory of each run."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Loaded:
    """The result of loading a program."""

    program: Program | None
    """None: it cannot be run."""
    message: str = ""
    compiled: End | None = None
    """How the compiler ended."""
    kept: dict[str, bytes] = field(default_factory=dict)


def load(request: Load, workspace: Workspace, forker: Forker, execute: Callable[[Program, Execute], Result]) -> Loaded:
    """Make a program ready for its runs.

    Args:
        request: The program.
        workspace: Its directories, empty.
        forker: Compiles Python.
        execute: Does the run of any other compiler.

    Raises:
        BoxUnusable: the box lacks the interpreter or compiler that it reported.
    """
    for path, data in request.files.items():
        write_file(workspace.program, path, data, 0o755)
    if request.mode == "python":
        return _load_python(request, workspace.program, forker)
    if request.compile is None:
        return Loaded(_program(request, workspace.program))
    return _load_compiled(request, request.compile, workspace, execute)


def _load_python(request: Load, directory: str, forker: Forker) -> Loaded:
    try:
        forker.compile(request.files[request.main], f"{directory}/{request.main}")
    except NotCompiled as error:
        return Loaded(None, str(error))
    return Loaded(_program(request, directory))


def _load_compiled(
    request: Load, compiling: Compile, workspace: Workspace, execute: Callable[[Program, Execute], Result]
) -> Loaded:
    compiler = Program(
        is_python=False,
        argv=_command(compiling.argv, workspace.program),
        environment=request.environment,
        data_limit=request.data_limit,
        files=request.files,
    )
    result = execute(compiler, Execute(limits=compiling.limits))
    message = _cut((result.stderr + result.stdout).decode(errors="replace"))
    if result.end.reason is not None or result.end.code != 0:
        return Loaded(None, message, result.end)
    try:
        compiled = _keep(request, workspace.run, workspace.program)
    except _TooMuch as error:
        return Loaded(None, str(error), result.end)
    return Loaded(_program(request, workspace.program), message, result.end, compiled)


class _TooMuch(Exception):
    """The compiler made more than may be kept."""


def _program(request: Load, directory: str) -> Program:
    is_python = request.mode == "python"
    files = {path: data for path, data in request.files.items() if path != request.main}
    return Program(
        is_python=is_python,
        argv=() if is_python else _command(request.argv, directory),
        environment=request.environment,
        data_limit=request.data_limit,
        files={path: data for path, data in files.items() if not _is_kept(path, request.keep)},
    )


def _keep(request: Load, made_in: str, directory: str) -> dict[str, bytes]:
    """Move the compiler's output that was asked for to the program's directory. Returns these files."""
    paths = [path for path in _files_below(made_in) if _is_kept(path, request.keep)]
    if len(paths) > _MAX_KEPT_FILES:
        raise _TooMuch(f"the compiler made {len(paths)} files to keep; at most {_MAX_KEPT_FILES} are allowed")
    compiled = read_files(made_in, paths, _MAX_KEPT_BYTES)
    if len(compiled) < len(paths):
        raise _TooMuch(f"the compiler's files are too large; at most {_MAX_KEPT_BYTES >> 20} MB together are allowed")
    for path, data in compiled.items():
        if path in request.files:
            os.unlink(f"{directory}/{path}")
        write_file(directory, path, data, 0o755)
    return compiled


def _command(argv: Sequence[str], directory: str) -> Sequence[str]:
    """A command with the program's directory filled in, and with the path of its executable.

    Raises:
        BoxUnusable: it is not on the PATH.
    """
    filled = [argument.replace(_PLACEHOLDER, directory) for argument in argv]
    if "/" in filled[0]:
        return filled
    path = find_program(filled[0])
    if path is None:
        raise BoxUnusable(f"this box has no {filled[0]}")
    return [path, *filled[1:]]


def find_program(name: str) -> str | None:
    """Find an executable on the PATH of programs, or a file by its whole path.

    (shutil can do it, but imports libraries that make every fork slower.)
    """
    if name.startswith("/"):
        return name if os.access(name, os.R_OK) else None
    paths = [f"{directory}/{name}" for directory in SEARCH_PATH.split(":")]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def _is_kept(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _files_below(directory: str) -> list[str]:
    """Relative paths of all files below a directory, without links."""
    files: list[str] = []
    for folder, _, names in os.walk(directory):
        paths = [os.path.join(folder, name) for name in names]
        files += [os.path.relpath(path, directory) for path in paths if not os.path.islink(path)]
        if len(files) > _MAX_FILES_MADE:
            raise _TooMuch(f"the compiler made more than {_MAX_FILES_MADE} files")
    return files


def _cut(text: str) -> str:
    return text[:_MAX_MESSAGE_CHARS]
