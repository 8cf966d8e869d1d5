"""Runs tests against a program the way a box does: two processes, forked from this one, and pipes between them.

This is no box. Run only harmless programs with it.
"""

import contextlib
import faulthandler
import gc
import json
import os
import signal
import sys
import tempfile
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandbox.runner.testing import candidate, tester

_NOBODY = 65534
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
    requests, replies, outcomes = os.pipe(), os.pipe(), os.pipe()
    serving = _forked(lambda: _serve(source, requests[0], replies[1]), keep={requests[0], replies[1]})
    testing = _forked(
        lambda: _test(spec, requests[1], replies[0], outcomes[1]), keep={requests[1], replies[0], outcomes[1]}
    )
    for descriptor in (*requests, *replies, outcomes[1]):
        os.close(descriptor)
    try:
        return _said(_read(outcomes[0], timeout_s))
    finally:
        os.close(outcomes[0])
        for process in (serving, testing):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


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
        tester.run({"cases": [], "setup": "", "entry_point": "", "files": {}, **spec}, requests, replies, outcomes)


def _forked(work: Callable[[], None], keep: set[int]) -> int:
    """Fork a process that calls the function, with these descriptors. The standard descriptors lead nowhere."""
    process = os.fork()
    if process:
        return process
    try:
        _leave_parent(keep)
        work()
    except BaseException:  # noqa: BLE001 - nothing of the parent's must run here
        traceback.print_exc()
    finally:
        os._exit(0)


def _leave_parent(keep: set[int]) -> None:
    gc.freeze()  # garbage of the parent may be gRPC's, which would wait for threads that are not here
    faulthandler.dump_traceback_later(_LONG_S, file=sys.__stderr__ or 2)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(d, mode, closefd=False) for d, mode in enumerate("rww"))
    for descriptor in {int(name) for name in os.listdir("/proc/self/fd")} - keep - {0, 1, 2}:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _read(descriptor: int, timeout_s: float) -> bytes:
    def too_long(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    data = b""
    try:
        while piece := os.read(descriptor, 1 << 16):
            data += piece
    except TimeoutError:
        return data
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return data


def _said(data: bytes) -> Said:
    lines = [json.loads(line) for line in data.splitlines()]
    outcomes = [(line[0], line[1], line[2]) for line in lines if isinstance(line, list)]
    last = next((line for line in lines if isinstance(line, dict)), None)
    return Said(outcomes, last is not None, last["complete"] if last else 0)
