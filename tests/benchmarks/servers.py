"""The measured servers, started on cores of their own: ours, and bare ones (tests/benchmarks/bare.py)."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import ROOT, serving

PATH = "/v1/score"
METHOD = "/rewardline.v1.Verifier/Score"
BARE_HTTP = ("http-msgspec", "http-json")
CHAT = "http-chat"
BARE_GRPC = ("grpc-parse", "grpc-read")
_CORES = sorted(os.sched_getaffinity(0))
_CPU_CLOCK = 2
"""Linux's CPUCLOCK_SCHED: user and system time in nanoseconds."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. `http` and `grpc` are host:port, or empty if it has no such door."""

    name: str
    pid: int
    http: str = ""
    grpc: str = ""


def cores() -> list[int]:
    """The cores of this run. Servers run on the first, the load generator on the last."""
    return _CORES


PLUGINS = Path(__file__).parent / "plugin"
"""A folder with the verifier `trivial`, as pip would install it."""


@contextmanager
def ours(cores: Sequence[int], **settings: str) -> Iterator[Server]:
    """The service as `rewardline serve` starts it, with its workers, on these cores."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        with on_cores(cores):
            served = stack.enter_context(serving(Path(folder) / "log.jsonl", (), PLUGINS, **settings))
        yield Server("ours", served.process.pid, served.url.removeprefix("http://"), served.grpc)


@contextmanager
def bare(kind: str, cores: Sequence[int]) -> Iterator[Server]:
    """One of the bare servers, in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.bare", kind]
    with on_cores(cores):
        started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    with started as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address, f"the bare server {kind} did not start"
            door = {"http": address} if kind in (*BARE_HTTP, CHAT) else {"grpc": address}
            yield Server(kind, process.pid, **door)
        finally:
            process.kill()


def cpu_s(pids: Sequence[int]) -> float:
    """CPU seconds these processes have used with all their threads, by the clock of each (clock_getcpuclockid(3)), and those
    of their children that have ended, such as workers that were replaced.
    """
    ended_s = sum(sum(map(int, _stat(pid)[13:15])) for pid in pids) / os.sysconf("SC_CLK_TCK")
    return ended_s + sum(time.clock_gettime(~pid << 3 | _CPU_CLOCK) for pid in pids)


def rss_mb(pid: int) -> float:
    return int(_stat(pid)[21]) * _PAGE_BYTES / 1e6


def _stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat, from the state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@contextmanager
def on_cores(cores: Sequence[int]) -> Iterator[None]:
    """Run this thread, and the processes started in the block, on these cores. The processes stay there."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
