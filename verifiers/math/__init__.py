r"""Decides whether the final answer of a response equals the reference, as mathematics or as words.

    response ──► judging.py ─┬─ first_look.py   its answer, and the verdict where the text alone gives it
                             ├─ grading.py      anything else: read and compared, in a worker
                             └─ edit_distance.py   what a wrong expression earns, on request

Nothing that could grow is evaluated in the service process, and sympy is never imported there. The worker looks at the
reference first: if it cannot be read, is too large, or does not equal itself, the item is `invalid`, whatever the
response says. Then the worker compares the answer as text, and only then reads it. An answer that is not mathematics, or
that is larger than its reference can justify, is wrong (`unparseable`, `too_complex`). `blame` decides whether the
reference or the answer is at fault for a broken limit.

Decimals are exact: 0.333 is not 1/3 unless a tolerance allows it. A unit on one side only is ignored; two different
units must express the same quantity. Tuples are ordered; sets and lists are not.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar

from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier
from verifiers.math.exact import number
from verifiers.math.judging import Judging
from verifiers.math.params import MathParams
from verifiers.math.solutions import final_answer
from verifiers.math.tasks import CREDIT, DIAGNOSE, GROUP, LOOK, SECOND, TASK
from verifiers.own_answers import written

__all__ = ["EXAMPLES", "Math", "MathParams", "create"]


class Math(Verifier[MathParams]):
    name = "math"
    version = "42"
    params = MathParams
    summary = "The final answer equals the reference: numbers, expressions, sets, intervals, equations, words"
    concurrency = None
    chunk_items: ClassVar[int] = 128

    def __init__(self, resources: Resources) -> None:
        self._workers = resources.workers

    async def score(self, items: Sequence[Item[MathParams]]) -> Sequence[Verdict]:
        verdicts: dict[int, Verdict] = {}
        await self.score_each(items, verdicts.__setitem__)
        return [verdicts[index] for index in range(len(items))]

    async def score_each(self, items: Sequence[Item[MathParams]], deliver: Callable[[int, Verdict], None]) -> None:
        await Judging(self._workers, items, deliver).judge()

    def own_answer(self, params: MathParams) -> str | None:
        options = params.options
        needs_unit = options.unit is not None and options.unit_policy == "require"
        answer = final_answer(params.references[0])
        return written(answer + (rf"\text{{ {options.unit}}}" if needs_unit else ""), params)

    def answer_key(self, answer: str, params: MathParams) -> Fraction | None:
        """The value of a plain number, where nothing but its value counts."""
        options = params.options
        is_exact = options.is_plain and not options.abs_tol and not options.rel_tol and params.second_opinion == "never"
        return number(answer) if is_exact else None


def create(resources: Resources) -> Math:
    for task in (LOOK, GROUP, TASK, SECOND, CREDIT, DIAGNOSE):
        resources.workers.register(task)
    return Math(resources)


EXAMPLES = (
    Example(r"So the answer is \boxed{\frac{2}{4}}.", {"reference": r"\frac{1}{2}"}, 1.0, "correct", "the same value"),
    Example("She pays 3 * 6 = 18 dollars.\n#### 18", {"reference": "18"}, 1.0, "correct", "a GSM8K answer"),
    Example(r"\boxed{x = 5 \text{ or } x = -2}", {"reference": r"\{-2, 5\}"}, 1.0, "correct", "a set, in any order"),
    Example(r"\boxed{1 \le x < 2}", {"reference": "[1, 2)"}, 1.0, "correct", "the same set of numbers"),
    Example(r"\boxed{3.14159}", {"reference": r"\pi", "rel_tol": 1e-5}, 1.0, "correct", "within the tolerance"),
    Example(
        r"\boxed{2mg+\frac{2mv^2}{l}}",
        {"reference": r"2mg+\frac{4mv^2}{l}", "edit_distance": True},
        0.6 - 2 / 15,
        "partial",
        "one number is wrong",
    ),
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
