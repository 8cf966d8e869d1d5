"""Finds the answer inside a short text: "Sure! It's Paris, not Lyon." is Paris.

    before    an interjection, a heading, a source, "I think", "it is", "not Lyon, but", a bullet
    behind    "not Lyon", a reason, a description, "I believe"; of an unmarked response the sentences that explain it

Words that a reference begins with stay. The text behind an answer stays if it offers another answer, doubts this one or
takes it back. The rest is compared with the reference; nothing here decides that two answers are the same.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from memory import remember
from verifiers.commitment.announce import announcements
from verifiers.commitment.contrasts import ends_in_denial
from verifiers.commitment.cues import Cue, Kind, kinds, listed
from verifiers.commitment.letters import LETTERS
from verifiers.commitment.stance import Sentence, Stance, sentences
from verifiers.commitment.truths import IN_PART, NO, YES, leading
from verifiers.commitment.wording import single

_MAX_CHARS = 300
"""The longest answer with words before or behind it that form no sentence of their own."""
_MAX_EXPLAINED_CHARS = 1_500
_MAX_LEADS = 5
_MAX_ASIDE_WORDS = 10
_MIN_EXPLAINING_WORDS = 4
_EDGES = " \t\n.。!！…"
_AROUND = _EDGES + ",:;،，、：；—–-*_`\"'“”«»()（）"
_SIGNS = frozenset(",:;.!…—–-،，、。：；！(（[")
_GREETS = frozenset([Kind.GREETS, Kind.GUESS, Kind.BUT, Kind.YES])
_VERBS = frozenset([Kind.IT, Kind.GUESS, Kind.CHOOSE, Kind.SO])
_NOUNS = frozenset([Kind.ANSWER, Kind.RESULT, Kind.ASKED])
_OPEN = frozenset([Kind.NOT, Kind.BAD, Kind.OTHER, Kind.MAYBE, Kind.DOUBT, Kind.IF, Kind.SAID, Kind.OR, Kind.NEUTRAL])
_MORE = kinds("or maybe but doubt back also if wrong other bad")
"""Cues of another answer, of a doubt, or of taking an answer back."""
_TOLD = frozenset([Kind.THE, Kind.SOURCE, Kind.BECAUSE, Kind.EXPLAINS])
_YEARS = re.compile(r"\s?\(\d{4}\s?[-–]\s?\d{4}\)\Z")


def readings(answer: str, references: Sequence[tuple[str, ...]], is_unmarked: bool) -> Iterator[str]:
    """The readings of an answer without the words around it, most likely first; none if there are no such words.

    `is_unmarked` says that no tag, box or phrase marks the end of the answer. Sentences behind it may then explain it.
    """
    texts = [part.strip(" \"'“”«»*_").lower() for item in references for part in item]
    if answer.endswith(_ASKS) and not any(part.endswith(_ASKS) for part in texts):
        return
    if is_unmarked and (explained := _explained(answer)):
        yield explained
        yield from _readings(explained, texts)
    if len(answer) <= _MAX_CHARS:
        yield from _readings(answer, texts)


_ASKS = ("?", "？", "؟", "吗")


def apart(answer: str, references: Sequence[str]) -> str:
    """An answer without its announcement, its confidence and the verb behind it.

    Words that a reference begins or ends with stay.
    """
    head = _sentence(answer[:_MAX_LEAD_CHARS])
    if Kind.ANSWER in head.kinds:
        announced = announcements(head.text, 0, head.end)
        is_announced = (
            len(announced) == 1 and announced[0].stance is Stance.ANNOUNCED and announced[0].start <= _MAX_BEFORE_CHARS
        )
        if is_announced and not _is_heading(head, announced[0].span[0]):
            answer = answer[announced[0].span[0] :].lstrip()
            head = _sentence(answer[:_MAX_LEAD_CHARS])
    if answer.isascii() or ends_in_denial(answer):
        return answer
    tail = Sentence(answer, max(0, len(answer) - _MAX_LEAD_CHARS), len(answer.rstrip(_EDGES)), "")
    stops = [cue.first for cue in tail.cues if cue.kind is Kind.ENDS and cue.stop == len(tail.words) and cue.first]
    index = tail.words[min(stops)].start if stops and not tail.asks else len(answer)
    is_wanted = any(part.rstrip(_EDGES).endswith(answer[index : tail.end]) for part in references)
    return answer if is_wanted else answer[:index]


def _is_heading(head: Sentence, start: int) -> bool:
    """Whether only a noun and a colon stand before an answer, as in "Answer: Paris"."""
    stop = head.place((start, start))[0]
    return head.words[stop - 1].text in ":：" and not head.begins(0, *_BEGINS)


_BEGINS = frozenset([Kind.THE, Kind.RIGHT, Kind.SO])


@remember(16)
def _sentence(text: str) -> Sentence:
    """The sentence of a short text. It is cached, because the text is read several times."""
    return Sentence(text, 0, len(text), "")


_MAX_LEAD_CHARS = 200
_MAX_BEFORE_CHARS = 12


def _readings(answer: str, texts: Sequence[str]) -> Iterator[str]:
    sentence = _sentence(answer)
    asks_truth = any(part.strip(_EDGES) in YES or part.strip(_EDGES) in NO for part in texts)
    start = _behind_leads(sentence, texts, asks_truth)
    if start >= len(sentence.words):
        return
    if asks_truth and (word := _truth(answer[sentence.words[start].start :])):
        yield word
        return
    stop = _before_ends(sentence, start)
    if start or stop < len(sentence.words):
        yield answer[sentence.words[start].start : sentence.words[stop - 1].end].lstrip("*_> ").rstrip(_BEHIND)
    if start and not answer.isascii():
        yield from _readings(answer[sentence.words[start].start :], texts)
    if acronym := _ACRONYM.fullmatch(answer.strip(_EDGES)):
        yield from _of_acronym(acronym)


# --- before an answer


def _behind_leads(sentence: Sentence, texts: Sequence[str], asks_truth: bool) -> int:
    """The place behind those phrases before an answer that no reference begins with."""
    index = _past_bullet(sentence)
    for _ in range(_MAX_LEADS):
        stop = sentence.past(max(_leads(sentence, index, asks_truth), default=index), _SIGNS)
        if stop == index or not _says(sentence, stop):
            break
        lead = sentence.text[sentence.words[index].start : sentence.words[stop - 1].end].strip(_AROUND).lower()
        if lead and any(part.startswith(lead) for part in texts):
            break
        index = _past_pictures(sentence, stop)
    return index


def _says(sentence: Sentence, index: int) -> bool:
    return any(word.text[0].isalnum() for word in sentence.words[index:])


def _past_bullet(sentence: Sentence) -> int:
    """The place behind a list mark and pictures."""
    texts = [word.text for word in sentence.words[:2]]
    is_item = (texts in _ITEMS or texts[:1] in _BULLETS) and "\n" not in sentence.text.strip()
    return _past_pictures(sentence, (2 if texts[0] == "1" else 1) if is_item else 0)


_ITEMS = (["1", "."], ["1", ")"])
_BULLETS = (["-"], ["+"])


def _past_pictures(sentence: Sentence, index: int) -> int:
    """The place behind pictures and arrows, apart from those that call the next words wrong."""
    while index < len(sentence.words) and _is_picture(sentence.words[index].text):
        index += 1
    return index


def _is_picture(char: str) -> bool:
    if char.isascii() or len(char) > 1 or char in "❌✗✘✖❎🚫⛔👎❓❔≠≤≥¬√":
        return False
    return char in "\u200d•‣▪◦·→⇒➡➜➔∴" or unicodedata.category(char) == "So"


def _leads(sentence: Sentence, index: int, asks_truth: bool) -> Iterator[int]:
    """The ends of the phrases that begin at a place and may stand before an answer."""
    denied = {cue.first for cue in sentence.cues if cue.kind in (Kind.NOT, Kind.NO)}
    bounds = {cue.first for cue in sentence.cues if cue.kind in (Kind.BOUND, Kind.PART)}
    for cue in sentence.cues:
        is_native = not sentence.words[cue.first].text.isascii()
        if cue.kind is Kind.WRONG and is_native and index < cue.first < index + _MAX_ASIDE_WORDS:
            yield cue.stop
        if cue.first != index:
            continue
        text = sentence.text[sentence.words[index].start : sentence.words[cue.stop - 1].end].lower()
        is_truth = asks_truth and (text in YES or text in NO)
        if cue.kind in _GREETS and not is_truth and sentence.past(cue.stop, _SIGNS) > cue.stop:
            yield cue.stop
        if cue.kind in _VERBS:
            yield from _past_denied(sentence, cue.stop) if cue.stop in denied else (cue.stop,)
        if cue.kind in _PREPOSITIONS and index not in bounds and _names(sentence, cue.stop):
            yield cue.stop
        if cue.kind is Kind.ABOUT and _counts(sentence, cue.stop):
            yield cue.stop
        if cue.kind is Kind.NOT and (stop := _behind_contrast(sentence, cue)):
            yield stop
    yield from _past_heading(sentence, index, denied)
    yield from _past_source(sentence, index)


_PREPOSITIONS = frozenset([Kind.AT, Kind.BY, Kind.COMPLEMENT])


_MONEY = frozenset("$€£")


def _counts(sentence: Sentence, index: int) -> bool:
    return (
        sentence.past(index, _MONEY) < len(sentence.words)
        and sentence.words[sentence.past(index, _MONEY)].text[0].isdigit()
    )


def _names(sentence: Sentence, index: int) -> bool:
    """Whether a name or a figure follows, maybe behind an article."""
    index = sentence.past_cue(index, Kind.THE)
    return _counts(sentence, index) or (
        index < len(sentence.words) and sentence.text[sentence.words[index].start].isupper()
    )


def _past_heading(sentence: Sentence, index: int, denied: set[int]) -> Iterator[int]:
    """The places behind an announcement of an answer: "the answer to this is", "Year:", "the city is"."""
    start = sentence.past_cue(index, Kind.THE, Kind.RIGHT)
    cues = [cue for cue in sentence.cues if cue.first in (index, start)]
    nouns = [(cue.stop, cue.kind is not Kind.ASKED) for cue in cues if cue.kind in _NOUNS]
    if any(cue.kind is Kind.BAD for cue in cues):
        return
    if not nouns and (start == index or any(cue.kind in _OPEN | {Kind.LABEL} for cue in cues)):
        return
    at, is_answer = max(nouns, default=(start + 1, False))
    if is_answer and sentence.begins(at, Kind.COMPLEMENT):
        signs = [index for index in range(at, len(sentence.words)) if sentence.words[index].text in ":："]
        at = min([cue.first for cue in sentence.cues if cue.kind is Kind.IS and cue.first > at] + signs, default=at)
    verb = sentence.past_cue(at, Kind.IS)
    if verb > at and verb not in denied:
        yield verb
    if (
        nouns
        and at < len(sentence.words)
        and (sentence.words[at].text in ":：=→" or _text_at(sentence, at).startswith("->"))
    ):
        yield at + 1


def _text_at(sentence: Sentence, index: int) -> str:
    return sentence.text[sentence.words[index].start :]


def _past_source(sentence: Sentence, index: int) -> Iterator[int]:
    """The places behind a source, such as "according to the passage,"."""
    for at in range(index + 1, min(index + _MAX_ASIDE_WORDS, len(sentence.words))):
        if sentence.words[at].text in ",:，：、،":
            kinds = {cue.kind for cue in sentence.cues if index <= cue.first and cue.stop <= at}
            if Kind.SOURCE in kinds and _OPEN.isdisjoint(kinds):
                yield at + 1
            return


def _behind_contrast(sentence: Sentence, cue: Cue) -> int | None:
    """The end of "not Lyon, but"; None if the denied words are not name."""
    for at in range(cue.stop, min(cue.stop + _MAX_ASIDE_WORDS, len(sentence.words))):
        turns = [signal.stop for signal in sentence.cues if signal.first == at and signal.kind is Kind.BUT]
        if turns or sentence.words[at].text in _SIGNS:
            return max(turns, default=at + 1) if _is_name(sentence, cue.stop, at) else None
    return None


def _past_denied(sentence: Sentence, index: int) -> Iterator[int]:
    """Behind the "not Lyon but" of "it is not Lyon but Paris"."""
    for cue in sentence.at(index):
        stop = _behind_contrast(sentence, cue) if cue.kind is Kind.NOT else None
        if stop is not None and sentence.ends_in(stop, Kind.BUT):
            yield stop


def _is_name(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether other words than those of the lexicon stand between two places: "not sure" names nothing."""
    indices = {
        index for cue in sentence.cues if cue.kind is not Kind.COMPLEMENT for index in range(cue.first, cue.stop)
    }
    return any(index not in indices for index in range(first, stop) if sentence.words[index].text[0].isalnum())


