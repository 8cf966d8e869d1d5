"""The interface of a backend: it makes boxes, each with a runner inside and a connection to it.

    Backend.make(profile) ──► Box: a connected socket; on its far side the bootstrap of `sandbox.boxes.bootstrap`
                              waits for the runner's code and its configuration
    pool                  ──► starts the runner, gives jobs, destroys the box

A box holds one job at a time, and one kind of warm interpreter (`Profile`).
"""

import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sandbox.base import Isolation
from sandbox.runner.configuration import Configuration

GVISOR_COUNTS_WAITING: Final = (
    "gVisor counts the CPU time. On a machine short of CPU, it also counts some of the wait: use larger limits there."
)
"""A caveat. Measured: 0.33 s of work on a free CPU count as 1.1 s on a quarter of one."""


class Profile(StrEnum):
    """What the interpreter in a box imports before it is forked."""

    PLAIN = "plain"
    """Modules of the standard library that programs often use."""
    SCIENCE = "science"
    """The modules of PLAIN and numpy, pandas and sympy."""
    TESTS = "tests"
    """The modules of PLAIN and those that tests are written with."""

    @property
    def preload(self) -> tuple[str, ...]:
        if self is Profile.SCIENCE:
            return ("numpy", "pandas", "sympy")
        return ("pytest", "unittest") if self is Profile.TESTS else ()


@dataclass(frozen=True, slots=True)
class BoxSize:
    """What a box as a whole may use, whatever runs in it."""

    memory_mb: int = 2048
    """For all processes and files in the box. The runner's own memory comes on top."""
    processes: int = 128
    disk_mb: int = 256
    """In memory, for the programs' directories. /tmp and /dev/shm get a quarter of it each."""
    cpus: int = 1


class Box(ABC):
    """One box that is running."""

    name: str
    profile: Profile
    connection: socket.socket
    """A non-blocking stream, first to the bootstrap, then to the runner."""
    is_multiplexed: bool = False
    """Whether the box sends in Docker's attach format: 8-byte heads with stream number and length."""
    configuration: Configuration
    """The runner's configuration, to be sent first."""
    has_runner: bool = False
    """Whether it has loaded the runner of this service already, so that it need not be sent."""

    @abstractmethod
    async def destroy(self) -> None:
        """Kill everything in the box and remove what it was made of. Idempotent; survives cancellation."""

    @abstractmethod
    async def died_of_memory(self) -> bool:
        """After the connection broke: whether the kernel killed the whole box because memory ran out."""

    async def stderr_text(self) -> str:
        """After the box died: the text it wrote on its standard error, for people; cut."""
        return ""


class Backend(ABC):
    """Makes boxes of one kind."""

    isolation: Isolation
    caveats: Sequence[str]

    @abstractmethod
    async def open(self) -> None:
        """Check that boxes can be made here, and remove what a killed service of the same owner left behind.

        Raises:
            SandboxUnavailable: boxes cannot be made; the message says what is missing.
        """

    @abstractmethod
    async def close(self) -> None:
        """Release everything that is not a box."""

    @abstractmethod
    async def make(self, profile: Profile, *, once: bool = False) -> Box:
        """Start a box. The caller must destroy it.

        Args:
            profile: What is loaded in it.
            once: The box is for one program: a fast start matters more than a fast run.

        Raises:
            SandboxUnavailable: it could not be started.
        """
