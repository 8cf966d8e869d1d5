r"""The main clause behind a premise and its comma: "Since $r = 5$, $P = 20$", "Comme $r = 5$, on obtient $P = 20$", $r=5$より、$P=20$である."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from verifiers.commitment.cues import Kind, Word, listed
from verifiers.commitment.stance import Sentence

_MAX_WORDS = 3


def past_premise(sentence: Sentence, premises: AbstractSet[str]) -> int:
    """The place behind the only comma of a sentence, and the words that lead on, if a premise stands before it; 0 if none does.

    `premises` are the words that may begin a premise, or end it.
    """
    phrase = sentence.words
    commas = [at for at, word in enumerate(phrase) if word.text in _COMMAS and not _is_in_formula(phrase, at)]
    if len(commas) != 1 or sentence.begins(0, Kind.SO):  # 因此, "as a result"
        return 0
    sides = [(0, size) for size in range(1, _MAX_WORDS + 1)]
    sides += [(max(0, commas[0] - size), commas[0]) for size in range(1, _MAX_WORDS + 1)]
    if not any(sentence.shown(*side) in premises for side in sides):
        return 0
    return sentence.past(sentence.past_cue(commas[0] + 1, Kind.SO, Kind.IS), listed("then"))


_COMMAS = frozenset(",，、")


def _is_in_formula(phrase: Sequence[Word], index: int) -> bool:
    return sum(word.text == "$" for word in phrase[:index]) % 2 == 1
