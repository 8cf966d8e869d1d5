"""The service's side of `sandbox.boxes.local.forkserver`: starts it, makes it fork, ends it."""

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from sandbox.base import SandboxUnavailable
from sandbox.boxes import bootstrap
from sandbox.boxes.local import enter, forkserver_protocol

_START_PATIENCE_S: Final = 60.0
_ANSWER_PATIENCE_S: Final = 10.0


class Forked:
    """Process 1 of a box: a child of this process that another process has forked.

    It offers some methods of `subprocess.Popen`. Its exit code is like a keeper's: 128 plus the signal that killed it.
    """

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

    terminate = kill
    """Process 1 of a namespace takes no other signal. It ends after everything in the box."""

    def _reap(self, options: int) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, options)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                self.returncode = code if code >= 0 else 128 - code
        return self.returncode


class ForkserverClient:
    """One forkserver, started when it is first needed, and again when it has ended."""

    def __init__(
        self,
        python: str,
        environment: Mapping[str, str],
        directory: Path,
        boxes: Mapping[str, Any],
    ) -> None:
        """Store the settings; `be_ready` starts the process.

        Args:
            python: The interpreter of boxes.
            environment: Its whole environment.
            directory: A directory of the service that it may write to.
            boxes: What its boxes have in common, see `sandbox.boxes.local.forkserver.main`.
        """
        self._python = python
        self._environment = dict(environment)
        self._directory = directory
        self._boxes = dict(boxes)
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
        header = {"directory": str(self._directory), **self._boxes}
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_START_PATIENCE_S):
                await loop.sock_sendall(ours, bootstrap.frame(header, carried))
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
        """Fork process 1 of a box, as a child of this process.

        Raises:
            OSError: there is no box. A forkserver that has ended or does not answer is replaced at the next call.
        """
        if self._control is None:
            raise OSError("the interpreter that boxes are forked from has ended")
        with ExitStack() as stack:
            process = Forked(self._ordered(control.fileno(), stderr, *_opened_groups(plan, stack)))
        try:
            _map_ids(process.pid, plan)
        except OSError:
            process.kill()
            process.wait()
            raise
        return process

    def _ordered(self, *descriptors: int) -> int:
        assert self._control is not None
        try:
            socket.send_fds(self._control, [forkserver_protocol.ORDER], descriptors)
            answer = self._control.recv(forkserver_protocol.NUMBER.size)
            if len(answer) != forkserver_protocol.NUMBER.size:
                raise OSError("the interpreter that boxes are forked from has ended")
        except OSError:
            self.end()
            raise
        pid: int = forkserver_protocol.NUMBER.unpack(answer)[0]
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return pid

    def end(self) -> None:
        """End the forkserver. Its boxes go on: their keepers are children of this process."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _map_ids(pid: int, plan: enter.Plan) -> None:
    """Map the user ids of a box: only a process outside of its user namespace may map ids that are not its own."""
    assert plan["uids"] is not None
    mapping = b"0 %d %d\n" % tuple(plan["uids"])
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{pid}/{name}", "wb", buffering=0) as file:
            file.write(mapping)


def _opened_groups(plan: enter.Plan, stack: ExitStack) -> list[int]:
    """The lists of processes of the control groups, and last the counter of out-of-memory kills."""
    if plan["memory_events"] is None:
        return []
    paths = [(f"{directory}/cgroup.procs", os.O_WRONLY) for directory in plan["cgroups"]]
    descriptors = []
    for path, flags in [*paths, (plan["memory_events"], os.O_RDONLY)]:
        descriptors.append(os.open(path, flags | os.O_CLOEXEC))
        stack.callback(os.close, descriptors[-1])
    return descriptors
