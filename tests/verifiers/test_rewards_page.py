"""What docs/rewards.md tells a newcomer to write is understood."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from sandbox.workers import Workers
from service.recipes import book
from tests.tables import table
from verifiers import registry
from verifiers.base import Resources

PAGE = Path(__file__).parents[2] / "docs" / "rewards.md"
REGISTRY = registry.load(Resources(Workers(1)))
BOOK = book.load(REGISTRY)


def rows() -> Iterator[dict[str, str]]:
    """The rows of all tables, by the names of their columns."""
    columns: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else []
        if not cells:
            columns = []
        elif not columns:
            columns = cells
        elif set(cells[0]) - set(" -"):
            yield dict(zip(columns, cells, strict=True))


def counterparts() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What is there, the verifier that stands for it here, and its parameters."""
    for row in rows():
        there = next(iter(row.values()))
        name = None
        for quoted in re.findall(r"`([^`]+)`", row["verifier"] if "verifier" in row else row["here"]):
            if re.fullmatch(r"[a-z_]+", quoted):
                name = quoted
                yield there, name, {}
            elif quoted.startswith("{"):
                assert name is not None, row
                yield there, name, json.loads(quoted)


def recipes_told() -> list[str]:
    return [name for row in rows() for name in re.findall(r"`([^`]+)`", row.get("recipe", ""))]


@table(("there", "name", "params"), list(counterparts()))
def test_it_can_be_written(there: str, name: str, params: dict[str, Any]) -> None:
    fields = REGISTRY[name].verifier.params.model_fields
    for parameter, value in params.items():
        TypeAdapter(fields[parameter].rebuild_annotation()).validate_json(json.dumps(value))


def test_the_page_names_what_the_trainers_have() -> None:
    assert {name for _, name, _ in counterparts()} >= {
        "math",
        "code",
        "multiple_choice",
        "instruction_following",
        "qa",
        "overlong",
    }


def test_every_recipe_that_ships_is_on_the_page_and_every_recipe_on_it_ships() -> None:
    assert sorted(recipes_told()) == sorted({*BOOK.recipes, *BOOK.unavailable})


def test_a_recipe_is_made_of_the_verifiers_that_stand_beside_it() -> None:
    for row in rows():
        beside = set(re.findall(r"`([a-z_]+)`", row.get("verifier", "")))
        for name in re.findall(r"`([^`]+)`", row.get("recipe", "")):
            if name in BOOK.recipes:
                used = {check.entry.verifier.name for check in BOOK.recipes[name].checks}
                assert used & beside or "none" in row["verifier"], row
