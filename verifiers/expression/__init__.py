r"""Checks that the value of the expression or quantity in a response equals the reference.

    response ──answers──► "60 km/h * 2 h" ──reading──► tree ──evaluation──► 120 km ──comparison──► 120000 m

It is for answers that are calculations rather than results, in LaTeX, plain text or as a program writes them (`comb(5,
2) // 3`), and for quantities: with SI prefixes, compound units, degrees Celsius and Fahrenheit, angles, percent;
currencies are not converted. Text is read into a tree and the tree is evaluated, in a worker under a limit of CPU time;
nothing is ever executed, and sizes are checked before anything is computed: `9**9**9` is `too_complex`. An equation
counts as the value of its sides, if they have the same value.

An answer that cannot be evaluated is wrong, with the reason (`unparseable`, `no_value`, `wrong_units`, `too_complex`);
such a reference is `invalid`; if a worker's time ends, `math.blame` decides which side is at fault. An answer with
another value is wrong, too: it earns `partial_credit` only if the item sets that, and only for an expression that
computes with two numbers of the prompt and has the right kind of quantity.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field

from sandbox.workers import Exit, Outcome, Task, Workers
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier
from verifiers.commitment import ExtractionParams
from verifiers.expression.comparison import Nearness
from verifiers.long_texts import (
    BROKEN_LIMITS,
    INLINE_CHARS,
    TIME_LIMIT_S,
    ask_workers,
    sendable,
    too_complex,
    trouble,
    verdict_of,
)
from verifiers.math.blame import is_ours
from verifiers.math.options import UnitPolicy
from verifiers.math.params import Answers, FinalAnswer


class ExpressionParams(ExtractionParams):
    """What the expression must come to, and how near."""

    reference: Answers | FinalAnswer
    """A number, quantity or expression, or several of which each is right; or `{"final_answer", "unit", "tolerance"}`."""
    unit_policy: UnitPolicy = "convert"
    """How units are compared. convert: the same quantity in any unit of its kind is right, and a unit on one side
    only is ignored; require: the answer must have a unit if the reference has one; ignore: only the numbers are
    compared."""
    missing_unit_credit: float = Field(default=0.5, ge=0, le=1)
    """With `require`: the score of the right number without a unit."""
    abs_tol: float | None = Field(default=None, ge=0)
    """How much a number may differ, in the unit of the reference. See `rel_tol`."""
    rel_tol: float | None = Field(default=None, ge=0, lt=1)
    """How much a number may differ, in the reference's unit; one of the two bounds is enough. Without both, integers
    are compared exactly, and other numbers within a millionth."""
    sig_figs: int | None = Field(default=None, ge=1, le=30)
    """A number that rounds to the reference at this many significant figures is right, too."""
    partial_credit: float = Field(default=0.0, ge=0, lt=1)
    """The score of a wrong expression that computes with at least two numbers of the prompt."""

    @property
    def references(self) -> list[str]:
        answers = self.reference.final_answer if isinstance(self.reference, FinalAnswer) else self.reference
        return [str(answer) for answer in (answers if isinstance(answers, list) else [answers])]

    @property
    def unit(self) -> str | None:
        return self.reference.unit if isinstance(self.reference, FinalAnswer) else None

    @property
    def nearness(self) -> Nearness:
        tolerance = self.reference.tolerance if isinstance(self.reference, FinalAnswer) else None
        return Nearness(tolerance if self.abs_tol is None else self.abs_tol, self.rel_tol, self.sig_figs)


GRADE = Task("verifiers.expression.grading", "grade", time_limit_s=0.5)
_LONG = replace(GRADE, time_limit_s=TIME_LIMIT_S)
"""For long responses: to find the answer takes most of the time."""
_REFERENCE_ALONE = replace(GRADE, time_limit_s=0.25)
"""A reference that alone takes longer than this is at fault for a broken limit, whatever the answer took."""
_EXTRACTION_FIELDS = set(ExtractionParams.model_fields)


class Expression(Verifier[ExpressionParams]):
    name = "expression"
    version = "28"
    params = ExpressionParams
    summary = "The expression or quantity with a unit that is the answer evaluates to the reference"
    uses_prompt = True
    concurrency = None
    chunk_items: ClassVar[int] = 128

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[ExpressionParams]]) -> Sequence[Verdict]:
        verdicts: dict[int, Verdict] = {}
        await self.score_each(items, verdicts.__setitem__)
        return [verdicts[index] for index in range(len(items))]

    async def score_each(
        self, items: Sequence[Item[ExpressionParams]], deliver: Callable[[int, Verdict], None]
    ) -> None:
        broke: list[tuple[int, Outcome]] = []

        def take(index: int, outcome: Outcome) -> None:
            if outcome.exit is Exit.OK:
                deliver(index, verdict_of(outcome.value))
            elif outcome.exit in BROKEN_LIMITS:
                broke.append((index, outcome))
            else:
                deliver(index, trouble(outcome))

        def blame(position: int, outcome: Outcome) -> None:
            index, broken = broke[position]
            deliver(index, _blamed(broken, outcome, items[index]))

        for task, indices in _by_length(items):
            payloads = [_payload(items[index], items[index].response) for index in indices]

            def take_one(position: int, outcome: Outcome, indices: Sequence[int] = indices) -> None:
                take(indices[position], outcome)

            await ask_workers(self._workers, task, payloads, take_one)
        payloads = [_payload(items[index], None) for index, _ in broke]
        await ask_workers(self._workers, _REFERENCE_ALONE, payloads, blame)


def _by_length(items: Sequence[Item[ExpressionParams]]) -> list[tuple[Task, list[int]]]:
    """The items with the task that grades them."""
    long = [index for index, item in enumerate(items) if len(item.response) > INLINE_CHARS]
    if not long:
        return [(GRADE, list(range(len(items))))]
    return [(GRADE, [index for index in range(len(items)) if index not in set(long)]), (_LONG, long)]


def _payload(item: Item[ExpressionParams], response: str | None) -> list[Any]:
    params = item.params
    return [
        [sendable(reference) for reference in params.references],
        params.unit,
        params.model_dump_json(include=_EXTRACTION_FIELDS),
        params.unit_policy,
        params.nearness.packed(),
        params.missing_unit_credit,
        params.partial_credit,
        None if response is None else sendable(response),
        None if item.prompt is None else sendable(item.prompt[:_QUESTION_CHARS]),
        item.explain,
    ]


_QUESTION_CHARS = 8_000


def _blamed(broken: Outcome, outcome: Outcome, item: Item[ExpressionParams]) -> Verdict:
    """The verdict after a limit was broken; `outcome` is that of the reference alone."""
    if outcome.exit in BROKEN_LIMITS:
        message = f"reference {item.params.references[0][:100]!r} takes more than a worker may spend: {outcome.exit}"
        return Verdict.invalid("reference_too_complex", message)
    if outcome.exit is not Exit.OK:
        return trouble(outcome)
    verdict = verdict_of(outcome.value)
    if verdict.status is not Status.OK:
        return verdict
    if is_ours(item.params.references, item.response):
        return Verdict.failed("too_complex", "to evaluate the answer takes more than a worker may spend")
    return too_complex(broken)


def create(resources: Resources) -> Expression:
    warm = [
        _payload(
            Item(example.response, ExpressionParams.model_validate(example.params), example.prompt), example.response
        )
        for example in EXAMPLES
        if example.status is Status.OK
    ]
    resources.workers.register(replace(GRADE, warm=tuple(warm)))
    return Expression(resources.workers)


_TRIP = "A car drives 3 hours at 60 km/h. How far does it come?"
EXAMPLES = (
    Example(
        r"\boxed{3 \cdot 60 \text{ km}}", {"reference": "180 km"}, 1.0, "correct", "a calculation that comes to it"
    ),
    Example("60 km/h * 3 h", {"reference": "180000 m"}, 1.0, "correct", "units are computed with, and converted"),
    Example(
        "comb(10, 3) // 2 + 2**5", {"reference": 92}, 1.0, "correct", "as a program writes it; nothing is executed"
    ),
    Example(r"\boxed{25 °C}", {"reference": "298.15 K"}, 1.0, "correct", "scales with another zero"),
    Example(
        r"\boxed{180}",
        {"reference": "180 km", "unit_policy": "require"},
        0.5,
        "missing_unit",
        "the right number without its unit",
    ),
    Example(
        r"\boxed{3 + 60}",
        {"reference": "180", "partial_credit": 0.25},
        0.25,
        "partly_correct",
        "wrong, but it computes with the question's numbers",
        prompt=_TRIP,
    ),
    Example(
        r"\boxed{63}",
        {"reference": "180", "partial_credit": 0.25},
        0.0,
        "wrong_answer",
        "no calculation: a constant is not an attempt",
        prompt=_TRIP,
    ),
    Example(
        r"\boxed{180 km/h}", {"reference": "180 km"}, 0.0, "dimension_mismatch", "the right number of something else"
    ),
    Example(r"\boxed{5 m + 3 s}", {"reference": "8 m"}, 0.0, "wrong_units", "metres and seconds are not added"),
    Example("9**9**9", {"reference": "1"}, 0.0, "too_complex", "judged by its size, never computed"),
    Example("__import__('os').getpid()", {"reference": "1"}, 0.0, "unparseable", "a program that nobody runs"),
    Example(r"\boxed{10000001}", {"reference": "10000000"}, 0.0, "wrong_answer", "integers are exact"),
    Example("5", {"reference": "x + 1"}, None, "unparseable_reference", "mend the data", Status.INVALID),
)
