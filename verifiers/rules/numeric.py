r"""The one committed number of the response equals the reference number.

Numbers are exact rationals made from their text (`0.1` is 1/10, `1/3` is 1/3): thousands separators, decimals, fractions
(`3/4`, `\frac{3}{4}`, `½`), mixed numbers (`2 1/4`), powers of ten (`1.2e5`, `1.2 \times 10^5`), percent, a currency sign,
full-width and other Unicode digits, scale words (`3 million`, `3万`). A unit behind the number is not judged. An answer
that offers a range, a choice, a bound ("5 or more") or several numbers commits to none of them, and an expression
(`7x+3`, `2^10`) is not a number.

Without tolerances the numbers must be equal. `abs_tol` and `rel_tol` (of the reference) accept whichever is wider.
Numbers beyond 10^±2000 are compared by their digits and exponent and never written out; tolerances do not reach there.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field, StrictFloat, StrictInt, StrictStr

from sandbox.workers import Workers
from verifiers import answers, long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.long_texts import judge_all


class NumericParams(answers.ExtractionParams):
    """What the number must be, and how near."""

    reference: StrictInt | StrictFloat | StrictStr
    """The number; as text it may be written in any form a response may use."""
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    rel_tol: Annotated[float, Field(ge=0)] = 0.0
    percent_as_fraction: bool = False
    """Whether 50% is 1/2. Otherwise the sign is a unit: 50% is 50."""


class Numeric(Verifier[NumericParams]):
    name = "numeric"
    version = "1"
    params = NumericParams
    summary = "The one committed number equals the reference, exactly or within a tolerance"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[NumericParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> Numeric:
    resources.workers.register(long_texts.JUDGE)
    return Numeric(resources.workers)


def judge(response: str, params: NumericParams, explain: bool = False) -> Verdict:
    expected = _reference(str(params.reference))
    if expected is None:
        message = f"reference {clip(str(params.reference))!r} is not one finite number"
        return Verdict.invalid("unparseable_reference", message)
    extraction = answers.extract(response, params)
    if extraction.answer is None:
        return Verdict.wrong(extraction.reason, **extraction.detail(explain))
    number = read(extraction.answer)
    detail = extraction.detail(explain)
    if isinstance(number, Unreadable):
        return Verdict.wrong(number.reason, extraction.answer, **detail)
    if explain:
        detail |= {"compared": {"answer": number.show(), "reference": expected.show()}}
    same = _equal(number, expected, params)
    return (
        Verdict.correct(extraction.answer, **detail) if same else Verdict.wrong(extracted=extraction.answer, **detail)
    )


@dataclass(frozen=True, slots=True)
class Number:
    """`fraction` times 10 to the `exponent`, and the signs that stood beside it."""

    fraction: Fraction
    exponent: int = 0
    """Not 0 only when `fraction` is an integer that does not end in 0."""
    is_percent: bool = False
    currency: str = ""

    def value(self, percent_as_fraction: bool) -> Fraction | None:
        """The number written out; None when it is too large or too small for that."""
        if self.exponent and abs(self.exponent) > _MAX_EXPONENT:
            return None
        value = self.fraction * Fraction(10) ** self.exponent
        return value / 100 if self.is_percent and percent_as_fraction else value

    def show(self) -> str:
        shown = f"{self.fraction}e{self.exponent}" if self.exponent else str(self.fraction)
        return (clip(shown) or "") + ("%" if self.is_percent else "")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a text is not one number: `unparseable`, or `conflicting_answers` when it names several."""

    reason: str


def read(text: str) -> Number | Unreadable:
    """The number that a short text states; linear in its length."""
    if len(text) > _MAX_TEXT_CHARS:
        return Unreadable("unparseable")
    return _read_again(text) if len(text) <= _MAX_REMEMBERED_CHARS else _read(text)


_MAX_REMEMBERED_CHARS = 64


@lru_cache(maxsize=8192)
def _read_again(text: str) -> Number | Unreadable:
    """References, and answers to the same question, are the same few texts over and over."""
    return _read(text)


def _read(text: str) -> Number | Unreadable:
    text = _plain(text)
    sides = _EQUALS.split(text)
    text = sides[-1]
    found = list(_NUMBER.finditer(text))
    if not found:
        return Unreadable("unparseable")
    if len(found) > 1:
        return Unreadable("conflicting_answers" if _several(text, found) else "unparseable")
    match = found[0]
    before, after = text[: match.start()], text[match.end() :]
    if any(_HEDGE.search(wording) for wording in (*sides[:-1], before, after)):
        return Unreadable("conflicting_answers")
    scale, after = _scale(after)
    negative = _NEGATIVE_WORD.search(before)
    if not _is_wording(before[: negative.start()] if negative else before) or not _is_unit(after):
        return Unreadable("unparseable")
    number = _number(match)
    if number is None:
        return Unreadable("unparseable")
    return _scaled(number, scale, negative is not None)


