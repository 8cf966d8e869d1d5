"""Builds a box around itself, then becomes the program that runs in it.

This is a program of its own: `python -I -S enter.py DESCRIPTOR PLAN`, in a fresh interpreter with only the standard
library. DESCRIPTOR is the box's end of the control socket, PLAN a `Plan` as JSON.

    service ──► keeper ──────────────────────► process 1 of the box ──► its programs
                ends the box when it gets      is killed when the
                SIGTERM, which it also gets    keeper ends
                when the service ends; exits
                after the last process of the box

A box that is forked (`sandbox.boxes.local.forkserver`) has no keeper: the service itself is the parent of process 1,
which the kernel kills when the service ends.

The roots of forked boxes have nearly everything in common. The process that they are forked from puts that together
once, in a mount namespace of its own (`builder`). Each box gets a copy of those mounts, which the kernel locks for it, and
adds what is its own: file systems in memory, and /proc.

With namespaces, process 1 sees a root directory made only of read-only system folders, its own /proc and /dev, and file
systems in memory. When process 1 ends, the kernel kills everything in the box. gVisor has no mount namespace: there
that root is mounted where the service sees it too, process 1 enters it for good (chroot), and the keeper unmounts it.
Without namespaces, the keeper adopts the processes that programs leave behind, and kills them. The numbers are from the
kernel's headers (mount.h, sched.h, prctl.h, capability.h, the system call tables).
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NoReturn, TypedDict

CONTROL: Final = 3
"""The control socket's descriptor in the box."""
MEMORY_EVENTS: Final = 20
"""The descriptor of the counter of out-of-memory kills, if the plan names one. It is above the descriptors that a
runner gives to the programs it starts.
"""
EXIT_NOT_BUILT: Final = 71
BOX_UID: Final = 1000
"""The user id in the boxes of a service that may not map several user ids."""


class Plan(TypedDict):
    """What the service wants a box to be."""

    service: int
    """Its process id."""
    namespaces: bool
    uids: tuple[int, int] | None
    """First id outside, and how many. None: the service's own id is the only one available."""
    mount_point: str
    """An empty directory. The box's root covers it in the box's own mount namespace."""
    root: str | None
    """An empty directory of this box alone, for its root within gVisor, where there is no mount namespace."""
    visible: list[tuple[str, str]]
    """What can be read in the box: path outside, path inside."""
    disk_mb: int
    cgroups: list[str]
    """Directories of the control groups to join."""
    memory_events: str | None
    command: list[str]
    environment: dict[str, str]


class Source(TypedDict):
    """A path outside that is to appear in the box."""

    path: str
    target: str
    is_directory: bool
    tree: int | None
    """A detached copy of the mount. Using it needs no permission to reach its path."""


_PR_SET_PDEATHSIG: Final = 1
_PR_CAPBSET_READ: Final = 23
_PR_CAPBSET_DROP: Final = 24
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_CAP_AMBIENT: Final = 47
_PR_CAP_AMBIENT_CLEAR_ALL: Final = 4

_DAC_OVERRIDE, _KILL, _SETGID, _SETUID, _SYS_ADMIN = 1, 5, 6, 7, 21
_RUNNER_CAPABILITIES: Final = frozenset({_DAC_OVERRIDE, _KILL, _SETGID, _SETUID})
_LAST_CAPABILITY: Final = 63
_CAPABILITIES_VERSION: Final = 0x20080522

_NEW_USER: Final = 0x10000000
_NEW_MOUNT: Final = 0x00020000
_NEW_CGROUP: Final = 0x02000000
_NEW_UTS: Final = 0x04000000
_NEW_IPC: Final = 0x08000000
_NEW_PID: Final = 0x20000000
_NEW_NET: Final = 0x40000000
NAMESPACES_OF_CLONE: Final = _NEW_USER | _NEW_PID
"""Those that process 1 of a box is born in. It makes the others itself: a network takes the kernel a millisecond."""
_OTHER_NAMESPACES: Final = _NEW_MOUNT | _NEW_IPC | _NEW_UTS | _NEW_NET | _NEW_CGROUP

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 32, 4096, 16384, 1 << 18
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_NODEV = 1, 2, 4
_MNT_DETACH: Final = 2
_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC = 1, 0x80000
_MOVE_MOUNT_F_EMPTY_PATH: Final = 4
_KEYCTL_JOIN_SESSION_KEYRING: Final = 1

