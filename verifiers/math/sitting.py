"""One call of the verifier: first looks, answers that are read in workers, and explanations."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from sandbox.workers import Exit, Outcome, Task, Workers, WorkersUnavailable
from verifiers.base import MAX_DETAIL_TEXT_CHARS, Item, Status, Unavailable, Verdict
from verifiers.long_texts import INLINE_CHARS, trouble
from verifiers.math.first_look import Batch, FirstLook, Found, Looks, Terms, decode_looks, encode
from verifiers.math.memory import KnownLooks, SoundReferences, sendable
from verifiers.math.params import MathParams
from verifiers.math.questions import INVALID, GivenAnswer, Question, grouped
from verifiers.math.tasks import DIAGNOSE, GROUP, LOOK, REFERENCE_ALONE, SECOND, TASK

log = logging.getLogger("rewardline.math")
_DIAGNOSED_CHARS = 200_000
"""Longer responses are not looked through for patterns: only their answers are."""
_QUESTION_CHARS = 8_000
"""So much of the beginning of a prompt is looked through for numbers."""
_FEW_ITEMS = 24
"""Fewer short responses are looked at here: that takes less than sending them to a worker."""
_LIMITS = (Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.OUTPUT_LIMIT)


class Sitting:
    """One call of the verifier."""

    def __init__(
        self,
        workers: Workers,
        looks: "KnownLooks",
        sound: "SoundReferences",
        items: Sequence[Item[MathParams]],
        deliver: Callable[[int, Verdict], None],
    ) -> None:
        self._workers = workers
        self._sound = sound
        self._items = items
        self._looks = [looks.by(item.params) for item in items]
        self._hand_out = deliver
        self._unexplained: list[tuple[int, Verdict]] = []
        self._unread: list[Question] = []
        self._doubtful: list[tuple[Question, Verdict]] = []

    def _answer(self, question: Question, verdict: Verdict) -> None:
        """Deliver the verdict on an answer that was read, unless somebody else is to be asked first."""
        params = self._items[question.index].params
        if question.found.answer is not None and _is_doubtful(verdict, params):
            self._doubtful.append((question, verdict))
        else:
            self._deliver(question.index, verdict)

    def _deliver(self, index: int, verdict: Verdict) -> None:
        if self._items[index].explain and verdict.status is Status.OK:
            self._unexplained.append((index, verdict))
        else:
            self._hand_out(index, verdict)

    async def judge(self) -> None:
        await self._look()
        groups = grouped(self._unread)
        alone = [group[0] for group in groups if len(group) == 1]
        alone += await self._grade_together([group for group in groups if len(group) > 1])
        await self._blame(await self._grade_alone(alone))
        await self._ask_somebody_else()
        await self._explain()

    async def _ask_somebody_else(self) -> None:
        """Of Math-Verify only an acceptance counts."""

        def take(position: int, outcome: Outcome) -> None:
            question, verdict = self._doubtful[position]
            if outcome.exit is Exit.OK and outcome.value:
                detail = {**question.found.detail, "method": "second_opinion"}
                verdict = Verdict.correct(question.found.answer, **detail)
            self._deliver(question.index, verdict)

        payloads = [[question.look.terms.references, question.found.answer] for question, _ in self._doubtful]
        await self._ask(SECOND, payloads, take)

    async def _explain(self) -> None:
        """Both sides as read, and what kind of error it is, for those who asked."""

        def take(position: int, outcome: Outcome) -> None:
            index, verdict = self._unexplained[position]
            more = outcome.value if outcome.exit is Exit.OK else {}
            self._hand_out(index, msgspec.structs.replace(verdict, detail={**verdict.detail, **more}))

        await self._ask(DIAGNOSE, [self._to_diagnose(index, verdict) for index, verdict in self._unexplained], take)

    def _to_diagnose(self, index: int, verdict: Verdict) -> list[Any]:
        item, terms = self._items[index], self._looks[index].terms
        answer = verdict.extracted
        if answer is not None and len(answer) >= MAX_DETAIL_TEXT_CHARS:
            answer = None
        response = sendable(item.response) if len(item.response) <= _DIAGNOSED_CHARS else None
        question = None if item.prompt is None else sendable(item.prompt[:_QUESTION_CHARS])
        steps = [sendable(step) for step in item.params.steps]
        case = [terms.references, answer, terms.options.packed(), verdict.reason]
        return [*case, response, question, steps, terms.extraction]

    # the first look

    async def _look(self) -> None:
        here, parts = self._divided()
        for index in here:
            self._look_here(index)

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is Exit.OK:
                self._take_looks(parts[position], decode_looks(outcome.value))
                return
            for index in parts[position]:
                if len(self._items[index].response) > INLINE_CHARS:
                    self._deliver(index, trouble(outcome))
                else:
                    self._look_here(index)

        await self._ask(LOOK, [self._packed(part) for part in parts], take)

    def _divided(self) -> tuple[Sequence[int], list[Sequence[int]]]:
        """The items to look at here, and those that are sent to workers, by which go together.

        Many are sent so that several cores share the work, but only to workers that have nothing else to do: what can
        be decided at once never waits for what cannot.
        """
        long = [index for index, item in enumerate(self._items) if len(item.response) > INLINE_CHARS]
        apart: list[Sequence[int]] = [[index] for index in long]
        short = [index for index in range(len(self._items)) if index not in long] if long else range(len(self._items))
        chars = sum(len(self._items[index].response) for index in short)
        if len(short) < _FEW_ITEMS and chars <= INLINE_CHARS:
            return short, apart
        if self._workers.queued or not self._workers.ready:
            return short, apart
        return [], [short, *apart]

    def _look_here(self, index: int) -> None:
        look, item = self._looks[index], self._items[index]
        found = look.find(sendable(item.response), item.explain)
        verdict = look.settle(found) if self._sound.has(look.terms.references) else None
        if verdict is not None:
            self._deliver(index, verdict)
        else:
            self._leave(index, found)

    def _packed(self, part: Sequence[int]) -> bytes:
        places: dict[FirstLook, int] = {}
        which = [places.setdefault(self._looks[index], len(places)) for index in part]
        return encode(
            Batch(
                [look.terms for look in places],
                [self._sound.has(look.terms.references) for look in places],
                which,
                [sendable(self._items[index].response) for index in part],
                [self._items[index].explain for index in part],
            )
        )

    def _take_looks(self, part: Sequence[int], seen: Looks) -> None:
        found = iter(seen.found)
        for index, verdict in zip(part, seen.verdicts, strict=True):
            if verdict is not None:
                self._deliver(index, verdict)
            else:
                self._leave(index, next(found))

    def _leave(self, index: int, found: Found) -> None:
        self._unread.append(Question(index, self._looks[index], found))

    # grading

    async def _grade_together(self, groups: Sequence[Sequence["GivenAnswer"]]) -> list["GivenAnswer"]:
        """Have each group graded by one worker, and leave the answers of those that did not come to an end."""
        left: list[GivenAnswer] = []

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is not Exit.OK:
                left.extend(groups[position])
                return
            for answer, result in zip(groups[position], outcome.value, strict=True):
                self._take_result(answer, result)

        await self._ask(GROUP, [_payload(group[0].terms, [answer.text for answer in group]) for group in groups], take)
        return left

    async def _grade_alone(self, answers: Sequence["GivenAnswer"]) -> list["GivenAnswer"]:
        """Have the answers graded one by one, and leave those that break a limit."""
        broke: list[GivenAnswer] = []

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is Exit.OK:
                self._take_result(answers[position], outcome.value)
            elif outcome.exit in _LIMITS:
                broke.append(answers[position])
            else:
                self._fail(answers[position], outcome)

        await self._ask(TASK, [_payload(answer.terms, answer.text) for answer in answers], take)
        return broke

    async def _blame(self, broke: Sequence["GivenAnswer"]) -> None:
        """Of each answer that broke a limit: whether its reference does so alone, or it was the answer."""

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is not Exit.OK and outcome.exit not in _LIMITS:
                self._fail(broke[position], outcome)
                return
            if outcome.exit is Exit.OK:
                self._learn(broke[position], outcome.value)
            for question in broke[position].questions:
                self._deliver(question.index, question.blamed(outcome))

        await self._ask(REFERENCE_ALONE, [_payload(answer.terms, None) for answer in broke], take)

    def _take_result(self, answer: "GivenAnswer", result: dict[str, Any]) -> None:
        self._learn(answer, result)
        for question in answer.questions:
            self._answer(question, question.verdict(result))

    def _learn(self, answer: "GivenAnswer", result: dict[str, Any]) -> None:
        if result["outcome"] not in INVALID:
            self._sound.add(answer.terms.references)

    def _fail(self, answer: "GivenAnswer", outcome: Outcome) -> None:
        if outcome.exit is Exit.RAISED:
            log.error("grading raised: %s", outcome.message)
        for question in answer.questions:
            self._deliver(question.index, trouble(outcome))

    async def _ask(self, task: Task, payloads: Sequence[Any], take: Callable[[int, Outcome], None]) -> None:
        if not payloads:
            return
        try:
            await self._workers.map(task, payloads, take)
        except WorkersUnavailable as error:
            raise Unavailable("workers_unavailable", str(error)) from error


def _is_doubtful(verdict: Verdict, params: MathParams) -> bool:
    """Whether somebody else is asked before this verdict goes out; never where more is asked than that values be equal."""
    if params.second_opinion == "never" or not params.options.is_plain or params.ordered:
        return False
    if verdict.reason == "wrong_answer":
        return params.second_opinion == "always" and verdict.detail.get("method") != "exact"
    return verdict.reason in ("unparseable", "unparseable_reference")


def _payload(terms: Terms, answers: str | Sequence[str | None] | None) -> list[Any]:
    return [terms.references, answers, terms.options.packed()]
