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
from verifiers.commitment.cues import Cue, Kind, listed
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
_MORE = frozenset(
    [Kind.OR, Kind.MAYBE, Kind.BUT, Kind.DOUBT, Kind.BACK, Kind.ALSO, Kind.IF, Kind.WRONG, Kind.OTHER, Kind.BAD]
)
"""Cues of another answer, of a doubt, or of taking an answer back."""
_TOLD = frozenset([Kind.THE, Kind.SOURCE, Kind.BECAUSE, Kind.EXPLAINS])
_YEARS = re.compile(r"\s?\(\d{4}\s?[-–]\s?\d{4}\)\Z")


def readings(answer: str, references: Sequence[tuple[str, ...]], is_unmarked: bool) -> Iterator[str]:
    """The readings of an answer without the words around it, most likely first; none if there are no such words.

    `is_unmarked` says that no tag, box or phrase marks the end of the answer. Sentences behind it may then explain it.
    """
    wanted = [part.strip(" \"'“”«»*_").lower() for parts in references for part in parts]
    if answer.endswith(_ASKS) and not any(part.endswith(_ASKS) for part in wanted):
        return
    if is_unmarked and (explained := _explained(answer)):
        yield explained
        yield from _readings(explained, wanted)
    if len(answer) <= _MAX_CHARS:
        yield from _readings(answer, wanted)


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
    if answer.isascii():
        return answer
    tail = Sentence(answer, max(0, len(answer) - _MAX_LEAD_CHARS), len(answer.rstrip(_EDGES)), "")
    ends = [cue.first for cue in tail.cues if cue.kind is Kind.ENDS and cue.stop == len(tail.words) and cue.first]
    place = tail.words[min(ends)].start if ends and not tail.asks else len(answer)
    is_wanted = any(part.rstrip(_EDGES).endswith(answer[place : tail.end]) for part in references)
    return answer if is_wanted else answer[:place]


def _is_heading(head: Sentence, start: int) -> bool:
    """Whether only a noun and a colon stand before an answer, as in "Answer: Paris"."""
    stop = head.place((start, start))[0]
    return head.words[stop - 1].text in ":：" and not head.begins(_BEGINS, 0)


_BEGINS = frozenset([Kind.THE, Kind.RIGHT, Kind.SO])


@remember(16)
def _sentence(text: str) -> Sentence:
    """The sentence of a short text. It is cached, because the text is read several times."""
    return Sentence(text, 0, len(text), "")


_MAX_LEAD_CHARS = 200
_MAX_BEFORE_CHARS = 12


def _readings(answer: str, wanted: Sequence[str]) -> Iterator[str]:
    said = _sentence(answer)
    asks_truth = any(part.strip(_EDGES) in YES or part.strip(_EDGES) in NO for part in wanted)
    start = _behind_leads(said, wanted, asks_truth)
    if start >= len(said.words):
        return
    if asks_truth and (word := _truth(answer[said.words[start].start :])):
        yield word
        return
    stop = _before_ends(said, start)
    if start or stop < len(said.words):
        yield answer[said.words[start].start : said.words[stop - 1].end].lstrip("*_> ").rstrip(_BEHIND)
    if start and not answer.isascii():
        yield from _readings(answer[said.words[start].start :], wanted)
    if acronym := _ACRONYM.fullmatch(answer.strip(_EDGES)):
        yield from _of_acronym(acronym)


# --- before an answer


def _behind_leads(said: Sentence, wanted: Sequence[str], asks_truth: bool) -> int:
    """The place behind those phrases before an answer that no reference begins with."""
    place = _past_bullet(said)
    for _ in range(_MAX_LEADS):
        stop = said.past(max(_leads(said, place, asks_truth), default=place), _SIGNS)
        if stop == place or not _says(said, stop):
            break
        lead = said.text[said.words[place].start : said.words[stop - 1].end].strip(_AROUND).lower()
        if lead and any(part.startswith(lead) for part in wanted):
            break
        place = _past_pictures(said, stop)
    return place


def _says(said: Sentence, place: int) -> bool:
    return any(word.text[0].isalnum() for word in said.words[place:])


