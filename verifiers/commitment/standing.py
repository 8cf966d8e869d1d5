"""Decides which answers of a text stand, and whether a text with several answers commits to the last one.

    … earlier answer ──between──► last answer ──behind──► …

*Between.* The last answer stands if words before it correct the earlier one or conclude ("so", "wait", "the final
answer is"), or if it is far from the earlier one. It does not stand if there are no words between the two, if the same
words introduce both (a list: "Solution 1: … Solution 2: …", "Answer: … Answer: …"), or if it is introduced by words for
an alternative or a case ("or", "another", "if").

*Behind.* "… or" makes the answer an alternative. "That is wrong", "a contradiction" and "no solution exists" take it
back.

The lexicon gives the meaning of words. Every look covers a fixed number of characters, so its cost does not grow with
the length of the text.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeVar

from verifiers import numerals
from verifiers.commitment.cues import Kind, Word, cues
from verifiers.commitment.extraction import Mentioned
from verifiers.commitment.mentions import in_order
from verifiers.commitment.stance import UNMADE, Sentence, Stance, between, sentences
from verifiers.numerals.english import ORDINALS


class Place(Protocol):
    """The place of an answer in the text."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


_FAR_CHARS = 200
_LEAD_CHARS = 100
_TAIL_CHARS = 160
_CHOICE = frozenset([Kind.OR, Kind.MAYBE])
_ALTERNATIVE = _CHOICE | {Kind.IF, Kind.ALSO, Kind.OTHER}
_TURNS = frozenset([Kind.SO, Kind.BUT])
_CORRECTS = frozenset([Kind.BUT, Kind.BACK, Kind.WRONG, Kind.NO, Kind.NOT, Kind.DOUBT, Kind.BAD])
_LEADS_ON = _CORRECTS | {
    Kind.SO, Kind.ANSWER, Kind.RESULT, Kind.CHOOSE, Kind.CALLED, Kind.FITS, Kind.RIGHT, Kind.STAGE,
}  # fmt: skip

P = TypeVar("P", bound=Place)
_MAX_LOOKED_AT = 8
"""The number of answers, counted from the end, that are tested for denials; earlier ones stand."""


def undenied(text: str, offered: Sequence[P]) -> Sequence[P]:
    """The answers without those that the text denies: "not A -> C", "A -> C is wrong"."""
    last = offered[-_MAX_LOOKED_AT:]
    return [*offered[:-_MAX_LOOKED_AT], *(pair for pair in last if _stance(text, pair) is not Stance.DENIED)]


def mentioned(text: str, offered: Sequence[P], chosen: P | None) -> Sequence[Mentioned]:
    """The last answers of a text with the stances by which they stand or not; `chosen` is the one that counts."""
    return in_order(
        Mentioned((pair.start, min(pair.end, len(text))), _stance(text, pair), is_answer=pair is chosen)
        for pair in [*offered[-_MAX_LOOKED_AT:]][::-1]
    )


def _stance(text: str, place: Place) -> Stance:
    """The stance of the sentence that offers an answer towards that answer."""
    lead = _lead(text, place.start)
    return between(text[lead.start : lead.end], text[place.end : place.end + _TAIL_CHARS])


def doubt(text: str, last: Place) -> Literal["conflicting_answers", "no_answer"] | None:
    """The reason, if the words beside the last answer make it no answer."""
    lead = _lead(text, last.start)
    if lead.ends_in(lead.skipped(len(lead.words)), *_CHOICE):
        return "conflicting_answers"
    for tail in sentences(text, last.end, last.end + _TAIL_CHARS):
        if any(cue.kind is Kind.OR and tail.past(0, _SIGNS) == cue.first for cue in tail.cues):
            return "conflicting_answers"
        if tail.takes_back(0, _TAKES_BACK):
            return "no_answer"
    return "no_answer" if _stance(text, last) in UNMADE else None


_SIGNS = frozenset(")]}'\"$,(")
_TAKES_BACK = frozenset([Kind.BACK, Kind.NONE])


def replaces(text: str, last: Place, before: Sequence[Place], restates: bool) -> bool:
    """Whether the last answer replaces the one before it.

    `before` holds the answers that differ from it, in order. `restates` says that it was given before them, too.
    """
    earlier = before[-1]
    floor = max(earlier.end, last.start - _FAR_CHARS)
    is_far = last.start - earlier.end > _FAR_CHARS
    gap = Sentence(text, floor, last.start, "")
    if _is_alternative(text, floor, last.start):
        return False
    lead = _words_before(text, floor, last.start)
    start = max(before[-2].end if len(before) > 1 else 0, earlier.start - _LEAD_CHARS)
    is_same = [word.text for word in lead] == [word.text for word in _words_before(text, start, earlier.start)]
    if is_same and (lead or not (is_far or any(cue.kind in _CORRECTS for cue in gap.cues))):
        return any(cue.kind is Kind.STAGE for cue in cues(lead))
    return is_far or restates or _is_told(_lead(text, last.start)) or any(cue.kind in _LEADS_ON for cue in gap.cues)


def _is_told(lead: Sentence) -> bool:
    """Whether a verb introduces an answer: "the shortest path is"."""
    stop = lead.skipped(len(lead.words))
    return lead.ends_in(stop - (stop > 0 and lead.words[stop - 1].text in ":："), Kind.IS) is not None


def _is_alternative(text: str, start: int, end: int) -> bool:
    """Whether the sentence before an answer, on one line or more, calls it an alternative and concludes nothing."""
    for sentence in sentences(text, start, end):
        if sentence.stop.strip() or sentence.stop.count("\n") > 1:
            start = sentence.end
    kinds = [cue.kind for cue in Sentence(text, start, end, "").cues]
    alternatives = [index for index, kind in enumerate(kinds) if kind in _ALTERNATIVE]
    return bool(alternatives) and not _TURNS.intersection(kinds[alternatives[-1] :])


def _lead(text: str, end: int) -> Sentence:
    """The words before an answer in its sentence, or in the line above if that ends in a colon, a verb or "or"."""
    for sentence in reversed(list(sentences(text, max(0, end - _LEAD_CHARS), end))):
        if not sentence.words or sentence.text.startswith("```", sentence.start):
            continue
        is_open = sentence.ends_in(len(sentence.words), *(_CHOICE | {Kind.IS})) or sentence.words[-1].text in ":："
        if not sentence.stop or ("\n" in sentence.stop and is_open):
            return sentence
        break
    return Sentence(text, end, end, "")


def _words_before(text: str, start: int, end: int) -> Sequence[Word]:
    """The words of the last sentence before an answer that has words, without those that only number it."""
    for sentence in reversed(list(sentences(text, start, end))):
        phrase = [word for word in sentence.words if word.text.isalpha() and not _is_numbering(word.text)]
        if phrase:
            return phrase
    return []


def _is_numbering(word: str) -> bool:
    """Whether a word is a letter, a number in words, or a Roman numeral."""
    is_letter = len(word) == 1 and word.isascii()
    return is_letter or word in ORDINALS or numerals.value(word) is not None or not word.strip("ivx")
