"""The opinions of others, which are not answers: "my teacher says", "according to the answer key", 据参考书, "tanárom szerint".

An opinion is made of parts, the slots of `opinion` in the lexicons, of one language:

    my teacher says …      laut meinem Lehrer …     who or source, and says or by; a "that" behind belongs to it
    Bob thinks the answer  experts believe that     a name, or `named` or `experts`: where the sentence names an answer
    Tom's answer is …      网上的答案是…              somebody, `of`, and an answer's noun
    the answer of my friend                         an answer's noun, and `my` with who, or `own`
    allegedly, …           据说…                     reported
    my friend got [mark]   I first obtained [mark]  my or own, or earlier, and gets: only where a mark stands beside it
    Students often put [mark]                       experts or who, and often, or a word like "would"
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from verifiers.commitment.cues import Cue, Kind, Word, adverbs, languages, listed, vocabulary
from verifiers.commitment.language import languages_of
from verifiers.commitment.slots import Part, is_word, openings_of
from verifiers.commitment.slots import parts as parts_of

_MAX_BETWEEN = 2
"""The words between the two: "my teacher often says", "laut meinem Lehrer"."""
_MAX_EARLIER = 4
"""The words between "first" and a verb: "I first (and wrongly) got"."""
_MAX_LEAD = 3
"""The words before somebody whose verb ends the sentence."""
_MAX_NAMES = 3

_PAUSES = frozenset(",;:.，；：、،؛—–()（）")
_PERSONS = frozenset(["who", "own", "source"])
_NAMES = frozenset(["named", "experts"])
"""Somebody whose words are an opinion only if they are about an answer: "Tom says he has 5 apples" is not."""
_TELLS = frozenset(["says", "picks", "holds", "by"])
_ANSWERS = frozenset(["gets", "holds", "picks", "puts", "says"])
_SAYS = frozenset(["says", "picks"])
_ALONE = frozenset(["reported"])
_ANY = ""
"""The language of a name."""


class Opinions(NamedTuple):
    """The opinions of others in a sentence, each as a cue over the words that say whose it is."""

    all: Sequence[Cue] = ()
    sourced: Sequence[Cue] = ()
    """Those of `all` that name a source or nobody: "Wikipedia says", "reportedly"."""


def opinions(text: str, phrase: Sequence[Word], cues: Sequence[Cue]) -> Opinions:
    """The opinions of others in a sentence with these words and cues."""
    answers = [cue for cue in cues if cue.kind is Kind.ANSWER]
    is_label = bool(phrase) and _is_label(text, phrase[-1])
    turn = max((cue.first for cue in cues if cue.kind is Kind.BUT), default=0)
    slots = list(parts_of("opinion", phrase))
    somebody = [part for part in slots if part.slot in _PERSONS]
    if answers or is_label:
        pieces = _named(text, phrase, slots)
        somebody += pieces if answers else [name for name in pieces if _picks_last(phrase, name, slots, cues)]
    verbs = [
        part
        for part in slots
        if part.slot in _TELLS and not picks_things(phrase, part.stop) and not tells_of_group(phrase, cues, part)
    ]
    items = [
        (subject, cue) for subject in somebody for verb in verbs if (cue := _opinion(phrase, subject, verb, slots))
    ]
    reported = [_with_that(part, slots) for part in slots if part.slot in _ALONE]
    owned = (cue for answer in answers for cue in _owned(phrase, answer, somebody, slots))
    sourced = [*reported, *(cue for subject, cue in items if subject.slot == "source")]
    opposed = _opposed(text, phrase, answers, slots, cues)
    others = [
        part
        for part in slots
        if _is_elsewhere(phrase, answers, part) or _is_given_up(phrase, bool(answers), part, turn)
    ]
    signals = [Cue(Kind.SAID, part.first, part.stop) for part in others]
    quoted = {Cue(Kind.SAID, part.first, part.stop) for part in somebody if _heads_quotation(phrase, part)}
    return Opinions([*(cue for _, cue in items), *reported, *owned, *opposed, *signals, *quoted], sourced)


def _heads_quotation(phrase: Sequence[Word], part: Part) -> bool:
    """Whether somebody is named before a colon and a quotation: `ChatGPT: "The answer is C."`."""
    sign, mark = (word.text for word in phrase[part.stop : part.stop + 2]) if len(phrase) > part.stop + 1 else ("", "")
    return sign in _COLONS and mark in _QUOTES


_COLONS = frozenset(":：")
_QUOTES = frozenset("\"'“‘„«「『")


def _is_given_up(phrase: Sequence[Word], is_answer: bool, part: Part, turn: int) -> bool:
    """Whether words tell of the speaker's own earlier answer, from which he turns: "I assumed X, but", "Initially the answer is X, but"."""
    if part.stop >= turn:
        return False
    if part.slot == "earlier":
        return part.first == 0 and is_answer
    return part.slot == "thought" and (not part.first or phrase[part.first - 1].text in openings_of("slip", "by"))


