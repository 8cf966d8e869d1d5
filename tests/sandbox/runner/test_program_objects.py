"""Objects of the program are to its tests what they are in one process: the right program passes, a changed one does not."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.runner.split_process import run

_FILE = Path(__file__).parents[2] / "data" / "code" / "python_objects.toml"
PAIRS: dict[str, dict[str, Any]] = {
    name: {"program": group["program"], **pair}
    for group in tomllib.loads(_FILE.read_text(encoding="utf-8"))["programs"]
    for name, pair in group["tests"].items()
}


@pytest.mark.boxes(beyond=8)
@pytest.mark.parametrize("name", PAIRS)
def test_the_right_program_passes_and_a_changed_one_does_not(name: str) -> None:
    pair = PAIRS[name]
    program, cases = pair["program"], [pair["test"]]
    right = run(program, style="asserts", cases=cases)
    assert right.passed == [True], right.messages
    assert run(program.replace(*pair["wrong"], 1), style="asserts", cases=cases).passed == [False]