_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_MOUNT_SETATTR = 428, 429, 442
_TREE: Final = "/tree"
_OWN_ROOT: Final = "/root-of-a-box"
"""Where the process that boxes are forked from has what their roots have in common, and where a box puts its own root."""
_SYS_PIVOT_ROOT: Final = {"x86_64": 155, "aarch64": 41}
_SYS_KEYCTL: Final = {"x86_64": 250, "aarch64": 219}

_COVERED: Final = "/usr"
"""Where the box's root is built when every mount it shows is cloned already: this path exists and is reachable
everywhere.
"""
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")
_DEVICE_PATHS: Final = [(f"/dev/{name}", f"/dev/{name}") for name in _DEVICES]
_DEVICE_LINKS: Final = {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}
_PROC_READ_ONLY: Final = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
_PROC_HIDDEN: Final = ("kcore", "keys", "key-users", "kmsg", "kallsyms", "timer_list", "latency_stats", "sched_debug")

_libc = ctypes.PyDLL(None, use_errno=True)  # one thread: the interpreter's lock need not be released


def main() -> NoReturn:
    """Build the box by the plan in the command line."""
    build(json.loads(sys.argv[2]), int(sys.argv[1]))


def build(plan: Plan, control: int) -> NoReturn:
    """Build the box, and keep it until it has ended.

    Args:
        plan: What the box is to be.
        control: The box's end of the control socket.
    """
    control = _moved_high(control)
    try:
        _die_with_service(plan["service"])
        os.umask(0o022)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        events = _join_cgroups(plan)
        sources = _unshare_namespaces(plan) if plan["namespaces"] else []
        _run_keeper(plan, control, events, sources)
    except OSError as error:
        os.write(2, f"no box: {error}\n".encode())
    os._exit(EXIT_NOT_BUILT)


