"""`docs/architecture.md` says what is so: its folders are there, none is left out, and its layers are those that are held."""

import re
import tomllib
from graphlib import TopologicalSorter
from typing import Any

import grimp

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text()


def contracts() -> dict[str, Any]:
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return {contract["name"]: contract for contract in found}


def test_every_folder_of_the_table_is_there_and_every_room_is_in_it() -> None:
    places = re.findall(r"^\| `([\w/.]+)`", PAGE, re.MULTILINE)
    assert [place for place in places if not (ROOT / place).exists()] == []
    rooms = {path.name for path in (ROOT / "service").iterdir() if (path / "__init__.py").is_file()}
    assert rooms - {place.split("/")[1] for place in places if place.startswith("service/")} == set()


def test_every_file_of_the_picture_is_there() -> None:
    picture = PAGE.partition("```text")[2].partition("```")[0]
    files = re.findall(r"\b((?:doors|limits|scoring|cache|backends)/[\w/]+\.py)", picture)
    assert len(files) > 9
    assert [file for file in files if not (ROOT / "service" / file).is_file()] == []


def test_the_layers_are_those_of_the_contracts() -> None:
    written = [line.split()[0] if line.startswith("doors  ") else line.strip() for line in PAGE.splitlines()]
    held = [layer for layer in contracts()["the rooms of service"]["layers"] if layer != "__main__"]
    start = written.index(held[0])
    assert written[start : start + len(held)] == held
    inside = PAGE.partition("Inside `scoring`: ")[2].partition(".")[0]
    assert " ".join(inside.replace("`", "").split()) == " ► ".join(contracts()["inside scoring"]["layers"])
    doors = next(line for line in PAGE.splitlines() if line.startswith("doors  "))
    assert " ".join(doors.split()[1:]) == " ► ".join(contracts()["inside the doors"]["layers"])


def test_no_modules_import_each_other_in_a_circle() -> None:
    """What only type checkers import does not count: it is not run."""
    graph = grimp.build_graph(
        "service", "verifiers", "sandbox", "fairness", "tracing", exclude_type_checking_imports=True
    )
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()


def test_the_contract_of_verifiers_imports_no_verifier() -> None:
    graph = grimp.build_graph("verifiers")
    assert graph.find_modules_directly_imported_by("verifiers.base") == {"verifiers.conversation"}
    assert not graph.find_modules_directly_imported_by("verifiers.conversation")
