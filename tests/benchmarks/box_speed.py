"""Programs in boxes, against bare starts of the same interpreter, `docker run`, and a warm fork without a box.

R0 is the rate of bare `python3 -I -c pass`, two at a time: the price of starting an interpreter for each test. Every
figure is measured in several rounds, each round goes through all figures, and the median of the rounds counts. Ratios
are between medians of one run. CPU time is the busy time of the whole machine, whatever ran, so it is right only if
nothing else runs.
"""

import asyncio
import contextlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Final

from sandbox.base import Call, Execute, Exit, Limits, Program, Run, RunResult, Sandbox, SandboxUnavailable, Tests
from sandbox.base import TestStyle as Style
from sandbox.boxes.docker import DockerBackend
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.runner.zygote import COMMON_MODULES
from tests.benchmarks import load, servers
from tests.benchmarks.report import Cell, Effort, Report

IMAGE: Final = "rewardline-box"
PARALLEL: Final = 2
ADD: Final = "a, b = map(int, input().split())\nprint(a + b)\n"
FUNCTION: Final = "def add(a, b):\n    return a + b\n"
CPP: Final = (
    "#include <bits/stdc++.h>\nusing namespace std;\nint main() { int a, b; cin >> a >> b; cout << a + b << endl; }\n"
)
CPP_COLD: Final = f";\n{CPP}"
"""The same program. No precompiled header applies after the compiler has seen a token, even only that of an empty
declaration."""
BUSY: Final = "import time\nwhile time.process_time() < {cpu_s}:\n    pass\nprint(1)\n"
_PYTHON: Final = "/usr/bin/python3"
_IN_MEMORY: Final = Path("/dev/shm/rewardline-bench")


async def run(effort: Effort) -> list[Report]:
    os.sched_setaffinity(0, servers.cores())
    rounds, tests = effort.of((5, 1000), (2, 200), (1, 20))
    try:
        reports = [await _rates(rounds, tests), await _kinds(rounds, effort.of(60, 20, 2), effort.of(3, 3, 1))]
        reports += [await _false_time_outs(effort.of(12, 4, 1))]
        reports += await _through_http(rounds, effort.of(100, 20, 2), effort.of(200, 200, 8))
        reports += await _volume(effort.of(1000, 50, 4), effort.of(100, 100, 10))
    finally:
        os.sched_setaffinity(0, servers.cores()[-1:])
    return reports


# --- tests per second


