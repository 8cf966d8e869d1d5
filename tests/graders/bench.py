"""Has graders of others judge labelled rows, each in a process that can be ended."""

import hashlib
import json
import os
import select
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.accuracy.real_data import Rows
from tests.processes import family, gone

WORKER = Path(__file__).with_name("worker.py")
SOURCES = Path(__file__).with_name("sources.toml")
"""The graders that have no wheel: repository, commit, and the hash of each file that judges."""
MOST_CPU_S, MOST_S = 30.0, 3600.0
"""What an answer may take: of a processor, with all processes of the grader, and by the clock for one that only waits."""
_POLL_S = 0.5
HANG, CRASH = "hang", "crash"
Answer = bool | str | None
"""Right, wrong, `hang` or `crash`; None: the grader does not judge it."""


Row = tuple[str, str, bool | None]
"""Reference, response and label."""


def rows_of(rows: Rows) -> list[Row]:
    pairs = zip(rows.items, rows.labels, strict=True)
    return [(item["reference"], item["response"], label) for item, label in pairs]


@dataclass
class Tally:
    """What one grader made of one set."""

    grader: str
    rows: Rows
    answers: Sequence[Answer]
    cpu_s: float
    disagreements: list[dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.disagreements = [
            {
                "set": self.rows.name,
                "gold": item["reference"],
                "response": item["response"],
                "label": label,
                "said": said,
            }
            for item, label, said in zip(self.rows.items, self.rows.labels, self.answers, strict=True)
            if said is not label
        ]

    def by_row(self) -> dict[Row, Answer]:
        return dict(zip(rows_of(self.rows), self.answers, strict=True))

    def count(self, said: Answer, *, label: bool | None = None) -> int:
        """The rows with an answer that differs from their label; those with one label, if it is given."""
        return sum(row["said"] is said and label in (None, row["label"]) for row in self.disagreements)

    def count_text(self, said: str) -> int:
        return sum(row["said"] == said for row in self.disagreements)


@dataclass(frozen=True)
class Environment:
    """Where graders run."""

    python: Path
    sources: Path | None = None
    """The folder with checkouts of the graders that have no wheel."""
    own: Path | None = None
    """A file with graders of the user's."""

    def variables(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "1",
            **({"GRADER_SOURCES": str(self.sources)} if self.sources else {}),
            **({"GRADER_FILE": str(self.own)} if self.own else {}),
        }

    def graders(self) -> dict[str, bool]:
        """The names of the graders that it has, and whether each judges letters alone."""
        listing = (
            "import json, runpy\n"
            f"names = runpy.run_path({str(WORKER)!r})\n"
            "print(json.dumps({name: name in names['OF_LETTERS'] for name in names['GRADERS']}))"
        )
        ran = subprocess.run([str(self.python), "-c", listing], capture_output=True, check=True, env=self.variables())
        return dict(json.loads(ran.stdout))


def checked(folder: Path) -> Path:
    """The folder of checkouts.

    Raises:
        ValueError: a file is not there, or not the one that `sources.toml` pins.
    """
    for name, pinned in tomllib.loads(SOURCES.read_text(encoding="utf-8")).items():
        for path, digest in pinned["files"].items():
            file = folder / name / path
            if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
                wanted = f"check out {pinned['commit']} of {pinned['repository']} there"
                raise ValueError(f"{file} is not the file that tests/graders/sources.toml pins; {wanted}")
    return folder


def judged(
    environment: Environment, grader: str, sets: Sequence[Rows], known: Mapping[str, Tally] | None = None
) -> list[Tally]:
    """The answers of a grader to each set. It is started again after each hang and crash.

    `known` is what it said of these sets, by their names, in an earlier run. Only other rows are asked about.
    """
    tallies = []
    process: _Process | None = None
    try:
        for rows in sets:
            old = restricted((known or {}).get(rows.name), rows)
            earlier, cpu_s = (old.by_row(), old.cpu_s) if old else ({}, 0.0)
            answers: list[Answer] = []
            for row in rows_of(rows):
                if row not in earlier:
                    process = process or _Process(environment, grader)
                    used_s, earlier[row] = process.ask(*row[:2])
                    cpu_s += used_s
                    if earlier[row] in (HANG, CRASH):
                        process.close()
                        process = None
                answers.append(earlier[row])
            tallies.append(Tally(grader, rows, answers, cpu_s))
    finally:
        if process is not None:
            process.close()
    return tallies


def restricted(tally: Tally | None, rows: Rows) -> Tally | None:
    """What a grader said of those of its rows that are among some, with the share of its time."""
    if tally is None:
        return None
    now, old = set(rows_of(rows)), tally.by_row()
    kept = [key for key in old if key in now]
    items = [{"reference": reference, "response": response} for reference, response, _ in kept]
    own = Rows(rows.name, items, [label for *_, label in kept], rows.left_out)
    return Tally(tally.grader, own, [old[key] for key in kept], tally.cpu_s * len(kept) / (len(old) or 1))


class _Process:
    def __init__(self, environment: Environment, grader: str) -> None:
        self._process = subprocess.Popen(
            [str(environment.python), str(WORKER), grader],
            env=environment.variables(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=WORKER.parent,
            start_new_session=True,
        )
        if self._answer(MOST_CPU_S * 6, MOST_S * 6) is not None:
            raise RuntimeError(
                f"{grader}: it does not start in {environment.python}; run the worker by hand to see why"
            )

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # with children of the grader, which hold its pipes
        self._process.communicate()

    def ask(self, gold: str, response: str) -> tuple[float, Answer]:
        """The CPU seconds that the answer took, and the answer."""
        assert self._process.stdin is not None
        before_s = self._used_s()
        try:
            self._process.stdin.write(json.dumps([gold, response]).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return 0.0, CRASH
        answer = self._answer(MOST_CPU_S, MOST_S)
        return max(self._used_s() - before_s, 0.0), answer

    def _answer(self, most_cpu_s: float, most_s: float) -> Answer:
        assert self._process.stdout is not None
        begun_s, until = self._used_s(), time.monotonic() + most_s
        while time.monotonic() < until and self._used_s() - begun_s < most_cpu_s:
            if select.select([self._process.stdout], [], [], _POLL_S)[0]:
                line = self._process.stdout.readline()
                return json.loads(line) if line else CRASH
        return HANG

    def _used_s(self) -> float:
        """The CPU seconds of the process, of those below it, and of those that have ended. 0 if it has ended."""
        ticks = 0
        for pid in family(self._process.pid):
            with gone():
                stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
                ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")


def table(tallies: Sequence[Tally]) -> Iterator[str]:
    """One line for each grader, over all sets."""
    yield "| grader | items | accuracy | false accepts | false rejects | not judged | hangs | crashes | items per CPU second |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for grader in dict.fromkeys(tally.grader for tally in tallies):
        own = [tally for tally in tallies if tally.grader == grader]
        items, cpu_s = sum(len(tally.answers) for tally in own), sum(tally.cpu_s for tally in own)
        right = items - sum(len(tally.disagreements) for tally in own)
        accepts, rejects = (sum(tally.count(said, label=not said) for tally in own) for said in (True, False))
        refused = sum(tally.count(None) for tally in own)
        hangs, crashes = (sum(tally.count_text(said) for tally in own) for said in (HANG, CRASH))
        speed = f"{items / cpu_s:,.0f}" if cpu_s else ""
        yield f"| {grader} | {items:,} | {right / items:.1%} | {accepts} | {rejects} | {refused} | {hangs} | {crashes} | {speed} |"


def by_set(tallies: Sequence[Tally]) -> Iterator[str]:
    """The accuracy on each set, with the false accepts in brackets; nothing for sets that a grader was not asked about."""
    graders = list(dict.fromkeys(tally.grader for tally in tallies))
    yield f"| set | items | {' | '.join(graders)} |"
    yield f"|---|---|{'---|' * len(graders)}"
    for name in dict.fromkeys(tally.rows.name for tally in tallies):
        own = {tally.grader: tally for tally in tallies if tally.rows.name == name}
        size = len(next(iter(own.values())).answers)
        cells = [
            f"{1 - len(tally.disagreements) / size:.1%} ({tally.count(True, label=False)})" if tally else ""
            for tally in map(own.get, graders)
        ]
        yield f"| {name} | {size} | {' | '.join(cells)} |"
