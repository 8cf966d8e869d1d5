"""Verifiers are found, the installed ones too; what is broken or doubled stops the start."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.workers import Workers
from verifiers import registry
from verifiers.base import InvalidItem, Resources
from verifiers.registry import BrokenVerifier

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "tests" / "plugin_package"
LIST_VERIFIERS = """
from sandbox.workers import Workers
from verifiers import registry
from verifiers.base import Resources
found = registry.load(Resources(workers=Workers(1)))
print(*(f"{name}\\t{entry.origin}" for name, entry in found.items()), sep="\\n")
"""


def load() -> registry.Registry:
    return registry.load(Resources(workers=Workers(1)))


def test_every_module_with_a_create_function_is_found_in_the_order_of_names() -> None:
    found = load()
    assert {"exact_match", "multiple_choice", "numeric", "regex"} <= set(found)
    assert list(found) == sorted(found)
    assert found.find("numeric").origin == "verifiers.rules.numeric"


def test_an_unknown_name_is_the_callers_and_the_message_names_the_nearest() -> None:
    with pytest.raises(InvalidItem, match=r"did you mean.*`numeric`") as caught:
        load().find("numerics")
    assert caught.value.reason == "unknown_verifier"
    with pytest.raises(InvalidItem, match=r"GET /v1/verifiers lists all \d+"):
        load().find("#")


@pytest.mark.accuracy
def test_an_installed_package_adds_its_verifier(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(PLUGIN, source, ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    install = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
    subprocess.run(install, check=True, cwd=tmp_path, timeout=120)
    found = subprocess.run(
        [sys.executable, "-c", LIST_VERIFIERS],
        env={"PYTHONPATH": f"{target}:{ROOT}"},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    ).stdout.splitlines()
    assert "shouting\tentry point shouting = rewardline_shouting:create" in found
    assert "numeric\tverifiers.rules.numeric" in found


def install_by_hand(site: Path, name: str, module: str, source: str) -> None:
    """What an installer leaves behind for one module with one entry point."""
    (site / f"{module}.py").write_text(source)
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[rewardline.verifiers]\n{name} = {module}:create\n")


SHOUTING = (PLUGIN / "rewardline_shouting.py").read_text()


@pytest.mark.parametrize(
    ("module", "source", "message"),
    [
        ("plugin_of_no_import", "import a_module_that_is_nowhere\n", "does not load: ModuleNotFoundError"),
        ("plugin_of_no_syntax", "def create(:\n", "does not load: SyntaxError"),
        ("plugin_of_no_create", SHOUTING.replace("def create", "def make"), "has no function create"),
        ("plugin_of_no_examples", SHOUTING.replace("EXAMPLES", "CASES"), "at least one pass"),
        ("plugin_of_only_passes", SHOUTING.replace("0.0", "1.0"), "at least one pass"),
        ("plugin_that_raises", SHOUTING.replace("return Shouting()", "return {}['key']"), "raised KeyError"),
        (
            "plugin_of_own_params",
            SHOUTING.replace("params = ShoutingParams", "params = dict"),
            "is not a verifiers.base",
        ),
        (
            "plugin_of_taken_name",
            SHOUTING.replace('name = "shouting"', 'name = "numeric"'),
            "'numeric' is defined twice",
        ),
    ],
)
def test_a_broken_or_doubled_plugin_stops_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, source: str, message: str
) -> None:
    install_by_hand(tmp_path, "broken", module, source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BrokenVerifier, match=message) as caught:
        load()
    assert module in str(caught.value)
    sys.modules.pop(module, None)


@pytest.mark.accuracy
def test_the_same_plugin_whole_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_by_hand(tmp_path, "whole", "plugin_that_is_whole", SHOUTING)
    monkeypatch.syspath_prepend(tmp_path)
    entry = load().find("shouting")
    assert entry.origin == "entry point whole = plugin_that_is_whole:create"
    assert [example.score for example in entry.examples] == [1.0, 0.0, 0.0]
    sys.modules.pop("plugin_that_is_whole", None)
