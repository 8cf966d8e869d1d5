"""How a process is named so that a signal reaches it and nothing else: by a pidfd, or not at all where there are none.

Some kernels, gVisor's among them, have no pidfds. There only a process's parent signals it, by its number, which nobody
else can have before the parent has reaped it.
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
"""In place of a pidfd."""

_LOOK_EVERY_S: Final = 0.005
_REFUSALS: Final = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL})
"""What a kernel, or a filter that does not know the call, answers."""


def open_pidfd(pid: int) -> int:
    """The pidfd of a child that has not been reaped, or NONE where the kernel has none that are good for anything.

    Raises:
        OSError: there is no descriptor left for it.
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


async def ended(pidfd: int) -> None:
    """Wait for the end of a process, without reaping it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def end() -> None:
        loop.remove_reader(pidfd)
        if not done.done():
            done.set_result(None)

    loop.add_reader(pidfd, end)
    try:
        await done
    finally:
        loop.remove_reader(pidfd)


async def found(has_ended: Callable[[], bool]) -> None:
    """Wait for the end of a process that has no pidfd, by looking."""
    while not has_ended():  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(_LOOK_EVERY_S)


async def orphan_ended(pid: int, pidfd: int, patience_s: float) -> None:
    """Wait for the end of a process whose parent is dead, and which the kernel ends; reap it if it is ours by then.

    Without a pidfd no longer than the patience: by then its number may be somebody else's.
    """
    if pidfd != NONE:
        await ended(pidfd)
        _reap(pidfd)
        return
    until = time.monotonic() + patience_s
    await found(lambda: _is_gone(pid) or time.monotonic() > until)


def _reap(pidfd: int) -> None:
    """In a container, orphans may fall to us."""
    with suppress(ChildProcessError):
        os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)


def _can_signal(pidfd: int) -> bool:
    try:
        signal.pidfd_send_signal(pidfd, 0)  # which sends none, and asks whether one could be
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
