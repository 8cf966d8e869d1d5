"""Runs all fuzzing: every target in a process of its own, two at a time, for a fixed number of CPU seconds.

    run ──starts──► python -m tests.fuzz one TARGET …      libFuzzer under atheris; its log is log.txt
     ▲                  │  a law is broken: suspects.jsonl, then on it goes
     │                  └  it dies or hangs: libFuzzer leaves the input as crash-* or timeout-*, and another one is started
     └───────starts──► python -m tests.fuzz shrink …       each suspect again, without instrumentation, and smaller

An input that is slow only under instrumentation is not a finding. Anything else is a finding, even if a fresh process does
not show it: a law must not hold only in fresh processes.

Some laws say which verdict is right (`targets.VALUE_LAWS`). Every input that breaks one of these is counted, whether or
not it is recorded. No new input is bred from it. So the count says how often such inputs are found, and not how many
variants one of them has.
"""

import base64
import fcntl
import importlib
import json
import os
import random
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.fuzz import corpus, mutations
from tests.fuzz.guard import MEMORY_MB, Broken, limit_memory, where
from tests.fuzz.shrink import shrunk
from tests.fuzz.targets import IN_BYTES, TARGETS, VALUE_LAWS, Killed, described
from tests.waiting import eventually

ROOT: Final = Path(__file__).parents[2]
PROCESSES: Final = 2
SHARES: Final[Mapping[str, float]] = {"grading": 0.5, "laws": 0.2, "reader": 0.12, "extraction": 0.1, "exact": 0.08}
"""The share of each target in the CPU seconds. They start in this order, so that two processes end at about the same
time."""
CPU_S: Final = 606.0
"""Ten minutes. Each target may leave up to a second of its share."""
QUICK: Final = ("grading",)
QUICK_CPU_S: Final = 30.0
"""The start takes a third of this, so there is time for one target."""
STUCK_S: Final = 300
"""A call that does not return is ended after this many seconds, and is a finding. These are not CPU seconds: on a
busy machine, and beside tests that come first, a correct call may need many times its own."""
ONE_IN: Final = 5_000
"""One input of a target may break a law of values, and one more in this many."""
_SHRINK_S: Final = 600
_MAX_TEXT_BYTES: Final = 10_000
_MAX_DECISION_BYTES: Final = 200
_MAX_ALIKE: Final = 5
_MAX_RESTARTS: Final = 6
_LOCK: Final = "under-way"


@dataclass(frozen=True, slots=True)
class Finding:
    """An input that breaks a law."""

    target: str
    law: str
    message: str
    data: bytes

    @classmethod
    def of(cls, row: Mapping[str, str]) -> "Finding":
        return cls(row["target"], row["law"], row["message"], base64.b64decode(row["data"]))

    def row(self) -> dict[str, str]:
        """The finding as a JSON object."""
        data = base64.b64encode(self.data).decode()
        return {"target": self.target, "law": self.law, "message": self.message, "data": data}

    @property
    def likeness(self) -> str:
        """A key that is equal for findings of one defect, as far as this can be known here."""
        return ": ".join(self.message.split(": ")[:2])[:80] if self.law in ("raised", "executed") else self.law

    def __str__(self) -> str:
        shown = "" if self.law in ("crashed", "stuck") else f"\n    {described(self.target, self.data)[:1500]}"
        encoded = base64.b64encode(self.data).decode()
        return f"{self.target}, {self.message[:600]}{shown}\n    replay: {self.target} {encoded}"


@dataclass(frozen=True, slots=True)
class Spent:
    """The work of one target."""

    target: str
    cpu_s: float
    runs: int
    wrong: int
    """Inputs that broke a law of values, whether or not there is a finding for them."""
    peak_mb: int
    findings: Sequence[Finding]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Spent":
        return cls(**{**row, "findings": [Finding.of(finding) for finding in row["findings"]]})

    def row(self) -> dict[str, Any]:
        """The work as a JSON object."""
        return {**asdict(self), "findings": [finding.row() for finding in self.findings]}

    @property
    def unsafe(self) -> list[Finding]:
        """The findings that broke a law of safety."""
        return [finding for finding in self.findings if finding.law not in VALUE_LAWS]

    @property
    def is_often_wrong(self) -> bool:
        return self.wrong > 1 + self.runs // ONE_IN

    def __str__(self) -> str:
        counted = dict(Counter(finding.law for finding in self.findings))
        return (
            f"{self.target}: {self.runs} inputs, {self.cpu_s:.0f} s of CPU, peak {self.peak_mb} MB,"
            f" {self.wrong} inputs with a wrong verdict, broken: {counted}"
        )


