"""Takes a first look at a response: finds its answer, and gives the verdict if the answer need not be read for it.

    response ──commitment.extract──► Found ─┬─ exact.decide: as the reference is written, or two plain numbers ──► Verdict
                                         └─ anything else ──► None: it has to be read (grading.py)

The first look is linear in the text and builds nothing large. It runs in the service process for a few short responses,
and in a worker for many or long ones; the result is the same.
"""

import re
from typing import Any

import msgspec

from memory import remember
from sandbox.workers import worker_function
from verifiers.base import Status, Verdict, clip
from verifiers.commitment import (
    MATH_CHANNELS,
    Channel,
    ExtractionParams,
    OnConflict,
    Think,
    corrected,
    extract,
    judged_at,
    of_sentence,
    says_what_is,
    stated,
    wavers,
    without_confidence,
    without_html,
    without_other_fields,
    without_struck,
)
from verifiers.commitment.asides import ends_in_mark, with_approximation, without_asides, without_substances
from verifiers.commitment.breakdowns import without_breakdown
from verifiers.commitment.letters import LETTERS
from verifiers.commitment.mentions import without_answer
from verifiers.commitment.remarks import without_remark
from verifiers.math import units
from verifiers.math.exact import decide, is_number, unwrap
from verifiers.math.labelled_boxes import of_parts
from verifiers.math.limits import MAX_READ_CHARS
from verifiers.math.moments import date, with_iso_days, written_day
from verifiers.math.options import Options
from verifiers.math.said import said_last
from verifiers.numerals import parts
from verifiers.numerals.local import in_english, languages_for, with_point, without_blanks
from verifiers.numerals.scales import scale_word
from verifiers.own_answers import STAND_IN


class Terms(msgspec.Struct, array_like=True, frozen=True):
    """The parameters by which responses are judged, in the form that is sent to workers."""

    references: list[str]
    options: Options
    extraction: str
    """`ExtractionParams` as JSON."""


class Found(msgspec.Struct, array_like=True, frozen=True):
    """The answer that was found in a response."""

    answer: str | None
    """The answer, cut to `MAX_READ_CHARS` + 1 characters: a longer answer is not read."""
    reason: str
    """The reason why there is no answer."""
    detail: dict[str, Any]
    """The part of a verdict's detail that describes the extraction."""


class Batch(msgspec.Struct, array_like=True, frozen=True):
    """Responses that are looked at together."""

    terms: list[Terms]
    sound: list[bool]
    """For each of `terms`, whether its references are known to be sound; if not, nothing is decided by them."""
    which: list[int]
    """For each response, its place in `terms`."""
    responses: list[str]
    explain: list[bool]


class BatchResult(msgspec.Struct, array_like=True, frozen=True):
    """The result of a first look at a batch."""

    verdicts: list[Verdict | None]
    """One verdict for each response; None if its answer has to be read."""
    found: list[Found]
    """The answers that belong to each None in `verdicts`, in order."""


encode = msgspec.msgpack.Encoder().encode
_decode_batch = msgspec.msgpack.Decoder(Batch).decode
decode_result = msgspec.msgpack.Decoder(BatchResult).decode


@worker_function
def look_in_worker(packed: bytes) -> bytes:
    """Take the first look at each response of a packed `Batch`; the packed `BatchResult`. Runs in a worker."""
    batch = _decode_batch(packed)
    looks = [FirstLook(terms) for terms in batch.terms]
    verdicts: list[Verdict | None] = []
    unsettled: list[Found] = []
    for position, response, explain in zip(batch.which, batch.responses, batch.explain, strict=True):
        finding = looks[position].find(response, explain)
        verdict = looks[position].settle(finding) if batch.sound[position] else None
        verdicts.append(verdict)
        if verdict is None:
            unsettled.append(finding)
    return encode(BatchResult(verdicts, unsettled))


