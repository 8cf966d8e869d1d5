"""Each format is read as its framework writes it, and a report that something else wrote is not a report."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.containers.base import EXCHANGE
from tests.tables import table
from verifiers.base import InvalidItem
from verifiers.repository.reports import FORMATS, Report, State, UnreadableReport, channel, plan, report_of
from verifiers.repository.reports.formats import literal_folder
from verifiers.repository.reports.state import ForgedReport

JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="s">
<testcase classname="a.B" name="right"/><testcase classname="a.B" name="wrong"><failure message="x">y</failure></testcase>
<testcase name="skips"><skipped/></testcase><testcase classname="a" name="breaks"><error/></testcase>
</testsuite></testsuites>"""
GO = [
    {"Action": "run", "Package": "p", "Test": "TestA"},
    {"Action": "pass", "Package": "p", "Test": "TestA", "Elapsed": 0},
    {"Action": "fail", "Package": "p", "Test": "TestB/sub", "Elapsed": 0},
    {"Action": "skip", "Package": "p", "Test": "TestC", "Elapsed": 0},
    {"Action": "fail", "Package": "p", "Elapsed": 0.1},
]
CARGO = """running 4 tests
test tests::adds ... ok
test tests::subtracts ... FAILED
test tests::slow ... ignored
test tests::panics - should panic ... ok

failures:
"""
TAP = """TAP version 13
# Subtest: adds
ok 1 - adds
not ok 2 - subtracts
  ---
  duration_ms: 1
  ...
ok 3 - later # SKIP not now
    ok 1 - inner
1..3
"""


@table(
    "log_format, log, expected",
    [
        (
            "go",
            "\n".join(map(json.dumps, GO)) + "\nFAIL\n",
            {"p/TestA": "passed", "p/TestB/sub": "failed", "p/TestC": "skipped"},
        ),
        (
            "cargo",
            CARGO,
            {
                "tests::adds": "passed",
                "tests::subtracts": "failed",
                "tests::slow": "skipped",
                "tests::panics": "passed",
            },
        ),
        (
            "go",
            "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    --- PASS: TestA/x_y (0.00s)\nFAIL\nFAIL\texample.com/p\t0.003s\n"
            "--- SKIP: TestB (0.10s)\nok  \texample.com/q\t(cached)\nFAIL\n--- PASS: TestLost (0.00s)\n",
            {"example.com/p/TestA": "failed", "example.com/p/TestA/x_y": "passed", "example.com/q/TestB": "skipped"},
        ),
        (
            "nextest",
            "    Starting 3 tests across 2 binaries\n        PASS [   0.002s] calc tests::adds\n        FAIL [   0.003s] calc::it subtracts\n"
            "        PASS [   0.004s] (3/3) calc::it subtracts\n     SIGABRT [   1.000s] calc tests::aborts\n     Summary [   1.1s] 3 tests run\n",
            {"calc tests::adds": "passed", "calc::it subtracts": "failed", "calc tests::aborts": "failed"},
        ),
        ("tap", TAP, {"adds": "passed", "subtracts": "failed", "later": "skipped", "inner": "passed"}),
        (
            "tap",
            "ok 1 - adds # skipped\nok 2 - issue #12\nok 3 - C#\nok 4 - quick # time=1.2ms\nok 5 - \\#7\nok 6 # TODO\n",
            {"adds": "skipped", "issue #12": "passed", "C#": "passed", "quick": "passed", "#7": "passed"},
        ),
        ("tap", "\x1b[32mok 1 - adds\x1b[0m\r\nnot ok 2 - b\r\n", {"adds": "passed", "b": "failed"}),
        (
            "cargo",
            "test a ... printed\nok\nignored\nok\ntest b ... ok\nFAILED\ntest c ... ignored, slow\ntest d ... x\nok\nFAILED\n"
            "\nfailures:\nok\n",
            {"a": "passed", "b": "passed", "c": "skipped", "d": "failed"},
        ),
        (
            "unittest",
            "test_a (m.A.test_a) ... INFO:root:status ok\nok\ntest_b (m.A.test_b)\nWords. ... INFO:root:status ok\nFAIL\n"
            "test_c (m.A.test_c) ... INFO:root:status ok\nok\nERROR\n\n"
            + "=" * 70
            + "\nERROR: test_c (m.A.test_c)\nok\n",
            {"test_a (m.A.test_a)": "passed", "test_b (m.A.test_b)": "failed", "test_c (m.A.test_c)": "error"},
        ),
        ("go", '{"Action": ["pass"], "Test": "a"}\n[]\n{"Action": "pass", "Test": [1]}\n', {"/[1]": "passed"}),
        ("cargo", "test a ... ok\ntest a ... FAILED\n", {"a": "failed"}),
        ("cargo", "test a ... FAILED\ntest a ... ok\n", {"a": "failed"}),
    ],
)
def test_outputs_are_read(log_format: str, log: str, expected: Mapping[str, str]) -> None:
    assert states(log_format, {}, log.encode(), None) == expected


