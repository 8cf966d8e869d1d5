"""Rows of data sets, in the forms in which they are published, are tasks."""

import io
import json
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest
from pydantic import ValidationError

from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from tests.tables import table
from tests.task_images import make_repository, repository_image
from tests.verifiers.repository.judge import FILES, FIX, Judge
from verifiers.repository.diffs import Broken, reverse, sections
from verifiers.repository.reference import RepositoryParams, RepositoryReference

TESTS = {"FAIL_TO_PASS": ["tests/test_calc.py::test_add"], "PASS_TO_PASS": ["tests/test_calc.py::test_double"]}
TEST_PATCH = """\
diff --git a/tests/test_more.py b/tests/test_more.py
new file mode 100644
--- /dev/null
+++ b/tests/test_more.py
@@ -0,0 +1,4 @@
+from calc import add
+
+def test_zero():
+    assert add(0, 1) == 1
"""
BUG = "".join(reverse(section).text() for section in sections(FIX))
SCRIPT = f"""\
#!/bin/bash
set -uxo pipefail
source /opt/miniconda3/bin/activate
cd /testbed
git apply -v - <<'EOF_1'
{TEST_PATCH}
EOF_1
: '>>>>> Start Test Output'
python3 -m pytest -rA -p no:cacheprovider tests/test_more.py tests/test_calc.py
: '>>>>> End Test Output'
rm tests/test_more.py
"""
WITH_MORE = {"FAIL_TO_PASS": json.dumps(["tests/test_more.py::test_zero", *TESTS["FAIL_TO_PASS"]])}
SWE_BENCH = {
    **TESTS, **WITH_MORE, "instance_id": "ann__calc-1", "repo": "ann/calc", "version": "1.0", "patch": FIX,
    "test_patch": TEST_PATCH, "problem_statement": "The sum is wrong.", "hints_text": "", "log_parser": "parse_log_pytest",
    "eval_type": "pass_and_fail", "eval_script": SCRIPT, "image": "swebench/sweb.eval.x86_64.ann_1776_calc-1:latest",
}  # fmt: skip
SWE_REBENCH = {
    **TESTS, **WITH_MORE, "instance_id": "ann__calc-2", "repo": "ann/calc", "patch": FIX, "test_patch": TEST_PATCH,
    "install_config": json.dumps({"python": "3.11", "test_cmd": "pytest -rA tests/test_calc.py", "log_parser": "parse_log_pytest"}),
    "docker_image": "swerebench/sweb.eval.x86_64.ann_1776_calc-2",
}  # fmt: skip
SWE_BENCH_LIVE = {
    **TESTS, **WITH_MORE, "instance_id": "Ann__calc-3", "repo": "ann/calc", "patch": FIX, "test_patch": TEST_PATCH,
    "test_cmds": ["pip check", "pytest -rA"], "rebuild_cmds": ["pip install -e ."], "log_parser": "pytest",
}  # fmt: skip
SWE_SMITH = {
    **TESTS, "instance_id": "ann__calc.12345678.lm_rewrite__1", "repo": "swesmith/ann__calc.12345678", "patch": BUG,
    "image_name": "jyangballin/swesmith.x86_64.ann_1776_calc.12345678", "problem_statement": "", "strategy": "lm_rewrite",
}  # fmt: skip
SWE_GYM = {
    **TESTS, **WITH_MORE, "instance_id": "getmoto__moto-1", "repo": "getmoto/moto", "version": "4.1", "patch": FIX,
    "test_patch": TEST_PATCH, "problem_statement": "", "hints_text": "", "created_at": "2023-01-01 00:00:00",
}  # fmt: skip
R2E_GYM = {
    "repo_name": "calc", "docker_image": "namanjain12/calc_final:1", "commit_hash": "a" * 40, "problem_statement": "",
    "expected_output_json": json.dumps({"TestCalc.test_add": "PASSED", "test_double": "PASSED", "test_known": "FAILED"}),
}  # fmt: skip
NEMO_GYM = {
    "responses_create_params": {
        "input": [], "metadata": {"instance_id": "ann__calc-1", "dataset_name": "SWE-bench", "instance_dict": json.dumps(SWE_BENCH)},
    }
}  # fmt: skip
PRO = Path(__file__).parents[2] / "data" / "swe_bench_pro"
SWE_BENCH_PRO = {
    "repo": "ann/calc", "instance_id": "instance_ann__calc-4", "base_commit": None, "patch": FIX, "test_patch": TEST_PATCH,
    "problem_statement": "The sum is wrong.", "requirements": "", "interface": "", "repo_language": "python",
    "fail_to_pass": "['tests/test_calc.py::test_add', \"tests/test_calc.py::test_add_negative\"]",
    "pass_to_pass": '["tests/test_calc.py::test_double"]', "selected_test_files_to_run": '["tests/test_calc.py"]',
    "before_repo_set_cmd": "git reset --hard abc\ngit checkout HEAD -- tests/test_calc.py", "dockerhub_tag": "ann.calc-ann__calc-4",
    "run_script": (PRO / "run_script.sh").read_text(), "parser": (PRO / "parser.py.txt").read_text(),
}  # fmt: skip
PARSER = """
def parser(log: str) -> dict[str, str]:
    words = [line.split() for line in log.splitlines() if line.startswith(("PASSED ", "FAILED "))]
    return {name: state for state, name, *_ in words}
"""
IN_ANY_LANGUAGE = {
    **TESTS, **WITH_MORE, "instance_id": "ann__calc-5", "repo": "ann/calc", "patch": FIX, "test_patch": TEST_PATCH,
    "test_cmds": ["pytest -rA -p no:cacheprovider >/tmp/log"], "print_cmds": ["cat /tmp/log"], "rebuild_cmds": [], "log_parser": PARSER.replace(
        "{name: state for", '{name: {"PASSED": "pass"}.get(state, "fail") for'
    ),
}  # fmt: skip
STATES = {"run": "PASS", "test": "FAIL", "fix": "PASS"}
MULTI_SWE_BENCH = {
    "org": "Ann", "repo": "calc", "number": 6, "state": "closed", "title": "", "body": "", "base": {"label": "ann:main", "ref": "main", "sha": ""},
    "resolved_issues": [], "fix_patch": FIX, "test_patch": TEST_PATCH, "fixed_tests": {"tests/test_more.py::test_zero": STATES},
    "p2p_tests": {"tests/test_calc.py::test_double": STATES}, "f2p_tests": {"tests/test_calc.py::test_add": STATES}, "s2p_tests": {},
    "n2p_tests": {"tests/test_more.py::test_zero": {**STATES, "test": "NONE"}}, "run_result": {}, "log_parser": PARSER,
}  # fmt: skip
ROWS: Mapping[str, Mapping[str, Any]] = {
    "SWE-bench": SWE_BENCH,
    "SWE-rebench": SWE_REBENCH,
    "SWE-bench-Live": SWE_BENCH_LIVE,
    "SWE-smith": SWE_SMITH,
    "SWE-Gym": SWE_GYM,
    "R2E-Gym": R2E_GYM,
    "NeMo-Gym": NEMO_GYM,
    "SWE-bench Pro": SWE_BENCH_PRO,
    "SWE-bench-Live of any language": IN_ANY_LANGUAGE,
    "Multi-SWE-bench": MULTI_SWE_BENCH,
}


