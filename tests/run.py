"""Runs a lane. Preparations that take long begin at once, in the background. Tests that need the machine to themselves
run last, one at a time.

`python -m tests.run` runs the quick lane, `python -m tests.run all` everything, `python -m tests.run chaos` one part.
`make test` and `make test-all` call it. Arguments after the lane go to pytest: `python -m tests.run quick
--junitxml=quick.xml`.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.lanes import ALONE, LANES

ROOT = Path(__file__).parents[1]
BESIDE = ("-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder")
FUZZING = ROOT / ".build" / "fuzzing"
HAS_FUZZER = importlib.util.find_spec("atheris") is not None
NO_TESTS = 5
"""An exit code of pytest. A part may have no test that runs alone, or only such tests."""
_NICE = 5
_END_S = 60


def behind(lane: str) -> list[list[str]]:
    """The background commands, which prepare what the lane's last tests need: images, environments of trainers, and
    findings.
    """
    prepared = "quick" if lane == "quick" else "all"
    images = ["tests.dockerd", lane]
    environments = ["tests.e2e.environments", prepared]
    fuzzing = ["tests.fuzz", "lane", prepared, str(FUZZING)]
    wanted = {
        "quick": [images, environments, fuzzing],
        "all": [images, environments, fuzzing],
        "boxes": [images],
        "deploy": [images],
        "leaks": [images],
        "repositories": [images],
        "ray": [[*environments[:-1], "ray"]],
        "trainers": [environments],
        "fuzz": [fuzzing],
    }
    return [
        [sys.executable, "-m", *command] for command in wanted.get(lane, []) if command is not fuzzing or HAS_FUZZER
    ]


def tests(lane: str) -> list[list[str]]:
    """The commands that run the lane's tests, one after the other."""
    pytest = [sys.executable, "-m", "pytest"]
    if lane == "quick":
        return [[*pytest, *BESIDE]]
    chosen = [*pytest, f"--lane={lane}"]  # in one word: as a word of its own, `deploy` would be the folder to look in
    return [[*chosen, "-m", f"not {ALONE}", *BESIDE], [*chosen, "-m", ALONE]]


def main(lane: str, *more: str) -> int:
    """The exit code: 0 if each run passed and at least one had a test."""
    started = time.monotonic()
    shutil.rmtree(FUZZING, ignore_errors=True)  # from an earlier run
    with ExitStack() as stack:
        for command in behind(lane):
            stack.callback(_end, _begin(command))
        codes = [subprocess.run([*command, *more], cwd=ROOT, env=_environment()).returncode for command in tests(lane)]
    minutes = (time.monotonic() - started) / 60
    failed = any(code not in (0, NO_TESTS) for code in codes) or 0 not in codes
    if len(codes) > 1:
        print(f"{lane}: {'failed' if failed else 'passed'} after {minutes:.0f} minutes (pytest ended with {codes})")
    return int(failed)


def _begin(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, with less priority than the tests.

    If Linux weighs sessions against each other (`sched_autogroup_enabled`), niceness counts only within a session, so
    the session gets it too.
    """
    FUZZING.parent.mkdir(exist_ok=True)
    log = (FUZZING.parent / f"{command[2]}.log").open("wb")
    with log:
        return subprocess.Popen(
            command, cwd=ROOT, env=_environment(), stdout=log, stderr=log, start_new_session=True, preexec_fn=_yield_to
        )


def _yield_to() -> None:
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_NICE))
    os.nice(_NICE)


def _environment() -> dict[str, str]:
    """The environment without the variable that forbids Python to keep compiled modules."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | ({"FUZZING_BEGUN": str(FUZZING)} if HAS_FUZZER else {})


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # also end the background commands
    chosen = sys.argv[1] if len(sys.argv) > 1 else "quick"
    if chosen not in ("quick", "all", *LANES):
        sys.exit(f"no part {chosen!r}; there are: quick, all, {', '.join(LANES)}")
    sys.exit(main(chosen, *sys.argv[2:]))
