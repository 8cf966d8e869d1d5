"""The verdict of a speaker on his own answer: "I don't think that's right", "Please disregard my answer", 等等，我刚才算错了.

A clause is a verdict only if every word of it fills a slot of one language (`verdict` in the lexicon): what turns to the verdict,
what it is on, wrong, right, a denial, taken back, what an answer must agree with, and words that change none of that. So "that's not
right-angled" and "I was wrong at first" are not verdicts. Denials and words for "wrong" are counted: "that's not wrong" and "no mistake
was made" affirm. A slip that the speaker names is a verdict, too (`slips.py`), and so is a last "Oops.".

    The answer is 42 (in cm).  Hmm.  Let me check.  That is not right.  …
                     └─ own ──┘└─── led to ───────┘└─ taken back ────┘
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import NamedTuple

from verifiers.commitment.breaking_off import halted_at
from verifiers.commitment.cues import Kind, Word, adverbs, languages, listed, words, words_of
from verifiers.commitment.slips import names_slip
from verifiers.commitment.slots import Phrases, add, by_length, is_word, openings_of, parts
from verifiers.commitment.stance import Sentence, sentences


class Slot(StrEnum):
    """What a phrase does in a verdict. Of phrases of the same length, the first slot counts."""

    UNDO = "undo"
    """Takes an answer back: "ignore", "I changed my mind"."""
    UNSURE = "unsure"
    """Leaves an answer open: "I'm not sure"."""
    WRONG = "wrong"
    RIGHT = "right"
    TASK = "task"
    """What an answer must agree with: "it does not satisfy the equation"."""
    TURN = "turn"
    """Turns to a verdict: "sorry"; also what halts (`breaking_off.py`): "wait"."""
    RECHECK = "recheck"
    """Looks at the answer again: "recounting", 重新计算."""
    THIS = "this"
    """What the verdict is on: "that", "my answer"."""
    NO = "no"
    """A no that is a verdict alone; before other words it denies them."""
    NOT = "not"
    FILLER = "filler"


class Verdict(StrEnum):
    """What a clause says of the answer before it."""

    REJECTS = "rejects"
    AFFIRMS = "affirms"
    LEADS = "leads"
    """It says nothing yet: "wait", "let me check"."""


class Clause(NamedTuple):
    """A clause with its verdict; the slots that it fills tell what the verdict is on."""

    verdict: Verdict
    slots: frozenset[str]
    names_answer: bool
    """Whether the verdict is on "my answer", and not only on "that"."""
    is_on_task: bool = False
    """Whether the task has what the verdict is on: "the given statement is false"."""
    is_slip: bool = False
    """Whether the speaker names a slip of his own, or has to do it again: "so I must have made a mistake", 所以需要重新计算."""

    @property
    def is_of_speaker(self) -> bool:
        """Whether it speaks of nothing but the speaker: "I was wrong"."""
        return self.slots.isdisjoint([Slot.THIS, Slot.UNDO, Slot.UNSURE, Slot.NO])


VALUE = "zzzvalue"
"""Stands for the value that a verdict names, and says what "right" says: "48 is wrong", "it is not 48"."""
_MAX_CHARS = 300
_MAX_WORDS = 40
_MAX_SENTENCES = 6
_MAX_BESIDE_TURN = 2
"""The words beside one that turns: "wait a second"."""
_PAUSES = frozenset(",;:，；：、،؛—–(（[【…")
_OWN_ENDS = re.compile(r"[.!?。！？।؟\n]")


def retraction(text: str, answer_end: int, start: int) -> int | None:
    """The end of the words that take back an answer, which ends at `answer_end`; None if it stands.

    `begin` is the first word behind it. What is taken back and then called right again stands.
    """
    is_own = not _OWN_ENDS.search(text, answer_end, start)
    stop = _rejected(text, answer_end, start, is_own) or _rejected_at_end(text, start)
    stop = stop or halted_at(text, answer_end, start, _ends_well)
    return None if stop is None or _is_affirmed_again(text, stop) else stop


def _rejected(text: str, answer_end: int, start: int, is_own: bool) -> int | None:
    """The end of the first clause behind an answer that rejects it, past clauses that lead to it or affirm."""
    limit = min(len(text), start + _MAX_CHARS)
    slots = frozenset[str]()
    for sentence in _some(text, start, limit):
        clauses = list(_with_verdicts(sentence, slots, is_own))
        if _is_list([clause for clause, _, _ in clauses]):
            return None
        slots = slots.union(*(clause.slots for clause, _, _ in clauses if clause))
        is_past_other = False
        slip = None if sentence.asks else _later_slip(sentence, clauses, is_own)
        for clause, first, stop in clauses:
            # "x = 2 or x = -3 (rejected)": the verdict is on the value before it. "Moment mal, das ist falsch" only turns.
            if (
                clause is None
                and (is_own or _only_turns(sentence, first, stop))
                and not _has_digit(sentence, first, stop)
            ):
                is_past_other = True
                continue
            # "The answer is C, not D, which is too small": the verdict is on the D.
            if is_past_other and sentence.words[first].text in listed("relatives"):
                continue
            if clause is None and slip is not None:
                return slip
            if clause is None or (clause.verdict is Verdict.REJECTS and sentence.asks):
                return None
            if clause.slots == {Slot.NO} and _denies(sentence, stop):
                continue
            if clause.verdict is Verdict.REJECTS and not (
                _is_of_other(text, answer_end, clause, is_own)
                or (is_own and _is_counted(text, answer_end, sentence.words[first:stop], clause))
                or _is_apart(sentence, clause, first, stop)
            ):
                return sentence.words[stop - 1].end
        is_own = False
        if _is_alarm(sentence) and not any(map(is_word, words(text, sentence.end))):
            return sentence.end
    return None


def _later_slip(sentence: Sentence, clauses: Sequence[tuple[Clause | None, int, int]], is_own: bool) -> int | None:
    """The end of a clause that names a slip behind others: "since no option fits, I must have made a mistake"; None if there is none.

    In the sentence of the answer a slip may be that of somebody in the story.
    """
    if is_own or sentence.has(Kind.IF, 0, len(sentence.words)):
        return None
    stops = [
        stop
        for clause, first, stop in clauses[1:]
        # "I first got 36, because I misread it" gives the reason for another value.
        if clause is not None
        and not sentence.begins(first, Kind.BECAUSE)
        and _is_own_fault(sentence, clause, first, stop)
    ]
    return sentence.words[stops[-1] - 1].end if stops else None


def _is_own_fault(sentence: Sentence, clause: Clause, first: int, stop: int) -> bool:
    """Whether a clause names a slip, or calls the speaker wrong: "so I must be wrong"."""
    speakers = openings_of("slip", "by")
    is_of_speaker = clause.verdict is Verdict.REJECTS and clause.is_of_speaker
    return clause.is_slip or (is_of_speaker and any(word.text in speakers for word in sentence.words[first:stop]))


def _with_verdicts(
    sentence: Sentence, members: frozenset[str], is_own: bool
) -> Iterator[tuple[Clause | None, int, int]]:
    """The clauses of a sentence with their verdicts and places; `members` are the slots of the sentences since the answer,
    `is_own` says that the sentence is that of the answer.

    Behind words that lead to a check ("let me verify") a computation leads on: 42+6=47，不相等.
    """
    slots = members
    for first, stop in _clauses(sentence):
        clause = judged(sentence, first, stop)
        is_led = Slot.TURN in slots or _turned(sentence, first) > first
        # "The answer is 12. So I made a mistake before" is about another answer.
        is_concluded = not slots and sentence.begins(0, Kind.SO)
        if clause is None and not is_concluded and names_slip(sentence, first, stop, is_led):
            clause = Clause(Verdict.REJECTS, frozenset([Slot.WRONG]), names_answer=False, is_slip=True)
        elif (
            clause is None and not is_own and (_defies(sentence, first, stop) or _is_unfinished(sentence, first, stop))
        ):
            clause = Clause(Verdict.REJECTS, frozenset([Slot.THIS, Slot.WRONG]), names_answer=False)
        elif clause is None and slots and _is_computation(sentence, first, stop):
            clause = Clause(Verdict.LEADS, frozenset(), names_answer=False)
        slots = slots.union(clause.slots if clause else ())
        yield clause, first, stop


def _defies(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether a clause says that the answer goes against something, in any words: "this contradicts our earlier bound".

    Verbs that end a clause have their object before them: 这与前面的结论矛盾.
    """
    phrase = sentence.words[first:stop]
    slots = list(parts("verdict", phrase))
    subjects = [part.stop for part in slots if part.slot == Slot.THIS and _leads(sentence, first, first + part.stop)]
    verbs = [part for part in slots if part.slot == "defies" and subjects and part.first >= min(subjects)]
    # "It contradicts the passage" may be why an option is asked for.
    is_open = any(cue.kind in _SPARES and first <= cue.first < stop for cue in sentence.cues)
    return not is_open and any(
        _leads(sentence, first, first + verb.first)
        or (verb.stop == len(phrase) and not phrase[verb.first].text.isascii())
        for verb in verbs
    )


