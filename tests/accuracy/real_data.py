"""The labelled files, and the ways to judge them: over HTTP, over gRPC, by the command line, and by other graders."""

import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rewardline import Client

from tests.accuracy.rewrites import Rewrite, response
from tests.conftest import Served
from tests.processes import descendants
from verifiers.math_verify import MathVerify

ROOT = Path(__file__).parents[2]
DATA, REPORTS = ROOT / "tests" / "data" / "math", ROOT / "tests" / "data" / "reports"
PROBES, BENCHMARKS = DATA / "probes.jsonl", DATA / "benchmark_golds.jsonl"
WAYS = ("HTTP", "gRPC", "command line")
RIVALS: Mapping[str, Mapping[str, Any]] = {
    "math_verify": {"verifier": "math_verify", "params": {"reference_is": "math"}},
    "math, second opinion where unreadable": {"params": {"second_opinion": "unreadable"}},
    "math, second opinion always": {"params": {"second_opinion": "always"}},
}
"""The other judges of rows for `math`, with the changes that they make to items."""
PEERS = {"Math-Verify's own tests": "math_verify_cases", "Inspect's own tests": "inspect_cases"}
KEPT = ROOT / ".build" / "accuracy"
COMPARED = ("status", "score", "reason", "extracted", "detail")

Json = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Items with their labels, `labels[i]` for `items[i]`."""

    name: str
    items: list[Json]
    labels: Sequence[bool | None]
    """Whether each item is right. None means that it must be refused as `invalid`."""
    left_out: int = 0
    """The references that cannot be written in the way of this set."""
    drawn_from: int = 0
    """The number of rows that these are a sample of. 0 if they are all."""

    def sample(self, most: int) -> "Rows":
        """A sample of at most this many rows. It is the same each time."""
        if len(self.items) <= most:
            return self
        chosen = sorted(random.Random(len(self.items)).sample(range(len(self.items)), most))
        items, labels = [self.items[i] for i in chosen], [self.labels[i] for i in chosen]
        return Rows(self.name, items, labels, self.left_out, drawn_from=len(self.items))


@dataclass
class Outcome:
    """The results of one judge."""

    way: str
    rows: Rows
    verdicts: list[Json]
    seconds: float
    cpu_s: float
    """CPU seconds of the judge with its workers, without the client's."""
    agree: int = field(default=0, init=False)
    false_accepts: int = field(default=0, init=False)
    false_rejects: int = field(default=0, init=False)
    invalid: int = field(default=0, init=False)
    failed: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        for verdict, label in zip(self.verdicts, self.rows.labels, strict=True):
            if verdict["status"] == "invalid":
                self.agree += label is None
                self.invalid += label is not None
            elif verdict["status"] != "ok":
                self.failed[verdict["reason"]] += 1
            elif (verdict["score"] == 1.0) is label:
                self.agree += 1
            elif label:
                self.false_rejects += 1
            else:
                self.false_accepts += 1

    @property
    def disagreements(self) -> Sequence[Json]:
        """Items with a verdict that differs from the label, judged or not, with both."""
        return [
            {"data": self.rows.name, "judged by": self.way, "label": label, "verdict": verdict, **item}
            for item, label, verdict in zip(self.rows.items, self.rows.labels, self.verdicts, strict=True)
            if verdict["score"] != (None if label is None else float(label))
        ]


# --- the data


def probes(path: Path = PROBES) -> Rows:
    """Pairs written to find mistakes of graders, without those with a label that is a matter of policy."""
    rows = [row for row in _read(path) if not row.get("policy")]
    return Rows("probes", [_item(row["gold"], row["response"]) for row in rows], [row["expected"] for row in rows])


def gsm8k() -> Rows:
    """Real model solutions of GSM8K's test set, with the labels of its graders."""
    rows = _read(DATA / "gsm8k_model_solutions.jsonl")
    items = [_item(row["gold"], row["response"]) for row in rows]
    return Rows("GSM8K model solutions", items, [row["expected"] for row in rows])


def deepmath() -> Rows:
    """The reference answers of ROLL's DeepMath file, in pairs."""
    return in_pairs("DeepMath references", deepmath_golds())


def benchmarks(path: Path = BENCHMARKS) -> Rows:
    """The reference answers of several benchmarks, in pairs."""
    return in_pairs("benchmark references", benchmark_golds(path))


def in_pairs(name: str, golds: Sequence[str]) -> Rows:
    """Each reference as a response to itself, and to another row.

    The other row is the nearest following one with a different text (without spaces, case and markup). In rare cases
    two such texts mean the same, and the label is wrong.
    """
    items, labels = [], []
    for position, gold in enumerate(golds):
        others = (golds[(position + step) % len(golds)] for step in range(1, len(golds)))
        other = next(text for text in others if _bare(text) != _bare(gold))
        for answer, label in ((gold, True), (other, False)):
            items.append(_item(gold, f"We work it out step by step.\n\nTherefore the answer is $\\boxed{{{answer}}}$."))
            labels.append(label)
    return Rows(name, items, labels)


def deepmath_golds() -> list[str]:
    return [row["ground_truth"] for row in _read(DATA / "deepmath_golds.jsonl")]


