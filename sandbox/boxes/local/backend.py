"""Boxes on this machine without a daemon: with the kernel's namespaces, with those of gVisor's kernel, or with less.

    LocalBackend.open ──► tries each way with a throw-away box, the strongest first; the first that works is used
    LocalBackend.make ──► keeper (sandbox.boxes.local.enter) ──► interpreter with the bootstrap ◄──socket──► caller
                          where that is safe, boxes for one program are forked from an interpreter that has loaded the
                          runner already, without a keeper (sandbox.boxes.local.forkserver)

Landlock is the weakest way. If even that is missing, nothing is run at all.
"""

import asyncio
import ctypes
import itertools
import logging
import os
import platform
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from sandbox.base import Isolation, SandboxUnavailable
from sandbox.boxes import bootstrap
from sandbox.boxes.backend import GVISOR_COUNTS_WAITING, Backend, Box, BoxSize, Profile
from sandbox.boxes.local import cgroups, enter, gvisor, interpreter, state_directory, user_ids
from sandbox.boxes.local.forkserver_client import ForkserverClient
from sandbox.boxes.local.keeper import END_PATIENCE_S, Keeper, spawn
from sandbox.boxes.local.removal import remove_tree
from sandbox.boxes.user_ids import FIRST_RUN, Range, Ranges
from sandbox.languages import all_languages
from sandbox.runner.configuration import Configuration

log = logging.getLogger("rewardline.boxes")

Tier = Literal["auto", "namespaces", "landlock"]