# --- behind an answer


def _before_ends(sentence: Sentence, start: int) -> int:
    """The end of an answer, before words behind it that offer no other answer."""
    stop = len(sentence.words)
    if years := _YEARS.search(sentence.text):
        stop = sentence.place(years.span())[0]
    for _ in range(_MAX_ENDS):
        while stop > start and (sentence.words[stop - 1].text in _SIGNS or _is_picture(sentence.words[stop - 1].text)):
            stop -= 1
        stops = [end for cue in sentence.cues if start < cue.first < stop and (end := _end(sentence, cue, start, stop))]
        if not stops or not any(word.text[0].isalnum() for word in sentence.words[start : min(stops)]):
            break
        stop = min(stops)
    return stop


_MAX_ENDS = 3
_BEHIND = _EDGES + ",:;،，、：；—–-(（*_"


def _end(sentence: Sentence, cue: Cue, start: int, stop: int) -> int | None:
    """The end of an answer before a cue, if all words from the cue on are about the answer; else None."""
    first = cue.first - sentence.begins(cue.first - 1, Kind.JOINS)
    prefix = sentence.words[first - 1].text if first else ""
    is_last, is_apart = sentence.past(cue.stop, _CLOSING) >= stop, prefix in _SIGNS or prefix == "-"
    match cue.kind:
        case Kind.ENDS | Kind.CALLED | Kind.FITS:
            is_end = is_last
        case Kind.GUESS | Kind.GREETS:
            is_end = is_last and is_apart
        case Kind.NOT | Kind.NO:
            is_set_off = is_apart or first < cue.first or cue.stop - first > 1
            is_denial = cue.kind is Kind.NOT or not sentence.text.isascii()
            return first if is_denial and is_set_off and _is_contrast(sentence, cue, stop) else None
        case Kind.BECAUSE | Kind.EXPLAINS:
            is_end = True
        case Kind.COMPLEMENT:
            is_end = prefix in "(（"
        case Kind.THE | Kind.IT | Kind.AT:
            is_end = is_apart and (prefix in "(（" or not _names(sentence, cue.stop))
        case Kind.BY:
            is_end = _names(sentence, cue.stop)
        case _:
            is_end = False
    name = sentence.text[sentence.words[start].start : sentence.words[cue.first].start]
    return first if is_end and (is_last or not _offers_another(sentence, cue, stop, name)) else None