def test_junit_is_read() -> None:
    found = states("junit", {"path": "x.xml"}, b"", JUNIT.encode())
    assert found == {"a.B.right": "passed", "a.B.wrong": "failed", "skips": "skipped", "a.breaks": "error"}
    with_namespace = JUNIT.replace("<testsuites>", '<testsuites xmlns="http://example.org/junit">')
    assert states("junit", {"path": "x.xml"}, b"", with_namespace.encode()) == found


@table(
    "report",
    [
        None,
        b"",
        b"<testsuite><testcase",
        b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite/>',
        '<?xml version="1.0"?><!DOCTYPE x><testsuite/>'.encode("utf-16"),
        b"<a>" * 1000 + b"</a>" * 1000,
    ],
)
def test_hostile_junit_is_refused(report: bytes | None) -> None:
    with pytest.raises(UnreadableReport):
        states("junit", {"path": "x.xml"}, b"", report)


def test_a_report_may_be_several_files() -> None:
    other = "<testsuite><testcase classname='b' name='c'/></testsuite>"
    assert states("junit", {"path": "out/**/*.xml"}, b"", JUNIT.encode() + b"\0" + other.encode())["b.c"] == "passed"
    assert literal_folder("a/b/**/TEST-*.xml") == ("a/b", "**/TEST-*.xml")
    assert literal_folder("a/b.xml") == ("a/b.xml", "")


def test_unittest_is_read_as_python_writes_it(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_right(self):\n        '''It has words.'''\n\n"
        "    def test_wrong(self):\n        self.fail()\n\n    @unittest.skip('later')\n    def test_skip(self): pass\n\n"
        "    def test_error(self):\n        raise ValueError\n\n    @unittest.expectedFailure\n    def test_known(self):\n"
        "        self.fail()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "-v"],
        cwd=tmp_path,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    found = {name.partition(" ")[0]: state for name, state in states("unittest", {}, done.stdout, None).items()}
    assert found == {
        "test_right": "passed",
        "test_wrong": "failed",
        "test_skip": "skipped",
        "test_error": "error",
        "test_known": "passed",
    }


NONCE = "0123456789abcdef" * 4
TESTS = """
import pytest

def test_right(): pass
def test_wrong(): assert 0
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.xfail
def test_known(): assert 0
def test_gives_up(): pytest.xfail("later")
@pytest.fixture
def broken(): raise ValueError
def test_error(broken): pass
@pytest.mark.parametrize("x", ["a b", 2])
def test_many(x): assert x == 2
class TestClass:
    def test_inner(self): pass
"""


def states(log_format: str, options: Mapping[str, str], log: bytes, report: bytes | None) -> Mapping[str, State]:
    return report_of(log_format, options, log, report).states


PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", "-c", "/dev/null", "test_it.py")


RENAMES = """
import pytest

class Calm:
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        right = next(item for item in items if item.name == "test_right")
        for item in items:
            item.obj = right.obj

def pytest_configure(config):
    config.pluginmanager.register(Calm())
"""


@pytest.mark.repositories
def test_a_test_that_is_replaced_by_another_is_told(tmp_path: Path) -> None:
    tests = "import functools\n\ndef test_right(): pass\ndef test_wrong(): assert 0\n"
    kept = tests + "@functools.lru_cache\ndef test_kept(): pass\n"
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    report = run_tests(tmp_path / "one", kept, {"conftest.py": RENAMES}, "pytest", PYTEST)
    assert report.states["test_it.py::test_wrong"] == "passed"
    assert report.codes["test_it.py::test_wrong"] == "changed"
    assert len(report.codes["test_it.py::test_right"]) == 32
    plain = run_tests(tmp_path / "two", kept, None, "pytest", PYTEST)
    assert plain.codes.keys() == report.codes.keys()
    assert "changed" not in plain.codes.values()
    assert len(set(plain.codes.values())) == 3


def test_the_code_of_a_test_of_unittest_is_told(tmp_path: Path) -> None:
    tests = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): pass\n{}"
    codes = []
    for number, more in enumerate(("", "", "A.test_a = A.test_b\n")):
        (tmp_path / str(number)).mkdir()
        report = run_tests(tmp_path / str(number), tests.format(more), None, "unittest", ("-m", "unittest", "test_it"))
        codes.append(dict(report.codes))
    name = "test_a (test_it.A.test_a)"
    assert codes[0] == codes[1]
    assert codes[2][name] != codes[0][name]


