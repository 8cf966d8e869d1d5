"""A test of a megabyte never holds up the event loop, in whatever language it is joined with its program."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from sandbox import languages
from sandbox.base import Built, Exit, Isolation, Program, Run, RunResult, Sandbox
from sandbox.workers import Workers
from tests.loop_steps import MeasuredLoop, longest_step_s
from tests.verifiers.code.bench import Bench
from verifiers.base import Item, Resources, Status, Verdict
from verifiers.code import Code, CodeParams, create

_LONGEST_S = 0.020
"""Of CPU time. A megabyte once took seconds."""
_CHARS = 1_000_000
_TURNED = 3
"""The number of a run of a test that is turned round: those before have the test as it is."""
_FRAMES = {
    "c": ("#include <assert.h>\nint main(void) {\n", "assert(f(1) == 1);\n", "return 0; }\n"),
    "cpp": ("#include <cassert>\nint main() {\n", "assert(f(1) == 1);\n", "}\n"),
    "go": ("package main\nfunc main() {\n", "\tif f(1) != 1 { panic(1) }\n", "}\n"),
    "java": ("class Main { public static void main(String[] a) {\n", "assert f(1) == 1;\n", "}}\n"),
    "javascript": ("", "assert.deepEqual(f(1), 1);\n", ""),
    "lua": ("", "assert(f(1) == 1)\n", ""),
    "perl": ("", "die 'no' unless f(1) == 1;\n", ""),
    "php": ("<?php\n", "if (f(1) !== 1) { throw new Exception('no'); }\n", ""),
    "r": ("", "stopifnot(identical(f(1), 1))\n", ""),
    "ruby": ("", "raise 'no' unless f(1) == 1\n", ""),
    "rust": ("fn main() {\n", "assert_eq!(f(1), 1);\n", "}\n"),
    "bash": ("", '[[ $(f 1) = "1" ]] || exit 1\n', ""),
}


class Passing(Sandbox):
    """Boxes in which all runs but one end well at once, so that every kind of variant of a test is made."""

    isolation = Isolation.NAMESPACES
    languages = frozenset(languages.all_languages())
    slots = 1

    def __init__(self) -> None:
        self._runs = 0

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        self._runs += 1
        if on_result is not None:
            on_result(0, RunResult(Exit.EXITED, int(self._runs == _TURNED)))
        return Built(True)


class Slow(Passing):
    """Boxes whose compilers take long, and in which a program fails the variants of its test, as a right one does."""

    def __init__(self, compile_cpu_s: float) -> None:
        super().__init__()
        self._compile_cpu_s = compile_cpu_s

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        self._runs += 1
        if on_result is not None:
            on_result(0, RunResult(Exit.EXITED, int(self._runs >= _TURNED)))
        return Built(True, cpu_s=self._compile_cpu_s)


async def _judged(language: str, chars: int, boxes: Sandbox) -> tuple[float, Sequence[Verdict]]:
    head, check, end = _FRAMES[language]
    test = head + check * (chars // len(check)) + end
    reference = {"case_type": "program", "language": language, "test": test}
    workers = Workers(1)
    verifier: Code = create(Resources(workers, boxes))
    await workers.start()
    try:
        item = Item(f"```{language}\nf() {{ exit(1) }}\n```", CodeParams.model_validate({"reference": reference}))
        scoring = asyncio.ensure_future(verifier.score([item]))
        return await longest_step_s(scoring), scoring.result()
    finally:
        await workers.stop()


@pytest.mark.siege(beyond=2)
@pytest.mark.parametrize(
    ("language", "chars"), [("go", 100_000), ("rust", 100_000), *((name, _CHARS) for name in _FRAMES)]
)
def test_a_long_test_never_holds_up_the_loop(language: str, chars: int) -> None:
    with asyncio.Runner(loop_factory=MeasuredLoop) as runner:
        longest_s, verdicts = runner.run(_judged(language, chars, Passing()))
    assert [verdict.status for verdict in verdicts] == [Status.OK]
    assert longest_s < _LONGEST_S


@pytest.mark.parametrize(("language", "compile_cpu_s", "score"), [("go", 19.0, 1.0), ("go", 70.0, 0.0)])
def test_a_slow_compiler_is_not_the_fault_of_a_right_program(language: str, compile_cpu_s: float, score: float) -> None:
    with asyncio.Runner(loop_factory=MeasuredLoop) as runner:
        _, (verdict,) = runner.run(_judged(language, 100, Slow(compile_cpu_s)))
    assert (verdict.status, verdict.score) == (Status.OK, score)


class Counting(Sandbox):
    """Counts the runs of real boxes."""

    def __init__(self, boxes: Sandbox) -> None:
        self._boxes = boxes
        self.isolation = boxes.isolation
        self.runs = 0

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass

    @property
    def languages(self) -> frozenset[str]:
        return self._boxes.languages

    @property
    def slots(self) -> int:
        return self._boxes.slots

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        def take(position: int, result: RunResult) -> bool:
            self.runs += 1
            return on_result is None or on_result(position, result)

        return await self._boxes.run(program, runs, take)


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize(
    ("body", "score", "most_runs"),
    [
        ("return x", 1.0, 1),
        ("return x if x != 70 else 0", 0.0, 72),
        # alone each is within its time, and all of them together are not
        ("sum(range(300_000)) if x % 2 else 0; return x", 1.0, 90),
    ],
)
def test_many_asserts_need_no_process_each(bench: Bench, body: str, score: float, most_runs: int) -> None:
    counting = Counting(bench.sandbox)
    verifier, bench.verifier = bench.verifier, Code(Resources(bench.workers, counting))
    try:
        tests = [f"assert f({number}) == {number}" for number in range(80)]
        verdict = bench.judge(f"```python\ndef f(x):\n    {body}\n```", {"tests": tests}, time_limit_s=0.25)
    finally:
        bench.verifier = verifier
    assert (verdict.status, verdict.score) == (Status.OK, score)
    assert counting.runs <= most_runs
