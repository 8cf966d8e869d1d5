"""Turns responses into verdicts: the path of one call, in the order of the methods of `Judging`.

    responses
        │ look          the answer of each is found, here or in a worker                 first_look.py
        ├─────────────► settled by its text alone ────────────────────────────┐
        │ grade         answers are read and compared, several on one trip     │         grading.py
        ├─────────────► a result ──────────────────────────────────────────────┤         questions.py
        │ grade alone   those of a trip that broke a limit                     │
        ├─────────────► a result ──────────────────────────────────────────────┤
        │ blame         which is at fault for a limit: reference or answer      │
        └──────────────────────────────────────────────────────────────────────┴─► verdict ─► delivered
                     a second opinion, credit for a wrong expression, an explanation, on request

Verdicts are delivered as soon as they are final. README.md says what each of these steps is good for.
"""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from sandbox.workers import Exit, Outcome, Workers
from verifiers.base import MAX_DETAIL_TEXT_CHARS, Item, Status, Verdict
from verifiers.long_texts import INLINE_CHARS, ask_workers, is_too_complex, sendable, too_complex, trouble
from verifiers.math.first_look import Batch, BatchResult, FirstLook, decode_result, encode
from verifiers.math.params import MathParams
from verifiers.math.questions import INVALID, GivenAnswer, Question, distinct
from verifiers.math.tasks import CREDIT, DIAGNOSE, GROUP, LOOK, REFERENCE_ALONE, SECOND, TASK
from verifiers.pace import Pace

log = logging.getLogger("rewardline.math")
_FEW_ITEMS = 24
"""Up to this many short responses are looked at here, which costs less than sending them to a worker."""
_TRIP_ANSWERS = 8
"""At most this many answers wait for each other in one worker."""
_DIAGNOSED_CHARS = 200_000
"""Longer responses are not searched for patterns; only their answers are."""
_QUESTION_CHARS = 8_000
"""This many characters at the beginning of a prompt are searched for numbers."""
_LIMITS = (Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.OUTPUT_LIMIT)


