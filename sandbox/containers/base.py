"""The contract of containers for tasks.

    Task ──► Containers.base ──► Base         the image with the task's own preparation, made and checked once
    Base ──► Containers.open ──► Container    one fresh container, gone at the end of the block
             Container.run   ──► Ended        how a command ended, and what it wrote

Trouble of the daemon, of an image or of the disk is `SandboxUnavailable`. A task that no daemon could run is `BadTask`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from sandbox.base import SandboxUnavailable

EXCHANGE: Final = "/rewardline"
"""Path in each container of a folder in memory. It alone exchanges files with the container while that runs."""
GIVEN: Final = f"{EXCHANGE}/given"
"""Path of the files that we put there. No process of the container can change them."""
MADE: Final = f"{EXCHANGE}/made"
"""Path of a folder where the processes of the container can write."""
PROGRAMS: Final = f"{EXCHANGE}/programs"
"""Path of the programs of ours, see `sandbox.containers.programs`."""

PREPARATION_S: Final = 900.0
"""Wall seconds for what a command prepares, see `Container.run`."""

NO_SPACE: Final = "no_space"
"""The reason of a task for which the disk has no room, through no fault of its own."""
STARVED: Final = "starved"
"""The reason of a command that is given up because its machine is too busy to run it."""

Files = Mapping[str, bytes]
"""Content by path below `EXCHANGE`: `given/NAME`, or `made/NAME` for a file that the container may change."""


class BadTask(Exception):
    """The task cannot run until its author corrects it."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class TaskRefused(BadTask):
    """The operator does not allow what the task asks for."""


class TooLarge(Exception):
    """A file of a container has more bytes than are read."""


class End(StrEnum):
    """How a command ended."""

    EXITED = "exited"
    TIME_LIMIT = "time_limit"
    """The container used up its CPU seconds, or the command its wall seconds. Waiting for a CPU does not count."""
    MEMORY_LIMIT = "memory_limit"
    """The kernel killed it, or its whole container, because the container's memory was used up."""
    DISK_LIMIT = "disk_limit"
    PROCESS_LIMIT = "process_limit"
    """Its container had as many processes and threads as it may have."""
    OUTPUT_LIMIT = "output_limit"


@dataclass(frozen=True, slots=True)
class Ended:
    end: End
    exit_code: int | None
    """None unless it exited, or if its output was known to be whole before that."""
    output: bytes
    """Standard output and standard error, as they came."""
    cpu_s: float
    """CPU seconds of the container when it was last looked at; 0 for a command of less than a second."""
    wall_s: float
    report: bytes | None = None
    """The content of the file that was asked for, if it came together with the output: `Container.fetch` gets it, too."""


@dataclass(frozen=True, slots=True)
class TaskLimits:
    cpu_s: float = 1800.0
    wall_s: float = 1800.0
    memory_mb: int = 4096
    disk_mb: int = 4096
    processes: int = 1024
    """Processes and threads together."""
    output_bytes: int = 32 << 20


@dataclass(frozen=True, slots=True)
class Task:
    """What the containers of a task have in common."""

    image: str
    workdir: str
    """Where commands run. Empty: where the image says."""
    setup: Sequence[str] = ()
    """Commands for `sh` that run in the image once, before anything judged is there."""
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: TaskLimits = TaskLimits()
    network: bool = False
    folders: Sequence[str] = ()
    """Paths of folders in memory that belong to us until they are filled, see `Container.fill`."""


