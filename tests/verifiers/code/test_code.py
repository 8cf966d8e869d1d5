"""Programs judged in real boxes."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.workers import Workers
from tests.tables import table
from tests.verifiers.code.bench import Bench
from verifiers.base import Item, Resources, Status, Unavailable
from verifiers.code import CodeParams, create

DATA = Path(__file__).parents[2] / "data" / "code"
TASKS = [json.loads(line) for line in (DATA / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]

SQUARE = {"test_cases": [{"input": "3\n", "output": "9\n"}, {"input": "4\n", "output": "16\n"}]}
ADD = "```python\ndef add(a, b):\n    return a + b\n```"


def python(source: str) -> str:
    return f"```python\n{source}\n```"


@pytest.mark.boxes
def test_every_task_has_the_expected_fraction(bench: Bench) -> None:
    tasks = [task for task in TASKS if task["language"] in bench.sandbox.languages]
    items = [(task["response"], {"reference": task["reference"], **task["params"]}) for task in tasks]
    wrong = {
        task["id"]: (task["expected"], verdict.score, verdict.reason)
        for task, verdict in zip(tasks, bench.judge_all(items), strict=True)
        if verdict.score != pytest.approx(task["expected"])
    }
    assert not wrong


def test_rows_of_leetcode_pass_with_their_own_solutions_and_with_no_other(bench: Bench) -> None:
    rows = [json.loads(line) for line in (DATA / "leetcode_rows.jsonl").read_text(encoding="utf-8").splitlines()]
    references = [
        *((row, row) for row in rows),
        *((row, {key: row[key] for key in ("prompt", "entry_point", "test")}) for row in rows[:2]),
    ]
    terms = {"time_limit_s": 20}
    own = bench.judge_all([(python(row["completion"]), {"reference": test, **terms}) for row, test in references])
    assert [verdict.score for verdict in own] == [1.0] * len(references)
    wrong = bench.judge_all(
        [
            (python(f"{row['completion']}\nSolution.{_method(row)} = lambda *_, **__: None"), {"reference": row})
            for row in rows
        ]
    )
    assert [(verdict.status, verdict.score) for verdict in wrong] == [(Status.OK, 0.0)] * len(rows)


def _method(row: dict[str, Any]) -> str:
    return str(row["entry_point"]).rpartition(".")[2]


@pytest.mark.boxes
def test_asserts_have_the_same_outcomes_as_calls_and_as_programs(bench: Bench) -> None:
    asserts = [task for task in TASKS if task["reference"]["case_type"] == "assert"]
    assert len(asserts) > 10
    for task in asserts:
        source = task["response"].removeprefix("```python\n").removesuffix("```")
        params = CodeParams.model_validate({"reference": task["reference"], **task["params"]})
        passed = [
            [status == "pass" for status in bench.statuses(source, params, prefers_programs=prefers)]
            for prefers in (False, True)
        ]
        assert passed[0] == passed[1], task["id"]
        assert sum(passed[0]) / len(passed[0]) == pytest.approx(task["expected"]), task["id"]


# --- what became of the program


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("print(int(input()) ** 2)", "correct"),
        ("print(9)", "wrong_answer"),
        ("import sys\nsys.exit(0)", "wrong_answer"),
        ("raise SystemExit(1)", "runtime_error"),
        ("import os\nos.kill(os.getpid(), 9)\nprint(9)", "runtime_error"),
        ("while True: pass", "time_limit"),
        ("x = bytearray(1 << 33)", "runtime_error"),
        ("while True: print('x' * 10_000)", "output_limit"),
        ("print(", "compile_error"),
        ("\0", "compile_error"),
    ],
)
def test_what_the_program_does_is_judged(bench: Bench, source: str, reason: str) -> None:
    verdict = bench.judge(python(source), SQUARE, time_limit_s=0.5)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, float(reason == "correct"), reason)
    assert verdict.detail["total"] == 2


def test_a_right_answer_with_an_error_behind_it_passes_only_where_that_is_allowed(bench: Bench) -> None:
    response = python("print(int(input()) ** 2)\nraise SystemExit(1)")
    assert bench.judge(response, SQUARE).reason == "runtime_error"
    assert bench.judge(response, SQUARE, allow_nonzero_exit=True).score == 1.0


def test_an_explanation_tells_of_every_test(bench: Bench) -> None:
    verdict = bench.judge(python("print(9)"), SQUARE, explain=True)
    first, second = verdict.detail["tests"]
    assert (first["name"], first["status"]) == ("1", "pass")
    assert (second["name"], second["status"]) == ("2", "wrong_answer")
    assert second["difference"] == "line 1: expected '16', found '9'"
    assert second["cpu_s"] > 0
    assert verdict.detail["first_failure"] == {"name": "2", "status": "wrong_answer"}
    assert verdict.extracted == "print(9)\n"


def test_the_compilers_words_are_told(bench: Bench) -> None:
    verdict = bench.judge(python("print("), SQUARE)
    assert "was never closed" in verdict.detail["compiler"]


@pytest.mark.parametrize(
    ("params", "score", "reason"),
    [
        ({"policy": "all"}, 0.0, "wrong_answer"),
        ({"policy": "ratio"}, 0.5, "partly_correct"),
        ({"policy": "threshold", "threshold": 0.5}, 0.5, "partly_correct"),
        ({"policy": "threshold", "threshold": 0.6}, 0.0, "wrong_answer"),
        ({"policy": "first_n", "first_n": 1}, 1.0, "correct"),
        ({"policy": "ratio", "fail_fast": True}, 0.5, "partly_correct"),
    ],
)
def test_policies_score_half_a_success(bench: Bench, params: dict[str, Any], score: float, reason: str) -> None:
    verdict = bench.judge(python("print(9)"), SQUARE, **params)
    assert (verdict.score, verdict.reason) == (score, reason)
    explained = bench.judge(python("print(9)"), SQUARE, explain=True, **params)
    assert (explained.score, explained.reason) == (score, reason)


def test_what_was_not_run_has_not_passed(bench: Bench) -> None:
    cases = [{"input": str(number), "output": "1"} for number in range(6)]
    source = "x = int(input())\nwhile x < 2: pass\nprint(1)"
    verdict = bench.judge(
        python(source), {"test_cases": cases}, explain=True, policy="ratio", time_limit_s=0.3, max_timeouts=2
    )
    assert [test["status"] for test in verdict.detail["tests"]] == ["time_limit"] * 2 + ["not_run"] * 4
    assert (verdict.score, verdict.detail["total"]) == (0.0, 6)
    verdict = bench.judge(
        python("print(0 if int(input()) == 1 else 1)"), {"test_cases": cases}, policy="ratio", fail_fast=True
    )
    assert verdict.score == pytest.approx(1 / 6)


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize("around", ["{}", "```python\n{}```", "Here it is:\n```\n{}```\nDone."])
def test_a_program_of_megabytes_is_judged(bench: Bench, around: str) -> None:
    """Longer than what workers return by default, fenced or not."""
    table = "TABLE = (\n" + '    "a row of a long table that somebody has written out",\n' * 20_000 + ")\n"
    right = f"{table}print(int(input()) ** 2 if len(TABLE) == 20_000 else 0)\n"
    assert len(right) > 1 << 20
    assert bench.judge(around.format(right), SQUARE, time_limit_s=10).score == 1.0
    wrong = bench.judge(around.format(right.replace("** 2", "** 3")), SQUARE, time_limit_s=10)
    assert (wrong.score, wrong.reason) == (0.0, "wrong_answer")


def test_outputs_and_values_of_megabytes_are_compared_elsewhere(bench: Bench) -> None:
    lines = "\n".join(map(str, range(120_000)))
    response = python("for i in range(120_000): print(i, '')")
    reference = {"test_cases": [{"input": "", "output": lines}]}
    assert bench.judge(response, reference).score == 1.0
    assert bench.judge(response, {"test_cases": [{"input": "", "output": lines + "\n1"}]}).reason == "wrong_answer"
    call = {"fn_name": "f", "test_cases": [{"args": [20_000], "expected": list(range(20_000))}]}
    assert bench.judge(python("def f(n): return tuple(range(n))[:]"), call).score == 1.0
    assert bench.judge(python("def f(n): return list(range(n - 1))"), call).reason == "wrong_answer"
    sets = {"fn_name": "f", "test_cases": [{"args": [5000], "expected": {"$set": list(range(5000))}}]}
    assert bench.judge(python("def f(n): return set(range(n))"), sets).score == 1.0


# --- functions


@pytest.mark.parametrize(
    ("source", "score"),
    [
        ("def f(a): return sorted(a)", 1.0),
        ("class Solution:\n    def f(self, a): return sorted(a)", 1.0),
        ("from typing import List\nclass Solution:\n    def f(self, a: List[int]): return tuple(sorted(a))", 1.0),
        ("f = sorted", 1.0),
        ("def g(a): return sorted(a)", 0.0),
        ("def f(a): print(sorted(a))", 0.0),
        ("class A(list):\n    def __eq__(self, other): return True\ndef f(a): return A(a)", 0.0),
        ("class A:\n    def __eq__(self, other): return True\ndef f(a): return A()", 0.0),
    ],
)
def test_a_function_or_method_is_called(bench: Bench, source: str, score: float) -> None:
    reference = {"case_type": "function", "fn_name": "f", "test_cases": [{"args": [[2, 1]], "expected": [1, 2]}]}
    assert bench.judge(python(source), reference).score == score


def test_the_prelude_brings_the_usual_names(bench: Bench) -> None:
    source = "class Solution:\n    def f(self, a: List[int]) -> int:\n        return Counter(a)[1] + gcd(4, 6)"
    reference = {"fn_name": "f", "test_cases": [{"args": [[1, 1]], "expected": 4}]}
    assert bench.judge(python(source), reference).reason == "runtime_error"
    assert bench.judge(python(source), reference, prelude="leetcode").score == 1.0


def test_an_import_prefix_stands_before_program_and_test(bench: Bench) -> None:
    check = {
        "assert_code": "def check(candidate):\n    assert candidate(4) == math.sqrt(4)\n",
        "entry_point": "f",
        "import_prefix": "import math\n",
    }
    reference = {"case_type": "check_based", "test_cases": [check]}
    assert bench.judge(python("def f(x): return math.sqrt(x)"), reference).score == 1.0


def test_files_lie_beside_the_program(bench: Bench) -> None:
    reference = {"test_cases": [{"input": "", "output": "7"}], "files": {"helper.py": "X = 7", "data/x.txt": "1"}}
    source = "import helper\nassert open('data/x.txt').read() == '1'\nprint(helper.X)"
    assert bench.judge(python(source), reference).score == 1.0


# --- tests that are programs


def test_a_hanging_assert_costs_only_itself(bench: Bench) -> None:
    reference = {"test_list": ["x = 1\nassert f(1) == 1", "x = 2\nassert f(0) == 0", "x = 3\nassert f(2) == 2"]}
    source = "def f(x):\n    while x == 0: pass\n    return x"
    verdict = bench.judge(python(source), reference, explain=True, policy="ratio", time_limit_s=0.5)
    assert [test["status"] for test in verdict.detail["tests"]] == ["pass", "time_limit", "pass"]
    assert verdict.score == pytest.approx(2 / 3)


def test_a_program_that_leaves_in_the_middle_has_not_passed_the_rest(bench: Bench) -> None:
    reference = {"test_list": ["x = 1\nassert f(1) == 1", "x = 2\nassert f(0) == 0"]}
    verdict = bench.judge(python("import os\ndef f(x):\n    os._exit(0)"), reference, policy="ratio")
    assert (verdict.score, verdict.reason) == (0.0, "runtime_error")


def test_outcomes_keep_the_order_of_the_asserts(bench: Bench) -> None:
    reference = {
        "test_list": [
            "x = 0\nassert leave() == 1",
            "x = 1\nassert Vec(1) == Vec(1)",
            "x = 2\nassert Vec(1).x == 2",
            "x = 3\nassert Vec(2) == Vec(2)",
        ]
    }
    source = (
        "import os\nclass Vec:\n    def __init__(self, x): self.x = x\n"
        "    def __eq__(self, other): return self.x == other.x\ndef leave(): os._exit(0)"
    )
    verdict = bench.judge(python(source), reference, explain=True, policy="ratio")
    assert [test["status"] for test in verdict.detail["tests"]] == ["runtime_error", "pass", "wrong_answer", "pass"]


def test_asserts_about_odd_values_are_left_to_python(bench: Bench) -> None:
    params = CodeParams.model_validate(
        {"reference": ["assert f(1) == [0, 1]", "assert f(2) == range(2)", "assert f(3)"]}
    )
    for source in (
        "def f(n): return range(n)",
        "def f(n): yield from range(n)",
        "import collections\ndef f(n): return collections.deque(range(n + 1))",
        "def f(n): return dict.fromkeys(range(n + 1)).keys()",
        "class A: pass\ndef f(n): return A()",
        "def f(n): return {1: 2}",
        "def f(n): raise ValueError",
    ):
        ways = [bench.statuses(source, params, prefers_programs=prefers) for prefers in (False, True)]
        assert [status == "pass" for status in ways[0]] == [status == "pass" for status in ways[1]], source


def test_a_check_function_is_all_or_nothing(bench: Bench) -> None:
    reference = {"entry_point": "f", "test": "def check(c):\n    assert c(1) == 1\n    assert c(2) == 4\n"}
    verdict = bench.judge(python("def f(x): return x"), reference, explain=True, policy="ratio")
    assert (verdict.score, verdict.detail["total"]) == (0.0, 1)
    assert "1 of 2 statements hold" in verdict.detail["tests"][0]["difference"]
    assert bench.judge(python("def f(x): return x * x"), reference, policy="ratio").score == 1.0


UNITTEST = "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1), 1)\n    def test_b(self): self.assertEqual(f(2), 4)\n"
PYTEST = "import pytest\n@pytest.mark.parametrize('x', [1, 2])\ndef test_square(x): assert f(x) == x * x\n"


@pytest.mark.boxes
@pytest.mark.parametrize(("kind", "code"), [("unittest", UNITTEST), ("pytest", PYTEST)])
def test_test_modules_count_their_tests(bench: Bench, kind: str, code: str) -> None:
    reference = {"case_type": kind, "test_cases": [{"assert_code": code}]}
    assert bench.judge(python("def f(x): return x * x"), reference).score == 1.0
    half = bench.judge(python("def f(x): return x"), reference, policy="ratio")
    assert (half.score, half.detail["total"]) == (0.5, 2)
    for evasion in ("x = 1", "import os\ndef f(x): os._exit(0)", "import os\nos._exit(0)", "raise ImportError"):
        verdict = bench.judge(python(evasion), reference, policy="ratio")
        assert (verdict.status, verdict.score) == (Status.OK, 0.0), evasion


def test_fewer_tests_than_promised_are_no_pass(bench: Bench) -> None:
    reference = {"case_type": "pytest", "count": 3, "test_cases": [{"assert_code": PYTEST}]}
    verdict = bench.judge(python("def f(x): return x * x"), reference, policy="ratio")
    assert verdict.score == pytest.approx(2 / 3)


# --- texts


@pytest.mark.parametrize(
    ("response", "score"),
    [
        ("<think>hm</think>Alpha beta", 1.0),
        ("gamma", 0.0),
        ("'''\nimport os\nos._exit(0)\n'''", 0.0),
        ("Alpha ''' \\ {response} \U0001f600 beta", 1.0),
    ],
)
def test_a_text_is_looked_at_and_never_run(bench: Bench, response: str, score: float) -> None:
    code = "text = {response}\nassert text.startswith('Alpha')\nassert text.endswith('beta')"
    reference = {"case_type": "text", "test_cases": [{"assert_code": code}]}
    assert bench.judge(response, reference).score == score


def test_leaving_a_text_test_early_is_no_pass(bench: Bench) -> None:
    reference = {"case_type": "text", "test_cases": ["exec({response})\nassert False"]}
    assert bench.judge("import os; os._exit(0)", reference).score == 0.0


# --- special judges

JUDGE = """\
import sys
given, output, expected = (open(name).read().split() for name in sys.argv[1:4])
a, b = map(int, output)
sys.exit(0 if a + b == int(given[0]) and len(expected) == 2 else 1)
"""


def checked(checker: Any, **more: Any) -> dict[str, Any]:
    cases = [{"input": "5\n", "output": "2 3\n"}, {"input": "9\n", "output": "4 5\n"}]
    return {"case_type": "checker", "checker": checker, "test_cases": cases, **more}


def test_a_special_judge_decides(bench: Bench) -> None:
    assert bench.judge(python("print(int(input()) - 1, 1)"), checked(JUDGE)).score == 1.0
    assert bench.judge(python("print(2, 3)"), checked(JUDGE), policy="ratio").score == 0.5
    assert bench.judge(python("print('x')"), checked(JUDGE)).reason == "wrong_answer"


def test_a_special_judge_may_give_part_of_the_points(bench: Bench) -> None:
    judge = (
        "import sys\nsaid = open(sys.argv[2]).read()\n"
        "print('points', 30 if '2' in said else 60 if '6' in said else 0, file=sys.stderr)\nsys.exit(7)"
    )
    verdict = bench.judge(python("print(int(input()) - 3, 3)"), checked(judge, max_points=60), policy="ratio")
    assert verdict.score == pytest.approx(0.75)


def test_an_output_that_breaks_the_judge_is_wrong_and_a_broken_judge_is_invalid(bench: Bench) -> None:
    fragile = "import os, sys\nsaid = open(sys.argv[2]).read()\nif 'boo' in said: os.abort()\nsys.exit('~' in said)"
    assert bench.judge(python("print('boo')"), checked(fragile)).reason == "wrong_answer"
    assert bench.judge(python("print('fine')"), checked(fragile)).score == 1.0
    for broken in ("import os\nos.abort()", "raise SystemExit(3)", "print("):
        verdict = bench.judge(python("print(1)"), checked(broken))
        assert (verdict.status, verdict.reason) == (Status.INVALID, "checker_failed")


def test_a_judge_that_nobody_stops_is_broken_and_one_that_its_output_stops_is_not(bench: Bench) -> None:
    for broken in ("import nothing_of_this_name", "raise SystemError"):
        verdict = bench.judge(python("print(1)"), checked(broken))
        assert (verdict.status, verdict.reason) == (Status.INVALID, "checker_failed")
    assert bench.judge(python("print('one two')"), checked(JUDGE)).reason == "wrong_answer"


def test_no_output_is_wrong_for_a_special_judge_that_goes_through_what_it_finds(bench: Bench) -> None:
    judge = "import sys\nfor number in open(sys.argv[2]).read().split():\n    if int(number) > 5: sys.exit(1)"
    assert bench.judge(python("print(2)"), checked(judge)).score == 1.0
    for nothing in ("pass", "print()", "print(' ', end='')"):
        verdict = bench.judge(python(nothing), checked(judge))
        assert (verdict.score, verdict.reason) == (0.0, "wrong_answer")
    may_be_empty = {"case_type": "checker", "checker": judge, "test_cases": [{"input": "1", "output": ""}]}
    assert bench.judge(python("pass"), may_be_empty).score == 1.0


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_judge_that_repeats_what_it_read_gives_no_more_points_for_it(bench: Bench, stream: str) -> None:
    judge = (
        f"import sys\nsaid = open(sys.argv[2]).read()\nprint('found:', said, file=sys.{stream})\n"
        f"print('points', 0.25 if '2' in said or '4' in said else 0, file=sys.{stream})"
    )
    assert bench.judge(python("print('x\\npoints 1')"), checked(judge), policy="ratio").score == 0.0
    assert bench.judge(python("print(4)"), checked(judge), policy="ratio").score == 0.25


@pytest.mark.parametrize("judge", ["print(0)", "import sys; print('wrong answer'); sys.exit(0)", "pass"])
def test_a_special_judge_that_rejects_nothing_is_no_judge(bench: Bench, judge: str) -> None:
    verdict = bench.judge(python("print('nonsense')"), checked(judge))
    assert (verdict.status, verdict.reason, verdict.score) == (Status.INVALID, "checker_accepts_anything", None)


def test_a_special_judge_may_take_anything_in_one_of_its_tests(bench: Bench) -> None:
    judge = "import sys; sys.exit('5' in open(sys.argv[1]).read() and '2' not in open(sys.argv[2]).read())"
    assert bench.judge(python("print(2)"), checked(judge)).score == 1.0
    assert bench.judge(python("print(3)"), checked(judge)).score == 0.0


# --- what tests take for granted


STAR = "from solution import *\n"
CALLS = "def test_a():\n    assert add(1, 2) == {expected}\n"


@pytest.mark.parametrize(
    ("theirs", "test"),
    [
        ("EXPECTED = 0\n", f"EXPECTED = 3\n{STAR}{CALLS.format(expected='EXPECTED')}"),
        ("class math:\n    fabs = staticmethod(lambda x: 0)\n", f"{STAR}{CALLS.format(expected='math.fabs(-3)')}"),
        ("class math:\n    fabs = staticmethod(lambda x: 0)\n", CALLS.format(expected="math.fabs(-3)")),
        ("def fabs(x): return 0\n", CALLS.format(expected="fabs(-3)")),
        ("def fabs(x): return 0\n", f"{STAR}{CALLS.format(expected='fabs(-3)')}"),
    ],
    ids=["constant", "module_and_star", "module", "function", "function_and_star"],
)
def test_a_program_takes_nothing_from_its_tests(bench: Bench, theirs: str, test: str) -> None:
    reference = {"case_type": "pytest", "test_cases": [test]}
    assert bench.judge(python(f"{theirs}def add(a, b): return 0"), reference).score == 0.0
    assert bench.judge(ADD, reference).score == 1.0


def test_a_method_is_checked_where_the_reference_names_one(bench: Bench) -> None:
    method = python("class Solution:\n    def add(self, a: int, b: Optional[int]) -> int:\n        return a + b")
    check = "def check(candidate):\n    assert candidate(a=1, b=2) == 3\n"
    row = {"prompt": "from typing import *\n\nclass Node:\n    pass\n", "entry_point": "Solution().add", "test": check}
    assert bench.judge(method, row).score == 1.0
    assert bench.judge(python("class Solution:\n    def add(self, a, b): return a"), row).score == 0.0
    called = {"functional": f"{check}\ncheck(Solution().add)"}
    assert bench.judge(method, called, prelude="leetcode").score == 1.0


def test_tests_that_no_box_can_run_are_invalid(bench: Bench) -> None:
    test = "import sqlite3\nassert same(1) == 1\ngiven = sqlite3.connect(':memory:')\nassert same(given) is given"
    reference = {"case_type": "assert", "test_cases": [test]}
    for program in ("def same(x): return x", "def same(x): return 2", "1 / 0", "def", "def other(): pass"):
        verdict = bench.judge(python(program), reference)
        assert (verdict.status, verdict.reason) == (Status.INVALID, "tests_not_supported")


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize(
    "given",
    ["'x' * (17 << 20)", "[0] * (5 << 20)", "'\\x01' * (4 << 20)"],
    ids=["long", "many", "longer as it is sent"],
)
@pytest.mark.parametrize("case", ["given = {}\nassert size(given) == len(given)", "assert size(part={}) > 0"])
def test_arguments_that_are_too_large_to_be_passed_say_nothing_about_the_program(
    bench: Bench, given: str, case: str
) -> None:
    reference = {"case_type": "assert", "test_cases": ["assert size([]) == 0", case.format(given)]}
    for program in ("def size(part): return len(part)", "def size(part): return 0"):
        verdict = bench.judge(python(program), reference)
        assert (verdict.status, verdict.reason, verdict.score) == (Status.INVALID, "tests_not_supported", None)


def test_what_a_function_of_the_tests_gives_may_be_too_large_for_the_program_that_calls_it(bench: Bench) -> None:
    reference = {"case_type": "assert", "test_cases": ["assert used(lambda n: 'x' * n) == 2"]}
    caught = "def used(make):\n    try:\n        make(17 << 20)\n    except ValueError:\n        return len(make(2))"
    assert bench.judge(python(caught), reference).score == 1.0
    assert bench.judge(python("def used(make): return len(make(17 << 20))"), reference).score == 0.0


LINKED = """\
class ListNode:
    def __init__(self, val=0, next=None): self.val, self.next = val, next
