"""What a backend makes: boxes with a runner in them, and the connection to it.

    Backend.make(profile) ──► Box: a connected socket; on its far side the bootstrap of `sandbox.boxes.bootstrap` waits for the
                              runner's own text and its configuration
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

GVISOR_COUNTS_WAITING: Final = "CPU time is what gVisor counts, on a machine short of CPU also some of the wait for it: give such machines' limits room."
"""A caveat. Measured: 0.33 s of work on a free CPU count as 1.1 s on a quarter of one."""


class Profile(StrEnum):
    """What the interpreter in a box has imported before it is forked."""

    PLAIN = "plain"
    """The standard library's modules that programs use."""
    SCIENCE = "science"
    """Those and numpy, pandas and sympy."""
    TESTS = "tests"
    """Those of plain, and what tests are written with."""

    @property
    def preload(self) -> tuple[str, ...]:
        if self is Profile.SCIENCE:
            return ("numpy", "pandas", "sympy")
        return ("pytest", "unittest") if self is Profile.TESTS else ()


@dataclass(frozen=True, slots=True)
class BoxSize:
    """What a box as a whole may use, whatever runs in it."""

    memory_mb: int = 2048
    """Of all that runs in it and of the files in it; the runner's own memory comes on top."""
    processes: int = 128
    disk_mb: int = 256
    """In memory, for the programs' directories; /tmp and /dev/shm have a quarter of it each."""
    cpus: int = 1


class Box(ABC):
    """One box that is running."""

    name: str
    profile: Profile
    connection: socket.socket
    """A non-blocking stream to the bootstrap, then the runner."""
    is_multiplexed: bool = False
    """What the box sends comes in Docker's attach format: 8-byte heads with stream number and length."""
    configuration: Configuration
    """For the runner, to be sent first."""

    @abstractmethod
    async def destroy(self) -> None:
        """End everything in it and remove what it was made of. Idempotent; survives cancellation."""

    @abstractmethod
    async def died_of_memory(self) -> bool:
        """After its connection broke: whether the kernel ended the whole box for want of memory."""

    async def words(self) -> str:
        """After it died: what it wrote on its standard error, for people; cut."""
        return ""


class Backend(ABC):
    """Makes boxes of one kind."""

    isolation: Isolation
    caveats: Sequence[str]

    @abstractmethod
    async def open(self) -> None:
        """Find out whether boxes can be made here, and remove what a killed service of the same owner left behind.

        Raises:
            SandboxUnavailable: they cannot; the message says what is missing.
        """

    @abstractmethod
    async def close(self) -> None:
        """Give up everything that is not a box."""

    @abstractmethod
    async def make(self, profile: Profile, *, once: bool = False) -> Box:
        """Start a box; the caller must destroy it.

        Args:
            profile: What is loaded in it.
            once: It is for one program: that it is there soon matters more than how fast it is.

        Raises:
            SandboxUnavailable: it could not be started.
        """