class FirstLook:
    """Takes the first look at responses that share the same terms."""

    __slots__ = (
        "_is_numeric", "_is_plain", "_names_numbers", "_params", "_references", "_tolerance", "_wants_day", "is_sound", "packed_options", "terms",
    )  # fmt: skip

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.packed_options = terms.options.packed()
        self._references = [reference for reference in terms.references if reference != STAND_IN]
        self.is_sound = all(map(is_number, self._references))
        """Whether the references are known to be sound: a number is, anything else when a worker has read it."""
        self._is_plain = terms.options.is_plain or not self._references
        self._names_numbers = self.is_sound
        """Whether numbers are asked for. It never changes, so that an answer is read alike for the first sample and the last."""
        self._wants_day = not self.is_sound and any(map(_is_day, terms.references))
        self._is_numeric = self.is_sound and terms.options.unit is None
        self._tolerance = terms.options.tolerance
        self._params = _extraction_params(terms.extraction)

    def find(self, response: str, explain: bool) -> Found:
        """Find the answer of a response."""
        source = response if explain else None
        response = without_other_fields(without_html(without_struck(response.rstrip())))
        response = without_confidence(response, max(0, len(response) - _AROUND_CHARS), len(response))
        response = response if ends_in_mark(response) else self._without_remarks(response)
        extraction = extract(response, self._params, MATH_CHANNELS, sent=source)
        extraction = corrected(response, extraction, self._params.on_conflict)
        if self._names_numbers:
            extraction = of_sentence(response, self._params, extraction)
        if self._wants_day and (extraction.answer is None or date(extraction.answer) is None):
            in_figures = with_iso_days(response)
            dated = corrected(
                in_figures, extract(in_figures, self._params, MATH_CHANNELS, sent=source), self._params.on_conflict
            )
            if dated.answer is not None and dated.span is not None and date(dated.answer) is not None:
                day = written_day(response, in_figures, dated.span)
                return Found(response[slice(*day)], dated.reason, judged_at(dated, day).detail(explain))
        answer = extraction.answer
        if extraction.channel in _MARKS and answer is not None and self._is_left_open(answer):
            kept = msgspec.structs.replace(extraction, mentions=without_answer(extraction.mentions))
            return Found(None, "unparseable", kept.detail(explain))
        sentence_span = said_last(response, self._references, self._params, extraction) if answer is None else None
        if sentence_span is not None:
            return Found(response[slice(*sentence_span)], "found", judged_at(extraction, sentence_span).detail(explain))
        if (labelled := of_parts(response, extraction, self._references)) is not None:
            return Found(labelled.text, "found", judged_at(extraction, labelled.span).detail(explain))
        is_said = extraction.channel in _SAID and extraction.span is not None
        if extraction.span is not None and is_said and answer == response[slice(*extraction.span)]:
            span = stated(response, *extraction.span)
            answer = response[slice(*span)]
            extraction = judged_at(extraction, span)
        if (
            self._names_numbers
            and answer is not None
            and extraction.span
            and extraction.channel is Channel.FINAL_STATEMENT
        ):
            first = max(0, extraction.span[0] - _AROUND_CHARS)
            answer = answer if says_what_is(response, first, extraction.span) else _value_of(answer)
            answer = _last_sum(answer) or answer
        if answer is not None and extraction.span is not None and not is_number(answer):
            figures = parts.in_figures(answer, response[: extraction.span[1]][-_AROUND_CHARS:])
            is_cut_out = figures != answer and extraction.channel is Channel.LAST_NUMBER
            answer = _without_noun(figures) if is_cut_out else figures
        if answer is not None and extraction.channel in _CUT_OUT and extraction.span is not None:
            sign = "" if self._is_numeric else _currency(response, answer, extraction.span[0])
            answer = sign + answer + behind(response, answer, extraction.span[1], with_units=not self._is_numeric)
        if answer is not None and extraction.span is not None and not is_number(answer):
            answer = in_english(without_blanks(answer, response, extraction.span), response, extraction.span)
            answer = with_point(answer, response, extraction.span) if self._names_numbers else answer
        if self._names_numbers and answer is not None and answer[:1] == "[" and _BRACKETED.fullmatch(answer):
            answer = answer[1:-1]
        if answer is not None and len(answer) > MAX_READ_CHARS:
            answer = answer[: MAX_READ_CHARS + 1]
        return Found(answer, extraction.reason, extraction.detail(explain))

    def _without_remarks(self, response: str) -> str:
        """A response without what its end says of its value."""
        response = without_substances(response) if self._names_numbers else response
        response = without_remark(with_approximation(without_asides(response)))
        return without_breakdown(response) if self._names_numbers else response

    def _is_left_open(self, answer: str) -> bool:
        """Whether words in a mark doubt its number: "42 (placeholder)"; they may be the reference's own."""
        return any(map(str.isdigit, answer)) and wavers(answer) and not any(map(wavers, self._references))

    def settle(self, finding: Found) -> Verdict | None:
        """The verdict if it can be given without reading the answer; the references must be sound."""
        answer = finding.answer
        if answer is None:
            return Verdict(_OK, 0.0, finding.reason, None, finding.detail)
        if len(answer) > MAX_READ_CHARS:
            return Verdict(_OK, 0.0, "too_complex", clip(answer), finding.detail)
        if not self._is_plain:
            return None
        is_clear = True
        for reference in self._references:
            decision = decide(reference, answer, self._tolerance)
            if decision is None:
                is_clear = False
            elif decision[0]:
                return Verdict(_OK, 1.0, "correct", clip(answer), {**finding.detail, "method": decision[1]})
        if not is_clear:
            return None
        return Verdict(_OK, 0.0, "wrong_answer", clip(answer), {**finding.detail, "method": "exact"})


