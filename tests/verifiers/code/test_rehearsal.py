"""Whether a task is judged is the task's: no response, right, wrong, broken or hostile, gets another status."""

from typing import Any

import pytest

from sandbox.base import TestStyle
from tests.tables import table
from tests.verifiers.code.bench import Bench
from verifiers.base import Status
from verifiers.code import CodeParams, rehearsal
from verifiers.code.cases import TestProgram, TestPrograms

MISSING = "no_such_module_x"
RESPONSES = (
    "import os\nos._exit(0)",
    "1 / 0",
    "def other(): pass",
    "def f(:",
    "def f(*a): raise BaseException\nask = g = f",
    "def f(*a): return 7\nask = g = f",
    "class Solution: pass\nasync def f(*a): return f\nask = g = f",
    "import sys\nsys.exit(0)",
    "f = g = ask = type('E', (), {'__eq__': lambda *_: True, '__call__': lambda s, *_: s})()",
)
ASKING = """import pytest
TARGET = 'builtins.input'
def test_a(monkeypatch):
    monkeypatch.setattr(TARGET, lambda *a: '4')
    assert ask() == 8
"""
CLOCK = """import time
def test_a(monkeypatch):
    mine = time
    monkeypatch.setattr(mine, 'time', lambda: 4)
    assert f() == 4
"""
RAISING = """import pytest, numpy as np
from solution import *
def test_a():
    with pytest.raises(Bad): f(np.array([1]))
"""
CURSOR = "import sqlite3\nc = sqlite3.connect(':memory:').cursor()\nassert f(c) == (1,)"
LINES = """with open('a.txt', 'w') as out: out.write('1\\n2\\n3')
with open('a.txt') as lines: assert f(lines) == ['1\\n', '2\\n', '3', '', False]
"""
TASKS: list[tuple[str, str, Any]] = [
    ("ok", "def f(m): return m.sqrt(4)", "import math\nassert f(math) == 2"),
    ("ok", "def f(m): return m.nbytes", "assert f(memoryview(b'ab')) == 2"),
    ("ok", "def f(m): return bytes(m)", "v = memoryview(b'ab')\nassert f(v) == b'ab'"),
    (
        "ok",
        "def f(c): return c",
        "import sqlite3\nc = sqlite3.connect(':memory:')\nassert f(1) == c.execute('select 1').fetchone()[0]",
    ),
    ("ok", "def f(x): return len(x)", "assert f('a' * (2 * 10**6)) == 2 * 10**6"),
    ("invalid", "def f(x): return len(x)", f"assert f([{'1, ' * 1_500_000}]) == 1_500_000\nassert f([]) == 0"),
    ("ok", "def f(x): return len(x)", f"try:\n    import {MISSING}\nexcept ImportError:\n    pass\nassert f('a') == 1"),
    (
        "ok",
        "def f(t): return t.upper()",
        {"pytest": "import pytest\nfrom solution import f\ndef test_a(): assert f('a') == 'A'\n"},
    ),
    ("ok", "class Bad(Exception): pass\ndef f(x): raise Bad('a')", {"pytest": RAISING}),
    (
        "invalid",
        "def f(c): return c.total_changes",
        "import sqlite3\nc = sqlite3.connect(':memory:')\nassert f(c) == 0",
    ),
    (
        "invalid",
        "def g(x): return x\ndef f(c): return c.total_changes",
        "import sqlite3\nassert g(2) == 2\nc = sqlite3.connect(':memory:')\nassert f(c) == 0",
    ),
    ("invalid", "def f(x): return len(x)", "made = 1\nfor _ in range(150): made = [made]\nassert f(made) == 1"),
    ("invalid", "def f(x): return len(x)", "assert f('a' * (20 * 10**6)) == 20 * 10**6"),
    ("ok", "def f(x): return [x.readline(), *x, x.read(), x.closed]", LINES),
    (
        "ok",
        "import json\ndef f(x):\n    with x: return json.load(x)",
        "import json\n" + LINES.replace("1\\n2\\n3", "[1]").replace("['1\\n', '2\\n', '3', '', False]", "[1]"),
    ),
    ("invalid", "def f(x): return x.execute('select 1').fetchone()", CURSOR),
    ("ok", "def f(x): return x[0]", "class D(list): 'numbers'\nassert f(D([1])) == 1"),
    ("invalid", "def f(x): return x.v", "class D(dict): v = 3\nassert f(D()) == 3"),
    ("invalid", "def f(x): return x.v", "class D(list): pass\nd = D()\nd.v = 3\nassert f(d) == 3"),
    (
        "invalid",
        "def f(x): return x['q']",
        "class D(dict):\n    def __missing__(self, k): return k\nassert f(D()) == 'q'",
    ),
    ("invalid", "def f(x): return x", "import socket\ns = socket.socket()\nassert f(s.fileno()) > 0"),
    ("invalid", "def ask(): return int(input()) * 2", {"pytest": ASKING}),
    ("invalid", "import time\ndef f(): return time.time()", {"pytest": CLOCK}),
    ("failed", "def f(x): return len(x)", f"import {MISSING}\nassert f('a') == 1\nassert f([]) == len([])"),
    (
        "failed",
        "def f(x): return len(x)",
        f"assert f('ab') == 2\ndef g():\n    import {MISSING}\n    assert f('a') == 1\ng()",
    ),
]