def benchmark_golds(path: Path = BENCHMARKS) -> list[str]:
    """The distinct reference answers in a file of `dataset` and `gold`."""
    return list(dict.fromkeys(row["gold"] for row in _read(path)))


def against_themselves(name: str, golds: Sequence[str], rewrite: Rewrite) -> Rows:
    """Each reference as the answer to itself, written in one way, if that is possible."""
    written = [(gold, response(gold, rewrite)) for gold in golds]
    items = [_item(gold, text) for gold, text in written if text is not None]
    return Rows(f"{name}: {rewrite}", items, [True] * len(items), len(written) - len(items))


def peers() -> Sequence[Rows]:
    """Answers from the tests of other graders: Math-Verify's and Inspect's."""
    return [_labelled(name, _read(DATA / f"{file}.jsonl")) for name, file in PEERS.items()]


def sentences() -> Rows:
    """Answers in sentences, of all kinds of values and in several languages."""
    return _labelled("answers in sentences", _read(DATA / "sentences.jsonl"))


def _labelled(name: str, rows: Sequence[Json]) -> Rows:
    """Rows with `math` as their parameters, without those that a careful reader would label otherwise (`doubt` says
    why).
    """
    kept = [row for row in rows if row["gold"].strip() and "doubt" not in row]
    items = [{**_item(row["gold"], row["response"]), "params": row.get("math", {})} for row in kept]
    return Rows(name, items, [row["expected"] for row in kept], left_out=len(rows) - len(kept))


def reports() -> Sequence[Rows]:
    """Small inputs from public reports of graders' faults, by the verifier they are for."""
    by_verifier: dict[str, list[Json]] = {}
    for path in sorted(REPORTS.glob("*.jsonl")):
        for row in _read(path):
            by_verifier.setdefault(row["verifier"], []).append(row)
    return [
        Rows(
            f"reports: {verifier}",
            [{key: row[key] for key in ("verifier", "response", "reference", "params") if key in row} for row in rows],
            [None if row["expected"] == "invalid" else row["expected"] for row in rows],
        )
        for verifier, rows in sorted(by_verifier.items())
    ]


# --- the judges


def judge(rows: Rows, way: str, served: Served, folder: Path) -> Outcome:
    """Have our service judge the rows in one way, without a cache."""
    if way == "command line":
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        verdicts = _by_command(rows, folder)
        seconds = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return Outcome(way, rows, verdicts, seconds, sum(after[:2]) - sum(before[:2]))
    before_s = _cpu_s(served.process.pid)
    started = time.perf_counter()
    with Client(served.url if way == "HTTP" else f"grpc://{served.grpc}") as client:
        results = client.score(rows.items, cache="off", deadline_s=600)
    seconds = time.perf_counter() - started
    verdicts = [{name: getattr(result, name) for name in COMPARED} for result in results]
    verdicts = [{**verdict, "status": str(verdict["status"])} for verdict in verdicts]
    return Outcome(way, rows, verdicts, seconds, _cpu_s(served.process.pid) - before_s)


def judge_as(rival: str, rows: Rows, served: Served, folder: Path) -> Outcome:
    """Have one of `RIVALS` judge rows for `math`.

    What Math-Verify said of the same rows is kept in `KEPT`, with what it took. Another release is asked again.
    """
    other = RIVALS[rival]
    is_math = "verifier" not in other
    own = [item.get("params", {}) if is_math else {} for item in rows.items]
    items = [
        {**item, **other, "params": {**params, **other["params"]}} for item, params in zip(rows.items, own, strict=True)
    ]
    if is_math:
        return replace(judge(replace(rows, items=items), WAYS[0], served, folder), way=rival)
    asked = json.dumps([MathVerify.version, items]).encode()
    kept = KEPT / f"{hashlib.sha256(asked).hexdigest()}.json"
    if kept.exists():
        return Outcome(rival, replace(rows, items=items), *json.loads(kept.read_text(encoding="utf-8")))
    outcome = replace(judge(replace(rows, items=items), WAYS[0], served, folder), way=rival)
    if not outcome.failed:
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([outcome.verdicts, outcome.seconds, outcome.cpu_s]), encoding="utf-8")
    return outcome


def _by_command(rows: Rows, folder: Path) -> list[Json]:
    source, target = folder / "rollouts.jsonl", folder / "verdicts.jsonl"
    source.write_text("".join(json.dumps(item) + "\n" for item in rows.items))
    target.unlink(missing_ok=True)
    command = [sys.executable, "-m", "service", "score", str(source), "-o", str(target)]
    environment = {**os.environ, "REWARDLINE_SANDBOX": "none"}  # the items hold no programs
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=environment, timeout=900)
    return [{name: row[name] for name in COMPARED} for row in _read(target)[1:]]


def _cpu_s(pid: int) -> float:
    """CPU seconds of a process, of those below it, and of those that have ended."""
    used = 0
    for each in (pid, *descendants(pid)):
        with suppress(FileNotFoundError, ProcessLookupError):  # the process may have ended meanwhile
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            used += sum(map(int, fields[11:15]))
    return used / os.sysconf("SC_CLK_TCK")


def _item(reference: str, text: str) -> Json:
    return {"verifier": "math", "response": text, "reference": reference}


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum() or character in "-+/")


def _read(path: Path) -> list[Json]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
