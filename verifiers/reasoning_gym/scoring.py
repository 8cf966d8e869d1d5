"""Runs the scorer of a task in a box.

Each task has one program, and each answer one run of it. A run is a process that is forked for this answer and ends
with it, so no answer can affect the scoring of another. A separate run checks an entry before its first answer.
"""

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from memory import Store
from sandbox.base import Call, Exit, Limits, Program, RunResult, Sandbox, SandboxUnavailable
from sandbox.runner.values.encoding import Undecodable, decode
from verifiers.base import InvalidItem, Unavailable
from verifiers.reasoning_gym import excerpts
from verifiers.reasoning_gym.entries import Entry
from verifiers.reasoning_gym.excerpts import NotInstalled
from verifiers.reasoning_gym.tasks import DATASET, Task

FULL_MARKS: Final = 1 - 1e-9
"""The least score that counts as full marks. The tolerance is for scores that are sums of fractions."""

_LIMITS: Final = Limits(cpu_s=2.0, wall_s=10.0, memory_mb=512)
"""The limits of a run. The slowest scorer takes a tenth of a second, mostly to import parts of numpy."""
_JUNK: Final = ("", "?!")
"""Answers to which the scorer of a sound entry does not give full marks."""
_MAX_KNOWN: Final = 8192
_MAX_KNOWN_BYTES: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class Scored:
    """The result for one answer."""

    score: float
    """The score of the scorer, made finite and at most 1; 0 if the scorer gave none."""
    trouble: str = ""
    """A short word if there is no score: `scorer_time_limit`, `unreadable_answer`, ..."""


Outcome = Scored | InvalidItem | Unavailable
"""InvalidItem: the entry is not sound. Unavailable: the score could not be found out."""


