"""The process around a box: it makes the box, ends after all that is in it, and is what this service watches."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from typing import Final, Protocol

from sandbox import process_handles
from sandbox.boxes.local import enter
from sandbox.boxes.local.forkserver_client import ForkserverClient

END_PATIENCE_S: Final = 5.0
_WORDS_BYTES: Final = 4096


class Child(Protocol):
    """A child process of this one; as `subprocess.Popen`, of which these are some methods."""

    pid: int

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...

    def send_signal(self, sig: int) -> None: ...

    def kill(self) -> None: ...


class Keeper:
    """The outermost process of a box: it ends after all that is in it."""

    def __init__(self, process: Child, stderr: int) -> None:
        self.process = process
        self._stderr = stderr
        self._pidfd = process_handles.open_pidfd(process.pid)
        self._end: asyncio.Task[None] | None = None
        """Noticed once for all who wait: a descriptor has one reader."""
        self._words = b""
        self._has_said_all = False
        """The descriptor's number may be somebody else's by now."""

    async def wait(self, patience_s: float | None) -> bool:
        """Whether it has ended by then."""
        if self.process.poll() is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self._ended()
        return self.process.poll() is not None

    async def end(self) -> None:
        """Have it end the box."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        if not await self.wait(END_PATIENCE_S):
            self.process.kill()
            await self.wait(None)
        if self._end is not None:  # who waits for it is told before its descriptor is closed
            await self._end
        self.words()
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

    def words(self) -> str:
        """What the box has written on its standard error, the beginning of it."""
        if not self._words and not self._has_said_all:
            with suppress(BlockingIOError):  # nothing there
                self._words = os.read(self._stderr, _WORDS_BYTES)
        return self._words.decode(errors="replace").strip()


def spawn(plan: enter.Plan, control: socket.socket, forkserver: ForkserverClient | None) -> Keeper:
    """A box by this plan, whose runner has the other end of the socket.

    Args:
        plan: What it is to be.
        control: The box's end.
        forkserver: Where it is forked; None: it starts interpreters of its own.

    Raises:
        OSError: there is no process, or no descriptor, left for it.
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
    except OSError:  # no descriptor was left to watch it with
        process.kill()
        process.wait()
        raise
