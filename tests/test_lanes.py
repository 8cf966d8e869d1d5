"""The lanes keep what they promise: the quick one meets every module, and `make test-all` forgets no mark."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import run
from tests.conftest import ROOT
from tests.lanes import ALONE, LANES

ROOMS = ("service", "verifiers", "sandbox", "fairness", "memory", "tracing", "client/rewardline", "deploy")
FOUND = {"verifiers.registry": "verifiers", "sandbox.languages": "sandbox.languages"}
"""Who imports whatever lies in a package."""
TRAINERS = {
    f"rewardline.{name}"
    for name in (
        "areal_workflow", "ms_swift", "nemo_rl", "openrlhf", "openrlhf_agent", "skyrl", "tinker",
        "tunix_environment",
    )
}  # fmt: skip
"""Hooks that import a trainer which the lane `trainers` alone installs."""


@cache
def python_files() -> dict[str, Path]:
    """Every Python file of the repository by the name of its module."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {module_name(Path(name)): ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] == "client" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_product(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / room) for room in ROOMS)


def mentions(name: str) -> Iterator[str]:
    """What a file imports, or names in a text of its own as what to run: a module, or a script beside it."""
    path = python_files()[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                up = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                base = ".".join([*up, *filter(None, [module])])
                yield base
                yield from (f"{base}.{each.name}" for each in names)
            case ast.Constant(value=str(text)):
                yield text
                yield f"{text}.__main__"
                yield text.removesuffix(".py").replace("/", ".")
                yield from (f"{package}.{folder}{text.removesuffix('.py')}" for folder in ("", f"{path.stem[5:]}."))
                yield from re.findall(r"(?:from|import) ([\w.]+)", text)


def reached(roots: set[str]) -> set[str]:
    """The modules that come with these."""
    files = python_files()
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in files or name in found:
            continue
        found.add(name)
        waiting.extend(mentions(name))
        waiting.append(name.rpartition(".")[0])
        if name in FOUND:
            waiting.extend(other for other in files if other.startswith(f"{FOUND[name]}."))
    return found


def test_the_quick_lane_imports_every_module(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--lane") != "quick" or request.config.args != ["tests"]:
        pytest.skip("asked of the whole quick lane alone")
    roots = {module_name(item.path.relative_to(ROOT)) for item in request.session.items}
    met = reached(roots)
    missed = sorted(name for name, path in python_files().items() if is_product(path) and name not in met | TRAINERS)
    assert missed == [], "no test of the quick lane meets these"


def commands_of(*arguments: str) -> str:
    """What `make` would do."""
    shown = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return shown.stdout


def test_all_is_two_runs_that_leave_nothing_out() -> None:
    beside, by_itself = run.tests("all")
    assert beside[3:6] == ["--lane=all", "-m", f"not {ALONE}"]
    assert by_itself[3:] == ["--lane=all", "-m", ALONE]
    assert "tests.run all\n" in commands_of("test-all")


@pytest.mark.parametrize("lane", [*LANES])
def test_a_part_can_be_asked_for(lane: str) -> None:
    assert f"tests.run {lane}\n" in commands_of("test-all", f"ONLY={lane}")
    assert [command[3] for command in run.tests(lane)] == [f"--lane={lane}"] * 2


def test_make_test_runs_the_quick_lane() -> None:
    assert "tests.run quick\n" in commands_of("test")
    assert run.tests("quick") == [[sys.executable, "-m", "pytest", *run.BESIDE]]


def test_every_lane_has_tests_and_every_mark_is_a_lane(request: pytest.FixtureRequest) -> None:
    """Of the whole suite, which is looked through whatever the lane."""
    text = "\n".join(path.read_text() for name, path in python_files().items() if name.startswith("tests."))
    used = set(re.findall(r"\bpytest\.mark\.([a-z_]+)", text))
    assert used >= LANES.keys()
