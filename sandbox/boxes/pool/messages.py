"""The headers of `sandbox.runner.frames` as types: writes questions, parses and checks answers.

An answer that does not fit raises `Malformed`: the box that sent it can no longer be trusted.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from sandbox.base import MB, Exit, Limits, RunResult, TestOutcome
from sandbox.boxes.link import Malformed
from sandbox.runner.frames import LENGTHS, MAX_BODY_BYTES, MAX_HEADER_BYTES
from sandbox.runner.testing.outcomes import seal

SLACK_BYTES: Final = 64 << 10
"""The capacity of a pipe: outputs may exceed their limit by this much when the runner notices."""
MAX_VALUE_BYTES: Final = 16 * MB
MAX_OUTCOMES_BYTES: Final = 16 * MB
MAX_KEPT_BYTES: Final = 256 * MB

Files = Sequence[tuple[str, bytes]]
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
Listed = list[tuple[str, Count]]
"""Files: path and length of each; their contents follow one another in the body."""
Ended = Literal["cpu", "wall", "memory", "output", "file_size", "killed", "starved"]


class Hello(msgspec.Struct, tag_field="answer", tag="hello"):
    protocol: int
    preloaded: list[str]
    programs: list[str]


class Outcome(msgspec.Struct):
    """How one process, of a program or of its compiler, ended."""

    code: Annotated[int, msgspec.Meta(ge=0, le=255)] | None
    signal: Annotated[int, msgspec.Meta(ge=0, le=127)]
    ended: Ended | None
    cpu_s: Seconds
    wall_s: Seconds
    peak_kb: Count

    @property
    def exit(self) -> Exit | None:
        """None: the process came to no end of its own, and nothing can be said about the program."""
        if self.ended is not None:
            return _EXITS[self.ended]
        if self.signal:
            return Exit.SIGNALLED
        if self.code is None:
            raise Malformed("a result must have a code, a signal or a reason for its end")
        return Exit.EXITED


class Result(Outcome, tag_field="answer", tag="result"):
    left: Count
    stdout: Count
    stderr: Count
    value: Count | None
    tests: Count | None
    fetched: Listed


class Loaded(msgspec.Struct, tag_field="answer", tag="loaded"):
    ok: bool
    message: str
    compile: Outcome | None
    kept: Listed


class Unloaded(msgspec.Struct, tag_field="answer", tag="unloaded"):
    dirty: Count
    """Files found and removed. Programs may write to /tmp, so files are not cause for suspicion."""


class Pong(msgspec.Struct, tag_field="answer", tag="pong"):
    pass


_EXITS: Final[dict[Ended, Exit | None]] = {
    "cpu": Exit.TIME_LIMIT,
    "wall": Exit.TIME_LIMIT,
    "memory": Exit.MEMORY_LIMIT,
    "output": Exit.OUTPUT_LIMIT,
    "file_size": Exit.OUTPUT_LIMIT,
    "killed": None,
    "starved": None,
}

HeaderT = TypeVar("HeaderT")


def frame(ask: str, fields: dict[str, Any], body: Sequence[bytes] = ()) -> bytes:
    """Encode one question for the wire.

    Raises:
        ValueError: it is longer than a runner accepts, or has text that is not valid Unicode.
    """
    header = msgspec.json.encode({"ask": ask, **fields})
    body_bytes = sum(map(len, body))
    if len(header) > MAX_HEADER_BYTES or body_bytes > MAX_BODY_BYTES:
        raise ValueError(
            f"a question of {len(header)} and {body_bytes} bytes; at most {MAX_HEADER_BYTES} and {MAX_BODY_BYTES} are allowed"
        )
    return b"".join((LENGTHS.pack(len(header), body_bytes), header, *body))


def limits_fields(limits: Limits) -> dict[str, float | int]:
    return {
        "cpu_s": limits.cpu_s,
        "wall_s": limits.backstop_s,
        "memory_mb": limits.memory_mb,
        "processes": limits.processes,
        "file_mb": limits.file_mb,
        "output_bytes": limits.output_bytes,
        "stderr_bytes": limits.stderr_bytes,
    }


def listed(files: Files) -> list[tuple[str, int]]:
    return [(path, len(data)) for path, data in files]


def read_hello(header: bytes, _body: bytes) -> Hello:
    return _parsed(_hello, header)


def read_pong(header: bytes, _body: bytes) -> Pong:
    return _parsed(_pong, header)


def read_unloaded(header: bytes, _body: bytes) -> Unloaded:
    return _parsed(_unloaded, header)


def read_loaded(header: bytes, body: bytes) -> tuple[Loaded, Files]:
    """Parse `loaded`, with the files that the compiler made."""
    loaded = _parsed(_loaded, header)
    pieces = _cut(body, [length for _, length in loaded.kept])
    names = [path for path, _ in loaded.kept]
    if not all(map(_is_inside, names)) or len(set(names)) < len(names):
        raise Malformed("a kept file's name is outside the directory, or occurs twice")
    return loaded, list(zip(names, pieces, strict=True))


def read_result(header: bytes, body: bytes, key: bytes = b"") -> tuple[RunResult | None, int]:
    """Parse a result.

    Returns it (None when nothing can be said about the program) and the number of processes it left behind.

    `key` is the key of the tests' seals.
    """
    result = _parsed(_result, header)
    lengths = [result.stdout, result.stderr, result.value or 0, result.tests or 0]
    stdout, stderr, value, tests, *fetched = _cut(body, lengths + [length for _, length in result.fetched])
    how = result.exit
    if how is None:
        return None, result.left
    outcomes, complete = _outcomes(tests, key)
    return RunResult(
        exit=how,
        code=result.code if how is Exit.EXITED else None,
        signal=result.signal,
        stdout=stdout,
        stderr=stderr,
        cpu_s=result.cpu_s,
        wall_s=result.wall_s,
        peak_memory_mb=result.peak_kb / 1024,
        value=value if result.value is not None else None,
        tests=outcomes,
        complete=complete,
        files={path: piece for (path, _), piece in zip(result.fetched, fetched, strict=True)},
    ), result.left


_hello: Final = msgspec.json.Decoder(Hello)
_pong: Final = msgspec.json.Decoder(Pong)
_loaded: Final = msgspec.json.Decoder(Loaded)
_result: Final = msgspec.json.Decoder(Result)
_unloaded: Final = msgspec.json.Decoder(Unloaded)


def _parsed(decoder: "msgspec.json.Decoder[HeaderT]", header: bytes) -> HeaderT:
    try:
        return decoder.decode(header)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"the header cannot be parsed: {error}") from error


def _cut(body: bytes, lengths: Sequence[int]) -> list[bytes]:
    """Cut the body into pieces of these lengths, which must cover it exactly."""
    offsets = [0]
    for length in lengths:
        offsets.append(offsets[-1] + length)
    if offsets[-1] != len(body):
        raise Malformed(f"the body has {len(body)} bytes, but the header announces {offsets[-1]}")
    return [body[start:end] for start, end in pairwise(offsets)]


def _outcomes(data: bytes, key: bytes) -> tuple[list[TestOutcome], bool]:
    """The outcomes of tests, and whether the tests reported that they are complete.

    Lines without a valid seal are ignored.
    """
    outcomes: list[TestOutcome] = []
    for line in data.splitlines():
        match _json(line):
            case [str() as name, bool() as passed, str() as message, sealed]:
                if sealed == seal(key, len(outcomes), [name, passed, message]):
                    outcomes.append(TestOutcome(_printable(name), passed, _printable(message)))
            case {"complete": int() as forwarded, "seal": sealed}:
                if sealed == seal(key, len(outcomes), {"complete": forwarded}):
                    return outcomes, True
    return outcomes, False


def _json(line: bytes) -> object:
    """Uses `json`: messages may hold unpaired surrogates, which msgspec rejects."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _printable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _is_inside(path: str) -> bool:
    """Whether the path names a file below the directory that it is relative to."""
    segments = PurePosixPath(path).parts
    return bool(segments) and "\0" not in path and not path.startswith("/") and ".." not in segments
