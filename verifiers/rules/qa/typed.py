"""Compares answers with a fixed form: lists and dates. `truths` reads yes and no.

list   the same elements, as often as in the reference, in its order if `ordered`; numbers compare as numbers
date   the same day of the calendar in any notation, also at the end of a sentence; 03/04/2020 names no day. A
       reference that is a month or a year wants just that
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from verifiers.commitment.cues import Kind, cues, kinds, words
from verifiers.commitment.folding import visible
from verifiers.commitment.lines import clause_end
from verifiers.commitment.stance import Sentence
from verifiers.math import moments
from verifiers.rules import numeric
from verifiers.rules.qa.drop import divided

MAX_ITEMS = 256
_MAX_BRACKETS = 3
_MAX_LIST_CHARS = 20_000
_EDGES = " \t\n.,;:!?\"'“”‘’`*_()[]{}<>$。，、；،؛؟"
_BRACKETS = {"[": "]", "(": ")", "{": "}"}
_ALL_COMMAS = re.compile(r"[,，、،]")
_WITH_AMPERSAND = re.compile(r",(?!\d)\s*&?|\s&\s")
_WITH_AND = re.compile(r",(?!\d)|\s(?:und|et|y|e|и)\s")
_OTHER_BULLET = re.compile(r"\A\s{0,8}(?:(?:[+–—·▪‣◦]|\(?[a-z\d]{1,2}\))\s|[①-⑳]\s?)", re.IGNORECASE)
_LATEX_BRACE = re.compile(r"\\(?:(?:left|right)\s?\\)?([{}])")
_FENCED = re.compile(r"```\w{0,20}\n([^`]*)```")
_LEAD = re.compile(r"[^\n]{1,200}[:：]\s{0,4}\n\s{0,4}")
"""A line that introduces the list below it."""
_BULLET = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s")


def same_list(answer: str, reference: Sequence[str], is_ordered: bool) -> bool:
    reference_elements = [_element(item) for item in reference]
    return any(
        answer_elements == reference_elements if is_ordered else Counter(answer_elements) == Counter(reference_elements)
        for items in (*_lists(answer), *_other_lists(answer))
        if len(items) == len(reference_elements)
        for answer_elements in ([_element(item) for item in items],)
    )


def elements(text: str) -> list[str]:
    """The elements of a reference that is a text, by the division that finds the most elements."""
    return max(_lists(text), key=len)


def _lists(text: str) -> list[list[str]]:
    text = _unwrapped(text)
    if len(text) > _MAX_LIST_CHARS:
        return [[text]]
    divisions = divided(text)
    for _ in range(_MAX_BRACKETS):
        if not text or _BRACKETS.get(text[0]) != text[-1]:
            break
        text = text[1:-1].strip()
        divisions += divided(text)
    divisions.append([part for piece in _ALL_COMMAS.split(text) if (part := piece.strip())])
    return [*(items for items in divisions if 0 < len(items) <= MAX_ITEMS), [text]]


def _other_lists(text: str) -> list[list[str]]:
    """The elements of an answer by further divisions, which are too bold for a reference."""
    text = _unwrapped(text)
    if len(text) > _MAX_LIST_CHARS:
        return []
    divisions = [_WITH_AMPERSAND.split(text), _WITH_AND.split(text)]
    divisions.append([_OTHER_BULLET.sub("", line, count=1) for line in text.splitlines()])
    if (lead := _LEAD.match(text)) and _BULLET.match(text, lead.end()) and not _denies(lead[0]):
        divisions += divided(text[lead.end() :])
    elif listed := listed_at_end(text):
        divisions += divided(listed)
    return [[part for piece in pieces if (part := piece.strip())] for pieces in divisions]


def listed_at_end(text: str) -> str | None:
    """The only bulleted list of a text, if the text ends with it and the line above introduces it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = next((position for position, line in enumerate(lines) if _BULLET.match(line)), 0)
    if not first or not all(map(_BULLET.match, lines[first:])):
        return None
    lead = lines[first - 1].rstrip("*_ ")
    return None if not lead.endswith((":", "：")) or _denies(lead) else "\n".join(lines[first:])


def listed_from(text: str, position: int) -> str | None:
    """The bulleted list that begins on the line of a place; None without a bullet, or if another list is as good."""
    start = text.rfind("\n", 0, position) + 1
    if _denies(text[:start].rstrip().rpartition("\n")[2]):
        return None
    lines = text[start:].splitlines()
    filled = [line.strip() for line in lines if line.strip()]
    listed = list(takewhile(_BULLET.match, filled))
    if len(listed) < 2 or _offers_another("".join(filled[len(listed) : len(listed) + 1])):
        return None
    return "\n".join(listed)


def _denies(text: str) -> bool:
    """Whether a heading says that the list below is not the wanted one, or not all of it."""
    return not _DENYING.isdisjoint(cue.kind for cue in cues(words(text[-_HEADING_CHARS:])))


