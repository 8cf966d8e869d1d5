"""What is one object, one coroutine or one script in Python is one in tests, too."""

from typing import Any

from tests.tables import table
from tests.verifiers.code.bench import Bench


def python(source: str) -> str:
    return f"```python\n{source}\n```"


def asserts(*cases: str) -> dict[str, Any]:
    return {"case_type": "assert", "test_cases": [*cases]}


@table(
    ("reference", "right", "wrong"),
    [
        (
            asserts("m = mat(2)\nm[0][0] = 5\nassert m == [[5, 0], [0, 0]]"),
            "def mat(n): return [[0] * n for _ in range(n)]",
            "def mat(n): return [[0] * n] * n",
        ),
        (
            asserts("a = [[1], [2]]\nb = cp(a)\nb[0].append(3)\nassert a == [[1], [2]]"),
            "def cp(a): return [list(row) for row in a]",
            "def cp(a): return list(a)",
        ),
        (
            asserts("a = [1]\ns = S(a)\na.append(2)\nassert s.get() == [1]"),
            "class S:\n    def __init__(self, a): self.a = list(a)\n    def get(self): return self.a",
            "class S:\n    def __init__(self, a): self.a = a\n    def get(self): return self.a",
        ),
        (
            asserts("a = [1]\ns = S(a)\na.append(2)\nassert s.total() == 3"),
            "class S:\n    def __init__(self, a): self.a = a\n    def total(self): return sum(self.a)",
            "class S:\n    def __init__(self, a): self.a = list(a)\n    def total(self): return sum(self.a)",
        ),
    ],
)
def test_containers_keep_their_identity(bench: Bench, reference: dict[str, Any], right: str, wrong: str) -> None:
    judged = bench.judge_all([(python(source), {"reference": reference}) for source in (right, wrong)])
    assert [verdict.score for verdict in judged] == [1.0, 0.0]


def test_a_coroutine_is_no_value_for_an_assert_that_does_not_await_it(bench: Bench) -> None:
    coroutine = python("async def f(x): return x * x")
    assert bench.judge(coroutine, asserts("assert f(2) == 4")).score == 0.0
    assert bench.judge(coroutine, asserts("import asyncio\nassert asyncio.run(f(2)) == 4")).score == 1.0
    function = {"case_type": "function", "fn_name": "f", "test_cases": [{"input": "2", "expected_output": "4"}]}
    assert bench.judge(coroutine, function).score == 1.0


@table(
    "test",
    [
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(2), 4)\n"
        "if __name__ == '__main__':\n    unittest.main()\n",
        "def test():\n    assert f(2) == 4\nif '__main__' == __name__:\n    test()\n",
    ],
)
def test_a_script_runs_its_part_for_main(bench: Bench, test: str) -> None:
    reference = {"case_type": "program", "test_cases": [test]}
    sources = ("def f(x): return x * x", "def f(x): return 1", "import sys\ndef f(x): sys.exit(0)")
    judged = bench.judge_all([(python(source), {"reference": reference}) for source in sources])
    assert [verdict.score for verdict in judged] == [1.0, 0.0, 0.0]
