"""Judges answers to the tasks of reasoning-gym with that package's own scorers, in a box.

    reference, task ──entries.py──► entry ──┐                     (which tasks, and why: tasks.py)
    response ──answers──► answer ───────────┤
    the package's text ──excerpts.py──► scorer ──► box (scoring.py) ──► raw score ──floor, threshold──► score

Several scorers of the package execute their input, and several pay for nonsense. So only the tasks of an allow-list are
judged. Other tasks are `invalid`, and the message names the verifier for them. The answer goes into the box as data. A
result that is not a number counts as no score.

Before an entry is used, its scorer must give the entry's own answer full marks, and less to no answer and to nonsense.
Otherwise the item is `invalid`, because its score would say nothing about any response.

By default only full marks count. With `threshold` null the score is the scorer's own score. A score that the scorer
also gives to nonsense, a blind guess, a copy of the question, or the right answer among others counts as 0
(`Task.floor`).
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field

from sandbox.workers import Exit as WorkerExit
from sandbox.workers import Task as WorkerTask
from sandbox.workers import worker_function
from verifiers import commitment
from verifiers.base import Example, InvalidItem, Item, Resources, Status, Unavailable, Verdict, Verifier, clip
from verifiers.commitment import Channel, ExtractionParams
from verifiers.long_texts import INLINE_CHARS, ask_workers, is_too_complex, sendable, too_complex, trouble
from verifiers.math.characters import without_bold
from verifiers.reasoning_gym.entries import Entry, parse
from verifiers.reasoning_gym.scoring import Outcome, Scored, Scorers
from verifiers.reasoning_gym.tasks import Task

_AUTO = (Channel.ANSWER_TAG, Channel.BOXED, Channel.WHOLE)


class ReasoningGymParams(ExtractionParams):
    """The entry, and the scores of its scorer that count.

    `extract` auto takes the last answer tag, else the box, else the whole text.
    """

    reference: dict[str, Any] | str
    """The data set's entry `{"question": ..., "answer": ..., "metadata": {...}}`, as an object or its JSON text.

    It may also be a row with these among other fields, or with the entry as `entry` or `extra_info`. `metadata` may be
    JSON text, too.
    """
    task: str | None = Field(default=None, max_length=100)
    """The name of the data set, such as `chain_sum`. None or `composite`: the name in the entry's `source_dataset`."""
    threshold: float | None = Field(default=1.0, gt=0, le=1)
    """The least score of the scorer that makes 1; lower ones make 0. None: the scorer's own score, if it counts."""


EXTRACT = WorkerTask("verifiers.reasoning_gym", "extract_in_worker", time_limit_s=10.0, output_bytes=16_001_024)
"""An answer may be a whole response: four million characters, in UTF-8."""


class ReasoningGym(Verifier[ReasoningGymParams]):
    name = "reasoning_gym"
    version = "13"
    params = ReasoningGymParams
    summary = "An answer to a task of reasoning-gym, by that library's own scorer in a box; from a list of safe tasks"
    chunk_items: ClassVar[int] = 16
    """The number of items for one box. They take about 50 ms if all are of one task."""
    bounds_itself: ClassVar[bool] = True

    def __init__(self, resources: Resources) -> None:
        self._workers = resources.workers
        self._scorers = Scorers(resources.sandbox)
        self.concurrency = resources.sandbox.slots + 1

    async def score(self, items: Sequence[Item[ReasoningGymParams]]) -> Sequence[Verdict]:
        verdicts: dict[int, Verdict] = {}
        await self.score_each(items, verdicts.__setitem__)
        return [verdicts[position] for position in range(len(items))]

    async def score_each(
        self, items: Sequence[Item[ReasoningGymParams]], deliver: Callable[[int, Verdict], None]
    ) -> None:
        entries: dict[int, Entry] = {}
        by_task: defaultdict[Task, list[_Asked]] = defaultdict(list)
        for position, item in enumerate(items):
            try:
                entry = entries.get(id(item.params)) or replace(
                    parse(item.params.reference, item.params.task), owner=item.owner
                )
                entries[id(item.params)] = entry
                extracted = await self._extract(item)
            except InvalidItem as error:
                deliver(position, Verdict.invalid(error.reason, str(error)))
            except Unavailable as error:
                deliver(position, Verdict.failed(error.reason, str(error), **error.detail))
            else:
                if isinstance(extracted, Verdict):
                    deliver(position, extracted)
                else:
                    answer, detail = extracted
                    by_task[entry.task].append((position, item.params, entry, _plain(answer, entry), detail))
        async with asyncio.TaskGroup() as group:
            for task, requests in by_task.items():
                group.create_task(self._judge(task, requests, deliver))

    async def _judge(self, task: Task, requests: "Sequence[_Asked]", deliver: Callable[[int, Verdict], None]) -> None:
        def hear(number: int, outcome: Outcome) -> None:
            position, params, entry, answer, detail = requests[number]
            deliver(position, _verdict(outcome, params, entry, answer, detail))

        await self._scorers.score(task, [(entry, answer) for _, _, entry, answer, _ in requests], hear)

    async def _extract(self, item: Item[ReasoningGymParams]) -> "_Found | Verdict":
        payload = [
            sendable(item.response),
            item.params.model_dump(mode="json", include=_EXTRACTION_FIELDS),
            item.explain,
        ]
        if len(item.response) <= INLINE_CHARS:
            answer, reason, detail = extract_in_worker(payload)
        else:
            (outcome,) = await ask_workers(self._workers, EXTRACT, [payload])
            if is_too_complex(outcome, item.response):
                return too_complex(outcome)
            if outcome.exit is not WorkerExit.OK:
                return trouble(outcome)
            answer, reason, detail = outcome.value
        return Verdict.wrong(reason, **detail) if answer is None else (answer, detail)


