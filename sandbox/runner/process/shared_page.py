"""A page of memory that the runner shares with its forks: what they tell it without a word.

    flags     of a run: from now on all that happens is the program's doing
    numbers   of the processes that others fork for the runner, which the kernel writes before they run

A run lets go of the page before it becomes the program. (No view of the page may be kept, or it could not.)
"""

import mmap
from struct import Struct
from typing import Final

from sandbox.runner.isolation import kernel

RUN: Final = 0
TESTER: Final = 1
TEMPLATES: Final = (2, 3)
"""Places: of the run, or the program under test; of what tests it; of the two templates there are at a time."""

_NUMBER: Final = Struct("i")
_NUMBERS: Final = 128
"""Before it are flags, and what `sandbox.runner.process.turn` keeps."""


class SharedPage:
    """Made once, before the first fork."""

    def __init__(self) -> None:
        self.page = mmap.mmap(-1, mmap.PAGESIZE)

    def clear(self) -> None:
        """Before a run is forked."""
        for place in (RUN, TESTER):
            self.page[place] = 0
            self.set_pid(place, 0)

    def has_started(self, place: int) -> bool:
        """Whether the run has become the program."""
        return bool(self.page[place])

    def pid(self, place: int) -> int:
        """Of the process at this place; 0: it is still to be forked."""
        number: int = _NUMBER.unpack_from(self.page, _where(place))[0]
        return number

    def set_pid(self, place: int, number: int) -> None:
        _NUMBER.pack_into(self.page, _where(place), number)

    def address(self, place: int) -> int:
        """Where in memory the kernel is to write the number."""
        return kernel.address(self.page, _where(place))


def _where(place: int) -> int:
    return _NUMBERS + place * _NUMBER.size
