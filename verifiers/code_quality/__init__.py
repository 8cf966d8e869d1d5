"""Scores the quality of a program: whether it passes its tests, its speed and its style.

    score = correctness x (w_c + w_e x efficiency + w_s x style) / (w_c + w_e + w_s)

*Correctness* is the score that `code` gives for the same tests and parameters; all tests are run. *Efficiency* compares
CPU time with that of a reference, or with the limit (efficiency.py), over the passed tests. *Style* is the result of
linters (style.py). Only Python has a style; for other languages it has no weight. Correctness multiplies everything, so
neither speed nor style pays for wrong code.

The reference solution is measured in the box like the program, once for all responses to a prompt. A reference solution
that fails a test makes the item `invalid`. Times are the least of `repeat` runs, measured outside the program. The
efficiency is rounded to 0.05.

Verdicts are cached and shared like all others, so equal programs of a group get equal scores, which new measurements
would not give. `noisy` in the detail means that the score of the slowest runs would differ from that of the fastest.
`"cache": "refresh"` measures again. With `"explain"` the detail has all times and findings.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from msgspec import structs
from pydantic import BaseModel, ConfigDict, Field

from memory import Store
from sandbox.base import Program
from sandbox.workers import Exit
from verifiers.base import Example, InvalidItem, Item, Resources, Status, Verdict, clip
from verifiers.code import TASKS, Code, CodeParams, judging, outcomes
from verifiers.code.cases import CallTests, JoinedTest, StdioTests, Suite, TextTests
from verifiers.code.judging import Judged, Terms
from verifiers.code.outcomes import Outcome, Policy
from verifiers.code.programs import language_of, program_of
from verifiers.code_blocks import DEFAULT_LANGUAGE, Found
from verifiers.code_quality import style
from verifiers.code_quality.efficiency import Measured, efficiency, slowest, total
from verifiers.long_texts import trouble

_MAX_KNOWN_REFERENCES = 1024
_REFERENCES_BYTES = 32_000_000
_MAX_TIMES_SHOWN = 40

Times = Sequence[Sequence[float]]
"""The CPU seconds of the runs of each test, in the order of the tests; empty for a test that was not passed."""


class Weights(BaseModel):
    """The weights of the parts; they need not add up to 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    correctness: float = Field(default=0.8, gt=0)
    """The weight of the share of tests that were passed."""
    efficiency: float = Field(default=0.15, ge=0)
    """The weight of the speed."""
    style: float = Field(default=0.05, ge=0)
    """The weight of the style."""


class CodeQualityParams(CodeParams):
    """The parameters of `code`, and those by which quality is measured."""

    policy: Policy = "ratio"
    """The way in which the tests make up the correctness; see `code`."""
    weights: Weights = Weights()
    """The weights of correctness, efficiency and style; they need not add up to 1."""
    reference_solution: str | None = Field(default=None, min_length=1)
    """A program that passes all tests, in the language of the tests. Efficiency compares with its CPU times."""
    reference_ms: Annotated[float, Field(gt=0)] | list[Annotated[float, Field(gt=0)]] | None = None
    """The CPU milliseconds that a good program takes for each test: one number, or a list with one for each test."""
    repeat: int = Field(default=3, ge=1, le=10)
    """The number of runs of each passed test; the fastest one counts."""


