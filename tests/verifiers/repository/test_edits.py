"""Edits without numbers of lines are read in the forms of their tools, and made as those make them."""

import pytest

from tests.tables import table
from tests.verifiers.repository.judge import FILES
from verifiers.repository.changes import Change, NoChange, of_worker, read, to_send
from verifiers.repository.diffs import Broken
from verifiers.repository.edits import edited

SOURCE = FILES["calc/__init__.py"]
RIGHT = SOURCE.replace("a - b", "a + b")
BLOCK = """\
calc/__init__.py
<<<<<<< SEARCH
    return a - b
=======
    return a + b
>>>>>>> REPLACE
"""
PATCH = """\
*** Begin Patch
*** Update File: calc/__init__.py
@@ def add(a, b):
-    return a - b
+    return a + b
*** End Patch
"""


def change(response: str) -> Change:
    found = read(response, "auto", "/testbed")
    assert of_worker(to_send(found)).paths == found.paths
    return found


def made(response: str, text: str = SOURCE) -> str:
    (replacements,) = change(response).replaced.values()
    return edited(text.encode(), replacements).decode()


@table(
    "response",
    [
        BLOCK,
        f"The sign is wrong.\n\n{BLOCK}\nDone.",
        f"```python\n### {BLOCK}```",
        "`calc/__init__.py`\n\n```python\n" + BLOCK.partition("\n")[2] + "```\n",
        BLOCK.replace("calc/", "/testbed/calc/"),
        BLOCK.replace("    return a - b", "def add(a, b):  \n    return a - b").replace(
            "    return a + b", "def add(a, b):\n    return a + b"
        ),
        BLOCK.replace("\n", "\r\n"),
        PATCH,
        f"```diff\n{PATCH}```\n",
        f"<think>*** Begin Patch</think>\n{PATCH}",
        PATCH.replace("@@ def add(a, b):\n", "@@\n def add(a, b):\n"),
        PATCH.replace("@@ def add(a, b):\n", ""),
        PATCH.replace("+    return a + b\n", "+    return a + b\n \n \n def double(x):\n"),
        PATCH.replace(
            "+    return a + b\n", "+    return a + b\n\n\n def double(x):\n     return 2 * x\n*** End of File\n"
        ),
    ],
)
def test_each_form_makes_the_change(response: str) -> None:
    assert made(response) == RIGHT


def test_blocks_of_one_file_are_made_one_after_the_other() -> None:
    second = "<<<<<<< SEARCH\n    return 2 * x\n=======\n    return x + x\n>>>>>>> REPLACE\n"
    assert made(BLOCK + second) == RIGHT.replace("2 * x", "x + x")
    text = "a\nb\na\nb\n"
    twice = "x.py\n" + "<<<<<<< SEARCH\na\n=======\nc\n>>>>>>> REPLACE\n" * 2
    assert made(twice, text) == "c\nb\nc\nb\n"


def test_lines_keep_the_ends_of_their_file() -> None:
    assert made(BLOCK, SOURCE.replace("\n", "\r\n")) == RIGHT.replace("\n", "\r\n")


def test_files_are_added_removed_and_moved() -> None:
    found = change(
        "*** Begin Patch\n*** Add File: a/new.py\n+x = 1\n+\n+y = 2\n*** Delete File: old.py\n*** Update File: b.py\n"
        "*** Move to: c.py\n@@\n-a\n+b\n*** End Patch\n"
    )
    assert found.files == {"a/new.py": b"x = 1\n\ny = 2\n", "old.py": None}
    assert found.moved == {"b.py": "c.py"}
    assert found.paths == {"a/new.py", "old.py", "b.py", "c.py"}
    (new,) = change("new.py\n<<<<<<< SEARCH\n=======\nx = 1\n>>>>>>> REPLACE\n").replaced.values()
    assert edited(None, new) == b"x = 1\n"


@table(
    "response, reason",
    [
        (PATCH.replace("*** End Patch\n", ""), "truncated"),
        (BLOCK.replace(">>>>>>> REPLACE\n", ""), "truncated"),
        (BLOCK.replace("calc/__init__.py\n", ""), "patch_failed"),
        (BLOCK.replace("calc/", "../calc/"), "forbidden_path"),
        (PATCH.replace("calc/", ".git/"), "forbidden_path"),
        (PATCH.replace("calc/__init__.py", "/etc/passwd"), "forbidden_path"),
        (PATCH.replace("@@ def", "?? def"), "patch_failed"),
        ("*** Begin Patch\n*** End Patch\n", "no_patch"),
        ("a.py\n" + "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n" * 2001, "patch_failed"),
    ],
)
def test_what_cannot_be_made_is_judged(response: str, reason: str) -> None:
    with pytest.raises(NoChange) as error:
        change(response)
    assert error.value.reason == reason


def test_lines_that_are_not_there_are_no_change() -> None:
    for response in (BLOCK, PATCH):
        with pytest.raises(Broken):
            made(response, "def add(a, b):\n    return b\n")
        (replacements,) = change(response).replaced.values()
        with pytest.raises(Broken):
            edited(None, replacements)
