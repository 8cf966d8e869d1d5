"""What every job does in memory, done once by the fork that waits for a job.

What a fork writes to for the first time the kernel has to copy for it, which takes longer than most of the work itself.
So this is done before anybody waits for it. Nothing here is seen outside the process.
"""

import json
import os
from typing import Any, Final

from sandbox.runner import compiling, confinement, frames, kernel, requests
from sandbox.runner.answers import loaded_answer, result_answer
from sandbox.runner.programs import Loaded
from sandbox.runner.supervision import End, Result

_SOURCE: Final = b"""\
import sys


class Solution:
    def solve(self, numbers: list[int]) -> int:
        return sum(n for n in numbers if n % 2 == 0)


if __name__ == "__main__":
    for line in sys.stdin:
        print(Solution().solve([int(word) for word in line.split()]), f"{line!r}")
"""
_INPUT: Final = b"1 2\n"
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
    "stdin": len(_INPUT),
    "fetch": [],
}


def rehearse() -> None:
    """A program is read, compiled and answered for, and a run of it, but for the run itself."""
    load = requests.read_load(_parsed(_LOAD), _SOURCE)
    compiling.compiled(load.files[load.main], load.main)
    frames.packed(*loaded_answer(Loaded(None)))
    execute = requests.read_execute(_parsed(_EXECUTE), _INPUT)
    confinement.resources(execute.limits, base_data_bytes=0, data_limit=True, other_threads=0)
    os.close(kernel.sealed_file(execute.stdin))
    end = End(code=0, signal=0, reason=None, cpu_s=0.001, wall_s=0.001, delay_s=0.0, peak_kb=10_000, left=0)
    frames.packed(*result_answer(Result(end, b"3\n", b"")))


def _parsed(header: dict[str, Any]) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(frames.packed(header)[frames.LENGTHS.size :])
    return parsed
