"""Questions without an answer, as in SQuAD 2.0, where the reference is empty.

A response is right if it has an empty answer tag, or a phrase which says that the question or the passage has no
answer, and nothing else. An empty response is not right: a response that costs nothing must not earn anything.
"""

import math
import re
import unicodedata

from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.folding import visible
from verifiers.commitment.latex import untexted
from verifiers.commitment.retraction import Slot, judged
from verifiers.commitment.slots import is_word, parts
from verifiers.commitment.stance import Sentence
from verifiers.commitment.truths import truth

_EMPTY_TAG = re.compile(r"<answer\s{0,4}>\s*</answer\s{0,4}>\W*\Z", re.IGNORECASE)
_TAIL_CHARS = 200
_IS_DATA = re.compile(r"[{}\[\]=]")
_SUBJECTS = frozenset([Kind.SOURCE, Kind.LABEL])
_BESIDE = _SUBJECTS | {Kind.NOWHERE, Kind.THE, Kind.IT, Kind.IS, Kind.ANSWER, Kind.SO}
_IN_SOURCE = frozenset([Kind.COMPLEMENT, Kind.AT, Kind.BY, Kind.ASIDE, Kind.ONLY])


def says_none(segment: str, answer: str | None) -> bool:
    """Whether a final segment, and the answer found in it, say that there is no answer."""
    if answer is None or not visible(answer):
        return _EMPTY_TAG.search(segment[-_TAIL_CHARS:]) is not None
    if len(answer) > _TAIL_CHARS or _IS_DATA.search(answer) or "?" in answer:
        return False
    sentence = Sentence(answer, 0, len(answer), "")
    kinds = {cue.kind for cue in sentence.cues}
    terms = _BESIDE | (frozenset() if _SUBJECTS.isdisjoint(kinds) else _IN_SOURCE)
    known_places = {index for cue in sentence.cues if cue.kind in terms for index in range(cue.first, cue.stop)}
    return Kind.NOWHERE in kinds and all(
        index in known_places or word.text in listed("pronouns")
        for index, word in enumerate(sentence.words)
        if word.text[0].isalnum()
    )


_DOTS = re.compile(r"\\[a-z]*dots[a-z]?|[.\u2026\s]")
_BLANKS = frozenset(["Pc", "Pd", "Ps", "Pe", "Pi", "Pf"])
"""The categories of lines, brackets and quotation marks."""


def gives_none(answer: str) -> bool:
    """Whether what stands in the place of an answer is a blank to be filled in ("...", "your answer"), no number (`nan`), or
    says that there is no answer, that the speaker does not know it, or that he is sorry not to give it.
    """
    text = untexted(answer)
    if all(unicodedata.category(char) in _BLANKS for char in _DOTS.sub("", text)):
        return True
    if len(text) > _TAIL_CHARS or any(char.isdigit() for char in text):
        return False
    if text.strip().casefold() == str(math.nan):
        return True
    sentence = Sentence(text, 0, len(text), "")
    clause = judged(sentence, 0, len(sentence.words))
    is_unsure = clause is not None and Slot.UNSURE in clause.slots
    return is_unsure or says_none(text, text) or _only_names(sentence) or _refusals(sentence) == _REFUSALS


_AROUND_NAMES = _BESIDE | {Kind.RIGHT, Kind.FIND, Kind.COMPLEMENT}


def _only_names(sentence: Sentence) -> bool:
    """Whether a sentence has no words but those for an answer and where it belongs: "the final answer", "put your answer
    here".
    """
    cues = [cue for cue in sentence.cues if cue.kind in _AROUND_NAMES]
    names = {index for cue in cues for index in range(cue.first, cue.stop)}
    is_named = any(cue.kind is Kind.ANSWER for cue in cues)
    words = [(index, word.text) for index, word in enumerate(sentence.words) if word.text[0].isalnum()]
    return is_named and all(index in names or text in listed("form") for index, text in words)


_OPEN = frozenset([Kind.OR, Kind.MAYBE, Kind.NOT, Kind.NO])
_REFUSALS = frozenset([Kind.BUT, Kind.NOT])


def _refusals(sentence: Sentence) -> frozenset[Kind]:
    """How the speaker denies something of himself, by one or both: "I'm sorry, but I can't help with that"."""
    is_of_speaker = any(part.slot == "by" for part in parts("slip", sentence.words))
    return _REFUSALS.intersection(cue.kind for cue in sentence.cues) if is_of_speaker else frozenset()


_PASSED = frozenset([Kind.IT, Kind.IS, Kind.ASKED, Kind.ANSWER, Kind.SOURCE, Kind.SO, Kind.JOINS])
"""Words for what a speaker passes over."""


def _around_turns(sentence: Sentence) -> set[int]:
    """The places of the speaker, of what he passes over, and of words that change nothing; not of an article that begins a
    name ("El Paso").
    """
    around = [part for part in (*parts("slip", sentence.words), *parts("verdict", sentence.words)) if part.slot in _BY]
    known = [(part.first, part.stop) for part in around]
    known += [(cue.first, cue.stop) for cue in sentence.cues if cue.kind in _PASSED]
    places = {at for at, word in enumerate(sentence.words) if word.text in listed("pronouns")}
    places |= {index for first, stop in known for index in range(first, stop)}
    return places - {cue.first for cue in sentence.cues if cue.kind is Kind.THE and cue.first == 0}


_BY = ("by", "filler")


def evades(answer: str) -> bool:
    """Whether the speaker may deny something of himself ("I cannot solve this"), pass his turn ("skip"), or leave open what
    was asked ("it depends", "one of them"). Some titles do, too.
    """
    text = untexted(answer)[:_TAIL_CHARS]
    if any(map(str.isdigit, text)):
        return False
    sentence = Sentence(text, 0, len(text), "")
    evasions = [*parts("evades", sentence.words)]
    known_places = {index for part in evasions for index in range(part.first, part.stop)}
    if any(part.slot == "turn" for part in evasions):  # "I pass", "skip this question"
        known_places |= _around_turns(sentence)
    is_all = bool(evasions) and known_places.issuperset(at for at, word in enumerate(sentence.words) if is_word(word))
    return is_all or any(part.slot == "open" for part in evasions) or bool(_refusals(sentence))


def leaves_open(answer: str) -> bool:
    """Whether the words of an answer may leave a question open: they evade it, ask, deny, name several answers, or stand in
    brackets as what is to be filled in. Less than a hundredth of the answers of NQ and TriviaQA do so, too. A no is as good
    an answer as a yes.
    """
    text = answer[:_TAIL_CHARS].strip()
    edges = unicodedata.category(text[0]) + unicodedata.category(text[-1]) if text else ""
    is_open = not _OPEN.isdisjoint(cue.kind for cue in Sentence(text, 0, len(text), "").cues) and truth(text) is None
    return is_open or "?" in text or edges == "PsPe" or evades(text)
