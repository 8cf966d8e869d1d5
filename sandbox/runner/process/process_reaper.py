"""Finds, kills and reaps the processes of the box, except the runner's own.

The runner is process 1 of a PID namespace, or the subreaper of its descendants. So it becomes the parent of every
orphan, and the box is empty exactly when the runner has no children left except its own helpers. Under gVisor only
process 1 can adopt orphans; a fork of it finds the remaining processes in /proc.
"""

import os
import resource
import signal
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from sandbox.runner.errors import BoxUnusable
from sandbox.runner.isolation import kernel
from sandbox.runner.process.file_descriptors import move_high

_PATIENCE_S: Final = 10.0
_RETRY_S: Final = 0.0005
_SOON_S: Final = 0.0001
"""How long a killed process takes to end if it only waits."""
_INIT_PID: Final = 1
_MOST_CHILDREN_BYTES: Final = 1 << 15
"""Of the list of children. If there are more, the rest of the list follows when the first ones are reaped."""


@dataclass(slots=True, eq=False, repr=False)
class ResourceUsage:
    """Sum of the resources used by processes that have ended and been reaped."""

    count: int = 0
    cpu_s: float = 0.0
    peak_kb: int = 0

    def add(self, usage: resource.struct_rusage) -> None:
        self.count += 1
        self.cpu_s += usage.ru_utime + usage.ru_stime
        self.peak_kb = max(self.peak_kb, usage.ru_maxrss)


class ProtectedProcesses(Protocol):
    """The runner's own helper processes in the box. They are never found, killed or reaped with the others."""

    @property
    def pids(self) -> Collection[int]: ...

    @property
    def may_be_killed(self) -> bool:
        """Whether they may be killed with all others. If not, they are children of the runner."""

    def mark_killed(self) -> None:
        """Note that they are about to be killed."""


