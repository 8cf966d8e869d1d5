"""Numbers in words where figures would be looked at: "So she has forty-two apples."

The words are written in figures, and what holds for figures decides: labels, bounds, doubt, choices. Words are said more
lightly than figures, so they count in the last sentence only, and not where they mean no amount: "the two", "no one",
"two of them", "two-digit". Beside other numbers in words they count only as what the sentence says that something is or
has, and beside figures only where it ends by saying what something is ("the total is twelve").
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from verifiers import numerals
from verifiers.numerals.english import CARDINALS, number_of, number_words

_TAIL_CHARS = 300
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？\n]")
_AROUND = " \t\n.!*_`\"'’”)。！$"
_START = re.compile(
    rf"(?<![\w'’.-])(?:(?:minus|negative)\s)?"
    rf"(?:(?:{'|'.join(sorted(CARDINALS))})|an?\s(?:hundred|thousand|million|billion|trillion|dozen))(?![A-Za-z'’])",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"\s?(?:percent|%)$", re.IGNORECASE)
_NO_AMOUNT_BEHIND = re.compile(r"\s?-\s?[a-z]|\s(?:of|second|way|another|thing)\b", re.IGNORECASE)
_DETERMINERS = frozenset(
    ["the", "these", "those", "this", "that", "both", "all", "other", "any", "every", "each", "no", "which", "last",
     "next", "only", "my", "our", "its", "his", "their", "same", "some", "not", "than", "twice", "thrice",
     "half", "double", "triple"]
)  # fmt: skip
"""Before words that mean no amount: "the two"."""
_EQUATES = frozenset(
    ["is", "are", "was", "were", "equal", "equals", "make", "makes", "give", "gives", "total", "totals", "become",
     "becomes"]
)  # fmt: skip
_HAS = _EQUATES | frozenset(["has", "have", "had", "get", "gets", "got", "need", "needs", "leave", "leaves"])
_WORDS_BEFORE = re.compile(
    r"(?:(?P<there>there)\s)?(?P<verb>[a-z]+|=|:)\s?(?:(?:exactly|only|just|then)\s)?[*_$\"]{0,3}\Z", re.I
)
_WORD_BEFORE = re.compile(r"(?P<word>[A-Za-z]+)\s\Z")
_ONE = frozenset(["one", "minus one", "negative one"])
_HAN_RUN = re.compile(
    r"(?<![第周期几零〇一二两三四五六七八九十百千万亿])负?[一二两三四五六七八九十][零〇一二两三四五六七八九十百千万亿]+"
)
_HAN_UNIT = re.compile(r"[十百千万亿]")
_HAN_GOES_ON = ("几", "多", "余", "来", "分", "点", "半", "又", "、")


@dataclass(frozen=True, slots=True)
class Spelled:
    """A response in which the number in words stands in figures."""

    text: str
    start: int
    end: int
    """Where the words stand in the response."""


def in_figures(response: str, start: int, end: int, has_figures: bool) -> Spelled | None:
    """The response with the number in words of its last sentence in figures; `start` and `end`: its final segment.

    `has_figures`: there are some in it, before the last sentence's words or elsewhere.
    """
    tail = max(start, end - _TAIL_CHARS)
    first, last = _last_sentence(response, tail, end)
    sentence, earlier = response[first:last], response[tail:first]
    found = _english(sentence, earlier, has_figures)
    if found is None and not has_figures and not sentence.isascii():
        found = _chinese(sentence)
    if found is None:
        return None
    begins, ends, number = found
    begins, ends = first + begins, first + ends
    return Spelled(response[:begins] + str(number) + response[ends:], begins, ends)


def _last_sentence(text: str, start: int, end: int) -> tuple[int, int]:
    stop = start + len(text[start:end].rstrip(_AROUND))
    for match in _SENTENCE_END.finditer(text, start, stop):
        start = match.end()
    return start, end


def _english(sentence: str, earlier: str, has_figures: bool) -> tuple[int, int, Fraction] | None:
    """Where the number stands, and which it is; `earlier`: the sentences before."""
    runs: list[tuple[int, int]] = []
    position = 0
    while match := _START.search(sentence, position):
        position = match.start() + number_words(sentence[match.start() :], every_word=False)[1]
        runs.append((match.start(), position))
    if not runs:
        return None
    start, end = runs[-1]
    if percent := _PERCENT.search(sentence, start, end):
        end = percent.start()
    number = number_of(number_words(sentence[start:end], every_word=True)[0])
    before, behind = sentence[:start], sentence[end:]
    if number is None or behind[:1].isalnum() or _NO_AMOUNT_BEHIND.match(behind) or _is_determined(before):
        return None
    ends_there, is_one = not behind.strip(_AROUND), sentence[start:end].lower() in _ONE
    if (is_one or has_figures) and not (ends_there and _is_said(before, _EQUATES)):
        return None
    if _is_said(before, _HAS):
        is_committed = all(_is_determined(sentence[:other]) for other, _ in runs[:-1])
    else:
        is_committed = len(runs) == 1 and _START.search(earlier) is None
    return (start, end, number) if is_committed else None


def _is_determined(before: str) -> bool:
    word = _WORD_BEFORE.search(before[-_MAX_WORD_CHARS:])
    return word is not None and word["word"].lower() in _DETERMINERS


def _is_said(before: str, verbs: frozenset[str]) -> bool:
    """Whether a text ends in one of these verbs, or in a sign for one."""
    led = _WORDS_BEFORE.search(before[-_MAX_WORD_CHARS:])
    if led is None:
        return False
    is_there = led["there"] is not None and verbs is _EQUATES
    return (
        led["verb"] == "=" or (led["verb"] == ":" and verbs is _HAS) or (led["verb"].lower() in verbs and not is_there)
    )


_MAX_WORD_CHARS = 40


def _chinese(sentence: str) -> tuple[int, int, Fraction] | None:
    """One number of several signs: a single one is a part of words (一共, 三角形)."""
    runs = list(_HAN_RUN.finditer(sentence))
    if len(runs) != 1 or not _HAN_UNIT.search(runs[0][0]) or sentence.startswith(_HAN_GOES_ON, runs[0].end()):
        return None
    number = numerals.value(runs[0][0])
    return None if number is None else (*runs[0].span(), number)
