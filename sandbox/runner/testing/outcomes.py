"""Reports the outcomes of tests one by one: a test that never ends does not cost those before it.

Each line is sealed with a key that only the tests and the service know. Separate users, processes and file modes keep
the judged program away from the pipe for the lines. Even if one of them fails, the program cannot write a valid line.
"""

import importlib
import json
import os
from collections import Counter
from typing import Any, Final

from sandbox.runner.testing.remote_program import RemoteProgram

UNTESTABLE: Final = "untestable: "
"""Prefix of the message of a test that cannot be run in any box, whatever the program does. No other message begins
with it.
"""
MISSING: Final = "missing here: "
"""Prefix of the message of a test that imports a module which this box lacks, though another may have it."""
_THE_PROGRAM: Final = "solution"
_MAX_CAUSES: Final = 8
_MAX_NAME_CHARS: Final = 200
_MAX_MESSAGE_CHARS: Final = 300


# Not from `hashlib`, which would load OpenSSL into the memory that every run shares.
_blake2b: Final[Any] = importlib.import_module("_blake2").blake2b


def seal(key: bytes, number: int, line: object) -> str:
    """The seal of a line: its keyed hash (BLAKE2b, RFC 7693) with its number, so that no line can be repeated."""
    digest: str = _blake2b(f"{number} {json.dumps(line)}".encode(), key=key, digest_size=16).hexdigest()
    return digest


class Outcomes:
    """Writes the outcomes as lines of JSON.

    `[name, passed, message, seal]` for each test, then `{"complete": forwarded, "seal": seal}`.

    Args:
        descriptor: Where to write; blocking.
        program: The program under test. Once it is gone, no test passes.
        key: Of the seals, over the line without its seal.
        missing: A module that the tests import and this box lacks; empty if there is none.
    """

    def __init__(self, descriptor: int, program: RemoteProgram, key: bytes, missing: str = "") -> None:
        self._descriptor = descriptor
        self._program = program
        self._key = key
        self._missing = missing
        self._lines = 0
        self._names: Counter[str] = Counter()
        self._is_missing_here = False
        """Whether the last test imports a module that this box lacks."""

    def add(self, name: str, error: str | None) -> None:
        """Report that one test has ended.

        Args:
            name: Cut, and numbered if another test had it.
            error: Why it did not pass; None when it did.
        """
        name = name[:_MAX_NAME_CHARS]
        self._names[name] += 1
        if self._names[name] > 1:
            name = f"{name}#{self._names[name]}"
        if error is None and self._program.gone:
            error = "the program had ended"
        if error is None and not self._program.uses:
            error = "the tests did not use the program"
        if self._program.fault:
            error = self._program.fault
        if self._program.rehearses:
            error = self._program.refused or error or "it needs what a rehearsal without a program has not"
        if error is not None:
            error = f"{self._mark()}{_without_marks(error)}"
        self._program.untestable = self._program.shares_process = self._is_missing_here = False
        self._program.fault = self._program.refused = ""
        self._program.mocks.clear()
        line = [name, error is None, (error or "")[:_MAX_MESSAGE_CHARS]]
        self._write([*line, seal(self._key, self._lines, line)])

    def complete(self) -> None:
        """Report that all tests have been run."""
        line = {"complete": self._program.forwarded}
        self._write({**line, "seal": seal(self._key, self._lines, line)})

    def _write(self, line: object) -> None:
        self._lines += 1
        unsent = memoryview(json.dumps(line).encode() + b"\n")
        while unsent:
            unsent = unsent[os.write(self._descriptor, unsent) :]

    def describe(self, error: BaseException) -> str:
        """The message of an exception that ended a test."""
        if self._program.rehearses and isinstance(error, PermissionError | MemoryError):
            self._program.untestable = True  # a box does not let them open a socket
        if self._program.rehearses and isinstance(error, MemoryError):
            return "to compile it takes more memory than memory_mb: make several tests of it, or raise the limit"
        missing = _missing_module(error)
        if missing.partition(".")[0] == _THE_PROGRAM:
            self._program.untestable = True
        elif missing:
            self._is_missing_here = True
        return describe_exception(error)

    def _mark(self) -> str:
        if self._program.untestable or (not self._program.gone and self._needs_one_process()):
            return UNTESTABLE
        # A program that ends before the tests are imported leaves the missing module to be looked up.
        return MISSING if self._is_missing_here or self._missing else ""

    def _needs_one_process(self) -> bool:
        """Whether the test could pass only with the program in its own process.

        See `sandbox.runner.testing.shared_state`. A mock can be called from another process, but nothing more: a mock
        that tests gave attributes is meant to be an object.
        """
        return self._program.shares_process or any(mock._mock_children for mock in self._program.mocks)


def _without_marks(message: str) -> str:
    """The message without our prefixes: a program may have put some there."""
    while message.startswith((UNTESTABLE, MISSING)):
        message = message.partition(": ")[2]
    return message


def _missing_module(error: BaseException) -> str:
    """The module that tests import and that is missing here, or "".

    An error that came from the program names no module to us.
    """
    depth = 0
    cause: BaseException | None = error
    while cause is not None and depth < _MAX_CAUSES:
        if type(cause) is ModuleNotFoundError and cause.name:
            return cause.name
        cause, depth = cause.__cause__, depth + 1
    return ""


def describe_exception(error: BaseException) -> str:
    """The text of an exception, on one line."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception as unspeakable:  # noqa: BLE001 - its text may come from the program
        return f"{type(error).__name__}, without words: {type(unspeakable).__name__}"
