"""The two paths to a verdict, each on its own.

The quick path decides in the service process from the text alone (`verifiers.math.exact`). The general path reads both
sides and compares their meanings, here without looking at the text first. It runs in a worker, which can be killed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.workers import Exit, Outcome, Task, Workers, worker_function
from verifiers.math import exact, grading, limits
from verifiers.math.comparison import Comparison
from verifiers.math.options import Options
from verifiers.math.reader import read
from verifiers.math.tree import TooComplex, Unreadable

TASK = Task("tests.accuracy.paths", "general", time_limit_s=2.0)
UNSOUND = "unsound reference"
_REPEATS = 3


def quick(reference: str, answer: str, options: Options) -> bool | None:
    """The verdict of the quick path, or None if it leaves the question to the general path."""
    if not options.is_plain:
        return None
    decision = exact.decide(reference, answer, options.tolerance)
    return None if decision is None else decision[0]


@worker_function
def general(question: Sequence[Any]) -> str:
    """The general path's result: `equal`, `different`, the reason why the answer cannot be compared, or `UNSOUND` if
    there is no verdict.
    """
    reference, answer, packed = question
    if grading.grade([[reference], None, packed])["outcome"] != "different":
        return UNSOUND
    options = Options.unpacked(packed)
    reference, answer = grading.localized(reference, options), grading.localized(answer, options)
    refusal = limits.refusal(answer)
    if refusal is not None:
        return refusal
    try:
        return "equal" if Comparison(options).equal(read(reference), read(answer)) else "different"
    except Unreadable:
        return "unparseable"
    except (TooComplex, RecursionError):
        return "too_complex"


def judge_generally(questions: Sequence[tuple[str, str, Options]], workers: int) -> list[Outcome]:
    """The general path's result for each `(reference, answer, options)`, in order.

    If a worker got no CPU time, its question is asked again, as a client does with failed items.
    """

    async def judge() -> list[Outcome]:
        pool = Workers(workers)
        pool.register(TASK)
        await pool.start()
        try:
            packed = [[reference, answer, options.packed()] for reference, answer, options in questions]
            outcomes = list(await pool.map(TASK, packed))
            for _ in range(_REPEATS):
                starved = [at for at, outcome in enumerate(outcomes) if outcome.exit is Exit.STALLED]
                again = await pool.map(TASK, [packed[at] for at in starved])
                outcomes = _with(outcomes, dict(zip(starved, again, strict=True)))
            return outcomes
        finally:
            await pool.stop()

    return asyncio.run(judge())


def _with(outcomes: Sequence[Outcome], others: Mapping[int, Outcome]) -> list[Outcome]:
    return [others.get(at, outcome) for at, outcome in enumerate(outcomes)]
