"""What docs/rewards.md tells a newcomer to write is understood."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from sandbox.workers import Workers
from verifiers import registry
from verifiers.base import Resources

PAGE = Path(__file__).parents[2] / "docs" / "rewards.md"
REGISTRY = registry.load(Resources(Workers(1)))


def told() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What is there, the verifier that stands for it here, and its parameters."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) < 5 or set(cells[1]) <= set(" -"):
            continue
        name = None
        for quoted in re.findall(r"`([^`]+)`", cells[2]):
            if re.fullmatch(r"[a-z_]+", quoted):
                name = quoted
                yield cells[1].strip(), name, {}
            elif quoted.startswith("{"):
                assert name is not None, line
                yield cells[1].strip(), name, json.loads(quoted)


@pytest.mark.parametrize(("there", "name", "params"), list(told()))
def test_it_can_be_written(there: str, name: str, params: dict[str, Any]) -> None:
    fields = REGISTRY[name].verifier.params.model_fields
    for parameter, value in params.items():
        TypeAdapter(fields[parameter].rebuild_annotation()).validate_json(json.dumps(value))


def test_the_page_names_what_the_trainers_have() -> None:
    assert {name for _, name, _ in told()} >= {
        "math",
        "code",
        "multiple_choice",
        "instruction_following",
        "qa",
        "overlong",
    }
