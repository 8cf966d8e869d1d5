"""Tests that need the program in their own process: the task decides, and never the response."""

import ast
from typing import Any

import pytest

from tests.tables import table
from tests.verifiers.code.bench import Bench
from verifiers.base import InvalidItem, Status, Unavailable
from verifiers.code import aliases, sharing


def python(source: str) -> str:
    return f"```python\n{source}\n```"


RIGHT = python("def ask():\n    return int(input()) * 2")
WRONG = python("def ask():\n    return 1")
CRASHING = python("1 / 0")
HEAD = "import unittest\nfrom unittest.mock import patch\nclass T(unittest.TestCase):\n"
ASKING = f"{HEAD}    @patch('builtins.input', return_value='4')\n    def test_a(self, _):\n        self.assertEqual(ask(), 8)\n"
PATCHING = """
def test_a(monkeypatch):
    monkeypatch.setattr('builtins.input', lambda: '4')
    assert ask() == 8
"""


@table(
    ("test", "text"),
    [
        ("@patch('requests.get')\ndef test(_): ...", "patch(requests.get)"),
        ("import os\nwith patch.object(os, 'getcwd'): f()", "object(os.getcwd)"),
        ("import os.path as p\npatch.object(p, 'exists')", "object(os.path.exists)"),
        ("def test(monkeypatch):\n    monkeypatch.setattr('time.sleep', f)", "setattr(time.sleep)"),
        ("def test(caplog): f()", "caplog"),
        ("with self.assertLogs(): f()", "assertLogs"),
        ("with pytest.warns(UserWarning): f()", "warns"),
        ("sys.stdin = io.StringIO('1')\nf()", "sys.stdin"),
        ("import inspect\nassert inspect.signature(f)", ""),
        ("import inspect\nassert inspect.getsource(f)", "inspect.getsource"),
        ("assert f.__code__.co_argcount == 1", ""),
        ("assert f.__globals__", "__globals__"),
        ("c = Mock()\nc.get.return_value = 4\nf(c)", "c.get"),
        ("c = MagicMock(spec=Client)\nf(c)", "MagicMock(spec=Client)"),
        ("c = Mock(return_value=4)\nf(c)\nc.assert_called_once()", ""),
        ("async def double(x): ...\nasyncio.run(apply(double, 4))", "async def double"),
        ("@retry\nasync def get(): ...\nasyncio.run(get())", "async def get"),
        ("import asyncio\nasync def main(): assert await f(2) == 4\nasyncio.run(main())", ""),
        ("assert eval(f(24)) == 24", "eval(f(24))"),
        ("text = f(24)\nlines = []\nlines.append(text)\nfor line in lines:\n    assert eval(line) == 24", "eval(line)"),
        ("def value(text): return eval(text)\nassert value(f(24)) == 24", "eval(text)"),
        ("def check(candidate):\n    assert eval(candidate(24)) == 24", "eval(candidate(24))"),
        ("class T:\n    def setUp(self): self.a = f(2)\n    def test(self): exec(self.a)", "exec(self.a)"),
        ("from sympy import sympify\nassert sympify(f(2)) == 2", "sympify(f(2))"),
        ("for line in ['1 + 2', '3']:\n    assert f(line) == eval(line)", ""),
        ("def own(text): return eval(text)\nassert f('1 + 2') == own('1 + 2')", ""),
        ("@pytest.mark.parametrize('line, n', [('1', 2)])\ndef test(line, n): assert f(line) == eval(line)", ""),
        ("import re, ast\nassert re.compile(f(2)).match('a') and ast.literal_eval(f(3))", ""),
        ("import subprocess\nsubprocess.run = Mock(return_value=0)\nf()", "subprocess.run"),
        ("import datetime as d\nd.datetime.now = lambda: 4\nf()", "d.datetime.now"),
        ("import solution\nsolution.g = lambda: 4\nf()", ""),
        ("import pandas as pd\npd.options.display.width = 80\nf()", ""),
        ("import sys, io\nsys.stdout = io.StringIO()\nf()", ""),
        ("patch('solution.f')", ""),
        ("@patch(__name__ + '.choice')\ndef test(_): ...", "patch(__name__ + '.choice')"),
        ("from solution import f\nimport solution\npatch.object(solution, 'f')", ""),
        ("patch('sys.stdout')", ""),
        ("patch.dict('os.environ', {'A': '1'})", ""),
        ("import os\nset_mode('x')\nassert os.environ['MODE'] == 'x'", "os.environ['MODE']"),
        ("import sys\nadd('/x')\nassert '/x' in sys.path", "sys.path"),
        ("import sys\nif '.' not in sys.path: sys.path.append('.')\nassert f() == 4", ""),
        ("import os\nload('.env')\nassert os.getenv('A') == '1'", "os.getenv('A')"),
        ("from os import environ\nf()\nfor key in ('A',): assert environ[key]", "environ[key]"),
        ("import os\nos.environ['A'] = '1'\nassert f() == os.environ['A']", ""),
        ("import os\nos.environ.update(A='1')\nassert f() == os.getenv('A')", ""),
        ("def test(monkeypatch):\n    monkeypatch.setenv('A', '1')\n    assert f() == os.environ['A']", ""),
        ("import os\nassert f() == os.environ['HOME'] and os.environ.get('DEBUG', '') == ''", ""),
        ("setattr(thing, 'a', 1)", ""),
        ("class Own: pass\npatch.object(Own, 'a')", ""),
        ("import tempfile, subprocess\nsubprocess.run(['ls', tempfile.mkdtemp()])", "subprocess.run(...)"),
        ("import subprocess\nsubprocess.run(['ls'])", ""),
        ("import sqlite3\nc = sqlite3.connect(':memory:')", ""),
        ("import sqlite3\nc = sqlite3.connect('a.db')\nassert f('a.db')", "sqlite3.connect(...)"),
        ("assert f.__doc__", ""),
        ("from solution import Base\nclass Mine(Base): pass", "class Mine(Base)"),
        ("class Mine(Base): pass", "class Mine(Base)"),
        (
            "from enum import Enum\nBase = object\nclass A(Enum): pass\nclass B(Base): pass\nclass C(A, ValueError): pass",
            "",
        ),
        ("class T(unittest.TestCase): pass", ""),
    ],
)
def test_what_tests_share_is_read_from_their_text(test: str, text: str) -> None:
    assert sharing.shared_by(ast.parse(test)) == text


