"""The examples for CI run what the command takes, and stop a merge where a row cannot be judged."""

import json
import shlex
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import rewardline
from tests.deploy.engine import ROOT

FOLDER = ROOT / "docs/ci"
GOOD = {"prompt": "2 + 2?", "reference": "4"}
BAD = {"prompt": "2 + 2?", "reference": "\\frac{1}{"}


def github() -> tuple[list[str], Mapping[str, str]]:
    """The commands of the example, and its variables."""
    read = yaml.safe_load((FOLDER / "github-actions.yml").read_text())
    (job,) = read["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step], read["env"]


def gitlab() -> tuple[list[str], Mapping[str, str]]:
    """The commands of the example, and its variables."""
    (job,) = yaml.safe_load((FOLDER / "gitlab-ci.yml").read_text()).values()
    return [*job["before_script"], *job["script"]], job["variables"]


def test_every_example_is_tried_here() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == ["github-actions.yml", "gitlab-ci.yml"]
    assert github() == gitlab()
    assert [name for name in github()[1] if name.startswith("REWARDLINE_")] == []  # the commands refuse unknown ones


def test_github_keeps_what_the_audit_writes_though_it_failed() -> None:
    read: dict[Any, Any] = yaml.safe_load((FOLDER / "github-actions.yml").read_text())
    assert set(read) == {"name", True, "permissions", "env", "jobs"}  # YAML 1.1 takes the key `on` for true
    steps = read["jobs"]["audit"]["steps"]
    assert [set(step) & {"uses", "run"} for step in steps] == [{"uses"}, {"uses"}, {"run"}, {"run"}, {"uses"}]
    assert steps[-1]["if"] == "${{ !cancelled() }}"
    assert f"--report {steps[-1]['with']['path']}" in steps[-2]["run"]


def test_gitlab_keeps_what_the_audit_writes_though_it_failed() -> None:
    job = yaml.safe_load((FOLDER / "gitlab-ci.yml").read_text())["audit"]
    assert job["artifacts"]["when"] == "always"
    assert f"--report {job['artifacts']['paths'][0]}" in job["script"][-1]


@pytest.mark.deploy
@pytest.mark.parametrize(("row", "code"), [(GOOD, 0), (BAD, 1)], ids=["all rows can be judged", "one cannot"])
def test_the_audit_of_the_examples_tells_by_its_exit_code(tmp_path: Path, row: Mapping[str, str], code: int) -> None:
    commands, variables = github()
    data = tmp_path / "train.jsonl"
    data.write_text("".join(json.dumps(each) + "\n" for each in (GOOD, row)))
    report = tmp_path / "audit.json"
    line = string.Template(commands[-1]).substitute({**variables, "DATA": data}).replace("audit.json", str(report))
    program, *arguments = shlex.split(line)
    assert program == "rewardline"
    done = rewardline(*arguments)
    assert done.returncode == code, done.stderr
    assert len(json.loads(report.read_text())["findings"]) == code