# --- the whole campaign


def run(out: Path, cpu_s: float, targets: Sequence[str] = tuple(SHARES), seed: int = 1) -> list[Spent]:
    """Fuzz `targets` for `cpu_s` CPU seconds in total. Corpora, logs and `findings.jsonl` stay in `out`."""
    total = sum(SHARES[target] for target in targets)

    def fuzz(target: str) -> Spent:
        return _fuzz(target, out / target, cpu_s * SHARES[target] / total, seed)

    with _under_way(out), ThreadPoolExecutor(PROCESSES) as pool:
        spent = list(pool.map(fuzz, targets))
        rows = [json.dumps(finding.row()) for each in spent for finding in each.findings]
        (out / "findings.jsonl").write_text("".join(f"{row}\n" for row in rows))
        (out / "spent.jsonl").write_text("".join(f"{json.dumps(each.row())}\n" for each in spent))
    return spent


def of_lane(lane: str, out: Path) -> list[Spent]:
    """The campaign of a lane of the tests."""
    return run(out, QUICK_CPU_S, QUICK) if lane == "quick" else run(out, CPU_S)


def begun(out: Path) -> list[Spent]:
    """The results of a campaign that another process has begun, once it is over. There are none if it did not end
    properly.
    """
    lock = out / _LOCK
    eventually(lambda: lock.exists() and lock.stat().st_size > 0)
    with _under_way(out):
        return [Spent.of(row) for row in _rows(out / "spent.jsonl")]


@contextmanager
def _under_way(out: Path) -> Iterator[None]:
    """Hold a lock for as long as a campaign lasts, however its process ends. It waits for a campaign that has begun."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / _LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        print(os.getpid(), file=lock, flush=True)  # if the file is empty, no process holds the lock yet
        yield


def _fuzz(target: str, out: Path, cpu_s: float, seed: int) -> Spent:
    out.mkdir(parents=True, exist_ok=True)
    for name in ("suspects.jsonl", "progress.json", "deadly.txt", "log.txt"):
        (out / name).unlink(missing_ok=True)
    suspects: list[Finding] = []
    used_s, runs, wrong, peak_mb = 0.0, 0, 0, 0
    for attempt in range(_MAX_RESTARTS):
        code, more_s = _logged(["one", target, str(out), f"{cpu_s - used_s:.1f}", str(seed + attempt)], out)
        used_s += more_s
        for row in _rows(out / "progress.json"):
            runs, wrong, peak_mb = runs + row["runs"], wrong + row["wrong"], max(peak_mb, row["peak_mb"])
        if code == 0:
            break
        suspects += _died(target, out, code)
        if cpu_s - used_s < 1:
            break
    suspects += [Finding.of(row) for row in _rows(out / "suspects.jsonl")]
    findings = [finding for suspect in _different(suspects) if (finding := _confirmed(suspect)) is not None]
    return Spent(target, used_s, runs, wrong, peak_mb, list(_different(findings)))


def _different(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings without those that are like several others."""
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.likeness] += 1
        if seen[finding.likeness] <= _MAX_ALIKE:
            yield finding


def _command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "tests.fuzz", *arguments]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}


def _logged(arguments: Sequence[str], out: Path) -> tuple[int, float]:
    """Run a command to its end, which the process decides itself. Returns its exit code and its CPU seconds."""
    with (out / "log.txt").open("ab") as output:
        process = subprocess.Popen(_command(arguments), cwd=ROOT, env=_environment(), stdout=output, stderr=output)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def _died(target: str, out: Path, code: int) -> list[Finding]:
    """The inputs of a process that did not end by itself. The next process leaves them out."""
    found: list[Finding] = []
    for path in (path for kind in ("crash", "timeout", "oom") for path in out.glob(f"{kind}-*")):
        law = "stuck" if path.name.startswith("timeout") else "crashed"
        found.append(Finding(target, law, f"{law}: the process ended with {code}", path.read_bytes()))
        with (out / "deadly.txt").open("a") as file:
            file.write(f"{corpus.name_of(path.read_bytes())}\n")
        path.unlink()
    if not found:
        tail = (out / "log.txt").read_text(errors="replace")[-1500:]
        found.append(Finding(target, "crashed", f"crashed: the process ended with {code}: {tail}", b""))
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _confirmed(suspect: Finding) -> Finding | None:
    """The suspect as a fresh process without instrumentation shows it, made as small as possible."""
    encoded = base64.b64encode(suspect.data).decode()
    command = _command(["shrink", suspect.target, suspect.law, encoded])
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=_environment(), capture_output=True, text=True, timeout=_SHRINK_S, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return suspect
    row = json.loads(done.stdout.splitlines()[-1])
    if row is not None:
        return Finding.of(row)
    if suspect.law == "slow":
        return None
    return Finding(suspect.target, suspect.law, f"{suspect.message} (not in a fresh process)", suspect.data)


