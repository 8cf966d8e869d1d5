r"""Judges as Hugging Face's Math-Verify does: `verify(parse(reference), parse(response))` of the installed release.

Its parameters have their own default values, and nothing of ours is added.

Use it for results that must match a paper or a trainer with Math-Verify; `math` is right more often (README, "How
right"). It runs in workers that can be killed, and reports cases that the original does not distinguish:

    there []     of the reference            ► invalid   `unparseable_reference`: else every response earns 0
    there []     of the response             ► 0         `no_answer`
    there False  because it was too much     ► 0         `too_complex`, or invalid `reference_too_complex`
    there False  because `verify` raised     ► 0         `not_comparable`; invalid if it raises on any answer

If the original hangs for good (an alarm has no effect in a thread, nor in one long operation of big integers), the item
ends after `timeout_seconds` of CPU time.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, ClassVar

from sandbox.workers import Exit, Outcome, Task, Workers
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier
from verifiers.long_texts import ask_workers, sendable, trouble
from verifiers.math_verify.params import MathVerifyParams, Terms, is_marked

__all__ = ["EXAMPLES", "MathVerify", "MathVerifyParams", "create"]

GRADE = Task("verifiers.math_verify.grading", "grade", time_limit_s=5.0)
"""Each item has its own limit, `timeout_seconds`."""
_REFERENCE_S = 0.5
"""A reference that alone takes this part of the limit is at fault for a broken limit."""
_LIMITS = (Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.OUTPUT_LIMIT, Exit.CRASHED)
_INVALID = ("unparseable_reference", "reference_too_complex")
_TERMS = set(Terms.model_fields)


class MathVerify(Verifier[MathVerifyParams]):
    name = "math_verify"
    version = f"1 {version('math-verify')} {version('latex2sympy2-extended')}"
    params = MathVerifyParams
    summary = "Exactly Math-Verify's verdict, for those who need the original's numbers; it cannot hang"
    concurrency = None
    chunk_items: ClassVar[int] = 8
    bounds_itself: ClassVar[bool] = True
    """Each item ends by `timeout_seconds`. Many that reach it must not make those behind them `failed`."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[MathVerifyParams]]) -> Sequence[Verdict]:
        verdicts: dict[int, Verdict] = {}
        await self.score_each(items, verdicts.__setitem__)
        return [verdicts[index] for index in range(len(items))]

    async def score_each(
        self, items: Sequence[Item[MathVerifyParams]], deliver: Callable[[int, Verdict], None]
    ) -> None:
        broke: list[int] = []

        def take(index: int, outcome: Outcome) -> None:
            if outcome.exit in _LIMITS:
                broke.append(index)
            else:
                deliver(index, trouble(outcome) if outcome.exit is not Exit.OK else _verdict(outcome.value))

        def blame(index: int, outcome: Outcome) -> None:
            deliver(index, _blamed(outcome, items[index]))

        await self._ask(items, range(len(items)), 1.0, take)
        await self._ask(items, broke, _REFERENCE_S, blame)

    async def _ask(
        self,
        items: Sequence[Item[MathVerifyParams]],
        indices: Sequence[int],
        part: float,
        take: Callable[[int, Outcome], None],
    ) -> None:
        """Judge these items; with a `part` of less than the whole limit, judge their references alone."""
        by_limit: dict[float, list[int]] = {}
        for index in indices:
            by_limit.setdefault(items[index].params.timeout_seconds, []).append(index)
        for limit_s, together in by_limit.items():
            payloads = [_payload(items[index], with_response=part == 1.0) for index in together]

            def take_one(position: int, outcome: Outcome, together: list[int] = together) -> None:
                take(together[position], outcome)

            await ask_workers(self._workers, replace(GRADE, time_limit_s=limit_s * part), payloads, take_one)

    def own_answer(self, params: MathVerifyParams) -> str | None:
        reference = params.references[0]
        if r"\boxed" in reference:
            return reference
        return f"The final answer is {reference}." if is_marked(reference) else rf"\boxed{{{reference}}}"


def _payload(item: Item[MathVerifyParams], with_response: bool) -> list[Any]:
    params = item.params
    references = [sendable(reference) for reference in params.references]
    return [references, sendable(item.response) if with_response else None, params.model_dump_json(include=_TERMS)]


def _verdict(result: dict[str, Any]) -> Verdict:
    outcome, answer = result["outcome"], result.get("answer")
    if outcome in _INVALID:
        return Verdict.invalid(outcome, result["message"])
    if outcome == "equal":
        return Verdict.correct(answer)
    detail = {"message": result["message"]} if "message" in result else {}
    return Verdict.wrong("wrong_answer" if outcome == "different" else outcome, answer, **detail)


def _blamed(outcome: Outcome, item: Item[MathVerifyParams]) -> Verdict:
    """The verdict after a limit was broken; `outcome` is that of the references alone."""
    if outcome.exit in _LIMITS:
        reference = item.params.references[0][:100]
        message = f"reference {reference!r} takes more than a worker may spend: {outcome.exit}"
        return Verdict.invalid("reference_too_complex", message)
    if outcome.exit is not Exit.OK:
        return trouble(outcome)
    verdict = _verdict(outcome.value)
    return verdict if verdict.status is Status.INVALID else Verdict.wrong("too_complex")


def create(resources: Resources) -> MathVerify:
    warm = [
        _payload(Item(example.response, MathVerifyParams.model_validate(example.params)), with_response=True)
        for example in EXAMPLES
        if example.status is Status.OK and example.reason != "too_complex"
    ]
    resources.workers.register(replace(GRADE, warm=tuple(warm)))
    return MathVerify(resources.workers)


_BOXES_ONLY = {"targets": [{"kind": "latex", "boxed_match_priority": 0, "try_extract_without_anchor": False}]}
EXAMPLES = (
    Example(r"So it is \boxed{\frac{2}{4}}.", {"reference": r"$\frac{1}{2}$"}, 1.0, "correct", "the same value"),
    Example(r"\boxed{0.333333}", {"reference": "1/3"}, 1.0, "correct", "six decimals; `math` says no"),
    Example("First 5, or 7.", {"reference": "7"}, 1.0, "correct", "the last number anywhere; `math` says no"),
    Example(r"\boxed{(1,2)}", {"reference": "$(2,1)$"}, 0.0, "wrong_answer", "a tuple is ordered"),
    Example(r"\boxed{\sqrt{8}}", {"reference": r"2\sqrt{2}", "reference_is": "math"}, 1.0, "correct", "dollars added"),
    Example("It is 5.", {"reference": "5", "parse_response": _BOXES_ONLY}, 0.0, "no_answer", "TRL's way of looking"),
    Example(r"\boxed{x}", {"reference": "hello"}, None, "unparseable_reference", "there a 0 for all", Status.INVALID),
)
