"""Servers that are forked from a process that has imported the service.

Importing takes most of the CPU time of a start, and a run of all tests starts hundreds of servers. A forked server, or
any other command of `rewardline`, is a process like any other. It has its own command line (as far as the program looks
at it), settings, streams, signals, children and exit code. Only what modules do at import is not done again.

    test ── arguments, settings, streams ──► seed (tests/server_seed.py), which forks ──► server
    test ◄── its number, later how it ended ── seed
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Self

_MANY_BYTES = 65536
_END_S = 60.0
_MARK = "sandbox.workers"
"""This mark is on the command line of every process that workers are forked from."""
_OWN = ("REWARDLINE_", "PYTEST_")
"""Variables that a server reads after the fork, or never."""


class ForkedServer:
    """A running forked server. It has the part of `subprocess.Popen` that tests need."""

    def __init__(self, pid: int, stdout: IO[str], ending: socket.socket) -> None:
        self.pid = pid
        self.stdout: IO[str] | None = stdout
        self.returncode: int | None = None
        self._ending = ending
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.stdout is not None
        self.stdout.close()
        self.wait()
        self._ending.close()

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code of the server, once it has ended.

        Raises:
            subprocess.TimeoutExpired
        """
        with self._lock:
            if self.returncode is None:
                if not select.select([self._ending], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired("rewardline", timeout or 0.0)
                status = self._ending.recv(_MANY_BYTES)
                assert status, "the process that servers are forked from has ended"
                self.returncode = os.waitstatus_to_exitcode(int(status))
            return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # the server has ended at this moment
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Seed:
    """The process that servers are forked from. It starts when the first server is needed, and ends with this
    process.
    """

    def __init__(self, folder: Path) -> None:
        """The servers work in `folder`."""
        self._folder = folder
        self._environment = _foreign(os.environ)
        self._cores = os.sched_getaffinity(0)
        self._control: socket.socket | None = None
        self._lock = Lock()

    def suits(self, environment: Mapping[str, str]) -> bool:
        """Whether the seed can fork a server with these variables, started here: nothing from outside may differ for
        the server.
        """
        return _foreign(environment) == self._environment and os.sched_getaffinity(0) == self._cores

    def fork(self, arguments: Sequence[str], environment: Mapping[str, str], stderr: IO[str]) -> ForkedServer:
        """Run `rewardline` with these arguments and variables."""
        own = {name: value for name, value in environment.items() if name.startswith(_OWN)}
        request = json.dumps([arguments, own]).encode()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        readable, writable = os.pipe()
        stdout = open(readable, encoding="utf-8")  # noqa: SIM115 - closed with the server
        try:
            socket.send_fds(self._begun(), [request], [writable, stderr.fileno(), theirs.fileno()])
        finally:
            os.close(writable)
            theirs.close()
        number = ours.recv(_MANY_BYTES)
        assert number, "the process that servers are forked from has ended"
        return ForkedServer(int(number), stdout, ours)

    def _begun(self) -> socket.socket:
        with self._lock:
            if self._control is None:
                self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                with theirs:
                    process = subprocess.Popen(
                        [sys.executable, "-m", "tests.server_seed", str(theirs.fileno()), _MARK],
                        cwd=self._folder,
                        env=self._environment | {"PYTHONHASHSEED": "0"},  # workers have it
                        stdout=subprocess.DEVNULL,
                        pass_fds=[theirs.fileno()],
                    )
                atexit.register(_end, self._control, process)
            return self._control


def _end(control: socket.socket, process: subprocess.Popen[bytes]) -> None:
    control.close()
    process.wait(_END_S)


def _foreign(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(_OWN)}
