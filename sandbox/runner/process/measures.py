"""Measures what processes use, from outside, through the kernel's clocks and /proc.

A process that has just ended measures as zero: what it used is in the rusage of its `wait4`.
"""

import os
import time
from collections.abc import Iterable
from typing import Final

_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_OOM_COUNTERS: Final = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")
_OOM_COUNTER_OF_MACHINE: Final = "/proc/vmstat"
_OOM_KILLS: Final = b"oom_kill "
_MOST_OOM_BYTES: Final = 16 << 10


def cpu_s(pid: int) -> float:
    """CPU seconds of one process with all its threads, and of the children that it has waited for."""
    try:
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        of_children = (int(fields[13]) + int(fields[14])) * _TICK_S
        return of_children + _own_cpu_s(pid, (int(fields[11]) + int(fields[12])) * _TICK_S)
    except (OSError, IndexError):
        return 0.0


def resident_bytes(pid: int) -> int:
    try:
        return int(_read(f"/proc/{pid}/statm").split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def data_bytes() -> int:
    """Data memory of this process, as RLIMIT_DATA counts it."""
    return int(_read("/proc/self/statm").split()[5]) * _PAGE_BYTES


def delay_s(pids: Iterable[int]) -> float:
    """The longest time that the machine kept any runnable thread of these processes waiting."""
    return max((_thread_delay_s(path) for pid in pids for path in _threads(pid)), default=0.0)


def leader_delay_s(pid: int) -> float:
    """The same for the first thread of one process, which may have ended but must not have been reaped."""
    return _thread_delay_s(f"/proc/{pid}")


def threads_of_user(uid: int, *, excluded_pid: int | None) -> int:
    """Threads of all processes of a user on the machine, except those of one process."""
    count = 0
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == excluded_pid:
            continue
        try:
            if os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # the process has ended
    return count


class OomCounter:
    """Counts the processes that the kernel killed because memory ran out.

    Args:
        descriptor: Of a file with a line for that count. None: there are never any, or nothing is known.
        is_known: Whether every such kill is counted.
        is_of_box: Whether it counts only processes of this box.
    """

    def __init__(self, descriptor: int | None, *, is_known: bool = True, is_of_box: bool = True) -> None:
        self._descriptor = descriptor
        self.is_known = is_known
        self.is_of_box = is_of_box

    @classmethod
    def of_box(cls) -> "OomCounter":
        """The counter in this box's file system, if there is one."""
        descriptor = _find_oom_counter(_OOM_COUNTERS)
        return cls(descriptor, is_known=descriptor is not None)

    @classmethod
    def of_machine(cls) -> "OomCounter":
        """The counter for all processes of the machine."""
        descriptor = _find_oom_counter((_OOM_COUNTER_OF_MACHINE,))
        return cls(descriptor, is_known=descriptor is not None, is_of_box=False)

    def read(self) -> int:
        if self._descriptor is None:
            return 0
        for line in os.pread(self._descriptor, _MOST_OOM_BYTES, 0).splitlines():
            if line.startswith(_OOM_KILLS):
                return int(line[len(_OOM_KILLS) :])
        return 0


def _own_cpu_s(pid: int, otherwise: float) -> float:
    """CPU seconds by the process's own clock, which is exact, on kernels where other processes can read it."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED)
    except OSError:
        return otherwise


def _threads(pid: int) -> list[str]:
    try:
        return [f"/proc/{pid}/task/{name}" for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _thread_delay_s(path: str) -> float:
    try:
        return int(_read(f"{path}/schedstat").split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def _find_oom_counter(paths: Iterable[str]) -> int | None:
    for path in paths:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        if _OOM_KILLS in os.pread(descriptor, _MOST_OOM_BYTES, 0):
            return descriptor
        os.close(descriptor)
    return None


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