class Judging:
    """One call of the verifier."""

    def __init__(
        self, workers: Workers, items: Sequence[Item[MathParams]], deliver: Callable[[int, Verdict], None]
    ) -> None:
        self._workers = workers
        self._ask = partial(ask_workers, workers)
        self._items = items
        self._hand_out = deliver
        self._unread: list[Question] = []
        """The items whose answers have to be read."""
        self._doubtful: list[tuple[Question, Verdict]] = []
        self._uncredited: list[tuple[int, Verdict]] = []
        self._unexplained: list[tuple[int, Verdict]] = []

    async def judge(self) -> None:
        await self._look()
        single_answers = await self._grade(distinct(self._unread))
        await self._blame(await self._grade_alone(single_answers))
        await self._ask_somebody_else()
        await self._credit(await self._credit(range(len(self._uncredited)), simplifies=True), simplifies=False)
        await self._explain()

    # look

    async def _look(self) -> None:
        local, trips = self._divided()
        pace = Pace()
        for index in local:
            self._look_here(index)
            if pace.is_over():
                await pace.rest()

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is Exit.OK:
                self._take_first_results(trips[position], decode_result(outcome.value))
                return
            for index in trips[position]:
                if is_too_complex(outcome, self._items[index].response):
                    self._deliver(index, too_complex(outcome))
                elif len(self._items[index].response) > INLINE_CHARS:
                    self._deliver(index, trouble(outcome))
                else:
                    self._look_here(index)

        await self._ask(LOOK, [self._packed(part) for part in trips], take)

    def _divided(self) -> tuple[Sequence[int], list[Sequence[int]]]:
        """The items to look at here, and the items to send to workers, grouped by trip.

        Long ones are sent, since workers can be killed. Many short ones are sent so that several cores share the work, but
        only to workers that have nothing else to do: what can be decided at once never waits for what cannot.
        """
        short: list[int] = []
        trips: list[Sequence[int]] = []
        chars = 0
        for index, item in enumerate(self._items):
            if len(item.response) > INLINE_CHARS:
                trips.append([index])
            else:
                short.append(index)
                chars += len(item.response)
        if len(short) < _FEW_ITEMS and chars <= INLINE_CHARS:
            return short, trips
        if self._workers.size == 1 or self._workers.queued or not self._workers.ready:
            return short, trips
        return [], [short, *trips]

    def _look_here(self, index: int) -> None:
        item = self._items[index]
        look = item.params.look
        finding = look.find(sendable(item.response), item.explain)
        verdict = look.settle(finding) if look.is_sound else None
        if verdict is not None:
            self._deliver(index, verdict)
        else:
            self._unread.append(Question(index, look, finding))

    def _packed(self, part: Sequence[int]) -> bytes:
        items = [self._items[index] for index in part]
        indices: dict[FirstLook, int] = {}
        look_indices = [indices.setdefault(item.params.look, len(indices)) for item in items]
        return encode(
            Batch(
                [look.terms for look in indices],
                [look.is_sound for look in indices],
                look_indices,
                [sendable(item.response) for item in items],
                [item.explain for item in items],
            )
        )

    def _take_first_results(self, part: Sequence[int], result: BatchResult) -> None:
        findings = iter(result.found)
        for index, verdict in zip(part, result.verdicts, strict=True):
            if verdict is not None:
                self._deliver(index, verdict)
            else:
                self._unread.append(Question(index, self._items[index].params.look, next(findings)))

    # grade

    async def _grade(self, answers: Sequence[GivenAnswer]) -> Sequence[GivenAnswer]:
        """Grade answers, several on one trip to a worker; the answers that are left, which must be graded alone."""
        single_answers: list[GivenAnswer] = []
        while len(answers) > 1:
            answers = await self._make_trips(answers, single_answers)
        return [*single_answers, *answers]

    async def _make_trips(self, answers: Sequence[GivenAnswer], single_answers: list[GivenAnswer]) -> list[GivenAnswer]:
        """The answers that no trip reached; `single_answers` gets the answers of trips that broke a limit."""
        count = min(_TRIP_ANSWERS, -(-len(answers) // self._workers.size))
        trips = [answers[start : start + count] for start in range(0, len(answers), count)]
        later: list[GivenAnswer] = []

        def take(position: int, outcome: Outcome) -> None:
            trip = trips[position]
            if outcome.exit is not Exit.OK:
                single_answers.extend(trip)
                return
            for answer, result in zip(trip, outcome.value, strict=False):
                self._take_result(answer, result)
            later.extend(trip[len(outcome.value) :])

        await self._ask(GROUP, [[answer.payload for answer in trip] for trip in trips], take)
        return later

    async def _grade_alone(self, answers: Sequence[GivenAnswer]) -> list[GivenAnswer]:
        """Grade the answers one by one; the answers that broke a limit."""
        broke: list[GivenAnswer] = []

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is Exit.OK:
                self._take_result(answers[position], outcome.value)
            elif outcome.exit in _LIMITS:
                broke.append(answers[position])
            else:
                self._fail(answers[position], outcome)

        await self._ask(TASK, [answer.payload for answer in answers], take)
        return broke

    def _take_result(self, answer: GivenAnswer, result: dict[str, Any]) -> None:
        self._learn(answer, result)
        for question in answer.questions:
            verdict = question.verdict(result)
            if question.found.answer is not None and _is_doubtful(verdict, self._items[question.index].params):
                self._doubtful.append((question, verdict))
            else:
                self._deliver(question.index, verdict)

    def _learn(self, answer: GivenAnswer, result: dict[str, Any]) -> None:
        """Remember that references are sound: an answer that is written like one of them now needs no reading."""
        if result["outcome"] not in INVALID:
            answer.look.is_sound = True

    def _fail(self, answer: GivenAnswer, outcome: Outcome) -> None:
        if outcome.exit is Exit.RAISED:
            log.error("grading raised: %s", outcome.message)
        for question in answer.questions:
            self._deliver(question.index, trouble(outcome))

    # blame

    async def _blame(self, broke: Sequence[GivenAnswer]) -> None:
        """Find out for each answer that broke a limit whether its reference breaks it alone, or the answer does."""

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is not Exit.OK and outcome.exit not in _LIMITS:
                self._fail(broke[position], outcome)
                return
            if outcome.exit is Exit.OK:
                self._learn(broke[position], outcome.value)
            for question in broke[position].questions:
                self._deliver(question.index, question.blamed(outcome))

        await self._ask(REFERENCE_ALONE, [answer.payload_without for answer in broke], take)

    # a second opinion

    async def _ask_somebody_else(self) -> None:
        """Ask Math-Verify for a second opinion; only its acceptance counts."""

        def take(position: int, outcome: Outcome) -> None:
            question, verdict = self._doubtful[position]
            if outcome.exit is Exit.OK and outcome.value:
                detail = {**question.found.detail, "method": "second_opinion"}
                verdict = Verdict.correct(question.found.answer, **detail)
            self._deliver(question.index, verdict)

        payloads = [[question.look.terms.references, question.found.answer] for question, _ in self._doubtful]
        await self._ask(SECOND, payloads, take)

    # credit

    async def _credit(self, positions: Sequence[int], simplifies: bool) -> list[int]:
        """Give wrong expressions what they earn; the places of those that broke a limit.

        To simplify an expression may take long. One that also breaks a limit as it was written earns nothing.
        """
        broke: list[int] = []

        def take(position: int, outcome: Outcome) -> None:
            index, verdict = self._uncredited[positions[position]]
            if outcome.exit in _LIMITS and simplifies:
                broke.append(positions[position])
            elif outcome.exit is Exit.OK and outcome.value:
                self._finish(index, msgspec.structs.replace(verdict, score=outcome.value, reason="partial"))
            elif outcome.exit is Exit.OK or outcome.exit in _LIMITS:
                self._finish(index, verdict)
            else:
                self._finish(index, trouble(outcome))

        payloads = []
        for uncredited in positions:
            index, verdict = self._uncredited[uncredited]
            terms = self._items[index].params.look.terms
            payloads.append([terms.references, verdict.extracted, terms.options.packed(), simplifies])
        await self._ask(CREDIT, payloads, take)
        return broke

    # deliver and explain

    def _deliver(self, index: int, verdict: Verdict) -> None:
        if (
            self._items[index].params.edit_distance
            and verdict.reason == "wrong_answer"
            and _is_whole(verdict.extracted)
        ):
            self._uncredited.append((index, verdict))
        else:
            self._finish(index, verdict)

    def _finish(self, index: int, verdict: Verdict) -> None:
        if self._items[index].explain and verdict.status is Status.OK:
            self._unexplained.append((index, verdict))
        else:
            self._hand_out(index, verdict)

    async def _explain(self) -> None:
        """Add the explanation for the items that asked for it: both sides as read, and the kinds of error."""

        def take(position: int, outcome: Outcome) -> None:
            index, verdict = self._unexplained[position]
            explanation = outcome.value if outcome.exit is Exit.OK else {}
            self._hand_out(index, msgspec.structs.replace(verdict, detail={**verdict.detail, **explanation}))

        await self._ask(DIAGNOSE, [self._to_diagnose(index, verdict) for index, verdict in self._unexplained], take)

    def _to_diagnose(self, index: int, verdict: Verdict) -> list[Any]:
        item = self._items[index]
        terms = item.params.look.terms
        answer = verdict.extracted if _is_whole(verdict.extracted) else None
        reason = "wrong_answer" if verdict.reason == "partial" else verdict.reason
        response = sendable(item.response) if len(item.response) <= _DIAGNOSED_CHARS else None
        question = None if item.prompt is None else sendable(item.prompt[:_QUESTION_CHARS])
        steps = [sendable(step) for step in item.params.steps]
        case = [terms.references, answer, terms.options.packed(), reason]
        return [*case, response, question, steps, terms.extraction]


def _is_whole(extracted: str | None) -> bool:
    """Whether there is an answer that a verdict carries uncut."""
    return extracted is not None and len(extracted) < MAX_DETAIL_TEXT_CHARS


def _is_doubtful(verdict: Verdict, params: MathParams) -> bool:
    """Whether Math-Verify is asked before this verdict goes out; never if more is required than equal values."""
    if params.second_opinion == "never" or not params.options.is_plain or params.ordered:
        return False
    if verdict.reason == "wrong_answer":
        return params.second_opinion == "always" and verdict.detail.get("method") != "exact"
    return verdict.reason in ("unparseable", "unparseable_reference")
