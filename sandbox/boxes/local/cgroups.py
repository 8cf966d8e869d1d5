"""Control groups for boxes, if this service may make some: they limit a box as a whole.

They are made below the service's own group, so that the service's limits hold for its boxes too. Version 1 has one tree
for each controller; version 2 has one tree for all. In version 2, a group passes its controllers on either to its
processes or to the groups below it. So the nearest ancestor is used that already passes them on to groups; if there is
none, the service moves itself, and the processes it has started, one group down.
"""

import itertools
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

MB: Final = 1 << 20
_CPU_PERIOD_US: Final = 100_000
"""The kernel's default."""
_MOST_FREE: Final = 32
_MOST_LEFT_BYTES: Final = 4 * MB
"""Much less than the margin that each box has for its runner. What the kernel keeps for itself, it gives up when memory
runs short.
"""
_SERVICE_GROUP: Final = "rewardline-service"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a box as a whole."""

    memory_mb: int
    processes: int
    cpus: int


@dataclass(frozen=True, slots=True)
class Parents:
    """Directories in which the groups of boxes can be made: one for each tree."""

    version: int
    directories: Mapping[str, Path]
    """By controller. In version 1: memory, pids, and cpu if it exists. In version 2 all are the same directory."""

    @property
    def distinct(self) -> Sequence[Path]:
        return list(dict.fromkeys(self.directories.values()))


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The group of one box."""

    directories: Sequence[Path]
    events: Path
    """The file that counts the kernel's out-of-memory kills."""
    bounds_cpus: bool
    bounds: Bounds
    members: Path
    """The file with the number of its processes."""
    usage: Path
    """The file with the bytes of memory that are charged to it."""
    earlier_oom_kills: int = 0
    """Those of the box that had it before."""

    def oom_kills(self) -> int:
        """How often the kernel has killed one of its processes because memory ran out."""
        with suppress(OSError):
            for line in _content(self.events).splitlines():
                name, _, count = line.partition(b" ")
                if name == b"oom_kill":
                    return int(count) - self.earlier_oom_kills
        return 0

    def is_as_new(self) -> bool:
        """Whether nothing runs in it, and next to no memory is still charged to it."""
        try:
            return (
                not any(_content(directory / "cgroup.procs") for directory in self.directories)
                and int(_content(self.members)) == 0
                and int(_content(self.usage)) <= _MOST_LEFT_BYTES
            )
        except OSError:
            return False


class Groups:
    """The control groups of one service's boxes: each serves one box after the other."""

    def __init__(self, parents: Parents, prefix: str) -> None:
        """Begin with none.

        Args:
            parents: Where they are made.
            prefix: Of their names.
        """
        self._parents = parents
        self._prefix = prefix
        self._numbers = itertools.count(1)
        self._free: list[Cgroup] = []

    def lend(self, bounds: Bounds) -> Cgroup:
        """A group with nothing in it.

        Another service may have removed one that waited: it does so with empty groups of services that it cannot see
        (`sandbox.boxes.local.state_directory`).

        Raises:
            OSError: it cannot be made.
        """
        for group in [free for free in self._free if free.bounds == bounds]:
            self._free.remove(group)
            if all(directory.exists() for directory in group.directories):  # nobody else puts anything into it
                return group
            remove(group.directories)
        return create(self._parents, f"{self._prefix}-{next(self._numbers)}", bounds)

    def take_back(self, group: Cgroup) -> bool:
        """Keep a group for another box. False: it is not as new, and must be removed."""
        if len(self._free) >= _MOST_FREE or not group.is_as_new():
            return False
        kills = group.oom_kills() + group.earlier_oom_kills
        self._free.append(replace(group, earlier_oom_kills=kills))
        return True

    def close(self) -> None:
        """Remove those that no box has."""
        while self._free:
            remove(self._free.pop().directories)


def find_parents() -> Parents | None:
    """Where groups with limits on memory and processes can be made; None: nowhere."""
    return parents_among(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())


def parents_among(mountinfo: str, cgroup: str) -> Parents | None:
    """`find_parents`, from the text of the two files of /proc/self."""
    mounts, own_groups = _mounts(mountinfo), _own(cgroup)
    return _parents_v1(mounts, own_groups) or _parents_v2(mounts, own_groups)


def create(parents: Parents, name: str, bounds: Bounds) -> Cgroup:
    """Make a group with these limits.

    Raises:
        OSError: it cannot be made.
    """
    directories = [parent / name for parent in parents.distinct]
    try:
        for directory in directories:
            directory.mkdir()
        return _limited(parents, name, bounds, directories)
    except OSError:
        remove(directories)
        raise


def remove(directories: Sequence[Path]) -> bool:
    """Remove the groups. False: there are still processes in one of them; they are killed."""
    remaining = [directory for directory in directories if not _is_removed(directory)]
    return not remaining


