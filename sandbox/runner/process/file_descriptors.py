"""Keeps the runner's own descriptors at high numbers, which no child gets."""

import fcntl
import os
from typing import Final

_FIRST: Final = 100


def move_high(descriptor: int) -> int:
    """The same file under a number of the runner's own (100 or higher), closed on exec."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST)
    if descriptor > 2:
        os.close(descriptor)
    return high