def _die_with_service(service: int) -> None:
    """Make the kernel end this process with the service. A change of user id clears this."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != service:
        os._exit(0)


def _join_cgroups(plan: Plan) -> int | None:
    for directory in plan["cgroups"]:
        with open(f"{directory}/cgroup.procs", "w") as file:
            file.write("0")
    if plan["memory_events"] is None:
        return None
    return _moved_high(os.open(plan["memory_events"], os.O_RDONLY))


def _moved_high(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 100)


def _unshare_namespaces(plan: Plan) -> list[Source]:
    return _unshare(plan) if plan["root"] is None else _unshare_in_gvisor(plan)


def become_first_process(
    control: int, of_groups: Sequence[int], build: Callable[[], None], entry: Callable[[], NoReturn]
) -> NoReturn:
    """Build the box from within, as its process 1: it is born in `NAMESPACES_OF_CLONE`, and its user ids are mapped.

    There is no keeper: when this process is killed, the kernel ends everything in the box before its parent is told.

    Args:
        control: The box's end of the control socket.
        of_groups: The lists of processes of the control groups to join, and last the counter of out-of-memory kills,
            all opened by the service; empty without control groups.
        build: From `builder`.
        entry: What this process runs once the box is built, with that socket as `CONTROL`.
    """
    try:
        control = _moved_high(control)
        events = _moved_high(of_groups[-1]) if of_groups else None
        for processes in of_groups[:-1]:  # as the service's own user still, who may write to them
            os.write(processes, b"0")
        _become_root_of_box()
        _check(_libc.unshare(_OTHER_NAMESPACES), "unshare")
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        build()
        _keep_only(control, events)
        entry()
    except OSError as error:
        os.write(2, f"no box: {error}\n".encode())
    os._exit(EXIT_NOT_BUILT)


def builder(mount_point: str, visible: Sequence[tuple[str, str]], disk_mb: int) -> Callable[[], None]:
    """Prepare what the boxes of all children of this process have in common.

    Returns what a child calls, as process 1 of a box, to build its root and give up its privileges. A process that may
    do so moves into a mount namespace of its own, with little more in it than what boxes show, and each box adds what
    is its own, by system calls that are written down here: each object that a box needs for a call costs it a page of
    memory. Otherwise each box builds all of its root.

    Args:
        mount_point: As in a `Plan`, like the others.
        visible: What can be read in a box.
        disk_mb: Size of the file systems in memory.
    """
    sources = _sources(visible, can_clone=False)
    give_up = _privilege_calls(_RUNNER_CAPABILITIES, _RUNNER_CAPABILITIES)
    if not _has_capability(_SYS_ADMIN):
        return partial(_build_all, mount_point, disk_mb, sources, give_up)
    _prepare_root(mount_point, sources)
    tree = _mount_call(_TREE, _OWN_ROOT, None, _MS_BIND | _MS_REC)
    limits = [f"{_OWN_ROOT}{path}" for path in _limits_of_namespaces("/proc")]
    mounts = (tree, *_scratch_calls(_OWN_ROOT, disk_mb), _proc_call(_OWN_ROOT, visible_to_gid=0))
    later_calls = (*_calls_over_proc(_OWN_ROOT, "/proc"), *_root_calls(_OWN_ROOT), *give_up)
    return partial(_build_prepared, mounts, limits, later_calls)


def is_prepared() -> bool:
    """Whether this process is in a mount namespace of its own, with what boxes have in common."""
    return os.path.isdir(_TREE)


def answer_from_box(question: Callable[[], bytes]) -> bytes:
    """What a question about files answers when it is asked in the root that `builder` has prepared."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if is_prepared():
                os.chroot(_TREE)
            os.write(writing, question())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        content = answer.read()
    os.waitpid(pid, 0)
    return content


def _sources(paths: Sequence[tuple[str, str]], *, can_clone: bool) -> list[Source]:
    """What a box is to show (path outside, path inside), and the devices."""
    return [_source(path, target, can_clone) for path, target in [*paths, *_DEVICE_PATHS]]


def _unshare_in_gvisor(plan: Plan) -> list[Source]:
    """Like `_unshare`, with what gVisor has.

    Root stays the container's root: in a user namespace it could mount nothing.
    """
    _check(_libc.unshare(_NEW_MOUNT | _NEW_PID | _NEW_IPC | _NEW_UTS | _NEW_NET), "unshare")
    return _sources(plan["visible"], can_clone=False)


def _unshare(plan: Plan) -> list[Source]:
    """Leave the namespaces of the service. The next child is process 1 of the new ones."""
    sources = _sources(plan["visible"], can_clone=plan["uids"] is not None and _has_capability(_SYS_ADMIN))
    if plan["uids"] is None:
        _enter_user_namespace_as_one()
    else:
        _enter_user_namespace_as_root(*plan["uids"])
    _check(_libc.unshare(_NEW_PID | _OTHER_NAMESPACES), "unshare")
    _die_with_service(plan["service"])
    return sources


def _source(path: str, target: str, can_clone: bool) -> Source:
    tree = None
    if can_clone:
        flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE
        tree = _check(_libc.syscall(_SYS_OPEN_TREE, _AT_FDCWD, path.encode(), flags), f"open_tree {path}")
    return {"path": path, "target": target, "is_directory": os.path.isdir(path), "tree": tree}


def _enter_user_namespace_as_one() -> None:
    uid, gid = os.geteuid(), os.getegid()
    _check(_libc.unshare(_NEW_USER), "unshare a user namespace")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{BOX_UID} {uid} 1\n")
    _write("/proc/self/gid_map", f"{BOX_UID} {gid} 1\n")