def _past_bullet(said: Sentence) -> int:
    """The place behind a list mark and pictures."""
    begins = [word.text for word in said.words[:2]]
    is_item = (begins in _ITEMS or begins[:1] in _BULLETS) and "\n" not in said.text.strip()
    return _past_pictures(said, (2 if begins[0] == "1" else 1) if is_item else 0)


_ITEMS = (["1", "."], ["1", ")"])
_BULLETS = (["-"], ["+"])


def _past_pictures(said: Sentence, place: int) -> int:
    """The place behind pictures and arrows, apart from those that call the next words wrong."""
    while place < len(said.words) and _is_picture(said.words[place].text):
        place += 1
    return place


def _is_picture(char: str) -> bool:
    if char.isascii() or len(char) > 1 or char in "❌✗✘✖❎🚫⛔👎❓❔≠≤≥¬√":
        return False
    return char in "\u200d•‣▪◦·→⇒➡➜➔∴" or unicodedata.category(char) == "So"


def _leads(said: Sentence, place: int, asks_truth: bool) -> Iterator[int]:
    """The ends of the phrases that begin at a place and may stand before an answer."""
    denied = {cue.first for cue in said.cues if cue.kind in (Kind.NOT, Kind.NO)}
    bounds = {cue.first for cue in said.cues if cue.kind in (Kind.BOUND, Kind.PART)}
    for cue in said.cues:
        is_native = not said.words[cue.first].text.isascii()
        if cue.kind is Kind.WRONG and is_native and place < cue.first < place + _MAX_ASIDE_WORDS:
            yield cue.stop
        if cue.first != place:
            continue
        shown = said.text[said.words[place].start : said.words[cue.stop - 1].end].lower()
        is_truth = asks_truth and (shown in YES or shown in NO)
        if cue.kind in _GREETS and not is_truth and said.past(cue.stop, _SIGNS) > cue.stop:
            yield cue.stop
        if cue.kind in _VERBS:
            yield from _past_denied(said, cue.stop) if cue.stop in denied else (cue.stop,)
        if cue.kind in _PREPOSITIONS and place not in bounds and _names(said, cue.stop):
            yield cue.stop
        if cue.kind is Kind.ABOUT and _counts(said, cue.stop):
            yield cue.stop
        if cue.kind is Kind.NOT and (stop := _behind_contrast(said, cue)):
            yield stop
    yield from _past_heading(said, place, denied)
    yield from _past_source(said, place)


_PREPOSITIONS = frozenset([Kind.AT, Kind.BY, Kind.COMPLEMENT])


_MONEY = frozenset("$€£")


def _counts(said: Sentence, place: int) -> bool:
    return said.past(place, _MONEY) < len(said.words) and said.words[said.past(place, _MONEY)].text[0].isdigit()


def _names(said: Sentence, place: int) -> bool:
    """Whether a name or a figure follows, maybe behind an article."""
    place = said.past_cue(place, Kind.THE)
    return _counts(said, place) or (place < len(said.words) and said.text[said.words[place].start].isupper())


def _past_heading(said: Sentence, place: int, denied: set[int]) -> Iterator[int]:
    """The places behind an announcement of an answer: "the answer to this is", "Year:", "the city is"."""
    begin = said.past_cue(place, Kind.THE, Kind.RIGHT)
    here = [cue for cue in said.cues if cue.first in (place, begin)]
    nouns = [(cue.stop, cue.kind is not Kind.ASKED) for cue in here if cue.kind in _NOUNS]
    if any(cue.kind is Kind.BAD for cue in here):
        return
    if not nouns and (begin == place or any(cue.kind in _OPEN | {Kind.LABEL} for cue in here)):
        return
    at, is_answer = max(nouns, default=(begin + 1, False))
    if is_answer and said.begins(frozenset([Kind.COMPLEMENT]), at):
        signs = [place for place in range(at, len(said.words)) if said.words[place].text in ":："]
        at = min([cue.first for cue in said.cues if cue.kind is Kind.IS and cue.first > at] + signs, default=at)
    verb = said.past_cue(at, Kind.IS)
    if verb > at and verb not in denied:
        yield verb
    if nouns and at < len(said.words) and (said.words[at].text in ":：=→" or _text_at(said, at).startswith("->")):
        yield at + 1