@lru_cache(maxsize=4096)
def _reference(text: str) -> Number | None:
    number = read(text)
    return number if isinstance(number, Number) else None


def _equal(number: Number, expected: Number, params: NumericParams) -> bool:
    if number.currency and expected.currency and number.currency != expected.currency:
        return False
    left, right = number.value(params.percent_as_fraction), expected.value(params.percent_as_fraction)
    if left is None or right is None:
        percents_agree = number.is_percent == expected.is_percent or not params.percent_as_fraction
        return (number.fraction, number.exponent) == (expected.fraction, expected.exponent) and percents_agree
    if left == right:
        return True
    tolerance = max(Fraction(str(params.abs_tol)), Fraction(str(params.rel_tol)) * abs(right))
    return abs(left - right) <= tolerance


# --- reading

_MAX_TEXT_CHARS = 4000
_MAX_DIGITS = 1000
_MAX_EXPONENT = 2000
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT_RUN = re.compile(r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_CURRENCY = "$€£¥₹"
_COMMANDS = re.compile(
    r"\\(?:left|right|displaystyle|[,;:! ]|quad|qquad)(?![A-Za-z])|\\(?=[$%])|\{(?=,\})|(?<=,)\}|[`~]|\*\*"
)
_WRAPPER = re.compile(r"\\(?:text|textbf|textit|mathbf|mathrm|mathit|boldsymbol|bm|bf)\s?\{([^{}]*)\}")
_UNIT_POWER = re.compile(r"(?<=[A-Za-z}])\s?\^\s?(?:\{\s?[-]?[1-9]\s?\}|[-]?[1-9])(?![\d.])|\^\s?\{?\s?\\?circ\s?\}?")
_EQUALS = re.compile(r"\\approx(?![A-Za-z])|[=≈]|:(?!\d)")
_DECIMAL = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d*)?|\.\d+"
_NUMBER = re.compile(
    rf"""(?<![A-Za-z\d_.^\\])
    (?P<sign>[-+]?)\s?(?P<currency>[{_CURRENCY}]?)\s?(?P<inner_sign>-?)
    (?:
        (?:(?P<whole>\d+)\s?)?\\[dt]?frac\s?(?:\{{\s?(?P<top>-?\d+)\s?\}}\s?\{{\s?(?P<bottom>-?\d+)\s?\}}|(?P<two>\d\d))
      | (?P<mixed>\d+)\s(?P<mixed_top>\d+)\s?[/⁄]\s?(?P<mixed_bottom>\d+)
      | (?P<decimal>{_DECIMAL})
        (?:[eE](?P<e>[-+]?\d{{1,9}})|\s?(?:\\times|\\cdot|[x×*·])\s?10\s?\^\s?\{{?\s?(?P<power>[-+]?\d{{1,9}})\s?\}}?)?
        (?:\s?[/⁄]\s?(?P<divisor>{_DECIMAL}))?
    )
    (?P<percent>\s?%)?(?![\d^])""",
    re.VERBOSE,
)
_HEDGE = re.compile(
    r"(?<![A-Za-z\\])(?:or|either|not|between|if|unless|otherwise|more|less|fewer|greater|smaller|least|most|than|over|under"
    r"|above|below|exceeds?|half|dozen|plus|times|squared|cubed|infinit\w*|nan)(?![A-Za-z])|[或不至到]|以上|以下|超过|多于|少于",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"\s?(?:-|–|—|~|to|and|or|,|;|、|或|和|至|到)\s?", re.IGNORECASE)
_NEGATIVE_WORD = re.compile(r"\b(?:negative|minus)\s?$|负$", re.IGNORECASE)
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "千": 3, "万": 4, "百万": 6, "亿": 8}
_SCALE = re.compile(r"\s?(thousand|million|billion|trillion|百万|千|万|亿)(?![a-z])", re.IGNORECASE)
_ONE_LETTER_UNITS = frozenset("mgshlLCFKNJWVAdMt")
_WORD = re.compile(r"[^\W\d_]+")
_OUTSIDE_WORDS = re.compile(r"[\s.,;!?'\"()$°²³/%-]*")


