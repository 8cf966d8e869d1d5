"""The channel `bare`: the whole response is an answer (one formula, one quantity, a few words)."""

import re
from collections.abc import Sequence

from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.figures import ANY_DIGIT
from verifiers.commitment.latex import split
from verifiers.commitment.offers import NO_OFFERS, Offer, Offers
from verifiers.commitment.sayings import finds_none
from verifiers.commitment.spans import trim
from verifiers.commitment.stance import Sentence

_BARE_CHARS = 600
_BARE_WORDS = 5
_BARE_COUNTED_WORDS = 3
_NOT_WORDS = re.compile(
    r"\\(?:text[a-z]{0,6}|mathrm|mathbf|operatorname\*?|mbox)\s?\{[^{}]*\}|\\(?:begin|end)\{[^{}]*\}|\\[a-zA-Z]+"
)
_BARE_WORD = re.compile(r"[^\W\d_²³¹⁰-⁹₀-₉]{2,}+(?!(?<=[A-Za-z])\d)")
"""Latin letters with a digit right behind them are part of a formula: H2SO4, CaCO3."""
_NAMES_OF_FUNCTIONS = split(
    "sin cos tan cot sec csc log ln exp sqrt arcsin arccos arctan pi or and mod gcd lcm max min sinh cosh tanh am pm AM PM "
    "inf infty"
)
_HAN_SENTENCE = re.compile(r"[\u3400-\u9fff]{5,}|[。．，：]")
_STARTS_AS_QUANTITY = re.compile(r"[-+−$€£¥\\({\s]{0,4}[\d.\\]")
_OPENS_DISPLAY = ("$$", "\\[", "\\begin", "\\left")
_CALCULATION = re.compile(r"\d\s?[-+*/×÷]\s?\d[^=,;]{0,80}=[^,;]{0,80}[,;]")


def read_bare(text: str, start: int, end: int) -> Offers:
    """The whole segment as the answer, if it is short and not a sentence."""
    if end - start > _BARE_CHARS:
        return NO_OFFERS
    segment = text[start:end]
    if "\n" in segment and not segment.startswith(_OPENS_DISPLAY):
        return NO_OFFERS
    if not segment.isascii() and _HAN_SENTENCE.search(segment):
        return NO_OFFERS
    if "?" in segment or "？" in segment or "<" in segment[:1] or _CALCULATION.search(segment):
        return NO_OFFERS
    words = [word for word in _BARE_WORD.findall(_NOT_WORDS.sub(" ", segment)) if _is_word(word)]
    if words and not _is_phrase(segment, words):
        return NO_OFFERS
    span = trim(text, start, end)
    return Offers((Offer(*span, start, end),)) if span[0] < span[1] else NO_OFFERS


_TELLS = frozenset([Kind.IS, Kind.SO, Kind.BECAUSE])
_UNSETTLED = frozenset([Kind.NOT, Kind.DOUBT, Kind.MAYBE, Kind.IF, Kind.SAID, Kind.BUT, Kind.BACK, Kind.FIND])


def _is_sentence(segment: str) -> bool:
    """Whether a segment states, denies, doubts or supposes something, or only says what is to be done."""
    sentence = Sentence(segment, 0, len(segment.rstrip(" .!。．।")), "")
    if any(cue.kind in _UNSETTLED or cue.kind in _TELLS for cue in sentence.cues):
        return True
    if any(finds_none(sentence.words, index) for index in range(1, len(sentence.words))):
        return True
    texts = [segment[word.start : word.end] for word in sentence.words]
    return any(
        word == "I"
        or word in listed("singular")
        or word in listed("plural")
        or (len(word) > 1 and word.lower() in listed("clause"))
        for word in texts
    )


def _is_word(run: str) -> bool:
    """Whether a run of letters is a word. Two letters that form no word are factors."""
    return run not in _NAMES_OF_FUNCTIONS and (len(run) > 2 or not run.isascii() or run.lower() in listed("short"))


def _is_phrase(segment: str, words: Sequence[str]) -> bool:
    """Whether the words are a unit, a noun phrase, or some of the few words that go with a formula."""
    if len(words) > _BARE_WORDS or _is_sentence(segment):
        return False
    numbers = ANY_DIGIT.findall(segment)
    if not numbers or (segment.endswith("$") and segment.count("$") % 2 == 0):
        return not segment.endswith(":")
    return len(numbers) == 1 and len(words) <= _BARE_COUNTED_WORDS and _STARTS_AS_QUANTITY.match(segment) is not None
