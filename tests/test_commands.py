"""The commands of the repository itself: make, pre-commit, settings of editors."""

import configparser
import re
import subprocess

import yaml

from tests.test_project import ROOT, tracked

MAKEFILE = (ROOT / "Makefile").read_text()


def _made(*arguments: str) -> str:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def test_make_help_tells_each_command_in_one_line() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    lines = [line.split(maxsplit=1) for line in _made("help").splitlines()]
    assert sorted(name for name, _ in lines) == sorted(phony.split())
    assert all(len(f"{name:14}{text}") <= 80 for name, text in lines)


def test_make_alone_serves() -> None:
    assert re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE)[0] == "serve"


def test_pre_commit_runs_the_linters_of_make_check_and_fetches_nothing() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    checked = re.findall(r"^\t\$\(BIN\)/(ruff format|ruff check|mypy)", MAKEFILE.partition("\ncheck:")[2], re.MULTILINE)
    entries = [hook["entry"].removeprefix(".venv/bin/") for hook in repository["hooks"]]
    assert sorted(found[0] for entry in entries for found in re.finditer(r"^(?:ruff \w+|mypy)", entry)) == sorted(
        checked
    )


def test_files_are_as_editors_are_told() -> None:
    settings = configparser.ConfigParser()
    settings.read_string("[top]\n" + (ROOT / ".editorconfig").read_text())
    assert (settings["*"]["end_of_line"], settings["Makefile"]["indent_style"]) == ("lf", "tab")
    written = [path for path in tracked() if path.suffix in {".py", ".md", ".toml", ".yml", ".yaml"}]
    written = [path for path in written if not {"data", "golden", "pb", "requirements"} & set(path.parts)]
    texts = {path: path.read_bytes() for path in written}
    assert [path for path, text in texts.items() if b"\r\n" in text or (text and not text.endswith(b"\n"))] == []
    assert [path for path, text in texts.items() if path.suffix != ".md" and re.search(rb"[ \t]+$", text, re.M)] == []
