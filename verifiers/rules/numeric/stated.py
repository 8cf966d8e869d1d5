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
_BOUND_BEFORE = re.compile(r"(?:(?<![\w<])<|(?<=[^\S\n])>|[≤≥])\s?\Z")
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
    return (bound[0] if bound else "") + (before[0] if before else "") + shown + (behind[0] if behind else "")


def _bare(response: str, params: answers.ExtractionParams) -> str | None:
    """All of a response that is nothing but a number in a form that those do not know who look for digits."""
    segment = answers.final_segment(response, params.think)
    text = response[segment.start : segment.end]
    if segment.reason != "found" or len(text) > _MAX_BARE_CHARS:
        return None
    text = text.strip(" .*")
    return text if _BARE.fullmatch(text) or numerals.value(text) is not None else None
