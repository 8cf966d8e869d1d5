"""The service's side of `sandbox.boxes.local.forkserver`: starts it, makes it fork, ends it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from sandbox.base import SandboxUnavailable
from sandbox.boxes import bootstrap
from sandbox.boxes.local import enter, forkserver_protocol

_START_PATIENCE_S: Final = 60.0
_ANSWER_PATIENCE_S: Final = 10.0


class Forked:
    """A child of this process that another process has forked. It offers some methods of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._reap(os.WNOHANG)

    def wait(self) -> int:
        code = self._reap(0)
        assert code is not None
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:  # not reaped yet, so its pid cannot be another process's
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _reap(self, options: int) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, options)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


class ForkserverClient:
    """One forkserver, started when it is first needed, and again when it has ended."""

    def __init__(self, python: str, environment: Mapping[str, str], directory: Path, preload: Sequence[str]) -> None:
        """Store the settings; `be_ready` starts the process.

        Args:
            python: The interpreter of boxes.
            environment: Its whole environment.
            directory: A directory of the service that it may write to.
            preload: Modules to import if they exist.
        """
        self._python = python
        self._environment = dict(environment)
        self._directory = directory
        self._preload = list(preload)
        self._starting = asyncio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    async def be_ready(self) -> None:
        """Start the forkserver unless it runs.

        Raises:
            SandboxUnavailable: it does not start.
        """
        async with self._starting:
            if self._process is not None and self._process.poll() is None:
                return
            self.end()
            try:
                await self._start()
            except BaseException:
                self.end()
                raise

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._control = ours
            ours.setblocking(False)
            self._process = self._started(theirs)
        carried = await bootstrap.pack(*forkserver_protocol.CARRIED)
        known = await bootstrap.pack()
        header = {"directory": str(self._directory), "preload": self._preload, "archive_bytes": len(known)}
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_START_PATIENCE_S):
                await loop.sock_sendall(ours, bootstrap.frame(header, carried) + known)
                answer = await loop.sock_recv(ours, forkserver_protocol.NUMBER.size)
        except OSError as error:
            raise SandboxUnavailable(f"the interpreter that boxes are forked from did not start: {error}") from error
        if len(answer) != forkserver_protocol.NUMBER.size:
            raise SandboxUnavailable("the interpreter that boxes are forked from ended at its start")
        ours.settimeout(_ANSWER_PATIENCE_S)

    def _started(self, control: socket.socket) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603 - our own program
            bootstrap.command(
                self._python, f"fd:{control.fileno()}", with_site=True, module=forkserver_protocol.MODULE
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[control.fileno()],
            env=self._environment,
            cwd="/",
            start_new_session=True,
        )

    def fork(self, plan: enter.Plan, control: socket.socket, stderr: int) -> Forked:
        """Fork a keeper, as a child of this process.

        Raises:
            OSError: no keeper was forked. A forkserver that has ended or does not answer is replaced at the next call.
        """
        if self._control is None:
            raise OSError("the interpreter that boxes are forked from has ended")
        written = os.memfd_create("plan", os.MFD_CLOEXEC)
        try:
            os.pwrite(written, json.dumps(plan).encode(), 0)
            socket.send_fds(self._control, [forkserver_protocol.ORDER], [control.fileno(), stderr, written])
            answer = self._control.recv(forkserver_protocol.NUMBER.size)
            if len(answer) != forkserver_protocol.NUMBER.size:
                raise OSError("the interpreter that boxes are forked from has ended")
        except OSError:
            self.end()
            raise
        finally:
            os.close(written)
        (pid,) = forkserver_protocol.NUMBER.unpack(answer)
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return Forked(pid)

    def end(self) -> None:
        """End the forkserver. Its boxes go on: their keepers are children of this process."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