class Container(ABC):
    """One container that runs."""

    @abstractmethod
    async def run(
        self, command: Sequence[str], limits: TaskLimits | None = None, *, report: str | None = None, prepared: str = ""
    ) -> Ended:
        """Run a command in the working directory of the task; its limits are the task's unless others are given.

        A command that meets a limit is over, but its processes may go on until the container is gone. With `report`, the
        output decides something, so none of it may be lost, and the file of this name in `MADE` comes with it, unless the
        name is empty; it needs `sh` in the container. A command that has to prepare itself writes `prepared` when it has:
        its wall seconds begin then, and it has `PREPARATION_S` for what is before.

        Raises:
            SandboxUnavailable: the container is lost; says nothing about the command.
        """

    @abstractmethod
    async def give(self, files: Files) -> None:
        """Put files into the container."""

    @abstractmethod
    async def fetch(self, name: str, *, max_bytes: int) -> bytes | None:
        """The content of a file in `MADE`; None if it is not a regular file.

        Raises:
            TooLarge: it has more than `max_bytes`.
        """

    @abstractmethod
    async def read(
        self, path: str, *, max_bytes: int, is_wanted: Callable[[str], bool] = lambda _: True
    ) -> Mapping[str, bytes]:
        """The wanted regular files at a path, or below it, by their paths from there: `""` for the file itself. The path
        begins at the working directory, unless it is absolute.

        Raises:
            TooLarge: they have more than `max_bytes`.
        """

    @abstractmethod
    async def met_limit(self) -> End | None:
        """The limit of memory or processes that the container has met, though its command may have gone on."""

    @abstractmethod
    async def fill(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Put files, by their paths below it, into one of the task's `folders`. From now on all processes may write there."""

    @abstractmethod
    async def end_others(self) -> bool:
        """End all processes of the container but its first one. Whether that was possible.

        Raises:
            SandboxUnavailable: they have not ended in time, or the daemon does not answer.
        """


@dataclass(slots=True)
class Counters:
    """Counts since the start."""

    started: int = 0
    removed: int = 0
    ends: dict[str, int] = field(default_factory=dict)
    """Commands by how they ended."""
    bases_made: int = 0
    images_pulled: int = 0
    pulls_failed: int = 0
    pulled_bytes: int = 0
    images_evicted: int = 0
    images_built: int = 0
    builds_failed: int = 0
    killed_left_behind: int = 0
    cpu_seconds: float = 0.0
    """CPU seconds of all containers."""
    starved_seconds: float = 0.0
    """Seconds in which commands were ready to run and got no CPU, see `patience`."""


class Meter:
    """Who pays for the CPU time of containers: nobody. Both methods are called in the context of who asked."""

    def check(self) -> None:
        """Check that more may be used.

        Raises:
            SandboxUnavailable: it may not.
        """

    def note(self, cpu_s: float) -> None:
        """Note what a container has used."""


class Containers(ABC):
    """Makes the containers of tasks."""

    counters: Counters
    slots: int
    """Containers that may run at once."""

    @property
    @abstractmethod
    def waiting(self) -> int:
        """Tasks that wait for their turn."""

    @property
    @abstractmethod
    def running(self) -> int:
        """Tasks that have a container now."""

    @property
    @abstractmethod
    def free(self) -> int:
        """How many tasks could have a container at once, as soon as what belongs to tasks that are over is removed."""

    @property
    @abstractmethod
    def pulling(self) -> int:
        """Images that are being pulled."""

    @abstractmethod
    async def base(self, task: Task) -> str:
        """The id of the image that the containers of a task start from. Its setup has run in it.

        Raises:
            BadTask: there is no such image, or its setup fails.
            SandboxUnavailable: it could not be found out.
        """

    @abstractmethod
    async def check(self) -> None:
        """Check that tasks can run now.

        Raises:
            SandboxUnavailable: they cannot; says why.
        """

    async def build(self, context: Mapping[str, bytes]) -> str:
        """The name of an image of a Dockerfile and the files beside it, by path. It is built once.

        Building trusts the Dockerfile: its commands run under the daemon's own rules, and not in the runtime of tasks.

        Raises:
            BadTask: a step of it fails, or it is not allowed.
            SandboxUnavailable: it could not be built, and that is not its own fault.
        """
        raise SandboxUnavailable("these containers build no images", "no_image")

    @abstractmethod
    def open(self, task: Task, files: Files) -> AbstractAsyncContextManager[Container]:
        """A fresh container of a task with files in it, once it is the task's turn.

        Raises:
            BadTask: see `base`.
            SandboxUnavailable: there is no container.
        """

    @abstractmethod
    async def stop(self) -> None:
        """Remove all containers."""


class NoContainers(Containers):
    """Refuses every task and says why."""

    def __init__(self, why: str = "this service runs no containers of tasks (setting `repository_slots`)") -> None:
        self.counters = Counters()
        self.slots = 0
        self._why = why

    @property
    def waiting(self) -> int:
        return 0

    @property
    def running(self) -> int:
        return 0

    @property
    def free(self) -> int:
        return 0

    @property
    def pulling(self) -> int:
        return 0

    async def check(self) -> None:
        raise SandboxUnavailable(self._why, "containers_unavailable")

    async def base(self, task: Task) -> str:
        raise SandboxUnavailable(self._why, "containers_unavailable")

    def open(self, task: Task, files: Files) -> AbstractAsyncContextManager[Container]:
        raise SandboxUnavailable(self._why, "containers_unavailable")

    async def stop(self) -> None:
        return
