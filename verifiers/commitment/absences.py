"""What a text says does not exist, with the reason for that: "The inverse does not exist, since the determinant is 0."

The figures of the reason are no answer. What is said before it is read as if it ended the sentence.
"""

from collections.abc import Iterator

from verifiers.commitment.cues import Kind
from verifiers.commitment.sayings import finds_none
from verifiers.commitment.spans import strip
from verifiers.commitment.stance import Sentence, sentence_at, sentences

_CHARS = 300


def without_reason(sentence: Sentence) -> Sentence:
    """A sentence without the reason why something does not exist; the same sentence if it says nothing of that kind."""
    if tells_absence(sentence) and (start := _conclusion(sentence)):
        return Sentence(sentence.text, start, sentence.end, sentence.stop)
    for cue in sentence.cues:
        if cue.kind is not Kind.BECAUSE or not cue.first:
            continue
        end = strip(sentence.text, sentence.start, sentence.words[cue.first].start, ",，、;；:：(（—– ")[1]
        statement = Sentence(sentence.text, sentence.start, end, sentence.stop)
        if tells_absence(statement):
            return statement
    return sentence


def _conclusion(sentence: Sentence) -> int:
    """The start of the last conclusion within a sentence: "x = 2 is extraneous, so there is no solution"; 0 if there is none."""
    return max(
        [sentence.words[cue.first].start for cue in sentence.cues if cue.kind is Kind.SO and cue.first], default=0
    )


def tells_absence(sentence: Sentence) -> bool:
    """Whether a sentence ends in saying that there is no solution, or that what was asked for does not exist."""
    phrase = sentence.words
    is_none = sentence.ends_in(len(phrase), Kind.NONE) is not None or any(
        finds_none(phrase, at) for at in range(len(phrase))
    )
    return is_none and Kind.IF not in sentence.kinds


def is_of_absence(text: str, start: int, stop: int, end: int) -> bool:
    """Whether the figures before a place belong to the reason why something does not exist."""
    sentence = sentence_at(text, stop - 1, start, end)
    if (statement := without_reason(sentence)) is not sentence:
        return statement.end < stop or stop <= statement.start
    if not sentence.begins(0, Kind.BECAUSE):
        return False
    *_, predecessor = [None, *_before(text, start, sentence.start)]
    return predecessor is not None and tells_absence(predecessor)


def _before(text: str, start: int, stop: int) -> Iterator[Sentence]:
    return sentences(text, max(start, stop - _CHARS), stop)