def _plain(text: str) -> str:
    """Without the markup that changes no value; superscript digits become powers before NFKC makes them digits."""
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run[0].translate(_SUPERSCRIPTS), text)
    text = re.sub(r"(\d)(?=[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])", r"\1 ", text)
    text = answers.fold(text).replace("−", "-").replace("﹣", "-").strip()
    text = _WRAPPER.sub(r" \1 ", _COMMANDS.sub("", text))
    text = re.sub(r"(?<=\d)[\u2009\u202f\u00a0](?=\d{3}(?!\d))", "", text)
    if text.startswith("$") and text.endswith("$"):
        text = text[1:-1]
    return _UNIT_POWER.sub("", text).strip().removesuffix(".")


def _several(text: str, found: Sequence[re.Match[str]]) -> bool:
    gaps = (text[left.end() : right.start()] for left, right in pairwise(found))
    return all(
        _SEVERAL.search(gap) or not gap.strip() or max(map(len, _WORD.findall(gap)), default=0) > 1 for gap in gaps
    )


def _scale(after: str) -> tuple[int, str]:
    match = _SCALE.match(after)
    return (_SCALES[match[1].lower()], after[match.end() :]) if match else (0, after)


def _is_wording(before: str) -> bool:
    """Words before the number; a lone letter or an operator would make it part of an expression."""
    words = _WORD.findall(before)
    return _is_words(before, words) and not any(
        word.isascii() and len(word) == 1 and word not in "aI" for word in words
    )


def _is_unit(after: str) -> bool:
    words = _WORD.findall(after)
    lone = [word for word in words if word.isascii() and len(word) == 1 and word not in "aI"]
    return _is_words(after, words) and all(word in _ONE_LETTER_UNITS for word in lone)


def _is_words(text: str, words: Sequence[str]) -> bool:
    rest = _WORD.sub("", text)
    return _OUTSIDE_WORDS.fullmatch(rest) is not None and not ("-" in rest and not words) and "/ " not in rest


def _number(match: re.Match[str]) -> Number | None:
    if any(len(group or "") > _MAX_DIGITS for group in match.groups()):
        return None
    exponent = int(match["e"] or match["power"] or 0)
    if (match["divisor"] and exponent) or (match["sign"] and match["inner_sign"]):
        return None
    fraction = _fraction(match)
    if fraction is None:
        return None
    if "-" in (match["sign"], match["inner_sign"]):
        fraction = -fraction
    fraction, exponent = _normal(fraction, exponent)
    return Number(fraction, exponent, bool(match["percent"]), match["currency"])


def _fraction(match: re.Match[str]) -> Fraction | None:
    whole, top, bottom = match["whole"], match["top"], match["bottom"]
    if match["two"]:
        top, bottom = match["two"][0], match["two"][1]
    if match["mixed"]:
        whole, top, bottom = match["mixed"], match["mixed_top"], match["mixed_bottom"]
    if top is not None:
        return int(whole or 0) + Fraction(int(top), int(bottom)) if int(bottom) else None
    divisor = _decimal(match["divisor"]) if match["divisor"] else Fraction(1)
    return _decimal(match["decimal"]) / divisor if divisor else None


def _decimal(text: str) -> Fraction:
    whole, _, decimals = text.replace(",", "").partition(".")
    return Fraction(int(whole + decimals or "0"), 10 ** len(decimals))


def _normal(fraction: Fraction, exponent: int) -> tuple[Fraction, int]:
    """Small exponents are written out; of the others, an integer that does not end in 0 remains."""
    if abs(exponent) <= _MAX_EXPONENT or not fraction:
        return (fraction * Fraction(10) ** exponent, 0) if fraction else (Fraction(0), 0)
    while fraction.denominator != 1:
        fraction, exponent = fraction * 10, exponent - 1
    numerator = fraction.numerator
    while numerator % 10 == 0:
        numerator, exponent = numerator // 10, exponent + 1
    return Fraction(numerator), exponent


def _scaled(number: Number, scale: int, negative: bool) -> Number:
    fraction = -number.fraction if negative else number.fraction
    if number.exponent:
        return Number(fraction, number.exponent + scale, number.is_percent, number.currency)
    return Number(fraction * 10**scale, 0, number.is_percent, number.currency)


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
    _example(r"It was 5, so \boxed{}", 5, 0.0, "no_answer", "an empty box does not make an earlier number the answer"),
    _example("The answer is 50%.", "0.5", 1.0, "correct", "percent as a fraction", percent_as_fraction=True),
    _example("The answer is 5.", "five", None, "unparseable_reference", "the reference must be a number"),
)
