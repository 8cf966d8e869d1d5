"""Reads yes and no as answers.

A text that says both has no truth value. Of denials only "not true" means no.
"""

import unicodedata

from verifiers.commitment.cues import LETTERS, Kind, listed
from verifiers.commitment.stance import Sentence
from verifiers.rules.qa.words import visible

YES, NO, IN_PART = listed("truth"), listed("untruth"), listed("in_part")
_LETTERS = {"t": True, "f": False, "y": True, "n": False}
"""The longest text that is read. It must say nothing else."""
_EDGES = " \t\n.,;:!\"'“”‘’`*_()[]{}<>$。，、；،؛"
_SIGNS = ",.;:!،，、。；：！—–-\n"
_OPEN = frozenset([Kind.NOT, Kind.NO, Kind.MAYBE, Kind.OR, Kind.IF, Kind.DOUBT, Kind.BACK])
_MAX_WORDS = 40
_MAX_PLAIN_WORDS = 8


def leading(text: str) -> tuple[str, str] | None:
    """The yes or no at the beginning of a text, and the text behind it after a sign; else None."""
    text = text.lstrip(_EDGES)
    word = max((each for each in YES | NO if text.lower().startswith(each)), key=len, default="")
    rest = text[len(word) :].lstrip('*_"”) ')
    return (text[: len(word)], rest) if word and (not rest or rest[0] in _SIGNS) else None


def truth(text: str) -> bool | None:
    """The truth value of a short text; None if it says both or neither, or denies it."""
    text = unicodedata.normalize("NFKC", visible(text)).casefold().strip(_EDGES)
    if text in _LETTERS:
        return _LETTERS[text]
    said, sentence = LETTERS.findall(text), Sentence(text, 0, len(text), "")
    kinds = {cue.kind for cue in sentence.cues}
    if not 0 < len(said) <= _MAX_WORDS or "?" in text or sentence.asks:
        return None
    if lead := leading(text):
        is_open = not text.isascii() and not kinds.isdisjoint([Kind.MAYBE, Kind.OR])
        value = lead[0] in YES
        is_both = any(word in (NO if value else YES) for word in said)
        return None if is_open or is_both or (lead[0] == "不" and lead[1].strip(_EDGES)) else value
    judgement, clause, claim = text.partition(" that ")
    if clause and judgement.startswith("it "):
        is_plain = Sentence(claim, 0, len(claim), "").kinds.isdisjoint(_OPEN)
        return truth(judgement) if is_plain else None
    if (said[-1] in YES or not text.isascii()) and _is_denial(sentence):
        return False
    is_plain = {word for word in said if word in YES or word in NO} == {said[-1]} and _OPEN.isdisjoint(
        cue.kind for cue in sentence.cues if cue.stop < len(sentence.words)
    )
    return said[-1] in YES if is_plain and len(said) <= _MAX_PLAIN_WORDS and IN_PART.isdisjoint(said) else None


def _is_denial(sentence: Sentence) -> bool:
    """Whether a sentence says only "it is not true"."""
    denials = [cue for cue in sentence.cues if cue.kind in (Kind.NOT, Kind.NO, Kind.WRONG)]
    first = min((cue.first for cue in denials), default=_MAX_SUBJECT_WORDS + 1)
    is_whole = any(
        cue.first == first and cue.stop == len(sentence.words) and cue.kind is not Kind.NOT for cue in denials
    )
    return is_whole and first <= _MAX_SUBJECT_WORDS


_MAX_SUBJECT_WORDS = 4
