"""No part of `make bench` is broken unseen: each runs for real, as short as it can be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import BENCHMARKS
from tests.conftest import ROOT

BOXES, TRAINERS = "e", "h"
SERVICE = ",".join(sorted(set(BENCHMARKS) - {BOXES, TRAINERS}))
"""In one process, which has much to import."""


@pytest.mark.parametrize("parts", [SERVICE, BOXES, pytest.param(TRAINERS, marks=pytest.mark.trainers)])
def test_every_part_measures_something(tmp_path: Path, parts: str) -> None:
    file = tmp_path / "bench.json"
    command = [sys.executable, "-m", "tests.benchmarks", "--only", parts, "--effort", "glance", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-5000:]
    reports = json.loads(file.read_text())["reports"]
    assert len(reports) >= len(parts.split(","))
    assert all(report["rows"] and all(report["rows"]) for report in reports)
