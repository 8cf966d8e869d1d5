"""Verdicts on responses of every kind, honest and hostile, in real containers on runc and gVisor."""

import base64
import io
import json
import tarfile
from textwrap import indent
from typing import Any

import pytest
from msgspec.structs import replace

from tests.verifiers.repository.hostile import RESPONSES
from tests.verifiers.repository.judge import FILES, FIX, Judge
from tests.verifiers.repository.test_edits import BLOCK, PATCH
from tests.waiting import eventually
from verifiers.base import Item, Status
from verifiers.repository.reference import RepositoryParams

SOURCE = FILES["calc/__init__.py"]
RIGHT = SOURCE.replace("a - b", "a + b")


def source(text: str) -> str:
    return json.dumps({"files": {"calc/__init__.py": text}})


def added(path: str, text: str) -> str:
    """A response that adds one file and mends nothing."""
    return json.dumps({"files": {path: text}})


def tarred(path: str, text: str) -> str:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as members:
        member = tarfile.TarInfo(path)
        member.size = len(text)
        members.addfile(member, io.BytesIO(text.encode()))
    return json.dumps({"tar": base64.b64encode(archive.getvalue()).decode()})


HONEST = [
    ("a diff in the text", f"The sign is wrong.\n\n{FIX}", 1.0, "correct"),
    ("a partial change", source(SOURCE.replace("a - b", "3")), 0.0, "tests_failed"),
    ("a change that breaks another test", source(RIGHT.replace("2 * x", "x")), 0.0, "tests_broken"),
    ("a patch that does not apply", FIX.replace("a - b", "a * b"), 0.0, "patch_failed"),
]
MORE_HONEST = [
    ("a fence", f"Here.\n```diff\n{FIX}```\nDone.", 1.0, "correct"),
    ("a tag", f"<think>a <patch></think><patch>\n{FIX}</patch>", 1.0, "correct"),
    ("other lines around it", FIX.replace(" def add(a, b):", " def  add(a, b):"), 1.0, "correct"),
    ("an indented fence", "* This:\n\n" + indent(f"```diff\n{FIX}```\n", "    "), 1.0, "correct"),
    ("a block of lines", BLOCK, 1.0, "correct"),
    ("a patch of lines", PATCH, 1.0, "correct"),
    ("a block of lines that are not there", BLOCK.replace("a - b", "a * b"), 0.0, "patch_failed"),
    ("a patch that moves a file", PATCH.replace("@@", "*** Move to: calc/moved.py\n@@", 1), 0.0, "tests_failed"),
    ("a block in a link's folder", BLOCK.replace("calc/__init__.py", "same/test_calc.py"), 0.0, "patch_failed"),
    ("files", source(RIGHT), 1.0, "correct"),
    ("a tar", tarred("testbed/calc/__init__.py", RIGHT), 1.0, "correct"),
    ("nothing", "I do not know.", 0.0, "no_patch"),
    ("a syntax error", source("def add(a, b:\n"), 0.0, "tests_failed"),
]
FORGER = """\
import json, os
names = ["tests/test_calc.py::test_add", "tests/test_calc.py::test_add_negative", "tests/test_calc.py::test_double"]
with open("/rewardline/made/report", "a") as report:
    for name in names:
        report.write(json.dumps(["key", name, "passed"]) + "\\n")
os._exit(0)
"""
FLOOD = source(f"print('x' * 200)\nwhile True: print('passed' * 10_000)\n{SOURCE}")
LINK = """\
diff --git a/data b/data
new file mode 120000
--- /dev/null
+++ b/data
@@ -0,0 +1 @@
+../../etc
\\ No newline at end of file
"""
HOSTILE = [
    ("tests that are edited", added("tests/test_calc.py", "def test_add(): pass\n"), 0.0, "tests_failed"),
    ("a conftest", added("conftest.py", "import os\nos._exit(0)\n"), 0.0, "tests_failed"),
    ("a report that is forged", source(FORGER), 0.0, "forged"),
    (
        "tests that are made to pass",
        source(f"import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n{SOURCE}"),
        0.0,
        "forged",
    ),
]
MORE_HOSTILE = [
    ("tests through a link", added("same/test_calc.py", "def test_add(): pass\n"), 0.0, "forbidden_path"),
    (
        "the first process is killed",
        source(
            f"import contextlib, os\nfor n in 9, 15, 2, 1:\n    with contextlib.suppress(OSError): os.kill(1, n)\n{SOURCE}"
        ),
        0.0,
        "tests_failed",
    ),
    ("a conftest beside the tests", added("tests/conftest.py", "import os\nos._exit(0)\n"), 0.0, "tests_failed"),
    ("a sitecustomize", added("sitecustomize.py", "import os\nos._exit(0)\n"), 0.0, "tests_failed"),
    ("a runner of its own", added("pytest.py", "print('3 passed')\n"), 0.0, "tests_failed"),
    ("a configuration", added("pytest.ini", "[pytest]\naddopts = --deselect tests\n"), 0.0, "tests_failed"),
    ("a file in the place of the tests' folder", added("tests", "x\n"), 0.0, "patch_failed"),
    ("an end with code 0", source(f"import os\nos._exit(0)\n{SOURCE}"), 0.0, "no_report"),
    (
        "a flood of output",
        FLOOD,  # pytest keeps it in a file, which may not grow so large
        0.0,
        "tests_failed",
    ),
    (
        "the scripts that we give",
        source(f"open('/rewardline/given/tests.sh', 'w').write('exit 0')\n{RIGHT}"),
        0.0,
        "tests_failed",
    ),
    (
        "a network",
        source(f"import socket\nsocket.create_connection(('192.0.2.1', 80), 1)\n{RIGHT}"),
        0.0,
        "tests_failed",
    ),
    ("a path outside", FIX.replace("b/calc", "b/../calc").replace("a/calc", "a/../calc"), 0.0, "forbidden_path"),
    ("a hook of git", added(".git/hooks/post-checkout", "exit 0\n"), 0.0, "forbidden_path"),
    ("a link outside", LINK, 0.0, "forbidden_path"),
    ("a tar that leads outside", tarred("x/../../y", ""), 0.0, "forbidden_path"),
]


