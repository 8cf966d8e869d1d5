"""No part of `make bench` is broken unseen: each runs for real, as short as it can be."""

import gc
import json
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.benchmarks import servers
from tests.benchmarks.parts import BENCHMARKS
from tests.conftest import ROOT

TRAINERS, RAY = "h", "j"
SERVICE = ",".join(sorted(set(BENCHMARKS) - {TRAINERS, RAY}))


_LONG = "abcdefgikl"
"""Parts that take longest. The lane `load` runs them all, in a process of their own, too."""


@pytest.fixture
def own_settings() -> Iterator[None]:
    """What measurements set for their process: cores, and how garbage is collected."""
    thresholds = gc.get_threshold()
    with servers.on_cores(servers.cores()):
        yield
    gc.set_threshold(*thresholds)


def here(*arguments: str) -> None:
    """Run the command in this process. Its servers and workers are forked then."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["bench", *arguments])
        with pytest.raises(SystemExit) as ended:
            runpy.run_module("tests.benchmarks", run_name="__main__")
    assert not ended.value.code


def apart(*arguments: str) -> None:
    command = [sys.executable, "-m", "tests.benchmarks", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-5000:]


@pytest.mark.load(beyond=1)
@pytest.mark.usefixtures("own_settings")
@pytest.mark.parametrize(
    ("parts", "run"),
    [
        *(pytest.param(part, here, marks=[pytest.mark.load] * (part in _LONG)) for part in SERVICE.split(",")),
        pytest.param(SERVICE, apart, marks=pytest.mark.load),
        pytest.param(TRAINERS, apart, marks=pytest.mark.trainers),
        pytest.param(RAY, apart, marks=pytest.mark.ray),
    ],
)
def test_every_part_measures_something(tmp_path: Path, parts: str, run: Callable[..., None]) -> None:
    file = tmp_path / "bench.json"
    run("--only", parts, "--effort", "glance", "--json", str(file))
    reports = json.loads(file.read_text())["reports"]
    assert len(reports) >= len(parts.split(","))
    assert all(report["rows"] and all(report["rows"]) for report in reports)
