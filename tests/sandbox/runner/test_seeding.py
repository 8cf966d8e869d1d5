"""Tests that seed a global generator know what the program draws, and no program knows what the tests draw."""

import random
from typing import Any

import numpy as np  # loaded before the program, whose user may not read where it lies
import pytest

from tests.sandbox.runner.split_process import Said, run

_PROGRAM = """
import random
import numpy as np
def roll(count): return [random.randint(1, 6) for _ in range(count)]
def bell(): return random.gauss(0, 1)
def rolls(count): return np.random.randint(1, 7, count).tolist()
def normal(): return float(np.random.normal())
def echo(value): return value
def rig(value):
    random.seed(value)
    np.random.seed(value)
def told(function): return function() + random.randint(1, 6)
"""


def _rolled(seed: int, *counts: int, skipped: int = 0) -> list[list[int]]:
    source = random.Random(seed)
    for _ in range(skipped):
        source.random()
    return [[source.randint(1, 6) for _ in range(count)] for count in counts]


def _asserts(*cases: str, setup: str = "") -> Said:
    said = run(_PROGRAM, style="asserts", cases=list(cases), setup=setup)
    assert said.complete
    return said


NUMPYS = np.random.RandomState(3).randint(1, 7, 50).tolist()
ONE, TWO = _rolled(7, 5, 5)
[AFTER] = _rolled(7, 5, skipped=2)


@pytest.mark.parametrize(
    "case",
    [
        f"import random\nrandom.seed(7)\nassert roll(5) == {ONE}",
        f"import random\nrandom.seed(7)\nassert roll(5) == {ONE}\nassert roll(5) == {TWO}",
        f"from random import seed\nseed(7)\nassert roll(5) == {ONE}",
        f"import random\nrandom.seed(7)\nroll(3)\nrandom.seed(7)\nassert roll(5) == {ONE}",
        f"import random\nrandom.seed(7)\nrandom.random()\nrandom.random()\nassert roll(5) == {AFTER}",
        f"import random\nstate = random.Random(7).getstate()\nrandom.setstate(state)\nassert roll(5) == {ONE}",
        "import random\nrandom.seed(7)\nfirst = roll(50)\nrandom.seed(7)\nassert roll(50) == first",
        "import random\nrandom.seed(7)\nexpected = [random.randint(1, 6) for _ in range(50)]\nrandom.seed(7)\n"
        "assert roll(50) == expected",
        "import random\nrandom.seed(7)\nrandom.gauss(0, 1)\nexpected = random.gauss(0, 1)\nrandom.seed(7)\n"
        "random.gauss(0, 1)\nassert bell() == expected",
        f"import numpy as np\nnp.random.seed(3)\nassert rolls(50) == {NUMPYS}",
        f"np.random.seed(3)\nassert rolls(50) == {NUMPYS}",
        "import numpy as np\nnp.random.seed(3)\nnp.random.normal()\nexpected = float(np.random.normal())\n"
        "np.random.seed(3)\nnp.random.normal()\nassert normal() == expected",
        "import random\nrandom.seed(7)\nfor _ in range(20):\n    value = random.randint(1, 9)\n    assert echo(value) == value",
    ],
)
def test_the_program_goes_on_from_the_tests_seed(case: str) -> None:
    assert _asserts(case).passed == [True]


def test_a_wrong_program_fails_as_ever() -> None:
    assert _asserts("import random\nrandom.seed(7)\nassert roll(5) == [6, 6, 6, 6, 6]").passed == [False]


def test_a_seed_of_the_setup_counts() -> None:
    assert _asserts(f"assert roll(5) == {ONE}", setup="import random\nrandom.seed(7)").passed == [True]


def test_what_a_test_draws_in_a_callback_does_not_wind_the_program_back() -> None:
    case = (
        "import random\nrandom.seed(7)\nroll(2)\n"
        f"assert told(lambda: random.random() * 0 + len(roll(0))) == {_rolled(7, 2, 1)[1][0]}"
    )
    assert _asserts(case).passed == [True]


def test_no_program_sets_what_tests_draw() -> None:
    case = (
        "import random\nimport numpy as np\nrandom.seed(7)\nnp.random.seed(7)\n"
        "expected = random.Random(7).random(), np.random.RandomState(7).random_sample()\nrig(1)\n"
        "assert (random.random(), np.random.random_sample()) == expected"
    )
    assert _asserts(case).passed == [True]


@pytest.mark.parametrize(
    ("style", "source"),
    [
        (
            "unittest",
            "import random, unittest\nfrom solution import *\nclass Test(unittest.TestCase):\n    def test(self):\n",
        ),
        ("pytest", "import random\nfrom solution import *\nif True:\n    def test():\n"),
    ],
)
def test_in_every_style(style: str, source: str) -> None:
    body = f"        random.seed(7)\n        assert roll(5) == {ONE}\n"
    said = run(_PROGRAM, style=style, files={"test_it.py": source + body})
    assert (said.complete, said.passed) == (True, [True])


def test_check_functions_too() -> None:
    cases: dict[str, Any] = {
        "setup": f"import random\ndef check(candidate):\n    random.seed(7)\n    assert candidate(5) == {ONE}\n",
        "entry_point": "roll",
    }
    said = run(_PROGRAM, style="check", **cases)
    assert (said.complete, said.passed) == (True, [True])
