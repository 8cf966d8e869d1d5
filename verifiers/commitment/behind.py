"""Text behind an answer that cancels it: a denial, a question, a sentence that takes it back, or another answer."""

import re
from functools import cache
from typing import NamedTuple

from verifiers.commitment.byname import denies_by_name
from verifiers.commitment.channels import Channel
from verifiers.commitment.cues import Kind, cues, first_word, has_words, listed, phrases, words
from verifiers.commitment.figures import NUMBER
from verifiers.commitment.folding import fold
from verifiers.commitment.mentions import note
from verifiers.commitment.retraction import Verdict, judged, mends, retraction, turns
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import (
    DENIES,
    TURNS,
    UNMADE,
    Sentence,
    Stance,
    last_sentence,
    line_at,
    sentence_at,
    sentences,
)
from verifiers.commitment.wording import openings

_MAX_CHARS = 300
_LEAD = re.compile(r"(?:[\s$*_()（）\[\]}.,!;:…—–，。、；।-]|\\[\])]|</answer>){0,16}")
_NAME = r"[A-Z][^\W\d_]{0,30}(?:\s[A-Z][^\W\d_]{0,30}){0,3}"
_OVER = r"\s{0,4}(?:[.!](?=[\s<)\]]|\Z)|[。！\n]|\Z)"
_VALUE = re.compile(
    rf"[$*_\"“(]{{0,4}}(?P<value>{NUMBER}|{_NAME}|[\u30a0-\u30ff\u3400-\u9fff]{{1,12}})"
    rf"(?P<unit>(?:\s?(?:[a-z]{{1,12}}|[%°]))?)[$*_\"”)]{{0,4}}{_OVER}"
)


def is_denied(text: str, start: int, span: tuple[int, int], end: int) -> bool:
    """Whether the sentence of a mark says that it is not the answer, or asks whether it is."""
    stance = _denial(text, start, span, end)
    if stance is not None:
        note(text, Channel.BOXED, span, stance)
    return stance is not None


def _denial(text: str, start: int, span: tuple[int, int], end: int) -> Stance | None:
    line = line_at(text, start, span)
    if line is not None and line.is_calm and not line.may_be_bound(span):
        return None
    sentence = sentence_at(text, span[0], start, end)
    if sentence.end < span[1]:
        sentence = Sentence(text, sentence.start, sentence_at(text, span[1], start, end).end, sentence.stop)
    asks = sentence.asks
    if asks and not is_affirmed(text, sentence.end, end):
        return Stance.HEDGED
    is_judged = sentence.may_hold(_JUDGES) and (sentence.may_hold(_DENIES_OR_IF) or sentence.may_be_bound(span))
    is_judged = is_judged or not has_words(text, span[0], span[1], _FEWEST_WORDS)
    goes_on = _WORD_BEHIND.match(text, span[1], sentence.end) is not None
    if not (asks or is_judged or sentence.begins_unreal or (goes_on and sentence.may_trail_off())):
        return None
    if sentence.bounds(span) and not sentence.tells_need(span):
        return Stance.DENIED
    if not asks and sentence.denies(span):
        return Stance.DENIED
    first, stop = sentence.place(span)
    if not asks and _is_unmet(sentence, span, end, is_told=sentence.is_announced(first)):
        return Stance.SUPPOSED
    if asks or not goes_on:
        return None
    if sentence.is_told_of(stop, is_mark=True):
        return Stance.ATTRIBUTED
    return Stance.HEDGED if sentence.trails_off(span) else None


_DENIES_OR_IF = DENIES | {Kind.IF}
_JUDGES = _DENIES_OR_IF | {Kind.BOUND}
_FEWEST_WORDS = 5
r"""Those of `\boxed{5}`. A shorter mark may be one that a sign before it judges."""