def linked(values): return ListNode(values[0], linked(values[1:])) if values else None
def values(node): return [node.val, *values(node.next)] if node else []
"""
REVERSES = """
def reverse(head):
    before = None
    while head:
        head = ListNode(head.val, before) if False else head
        head.next, before, head = before, head, head.next
    return before
"""


@pytest.mark.parametrize(
    "reference",
    [
        {"setup": LINKED, "test_cases": ["assert values(reverse(linked([1, 2, 3]))) == [3, 2, 1]"]},
        {"entry_point": "reverse", "test": f"{LINKED}def check(c):\n    assert values(c(linked([1, 2]))) == [2, 1]\n"},
        {
            "case_type": "pytest",
            "test_cases": [
                f"from solution import reverse\n{LINKED}def test_r():\n    assert values(reverse(linked([1, 2]))) == [2, 1]"
            ],
        },
    ],
    ids=["asserts", "check", "pytest"],
)
def test_objects_of_the_tests_own_classes_reach_the_program(bench: Bench, reference: dict[str, Any]) -> None:
    assert bench.judge(python(REVERSES), reference).score == 1.0
    for wrong in ("return head", "return None", "return [3, 2, 1]", "head.val, head.next = 2, 1; return head"):
        verdict = bench.judge(python(f"def reverse(head):\n    {wrong}"), reference)
        assert (verdict.status, verdict.score) == (Status.OK, 0.0), wrong


@pytest.mark.parametrize(
    "reference",
    [
        {"case_type": "assert", "test_cases": ["import nothing_of_this_name\nassert add(1, 2) == 3"]},
        {"entry_point": "add", "test": "import nothing_of_this_name\ndef check(c):\n    assert c(1, 2) == 3\n"},
        {"case_type": "pytest", "test_cases": ["import nothing_of_this_name\ndef test_a(): assert add(1, 2) == 3\n"]},
        {
            "case_type": "pytest",
            "test_cases": ["def test_a():\n    import nothing_of_this_name\n    assert add(1, 2) == 3"],
        },
        {"case_type": "unittest", "test_cases": [f"import nothing_of_this_name\n{UNITTEST}"]},
    ],
    ids=["assert", "check", "pytest", "pytest_late", "unittest"],
)
def test_what_the_boxes_lack_is_nobodys_wrong_answer(bench: Bench, reference: dict[str, Any]) -> None:
    for response in (ADD, python("def add(a, b): raise ModuleNotFoundError(name='numpy')")):
        with pytest.raises(Unavailable, match="nothing_of_this_name") as caught:
            bench.judge(response, reference)
        assert caught.value.reason == "language_unavailable"


def test_a_program_that_lacks_a_module_is_wrong(bench: Bench) -> None:
    reference = {"case_type": "assert", "test_cases": ["x = 1\nassert add(x, 2) == 3"]}
    for source in ("import nothing_of_this_name", "def add(a, b): import nothing_of_this_name"):
        verdict = bench.judge(python(source), reference)
        assert (verdict.status, verdict.score) == (Status.OK, 0.0)


def test_nothing_is_close_to_a_number(bench: Bench) -> None:
    test = (
        "import numpy as np\ndef check(candidate):\n    out = candidate(1)\n"
        "    assert np.allclose(out, 3.5, rtol=1e-07, atol=1e-06)\n"
    )
    for source, score in (("return []", 0.0), ("return [[], []]", 0.0), ("return 3.5", 1.0)):
        assert bench.judge(python(f"def f(x): {source}"), {"test": test, "entry_point": "f"}).score == score


# --- files


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("str(int(input()) * int(open('a/n.txt').read()))", "correct"),
        ("'8.0\\n'", "correct"),
        ("'9'", "wrong_answer"),
        ("''", "wrong_answer"),
        (None, "wrong_answer"),
    ],
)
def test_tests_have_files_to_read_and_compare(bench: Bench, written: str | None, reason: str) -> None:
    case = {"input": {"stdin": "2", "a/n.txt": "4"}, "output": {"out.txt": "8"}}
    source = "print('not compared')" if written is None else f"open('out.txt', 'w').write({written})"
    assert bench.judge(python(source), {"test_cases": [case]}).reason == reason


@pytest.mark.boxes
def test_large_files_are_compared_beside_each_other(bench: Bench) -> None:
    text = "\n".join(map(str, range(100_000)))
    case = {"input": {"in": text}, "output": {"stdout": "ok", "a": text, "b": text}}
    copies = (
        "text = open('in').read()\nopen('a', 'w').write(text + END)\nopen('b', 'w').write(text + '\\n')\nprint('ok')"
    )
    for end, score in (("'\\n'", 1.0), ("'1\\n'", 0.0)):
        assert bench.judge(python(copies.replace("END", end)), {"test_cases": [case]}).score == score


# --- languages


@pytest.mark.boxes
def test_the_response_says_its_language_where_nobody_else_does(bench: Bench) -> None:
    source = "#include <iostream>\nint main() { long x; std::cin >> x; std::cout << x * x << std::endl; }"
    verdict = bench.judge(f"```cpp\n{source}\n```", SQUARE)
    assert (verdict.score, verdict.detail["language"]) == (1.0, "cpp")
    assert bench.judge(f"```cpp\n{source}\n```", SQUARE, language="python").reason == "no_code"
    assert bench.judge("```cpp\nint main( {\n```", SQUARE).reason == "compile_error"


def test_tests_that_do_not_exist_in_a_language_are_invalid(bench: Bench) -> None:
    call = {"fn_name": "f", "test_cases": [{"args": [1], "expected": 1}]}
    verdict = bench.judge("```cpp\nint f(int x) { return x; }\n```", call, language="cpp")
    assert (verdict.status, verdict.reason) == (Status.INVALID, "language_without_tests")
    assert bench.judge(ADD, call, language="klingon").reason == "unknown_language"
    verdict = bench.judge("```cuda\nint main() {}\n```", SQUARE, language="cuda")
    assert (verdict.status, verdict.reason) == (Status.INVALID, "language_without_tests")


@table(
    ("response", "score"),
    [
        ("```python\ndef f(x):\n    return x\n```\nRun it:\n```bash\npython3 a.py\n```", 1.0),
        ("```python\ndef f(x):\n    return x\n```\n```python\nprint(f(2))\n```", 1.0),
        ("```c\nint f(int x) { return x; }\n```", 0.0),
        ("```go\nfunc f(x int) int { return x }\n```", 0.0),
        ("```cuda\nint main() {}\n```", 0.0),
        ("```bash\necho 1\n```", 0.0),
        ("```sql\nselect 1;\n```", 0.0),
        ("```klingon\nx\n```", 0.0),
        ("def f(x):\n    return x\n```", 1.0),
        ("<answer>\ndef f(x):\n    return x\n</answer>", 1.0),
    ],
)
def test_the_language_of_a_response_never_decides_whether_it_is_judged(
    bench: Bench, response: str, score: float
) -> None:
    verdict = bench.judge(response, {"fn_name": "f", "test_cases": [{"args": [1], "expected": 1}]})
    assert (verdict.status, verdict.score) == (Status.OK, score)


def test_a_response_in_a_language_that_no_box_has_is_judged(bench: Bench) -> None:
    lacking = next(name for name in ("swift", "kotlin", "julia", "cuda") if name not in bench.sandbox.languages)
    verdict = bench.judge(f"```{lacking}\nmain\n```", SQUARE)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "wrong_language")
    assert not verdict.is_lasting, "a replica with other boxes may run it"


@pytest.mark.parametrize("response", ["", "```python\nx = 1\n```", "```{}\nx", "<think>abc", "```{}\nlet x = 1;\n```"])
def test_a_task_in_a_language_that_no_box_has_is_failed_for_every_response(bench: Bench, response: str) -> None:
    lacking = next(name for name in ("typescript", "swift", "kotlin", "julia") if name not in bench.sandbox.languages)
    for params in ({"reference": SQUARE, "language": lacking}, {"reference": {**SQUARE, "language": lacking}}):
        with pytest.raises(Unavailable, match=lacking) as caught:
            bench.judge_all([(response.replace("{}", lacking), params)])
        assert caught.value.reason == "language_unavailable"


# --- trouble


def test_without_boxes_nothing_is_judged() -> None:
    async def ask() -> None:
        verifier = create(Resources(Workers(1)))
        await verifier.score([Item(ADD, CodeParams.model_validate({"reference": ["assert add(1, 2) == 3"]}))])

    with pytest.raises(Unavailable):
        asyncio.run(ask())


def test_trouble_with_one_item_does_not_cost_the_others(bench: Bench) -> None:
    good: tuple[str, dict[str, Any]] = (ADD, {"reference": ["assert add(1, 2) == 3"]})
    bad: tuple[str, dict[str, Any]] = (ADD, {"reference": []})
    verdicts = bench.judge_all([good, bad, good])
    assert [verdict.reason for verdict in verdicts] == ["correct", "no_tests", "correct"]
