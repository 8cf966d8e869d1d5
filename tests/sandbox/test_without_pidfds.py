"""Workers and local boxes on a kernel that has no pidfds, as gVisor's: what holds elsewhere holds there."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
WATCHES = "not with_the_service"
"""One of the tests watches workers by pidfds of its own."""


def passed(file: str, *chosen: str) -> int:
    """How many tests of a file pass there; all that are run must."""
    command = [sys.executable, "-m", "tests.sandbox.without_pidfds", "-q", "-p", "no:cacheprovider", f"tests/{file}"]
    with tempfile.TemporaryDirectory(prefix="without-pidfds-") as folder:
        Path(folder).chmod(0o711)
        own = ["--basetemp", f"{folder}/base"]
        done = subprocess.run(
            [*command, *own, *chosen], cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE_S
        )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    return int(done.stdout.rstrip().splitlines()[-1].split(" passed")[0].split()[-1])


@pytest.mark.boxes
def test_a_worker_over_its_limit_is_ended() -> None:
    assert passed("sandbox/test_worker_ends.py") == 1


@pytest.mark.boxes
def test_all_of_workers_and_of_local_boxes() -> None:
    assert passed("sandbox/test_workers.py", "--lane", "all", "-k", WATCHES) > 50
    assert passed("sandbox/test_local.py") > 20
