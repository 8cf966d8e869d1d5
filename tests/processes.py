"""The processes below another one, read from /proc. A process that ends meanwhile is left out, and is never an
error.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def children(pid: int | None = None) -> set[int]:
    """The present children of any thread of the process. Zombies count too."""
    found: set[int] = set()
    with gone():
        for thread in Path(f"/proc/{pid or os.getpid()}/task").iterdir():
            with gone():
                found |= set(map(int, (thread / "children").read_text().split()))
    return found


def descendants(pid: int) -> set[int]:
    """The children of a process, their children, and so on."""
    return {member for child in children(pid) for member in (child, *descendants(child))}


def family(pid: int) -> list[int]:
    """The process itself, and its descendants."""
    return [pid, *descendants(pid)]


def run_s(pid: int) -> float:
    """CPU seconds of the process's main thread, to the nanosecond. 0 if it has ended."""
    with gone():
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    return 0.0


def below_s() -> float:
    """CPU seconds of all living processes below this one."""
    return sum(map(run_s, descendants(os.getpid())))


@contextmanager
def gone() -> Iterator[None]:
    """Ignores errors of processes that ended meanwhile."""
    with suppress(FileNotFoundError, ProcessLookupError):
        yield