_DENYING = frozenset([Kind.NOT, Kind.NO, Kind.BAD, Kind.WRONG, Kind.EXCEPT, Kind.OTHER])
_HEADING_CHARS = 200


def _offers_another(line: str) -> bool:
    return any(cue.kind is Kind.OR and cue.first <= 1 for cue in cues(words(line[:_HEADING_CHARS])))


def _unwrapped(text: str) -> str:
    r"""The visible text without a code fence around it, and with LaTeX's `\{` as a brace."""
    text = visible(text)
    if len(text) <= _MAX_LIST_CHARS and (fence := _FENCED.fullmatch(text)):
        text = fence[1].strip()
    return _LATEX_BRACE.sub(r"\1", text) if "\\" in text else text


def _element(text: str) -> str:
    number = numeric.read(text) if any(map(str.isdigit, text)) else None
    if isinstance(number, numeric.Number) and not (number.is_percent or number.currency):
        return number.show()
    return " ".join(unicodedata.normalize("NFKC", visible(text)).casefold().split()).strip(_EDGES)


@dataclass(frozen=True)
class Month:
    """A year, or one of its months."""

    year: int
    month: int | None = None


def same_day(answer: str, reference: moments.Date | Month) -> bool:
    """Whether an answer names the day of the reference, with the year if the reference has one; or its month or year."""
    named_day = day(answer)
    if isinstance(named_day, Month) or isinstance(reference, Month):
        return named_day == reference
    return (
        named_day is not None
        and reference.same_as(named_day)
        and (reference.year is None or named_day.year is not None)
    )


_ISO_SHORT = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?")

_ISO_COMPACT = re.compile(r"([12]\d{3})(\d\d)(\d\d)")


def day(text: str) -> moments.Date | Month | None:
    """The day, month or year that a text names alone, or at the end of a sentence: "The treaty was signed on 5 January 2020."."""
    text = unicodedata.normalize("NFKC", visible(text)).strip(" .,;。*_`\"'")
    if (date := _day(text)) is not None or len(text) > _MAX_DAY_CHARS:
        return date
    line = Sentence(text, 0, len(text), "")
    text = text[: clause_end(line)].rstrip(" ,")
    sentence = Sentence(text, 0, len(text), "")
    first = next((position for position, word in enumerate(sentence.words) if word.text[0].isdigit()), 0)
    leads = [cue for cue in sentence.cues if cue.first < first]
    if any(cue.kind in _NO_DAY or (cue.kind is Kind.IS and cue.first == 0) for cue in leads):
        return None
    stops = {cue.stop for cue in leads if cue.kind in (Kind.IS, Kind.AT, Kind.THE)}
    stops |= {cue.stop for cue in leads if cue.kind is Kind.COMPLEMENT and cue.first in stops | {0}}  # "in 2021"
    stops |= {position for position in range(1, len(sentence.words)) if sentence.words[position - 1].text in ":：是"}
    heads = [sentence.words[position].start for position in sorted(stops) if position <= first]
    return next((date for start in heads if (date := _day(text[start:].strip("*_`\"' "))) is not None), None)


_NO_DAY = kinds("not if maybe doubt said bound or other wrong aside because")
"""Words that make the day behind them a bound or a doubt."""
_MAX_DAY_CHARS = 200


def _day(text: str) -> moments.Date | Month | None:
    if compact := _ISO_COMPACT.fullmatch(text):
        text = "-".join(compact.groups())
    elif iso := _ISO_SHORT.fullmatch(text):
        text = f"{iso[1]}-{int(iso[3]):02}-{int(iso[4]):02}"
    if len(text) > moments.MAX_CHARS:
        return None
    return moments.date(text) or _month(moments.in_english(text))


_YEAR = re.compile(r"(?P<year>[12]\d{3})(?: ?年|년)?")
_MONTH_IN_FIGURES = re.compile(r"(?P<year>[12]\d{3})(?:[-/.]|년 ?|年 ?)(?P<month>\d{1,2})(?:월|月)?")
_MONTH_BEFORE_YEAR = re.compile(r"(?P<month>\d{1,2})[-/.](?P<year>[12]\d{3})")
_MONTH_NAMED = re.compile(rf"(?P<name>{'|'.join(moments.MONTH_NAMES)}),? (?P<year>[12]\d{{3}})")


def _month(text: str) -> Month | None:
    if year := _YEAR.fullmatch(text):
        return Month(int(year["year"]))
    if match := _MONTH_NAMED.fullmatch(text):
        return Month(int(match["year"]), moments.MONTH_NAMES.index(match["name"]) + 1)
    figures = _MONTH_IN_FIGURES.fullmatch(text) or _MONTH_BEFORE_YEAR.fullmatch(text)
    is_month = figures is not None and 1 <= int(figures["month"]) <= _MONTHS
    return Month(int(figures["year"]), int(figures["month"])) if figures and is_month else None


_MONTHS = 12
