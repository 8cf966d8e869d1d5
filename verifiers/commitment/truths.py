"""Reads yes and no as answers.

A text that says both has no truth value. Of denials only "not true" means no.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice

from verifiers.commitment.contrasts import denials
from verifiers.commitment.cues import Kind, languages, listed, phrases, words
from verifiers.commitment.folding import visible
from verifiers.commitment.letters import LETTERS
from verifiers.commitment.retraction import Slot, Verdict, judged, pronouns
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import Sentence, sentence_at, sentences
from verifiers.commitment.wording import single

YES, NO, IN_PART = listed("truth"), listed("untruth"), listed("in_part")
_LETTERS = {"t": True, "f": False, "y": True, "n": False}
"""The longest text that is read. It must say nothing else."""
_EDGES = " \t\n.,;:!\"'“”‘’`*_()[]{}<>$。，、；،؛"
_SIGNS = ",.;:!،，、。；：！—–-\n"
_OPEN = frozenset([Kind.NOT, Kind.NO, Kind.MAYBE, Kind.OR, Kind.IF, Kind.DOUBT, Kind.BACK, Kind.SAID])
_MAX_WORDS = 40
_MAX_PLAIN_WORDS = 8


def leading(text: str) -> tuple[str, str] | None:
    """The yes or no at the beginning of a text, and the text behind it after a sign; else None."""
    text = text.lstrip(_EDGES)
    word = max((item for item in YES | NO if text.lower().startswith(item)), key=len, default="")
    remainder = text[len(word) :].lstrip('*_"”) ')
    return (text[: len(word)], remainder) if word and (not remainder or remainder[0] in _SIGNS) else None


def truth(text: str) -> bool | None:
    """The truth value of a short text; None if it says both or neither, or denies it."""
    text = unicodedata.normalize("NFKC", visible(text)).lower().replace("i\u0307", "i").strip(_EDGES)
    if text in _LETTERS:
        return _LETTERS[text]
    if text in listed("assents") or text in listed("dissents"):
        return text in listed("assents")
    statements = list(islice(sentences(text, 0, len(text)), 2))
    if len(statements) > 1 and statements[0].asks:
        return truth(text[statements[1].start :])
    terms, sentence = LETTERS.findall(text), Sentence(text, 0, len(text), "")
    kinds = {cue.kind for cue in sentence.cues}
    if not 0 < len(terms) <= _MAX_WORDS or "?" in text or sentence.asks:
        return None
    if lead := leading(text):
        is_open = not text.isascii() and not kinds.isdisjoint([Kind.MAYBE, Kind.OR])
        value = lead[0] in YES
        turns = [cue.stop for cue in sentence.cues if cue.kind is Kind.BUT and cue.first > 0]
        is_doubted = bool(turns) and any(
            cue.kind is Kind.DOUBT and cue.first >= min(turns) and sentence.ends(cue.stop) for cue in sentence.cues
        )
        is_both = is_doubted or not _agrees(sentence, value) or sentence.trails_off((0, len(lead[0])))
        return None if is_open or is_both or (lead[0] == "不" and lead[1].strip(_EDGES)) else value
    if Kind.MAYBE in kinds:  # "It might be true"
        return None
    judgement, clause, claim = text.partition(" that ")
    if clause and judgement.startswith("it "):
        is_plain = Sentence(claim, 0, len(claim), "").kinds.isdisjoint(_OPEN)
        return truth(judgement) if is_plain else None
    if " that " not in text and (is_right := judgement_of(sentence)) is not None:
        return is_right
    if (terms[-1] in YES or not text.isascii()) and _is_denial(sentence):
        return False
    is_plain = {word for word in terms if word in YES or word in NO} == {terms[-1]} and _OPEN.isdisjoint(
        cue.kind for cue in sentence.cues if cue.stop < len(sentence.words)
    )
    return terms[-1] in YES if is_plain and len(terms) <= _MAX_PLAIN_WORDS and IN_PART.isdisjoint(terms) else None


def judgement_of(sentence: Sentence) -> bool | None:
    """What a sentence says of the statement asked about, if it says nothing else: "The claim does not hold", "That's right".

    A denial needs no subject: "Non è vero", "Nicht wahr".
    """
    start = sentence.past_cue(0, Kind.SO)
    stop, subject = _claim(sentence, start) or (start, "")
    text = f"{subject} {sentence.shown(stop, len(sentence.words))}".lstrip()
    statement = Sentence(text, 0, len(text), "")
    clause = judged(statement, 0, len(statement.words))
    if clause is None or not clause.slots <= _JUDGING or (Slot.NO in clause.slots and clause.names_answer):
        return None
    is_denied = Slot.RIGHT in clause.slots and not clause.slots.isdisjoint(_DENYING)
    is_denied_once = is_denied and sum(word.text in denials() for word in sentence.words) <= 1
    if Slot.THIS not in clause.slots and not is_denied_once:
        return None
    return {Verdict.AFFIRMS: True, Verdict.REJECTS: False}.get(clause.verdict)


def _claim(sentence: Sentence, start: int) -> tuple[int, str] | None:
    """The end of a noun for what was claimed, and the pronoun for it in its language: "the statement" is "that", この記述 is これ."""
    texts = [word.text for word in sentence.words[start : start + _MAX_CLAIM_WORDS]]
    for index, text in enumerate(texts):
        for phrase, subject in _claims().get(text, ()):
            if texts[index : index + len(phrase)] == phrase and _leads_to_claim(sentence, start, start + index):
                return start + index + len(phrase), subject
    return None


def _leads_to_claim(sentence: Sentence, start: int, stop: int) -> bool:
    """Whether only an article or a pronoun stands there: "the", "l'", この, "То"."""
    stop -= stop > start and sentence.words[stop - 1].text == "'"
    text = sentence.text[sentence.words[start].start : sentence.words[stop - 1].end] if stop > start else ""
    return not text or sentence.past_cue(start, Kind.THE) == stop or text in pronouns() or text in single(Kind.THE)


@cache
def _claims() -> Mapping[str, Sequence[tuple[list[str], str]]]:
    """The nouns of all languages by their first words, each with a pronoun of its language."""
    table: dict[str, list[tuple[list[str], str]]] = {}
    for lexicon in languages().values():
        for noun in lexicon.get("claims", ()):
            phrase = [word.text for word in words(noun)]
            table.setdefault(phrase[0], []).append((phrase, lexicon["verdict"]["this"][0]))
    return table


_MAX_CLAIM_WORDS = 12
_DENYING = frozenset([Slot.NOT, Slot.NO])
_JUDGING = frozenset([Slot.THIS, Slot.RIGHT, Slot.WRONG, Slot.FILLER]) | _DENYING


def is_gainsaid(text: str, span: Span) -> bool:
    """Whether a sentence close behind a yes or no says the opposite: "The answer is yes. Wait, no, it's no."."""
    value = truth(text[slice(*span)])
    if value and _is_qualified(text, span):
        return True
    following = islice(sentences(text, span[1], min(len(text), span[1] + _MAX_CHARS)), _MAX_FOLLOWING)
    opposite = (truth(_behind_turn(sentence)) for sentence in following)
    return value is not None and any(other is not None and other is not value for other in opposite)


def _is_qualified(text: str, span: Span) -> bool:
    """Whether a yes without the word, "it is possible", is followed by a turn to a denial or a doubt: ", but we cannot know"."""
    if any(word in YES or word in NO for word in LETTERS.findall(text[slice(*span)].lower())):
        return False
    sentence = sentence_at(text, span[1], 0, min(len(text), span[1] + _MAX_CHARS))
    turns = [cue.first for cue in sentence.cues if cue.kind is Kind.BUT and sentence.words[cue.first].start >= span[1]]
    return bool(turns) and any(cue.kind in _QUALIFIES and cue.first > turns[0] for cue in sentence.cues)


_QUALIFIES = frozenset([Kind.NOT, Kind.DOUBT])
_MAX_CHARS = 300
_MAX_FOLLOWING = 3


def _behind_turn(sentence: Sentence) -> str:
    """A sentence without the words by which it turns: "Wait, no, it is true"; what it concedes is no turn: "But it is true that"."""
    index, phrase = 0, sentence.words
    while (stop := sentence.past_cue(index, Kind.BUT)) > index:
        index = stop + (stop < len(phrase) and phrase[stop].text in _PAUSES)
    is_turn = 0 < index < len(phrase) and all(word.text != "that" for word in phrase[index:])
    return sentence.text[phrase[index].start if is_turn else sentence.start : sentence.end]


_PAUSES = frozenset(",:，：、،")


def _agrees(sentence: Sentence, value: bool) -> bool:
    """Whether no word behind the first one says the opposite. A denied yes agrees with a no: "Nein, das ist nicht wahr"."""
    against = NO if value else YES
    opposed = [word.span() for word in LETTERS.finditer(sentence.text) if word[0] in against]
    opposed = [span for span in opposed if not _tells_another(sentence, sentence.place(span)[1])]
    return not opposed or (not value and all(_is_denied(sentence, sentence.place(span)[1] - 1) for span in opposed))


def _tells_another(sentence: Sentence, stop: int) -> bool:
    """Whether a yes or no before a place tells another thing than the answer: "they have no illness", ". However, it is true that …"."""
    successor = sentence.shown(stop, stop + 1)
    if successor == "that":
        turns = [cue for cue in sentence.cues if cue.kind is Kind.BUT and 0 < cue.first < stop - 1]
        indices = {cue.first for cue in turns if sentence.shown(cue.first - 1, cue.first) == "."}
        return bool(indices) and all(sentence.words[cue.first].text in _concessions() for cue in turns)
    if any(cue.kind in _TURNS and cue.first != stop - 1 for cue in sentence.cues) or not successor.isalpha():
        return False
    # "There is no doubt about it", but not: "That is false in general".
    is_judgement = sentence.words[stop - 1].text in single(Kind.BAD)
    return not is_judgement and sentence.ends_in(stop - 1, Kind.IS, Kind.HAS) is not None


_TURNS = frozenset([Kind.ANSWER, Kind.BUT, Kind.BACK])


@cache
def _concessions() -> frozenset[str]:
    """Words that turn to another thing, and take nothing back: "but", "however"; not "wait", "actually"."""
    slots = [
        lexicon["verdict"].get(name, ()) for lexicon in languages().values() for name in ("halt", "hum", "turn", "no")
    ]
    return single(Kind.BUT) - {word for entries in slots for entry in entries for word in phrases(entry)}


def _is_denied(sentence: Sentence, index: int) -> bool:
    """Whether a denial holds a word, or stands beside it in its clause: "is not true", "non è vero", 不对, "doğru değil"."""
    for cue in sentence.cues:
        if cue.kind in _DENIALS and cue.first > 0 and cue.first <= index + 1 and index <= cue.stop + _MAX_DENIED_WORDS:
            between = {word.text for word in sentence.words[cue.stop : index]}
            if _CLAUSE_ENDS.isdisjoint(between) and (cue.first <= index or cue.kind is Kind.WRONG):
                return True
    return False


_DENIALS = frozenset([Kind.NOT, Kind.WRONG, Kind.BACK, Kind.DOUBT])
_CLAUSE_ENDS = frozenset(",;.:!，；。،؛")
_MAX_DENIED_WORDS = 3


def _is_denial(sentence: Sentence) -> bool:
    """Whether a sentence says only "it is not true"."""
    denials = [cue for cue in sentence.cues if cue.kind in (Kind.NOT, Kind.NO, Kind.WRONG)]
    first = min((cue.first for cue in denials), default=_MAX_SUBJECT_WORDS + 1)
    is_whole = any(
        cue.first == first and cue.stop == len(sentence.words) and cue.kind is not Kind.NOT for cue in denials
    )
    return is_whole and first <= _MAX_SUBJECT_WORDS


_MAX_SUBJECT_WORDS = 4