def _enter_user_namespace_as_root(first: int, count: int) -> None:
    """Enter a user namespace with `count` ids, as its root.

    Only a process outside the namespace may map ids that are not its own. So a child stays outside and does that.
    """
    unshared, tell = os.pipe()
    keeper = os.getpid()
    mapper = os.fork()
    if mapper == 0:
        os.close(tell)
        _map_ids(keeper, unshared, f"0 {first} {count}\n")
    os.close(unshared)
    _check(_libc.unshare(_NEW_USER), "unshare a user namespace")
    os.write(tell, b"1")
    os.close(tell)
    if os.waitpid(mapper, 0)[1] != 0:
        raise OSError("the user ids could not be mapped")
    _become_root_of_box()


def _become_root_of_box() -> None:
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def _map_ids(keeper: int, unshared: int, mapping: str) -> NoReturn:
    try:
        if os.read(unshared, 1):
            _write(f"/proc/{keeper}/uid_map", mapping)
            _write(f"/proc/{keeper}/gid_map", mapping)
    except OSError as error:
        os.write(2, f"{error}\n".encode())
        os._exit(1)
    os._exit(0)


def _run_keeper(plan: Plan, control: int, events: int | None, sources: list[Source]) -> NoReturn:
    signals = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    if not plan["namespaces"]:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    first = os.fork()
    if first == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        _become_first_process(plan, control, events, sources)
    os.closerange(3, 1024)
    while True:
        if signal.sigwait(signals) == signal.SIGTERM:
            os.kill(first, signal.SIGKILL)
        status = _reap(first)
        if status is not None:
            if not plan["namespaces"]:
                _kill_adopted()
            if plan["root"] is not None:
                _libc.umount2(
                    plan["root"].encode(), _MNT_DETACH
                )  # with everything below it; the service checks the result
            os._exit(status)


