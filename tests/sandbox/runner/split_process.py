"""Runs tests against a program the way a box does: two processes, forked from a small one, and pipes between them.

This is not a box. Run only harmless programs with it.
"""

import atexit
import contextlib
import faulthandler
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.runner.process.preparation import preload
from sandbox.runner.testing import candidate, pytest_tests, tester
from sandbox.runner.zygote import COMMON_MODULES

_ROOT = Path(__file__).parents[3]
_NOBODY = 65534
_MODULES = ("asyncio", "csv", "logging", "numpy", "pandas", "tempfile", "threading", "unittest.mock", "warnings")
"""Those of the tests' programs. The user that these run as may not read the files of the interpreter."""
_LONG_S = 15
"""A test that takes longer prints its stack."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the tests said."""

    outcomes: list[tuple[str, bool, str]] = field(default_factory=list)
    complete: bool = False
    forwarded: int = 0

    @property
    def passed(self) -> list[bool]:
        return [passed for _, passed, _ in self.outcomes]

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.outcomes]

    @property
    def messages(self) -> list[str]:
        return [message for _, _, message in self.outcomes]


def run(source: str, timeout_s: float = 20.0, **spec: Any) -> Said:
    """Run the tests of `spec` against a program. Returns what was said within the time."""
    server = _server()
    assert server.stdin
    assert server.stdout
    pickle.dump((source, timeout_s, spec), server.stdin)
    server.stdin.flush()
    said = pickle.load(server.stdout)
    if isinstance(said, str):
        raise RuntimeError(f"the tests did not run: {said}")
    return _said(said)


@cache
def _server() -> "subprocess.Popen[bytes]":
    """A process that forks. It has one thread: a process forked from pytest's own would keep the locks of other threads."""
    begin = f"import sys; sys.path[0] = {str(_ROOT)!r}; from {__name__} import main; main()"
    server = subprocess.Popen([sys.executable, "-c", begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT)
    atexit.register(_end, server)
    return server


def _end(server: "subprocess.Popen[bytes]") -> None:
    with server:
        assert server.stdin
        server.stdin.close()


def main() -> None:
    """Run what standard input asks for, and write what was said, until it ends."""
    preload((*COMMON_MODULES, *_MODULES))
    pytest_tests.preload()
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    with contextlib.suppress(EOFError):
        while True:
            pickle.dump(_run(*pickle.load(asked)), answers)
            answers.flush()


def _run(source: str, timeout_s: float, spec: dict[str, Any]) -> bytes | str:
    """What the tests said, or why they could not run."""
    requests, replies, outcomes = os.pipe(), os.pipe(), os.pipe()
    serving = _forked(lambda: _serve(source, requests[0], replies[1]), keep={requests[0], replies[1]})
    testing = _forked(
        lambda: _test(spec, requests[1], replies[0], outcomes[1]), keep={requests[1], replies[0], outcomes[1]}
    )
    for descriptor in (*requests, *replies, outcomes[1]):
        os.close(descriptor)
    said, in_time = _read(outcomes[0], timeout_s)
    os.close(outcomes[0])
    os.kill(serving, signal.SIGKILL)
    if not in_time:
        os.kill(testing, signal.SIGKILL)
    os.waitpid(serving, 0)
    _, status = os.waitpid(testing, 0)
    if in_time and status:
        return f"their process ended with status {status}; see standard error"
    return said


def _serve(source: str, requests: int, replies: int) -> None:
    os.chdir("/")
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    exec(compile(source, "solution.py", "exec"), module.__dict__)
    candidate.serve(module.__dict__, requests, replies)


def _test(spec: dict[str, Any], requests: int, replies: int, outcomes: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        tempfile.tempdir = directory  # the tests' pytest makes directories here, and removes those of others
        whole = {"cases": [], "setup": "", "entry_point": "", "files": {}, **spec}
        tester.run(whole, requests, replies, outcomes, os.getcwd())


def _forked(work: Callable[[], None], keep: set[int]) -> int:
    """Fork a process that calls the function, with these descriptors. The standard descriptors lead nowhere."""
    process = os.fork()
    if process:
        return process
    try:
        _leave_parent(keep)
        work()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - nothing of the parent's must run here
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(1)


def _leave_parent(keep: set[int]) -> None:
    faulthandler.dump_traceback_later(_LONG_S, file=sys.__stderr__ or 2)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(d, mode, closefd=False) for d, mode in enumerate("rww"))
    for descriptor in {int(name) for name in os.listdir("/proc/self/fd")} - keep - {0, 1, 2}:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _read(descriptor: int, timeout_s: float) -> tuple[bytes, bool]:
    """What comes until the end, and whether the end comes in time."""

    def too_long(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    data = b""
    try:
        while piece := os.read(descriptor, 1 << 16):
            data += piece
    except TimeoutError:
        return data, False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return data, True


def _said(data: bytes) -> Said:
    lines = [json.loads(line) for line in data.splitlines()]
    outcomes = [(line[0], line[1], line[2]) for line in lines if isinstance(line, list)]
    last = next((line for line in lines if isinstance(line, dict)), None)
    return Said(outcomes, last is not None, last["complete"] if last else 0)
