"""Boxes on this machine with no daemon: the kernel's namespaces, or less where those are not to be had.

    LocalBackend.open ──► tries each way with a throw-away box, the strongest first; the first that works is used
    LocalBackend.make ──► keeper (sandbox.local.enter) ──► interpreter with the bootstrap ◄──socket──► caller

Below Landlock nothing is run at all.
"""

import asyncio
import ctypes
import itertools
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from sandbox import shipment
from sandbox.base import Isolation, SandboxUnavailable
from sandbox.boxes import Backend, Box, BoxSize, Profile
from sandbox.languages import all_languages
from sandbox.local import cgroups, claim, enter, interpreter, user_ids
from sandbox.local.removal import remove_tree
from sandbox.runner.configuration import Configuration

Tier = Literal["auto", "namespaces", "landlock"]

_ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
_RUNNER_MEMORY_MB: Final[Mapping[Profile, int]] = {Profile.PLAIN: 64, Profile.TESTS: 96, Profile.SCIENCE: 256}
"""What keeper and runner take before any program runs, with room."""
_DEVICES: Final = ("/dev/urandom", "/dev/random", "/dev/zero", "/dev/full", "/dev/null")
_MACHINES: Final = ("x86_64", "aarch64")
_WORDS_BYTES: Final = 4096
_END_PATIENCE_S: Final = 5.0
_TRIAL_PATIENCE_S: Final = 20.0
_RETRY_S: Final = 0.01

_SYS_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_CREATE_RULESET_VERSION: Final = 1
_LANDLOCK_WITH_SCOPES: Final = 6
"""From this version on it keeps programs from sending signals to others of the same user."""

_CAVEATS: Final[Mapping[Isolation, Sequence[str]]] = {
    Isolation.NAMESPACES: ("Boxes share the kernel of this machine: a hole in it is a way out.",),
    Isolation.LANDLOCK: (
        "Boxes share the kernel of this machine: a hole in it is a way out.",
        "No process, network or mount namespace: programs are only forbidden to touch what they can see.",
        "The number and the size of all files together are not limited, only the size of each.",
    ),
}
_WITHOUT_CGROUPS: Final = (
    "No control groups can be made here: memory is looked at every 20 ms, and a program can take more for that long."
)
_LANDLOCK_WITH_ONE_ID: Final = "Programs can change the mode and times of files, and the priority of processes, that belong to this service's user."
_WITH_ONE_ID: Final = "Programs have the same user id as the runner of their box, as this service is not root."