def task(row: Mapping[str, Any]) -> RepositoryReference:
    return RepositoryParams.model_validate({"reference": row}).reference


def test_a_row_says_its_image_tests_and_names() -> None:
    found = {name: task(row) for name, row in ROWS.items()}
    assert {name: each.image for name, each in found.items()} == {
        "SWE-bench": SWE_BENCH["image"],
        "SWE-rebench": SWE_REBENCH["docker_image"],
        "SWE-bench-Live": "starryzhang/sweb.eval.x86_64.ann_1776_calc-3",
        "SWE-smith": SWE_SMITH["image_name"],
        "SWE-Gym": "xingyaoww/sweb.eval.x86_64.getmoto_s_moto-1:latest",
        "R2E-Gym": R2E_GYM["docker_image"],
        "NeMo-Gym": SWE_BENCH["image"],
        "SWE-bench Pro": "jefzda/sweap-images:ann.calc-ann__calc-4",
        "SWE-bench-Live of any language": "starryzhang/sweb.eval.x86_64.ann_1776_calc-5",
        "Multi-SWE-bench": "mswebench/ann_m_calc:pr-6",
    }
    assert found["SWE-bench Pro"].fail_to_pass == (
        "tests/test_calc.py::test_add",
        "tests/test_calc.py::test_add_negative",
    )
    # as rows of element-web and ansible name them
    files = '["/app/test/a-test.ts", "test/units/b.py::test_c[1]", "test/units/b.py::test_c[2]", "all tests"]'
    named = {**SWE_BENCH_PRO, "selected_test_files_to_run": files}
    assert task(named).protected[-2:] == ("test/a-test.ts", "test/units/b.py")
    by_class = task({**MULTI_SWE_BENCH, "log_parser": "class A:\n    def parse_log(self, log): ..."}).log_options[
        "form"
    ]
    assert (found["Multi-SWE-bench"].log_options["form"], by_class) == ("function", "class")
    assert found["Multi-SWE-bench"].fail_to_pass == ("tests/test_calc.py::test_add", "tests/test_more.py::test_zero")
    assert found["NeMo-Gym"] == found["SWE-bench"]
    assert found["SWE-bench"].fail_to_pass == ("tests/test_more.py::test_zero", "tests/test_calc.py::test_add")
    assert found["SWE-bench"].protected == ("tests/test_more.py",)
    assert found["R2E-Gym"].fail_to_pass == ("TestCalc.test_add", "test_double")
    # as rows of pillow and tornado have them
    coloured = json.dumps(
        {"A.\x1b[1mtest_a\x1b[0m": "PASSED", "A.test_b[1 - 2]": "PASSED", "A.test_b[1 - 3]": "PASSED"}
    )
    runner = json.dumps({"test_file_names": ["test_1.py", "unittest_custom_runner.py"]})
    for more in ({"repo_name": "tornado"}, {"execution_result_content": runner}):
        of_unittest = task({**R2E_GYM, "expected_output_json": coloured, **more})
        assert (of_unittest.log_format, of_unittest.fail_to_pass) == ("unittest", ("A.test_a", "A.test_b[1"))
    assert "pytest -rA tests/test_calc.py tests/test_more.py" in found["SWE-rebench"].test_command
    assert found["SWE-bench-Live"].test_command == "pip install -e .\npip check\npytest -rA"
    listed = {**SWE_REBENCH, "install_config": {"test_cmd": ["pip check;", "pytest -rA"]}}
    assert task(listed).test_command.endswith("pip check; tests/test_more.py\npytest -rA tests/test_more.py")
    assert found["SWE-Gym"].test_command.endswith(" tests/test_more.py tests/test_calc.py")
    assert found["SWE-smith"].patch is not None
    assert [section.text() for section in sections(found["SWE-smith"].patch)] == [s.text() for s in sections(FIX)]


