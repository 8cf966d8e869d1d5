"""The option that a question for a false one asks for: "the statement that is not true is C", 不正确的选项是C, "la afirmación falsa es la C".

The subject before a verb is one: a noun of options or claims, or a word that makes a noun (的, 것, もの), and what calls it false. An answer's
noun is none: "the wrong answer is C" denies C.
"""

from collections.abc import Sequence

from verifiers.commitment.cues import Cue, Kind, Word, listed

_FALSE = frozenset([Kind.BAD, Kind.FALSE, Kind.NO])
_BEGINS = frozenset([Kind.SO, Kind.BUT])
_OPEN = frozenset([Kind.MAYBE, Kind.IF, Kind.BECAUSE, Kind.OR, Kind.JOINS])
_PAUSES = frozenset(",;:，；：、،؛—–()（）")
_MAX_WORDS = 14


def is_exception(phrase: Sequence[Word], cues: Sequence[Cue], stop: int) -> bool:
    """Whether the subject that ends at a place, before its verb, is an option or a claim that is called false."""
    first = stop
    while (
        first and phrase[first - 1].text not in _PAUSES and not any(c.stop == first and c.kind in _BEGINS for c in cues)
    ):
        first -= 1
    if not 0 < stop - first <= _MAX_WORDS:
        return False
    subject = [cue for cue in cues if first <= cue.first and cue.stop <= stop]
    false = [cue for cue in subject if cue.kind in _FALSE]
    # "The least likely option" is a phrase of its own that denies.
    indices = {at for cue in false for at in range(cue.first, cue.stop)}
    is_noun = any(cue.kind is Kind.NOUN and cue.first not in indices for cue in subject) or any(
        word.text in listed("claims") or word.text in listed("nominal") for word in phrase[first:stop]
    )
    return bool(false) and is_noun and not any(_is_other(phrase, cue, false) for cue in subject)


def _is_other(phrase: Sequence[Word], cue: Cue, false: Sequence[Cue]) -> bool:
    """Whether a cue makes something else of a subject: an answer's noun, a doubt, a verb that is not that of "the one that is false"."""
    if any(neighbour.first <= cue.first < neighbour.stop for neighbour in false):
        return False
    is_verb = cue.kind is Kind.IS and phrase[cue.first].text.isascii()
    is_relative = cue.first > 0 and phrase[cue.first - 1].text in listed("relatives")
    return cue.kind is Kind.ANSWER or cue.kind in _OPEN or (is_verb and not is_relative)