def _text_at(said: Sentence, place: int) -> str:
    return said.text[said.words[place].start :]


def _past_source(said: Sentence, place: int) -> Iterator[int]:
    """The places behind a source, such as "according to the passage,"."""
    for at in range(place + 1, min(place + _MAX_ASIDE_WORDS, len(said.words))):
        if said.words[at].text in ",:，：、،":
            kinds = {cue.kind for cue in said.cues if place <= cue.first and cue.stop <= at}
            if Kind.SOURCE in kinds and _OPEN.isdisjoint(kinds):
                yield at + 1
            return


def _behind_contrast(said: Sentence, cue: Cue) -> int | None:
    """The end of "not Lyon, but"; None if the denied words are not name."""
    for at in range(cue.stop, min(cue.stop + _MAX_ASIDE_WORDS, len(said.words))):
        turns = [each.stop for each in said.cues if each.first == at and each.kind is Kind.BUT]
        if turns or said.words[at].text in _SIGNS:
            return max(turns, default=at + 1) if _is_name(said, cue.stop, at) else None
    return None


def _past_denied(said: Sentence, place: int) -> Iterator[int]:
    """Behind the "not Lyon but" of "it is not Lyon but Paris"."""
    for cue in said.at(place):
        stop = _behind_contrast(said, cue) if cue.kind is Kind.NOT else None
        if stop is not None and said.ends_in(_BUT, stop):
            yield stop


_BUT = frozenset([Kind.BUT])


def _is_name(said: Sentence, first: int, stop: int) -> bool:
    """Whether other words than those of the lexicon stand between two places: "not sure" names nothing."""
    known = {place for cue in said.cues if cue.kind is not Kind.COMPLEMENT for place in range(cue.first, cue.stop)}
    return any(place not in known for place in range(first, stop) if said.words[place].text[0].isalnum())


# --- behind an answer


def _before_ends(said: Sentence, start: int) -> int:
    """The end of an answer, before words behind it that offer no other answer."""
    stop = len(said.words)
    if years := _YEARS.search(said.text):
        stop = said.place(years.span())[0]
    for _ in range(_MAX_ENDS):
        while stop > start and (said.words[stop - 1].text in _SIGNS or _is_picture(said.words[stop - 1].text)):
            stop -= 1
        ends = [end for cue in said.cues if start < cue.first < stop and (end := _end(said, cue, start, stop))]
        if not ends or not any(word.text[0].isalnum() for word in said.words[start : min(ends)]):
            break
        stop = min(ends)
    return stop


_MAX_ENDS = 3
_BEHIND = _EDGES + ",:;،，、：；—–-(（*_"


def _end(said: Sentence, cue: Cue, start: int, stop: int) -> int | None:
    """The end of an answer before a cue, if all words from the cue on are about the answer; else None."""
    first = cue.first - said.begins(frozenset([Kind.JOINS]), cue.first - 1)
    before = said.words[first - 1].text if first else ""
    is_last, is_apart = said.past(cue.stop, _CLOSING) >= stop, before in _SIGNS or before == "-"
    match cue.kind:
        case Kind.ENDS | Kind.CALLED | Kind.FITS:
            is_end = is_last
        case Kind.GUESS | Kind.GREETS:
            is_end = is_last and is_apart
        case Kind.NOT | Kind.NO:
            is_set_off = is_apart or first < cue.first or cue.stop - first > 1
            is_denial = cue.kind is Kind.NOT or not said.text.isascii()
            return first if is_denial and is_set_off and _is_contrast(said, cue, stop) else None
        case Kind.BECAUSE | Kind.EXPLAINS:
            is_end = True
        case Kind.COMPLEMENT:
            is_end = before in "(（"
        case Kind.THE | Kind.IT | Kind.AT:
            is_end = is_apart and (before in "(（" or not _names(said, cue.stop))
        case Kind.BY:
            is_end = _names(said, cue.stop)
        case _:
            is_end = False
    name = said.text[said.words[start].start : said.words[cue.first].start]
    return first if is_end and (is_last or not _offers_another(said, cue, stop, name)) else None


