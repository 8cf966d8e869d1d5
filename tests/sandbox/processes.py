"""What processes and control groups there are."""

from pathlib import Path

from sandbox.boxes.local import cgroups


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
