"""What stands behind an answer and unmakes it: a denial, a question, a sentence that takes it back, another answer instead."""

import re
from itertools import islice

from verifiers.commitment.cues import Kind, cues, first_word, words
from verifiers.commitment.figures import NUMBER
from verifiers.commitment.folding import fold
from verifiers.commitment.stance import TURNS, UNMADE, Sentence, Stance, sentence_at, sentences
from verifiers.commitment.wording import openings

_MAX_CHARS = 300
_LEAD = re.compile(r"(?:[\s$*_)\]}.,!;:…—–，。、；-]|\\[\])]|</answer>){0,16}")
_NAME = r"[A-Z][^\W\d_]{0,30}(?:\s[A-Z][^\W\d_]{0,30}){0,3}"
_OVER = r"\s{0,4}(?:[.!](?=[\s<]|\Z)|[。！\n]|\Z)"
_VALUE = re.compile(
    rf"[$*_\"“(]{{0,4}}(?P<value>{NUMBER}|{_NAME}|[\u30a0-\u30ff\u3400-\u9fff]{{1,12}})"
    rf"(?:\s?(?:[a-z]{{1,12}}|[%°]))?[$*_\"”)]{{0,4}}{_OVER}"
)


def is_denied(text: str, start: int, span: tuple[int, int], end: int) -> bool:
    """Whether the sentence of a mark says that it is not the answer, or asks whether it is."""
    sentence = sentence_at(text, span[0], start, end)
    if sentence.end < span[1]:
        sentence = Sentence(text, sentence.start, sentence_at(text, span[1], start, end).end, sentence.stop)
    if sentence.asks and not is_affirmed(text, sentence.end, end):
        return True
    if sentence.bounds(span):
        return True
    return not sentence.asks and sentence.stance(span) is Stance.DENIED


def is_doubted(text: str, start: int, span: tuple[int, int], end: int) -> bool:
    """Whether the sentence of a number does not state it, or what follows takes it back."""
    sentence = sentence_at(text, span[0], start, end)
    if sentence.asks and not is_affirmed(text, sentence.end, end):
        return True
    if sentence.stance(span) in UNMADE and not sentence.asks:
        return True
    following = islice(sentences(text, max(sentence.end, span[1]), min(end, span[1] + _MAX_CHARS)), 3)
    return is_taken_back(text, span[1]) or any(_doubts(each) for each in following)


def _doubts(sentence: Sentence) -> bool:
    if sentence.opens_with(Kind.BACK):
        return True
    return any(cue.kind is Kind.DOUBT and cue.first <= 3 for cue in sentence.cues)


def is_affirmed(text: str, place: int, end: int) -> bool:
    """Whether a question is answered by yes."""
    following = next(sentences(text, place + 1, end), None)
    return following is not None and any(cue.kind is Kind.YES and cue.first == 0 for cue in following.cues)


def is_taken_back(text: str, end: int) -> bool:
    """Whether what follows an answer directly says that it is none."""
    first = _LEAD.match(text, end)
    begin = first.end() if first else end
    for sentence in islice(sentences(text, begin, min(len(text), begin + _MAX_CHARS)), 1):
        return sentence.opens_with(Kind.BACK)
    return False


def replacement(text: str, end: int, answer: str) -> str | None:
    """The other answer that is given directly behind one, with a word that takes that back."""
    first = _LEAD.match(text, end)
    begin = first.end() if first else end
    sentence = next(sentences(text, begin, min(len(text), begin + _MAX_CHARS)), None)
    if sentence is None or first_word(text, sentence.heard_from, sentence.end) not in openings(*TURNS):
        return None
    if not (turns := sentence.opening()):
        return None
    if (
        turns == 1
        and turns < len(sentence.words)
        and turns == max(cue.stop for cue in sentence.cues if cue.first == 0 and cue.stop <= turns)
    ):
        return None
    place = sentence.words[turns].start if turns < len(sentence.words) else sentence.end
    value = _VALUE.match(text, place)
    if value is None:
        following = next(sentences(text, sentence.end + 1, min(len(text), begin + _MAX_CHARS)), None)
        place = (
            following.start
            + len(text[following.start : following.end])
            - len(text[following.start : following.end].lstrip())
            if following
            else place
        )
        value = _VALUE.match(text, place) if following and turns >= len(sentence.words) else None
    if value is None or any(cue.kind in (Kind.YES, Kind.NO) for cue in cues(words(value["value"]))):
        return None
    given, other = _plain(answer), _plain(value["value"])
    return None if given == other or given.startswith(f"{other} ") else value["value"]


def _plain(text: str) -> str:
    return fold(text).casefold().strip(" \n$*_().\\\"'")