def wrong_rows(judge: Judge, rows: list[tuple[str, str, float, str]]) -> list[str]:
    wrong = []
    for name, response, score, reason in rows:
        verdict = judge.verdict(response)
        if (verdict.status, verdict.score, verdict.reason) != (Status.OK, score, reason):
            wrong.append(f"{name}: {verdict}")
    return wrong


@pytest.mark.repositories
def test_responses_get_what_they_earn(judge: Judge) -> None:
    assert wrong_rows(judge, HONEST) == []


@pytest.mark.repositories
@pytest.mark.parametrize("judge", ["runsc"], indirect=True)
def test_a_right_and_a_wrong_change_get_what_they_earn_on_gvisor(judge: Judge) -> None:
    assert wrong_rows(judge, HONEST[:2]) == []


@pytest.mark.repositories
def test_hostile_responses_earn_nothing(judge: Judge) -> None:
    assert wrong_rows(judge, HOSTILE) == []


@pytest.mark.repositories
def test_all_forms_of_responses_are_read(judge: Judge) -> None:
    assert wrong_rows(judge, MORE_HONEST) == []


@pytest.mark.repositories
def test_all_hostile_responses_earn_nothing(judge: Judge) -> None:
    assert wrong_rows(judge, MORE_HOSTILE) == []


@pytest.mark.repositories
@pytest.mark.parametrize("name", RESPONSES)
def test_no_change_of_the_corpus_earns_anything(judge: Judge, name: str) -> None:
    verdict = judge.verdict(RESPONSES[name], cpu_s=60.0)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0), verdict
    assert "/var/lib" not in str(verdict.detail)


@pytest.mark.repositories
def test_tests_that_nothing_guards_are_counted_or_refused(judge: Judge) -> None:
    loose: dict[str, Any] = {
        "log_options": {"names": "r2e"},
        "fail_to_pass": ["test_add"],
        "pass_to_pass": ["test_double"],
    }
    assert judge.verdict(FIX, **loose).detail["unguarded"] == "2/2"
    assert "unguarded" not in judge.verdict(FIX).detail
    params = {"reference": {**judge.task, **loose}, "unguarded": "refuse"}
    (refused,) = judge.judged(Item(FIX, RepositoryParams.model_validate(params)))
    assert (refused.status, refused.reason) == (Status.INVALID, "unguarded")
    params["reference"] = judge.task
    (guarded,) = judge.judged(Item(FIX, RepositoryParams.model_validate(params)))
    assert guarded.score == 1.0


READS_ITS_TESTS = """\
import re, sys
def add(a, b):
    tests = open(sys._getframe(1).f_code.co_filename).read()
    return int(re.search(f"add.{a}, {b}. == (-?[0-9]+)", tests)[1])
def double(x):
    return 2 * x
"""


