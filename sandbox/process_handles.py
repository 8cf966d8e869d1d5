"""Handles of processes: a signal sent through a pidfd reaches that process and no other.

Some kernels, such as gVisor's, have no pidfds. On those only the parent of a process may signal it by its pid: no other
process can get that pid before the parent has reaped the child.
"""

import asyncio
import errno
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

NONE: Final = -1
"""Stands in for a pidfd when there is none."""

_LOOK_EVERY_S: Final = 0.005
_REFUSALS: Final = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL})
"""Error numbers of a kernel, or a seccomp filter, that does not know the call."""


def open_pidfd(pid: int) -> int:
    """Open a pidfd for a child that has not been reaped; NONE on a kernel without working pidfds.

    Raises:
        OSError: the process has no free descriptor.
    """
    try:
        pidfd = os.pidfd_open(pid)
    except OSError as error:
        if error.errno in _REFUSALS:
            return NONE
        raise
    if _can_signal(pidfd):
        return pidfd
    os.close(pidfd)
    return NONE


def close(pidfd: int) -> None:
    if pidfd != NONE:
        os.close(pidfd)


async def wait(pidfd: int) -> None:
    """Wait for the end of a process through its pidfd, without reaping it."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def end() -> None:
        loop.remove_reader(pidfd)
        if not ended.done():
            ended.set_result(None)

    loop.add_reader(pidfd, end)
    try:
        await ended
    finally:
        loop.remove_reader(pidfd)


async def wait_by_polling(has_ended: Callable[[], bool]) -> None:
    """Wait for the end of a process without a pidfd, by polling `has_ended`."""
    while not has_ended():  # noqa: ASYNC110 - without a pidfd there is no event to wait for
        await asyncio.sleep(_LOOK_EVERY_S)


async def wait_for_orphan(pid: int, pidfd: int, patience_s: float) -> None:
    """Wait for the end of a process whose parent is dead and which the kernel kills.

    Reap it if it has become our child.

    Without a pidfd, wait no longer than `patience_s`: after that time the pid may belong to another process.
    """
    if pidfd != NONE:
        await wait(pidfd)
        _reap(pidfd)
        return
    until = time.monotonic() + patience_s
    await wait_by_polling(lambda: _is_gone(pid) or time.monotonic() > until)


def _reap(pidfd: int) -> None:
    """Reap an orphan that has become our child, as can happen in a container."""
    with suppress(ChildProcessError):
        os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)


def _can_signal(pidfd: int) -> bool:
    try:
        signal.pidfd_send_signal(pidfd, 0)  # signal 0 is not delivered: this only checks that sending works
    except OSError as error:
        return error.errno not in _REFUSALS
    return True


def _is_gone(pid: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except (OSError, IndexError):
        return True
