"""What commands import. A start takes as long as its imports, so they are counted and not timed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox.workers import Workers
from tests.tables import table
from verifiers import registry
from verifiers.base import Resources, Verifier

ROOT = Path(__file__).parents[3]
_SCRIPT = """
import json, sys
from service.__main__ import main
sys.argv = ['rewardline', *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    code = ended.code or 0
else:
    code = 0
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def _run(*arguments: str) -> tuple[int, frozenset[str]]:
    """The exit code of a command, and the modules that its process has imported."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *arguments], capture_output=True, text=True, cwd=ROOT, check=True
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    return code, frozenset(modules)


def _packages(modules: frozenset[str]) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in modules)


LIBRARIES = frozenset(
    {"aiohttp", "docker", "duckdb", "fastapi", "numpy", "pyarrow", "redis", "rich", "sympy", "uvicorn"}
)


def test_the_front_page_loads_no_library_but_that_of_commands() -> None:
    code, modules = _run("--help")
    assert code == 0
    assert not _packages(modules) & (LIBRARIES | {"pydantic", "msgspec", "uvloop", "verifiers", "sandbox"})


@pytest.mark.contract
def test_one_item_is_tried_with_its_verifier_alone() -> None:
    code, modules = _run("try", "math", "--reference", "5", "--response", r"\boxed{5}")
    assert code == 0
    assert not _packages(modules) & LIBRARIES
    others = {name for name in _verifiers() if name != "verifiers.math"}
    # A row of a known data set may hold a worked solution in words, whose numbers these two read.
    assert modules & others <= {"verifiers.rules.numeric"}
    assert "service.run.core" not in modules


def test_a_service_is_asked_without_an_engine() -> None:
    code, modules = _run("try", "math", "--url", "http://127.0.0.1:9", "--response", "5")
    assert code == 2
    assert not _packages(modules) & (LIBRARIES - {"aiohttp"})
    assert not {"verifiers.base", "service.scoring.engine", "service.settings"} & modules


def _verifiers() -> dict[str, Verifier[Any]]:
    return {entry.origin: entry.verifier for entry in registry.load(Resources(Workers(1))).values()}


def test_each_verifier_that_judges_alone_is_found_by_its_name() -> None:
    for origin, verifier in _verifiers().items():
        alone = registry.load_alone(verifier.name, Resources(Workers(1)))
        if type(verifier).meet is not Verifier.meet or not origin.startswith("verifiers."):
            assert alone is None, verifier.name
        else:
            assert alone is not None, verifier.name
            assert [(entry.origin, entry.verifier.version) for entry in alone.values()] == [(origin, verifier.version)]


@table("name", ["mth", "Math", "../math", "", "math.judging", "judging", "*"])
def test_a_name_that_no_verifier_has_is_not_found(name: str) -> None:
    assert registry.load_alone(name, Resources(Workers(1))) is None