def _is_unmet(sentence: Sentence, span: Span, end: int, *, is_told: bool = False) -> bool:
    """Whether a mention holds under a condition of which the words behind say that it is not met: ", but n is odd", ". It isn't.".

    An answer that is told as one (`is_told`) needs no such words, if the condition is not real.
    """
    first, stop = sentence.place(span)
    is_unreal = sentence.is_unreal(first)
    if is_unreal and is_told:
        return True
    if not is_unreal and not sentence.has(Kind.IF, 0, first):
        return False
    following = next(sentences(sentence.text, sentence.end, min(end, sentence.end + _MAX_CHARS)), None)
    clauses = [(sentence, stop), *([(following, 0)] if following else [])]
    condition = frozenset(word.text for word in sentence.words[:first])
    return any(
        (is_unreal and statement.turns_from(index)) or statement.refutes(index, condition)
        for statement, index in clauses
        if not statement.asks
    )


def stance_of_lead(text: str, start: int, span: Span) -> Stance | None:
    r"""The stance of the words that lead directly to a mark: `Maybe \boxed{12}`, "Perhaps" above `#### 12`; None if they have none."""
    index = _opening(text, max(start, span[0] - _MAX_OPENING_CHARS), span[0])
    if index <= start or text.endswith("answer>\n", start, index):
        return None
    if text[index - 1 : index] != "\n":
        line = line_at(text, start, span)
        if line is not None and line.is_calm:
            return None
    lead = last_sentence(text, max(start, index - _MAX_CHARS), index)
    if lead is None or lead.stop.strip():
        return None
    if "\n" in lead.stop and has_words(text, lead.heard_from, lead.end, _MAX_WORDS_ABOVE + 1):
        return None
    stance = lead.stance_at_end(is_counted=_COUNTS.match(text, span[1]) is not None)
    if stance is None and lead.may_hold(_IF) and Kind.IF in lead.kinds:
        sentence = Sentence(text, lead.start, sentence_at(text, span[1], lead.start, len(text)).end, "")
        stance = Stance.SUPPOSED if _is_unmet(sentence, span, len(text)) else None
    return stance


_COUNTS = re.compile(r"(?:[\s$*})\]]|\\[\])]|</answer>){0,8}[^\W\d_]")
r"""A noun directly behind a mark, which it counts: `\boxed{12} apples`."""


def _opening(text: str, start: int, end: int) -> int:
    """The start of the marks and opening signs that end at a place."""
    head = text[start:end].lower()
    while True:
        rest = head.rstrip(" \t$*({[\\")
        mark = next((mark for mark in _MARKS if rest.endswith(mark)), "")
        if not mark:
            return start + len(rest) if rest != head else start + len(head)
        head = rest[: len(rest) - len(mark)]


_MARKS = ("####", "\\boxed", "<answer>", "\\fbox", "\\framebox")
_MAX_OPENING_CHARS = 40
_IF = frozenset([Kind.IF])
_MAX_WORDS_ABOVE = 2


def trails_off(text: str, span: Span) -> bool:
    """Whether the sentence of an answer doubts it behind: "The answer is 12 (probably not)."."""
    if _WORD_BEHIND.match(text, span[1]) is None:
        return False
    sentence = sentence_at(text, max(span[0], span[1] - 1), 0, len(text))
    return sentence.may_trail_off() and sentence.trails_off(span)


_WORD_BEHIND = re.compile(r"[^\w\n]{0,8}[^\W\d_]")
"""A word close behind a mark, which may doubt it: `\\boxed{12}$, perhaps`."""


def is_doubted(text: str, start: int, span: tuple[int, int], end: int) -> bool:
    """Whether the sentence of a number does not state it, or the text behind takes it back."""
    stance = _doubt(text, start, span, end)
    if stance is not None:
        note(text, Channel.LAST_NUMBER, span, stance)
    return stance is not None