_BRACKETED = re.compile(r"\[\s?[-−]?\d{1,12}\s?\]")
"""An integer in the brackets of a template, "Answer: [num]"; it is its own integral part, too."""


def _value_of(equation: str) -> str:
    """The number that a last sentence says an expression of several letters has, where a number was asked for: `x + y = 5`."""
    left, *between, right = equation.split("=") if "=" in equation else ("", equation)
    letters = set(_LETTER.findall(_COMMAND.sub(" ", left)))
    is_value = len(letters) > 1 and is_number(right.strip()) and not any(map(_LETTER.search, between))
    is_value = is_value and not _RELATION.search(left)
    return right.strip() if is_value else equation


def _last_sum(statement: str) -> str | None:
    """The number that the last of several formulas gives to a sum of letters: "$m = 2$ and $n = 21$, and $m + n = 23$"; None if none does."""
    formulas = _FORMULA.findall(statement)
    sides = formulas[-1].strip("$\\() ").split("=") if len(formulas) > 1 else []
    if len(sides) < _FEWEST_SIDES:
        return None
    left, *between, right = sides
    is_sum = _SUM.fullmatch(left) is not None and is_number(right.strip())
    return right.strip() if is_sum and not any(map(_LETTER.search, between)) else None


_FORMULA = re.compile(r"\$[^$]{1,120}\$|\\\((?:(?!\\\)).){1,120}\\\)")
_FEWEST_SIDES = 2
_SUM = re.compile(r"\s?\d{0,4}[a-z](?:\s?[-+]\s?\d{0,4}[a-z]){1,4}\s?")
_LETTER, _COMMAND, _RELATION = (
    re.compile(r"[a-z]"),
    re.compile(r"\\[a-zA-Z]+"),
    re.compile(r"[<>≤≥≠≈]|\\(?:[ngl]e|[lg]t|approx)"),
)


def _is_day(reference: str) -> bool:
    return _LIKE_A_DAY.fullmatch(reference) is not None and date(unwrap(reference)) is not None


_LIKE_A_DAY = re.compile(r"(?=[^\d]{0,20}\d)[^\\{}^=+*<>|()]{6,60}")
_OK = Status.OK
_AROUND_CHARS = 300
_SAID = (Channel.ANSWER_LINE, Channel.ANSWER_TAG)
_MARKS = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4)
_CUT_OUT = (Channel.ANSWER_TAG, Channel.BOXED, Channel.LAST_NUMBER)
_UNIT_IN_FORMULA = re.compile(r"\s?\\(?:mathrm|text|rm)(?![A-Za-z])[^$\n]{1,60}?(?=\$|\\[)\]])")
_SCIENTIFIC = re.compile(r"[-−+]?\d[\d.]{0,40}\s?(?:\\times|\\cdot|[×·])\s?10\s?\^\s?\{?\s?[-−]?\d{1,3}\s?\}?")
_GAP = re.compile(r"(?:[\s}$*\\)]|</answer>){0,6}")
_DEGREE = re.compile(r"(?:°|\^\s?(?:\\circ|\{\s?\\circ\s?\}))\Z")
_SCALE_OF_DEGREES = re.compile(r"[\s$}]{0,3}(?:\\(?:text|mathrm)\s?\{)?\s?(?P<letter>[CF])(?![A-Za-z])")
_CURRENCY_BEFORE = re.compile(r"(?P<sign>[€£¥￥₹₩₽₺]|\\\$)[\s$*]{0,2}(?:\\boxed\s?\{|<answer>)\s{0,2}\Z")
_CURRENCY_CHARS = 24
_UNIT = re.compile(rf"(?:°\s?)?{LETTERS.pattern}(?:[/ ]{LETTERS.pattern}){{0,3}}")
_SCALE_CHARS = 26
_PLAIN_WORDS = frozenset(["in", "as", "a", "at", "do", "me", "us", "is", "so", "A", "I", "am", "or", "and", "to"])
_MAX_HAN = 5
_UNSPACED = "\u0e00"
_UNIT_CHARS = 60


