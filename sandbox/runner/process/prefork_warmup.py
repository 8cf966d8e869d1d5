"""Does once, before the fork, the memory writes of every job and every run.

Nothing of it is visible outside the process.

When a fork writes to a page for the first time, the kernel has to copy it, which takes longer than most of the work
itself. A fork that waits for a job makes these writes while no caller waits. And many writes happen only the first
time: the interpreter caches what it found under a name, and rewrites the code of a function once it has been called a
few times; the C library resolves a function at its first call. Forks of the runner need not repeat the writes that the
runner has made.
"""

import atexit
import json
import os
import sys
from contextlib import suppress
from mmap import PAGESIZE, mmap
from typing import Any, Final

from sandbox.runner import frames, requests
from sandbox.runner.answers import loaded_answer, result_answer
from sandbox.runner.isolation import confinement, kernel
from sandbox.runner.isolation.confinement import Jail
from sandbox.runner.process import child, compiling, forks
from sandbox.runner.process.forks import Task
from sandbox.runner.process.programs import Loaded
from sandbox.runner.process.supervision import End, Result

_SOURCE: Final = b"""\
import sys
from collections import defaultdict


class Solution:
    def solve(self, numbers: list[int]) -> int:
        return sum(n for n in numbers if n % 2 == 0)


def main() -> None:
    a, b = map(int, input().split())
    print(a + b)
    for line in sys.stdin:
        words = line.strip().split()
        counts = defaultdict(list)
        for place, word in enumerate(words):
            counts[len(word)].append(place)
        print(Solution().solve([int(word) for word in words]), f"{line!r}", *sorted(counts.items()))
        print(" ".join(str(n) for n in range(len(words))))


if __name__ == "__main__":
    main()
"""
INPUT: Final = b"1 2\n3 4\n"
"""The standard input of such a program."""
_TIMES: Final = 16
"""The interpreter specialises a function after eight calls, for the types that it has seen by then."""
_LOAD: Final[dict[str, Any]] = {
    "ask": "load",
    "mode": "python",
    "files": [["main.py", len(_SOURCE)]],
    "main": "main.py",
    "compile": None,
    "argv": [],
    "keep": [],
    "environment": {},
    "data_limit": True,
    "handles_children": False,
    "has_tests": False,
    "core": None,
}
_EXECUTE: Final[dict[str, Any]] = {
    "ask": "execute",
    "limits": {
        "cpu_s": 1.0,
        "wall_s": 10.0,
        "memory_mb": 256,
        "processes": 32,
        "file_mb": 8,
        "output_bytes": 1 << 20,
        "stderr_bytes": 16 << 10,
    },
    "arguments": [],
    "files": [],
    "stdin": len(INPUT),
    "fetch": [],
    "waits": False,
    "last": False,
}


def warm_up_job() -> None:
    """Read a program, compile it, and make the answers to it and to a run of it, without the run itself."""
    load = requests.read_load(_parsed(_LOAD), _SOURCE)
    compiling.compiled(load.files[load.main], load.main)
    frames.packed(*loaded_answer(Loaded(None)))
    execute = requests.read_execute(_parsed(_EXECUTE), INPUT)
    confinement.resources(execute.limits, base_data_bytes=0, data_limit=True, other_threads=0)
    os.close(kernel.sealed_file(execute.stdin))
    end = End(code=0, signal=0, reason=None, cpu_s=0.001, wall_s=0.001, delay_s=0.0, peak_kb=10_000, left=0)
    frames.packed(*result_answer(Result(end, b"3\n", b"")))


def sample_job() -> bytes:
    """The requests of a job that loads the sample program and runs it once."""
    load, execute, unload = (
        frames.packed(_LOAD, _SOURCE),
        frames.packed(_EXECUTE, INPUT),
        frames.packed({"ask": "unload"}),
    )
    return load + execute + unload


def _parsed(header: dict[str, Any]) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(frames.packed(header)[frames.LENGTHS.size :])
    return parsed


def warm_up_run() -> None:
    """Run a program in a process that has the descriptors of a run, with `INPUT` to read.

    The process stays as it was: what a run gives up, this process has given up already, or it is set to its current
    value.
    """
    if atexit._ncallbacks() or not _is_one_user():
        return  # a run would call exit handlers at its end, or change its user
    for _ in range(_TIMES):
        compiling.compile_program(b"", "main.py", 0)
    source = compiling.compile_program(_SOURCE, "main.py", 0)
    jail = Jail(
        directory=".",
        resources=confinement.own_limits(),
        descriptors=(0, 1, 2),
        ruleset=None,
        closed_to=2,
        is_dumpable=False,
        is_prepared=True,
    )
    task = Task(tuple(jail), ("execute", (), {}))
    with suppress(PermissionError):  # it leads a session
        os.setpgid(0, 0)
    arguments, main = sys.argv, sys.modules["__main__"]
    for _ in range(_TIMES):
        os.lseek(0, 0, os.SEEK_SET)
        child.prepare_standard_streams()
        with mmap(-1, PAGESIZE) as page:
            forks.confine_and_run(0, os.getuid(), task, source, page)
    sys.argv, sys.modules["__main__"] = arguments, main


def _is_one_user() -> bool:
    return len({*os.getresuid(), *os.getresgid()}) == 1