class Children:
    """Children of the calling thread, in the order in which they became its children.

    Ended ones stay until they are reaped.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def of_this_process(cls) -> "Children":
        """Open the kernel's list of this thread's children.

        Raises:
            OSError: the kernel has no such list.
        """
        return cls(move_high(os.open("/proc/thread-self/children", os.O_RDONLY | os.O_CLOEXEC)))

    def pids(self) -> list[int]:
        """Pids of all children. None can leave meanwhile without being reaped, and new ones are added at the end.

        If there are very many, only the first ones.
        """
        listed = os.pread(self._descriptor, _MOST_CHILDREN_BYTES, 0)
        if len(listed) == _MOST_CHILDREN_BYTES:
            listed = listed[: listed.rfind(b" ")]
        return list(map(int, listed.split()))

    def close(self) -> None:
        os.close(self._descriptor)


class ProcessReaper:
    """Used by one thread, between and during runs."""

    def __init__(self, protected: ProtectedProcesses, *, is_init: bool, single_uid: bool) -> None:
        """Check that killing "all" processes cannot reach beyond the box.

        Args:
            protected: Processes to spare.
            is_init: The runner is process 1 of a PID namespace.
            single_uid: The runner has the same user as its runs.

        Raises:
            BoxUnusable: this process is not what the arguments say; to kill "all" would reach beyond the box.
        """
        if is_init and os.getpid() != _INIT_PID:
            raise BoxUnusable(f"the runner is process {os.getpid()} of its box, not the first one")
        if not is_init and not single_uid and os.getuid() != 0:
            raise BoxUnusable("the runner is not root, and cannot become the users of its runs")
        self._protected = protected
        self._children = None if protected.may_be_killed else Children.of_this_process()
        self._is_init = is_init
        self._single_uid = single_uid
        self._adopts = True

    def adopt(self) -> None:
        """Make this process the parent of the box's orphans. If it cannot be, process 1 reaps them."""
        try:
            kernel.adopt_orphans()
        except OSError:
            if not self._is_init:
                raise
            self._adopts = False

    def living_pids(self) -> list[int]:
        """Pids of all processes of the box that are not protected, zombies included."""
        if self._is_init:
            spared = {"1", str(os.getpid()), *map(str, self._protected.pids)}
            return [int(name) for name in os.listdir("/proc") if name.isdigit() and name not in spared]
        protected = self._protected.pids
        return [pid for pid in _descendants(os.getpid()) if pid not in protected]

    def kill_all(self, uids: Iterable[int]) -> None:
        """Kill all processes of the box. New ones may appear meanwhile."""
        if self._is_init and self._protected.may_be_killed:
            # Outside a PID namespace this would kill all processes of the machine, except the caller and process 1.
            assert _INIT_PID in (os.getpid(), os.getppid())
            self._protected.mark_killed()
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        elif self._single_uid:
            _kill(self.living_pids())
        else:
            for uid in uids:
                _kill_user(uid)

    def kill_all_but(self, spared: int, uid: int) -> None:
        """Kill the processes of a run, but not the one process that does not belong to it."""
        if self._single_uid:
            _kill(pid for pid in self.living_pids() if pid != spared)
        else:
            _kill_user(uid)

    def reap_orphans(self, usage: ResourceUsage, awaited: Iterable[int]) -> None:
        """Reap orphans that have ended, until none is left or an awaited process is the next one to be reaped.

        Raises:
            BoxUnusable: a protected process has ended.
        """
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None or ended.si_pid in awaited:
                return
            if ended.si_pid in self._protected.pids:
                raise BoxUnusable(f"process {ended.si_pid}, which programs are forked from, has ended")
            usage.add(os.wait4(ended.si_pid, 0)[2])

    def kill_and_reap(self, pid: int, usage: ResourceUsage) -> None:
        """Kill and reap one child and no other process: so the standby is not lost by it.

        Raises:
            BoxUnusable: it does not end.
        """
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            ended, _, rusage = os.wait4(pid, os.WNOHANG)
            if ended:
                usage.add(rusage)
                return
            if time.monotonic() > deadline:
                raise BoxUnusable("the program under test cannot be ended")
            time.sleep(_SOON_S)

    def kill_and_reap_all(self, usage: ResourceUsage, uids: Iterable[int]) -> None:
        """Kill and reap everything that is not protected.

        Raises:
            BoxUnusable: something does not end.
        """
        deadline = time.monotonic() + _PATIENCE_S
        is_empty = self._has_no_child if self._children is None else self._has_no_child_but_protected
        while not is_empty(usage):
            if time.monotonic() > deadline:
                raise BoxUnusable("the box cannot be emptied of processes")
            self.kill_all(uids)
            time.sleep(_RETRY_S)

    def _has_no_child(self, usage: ResourceUsage) -> bool:
        """Reap children that have ended; whether none is left."""
        try:
            while True:
                pid, _, rusage = os.wait4(-1, os.WNOHANG)
                if not pid:
                    return False
                usage.add(rusage)
        except ChildProcessError:
            return self._adopts or not any(map(_is_running, self.living_pids()))

    def _has_no_child_but_protected(self, usage: ResourceUsage) -> bool:
        """Reap children that have ended; whether there were none.

        The children they leave behind are found at the next call.
        """
        assert self._children is not None
        protected = self._protected.pids
        unprotected = [pid for pid in self._children.pids() if pid not in protected]
        for pid in unprotected:
            ended, _, rusage = os.wait4(pid, os.WNOHANG)
            if ended:
                usage.add(rusage)
        return not unprotected


def has_ended(pid: int) -> bool:
    """Whether a child has ended and waits to be reaped. One that is still to be forked (pid 0) has not ended."""
    return pid > 0 and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return False


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _kill_user(uid: int) -> None:
    """Kill all processes of a user, from a process that becomes exactly that user and so can signal no other."""
    pid = kernel.fork()
    if pid == 0:
        try:
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            if os.getresuid() == (uid, uid, uid) and uid != 0:
                os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def _descendants(of: int) -> list[int]:
    pids: list[int] = []
    waiting = [of]
    while waiting:
        children = _children(waiting.pop())
        pids += children
        waiting += children
    return pids


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    return children
