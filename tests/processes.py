"""Processes below another one, by /proc. One that ends between two looks is left out, never an error."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def children(pid: int | None = None) -> set[int]:
    """Those that any thread of the process, or of this one, has started, as of now; zombies too."""
    found: set[int] = set()
    with gone():
        for thread in Path(f"/proc/{pid or os.getpid()}/task").iterdir():
            with gone():
                found |= set(map(int, (thread / "children").read_text().split()))
    return found


def descendants(pid: int) -> set[int]:
    """Its children, theirs, and so on."""
    return {member for child in children(pid) for member in (child, *descendants(child))}


def family(pid: int) -> list[int]:
    """The process itself, and its descendants."""
    return [pid, *descendants(pid)]


def run_s(pid: int) -> float:
    """CPU seconds the process's main thread has used, to the nanosecond; 0 where it has ended."""
    with gone():
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    return 0.0


def below_s() -> float:
    """The same of all processes below this one that live."""
    return sum(map(run_s, descendants(os.getpid())))


@contextmanager
def gone() -> Iterator[None]:
    """Passes over what ended while it was looked at."""
    with suppress(FileNotFoundError, ProcessLookupError):
        yield