# --- one target


class Run:
    """A process that fuzzes one target until its CPU seconds are spent."""

    def __init__(self, target: str, out: Path, cpu_s: float, seed: int) -> None:
        self._target = target
        self._out = out
        self._cpu_s = cpu_s
        self._seed = seed
        self._runs = 0
        self._sound = b""
        """The last input that broke no law of values."""
        self._wrong: set[bytes] = set()
        self._alike: Counter[str] = Counter()

    def fuzz(self) -> None:
        """Fuzz. This never returns: the process ends when the budget is spent."""
        atheris = importlib.import_module("atheris")
        folder = self._out / "corpus"
        corpus.fill(folder, self._target, frozenset(_lines(self._out / "deadly.txt")))
        limit = _MAX_DECISION_BYTES if self._target in IN_BYTES else _MAX_TEXT_BYTES
        arguments = [
            "fuzz", str(folder), f"-max_len={limit}", f"-dict={mutations.DICTIONARY}", f"-timeout={STUCK_S}",
            "-rss_limit_mb=0", f"-artifact_prefix={self._out}/", f"-seed={self._seed}", "-print_final_stats=1",
        ]  # fmt: skip
        limit_memory(MEMORY_MB)
        atheris.Setup(arguments, self._try, custom_mutator=self._mutator(atheris))
        atheris.Fuzz()

    def _try(self, data: bytes) -> None:
        self._runs += 1
        found = tried(self._target, data)
        if found is not None and found.law in VALUE_LAWS:
            self._wrong.add(data)
        else:
            self._sound = data
        if found is not None:
            self._suspect(found)
        if self._runs % 16 == 0 or found is not None:
            self._report()

    def _suspect(self, found: Finding) -> None:
        """Record a finding, unless there are enough like it."""
        self._alike[found.likeness] += 1
        if self._alike[found.likeness] > _MAX_ALIKE:
            return
        with (self._out / "suspects.jsonl").open("a") as file:
            file.write(json.dumps(found.row()) + "\n")

    def _report(self) -> None:
        """Record the progress, and end when the budget is spent."""
        peak_mb = _peak_mb()
        done = {"runs": self._runs, "wrong": len(self._wrong), "peak_mb": peak_mb}
        (self._out / "progress.json").write_text(json.dumps(done))
        if _cpu_s() >= self._cpu_s:
            os._exit(0)

    def _mutator(self, atheris: Any) -> Any:
        """Change an input. If its verdict was wrong, change another one instead."""
        in_bytes = self._target in IN_BYTES

        def mutate(data: bytes, max_size: int, seed: int) -> bytes:
            source = random.Random(seed)
            data = self._sound if data in self._wrong else data
            if in_bytes or source.random() < 0.3:
                return bytes(atheris.Mutate(data, max_size))
            return mutations.mutated(data, source)[:max_size]

        return mutate


def _peak_mb() -> int:
    """The largest memory that this process had. `ru_maxrss` would also count the larger process that started it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:"))


def _lines(path: Path) -> Iterator[str]:
    if path.exists():
        yield from path.read_text().splitlines()


def _cpu_s() -> float:
    """CPU seconds of this process and of its forks."""
    used = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


# --- one input


def tried(target: str, data: bytes) -> Finding | None:
    """The law that an input breaks, in this process."""
    try:
        TARGETS[target](data)
    except Killed:
        return None
    except Broken as broken:
        return Finding(target, broken.law, str(broken), data)
    except MemoryError as error:
        return Finding(target, "memory", f"memory: {where(error)}", data)
    return None


def smallest(target: str, law: str, data: bytes) -> Finding | None:
    """The smallest input that can be found for the same law. None if the law holds here. An input is slow if it is
    slow three times.
    """

    def breaks(data: bytes) -> bool:
        times = 3 if law == "slow" else 1
        return all((found := tried(target, data)) is not None and found.law == law for _ in range(times))

    if not breaks(data):
        return None
    data = shrunk(data, breaks, in_bytes=target in IN_BYTES)
    return tried(target, data)
