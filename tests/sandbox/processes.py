"""Questions about processes and control groups."""

from pathlib import Path

from sandbox.boxes.local import cgroups


def is_there(pid: int) -> bool:
    """Whether a process exists. Zombies exist, too."""
    return Path(f"/proc/{pid}").exists()


def is_alive(pid: int) -> bool:
    """Whether a process is alive. Zombies are not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def groups_of(maker: object) -> list[Path]:
    """Control groups with names that begin with that of their directory, or with the process's id."""
    parents = cgroups.find_parents()
    return [group for parent in parents.distinct for group in parent.glob(f"{maker}-*")] if parents else []