def _is_elsewhere(phrase: Sequence[Word], answers: Sequence[Cue], part: Part) -> bool:
    """Whether words name another question, at the beginning or behind an answer's noun: "in the previous problem, the answer was"."""
    if part.slot != "elsewhere":
        return False
    is_start = part.first <= _MAX_LEAD and all(
        word.text in _PAUSES or at + 1 < part.first for at, word in enumerate(phrase[: part.first])
    )
    return is_start or any(answer.stop == part.first for answer in answers)


def _opposed(
    text: str, phrase: Sequence[Word], answers: Sequence[Cue], slots: Sequence[Part], cues: Sequence[Cue]
) -> Iterator[Cue]:
    """What is said of the answer before the speaker turns to a value of his own: "[…] says the answer is 42, but I get 48"."""
    turns = [index for cue in cues if cue.kind is Kind.BUT and (index := _turn_at(phrase, cue.stop, cues)) is not None]
    value = _stated(text, phrase, turns[0], cues) if answers and turns else ()
    for answer in answers if value else ():
        is_own = answer.first and phrase[answer.first - 1].text in _speakers()
        is_told = any(verb.slot in _TELLS and verb.stop <= answer.first for verb in slots)
        # "The answer is 42, but I found 3 errors" names no other value.
        is_other = is_told or len(value) == 1 or not value[0].text[0].isdigit()
        numbers = [word for word in phrase[answer.stop : turns[0]] if word.text[0].isdigit()]
        is_number = any(not _is_in_name(text, word.start) for word in numbers)
        if answer.stop < turns[0] and is_other and not is_own and is_number is value[0].text[0].isdigit():
            yield answer._replace(kind=Kind.SAID)


def _is_in_name(text: str, start: int) -> bool:
    """Whether figures are the end of a name: the 2 of CO2."""
    return text[start - 1].isascii() and text[start - 1].isalpha()


def _speakers() -> frozenset[str]:
    return openings_of("slip", "by") | openings_of("opinion", "my")


def _turn_at(phrase: Sequence[Word], index: int, cues: Sequence[Cue]) -> int | None:
    """The place of the speaker, or of the last word before a new value, if a clause begins so: "but I get 48", "but is now 48"."""
    while index < len(phrase) and not is_word(phrase[index]):
        index += 1
    if index < len(phrase) and phrase[index].text in _speakers():
        return index
    stops = [cue.stop for cue in cues if cue.kind in _IS and cue.first == index]
    first = max(stops, default=index + 1 if phrase[index : index + 1] and phrase[index].text in listed("ranges") else 0)
    while first < len(phrase) and phrase[first].text in adverbs():
        first += 1
    return first - 1 if first and _is_last_value(phrase, first) else None


def _is_last_value(phrase: Sequence[Word], first: int) -> bool:
    """Whether one word or number, and nothing else, stands at the end of a sentence."""
    return sum(map(is_word, phrase[first:])) == 1


def _stated(text: str, phrase: Sequence[Word], index: int, cues: Sequence[Cue]) -> Sequence[Word]:
    """The value that ends the clause of a speaker, behind few other words: the 48 of "my derivation gives 48"; empty if there is none."""
    stops = [
        cue.first
        for cue in cues
        if cue.kind is Kind.ENDS and cue.first > index and not any(map(is_word, phrase[cue.stop :]))
    ]
    stop = first = min(stops, default=len(phrase))
    while first > index + 1 and (not is_word(phrase[first - 1]) or _is_value(text, phrase[first - 1])):
        first -= 1
    if any(map(is_word, phrase[first:stop])) and sum(map(is_word, phrase[index:first])) <= _MAX_STATING:
        return [word for word in phrase[first:stop] if is_word(word)]
    verbs = [cue.stop for cue in cues if cue.kind in _STATES and cue.first >= index]
    suffix = [word for word in phrase[max(verbs, default=stop) : stop] if is_word(word)]
    is_name = 0 < len(suffix) <= _MAX_NAMES and (suffix[0].text[0].isdigit() or suffix[0].text[0] >= _UNCASED)
    return suffix if is_name else ()