def _doubt(text: str, start: int, span: tuple[int, int], end: int) -> Stance | None:
    sentence = sentence_at(text, span[0], start, end)
    if sentence.asks:
        if not is_affirmed(text, sentence.end, end):
            return Stance.HEDGED
    elif (stance := sentence.stance(span)) in UNMADE:
        return stance
    elif _is_unmet(sentence, span, end):
        return Stance.SUPPOSED
    elif denies_by_name(sentence, span) or _goes_against(sentence, span):
        return Stance.DENIED
    following = next(sentences(text, max(sentence.end, span[1]), min(end, span[1] + _MAX_CHARS)), None)
    is_doubted = following is not None and any(cue.kind is Kind.DOUBT and cue.first <= 3 for cue in following.cues)
    return Stance.RETRACTED if is_doubted or is_taken_back(text, span[1]) else None


def _goes_against(sentence: Sentence, span: Span) -> bool:
    first, stop = sentence.place(span)
    return sentence.is_named(first, stop) or sentence.is_defiant(stop) or _falls_short(sentence, stop)


def _falls_short(sentence: Sentence, stop: int) -> bool:
    """Whether the verb behind a number says that it does not suffice: "15 coins are not enough", "15 monedas no bastan", 15枚不够."""
    for first in range(stop, min(stop + _MAX_SUBJECT_WORDS, len(sentence.words))):
        for size in range(1, min(_LONGEST_SHORTFALL, len(sentence.words) - first) + 1):
            if sentence.shown(first, first + size) in _shortfalls():
                return sentence.ends(first + size) or sentence.begins(first + size, Kind.COMPLEMENT)
        if not sentence.words[first].text.isalpha():
            break
    return False


@cache
def _shortfalls() -> frozenset[str]:
    """The words of all languages for what does not suffice."""
    return frozenset(
        " ".join(word.text for word in words(phrase)) for entry in listed("falls_short") for phrase in phrases(entry)
    )


_MAX_SUBJECT_WORDS = 4
_LONGEST_SHORTFALL = 6


def is_affirmed(text: str, index: int, end: int) -> bool:
    """Whether a question is answered by yes."""
    following = next(sentences(text, index + 1, end), None)
    return following is not None and any(cue.kind is Kind.YES and cue.first == 0 for cue in following.cues)


def is_last(text: str, end: int) -> bool:
    """Whether nothing, or nothing but signs and the end of a tag, stands behind an answer, so that nothing can unmake it."""
    return len(text) - end < _MIN_CHARS or _LEAD.fullmatch(text, end) is not None


_MIN_CHARS = len(" no 3")


def is_taken_back(text: str, end: int) -> bool:
    """Whether the text behind an answer says that it is not the answer."""
    return taken_back_at(text, end) is not None


def takes_back(text: str) -> bool:
    """Whether the last line of a text takes back what stands above it: "No, that is wrong. I take it back."."""
    end = text.rstrip().rfind("\n")
    return end > 0 and is_taken_back(text, end)


def taken_back_at(text: str, end: int) -> int | None:
    """The end of the text behind an answer that takes it back; None if it stands."""
    start = _behind(text, end)
    return retraction(text, end, start) or _told_by_others_at(text, start)


def _told_by_others_at(text: str, start: int) -> int | None:
    """The end of a sentence behind an answer that only says who holds it: "That is what the user claimed."; None if there is none."""
    following = next(sentences(text, start, min(len(text), start + _MAX_CHARS)), None)
    if following is None or following.asks or len(following.words) > _MAX_TELLING_WORDS:
        return None
    is_start = following.words[0].text in listed("subjects") if following.words else False
    return following.end if is_start and following.is_told_of(0, is_mark=True) else None


_MAX_TELLING_WORDS = 9


class Replacement(NamedTuple):
    """Another answer, given directly behind one."""

    value: str
    span: Span
    corrects: bool
    """Whether the sentence calls the answer before it wrong: "Wait, no, it's 12". Otherwise both may stand: "Or 12"."""
    stance: Stance
    """That of its sentence towards it."""


