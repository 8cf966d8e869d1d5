"""Assigns cores to processes, so that a load does not take time from the service that it measures."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.processes import family


@contextmanager
def apart(pid: int) -> Iterator[int]:
    """Put this process on the last core, and the process with this pid and all its children on the others. Yields how
    many cores they have.

    With a single core nothing is separated. New children stay on the cores of their parents.
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
            with suppress(ProcessLookupError):  # the process has just ended
                os.sched_setaffinity(int(thread.name), cores)
