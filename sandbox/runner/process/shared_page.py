"""A page of memory that the runner shares with its forks, for facts they tell it without a message.

    flags     of a run: from now on everything that happens is the program's doing
    numbers   pids of processes that others fork for the runner; the kernel writes them before the processes run

A run unmaps the page before it becomes the program. (Keep no view of the page, or it could not.)
"""

import mmap
from struct import Struct
from typing import Final

from sandbox.runner.isolation import kernel

RUN: Final = 0
TESTER: Final = 1
TEMPLATES: Final = (2, 3)
"""Places on the page: of the run, or the program under test; of the tester; of the two templates that exist at a time.
"""

_NUMBER: Final = Struct("i")
_NUMBERS: Final = 128
"""Before this offset are flags, and the data of `sandbox.runner.process.standby`."""


class SharedPage:
    """The page. Made once, before the first fork."""

    def __init__(self) -> None:
        self.page = mmap.mmap(-1, mmap.PAGESIZE)

    def clear(self) -> None:
        """Reset it before a run is forked."""
        for role in (RUN, TESTER):
            self.page[role] = 0
            self.set_pid(role, 0)

    def has_started(self, role: int) -> bool:
        """Whether the run has become the program."""
        return bool(self.page[role])

    def pid(self, role: int) -> int:
        """The pid of the process at this place; 0: it is still to be forked."""
        number: int = _NUMBER.unpack_from(self.page, _where(role))[0]
        return number

    def set_pid(self, role: int, number: int) -> None:
        _NUMBER.pack_into(self.page, _where(role), number)

    def address(self, role: int) -> int:
        """The address where the kernel is to write the pid."""
        return kernel.address(self.page, _where(role))


def _where(role: int) -> int:
    return _NUMBERS + role * _NUMBER.size
