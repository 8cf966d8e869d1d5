"""Runs the program of a response in a box, and scores it by its tests.

    response ──extraction──► program ──┐                                     (verifiers/code_blocks.py)
    reference ──reading──► typed suite ┴─► box ──► what it did ──compared here──► outcome each ──policy──► score
        (reading.py, aliases.py)            (judging.py)       (comparators.py, equality.py)     (outcomes.py)

Expected outputs and values never enter a box: a program can only give an answer, never a verdict. Tests that are
programs themselves (asserts, `check`, unittest, pytest) run in a second process that the candidate cannot reach;
asserts of a call and a literal are parsed and judged outside of the box. All of that is for Python. In other languages
tests in code are one program with the solution (`joining`), which tells values that are compared outside if the text of
the tests allows it (`splitting`). If not, they share a process, which is weaker, and the verdict says `unguarded`.

The number of requested tests is the denominator, whatever ran. A suite is `invalid` if it has no tests, tests that
assert nothing, or elided values, or if its tests would have to be in one process with the program: their text says so, or
a rehearsal without a program (`rehearsal`), but never a response. If
no sandbox is available, the item is `failed`. Faults of the program (crash, hang, too much memory, no compilation) are
judged: 0 for that test. A program of more than `code_blocks.MAX_PROGRAM_BYTES` is not run: 0, `too_large`.

Verdicts are cached like all others, including those that depend on a time limit. CPU time counts, which other load
changes by a few per cent only; still, a program close to its limit may get another verdict in another run.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field

from sandbox.base import Limits, SandboxUnavailable
from sandbox.workers import Exit, Task, WorkersUnavailable
from verifiers import code_blocks
from verifiers.base import Example, InvalidItem, Item, Params, Resources, Status, Unavailable, Verdict, Verifier, clip
from verifiers.base_runs import BaseRuns
from verifiers.code import judging, libraries, outcomes, rehearsal, told
from verifiers.code.cases import CaseType, StdioTests, Suite, TestPrograms
from verifiers.code.comparators import Comparator, Mode
from verifiers.code.judging import Judged, Terms
from verifiers.code.outcomes import Policy
from verifiers.code.prelude import Prelude
from verifiers.code.programs import demand_boxes, language_of, languages_of, program_of
from verifiers.code.reading import READ, Suites
from verifiers.code_blocks import Found, Select
from verifiers.commitment import Think, final_segment
from verifiers.long_texts import BROKEN_LIMITS, INLINE_CHARS, sendable, trouble


def _by_name(value: Any) -> Any:
    """Replace a comparator's name by the comparator of that mode."""
    return {"mode": value} if isinstance(value, str) else value