def _is_value(text: str, word: Word) -> bool:
    return word.text[0].isdigit() or text[word.start].isupper()


_IS = frozenset([Kind.IS, Kind.IT])
_STATES = frozenset([Kind.IS, Kind.IT, Kind.HAS, Kind.SO, Kind.CHOOSE])
_UNCASED = "\u0590"
_MAX_STATING = 7
"""The words of a speaker before a value; in scripts without spaces each sign is one."""


def at_marks(text: str, phrase: Sequence[Word], cues: Sequence[Cue]) -> Sequence[Cue]:
    """Words that are an opinion only beside a mark: "my friend got" and "Tom claims that" stand beside any amount."""
    slots = list(parts_of("opinion", phrase))
    verbs = [part for part in slots if part.slot in _TELLS and not tells_of_group(phrase, cues, part)]
    pieces = _named(text, phrase, slots) if verbs else []
    # The Turkish "der" says something, the German one is an article: "Der Unterschied beträgt [mark]".
    terms = languages_of(text[phrase[0].start : phrase[-1].end]) if pieces else frozenset[str]()
    spoken = [verb for verb in verbs if not terms or verb.language in terms]
    items = ((verb, cue) for subject in pieces for verb in spoken if (cue := _opinion(phrase, subject, verb, slots)))
    indices = {cue.first for cue in cues if cue.kind is Kind.IT}
    # "Tom picked 42 apples" is not an opinion, "Tom says it's 42" is.
    signals = [cue for verb, cue in items if verb.slot not in _SAYS or cue.stop > verb.stop or cue.stop in indices]
    behind = (
        verb for subject in slots for verb in verbs if subject.slot in _PERSONS and _is_last(phrase, subject, verb)
    )
    return [*_at_marks(phrase, slots), *signals, *(Cue(Kind.SAID, verb.first, verb.stop) for verb in behind)]


def erring(phrase: Sequence[Word]) -> Sequence[Cue]:
    """Words for what people often answer, which are an opinion before a mark that counts nothing: "Students often put [mark]"."""
    if openings_of("opinion", "often", "experts").isdisjoint(word.text for word in phrase):
        return []
    slots = list(parts_of("opinion", phrase))
    people = [part for part in slots if part.slot in ("experts", "who")]
    return [cue for subject in people for verb in slots if (cue := _errs(phrase, subject, verb, slots))]


def answering(phrase: Sequence[Word]) -> Mapping[int, int]:
    """The verbs of answering in a sentence, by their ends: the "write" of "many mistakenly write [mark]"."""
    return {part.stop: part.first for part in parts_of("opinion", phrase) if part.slot in _ANSWERS}


def _errs(phrase: Sequence[Word], subject: Part, verb: Part, slots: Sequence[Part]) -> Cue | None:
    if verb.slot not in _ANSWERS or verb.language != subject.language or verb.first < subject.stop:
        return None
    often = [part.first for part in slots if part.slot == "often" and part.language == subject.language]
    modals = listed("modals") | listed("conditional")
    is_often = any(subject.first - _MAX_BETWEEN <= at <= verb.stop + 1 for at in often)
    would = subject.slot == "experts" and any(word.text in modals for word in phrase[subject.stop : verb.first])
    is_near = sum(map(is_word, phrase[subject.stop : verb.first])) <= _MAX_BETWEEN
    stop = max([verb.stop, *(at + 1 for at in often if at == verb.stop)])
    return Cue(Kind.SAID, subject.first, stop) if is_near and (is_often or would) else None


def _named(text: str, phrase: Sequence[Word], slots: Sequence[Part]) -> list[Part]:
    # A name alone says nothing, and has nothing.
    names = _names(text, phrase) if any(part.slot in _TELLS or part.slot == "of" for part in slots) else ()
    return [*names, *_surnames(phrase, slots), *(part for part in slots if part.slot in _NAMES)]


