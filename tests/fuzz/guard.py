"""Watches one call of the verifier: judged text must never make it execute, connect, take long, or grow.

Nothing here stops a hang. The process around a target does that (`campaign`), with a clock of its own.
"""

import fcntl
import gc
import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from typing import Any, TypeVar

T = TypeVar("T")


class Broken(Exception):
    """This input breaks a law."""

    def __init__(self, law: str, message: str) -> None:
        super().__init__(f"{law}: {message}")
        self.law = law
        """A short name that does not change, so that findings can be counted."""
        self.message = message


# --- execution

_HARMLESS = frozenset(
    (
        *("import", "marshal.loads", "sys._getframe", "sys._current_frames", "sys.excepthook", "sys.unraisablehook"),
        *("object.__getattr__", "object.__setattr__", "object.__delattr__", "builtins.id", "gc.get_objects"),
        "gc.get_referents",  # memories are measured
        *("array.__new__", "os.listdir", "os.scandir", "time.sleep"),
    )
)
"""Events that change nothing outside. Listing folders is a step of importing."""
_INSTALLED = (Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[2])
_CODE_PLACES = tuple({str(place) for each in _INSTALLED for place in (each, each.resolve())})
_seen: list[str] = []
_watching: int | None = None
"""The thread that is watched, if any."""
_is_installed = False


@contextmanager
def watched() -> Iterator[None]:
    """Refuse, and then report, all that a call must not use: code, files, processes, sockets, pickles.

    Modules of this installation may still be imported: sympy does that when it first needs them. Modules that are
    compiled then are not stored, because that would be writing.

    Raises:
        Broken: `executed`, even where the code under test has swallowed the refusal.
    """
    global _watching, _is_installed
    if not _is_installed:
        sys.addaudithook(_hear)
        _is_installed = True
    _seen.clear()
    keeps_none, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    _watching = get_ident()
    try:
        yield
    finally:
        _watching = None
        sys.dont_write_bytecode = keeps_none
        if _seen:
            raise Broken("executed", "; ".join(_seen[:5]))


def _hear(event: str, args: tuple[Any, ...]) -> None:
    global _watching
    if _watching is None or event in _HARMLESS or get_ident() != _watching:
        return
    watching, _watching = _watching, None  # no event of this description must be recorded
    try:
        is_allowed = _is_import(event, args)
        if not is_allowed:
            _seen.append(f"{event}{_shown(args)}")
    finally:
        _watching = watching
    if not is_allowed:
        raise PermissionError(f"{event} while judging")


def _is_import(event: str, args: tuple[Any, ...]) -> bool:
    """Whether an event is a step of importing a module of this installation."""
    if event == "open":
        path, mode, flags = args
        is_reading = not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        return is_reading and isinstance(path, str) and path.startswith(_CODE_PLACES) and mode in ("r", "rb", None)
    return event in ("exec", "compile") and _is_by_code_alone()


def _is_by_code_alone() -> bool:
    """Whether the text that becomes code cannot come from the caller.

    A module's own code makes classes from text when it is imported. Two parts of sympy make code from texts of their
    own: functions that multiply this many exponents, and its table of formulas.
    """
    frame = sys._getframe(3)
    if frame.f_code.co_filename.endswith("sympy/polys/monomials.py"):
        return True
    while frame.f_back is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        if frame.f_code.co_name == "sympify" and frame.f_back.f_code.co_name == "add_formulae":
            return frame.f_back.f_code.co_filename.endswith("sympy/simplify/hyperexpand.py")
        frame = frame.f_back
    return False


def _shown(args: tuple[Any, ...]) -> str:
    return str(tuple(arg if isinstance(arg, int) else repr(arg)[:80] for arg in args))


# --- time and memory


_PATIENCE = 8
MAX_GROWTH_MB = 100
MEMORY_MB = 1024
"""The memory that a process may map beyond what it has at its start, as in the pool of workers."""


_MEASUREMENTS = 3
"""The number of measurements. A call that was slow once may have shared its core. A slow call is slow each time."""


