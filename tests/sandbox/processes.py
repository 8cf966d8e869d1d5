"""What processes and control groups there are."""

import os
from contextlib import suppress
from pathlib import Path

from sandbox.local import cgroups


def children(pid: int | None = None) -> set[int]:
    """Of this process or another, zombies too: keepers, workers, and what they are forked by."""
    found: set[int] = set()
    with suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{pid or os.getpid()}/task").iterdir():
            with suppress(OSError):
                found |= {int(child) for child in (thread / "children").read_text().split()}
    return found


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    waiting = {pid}
    while waiting:
        new = children(waiting.pop()) - found
        found |= new
        waiting |= new
    return found


def is_there(pid: int) -> bool:
    """Zombies too."""
    return Path(f"/proc/{pid}").exists()


def is_alive(pid: int) -> bool:
    """Zombies are not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def groups_of(maker: object) -> list[Path]:
    """Control groups whose names begin with that of the directory they were made for, or with the process's id."""
    parents = cgroups.find_parents()
    return [group for parent in parents.distinct for group in parent.glob(f"{maker}-*")] if parents else []