@table(
    "row, message",
    [
        ({**SWE_BENCH, "image": ""}, "no `image`"),
        ({**SWE_BENCH, "FAIL_TO_PASS": "x"}, "`FAIL_TO_PASS` is not JSON"),
        ({**SWE_BENCH, "PASS_TO_PASS": [1]}, "`PASS_TO_PASS` must be a list of names"),
        ({**SWE_BENCH, "test_patch": "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"}, "test_patch cannot be read"),
        ({**SWE_REBENCH, "install_config": {"python": "3.9"}}, "no `test_cmd`"),
        ({**SWE_BENCH_LIVE, "test_cmds": ["go test ./..."]}, "do not run pytest"),
        ({**SWE_BENCH_LIVE, "test_cmds": []}, "no `test_cmds`"),
        ({**SWE_BENCH_PRO, "parser": ""}, "no `parser`: SWE-bench Pro keeps it"),
        ({**SWE_BENCH_PRO, "fail_to_pass": "[x]"}, "neither JSON nor a list of Python"),
        ({**SWE_BENCH_PRO, "pass_to_pass": "[1]"}, "`pass_to_pass` must be a list of texts"),
        ({**MULTI_SWE_BENCH, "log_parser": None}, "no `log_parser`: Multi-SWE-bench keeps"),
        ({**SWE_SMITH, "FAIL_TO_PASS": ["TestAdd/zero"]}, "is not a name of a test of pytest"),
        ({**SWE_SMITH, "patch": "GIT binary patch"}, "no unified diff"),
        ({**R2E_GYM, "expected_output_json": "{}"}, "no test with PASSED"),
        ({"instance_id": "a__b-1", "repo": "a/b", "test_patch": "", "patch": FIX}, "take SWE-bench as"),
        ({"instance_dict": "[1]"}, "`instance_dict` must be an object"),
    ],
)
def test_a_row_that_is_no_task_says_what_it_lacks(row: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        task(row)


def test_a_reverse_undoes_a_change(tmp_path: Path) -> None:
    """Git itself applies the change, and then its reverse."""
    change = """\
diff --git a/old.py b/new.py
old mode 100644
new mode 100755
rename from old.py
rename to new.py
--- a/old.py
+++ b/new.py
@@ -1,2 +1,3 @@
 a
-b
+c
+d
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
"""
    files = {"old.py": "a\nb\n", "gone": "x\n"}
    make_repository(files, tmp_path)
    for patch in (change, "".join(reverse(section).text() for section in sections(change))):
        subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=tmp_path, check=True)
    left = {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()}
    assert left == files
    assert not (tmp_path / "old.py").stat().st_mode & 0o111


