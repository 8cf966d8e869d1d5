r"""Whether the final answer of a response equals the reference, as mathematics or as words.

    response ──first look──► answer ─┬─ as the reference is written, or two plain numbers         (first_look.py)
                                     └─ anything else: read and compared in a worker   (groups.py, grading.py)

The first look is cheap and safe. A few short responses get it here, many or long ones in a worker; of those that have
to be read, different answers to the same reference go to a worker together, and equal ones once.

Nothing that could grow is evaluated in the service process, and sympy is never imported there. In the worker the
reference comes first: if it cannot be read, is too large, or does not equal itself, the item is `invalid`, whatever the
response says. Then the answer is compared as text, and only then read. An answer that is no mathematics, or so large
that comparing it would cost more than a worker may spend, is wrong (`unparseable`, `too_complex`).

Decimals are exact: 0.333 is not 1/3 unless a tolerance says so. A unit on one side only is left aside, two different
units have to say the same quantity. Tuples are ordered; sets and lists are not.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import msgspec
from pydantic import AfterValidator, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from sandbox.workers import Exit, Outcome, Task, Workers, WorkersUnavailable
from verifiers.answers import ExtractionParams
from verifiers.base import (
    MAX_DETAIL_TEXT_CHARS,
    Example,
    Item,
    Params,
    Resources,
    Status,
    Unavailable,
    Verdict,
    Verifier,
)
from verifiers.long_texts import INLINE_CHARS, trouble
from verifiers.math import units
from verifiers.math.exact import is_number
from verifiers.math.first_look import Batch, FirstLook, Found, Looks, Terms, decode_looks, encode
from verifiers.math.limits import MAX_READ_CHARS
from verifiers.math.options import DEFAULT, Form, Options, UnitPolicy
from verifiers.math.solutions import MAX_STEP_CHARS, MAX_STEPS
from verifiers.own_answers import written

log = logging.getLogger("rewardline.math")


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("a reference must not be blank")
    return text


def _known_unit(text: str) -> str:
    if units.key(text) is None:
        raise ValueError("not read as a unit")
    return text


Answer = Annotated[StrictStr, AfterValidator(_not_blank)] | StrictInt | StrictFloat
Answers = Answer | Annotated[list[Answer], Field(min_length=1, max_length=64)]


class FinalAnswer(Params):
    """A reference that says more than its final answer; the rest is for other verifiers."""

    model_config = ConfigDict(extra="ignore")

    final_answer: Answers
    unit: Annotated[StrictStr, AfterValidator(_known_unit)] | None = None
    """The unit of the answer, where `final_answer` does not write it."""
    tolerance: float | None = Field(default=None, ge=0)
    """An absolute tolerance; the parameter `abs_tol`, where the caller gives it, goes before it."""
    steps: Any = None
    """The steps before it: texts, or objects with an `expr`. Here they only say which wrong answers stopped early."""


class MathParams(ExtractionParams):
    reference: Answers | FinalAnswer
    """The right answer, or several of which each is right. LaTeX or plain, with or without `$` or a box."""
    abs_tol: float | None = Field(default=None, ge=0)
    """A number may be off by so much. 0: exactly the same, which is also meant where nothing is said."""
    rel_tol: float = Field(default=0.0, ge=0, lt=1)
    """A number may be off by this part of the reference."""
    unit_policy: UnitPolicy = "convert"
    """Two units. convert: the same quantity in either is right (500 cm for 5 m), and a unit on one side only is left
    aside; require: the answer has to name the reference's unit, or one that converts; ignore: units are not compared."""
    ordered: bool = False
    """Whether elements separated by commas, or in braces, must stand in the reference's order."""
    form: Form = "any"
    """How the right answer must be written. simplified: a fraction in lowest terms, nothing left to compute or cancel;
    decimal: as a decimal number or an integer; fraction: as a fraction or an integer."""

    @property
    def options(self) -> Options:
        reference = self.reference if isinstance(self.reference, FinalAnswer) else None
        abs_tol = self.abs_tol
        if abs_tol is None:
            abs_tol = reference.tolerance if reference is not None and reference.tolerance is not None else 0.0
        unit = reference.unit if reference is not None else None
        return Options(abs_tol, self.rel_tol, self.unit_policy, unit, self.ordered, self.form)

    @property
    def steps(self) -> list[str]:
        """The texts among the reference's steps, to a bounded number."""
        steps = self.reference.steps if isinstance(self.reference, FinalAnswer) else None
        written = [step.get("expr") if isinstance(step, dict) else step for step in _first(steps)]
        return [text for text in written if isinstance(text, str) and len(text) <= MAX_STEP_CHARS]

    @property
    def references(self) -> list[str]:
        answers = self.reference.final_answer if isinstance(self.reference, FinalAnswer) else self.reference
        return [str(answer) for answer in (answers if isinstance(answers, list) else [answers])]


