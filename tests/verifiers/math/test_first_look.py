"""Where responses are looked at and how answers are grouped; neither decides a verdict."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox.workers import Exit, Outcome, Task, Workers
from verifiers.base import Item, Resources, Status, Verdict
from verifiers.long_texts import INLINE_CHARS
from verifiers.math import Math, MathParams, create, grading
from verifiers.math.options import DEFAULT
from verifiers.math.tasks import GROUP, LOOK, TASK

DATA = Path(__file__).parents[2] / "data" / "math"
HARD_TO_INTEGRATE = r"\boxed{\int_0^\infty \frac{\sin(x^3+\cos x)}{x+\ln(x+2)} dx}"


class Recording(Workers):
    """A pool that remembers what it was asked, and can be made to fail or to look busy."""

    def __init__(self, size: int = 2) -> None:
        super().__init__(size)
        self.asked: list[tuple[str, Sequence[Any]]] = []
        self.ends: dict[str, Exit] = {}
        """How items of a function end, where they must not be run."""
        self.here: dict[str, Callable[[Any], Any]] = {}
        """What is called in this process instead of a worker, by the function's name."""
        self.waiting = 0

    @property
    def queued(self) -> int:
        return self.waiting or super().queued

    async def map(
        self, task: Task, payloads: Sequence[Any], on_outcome: Callable[[int, Outcome], None] | None = None
    ) -> list[Outcome]:
        self.asked.append((task.function, payloads))
        if task.function not in self.ends and task.function not in self.here:
            return await super().map(task, payloads, on_outcome)
        assert on_outcome is not None
        if (function := self.here.get(task.function)) is not None:
            for index, payload in enumerate(payloads):
                on_outcome(index, Outcome(Exit.OK, function(payload)))
            return []
        for index in range(len(payloads)):
            on_outcome(index, Outcome(self.ends[task.function], message="why"))
        return []

    def functions(self) -> list[str]:
        return [function for function, _ in self.asked]


@pytest.fixture
async def workers() -> AsyncIterator[Recording]:
    workers = Recording()
    yield workers
    await workers.stop()


@pytest.fixture
async def lone_worker() -> AsyncIterator[Recording]:
    workers = Recording(1)
    yield workers
    await workers.stop()


@pytest.fixture
async def verifier(workers: Recording) -> Math:
    made = create(Resources(workers))
    await workers.start()
    return made


def items_of(reference: Any, *answers: str) -> list[Item[MathParams]]:
    params = MathParams(reference=reference)
    return [Item(rf"So it is \boxed{{{answer}}}.", params) for answer in answers]


def scores(verdicts: Sequence[Verdict]) -> list[float | None]:
    return [verdict.score for verdict in verdicts]


@pytest.mark.accuracy
@pytest.mark.parametrize("explain", [False, True])
async def test_a_verdict_does_not_depend_on_where_a_response_was_looked_at(
    workers: Recording, verifier: Math, explain: bool
) -> None:
    rows = [json.loads(line) for line in (DATA / "hard_sample.jsonl").read_text(encoding="utf-8").splitlines()[:60]]
    texts = [(row["response"][-400:], row["gold"]) for row in rows]
    texts += [
        ("", "1"),
        ("<think>", "x"),
        ("\\boxed{\ud800}", "x"),
        ("\\boxed{" + "9" * 20_000 + "}", "9"),
        ("12", "½"),
    ]
    items = [Item(response, MathParams(reference=gold), explain=explain) for response, gold in texts]
    there = await verifier.score(items)
    assert "look_in_worker" in workers.functions()
    workers.asked.clear()
    here = [(await verifier.score([item]))[0] for item in items]
    assert "look_in_worker" not in workers.functions()
    assert there == here


async def test_few_short_responses_are_looked_at_here_and_many_or_long_ones_in_a_worker(
    workers: Recording, verifier: Math
) -> None:
    assert scores(await verifier.score(items_of("7", "7", "8"))) == [1.0, 0.0]
    assert workers.functions() == []
    assert scores(await verifier.score(items_of("7", *"789" * 8))) == [1.0, 0.0, 0.0] * 8
    assert workers.functions() == ["look_in_worker"]
    workers.asked.clear()
    long = Item(" " * INLINE_CHARS + r"\boxed{7}", MathParams(reference="7"))
    assert scores(await verifier.score([*items_of("7", "7"), long])) == [1.0, 1.0]
    assert [len(payloads) for _, payloads in workers.asked] == [1]


async def test_what_can_be_decided_at_once_does_not_wait_for_busy_workers(workers: Recording, verifier: Math) -> None:
    workers.waiting = 1
    assert scores(await verifier.score(items_of("7", *"789" * 8))) == [1.0, 0.0, 0.0] * 8
    assert workers.functions() == []


async def test_numbers_are_judged_without_any_worker() -> None:
    made = create(Resources(Workers(1)))
    assert scores(await made.score(items_of("7", *"789" * 8))) == [1.0, 0.0, 0.0] * 8


async def test_a_worker_that_fails_over_short_responses_costs_them_nothing(workers: Recording, verifier: Math) -> None:
    workers.ends[LOOK.function] = Exit.CRASHED
    long = Item(" " * INLINE_CHARS + r"\boxed{7}", MathParams(reference="7"))
    verdicts = await verifier.score([*items_of("7", *"789" * 8), long])
    assert scores(verdicts) == [1.0, 0.0, 0.0] * 8 + [0.0]
    assert (verdicts[-1].status, verdicts[-1].reason) == (Status.OK, "too_complex")