def test_a_binary_change_has_no_reverse() -> None:
    (section,) = sections("diff --git a/x b/x\nindex 12..34 100644\nGIT binary patch\nliteral 1\nIcmY\n\n")
    with pytest.raises(Broken, match="binary"):
        reverse(section)


@pytest.fixture(scope="module")
def judge_with_boxes(judge: Judge) -> Iterator[Judge]:
    """A judge whose boxes run the programs of rows."""
    with_boxes = Judge(judge.address, "", "", judge.runtime, sandbox=PooledSandbox(LocalBackend(), slots=1))
    yield with_boxes
    with_boxes.close()


@pytest.fixture(scope="module")
def images(judge_with_boxes: Judge) -> Iterator[None]:
    """Images by the names that rows give them, with what the images of data sets have."""
    extra = {
        "opt/miniconda3/bin/activate": 'conda() { :; }\npython() { python3 "$@"; }\npytest() { python3 -m pytest "$@"; }\n',
        "r2e_tests/test_1.py": "from calc import add, double\nclass TestCalc:\n    def test_add(self):\n"
        "        assert add(1, 2) == 3\ndef test_double():\n    assert double(1) == 2\ndef test_known():\n    assert 0\n",
        "testbed/run_tests.sh": "python3 -W ignore -m pytest -rA r2e_tests\n",
        "usr/bin/pytest": '#!/bin/sh\nexec python3 -m pytest "$@"\n',
        "home/run.sh": "#!/bin/bash\ncd /home/calc\npytest -rA -p no:cacheprovider\n",
    }
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tree:
        for path, text in extra.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(text), 0o755
            tree.addfile(member, io.BytesIO(text.encode()))
    names = {reference.image: name for name, reference in ((name, task(row)) for name, row in ROWS.items())}
    with closing(docker.APIClient(judge_with_boxes.address, version="auto", timeout=300)) as client:
        for image, of in names.items():
            sound = {**FILES, "calc/__init__.py": FILES["calc/__init__.py"].replace("a - b", "a + b")}
            base, _ = repository_image(client, sound if of == "SWE-smith" else FILES, workdir=task(ROWS[of]).workdir)
            made = client.create_container(base, ["true"], network_disabled=True)["Id"]
            client.put_archive(made, "/", layer.getvalue())
            repository, _, tag = image.partition(":")
            client.commit(made, repository=repository, tag=tag or "latest")
            client.remove_container(made, v=True)
        yield
        for image in names:
            client.remove_image(image, force=True)


@pytest.mark.repositories
def test_rows_are_judged_as_they_are(judge_with_boxes: Judge, images: None) -> None:
    expected = dict.fromkeys(ROWS, (1.0, "correct", 0.0, "tests_failed"))
    got = {}
    for name, row in ROWS.items():
        right, wrong = (
            judge_with_boxes.judge_row(row, FIX.replace("+    return a + b", f"+    return {sum_}"))
            for sum_ in ("a + b", "a")
        )
        got[name] = (right.score, right.reason, wrong.score, wrong.reason)
    assert got == expected
