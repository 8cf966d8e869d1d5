"""Of the forks that serve jobs, one has its turn while the next one waits, made ahead."""

import os
from collections.abc import Collection
from mmap import mmap
from struct import Struct
from typing import Final

from sandbox.runner.process.file_descriptors import high

_PID: Final = Struct("i")
_PID_PLACE: Final = 64
_LOST_PLACE: Final = 72
_TOKEN: Final = b"t"


class Turn:
    """Made once, before the first fork; all of them share it."""

    can_be_lost = True

    def __init__(self, page: mmap) -> None:
        """
        Args:
            page: Shared memory, of which runs let go before they become the program.
        """
        self._waiting = self._giving = -1
        self._page = page

    def prepare(self) -> None:
        """To be called before a fork which waits: each has a pipe of its own."""
        self._waiting, self._giving = map(high, os.pipe2(os.O_CLOEXEC))

    def give(self) -> None:
        """To the one that waits. Nobody waits now."""
        self.follow(0)
        self._page[_LOST_PLACE] = 0
        os.write(self._giving, _TOKEN)
        self.cancel()

    def cancel(self) -> None:
        """Nobody waits any more."""
        os.close(self._waiting)
        os.close(self._giving)

    def wait(self) -> None:
        """Until the job before has ended."""
        os.read(self._waiting, len(_TOKEN))

    def follow(self, pid: int) -> None:
        """This one waits."""
        _PID.pack_into(self._page, _PID_PLACE, pid)

    def lose(self) -> None:
        """Whoever waits will be ended with all the others of the box."""
        self._page[_LOST_PLACE] = 1

    @property
    def following(self) -> int:
        """The process that waits, which belongs to no job; 0: there is none."""
        pid: int = _PID.unpack_from(self._page, _PID_PLACE)[0]
        return pid

    @property
    def own(self) -> Collection[int]:
        return (self.following,)

    @property
    def is_lost(self) -> bool:
        return bool(self._page[_LOST_PLACE])