@table(
    ("test", "uses_files"),
    [
        ("import tempfile\nf(tempfile.mkdtemp())", True),
        ("def test(tmp_path): f(tmp_path)", True),
        ("with open('a.txt', 'w') as file: file.write('x')", True),
        ("f('o.txt')\nassert os.path.exists('o.txt')", True),
        ("f('o.txt')\nassert Path('o.txt').exists()", True),
        ("with open('data.csv') as file: f(file.read())", True),
        ("import os\nf()\nos.remove('a.db')", True),
        ("import os\nnames = ['a']\nnames.remove('a')\nf()", False),
        ("assert f(1) == 2", False),
    ],
)
def test_whether_tests_need_the_programs_directory_is_read_from_their_text(test: str, uses_files: bool) -> None:
    assert sharing.uses_files(ast.parse(test)) is uses_files
    assert sharing.shared_by(ast.parse(test)) == ""


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize(
    "reference", [{"case_type": "unittest", "test_code": ASKING}, {"case_type": "pytest", "test_code": PATCHING}]
)
def test_the_task_decides_whether_it_is_judged(bench: Bench, reference: dict[str, Any]) -> None:
    apart = bench.judge_all([(response, {"reference": reference}) for response in (RIGHT, WRONG, CRASHING, "No.")])
    assert {(verdict.status, verdict.reason) for verdict in apart} == {(Status.INVALID, "tests_not_supported")}
    assert "together" in str(apart[0].detail["message"])
    for terms in ({"reference": {**reference, "together": True}}, {"reference": reference, "together": True}):
        judged = bench.judge_all([(response, terms) for response in (RIGHT, WRONG, CRASHING, "No.")])
        assert [(verdict.status, verdict.score) for verdict in judged] == [
            (Status.OK, 1.0),
            (Status.OK, 0.0),
            (Status.OK, 0.0),
            (Status.OK, 0.0),
        ]
        assert judged[0].detail["unguarded"] is True