def _opinion(phrase: Sequence[Word], subject: Part, verb: Part, slots: Sequence[Part]) -> Cue | None:
    """The opinion that somebody and a verb, or words like "according to", are; None if they do not belong together."""
    if subject.language not in (verb.language, _ANY):
        return None
    slot, right = sorted((subject, verb), key=lambda part: part.first)
    between = phrase[slot.stop : right.first]
    is_near = slot.stop <= right.first and sum(map(is_word, between)) <= (
        0 if subject.language == _ANY else _MAX_BETWEEN
    )
    if is_near and not any(word.text in _PAUSES for word in between):
        return _with_that(Part(verb.language, "", slot.first, right.stop), slots)
    return Cue(Kind.SAID, subject.first, subject.stop) if _is_last(phrase, subject, verb) else None


def _is_last(phrase: Sequence[Word], subject: Part, verb: Part) -> bool:
    """Whether a sentence begins with somebody, and ends in a verb that says whose opinion it is: 친구는 42라고 한다."""
    is_verb = (verb.slot in _SAYS or verb.slot == "holds") and subject.language in (verb.language, _ANY)
    is_last = not any(map(is_word, phrase[verb.stop :])) and subject.stop <= verb.first
    return is_verb and is_last and subject.first <= _MAX_LEAD


def _with_that(part: Part, slots: Sequence[Part]) -> Cue:
    indices = (slot.stop for slot in slots if slot.slot == "that" and 0 <= slot.first - part.stop <= 1)
    return Cue(Kind.SAID, part.first, max([part.stop, *indices]))


def _owned(phrase: Sequence[Word], answer: Cue, somebody: Sequence[Part], slots: Sequence[Part]) -> Iterator[Cue]:
    """The words for whose an answer is: "Tom's answer", "the answer of my friend"."""
    ofs = {(part.first, part.language): part.stop for part in slots if part.slot == "of"}
    for subject in somebody:
        stops = [
            stop
            for (first, language), stop in ofs.items()
            if first == subject.stop and subject.language in (language, _ANY)
        ]
        if phrase[answer.stop].text in listed("ought") if answer.stop < len(phrase) else False:
            continue  # "Tom's answer should be" concludes.
        if answer.first in stops or (answer.first == subject.stop and subject.language not in _with_of()):
            yield Cue(Kind.SAID, subject.first, answer.stop)
        between = phrase[answer.stop : subject.first]
        is_near = answer.stop < subject.first and sum(map(is_word, between)) <= _MAX_BETWEEN
        if is_near and not any(word.text in _PAUSES for word in between) and _is_own(subject, slots):
            yield Cue(Kind.SAID, answer.first, subject.stop)


@cache
def _with_of() -> frozenset[str]:
    """The languages in which a word stands between somebody and what he has; a name alone has nothing."""
    return frozenset([_ANY, *(name for name, lexicon in languages().items() if "of" in lexicon["opinion"])])


@cache
def possessives() -> frozenset[str]:
    """The words that stand between somebody and what he has, in all languages: "'s", 的, の."""
    return frozenset(word for lexicon in languages().values() for word in lexicon["opinion"].get("of", ()))


def _is_own(subject: Part, slots: Sequence[Part]) -> bool:
    """Whether somebody is the speaker's own friend, teacher or neighbour, and not one of the task."""
    mine = [part for part in slots if part.slot == "my" and part.language == subject.language]
    return subject.slot == "own" or any(part.stop == subject.first or part.first == subject.stop for part in mine)


def _at_marks(phrase: Sequence[Word], slots: Sequence[Part]) -> Iterator[Cue]:
    pieces = [part for part in slots if part.slot in _PERSONS and _is_own(part, slots)]
    earlier = [part for part in slots if part.slot == "earlier"]
    limits = [(part, _MAX_BETWEEN) for part in pieces] + [(part, _MAX_EARLIER) for part in earlier]
    for part, maximum in limits:
        for verb in slots:
            is_behind = verb.slot == "gets" and verb.language == part.language and part.stop <= verb.first
            if is_behind and sum(map(is_word, phrase[part.stop : verb.first])) <= maximum:
                yield Cue(Kind.SAID, part.first, verb.stop)


