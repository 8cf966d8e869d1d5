r"""The one committed number of the response equals the reference number, or one of several.

Numbers are exact rationals made from their text (`0.1` is 1/10, `1/3` is 1/3): thousands separators (`1,000`, `1 000`,
`1'000`, `12,34,567`), decimals, fractions (`3/4`, `\frac{3}{4}`, `½`), mixed numbers (`2 1/4`), powers of ten (`1.2e5`,
`1.2 \times 10^5`), percent, a currency, full-width and other Unicode digits, scale words (`3 million`, `3万`, `3亿5000万`,
`$3bn`, `5k`, `5M`, `3 Millionen`, `35만`; but `5 m` and `300 K` are units), a loss in brackets (`($5)` is -5), words
(`forty-two`, 二十个). Other units behind the number are not judged. Nor are citation marks (`12 [1]`), and remarks that
state no other number (`12, not 15`, `12 (3 × 4)`; module `asides`). Of a congruence the residue counts (`12 ≡ 4 (mod
8)`). An answer commits to no number if it offers a range, a choice, a bound (`x > 12`, 大于12, "5 or more") or several
numbers, or only supposes one ("if x were 12, it would work"). An expression is not a number (`7x+3`, `2^10`, `5!`; but
`10^6` is one).

Without tolerances the numbers must be equal. A fraction without a finite decimal may differ by a millionth (0.333333
for 1/3). With several of `abs_tol`, `rel_tol` (of the reference) and `significant_figures`, it is enough that one of
them accepts the number. If the reference is in percent or in a currency, the answer must not lack the percent sign or
have another currency. A sign that only the answer has is ignored. Numbers beyond 10^±2000 are compared by digits and
exponent and never written out; tolerances do not apply to them.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field, StrictFloat, StrictInt, StrictStr

from memory import remember
from sandbox.workers import Workers
from verifiers import commitment, long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.long_texts import judge_all
from verifiers.numerals.local import is_local
from verifiers.own_answers import written
from verifiers.rules.numeric.currencies import same_currency
from verifiers.rules.numeric.reading import read
from verifiers.rules.numeric.stated import Statement, statement
from verifiers.rules.numeric.values import Number, Unreadable

__all__ = [
    "EXAMPLES",
    "Number",
    "Numeric",
    "NumericParams",
    "Statement",
    "Unreadable",
    "comparable",
    "create",
    "judge",
    "read",
    "statement",
]

_Reference = StrictInt | StrictFloat | StrictStr


class NumericParams(commitment.ExtractionParams):
    """The wanted number, and the tolerances."""

    reference: _Reference | Annotated[tuple[_Reference, ...], Field(min_length=1, max_length=64)]
    """The number, or several numbers, one of which must be given; as text in any form that a response may use."""
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    """How much the answer may differ from the reference."""
    rel_tol: Annotated[float, Field(ge=0)] | None = None
    """The absolute tolerance.

    Without any tolerance it is 0, but a millionth between a fraction without a finite decimal and a decimal that is not
    whole.
    """
    percent_as_fraction: bool = False
    """Whether 50% is 1/2. Otherwise the sign is a unit: an answer needs it if the reference has it."""
    significant_figures: Annotated[int, Field(ge=1, le=30)] | None = None
    """The number of figures. Numbers are the same if they are equal when rounded to so many, halves away from zero."""
    decimal_comma: bool = False
    """Whether 3,5 is 7/2 and 1.000 a thousand, in responses and in references given as text."""


class Numeric(Verifier[NumericParams]):
    name = "numeric"
    version = "39"
    params = NumericParams
    summary = "The one committed number equals the reference, exactly or within a tolerance"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[NumericParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)

    def own_answer(self, params: NumericParams) -> str | None:
        return written(str(params.reference[0] if isinstance(params.reference, tuple) else params.reference), params)

    def answer_key(self, answer: str, params: NumericParams) -> Fraction | None:
        """The value of an integer or a decimal, where nothing but its value counts."""
        is_exact = not (params.abs_tol or params.rel_tol or params.significant_figures or params.decimal_comma)
        return Fraction(answer) if is_exact and _DECIMAL.fullmatch(answer) else None


_DECIMAL = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?", re.ASCII)


def create(resources: Resources) -> Numeric:
    long_texts.register(resources.workers, judge, NumericParams, EXAMPLES[0])
    return Numeric(resources.workers)


def judge(response: str, params: NumericParams, explain: bool = False) -> Verdict:
    references = params.reference if isinstance(params.reference, tuple) else (params.reference,)
    expected: list[Number] = []
    for reference in references:
        number_read = read(str(reference), params.decimal_comma and isinstance(reference, str))
        if isinstance(number_read, Unreadable) or is_local(str(reference)):
            message = f"reference {clip(str(reference))!r} is not one finite number"
            return Verdict.invalid("unparseable_reference", message)
        expected.append(number_read)
    stated = statement(response, params, params.decimal_comma, explain)
    answer, number, detail = stated.answer, stated.number, dict(stated.detail)
    if number is None:
        return Verdict.wrong(stated.reason, answer, **detail)
    if explain:
        shown_gold = expected[0].show() if len(expected) == 1 else [gold.show() for gold in expected[:_MAX_SHOWN]]
        detail |= {"compared": {"answer": number.show(), "reference": shown_gold}}
    if any(_equal(number, gold, params) for gold in expected):
        return Verdict.correct(answer, **detail)
    return Verdict.wrong(extracted=answer, **detail)


_MAX_SHOWN = 16


def comparable(number: Number, expected: Number, percent_as_fraction: bool) -> bool:
    """Whether the signs beside the number allow it to be the expected one."""
    if number.currency and expected.currency and not same_currency(number.currency, expected.currency):
        return False
    return number.is_percent or not expected.is_percent or percent_as_fraction


def _equal(number: Number, expected: Number, params: NumericParams) -> bool:
    if not comparable(number, expected, params.percent_as_fraction):
        return False
    actual, target = number.value(params.percent_as_fraction), expected.value(params.percent_as_fraction)
    if actual is None or target is None:
        percents_agree = number.is_percent == expected.is_percent or not params.percent_as_fraction
        return (number.fraction, number.exponent) == (expected.fraction, expected.exponent) and percents_agree
    if actual == target:
        return True
    tolerance = max(_exact(params.abs_tol), _relative(actual, target, params) * abs(target))
    if tolerance and abs(actual - target) <= tolerance:
        return True
    figures = params.significant_figures
    return figures is not None and _rounded(actual, figures) == _rounded(target, figures)


_NONE, _MILLIONTH = Fraction(0), Fraction(1, 10**6)


@remember(64)
def _exact(tolerance: float) -> Fraction:
    """The tolerance as an exact fraction of its written form."""
    return Fraction(str(tolerance))


def _relative(actual: Fraction, target: Fraction, params: NumericParams) -> Fraction:
    if params.rel_tol is not None:
        return _exact(params.rel_tol)
    if params.abs_tol or params.significant_figures is not None or 1 in (actual.denominator, target.denominator):
        return _NONE
    return _MILLIONTH if _is_decimal(actual) != _is_decimal(target) else _NONE


def _is_decimal(value: Fraction) -> bool:
    """Whether a value has a finite decimal form."""
    bits = value.denominator.bit_length()
    return pow(10, bits, value.denominator) == 0


def _rounded(value: Fraction, figures: int) -> Fraction:
    """A value rounded to a number of significant figures, halves away from zero."""
    if not value:
        return value
    magnitude = len(str(abs(value.numerator))) - len(str(value.denominator))
    if abs(value) < Fraction(10) ** magnitude:
        magnitude -= 1
    unit = Fraction(10) ** (magnitude - figures + 1)
    steps = (abs(value) / unit + Fraction(1, 2)).__floor__()
    return steps * unit * (1 if value > 0 else -1)


def _example(response: str, reference: Any, score: float | None, reason: str, note: str, **params: Any) -> Example:
    status = Status.OK if score is not None else Status.INVALID
    return Example(response, {"reference": reference, **params}, score, reason, note, status)


EXAMPLES = (
    _example("She pays 3 * 6 = 18 dollars.\n#### 18", "18", 1.0, "correct", "the number behind ####"),
    _example("The answer is 1,250.50 dollars.", 1250.5, 1.0, "correct", "separators and units do not matter"),
    _example(r"\boxed{\frac{1}{3}}", "1/3", 1.0, "correct", "fractions are exact"),
    _example(r"\boxed{0.333}", "1/3", 0.0, "wrong_answer", "a rounded third is not a third"),
    _example(r"\boxed{0.333}", "1/3", 1.0, "correct", "unless a tolerance says so", abs_tol=0.001),
    _example("The result is 41.", 42, 0.0, "wrong_answer", "another number"),
    _example("The answer is between 10 and 20.", 20, 0.0, "conflicting_answers", "a range commits to no number"),
    _example("Answer: 7x+3", 3, 0.0, "unparseable", "ends in 3, but is an expression"),
    _example("So she has forty-two apples.", 42, 1.0, "correct", "in words"),
    _example("The two of them are happy.", 2, 0.0, "no_answer", "words that state no amount"),
    _example("x >= 12", 12, 0.0, "no_answer", "a bound is not a value"),
    _example(r"It was 5, so \boxed{}", 5, 0.0, "no_answer", "an empty box does not make an earlier number the answer"),
    _example("The revenue is $3.5bn.", 3_500_000_000, 1.0, "correct", "scale words"),
    _example("Answer: 12", ["13", "12"], 1.0, "correct", "one of several references"),
    _example("Answer: 3,5", 3.5, 0.0, "conflicting_answers", "looks right in half of the world"),
    _example("Answer: 3,5", 3.5, 1.0, "correct", "which can be said", decimal_comma=True),
    _example("Answer: 9.81", "9.80665", 1.0, "correct", "to three figures", significant_figures=3),
    _example("The answer is 50%.", "0.5", 1.0, "correct", "percent as a fraction", percent_as_fraction=True),
    _example("The answer is 5.", "a few", None, "unparseable_reference", "the reference must be a number"),
)
