"""What a trainer's environment gets: one light wheel, few names, and syntax that Python 3.9 reads."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import pickle
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import rewardline
from packaging.requirements import Requirement
from rewardline import FieldError, RewardlineError, TooLarge, Unavailable, UnexpectedAnswer, always_reward, patience

from tests.tables import table

if TYPE_CHECKING:
    from tests.client.conftest import FakeServer

CLIENT = Path(__file__).parents[2] / "client"
SOURCES = sorted(path for path in CLIENT.rglob("*.py") if "pb" not in path.parts)
HEAVY = {"torch", "numpy", "grpc", "google.protobuf", "pydantic", "fastapi", "transformers", "ray", "trl"}

_LOADED = "import rewardline, sys, json; print(json.dumps(sorted(sys.modules)))"
_SCORED = "import rewardline, sys; print(rewardline.Client(sys.argv[1]).score_one({'response': '1', 'reference': '1'}))"


def test_public_names() -> None:
    assert sorted(rewardline.__all__) == [
        "AsyncClient",
        "Client",
        "Conflict",
        "FailedItems",
        "FieldError",
        "InvalidItems",
        "InvalidRequest",
        "Item",
        "NotFound",
        "RequestError",
        "Result",
        "RewardlineError",
        "Status",
        "TooLarge",
        "Turn",
        "Unauthorized",
        "Unavailable",
        "UnexpectedAnswer",
        "raise_for_failed",
        "raise_for_invalid",
    ]
    for name in rewardline.__all__:
        assert getattr(rewardline, name).__doc__


def test_every_exception_is_one_of_ours() -> None:
    exceptions = [getattr(rewardline, name) for name in rewardline.__all__]
    exceptions = [kind for kind in exceptions if isinstance(kind, type) and issubclass(kind, BaseException)]
    assert len(exceptions) == 11
    assert all(issubclass(kind, RewardlineError) for kind in exceptions)


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("overloaded", "busy", retry_after_s=2.0),
        TooLarge("Too large", status=413, detail="d", errors=[FieldError(("items", 0), "m")]),
        UnexpectedAnswer("what"),
    ],
)
def test_errors_survive_pickling(error: RewardlineError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


@table("path", SOURCES)
def test_python_3_9_can_read_it(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) for node in ast.walk(tree)):
        assert "from __future__ import annotations" in path.read_text(encoding="utf-8")
    assert list(_evaluated_unions(tree)) == []
    attributes = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert attributes & {"asyncio.TaskGroup", "asyncio.timeout", "asyncio.Runner"} == set()
    names = {keyword.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for keyword in node.keywords}
    assert names & {"strict", "slots", "kw_only"} == set()


def _evaluated_unions(tree: ast.Module) -> Iterator[str]:
    """`X | None` where it is run, not only read: 3.9 has no such operator for types."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.AST):
                skipped.update(id(part) for part in ast.walk(annotation))
    for node in ast.walk(tree):
        if id(node) not in skipped and isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            sides = (node.left, node.right)
            if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
                yield ast.unparse(node)


def test_the_import_is_light_even_where_heavy_packages_are() -> None:
    loaded = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, timeout=60, check=True)
    assert HEAVY & set(json.loads(loaded.stdout)) == set()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)]
    subprocess.run([*build, str(CLIENT)], check=True, capture_output=True, timeout=180)
    (built,) = folder.glob("rewardline-*.whl")
    return built


@pytest.mark.contract
def test_the_wheel_holds_the_package_and_requires_aiohttp_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        head = Parser().parsestr(archive.read(metadata).decode())
    assert {"rewardline/py.typed", "rewardline/pb/rewardline_pb2.py", "rewardline/__init__.py"} <= names
    assert {name.split("/")[0] for name in names} == {"rewardline", metadata.split("/")[0]}
    requirements = [Requirement(text) for text in head.get_all("Requires-Dist", [])]
    assert [one.name for one in requirements if one.marker is None] == ["aiohttp"]
    assert {one.name for one in requirements if one.marker} == {"grpcio", "protobuf"}
    assert head["Requires-Python"] == ">=3.9"


@pytest.mark.contract
def test_the_wheel_works_beside_aiohttp_alone(wheel: Path, tmp_path: Path, server: FakeServer) -> None:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    site = tmp_path / "site"
    site.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    _link_distributions({"aiohttp"}, site)

    def run(code: str) -> subprocess.CompletedProcess[str]:
        python = str(tmp_path / "venv" / "bin" / "python")
        command = [python, "-X", "dev", "-c", code, server.url]
        return subprocess.run(
            command,
            env={"PYTHONPATH": str(site)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    loaded = run(_LOADED)
    assert loaded.returncode == 0, loaded.stderr
    assert HEAVY & set(json.loads(loaded.stdout)) == set()
    assert "score=1.0" in run(_SCORED).stdout
    assert "pip install rewardline[grpc]" in run("import rewardline; rewardline.Client('grpc://host:1')").stderr


def _link_distributions(names: set[str], site: Path) -> None:
    """Links to the installed distributions and all that they require."""
    done: set[str] = set()
    while names - done:
        name = min(names - done)
        done.add(name)
        distribution = importlib.metadata.distribution(name)
        for file in distribution.files or ():
            target = site / file.parts[0]
            if file.parts[0] != ".." and not target.exists():
                target.symlink_to(str(distribution.locate_file(file.parts[0])))
        for text in distribution.requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                names.add(requirement.name)


def test_an_error_can_still_be_imported_under_its_former_name() -> None:
    assert patience.Unjudged is always_reward.Unjudged