_CLOSING = frozenset(")）!.。\"'”’」")


def _is_contrast(sentence: Sentence, cue: Cue, stop: int) -> bool:
    """Whether the words behind a "not" are only a name."""
    terms = {word.text for word in sentence.words[cue.stop : stop]}
    kinds = {signal.kind for signal in sentence.cues if cue.stop <= signal.first < stop}
    return _SIGNS.isdisjoint(terms) and _MORE.isdisjoint(kinds) and _is_name(sentence, cue.stop, stop)


def _offers_another(sentence: Sentence, signal: Cue, stop: int, name: str) -> bool:
    """Whether the words behind the answer `name` doubt it, or name another."""
    if "?" in sentence.text or _says_more(sentence, signal.first, stop):
        return True
    name = name.strip(_AROUND).lower()
    for index in range(signal.stop, stop):
        prefix, is_alone = sentence.words[index - 1].text, sentence.ends(index + 1) or sentence.ends(index + 2)
        joins = prefix in ",;/&，、；" or (prefix == "." and is_alone) or sentence.begins(index - 1, Kind.JOINS)
        is_said = any(cue.kind is Kind.IS and cue.stop == index for cue in sentence.cues)
        if (is_said or joins) and _names(sentence, index) and name not in _text_at(sentence, index).lower():
            return True
    return False