_CLOSING = frozenset(")）!.。\"'”’」")


def _is_contrast(said: Sentence, cue: Cue, stop: int) -> bool:
    """Whether the words behind a "not" are only a name."""
    inner = {word.text for word in said.words[cue.stop : stop]}
    kinds = {each.kind for each in said.cues if cue.stop <= each.first < stop}
    return _SIGNS.isdisjoint(inner) and _MORE.isdisjoint(kinds) and _is_name(said, cue.stop, stop)


def _offers_another(said: Sentence, behind: Cue, stop: int, name: str) -> bool:
    """Whether the words behind the answer `name` doubt it, or name another."""
    if "?" in said.text or _says_more(said, behind.first, stop):
        return True
    name = name.strip(_AROUND).lower()
    for place in range(behind.stop, stop):
        before, is_alone = said.words[place - 1].text, said.ends(place + 1) or said.ends(place + 2)
        joins = (
            before in ",;/&，、；" or (before == "." and is_alone) or said.begins(frozenset([Kind.JOINS]), place - 1)
        )
        is_said = any(cue.kind is Kind.IS and cue.stop == place for cue in said.cues)
        if (is_said or joins) and _names(said, place) and name not in _text_at(said, place).lower():
            return True
    return False


def _says_more(said: Sentence, first: int, stop: int) -> bool:
    """Whether another answer, a doubt, or words that take an answer back stand between two places."""
    for cue in said.cues:
        if cue.kind in _MORE and first <= cue.first < stop:
            is_weak = cue.kind in (Kind.WRONG, Kind.OTHER) or (
                cue.kind is Kind.BUT and said.begins(frozenset([Kind.NO]), cue.first)
            )
            if not is_weak or said.ends(cue.stop):
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
    begins = (
        not _TOLD.isdisjoint(first)
        or all_sentences[1].words[0].text in listed("pronouns")
        or text[all_sentences[1].start :].lstrip("\n*_ ").startswith(head)
    )
    is_long = len(all_sentences[1].words) >= _MIN_EXPLAINING_WORDS or Kind.EXPLAINS in first
    others = (_offers_another(each, _START, len(each.words), head) for each in all_sentences[1:])
    return head if begins and is_long and not any(others) else None


_START = Cue(Kind.EXPLAINS, 0, 0)


# --- yes and no


def _truth(text: str) -> str | None:
    """The yes or no at the beginning of a text that gives reasons for it, and does not say the opposite."""
    lead = leading(text)
    if lead is None or not lead[1]:
        return None
    said = Sentence(lead[1], 0, len(lead[1]), "")
    other = ("no", "false") if lead[0].lower() in YES else ("yes", "true")
    is_other = any(each.text in other and said.ends(place + 1) for place, each in enumerate(said.words))
    is_open = is_other or _says_more(said, 0, len(said.words)) or any(each.text in IN_PART for each in said.words)
    return None if is_open else lead[0]


# --- a name and its letters

_ACRONYM = re.compile(
    r"(?P<name>[^()]{3,120}?)\s\((?P<short>[A-Z][A-Za-z.]{1,9})\)|(?P<short2>[A-Z][A-Z.]{1,9})\s\((?P<name2>[^()]{3,120})\)"
)
_SMALL = (Kind.THE, Kind.COMPLEMENT, Kind.JOINS)


def _of_acronym(found: re.Match[str]) -> Iterator[str]:
    """A name and its acronym, if the letters of the acronym begin the words of the name."""
    name, short = found["name"] or found["name2"], found["short"] or found["short2"]
    said = LETTERS.findall(name)
    initials = "".join(word[0] for word in said if word[0].isupper() or word not in single(*_SMALL) | listed("places"))
    capitals = "".join(word[0] for word in said if word[0].isupper())
    if short.replace(".", "").upper() in (initials.upper(), capitals.upper()):
        yield name
        yield short
