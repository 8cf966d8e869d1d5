"""The state directory: one directory for each living service, and the removal of what dead services left.

    state directory ── PID-START-RANDOM ── lock: held as long as that service lives
                                        ├─ cgroups: where its groups are
                                        ├─ root: where its boxes' roots are mounted, each in its own namespace
                                        └─ box-N: scratch of a box without a mount namespace, or within gVisor its root

When a service is killed, the kernel releases its lock, and the next service removes what it left. START is the
process's start time in clock ticks. It distinguishes the process from a later one with the same pid.
"""

import fcntl
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox.base import SandboxUnavailable
from sandbox.boxes.local import cgroups, gvisor
from sandbox.boxes.local.removal import remove_tree

_NAME: Final = re.compile(r"\d+-\d+-[0-9a-f]{8}")
_GROUP_NAME: Final = re.compile(r"(\d+)-(\d+)-[0-9a-f]{8}-\d+")
_PATIENCE_S: Final = 5.0
"""For the processes of a killed service to end."""
_SETTLING_S: Final = 1.0
"""The longest time from making a group until its box is in it. A box whose group is missing is made again."""


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """The directory of this service."""

    directory: Path
    lock: int

    @property
    def name(self) -> str:
        """Prefix of the names of its groups."""
        return self.directory.name

    @property
    def mount_point(self) -> Path:
        return self.directory / "root"

    def release(self) -> None:
        """Remove the directory after every box is destroyed. The next service removes what cannot be removed now."""
        with suppress(OSError):
            gvisor.unmount_below(self.directory)
            remove_tree(self.directory)
        os.close(self.lock)


def acquire(state_dir: Path, parents: cgroups.Parents | None) -> StateDirectory:
    """Remove what dead services have left, and make a directory for this one.

    Raises:
        SandboxUnavailable: the state directory cannot be used, or is not safe.
    """
    try:
        _prepare(state_dir)
        with _locked(state_dir):
            for entry in state_dir.iterdir():
                if _NAME.fullmatch(entry.name):
                    _remove_dead_service(entry)
            _remove_orphans(parents.distinct if parents else ())
            return _new(state_dir, parents)
    except OSError as error:
        raise SandboxUnavailable(f"the state directory of boxes, {state_dir}, cannot be used: {error}") from error


def _prepare(state_dir: Path) -> None:
    """Make the state directory.

    Other users may pass through to directories whose names they know, but not list or write.
    """
    with suppress(FileExistsError):
        state_dir.mkdir(mode=0o711, parents=True)
    status = state_dir.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise SandboxUnavailable(
            f"the state directory of boxes, {state_dir}, belongs to another user; remove it or name another one"
        )
    state_dir.chmod(0o711)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _new(state_dir: Path, parents: cgroups.Parents | None) -> StateDirectory:
    directory = state_dir / f"{os.getpid()}-{_start(os.getpid())}-{secrets.token_hex(4)}"
    directory.mkdir(mode=0o711)
    directory.chmod(0o711)
    lock = os.open(directory / "lock", os.O_WRONLY | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    paths = [] if parents is None else [str(path) for path in parents.distinct]
    (directory / "cgroups").write_text(json.dumps(paths))
    (directory / "root").mkdir(mode=0o711)
    return StateDirectory(directory, lock)


def _remove_dead_service(directory: Path) -> None:
    """Remove a dead service's groups, with all that still runs in them, and its directory.

    Leave what cannot be removed.
    """
    with suppress(FileNotFoundError):  # it died before it had a lock
        lock = os.open(directory / "lock", os.O_WRONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove_groups(_groups(directory))
        except BlockingIOError:
            return
        finally:
            os.close(lock)
    with suppress(OSError):
        gvisor.unmount_below(directory)
        remove_tree(directory)


def _groups(directory: Path) -> Sequence[Path]:
    groups: list[Path] = []
    with suppress(OSError, ValueError):
        for path in json.loads((directory / "cgroups").read_text()):
            groups += Path(path).glob(f"{directory.name}-*")
    return groups


def _remove_groups(groups: Sequence[Path]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not cgroups.remove(groups):
        if time.monotonic() > deadline:
            return
        time.sleep(0.02)


def _remove_orphans(parents: Sequence[Path]) -> None:
    """Remove groups of dead services whose directory is lost. A group in which something runs cannot be removed.

    Names alone are not proof either: a living service may be invisible, in a PID namespace of its own. A group that it
    has just made is empty, but only for a moment.
    """
    orphans = [group for parent in parents for group in parent.iterdir() if _is_orphaned(group)]
    if orphans:
        time.sleep(_SETTLING_S)
    for group in orphans:
        with suppress(OSError):
            group.rmdir()


def _is_orphaned(group: Path) -> bool:
    """Whether a group is empty and was made by no visible process.

    The pid in its name may by now belong to another process.
    """
    owner = _GROUP_NAME.fullmatch(group.name)
    if owner is None or _start(int(owner[1])) == owner[2]:
        return False
    try:
        return not (group / "cgroup.procs").read_text()
    except OSError:
        return True


def _start(process: int) -> str | None:
    """Start time of a process in clock ticks after boot; None when it does not exist. See proc(5)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None