def _reap(pid_awaited: int) -> int | None:
    """Reap children that have ended. Returns the exit code of the wanted one, or 128 plus the signal that killed it."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            if ended[0] == pid_awaited:
                code = os.waitstatus_to_exitcode(ended[1])
                return code if code >= 0 else 128 - code
    return None


def _kill_adopted() -> None:
    """Kill children until there are none. The children of a killed process are adopted and killed next."""
    while True:
        for child in _children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    me = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == me]


def _parent(process: str) -> int | None:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return None


def _become_first_process(plan: Plan, control: int, events: int | None, sources: list[Source]) -> NoReturn:
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if plan["root"] is not None:
            _build_root_in_gvisor(plan["root"], plan["disk_mb"], sources)
        elif plan["namespaces"]:
            root = plan["mount_point"] if any(source["tree"] is None for source in sources) else _COVERED
            _build_root(root, plan["disk_mb"], sources, visible_to_gid=0 if plan["uids"] else BOX_UID)
        capabilities = _RUNNER_CAPABILITIES if plan["uids"] else frozenset()
        _make(_privilege_calls(capabilities, capabilities & _capabilities()))
        _keep_only(control, events)
        os.execve(plan["command"][0], plan["command"], plan["environment"])  # noqa: S606
    except OSError as error:
        os.write(2, f"no box: {error}\n".encode())
    os._exit(EXIT_NOT_BUILT)


def _keep_only(control: int, events: int | None) -> None:
    """Close all descriptors but the standard ones and these two, which get their numbers."""
    os.dup2(control, CONTROL)
    os.closerange(CONTROL + 1, MEMORY_EVENTS + 1)
    if events is not None:
        os.dup2(events, MEMORY_EVENTS)
    os.closerange(MEMORY_EVENTS + 1, 1024)


def _build_root(root: str, disk_mb: int, sources: list[Source], visible_to_gid: int) -> None:
    """Build the box's root in its own mount namespace, and enter it.

    Args:
        root: The directory that it covers until then.
        disk_mb: Size of the file systems in memory.
        sources: What it shows.
        visible_to_gid: The group that sees all processes in /proc.
    """
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    _name_host()
    _mount_common(root, sources)
    _mount_own(root, disk_mb, visible_to_gid)
    _make_root(root)


def _prepare_root(mount_point: str, sources: list[Source]) -> None:
    """Move this process into a mount namespace with nothing in it but `_TREE`, and /proc: without seeing one, the kernel
    lets no box mount its own. Its root has links into that tree.
    """
    _check(_libc.unshare(_NEW_MOUNT | _NEW_UTS), "unshare")
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    _name_host()
    _mount("tmpfs", mount_point, "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=755,nr_inodes=2k")
    for name in ("/proc", _TREE, _OWN_ROOT):
        os.mkdir(f"{mount_point}{name}")
    _mount("/proc", f"{mount_point}/proc", None, _MS_BIND | _MS_REC)
    _mount_common(f"{mount_point}{_TREE}", sources)
    for name in set(os.listdir(f"{mount_point}{_TREE}")) - {"proc"}:
        os.symlink(f"{_TREE}/{name}", f"{mount_point}/{name}")
    _make_root(mount_point)


def _build_prepared(mounts: "Sequence[_Call]", limits: Sequence[str], later_calls: "Sequence[_Call]") -> None:
    """Build a box from a copy of `_TREE`, in a copy of the mount namespace that `_prepare_root` has made."""
    _make(mounts)
    _forbid_more_namespaces(limits)
    _make(later_calls)


def _build_all(mount_point: str, disk_mb: int, sources: list[Source], give_up: "Sequence[_Call]") -> None:
    _build_root(mount_point, disk_mb, sources, visible_to_gid=0)
    _make(give_up)


def _mount_common(root: str, sources: list[Source]) -> None:
    """Mount what all boxes have in common, with empty directories for the rest."""
    _mount("tmpfs", root, "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=755,nr_inodes=2k")
    _fill_etc(f"{root}/etc")
    os.mkdir(f"{root}/proc")
    _mount_dev(root)
    for path, *_ in _SCRATCH:
        os.mkdir(root + path)
    for source in sources:
        _mount_source(source, root + source["target"])
    _link_system_folders(root)
    _link_dev(f"{root}/dev")
    for path, flags in ((f"{root}/dev", _MS_NOEXEC), (root, 0)):
        _mount(None, path, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV | flags)


def _mount_own(root: str, disk_mb: int, visible_to_gid: int) -> None:
    """Mount what each box has for itself."""
    _make([*_scratch_calls(root, disk_mb), _proc_call(root, visible_to_gid)])
    proc = f"{root}/proc"
    _forbid_more_namespaces(_limits_of_namespaces(proc))
    _make(_calls_over_proc(root, proc))


def _make_root(directory: str) -> None:
    _make(_root_calls(directory))


def _root_calls(directory: str) -> "Sequence[_Call]":
    """Make a mount this process's root, and unmount the root that it has had."""
    pivot = (ctypes.c_long(_SYS_PIVOT_ROOT[os.uname().machine]), b".", b".")
    return (
        (f"chdir {directory}", _libc.chdir, (directory.encode(),)),
        ("pivot_root", _libc.syscall, pivot),
        ("umount the old root", _libc.umount2, (b".", _MNT_DETACH)),
        ("chdir /", _libc.chdir, (b"/",)),
    )


def _name_host() -> None:
    _check(_libc.sethostname(b"box", 3), "sethostname")


