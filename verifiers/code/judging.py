"""Runs one program against its suite in a box, and judges the results outside of the box.

    Suite + program ──► Program, Runs ──► Sandbox.run ──► RunResult each ──► Outcome each
                                              ▲                 │ stop when the score is decided
                                              └─────────────────┘

The program's behaviour becomes an outcome. `SandboxUnavailable` passes through, because it says nothing about the
program.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
from msgspec import structs

from memory import Store
from sandbox import languages
from sandbox.base import (
    COMPILE_LIMITS,
    Built,
    Call,
    Execute,
    Exit,
    Limits,
    Program,
    Run,
    RunResult,
    Sandbox,
    TestOutcome,
    Tests,
    TestStyle,
)
from sandbox.workers import Exit as WorkerExit
from sandbox.workers import Outcome as WorkerOutcome
from sandbox.workers import Task, Workers
from verifiers.base import InvalidItem, clip
from verifiers.base_runs import BaseRuns
from verifiers.code import comparisons, joining, literals, response_texts, splitting, told
from verifiers.code.cases import (
    AssertedCall,
    CallTests,
    Checker,
    JoinedTest,
    SplitTest,
    StdioCase,
    StdioTests,
    Suite,
    TestProgram,
    TestPrograms,
    TextTests,
)
from verifiers.code.comparators import Comparator
from verifiers.code.libraries import INLINE_CHARS, JOIN
from verifiers.code.outcomes import Outcome, Policy, Status, is_settled, passed, status_of
from verifiers.code.tellers import FILE as VALUES_FILE
from verifiers.code.tellers import TELLERS
from verifiers.long_texts import BROKEN_LIMITS, too_complex_params
from verifiers.own_answers import STAND_IN

COMPARE = Task("verifiers.code.comparisons", "compare_in_worker", comparisons.TIME_LIMIT_S)


@dataclass(frozen=True, slots=True)
class Terms:
    """The rules by which a suite is judged."""

    limits: Limits
    comparator: Comparator
    policy: Policy = "all"
    threshold: float = 1.0
    first_n: int | None = None
    fail_fast: bool = False
    runs_all: bool = False
    """Whether to go on when the score is decided, because the outcome of each test is wanted."""
    max_timeouts: int = 3
    allow_nonzero_exit: bool = False
    objects: bool = False
    """Whether all objects of the program may decide tests."""
    prefers_programs: bool = False
    """Whether asserts run as programs even if they can be judged as calls."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One outcome for each requested test, in order."""

    outcomes: Sequence[Outcome]
    compiler: str | None = None
    """The compiler's message if the program could not be loaded; then no test ran."""
    is_unguarded: bool = False
    """Whether the program shared a process with what decided about it."""


