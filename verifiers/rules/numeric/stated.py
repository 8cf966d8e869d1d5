"""The number that a response states, whole.

Those who look for the last number of a text stop at what is no digit.
"""

import re

from verifiers import answers
from verifiers.answers import Channel
from verifiers.math import numerals
from verifiers.rules.numeric.currencies import CURRENCY_NAME

_WIDER_CHARS = 40
_DIGITS_BEFORE = re.compile(
    r"(?<![A-Za-z\d_.,])(?:[$€£¥₹₩₽]\s?)?[-−]?"
    r"(?:\d{1,12}(?:[.,'’\u2009\u202f\u00a0\u200b-\u200f\u2060\ufeff\u00ad]|[亿億万萬]零?)|\d{1,3} (?=\d{3}(?: \d{3})*(?:[.,]\d+)?\Z))+(?=\d+\Z)"
)
_THOUSANDS_BEFORE = re.compile(r"(?:[$€£¥₹₩₽]\s?)?[-−]?\d{1,3} (?:\d{3} )*(?:\d{3}[.,])?")
_WORDS_BEHIND = re.compile(
    r"(?:[kKMB](?![A-Za-z])|\s?lakhs?\scrores?(?![A-Za-z])|\s?(?:bn|tn|mn|mio|mrd|lakhs?|crores?|percent|per\scent)(?![A-Za-z])|\s?[十百千]?[亿億万萬]|[克米瓦])?"
    rf"(?:\s?(?:{CURRENCY_NAME})(?![A-Za-z]))?"
    r"(?:\+(?!\s?\d)|\s?or\s(?:so|more|less|fewer|above|below|higher|lower|greater|over|under)(?![A-Za-z]))?",
    re.IGNORECASE,
)
_BOUND_BEFORE = re.compile(r"(?:(?<![\w<])<|(?<=[^\S\n])>|[≤≥])\s?\Z|(?:\A|\n)>\Z")
"""At the start of a line `> ` is the mark of a quotation, but `>5` is a bound."""
_DASH_BEFORE = re.compile(r"(?:\A|[\s=:($])–\Z")
"""An en dash for a minus sign: nothing between it and the number, and no number before it."""
_BARE = re.compile(r"(?:minus|negative)\s\d[\d.,]*|\d[\d.,]*\s?[kKMB]", re.IGNORECASE)
_MAX_BARE_CHARS = 60


def stated(response: str, extraction: answers.Extraction, params: answers.ExtractionParams) -> str | None:
    """The answer. A last number gets back what stands beside its digits and makes another number of it.

    `3,5` and `1 000` are several numbers to those who look for numbers, and `$3bn` and `5 cents` are 3 and 5.
    """
    if extraction.channel is None and extraction.reason == "no_answer" and params.extract == "auto":
        return _bare(response, params)
    if extraction.channel is not Channel.LAST_NUMBER or not extraction.candidates:
        return extraction.answer
    if extraction.reason not in ("found", "conflicting_answers"):
        return None
    start, end = extraction.span or extraction.candidates[-1].span
    shown = response[start:end]
    digits = len(shown) - len(shown.lstrip("0123456789"))
    before = _DIGITS_BEFORE.search(response[max(0, start - _WIDER_CHARS) : start + digits]) if digits else None
    if extraction.answer is None and not (before and _THOUSANDS_BEFORE.fullmatch(before[0])):
        return None
    behind = _WORDS_BEHIND.match(response, end)
    bound = _BOUND_BEFORE.search(response[max(0, start - _WIDER_CHARS) : start])
    sign = "-" if _DASH_BEFORE.search(response[max(0, start - 2) : start]) else ""
    return (bound[0] if bound else sign) + (before[0] if before else "") + shown + (behind[0] if behind else "")


def _bare(response: str, params: answers.ExtractionParams) -> str | None:
    """All of a response that is nothing but a number in a form that those do not know who look for digits."""
    segment = answers.final_segment(response, params.think)
    text = response[segment.start : segment.end]
    if segment.reason != "found" or len(text) > _MAX_BARE_CHARS:
        return None
    text = text.strip(" .*")
    return text if _BARE.fullmatch(text) or numerals.value(text) is not None else None


_MAX_LISTED_CHARS = 2_000
_FENCE = re.compile(r"(?m)^\s{0,3}(?:```|~~~).*$")
_BETWEEN = re.compile(r"[\n;|\[\]{}\"]|,\s|\)\s{0,4}\(")
_LISTED = re.compile(r"(?:[-*•]\s)?\s?(?:(?P<name>[A-Za-z]\w{0,3})\s?=\s?)?[-−+]?[$€£]?\d[\d.,/]*%?")
_FLOOD = 3


_OPERATOR_BEFORE = re.compile(r"[\w)\]](?:\*\*|\s\*\*\s|\s?(?://|±|\+/-|\\pm)\s?)\Z")
"""Asterisks with a word before them and none behind are no emphasis."""


def fault(response: str, extraction: answers.Extraction, params: answers.ExtractionParams) -> str | None:
    """Why a last number is not what a response states, as a verdict's reason."""
    if extraction.channel is not Channel.LAST_NUMBER or extraction.span is None:
        return None
    start = extraction.span[0]
    if _OPERATOR_BEFORE.search(response[max(0, start - _WIDER_CHARS) : start]):
        return "unparseable"
    return "conflicting_answers" if _is_list(response, params) else None


def _is_list(response: str, params: answers.ExtractionParams) -> bool:
    """Whether a response is nothing but a list of different numbers, the last of which nothing marks as the answer."""
    segment = answers.final_segment(response, params.think)
    if segment.end - segment.start > _MAX_LISTED_CHARS:
        return False
    text = _FENCE.sub("", response[segment.start : segment.end])
    pieces = [piece.strip(" \t*`'.,()") for piece in _BETWEEN.split(text)]
    found = {piece for piece in pieces if piece}
    listed = [_LISTED.fullmatch(piece) for piece in found]
    return len(found) >= _FLOOD and len({each and each["name"] for each in listed}) == 1 and None not in listed