async def test_a_lone_worker_is_sent_no_short_responses(lone_worker: Recording) -> None:
    made = create(Resources(lone_worker))
    await lone_worker.start()
    assert scores(await made.score(items_of("7", *"789" * 8))) == [1.0, 0.0, 0.0] * 8
    assert lone_worker.functions() == []


async def test_answers_are_graded_together_and_equal_ones_once(
    lone_worker: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "process_time", lambda: 0.0)
    made = create(Resources(lone_worker))
    lone_worker.here[GROUP.function] = grading.grade_several
    await lone_worker.start()
    items = items_of("x+1", "1+x", "x+2", "1+x") + items_of("y", "z") + items_of("x-1", *"abcdef")
    assert scores(await made.score(items)) == [1.0, 0.0, 1.0, *[0.0] * 7]
    ((function, (first, second)),) = lone_worker.asked
    assert function == GROUP.function
    assert [payload[:2] for payload in first[:3]] == [[["x+1"], "1+x"], [["x+1"], "x+2"], [["y"], "z"]]
    assert [len(first), [payload[1] for payload in second]] == [8, ["f"]]


async def test_a_lone_answer_goes_to_its_worker_alone(workers: Recording, verifier: Math) -> None:
    assert scores(await verifier.score(items_of("x+1", "1+x", "1+x"))) == [1.0, 1.0]
    assert [(function, [payload[1] for payload in payloads]) for function, payloads in workers.asked] == [
        (TASK.function, ["1+x"])
    ]


def test_answers_behind_one_that_takes_long_are_left_for_another_trip(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.01, 0.03])
    monkeypatch.setattr(grading, "process_time", lambda: next(clock))
    payloads = [[["x"], answer, DEFAULT.packed()] for answer in "xyz"]
    assert [result["outcome"] for result in grading.grade_several(payloads)] == ["equal", "different"]


async def test_every_answer_is_graded_however_few_each_trip_gets_to(
    lone_worker: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "_TRIP_S", -1.0)
    made = create(Resources(lone_worker))
    lone_worker.here[GROUP.function] = grading.grade_several
    await lone_worker.start()
    assert scores(await made.score(items_of("x+1", "1+x", "x+2", "x+3", "x+4"))) == [1.0, 0.0, 0.0, 0.0]
    assert lone_worker.functions() == [GROUP.function] * 3 + [TASK.function]


@pytest.mark.chaos(beyond=2)
@pytest.mark.parametrize("exit_", [exit_ for exit_ in Exit if exit_ is not Exit.OK])
async def test_answers_are_asked_one_by_one_when_asking_them_together_failed(
    workers: Recording, verifier: Math, exit_: Exit
) -> None:
    workers.ends[GROUP.function] = exit_
    assert scores(await verifier.score(items_of("x+1", "1+x", "x+2"))) == [1.0, 0.0]
    assert workers.functions() == [GROUP.function, TASK.function]


@pytest.mark.chaos
async def test_an_answer_that_takes_too_long_costs_those_graded_with_it_nothing(verifier: Math) -> None:
    hard = Item(HARD_TO_INTEGRATE, params := MathParams(reference="x+1"))
    good = [Item(r"\boxed{1+x}", params), Item(r"\boxed{x+2}", params)]
    for _ in range(5):
        verdicts = await verifier.score([good[0], hard, good[1]])
        if all(verdict.reason != "worker_stalled" for verdict in verdicts):  # as on a machine that has no time for it
            break
    assert [(verdict.score, verdict.reason) for verdict in verdicts] == [
        (1.0, "correct"),
        (None, "too_complex"),
        (0.0, "wrong_answer"),
    ]


async def test_every_answer_to_a_bad_reference_is_invalid(verifier: Math) -> None:
    verdicts = await verifier.score(items_of("3 4", "3 4", "5", "6", "7", "8", "9", "10", "11", "12"))
    assert {(verdict.status, verdict.reason) for verdict in verdicts} == {(Status.INVALID, "unparseable_reference")}


@pytest.mark.accuracy
async def test_many_parameters_and_large_ones_are_not_mixed_up(verifier: Math) -> None:
    references = [f"{number}" for number in range(5000)]
    verdicts = await verifier.score([Item(rf"\boxed{{{text}}}", MathParams(reference=text)) for text in references])
    assert set(scores(verdicts)) == {1.0}
    large = ["1" * 3000, "2" * 3000]
    items = [Item(rf"\boxed{{{answer}}}", MathParams(reference=text)) for text in large for answer in large]
    assert scores(await verifier.score(items)) == [1.0, 0.0, 0.0, 1.0]


def test_an_answer_is_read_alike_before_and_after_its_reference_was() -> None:
    """The first sample of a prompt is read before a worker has read the reference, the others behind that."""
    rows = [json.loads(line) for line in (DATA / "probes.jsonl").read_text(encoding="utf-8").splitlines()]
    rows.append({"gold": r"\log \sqrt[3]{z}", "response": r"The logarithms add up. The answer is $\log \sqrt[3]{z}$."})
    for row in rows:
        look = MathParams(reference=row["gold"]).look
        before = look.find(row["response"], explain=False)
        look.is_sound = True
        assert look.find(row["response"], explain=False) == before, row