class ComparisonFailed(Exception):
    """A comparison in a worker gave no result."""

    def __init__(self, outcome: WorkerOutcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


async def judge(sandbox: Sandbox, workers: Workers, suite: Suite, program: Program, terms: Terms) -> Judged:
    """Run the tests and judge each.

    Args:
        sandbox: Where the program runs.
        workers: Where large outputs are compared.
        suite: The tests.
        program: With everything its tests need before it.
        terms: Limits, policy and comparator.

    Raises:
        SandboxUnavailable, WorkersUnavailable: the program cannot be judged now.
        ComparisonFailed: an output could not be compared.
        InvalidItem: the suite's own programs do not work.
    """
    tests = suite.tests
    if isinstance(tests, StdioTests):
        return await _Stdio(sandbox, workers, program, terms, tests).judge()
    if isinstance(tests, CallTests):
        return await _Calls(sandbox, workers, program, terms, tests).judge()
    if isinstance(tests, TextTests):
        raise TypeError("tests about a text have no program; see judge_text")
    if isinstance(tests, JoinedTest):
        return await _Joined(sandbox, workers, program, terms, tests).judge()
    as_calls = tests.calls is not None and not (terms.objects or terms.prefers_programs or tests.shares_files)
    # A call finds the methods in a class of this name, and awaits a coroutine; an assert does neither.
    if as_calls and not any(word in program.source for word in ("Solution", "async")):
        together = await _Programs(sandbox, program, terms, tests).judge() if _are_many(tests) else None
        if together is not None and all(outcome.status is Status.PASS for outcome in together.outcomes):
            return together
        return await _AssertedCalls(sandbox, workers, program, terms, tests).judge()
    return await _Programs(sandbox, program, terms, tests).judge()


def _are_many(tests: TestPrograms) -> bool:
    """Whether asserts are so many that a process for each of them costs much more than one for all.

    In one they share its CPU seconds, so only a program that passes them all there needs no other.
    """
    return len(tests.names) > _MANY_ASSERTS


_MANY_ASSERTS: Final = 50


async def judge_text(sandbox: Sandbox, suite: Suite, response: str, terms: Terms) -> Judged:
    """Run tests about a text; they get the text as data only.

    Raises:
        SandboxUnavailable: the text cannot be judged now.
    """
    assert isinstance(suite.tests, TextTests)
    return await _Texts(sandbox, suite, response, terms).judge()


class _Board:
    """The outcomes so far, and whether to go on."""

    def __init__(self, names: Sequence[str], terms: Terms) -> None:
        self.names = names[: terms.first_n] if terms.policy == "first_n" else names
        self.outcomes: list[Outcome | None] = [None] * len(self.names)
        self._terms = terms
        self._timeouts = 0
        self._tells = False

    def put(self, position: int, outcome: Outcome) -> None:
        self.outcomes[position] = outcome
        self._tells = outcome.output is not None
        self._timeouts += outcome.status is Status.TIME_LIMIT

    @property
    def goes_on(self) -> bool:
        terms = self._terms
        if self._timeouts >= terms.max_timeouts:
            return False
        if self._tells or (terms.runs_all and not terms.fail_fast):
            return True
        return not is_settled(self.outcomes, terms.policy, terms.threshold, fail_fast=terms.fail_fast)

    def judged(self, built: Built | None = None) -> Judged:
        outcomes = [
            outcome or Outcome(name, Status.NOT_RUN) for name, outcome in zip(self.names, self.outcomes, strict=True)
        ]
        compiler = (
            (built.message or f"the compiler reached its limit: {built.exit}") if built and not built.ok else None
        )
        return Judged(outcomes, compiler)


class _Compared:
    """Runs that are each compared with their own expectation."""

    def __init__(
        self, sandbox: Sandbox, workers: Workers, program: Program, terms: Terms, names: Sequence[str]
    ) -> None:
        self._sandbox = sandbox
        self._workers = workers
        self._program = program
        self._terms = terms
        self._board = _Board(names, terms)
        self._large: list[tuple[int, RunResult, list[Any]]] = []

    async def judge(self) -> Judged:
        runs = self._runs()[: len(self._board.names)]
        built = await self._sandbox.run(self._program, runs, self._take)
        if built.ok:
            await self._compare_large()
            await self._finish()
        return self._board.judged(built)

    def _runs(self) -> Sequence[Run]:
        raise NotImplementedError

    def _judge_result(self, position: int, result: RunResult) -> Outcome | None:
        """The outcome; None if it is decided later."""
        raise NotImplementedError

    async def _finish(self) -> None:
        """Decide the remaining outcomes after all runs have ended."""

    def _take(self, position: int, result: RunResult) -> bool:
        outcome = self._judge_result(position, result)
        if outcome is not None:
            self._board.put(position, outcome)
        return self._board.goes_on

    def _ended_badly(self, position: int, result: RunResult) -> Outcome:
        name = self._board.names[position]
        return Outcome(name, status_of(result.exit), difference=_last_words(result), cpu_s=result.cpu_s)

    def _compared(self, position: int, result: RunResult, difference: str | None) -> Outcome:
        name = self._board.names[position]
        if difference is None:
            return passed(name, result.cpu_s)
        return Outcome(name, Status.WRONG_ANSWER, difference=difference, cpu_s=result.cpu_s)

    def _told(self, position: int, result: RunResult, output: str | None) -> Outcome:
        """The outcome of a test that only asks for the output."""
        name = self._board.names[position]
        return Outcome(name, Status.WRONG_ANSWER, difference="no expected output", cpu_s=result.cpu_s, output=output)

    async def _compare_large(self) -> None:
        if not self._large:
            return
        outcomes = await self._workers.map(COMPARE, [payload for _, _, payload in self._large])
        for (position, result, payload), outcome in zip(self._large, outcomes, strict=True):
            difference = outcome.value
            if outcome.exit is not WorkerExit.OK:
                await _demand_possible(self._workers, COMPARE, outcome, comparisons.of_right(payload))
                difference = f"comparing it takes more than a worker may spend: {outcome.exit}"
            earlier = self._board.outcomes[position]
            if earlier is None or earlier.status is Status.PASS:
                self._board.put(position, self._compared(position, result, difference))


async def _demand_possible(workers: Workers, task: Task, outcome: WorkerOutcome, probe: Sequence[Any]) -> None:
    """Check that the response is at fault for a worker that gave no result.

    Args:
        workers: They also try the probe.
        task: What the worker did.
        outcome: How it ended.
        probe: The same payload with a response that is not at fault.

    Raises:
        ComparisonFailed: nobody is at fault.
        InvalidItem: the task is.
    """
    if outcome.exit not in BROKEN_LIMITS:
        raise ComparisonFailed(outcome)
    (other,) = await workers.map(task, [probe])
    if other.exit in BROKEN_LIMITS:
        verdict = too_complex_params(other)
        raise InvalidItem(verdict.reason, str(verdict.detail["message"]))
    if other.exit is not WorkerExit.OK:
        raise ComparisonFailed(other)


class _Stdio(_Compared):
    def __init__(self, sandbox: Sandbox, workers: Workers, program: Program, terms: Terms, tests: StdioTests) -> None:
        super().__init__(sandbox, workers, program, terms, [case.name for case in tests.cases])
        self._tests = tests
        self._to_check: list[tuple[int, RunResult]] = []

    def _runs(self) -> Sequence[Run]:
        return [
            Execute(_bytes(case.stdin), (), case.files, tuple(case.expected_files), self._limits(case))
            for case in self._tests.cases
        ]

    def _limits(self, case: StdioCase) -> Limits:
        """The limits, with room for twice the expected output."""
        limits = self._terms.limits
        return replace(limits, output_bytes=max(limits.output_bytes, 2 * len(case.expected) + 65536))

    def _judge_result(self, position: int, result: RunResult) -> Outcome | None:
        if result.exit is not Exit.EXITED or (result.code != 0 and not self._terms.allow_nonzero_exit):
            return self._ended_badly(position, result)
        if self._tests.checker is not None:
            self._to_check.append((position, result))
            return None
        case, comparator = self._tests.cases[position], self._terms.comparator
        if case.expected == STAND_IN:
            return self._told(position, result, told.text_of(result.stdout))
        pairs = [(result.files.get(path), text) for path, text in case.expected_files.items()]
        pairs += [(result.stdout, case.expected)] if case.compares_output else []
        large = []
        for content, expected in pairs:
            if content is None:
                return self._compared(position, result, "a file was not written")
            if len(content) + len(expected) > comparisons.INLINE_BYTES and content != _bytes(expected):
                large.append((position, result, [False, content, expected, comparator.model_dump_json()]))
            elif difference := comparisons.output_difference(content, expected, comparator):
                return self._compared(position, result, difference)
        self._large += large
        return None if large else self._compared(position, result, None)

    async def _finish(self) -> None:
        checker = self._tests.checker
        if checker is None or not self._to_check:
            return
        cases = [(self._tests.cases[position], result.stdout) for position, result in self._to_check]
        decisions = await _Judge(self._sandbox, checker, self._terms.limits).decide(cases)
        for (position, result), points in zip(self._to_check, decisions, strict=True):
            self._board.put(position, self._decided(position, result, points))

    def _decided(self, position: int, result: RunResult, points: float) -> Outcome:
        if points > 0:
            return passed(self._board.names[position], result.cpu_s, points)
        return self._compared(position, result, "the special judge rejects the output")


class _Judge:
    """Runs a special judge, in a box that does not hold the candidate's program at the same time."""

    FILES = ("input.txt", "output.txt", "expected.txt")
    _REJECTED = frozenset({1, 2, 4, 8})
    """Exit codes of testlib: wrong answer, presentation error, dirt behind the answer, unexpected end of file."""
    _POINTS = 7
    _CPU_S = 10.0

    def __init__(self, sandbox: Sandbox, checker: Checker, limits: Limits) -> None:
        self._sandbox = sandbox
        self._checker = checker
        self._limits = Limits(cpu_s=max(self._CPU_S, limits.cpu_s), memory_mb=max(512, limits.memory_mb))

    async def decide(self, cases: Sequence[tuple[StdioCase, bytes]]) -> list[float]:
        """Decide about outputs; the share of points of each. An output that breaks the judge gets none.

        Raises:
            InvalidItem: the judge cannot be loaded.
        """
        results = await self._run([(case, output) for case, output in cases])
        return [
            0.0 if _says_nothing(case, output) or _says_no_number(case, output) else self._points(result) or 0.0
            for (case, output), result in zip(cases, results, strict=True)
        ]

    async def demand_working(self, cases: Sequence[StdioCase]) -> None:
        """Check, whatever the response is, that the judge decides about the expected outputs, and rejects something.

        Raises:
            InvalidItem: it does not.
        """
        known = [case for case in cases if case.expected.strip()]
        for case, result in zip(known, await self._run([(case, _bytes(case.expected)) for case in known]), strict=True):
            if self._points(result) is None:
                raise InvalidItem(
                    "checker_failed",
                    f"test {case.name}: the special judge ends with {_end_of(result)} for the expected output: "
                    f"{_last_words(result)!r}",
                )
        await self._demand_rejects(cases)

    async def _demand_rejects(self, accepted: Sequence[StdioCase]) -> None:
        """Check that the judge rejects an output without an answer in one of these tests.

        A judge that tells its verdict only in its own words, and always ends in the same way, would let every program
        pass.
        """
        for batch in (accepted[:1], accepted[1:]):
            results = await self._run([(case, _NO_ANSWER) for case in batch])
            if not all(self._points(result) for result in results):
                return
        raise InvalidItem(
            "checker_accepts_anything",
            f"test {accepted[0].name}: the special judge accepts the output {_NO_ANSWER.decode()!r} as well; it must "
            "end with status 1 to reject, or tell `points x`",
        )

    async def _run(self, cases: Sequence[tuple[StdioCase, bytes]]) -> list[RunResult]:
        if not cases:
            return []
        runs = [
            Execute(
                arguments=self.FILES,
                files=dict(zip(self.FILES, (_bytes(case.stdin), output, _bytes(case.expected)), strict=True)),
                limits=self._limits,
            )
            for case, output in cases
        ]
        results: dict[int, RunResult] = {}

        def take(position: int, result: RunResult) -> bool:
            results[position] = result
            return True

        built = await self._sandbox.run(Program(self._checker.source, self._checker.language), runs, take)
        if not built.ok:
            raise InvalidItem("checker_failed", f"the special judge cannot be loaded: {clip(built.message)}")
        return [results[position] for position in range(len(runs))]

    def _points(self, result: RunResult) -> float | None:
        """The points of a run; None if a judge does not end in this way."""
        if result.exit is not Exit.EXITED:
            return None
        if result.code in self._REJECTED:
            return None if _UNCAUGHT.search(result.stderr) else 0.0
        # The judge may quote the output, with lines that claim points: such lines can only cost points.
        points_lines = [float(points) for points in _POINTS_LINE.findall(result.stderr + b"\n" + result.stdout)]
        if points_lines and result.code in (0, self._POINTS):
            return max(0.0, min(1.0, min(points_lines) / self._checker.max_points))
        return 1.0 if result.code == 0 else None


_NO_ANSWER = b"~ no answer ~\n"
_UNCAUGHT = re.compile(rb"^(?:Traceback \(most recent call last\):|Exception in thread |Node\.js v\d)", re.MULTILINE)
"""Errors with which a judge in Python, Java or JavaScript ends by mistake: with status 1, as if it rejected."""
_POINTS_LINE = re.compile(rb"^[ \t]*(?:partially correct[ \t:]*)?points[ \t:=]+(\d{1,9}(?:\.\d{1,9})?)", re.MULTILINE)


class _Calls(_Compared):
    def __init__(self, sandbox: Sandbox, workers: Workers, program: Program, terms: Terms, tests: CallTests) -> None:
        super().__init__(sandbox, workers, program, terms, [case.name for case in tests.cases])
        self._tests = tests

    def _runs(self) -> Sequence[Run]:
        function = self._tests.function
        return [Call(function, case.arguments.encode(), self._terms.limits) for case in self._tests.cases]

    def _judge_result(self, position: int, result: RunResult) -> Outcome | None:
        if result.exit is not Exit.EXITED or result.value is None:
            return self._ended_badly(position, result)
        accepted, comparator = self._tests.cases[position].accepted, self._terms.comparator
        if accepted == _ONLY_STAND_IN:
            return self._told(position, result, told.value_of(result.value))
        if comparisons.is_large_value(result.value, accepted, comparator):
            payload = [True, result.value, accepted, comparator.model_dump_json()]
            self._large.append((position, result, payload))
            return None
        return self._compared(position, result, comparisons.value_difference(result.value, accepted, comparator))


_ONLY_STAND_IN = literals.image([STAND_IN])


class _AssertedCalls(_Compared):
    """Asserts that are judged outside if possible; the others run as programs."""

    def __init__(self, sandbox: Sandbox, workers: Workers, program: Program, terms: Terms, tests: TestPrograms) -> None:
        super().__init__(sandbox, workers, program, terms, tests.names)
        self._tests = tests
        self._left: list[int] = []

    @property
    def _calls(self) -> Sequence[AssertedCall]:
        assert self._tests.calls is not None
        return self._tests.calls

    def _runs(self) -> Sequence[Run]:
        return [Call(call.function, call.arguments.encode(), self._terms.limits) for call in self._calls]

    def _judge_result(self, position: int, result: RunResult) -> Outcome | None:
        if result.exit is not Exit.EXITED or result.value is None:
            return self._ended_badly(position, result)
        call = self._calls[position]
        if comparisons.is_large_assertion(result.value, call) or comparisons.may_differ_in_python(result.value):
            self._left.append(position)
            return None
        difference = comparisons.assertion_difference(result.value, call)
        return self._compared(position, result, difference)

    async def _finish(self) -> None:
        if not self._left:
            return
        cases = [case for program in self._tests.programs for case in program.cases]
        remaining = [cases[position] for position in self._left]
        program = structs.replace(self._tests.programs[0], cases=remaining, count=len(remaining))
        remaining_tests = TestPrograms([self._board.names[position] for position in self._left], [program])
        terms = replace(self._terms, policy="ratio", runs_all=True)
        judged = await _Programs(self._sandbox, self._program, terms, remaining_tests).judge()
        for position, outcome in zip(self._left, judged.outcomes, strict=True):
            self._board.put(position, outcome)


class _Programs:
    """Tests that are programs themselves."""

    def __init__(self, sandbox: Sandbox, program: Program, terms: Terms, tests: TestPrograms) -> None:
        self._sandbox = sandbox
        self._program = program
        self._terms = terms
        self._tests = tests

    async def judge(self) -> Judged:
        outcomes: list[Outcome] = []
        pending = list(self._tests.programs)
        endings = 0
        while pending and endings < self._terms.max_timeouts and self._wants_more(outcomes):
            results: dict[int, RunResult] = {}
            built = await self._sandbox.run(self._program, list(map(self._run, pending)), self._taking(results))
            if not built.ok:
                return _Board(self._tests.names, self._terms).judged(built)
            assert results, "a program that was loaded has a result for its first run"
            for position in range(len(results)):
                remainder = self._judge_program(pending.pop(0), results[position], outcomes)
                if remainder is not None:
                    # Outcomes keep the order of the tests, so tests that ran after this one run again.
                    endings += 1
                    pending.insert(0, remainder)
                    break
        return Judged(self._named(outcomes, pending), is_unguarded=self._tests.is_unguarded or self._terms.objects)

    def _run(self, program: TestProgram) -> Tests:
        return Tests(
            program.style,
            program.cases,
            program.setup,
            program.entry_point,
            program.files,
            self._terms.objects,
            self._terms.limits,
            self._tests.shares_files,
        )

    def _taking(self, results: dict[int, RunResult]) -> Callable[[int, RunResult], bool]:
        def take(position: int, result: RunResult) -> bool:
            results[position] = result
            return result.exit is Exit.EXITED

        return take

    def _judge_program(self, program: TestProgram, result: RunResult, outcomes: list[Outcome]) -> TestProgram | None:
        """Add the outcomes; the remaining asserts if one of them ended the program."""
        if program.style is TestStyle.CHECK:
            outcomes.append(self._checked(result))
            return None
        ended_at = _ended_at(result.tests) if program.style is TestStyle.ASSERTS else None
        reported = [self._outcome(test, result) for test in result.tests[:ended_at]]
        outcomes += reported
        if ended_at is None and result.complete and len(reported) >= program.count:
            return None
        culprit = Outcome("", status_of(result.exit), difference=_last_words(result), cpu_s=result.cpu_s)
        if program.style is TestStyle.ASSERTS:
            outcomes.append(culprit)
            remaining_cases = program.cases[len(reported) + 1 :]
            return (
                structs.replace(program, cases=remaining_cases, count=len(remaining_cases)) if remaining_cases else None
            )
        expected = max(program.count, len(reported) + (not result.complete))
        outcomes += [culprit] * (expected - len(reported))
        return None

    def _checked(self, result: RunResult) -> Outcome:
        """The outcome of a function `check`, which is one test: all of its statements, or none."""
        failed = next((self._outcome(test, result) for test in result.tests if not test.passed), None)
        if failed is not None:
            share = f"{sum(test.passed for test in result.tests)} of {len(result.tests)} statements hold"
            return replace(failed, difference=f"{share}; {failed.name}: {failed.difference}")
        if not result.complete or not result.tests:
            return Outcome("", status_of(result.exit), difference=_last_words(result), cpu_s=result.cpu_s)
        return passed("", result.cpu_s)

    def _outcome(self, test: TestOutcome, result: RunResult) -> Outcome:
        if test.passed:
            return passed(test.name, result.cpu_s)
        status = status_of(result.exit) if test.message.startswith(_GONE) else Status.WRONG_ANSWER
        return Outcome(test.name, status, difference=_printable(test.message), cpu_s=result.cpu_s)

    def _wants_more(self, outcomes: Sequence[Outcome]) -> bool:
        terms = self._terms
        if terms.runs_all and not terms.fail_fast:
            return True
        missing = [None] * (len(self._tests.names) - len(outcomes))
        return not is_settled([*outcomes, *missing], terms.policy, terms.threshold, fail_fast=terms.fail_fast)

    def _named(self, outcomes: list[Outcome], pending: Sequence[TestProgram]) -> list[Outcome]:
        """All required outcomes, under the names of the requested tests."""
        required = max(len(self._tests.names), len(outcomes) + sum(program.count for program in pending))
        outcomes += [Outcome("", Status.NOT_RUN)] * (required - len(outcomes))
        names = [*self._tests.names, *(str(number) for number in range(len(self._tests.names) + 1, required + 1))]
        if self._terms.policy == "first_n":
            del outcomes[self._terms.first_n :]
        is_named = any(program.style in (TestStyle.PYTEST, TestStyle.UNITTEST) for program in self._tests.programs)
        return [
            replace(outcome, name=(outcome.name[:60] if is_named and outcome.name else name))
            for outcome, name in zip(outcomes, names, strict=False)
        ]


async def demand_checker(sandbox: Sandbox, tests: StdioTests, terms: Terms, base_runs: BaseRuns[None]) -> None:
    """Check that a special judge works, whatever the response is, once for a task.

    Raises:
        InvalidItem: it does not.
        SandboxUnavailable: nothing can be run now.
    """
    if tests.checker is not None:
        judge = _Judge(sandbox, tests.checker, terms.limits)
        key = hashlib.sha256(msgspec.msgpack.encode((tests, terms.limits.cpu_s, terms.limits.memory_mb))).digest()
        await base_runs.get(key, lambda: judge.demand_working(tests.cases))


async def demand_guarded(sandbox: Sandbox, suite: Suite, terms: Terms) -> None:
    """Check that what decides about a program is out of its reach.

    Raises:
        InvalidItem: the program would share a process with its tests.
        SandboxUnavailable: nothing can be run now.
    """
    tests = suite.tests
    if isinstance(tests, TestPrograms) and (tests.is_unguarded or terms.objects):
        raise InvalidItem(
            "unguarded_tests",
            "operators of the program's own classes decide the tests, and can forge a pass there, and the setting "
            "`sandbox_refuse_unguarded` refuses such tests; compare what methods return with plain values",
        )
    if isinstance(tests, JoinedTest) and await expected_values(sandbox, tests, suite.files) is None:
        raise InvalidItem(
            "unguarded_tests",
            "the tests share a process with the program, which can forge a pass there, and the setting "
            "`sandbox_refuse_unguarded` refuses such tests; write asserts that compare a call with a value",
        )


async def expected_values(sandbox: Sandbox, test: JoinedTest, files: Mapping[str, bytes]) -> list[bytes] | None:
    """What a test that can be split expects, by its own program; None if it cannot be split.

    Raises:
        SandboxUnavailable: nothing can be run now.
    """
    split = test.split
    if split is None:
        return None
    key = _key(b"expected", test.language, split.expected, files)
    cached = _EXPECTED.get(key)
    if cached is not None:
        return cached.values
    run = Execute(fetch=(VALUES_FILE,), limits=_EXPECTED_LIMITS)
    built, result = await _once(sandbox, Program(split.expected, test.language, files), run)
    has_exited = result is not None and result.exit is Exit.EXITED and result.code == 0
    values = splitting.values_of(split, result.files.get(VALUES_FILE)) if result is not None and has_exited else None
    if has_exited or built.exit is Exit.EXITED:
        _EXPECTED.put(key, _Expected(values))
    return values


async def as_run(sandbox: Sandbox, suite: Suite) -> Suite:
    """The suite with the text of its test that runs beside the solution.

    Raises:
        SandboxUnavailable: nothing can be run now.
    """
    tests = suite.tests
    if not isinstance(tests, JoinedTest) or tests.split is None:
        return suite
    is_split = await expected_values(sandbox, tests, suite.files) is not None
    return structs.replace(suite, tests=tests.split.telling) if is_split else suite


@dataclass(frozen=True, slots=True)
class _Expected:
    """The expected values of a test."""

    values: list[bytes] | None


_EXPECTED_LIMITS = Limits(cpu_s=10.0, memory_mb=1024)
_EXPECTED: Store[bytes, _Expected] = Store(
    "code.expected",
    16_000_000,
    size=lambda _, known: 200 + sum(len(value) + 40 for value in known.values or ()),
    of_texts=True,
)
"""What tests expect, by the digest of the program that tells it."""


_TRIES: Final = 3
"""A solution and its variants may together use the time of so many programs: those of an honest one end early."""


def _cost_s(language: str, limits: Limits) -> float:
    """CPU seconds that a program may take, with its compiler."""
    known = languages.all_languages()[language]
    return COMPILE_LIMITS.cpu_s * known.compile_factor + limits.cpu_s * known.cpu_factor + known.start_cpu_s


class _TooCostly(Exception):
    """A solution that is at fault for not being judged in the usual time. This is judged."""


class _Joined:
    """A test in one program with the solution."""

    def __init__(self, sandbox: Sandbox, workers: Workers, program: Program, terms: Terms, test: JoinedTest) -> None:
        self._sandbox = sandbox
        self._workers = workers
        self._program = program
        self._terms = terms
        self._test = test
        self._board = _Board(["1"], terms)
        self._spent_s = 0.0
        """CPU seconds, of compilers too."""

    async def judge(self) -> Judged:
        try:
            return await self._judged()
        except _TooCostly as error:
            self._board.put(0, Outcome("1", Status.TIME_LIMIT, difference=str(error)))
            return replace(self._board.judged(), is_unguarded=True)

    async def _judged(self) -> Judged:
        split = self._test.split
        expected = await expected_values(self._sandbox, self._test, self._program.files)
        if split is not None and expected is not None:
            return await self._judge_values(split, expected)
        built, outcome = await self._run(await self._joined("whole"))
        if outcome is not None and outcome.status is Status.PASS and (trick := await self._trick()):
            outcome = replace(outcome, status=Status.WRONG_ANSWER, points=0.0, difference=trick)
        if outcome is not None:
            self._board.put(0, outcome)
        return replace(self._board.judged(built), is_unguarded=True)

    async def _judge_values(self, split: SplitTest, expected: Sequence[bytes]) -> Judged:
        """Judge by the values that the solution's process tells."""
        source = TELLERS[split.telling.language].before + (await self._joined("whole", split.telling) or "")
        built, result = await self._executed(source, fetch=(VALUES_FILE,))
        outcome = None if result is None else self._outcome(result)
        if outcome is not None and outcome.status is Status.PASS and result is not None:
            values = splitting.values_of(split, result.files.get(VALUES_FILE))
            difference = "it ended before its tests, or wrote where their values are" if values is None else None
            if values is not None:
                difference = splitting.first_difference(split, values, expected)
            if difference is not None:
                outcome = replace(outcome, status=Status.WRONG_ANSWER, points=0.0, difference=_printable(difference))
        if outcome is not None:
            self._board.put(0, outcome)
        return self._board.judged(built)

    async def _trick(self) -> str:
        """How a solution passed without an answer; empty if it did not."""
        if (ended := await self._joined("ended")) is not None:
            _, result = await self._executed(ended)
            if result is not None and result.exit is Exit.EXITED and result.code == joining.END_CODE:
                return "it passes only because the solution ends the process"
        number = 0
        while (turned := await self._joined("turned", number=number)) is not None:
            _, outcome = await self._run(turned)
            if outcome is None or outcome.status is not Status.PASS:
                break
            number += 1
        if turned is None and number:
            return "it passes whatever the test is"
        return "it passes whatever the test expects" if await self._ignores_values() else ""

    async def _ignores_values(self) -> bool:
        """Whether it passes tests with other values, too."""
        number = passed = 0
        while (scrambled := await self._joined("scrambled", number=number)) is not None:
            built, outcome = await self._run(scrambled)
            if outcome is not None and outcome.status is not Status.PASS:
                return False
            if built.ok:
                passed += 1
            elif passed == 0:
                return False  # such a test is not a program of its language
            number += 1
        return passed > 0

    async def _joined(self, kind: str, test: JoinedTest | None = None, number: int = 0) -> str | None:
        """The program of the solution and its test, or of a variant of theirs; see `joining.variant`.

        Raises:
            ComparisonFailed, InvalidItem: a worker could not make it.
            _TooCostly: the solution is at fault for that.
        """
        solution, test = self._program.source, test or self._test
        if len(solution) + len(test.source) + len(test.prompt) <= INLINE_CHARS:
            return joining.variant(kind, solution, test, number)
        packed = msgspec.msgpack.encode(structs.replace(test, split=None))
        (outcome,) = await self._workers.map(JOIN, [[kind, solution, packed, number]])
        if outcome.exit is not WorkerExit.OK:
            await _demand_possible(self._workers, JOIN, outcome, [kind, "", packed, number])
            raise _TooCostly(f"joining it with its test takes more than a worker may spend: {outcome.exit}")
        text: str | None = outcome.value
        return text

    async def _run(self, source: str | None) -> tuple[Built, Outcome | None]:
        """Run the program; None if it could not be loaded."""
        built, result = await self._executed(source or "")
        return built, None if result is None else self._outcome(result)

    async def _executed(self, source: str, fetch: Sequence[str] = ()) -> tuple[Built, RunResult | None]:
        limits = self._terms.limits
        if self._spent_s > _TRIES * _cost_s(self._program.language, limits):
            raise _TooCostly("it takes so long that nothing shows whether it looks at its test")
        program = replace(self._program, source=source)
        built, result = await _once(self._sandbox, program, Execute(fetch=fetch, limits=limits))
        self._spent_s += built.cpu_s + (result.cpu_s if result is not None else 0.0)
        return built, result

    def _outcome(self, result: RunResult) -> Outcome:
        if result.exit is not Exit.EXITED:
            return Outcome("1", status_of(result.exit), difference=_last_words(result), cpu_s=result.cpu_s)
        if result.code == 0 and not ("Mismatches:" in self._test.source and _mismatches(result.stdout)):
            return passed("1", result.cpu_s)
        return Outcome("1", Status.WRONG_ANSWER, difference=_last_words(result), cpu_s=result.cpu_s)


_MISMATCHES = re.compile(rb"^Mismatches: (\d{1,9}) in (\d{1,9}) samples", re.MULTILINE)


def _mismatches(stdout: bytes) -> bool:
    """Whether a test bench of VerilogEval, which counts its mismatches and ends with code 0, counted one or nothing."""
    counts = _MISMATCHES.findall(stdout)
    return not counts or int(counts[-1][0]) > 0 or int(counts[-1][1]) == 0


async def _once(sandbox: Sandbox, program: Program, run: Execute) -> tuple[Built, RunResult | None]:
    """Run a program; the result is None if it could not be loaded."""
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return False

    built = await sandbox.run(program, [run], take)
    return built, results[0] if results else None


def _key(kind: bytes, language: str, source: str, files: Mapping[str, bytes]) -> bytes:
    texts = "\0".join((language, source, *(f"{name}\0" for name in files)))
    return hashlib.sha256(kind + texts.encode("utf-8", "surrogatepass") + b"\0".join(files.values())).digest()


class _Texts:
    """Tests of the data set that get the response as data."""

    def __init__(self, sandbox: Sandbox, suite: Suite, response: str, terms: Terms) -> None:
        assert isinstance(suite.tests, TextTests)
        self._sandbox = sandbox
        self._files = suite.files
        self._cases = suite.tests.cases
        self._response = response
        self._terms = terms
        self._board = _Board([case.name for case in self._cases], terms)
        self._nonces = [secrets.token_hex(16) for _ in self._cases]

    async def judge(self) -> Judged:
        program = Program(response_texts.LOADER, files=self._files)
        built = await self._sandbox.run(program, self._runs(), self._take)
        return self._board.judged(built)

    def _runs(self) -> list[Run]:
        return [
            Execute(
                files={
                    response_texts.DATA_FILE: response_texts.data(self._response, nonce),
                    response_texts.TEST_FILE: _bytes(case.source),
                },
                fetch=(response_texts.PROOF_FILE,),
                limits=self._terms.limits,
            )
            for case, nonce in zip(self._cases[: len(self._board.names)], self._nonces, strict=False)
        ]

    def _take(self, position: int, result: RunResult) -> bool:
        name = self._board.names[position]
        proof = result.files.get(response_texts.PROOF_FILE)
        if result.exit is Exit.EXITED and result.code == 0 and proof == self._nonces[position].encode():
            self._board.put(position, passed(name, result.cpu_s))
        else:
            status = Status.WRONG_ANSWER if result.exit is Exit.EXITED else status_of(result.exit)
            self._board.put(position, Outcome(name, status, difference=_last_words(result), cpu_s=result.cpu_s))
        return self._board.goes_on


def _says_nothing(case: StdioCase, output: bytes) -> bool:
    """Whether there is no output although some is expected.

    A judge that only checks the parts it finds would accept that.
    """
    return not output.strip() and bool(case.expected.strip())


def _says_no_number(case: StdioCase, output: bytes) -> bool:
    """Whether there is `nan` or `inf` where a number is expected.

    A judge that rejects differences beyond a tolerance would accept that: `abs(nan - 2.5) > 1e-6` is false.
    """
    if _NOT_FINITE.search(output) is None or _NOT_FINITE.search(_bytes(case.expected)) is not None:
        return False
    pairs = zip(output.split(None, _MOST_WORDS), _bytes(case.expected).split(None, _MOST_WORDS), strict=False)
    return any(_NOT_FINITE.fullmatch(word) and _A_NUMBER.fullmatch(expected) for word, expected in pairs)


_NOT_FINITE = re.compile(rb"(?<![^\s])[+-]?(?:nan(?:\(\w*\))?|inf(?:inity)?)(?![^\s])", re.IGNORECASE)
_A_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_MOST_WORDS = 20_000


def _ended_at(tests: Sequence[TestOutcome]) -> int | None:
    """The first of the final asserts that failed because the program was no longer there."""
    ended = None
    for position in range(len(tests) - 1, -1, -1):
        if tests[position].passed or not tests[position].message.startswith(_GONE):
            break
        ended = position
    return ended


_GONE = ("Gone: ", "the program had ended")
"""The tester's messages for tests that found no program."""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _end_of(result: RunResult) -> str:
    if result.exit is Exit.EXITED:
        return f"exit code {result.code}"
    return f"signal {result.signal}" if result.exit is Exit.SIGNALLED else str(result.exit)


def _last_words(result: RunResult) -> str:
    """The last line on a program's standard error, which in most languages names the cause of its end."""
    lines = result.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    return _printable(lines[-1]) if lines else _end_of(result)


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()[:200]
