"""The opinions of others, which are not answers: "my teacher says", "according to the answer key", 据参考书, "tanárom szerint".

An opinion is somebody (`who`) beside a verb of saying (`says`), or beside words like "according to" (`by`), of one language; a "that" behind belongs
to it:

    my teacher says …     laut meinem Lehrer …     先生によると …     arkadaşım cevap 42 diyor
       who     says       by          who          who  by            who                says
"""

from collections.abc import Sequence
from functools import cache

from verifiers.commitment.cues import Cue, Kind, Word, languages
from verifiers.commitment.slots import Part, is_word, parts, slotted

_MAX_BETWEEN = 2
"""The words between the two: "my teacher often says", "laut meinem Lehrer"."""
_MAX_LEAD = 3
"""The words before somebody whose verb ends the sentence."""


_PAUSES = frozenset(",;:.，；：、،؛—–()（）")


def opinions(said: Sequence[Word]) -> list[Cue]:
    """The opinions of others in a sentence, each as a cue over the words that say whose it is."""
    if _somebody().isdisjoint(word.text for word in said):
        return []
    found = list(parts("opinion", said))
    pairs = [(who, other) for who in found for other in found if who.slot == "who" and other.slot in ("says", "by")]
    told = (_opinion(said, who, other, found) for who, other in pairs if who.language == other.language)
    return [cue for cue in told if cue is not None]


@cache
def _somebody() -> frozenset[str]:
    """The first words for somebody, in all languages."""
    tables = [slotted("opinion", language) for language in languages()]
    return frozenset(word for table in tables for word, said in table.items() if any(slot == "who" for _, slot in said))


def _opinion(said: Sequence[Word], who: Part, other: Part, others: Sequence[Part]) -> Cue | None:
    left, right = sorted((who, other), key=lambda part: part.first)
    between = said[left.stop : right.first]
    is_near = left.stop <= right.first and sum(map(is_word, between)) <= _MAX_BETWEEN
    if is_near and not any(word.text in _PAUSES for word in between):
        behind = (part.stop for part in others if part.slot == "that" and 0 <= part.first - right.stop <= 1)
        return Cue(Kind.SAID, left.first, max([right.stop, *behind]))
    is_last = not any(map(is_word, said[other.stop :])) and who.stop <= other.first
    return Cue(Kind.SAID, who.first, who.stop) if is_last and who.first <= _MAX_LEAD and other.slot == "says" else None
