"""Reads numbers in words as answers: "So she has forty-two apples."

The words are replaced by figures, and the rules for figures decide: labels, bounds, doubt, choices. Number words are
often used without meaning an amount. They therefore count only in the last sentence, and not in "the two", "no one",
"two of them", "two-digit". Beside other numbers in words they count only if the sentence says that something is or has
this number. Beside figures they count only if the sentence ends in such a statement ("the total is twelve").
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from verifiers import numerals
from verifiers.commitment.cues import adverbs, listed, words
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
_HYPHEN_BEHIND = re.compile(r"\s?-\s?[A-Za-z]")
_WORD_BEHIND = re.compile(r"\s([A-Za-z]+)")
_WORD_BEFORE = re.compile(r"(?P<word>[A-Za-z]+)\s\Z")
_ONE = frozenset(["one", "minus one", "negative one"])
_HAN_RUN = re.compile(
    r"(?<![第周期几零〇一二两三四五六七八九十百千万亿])负?[一二两三四五六七八九十][零〇一二两三四五六七八九十百千万亿]+"
)
_HAN_UNIT = re.compile(r"[十百千万亿]")
_HAN_GOES_ON = ("几", "多", "余", "来", "分", "点", "半", "又", "、")


@dataclass(frozen=True, slots=True)
class Spelled:
    """A response with its number in words replaced by figures."""

    text: str
    start: int
    end: int
    """The span of the words in the response."""


def in_figures(response: str, start: int, end: int, has_figures: bool) -> Spelled | None:
    """The response with the number words of its last sentence in figures; None if there are none that count.

    `start` and `end` are its final segment. `has_figures` says that the segment holds figures, anywhere.
    """
    tail = max(start, end - _TAIL_CHARS)
    first, last = _last_sentence(response, tail, end)
    sentence, earlier = response[first:last], response[tail:first]
    hit = _english(sentence, earlier, has_figures)
    if hit is None and not has_figures and not sentence.isascii():
        hit = _chinese(sentence)
    if hit is None:
        return None
    index, position, number = hit
    index, position = first + index, first + position
    return Spelled(response[:index] + str(number) + response[position:], index, position)


def _last_sentence(text: str, start: int, end: int) -> tuple[int, int]:
    stop = start + len(text[start:end].rstrip(_AROUND))
    for match in _SENTENCE_END.finditer(text, start, stop):
        start = match.end()
    return start, end


def _english(sentence: str, earlier: str, has_figures: bool) -> tuple[int, int, Fraction] | None:
    """The span and the value of the number; `earlier` holds the sentences before."""
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
    prefix, suffix = sentence[:start], sentence[end:]
    if number is None or suffix[:1].isalnum() or _means_no_amount(suffix) or _is_determined(prefix):
        return None
    ends_there, is_one = not suffix.strip(_AROUND), sentence[start:end].lower() in _ONE
    if (is_one or has_figures) and not (ends_there and _is_said(prefix, "equates")):
        return None
    if _is_said(prefix, "equates", "possesses"):
        is_committed = all(_is_determined(sentence[:index]) for index, _ in runs[:-1])
    else:
        is_committed = len(runs) == 1 and _START.search(earlier) is None
    return (start, end, number) if is_committed else None


def _means_no_amount(suffix: str) -> bool:
    word = _WORD_BEHIND.match(suffix)
    return _HYPHEN_BEHIND.match(suffix) is not None or (word is not None and word[1].lower() in listed("no_amount"))


def _is_determined(prefix: str) -> bool:
    word = _WORD_BEFORE.search(prefix[-_MAX_WORD_CHARS:])
    return word is not None and word["word"].lower() in listed("determiners")


def _is_said(prefix: str, *verbs: str) -> bool:
    """Whether a text ends in a verb of some lists, or in a sign for one. "There is one" says less than "it is one"."""
    phrase = words(prefix[-_MAX_WORD_CHARS:].rstrip('*_$" '))
    while phrase and phrase[-1].text in adverbs():
        phrase = phrase[:-1]
    if not phrase:
        return False
    verb, is_all = phrase[-1].text, len(verbs) > 1
    if any(verb in listed(name) for name in verbs):
        return is_all or len(phrase) < 2 or phrase[-2].text not in listed("impersonal")
    return verb == "=" or (verb == ":" and is_all)


_MAX_WORD_CHARS = 40


def _chinese(sentence: str) -> tuple[int, int, Fraction] | None:
    """The span and the value of one number of several signs. A single sign is often a part of a word (一共, 三角形)."""
    runs = list(_HAN_RUN.finditer(sentence))
    if len(runs) != 1 or not _HAN_UNIT.search(runs[0][0]) or sentence.startswith(_HAN_GOES_ON, runs[0].end()):
        return None
    number = numerals.value(runs[0][0])
    return None if number is None else (*runs[0].span(), number)
