"""What was counted, behind its count or its total: the number is the answer, and the rest only lists what it is made of.

    as many values as the count says   There are 4 divisors: 1, 2, 5, 10.    所以这样的整数有4个，分别是1、2、5、10。
    parts that make up the total       There are 17 vehicles: 14 cars and 3 trucks.
    some of what was counted           There are 17 vehicles, of which 14 are cars.

A list with another number of values stays: it contradicts its count.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from verifiers import numerals
from verifiers.commitment.cues import Kind, listed, phrases
from verifiers.commitment.latex import any_of
from verifiers.commitment.stance import Sentence, last_sentence
from verifiers.commitment.wording import single

_CHARS = 400
_ENDS = " \t\r\n.。．!！*$"
_DIGITS = r"\d+(?:,\d{3}(?!\d))*(?:\.\d+)?"
_VALUE = r"\([^()\n]{1,40}\)|[^\s,，、;；()（）$\d]{0,12}\d[^\s,，、;；()（）$]{0,30}?|[A-Za-z]\s?=\s?[^\s,，、;；()（）$]{1,20}?"
_NOUN = r"[^\d,，、;；()（）$\n]{0,40}?"
_MIN_WORD = 3
_MOST = 64
_TOLD = frozenset([Kind.IS, Kind.SO])
_OPEN = frozenset([Kind.NOT, Kind.OR, Kind.IF, Kind.MAYBE, Kind.DOUBT, Kind.BUT, Kind.BACK])


def without_breakdown(text: str) -> str:
    """A text of the same length, without the list of what its last sentence counts."""
    end = len(text[-_CHARS:].rstrip(_ENDS)) + max(0, len(text) - _CHARS)
    start = max(end - _CHARS, text.rfind("\n", 0, end) + 1)
    if end <= start or "\\boxed" in text[start:end] or _sets_off().search(text, start, end) is None:
        return text
    last = last_sentence(text, start, end)
    if last is None or last.asks or not _OPEN.isdisjoint(last.kinds):
        return text
    for sign in _sets_off().finditer(text, last.start, end):
        items = _items(text[sign.end() : end])
        if (items or sign["subset"]) and _is_broken_down(
            Sentence(text, last.start, sign.start(), ""), items, is_bracket=sign[0][:1] in ("(", "（")
        ):
            return text[: sign.start()] + " " * (end - sign.start()) + text[end:]
    return text


@cache
def _sets_off() -> re.Pattern[str]:
    """What sets a list off: a colon, a bracket, a dash, or words behind a comma or a blank."""
    enumerates, subsets = (any_of(form for entry in listed(name) for form in phrases(entry)) for name in _LISTS)
    return re.compile(
        rf"(?:[:：(（]|\s[—–-]\s|[,，]?\s{{0,2}}(?={enumerates}))\s?(?:{enumerates}[:：]?)?"
        rf"|[,，]\s?(?:\d+\s)?(?P<subset>{subsets})",
        re.IGNORECASE,
    )


_LISTS = ("enumerates", "subsets")


def _is_broken_down(head: Sentence, items: Sequence[str], *, is_bracket: bool) -> bool:
    """Whether words count some items, give the sum of their numbers, or count anything if there are no items."""
    if len(items) >= _SEVERAL and head.words and head.words[-1].text == str(len(items)):
        return head.ends_in(len(head.words) - 1, *_TOLD) is not None  # "The answer is 4: 10, 20, 30, 40"
    if is_bracket and len(items) > 1 and head.words and re.fullmatch(_DIGITS, head.words[-1].text):
        return _sum(items) == float(head.words[-1].text.replace(",", ""))  # "7 (3 apples and 4 pears)"
    counts = set(_counts(head))
    if not counts or head.ends_in(len(head.words), *_TOLD):
        return False
    if not items or len(items) in counts:
        return True
    return _sum(items) in counts


def _sum(items: Sequence[str]) -> float:
    matches = [re.search(_DIGITS, item) for item in items]
    return sum(float(part[0].replace(",", "")) for part in matches if part)


def _counts(head: Sentence) -> Iterator[float]:
    """The numbers of some words that stand before a noun, in figures or in words."""
    for index, word in enumerate(head.words):
        stop = head.past(index + 1, _MARKS)
        is_before_noun = stop < len(head.words) and head.words[stop].text[0].isalpha()
        is_name = index > 0 and head.words[index - 1].text in listed("determiners")  # "the 2 roots"
        if not is_before_noun or is_name or head.ends_in(index, Kind.LABEL) or head.begins(stop, *_TOLD):
            continue
        if re.fullmatch(_DIGITS, word.text):
            yield float(word.text.replace(",", ""))
        elif len(word.text) >= _MIN_WORD and (value := numerals.value(word.text)) is not None:
            yield float(value)


_MARKS = frozenset("$)\\")
_SEVERAL = 3


def _items(tail: str) -> list[str]:
    """The items of a list that is all of a text; none if it is not all."""
    items: list[str] = []
    index = 0
    while len(items) < _MOST and (item := _item().match(tail, index)):
        items.append(item["value"] + item["noun"])
        index = item.end()
        if index == len(tail):
            return items if len(items) > 1 else []
    return []


@cache
def _item() -> re.Pattern[str]:
    joints = single(Kind.JOINS) - {"a"}
    text, glued = (any_of(joint for joint in joints if (joint < _UNSPACED) == is_apart) for is_apart in (True, False))
    goes_on = rf"\s?[,，、;；]\s?(?:{text}\s)?|\s{text}\s(?=[\d$(])|{glued}(?=[\d$(])|[$)）]{{0,2}}\Z"
    return re.compile(rf"\s?\$?(?P<value>{_VALUE})(?P<noun>{_NOUN})\$?(?:{goes_on})")


_UNSPACED = "\u0e00"
"""Letters behind this one belong to scripts without spaces."""
