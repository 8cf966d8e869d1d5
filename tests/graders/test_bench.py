"""The bench of graders counts what graders say, and goes on when one hangs or crashes."""

import sys
from pathlib import Path

import pytest

from tests.accuracy.real_data import Rows
from tests.graders import bench
from tests.graders.__main__ import all_sets

PYTHON = Path(sys.executable)
FAULTY = """
import json, os, sys
print("null", flush=True)
for line in sys.stdin:
    gold, response = json.loads(line)
    while response == "hang":
        pass
    if response == "crash":
        os._exit(3)
    print(json.dumps(None if response == "refuse" else gold == response), flush=True)
"""


def rows(*responses: str, labels: list[bool]) -> Rows:
    items = [{"verifier": "math", "reference": "1", "response": response} for response in responses]
    return Rows("rows", items, labels)


def test_a_grader_is_asked_about_each_row() -> None:
    asked = rows(r"It is $\boxed{1}$.", r"It is $\boxed{2}$.", labels=[True, True])
    (tally,) = bench.judged(PYTHON, "Math-Verify", [asked])
    assert list(tally.answers) == [True, False]
    assert [row["response"] for row in tally.disagreements] == [asked.items[1]["response"]]


def test_hangs_and_crashes_are_counted_and_the_next_rows_are_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(FAULTY)
    monkeypatch.setattr(bench, "WORKER", worker)
    monkeypatch.setattr(bench, "MOST_CPU_S", 0.5)
    asked = rows("1", "hang", "crash", "refuse", "2", "1", labels=[True, True, True, True, True, False])
    (tally,) = bench.judged(PYTHON, "faulty", [asked])
    assert list(tally.answers) == [True, "hang", "crash", None, False, True]
    line = list(bench.table([tally]))[-1]
    assert line.startswith("| faulty | 6 | 16.7% | 1 | 1 | 1 | 1 | 1 |")


def test_there_are_twelve_sets_of_rows_with_labels() -> None:
    sets = [bench.plain(each) for each in all_sets()]
    assert len(sets) >= 12
    assert all(each.items and None not in each.labels for each in sets)