_ENVIRONMENT: Final[Mapping[str, str]] = {
    **bootstrap.ENVIRONMENT,
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
_RUNNER_MEMORY_MB: Final[Mapping[Profile, int]] = {Profile.PLAIN: 64, Profile.TESTS: 96, Profile.SCIENCE: 256}
"""What keeper and runner use before any program runs, with a margin."""
_RUNNER_PROCESSES: Final = 7
"""The keeper, the runner, the original, two templates, a tester, and a process that kills a user's processes."""
_DEVICES: Final = ("/dev/urandom", "/dev/random", "/dev/zero", "/dev/full", "/dev/null")
_PROGRAMS: Final = tuple(sorted({need for language in all_languages().values() for need in language.needs}))
_MACHINES: Final = ("x86_64", "aarch64")
_TRIAL_PATIENCE_S: Final = 20.0
_RETRY_S: Final = 0.01

_SYS_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_CREATE_RULESET_VERSION: Final = 1
_RIGHTS_OVER_USERS: Final = ("KILL", "DAC_OVERRIDE")
"""The capabilities of root with which it ends processes of other users, and removes their files."""
_LANDLOCK_WITH_SCOPES: Final = 6
"""From this version on, Landlock prevents programs from signalling other processes of the same user."""

_CAVEATS: Final[Mapping[Isolation, Sequence[str]]] = {
    Isolation.IN_GVISOR: (
        "Boxes share one gVisor kernel: a vulnerability in it is a way to other boxes and to this service, not to the machine.",
        "Programs can see the memory layout, the environment and the open files' names of the runner in their box, which"
        " hold nothing of the service, and the list of all sockets of the container; they can make and open devices that"
        " gVisor itself emulates, and get an answer of gVisor's own to some calls that other boxes refuse, such as those"
        " about priorities.",
        "All boxes share the container's memory: a program that uses up the rest before it is noticed ends every box.",
        "The number of files has no limit, only their size.",
        GVISOR_COUNTS_WAITING,
    ),
    Isolation.NAMESPACES: ("Boxes share the kernel of this machine: a vulnerability in it is a way out.",),
    Isolation.LANDLOCK: (
        "Boxes share the kernel of this machine: a vulnerability in it is a way out.",
        "No process, network or mount namespace: programs can see other files and processes, but may not touch them.",
        "The number and the size of all files together are not limited, only the size of each.",
    ),
}
_WITHOUT_CGROUPS: Final = "No control groups can be made here: memory is checked every 20 ms, and a program can exceed its limit for that long."
_LANDLOCK_WITH_ONE_ID: Final = (
    "Programs can change the mode and times of files, and the priority of processes, that belong to this service's user,"
    " and use up each other's processes: the kernel counts those of all boxes together, and a program gets its own number"
    " on top of those that exist when it is loaded."
)
_WITH_ONE_ID: Final = "Programs have the same user id as the runner of their box, because this service is not root."

_TRIAL: Final = """\
import json, os, socket, sys
control = socket.socket(fileno=int(sys.argv[1]))
with open(sys.argv[2] + "/written", "w") as file:
    file.write("x")
os.unlink(sys.argv[2] + "/written")
if sys.argv[4] == "closed":
    if os.getpid() != 1 or any(name != "lo" for _, name in socket.if_nameindex()):
        sys.exit("the box has no process and network namespaces of its own")
if sys.argv[3] != "None":
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(*[int(sys.argv[3])] * 3)
            os.setresuid(*[int(sys.argv[3])] * 3)
            os.chdir(sys.argv[2])
            os.execv(sys.executable, [sys.executable, "-S", "-c", ""])
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        sys.exit("another user cannot run the interpreter, or cannot reach " + sys.argv[2])
control.sendall(json.dumps({"pid": os.getpid()}).encode())
"""
"""The first command of a trial box. It checks that the interpreter runs, also for the programs' users, and that its
directory can be written to.
"""


@dataclass(frozen=True, slots=True)
class _BoxKind:
    """One way to make boxes."""

    isolation: Isolation
    many_ids: bool

    @property
    def has_namespaces(self) -> bool:
        return self.isolation is not Isolation.LANDLOCK

    @property
    def has_mounts(self) -> bool:
        """Whether a box has its own mounts, which are invisible outside."""
        return self.isolation is Isolation.NAMESPACES


class LocalBackend(Backend):
    """Boxes of the strongest kind that this machine, and the service's privileges on it, allow."""

    def __init__(
        self,
        size: BoxSize = BoxSize(),  # noqa: B008 - frozen
        python: str | None = None,
        tier: Tier = "auto",
        state_dir: Path | None = None,
    ) -> None:
        """Store the settings. Nothing happens before `open`.

        Args:
            size: Of each box.
            python: The interpreter that runs judged programs; its installed packages are available to them.
            tier: "auto" takes the strongest that works.
            state_dir: The service's own directory for the files that boxes need on the machine.
        """
        self.isolation = Isolation.LANDLOCK if tier == "landlock" else Isolation.NAMESPACES
        self.caveats: Sequence[str] = ()
        self._size = size
        self._python = python or sys.executable
        self._tier = tier
        self._state_dir = state_dir or Path(tempfile.gettempdir()) / f"rewardline-{os.geteuid()}"
        self._numbers = itertools.count(1)
        self._setup: _Setup | None = None
        self._boxes: set[LocalBox] = set()

    async def open(self) -> None:
        if self._setup is not None:
            return
        parents = await asyncio.to_thread(cgroups.find_parents)
        python = await asyncio.to_thread(interpreter.inspect, self._python)
        state = await asyncio.to_thread(state_directory.acquire, self._state_dir, parents)
        try:
            setup = await self._first_that_works(state, parents, python)
        except BaseException:
            state.release()
            raise
        self._setup = setup
        self.isolation = self._setup.kind.isolation
        self.caveats = _caveats(self._setup)

    async def close(self) -> None:
        """End what was opened, and all boxes: also those whose owners were cancelled while they ended them."""
        setup, self._setup = self._setup, None
        try:
            await asyncio.gather(*(box.destroy() for box in self._boxes))
        finally:
            if setup is not None:
                setup.close()

    async def make(self, profile: Profile, *, once: bool = False) -> Box:
        if self._setup is None:
            raise SandboxUnavailable("the backend is not open; call `open` first")
        forkserver = await self._setup.forkserver(profile, self._size) if once else None
        return self._make(self._setup, profile, None, forkserver)

    async def _first_that_works(
        self, state: state_directory.StateDirectory, parents: cgroups.Parents | None, python: interpreter.Interpreter
    ) -> "_Setup":
        refusals = []
        for kind in _kinds_to_try(self._tier):
            for groups in [parents, None] if parents else [None]:
                ids = user_ids.ranges(may_share=kind.has_namespaces) if kind.many_ids else None
                lent = None if groups is None else cgroups.Groups(groups, state.name)
                setup = _Setup(kind, state, groups, python, ids, lent)
                try:
                    await self._try(setup)
                except SandboxUnavailable as error:
                    refusals.append(f"{kind.isolation}: {error}")
                    if lent is not None:
                        lent.close()
                else:
                    return setup
        raise SandboxUnavailable("no box can be made here; " + "; ".join(dict.fromkeys(refusals)))

    async def _try(self, setup: "_Setup") -> None:
        if user_ids.is_machine_root() and not setup.kind.many_ids and setup.parents is None:
            raise SandboxUnavailable(
                "the kernel does not limit root's processes, and this service is root without the right to change"
                " user ids; run it as an ordinary user"
            )
        if setup.kind.isolation is Isolation.LANDLOCK:
            _require_landlock(setup.kind)
        if setup.kind.isolation is Isolation.IN_GVISOR:
            _require_rights(setup.kind)
        box = self._make(setup, Profile.PLAIN, _TRIAL, None)
        try:
            async with asyncio.timeout(_TRIAL_PATIENCE_S):
                answer = await asyncio.get_running_loop().sock_recv(box.connection, 1024)
        except (OSError, TimeoutError) as error:
            raise SandboxUnavailable(f"a trial box did not answer: {error}") from error
        finally:
            await box.destroy()
        if not answer:
            raise SandboxUnavailable(await box.stderr_text() or "a trial box ended without an error message")

    def _make(
        self, setup: "_Setup", profile: Profile, trial: str | None, forkserver: ForkserverClient | None
    ) -> "LocalBox":
        number = next(self._numbers)
        try:
            try:
                box = _start(setup, self._size, profile, number, trial, forkserver)
            except FileNotFoundError:  # another service has removed the group that it was to have
                box = _start(setup, self._size, profile, number, trial, forkserver)
        except OSError as error:
            raise SandboxUnavailable(f"a box could not be started: {error}") from error
        self._boxes.add(box)
        box.when_ended(partial(self._boxes.discard, box))
        return box


class LocalBox(Box):
    """A keeper process and all processes below it."""

    def __init__(
        self,
        name: str,
        profile: Profile,
        connection: socket.socket,
        configuration: Configuration,
        keeper: "Keeper",
        cgroup: cgroups.Cgroup | None,
        groups: cgroups.Groups | None,
        scratch: Path | None,
        give_back_ids: Callable[[], None] | None,
        *,
        has_runner: bool,
    ) -> None:
        self.name = name
        self.has_runner = has_runner
        self.profile = profile
        self.connection = connection
        self.configuration = configuration
        self._keeper = keeper
        self._cgroup = cgroup
        self._groups = groups
        self._scratch = scratch
        self._give_back_ids = give_back_ids
        self._oom_kills = 0
        self._ending: asyncio.Task[None] | None = None
        self._when_ended: Callable[[], None] | None = None

    def when_ended(self, call: Callable[[], None]) -> None:
        self._when_ended = call

    async def destroy(self) -> None:
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def died_of_memory(self) -> bool:
        if self._ending is None:
            await self._keeper.wait(END_PATIENCE_S)
            self._count_oom_kills()
        return self._oom_kills > 0 and self._keeper.process.returncode == 128 + signal.SIGKILL

    async def stderr_text(self) -> str:
        return self._keeper.stderr_text()

    async def _end(self) -> None:
        self.connection.close()
        await self._keeper.end()
        if self._give_back_ids is not None:  # even if their files cannot be removed: no other box can reach those
            self._give_back_ids()
        self._count_oom_kills()
        if self._cgroup is not None and not (self._groups is not None and self._groups.take_back(self._cgroup)):
            await _remove(self._cgroup)
        if self._scratch is not None:
            await asyncio.to_thread(_remove_scratch, self._scratch)
        if self._when_ended is not None:
            self._when_ended()

    def _count_oom_kills(self) -> None:
        if self._cgroup is not None:
            self._oom_kills = self._cgroup.oom_kills()


async def _remove(cgroup: cgroups.Cgroup) -> None:
    """Remove a control group.

    The kernel needs a moment after the last process; the next service removes what it still refuses.
    """
    for _ in range(round(END_PATIENCE_S / _RETRY_S)):
        if cgroups.remove(cgroup.directories):
            return
        await asyncio.sleep(_RETRY_S)


def _remove_scratch(scratch: Path) -> None:
    """Remove a scratch directory, or say why it stays. Its keeper has unmounted everything below, unless it was killed."""
    try:
        gvisor.unmount_below(scratch)
        remove_tree(scratch)
    except OSError as error:  # no other box can reach it
        log.warning("files of a box could not be removed from %s: %s", scratch, error)


@dataclass(frozen=True, slots=True)
class _Setup:
    """The facts and resources that the backend found when it was started. It makes boxes with them."""

    kind: _BoxKind
    held: state_directory.StateDirectory
    parents: cgroups.Parents | None
    python: interpreter.Interpreter
    ids: Ranges | None
    """None: boxes have the service's own user id only."""
    groups: cgroups.Groups | None
    forkservers: dict[Profile, ForkserverClient] = field(default_factory=dict)

    async def forkserver(self, profile: Profile, size: BoxSize) -> ForkserverClient | None:
        """The forkserver for boxes of a profile that are used once. Other boxes start an interpreter of their own.

        Boxes that are used often do not come from it: a process that was forked through several levels has more to copy
        at each fork, for as long as it lives.

        None: all boxes start an interpreter of their own. That is so when the interpreter has another path in boxes;
        when programs have the runner's user id, because then only an interpreter started in the box is closed to them
        during its whole life; and in gVisor and under Landlock, which are for machines where little else works.
        """
        if not self.kind.has_mounts or not self.kind.many_ids or self.python.python != self.python.python_inside:
            return None
        if profile not in self.forkservers:
            common = Configuration(preload=profile.preload, programs=_PROGRAMS, once=True)
            boxes = {
                "configuration": asdict(common),
                "mount_point": str(self.held.mount_point),
                "visible": list(self.python.visible),
                "disk_mb": size.disk_mb,
            }
            self.forkservers[profile] = ForkserverClient(self.python.python, _ENVIRONMENT, self.held.directory, boxes)
        forkserver = self.forkservers[profile]
        await forkserver.be_ready()
        return forkserver

    def close(self) -> None:
        for forkserver in self.forkservers.values():
            forkserver.end()
        if self.groups is not None:
            self.groups.close()
        self.held.release()


def _kinds_to_try(tier: Tier) -> Sequence[_BoxKind]:
    """The ways to try, the strongest first."""
    if platform.machine() not in _MACHINES:
        raise SandboxUnavailable(
            f"boxes cannot be made on {platform.machine()} machines, only on {', '.join(_MACHINES)}"
        )
    many_ids = user_ids.ranges(may_share=False) is not None
    in_namespaces = [Isolation.NAMESPACES, *([Isolation.IN_GVISOR] if gvisor.is_kernel() else [])]
    kinds = {
        "auto": [*in_namespaces, Isolation.LANDLOCK],
        "namespaces": in_namespaces,
        "landlock": [Isolation.LANDLOCK],
    }
    return [_BoxKind(kind, many_ids) for kind in kinds[tier]]


def _require_rights(kind: _BoxKind) -> None:
    missing = user_ids.missing_capabilities(gvisor.RIGHTS)
    if missing:
        raise SandboxUnavailable(
            f"within gVisor this service must be root, and have the capabilities {', '.join(missing)}"
        )
    if not kind.many_ids:
        raise SandboxUnavailable("within gVisor, boxes need user ids of their own; there are too few here")


def _require_landlock(kind: _BoxKind) -> None:
    version = _landlock_version()
    if version < 1:
        raise SandboxUnavailable(
            "the kernel has no Landlock: it needs Linux 5.13 or later with Landlock enabled (lsm=landlock)"
        )
    if version < _LANDLOCK_WITH_SCOPES and not kind.many_ids:
        raise SandboxUnavailable(
            f"the kernel's Landlock (version {version}) would let programs kill this service, which is not root: run the"
            f" service as root, or on a kernel with Landlock version {_LANDLOCK_WITH_SCOPES} or later"
        )
    missing = user_ids.missing_capabilities(_RIGHTS_OVER_USERS) if kind.many_ids else []
    if missing:
        raise SandboxUnavailable(
            "without namespaces, programs would run as users whom this service can neither end nor clean up after: it is"
            f" root and lacks the capabilities {', '.join(missing)}; add them, or run it as an ordinary user"
        )


def _landlock_version() -> int:
    """The Landlock version of the kernel; less than 1 when it is missing or switched off."""
    call = ctypes.CDLL(None).syscall
    return int(call(_SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_CREATE_RULESET_VERSION))


_SHARED_LOCKS: Final = "Locks on files that boxes share, such as the interpreter, are seen in other boxes and outside."


def _caveats(setup: _Setup) -> Sequence[str]:
    only_forbidden = setup.kind.isolation is Isolation.LANDLOCK and not setup.kind.many_ids
    return (
        *_CAVEATS[setup.kind.isolation],
        _SHARED_LOCKS,
        *((_LANDLOCK_WITH_ONE_ID,) if only_forbidden else ()),
        *(() if setup.parents else (_WITHOUT_CGROUPS,)),
        *(() if setup.kind.many_ids else (_WITH_ONE_ID,)),
    )


def _start(
    setup: _Setup,
    size: BoxSize,
    profile: Profile,
    number: int,
    trial: str | None,
    forkserver: ForkserverClient | None,
) -> LocalBox:
    """Make everything that a box needs, and start its keeper.

    Called in the thread of the event loop: the kernel ends the keeper with the thread that started it.

    Raises:
        OSError: the box cannot be made; nothing is left of it.
        SandboxUnavailable: there are too few user ids for it.
    """
    name = f"{setup.held.name}-{number}"
    with ExitStack() as undo:
        ids = None
        give_back: Callable[[], None] | None = None
        if setup.ids is not None:
            ids = setup.ids.lend()
            give_back = partial(setup.ids.give_back, ids)
            undo.callback(give_back)
        cgroup = None
        if setup.groups is not None:
            bounds = cgroups.Bounds(
                size.memory_mb + _RUNNER_MEMORY_MB[profile], size.processes + _RUNNER_PROCESSES, size.cpus
            )
            cgroup = setup.groups.lend(bounds)
            undo.callback(cgroups.remove, cgroup.directories)
        scratch = None
        if not setup.kind.has_mounts:
            scratch = setup.held.directory / f"box-{number}"
            scratch.mkdir()
            scratch.chmod(0o711)
            undo.callback(scratch.rmdir)
        configuration = _configuration(setup, size, profile, ids, cgroup, scratch)
        plan = _plan(setup, size, configuration, ids, cgroup, scratch, trial)
        ours, theirs = socket.socketpair()
        with theirs:
            undo.callback(ours.close)
            keeper = spawn(plan, theirs, forkserver)
        undo.pop_all()
    ours.setblocking(False)
    return LocalBox(
        name,
        profile,
        ours,
        configuration,
        keeper,
        cgroup,
        None if forkserver is None else setup.groups,
        scratch,
        give_back,
        has_runner=forkserver is not None,
    )


def _configuration(
    setup: _Setup,
    size: BoxSize,
    profile: Profile,
    ids: Range | None,
    cgroup: cgroups.Cgroup | None,
    scratch: Path | None,
) -> Configuration:
    first_uid, uids = (FIRST_RUN, ids.runs) if ids else (0, 1)
    common = Configuration(
        preload=profile.preload,
        programs=_PROGRAMS,
        first_uid=first_uid,
        uids=uids,
        single_uid=ids is None,
        watch_memory=cgroup is None,
        memory_events=None if cgroup is None else enter.MEMORY_EVENTS,
        cpus=size.cpus if cgroup is not None and cgroup.bounds_cpus else len(os.sched_getaffinity(0)),
    )
    if setup.kind.isolation is Isolation.IN_GVISOR:
        return replace(common, memory_ends_box=True, first_uid=ids.first if ids else 0)
    if scratch is None:
        return common
    return replace(
        common,
        directory=str(scratch),
        cleaned=(),
        read_only=(*setup.python.readable, *_DEVICES),
        first_uid=ids.first if ids else 0,
        uids=ids.count // 2 if ids else 1,
        init=False,
        landlock=True,
    )


def _plan(
    setup: _Setup,
    size: BoxSize,
    configuration: Configuration,
    ids: Range | None,
    cgroup: cgroups.Cgroup | None,
    scratch: Path | None,
    trial: str | None,
) -> enter.Plan:
    kind = setup.kind
    python = setup.python.python_inside if kind.has_namespaces else setup.python.python
    command = bootstrap.command(python, f"fd:{enter.CONTROL}", with_site=True)
    if trial is not None:
        other_uid = str(None if ids is None else configuration.first_uid)
        network = "closed" if kind.isolation is Isolation.IN_GVISOR else "-"
        command = [python, "-I", "-S", "-c", trial, str(enter.CONTROL), configuration.directory, other_uid, network]
    return {
        "service": os.getpid(),
        "namespaces": kind.has_namespaces,
        "uids": (ids.first, ids.count) if ids else None,
        "mount_point": str(setup.held.mount_point),
        "root": str(scratch) if kind.has_namespaces and scratch is not None else None,
        "visible": list(setup.python.visible),
        "disk_mb": size.disk_mb,
        "cgroups": [str(directory) for directory in cgroup.directories] if cgroup else [],
        "memory_events": str(cgroup.events) if cgroup else None,
        "command": command,
        "environment": dict(_ENVIRONMENT),
    }
