"""The keeper is the outermost process of a box.

It makes the box, ends after everything in it, and is watched by this service. A box from the forkserver has no process
besides process 1 for that.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from typing import Final, Protocol

from sandbox import process_handles
from sandbox.boxes.local import enter
from sandbox.boxes.local.forkserver_client import ForkserverClient

END_PATIENCE_S: Final = 5.0
_STDERR_BYTES: Final = 4096


class Child(Protocol):
    """A child process of this one, with some methods of `subprocess.Popen`."""

    pid: int

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...

    def send_signal(self, sig: int) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class Keeper:
    """The outermost process of a box. It ends after everything in the box."""

    def __init__(self, process: Child, stderr: int) -> None:
        self.process = process
        self._stderr = stderr
        self._pidfd = process_handles.open_pidfd(process.pid)
        self._end: asyncio.Task[None] | None = None
        """Shared by all waiters: a descriptor can have only one reader."""
        self._stderr_text = b""
        self._has_said_all = False
        """After that, the descriptor's number may belong to another file."""

    async def wait(self, patience_s: float | None) -> bool:
        """Wait for the keeper's end; whether it has ended in time."""
        if self.process.poll() is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self._ended()
        return self.process.poll() is not None

    async def end(self) -> None:
        """Make the keeper end its box."""
        if self.process.poll() is None:
            self.process.terminate()
        if not await self.wait(END_PATIENCE_S):
            self.process.kill()
            await self.wait(None)
        if self._end is not None:  # waiters must be woken before the descriptor is closed
            await self._end
        self.stderr_text()
        process_handles.close(self._pidfd)
        os.close(self._stderr)
        self._has_said_all = True

    async def _ended(self) -> None:
        if self._end is None:
            self._end = asyncio.create_task(self._notice_end())
        await asyncio.shield(self._end)

    async def _notice_end(self) -> None:
        if self._pidfd == process_handles.NONE:
            await process_handles.wait_by_polling(lambda: self.process.poll() is not None)
        else:
            await process_handles.wait(self._pidfd)

    def stderr_text(self) -> str:
        """The beginning of what the box has written on its standard error."""
        if not self._stderr_text and not self._has_said_all:
            with suppress(BlockingIOError):  # nothing there
                self._stderr_text = os.read(self._stderr, _STDERR_BYTES)
        return self._stderr_text.decode(errors="replace").strip()


def spawn(plan: enter.Plan, control: socket.socket, forkserver: ForkserverClient | None) -> Keeper:
    """Start a box by this plan. Its runner has the other end of the socket.

    Args:
        plan: What the box is to be.
        control: The box's end of the socket.
        forkserver: Forks the keeper; None: the box starts interpreters of its own.

    Raises:
        OSError: no more processes or descriptors are available.
    """
    stderr, their_stderr = os.pipe()
    with ExitStack() as undo:
        undo.callback(os.close, stderr)
        try:
            os.set_blocking(stderr, False)
            process = (
                _start(plan, control, their_stderr)
                if forkserver is None
                else forkserver.fork(plan, control, their_stderr)
            )
        finally:
            os.close(their_stderr)
        keeper = _watched(process, stderr)
        undo.pop_all()
    return keeper


def _start(plan: enter.Plan, control: socket.socket, stderr: int) -> Child:
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-I", "-S", enter.__file__, str(control.fileno()), json.dumps(plan)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        pass_fds=[control.fileno()],
        env={},
        cwd="/",
        start_new_session=True,
    )


def _watched(process: Child, stderr: int) -> Keeper:
    try:
        return Keeper(process, stderr)
    except OSError:  # no descriptor was left for its pidfd
        process.kill()
        process.wait()
        raise