def _names(text: str, phrase: Sequence[Word]) -> Iterator[Part]:
    """Capitals that no lexicon has: names of persons, at the beginning of a clause or behind words like "according to"."""
    position = 0
    while position < len(phrase):
        stop = position
        while stop < min(position + _MAX_NAMES, len(phrase)) and _is_name(text, phrase[stop]):
            stop += 1
        if position < stop:
            yield Part(_ANY, "named", position, stop)
        position = max(position + 1, stop)


def _is_name(text: str, word: Word) -> bool:
    is_capital = text[word.start].isupper() and text[word.start + 1 : word.end].islower()
    return is_capital and word.text not in vocabulary()


def _surnames(phrase: Sequence[Word], slots: Sequence[Part]) -> Iterator[Part]:
    """Names in Chinese: one of the common first characters at the beginning of a clause, and one or two more."""
    for part in slots:
        if part.slot == "surnames" and (not part.first or not is_word(phrase[part.first - 1])):
            stops = [
                slot.first for slot in slots if slot.slot in _SAYS | {"holds", "of"} and slot.language == part.language
            ]
            yield from (
                part._replace(slot="named", stop=stop) for stop in stops if 2 <= stop - part.first <= _MAX_NAMES
            )


def _is_label(text: str, word: Word) -> bool:
    return word.end == word.start + 1 and "A" <= text[word.start] <= "Z"


def _picks_last(phrase: Sequence[Word], name: Part, slots: Sequence[Part], cues: Sequence[Cue]) -> bool:
    """Whether the sentence is a name, a verb and a label: "Lisa picked C", "Tom chose option C"."""
    stops = [part.stop for part in slots if part.slot in _SAYS | {"holds"} and part.first == name.stop]
    between = range(stops[0], len(phrase) - 1) if stops and not name.first else range(1, 0)
    return bool(stops) and all(any(cue.first <= at < cue.stop for cue in cues if cue.kind in _LEADS) for at in between)


def picking() -> frozenset[str]:
    """The verbs that pick an answer, or a number of things."""
    return openings_of("opinion", "picks")


def picks_things(phrase: Sequence[Word], stop: int) -> bool:
    """Whether the verb before a place picks a number of things, and no answer: "her mother picked 30 apples", "he chose 3 books"."""
    if phrase[stop - 1].text not in picking():
        return False
    following = [
        word.text for word in phrase[stop : stop + _MAX_MARKED] if is_word(word) and word.text not in _MARK_NAMES
    ]
    is_number = bool(following) and following[0][0].isdigit()
    noun = next((text for text in following if not text[0].isdigit()), "")
    return is_number and noun.isalpha() and noun not in vocabulary()


def tells_of_group(phrase: Sequence[Word], cues: Sequence[Cue], cue: Cue | Part) -> bool:
    """Whether a verb of saying or picking, with its object, only says what is counted: "the number of people who chose red is 4",
    "the probability that a student picked red is 1/4"; not "the number that my friend chose is 4".
    """
    verbs = [verb.first for verb in cues if verb.kind is Kind.IS and verb.first >= cue.stop]
    objects = phrase[cue.stop : verbs[0]] if verbs else ()
    heads = [at for at in range(min(cue.first, len(phrase) - 2)) if phrase[at].text in listed("tallies")]
    if not heads or not any(is_word(word) for word in objects):
        return False
    leads = {at for lead in cues if lead.kind in (Kind.SO, Kind.THE) for at in range(lead.first, lead.stop)}
    is_told = any(verb.kind is Kind.IS and heads[0] < verb.first < cue.first for verb in cues)
    if is_told or any(is_word(phrase[at]) and at not in leads for at in range(heads[0])):
        return False
    joint, noun = heads[0] + 1, heads[0] + 2
    is_event = phrase[joint].text in listed("relatives") and phrase[heads[0]].text in listed("chances")
    is_single = any(the.kind is Kind.THE and the.first == noun for the in cues)
    return is_event or (phrase[joint].text in listed("of") and not is_single)


_MAX_MARKED = 16
"""The words of a number in a mark, and of the noun behind it."""
_MARK_NAMES = frozenset(["boxed", "fbox"])
_LEADS = frozenset([Kind.THE, Kind.NOUN, Kind.CHOOSE])
