"""Finds the whole number that a response states.

The channels find only the digits; this module adds the signs and words that belong to the number.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from msgspec.structs import replace as replace_struct

from verifiers import commitment, numerals
from verifiers.commitment import Channel, amounts, spelled
from verifiers.commitment.asides import without_asides, without_substances
from verifiers.commitment.breakdowns import without_breakdown
from verifiers.commitment.remarks import without_attained
from verifiers.numerals.local import languages_for
from verifiers.rules.numeric import notation, scales
from verifiers.rules.numeric.currencies import SIGNS, currency_end
from verifiers.rules.numeric.reading import PERCENT_BEHIND, read
from verifiers.rules.numeric.values import Number, Unreadable

_WIDER_CHARS = 40
_MARKS = ".,'’\u2009\u202f\u00a0\u200b-\u200f\u2060\ufeff\u00ad"
_HAN_SCALES, _HANGUL_SCALES = "亿億万萬", "억만"
_GROUP_ENDS = re.compile(rf"[ {_MARKS}{_HAN_SCALES}零{_HANGUL_SCALES}]")
_GROUPED = rf"\d{{1,12}}(?:[{_MARKS}]|[{_HAN_SCALES}]零?|[{_HANGUL_SCALES}] ?)"
_SPACED = r"\d{1,3} (?=\d{3}(?: \d{3})*(?:[.,]\d+)?\Z)"
_DIGITS_BEFORE = re.compile(rf"(?<![A-Za-z\d_.,])(?:[{SIGNS}]\s?)?[-−]?(?:{_GROUPED}|{_SPACED})+(?=\d+\Z)")
_THOUSANDS_BEFORE = re.compile(rf"(?:[{SIGNS}]\s?)?[-−]?\d{{1,3}} (?:\d{{3}} )*(?:\d{{3}}[.,])?")
_UNITS_OF_THOUSANDS = "克米瓦"
_BOUND_SIGN = re.compile(r"(?:(?<![\w<])<|(?<=[^\S\n])>|[≤≥])\s?\Z|(?:\A|\n)>\Z")
"""At the start of a line `> ` is the mark of a quotation, but `>5` is a bound."""
_DASH_BEFORE = re.compile(r"(?:\A|[\s=:($])–\Z|(?:\A|\n|[=:($] ?)− \Z")
"""An en dash for a minus sign: nothing between it and the number, and no number before it.

