"""Statements of confidence, which are not part of an answer: "12 (confidence: 95%)", "Paris, with 90% confidence"."""

from collections.abc import Sequence
from functools import cache

from verifiers.commitment.cues import Cue, Kind, Word, cues, words
from verifiers.commitment.latex import any_of
from verifiers.commitment.wording import openings, places
from verifiers.sightings import Scan

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
    for index in sorted(index for kind in _NOUNS for index in places(kind, text, start, end))[-_MAX_PLACES:]:
        span = _aside(text, max(start, index - _MAX_CHARS), min(end, index + _MAX_CHARS), index)
        if span is not None:
            text = text[: span[0]] + " " * (span[1] - span[0]) + text[span[1] :]
    return text


def is_confidence(text: str, start: int, end: int) -> bool:
    """Whether a line only states the confidence of a response."""
    if end - start > 2 * _MAX_CHARS or not _may_tell(text, start, end):
        return False
    phrase = [word for word in words(text, start, end) if word.text not in "#>.。"]
    signals = cues(phrase)
    return any(_statement(phrase, signals, cue) == (0, len(phrase)) for cue in signals if cue.kind is Kind.CERTAINTY)


def _may_tell(text: str, start: int, end: int) -> bool:
    return _nouns().is_in(text[start:end].lower().encode("utf-8", "surrogatepass"))


@cache
def _nouns() -> Scan:
    return Scan(any_of(openings(*_NOUNS)))


def _aside(text: str, start: int, end: int, index: int) -> tuple[int, int] | None:
    """The span of a statement of confidence around a place, with the signs that part it from the answer before."""
    phrase = words(text, start, end)
    signals = cues(phrase)
    for cue in signals:
        statement = (
            _statement(phrase, signals, cue) if phrase[cue.stop - 1].end > index >= phrase[cue.first].start else None
        )
        if statement is None or statement[0] == 0:
            continue
        first, stop = statement
        predecessor, last = phrase[first - 1], phrase[stop - 1].end
        successor = phrase[stop] if stop < len(phrase) else None
        if predecessor.text in _BRACKETS and successor and successor.text == _BRACKETS[predecessor.text]:
            return predecessor.start, successor.end
        is_last = successor is None or successor.text in ".。|" or "\n" in text[last : successor.start]
        if predecessor.text in _PARTS and is_last and not _SIGNS.isdisjoint(word.text for word in phrase[first:stop]):
            return predecessor.start, last
        article = any(signal.kind is Kind.THE and signal.stop == first for signal in signals)
        goes_on = successor is not None and successor.text.isalpha() and not is_last
        if not goes_on and _is_with(signals, first - article):
            return phrase[first - article - 1].start, last
    return None


def _is_with(cues: Sequence[Cue], index: int) -> bool:
    return any(cue.kind is Kind.ASIDE and cue.stop == index for cue in cues)


def _statement(phrase: Sequence[Word], cues: Sequence[Cue], cue: Cue) -> tuple[int, int] | None:
    """The words of a statement of confidence: the amount or degree, and the cue that names it."""
    if cue.kind not in _NOUNS:
        return None
    amounts = {signal.first for signal in cues if signal.kind is Kind.DEGREE}
    amounts |= {index for index, word in enumerate(phrase) if word.text[0].isdigit() or word.text in "%~\\/"}
    leads = {index for signal in cues if signal.kind in _LEADS for index in range(signal.first, signal.stop)}
    leads |= {index for index, word in enumerate(phrase) if word.text in _SIGNS}
    mine = {signal.first for signal in cues if signal.kind is Kind.RIGHT}
    first, stop = cue.first, cue.stop
    while (first - 1 in amounts or first - 1 in mine) and cue.first - first < _MAX_WORDS:
        first -= 1
    while cue.kind is Kind.CERTAINTY and (stop in amounts or stop in leads) and stop - cue.stop < _MAX_WORDS:
        stop += 1
    while stop > cue.stop and stop - 1 not in amounts:
        stop -= 1
    return (first, stop) if (first, stop) != (cue.first, cue.stop) else None