def _build_root_in_gvisor(root: str, disk_mb: int, sources: list[Source]) -> None:
    """Like `_build_root`, with the calls that gVisor has.

    gVisor accepts the flag for read-only, but ignores it: so everything shown must be read-only already.
    """
    with suppress(OSError):  # works on releases with mount namespaces
        _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    _name_host()
    _mount("tmpfs", root, "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=755")
    _fill_etc(f"{root}/etc")
    _mount_dev(root, count_files=False)
    for path, *_ in _SCRATCH:
        os.mkdir(root + path)
    _make(_scratch_calls(root, disk_mb, count_files=False))
    for source in sources:
        target = root + source["target"]
        _make_mount_point(source, target)
        _mount(source["path"], target, None, _MS_BIND | _MS_RDONLY)
        if source["is_directory"]:
            _require_read_only(target)
    _link_system_folders(root)
    _link_dev(f"{root}/dev")
    os.mkdir(f"{root}/proc")
    _mount("proc", f"{root}/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    os.chroot(root)
    os.chdir("/")


def _require_read_only(directory: str) -> None:
    """Check that a directory is read-only: a program could otherwise write there, and others would find it.

    Raises:
        OSError: it can be written to.
    """
    probe = f"{directory}/.{os.urandom(8).hex()}"
    try:
        os.mkdir(probe)
    except OSError as error:
        if error.errno == errno.EROFS:
            return
        raise
    os.rmdir(probe)
    raise OSError(f"{directory} can be written: the root file system of this container must be read-only")


def _fill_etc(directory: str) -> None:
    os.mkdir(directory)
    _write(f"{directory}/passwd", f"root:x:0:0::/:/bin/false\nbox:x:{BOX_UID}:{BOX_UID}::/box:/bin/sh\n")
    _write(f"{directory}/group", f"root:x:0:\nbox:x:{BOX_UID}:\n")
    _write(f"{directory}/hosts", "127.0.0.1 localhost box\n")


def _mount_dev(root: str, *, count_files: bool = True) -> None:
    os.mkdir(f"{root}/dev")
    inode_limit = ",nr_inodes=64" if count_files else ""
    _mount("tmpfs", f"{root}/dev", "tmpfs", _MS_NOSUID | _MS_NODEV, f"size=64k,mode=755{inode_limit}")


_SCRATCH: Final = (
    ("/box", 1, "711", "16k"),
    ("/tmp", 4, "1777", "8k"),  # noqa: S108 - the box's own
    ("/dev/shm", 4, "1777", "4k"),  # noqa: S108 - the box's own
)
"""File systems in memory: the path, the part of the size that it has, its mode, and how many files."""


def _scratch_calls(root: str, disk_mb: int, *, count_files: bool = True) -> "Sequence[_Call]":
    calls = []
    for path, part, mode, files in _SCRATCH:
        inode_limit = f",nr_inodes={files}" if count_files else ""
        options = f"size={max(1, disk_mb // part)}m,mode={mode}{inode_limit}"
        calls.append(_mount_call("tmpfs", root + path, "tmpfs", _MS_NOSUID | _MS_NODEV, options))
    return calls


def _mount_source(source: Source, target: str) -> None:
    """Mount a path in the box, read-only with everything mounted below it."""
    _make_mount_point(source, target)
    if source["tree"] is None:
        _mount(source["path"], target, None, _MS_BIND | _MS_REC)
    else:
        moved = _libc.syscall(
            _SYS_MOVE_MOUNT, source["tree"], b"", _AT_FDCWD, target.encode(), _MOVE_MOUNT_F_EMPTY_PATH
        )
        _check(moved, f"move_mount {target}")
    is_device = source["path"].startswith("/dev/")
    _make_read_only(target, _MOUNT_ATTR_NOSUID | (0 if is_device else _MOUNT_ATTR_NODEV))


def _make_mount_point(source: Source, target: str) -> None:
    if source["is_directory"]:
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _write(target, "")


def _link_system_folders(root: str) -> None:
    """Make /bin and the like, on systems where they are links into /usr."""
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{root}/{name}")


def _link_dev(directory: str) -> None:
    for name, target in _DEVICE_LINKS.items():
        os.symlink(f"/proc/self/fd{target}", f"{directory}/{name}")


def _proc_call(root: str, visible_to_gid: int) -> "_Call":
    """Mount /proc with the box's own processes. Only the runner's group sees those of other users."""
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    return _mount_call("proc", f"{root}/proc", "proc", flags, f"hidepid=2,gid={visible_to_gid}")


def _calls_over_proc(root: str, like: str) -> "Sequence[_Call]":
    """Mounts over files of the box's /proc.

    Args:
        root: Of the box.
        like: A directory with the same files.
    """
    calls = []
    for name in _PROC_READ_ONLY:
        if os.path.lexists(f"{like}/{name}"):
            path = f"{root}/proc/{name}"
            calls.append(_mount_call(path, path, None, _MS_BIND | _MS_REC))
            calls.append(_read_only_call(path, _MOUNT_ATTR_NOSUID | _MOUNT_ATTR_NODEV))
    for name in _PROC_HIDDEN:
        if os.path.lexists(f"{like}/{name}"):
            calls.append(_mount_call(f"{root}/dev/null", f"{root}/proc/{name}", None, _MS_BIND))
    return calls


def _limits_of_namespaces(proc: str) -> Sequence[str]:
    directory = f"{proc}/sys/user"
    return [f"{directory}/{name}" for name in os.listdir(directory) if name.endswith("_namespaces")]


def _forbid_more_namespaces(limits: Sequence[str]) -> None:
    """Set the limits on new namespaces to 0, in this user namespace only. Seccomp denies new namespaces too."""
    for path in limits:
        with suppress(OSError):
            _write(path, "0")


def _privilege_calls(bounding: frozenset[int], permitted: Collection[int]) -> "Sequence[_Call]":
    """Give up all capabilities but some, for good, and any new privileges.

    Args:
        bounding: May be held by this process and those it starts.
        permitted: Those of them that this process holds.
    """
    drops: list[_Call] = [
        ("", _libc.prctl, (_PR_CAPBSET_DROP, capability, 0, 0, 0))
        for capability in range(_LAST_CAPABILITY + 1)
        if capability not in bounding and _libc.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) >= 0
    ]
    mask = sum(1 << capability for capability in permitted)
    header = struct.pack("Ii", _CAPABILITIES_VERSION, 0)
    sets = struct.pack("6I", mask, mask, 0, 0, 0, 0)  # effective, permitted, inheritable; then their upper halves
    keyring = (ctypes.c_long(_SYS_KEYCTL[os.uname().machine]), _KEYCTL_JOIN_SESSION_KEYRING, None)
    return (
        *drops,
        ("", _libc.prctl, (_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)),
        ("capset", _libc.capset, (header, sets)),
        ("prctl no new privileges", _libc.prctl, (_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0)),
        ("", _libc.syscall, keyring),
    )