Or a minus sign and a space.
"""
_DOLLAR_BEFORE = re.compile(r"(?<![A-Za-z])(?:US|AU?|CA?|NZ|HK|NT|S)\$\Z")
"""Currency signs that the channel `last_number` does not know: `US$5m`."""
_NAME_BEFORE = re.compile(r"(?<![\w.])[A-Za-z]\w{0,3}\s?=\s?\Z")
"""The name of the first of several numbers: "x = 12, y = 13" must be read as a whole."""
_BARE = re.compile(r"(?:minus|negative)\s\d[\d.,]*|\d[\d.,]*\s?[kKMB]", re.IGNORECASE)
_MAX_BARE_CHARS = 60


@dataclass(frozen=True, slots=True)
class Statement:
    """The number text that a response states, or the reason why it states none."""

    number: Number | None
    reason: str
    """The reason of the verdict, if there is no number."""
    answer: str | None
    detail: Mapping[str, Any]


class _Scene(NamedTuple):
    """A response, and the answer that the channels find in it, which know only figures."""

    response: str
    segment: commitment.Segment
    extraction: commitment.Extraction

    @property
    def final(self) -> str:
        return self.response[self.segment.start : self.segment.end]


def statement(
    response: str, params: commitment.ExtractionParams, decimal_comma: bool, explain: bool = False
) -> Statement:
    """Find the number that the response commits to, in figures or in words."""
    original = response if explain else None
    response = commitment.without_citations(commitment.without_html(commitment.without_struck(response.rstrip())))
    response = without_breakdown(without_attained(notation.with_ascii_marks(without_substances(response))))
    scene = _scene(without_asides(notation.without_modulus(notation.without_remark(response))), params, original)
    if (span := scene.extraction.span) is not None:
        bare = commitment.without_confidence(scene.response, max(0, span[0] - _WIDER_CHARS), span[1] + _WIDER_CHARS)
        scene = scene if bare == scene.response else _scene(bare, params, original)
    if _has_none(scene.extraction) or _is_of_a_power(scene):
        renotated = notation.in_other_signs(scene.response)
        if renotated != scene.response:
            return _as_written(response, _of(_scene(renotated, params, original), params, decimal_comma, explain))
    return _of(scene, params, decimal_comma, explain)


def _as_written(response: str, stated: Statement) -> Statement:
    """The same statement, with the answer in the signs of the original response, which has the same length."""
    span = stated.detail.get("span")
    return stated if stated.answer is None or span is None else replace(stated, answer=response[slice(*span)])


def _of(scene: _Scene, params: commitment.ExtractionParams, decimal_comma: bool, explain: bool) -> Statement:
    words = _in_figures(scene, params)
    if words is not None:
        figures = _scene(words.text, params, words.text if explain else None)
        last = figures.extraction
        if last.channel is Channel.LAST_NUMBER and last.candidates[-1].span[0] == words.start:
            stated = _statement(figures, params, decimal_comma, explain)
            detail = dict(stated.detail)
            if scene.extraction.sent is not None:
                detail["mentions"] = _in_words(figures.extraction, words, scene)
            if stated.answer is None:
                return replace(stated, detail=detail)
            detail["span"] = [words.start, words.end]
            return replace(stated, answer=scene.response[words.start : words.end], detail=detail)
    return _statement(scene, params, decimal_comma, explain)


def _in_words(figures: commitment.Extraction, words: spelled.Spelled, scene: _Scene) -> list[dict[str, Any]]:
    """The mentions of a response whose last number is in words; `figures` are those of the response in figures."""
    span = words.start, words.end
    listed = [replace_struct(m, span=span) if m.span[0] == span[0] else m for m in figures.mentions]
    return [m.as_json(scene.extraction.sent or "") for m in listed if m.span[1] <= span[1]]


def _scene(response: str, params: commitment.ExtractionParams, original: str | None) -> _Scene:
    segment = commitment.final_segment(response, params.think)
    extraction = commitment.extract(response, params, segment=segment, sent=original)
    extraction = commitment.corrected(response, extraction, params.on_conflict)
    extraction = commitment.of_sentence(response, params, extraction)
    if segment.reason == "found" and extraction.channel in (None, Channel.LAST_NUMBER):
        courtesy_end = commitment.without_courtesy(response, segment.start, segment.end)
        segment = commitment.Segment(segment.start, courtesy_end, "found")
    return _Scene(response, segment, extraction)


def _is_of_a_power(scene: _Scene) -> bool:
    """Whether the last number is the exponent or the base of a power: `10^-3`, `10⁻³`."""
    response, _, extraction = scene
    if extraction.channel is not Channel.LAST_NUMBER or extraction.span is None:
        return False
    start, end = extraction.span
    return response.startswith("⁻", end) or response.endswith(("^-", "^−"), max(0, start - 2), start)


def _in_figures(scene: _Scene, params: commitment.ExtractionParams) -> spelled.Spelled | None:
    """The response with its last words in figures, if they may be its number; else None."""
    response, segment, extraction = scene
    is_open = extraction.channel is Channel.LAST_NUMBER or _has_none(extraction)
    if not is_open or params.extract != "auto":
        return None
    start = extraction.candidates[-1].span[1] if extraction.candidates else segment.start
    if not any(map(str.isalpha, response[start : segment.end])):
        return None
    if _has_none(extraction) and _bare(scene) is not None:
        return None
    has_figures = bool(extraction.candidates) or _FIGURE.search(response, start, segment.end) is not None
    return spelled.in_figures(response, start, segment.end, has_figures)


def _has_none(extraction: commitment.Extraction) -> bool:
    return extraction.channel is None and extraction.reason == "no_answer"


_FIGURE = re.compile(r"\d")


def _statement(scene: _Scene, params: commitment.ExtractionParams, decimal_comma: bool, explain: bool) -> Statement:
    answer = _stated(scene, params)
    detail = _judged(scene, answer).detail(explain)
    if answer is None:
        return Statement(None, scene.extraction.reason, None, detail)
    if trouble := _fault(scene):
        return Statement(None, trouble, answer, detail)
    number_text = _TIMES.sub("", _IS.sub(" is ", answer)) if "s " in answer or answer.endswith("s") else answer
    span = scene.extraction.span or (scene.segment.start, scene.segment.end)
    number = read(number_text, decimal_comma, languages_for(answer, scene.response, span))
    if isinstance(number, Unreadable):
        return Statement(None, number.reason, answer, detail)
    return Statement(number, "found", answer, detail)


def _judged(scene: _Scene, answer: str | None) -> commitment.Extraction:
    """The extraction, with the whole text that is read as the number among its mentions."""
    response, segment, extraction = scene
    if answer is None or extraction.sent is None:
        return extraction
    if extraction.channel is None:
        first = response.index(answer, segment.start)
        return commitment.judged_at(extraction, (first, first + len(answer)))
    if extraction.channel is Channel.ANSWER_TAG and extraction.span is not None:
        return commitment.judged_at(extraction, commitment.stated(response, *extraction.span))
    span = extraction.span or (extraction.candidates[-1].span if extraction.candidates else None)
    if extraction.channel is not Channel.LAST_NUMBER or span is None:
        return extraction
    first = span[0] - max(0, answer.rfind(response[slice(*span)]))
    is_text = response.startswith(answer, first)
    return commitment.judged_at(extraction, (first, first + len(answer))) if is_text else extraction


_TIMES = re.compile(r"(?<=\d) times\.?\Z")
"""A noun at the end of an answer, as in "6 times"; before another word it is an operator."""
_IS = re.compile(r"(?:(?<=it)|(?<=he)|(?<=that)|(?<=here))['’]s\s", re.IGNORECASE)
"""The contracted verb of "it's 12". Without this, `s` would be read as a variable."""


def _stated(scene: _Scene, params: commitment.ExtractionParams) -> str | None:
    """The answer. A last number is extended by the signs beside its digits that change its value.

    The channel reads `3,5` and `1 000` as several numbers, and `$3bn` and `5 cents` as 3 and 5.
    """
    response, _, extraction = scene
    if _has_none(extraction) and params.extract == "auto":
        return _bare(scene)
    if extraction.channel is Channel.ANSWER_TAG and extraction.answer is not None and extraction.span is not None:
        is_as_written = extraction.answer == response[slice(*extraction.span)]
        return response[slice(*commitment.stated(response, *extraction.span))] if is_as_written else extraction.answer
    if extraction.channel is not Channel.LAST_NUMBER or not extraction.candidates:
        return extraction.answer
    if extraction.reason not in ("found", "conflicting_answers"):
        return None
    start, end = extraction.span or extraction.candidates[-1].span
    text = response[start:end]
    digits = len(text) - len(text.lstrip("0123456789"))
    is_grouped = digits > 0 and start > 0 and _GROUP_ENDS.match(response, start - 1) is not None
    lead_digits = _DIGITS_BEFORE.search(response[max(0, start - _WIDER_CHARS) : start + digits]) if is_grouped else None
    if extraction.answer is None and not (lead_digits and _THOUSANDS_BEFORE.fullmatch(lead_digits[0])):
        return None
    head = response[max(0, start - _WIDER_CHARS) : start]
    bound = _BOUND_SIGN.search(head) if head.rstrip()[-1:] in "<>≤≥" else None
    sign = "-" if _DASH_BEFORE.search(response[max(0, start - 4) : start]) else ""
    sign = "$" if _DOLLAR_BEFORE.search(response[max(0, start - 4) : start]) else sign
    name = _NAME_BEFORE.search(head) if "=" in text else None
    is_need = commitment.tells_need(response, scene.segment, (start, end))
    lead = bound[0] if bound else ("" if is_need else amounts.bound_before(head)) or (name[0] if name else sign)
    return lead + (lead_digits[0] if lead_digits else "") + text + _told_behind(scene, (start, end), head)


def _told_behind(scene: _Scene, span: tuple[int, int], head: str) -> str:
    """The text behind the digits of a number that belongs to it: a scale, percent in words, a currency, a bound."""
    start, end = span
    text, tail = scene.response[start:end], scene.response[end : end + _WIDER_CHARS]
    languages = languages_for(text + tail, scene.response, span)
    remainder = scales.scale_behind(tail, head.rstrip().endswith(tuple(SIGNS)) or text[0] in SIGNS, languages)[1]
    if text[-1] in "千十百" and tail[:1] in _UNITS_OF_THOUSANDS:
        remainder = tail[1:]
    if percent := PERCENT_BEHIND.match(remainder):
        remainder = remainder[percent.end() :]
    remainder = remainder[currency_end(remainder) :]
    remainder = remainder[len(amounts.bound_behind(remainder)) :]
    return tail[: len(tail) - len(remainder)]


def _bare(scene: _Scene) -> str | None:
    """The whole response, if it is a number in a form that the channels do not know; else None."""
    if scene.segment.reason != "found" or len(scene.final) > _MAX_BARE_CHARS:
        return None
    text = scene.final.strip(" .*")
    return text if _BARE.fullmatch(text) or numerals.value(text) is not None else None


_MAX_LISTED_CHARS = 2_000
_FENCE = re.compile(r"(?m)^\s{0,3}(?:```|~~~).*$")
_BETWEEN = re.compile(r"[\n;|\[\]{}\"]|,\s|\)\s{0,4}\(")
_LISTED = re.compile(r"(?:[-*•]\s)?\s?(?:(?P<name>[A-Za-z]\w{0,3})\s?=\s?)?[-−+]?[$€£]?\d[\d.,/]*%?")
_FLOOD = 3


_OPERATOR_BEFORE = re.compile(r"[A-Za-z\d)\]](?:\*\*|\s\*\*\s|\s?(?://|±|\+/-|\\pm)\s?|(?<=\d)分之\s?)\Z")
_CUT_OFF = re.compile(r"[\w)\]}]\s?(?:[-+×÷/^=−–]|\s\*)\s*\Z")
"""An operator at the end of a text that was cut off: "3 +"."""
_CUT_OFF_CHARS = 8
_BASES = frozenset("₀₁₂₃₄₅₆₇₈₉")
_OPERATOR_ENDS = frozenset("*/±-m之")
"""Asterisks with a word before them and no word behind are not emphasis."""


def _fault(scene: _Scene) -> str | None:
    """The reason of the verdict, if the response does not state its number; else None."""
    response, _, extraction = scene
    if extraction.span is None:
        return None
    start = extraction.span[0]
    if extraction.channel is not Channel.LAST_NUMBER:
        if commitment.names_several(extraction.answer or ""):
            return "conflicting_answers"
        return "unparseable" if commitment.wavers(extraction.answer or "") else None
    if (
        _is_of_a_power(scene)
        or _CUT_OFF.search(scene.final[-_CUT_OFF_CHARS:])
        or response[extraction.span[1] :][:1] in _BASES
    ):
        return "unparseable"
    head = response[max(0, start - _WIDER_CHARS) : start]
    if not any(map(str.isdigit, response[:start])) and amounts.tells_side(head):
        return "unparseable"
    if head.rstrip()[-1:] in _OPERATOR_ENDS and _OPERATOR_BEFORE.search(head):
        return "unparseable"
    return "conflicting_answers" if _is_one_of_two(scene) or _is_list(scene.final) else None


def _is_one_of_two(scene: _Scene) -> bool:
    """Whether the last two numbers are a choice or a range, in words that the channel does not know."""
    response, _, extraction = scene
    if len(extraction.candidates) < 2:
        return False
    (start, end), (last, _) = (candidate.span for candidate in extraction.candidates[-2:])
    return amounts.are_alternatives(response, max(0, start - _WIDER_CHARS), (start, end), last)


def _is_list(text: str) -> bool:
    """Whether a response is only a list of different numbers, without a mark on the last one."""
    if len(text) > _MAX_LISTED_CHARS:
        return False
    text = _FENCE.sub("", text)
    pieces = [piece.strip(" \t*`'.,()") for piece in _BETWEEN.split(text)]
    distinct = {piece for piece in pieces if piece}
    listed = [_LISTED.fullmatch(piece) for piece in distinct]
    return len(distinct) >= _FLOOD and len({match and match["name"] for match in listed}) == 1 and None not in listed
