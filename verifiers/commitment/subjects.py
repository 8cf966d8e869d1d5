"""Denials of what a sentence says of its subject: "Mark Twain did not write it", "Mark Twain no lo escribió".

The subject is no answer then, though no word beside it denies it.
"""

from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.stance import Sentence

_MAX_VERB_WORDS = 3
_MAX_PARTICLE_WORDS = 2
_IS = frozenset([Kind.IS])
_PAUSES = frozenset(",;:，；：、—–(（")


def is_denied_subject(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether a mention is the subject of a verb that is denied; `first` and `stop` are the places of its words."""
    if sentence.skipped(first) != 0:
        return False
    return _is_denied_verb(sentence, stop) or _has_denial(sentence, stop) or _ends_in_denial(sentence, stop)


def _is_denied_verb(sentence: Sentence, stop: int) -> bool:
    """Whether its verb is denied: "X did not write it", "X is not the capital"; not "X, not Y" nor "X wrote it, not Y"."""
    denial = next((cue for cue in sentence.cues if cue.kind is Kind.NOT and cue.first >= stop), None)
    if denial is None or denial.first - stop > _MAX_VERB_WORDS:
        return False
    between, behind = sentence.words[stop : denial.first], sentence.words[denial.stop : denial.stop + 1]
    if not all(word.text[-1].isalpha() or word.text in "'’" for word in between):
        return False
    if not behind or sentence.text[behind[0].start].isupper():
        return False
    is_description = bool(between) and sentence.begins(_IS, stop)
    return not is_description or behind[0].text == "the"


def _has_denial(sentence: Sentence, stop: int) -> bool:
    """Whether a word that denies verbs stands beside it: "X no lo escribió", "X ne l'a pas écrit", "X skrev det inte"."""
    said = sentence.words
    for place in range(stop, min(stop + _MAX_VERB_WORDS, len(said))):
        word = said[place].text
        if word in _PAUSES or word[0].isdigit():
            return False
        is_beside = place == stop or not word.isascii() or place == len(said) - 1
        if word in listed("verb_denials") and is_beside:
            behind = said[place + 1] if place + 1 < len(said) else None
            return behind is None or (behind.text[0].isalpha() and not sentence.text[behind.start].isupper())
    return False


def _ends_in_denial(sentence: Sentence, stop: int) -> bool:
    """Whether the verb comes last and denies: "X bunu yazmadı", それを書いていません."""
    said = sentence.words[stop:]
    if not said or not _PAUSES.isdisjoint(word.text for word in said):
        return False
    shown = sentence.text[said[0].start : sentence.end].rstrip(' .!。»"”')
    return not shown.isascii() and shown.lower().endswith(tuple(listed("denied_endings")))