class Scorers:
    """The scorers of all tasks, and the results of checks of recent entries."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._entries: Store[bytes, InvalidItem | None] = Store(
            "reasoning_gym.entries", _MAX_KNOWN_BYTES, max_entries=_MAX_KNOWN
        )
        """The check of each entry by key: None if the entry is sound."""
        self._making = asyncio.Lock()
        """Guards the making of programs: at most one program is made in one turn of the event loop."""

    async def score(
        self, task: Task, requests: Sequence[tuple[Entry, str]], deliver: Callable[[int, Outcome], None]
    ) -> None:
        """Score answers to entries of one task, and call `deliver(position, outcome)` once for each.

        Equal answers to equal entries share a run.
        """
        positions: dict[tuple[bytes, str], list[int]] = {}
        entries: dict[bytes, Entry] = {}
        for position, (entry, answer) in enumerate(requests):
            key = entry.key
            entries[key] = entry
            positions.setdefault((key, answer), []).append(position)
        # The inherited scorer compares texts, so it always accepts the entry's own answer.
        faults = {key: self._entries.get(key) for key in entries if task is DATASET or key in self._entries}
        unknown = [key for key in entries if key not in faults]
        troubles: dict[bytes, Unavailable] = {}

        def tell(question: tuple[bytes, str], outcome: Callable[[], Outcome]) -> None:
            key = question[0]
            try:
                result = troubles.get(key) or faults[key] or outcome()
            except Unavailable as error:
                result = error.with_traceback(
                    None
                )  # with it, the error would hold this frame, and this frame the error
            for position in positions.pop(question):
                deliver(position, result)

        def hear(number: int, result: RunResult) -> bool:
            if number >= len(unknown):
                tell(questions[number - len(unknown)], lambda: _scored(result))
                return True
            key = unknown[number]
            try:
                faults[key] = _fault(entries[key], result)
            except Unavailable as error:
                troubles[key] = error.with_traceback(None)
            else:
                self._remember(key, faults[key])
            return True

        for question in [question for question in positions if faults.get(question[0])]:
            tell(question, lambda: Scored(0.0))
        questions = list(positions)
        if not questions:
            return
        runs = [_call(entries[key], _controls(entries[key])) for key in unknown]
        runs += [_call(entries[key], [answer]) for key, answer in questions]
        trouble = await self._run(task, runs, hear)
        for remaining in list(positions.values()):
            for position in remaining:
                deliver(position, trouble)

    async def _run(self, task: Task, runs: Sequence[Call], hear: Callable[[int, RunResult], bool]) -> Unavailable:
        """Do the runs. The result is the error for runs that were not done."""
        try:
            program = await self._made(task)
            built = await self._sandbox.run(program, runs, hear)
        except NotInstalled as error:
            return Unavailable("reasoning_gym_not_installed", str(error))
        except SandboxUnavailable as error:
            return Unavailable(error.reason, str(error), **error.detail)
        return Unavailable("scorer_broken", f"the scorer cannot be loaded: {built.message}")

    async def _made(self, task: Task) -> Program:
        """Make the program of a task, one at a time.

        One program takes milliseconds, but the programs of a batch would hold up the event loop.
        """
        async with self._making:
            await asyncio.sleep(0)
            return _program(task)

    def _remember(self, key: bytes, fault: InvalidItem | None) -> None:
        self._entries.put(key, fault)


@cache
def _program(task: Task) -> Program:
    """Make the program of a task. It is cached, and made in this thread.

    Before CPython 3.13, `ast.parse` in one thread can fail because of another thread.
    """
    return excerpts.program(task)


def _call(entry: Entry, answers: Sequence[str]) -> Call:
    return Call(excerpts.FUNCTION, f"[[{entry.text}, {json.dumps(answers)}], {{}}]".encode(), _LIMITS)


def _controls(entry: Entry) -> Sequence[str]:
    """Answers that check an entry: first the one that must be paid, then those that must not."""
    good = entry.answer if entry.task.probe is None else entry.task.probe
    assert good is not None
    return [good, *_JUNK]


def _fault(entry: Entry, result: RunResult) -> InvalidItem | None:
    """The fault of an entry, by its scorer's results for the controls; None if there is none.

    Raises:
        Unavailable: the scorer could not be run.
    """
    if result.exit is not Exit.EXITED:
        return InvalidItem(
            "reference_not_scored", f"the scorer ends with {result.exit} on the entry's own answer; correct the entry"
        )
    good, *junk = _values(result, 1 + len(_JUNK))
    if not isinstance(good, float) or (good < FULL_MARKS if entry.task.probe is None else good <= 0):
        observed = f"raises {good}" if isinstance(good, str) else f"gives {good:.6g}"
        promise = "the entry's own answer full marks" if entry.task.probe is None else "a trial answer more than 0"
        return InvalidItem(
            "reference_not_accepted",
            f"the task's scorer does not give {promise}: it {observed}; is the task the right one?",
        )
    if any(isinstance(score, float) and not score < FULL_MARKS for score in junk):
        return InvalidItem(
            "reference_accepts_anything",
            "the task's scorer gives full marks to an empty answer or to nonsense; correct the entry",
        )
    return None


def _scored(result: RunResult) -> Scored:
    if result.exit is not Exit.EXITED:
        return Scored(0.0, f"scorer_{result.exit}")
    (value,) = _values(result, 1)
    if isinstance(value, str):
        return Scored(0.0, "unreadable_answer")
    if not math.isfinite(value) or value < 0 or value > 2 - FULL_MARKS:
        return Scored(0.0, "score_out_of_range")
    return Scored(1.0 if value >= FULL_MARKS else value)


def _values(result: RunResult, count: int) -> list[float | str]:
    """The scores of a run, or the names of its errors.

    Raises:
        Unavailable: the run returned nothing, so the scorer itself does not run. Errors of single answers are returned.
    """
    if result.value is None:
        words = result.stderr.decode(errors="replace").strip().splitlines()
        raise Unavailable("scorer_broken", f"the scorer cannot be run: {words[-1] if words else result.code}")
    try:
        values = decode(result.value)
    except Undecodable as error:
        raise Unavailable("scorer_broken", f"the box's answer cannot be read: {error}") from error
    if (
        not isinstance(values, list)
        or len(values) != count
        or not all(isinstance(value, float | str) for value in values)
    ):
        raise Unavailable("scorer_broken", "the box's answer is not one score for each answer")
    return values
