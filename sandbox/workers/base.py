"""What callers of the workers see: a task, how an item ended, and the one error of the pool itself."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Task:
    """A function workers may call, named so that the service process need not import it."""

    module: str
    function: str
    """A module-level function of one argument: plain data in, plain data out (both as msgpack can carry them)."""
    time_limit_s: float
    """CPU seconds per item."""
    warm: tuple[Any, ...] = ()
    """Payloads the zygote runs once before it forks, to fill caches such as a parser's tables."""
    output_bytes: int = 0
    """What it may return where that is more than the pool lets through."""


class Exit(StrEnum):
    """How one item ended. All but STALLED say something about the item."""

    OK = "ok"
    TIME_LIMIT = "time_limit"
    """It used up its CPU time; its worker was killed."""
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    """What it returned is larger than its task, and the pool, let through."""
    CRASHED = "crashed"
    """Its worker died, and so did a fresh one which had nothing else to do."""
    RAISED = "raised"
    """It raised an exception, or its payload or result is not plain data."""
    STALLED = "stalled"
    """It could not be run to an end, and that was not its own doing (a starved machine, a dying pool)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one item."""

    exit: Exit
    value: Any = None
    """What the function returned, when `exit` is OK."""
    message: str = ""
    """For people. When `exit` is RAISED: `TypeName: text`, then the innermost lines of the traceback."""
    elapsed_s: float = 0.0
    """CPU seconds it used in the worker that ended it."""


class WorkersUnavailable(Exception):
    """The pool itself cannot work (not started, stopping, or no process can be had); says nothing about any item."""