LOOKS = {
    "reads": ("open('test_it.py').read()", "open"),
    "asks": ("__import__('linecache').getline(__import__('sys').modules['test_it'].__file__, 1)", "open"),
    "climbs": ("__import__('sys')._getframe(1).f_code", "sys._getframe"),
    "stacks": ("__import__('inspect').stack(0)[1].lineno", "sys._getframe"),
    "hides": ("eval('__import__(\"sys\")._getframe(1).f_code')", "sys._getframe"),
    "links": ("__import__('os').symlink('test_it.py', 'other.py') is None", "os.symlink"),
    "explains": ("__import__('traceback').format_stack()", ""),
    "reads_itself": ("open(__file__).read()", ""),
    "imports": ("__import__('folder.test_it')", ""),
}
"""What code does to look at tests, by the module that has it, and the audit event that tells it."""
OF_TESTS = """
import linecache, sys, unittest
linecache.clearcache()
class A(unittest.TestCase):
    def test_it(self):
        for name in NAMES:
            linecache.clearcache()
            assert __import__(name).look()
        assert open(__file__).read() and sys._getframe(0)
    def test_wrong(self): assert 0
"""


@pytest.mark.repositories
@pytest.mark.parametrize(("runner", "command"), [("pytest", PYTEST), ("unittest", ("-m", "unittest", "-v", "test_it"))])
def test_code_that_looks_at_tests_is_named(tmp_path: Path, runner: str, command: Sequence[str]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "test_it.py").touch()
    files = {f"{name}.py": f"def look(): return {code}\n" for name, (code, _) in LOOKS.items()}
    report = run_tests(tmp_path, OF_TESTS.replace("NAMES", str(list(LOOKS))), files, runner, command)
    assert sorted(report.states.values()) == ["failed", "passed"]
    assert set(report.inspections) == {f"{name}.py: {event}" for name, (_, event) in LOOKS.items() if event}


@pytest.mark.repositories
@pytest.mark.parametrize(
    ("runner", "command", "name", "trick"),
    [
        (
            "pytest",
            PYTEST,
            "_pytest.python.Function.runtest",
            "import _pytest.python as p; p.Function.runtest = lambda self: None",
        ),
        (
            "unittest",
            ("-m", "unittest", "-v", "test_it"),
            "unittest.case.TestCase.run",
            "import unittest as u; u.TestCase.run.__code__ = u.TestCase.debug.__code__",
        ),
    ],
)
def test_functions_of_the_runner_that_are_replaced_are_named(
    tmp_path: Path, runner: str, command: Sequence[str], name: str, trick: str
) -> None:
    tests = OF_TESTS.replace("NAMES", "['calc']")
    for number, code in enumerate(("1", f"not exec({trick!r})")):
        (tmp_path / str(number)).mkdir()
        files = {"calc.py": f"def look(): return {code}\n"}
        report = run_tests(tmp_path / str(number), tests, files, runner, command)
        assert set(report.inspections) == ({f"{name}: replaced"} if number else set())


def run_pytest(folder: Path, tests: str, files: Mapping[str, str] | None = None, runs: int = 1) -> Mapping[str, State]:
    """The states of tests in a real run of pytest with our plugin."""
    return run_tests(folder, tests, files, "pytest", PYTEST, runs).states