class CodeQuality(Code):
    name = "code_quality"
    version = "16"
    params = CodeQualityParams
    summary = "The response's program passes its tests, times how fast and how well written it is"

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._references = _References()

    async def _judge_text(self, item: Item[Any], suite: Suite) -> Verdict:
        raise InvalidItem(
            "no_program",
            "tests of case type `text` judge a text, which has no efficiency or style; give tests of a program",
        )

    async def _judge_program(self, item: Item[Any], suite: Suite) -> Verdict:
        params: CodeQualityParams = item.params
        if params.reference_solution is not None and params.reference_ms is not None:
            raise InvalidItem("two_references", "give either reference_solution or reference_ms, not both")
        # This comes first, because the response must not decide whether the item is invalid.
        references = await self._reference_times(params, suite)
        code = await self._find(item, suite)
        if isinstance(code, Verdict):
            return code
        assert code.code is not None
        program = program_of(code, suite, params.prelude)
        judged = await self._run(suite, program, params.terms(explain=True))
        correctness = outcomes.score_of(judged.outcomes, params.policy, params.threshold)
        measured: Sequence[Measured] = ()
        if correctness > 0:
            times = await self._repeated(params, suite, program, judged.outcomes)
            measured = _measured(times, references, params.time_limit_s)
        manner = await self._style(code.code) if code.language == "python" else None
        if isinstance(manner, Verdict):
            return manner
        return _verdict(item, code.code, code.language, judged, correctness, measured, manner)

    async def _run(self, suite: Suite, program: Program, terms: Terms) -> Judged:
        return await judging.judge(self._sandbox, self._workers, suite, program, terms)

    async def _repeated(
        self, params: CodeQualityParams, suite: Suite, program: Program, first: Sequence[Outcome]
    ) -> Times:
        """The times of a program that has run its tests once already."""
        times = [[outcome.cpu_s] if outcome.points > 0 else [] for outcome in first]
        subset, positions = _only(suite, [position for position, runs in enumerate(times) if runs])
        terms = replace(params.terms(explain=True), policy="ratio")
        for _ in range(params.repeat - 1):
            judged = await self._run(subset, program, terms)
            for position, outcome in zip(positions, judged.outcomes, strict=False):
                if outcome.points > 0 and times[position]:
                    times[position].append(outcome.cpu_s)
        return times

    async def _reference_times(self, params: CodeQualityParams, suite: Suite) -> Sequence[float | None]:
        """The CPU seconds of the reference for each test; None for a test without a reference.

        Raises:
            InvalidItem: the reference does not fit these tests.
        """
        if isinstance(params.reference_ms, list) and len(params.reference_ms) != suite.size:
            raise InvalidItem(
                "bad_reference_ms",
                f"reference_ms has {len(params.reference_ms)} times for {suite.size} tests; give one for each test",
            )
        if isinstance(params.reference_ms, list):
            return [milliseconds / 1000 for milliseconds in params.reference_ms]
        if params.reference_ms is not None:
            return [params.reference_ms / 1000] * suite.size
        if params.reference_solution is None:
            return [None] * suite.size
        reference = self._references.of(params)
        async with reference.turn:
            if reference.times is None:
                reference.times = await self._measured_reference(params, suite, params.reference_solution)
        return reference.times

    async def _measured_reference(self, params: CodeQualityParams, suite: Suite, solution: str) -> Sequence[float]:
        language = language_of(params.language, suite) or DEFAULT_LANGUAGE
        program = program_of(Found(solution, "found", language, is_fenced=True), suite, params.prelude)
        terms = replace(params.terms(explain=True), policy="ratio", first_n=None)
        judged = await self._run(suite, program, terms)
        failure = outcomes.first_failure(judged.outcomes)
        if failure is not None:
            why = judged.compiler or f"test {failure.name}: {failure.status} {failure.difference}"
            raise InvalidItem("bad_reference_solution", f"the reference solution does not pass the tests: {why}")
        return [min(runs) for runs in await self._repeated(params, suite, program, judged.outcomes)]

    async def _style(self, text: str) -> tuple[float, list[Any]] | Verdict:
        (outcome,) = await self._workers.map(style.TASK, [text])
        if outcome.exit is Exit.OK:
            score, findings = outcome.value
            return score, findings
        if outcome.exit in (Exit.RAISED, Exit.STALLED):
            return trouble(outcome)
        return 0.0, [[f"linters_{outcome.exit}", 0, 1.0]]


def create(resources: Resources) -> CodeQuality:
    for task in (*TASKS, style.TASK):
        resources.workers.register(task)
    return CodeQuality(resources)


class _Reference:
    """The times of one reference solution. The first caller measures them."""

    def __init__(self, params: CodeQualityParams) -> None:
        self.params = params
        self.turn = asyncio.Lock()
        """Guards `times`: other callers wait for the measurement instead of repeating it."""
        self.times: Sequence[float] | None = None


class _References:
    """The references of recent parameters. All responses to one prompt have the same parameters."""

    def __init__(self) -> None:
        self._known: Store[int, _Reference] = Store(
            "code_quality.references", _REFERENCES_BYTES, max_entries=_MAX_KNOWN_REFERENCES, of_texts=True
        )
        """References by the address of their parameters. The address cannot be reused while they are held here."""

    def of(self, params: CodeQualityParams) -> _Reference:
        reference = self._known.get(id(params))
        if reference is None:
            reference = _Reference(params)
            self._known.put(id(params), reference)
        return reference