@pytest.mark.boxes
@table(
    ("name", "reference"),
    [
        ("f", {"case_type": "assert", "test_cases": ["assert f(1) == 2", "assert f.__name__ == 'f'"]}),
        ("f", {"entry_point": "f", "test": "def check(candidate):\n    assert candidate(1) == 2\n"}),
        (
            "f",
            {
                "entry_point": "f",
                "test": "import inspect\ndef check(candidate):\n    assert inspect.isfunction(candidate)\n    assert candidate(1) == 2",
            },
        ),
    ],
)
def test_other_tests_run_together_too(bench: Bench, name: str, reference: dict[str, Any]) -> None:
    terms: dict[str, Any] = {"reference": reference, "together": True}
    assert bench.judge(python(f"def {name}(x):\n    return x + 1"), **terms).score == 1.0
    for wrong in (f"def {name}(x):\n    return x", "import sys\nsys.exit(0)", "import os\nos._exit(0)"):
        assert bench.judge(python(wrong), **terms).score == 0.0


@pytest.mark.boxes
def test_a_value_that_equals_everything_passes_no_tests_together(bench: Bench) -> None:
    lying = "class Any(int):\n    def __eq__(self, other): return True\ndef ask(): return Any(1)"
    for test in ({"case_type": "unittest", "test_code": ASKING}, {"case_type": "pytest", "test_code": PATCHING}):
        assert bench.judge(python(lying), test, together=True).score == 0.0


def test_tests_in_several_files_cannot_run_together() -> None:
    files = {"test_a.py": "def test_a():\n    assert f() == 1", "test_b.py": "def test_b():\n    assert f() == 1"}
    with pytest.raises(InvalidItem, match="one file"):
        aliases.parse({"case_type": "pytest", "files": files, "together": True})


@pytest.mark.boxes
def test_a_library_that_the_tests_import_and_no_box_has_is_no_fault_of_the_program(bench: Bench) -> None:
    test = "import unittest\nimport no_such_library\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)"
    for program in ("def f(): return 1", "def f(): return 2", "import no_such_library\ndef f(): return 1"):
        with pytest.raises(Unavailable) as caught:
            bench.judge(python(program), {"case_type": "unittest", "test_code": test})
        assert caught.value.reason == "language_unavailable"


def test_coroutines_are_tests_without_a_plugin(bench: Bench) -> None:
    test = "import pytest\n@pytest.mark.asyncio\nasync def test_a():\n    assert await f(3) == 4\n"
    reference = {"case_type": "pytest", "test_code": test}
    assert bench.judge(python("async def f(n): return n + 1"), reference).score == 1.0
    assert bench.judge(python("async def f(n): return n"), reference).score == 0.0


FILES = """
def test_a(tmp_path):
    with open("out.txt", "w") as file:
        file.write('["x", true, "", ""]')
    assert count("out.txt") == 4
def test_b(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("a b")
    assert count(str(path)) == 2
    save(path, "c")
    assert path.read_text() == "c"
"""
COUNTING = """
def count(path):
    with open(path) as file: return len(file.read().split())
def save(path, text): path.write_text(text)
"""
IDLE = "\ndef count(path): return 0\ndef save(path, text): pass"
READING = """
import os
def count(path):
    text = ""
    for folder in ("../../t/w", "..", "../.."):
        try: text += "".join(open(f"{folder}/{name}").read() for name in os.listdir(folder))
        except OSError: pass
    return 4 if "test_a" in text else 0
def save(path, text): pass
"""
LAID = [
    *(f"import os\nos.symlink('/proc/self/fd/{number}', 'out.txt')" for number in range(3, 8)),
    "import os\nos.symlink('/proc/self/mem', 'out.txt')",
    "import os\nos.symlink('../../t/w/test_solution.py', 'out.txt')",
    "import os\nos.symlink('../../t/w', '.pytest')",
    "import os\nos.mkdir('.pytest', 0)",
    "import os\nos.chmod('.', 0)",
    "open('conftest.py', 'w').write('import os; os._exit(0)')\nopen('pytest.py', 'w').write('raise SystemExit(0)')",
]


@pytest.mark.boxes
def test_what_a_program_lays_among_files_of_tests_passes_nothing(bench: Bench) -> None:
    reference = {"case_type": "pytest", "test_code": FILES}
    programs = [COUNTING, READING, *(laid + IDLE for laid in LAID)]
    verdicts = bench.judge_all([(python(program), {"reference": reference}) for program in programs])
    assert {verdict.status for verdict in verdicts} == {Status.OK}
    assert [verdict.score for verdict in verdicts] == [1.0] + [0.0] * (len(programs) - 1)