def _has_capability(capability: int) -> bool:
    return capability in _capabilities()


def _capabilities() -> frozenset[int]:
    header = struct.pack("Ii", _CAPABILITIES_VERSION, 0)
    sets = ctypes.create_string_buffer(struct.calcsize("6I"))
    _check(_libc.capget(header, sets), "capget")
    effective, _, _, upper, _, _ = struct.unpack("6I", sets.raw)
    return frozenset(n for n in range(_LAST_CAPABILITY + 1) if (effective | upper << 32) >> n & 1)


def _make_read_only(path: str, attributes: int) -> None:
    _make([_read_only_call(path, attributes)])


def _read_only_call(path: str, attributes: int) -> "_Call":
    attribute = struct.pack("QQQQ", _MOUNT_ATTR_RDONLY | attributes, 0, 0, 0)
    size = ctypes.c_size_t(len(attribute))
    arguments = (ctypes.c_long(_SYS_MOUNT_SETATTR), _AT_FDCWD, path.encode(), _AT_RECURSIVE, attribute, size)
    return f"mount_setattr {path}", _libc.syscall, arguments


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    _make([_mount_call(source, target, kind, flags, options)])


def _mount_call(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> "_Call":
    texts = [text if text is None else text.encode() for text in (source, target, kind)]
    data = options if options is None else options.encode()
    return f"mount {kind or source or ''} on {target}", _libc.mount, (*texts, ctypes.c_ulong(flags), data)


_Call = tuple[str, Callable[..., int], Sequence[Any]]
"""A call of the C library that returns less than 0 if it fails: its name, the function, its arguments. Without a name, it
may fail.
"""


def _make(calls: Sequence[_Call]) -> None:
    for action, function, arguments in calls:
        if function(*arguments) < 0 and action:
            _check(-1, action)


def _prctl(option: int, value: int) -> None:
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def _check(result: int, action: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{action}: {os.strerror(number)}")
    return result


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
