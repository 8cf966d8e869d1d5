"""Servers that are forked from a process that has imported the service.

Importing takes most of the CPU time of a start, and a run of all tests starts hundreds of servers. A forked server, or
any other command of `rewardline`, is a process like any other. It has its own command line (as far as the program looks
at it), settings, streams, signals, children and exit code. Only what modules do at import is not done again.

    test ── arguments, settings, streams ──► seed (tests/server_seed.py), which forks ──► server
    test ◄── its number, later how it ended ── seed

Workers of the tests' own process are forked from the seed, too, once it runs (`lend_zygotes`).
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
from typing import IO, Any, Self

from sandbox.workers import link
from sandbox.workers.frames import Order

_MANY_BYTES = 65536
_END_S = 60.0
_MARK = "sandbox.workers"
"""This mark is on the command line of every process that workers are forked from."""
_OWN = ("REWARDLINE_", "PYTEST_", "PYTHONPATH", "SYMPY_GROUND_TYPES", "OPENBLAS_NUM_THREADS")
"""Variables that a server reads after the fork, or never, or that our own modules set when they are imported. The
folders of PYTHONPATH come before the seed's own."""
_PRODUCT = "verifiers."
"""The seed has imported and warmed all tasks of these modules."""


class ForkedServer:
    """A running forked server. It has the part of `subprocess.Popen` that tests need."""

    def __init__(self, pid: int, stdout: IO[str] | None, ending: socket.socket) -> None:
        self.pid = pid
        self.stdout = stdout
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
                self._ending.close()
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
        self._paths = {name: value for name, value in os.environ.items() if name == "PYTHONPATH"}
        self._control: socket.socket | None = None
        self._lock = Lock()

    def suits(self, environment: Mapping[str, str]) -> bool:
        """Whether the seed can fork a server with these variables, started here: nothing from outside may differ for
        the server.
        """
        return _foreign(environment) == self._environment

    def fork(
        self, arguments: Sequence[str], environment: Mapping[str, str], stderr: IO[str], stdin: IO[str] | None = None
    ) -> ForkedServer:
        """Run `rewardline` with these arguments and variables, on the cores of the calling thread."""
        own = {name: value for name, value in environment.items() if name.startswith(_OWN)}
        readable, writable = os.pipe()
        stdout = open(readable, encoding="utf-8")  # noqa: SIM115 - closed with the server
        try:
            return self._fork([arguments, own], writable, stderr.fileno(), stdout, stdin)
        finally:
            os.close(writable)

    def fork_zygote(self, order: Order) -> tuple[ForkedServer, socket.socket]:
        """Fork a process for workers, as `sandbox.workers.link` starts one. The socket is its control."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = self._fork([None, {}], theirs.fileno(), theirs.fileno(), None)
        link.give(ours, order)
        ours.setblocking(False)
        return process, ours

    @property
    def has_begun(self) -> bool:
        return self._control is not None

    def _fork(
        self, what: list[Any], one: int, other: int, stdout: IO[str] | None, stdin: IO[str] | None = None
    ) -> ForkedServer:
        request = json.dumps([*what, sorted(os.sched_getaffinity(0))]).encode()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            more = [] if stdin is None else [stdin.fileno()]
            socket.send_fds(self._begun(), [request], [one, other, theirs.fileno(), *more])
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
                        env=self._environment | self._paths | {"PYTHONHASHSEED": "0"},  # workers have it
                        stdout=subprocess.DEVNULL,
                        pass_fds=[theirs.fileno()],
                    )
                atexit.register(_end, self._control, process)
            return self._control


def lend_zygotes(seed: Seed) -> None:
    """From now on the workers of this process are forked from the seed, if it has begun and has imported their tasks."""
    launch = link._launch

    def lent(order: Order) -> tuple[Any, socket.socket]:
        known = all(module.startswith(_PRODUCT) for module, *_ in order.tasks)
        return seed.fork_zygote(order) if known and seed.has_begun else launch(order)

    link._launch = lent


def _end(control: socket.socket, process: subprocess.Popen[bytes]) -> None:
    control.close()
    process.wait(_END_S)


def _foreign(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(_OWN) and name != _OF_RDKIT}


_OF_RDKIT = "RDBASE"
"""RDKit sets it where it is imported; it says where RDKit is."""
