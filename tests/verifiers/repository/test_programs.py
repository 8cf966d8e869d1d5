"""Programs of data sets read the output of tests in a box, and what they cannot read is not a result."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from verifiers.base import InvalidItem
from verifiers.repository.reports import State, UnreadableReport, check, programs

DATA = Path(__file__).parents[2] / "data"
PRO = (DATA / "swe_bench_pro" / "parser.py.txt").read_text()
JEST = (DATA / "multi_swe_bench" / "apollo_server.py.txt").read_text()
FLASK = (DATA / "multi_swe_bench" / "flask.py.txt").read_text()
LOG = b"""\
tests/test_a.py::test_right PASSED                                       [ 25%]
tests/test_a.py::test_wrong FAILED                                       [ 50%]
tests/test_a.py::test_later SKIPPED (later)                              [ 75%]
\0ERROR tests/test_b.py::test_broken
"""
LIVE = "def parser(log):\n    return dict(line.split() for line in log.splitlines())\n"


def states(*runs: tuple[Mapping[str, str], bytes]) -> list[Mapping[str, State] | str]:
    """What the programs say of logs, or why they say nothing. All of them run in one box."""

    async def read_all() -> list[Mapping[str, State] | str]:
        sandbox = PooledSandbox(LocalBackend(), slots=1)
        await sandbox.start()
        found: list[Mapping[str, State] | str] = []
        try:
            for options, log in runs:
                try:
                    found.append((await programs.report_of(sandbox, options, log, "owner")).states)
                except UnreadableReport as error:
                    found.append(str(error))
        finally:
            await sandbox.stop()
        return found

    return asyncio.run(read_all())


def test_programs_say_the_state_of_each_test() -> None:
    script, function, twice = states(
        ({"program": PRO}, LOG),
        ({"program": LIVE, "form": "function"}, b"a pass\nb fail\nc skip\nd Error\n"),
        ({"program": "import sys\nopen(sys.argv[3], 'w').write(open(sys.argv[1]).read())"}, b'{"tests": [{"name": "a", "status":'
         b' "PASSED"}, {"name": "a", "status": "FAILED"}]}'),
    )  # fmt: skip
    assert script == {
        "tests/test_a.py::test_right": "passed",
        "tests/test_a.py::test_wrong": "failed",
        "tests/test_a.py::test_later": "skipped",
        "tests/test_b.py::test_broken": "error",
    }
    assert function == {"a": "passed", "b": "failed", "c": "skipped", "d": "error"}
    assert twice == {"a": "failed"}


def test_modules_of_multi_swe_bench_read_logs_without_their_package() -> None:
    """What their package says of the same logs. It has no state for a test that both passed and failed: that has failed."""
    jest, flask, none = states(
        ({"program": JEST, "form": "class"}, "PASS a.test.ts\n  ✓ adds (3 ms)\n  ○ skipped later\nFAIL b.test.ts\n  ✕ subtracts\n  ✓ subtracts\n".encode()),
        ({"program": FLASK, "form": "class"}, b"PASSED t.py::a\nFAILED t.py::b - assert 1 == 2\nXFAIL t.py::c\nERROR t.py::d\nSKIPPED [1] t.py:3: later\n"),
        ({"program": "import multi_swe_bench.harness.instance", "form": "class"}, LOG),
    )  # fmt: skip
    assert jest == {"adds": "passed", "skipped later": "skipped", "subtracts": "failed"}
    assert flask == {
        "t.py::a": "passed",
        "t.py::b": "failed",
        "t.py::c": "passed",
        "t.py::d": "failed",
        "[1]": "skipped",
    }
    assert "IndexError" in str(none)


def test_what_a_program_cannot_read_is_no_result() -> None:
    broken, raises, silent, junk = states(
        ({"program": "def parser(log:", "form": "function"}, LOG),
        ({"program": LIVE, "form": "function"}, b"a b c\n"),
        ({"program": "pass"}, LOG),
        ({"program": "import sys\nopen(sys.argv[3], 'wb').write(bytes([255]))"}, LOG),
    )
    assert "program" in str(broken)
    assert "cannot read the output: exited: ValueError" in str(raises)
    assert "wrote no list of tests" in str(silent)
    assert "wrote no list of tests" in str(junk)


def test_a_program_must_be_given() -> None:
    for options in ({}, {"program": "x", "form": "other"}):
        with pytest.raises(InvalidItem):
            check("program", options)
    check("program", {"program": "x"})