def behind(response: str, answer: str, end: int, with_units: bool) -> str:
    r"""The scale word or unit right behind a number that a mark or a sentence held: `36 grams`, `\boxed{3}` million.

    Units are read only if the reference may have one. Otherwise a unit is ignored, and reading it would only take time.
    """
    if with_units and is_number(answer) and (unit_match := _UNIT_IN_FORMULA.match(response, end)):
        return unit_match[0] if (key := units.key(unit_match[0])) is not None and units.is_known(key) else ""
    if with_units and _DEGREE.search(answer) and (degrees := _SCALE_OF_DEGREES.match(response, end)):
        return f" {degrees['letter']}"
    gap = _GAP.match(response, end)
    if gap is None or not (is_number(answer) or _SCIENTIFIC.fullmatch(answer)):
        return ""
    offset = gap.end()
    tail = response[offset : offset + _SCALE_CHARS]
    scale = scale_word(tail, frozenset())
    if scale and scale_word(tail, languages_for(answer + scale, response, (end, offset + len(scale)))) == scale:
        return f" {scale}"
    unit = _unit(response[offset : offset + _UNIT_CHARS]) if with_units else ""
    return rf" \text{{ {unit}}}" if unit else ""


def _currency(response: str, answer: str, start: int) -> str:
    r"""The sign of a currency before the mark of a number: `€\boxed{25}`."""
    sign = _CURRENCY_BEFORE.search(response, max(0, start - _CURRENCY_CHARS), start) if is_number(answer) else None
    return sign["sign"] if sign else ""


def _unit(tail: str) -> str:
    """The longest unit at the beginning of a text: "degrees Celsius below" begins with two words of one, 小时后 with two letters."""
    words = _UNIT.match(tail)
    if words is None:
        return "°" if tail.startswith("°") else ""
    word_ends = [word.end() for word in LETTERS.finditer(words[0])]
    first = words[0][: word_ends[0]]
    if first in _PLAIN_WORDS:
        return ""
    names = [words[0][:end] for end in reversed(word_ends)]
    if first[-1] >= _UNSPACED:
        names += [first[:length] for length in range(min(len(first) - 1, _MAX_HAN), 0, -1)]
    keys = ((name, units.key(name)) for name in names)
    is_sign = "°" if tail.startswith("°") else ""
    return next((name for name, key in keys if key is not None and _is_one(key)), is_sign)


def _is_one(key: str) -> bool:
    """Whether a key is a known unit and no product: "5 m in" has no metre-inch."""
    return "·" not in key and units.is_known(key)


def _without_noun(answer: str) -> str:
    """A number without a noun that is not a unit: "8.5 ore" was cut out of prose for the half behind it."""
    counted = _COUNTED.fullmatch(answer)
    unit = units.key(counted[2]) if counted else None
    return answer if counted is None or (unit is not None and units.is_known(unit)) else counted[1]


_COUNTED = re.compile(r"(\d+(?:\.\d+|/\d+)?) ?([^\W\d_]\S{0,16})")


@remember(256)
def packed_extraction(think: Think, extract: Any, on_conflict: OnConflict) -> str:
    """The parameters of extraction, packed for a worker."""
    return ExtractionParams(think=think, extract=extract, on_conflict=on_conflict).model_dump_json()


@remember(256)
def _extraction_params(packed: str) -> ExtractionParams:
    return ExtractionParams.model_validate_json(packed)