def _first(steps: Any) -> list[Any]:
    return steps[:MAX_STEPS] if isinstance(steps, list) else []


TIME_LIMIT_S = 2.0
"""CPU seconds for one answer. Nearly all take milliseconds; only computer algebra on sums and integrals can take long."""

_WARM = (
    [[r"\frac{1}{2}"], r"\frac{\sqrt{3}}{2}", DEFAULT.packed()],
    [[r"\sum_{k=1}^{5} k"], "15", DEFAULT.packed()],
    [["x^2+1"], "(x+1)^2-2x", DEFAULT.packed()],
)
TASK = Task(module="verifiers.math.grading", function="grade", time_limit_s=TIME_LIMIT_S, warm=_WARM)
_REFERENCE_ALONE = replace(TASK, time_limit_s=TIME_LIMIT_S / 2)
"""A reference that takes longer by itself is at fault for a broken limit, whatever the answer took."""
GROUP = Task(module="verifiers.math.groups", function="grade_all", time_limit_s=TIME_LIMIT_S / 4)
"""Answers that take longer together are asked one by one, so that none bears for another."""
LOOK = Task(module="verifiers.math.first_look", function="look_in_worker", time_limit_s=10.0)
"""The limit is several times what the longest response allowed by default takes."""

DIAGNOSE = Task(module="verifiers.math.diagnosis", function="diagnose", time_limit_s=TIME_LIMIT_S / 2)
"""What `explain` adds to a verdict that stands already; without it the verdict goes out as it is."""

_DIAGNOSED_CHARS = 200_000
"""Longer responses are not looked through for patterns: only their answers are."""
_QUESTION_CHARS = 8_000
"""So much of the beginning of a prompt is looked through for numbers."""
_FEW_ITEMS = 24
"""Fewer short responses are looked at here: that takes less than sending them to a worker."""
_GROUP_ANSWERS = 8
"""So many answers may wait for each other in one worker."""
_LIMITS = (Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.OUTPUT_LIMIT)
_INVALID = ("unparseable_reference", "reference_too_complex")


class Math(Verifier[MathParams]):
    name = "math"
    version = "5"
    params = MathParams
    summary = "The final answer equals the reference: numbers, expressions, sets, intervals, equations, words"
    concurrency = None
    chunk_items: ClassVar[int] = 128

    def __init__(self, resources: Resources) -> None:
        self._workers = resources.workers
        self._looks = _Looks()
        self._sound = _Sound()

    async def score(self, items: Sequence[Item[MathParams]]) -> Sequence[Verdict]:
        verdicts: dict[int, Verdict] = {}
        await self.score_each(items, verdicts.__setitem__)
        return [verdicts[index] for index in range(len(items))]

    async def score_each(self, items: Sequence[Item[MathParams]], deliver: Callable[[int, Verdict], None]) -> None:
        await _Sitting(self._workers, self._looks, self._sound, items, deliver).judge()

    def own_answer(self, params: MathParams) -> str | None:
        options = params.options
        needs_unit = options.unit is not None and options.unit_policy == "require"
        return written(params.references[0] + (rf"\text{{ {options.unit}}}" if needs_unit else ""), params)


