"""Compiles a judged program's Python in this interpreter, for all processes that are forked from it afterwards.

For short sources the parser's cost is bounded. A long source is first compiled in a child process, which may fail.
"""

import os
import resource
import traceback
import warnings
from collections.abc import Callable
from typing import Any, Final

from sandbox.runner.isolation.confinement import restore_signals
from sandbox.runner.process.child import PythonSource

_SHORT_SOURCE_BYTES: Final = 20_000
_COMPILE_CPU_S: Final = 5
_COMPILE_DATA_BYTES: Final = 1 << 30
_MAX_MESSAGE_CHARS: Final = 8000


class NotCompiled(Exception):
    """The program cannot be compiled; the message is for its author."""


def compile_program(text: bytes, path: str, data_bytes: int) -> PythonSource:
    """Compile a program.

    Args:
        text: The program.
        path: Its file name.
        data_bytes: How much of this process's memory counts towards a process's limit.

    Raises:
        NotCompiled: it cannot be compiled.
    """
    if len(text) > _SHORT_SOURCE_BYTES and not _can_be_compiled(text, path, data_bytes):
        raise NotCompiled("the source cannot be compiled with limited time and memory")
    try:
        return PythonSource(path, compiled(text, path))
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise NotCompiled("".join(traceback.format_exception_only(error))[:_MAX_MESSAGE_CHARS]) from error


def compiled(text: bytes, path: str) -> Any:
    """Compile without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings would go to the runner's own standard error
        return compile(text, path, "exec", dont_inherit=True)


def _can_be_compiled(text: bytes, path: str, data_bytes: int) -> bool:
    """Try it in a child with limits, so that only the child is lost when the parser needs too much."""
    pid = os.fork()
    if pid == 0:
        _run_and_exit(lambda: _try_to_compile(text, path, data_bytes))
    return os.waitpid(pid, 0)[1] == 0


def _try_to_compile(text: bytes, path: str, data_bytes: int) -> None:
    restore_signals()
    resource.setrlimit(resource.RLIMIT_CPU, (_COMPILE_CPU_S, _COMPILE_CPU_S))
    limit = data_bytes + _COMPILE_DATA_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        compiled(text, path)
    except (SyntaxError, ValueError, OverflowError):
        return  # refused quickly: the runner may compile it too, and report the error


def _run_and_exit(step: Callable[[], None]) -> None:
    status = 1
    try:
        step()
        status = 0
    finally:
        os._exit(status)