_TRIAL: Final = """\
import json, os, socket, sys
control = socket.socket(fileno=int(sys.argv[1]))
with open(sys.argv[2] + "/written", "w") as file:
    file.write("x")
os.unlink(sys.argv[2] + "/written")
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
        sys.exit("another user cannot run the interpreter, or not reach " + sys.argv[2])
control.sendall(json.dumps({"pid": os.getpid()}).encode())
"""
"""A box's first command, to see whether one can be made: the interpreter runs, for the programs' users too, and has a
directory to write to."""


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to make boxes."""

    isolation: Isolation
    many_ids: bool


class LocalBackend(Backend):
    """Boxes of the strongest kind that this machine, and what the service may do on it, allow."""

    def __init__(
        self,
        size: BoxSize = BoxSize(),  # noqa: B008 - frozen
        python: str | None = None,
        tier: Tier = "auto",
        state_dir: Path | None = None,
    ) -> None:
        """Nothing happens before `open`.

        Args:
            size: Of each box.
            python: The interpreter that judged programs are run with, and what is installed for it.
            tier: "auto" takes the strongest that works.
            state_dir: The service's own directory for what boxes need of the machine's file system.
        """
        self.isolation = Isolation.LANDLOCK if tier == "landlock" else Isolation.NAMESPACES
        self.caveats: Sequence[str] = ()
        self._size = size
        self._python = python or sys.executable
        self._tier = tier
        self._state_dir = state_dir or Path(tempfile.gettempdir()) / f"rewardline-{os.geteuid()}"
        self._numbers = itertools.count(1)
        self._opened: _Opened | None = None

    async def open(self) -> None:
        if self._opened is not None:
            return
        parents = await asyncio.to_thread(cgroups.find_parents)
        python = await asyncio.to_thread(interpreter.inspect, self._python)
        held = await asyncio.to_thread(claim.take, self._state_dir, parents)
        try:
            self._opened = await self._first_that_works(held, parents, python)
        except BaseException:
            held.release()
            raise
        self.isolation = self._opened.way.isolation
        self.caveats = _caveats(self._opened)

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.held.release()

    async def make(self, profile: Profile) -> Box:
        if self._opened is None:
            raise SandboxUnavailable("the backend is not open")
        return self._make(self._opened, profile, None)

    async def _first_that_works(
        self, held: claim.Claim, parents: cgroups.Parents | None, python: interpreter.Interpreter
    ) -> "_Opened":
        refusals = []
        for way in _ways(self._tier):
            for groups in [parents, None] if parents else [None]:
                opened = _Opened(way, held, groups, python)
                try:
                    await self._try(opened)
                except SandboxUnavailable as error:
                    refusals.append(f"{way.isolation}: {error}")
                else:
                    return opened
        raise SandboxUnavailable("no box can be made here; " + "; ".join(dict.fromkeys(refusals)))

    async def _try(self, opened: "_Opened") -> None:
        if user_ids.is_machine_root() and not opened.way.many_ids and opened.parents is None:
            raise SandboxUnavailable(
                "the kernel does not limit root's processes, and this service is root without the right to change"
                " user ids; run it as an ordinary user"
            )
        if opened.way.isolation is Isolation.LANDLOCK:
            _require_landlock(opened.way)
        box = self._make(opened, Profile.PLAIN, _TRIAL)
        try:
            async with asyncio.timeout(_TRIAL_PATIENCE_S):
                answer = await asyncio.get_running_loop().sock_recv(box.connection, 1024)
        except (OSError, TimeoutError) as error:
            raise SandboxUnavailable(f"a trial box said nothing: {error}") from error
        finally:
            await box.destroy()
        if not answer:
            raise SandboxUnavailable(await box.words() or "a trial box ended without a word")

    def _make(self, opened: "_Opened", profile: Profile, trial: str | None) -> "LocalBox":
        number = next(self._numbers)
        try:
            return _start(opened, self._size, profile, number, trial)
        except OSError as error:
            raise SandboxUnavailable(f"a box could not be started: {error}") from error


class LocalBox(Box):
    """A keeper process and what is below it."""

    def __init__(
        self,
        name: str,
        profile: Profile,
        connection: socket.socket,
        configuration: Configuration,
        keeper: "_Keeper",
        cgroup: cgroups.Cgroup | None,
        scratch: Path | None,
    ) -> None:
        self.name = name
        self.profile = profile
        self.connection = connection
        self.configuration = configuration
        self._keeper = keeper
        self._cgroup = cgroup
        self._scratch = scratch
        self._oom_kills = 0
        self._words = b""
        self._ending: asyncio.Task[None] | None = None

    async def destroy(self) -> None:
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def died_of_memory(self) -> bool:
        if self._ending is None:
            await self._keeper.wait(_END_PATIENCE_S)
            self._count_oom_kills()
        return self._oom_kills > 0 and self._keeper.process.returncode == 128 + signal.SIGKILL

    async def words(self) -> str:
        return self._keeper.words()

    async def _end(self) -> None:
        self.connection.close()
        await self._keeper.end()
        self._count_oom_kills()
        if self._cgroup is not None:
            await _remove(self._cgroup)
        if self._scratch is not None:
            await asyncio.to_thread(remove_tree, self._scratch)

    def _count_oom_kills(self) -> None:
        if self._cgroup is not None:
            self._oom_kills = self._cgroup.oom_kills()


class _Keeper:
    """The outermost process of a box: it ends after all that is in it."""

    def __init__(self, process: "subprocess.Popen[bytes]", stderr: int) -> None:
        self.process = process
        self._stderr = stderr
        self._pidfd = os.pidfd_open(process.pid)
        self._words = b""

    async def wait(self, patience_s: float | None) -> bool:
        """Whether it has ended by then."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                while self.process.poll() is None:
                    await _readable(self._pidfd)
        return self.process.poll() is not None

    async def end(self) -> None:
        """Have it end the box."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        if not await self.wait(_END_PATIENCE_S):
            self.process.kill()
            await self.wait(None)
        self.words()
        os.close(self._pidfd)
        os.close(self._stderr)

    def words(self) -> str:
        """What the box has written on its standard error, the beginning of it."""
        with suppress(OSError):  # nothing there, or closed after it was read
            self._words = self._words or os.read(self._stderr, _WORDS_BYTES)
        return self._words.decode(errors="replace").strip()


async def _remove(cgroup: cgroups.Cgroup) -> None:
    """The kernel needs a moment after the last process; what it still refuses then is left to the next service."""
    for _ in range(round(_END_PATIENCE_S / _RETRY_S)):
        if cgroups.remove(cgroup.directories):
            return
        await asyncio.sleep(_RETRY_S)


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    happened = loop.create_future()
    loop.add_reader(descriptor, _settle, happened)
    try:
        await happened
    finally:
        loop.remove_reader(descriptor)


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


@dataclass(frozen=True, slots=True)
class _Opened:
    """What boxes are made with, once it is known."""

    way: _Way
    held: claim.Claim
    parents: cgroups.Parents | None
    python: interpreter.Interpreter


def _ways(tier: Tier) -> Sequence[_Way]:
    """Those to try, the strongest first."""
    if platform.machine() not in _MACHINES:
        raise SandboxUnavailable(f"boxes are not made on {platform.machine()} machines")
    many_ids = user_ids.new_range() is not None
    ways = [_Way(Isolation.NAMESPACES, many_ids), _Way(Isolation.LANDLOCK, many_ids)]
    return [way for way in ways if tier in ("auto", way.isolation)]


def _require_landlock(way: _Way) -> None:
    version = _landlock_version()
    if version < 1:
        raise SandboxUnavailable("the kernel has no Landlock")
    if version < _LANDLOCK_WITH_SCOPES and not way.many_ids:
        raise SandboxUnavailable("the kernel's Landlock would let programs kill this service, which is not root")


def _landlock_version() -> int:
    """Less than 1 where there is none, or it is switched off."""
    call = ctypes.CDLL(None).syscall
    return int(call(_SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_CREATE_RULESET_VERSION))


_SHARED_LOCKS: Final = "Locks on files that boxes share, such as the interpreter, are seen in other boxes and outside."


def _caveats(opened: _Opened) -> Sequence[str]:
    only_forbidden = opened.way.isolation is Isolation.LANDLOCK and not opened.way.many_ids
    return (
        *_CAVEATS[opened.way.isolation],
        _SHARED_LOCKS,
        *((_LANDLOCK_WITH_ONE_ID,) if only_forbidden else ()),
        *(() if opened.parents else (_WITHOUT_CGROUPS,)),
        *(() if opened.way.many_ids else (_WITH_ONE_ID,)),
    )


def _start(opened: _Opened, size: BoxSize, profile: Profile, number: int, trial: str | None) -> LocalBox:
    """Make what a box needs, and start its keeper.

    Called in the thread of the event loop: the kernel ends the keeper with the thread that started it.

    Raises:
        OSError: it cannot be; nothing is left of it.
    """
    name = f"{opened.held.name}-{number}"
    ids = user_ids.new_range() if opened.way.many_ids else None
    with ExitStack() as undo:
        cgroup = None
        if opened.parents is not None:
            bounds = cgroups.Bounds(size.memory_mb + _RUNNER_MEMORY_MB[profile], size.processes, size.cpus)
            cgroup = cgroups.create(opened.parents, name, bounds)
            undo.callback(cgroups.remove, cgroup.directories)
        scratch = None
        if opened.way.isolation is Isolation.LANDLOCK:
            scratch = opened.held.directory / f"box-{number}"
            scratch.mkdir()
            scratch.chmod(0o711)
            undo.callback(scratch.rmdir)
        configuration = _configuration(opened, size, profile, ids, cgroup, scratch)
        plan = _plan(opened, size, configuration, ids, cgroup, trial)
        ours, theirs = socket.socketpair()
        with theirs:
            undo.callback(ours.close)
            keeper = _spawn(plan, theirs)
        undo.pop_all()
    ours.setblocking(False)
    return LocalBox(name, profile, ours, configuration, keeper, cgroup, scratch)


def _configuration(
    opened: _Opened,
    size: BoxSize,
    profile: Profile,
    ids: user_ids.Range | None,
    cgroup: cgroups.Cgroup | None,
    scratch: Path | None,
) -> Configuration:
    first_uid, uids = (user_ids.FIRST_RUN, ids.runs) if ids else (0, 1)
    common = Configuration(
        preload=profile.preload,
        programs=tuple(sorted({need for language in all_languages().values() for need in language.needs})),
        first_uid=first_uid,
        uids=uids,
        single_uid=ids is None,
        watch_memory=cgroup is None,
        memory_events=None if cgroup is None else enter.MEMORY_EVENTS,
        cpus=size.cpus if cgroup is not None and cgroup.bounds_cpus else len(os.sched_getaffinity(0)),
    )
    if scratch is None:
        return common
    return replace(
        common,
        directory=str(scratch),
        cleaned=(),
        read_only=(*opened.python.readable, *_DEVICES),
        first_uid=ids.first if ids else 0,
        init=False,
        landlock=True,
    )


def _plan(
    opened: _Opened,
    size: BoxSize,
    configuration: Configuration,
    ids: user_ids.Range | None,
    cgroup: cgroups.Cgroup | None,
    trial: str | None,
) -> enter.Plan:
    in_namespaces = opened.way.isolation is Isolation.NAMESPACES
    python = opened.python.python_inside if in_namespaces else opened.python.python
    command = shipment.command(python, f"fd:{enter.CONTROL}", with_site=True)
    if trial is not None:
        other_uid = str(None if ids is None else configuration.first_uid)
        command = [python, "-I", "-S", "-c", trial, str(enter.CONTROL), configuration.directory, other_uid]
    return {
        "service": os.getpid(),
        "namespaces": in_namespaces,
        "uids": (ids.first, ids.count) if ids else None,
        "mount_point": str(opened.held.mount_point),
        "visible": list(opened.python.visible),
        "disk_mb": size.disk_mb,
        "cgroups": [str(directory) for directory in cgroup.directories] if cgroup else [],
        "memory_events": str(cgroup.events) if cgroup else None,
        "command": command,
        "environment": dict(_ENVIRONMENT),
    }


def _spawn(plan: enter.Plan, control: socket.socket) -> _Keeper:
    stderr, their_stderr = os.pipe()
    try:
        os.set_blocking(stderr, False)
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", enter.__file__, str(control.fileno()), json.dumps(plan)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=their_stderr,
            pass_fds=[control.fileno()],
            env={},
            cwd="/",
            start_new_session=True,
        )
        return _watched(process, stderr)
    except OSError:
        os.close(stderr)
        raise
    finally:
        os.close(their_stderr)


def _watched(process: "subprocess.Popen[bytes]", stderr: int) -> _Keeper:
    try:
        return _Keeper(process, stderr)
    except OSError:  # no descriptor was left to watch it with
        process.kill()
        process.wait()
        raise
