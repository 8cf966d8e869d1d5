"""The same items in another order, other company and another process: the same verdicts to the last bit."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
_PATIENCE_S = 300


def verdicts(seed: int) -> Any:
    """Judged in a process with hashes of its own, so that the order of sets is another too."""
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-m", "tests.verifiers.verdicts", str(seed)]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True, timeout=_PATIENCE_S)
    return json.loads(done.stdout)


@pytest.mark.wording
def test_order_company_and_process_do_not_matter() -> None:
    first, second = verdicts(1), verdicts(2)
    assert len(first) > 500
    assert [(here, there) for here, there in zip(first, second, strict=True) if here != there] == []