def _limited(parents: Parents, name: str, bounds: Bounds, directories: Sequence[Path]) -> Cgroup:
    groups = {controller: parent / name for controller, parent in parents.directories.items()}
    memory, pids = groups["memory"], groups["pids"]
    (pids / "pids.max").write_text(str(bounds.processes))
    if parents.version == 1:
        (memory / "memory.limit_in_bytes").write_text(str(bounds.memory_mb * MB))
        _is_written(memory / "memory.memsw.limit_in_bytes", str(bounds.memory_mb * MB))
        bounds_cpus = "cpu" in groups and _is_written(
            groups["cpu"] / "cpu.cfs_quota_us", str(bounds.cpus * _CPU_PERIOD_US)
        )
        events, usage = memory / "memory.oom_control", memory / "memory.usage_in_bytes"
        return Cgroup(directories, events, bounds_cpus, bounds, pids / "pids.current", usage)
    (memory / "memory.max").write_text(str(bounds.memory_mb * MB))
    _is_written(memory / "memory.swap.max", "0")
    bounds_cpus = "cpu" in groups and _is_written(
        memory / "cpu.max", f"{bounds.cpus * _CPU_PERIOD_US} {_CPU_PERIOD_US}"
    )
    events, usage = memory / "memory.events", memory / "memory.current"
    return Cgroup(directories, events, bounds_cpus, bounds, pids / "pids.current", usage)


def _content(path: Path) -> bytes:
    """The beginning of a file of a group. Each box reads some, and a decoder costs as much again as the read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 1 << 12)
    finally:
        os.close(descriptor)


def _is_written(path: Path, text: str) -> bool:
    """Whether a limit could be written.

    False when the kernel does not count swap, or for more CPUs than the service itself may use. Neither limit is needed
    then.
    """
    try:
        path.write_text(text)
    except OSError:
        return False
    return True


def _is_removed(directory: Path) -> bool:
    try:
        directory.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        _kill(directory)
        return False
    return True


def _kill(directory: Path) -> None:
    with suppress(OSError):
        for pid in (directory / "cgroup.procs").read_text().split():
            if pid != "0":  # 0 stands for a process that is invisible here; kill(0) would kill this process's own group
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class _Mount:
    controllers: frozenset[str]
    """Empty for version 2."""
    root: str
    """The group that is at the top of this mount."""
    point: Path


def _mounts(mountinfo: str) -> Sequence[_Mount]:
    """The cgroup trees among the lines of /proc/PID/mountinfo, see proc(5)."""
    mounts = []
    for line in mountinfo.splitlines():
        mount_fields, _, source_fields = line.partition(" - ")
        kind, _, options = source_fields.split(" ", 2)
        _, _, _, root, point, *_ = mount_fields.split(" ")
        if kind == "cgroup":
            mounts.append(_Mount(frozenset(options.split(",")), root, Path(point)))
        elif kind == "cgroup2":
            mounts.append(_Mount(frozenset(), root, Path(point)))
    return mounts


def _own(text: str) -> Mapping[str, str]:
    """The service's own groups by controller, "" for version 2, from the lines of /proc/PID/cgroup, see cgroups(7)."""
    groups: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        groups |= dict.fromkeys(controllers.split(","), path)
    return groups


def _directory(mount: _Mount, group: str) -> Path | None:
    """The directory of the group in the tree that is mounted there; None: it is not in this mount."""
    if mount.root == "/":
        return mount.point / group.lstrip("/")
    if group == mount.root or group.startswith(f"{mount.root}/"):
        return mount.point / group.removeprefix(mount.root).lstrip("/")
    return None


def _parents_v1(mounts: Sequence[_Mount], own_groups: Mapping[str, str]) -> Parents | None:
    directories = {}
    for controller in ("memory", "pids", "cpu"):
        for mount in mounts:
            directory = (
                _directory(mount, own_groups[controller])
                if controller in mount.controllers & own_groups.keys()
                else None
            )
            if directory is not None and os.access(directory, os.W_OK):
                directories[controller] = directory
    return Parents(1, directories) if {"memory", "pids"} <= directories.keys() else None


def _parents_v2(mounts: Sequence[_Mount], own_groups: Mapping[str, str]) -> Parents | None:
    for mount in mounts:
        directory = _directory(mount, own_groups[""]) if not mount.controllers and "" in own_groups else None
        parent = (
            None if directory is None else _nearest_delegating(directory, mount.point) or _enable_delegation(directory)
        )
        if parent is not None:
            cpu = ("cpu",) if "cpu" in _delegated_controllers(parent) else ()
            return Parents(2, dict.fromkeys(("memory", "pids", *cpu), parent))
    return None


def _delegated_controllers(directory: Path) -> frozenset[str]:
    try:
        return frozenset((directory / "cgroup.subtree_control").read_text().split())
    except OSError:
        return frozenset()


def _nearest_delegating(directory: Path, top: Path) -> Path | None:
    for candidate in (directory, *directory.parents):
        if {"memory", "pids"} <= _delegated_controllers(candidate) and os.access(candidate, os.W_OK):
            return candidate
        if candidate == top:
            break
    return None


def _enable_delegation(directory: Path) -> Path | None:
    """The service's own group, after everything in it has moved one group down.

    None if other processes are in it too.
    """
    try:
        pids = [int(pid) for pid in (directory / "cgroup.procs").read_text().split()]
        if not {"memory", "pids"} <= set((directory / "cgroup.controllers").read_text().split()):
            return None
        if not all(_is_ours(pid) for pid in pids):
            return None
        service_group = directory / _SERVICE_GROUP
        service_group.mkdir(exist_ok=True)
        for pid in pids:
            (service_group / "cgroup.procs").write_text(str(pid))
        (directory / "cgroup.subtree_control").write_text("+memory +pids")
        with suppress(OSError):
            (directory / "cgroup.subtree_control").write_text("+cpu")
    except OSError:
        return None
    return directory


def _is_ours(pid: int) -> bool:
    """Whether it is this process or a descendant of it."""
    while pid > 1 and pid != os.getpid():
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
        except OSError:
            return True
    return pid == os.getpid()
