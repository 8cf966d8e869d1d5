"""Judges programs with one result per test, for clients that count passed tests themselves.

A verdict shows a bounded number of tests. So a long list of tests goes to the verifier `code` as several items, which
also run in parallel.
"""

import base64
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from service.doors.compat.request_options import JSON
from service.doors.compat.retries import RetryingScorer, check
from service.wire import CacheMode, ScoreItem, encode
from verifiers.code.outcomes import MAX_TESTS_SHOWN

_WRAPPED: Final = (
    "import base64\nexec(compile(base64.b64decode({text!r}).decode(), 'solution.py', 'exec'), globals())\n"
)


class Test(msgspec.Struct, frozen=True):
    """The result of one test. `status` is a word of the verifier `code`."""

    __test__ = False

    status: str
    cpu_s: float
    difference: str = ""
    compiler: str = ""
    """What the compiler says, if the program could not be loaded."""
    language: str = ""
    """That of the program."""

    @property
    def passed(self) -> bool:
        return self.status == "pass"


def fenced(program: str) -> str:
    """A Python program as a response that holds nothing else."""
    if any(mark in program for mark in ("```", "~~~", "<|")):
        program = _WRAPPED.format(text=base64.b64encode(program.encode("utf-8", "replace")).decode())
    return f"```python\n{program}\n```"


async def judged(
    scorer: RetryingScorer,
    response: str,
    references: Sequence[tuple[JSON, int]],
    params: JSON,
    *,
    deadline: float,
    cache: CacheMode = "use",
) -> list[Test]:
    """The result of each test, in order.

    Args:
        scorer: What judges them.
        response: With the program.
        references: Of the verifier `code`, each with its number of tests.
        params: Of the verifier `code`.
        deadline: When the caller stops waiting.
        cache: Whether what was judged before may be told.

    Raises:
        ItemInvalid, NotJudged
    """
    items = [
        ScoreItem(response, "code", msgspec.Raw(encode(reference)), params=msgspec.Raw(encode(params)))
        for reference, _ in references
    ]
    results = await scorer.results(items, deadline=deadline, cache=cache, explain=True)
    check(results)
    tests: list[Test] = []
    for result, (_, count) in zip(results, references, strict=True):
        # A response without a program, or with one that does not compile, has no results.
        context = (result.detail.get("compiler", ""), result.detail.get("language", ""))
        listed = [_test(test, *context) for test in result.detail.get("tests", ())]
        tests += (listed + [Test("not_run", 0.0, result.reason, *context)] * count)[: max(count, len(listed))]
    return tests


def split(cases: Sequence[Any], case_type: str) -> list[tuple[JSON, int]]:
    """The tests as references. Each has few enough tests to show all of them."""
    offsets = range(0, len(cases), MAX_TESTS_SHOWN)
    slices = [cases[start : start + MAX_TESTS_SHOWN] for start in offsets]
    return [({"case_type": case_type, "test_cases": list(part)}, len(part)) for part in slices]


def _test(outcome: JSON, compiler: str, language: str) -> Test:
    return Test(outcome["status"], outcome["cpu_s"], outcome.get("difference", ""), compiler, language)