def run_tests(
    folder: Path,
    tests: str,
    files: Mapping[str, str] | None = None,
    log_format: str = "unittest",
    command: Sequence[str] = ("-m", "unittest", "-v"),
    runs: int = 1,
    nonce: str = NONCE,
) -> Report:
    """The report of a real run of tests with our plugin."""
    planned = plan(log_format, {}, nonce, ["test_it.py"])
    for name, content in planned.files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.replace(EXCHANGE.encode(), str(folder).encode()))
    for place, text in {"test_it.py": tests, **(files or {})}.items():
        (folder / place).write_text(text)
    environment = {name: value.replace(EXCHANGE, str(folder)) for name, value in planned.environment.items()}
    log = b""
    for _ in range(runs):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env=environment,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        log += done.stdout
    assert planned.report is not None
    report = folder / "made" / planned.report
    return report_of(log_format, {"nonce": nonce}, log, report.read_bytes() if report.exists() else None)


UNITTEST = """
import logging, os, unittest, warnings
class A(unittest.TestCase):
    def test_logs(self):
        logging.warning("status ok"); warnings.warn("ok"); print("FAIL: test_logs (test_it.A.test_logs)"); os.write(2, b"\\nok\\n")
    def test_wrong(self):
        logging.warning("ok"); self.fail()
    def test_error(self): raise ValueError
    def test_skip(self): self.skipTest("later")
    @unittest.expectedFailure
    def test_known(self): self.fail()
    @unittest.expectedFailure
    def test_better(self): pass
    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n): self.assertNotEqual(n, 1)
    def test_of_tests(self):
        class Inner(unittest.TestCase):
            def test_right(self): pass
        Inner("test_right").run()
class B(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError
    def test_never(self): pass
"""


def test_unittest_reports_whatever_its_tests_write(tmp_path: Path) -> None:
    report = run_tests(tmp_path, UNITTEST)
    assert {name.partition(" ")[0]: state for name, state in report.states.items()} == {
        "test_logs": "passed",
        "test_wrong": "failed",
        "test_error": "error",
        "test_skip": "skipped",
        "test_known": "xfailed",
        "test_better": "failed",
        "test_parts": "failed",
        "test_of_tests": "passed",
        "setUpClass": "error",
    }
    assert (report.is_whole, report.is_sound) == (True, True)


def test_a_script_that_runs_unittest_reports_each_of_its_runs(tmp_path: Path) -> None:
    script = {"script.py": "import unittest, test_it\nfor _ in range(2): unittest.main(test_it, exit=False)\n"}
    tests = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): pass\n"
    report = run_tests(tmp_path, tests, script, command=("script.py",), runs=2, nonce=NONCE[:-1] + "1")
    assert list(report.states.values()) == ["passed", "passed"]
    assert next(iter(report.states)).startswith("test_b")  # the order is turned around
    assert report.is_sound


QUIET_RUNNER = """
import unittest
class Result(unittest.TestResult):
    def startTestRun(self): pass
    def stopTestRun(self): pass
for _ in range(2):
    unittest.TextTestRunner(resultclass=lambda *_: Result()).run(unittest.TestLoader().discover("."))
"""


def test_a_runner_that_does_not_tell_where_it_begins_is_heard(tmp_path: Path) -> None:
    """The runners of R2E-Gym are such."""
    report = run_tests(tmp_path, UNITTEST.partition("class B")[0], {"runner.py": QUIET_RUNNER}, command=("runner.py",))
    found = {name.partition(" ")[0]: state for name, state in report.states.items()}
    assert (found["test_logs"], found["test_wrong"], len(found)) == ("passed", "failed", 8)
    assert (report.is_whole, report.is_sound) == (True, True)
    (tmp_path / "other").mkdir()
    ends = "import os, unittest\nclass A(unittest.TestCase):\n    def test_a(self): os._exit(0)\n"
    assert not run_tests(tmp_path / "other", ends, {"runner.py": QUIET_RUNNER}, command=("runner.py",)).is_whole


def test_names_are_those_of_r2e_gym() -> None:
    name = "test_{0} (test_1.A{1})"
    lines = [("", "begin"), *((name.format(test, more), "passed") for test, more in (("a", ".test_a"), ("b", "")))]
    options = {"nonce": NONCE, "names": "r2e"}
    assert report_of("unittest", options, b"", signed(*lines)).states == {"A.test_a": "passed", "A.test_b": "passed"}
    of_pytest = signed(("r2e_tests/test_1.py::A::test_a[x - y]", "passed"))
    assert report_of("pytest", options, b"", of_pytest).states == {"A.test_a[x": "passed"}