def within(limit_s: float, function: Callable[..., T], *args: Any) -> T:
    """Call, and require a limit of CPU seconds. A call that takes many times as long is interrupted, as far as Python
    can do that.

    Raises:
        Broken: `slow`; `memory`, when the process is larger than it ever was by more than `MAX_GROWTH_MB`.
    """
    for _ in range(_MEASUREMENTS - 1):
        with suppress(_Slow):
            return _within(limit_s, function, *args)
    return _within(limit_s, function, *args)


def cpu_s(limit_s: float, function: Callable[..., object], *args: Any) -> float:
    """The CPU seconds of a call that stays `within` a limit."""
    started = time.process_time()
    _within(limit_s, function, *args)
    return time.process_time() - started


class _Slow(Broken):
    """The call was over the limit, but not so far that it was interrupted."""


def _within(limit_s: float, function: Callable[..., T], *args: Any) -> T:
    started, before_mb = time.process_time(), _peak_mb()
    before = signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, limit_s * _PATIENCE)
    try:
        return function(*args)
    except _Interrupted:
        raise Broken("slow", f"no end after {limit_s * _PATIENCE:g} s of CPU, limit {limit_s:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        used_s = time.process_time() - started
        if used_s > limit_s and not isinstance(sys.exception(), Broken):
            raise _Slow("slow", f"{used_s:.2f} s of CPU, limit {limit_s:g} s")
        if (grown_mb := _peak_mb() - before_mb) > MAX_GROWTH_MB:
            raise Broken("memory", f"{grown_mb} MB in one call, limit {MAX_GROWTH_MB}")


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


class _Interrupted(BaseException):
    """Interrupts a call. It is not an Exception, so that no handler of the code under test catches it."""


def _interrupt(number: int, frame: object) -> None:
    raise _Interrupted


def limit_memory(memory_mb: int) -> None:
    """Let this process map only this much more than it has, as `sandbox.workers` limits its own."""
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + memory_mb * 1024 * 1024
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call in a process of its own ended."""

    value: Any = None
    """The value that it returned, as JSON can hold it."""
    killed: str | None = None
    """`time` or `memory`. None if it returned."""


def alone(limit_s: float, function: Callable[..., Any], *args: Any) -> Ended:
    """Call in a forked process with limited memory, which is killed at a limit of CPU seconds, as the pool's workers
    are.

    Raises:
        Broken: what the function raised; `raised`, if that was something else; `crashed`, when a signal ended it.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings(
        action="ignore", category=DeprecationWarning
    ):  # the child must take no lock of a thread
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        _run_alone(writing, limit_s, function, args)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) == signal.SIGPROF:
            return Ended(killed="time")
        raise Broken("crashed", f"signal {os.WTERMSIG(status)}")
    if not said:
        raise Broken("crashed", f"exit {os.waitstatus_to_exitcode(status)} without a word")
    law, value = json.loads(said)
    if law == "memory":
        return Ended(killed="memory")
    if law != "ok":
        raise Broken(law, value)
    return Ended(value)


def _run_alone(writing: int, limit_s: float, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """The code of the forked process. It never returns."""
    gc.freeze()  # objects of other tests must not be finalized here: a gRPC channel would wait for its thread
    for number in (signal.SIGPROF, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    limit_memory(MEMORY_MB)
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    try:
        said = ["ok", function(*args)]
    except MemoryError:
        said = ["memory", None]
    except Broken as broken:
        said = [broken.law, broken.message]
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding, and this process ends here
        said = ["raised", where(error)]
    body = json.dumps(said).encode()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)
    os.write(writing, body)
    os._exit(0)


def where(error: BaseException) -> str:
    """An exception, and the innermost of our own lines in its traceback."""
    place, frame = "", error.__traceback__
    while frame is not None:
        file = Path(frame.tb_frame.f_code.co_filename)
        if "verifiers" in file.parts:
            place = f"{file.name}:{frame.tb_lineno}"
        frame = frame.tb_next
    return f"{type(error).__name__} at {place}: {str(error)[:200]}"
