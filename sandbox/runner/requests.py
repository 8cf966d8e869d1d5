"""Requests in the format of `sandbox.runner.frames`: parses headers and bodies, and takes out the files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.runner.errors import BoxUnusable
from sandbox.runner.process.limits import RunLimits, parse
from sandbox.runner.process.workspace import BadPath, checked_path

MAX_FILES = 2000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compile:
    argv: Sequence[str]
    limits: RunLimits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Load:
    mode: str
    files: dict[str, bytes]
    main: str
    compile: Compile | None
    argv: Sequence[str]
    keep: Sequence[str]
    environment: dict[str, str]
    data_limit: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Execute:
    limits: RunLimits
    arguments: Sequence[str] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    fetch: Sequence[str] = ()
    waits: bool = False
    """The rest of its standard input comes in a later request."""
    last: bool = False
    """No run of the job follows."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call:
    limits: RunLimits
    function: str
    arguments: bytes
    last: bool


def read_load(header: dict[str, Any], body: bytes) -> Load:
    """Parse a `load` request.

    Raises:
        BadPath: a file would not be in the program's directory.
        BoxUnusable: the body does not match the header.
    """
    files, tail = _files(header["files"], body)
    if tail:
        raise BoxUnusable("the body of `load` is longer than its files")
    compiling = header["compile"]
    return Load(
        mode=header["mode"],
        files=files,
        main=checked_path(header["main"]),
        compile=Compile(compiling["argv"], parse(compiling["limits"])) if compiling else None,
        argv=header["argv"],
        keep=header["keep"],
        environment=header["environment"],
        data_limit=header["data_limit"],
    )


def read_execute(header: dict[str, Any], body: bytes) -> Execute:
    """Parse an `execute` request.

    Raises:
        BadPath: a file would not be in the run's directory.
        BoxUnusable: the body does not match the header.
    """
    files, stdin = _files(header["files"], body) if header["files"] else ({}, body)
    if len(stdin) != header["stdin"]:
        raise BoxUnusable("the standard input has another length than the header says")
    return Execute(
        limits=parse(header["limits"]),
        arguments=header["arguments"],
        files=files,
        stdin=stdin,
        fetch=[checked_path(path) for path in header["fetch"]],
        waits=header["waits"],
        last=header["last"],
    )


def read_call(header: dict[str, Any], body: bytes) -> Call:
    return Call(parse(header["limits"]), header["function"], body, header["last"])


def _files(listed: Sequence[tuple[str, int]], body: bytes) -> tuple[dict[str, bytes], bytes]:
    """The files by path, and the rest of the body after them."""
    if len(listed) > MAX_FILES:
        raise BadPath(f"{len(listed)} files; at most {MAX_FILES} are allowed")
    files: dict[str, bytes] = {}
    start = 0
    for path, length in listed:
        files[checked_path(path)] = body[start : start + length]
        start += length
    if start > len(body) or len(files) < len(listed):
        raise BoxUnusable("the files are longer than the body, or a path occurs twice")
    return files, body[start:]
