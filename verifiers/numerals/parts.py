"""Figures with a fraction in words, in all languages: `8 and a half`, `8 heures et demie`, 8个半, `2 Drittel`, `साढ़े 8`, 3分の2.

    in_figures   the same text in figures: 8.5, `8.5 heures`, 8.5, 2/3
    whole        the place of such a number in a text, by the place of its figures

`fractions.yaml` has the words. A word that is an English one, too (`3 tiers`), makes a fraction in a text of its language.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path

from verifiers import tables
from verifiers.commitment.amounts import is_counter
from verifiers.commitment.language import languages_of
from verifiers.commitment.latex import any_of

_ADDED = {"half": Fraction(1, 2), "third": Fraction(1, 3), "quarter": Fraction(1, 4), "three_quarters": Fraction(3, 4)}
_BEFORE = "before"
_ENGLISH_TOO = {"tiers": "fr", "quarts": "fr"}
_UNSPACED = "\u0e00"
"""Letters from this one on belong to scripts without spaces."""
_MAX_CHARS = 400
_FIGURES = r"(?<![\d.,/^_])(?P<figures>\d{1,12})(?![.,/]\d)"
_NOUN = r"(?:\s?(?!of\b|[時时点點시]\s?[半반])(?P<noun>[^\s\d_.,;:!?()$]{1,16}?))??"
"""What the figures count. Behind the hour of a clock, 半 is half an hour."""
_COMPOUND = "(?![球圆圓径徑角数數边邊])"
"""半 begins a word of its own: 8个半圆 are eight semicircles."""
_OF_PARTS = re.compile(r"(?<![\d.,/])(?P<parts>[1-9]\d{0,9})\s?(?:分の|분의)\s?(?P<over>\d{1,10})(?![.,/]?\d)")
"""A fraction with its denominator in front: 3分の2, 3분의 2."""
_GOES_ON = r"(?!\s(?:of|as|times)\b)"


def in_figures(text: str, context: str = "") -> str:
    """A text with its fractions in words as figures; `context` is the text that tells its language."""
    if len(text) > _MAX_CHARS or not _has_both(text):
        return text
    text = _OF_PARTS.sub(lambda match: str(Fraction(int(match["over"]), int(match["parts"]))), text)
    text = _half_before().sub(lambda match: _written(int(match["figures"]) + Fraction(1, 2)), text)
    text = _half_behind().sub(_mixed, text)
    return _divided().sub(lambda match: _quotient(match, context or text), text)


def whole(text: str, start: int, end: int, stop: int) -> tuple[int, int] | None:
    """The span of the number that begins with figures, and ends in words before `stop` that make a fraction of them, or None."""
    figures = _RUN.match(text, start, end)
    if figures is None:
        return None
    end = figures.end()
    head = text[max(0, start - _LEAD_CHARS) : end]
    if lead := _half_before().search(head):
        return end - len(head) + lead.start(), end
    if not _begins_words(text, end):
        return None
    if mixed := _half_behind().match(text, start, stop):
        return start, mixed.end()
    part = _divided().match(text, start, stop)
    return None if part is None or _divisor(part, text[max(0, start - _AROUND) : stop]) is None else (start, part.end())


_LEAD_CHARS, _AROUND = 24, 300
_RUN = re.compile(r"\d{1,12}(?![\d.,/])")


def _has_both(text: str) -> bool:
    return any(map(str.isdecimal, text)) and any(map(str.isalpha, text))


def _begins_words(text: str, position: int) -> bool:
    return text[position : position + 2].lstrip()[:1].isalpha()


def _mixed(match: re.Match[str]) -> str:
    """The sum in figures, with the noun, unless that is a counter: `8.5 heures`, but 8个半小时 has its noun behind it."""
    number = _written(int(match["figures"]) + _phrases()[match["said"].casefold()])
    noun = match["noun"] or ""
    if is_counter(noun):
        return number
    return number + (noun if noun >= _UNSPACED else f" {noun}".rstrip())


def _written(number: Fraction) -> str:
    """A number as a decimal if that is exact."""
    return str(number.numerator / number.denominator) if number.denominator in (2, 4) else str(number)


def _quotient(match: re.Match[str], context: str) -> str:
    divisor = _divisor(match, context)
    return match[0] if divisor is None else str(Fraction(int(match["figures"]), divisor))


def _divisor(match: re.Match[str], context: str) -> int | None:
    word = match["said"].casefold()
    if word in _ENGLISH_TOO and _ENGLISH_TOO[word] not in languages_of(context, word):
        return None
    return _divisors()[word]


@cache
def _words() -> Mapping[str, Mapping[str, list[str]]]:
    table: Mapping[str, Mapping[str, list[str]]] = tables.texts(Path(__file__).with_name("fractions.yaml"))
    return table


def _listed() -> Iterator[tuple[str, str]]:
    for kinds in _words().values():
        for kind, phrases in kinds.items():
            yield from ((kind, phrase.casefold()) for phrase in phrases)


@cache
def _phrases() -> Mapping[str, Fraction]:
    return {phrase: _ADDED[kind] for kind, phrase in _listed() if kind in _ADDED}


@cache
def _divisors() -> Mapping[str, int]:
    return {phrase: int(kind) for kind, phrase in _listed() if kind.isdecimal()}


@cache
def _half_behind() -> re.Pattern[str]:
    spaced = any_of(phrase for phrase in _phrases() if phrase < _UNSPACED)
    glued = any_of(phrase for phrase in _phrases() if phrase >= _UNSPACED)
    half = rf"(?P<said>(?<=\s)(?:{spaced})(?![^\W\d_]){_GOES_ON}|(?:{glued}){_COMPOUND})"
    return re.compile(rf"{_FIGURES}{_NOUN}\s?{half}", re.IGNORECASE)


@cache
def _half_before() -> re.Pattern[str]:
    words = any_of(phrase for kind, phrase in _listed() if kind == _BEFORE)
    return re.compile(rf"(?:{words})\s(?P<figures>\d{{1,12}})(?![.,/]?\d)")


@cache
def _divided() -> re.Pattern[str]:
    return re.compile(rf"{_FIGURES}[\s-]?(?P<said>{any_of(_divisors())})(?![^\W\d_])", re.IGNORECASE)