async def _rates(rounds: int, tests: int) -> Report:
    """Rates of programs with ten tests, two at a time."""
    figures = _Figures()
    async with contextlib.AsyncExitStack() as stack:
        boxes = {name: await stack.enter_async_context(_started(make)) for name, make in _backends().items()}
        fresh = await stack.enter_async_context(_started(lambda: _pooled(LocalBackend(python=_PYTHON), fresh=True)))
        for _ in range(rounds):
            await figures.add("bare start", tests // 4, partial(asyncio.to_thread, _bare_starts, tests // 4))
            usual = partial(asyncio.to_thread, _bare_starts, tests // 8, _IMPORTS)
            await figures.add("bare start with the usual imports", tests // 8, usual)
            some = max(4, tests // 100)
            await figures.add("docker run --rm", some, partial(asyncio.to_thread, _docker_runs, some))
            await figures.add(_WARM_FORK, tests, partial(asyncio.to_thread, _warm_forks, tests))
            for name, sandbox in boxes.items():
                await figures.add(f"{name}, 10 tests a program", tests, partial(_ten_tests, sandbox, tests))
            few = max(8, tests // 40)
            await figures.add("namespaces, fresh box per program of 1", few, partial(_one_test_programs, fresh, few))
    note = (
        "Tests per second, two at a time on two cores, fresh process per test; `x docker run` is against its rate. CPU: "
        "milliseconds of a test on all cores together, and the share that a warm fork's are of them."
    )
    return Report("(e) Tests per second in boxes", note, figures.rows())


_WARM_FORK: Final = "fork of a warm interpreter, no box"
_IMPORTS: Final = (
    "import sys,os,math,re,collections,itertools,functools,heapq,bisect,random,string,typing,datetime,json,copy"
)


@dataclass(slots=True)
class _Figures:
    """Rates and CPU milliseconds by name, from several rounds."""

    rates: dict[str, list[float]] = field(default_factory=dict)
    cpu_ms: dict[str, list[float]] = field(default_factory=dict)

    async def add(self, name: str, tests: int, measure: Callable[[], Awaitable[float | None]]) -> None:
        before_s = _busy_s()
        per_s = await measure()
        if per_s is not None:
            self.rates.setdefault(name, []).append(per_s)
            self.cpu_ms.setdefault(name, []).append(1000 * (_busy_s() - before_s) / tests)

    def rows(self) -> list[dict[str, Cell]]:
        medians = {name: median(values) for name, values in self.rates.items()}
        cpu_ms = {name: median(values) for name, values in self.cpu_ms.items()}
        bare, docker = medians["bare start"], medians.get("docker run --rm")
        return [
            {
                "what": name,
                "tests/s": per_s,
                "x R0": per_s / bare,
                "x docker run": per_s / docker if docker else None,
                "of a warm fork": per_s / medians[_WARM_FORK],
                "CPU ms": cpu_ms[name],
                "of a warm fork, CPU": cpu_ms[_WARM_FORK] / cpu_ms[name],
            }
            for name, per_s in medians.items()
        ]


def _busy_s() -> float:
    """CPU seconds that this machine has worked: user, nice, system, irq, softirq (proc_stat(5))."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(field) for field in file.readline().split()[1:]]
    return sum(ticks[place] for place in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")


def _bare_starts(count: int, code: str = "pass") -> float:
    def start(_: int) -> None:
        subprocess.run([_PYTHON, "-I", "-c", code], check=True)

    return _per_second(start, count)


def _docker_runs(count: int) -> float | None:
    """The rate of `docker run`. None without Docker or without the image."""
    command = ["docker", "run", "--rm", "--network", "none", "-i", IMAGE, "/usr/bin/python3", "-I", "-c", ADD]

    def start(_: int) -> None:
        subprocess.run(command, check=True, input=b"1 2\n", capture_output=True)

    if not _has_image():
        return None
    return _per_second(start, count)


def _per_second(work: Callable[[int], None], count: int) -> float:
    with ThreadPoolExecutor(PARALLEL) as pool:
        started = perf_counter()
        list(pool.map(work, range(count)))
        return count / (perf_counter() - started)


_FORKS: Final = """\
import gc, os, sys
code = compile(sys.argv[2], "main.py", "exec")
gc.collect()
gc.freeze()
os.write(1, b"ready")
os.read(0, 1)
for _ in range(int(sys.argv[1])):
    given, giving = os.pipe()
    reading, writing = os.pipe()
    os.write(giving, b"1 2\\n")
    os.close(giving)
    pid = os.fork()
    if not pid:
        os.dup2(given, 0)
        os.dup2(writing, 1)
        exec(code, {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.close(given)
    os.close(writing)
    while os.read(reading, 4096):
        pass
    os.close(reading)
    assert os.wait4(pid, 0)[1] == 0
"""


def _warm_forks(count: int) -> float:
    """The least work of a judge that keeps the same modules warm and has no box.

    It forks, gives the program its input, runs it, reads its output to the end, and waits for its process.
    """
    code = f"import {', '.join(COMMON_MODULES)}\n{_FORKS}"
    command = [_PYTHON, "-s", "-S", "-c", code, str(count // PARALLEL), ADD]
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0))
            for _ in range(PARALLEL)
        ]
        for process in running:
            assert process.stdout is not None
            assert process.stdout.read(5) == b"ready"
        started = perf_counter()
        for process in running:
            assert process.stdin is not None
            process.stdin.write(b"\n")
        for process in running:
            assert process.wait() == 0
        return count / (perf_counter() - started)


async def _ten_tests(sandbox: Sandbox, tests: int) -> float:
    runs = [Execute(stdin=b"%d 2\n" % n) for n in range(10)]
    return len(runs) * await _programs_per_second(sandbox, Program(ADD), runs, tests // len(runs))


async def _one_test_programs(sandbox: Sandbox, count: int) -> float:
    return await _programs_per_second(sandbox, Program(ADD), [Execute(stdin=b"1 2\n")], count)


async def _programs_per_second(sandbox: Sandbox, program: Program, runs: Sequence[Run], count: int) -> float:
    left = iter(range(count))

    async def worker() -> None:
        for _ in left:
            await _done(sandbox, program, runs)

    started = perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(PARALLEL):
            group.create_task(worker())
    return count / (perf_counter() - started)


async def _done(sandbox: Sandbox, program: Program, runs: Sequence[Run]) -> list[RunResult]:
    """The results, which must be those of a right program."""
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return True

    built = await sandbox.run(program, runs, take)
    assert built.ok, built.message
    assert len(results) == len(runs), results
    assert all(result.exit is Exit.EXITED and result.code in (0, None) for result in results), results
    return results


# --- one program at a time


async def _kinds(rounds: int, programs: int, least: int) -> Report:
    """Seconds of one program at a time, as medians over programs, against one bare start."""
    spent: dict[str, list[float]] = {}
    async with contextlib.AsyncExitStack() as stack:
        boxes = {name: await stack.enter_async_context(_started(make)) for name, make in _backends(slots=1).items()}
        for _ in range(rounds):
            _add(spent, "bare start", await _timed(lambda: asyncio.to_thread(_bare_starts_alone), programs))
            _add(spent, "bare python -m pytest", await _timed(lambda: asyncio.to_thread(_bare_pytest), least))
            for name, sandbox in boxes.items():
                for kind, (program, runs) in _KINDS.items():
                    one = partial(_done, sandbox, program, runs)
                    if await _can(one):
                        _add(spent, f"{name}: {kind}", await _timed(one, max(least, programs // len(runs) // 2)))
                if "cpp" in sandbox.languages and name == "Docker":
                    for kind, source in (
                        ("C++ by precompiled header", CPP),
                        ("C++ cold", CPP_COLD),
                    ):
                        _add(spent, f"{name}: {kind}", [await _compiled(sandbox, source) for _ in range(min(2, least))])
    bare = median(spent["bare start"])
    rows: list[dict[str, Cell]] = [
        {"what": name, "ms": 1000 * median(values), "bare starts": median(values) / bare}
        for name, values in spent.items()
    ]
    return Report(
        "(e) One program at a time",
        "Wall milliseconds per program (of a compilation: CPU), and against one bare start.",
        rows,
    )


_ASSERTS: Final = [f"assert add({n}, 2) == {n + 2}" for n in range(5)]
_PYTEST: Final = "import pytest\nfrom solution import add\n" + "".join(
    f"def test_{n}():\n    assert add({n}, 2) == {n + 2}\n" for n in range(5)
)
_KINDS: Final[Mapping[str, tuple[Program, Sequence[Run]]]] = {
    "1 test": (Program(ADD), [Execute(stdin=b"1 2\n")]),
    "10 tests": (Program(ADD), [Execute(stdin=b"1 2\n")] * 10),
    "5 function calls": (Program(FUNCTION), [Call("add", b"[[1, 2], {}]")] * 5),
    "5 asserts, split": (Program(FUNCTION), [Tests(Style.ASSERTS, cases=_ASSERTS)]),
    "pytest of 5": (Program(FUNCTION), [Tests(Style.PYTEST, files={"test_add.py": _PYTEST})]),
}


def _add(spent: dict[str, list[float]], name: str, seconds: Sequence[float]) -> None:
    spent.setdefault(name, []).extend(seconds)


async def _timed(work: Callable[[], Awaitable[object]], count: int) -> list[float]:
    seconds = []
    for _ in range(count):
        started = perf_counter()
        await work()
        seconds.append(perf_counter() - started)
    return seconds


async def _can(work: Callable[[], Awaitable[object]]) -> bool:
    """Whether this can run here at all: a box without pytest cannot run tests of pytest."""
    try:
        await work()
    except (AssertionError, SandboxUnavailable):
        return False
    return True


def _bare_starts_alone() -> None:
    subprocess.run([_PYTHON, "-I", "-c", "pass"], check=True)


def _bare_pytest() -> None:
    text = _PYTEST.replace("from solution import add", FUNCTION)
    Path(".build/pytest").mkdir(parents=True, exist_ok=True)
    with open(".build/pytest/test_add.py", "w", encoding="utf-8") as file:
        file.write(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "test_add.py"]
    subprocess.run(command, check=True, cwd=".build/pytest", capture_output=True)


_compiled_before = iter(range(10**9))


async def _compiled(sandbox: Sandbox, source: str) -> float:
    """CPU seconds of a compilation without a cache."""
    different = f"{source}// {os.getpid()} {next(_compiled_before)}\n"
    built = await sandbox.run(Program(different, "cpp"), [])
    assert built.ok, built.message
    assert not built.cached
    return built.cpu_s


# --- limits under load


async def _false_time_outs(busy: int) -> Report:
    """Programs that use half their CPU limit, in many more boxes than there are cores."""
    async with _started(lambda: _pooled(LocalBackend(python=_PYTHON), slots=busy)) as sandbox:
        limits = Limits(cpu_s=1.0)
        results: list[RunResult] = []

        def take(_: int, result: RunResult) -> bool:
            results.append(result)
            return True

        async with asyncio.TaskGroup() as group:
            for _ in range(busy * 2):
                group.create_task(sandbox.run(Program(BUSY.format(cpu_s=0.5)), [Execute(limits=limits)], take))
    rows: list[dict[str, Cell]] = [
        {
            "busy boxes": busy,
            "runs": len(results),
            "timed out": sum(result.exit is Exit.TIME_LIMIT for result in results),
            "largest CPU s": max(result.cpu_s for result in results),
            "largest wall s": max(result.wall_s for result in results),
        }
    ]
    return Report("(e) False time-outs", "Each run uses 0.5 of its 1.0 CPU seconds; none may time out.", rows)


# --- through the service


async def _through_http(rounds: int, programs: int, starts: int) -> list[Report]:
    """Batches of `code` items with ten tests each, judged over HTTP."""
    rates: dict[str, list[float]] = {}
    reference = {"case_type": "stdio", "test_cases": [{"input": f"{n} 2\n", "output": f"{n + 2}\n"} for n in range(10)]}
    for kind in ("docker", "local") if _has_image() else ("local",):
        with servers.ours(servers.cores(), sandbox=kind) as service:
            for number in range(rounds + 1):
                items = [
                    {"response": f"```python\n# {number} {n}\n{ADD}```", "verifier": "code", "reference": reference}
                    for n in range(programs)
                ]
                bare = await asyncio.to_thread(_bare_starts, starts)
                started = perf_counter()
                content = await load.answer(service, "http", json.dumps({"items": items}).encode())
                seconds = perf_counter() - started
                results = json.loads(content)["results"]
                assert all(result["score"] == 1.0 for result in results), results[:3]
                if number:
                    _add(rates, f"{kind} boxes", [programs * 10 / seconds])
                    _add(rates, "bare start", [bare])
    bare_rate = median(rates["bare start"])
    rows: list[dict[str, Cell]] = [
        {"what": name, "tests/s": median(values), "x R0": median(values) / bare_rate} for name, values in rates.items()
    ]
    return [Report("(e) Tests per second through HTTP, judged", f"Batches of {programs} programs of 10 tests.", rows)]


async def _volume(programs: int, first: int) -> list[Report]:
    """Many programs of ten tests: the rate, the time of each in its box, and memory."""
    rows: list[dict[str, Cell]] = []
    for name, make in _backends().items():
        async with _started(make) as sandbox:
            await _ten_tests(sandbox, first)
            before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            started = perf_counter()
            seconds = await _different_programs(sandbox, programs)
            elapsed = perf_counter() - started
            rows.append(
                {
                    "what": name,
                    "programs": programs,
                    "tests/s": programs * 10 / elapsed,
                    "p50 ms": 1000 * median(seconds),
                    "p99 ms": 1000 * quantiles(seconds, n=100)[98],
                    "grown MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before_mb,
                }
            )
    return [
        Report("(e) Many programs", "Ten tests each, all different, two at a time; milliseconds per program.", rows)
    ]


async def _different_programs(sandbox: Sandbox, count: int) -> list[float]:
    """Wall seconds of each program."""
    runs = [Execute(stdin=b"%d 2\n" % n) for n in range(10)]
    left = iter(range(count))
    seconds: list[float] = []

    async def worker() -> None:
        for n in left:
            program = Program(f"# {n}\n" * 30 + ADD)
            seconds.extend(await _timed(partial(_done, sandbox, program, runs), 1))

    async with asyncio.TaskGroup() as group:
        for _ in range(PARALLEL):
            group.create_task(worker())
    return seconds


# --- boxes


def _backends(slots: int = PARALLEL) -> dict[str, Callable[[], Sandbox]]:
    made: dict[str, Callable[[], Sandbox]] = {
        "namespaces": lambda: _pooled(LocalBackend(python=_PYTHON, tier="namespaces"), slots=slots),
        "Landlock": lambda: _pooled(LocalBackend(python=_PYTHON, tier="landlock", state_dir=_IN_MEMORY), slots=slots),
    }
    if _has_image():
        made["Docker"] = lambda: _pooled(DockerBackend(image=IMAGE), slots=slots)
    return made


def _pooled(backend: LocalBackend | DockerBackend, *, slots: int = PARALLEL, fresh: bool = False) -> Sandbox:
    return PooledSandbox(backend, slots=slots, ready=slots, fresh=fresh)


@contextlib.asynccontextmanager
async def _started(make: Callable[[], Sandbox]) -> AsyncIterator[Sandbox]:
    sandbox = make()
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.stop()


def _has_image() -> bool:
    try:
        found = subprocess.run(["docker", "image", "inspect", IMAGE], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return found.returncode == 0 and bool(json.loads(found.stdout))
