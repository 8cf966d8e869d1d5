"""Metrics of short answers: the same words, shared words, and open choices.

Sources: SQuAD's evaluation script (exact, F1), HotpotQA's (`yes`, `no` and `noanswer` share no words with anything
else), Search-R1's sub-match, which is made to respect words, negations and a length here.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from verifiers.commitment.affirmed import leaves_open
from verifiers.commitment.folding import visible
from verifiers.rules.qa.contained import contained
from verifiers.rules.qa.words import Normalise, joints, words

_CLOSED = frozenset([("yes",), ("no",), ("noanswer",)])


def exact(answer: str, reference: str, normalise: Normalise) -> bool:
    """Whether the words are the same."""
    return words(answer, normalise) == words(reference, normalise)


def has_same_initials(answer: str, reference: str, normalise: Normalise) -> bool:
    """Whether the words are the same, apart from spaces between initials."""
    if normalise == "none" or "." not in answer or "." not in reference:
        return False
    return words(_joined(answer), normalise) == words(_joined(reference), normalise)


_INITIALS = re.compile(r"(?<![^\W_])([A-Z]\.)\s(?=[A-Z]\.)")


def _joined(text: str) -> str:
    """A text without spaces between initials: "J. K. Rowling" becomes "J.K. Rowling"."""
    return _INITIALS.sub(r"\1", text)


def f1(answer: str, reference: str, normalise: Normalise) -> Fraction:
    """The harmonic mean of the precision and recall of words, where repeated words count repeatedly."""
    lhs, rhs = words(answer, normalise), words(reference, normalise)
    if lhs in _CLOSED or rhs in _CLOSED:
        return Fraction(lhs == rhs)
    return harmonic(sum((Counter(lhs) & Counter(rhs)).values()), len(lhs), len(rhs))


def harmonic(common: int, answer_count: int, reference_count: int) -> Fraction:
    """F1 of `common` parts among `answer_count` and `reference_count` parts."""
    return Fraction(2 * common, answer_count + reference_count) if common else Fraction(0)


def names_alternatives(answer: str, reference: str) -> bool:
    """Whether an answer leaves a choice open ("Paris or Rome") that its reference does not."""
    return leaves_open(visible(answer)) and not leaves_open(visible(reference))


def is_enumeration(answer: str, reference: str) -> bool:
    """Whether an answer lists short items of one kind, and the reference is at most one of them.

    Of two items with a comma between them, the second may describe the first ("Paris, France"), so the reference may be
    it.
    """
    answer, reference = visible(answer), visible(reference)
    if joints(reference):
        return False
    items = [part for part, _ in _parts(answer) if any(map(str.isalnum, part))]
    max_words = len(words(reference, "cjk")) + _EXTRA_WORDS
    if len(items) < 2 or any(len(words(part, "cjk")) > max_words for part in items):
        return False
    if len({any(map(str.isalpha, part)) for part in items}) > 1:
        return False
    is_described = len(items) == 2 and _APPOSITION.search(answer) and _holds(items[0], reference)
    return not is_described


def is_flood(answer: str, reference: str) -> bool:
    """Whether the reference is one of so many short items in a row that the answer does not choose it.

    Of three items, the first may be described by the others ("Bath, Somerset, England").
    """
    answer, reference = visible(answer), visible(reference)
    if joints(reference):
        return False
    max_words = len(words(reference, "cjk")) + _EXTRA_WORDS
    run: list[str] = []
    is_led = False
    for part, closes in [*_parts(answer), (None, False)]:
        if part is not None and not any(map(str.isalnum, part)):
            continue
        if part is not None and len(words(part, "cjk")) <= max_words:
            run.append(part)
        elif _floods(run, reference, is_led + 1 if closes else 0):
            return True
        else:
            run, is_led = [], part is not None
    return False


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The parts between commas and similar signs, and whether an "and" stands before each, as before a last item."""
    start, closes = 0, False
    for joint_start, end in joints(text):
        yield text[start:joint_start].strip(), closes
        start, closes = end, text[joint_start].isalpha()
    yield text[start:].strip(), closes


def _floods(run: Sequence[str], reference: str, described: int) -> bool:
    """Whether a run of items floods the reference. `described` counts the items in the longer parts around the run."""
    if not run or len({any(map(str.isalpha, part)) for part in run}) > 1:
        return False
    holds = [_holds(part, reference) for part in run]
    if described:
        return any(holds) and len(run) + described > _MAX_DESCRIBED
    is_long = len(run) > _MAX_DESCRIBED or (len(run) == _MAX_DESCRIBED and not holds[0])
    return any(holds) and not all(holds) and is_long


_MAX_DESCRIBED = 3
_APPOSITION = re.compile(r"[,，]")
_EXTRA_WORDS = 2


def _holds(text: str, reference: str) -> bool:
    return contained(text, reference, "cjk") == "found"