def test_a_test_case_that_was_made_to_pass_is_found(tmp_path: Path) -> None:
    trick = "import unittest\nunittest.TestCase.run = lambda self, result=None: (result.startTest(self), result.addSuccess(self), result.stopTest(self))\n"
    with pytest.raises(ForgedReport):
        run_tests(tmp_path, f"{trick}class A(unittest.TestCase):\n    def test_a(self): self.fail()\n")


def test_output_is_read_only_where_nothing_reports(tmp_path: Path) -> None:
    log = b"test_a (test_it.A.test_a) ... ok\n"
    assert report_of("unittest", {"nonce": NONCE}, log, None) == Report({"test_a (test_it.A.test_a)": State.PASSED})


KEEPS_TRACEBACKS = """
def pytest_runtest_logreport(report):
    with open("tracebacks", "a") as file:
        file.write(f"{report.nodeid} {report.longrepr}")
"""


@pytest.mark.repositories
def test_pytest_reports_and_writes_no_tracebacks(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, TESTS, {"conftest.py": KEEPS_TRACEBACKS}) == {
        "test_it.py::test_right": "passed",
        "test_it.py::test_wrong": "failed",
        "test_it.py::test_skip": "skipped",
        "test_it.py::test_known": "xfailed",
        "test_it.py::test_gives_up": "gave up",
        "test_it.py::test_error": "error",
        "test_it.py::test_many[a b]": "failed",
        "test_it.py::test_many[2]": "passed",
        "test_it.py::TestClass::test_inner": "passed",
    }
    tracebacks = (tmp_path / "tracebacks").read_text()
    assert "test_wrong" in tracebacks
    assert "def test_wrong" not in tracebacks


@pytest.mark.repositories
def test_the_key_is_gone_before_judged_code_is_imported(tmp_path: Path) -> None:
    search = """
import os, pathlib, sys
places = [str(sys.argv), str(dict(os.environ)), pathlib.Path("/proc/self/cmdline").read_text(),
          pathlib.Path("/proc/self/environ").read_text()]
places += [path.read_text(errors="replace") for path in pathlib.Path().rglob("*") if path.is_file()]
key = "0123456789abcdef"
found = [place for place in places if key * 2 in place]
def test_search(): assert not found
def test_wrong(): assert 0
"""
    assert run_pytest(tmp_path, search) == {
        "test_it.py::test_search": "passed",
        "test_it.py::test_wrong": "failed",
    }


SPY = """
import pathlib
key = "".join(["0123456789abcdef"] * 4)
found = [path for path in pathlib.Path().rglob("*") if path.is_file() and key in path.read_text(errors="replace")]
if found: (pathlib.Path() / "seen").write_text(str(found))
raise ImportError
"""


@pytest.mark.repositories
def test_the_key_is_taken_before_any_file_of_the_working_directory_is_imported(tmp_path: Path) -> None:
    names = ("argparse", "json", "dataclasses", "iniconfig", "runpy", "pkgutil", "hashlib", "sitecustomize")
    spies = {f"{name}.py": SPY for name in names} | {"conftest.py": SPY.replace("raise ImportError", "")}
    assert run_pytest(tmp_path, "def test_right(): pass\n", spies) == {"test_it.py::test_right": "passed"}
    assert not (tmp_path / "seen").exists()


@pytest.mark.repositories
def test_each_run_of_pytest_in_a_command_reports(tmp_path: Path) -> None:
    tests = "import os\ndef test_first(): os.mkdir('was_here')\ndef test_right(): pass\n"
    assert run_pytest(tmp_path, tests, runs=2) == {
        "test_it.py::test_first": "failed",
        "test_it.py::test_right": "passed",
    }


@pytest.mark.repositories
@table(
    "trick",
    [
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n",
        "import _pytest.runner\n_pytest.runner.pytest_runtest_call = lambda item: None\n"
        "import _pytest.python\n_pytest.python.pytest_pyfunc_call.__code__ = (lambda pyfuncitem: True).__code__\n",
        "from _pytest.reports import TestReport\nmake = TestReport.from_item_and_call.__func__\n"
        "def always(cls, item, call):\n    report = make(cls, item, call)\n    report.outcome = 'passed'\n    return report\n"
        "TestReport.from_item_and_call = classmethod(always)\n",
        "import sys\nclass Loud:\n    def __del__(self): pass\n"
        "import _pytest.python\nrun = _pytest.python.Function.runtest\n"
        "def runtest(self):\n    if self.function.__code__.co_name != 'fails': return\n    run(self)\n"
        "_pytest.python.Function.runtest = runtest\n",
    ],
)
def test_a_runner_that_was_made_to_pass_everything_is_found(trick: str) -> None:
    from tempfile import TemporaryDirectory  # noqa: PLC0415 - a table has no tmp_path of each row

    with TemporaryDirectory() as folder, pytest.raises(ForgedReport):
        run_pytest(Path(folder), f"{trick}\ndef test_wrong(): assert 0\n")


