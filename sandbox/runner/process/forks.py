"""Where the runs of a program are forked, and what becomes of such a fork.

    Order ──► Forker.fork ──► a child: confinement ──► flag ──► the program

`DirectForker` are the runner's own. Those of `sandbox.runner.process.templates` are faster, where the kernel can do that.
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
"""Between what calls `live` and the first of the program: `live`, `follow`, `process.lead`, three of what that does."""


class Order(NamedTuple):
    """A run that is to be forked. Nothing but what `marshal` can take."""

    place: int
    """On the shared_page: where the flag is, and where the process's number is told."""
    uid: int | None
    """The user it is to be. None: the one that the runner is."""
    task: "Task"


class Task(NamedTuple):
    """What most runs of a job have in common."""

    jail: tuple[Any, ...]
    """The fields of a `Jail`."""
    entry: tuple[Any, ...]
    """What the process does once it is confined, see `process.lead`."""


class Forker(Protocol):
    """Of one job after the other."""

    @property
    def are_prepared(self) -> bool:
        """They are forked from a process that has done what `confinement.prepare` does."""

    @property
    def are_confined(self) -> bool:
        """Those of this job: by Landlock, as `Rules.run` has it."""

    def begin(self, *, handles_children: bool, has_tests: bool, core: int | None) -> None:
        """A job begins.

        Args:
            handles_children: Its programs may say what SIGCHLD does, see `sandbox.runner.isolation.seccomp`.
            has_tests: There may be tests among its runs, which are confined in another way than programs.
            core: On which processor all of the job had best stay, counted among those there are.
        """

    def end(self) -> None:
        """It is over, and with it what was compiled for it; it may never have begun."""

    def compile(self, text: bytes, path: str) -> None:
        """Make this the source of the job's runs.

        Raises:
            NotCompiled: it cannot be.
        """

    def fork(self, order: Order) -> None:
        """The process's number will be on the shared_page."""

    def finish(self) -> None:
        """Wait until all that was ordered has been forked: descriptors that are theirs alone may be closed then."""


class DirectForker:
    """Forker of the process that asks for them."""

    are_prepared = False
    are_confined = False

    def __init__(self, shared_page: SharedPage, data_bytes: int, job_filter: bytes | None) -> None:
        """
        Args:
            shared_page: Where the numbers are told.
            data_bytes: What this process's memory counts towards a process's limit.
            job_filter: Of jobs whose programs have no say about SIGCHLD. Where one process serves all jobs, it stays.
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

    def fork(self, order: Order) -> None:
        pid = kernel.fork()
        if pid == 0:
            child.leave_depth(FRAMES)
            run_child(order.place, order.uid, order.task, self._source, self._shared_page.page)
        self._shared_page.set_pid(order.place, pid)

    def finish(self) -> None:
        """They have been."""


def run_child(place: int, uid: int | None, task: Sequence[Any], source: PythonSource | None, page: mmap) -> NoReturn:
    """In the child. Trouble of ours ends it in a way that cannot be taken for an end of the program.

    Args:
        place: Of an `Order`.
        uid: Of it, too.
        task: The fields of its `Task`.
        source: The compiled program, of a job of Python.
        page: Of the shared_page.
    """
    try:
        os.setpgid(0, 0)  # a session of its own would be a group of its own for the scheduler: more than a fork costs
        os._exit(confine_and_run(place, uid, task, source, page))
    except BaseException as error:  # noqa: BLE001 - must not get back into the runner's own loop
        with suppress(OSError):
            os.write(2, f"not started: {error!r}\n".encode(errors="replace"))
    finally:
        if not page.closed:
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(1)


def confine_and_run(place: int, uid: int | None, task: Sequence[Any], source: PythonSource | None, page: mmap) -> int:
    """The status to end with."""
    jail, entry = task
    confinement.enter_jail(uid, jail)
    return child.run_entry(entry, source, StartFlag(page, place))