class CodeParams(Params):
    """The tests, and how the program is run and scored."""

    reference: dict[str, Any] | list[Any] | str
    """The tests: `{"case_type": ..., "test_cases": [...], ...}` as an object or JSON text, in any form that data
    sets use. Case types: stdio, function, assert, pytest, unittest, check_based, text, checker; program: solution and
    test are one program, which ends with code 0."""
    language: str | None = None
    """The language of the program; None: that of the tests, or else that of the response's code fence, or else
    Python."""
    time_limit_s: float = Field(default=2.0, gt=0, le=600)
    """CPU seconds for each test; for tests that are one program (check, unittest, pytest) for all of them together."""
    memory_mb: int = Field(default=512, ge=16, le=65_536)
    """Megabytes of memory for the program, compilers included; a test that needs more has not passed."""
    policy: Policy = "all"
    """all: 1 if every test passes, else 0; ratio: the share that passes; threshold: the share, or 0 below
    `threshold`; first_n: the share of the first `first_n` tests, and no others are run."""
    threshold: float = Field(default=1.0, ge=0, le=1)
    """With `policy` threshold: the least share of passed tests that earns anything."""
    first_n: int = Field(default=10, ge=1)
    """With `policy` first_n: the number of tests that run."""
    fail_fast: bool = False
    """Whether nothing runs after the first failed test; a test that does not run has not passed. If the remaining
    tests cannot change the score, they are left out anyway, unless an explanation is wanted."""
    max_timeouts: int = Field(default=3, ge=1)
    """After this many tests that reached the time limit, the remaining tests do not run and have not passed."""
    comparator: Annotated[Comparator | Mode | None, BeforeValidator(_by_name)] = None
    """How outputs and values are compared: the name of a mode, or an object; None: outputs by lines, numbers as
    decimals."""
    prelude: Prelude = "none"
    """leetcode: the imports that solutions for such sites expect, before a Python program."""
    select: Select = "last"
    """Which of several code blocks is the program."""
    think: Think = "auto"
    """Which text is searched. auto: the text after the last closing think tag; required: the tag must be there;
    none: all text."""
    objects: bool | None = None
    """Whether the operators of all objects that the program returns may decide tests (`make(1) < 2`). If not, only those
    of objects that the tests make themselves may, as in `Vec(1, 2) + Vec(3, 4) == Vec(4, 6)`; what others tell (their
    length, items, text) is compared outside of the program."""
    together: bool = False
    """Whether Python's tests that are programs run in one process with the program. Then they may share what a process
    has (mocks of modules, logs, standard input), and nothing but a few checks keeps the program from forging a pass."""
    allow_nonzero_exit: bool = False
    """Whether a right output counts even if the program ends with an error."""

    def terms(self, *, explain: bool = False) -> Terms:
        # Time in which the machine does not run the program is not counted, so only sleeping programs meet this.
        wall_s = max(6.0, 3 * self.time_limit_s)
        comparator = self.comparator if isinstance(self.comparator, Comparator) else Comparator()
        return Terms(
            limits=Limits(cpu_s=self.time_limit_s, wall_s=wall_s, memory_mb=self.memory_mb),
            comparator=comparator,
            policy=self.policy,
            threshold=self.threshold,
            first_n=self.first_n if self.policy == "first_n" else None,
            fail_fast=self.fail_fast,
            runs_all=explain,
            max_timeouts=self.max_timeouts,
            allow_nonzero_exit=self.allow_nonzero_exit,
            objects=bool(self.objects),
        )


FIND = Task(
    "verifiers.code_blocks", "find_in_worker", time_limit_s=5.0, output_bytes=code_blocks.MAX_PROGRAM_BYTES + 1024
)
"""The search is linear, but parsing is not always; a text that takes longer than this is not a program."""
_INLINE_FENCES: Final = 500
"""Each fence takes 2 microseconds. Ordinary responses have ten."""
TASKS: Final = (FIND, READ, judging.COMPARE, libraries.JOIN)


