"""Folders and tars of tasks, broken and hostile ones among them, and the forms of responses."""

import base64
import gzip
import io
import tarfile
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import InvalidItem
from verifiers.harbor import responses, tasks
from verifiers.harbor.reference import MAX_FILES, HarborParams
from verifiers.repository.changes import Change, NoChange

FILES = {"task.toml": b"", "tests/test.sh": b"true\n"}


def tar(*members: tarfile.TarInfo, content: bytes = b"x") -> str:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as writing:
        for member in members:
            member.size = len(content) if member.isreg() else 0
            writing.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return base64.b64encode(archive.getvalue()).decode()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    return made


def test_a_tar_has_the_files_of_a_task() -> None:
    wanted = {"task.toml": b"x", "tests/test.sh": b"x"}
    plain = tar(member("./task.toml"), member("./tests/test.sh"), member("./README.md"))
    within = tar(member("names", tarfile.DIRTYPE), member("names/task.toml"), member("names/tests/test.sh"))
    packed = base64.b64encode(gzip.compress(base64.b64decode(plain))).decode()
    assert [tasks.of_tar(text) for text in (plain, within, packed)] == [wanted] * 3


@table(
    "text",
    [
        "no base64!",
        base64.b64encode(b"no tar at all, but as long as a block" * 20).decode(),
        tar(member("tests/../../x")),
        tar(member("/etc/x")),
        tar(member("tests/x", tarfile.SYMTYPE, "/etc/passwd")),
        tar(member("tests/x", tarfile.LNKTYPE, "tests/test.sh")),
        tar(member("tests/x", tarfile.CHRTYPE)),
        tar(*(member(f"tests/{n}") for n in range(MAX_FILES + 1)), content=b""),
        base64.b64encode(gzip.compress(bytes(70_000_000))).decode(),
    ],
    ids=["base64", "tar", "up", "absolute", "link", "hard link", "device", "many", "bomb"],
)
def test_a_hostile_tar_is_refused(text: str) -> None:
    with pytest.raises(InvalidItem):
        tasks.of_tar(text)


def test_a_folder_ends_at_its_root(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "one/tests", root / "linked", outside):
        folder.mkdir(parents=True)
    for path in (root / "one/tests/test.sh", outside / "secret"):
        path.write_text("x")
    (root / "away").symlink_to(outside)
    (root / "linked/tests").symlink_to(outside)
    assert tasks.of_folder(root, "one") == {"tests/test.sh": b"x"}
    for name in ("../outside", "away", "linked", "missing", "one/.."):
        with pytest.raises(InvalidItem):
            tasks.of_folder(root, name)


def test_settings_of_both_ages_are_read() -> None:
    new = b"[environment]\nmemory_mb = 2048\nstorage_mb = 100\n[verifier]\ntimeout_sec = 5\n[metadata]\nx = 1\n"
    old = b'[environment]\nmemory = "2G"\nstorage = "100M"\n[verifier]\ntimeout_sec = 5.0\n'
    found = [tasks.config({**FILES, "task.toml": text}) for text in (new, old)]
    assert [(each.memory_mb, each.disk_mb, each.verifier.timeout_sec) for each in found] == [(2048, 100, 5.0)] * 2


@table(
    ("text", "reason"),
    [
        ("[", "bad_task"),
        ("[verifier]\ntimeout_sec = 0", "bad_task"),
        ('[environment]\nenv = {"A B" = "x"}', "bad_task"),
        ('[environment]\nenv = {A = "\\u0000"}', "bad_task"),
        ('[environment]\nmemory = "much"', "bad_task"),
        ('[environment]\ndocker_image = "--privileged"', "bad_task"),
        ("[environment]\ngpus = 1", "unsupported_task"),
        ('[environment]\nos = "windows"', "unsupported_task"),
        ('[agent]\nuser = "agent"', "unsupported_task"),
        ('[verifier]\nenv = {KEY = "${SECRET}"}', "unsupported_task"),
        ('[verifier]\nenvironment_mode = "separate"', "unsupported_task"),
        ('[[steps]]\nname = "one"', "unsupported_task"),
    ],
)
def test_settings_that_cannot_be_kept_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidItem) as caught:
        tasks.config({**FILES, "task.toml": text.encode()})
    assert caught.value.reason == reason


def test_a_path_is_a_file_or_a_folder() -> None:
    with pytest.raises(InvalidItem, match="a file and a folder"):
        tasks.config({**FILES, "tests/a": b"", "tests/a/b": b""})


def test_a_reference_is_one_task() -> None:
    for reference in ("sets/one", '{"path": "sets/one"}', {"path": "sets/one"}):
        assert HarborParams.model_validate({"reference": reference}).reference.path == "sets/one"
    for wrong in ("../x", "/x", "{", {}, {"path": "x", "tar": ""}, {"files": {"../x": ""}}):
        with pytest.raises(ValidationError):
            HarborParams.model_validate({"reference": wrong})


DIFF = "```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```"


def test_a_response_is_a_script_or_a_change() -> None:
    def read(text: str, form: responses.Form = "auto") -> str:
        try:
            found = responses.read(text, form, "auto", "/testbed")
        except NoChange as error:
            return error.reason
        return "change" if isinstance(found, Change) else f"script: {found.strip()}"

    shell = "```bash\nmake\n```"
    assert read(shell) == "script: make"
    assert read(f"```sh\nls\n```\nThen:\n{shell}\nDone.") == "script: make"
    assert read("<think>```bash\nls\n```</think>#!/bin/sh\nmake") == "script: #!/bin/sh\nmake"
    assert read('{"script": "make"}') == "script: make"
    assert read("````bash\ncat <<E\n```\nE\n````") == "script: cat <<E\n```\nE"
    assert read(f"{DIFF}\nTry it:\n{shell}") == "change"
    assert read(f"{DIFF}\nTry it:\n{shell}", "script") == "script: make"
    assert read(shell, "change") == "no_patch"
    assert read(DIFF, "script") == "no_answer"
    assert read('{"files": {"x": "b"}}') == "change"
    assert read("```bash\nmake") == "no_answer"
    assert read("Make it.") == "no_answer"