def _plain(answer: str, entry: Entry) -> str:
    """An answer without bold type. It stays where asterisks may be a part of the answer."""
    return answer if entry.answer is None or "*" in entry.answer else without_bold(answer)


_Found = tuple[str, dict[str, Any]]
"""An answer, and the part of the verdict's detail that says where it was found."""
_Asked = tuple[int, ReasoningGymParams, Entry, str, dict[str, Any]]
_EXTRACTION_FIELDS = set(ExtractionParams.model_fields)


def create(resources: Resources) -> ReasoningGym:
    resources.workers.register(EXTRACT)
    return ReasoningGym(resources)


@worker_function
def extract_in_worker(payload: list[Any]) -> list[Any]:
    """The answer of a response, or None and the reason. This runs in a worker if the response is long."""
    response, fields, explain = payload
    params = ExtractionParams.model_validate(fields)
    extraction = commitment.extract(response, params, _AUTO, sent=response if explain else None)
    return [extraction.answer, extraction.reason, extraction.detail(explain)]


def _verdict(
    outcome: Outcome, params: ReasoningGymParams, entry: Entry, answer: str, detail: dict[str, Any]
) -> Verdict:
    if isinstance(outcome, InvalidItem):
        return Verdict.invalid(outcome.reason, str(outcome))
    if isinstance(outcome, Unavailable):
        return Verdict.failed(outcome.reason, str(outcome), **outcome.detail)
    if outcome.trouble:
        return Verdict.wrong(outcome.trouble, answer, **detail)
    detail = {**detail, "raw_score": outcome.score}
    score = _counted(outcome, entry, answer)
    if params.threshold is not None:
        score = float(score >= params.threshold)
    if score == 1.0:
        return Verdict.correct(answer, **detail)
    return Verdict(Status.OK, score, "partly_correct" if score else "wrong_answer", clip(answer), detail)


def _counted(outcome: Scored, entry: Entry, answer: str) -> float:
    """The scorer's score, or 0 if the scorer pays that much for no solution."""
    if entry.task.same_size and entry.answer is not None and _size(answer) > _size(entry.answer):
        return 0.0
    return outcome.score if outcome.score == 1.0 or outcome.score > entry.task.floor else 0.0


def _size(text: str) -> int:
    return sum(map(str.isalnum, text))


_SUM = {
    "question": "State the final answer to the following arithmetic problem: 4 + 3 =",
    "answer": "7",
    "metadata": {"source_dataset": "chain_sum", "source_index": 0},
}
_HANOI = {
    "question": "Move all disks from Peg 1 to Peg 3.",
    "answer": "Move disk 1 from Peg 1 to Peg 3",
    "metadata": {"num_disks": 1, "num_pegs": 3, "start_peg": 1, "target_peg": 3, "solution_length": 1},
}
_DETOUR = "<answer>Move disk 1 from Peg 1 to Peg 2\nMove disk 1 from Peg 2 to Peg 3</answer>"
EXAMPLES = (
    Example("<answer>+7.0</answer>", {"reference": _SUM}, 1.0, "correct", "right by the scorer of the entry's task"),
    Example("6 or 7", {"reference": _SUM}, 0.0, "wrong_answer", "the scorer gives this a share, which does not count"),
    Example(
        _DETOUR, {"reference": _HANOI, "task": "tower_of_hanoi"}, 0.0, "wrong_answer", "this is not the shortest way"
    ),
    Example(
        _DETOUR,
        {"reference": _HANOI, "task": "tower_of_hanoi", "threshold": None},
        0.5,
        "partly_correct",
        "the scorer gives this to a way twice as long",
    ),
    Example(
        "(8 - 2) * 4",
        {"reference": {"answer": "(8 - 2) * 4", "metadata": {}}, "task": "countdown"},
        None,
        "task_not_allowed",
        "its scorer executes the answer; the verifier countdown does not",
        Status.INVALID,
    ),
)