@pytest.mark.repositories
def test_a_change_that_reads_its_tests_is_named_or_refused(judge: Judge) -> None:
    paid = judge.verdict(source(READS_ITS_TESTS))
    events = ["calc/__init__.py: open", "calc/__init__.py: sys._getframe"]
    assert (paid.score, paid.detail["inspects_tests"]) == (1.0, events)
    params = RepositoryParams.model_validate({"reference": judge.task, "inspects_tests": "refuse"})
    refused, right = judge.judged(Item(source(READS_ITS_TESTS), params), Item(FIX, params))
    assert (refused.status, refused.score, refused.reason) == (Status.OK, 0.0, "inspects_tests")
    assert right.score == 1.0


@pytest.mark.repositories
def test_a_module_that_hides_one_of_the_image_is_removed(judge: Judge) -> None:
    """A library that tests assert with is in the image. What a change brings under a name that the image has not, stays."""
    library = "def same(one, other):\n    assert one == other\n"
    task: dict[str, Any] = {
        "setup": [
            f"mkdir -p /usr/lib/python3/dist-packages; printf '%s' '{library}' >/usr/lib/python3/dist-packages/checks.py"
        ],
        "test_command": "python3 -m pytest -q -p no:cacheprovider tests",
        "test_files": {
            "tests/test_same.py": "import checks, calc\ndef test_same():\n    checks.same(calc.add(1, 2), 3)\n"
        },
        "fail_to_pass": ["tests/test_same.py::test_same"],
    }
    hidden = added("checks/__init__.py", library.replace("assert one == other", "pass"))
    right = json.dumps({"files": {"calc/__init__.py": f"import sums\n{RIGHT}", "sums.py": ""}})
    assert [judge.verdict(response, **task).score for response in (hidden, right)] == [0.0, 1.0]


@pytest.mark.repositories
def test_a_test_that_gave_up_before_the_change_may_give_up_after_it(judge: Judge) -> None:
    tests = FILES["tests/test_calc.py"] + "\n\ndef test_later():\n    import pytest\n    pytest.xfail('later')\n"
    task: dict[str, Any] = {
        "test_files": {"tests/test_calc.py": tests},
        "pass_to_pass": ["tests/test_calc.py::test_later"],
    }
    assert judge.verdict(FIX, **task).score == 1.0


@pytest.mark.repositories
def test_responses_that_use_up_a_limit_are_judged(judge: Judge) -> None:
    spinning = judge.verdict(source(f"while True: pass\n{SOURCE}"), cpu_s=15.0)
    assert (spinning.score, spinning.reason) == (0.0, "time_limit")
    writing = "import os\nfor n in range(1000): open(str(n), 'wb').write(bytes(1 << 20))\nwhile True: pass\n"
    written = judge.verdict(source(writing + SOURCE))
    assert (written.score, written.reason) == (0.0, "disk_limit")
    flooding = judge.verdict(FLOOD, test_command="python3 -m pytest -s")
    assert (flooding.score, flooding.reason) == (0.0, "output_limit")
    hungry = judge.verdict(source(f"x = [bytearray(1 << 20) for _ in range(4000)]\n{RIGHT}"))
    assert (hungry.status, hungry.score) == (Status.OK, 0.0)
    assert hungry.reason == "memory_limit"
    bomb = judge.verdict(
        source(f"import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n{RIGHT}"), cpu_s=15.0
    )
    assert (bomb.status, bomb.score) == (Status.OK, 0.0)


TAKES_ALL_PROCESSES = """\
import os, threading, time
try:
    while True:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
except RuntimeError:
    time.sleep(3)
    os._exit(0)
"""


@pytest.mark.repositories
def test_a_limit_of_processes_is_named(judge: Judge) -> None:
    """In gVisor each thread takes memory of gVisor's own, which may be used up before."""
    verdict = judge.verdict(source(TAKES_ALL_PROCESSES + RIGHT))
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)
    assert verdict.reason in ("process_limit", "memory_limit" if judge.runtime == "runsc" else "process_limit")
    assert judge.verdict(FIX).score == 1.0


