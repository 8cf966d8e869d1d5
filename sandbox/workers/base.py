"""The interface of the workers: a task, how an item ended, and the one error of the pool itself."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Task:
    """A function that workers may call. It is named by text, so that the service process need not import it."""

    module: str
    function: str
    """A module-level function of one argument: plain data in, plain data out (both as msgpack can carry them)."""
    time_limit_s: float
    """CPU seconds per item."""
    warm: tuple[Any, ...] = ()
    """Payloads that the zygote runs once before it forks, to fill caches such as a parser's tables."""
    output_bytes: int = 0
    """The largest result, if that is more than the pool's own limit."""


class Exit(StrEnum):
    """How one item ended. Each value except KILLED and STALLED says something about the item."""

    OK = "ok"
    TIME_LIMIT = "time_limit"
    """The item used up its CPU time; its worker was killed."""
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    """Its result is larger than the limits of the task and the pool."""
    CRASHED = "crashed"
    """Its worker died, and so did a fresh one that had nothing else to do."""
    KILLED = "killed"
    """The same, by SIGKILL: the kernel sends it where the machine has no memory left, and others may send it, too."""
    RAISED = "raised"
    """It raised an exception, or its payload or result is not plain data."""
    STALLED = "stalled"
    """It could not be finished, through no fault of its own (a starved machine, a dying pool)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one item."""

    exit: Exit
    value: Any = None
    """The function's return value, when `exit` is OK."""
    message: str = ""
    """For people. When `exit` is RAISED: `TypeName: text`, then the innermost lines of the traceback."""
    elapsed_s: float = 0.0
    """CPU seconds used in the worker that ended it."""


class WorkersUnavailable(Exception):
    """The pool itself cannot work (not started, stopping, or no process available); says nothing about any item."""
