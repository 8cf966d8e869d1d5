"""Of the forks that serve jobs, one has its turn while the next one waits, made ahead."""

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
    """Made once, before the first fork; all of them share it."""

    may_be_killed = True

    def __init__(self, page: mmap) -> None:
        """
        Args:
            page: Shared memory, of which runs let go before they become the program.
        """
        self._waiting = self._giving = -1
        self._page = page

    def open_pipe(self) -> None:
        """To be called before a fork which waits: each has a pipe of its own."""
        self._waiting, self._giving = map(move_high, os.pipe2(os.O_CLOEXEC))

    def activate(self) -> None:
        """To the one that waits. Nobody waits now."""
        self.set_pid(0)
        self._page[_KILLED_PLACE] = 0
        os.write(self._giving, _TOKEN)
        self.cancel()

    def cancel(self) -> None:
        """Nobody waits any more."""
        os.close(self._waiting)
        os.close(self._giving)

    def wait(self) -> None:
        """Until the job before has ended."""
        os.read(self._waiting, len(_TOKEN))

    def set_pid(self, pid: int) -> None:
        """This one waits."""
        _PID.pack_into(self._page, _PID_PLACE, pid)

    def mark_killed(self) -> None:
        """Whoever waits will be ended with all the others of the box."""
        self._page[_KILLED_PLACE] = 1

    @property
    def pid(self) -> int:
        """The process that waits, which belongs to no job; 0: there is none."""
        number: int = _PID.unpack_from(self._page, _PID_PLACE)[0]
        return number

    @property
    def pids(self) -> Collection[int]:
        return (self.pid,)

    @property
    def is_killed(self) -> bool:
        return bool(self._page[_KILLED_PLACE])