class _Sitting:
    """One call of the verifier."""

    def __init__(
        self,
        workers: Workers,
        looks: "_Looks",
        sound: "_Sound",
        items: Sequence[Item[MathParams]],
        deliver: Callable[[int, Verdict], None],
    ) -> None:
        self._workers = workers
        self._sound = sound
        self._items = items
        self._looks = [looks.by(item.params) for item in items]
        self._hand_out = deliver
        self._unexplained: list[tuple[int, Verdict]] = []
        self._unread: list[_Question] = []

    def _deliver(self, index: int, verdict: Verdict) -> None:
        if self._items[index].explain and verdict.status is Status.OK:
            self._unexplained.append((index, verdict))
        else:
            self._hand_out(index, verdict)

    async def judge(self) -> None:
        await self._look()
        groups = _grouped(self._unread)
        alone = [group[0] for group in groups if len(group) == 1]
        alone += await self._grade_together([group for group in groups if len(group) > 1])
        await self._blame(await self._grade_alone(alone))
        await self._explain()

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
        response = _sendable(item.response) if len(item.response) <= _DIAGNOSED_CHARS else None
        question = None if item.prompt is None else _sendable(item.prompt[:_QUESTION_CHARS])
        steps = [_sendable(step) for step in item.params.steps]
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
        found = look.find(_sendable(item.response), item.explain)
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
                [_sendable(self._items[index].response) for index in part],
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
        self._unread.append(_Question(index, self._looks[index], found))

    # grading

    async def _grade_together(self, groups: Sequence[Sequence["_Answer"]]) -> list["_Answer"]:
        """Have each group graded by one worker, and leave the answers of those that did not come to an end."""
        left: list[_Answer] = []

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is not Exit.OK:
                left.extend(groups[position])
                return
            for answer, result in zip(groups[position], outcome.value, strict=True):
                self._take_result(answer, result)

        await self._ask(GROUP, [_payload(group[0].terms, [answer.text for answer in group]) for group in groups], take)
        return left

    async def _grade_alone(self, answers: Sequence["_Answer"]) -> list["_Answer"]:
        """Have the answers graded one by one, and leave those that break a limit."""
        broke: list[_Answer] = []

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is Exit.OK:
                self._take_result(answers[position], outcome.value)
            elif outcome.exit in _LIMITS:
                broke.append(answers[position])
            else:
                self._fail(answers[position], outcome)

        await self._ask(TASK, [_payload(answer.terms, answer.text) for answer in answers], take)
        return broke

    async def _blame(self, broke: Sequence["_Answer"]) -> None:
        """Of each answer that broke a limit: whether its reference does so alone, or it was the answer."""

        def take(position: int, outcome: Outcome) -> None:
            if outcome.exit is not Exit.OK and outcome.exit not in _LIMITS:
                self._fail(broke[position], outcome)
                return
            if outcome.exit is Exit.OK:
                self._learn(broke[position], outcome.value)
            for question in broke[position].questions:
                self._deliver(question.index, question.blamed(outcome))

        await self._ask(_REFERENCE_ALONE, [_payload(answer.terms, None) for answer in broke], take)

    def _take_result(self, answer: "_Answer", result: dict[str, Any]) -> None:
        self._learn(answer, result)
        for question in answer.questions:
            self._deliver(question.index, question.verdict(result))

    def _learn(self, answer: "_Answer", result: dict[str, Any]) -> None:
        if result["outcome"] not in _INVALID:
            self._sound.add(answer.terms.references)

    def _fail(self, answer: "_Answer", outcome: Outcome) -> None:
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


def _payload(terms: Terms, answers: str | Sequence[str | None] | None) -> list[Any]:
    return [terms.references, answers, terms.options.packed()]


class _Looks:
    """The first looks by parameters seen lately: all samples of one prompt come with the same parameters."""

    _MOST = 4096
    _MAX_CHARS = 2000

    def __init__(self) -> None:
        self._known: dict[int, tuple[MathParams, FirstLook]] = {}
        """By the parameters' address, which stays theirs while they are held here."""

    def by(self, params: MathParams) -> FirstLook:
        known = self._known.get(id(params))
        if known is not None:
            return known[1]
        extraction = params.model_dump_json(include=_EXTRACTION_FIELDS)
        terms = Terms([_sendable(reference) for reference in params.references], params.options, extraction)
        look = FirstLook(terms)
        if sum(map(len, terms.references)) <= self._MAX_CHARS:
            if len(self._known) >= self._MOST:
                self._known.clear()
            self._known[id(params)] = params, look
        return look


_EXTRACTION_FIELDS = set(ExtractionParams.model_fields)


