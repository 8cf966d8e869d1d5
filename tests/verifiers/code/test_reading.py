"""References are read once, and what takes long is read in a worker: the same suite, and no step of the loop is long."""

import asyncio
import json
import random
from typing import Any

import msgspec
import pytest

from sandbox.workers import Workers
from tests.loop_steps import MeasuredLoop, longest_step_s
from tests.verifiers.code.test_aliases import CALL_ROWS, COLUMNS
from verifiers.base import InvalidItem, Item, Resources
from verifiers.code import CodeParams, aliases, create, reading
from verifiers.code.cases import CaseType, Suite

LONGEST_S = 0.010
"""Of CPU time: twice what a step may take. The rows below once took 50 to 150 ms."""
TRIES = 4


def leetcode(draw: random.Random) -> dict[str, Any]:
    """A row of LeetCodeDataset: a hundred asserts of lists in `check`."""
    lists = [[draw.randint(-(10**9), 10**9) for _ in range(20)] for _ in range(100)]
    lines = [f"    assert candidate(nums = {numbers}, k = 3) == {sorted(numbers)[:3]}\n" for numbers in lists]
    head = "import random\nfrom typing import *\n\ninf = float('inf')\n"
    return {"prompt": head, "entry_point": "Solution().f", "test": "def check(candidate):\n" + "".join(lines)}


def livecodebench(draw: random.Random) -> dict[str, Any]:
    """Calls with long arguments, as text within text."""
    rows = [
        {"input": json.dumps([draw.random() for _ in range(5_000)]), "output": str({(1, number)})}
        for number in range(10)
    ]
    return {"fn_name": "f", "test_cases": json.dumps(rows)}


def kodcode(draw: random.Random) -> dict[str, Any]:
    """A module of pytest with many functions."""
    tests = [f"def test_{n}():\n    a = f({draw.random()})\n    assert a.b == [{n}] and a\n" for n in range(150)]
    return {"case_type": "pytest", "test_cases": ["from solution import f\n" + "\n".join(tests)]}


ROWS = (leetcode, livecodebench, kodcode)


@pytest.mark.parametrize("make", ROWS)
def test_reading_tests_does_not_hold_up_the_loop(make: Any) -> None:
    async def shortest() -> float:
        workers = Workers(1)
        suites = create(Resources(workers)).suites
        await workers.start()
        try:
            rows = [CodeParams(reference=make(random.Random(seed))) for seed in range(TRIES)]
            return min([await longest_step_s(suites.of(params)) for params in rows if params.as_json()])
        finally:
            await workers.stop()

    with asyncio.Runner(loop_factory=MeasuredLoop) as runner:
        assert runner.run(shortest()) < LONGEST_S


def test_a_flood_of_fences_does_not_hold_up_the_loop() -> None:
    async def shortest() -> float:
        workers = Workers(1)
        verifier = create(Resources(workers))
        await workers.start()
        try:
            params = CodeParams(reference={"test_cases": COLUMNS}, language="python")
            items = [Item("```\n" * 7_000 + str(number), params) for number in range(TRIES)]
            return min([await longest_step_s(verifier.score([item])) for item in items])
        finally:
            await workers.stop()

    with asyncio.Runner(loop_factory=MeasuredLoop) as runner:
        assert runner.run(shortest()) < LONGEST_S


@pytest.mark.parametrize(
    "reference",
    [
        *(make(random.Random(1)) for make in ROWS),
        {"test_cases": COLUMNS},
        {"fn_name": "f", "test_cases": CALL_ROWS},
        ["assert f(1) == (2, {3, 4}, 1e999, 2j, b'x')", "assert f(2) is None"],
        {"language": "javascript", "test": "const assert = require('assert');\nassert(f(1) === 2);\n"},
        {"case_type": "text", "test_cases": ["assert '{response}' == 'a'"]},
    ],
)
def test_a_suite_comes_back_from_a_worker_as_it_was(reference: Any) -> None:
    sent = reading.read_in_worker([reference, None, False])
    assert isinstance(sent, bytes)
    suite = msgspec.msgpack.decode(sent, type=Suite)
    assert msgspec.json.encode(suite) == msgspec.json.encode(reading.read(reference, None, False))
    assert isinstance(suite.tests, type(aliases.parse(reference).tests))


def test_what_cannot_be_read_is_said_by_workers_too() -> None:
    reference = {"case_type": "pytest", "test_cases": ["def test_a(caplog): assert f(1)\n" + "#" * 2_000]}
    told = reading.read_in_worker([reference, None, False])
    assert isinstance(told, list)
    assert told[0] == "tests_not_supported"
    together = reading.read(reference, None, True)
    assert isinstance(together, Suite)
    assert together.case_type is CaseType.PROGRAM


@pytest.mark.parametrize("expected", ["[" * 600 + "]" * 600, str({number * (2**61 - 1) for number in range(99)})])
def test_values_that_nothing_can_equal_are_refused(expected: str) -> None:
    """Lists in lists to a depth that no answer can have, and numbers of one hash."""
    suite = reading.read({"fn_name": "f", "test_cases": [{"input": "1", "output": expected}]}, None, False)
    assert isinstance(suite, InvalidItem)
    assert suite.reason == "unparseable_tests"
