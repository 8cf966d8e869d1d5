"""A value that is only set against the answer: the 48 of "42 und nicht 48", "42, et non 48", "C y no la B".

A word that denies, behind a comma or a word that joins, denies the value directly behind it, also where it denies nothing elsewhere:
the "no" of "42, no 48" is a verdict of its own in "No, it is 48".
"""

from collections.abc import Sequence
from functools import cache

from verifiers.commitment.cues import Cue, Kind, Word, languages, listed
from verifiers.commitment.wording import single

_COMMAS = frozenset(",，、،;；(（—–")
_LEADS = frozenset([Kind.THE, Kind.NOUN, Kind.NOT])
_OPENS = frozenset("($[\\\"'“‘")


@cache
def denials() -> frozenset[str]:
    """The words that deny, in all languages, however they stand in a clause."""
    verdicts = [lexicon["verdict"] for lexicon in languages().values()]
    members = {word for verdict in verdicts for slot in ("no", "not") for word in verdict.get(slot, ())}
    return frozenset(word for word in members | listed("verb_denials") if word.isalpha())


def ends_in_denial(text: str) -> bool:
    """Whether the verb that ends a text denies it: それを書いていません, "bunu yazmadı"; no such text has only ASCII letters."""
    return not text.isascii() and text.rstrip(' .!。»"”').lower().endswith(tuple(listed("denied_endings")))


def joins(word: Word) -> bool:
    """Whether a word may join a contrast to what stands before it, in any language: "and", "y", "а"."""
    return word.text in single(Kind.JOINS, Kind.BUT)


def contrasts(text: str, phrase: Sequence[Word], cues: Sequence[Cue]) -> list[Cue]:
    """The denials of values that are set against others, each as a cue over its word."""
    terms = denials()
    positions = [position for position, word in enumerate(phrase) if word.text in terms]
    return [
        Cue(Kind.NOT, position, position + 1)
        for position in positions
        if position and _is_contrast(text, phrase, cues, position)
    ]


def contrast_start(phrase: Sequence[Word]) -> int | None:
    """Where words between two values begin to set the second one against the first; None if no joint does."""
    positions = [position for position, word in enumerate(phrase) if word.text in denials()]
    joints = [phrase[position - 1] for position in positions[-1:] if position]
    return next((word.start for word in joints if word.text in _COMMAS or joins(word)), None)


def _is_contrast(text: str, phrase: Sequence[Word], cues: Sequence[Cue], position: int) -> bool:
    joint = phrase[position - 1]
    # The A of "Cevap A değil D" is an option, and not the Czech "and".
    if joint.text not in _COMMAS and (not joins(joint) or _is_value(text, joint)):
        return False
    stop = position + 1
    while indices := [cue.stop for cue in cues if cue.kind in _LEADS and cue.first == stop]:
        stop = max(indices)
    while stop < len(phrase) and phrase[stop].text in _OPENS:
        stop += 1
    return (
        stop < len(phrase)
        and _is_value(text, phrase[stop])
        and any(_is_value(text, phrase[at]) for at in range(position))
    )


def _is_value(text: str, word: Word) -> bool:
    """Whether a word is a number, a capital that may be an option's, or a name behind other words."""
    return word.text[0].isdigit() or (text[word.start].isupper() and (len(word.text) == 1 or word.start > 0))
