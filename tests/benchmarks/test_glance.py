"""No part of `make bench` is broken unseen: each runs for real, as short as it can be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import BENCHMARKS
from tests.conftest import ROOT

NEEDS_TRAINERS = "h"


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=[pytest.mark.trainers] * (part == NEEDS_TRAINERS)) for part in BENCHMARKS]
)
def test_every_part_measures_something(tmp_path: Path, part: str) -> None:
    file = tmp_path / "bench.json"
    command = [sys.executable, "-m", "tests.benchmarks", "--only", part, "--effort", "glance", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-5000:]
    reports = json.loads(file.read_text())["reports"]
    assert reports
    assert all(row for report in reports for row in report["rows"] or [None])
    assert all(report["title"] in done.stdout for report in reports)
