r"""Whether the final answer of a response equals the reference, as mathematics or as words.

    response ──answers.extract──► answer ─┬─ both plain numbers: compared exactly, here          (exact.py)
                                          └─ anything else: read and compared in a worker        (grading.py)

Nothing that could grow is evaluated in the service process, and sympy is never imported there. In the worker the
reference comes first: if it cannot be read, is too large, or does not equal itself, the item is `invalid`, whatever the
response says. Then the answer is compared as text, and only then read. An answer that is no mathematics, or so large
that comparing it would cost more than a worker may spend, is wrong (`unparseable`, `too_complex`).

Decimals are exact: 0.333 is not 1/3 unless a tolerance says so. A unit on one side only is left aside, two different
units are different answers. Tuples are ordered; sets and lists are not.
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from sandbox.workers import Exit, Outcome, Task, WorkersUnavailable
from verifiers.answers import Extraction, ExtractionParams
from verifiers.base import Example, Item, Params, Resources, Status, Unavailable, Verdict, Verifier, clip
from verifiers.long_texts import EXTRACT, extract_all
from verifiers.math.exact import Tolerance, decide, number
from verifiers.math.limits import MAX_READ_CHARS

log = logging.getLogger("rewardline.math")


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("a reference must not be blank")
    return text


Answer = Annotated[StrictStr, AfterValidator(_not_blank)] | StrictInt | StrictFloat
Answers = Answer | Annotated[list[Answer], Field(min_length=1, max_length=64)]


class FinalAnswer(Params):
    """A reference that says more than its final answer; the rest is for other verifiers."""

    model_config = ConfigDict(extra="ignore")

    final_answer: Answers


class MathParams(ExtractionParams):
    reference: Answers | FinalAnswer
    """The right answer, or several of which each is right. LaTeX or plain, with or without `$` or a box."""
    abs_tol: float = Field(default=0.0, ge=0)
    """A number may be off by so much. 0: exactly the same."""
    rel_tol: float = Field(default=0.0, ge=0, lt=1)
    """A number may be off by this part of the reference."""

    @property
    def references(self) -> list[str]:
        answers = self.reference.final_answer if isinstance(self.reference, FinalAnswer) else self.reference
        return [str(answer) for answer in (answers if isinstance(answers, list) else [answers])]


TIME_LIMIT_S = 2.0
"""CPU seconds for one answer. Nearly all take milliseconds; only computer algebra on sums and integrals can take long."""

_WARM = (
    [[r"\frac{1}{2}"], r"\frac{\sqrt{3}}{2}", 0.0, 0.0],
    [[r"\sum_{k=1}^{5} k"], "15", 0.0, 0.0],
    [["x^2+1"], "(x+1)^2-2x", 0.0, 0.0],
)
TASK = Task(module="verifiers.math.grading", function="grade", time_limit_s=TIME_LIMIT_S, warm=_WARM)
_REFERENCE_ALONE = replace(TASK, time_limit_s=TIME_LIMIT_S / 2)
"""A reference that takes longer by itself is at fault for a broken limit, whatever the answer took."""


class Math(Verifier[MathParams]):
    name = "math"
    version = "2"
    params = MathParams
    summary = "The final answer equals the reference: numbers, expressions, sets, intervals, equations, words"
    concurrency: ClassVar[int | None] = None

    def __init__(self, resources: Resources) -> None:
        self._workers = resources.workers
        self._sound = _Sound()

    async def score(self, items: Sequence[Item[MathParams]]) -> Sequence[Verdict]:
        verdicts: dict[int, Verdict] = {}
        await self.score_each(items, verdicts.__setitem__)
        return [verdicts[index] for index in range(len(items))]

    async def score_each(self, items: Sequence[Item[MathParams]], deliver: Callable[[int, Verdict], None]) -> None:
        asked: list[tuple[int, _Question]] = []
        for index, extraction in enumerate(await extract_all(self._workers, items)):
            if isinstance(extraction, Verdict):
                deliver(index, extraction)
                continue
            question = _Question(items[index], extraction)
            verdict = question.decide(self._sound)
            if verdict is None:
                asked.append((index, question))
            else:
                deliver(index, verdict)
        broke: list[tuple[int, _Question]] = []

        def take(position: int, outcome: Outcome) -> None:
            index, question = asked[position]
            if outcome.exit in _LIMITS:
                broke.append((index, question))
            else:
                deliver(index, question.verdict(outcome, self._sound))

        await self._ask(TASK, [question.payload() for _, question in asked], take)
        await self._blame(broke, deliver)

    async def _blame(self, broke: Sequence[tuple[int, "_Question"]], deliver: Callable[[int, Verdict], None]) -> None:
        """Of each question that broke a limit: whether its reference does so alone, or it was the answer."""

        def take(position: int, outcome: Outcome) -> None:
            index, question = broke[position]
            deliver(index, question.blamed(outcome, self._sound))

        await self._ask(_REFERENCE_ALONE, [question.payload(with_answer=False) for _, question in broke], take)

    async def _ask(self, task: Task, payloads: Sequence[Any], take: Callable[[int, Outcome], None]) -> None:
        if not payloads:
            return
        try:
            await self._workers.map(task, payloads, take)
        except WorkersUnavailable as error:
            raise Unavailable("workers_unavailable", str(error)) from error


_LIMITS = (Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.OUTPUT_LIMIT)
_INVALID = ("unparseable_reference", "reference_too_complex")


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
        return all(number(reference) is not None or _key(reference) in self._keys for reference in references)


def _sendable(text: str) -> str:
    """Without lone surrogates, which no encoding carries and no answer needs."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _key(reference: str) -> bytes:
    return hashlib.sha256(reference.encode("utf-8", "surrogatepass")).digest()[:16]