class Code(Verifier[CodeParams]):
    name = "code"
    version = "27"
    params = CodeParams
    summary = "The response's program passes its tests: stdin and stdout, calls, asserts, pytest, unittest, checkers"
    deterministic: ClassVar[bool] = True
    chunk_items: ClassVar[int] = 1
    """An item takes milliseconds to minutes, so each has its own turn, and requests share the boxes fairly."""

    bounds_itself: ClassVar[bool] = True

    def __init__(self, resources: Resources) -> None:
        self._workers = resources.workers
        self._sandbox = resources.sandbox
        self._refuses_unguarded = resources.refuses_unguarded
        # One item is extracted or compared while others run; more would wait in the boxes' queue, which is not fair.
        self.concurrency = 2 * resources.sandbox.slots + 1
        self.suites = Suites(resources.workers)
        self._base_runs: BaseRuns[None] = BaseRuns()
        self._lacked: BaseRuns[Sequence[str]] = BaseRuns()
        """Libraries that the boxes lack for a task."""

    async def score(self, items: Sequence[Item[CodeParams]]) -> Sequence[Verdict]:
        verdicts: dict[int, Verdict] = {}
        await self.score_each(items, verdicts.__setitem__)
        return [verdicts[position] for position in range(len(items))]

    async def score_each(self, items: Sequence[Item[CodeParams]], deliver: Callable[[int, Verdict], None]) -> None:
        if len(items) == 1:
            deliver(0, await self._judge(items[0]))
            return

        async def judge(position: int, item: Item[CodeParams]) -> None:
            try:
                deliver(position, await self._judge(item))
            except Unavailable as error:
                deliver(position, Verdict.failed(error.reason, str(error), **error.detail))

        async with asyncio.TaskGroup() as group:
            for position, item in enumerate(items):
                group.create_task(judge(position, item))

    async def _judge(self, item: Item[CodeParams]) -> Verdict:
        try:
            suite = await self.suites.of(item.params)
            if self._refuses_unguarded:
                await judging.demand_guarded(self._sandbox, suite, item.params.terms())
            run = await judging.as_run(self._sandbox, suite)
            await libraries.demand(self._sandbox, self._workers, run, self._lacked)
            if isinstance(suite.tests, TestPrograms) and suite.tests.is_rehearsed:
                memory_mb = item.params.memory_mb
                await rehearsal.demand_possible(self._sandbox, suite.tests, self._base_runs, memory_mb=memory_mb)
            if isinstance(suite.tests, StdioTests):
                await judging.demand_checker(self._sandbox, suite.tests, item.params.terms(), self._base_runs)
            if suite.case_type is CaseType.TEXT:
                return await self._judge_text(item, suite)
            return await self._judge_program(item, suite)
        except InvalidItem as error:
            return Verdict.invalid(error.reason, str(error))
        except SandboxUnavailable as error:
            raise Unavailable(error.reason, str(error), **error.detail) from error
        except WorkersUnavailable as error:
            raise Unavailable("workers_unavailable", str(error)) from error
        except judging.ComparisonFailed as error:
            return trouble(error.outcome)

    async def _judge_text(self, item: Item[CodeParams], suite: Suite) -> Verdict:
        segment = final_segment(item.response, item.params.think)
        if segment.reason != "found":
            return Verdict.wrong("truncated" if segment.reason == "truncated" else "no_answer")
        response = item.response[segment.start : segment.end]
        judged = await judging.judge_text(self._sandbox, suite, response, item.params.terms(explain=item.explain))
        if judged.compiler is not None:
            raise Unavailable("sandbox_unavailable", f"the test's own frame cannot be loaded: {judged.compiler}")
        return _verdict(judged, item, response)

    async def _judge_program(self, item: Item[CodeParams], suite: Suite) -> Verdict:
        params = item.params
        extracted = await self._find(item, suite)
        if isinstance(extracted, Verdict):
            return extracted
        program = program_of(extracted, suite, params.prelude)
        terms = params.terms(explain=item.explain)
        judged = await judging.judge(self._sandbox, self._workers, suite, program, terms)
        return _verdict(judged, item, extracted.code or "", extracted.language)

    async def _find(self, item: Item[CodeParams], suite: Suite) -> Found | Verdict:
        """The program of a response, in a language that can be judged; or the verdict that it has none.

        Raises:
            InvalidItem: the task's tests are not possible in the language that it demands.
            SandboxUnavailable: no box here has a language that every program of the task needs.
        """
        demanded = language_of(item.params.language, suite)
        allowed = languages_of(demanded, suite)
        demand_boxes(self._sandbox.languages, demanded, suite)
        extracted = await self._extract(item, suite, demanded, allowed)
        if isinstance(extracted, Verdict):
            return extracted
        if extracted.code is None:
            return Verdict.wrong(extracted.reason, language=extracted.language)
        if extracted.language not in allowed:
            return Verdict.wrong("wrong_language", language=extracted.language, languages=sorted(allowed))
        # The task leaves the language to the response, which chose one that nothing here runs. Other boxes may run it.
        if demanded is None and self._sandbox.languages and extracted.language not in self._sandbox.languages:
            detail = {"language": extracted.language, "languages": sorted(self._sandbox.languages)}
            return Verdict(Status.OK, 0.0, "wrong_language", None, detail, is_lasting=False)
        return extracted

    async def _extract(
        self, item: Item[CodeParams], suite: Suite, language: str | None, allowed: frozenset[str]
    ) -> Found | Verdict:
        params, name = item.params, suite.entry_point
        fences = item.response.count("```") + item.response.count("~~~")
        if len(item.response) <= INLINE_CHARS and fences <= _INLINE_FENCES:
            extracted = code_blocks.find(
                item.response, language, params.think, params.select, languages=allowed, entry_point=name
            )
            if not code_blocks.needs_parsing(extracted, suite.prompt, name):
                return extracted
        payload = [sendable(item.response), language, params.think, params.select, suite.prompt, name, sorted(allowed)]
        (outcome,) = await self._workers.map(FIND, [payload])
        if outcome.exit is Exit.OK:
            return Found(*outcome.value)
        if outcome.exit not in BROKEN_LIMITS:
            return trouble(outcome)
        return Found(None, "no_code", language or code_blocks.DEFAULT_LANGUAGE)


