"""The bench of graders counts what graders say, and goes on when one hangs or crashes."""

import hashlib
import sys
from pathlib import Path

import pytest

from tests.accuracy.real_data import Rows
from tests.graders import bench
from tests.graders.__main__ import all_sets, replayed

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
    (tally,) = bench.judged(bench.Environment(PYTHON), "Math-Verify", [asked])
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
    (tally,) = bench.judged(bench.Environment(PYTHON), "faulty", [asked])
    assert list(tally.answers) == [True, "hang", "crash", None, False, True]
    line = list(bench.table([tally]))[-1]
    assert line.startswith("| faulty | 6 | 16.7% | 1 | 1 | 1 | 1 | 1 |")


def test_what_models_said_of_rows_is_a_grader_of_these_alone() -> None:
    asked = rows("1", "2", "3", labels=[True, False, False])
    read = [{"said": {"model": True}}, {"said": {"model": True}}, {"said": {"other": False}}]
    model, other = replayed(read, asked)
    assert (list(model.answers), list(other.answers)) == ([True, True, None], [None, None, False])
    assert list(bench.by_set([model, bench.Tally("ours", Rows("more", asked.items, asked.labels), [True] * 3, 0.0)]))[
        2:
    ] == [
        "| rows | 3 | 33.3% (1) |  |",
        "| more | 3 |  | 33.3% (2) |",
    ]


def test_a_source_is_the_file_that_is_pinned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pins = tmp_path / "sources.toml"
    digest = hashlib.sha256(b"x = 1").hexdigest()
    pins.write_text(f'[made]\nrepository = "R"\ncommit = "C"\nfiles."a.py" = "{digest}"\n')
    monkeypatch.setattr(bench, "SOURCES", pins)
    (tmp_path / "made").mkdir()
    source = tmp_path / "made" / "a.py"
    source.write_bytes(b"x = 1")
    assert bench.checked(tmp_path) == tmp_path
    for content in (b"x = 2", None):
        source.unlink() if content is None else source.write_bytes(content)
        with pytest.raises(ValueError, match="check out C of R"):
            bench.checked(tmp_path)


def test_there_are_twelve_sets_of_rows_with_labels() -> None:
    sets = [bench.plain(each) for each in all_sets()]
    assert len(sets) >= 12
    assert all(each.items and None not in each.labels for each in sets)