@pytest.mark.repositories
def test_a_task_that_cannot_be_judged_has_no_score(judge: Judge) -> None:
    cases: dict[str, dict[str, Any]] = {
        "wrong_base": {"base_commit": "0" * 40},
        "bad_image": {"workdir": "/nowhere"},
        "bad_test_patch": {"test_patch": FIX.replace("a - b", "a * b")},
        "base_passes": {"fail_to_pass": ["tests/test_calc.py::test_double"], "pass_to_pass": []},
        "base_fails": {"pass_to_pass": ["tests/test_calc.py::test_missing"]},
        "no_such_test": {"fail_to_pass": ["tests/test_calc.py::test_add", "tests/test_calc.py::test_misspelt"]},
        "no_such_test ": {"fail_to_pass": ["tests/test_clac.py::test_add"]},
        "setup_fails": {"setup": ["echo no compiler; exit 3"]},
        "network_not_allowed": {"network": True},
        "bad_reference": {"log_format": "grep"},
    }
    found = {reason: judge.verdict(FIX, **changes) for reason, changes in cases.items()}
    assert {reason: (verdict.status, verdict.reason) for reason, verdict in found.items()} == {
        reason: (Status.INVALID, reason.strip()) for reason in cases
    }
    missing = judge.verdict(FIX, image="nowhere:1")
    assert (missing.status, missing.score, missing.reason) == (Status.FAILED, None, "no_image")


@pytest.mark.repositories
def test_an_explanation_names_the_tests_before_and_after(judge: Judge) -> None:
    verdict = judge.verdict(source(SOURCE.replace("a - b", "3")), explain=True, scoring="fraction")
    assert (verdict.score, verdict.reason) == (0.5, "tests_failed")
    assert verdict.detail["fail_to_pass"] == "1/2"
    assert verdict.detail["tests"] == [
        {"test": "tests/test_calc.py::test_add_negative", "before": "failed", "after": "failed"},
        {"test": "tests/test_calc.py::test_add", "before": "failed", "after": "passed"},
        {"test": "tests/test_calc.py::test_double", "before": "passed", "after": "passed"},
    ]


@pytest.mark.repositories
def test_the_reference_patch_is_the_own_answer(judge: Judge) -> None:
    item = judge.item("", patch=FIX)
    answer = judge.verifier.own_answer(item.params)
    assert answer is not None
    assert judge.verdict(answer, patch=FIX).score == 1.0


@pytest.mark.repositories
def test_tests_come_after_the_response(judge: Judge) -> None:
    """New tests of the reference replace what a response has put there."""
    named = {"fail_to_pass": ["tests/test_new.py::test_new"], "pass_to_pass": []}
    test = "from calc import add\n\n\ndef test_new():\n    assert add(2, 2) == 4\n"
    command = {"test_command": "python3 -m pytest -q tests/test_new.py"}
    brought: dict[str, Any] = {"test_files": {"tests/test_new.py": test}, **named, **command}
    assert judge.verdict(added("tests/test_new.py", "def test_new(): pass\n"), **brought).score == 0.0
    assert judge.verdict(FIX, **brought).score == 1.0


@pytest.mark.repositories
def test_a_report_that_a_response_brings_is_not_read(judge: Judge) -> None:
    names = ["tests.test_calc.test_add", "tests.test_calc.test_add_negative"]
    cases = "".join(f'<testcase name="{name}"/>' for name in [*names, "tests.test_calc.test_double"])
    brought = {"build/report.xml": f"<testsuite>{cases}</testsuite>", "calc/__init__.py": "import os\nos._exit(0)\n"}
    verdict = judge.verdict(
        json.dumps({"files": brought}),
        environment={"PYTEST_ADDOPTS": "--junitxml=build/report.xml"},
        log_format="junit",
        log_options={"path": "build/report.xml"},
        fail_to_pass=names,
        pass_to_pass=["tests.test_calc.test_double"],
    )
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "no_report")


@pytest.mark.repositories
def test_the_run_without_a_change_is_remembered_for_its_owner(judge: Judge) -> None:
    counters, ran = judge.containers.counters, []
    item = judge.item(FIX, environment={"NAME": "owned"})
    for owner in ("a", "a", "b"):
        before = counters.started
        assert judge.judged(replace(item, owner=owner))[0].score == 1.0
        ran.append(counters.started - before)
    assert ran == [3, 2, 3]  # the run without a change, the run, and its twin


def test_nothing_is_left(judge: Judge) -> None:
    """A container that the daemon cannot remove at once is removed later."""
    judge.verdict(FIX)
    counters = judge.containers.counters
    eventually(lambda: counters.started <= counters.removed)
    eventually(lambda: judge.containers.running == 0)
