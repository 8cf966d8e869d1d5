"""A test that asks nothing of the program is not a test: its text decides for all responses."""

from typing import Any

import pytest

from tests.sandbox.runner.split_process import run
from tests.verifiers.code.bench import Bench
from verifiers.base import InvalidItem, Status
from verifiers.code import aliases

NEVER_RUN = {
    "uncalled check": "def check(candidate):\n    assert candidate(1) == 2",
    "uncalled test": "def test_f():\n    assert f(1) == 2",
    "uncalled coroutine": "import asyncio\nasync def main():\n    assert f(1) == 2",
    "loop over nothing": "for x in []:\n    assert f(x) == 1",
    "test case": "import unittest\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(1), 2)",
    "test case with its main part": (
        "import unittest\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(1), 2)\n"
        "if __name__ == '__main__':\n    unittest.main()"
    ),
    "condition that is never true": "if False:\n    assert f(1) == 2",
    "nothing of the program": "x = 1\nassert x == 1",
}
RUN = {
    "main part": "if __name__ == '__main__':\n    assert f(1) == 2",
    "called check": "def check(candidate):\n    assert candidate(1) == 2\ncheck(f)",
    "called coroutine": "import asyncio\nasync def main():\n    assert f(1) == 2\nasyncio.run(main())",
    "called through another": "def a():\n    b()\ndef b():\n    assert f(1) == 2\na()",
    "method": "class T:\n    def go(self):\n        assert f(1) == 2\nT().go()",
    "all by their names": "def test_f():\n    assert f(1) == 2\nfor g in [*globals().values()]:\n    getattr(g, '__code__', 0) and g()",
    "decorated": "def now(g):\n    g()\n@now\ndef _():\n    assert f(1) == 2",
}


def _asserts(code: str, **more: Any) -> dict[str, Any]:
    return {"case_type": "assert", "test_cases": [code], **more}


@pytest.mark.parametrize("name", NEVER_RUN)
def test_asserts_that_never_run_are_refused_by_their_text(name: str) -> None:
    for more in ({}, {"entry_point": "f"}):
        with pytest.raises(InvalidItem) as refused:
            aliases.parse(_asserts(NEVER_RUN[name], **more))
        assert refused.value.reason == "vacuous_test"


def test_asserts_that_run_judge_the_program(bench: Bench) -> None:
    programs = ("def f(x):\n    return x + 1", "def f(x):\n    return x", "raise ValueError")
    items = [
        (f"```python\n{program}\n```", {"reference": _asserts(code)}) for code in RUN.values() for program in programs
    ]
    verdicts = bench.judge_all(items)
    assert [verdict.status for verdict in verdicts] == [Status.OK] * len(items)
    assert [verdict.score for verdict in verdicts] == [1.0, 0.0, 0.0] * len(RUN)


def test_a_check_that_asserts_in_a_function_it_never_calls_is_refused() -> None:
    code = "def check(candidate):\n    def inner():\n        assert candidate(1) == 2\n    return None"
    with pytest.raises(InvalidItem):
        aliases.parse({"case_type": "check_based", "test_cases": [code], "entry_point": "f"})


def test_a_case_that_reaches_nothing_of_the_program_does_not_pass() -> None:
    cases = ["for x in range(0):\n    assert f(x) == 1", "assert f(1) == 1"]
    said = run("def f(x):\n    return x", style="asserts", cases=cases)
    assert said.passed == [False, True]
    assert said.messages[0] == "the tests did not use the program"


def test_a_case_may_look_at_what_the_program_has_written_before(bench: Bench) -> None:
    cases = ["put('a.txt')", "import os\nassert os.path.exists('a.txt')"]
    reference = {"case_type": "assert", "test_cases": [f"{cases[0]}\nassert open('a.txt').read() == ''", cases[1]]}
    program = "```python\ndef put(name):\n    {}\n```"
    right = bench.judge(program.format("open(name, 'w').close()"), reference)
    assert (right.status, right.score) == (Status.OK, 1.0)
    for wrong in (program.format("pass"), "```python\nraise ValueError\n```"):
        assert bench.judge(wrong, reference).score == 0.0


def test_a_module_that_defines_all_that_it_tests_is_refused() -> None:
    module = "def f(x):\n    return x + 1\ndef test_f():\n    assert f(len([1])) == 2\n"
    for code in (module, f"import pytest\n{module}"):
        with pytest.raises(InvalidItem) as refused:
            aliases.parse({"case_type": "pytest", "test_cases": code})
        assert refused.value.reason == "vacuous_test"
    for code in (module.replace("f(len", "g(len"), f"from solution import f\n{module}", f"import solution\n{module}"):
        assert aliases.parse({"case_type": "pytest", "test_cases": code})


@pytest.mark.parametrize(
    ("code", "reason", "says"),
    [
        ("from .solution import f\ndef test_a():\n    assert f(1) == 1", "tests_not_supported", "write `from solution"),
        (
            "from . import solution\ndef test_a():\n    assert solution.f(1)",
            "tests_not_supported",
            "write `from solution",
        ),
        (
            "def test_a():\n    exec(open('solution.py').read(), n := {})\n    assert n['f'](1)",
            "tests_not_supported",
            "file",
        ),
        (
            "from pathlib import Path\ndef test_a():\n    exec(Path('solution.py').read_text(), n := {})\n    assert n['f'](1)",
            "tests_not_supported",
            "file",
        ),
        ("from main import f\ndef test_a():\n    assert f(1) == 1", "vacuous_test", "they import from main"),
        (
            "from src.solution import f\ndef test_a():\n    assert f(1) == 1",
            "vacuous_test",
            "they import from src.solution",
        ),
    ],
    ids=["relative", "relative module", "file", "path", "another module", "another package"],
)
def test_tests_that_look_for_the_program_elsewhere_are_invalid(code: str, reason: str, says: str) -> None:
    with pytest.raises(InvalidItem, match=says) as refused:
        aliases.parse({"case_type": "pytest", "test_cases": [code]})
    assert refused.value.reason == reason
