"""Statements of confidence, which are not part of an answer: "12 (confidence: 95%)", "Paris, with 90% confidence"."""

from collections.abc import Sequence

from verifiers.commitment.cues import Cue, Kind, Word, cues, words
from verifiers.commitment.wording import openings, places

_NOUNS = (Kind.CERTAINTY, Kind.SURE)
_LEADS = frozenset([Kind.IS, Kind.COMPLEMENT])
_SIGNS = frozenset(":：=")
_PARTS = frozenset(",;|—–-，；")
_BRACKETS = {"(": ")", "[": "]", "（": "）"}
_MAX_PLACES, _MAX_WORDS, _MAX_CHARS = 16, 6, 60


def without_confidence(text: str, start: int, end: int) -> str:
    """A text of the same length, with spaces for statements of confidence in a span: `12 (confidence: 95%)`."""
    if not _may_tell(text, start, end):
        return text
    for place in sorted(place for kind in _NOUNS for place in places(kind, text, start, end))[-_MAX_PLACES:]:
        aside = _aside(text, max(start, place - _MAX_CHARS), min(end, place + _MAX_CHARS), place)
        if aside is not None:
            text = text[: aside[0]] + " " * (aside[1] - aside[0]) + text[aside[1] :]
    return text


def is_confidence(text: str, start: int, end: int) -> bool:
    """Whether a line only states the confidence of a response."""
    if end - start > 2 * _MAX_CHARS or not _may_tell(text, start, end):
        return False
    said = [word for word in words(text, start, end) if word.text not in "#>.。"]
    found = cues(said)
    return any(_statement(said, found, cue) == (0, len(said)) for cue in found if cue.kind is Kind.CERTAINTY)


def _may_tell(text: str, start: int, end: int) -> bool:
    shown = text[start:end].lower()
    return any(noun in shown for noun in openings(*_NOUNS))


def _aside(text: str, start: int, end: int, place: int) -> tuple[int, int] | None:
    """The span of a statement of confidence around a place, with the signs that part it from the answer before."""
    said = words(text, start, end)
    found = cues(said)
    for cue in found:
        statement = _statement(said, found, cue) if said[cue.stop - 1].end > place >= said[cue.first].start else None
        if statement is None or statement[0] == 0:
            continue
        first, stop = statement
        before, last = said[first - 1], said[stop - 1].end
        behind = said[stop] if stop < len(said) else None
        if before.text in _BRACKETS and behind and behind.text == _BRACKETS[before.text]:
            return before.start, behind.end
        is_last = behind is None or behind.text in ".。|" or "\n" in text[last : behind.start]
        if before.text in _PARTS and is_last and not _SIGNS.isdisjoint(word.text for word in said[first:stop]):
            return before.start, last
        article = any(each.kind is Kind.THE and each.stop == first for each in found)
        goes_on = behind is not None and behind.text.isalpha() and not is_last
        if not goes_on and _is_with(found, first - article):
            return said[first - article - 1].start, last
    return None


def _is_with(found: Sequence[Cue], place: int) -> bool:
    return any(each.kind is Kind.ASIDE and each.stop == place for each in found)


def _statement(said: Sequence[Word], found: Sequence[Cue], cue: Cue) -> tuple[int, int] | None:
    """The words of a statement of confidence: the amount or degree, and the cue that names it."""
    if cue.kind not in _NOUNS:
        return None
    amounts = {each.first for each in found if each.kind is Kind.DEGREE}
    amounts |= {place for place, word in enumerate(said) if word.text[0].isdigit() or word.text in "%~\\/"}
    leads = {place for each in found if each.kind in _LEADS for place in range(each.first, each.stop)}
    leads |= {place for place, word in enumerate(said) if word.text in _SIGNS}
    mine = {each.first for each in found if each.kind is Kind.RIGHT}
    first, stop = cue.first, cue.stop
    while (first - 1 in amounts or first - 1 in mine) and cue.first - first < _MAX_WORDS:
        first -= 1
    while cue.kind is Kind.CERTAINTY and (stop in amounts or stop in leads) and stop - cue.stop < _MAX_WORDS:
        stop += 1
    while stop > cue.stop and stop - 1 not in amounts:
        stop -= 1
    return (first, stop) if (first, stop) != (cue.first, cue.stop) else None
