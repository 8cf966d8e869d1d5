"""Grades the committed number of the response by its distance to the reference.

    linear   1 - error / max_error, not below 0      Video-R1's regression reward with max_error 1
    mra      the share of the thresholds 0.5, 0.55, ..., 0.95 with error < 1 - threshold      VSI-Bench (arXiv 2412.14171)

The error is |answer - reference| / |reference|, or with `scale` |answer - reference| / scale. Relative to a reference
of 0, only 0 is right. The number is found and read as `numeric` does it, exactly: a range, a choice or an expression is
none.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, StrictFloat, StrictInt, StrictStr

from sandbox.workers import Workers
from verifiers import commitment, long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.long_texts import judge_all
from verifiers.own_answers import written
from verifiers.rules import numeric

_Positive = Annotated[float, Field(gt=0)]


class RegressionParams(commitment.ExtractionParams):
    """The wanted number, and the distance at which the score becomes 0."""

    reference: StrictInt | StrictFloat | StrictStr
    """The number; as text in any form that a response may use."""
    metric: Literal["linear", "mra"] = "linear"
    """linear: the score falls in a line with the error; mra: the share of ten thresholds that the error stays below
    (VSI-Bench)."""
    scale: _Positive | None = None
    """The unit of errors. If it is left out, the size of the reference is used."""
    max_error: _Positive = 1.0
    """For `linear`: the error from which on the score is 0."""
    percent_as_fraction: bool = False
    """Whether 50% is 1/2. Otherwise the sign is a unit: an answer needs it if the reference has it."""
    decimal_comma: bool = False
    """Whether 3,5 is 7/2 and 1.000 a thousand, in responses and in references given as text."""


class Regression(Verifier[RegressionParams]):
    name = "regression"
    version = "31"
    params = RegressionParams
    summary = "The one committed number, graded by its distance to the reference"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[RegressionParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)

    def own_answer(self, params: RegressionParams) -> str | None:
        return written(str(params.reference), params)


def create(resources: Resources) -> Regression:
    long_texts.register(resources.workers, judge, RegressionParams, EXAMPLES[0])
    return Regression(resources.workers)


def judge(response: str, params: RegressionParams, explain: bool = False) -> Verdict:
    expected = numeric.read(str(params.reference), params.decimal_comma and isinstance(params.reference, str))
    target = None if isinstance(expected, numeric.Unreadable) else expected.value(params.percent_as_fraction)
    if isinstance(expected, numeric.Unreadable) or target is None:
        message = f"reference {clip(str(params.reference))!r} is not one number of at most 2,000 digits"
        return Verdict.invalid("unparseable_reference", message)
    statement = numeric.statement(response, params, params.decimal_comma, explain)
    answer, number, detail = statement.answer, statement.number, dict(statement.detail)
    if number is None:
        return Verdict.wrong(statement.reason, answer, **detail)
    if explain:
        detail["compared"] = {"answer": number.show(), "reference": expected.show()}
    value = number.value(params.percent_as_fraction)
    if value is None or not numeric.comparable(number, expected, params.percent_as_fraction):
        return Verdict.wrong(extracted=answer, **detail)
    score = float(_score(abs(value - target), abs(target), params))
    if score == 1.0:
        return Verdict.correct(answer, **detail)
    if score == 0.0:
        return Verdict.wrong(extracted=answer, **detail)
    return Verdict(Status.OK, score, "partial", clip(answer), detail)


_MRA_TOLERANCES = tuple(Fraction(step, 20) for step in range(1, 11))


def _score(distance: Fraction, size: Fraction, params: RegressionParams) -> Fraction:
    unit = size if params.scale is None else Fraction(repr(params.scale))
    if not unit:
        return Fraction(not distance)
    error = distance / unit
    if params.metric == "mra":
        return Fraction(sum(error < tolerance for tolerance in _MRA_TOLERANCES), len(_MRA_TOLERANCES))
    return max(Fraction(0), 1 - error / Fraction(repr(params.max_error)))


EXAMPLES = (
    Example(r"It is about \boxed{90}.", {"reference": 100}, 0.9, "partial", "a tenth off"),
    Example("The answer is 3.5 m.", {"reference": "3.5"}, 1.0, "correct", "exactly"),
    Example("Answer: 250", {"reference": 100}, 0.0, "wrong_answer", "further off than the number is large"),
    Example("Answer: 4", {"reference": 5, "scale": 10}, 0.9, "partial", "on a scale of 10"),
    Example("Answer: 4", {"reference": 5, "scale": 2, "max_error": 2}, 0.75, "partial", "1/2 of at most 2"),
    Example("Answer: 88", {"reference": 100, "metric": "mra"}, 0.8, "partial", "within 15 but not within 10 percent"),
    Example("Between 90 and 110.", {"reference": 100}, 0.0, "conflicting_answers", "a range around it commits to none"),
    Example("Answer: 5", {"reference": "a few"}, None, "unparseable_reference", "mend it", Status.INVALID),
)