def _only(suite: Suite, positions: Sequence[int]) -> tuple[Suite, Sequence[int]]:
    """The suite with only these tests, and their positions; the whole suite if its tests are one program."""
    tests = suite.tests
    if isinstance(tests, StdioTests):
        return structs.replace(
            suite, tests=structs.replace(tests, cases=[tests.cases[at] for at in positions])
        ), positions
    if isinstance(tests, CallTests):
        return structs.replace(
            suite, tests=structs.replace(tests, cases=[tests.cases[at] for at in positions])
        ), positions
    assert not isinstance(tests, TextTests)
    if isinstance(tests, JoinedTest):
        return suite, positions
    if tests.calls is None or len(tests.programs) != 1:
        return suite, range(suite.size)
    (program,) = tests.programs
    return structs.replace(
        suite,
        tests=structs.replace(
            tests,
            names=[tests.names[at] for at in positions],
            calls=[tests.calls[at] for at in positions],
            programs=[structs.replace(program, cases=[program.cases[at] for at in positions], count=len(positions))],
        ),
    ), positions


def _measured(times: Times, references: Sequence[float | None], limit_s: float) -> list[Measured]:
    """The measurements of the passed tests. Tests that the suite does not name have no reference."""
    reference_times = [*references, *([None] * len(times))]
    return [Measured(runs, limit_s, reference_times[position]) for position, runs in enumerate(times) if runs]


def _verdict(
    item: Item[Any],
    text: str,
    language: str,
    judged: Judged,
    correctness: float,
    measured: Sequence[Measured],
    manner: tuple[float, list[Any]] | None,
) -> Verdict:
    weights: Weights = item.params.weights
    fast, tidy = efficiency(measured), manner[0] if manner else None
    score = total(correctness, [(weights.correctness, 1.0), (weights.efficiency, fast), (weights.style, tidy)])
    detail: dict[str, Any] = {
        "passed": sum(outcome.points >= 1.0 for outcome in judged.outcomes),
        "total": len(judged.outcomes),
        "language": language,
        "dimensions": {"correctness": round(correctness, 6), "efficiency": fast, "style": tidy},
    }
    if efficiency(slowest(measured)) != fast and any(test.is_noisy for test in measured):
        detail["noisy"] = True
    if judged.compiler is not None:
        detail["compiler"] = clip(judged.compiler)
    if item.explain:
        listed = judged.outcomes[: outcomes.MAX_TESTS_SHOWN]
        detail["tests"] = [outcome.detail() for outcome in listed]
        detail["times"] = [_times(test) for test in measured[:_MAX_TIMES_SHOWN]]
        detail["style"] = manner[1] if manner else []
    reason = "compile_error" if judged.compiler is not None else outcomes.reason_of(judged.outcomes, correctness)
    return Verdict(Status.OK, score, reason, clip(text), detail)


def _times(test: Measured) -> dict[str, Any]:
    """The raw measurements of one passed test."""
    reference_ms = None if test.reference_s is None else round(1000 * test.reference_s, 3)
    return {
        "cpu_ms": [round(1000 * seconds, 3) for seconds in test.cpu_s],
        "reference_ms": reference_ms,
        "limit_ms": round(1000 * test.limit_s, 3),
        "noisy": test.is_noisy,
    }


_SUM = {"case_type": "stdio", "test_cases": {"inputs": ["1 2\n", "-1 1\n"], "outputs": ["3\n", "0\n"]}}
_TIDY = "```python\n# The sum of all numbers of the line.\nprint(sum(map(int, input().split())))\n```"
_SOLUTION = "print(sum(map(int, input().split())))"
EXAMPLES: tuple[Example, ...] = (
    Example(_TIDY, {"reference": _SUM}, 1.0, "correct", "right, fast and tidy"),
    Example(_TIDY, {"reference": _SUM, "reference_solution": _SOLUTION}, 1.0, "correct", "as fast as the reference"),
    Example(
        "```python\n# The answer.\nprint(3)\n```",
        {"reference": _SUM},
        0.5,
        "partly_correct",
        "fast and tidy, but passes half the tests: style never pays for wrong code",
    ),
    Example(
        "```python\nimport os\nprint(sum(map(int, input().split())))\n```",
        {"reference": _SUM},
        0.995,
        "correct",
        "right, but with an unused import and without a comment",
    ),
    Example("```python\n# Quick.\nprint(4)\n```", {"reference": _SUM}, 0.0, "wrong_answer", "passes no test"),
    Example("The sum is 3.", {"reference": _SUM}, 0.0, "no_code", "looks right, but is not a program"),
    Example(
        _TIDY,
        {"reference": _SUM, "reference_solution": "print(3)"},
        None,
        "bad_reference_solution",
        "the caller must correct the reference solution",
        Status.INVALID,
    ),
)
