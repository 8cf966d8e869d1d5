"""What goes before a program."""

import pytest

from tests.tables import table
from tests.verifiers.code.bench import Bench
from verifiers.code import aliases
from verifiers.code.prelude import LEETCODE, prefixed
from verifiers.code.programs import program_of
from verifiers.code_blocks import Found


def run(source: str) -> dict[str, object]:
    namespace: dict[str, object] = {}
    exec(source, namespace)
    return namespace


def test_names_and_modules_of_such_sites_are_there() -> None:
    source = (
        "class Solution:\n    def f(self, a: List[int]) -> Optional[int]:\n"
        "        d = defaultdict(int); heapq.heappush(a, 1); heappush(a, 2)\n"
        "        return bisect.bisect_left(a, inf) + collections.Counter(a)[1] + math.gcd(2, 4) + copy.deepcopy(d)[0]\n"
        "x = Solution().f([])\n"
    )
    head = LEETCODE.replace("sys.setrecursionlimit(600000)\n", "")
    assert run(prefixed(source, head))["x"] == 2 + 1 + 2 + 0


def test_imports_from_the_future_come_first() -> None:
    source = "from __future__ import annotations\nx: Undefined = 1\n"
    assert run(prefixed(source, "import os"))["x"] == 1


def test_nothing_before_a_program_leaves_it_alone() -> None:
    assert prefixed("a = 1\n", "", " \n") == "a = 1\n"


IMPORTING = "import re\nfrom collections import Counter as C\nimport no_such_module_x as n\n"
CHECK = "def check(candidate):\n    assert candidate('a1') == 1\n"


@table(
    ("solution", "tests", "score"),
    [
        # as rows of ODEX are run: solution and tests are one file
        ("def f(x): return len(re.sub('[0-9]', '', x))", CHECK, 1.0),
        ("def f(x): return C(x)['a']", CHECK, 1.0),
        ("import string as re\ndef f(x): return len(re.digits) - 9", CHECK, 1.0),
        ("def f(x): return len(string.digits)", CHECK, 0.0),
        ("def f(x): return len(re.sub('[0-9]', '', x))", f"from solution import f\n{CHECK}", 0.0),
    ],
)
def test_a_program_may_use_what_its_tests_import(bench: Bench, solution: str, tests: str, score: float) -> None:
    text = IMPORTING.replace("import no_such_module_x as n\n", "") + tests
    reference = {"case_type": "check_based", "test": text, "entry_point": "f"}
    assert bench.judge(f"```python\n{solution}\n```", reference).score == score


def test_only_what_a_program_mentions_is_imported_before_it() -> None:
    suite = aliases.parse({"case_type": "check_based", "test": IMPORTING + CHECK, "entry_point": "f"})
    source = program_of(Found("def f(x): return C(x)", "found", "python"), suite, "none").source
    assert "Counter as C" in source
    assert "import re" not in source


@pytest.mark.parametrize(
    "head",
    [
        "class Solution:",
        "class Solution:\n    def f(self, x):",
        'class Solution:\n    def f(self, x):\n        """+"""',
    ],
)
def test_helpers_of_a_prompt_that_ends_in_a_class_are_there(bench: Bench, head: str) -> None:
    helper = "STEP = 1\n\ndef more(x):\n    return x + STEP\n\n"
    reference = {"prompt": f"{helper}{head}\n", "entry_point": "Solution().f", "test": CHECKED}
    solutions = [f"```python\nclass Solution:\n    def f(self, x): return {text}\n```" for text in ("more(x)", "x")]
    assert [bench.judge(solution, reference).score for solution in solutions] == [1.0, 0.0]


CHECKED = "def check(candidate):\n    assert candidate(2) == 3\n    assert candidate(0) == 1\n"