class _Question:
    """One item and its extracted answer."""

    def __init__(self, item: Item[MathParams], extraction: Extraction) -> None:
        self._explain = item.explain
        self._extraction = extraction
        self._references = item.params.references
        self._tolerance = Tolerance(item.params.abs_tol, item.params.rel_tol)

    def decide(self, sound: _Sound) -> Verdict | None:
        """The verdict, when it takes no worker: the references are known to be sound, and the answer is clear."""
        if not sound.has(self._references):
            return None
        answer = self._extraction.answer
        if answer is None:
            return Verdict.wrong(self._extraction.reason, None, **self._detail())
        if len(answer) > MAX_READ_CHARS:
            return Verdict.wrong("too_complex", answer, **self._detail())
        decisions = [decide(reference, answer, self._tolerance) for reference in self._references]
        for decision in decisions:
            if decision is not None and decision[0]:
                return Verdict.correct(answer, **self._detail(decision[1]))
        if None in decisions:
            return None
        return Verdict.wrong(extracted=answer, **self._detail("exact"))

    def payload(self, with_answer: bool = True) -> list[Any]:
        answer = self._extraction.answer if with_answer else None
        if answer is not None and len(answer) > MAX_READ_CHARS:
            answer = None
        references = [_sendable(reference) for reference in self._references]
        answer = None if answer is None else _sendable(answer)
        return [references, answer, self._tolerance.absolute, self._tolerance.relative]

    def blamed(self, outcome: Outcome, sound: _Sound) -> Verdict:
        """The verdict after a limit was broken; `outcome` is that of the reference alone."""
        if outcome.exit in _LIMITS:
            message = f"reference {self._references[0][:100]!r} takes more than a worker may spend: {outcome.exit}"
            return Verdict.invalid("reference_too_complex", message)
        verdict = self.verdict(outcome, sound)
        if verdict.status is not Status.OK:
            return verdict
        return Verdict.wrong("too_complex", self._extraction.answer, **self._detail())

    def verdict(self, outcome: Outcome, sound: _Sound) -> Verdict:
        """What the outcome of reference and answer together means, no limit being broken."""
        message = outcome.message.partition("\n")[0]
        if outcome.exit is Exit.RAISED:
            log.error("grading raised: %s", outcome.message)
            return Verdict.failed("verifier_bug", message)
        if outcome.exit is not Exit.OK:
            return Verdict.failed(f"worker_{outcome.exit}", message)
        result: dict[str, Any] = outcome.value
        if result["outcome"] in _INVALID:
            return Verdict.invalid(result["outcome"], result["message"])
        sound.add(self._references)
        return self.decide(sound) or self._judged(result)

    def _judged(self, result: dict[str, Any]) -> Verdict:
        detail = self._detail(result.get("method"))
        if self._explain:
            detail |= {f"{side}_as_read": clip(result[side]) for side in ("reference", "answer") if side in result}
        if result["outcome"] == "equal":
            return Verdict.correct(self._extraction.answer, **detail)
        reason = "wrong_answer" if result["outcome"] == "different" else result["outcome"]
        return Verdict.wrong(reason, self._extraction.answer, **detail)

    def _detail(self, method: str | None = None) -> dict[str, Any]:
        detail = self._extraction.detail(self._explain)
        return {**detail, "method": method} if method else detail


def create(resources: Resources) -> Math:
    resources.workers.register(TASK)
    resources.workers.register(EXTRACT)
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
    Example(r"\boxed{9^{9^{9^{9}}}}", {"reference": "1"}, 0.0, "too_complex", "judged by its size, never computed"),
    Example(r"\boxed{5}", {"reference": r"\frac{1}{"}, None, "unparseable_reference", "mend the data", Status.INVALID),
)