def reference(tests: Any) -> dict[str, Any]:
    if isinstance(tests, str):
        return {"case_type": "assert", "test_cases": [tests]}
    return {"case_type": "pytest", "test_cases": tests["pytest"]}


def statuses(bench: Bench, right: str, tests: Any, responses: tuple[str, ...]) -> list[str]:
    texts = [f"```python\n{program}\n```" for program in (right, *responses)] + ["", "There is none."]
    verdicts = bench.judge_all([(text, {"reference": reference(tests)}) for text in texts])
    paid = [verdict.score for verdict in verdicts if verdict.status is Status.OK]
    assert paid in ([], [1.0, *[0.0] * (len(texts) - 1)])
    return [str(verdict.status) for verdict in verdicts]


@table("position", [9, 16])
def test_the_task_alone_decides(bench: Bench, position: int) -> None:
    status, right, tests = TASKS[position]
    assert {*statuses(bench, right, tests, RESPONSES[1:3])} == {status}


@pytest.mark.boxes
@table(("status", "right", "tests"), TASKS)
def test_the_task_alone_decides_for_all_responses(bench: Bench, status: str, right: str, tests: Any) -> None:
    assert {*statuses(bench, right, tests, RESPONSES)} == {status}


@table(
    ("source", "is_needed"),
    [
        ("assert f(1) == 2", False),
        ("import math, typing\nassert f(10**9 + 7) == 100000000", False),
        ("a = [1]\nb = [a, a]\nassert f(b) == 2", False),
        ("class Own(Exception): pass\nassert f(1) == 2", False),
        ("import numpy as np\nassert f(np.array([1])) == 2", True),
        ("from unittest.mock import patch\nassert f(1) == 2", True),
        ("class Own(dict): pass\nassert f(Own()) == 2", True),
        ("assert f('a' * 10**7) == 2", True),
        (f"assert f([{'1, ' * 400_000}]) == 400_000\nassert f([]) == 0", True),
        ("assert f([0] * 200000) == 2", True),
        ("assert f(list(range(10**6))) == 2", True),
        ("a = 1\nfor _ in range(9): a = [a]\nassert f(a) == 2", True),
    ],
)
def test_few_tests_need_a_rehearsal(source: str, is_needed: bool) -> None:
    program = TestProgram(TestStyle.ASSERTS, 1, [source], "")
    assert rehearsal.is_needed(TestPrograms(["1"], [program])) is is_needed


def test_a_rehearsal_is_made_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    run = bench.sandbox.run

    async def counted(program: Any, asked: Any, take: Any) -> Any:
        runs.append(program.source)
        return await run(program, asked, take)

    monkeypatch.setattr(bench.sandbox, "run", counted)
    monkeypatch.setattr(bench.verifier, "_sandbox", bench.sandbox)
    test = "import string\nimport secrets\nassert f(len(string.digits)) == 10"
    params = CodeParams(reference={"case_type": "assert", "test_cases": [test]})
    items = [(f"```python\ndef f(x): return {value}\n```", params.model_dump()) for value in ("x", "x + 1", "10")]
    assert [verdict.score for verdict in bench.judge_all(items)] == [1.0, 0.0, 1.0]
    assert runs.count("") == 1