def _says_more(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether another answer, a doubt, or words that take an answer back stand between two places."""
    for cue in sentence.cues:
        if cue.kind in _MORE and first <= cue.first < stop:
            is_weak = cue.kind in (Kind.WRONG, Kind.OTHER) or (
                cue.kind is Kind.BUT and sentence.begins(cue.first, Kind.NO)
            )
            if not is_weak or sentence.ends(cue.stop):
                return True
    return False


def _explained(text: str) -> str | None:
    """The first sentence or line, if all text behind it tells more about it; else None."""
    if len(text) > _MAX_EXPLAINED_CHARS:
        return None
    all_sentences = list(sentences(text, 0, len(text)))
    if len(all_sentences) < 2 or all_sentences[0].end > _MAX_CHARS:
        return None
    head = text[: all_sentences[0].end].strip(_AROUND)
    first = {cue.kind for cue in all_sentences[1].cues if cue.first == 0}
    is_start = (
        not _TOLD.isdisjoint(first)
        or all_sentences[1].words[0].text in listed("pronouns")
        or text[all_sentences[1].start :].lstrip("\n*_ ").startswith(head)
    )
    is_long = len(all_sentences[1].words) >= _MIN_EXPLAINING_WORDS or Kind.EXPLAINS in first
    items = (_offers_another(sentence, _START, len(sentence.words), head) for sentence in all_sentences[1:])
    return head if is_start and is_long and not any(items) else None


_START = Cue(Kind.EXPLAINS, 0, 0)


# --- yes and no


def _truth(text: str) -> str | None:
    """The yes or no at the beginning of a text that gives reasons for it, and does not say the opposite."""
    lead = leading(text)
    if lead is None or not lead[1]:
        return None
    sentence = Sentence(lead[1], 0, len(lead[1]), "")
    item = ("no", "false") if lead[0].lower() in YES else ("yes", "true")
    is_other = any(word.text in item and sentence.ends(index + 1) for index, word in enumerate(sentence.words))
    is_open = (
        is_other or _says_more(sentence, 0, len(sentence.words)) or any(word.text in IN_PART for word in sentence.words)
    )
    return None if is_open else lead[0]


# --- a name and its letters

_ACRONYM = re.compile(
    r"(?P<name>[^()]{3,120}?)\s\((?P<short>[A-Z][A-Za-z.]{1,9})\)|(?P<short2>[A-Z][A-Z.]{1,9})\s\((?P<name2>[^()]{3,120})\)"
)
_SMALL = (Kind.THE, Kind.COMPLEMENT, Kind.JOINS)


def _of_acronym(match: re.Match[str]) -> Iterator[str]:
    """A name and its acronym, if the letters of the acronym begin the words of the name."""
    name, short = match["name"] or match["name2"], match["short"] or match["short2"]
    terms = LETTERS.findall(name)
    initials = "".join(word[0] for word in terms if word[0].isupper() or word not in single(*_SMALL) | listed("places"))
    capitals = "".join(word[0] for word in terms if word[0].isupper())
    if short.replace(".", "").upper() in (initials.upper(), capitals.upper()):
        yield name
        yield short
