"""What a pool has done since it was made, for the service's metrics."""

from dataclasses import dataclass, field
from enum import StrEnum

from sandbox.base import Exit


class Reason(StrEnum):
    """Why a box was taken out of service."""

    JOBS = "jobs"
    """It had as many programs as a box may have; in fresh mode, one."""
    AGE = "age"
    DIED = "died"
    """Its runner ended or broke the protocol, with a program in it or without."""
    MEMORY = "memory"
    """The kernel ended all of it for want of memory."""
    SILENT = "silent"
    """Its runner did not answer in time."""
    LEFTOVERS = "leftovers"
    """Two programs left processes behind which the runner had to end."""
    CANCELLED = "cancelled"
    """Whoever wanted the program run no longer does."""


@dataclass(slots=True)
class Counters:
    """Only ever growing."""

    boxes_started: int = 0
    starts_failed: int = 0
    boxes_ended: dict[Reason, int] = field(default_factory=lambda: dict.fromkeys(Reason, 0))
    """Without those destroyed by `stop`."""
    jobs: int = 0
    """Programs put into a box; one that is done again in another counts again."""
    jobs_again: int = 0
    """Of them, done again alone in a fresh box, as the first box died or came to no result."""
    refused: int = 0
    """Calls that ended as sandbox_busy."""
    runs: dict[Exit, int] = field(default_factory=lambda: dict.fromkeys(Exit, 0))
    """By how they ended, of those whose result was given to the caller."""
    compile_cache_hits: int = 0
    compile_cache_misses: int = 0
