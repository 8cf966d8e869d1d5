"""The labelled files, and how to have them judged: over HTTP, over gRPC, and by the command line."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardline import Client

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "math"
WAYS = ("http", "grpc", "command line")
COMPARED = ("status", "score", "reason", "extracted", "detail")

Json = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Items with their labels, `labels[i]` for `items[i]`."""

    name: str
    items: list[Json]
    labels: list[bool]


@dataclass
class Outcome:
    """What one way of judging came to."""

    way: str
    seconds: float
    verdicts: list[Json]
    agree: int = 0
    false_accepts: int = 0
    false_rejects: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)


def gsm8k() -> Rows:
    """Real model solutions of GSM8K's test set with their graders' labels."""
    rows = _read(DATA / "gsm8k_model_solutions.jsonl")
    items = [{"verifier": "math", "response": row["response"], "reference": row["gold"]} for row in rows]
    return Rows("GSM8K model solutions", items, [row["expected"] for row in rows])


def deepmath() -> Rows:
    """The reference answers of ROLL's DeepMath file: each as a response to itself, and to another row.

    The other is the nearest following row whose answer is not the same text without spaces, case and markup; now and
    then two such texts still mean the same, and the label is then wrong.
    """
    golds = [row["ground_truth"] for row in _read(DATA / "deepmath_golds.jsonl")]
    items, labels = [], []
    for position, gold in enumerate(golds):
        others = (golds[(position + step) % len(golds)] for step in range(1, len(golds)))
        other = next(text for text in others if _bare(text) != _bare(gold))
        for answer, label in ((gold, True), (other, False)):
            response = f"We work it out step by step.\n\nTherefore the answer is $\\boxed{{{answer}}}$."
            items.append({"verifier": "math", "response": response, "reference": gold})
            labels.append(label)
    return Rows("DeepMath references", items, labels)


def judge(rows: Rows, way: str, url: str, grpc: str, folder: Path) -> Outcome:
    """Have the rows judged one way, with nothing cached, and compare with their labels."""
    started = time.perf_counter()
    if way == "command line":
        verdicts = _by_command(rows, folder)
    else:
        with Client(url if way == "http" else f"grpc://{grpc}") as client:
            results = client.score(rows.items, cache="off", deadline_s=600)
        verdicts = [{name: getattr(result, name) for name in COMPARED} for result in results]
        verdicts = [{**verdict, "status": str(verdict["status"])} for verdict in verdicts]
    outcome = Outcome(way, time.perf_counter() - started, verdicts)
    _compare(outcome, rows.labels)
    return outcome


def disagreements(rows: Rows, outcome: Outcome) -> Sequence[tuple[Json, bool, Json]]:
    """Items whose verdict is not their label, judged or not."""
    return [
        (item, label, verdict)
        for item, label, verdict in zip(rows.items, rows.labels, outcome.verdicts, strict=True)
        if verdict["score"] != float(label)
    ]


def _by_command(rows: Rows, folder: Path) -> list[Json]:
    source, target = folder / "rollouts.jsonl", folder / "verdicts.jsonl"
    source.write_text("".join(json.dumps(item) + "\n" for item in rows.items))
    target.unlink(missing_ok=True)
    command = [sys.executable, "-m", "service", "score", str(source), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, timeout=900)
    return [{name: row[name] for name in COMPARED} for row in _read(target)]


def _compare(outcome: Outcome, labels: Sequence[bool]) -> None:
    for verdict, label in zip(outcome.verdicts, labels, strict=True):
        if verdict["status"] != "ok":
            outcome.unjudged[f"{verdict['status']} {verdict['reason']}"] += 1
        elif (verdict["score"] == 1.0) is label:
            outcome.agree += 1
        elif label:
            outcome.false_rejects += 1
        else:
            outcome.false_accepts += 1


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum() or character in "-+/")


def _read(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