class _Sound:
    """References that a worker has found sound; so that the next answer written alike need not go there."""

    _MOST = 100_000

    def __init__(self) -> None:
        self._keys: set[bytes] = set()

    def add(self, references: Sequence[str]) -> None:
        if len(self._keys) >= self._MOST:
            self._keys.clear()
        self._keys.update(map(_key, references))

    def has(self, references: Sequence[str]) -> bool:
        return all(is_number(reference) or _key(reference) in self._keys for reference in references)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _sendable(text: str) -> str:
    """Without lone surrogates, which no encoding carries and no answer needs."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _key(reference: str) -> bytes:
    return hashlib.sha256(reference.encode()).digest()[:16]


class _Question:
    """One item whose answer has to be read."""

    def __init__(self, index: int, look: FirstLook, found: Found) -> None:
        self.index = index
        self.look = look
        self.found = found

    def verdict(self, result: dict[str, Any]) -> Verdict:
        """What the result of reference and answer together means."""
        if result["outcome"] in _INVALID:
            return Verdict.invalid(result["outcome"], result["message"])
        return self.look.settle(self.found) or self._judged(result)

    def blamed(self, outcome: Outcome) -> Verdict:
        """The verdict after a limit was broken; `outcome` is that of the reference alone."""
        if outcome.exit is not Exit.OK:
            reference = self.look.terms.references[0][:100]
            message = f"reference {reference!r} takes more than a worker may spend: {outcome.exit}"
            return Verdict.invalid("reference_too_complex", message)
        verdict = self.verdict(outcome.value)
        if verdict.status is not Status.OK:
            return verdict
        return Verdict.wrong("too_complex", self.found.answer, **self._detail())

    def _judged(self, result: dict[str, Any]) -> Verdict:
        detail = self._detail(result.get("method"))
        if result["outcome"] == "equal":
            return Verdict.correct(self.found.answer, **detail)
        reason = "wrong_answer" if result["outcome"] == "different" else result["outcome"]
        return Verdict.wrong(reason, self.found.answer, **detail)

    def _detail(self, method: str | None = None) -> dict[str, Any]:
        return {**self.found.detail, "method": method} if method else dict(self.found.detail)


@dataclass(slots=True)
class _Answer:
    """One answer to the same references, and everybody who gave it."""

    terms: Terms
    text: str | None
    """None to ask for the references alone: there is no answer, or one that is too long to be read."""
    questions: list[_Question]


def _grouped(questions: Sequence[_Question]) -> list[list[_Answer]]:
    """Answers that are graded together: each once, those to the same references next to each other."""
    by_look: dict[FirstLook, dict[str | None, _Answer]] = {}
    for question in questions:
        text = question.found.answer
        if text is not None and len(text) > MAX_READ_CHARS:
            text = None
        answers = by_look.setdefault(question.look, {})
        answers.setdefault(text, _Answer(question.look.terms, text, [])).questions.append(question)
    return [
        list(answers.values())[start : start + _GROUP_ANSWERS]
        for answers in by_look.values()
        for start in range(0, len(answers), _GROUP_ANSWERS)
    ]


def create(resources: Resources) -> Math:
    for task in (LOOK, GROUP, TASK, DIAGNOSE):
        resources.workers.register(task)
    return Math(resources)


EXAMPLES = (
    Example(r"So the answer is \boxed{\frac{2}{4}}.", {"reference": r"\frac{1}{2}"}, 1.0, "correct", "the same value"),
    Example("She pays 3 * 6 = 18 dollars.\n#### 18", {"reference": "18"}, 1.0, "correct", "a GSM8K answer"),
    Example(r"\boxed{x = 5 \text{ or } x = -2}", {"reference": r"\{-2, 5\}"}, 1.0, "correct", "a set, in any order"),
    Example(r"\boxed{1 \le x < 2}", {"reference": "[1, 2)"}, 1.0, "correct", "the same set of numbers"),
    Example(r"\boxed{3.14159}", {"reference": r"\pi", "rel_tol": 1e-5}, 1.0, "correct", "within the tolerance"),
    Example(
        r"\boxed{\text{Western Blot}}", {"reference": "western blot"}, 1.0, "correct", "words are compared as words"
    ),
    Example(r"\boxed{2^{-69}}", {"reference": r"\frac{1}{2^{70}}"}, 0.0, "wrong_answer", "tiny is not zero"),
    Example(r"\boxed{(1, 2)}", {"reference": "(2, 1)"}, 0.0, "wrong_answer", "a tuple is ordered"),
    Example(r"\boxed{x^2+y^2=25}", {"reference": "25"}, 0.0, "wrong_answer", "an equation is not its right side"),
    Example(r"First x = 5, then \boxed{@#!}", {"reference": "5"}, 0.0, "unparseable", "no fall back to an earlier 5"),
    Example(r"\boxed{9^{9^{9^{9^{9}}}}}", {"reference": "1"}, 0.0, "too_complex", "judged by its size, never computed"),
    Example(r"\boxed{5}", {"reference": r"\frac{1}{"}, None, "unparseable_reference", "mend the data", Status.INVALID),
)
