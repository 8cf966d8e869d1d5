"""A standby fork: while one fork of the runner serves a job, the next one is made ahead and waits."""

import os
from collections.abc import Collection
from mmap import mmap
from struct import Struct
from typing import Final

from sandbox.runner.process.file_descriptors import move_high

_PID: Final = Struct("i")
_PID_PLACE: Final = 64
_KILLED_PLACE: Final = 72
_TOKEN: Final = b"t"


class StandbyFork:
    """The handshake with the standby. Made once, before the first fork; all forks share it."""

    may_be_killed = True

    def __init__(self, page: mmap) -> None:
        """Start with no standby.

        Args:
            page: Shared memory. Runs unmap it before they become the program.
        """
        self._waiting = self._giving = -1
        self._page = page

    def open_pipe(self) -> None:
        """Prepare for a fork that will wait: each one has a pipe of its own. Call it before the fork."""
        self._waiting, self._giving = map(move_high, os.pipe2(os.O_CLOEXEC))

    def activate(self) -> None:
        """Wake the standby: its job begins. After that there is no standby."""
        self.set_pid(0)
        self._page[_KILLED_PLACE] = 0
        os.write(self._giving, _TOKEN)
        self.cancel()

    def cancel(self) -> None:
        """Close the pipe: no fork waits any more."""
        os.close(self._waiting)
        os.close(self._giving)

    def wait(self) -> None:
        """Wait until the previous job has ended. Called in the standby."""
        os.read(self._waiting, len(_TOKEN))

    def set_pid(self, pid: int) -> None:
        """Note the pid of the fork that now waits."""
        _PID.pack_into(self._page, _PID_PLACE, pid)

    def mark_killed(self) -> None:
        """Note that the standby will be killed with all other processes of the box."""
        self._page[_KILLED_PLACE] = 1

    @property
    def pid(self) -> int:
        """The pid of the standby, which belongs to no job; 0: there is none."""
        number: int = _PID.unpack_from(self._page, _PID_PLACE)[0]
        return number

    @property
    def pids(self) -> Collection[int]:
        return (self.pid,)

    @property
    def is_killed(self) -> bool:
        return bool(self._page[_KILLED_PLACE])
