"""Compiling a judged program's Python by this interpreter, for all the processes that are forked from it afterwards.

The parser is bounded for short sources; a long one is first compiled in a process that may be lost.
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
    """The program is none; the message is for whoever wrote it."""


def compile_program(text: bytes, path: str, data_bytes: int) -> PythonSource:
    """
    Args:
        text: The program.
        path: What it is called.
        data_bytes: What this process's memory counts towards a process's limit.

    Raises:
        NotCompiled: it cannot be.
    """
    if len(text) > _SHORT_SOURCE_BYTES and not _can_be_compiled(text, path, data_bytes):
        raise NotCompiled("the source cannot be compiled with limited time and memory")
    try:
        return PythonSource(path, compiled(text, path))
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise NotCompiled("".join(traceback.format_exception_only(error))[:_MAX_MESSAGE_CHARS]) from error


def compiled(text: bytes, path: str) -> Any:
    """Code that warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they would go to the runner's own standard error
        return compile(text, path, "exec", dont_inherit=True)


def _can_be_compiled(text: bytes, path: str, data_bytes: int) -> bool:
    """Try it in a child with limits, which alone is lost if the parser does not take it well."""
    pid = os.fork()
    if pid == 0:
        _leave(lambda: _try_to_compile(text, path, data_bytes))
    return os.waitpid(pid, 0)[1] == 0


def _try_to_compile(text: bytes, path: str, data_bytes: int) -> None:
    restore_signals()
    resource.setrlimit(resource.RLIMIT_CPU, (_COMPILE_CPU_S, _COMPILE_CPU_S))
    limit = data_bytes + _COMPILE_DATA_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        compiled(text, path)
    except (SyntaxError, ValueError, OverflowError):
        return  # quickly refused: that is no danger for the runner either


def _leave(step: Callable[[], None]) -> None:
    status = 1
    try:
        step()
        status = 0
    finally:
        os._exit(status)