def replacement(text: str, end: int, answer: str) -> Replacement | None:
    """Another answer directly behind one, introduced by words that turn from the first; None if there is none."""
    limit = min(len(text), _behind(text, end) + _MAX_CHARS)
    following = sentences(text, _behind(text, end), limit)
    sentence = next(following, None)
    if sentence is None or first_word(text, sentence.heard_from, sentence.end) not in openings(*TURNS):
        return None
    if not (opening := sentence.opening()):
        return None
    is_all = opening >= len(sentence.words)
    is_word = opening == 1 and not is_all
    if is_word and any(cue.kind in _LEAVES for cue in sentence.at(0)):
        return None
    stating = next(following, None) if is_all else sentence
    if stating is None:
        return None
    first = _past_pronoun(stating) if is_all and _corrects(sentence) else 0 if is_all else opening
    start = stating.words[first].start if first < len(stating.words) else limit
    value = _VALUE.match(text, start)
    if (
        value is None
        or any(cue.kind in _VERDICTS for cue in cues(words(value["value"])))
        or _only_leads(value["value"])
    ):
        return None
    if is_word and value["unit"]:
        return None
    piece, wording = _plain(answer), _plain(value["value"])
    stance = stating.stance(value.span("value"))
    if piece == wording or piece.startswith(f"{wording} ") or stance is Stance.DENIED:
        return None
    display = value["value"] + value["unit"] if value["value"][-1:].isdigit() else value["value"]
    span = value.start("value"), value.start("value") + len(display)
    is_other_number = value["value"][-1:].isdigit() and _rejects(sentence)
    return Replacement(display, span, stance not in UNMADE and (is_other_number or _corrects(sentence)), stance)


def _rejects(sentence: Sentence) -> bool:
    """Whether a sentence begins by rejecting the value before it: "no, 12". A name behind a no may be rejected, too."""
    opening = judged(sentence, 0, sentence.opening())
    return opening is not None and opening.verdict is Verdict.REJECTS


def _only_leads(text: str) -> bool:
    """Whether words say nothing but that a check follows: "Let me check", 检查一下."""
    sentence = Sentence(text, 0, len(text), "")
    clause = judged(sentence, 0, len(sentence.words))
    return clause is not None and clause.verdict is Verdict.LEADS


def _corrects(sentence: Sentence) -> bool:
    """Whether a sentence calls the text before wrong, or turns from it, and then states: "no, it's", "wait, it's".

    A word that says that a correction follows is enough: "Correction: 12", "I mean 12".
    """
    if mends(sentence):
        return True
    states = any(cue.kind is Kind.IS and cue.stop <= sentence.opening() for cue in sentence.cues)
    return sentence.corrects() or (states and turns(sentence))


def _past_pronoun(sentence: Sentence) -> int:
    """The place behind words that only lead to another answer: "so it is"."""
    return sentence.past_cue(sentence.past_cue(0, Kind.SO), Kind.IT)


_VERDICTS = frozenset([Kind.YES, Kind.NO])
_LEAVES = frozenset([Kind.OR, Kind.NO, Kind.NOT, Kind.MAYBE, Kind.ALSO])
"""The kinds of a single word before a value that may be no turn: "No 3" is a number of a list."""


def _behind(text: str, end: int) -> int:
    """The place behind the signs that close an answer, and behind a verb that follows it: 12です, 12입니다."""
    end = _past_verb(text, end)
    closing = _LEAD.match(text, end)
    return closing.end() if closing else end


def _past_verb(text: str, end: int) -> int:
    if text[end : end + _VERB_BEGINS].isascii():
        return end
    phrase = words(text, end, min(len(text), end + _MAX_VERB_CHARS))
    stops = [cue.stop for cue in cues(phrase) if cue.kind is Kind.ENDS and cue.first == 0]
    return phrase[max(stops) - 1].end if stops else end


_MAX_VERB_CHARS = 12
_VERB_BEGINS = len(" च")
"""A verb follows a number directly, or behind a space: 12です, "12 है"."""


def _plain(text: str) -> str:
    return fold(text).casefold().strip(" \n$*_().\\\"'")
