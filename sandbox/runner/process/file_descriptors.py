"""The runner's own descriptors, which have numbers that no child is given."""

import fcntl
import os
from typing import Final

_FIRST: Final = 100


def move_high(descriptor: int) -> int:
    """The same with a number of the runner's own, closed on exec."""
    own = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST)
    if descriptor > 2:
        os.close(descriptor)
    return own