def create(resources: Resources) -> Code:
    for task in TASKS:
        resources.workers.register(task)
    return Code(resources)


def _verdict(judged: Judged, item: Item[CodeParams], code: str, language: str = "") -> Verdict:
    params = item.params
    score = outcomes.score_of(judged.outcomes, params.policy, params.threshold)
    first = outcomes.first_failure(judged.outcomes)
    detail: dict[str, Any] = {
        "passed": sum(outcome.points >= 1.0 for outcome in judged.outcomes),
        "total": len(judged.outcomes),
    }
    if language:
        detail["language"] = language
    if judged.is_unguarded:  # the program shares a process with its tests, or its own operators are tested
        detail["unguarded"] = True
    if judged.compiler is not None:
        detail["compiler"] = judged.compiler[:_MAX_COMPILER_CHARS]
    elif first is not None:
        detail["first_failure"] = {"name": first.name, "status": str(first.status)}
    outputs = [outcome.output for outcome in judged.outcomes if outcome.output is not None]
    if outputs and len(outputs) == len(judged.outcomes):
        detail["outputs"] = told.answer_of(outputs)
    if item.explain:
        detail["tests"] = [outcome.detail() for outcome in judged.outcomes[: outcomes.MAX_TESTS_SHOWN]]
    reason = "compile_error" if judged.compiler is not None else outcomes.reason_of(judged.outcomes, score)
    if score >= 1.0:
        return Verdict.correct(code, **detail)
    return Verdict(Status.OK, score, reason, clip(code), detail)


_MAX_COMPILER_CHARS = 600


_ADDS = "```python\ndef add(a, b):\n    return a + b\n```"
_SUM = {"case_type": "stdio", "test_cases": [{"input": "1 2\n", "expected_output": "3"}]}
_SUMS = {"case_type": "stdio", "test_cases": {"inputs": ["1 2\n", "-1 1\n"], "outputs": ["3\n", "0\n"]}}
_CALL = {"case_type": "function", "fn_name": "add", "test_cases": [{"input": "1\n2", "expected_output": "3"}]}
_ASSERTS = {"case_type": "assert", "test_cases": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"]}
_CHECK = {"entry_point": "add", "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"}
EXAMPLES: tuple[Example, ...] = (
    Example("```python\nprint(sum(map(int, input().split())))\n```", {"reference": _SUMS}, 1.0, "correct", "stdin"),
    Example(_ADDS, {"reference": _CALL}, 1.0, "correct", "one JSON argument per line, as LiveCodeBench writes them"),
    Example(_ADDS, {"reference": _ASSERTS}, 1.0, "correct", "asserts"),
    Example(_ADDS, {"reference": _CHECK}, 1.0, "correct", "a row of HumanEval, whose case type is plain to see"),
    Example("```python\nprint(3)\n```", {"reference": _SUMS}, 0.0, "wrong_answer", "right once is not enough"),
    Example(
        "```python\nprint(3)\n```", {"reference": _SUMS, "policy": "ratio"}, 0.5, "partly_correct", "or half the score"
    ),
    Example("```python\nimport sys\nsys.exit(0)\n```", {"reference": _SUM}, 0.0, "wrong_answer", "no exit code passes"),
    Example("```python\nprint(1 / 0)\n```", {"reference": _SUM}, 0.0, "runtime_error", "its crash, not our trouble"),
    Example("```python\nprint(3\n```", {"reference": _SUM}, 0.0, "compile_error", "it cannot be loaded"),
    Example("The sum is 3.", {"reference": _SUM}, 0.0, "no_code", "prose is not a program"),
    Example("```python\nprint(3)", {"reference": _SUM}, 0.0, "truncated", "cut off in the middle of the program"),
    Example(
        _ADDS, {"reference": {"case_type": "stdio", "test_cases": []}}, None, "no_tests", "never a pass", Status.INVALID
    ),
)
