r"""Another value that is offered directly behind a mark's own, so that neither is meant.

    \boxed{42} (or 43)   \boxed{42}, otherwise 43   \boxed{42} (or 43 if n is odd)   \boxed{42} unless n is odd, then 43
    \boxed{42}, unless it is 43

The clause ends behind the value, or a condition or a reason follows. Whether the two are the same ("4, or 8/2") is for a verifier to
say, which reads them; plain numbers are the same if one is the other rounded.
"""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from verifiers.commitment.cues import Kind, first_word, listed
from verifiers.commitment.extraction import Extraction
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import Sentence, sentence_at
from verifiers.commitment.wording import openings

_MAX_CHARS = 160
_CLOSES = re.compile(r"(?:[\s$*_})\]]|\\[\])]|\\text\{|</answer>)*+(?:(?:[(（[,，、;；:：–—…-]|\.{2,3})[\s$*_]*+){0,2}")
_PAUSES = frozenset(",，;；")
_ENDS = frozenset(".,;:!?)]，。；：！？）|")
_MARKUP = frozenset("$*({}")
_LEADS = frozenset([Kind.MAYBE, Kind.GUESS, Kind.ALSO, Kind.THE, Kind.STAGE, Kind.SO, Kind.IT, Kind.IS, Kind.CASE])
_BEHIND = frozenset([Kind.IF, Kind.OR, Kind.BECAUSE, Kind.ENDS])
_NUMBER = re.compile(r"[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−]?\d{1,40}(?:\.\d{1,40})?")


def alternative(text: str, end: int) -> Span | None:
    """The value offered behind a mark that ends at a place; None if none is, or words stand in it that are not understood."""
    opened = _opened(text, end)
    return None if opened is None else _offered(*opened)


def is_left_open(text: str, end: int, is_other: Callable[[str], bool]) -> bool:
    """Whether the words behind an answer offer another value, or take it back without one: "42, or not", "42... or something else"."""
    opened = _opened(text, end)
    if opened is None:
        return False
    sentence, index = opened
    stop = sentence.past_cue(sentence.past_cue(index, Kind.OR), *_LEADS)
    last = sentence.past_cue(stop, Kind.NOT, Kind.OTHER)
    if index < stop < last and sentence.ends(last):
        return True
    span = _offered(sentence, index)
    return span is not None and is_other(text[slice(*span)])


def _opened(text: str, end: int) -> tuple[Sentence, int] | None:
    """The sentence behind an answer, and the place of the word in it that begins an alternative or a condition."""
    limit = text.find("\n", end, end + _MAX_CHARS)
    limit = min(len(text), end + _MAX_CHARS) if limit < 0 else limit
    start = _CLOSES.match(text, end, limit).end()  # type: ignore[union-attr]  # matches nothing, too
    if first_word(text, start, limit) not in openings(Kind.OR, Kind.IF):
        return None
    sentence = sentence_at(text, start, max(0, end - _MAX_CHARS), limit)
    return sentence, sentence.place((start, start + 1))[0]


def _offered(sentence: Sentence, index: int) -> Span | None:
    stop = sentence.past_cue(index, Kind.OR)
    stop = stop if stop > index else _past_condition(sentence, index)
    return _value(sentence, stop) if stop > index else None


def alternative_to(text: str, extraction: Extraction) -> str | None:
    """The text of the value that is offered beside an answer in a mark; None if none is."""
    if extraction.answer is None or extraction.span is None:
        return None
    span = alternative(text, extraction.span[1])
    return text[slice(*span)] if span else None


def is_another_number(text: str, piece: str) -> bool:
    """Whether two texts are plain numbers, of which neither is the other rounded."""
    if (first := _number(text)) is None or (second := _number(piece)) is None:
        return False
    try:
        return first.quantize(second) != second and second.quantize(first) != first
    except InvalidOperation:
        return False


def _number(text: str) -> Decimal | None:
    display = text.strip(" $*")
    return Decimal(display.replace(",", "").replace("−", "-")) if _NUMBER.fullmatch(display) else None


def _past_condition(sentence: Sentence, index: int) -> int:
    """The place behind the comma that ends a condition, "unless n is odd,", or behind the words that lead to a value: "unless it is"."""
    start = sentence.past_cue(index, Kind.IF)
    if (value := sentence.past_cue(start, Kind.IT, Kind.IS)) > start > index:
        return value
    pauses = [at + 1 for at in range(start, len(sentence.words)) if sentence.words[at].text in _PAUSES]
    return pauses[0] if start > index and pauses else index


def _value(sentence: Sentence, first: int) -> Span | None:
    """The value that begins at a word, past those that only lead to it."""
    phrase = sentence.words
    index = -1
    while index != first:
        index, first = first, sentence.past(sentence.past_cue(first, *_LEADS), _PAUSES | _MARKUP | listed("then"))
    stop = index
    while stop < len(phrase) and phrase[stop].text not in _ENDS and not sentence.begins(stop, *_BEHIND):
        stop += 1
    return (phrase[index].start, phrase[stop - 1].end) if index < stop else None
