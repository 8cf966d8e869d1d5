"""Changes are read from every form that responses have, and no path leads out."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from tests.verifiers.repository.judge import FIX
from verifiers.repository.changes import NoChange, read
from verifiers.repository.diffs import Broken, sections
from verifiers.repository.globs import matches
from verifiers.repository.protection import Protection
from verifiers.repository.reference import RepositoryReference

PATH = "calc/__init__.py"
NEW = "diff --git a/docs/a.md b/docs/a.md\nnew file mode 100644\n--- /dev/null\n+++ b/docs/a.md\n@@ -0,0 +1,3 @@\n+```\n+x\n+```\n"


@table(
    "text, paths",
    [
        (FIX, {PATH}),
        (f"Look:\n{FIX}\nThat is all.", {PATH}),
        (f"```diff\n{FIX}```", {PATH}),
        (f"~~~ patch\n{FIX}~~~", {PATH}),
        (f"```diff\n{FIX}```\nand\n```diff\n{NEW}```", {PATH, "docs/a.md"}),
        (f"<patch>\n{FIX}</patch>", {PATH}),
        (f"<patch>\n{NEW}</patch> or rather <patch>\n{FIX}</patch>", {PATH}),
        (f"<patch>\n```diff\n{FIX}```\n</patch>", {PATH}),
        (f"<think>```diff\n{NEW}```</think>{FIX}", {PATH}),
        (FIX.replace("diff --git a/calc/__init__.py b/calc/__init__.py\n", ""), {PATH}),
        ("".join(f"    {line}\n" for line in FIX.splitlines()[1:]), {PATH}),
        (FIX.replace("a/calc", "calc").replace("b/calc", "calc"), {PATH}),
        (FIX.replace("\n", "\r\n"), {PATH}),
        (FIX.replace("__.py\n@@", "__.py 2026-01-02 03:04:05.678 +0100\n@@"), {PATH}),
        (f"```diff\n{NEW}```", {"docs/a.md"}),
        ("diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n", {"a", "b"}),
        ('diff --git "a/\\303\\251.py" "b/\\303\\251.py"\nold mode 100644\nnew mode 100755\n', {"é.py"}),
        ("diff --git a/a b.py b/a b.py\nold mode 100644\nnew mode 100755\n", {"a b.py"}),
        (json.dumps({"files": {"a.py": "x", "b.py": None}}), {"a.py", "b.py"}),
        (json.dumps({"instance_id": "x", "model_patch": FIX}), {PATH}),
    ],
)
def test_changes_are_found(text: str, paths: set[str]) -> None:
    assert read(text, "auto", "/testbed").paths == paths


@table(
    "text",
    [
        FIX.replace("\n", "\r\n"),
        FIX.replace(" \n \n", "\n\n"),
        FIX.replace(" def double(x):\n", ""),
        FIX.replace(" def double(x):\n", "").replace("-1,5 +1,5", "-1,4 +1,4").replace(" \n \n", "")
        + "@@ -20,1 +20,1 @@\n-a\n+b\n",
    ],
)
def test_what_is_lost_on_the_way_is_put_back(text: str) -> None:
    hunk = FIX[FIX.index("@@") :].splitlines()[1:4]
    assert sections(text)[0].text().splitlines()[4:7] == hunk


@table(
    "text, reason",
    [
        ("", "no_patch"),
        ("I would change the sign.", "no_patch"),
        ("<think>" + FIX, "truncated"),
        (FIX[: FIX.index("+    return")], "truncated"),
        ("<patch>\nperhaps", "truncated"),
        (FIX.replace("@@ -1,5", "@@ -1,3"), "patch_failed"),
        ("--- a/x\n+++ b/x\nno hunk\n", "patch_failed"),
        ("diff --git a/.git/config b/.git/config\nold mode 100644\nnew mode 100755\n", "forbidden_path"),
        ("diff --git a/x b/x\nnew file mode 160000\n", "forbidden_path"),
        ("--- a/x\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", "forbidden_path"),
        ("--- a/x\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", "forbidden_path"),
        ("diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+../y\n", "forbidden_path"),
        ("diff --git a/x b/x\nsimilarity index 100%\nrename from x\nrename to ../y\n", "forbidden_path"),
        (json.dumps({"files": {"/etc/passwd": "x"}}), "forbidden_path"),
        (json.dumps({"files": {"a/../../b": "x"}}), "forbidden_path"),
        (json.dumps({"files": {"a\nb": "x"}}), "forbidden_path"),
        (json.dumps({"files": {}}), "no_patch"),
        (json.dumps({"files": {str(n): "" for n in range(3000)}}), "too_large"),
        (json.dumps({"tar": "not base64"}), "patch_failed"),
        (json.dumps({"other": 1}), "no_patch"),
    ],
)
def test_what_cannot_be_applied_says_why(text: str, reason: str) -> None:
    with pytest.raises(NoChange) as caught:
        read(text, "auto", "/testbed")
    assert caught.value.reason == reason


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "```", "--- x", "+++ x", "@@ -1 +1 @@", "</patch>"]), max_size=12)


@pytest.mark.repositories
@given(old=LINES, new=LINES)
def test_what_git_writes_is_read_and_means_the_same(
    old: list[str], new: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("repository")
    for name, lines in (("old", old), ("new", new)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    diff = _git(folder, "diff", "--no-index", "old", "new").replace("a/old", "a/file").replace("b/new", "b/file")
    if not diff:
        return
    (folder / "file").write_text((folder / "old").read_text())
    (section,) = sections(f"```\n{diff}```\n")
    (folder / "patch").write_text(section.text())
    _git(folder, "apply", "patch")
    assert (folder / "file").read_text() == (folder / "new").read_text()


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=False, capture_output=True, text=True).stdout


@given(st.text(alphabet='ab/.+-@ \n0123,<>`\t"\\', max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        change = read(f"diff --git a/x b/x\n{text}", "none", "/testbed")
    except NoChange:
        return
    assert all(not path.startswith("/") and ".." not in path.split("/") for path in change.paths)


@table(
    "path, is_protected",
    [
        ("tests/test_calc.py", True),
        ("tests", True),
        ("pkg/tests/data/x.json", True),
        ("test_x.py", True),
        ("conftest.py", True),
        ("a/conftest.py", True),
        ("setup.cfg", True),
        ("crates/a/Cargo.toml", True),
        ("sitecustomize.py", True),
        (".pytest.toml", True),
        ("a/evil-1.DIST-INFO/entry_points.txt", True),
        ("GNUmakefile", True),
        ("makefile", True),
        ("src/_pytest/python.py", False),
        ("calc/__init__.py", False),
        ("calc/testing.py", False),
        ("src/__snapshots__/view.tsx.snap", True),
        ("Tests/CalcTests/a.json", True),
        ("web/Vite.config.mts", True),
        (".babelrc.json", True),
        (".config/nextest.toml", True),
        ("go.work", True),
        ("vendor/assert/assert.go", True),
        ("buildSrc/src/main/java/Plugin.java", True),
        ("src/Latest.java", False),
        ("src/vendor/a.js", False),
        ("src/contest.js", False),
        ("calc/latest.py", False),
        ("run.sh", True),
        ("extra/a.txt", True),
        ("solved/tests/x.py", False),
        ("free/tests/x.py", False),
        ("checks/new.py", True),
        ("checks", True),
    ],
)
def test_protected_files(path: str, is_protected: bool) -> None:
    reference = RepositoryReference.model_validate(
        {
            "image": "x",
            "test_command": "sh ./run.sh --all",
            "fail_to_pass": ["checks/old.py::test"],
            "test_files": {"checks/new.py": ""},
            "protected": ["extra/**"],
            "editable": ["free/**"],
            "patch": "--- a/solved/tests/x.py\n+++ b/solved/tests/x.py\n@@ -1 +1 @@\n-a\n+b\n",
        }
    )
    assert Protection(reference).covers(path) is is_protected


@table(
    "path, shadow",
    [
        ("json.py", "json.py"),
        ("attr/__init__.py", "attr"),
        ("lib/py.cpython-311.so", "lib/py.cpython-311.so"),
        ("src/pytest.py", "src/pytest.py"),
        ("calc/json.py", None),
        ("types/a.ts", None),
        ("json.md", None),
        ("calc.py", None),
    ],
)
def test_files_in_the_place_of_modules_of_the_runner(path: str, shadow: str | None) -> None:
    reference = RepositoryReference.model_validate(
        {
            "image": "x",
            "test_command": "PYTHONPATH=src:. pytest",
            "environment": {"PYTHONPATH": "/testbed/lib"},
            "fail_to_pass": ["a"],
        }
    )
    assert Protection(reference).shadows(path) == shadow


@table(
    "glob, path, does",
    [
        ("*.py", "a.py", True),
        ("*.py", "b/a.py", False),
        ("**/a.py", "a.py", True),
        ("**/a.py", "b/c/a.py", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", True),
        ("a/**", "ab", False),
        ("a?c", "abc", True),
        ("a.c", "abc", False),
    ],
)
def test_globs(glob: str, path: str, does: bool) -> None:
    assert matches(path, [glob]) is does


@given(st.text(max_size=60))
def test_any_text_is_a_glob(glob: str) -> None:
    assert matches("a/b", [glob]) in (True, False)


def test_hostile_diffs_cost_little_memory() -> None:
    """A hunk may say that it has a thousand million lines: nothing is made of the number."""
    with pytest.raises(Broken):
        sections("--- a/x\n+++ b/x\n@@ -1,999999999 +1,999999999 @@\n a\n")


@table(
    "lead, before, behind",
    [
        ("    ", "", ""),
        ("\t", "", ""),
        ("   ", "1. This:\n\n   ```diff\n", "   ```\n"),
        ("    ", "* This:\n\n    ```diff\n", "    ```\nDone.\n"),
        ("  ", "<patch>\n", "</patch>"),
    ],
)
def test_a_diff_may_be_indented(lead: str, before: str, behind: str) -> None:
    text = FIX.replace(" \n", "\n") + "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n --- b\n-c\n+d\n"
    indented = "".join(f"{lead}{line}" if line.strip() else line for line in text.splitlines(keepends=True))
    assert read(f"{before}{indented}{behind}", "auto", "/testbed") == read(text, "auto", "/testbed")