def _is_unfinished(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether a clause says what is still to be done to the answer: "this must still be doubled"."""
    tails = [cue for cue in sentence.cues if cue.kind is Kind.MADE and first < cue.first and cue.stop == stop]
    clauses = [judged(sentence, first, cue.first) for cue in tails if cue.stop - cue.first > 1]
    return any(clause is not None and Slot.THIS in clause.slots for clause in clauses)


_SPARES = frozenset([Kind.NOT, Kind.NO, Kind.SOURCE])


def _leads(sentence: Sentence, first: int, stop: int) -> bool:
    clause = judged(sentence, first, stop)
    return clause is not None and clause.verdict is Verdict.LEADS


def _is_computation(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether words are figures and signs alone, with an equality."""
    plain = [word.text for word in sentence.words[first:stop]]
    return not _EQUALITIES.isdisjoint(plain) and not any(map(str.isalpha, "".join(plain)))


_EQUALITIES = frozenset("=≠≈")


def _is_alarm(sentence: Sentence) -> bool:
    """Whether a sentence is a cry of alarm, and nothing else: "Oops."."""
    return " ".join(word.text for word in sentence.words if is_word(word)) in _alarms()


@cache
def _alarms() -> frozenset[str]:
    terms = [lexicon["verdict"]["alarm"] for lexicon in languages().values() if "alarm" in lexicon["verdict"]]
    return frozenset(" ".join(word.text for word in words(entry)) for entries in terms for entry in entries)


def _only_turns(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether a clause is words that turn and few others: "wait a second", "Moment mal"."""
    turned = _turned(sentence, first)
    return turned > first and stop - turned <= _MAX_BESIDE_TURN


def _turned(sentence: Sentence, first: int) -> int:
    """The place behind the words that turn at the beginning of a clause."""
    plain = [word.text for word in sentence.words[first : first + _MAX_WORDS]]
    indices = [
        first + len(phrase)
        for language in _by_first_word().get(plain[0], ())
        for phrase, slot in _table(language)[plain[0]]
        if slot is Slot.TURN and plain[: len(phrase)] == phrase
    ]
    return max(indices, default=first)


def _has_digit(sentence: Sentence, first: int, stop: int) -> bool:
    return any(word.text[0].isdigit() for word in sentence.words[first:stop])


def _is_list(clauses: Sequence[Clause | None]) -> bool:
    """Whether verdicts stand side by side, as in an option's own text: "A. Wrong, Not wrong"."""
    return len(clauses) > 1 and all(clause is not None and clause.slots <= _LISTED for clause in clauses)


def _denies(sentence: Sentence, position: int) -> bool:
    """Whether the words behind a no deny something: "No, it isn't 13", "No, there are no others"."""
    return any(cue.kind in (Kind.NOT, Kind.NO) and cue.first >= position for cue in sentence.cues)


def _some(text: str, start: int, end: int) -> Iterator[Sentence]:
    for _, sentence in zip(range(_MAX_SENTENCES), sentences(text, start, end), strict=False):
        yield sentence


def _rejected_at_end(text: str, start: int) -> int | None:
    """The end of a last sentence that takes back "my answer", wherever that stands: "Please disregard my answer."."""
    *_, last = [None, *sentences(text, max(start, len(text) - _MAX_CHARS), len(text))]
    if last is None or last.asks:
        return None
    clauses = [judged(last, first, stop) for first, stop in _clauses(last)]
    if any(clause is None for clause in clauses):
        return None
    is_rejected = any(clause.verdict is Verdict.REJECTS and clause.names_answer for clause in clauses if clause)
    return last.end if is_rejected else None


def _is_affirmed_again(text: str, position: int) -> bool:
    """Whether the sentences behind a rejection end in calling the same answer right: "No, wait. It is right."."""
    for sentence in _some(text, position, min(len(text), position + _MAX_CHARS)):
        if not _is_verdict(sentence):
            return False
        if _calls_right(sentence):
            return True
    return False


def _is_verdict(sentence: Sentence) -> bool:
    """Whether all clauses of a sentence are verdicts."""
    return all(judged(sentence, first, stop) is not None for first, stop in _clauses(sentence))


def _calls_right(sentence: Sentence) -> bool:
    """Whether a clause of a sentence calls the answer right, whatever the others say: "6 * 7 = 42, good"."""
    clauses = [judged(sentence, first, stop) for first, stop in _clauses(sentence)]
    return not sentence.asks and any(clause.verdict is Verdict.AFFIRMS for clause in clauses if clause)


def _ends_well(sentence: Sentence) -> bool:
    """Whether a sentence ends a check well: it calls the answer right, or is a bare "Yes."."""
    texts = [word.text for word in sentence.words if is_word(word)]
    return _calls_right(sentence) or (bool(texts) and listed("truth").issuperset(texts))


def _is_of_other(text: str, answer_end: int, clause: Clause, is_own: bool) -> bool:
    """Whether a rejecting clause is about something other than the answer before it.

    "False. That is not correct." says the same twice. "Wait, it's 12. I was wrong." is about an answer before that.
    "All except 12 are wrong" is about the rest.
    """
    piece = text[max(0, answer_end - _MAX_CHARS) : answer_end]
    *_, sentence = [None, *sentences(piece, 0, len(piece))]
    if sentence is None:
        return False
    if is_own and Kind.EXCEPT in sentence.kinds:
        return True
    if sentence.words and sentence.words[-1].text in listed("untruth"):
        return not clause.names_answer and Slot.UNDO not in clause.slots
    return clause.is_of_speaker and turns(sentence)


def _is_counted(text: str, answer_end: int, phrase: Sequence[Word], clause: Clause) -> bool:
    """Whether a rejecting clause tells of what the number before it counts: "He made 42 mistakes", "42 were rejected"."""
    between = text[answer_end : phrase[0].start]
    if any(map(str.isalnum, between)) or not _PAUSES.isdisjoint(between) or text.endswith(">", 0, answer_end):
        return False
    if phrase[0].text in listed("plural"):
        return True
    sentence = Sentence(text, max(0, answer_end - _MAX_CHARS), answer_end, "")
    return len(phrase) == 1 and clause.slots == {Slot.WRONG} and counts(sentence, len(sentence.words))


def counts(sentence: Sentence, stop: int) -> bool:
    """Whether words lead to a number as to one that counts: "He made", not "x is" and "so"."""
    words_before = [at for at in range(stop) if sentence.words[at].text.isalpha() and not sentence.is_command(at)]
    return bool(words_before) and sentence.ends_in(words_before[-1] + 1, *_STATES) is None


_STATES = frozenset([Kind.IS, Kind.SO, Kind.ANSWER, Kind.RESULT, Kind.NOUN])


def _is_apart(sentence: Sentence, clause: Clause, first: int, stop: int) -> bool:
    """Whether a rejecting clause is no verdict: "so the given statement is false" concludes from the answer, and "Common mistake:"
    is a heading.
    """
    texts = [word.text for word in sentence.words[first:stop]]
    if clause.is_on_task:
        return sentence.begins(first, Kind.SO) or not listed("claims").isdisjoint(texts)
    is_heading = len(texts) > 1 and stop < len(sentence.words) and sentence.words[stop].text in ":："
    return is_heading and adverbs().issuperset(texts[:-1])


def mends(sentence: Sentence) -> bool:
    """Whether a sentence begins by saying that a correction follows: "Correction: 12", "I mean 12", 更正：12."""
    texts = [word.text for word in sentence.words[:_MAX_WORDS] if is_word(word)]
    return any(texts[: len(phrase)] == phrase for phrase in _mends().get(texts[0] if texts else "", ()))


@cache
def _mends() -> Mapping[str, Sequence[Sequence[str]]]:
    table: dict[str, dict[tuple[str, ...], str]] = {}
    for lexicon in languages().values():
        add(table, "mends", lexicon["verdict"].get("mends", ()))
    return {word: [phrase for phrase, _ in terms] for word, terms in by_length(table).items()}


def turns(sentence: Sentence) -> bool:
    """Whether a sentence begins by turning from, or rejecting, what stands before it: "Wait, it's 12", "No, it's 12"."""
    for first, stop in _clauses(sentence):
        clause = judged(sentence, first, stop)
        if clause is not None:
            return clause.verdict is Verdict.REJECTS or Slot.TURN in clause.slots
        return _turned(sentence, first) > first
    return False


def _clauses(sentence: Sentence) -> Iterator[tuple[int, int]]:
    r"""The clauses between pauses, as places of words; a reason is a clause of its own. The marks of a formula (`\(`) are no pauses."""
    reasons = {cue.first for cue in sentence.cues if cue.kind is Kind.BECAUSE}
    first = 0
    for position, word in enumerate(sentence.words):
        is_pause = word.text in _PAUSES and not sentence.text.endswith("\\", 0, word.start)
        if is_pause or position in reasons:
            if first < position:
                yield first, position
            first = position + is_pause
    if first < len(sentence.words):
        yield first, len(sentence.words)


def judged(sentence: Sentence, first: int, stop: int) -> Clause | None:
    """The verdict that all words of a clause make up in one language; None if they make up none."""
    phrase = [word for word in sentence.words[first:stop] if is_word(word)]
    plain = [word.text for word in phrase]
    if not plain or len(plain) > _MAX_WORDS or any(_is_label(sentence.text, word) for word in phrase):
        return None
    for language in _by_first_word().get(plain[0], ()):
        if _members()[language].issuperset(plain) and (filled := _filled(plain, _table(language))) is not None:
            return _clause(plain, filled)
    return None


def _is_label(text: str, word: Word) -> bool:
    """Whether a word is a capital that names an option: "A is wrong", but not that of "J'ai" and "M-am"."""
    is_capital = word.end == word.start + 1 and "A" <= text[word.start] <= "Z" and text[word.start] != "I"
    return is_capital and not text.startswith(("'", "\u2019", "-"), word.end)


_AGAINST = frozenset([Slot.WRONG, Slot.UNDO, Slot.UNSURE])
_SAY_NOTHING = frozenset([Slot.TURN, Slot.RECHECK, Slot.FILLER, Slot.THIS])
_LISTED = frozenset([Slot.WRONG, Slot.RIGHT, Slot.NOT])
_DENIES = frozenset([Slot.NOT, Slot.NO])
_JUDGES = frozenset([Slot.WRONG, Slot.RIGHT, Slot.UNDO, Slot.UNSURE])
_SUBJECTS = frozenset([Slot.THIS, Slot.TASK, Slot.WRONG, Slot.UNDO, Slot.UNSURE, Slot.NO])
_Filled = Sequence[tuple[int, int, str]]
"""Phrases of a clause: first word, word behind the last, slot."""


def _filled(plain: Sequence[str], table: Phrases) -> _Filled | None:
    """The phrases that cover all words, the longest ones from the left; None if some word fills no slot."""
    best: list[tuple[int, str] | None] = [None] * len(plain)
    for position in range(len(plain) - 1, -1, -1):
        for phrase, slot in table.get(plain[position], ()):
            stop = position + len(phrase)
            fits = stop == len(plain) or (stop < len(plain) and best[stop] is not None)
            if fits and plain[position:stop] == phrase:
                best[position] = stop, slot
                break
    filled, position = [], 0
    while position < len(plain):
        if (item := best[position]) is None:
            return None
        filled.append((position, *item))
        position = item[0]
    return filled


def _clause(plain: Sequence[str], filled: _Filled) -> Clause | None:
    slots = [slot for _, _, slot in filled]
    is_bare = [slot for slot in slots if slot not in _SAY_NOTHING] == [Slot.NO]
    # "No, that is wrong" without its comma: the no is a verdict of its own.
    counted = slots[1:] if slots[:2] == [Slot.NO, Slot.THIS] else slots
    # Denials in one clause are one denial, as in "no hay ningún error".
    against = sum(slot in _AGAINST for slot in counted) + (not _DENIES.isdisjoint(counted))
    nouns = _nouns()
    names = any(slot is Slot.THIS and any(word in nouns for word in plain[first:stop]) for first, stop, slot in filled)
    # "That is not the answer", "that is not it"; but "it does not have that" tells of the answer, and "isn't it" asks.
    is_it = slots[-2:] == [Slot.NOT, Slot.THIS] and slots.count(Slot.THIS) > 1
    is_equated = is_it or (slots[-1] is Slot.THIS and names)
    is_told = slots[-1] is Slot.NOT or is_equated or not _JUDGES.isdisjoint(slots)
    if is_bare or (against % 2 and is_told):
        verdict = Verdict.REJECTS
    elif against % 2:  # "This is not even."
        return None
    else:
        verdict = Verdict.AFFIRMS if Slot.RIGHT in slots or against else Verdict.LEADS
    subject = next((slot for slot in slots if slot in _SUBJECTS), None)
    is_modest = Slot.UNSURE in slots and plain[0] in listed("although")
    verdict = Verdict.LEADS if is_modest else verdict
    is_undone = verdict is Verdict.REJECTS and Slot.UNDO in slots
    return Clause(verdict, frozenset(slots), names or Slot.UNDO in slots, subject is Slot.TASK, is_undone)


@cache
def pronouns() -> frozenset[str]:
    """The single words for what a verdict is on: "that", "it", "answer"."""
    terms = (entry for lexicon in languages().values() for entry in lexicon["verdict"].get(Slot.THIS.value, ()))
    return frozenset(entry for entry in terms if entry.isalpha())


@cache
def _nouns() -> frozenset[str]:
    return frozenset(words_of(frozenset([Kind.ANSWER, Kind.RESULT])))


@cache
def _by_first_word() -> Mapping[str, Sequence[str]]:
    """The languages whose verdicts may begin with a word. Words of English turn in every language."""
    table: dict[str, list[str]] = {}
    for language in sorted(languages(), key=lambda item: item != "en"):
        for word in _table(language):
            table.setdefault(word, []).append(language)
    return table


@cache
def _members() -> Mapping[str, frozenset[str]]:
    """All words of verdicts, by language."""
    entries = {language: chain.from_iterable(_table(language).values()) for language in languages()}
    return {language: frozenset(word for phrase, _ in terms for word in phrase) for language, terms in entries.items()}


@cache
def _table(language: str) -> Phrases:
    lexicon = languages()[language]
    table: dict[str, dict[tuple[str, ...], str]] = {}
    for slot in Slot:
        add(table, slot, lexicon["verdict"].get(slot.value, ()))
    for said in (lexicon["verdict"], languages()["en"]["verdict"]):
        terms = (said.get(name, ()) for name in ("halt", "hum", "turn", "alarm", "mends"))
        add(table, Slot.TURN, [entry for entries in terms for entry in entries])
    for name in ("adverbs", "ought", "notes", "checks"):
        add(table, Slot.FILLER, lexicon.get(name, ()))
    add(table, Slot.RIGHT, [VALUE])
    return by_length(table)
