"""The processes of the box other than the runner: finding, ending and burying them.

As process 1 of a PID namespace, or as the subreaper of its descendants, the runner becomes the parent of whatever is
orphaned. So the box is empty exactly when the kernel says that there is no child left to wait for. Under gVisor process 1
alone can adopt; a fork of it asks /proc who is left.
"""

import os
import resource
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from sandbox.runner import kernel
from sandbox.runner.trouble import Unclean
from sandbox.runner.turn import Turn

_PATIENCE_S: Final = 10.0
_RETRY_S: Final = 0.0005
_SOON_S: Final = 0.0001
"""How long a killed process takes to end that does nothing but wait."""
_INIT_PID: Final = 1


@dataclass(slots=True, eq=False, repr=False)
class Tally:
    """What processes used that have ended and been waited for."""

    count: int = 0
    cpu_s: float = 0.0
    peak_kb: int = 0

    def add(self, usage: resource.struct_rusage) -> None:
        self.count += 1
        self.cpu_s += usage.ru_utime + usage.ru_stime
        self.peak_kb = max(self.peak_kb, usage.ru_maxrss)


class Population:
    """Asked by one thread, between and during runs."""

    def __init__(self, turn: Turn, *, is_init: bool, single_uid: bool) -> None:
        """
        Args:
            turn: Whose turn it is: the one that waits is none of the box's other processes.
            is_init: The runner is process 1 of a PID namespace.
            single_uid: It is the same user as its runs.

        Raises:
            Unclean: this process is not what it is said to be; to kill "all" would reach beyond the box.
        """
        if is_init and os.getpid() != _INIT_PID:
            raise Unclean(f"the runner is process {os.getpid()} of its box, not the first one")
        if not is_init and not single_uid and os.getuid() != 0:
            raise Unclean("the runner cannot become the users of its runs")
        self._turn = turn
        self._is_init = is_init
        self._single_uid = single_uid
        self._adopts = True

    def adopt(self) -> None:
        """Make this process the parent of the box's orphans; where it cannot be, process 1 buries them."""
        try:
            kernel.adopt_orphans()
        except OSError:
            if not self._is_init:
                raise
            self._adopts = False

    def living(self) -> list[int]:
        """Zombies included."""
        if self._is_init:
            spared = ("1", str(os.getpid()), str(self._turn.following))
            return [int(name) for name in os.listdir("/proc") if name.isdigit() and name not in spared]
        return _descendants(os.getpid())

    def kill_all(self, uids: Iterable[int]) -> None:
        """End all processes of the box; some may appear while this happens."""
        if self._is_init:
            # Anywhere else this would end all processes of the machine: it spares the caller and process 1 only.
            assert _INIT_PID in (os.getpid(), os.getppid())
            self._turn.lose()
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        elif self._single_uid:
            _kill(self.living())
        else:
            for uid in uids:
                _kill_user(uid)

    def kill_all_but(self, spared: int, uid: int) -> None:
        """End the processes of a run, but not the one process which is none of them."""
        if self._single_uid:
            _kill(pid for pid in self.living() if pid != spared)
        else:
            _kill_user(uid)

    def bury(self, tally: Tally, awaited: Iterable[int]) -> None:
        """Reap orphans that have ended, until an awaited process is the next one to be reaped, or none has ended."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None or ended.si_pid in awaited:
                return
            tally.add(os.wait4(ended.si_pid, 0)[2])

    def end(self, pid: int, tally: Tally) -> None:
        """End and reap one child, and nobody else: whoever waits for the next job is not lost by it.

        Raises:
            Unclean: it does not end.
        """
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            ended, _, usage = os.wait4(pid, os.WNOHANG)
            if ended:
                tally.add(usage)
                return
            if time.monotonic() > deadline:
                raise Unclean("the program under test cannot be ended")
            time.sleep(_SOON_S)

    def empty(self, tally: Tally, uids: Iterable[int]) -> None:
        """End and reap everything.

        Raises:
            Unclean: something does not end.
        """
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                pid, _, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                if self._adopts or not any(map(_is_running, self.living())):
                    return
                pid = 0
            if pid:
                tally.add(usage)
                continue
            if time.monotonic() > deadline:
                raise Unclean("the box cannot be emptied of processes")
            self.kill_all(uids)
            time.sleep(_RETRY_S)


def has_ended(pid: int) -> bool:
    """Whether a child has ended and waits to be reaped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


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
    """End what belongs to a user, by a process that is that user in every respect and so reaches nobody else's."""
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
    found: list[int] = []
    waiting = [of]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    return children
