"""Forks the runs of a program, and runs the code of each fork.

    Order ──► Forker.fork ──► a child: confinement ──► start flag ──► the program

`DirectForker` forks the runner itself. `sandbox.runner.process.templates` has a faster one, on kernels that allow it.
"""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from mmap import mmap
from typing import Any, Final, NamedTuple, NoReturn, Protocol

from sandbox.runner.isolation import confinement, kernel, seccomp
from sandbox.runner.process import child
from sandbox.runner.process.child import PythonSource, StartFlag
from sandbox.runner.process.compiling import compile_program
from sandbox.runner.process.shared_page import SharedPage

FRAMES: Final = 6
"""Frames between the caller of `run_child` and the program's first: `run_child`, `confine_and_run`, `child.run_entry`,
three below it.
"""


class Order(NamedTuple):
    """A run that is to be forked. It holds only what `marshal` can encode."""

    place: int
    """On the shared page: where the start flag and the process's pid are."""
    uid: int | None
    """The user that the run becomes. None: it stays the runner's user."""
    task: "Task"


class Task(NamedTuple):
    """What most runs of a job have in common."""

    jail: tuple[Any, ...]
    """The fields of a `Jail`."""
    entry: tuple[Any, ...]
    """What the process does once it is confined, see `child.run_entry`."""


class Forker(Protocol):
    """Forks the runs of one job after the other."""

    @property
    def are_prepared(self) -> bool:
        """Whether the process that is forked has already called `confinement.prepare`."""

    @property
    def are_confined(self) -> bool:
        """Whether the runs of this job are already confined by Landlock, with `Rules.run`."""

    def begin(self, *, handles_children: bool, has_tests: bool, core: int | None) -> None:
        """Begin a job.

        Args:
            handles_children: Its programs may set a SIGCHLD handler, see `sandbox.runner.isolation.seccomp`.
            has_tests: There may be tests among its runs, which are confined differently from programs.
            core: The processor that the job is pinned to, an index into the available ones.
        """

    def end(self) -> None:
        """End the job and drop its compiled source. The job may never have begun."""

    def compile(self, text: bytes, path: str) -> None:
        """Compile the source of the job's runs.

        Raises:
            NotCompiled: it cannot be compiled.
        """

    def fork(self, order: Order, *, is_last: bool = False) -> None:
        """Fork a run. Its pid will be on the shared page.

        Args:
            order: What to fork.
            is_last: No run of the job follows, and there is no other at the same time.
        """

    def finish(self) -> None:
        """Wait until all ordered runs have been forked: then their own descriptors may be closed here."""


class DirectForker:
    """Forks the process that calls it."""

    are_prepared = False
    are_confined = False

    def __init__(self, shared_page: SharedPage, data_bytes: int, job_filter: bytes | None) -> None:
        """Begin without a source.

        Args:
            shared_page: Where pids are told.
            data_bytes: How much of this process's memory counts towards a process's limit.
            job_filter: For jobs whose programs may not change SIGCHLD. If one process serves all jobs, the filter
                stays.
        """
        self._shared_page = shared_page
        self._job_filter = job_filter
        self._data_bytes = data_bytes
        self._source: PythonSource | None = None

    def begin(self, *, handles_children: bool, has_tests: bool, core: int | None) -> None:
        self._source = None
        if self._job_filter is not None and not handles_children:
            seccomp.install(self._job_filter)
            self._job_filter = None

    def end(self) -> None:
        self._source = None

    def compile(self, text: bytes, path: str) -> None:
        self._source = compile_program(text, path, self._data_bytes)

    def fork(self, order: Order, *, is_last: bool = False) -> None:
        pid = kernel.fork()
        if pid == 0:
            child.raise_recursion_limit(FRAMES)
            run_child(order.place, order.uid, order.task, self._source, self._shared_page.page)
        self._shared_page.set_pid(order.place, pid)

    def finish(self) -> None:
        """Do nothing: all runs have been forked already."""


def run_child(role: int, uid: int | None, task: Sequence[Any], source: PythonSource | None, page: mmap) -> NoReturn:
    """Run in the child and exit.

    If our own code fails, it exits in a way that cannot be mistaken for the program's end.

    Args:
        role: Of an `Order`.
        uid: Of the same order.
        task: The fields of its `Task`.
        source: The compiled program, if the job is Python.
        page: The shared page.
    """
    try:
        os.setpgid(0, 0)  # not a session: each session is a scheduler group, which costs more than a fork
        os._exit(confine_and_run(role, uid, task, source, page))
    except BaseException as error:  # noqa: BLE001 - the child must not return into the runner's own loop
        with suppress(OSError):
            os.write(2, f"not started: {error!r}\n".encode(errors="replace"))
    finally:
        if not page.closed:
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(1)


def confine_and_run(role: int, uid: int | None, task: Sequence[Any], source: PythonSource | None, page: mmap) -> int:
    """Confine this process and run its entry. Returns the exit status."""
    jail, entry = task
    confinement.enter_jail(uid, jail)
    return child.run_entry(entry, source, StartFlag(page, role))
