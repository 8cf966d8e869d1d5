"""Who runs on which core, so that a load does not take its time from what it measures."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.processes import family


@contextmanager
def apart(pid: int) -> Iterator[int]:
    """This process on the last core, the one with this pid and all its children on the others; yields how many they have.

    With a single core there is nothing to part. New children stay where their parents are.
    """
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        _put(family(pid), cores[:-1])
        _put([os.getpid()], cores[-1:])
    try:
        yield max(1, len(cores) - 1)
    finally:
        _put([os.getpid()], cores)


def _put(pids: list[int], cores: list[int]) -> None:
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(ProcessLookupError):  # it has just ended
                os.sched_setaffinity(int(thread.name), cores)