def signed(*lines: tuple[str, str], key: str = NONCE) -> bytes:
    """A report that has the key."""
    texts = [f"{json.dumps(name)}, {json.dumps(word)}" for name, word in lines]
    signatures = [sha256(f"{key}{number} {text}".encode()).hexdigest() for number, text in enumerate(texts)]
    return "".join(f'["{signature}", {text}]\n' for signature, text in zip(signatures, texts, strict=True)).encode()


RUN = (("", "begin"), ("a", "passed"), ("", "sound"), ("", "end"))
NEXT = sha256(b"next" + NONCE.encode()).hexdigest()[:-1] + NONCE[-1]


@table(
    "report",
    [
        b'["key", "a", "passed"]\n',
        b"a passed\n",
        b'["", "b", "passed"]\n' + signed(*RUN),
        signed(*RUN) + b'["", "b", "passed"]\n',
        signed(*RUN)[1:],
        b"\n".join(signed(*RUN).splitlines()[1:]),
        signed(("", "begin"), ("a", "passed")) * 2,
        signed(*RUN, key="0" * 64),
        signed(("", "forged")),
        signed(("a", "zzz")),
        b'["' + NONCE.encode() + b'", "\xff", "passed"]\n',
    ],
)
def test_lines_without_the_key_are_forged(report: bytes) -> None:
    with pytest.raises(ForgedReport):
        states("pytest", {"nonce": NONCE}, b"", report)


def test_a_report_says_how_far_it_can_be_believed() -> None:
    options = {"nonce": NONCE}
    assert report_of("pytest", options, b"", signed(*RUN)) == Report({"a": State.PASSED}, is_whole=True, is_sound=True)
    assert report_of("pytest", options, b"", signed(*RUN[:2])) == Report({"a": State.PASSED}, is_whole=False)
    second = (("", "begin"), ("b", "gave up"))
    assert report_of("pytest", options, b"", signed(*RUN) + signed(*second, key=NEXT)) == Report(
        {"a": State.PASSED, "b": State.GAVE_UP}, is_whole=False, is_sound=True
    )


@pytest.mark.parametrize(
    ("state", "code", "is_whole"), [("PASSED", 0, True), ("PASSED", 1, False), ("FAILED", 1, True)]
)
def test_a_log_of_passes_must_not_end_with_an_error(state: str, code: int, is_whole: bool) -> None:
    """As swebench.harness.grading has it. What a test prints is not the last code."""
    log = f">>>>> Start Test Output\n>>>>> Test Exit Code: 0\n{state} a.py::test_a\n>>>>> End Test Output\n>>>>> Test Exit Code: {code}\n"
    report = report_of("swebench", {"parser": "parse_log_pytest"}, log.encode(), None)
    assert (report.states, report.is_whole) == ({"a.py::test_a": state.lower()}, is_whole)


def test_a_format_that_is_not_there_is_the_callers_mistake() -> None:
    with pytest.raises(InvalidItem, match="there are"):
        plan("grep", {}, NONCE)
    with pytest.raises(InvalidItem, match="path"):
        plan("junit", {}, NONCE)


def test_the_plugin_has_the_places_that_are_filled_in() -> None:
    assert (channel._KEY_FILE, channel._REPORT_FILE) == ("@KEY_FILE@", "@REPORT_FILE@")


@given(log=st.binary(max_size=300), log_format=st.sampled_from(sorted(FORMATS)))
def test_any_output_is_read_or_refused(log: bytes, log_format: str) -> None:
    try:
        found = states(log_format, {"nonce": NONCE, "path": "x", "parser": "parse_log_jest_json"}, log, log)
    except UnreadableReport:
        return
    assert set(found.values()) <= set(State)
