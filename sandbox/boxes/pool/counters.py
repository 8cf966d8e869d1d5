"""Counters of what a pool has done since it was made, for the service's metrics."""

from dataclasses import dataclass, field
from enum import StrEnum

from sandbox.base import Exit


class Reason(StrEnum):
    """Why a box was taken out of service."""

    JOBS = "jobs"
    """It ran as many programs as a box may run; in fresh mode, one."""
    AGE = "age"
    DIED = "died"
    """Its runner ended or broke the protocol, with or without a program in the box."""
    MEMORY = "memory"
    """The kernel killed the whole box because memory ran out."""
    SILENT = "silent"
    """Its runner did not answer in time."""
    LEFTOVERS = "leftovers"
    """Two programs left processes behind, which the runner had to kill."""
    CANCELLED = "cancelled"
    """The caller that wanted the program run has gone."""


@dataclass(slots=True)
class Counters:
    """Counters that only grow."""

    boxes_started: int = 0
    starts_failed: int = 0
    boxes_ended: dict[Reason, int] = field(default_factory=lambda: dict.fromkeys(Reason, 0))
    """By reason, without those destroyed by `stop`."""
    jobs: int = 0
    """Programs put into a box. A program that is done again in another box counts again."""
    jobs_again: int = 0
    """Of those jobs, the ones repeated alone in a fresh box, because the first box died or gave no result."""
    refused: int = 0
    """Calls that ended as sandbox_busy."""
    runs: dict[Exit, int] = field(default_factory=lambda: dict.fromkeys(Exit, 0))
    """Runs by how they ended, if their result was given to the caller."""
    compile_cache_hits: int = 0
    compile_cache_misses: int = 0
