"""Announcements of answers, in all languages of the lexicon: "The final answer is …", "Answer: …", 答案是….

A heading such as "**Answer**" above a line is one, too.
"""

from typing import NamedTuple

from verifiers.commitment.contrasts import joins
from verifiers.commitment.cues import Cue, Kind, adverbs, alone
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import Sentence, Stance, sentence_at
from verifiers.commitment.wording import places


class Announcement(NamedTuple):
    """A place where a response announces its answer."""

    start: int
    """The start of the announcing words."""
    span: Span
    """The announced text, up to the end of its sentence or line; empty if nothing follows."""
    has_verb: bool
    stance: Stance


_MAX = 64
"""The number of announcements that are read, counted from the end; earlier ones are ignored."""


def announcements(text: str, start: int, end: int) -> list[Announcement]:
    """The last announcements between two places, in order."""
    found: list[Announcement] = []
    sentence: Sentence | None = None
    for place in places(Kind.ANSWER, text, start, end)[-_MAX:]:
        if found and place < found[-1].span[0]:
            continue
        if sentence is None or place >= sentence.end:
            sentence = sentence_at(text, place, start, end)
        if (one := _announcement(sentence, place, end)) is not None:
            found.append(one)
    return found


def _announcement(sentence: Sentence, place: int, end: int) -> Announcement | None:
    at = sentence.place((place, place + 1))[0]
    nouns = [cue for cue in sentence.cues if cue.kind is Kind.ANSWER and cue.first <= at < cue.stop]
    if not nouns:
        return None
    noun = max(nouns, key=lambda cue: (cue.stop, -cue.first))
    found = _answer_start(sentence, noun)
    if found is None:
        return None
    begin, has_verb = found
    if not has_verb and any(
        cue.kind is Kind.FIND and sentence.skipped(noun.first) <= cue.stop <= noun.first for cue in sentence.cues
    ):
        return None
    stance = sentence.led_stance(noun.first, begin)
    if stance is Stance.ANNOUNCED and sentence.past_cue(begin, Kind.DOUBT, Kind.MAYBE) > begin:
        stance = Stance.HEDGED
    told = [cue for cue in sentence.cues if cue.kind is Kind.SAID and cue.stop > noun.stop]
    is_told = any(cue.first <= noun.first or (cue.first <= begin < cue.stop) for cue in told if cue.first < begin + 1)
    if is_told or sentence.is_told_of(begin):
        stance = Stance.ATTRIBUTED
    elif sentence.is_property(begin + 1):
        stance = Stance.SUPPOSED
    if (denied := sentence.past_cue(begin, Kind.NOT)) > begin:
        is_led = sentence.past_cue(denied, Kind.THE, Kind.NOUN) > denied
        if begins_value(sentence, denied) or is_led:
            stance = Stance.DENIED
        elif has_verb:
            return None
        is_doubt = sentence.past_cue(begin, Kind.DOUBT) > begin
        swap = [
            cue.stop
            for cue in sentence.cues
            if cue.kind in (Kind.BUT, Kind.CHOOSE) and cue.first > denied and not is_doubt
        ]
        swap = swap or _restated(sentence, denied)
        begin, stance = (max(swap), Stance.ANNOUNCED) if swap else (begin, stance)
    begin = _past_wrong(sentence, begin)
    first = sentence.skipped(noun.first)
    at = sentence.words[begin - 1].end
    return Announcement(sentence.words[first].start, (at, end), has_verb, stance)


def _past_wrong(sentence: Sentence, begin: int) -> int:
    """The place behind a number that is denied behind it, where another one follows: "20 değil 18", 20ではなく18."""
    denials = [
        cue.stop
        for cue in sentence.cues
        if cue.kind is Kind.WRONG
        and begin < cue.first <= begin + 2
        and cue.stop < len(sentence.words)
        and not joins(sentence.words[cue.first - 1])
    ]
    stop = max(denials, default=begin)
    stop = sentence.past_cue(sentence.past(stop, _CLAUSES), Kind.BUT) if denials else stop
    is_swap = (
        begin < stop < len(sentence.words)
        and sentence.words[begin].text[0].isdigit()
        and sentence.words[stop].text[0].isdigit()
    )
    return stop if is_swap else begin


def _restated(sentence: Sentence, denied: int) -> list[int]:
    """The places where a clause behind a denial states the answer instead: "is not 15, it's 12"."""
    said = sentence.words
    return [
        cue.stop
        for cue in sentence.cues
        if cue.kind is Kind.IS
        and cue.first > denied + 2
        and said[cue.first - 2].text in _CLAUSES
        and said[cue.first - 1].text.isalpha()
        and begins_value(sentence, cue.stop)
    ]


_CLAUSES = frozenset(",;—–，；、")


def _answer_start(sentence: Sentence, noun: Cue) -> tuple[int, bool] | None:
    """The word behind which an announcement ends, and whether it has a verb; None if it announces nothing."""
    said, place = sentence.words, noun.stop
    if any(
        cue.kind in (Kind.IS, Kind.CHOOSE) and noun.first <= cue.first and cue.stop == place for cue in sentence.cues
    ):
        place += place < len(said) and said[place].text in ":："
        is_label = place < len(said) and sentence.text[said[place].start : said[place].end].isupper()
        return (place, True) if is_label else None
    while place < len(said):
        if (stop := sentence.past_cue(place, Kind.IS)) > place:
            if said[place].text == "'s" and not begins_value(sentence, stop):
                return None
            if stop < len(said) and said[stop].text in ",，" and (aside := _aside(sentence, stop)) is not None:
                stop = aside
            value = stop
            while value < len(said) and said[value].text in adverbs():
                value += 1
            stop = value if begins_value(sentence, value) else stop
            return (stop + 1, True) if stop < len(said) and said[stop].text in ":：" else (stop, True)
        if said[place].text in ":：=—" or (said[place].text in "-–" and place > noun.stop - 1):
            is_arrow = said[place].text in "=—-–"
            return sentence.past(place + 1, _ARROWS) if is_arrow else place + 1, False
        if sentence.past_cue(place, Kind.NOT) > place:
            return place, True
        if (led := sentence.past_cue(place, Kind.RIGHT, Kind.BAD)) > place:
            place = led
        elif said[place].text in _CLOSING:
            place += 1
        elif (aside := _aside(sentence, place)) is not None:
            place = aside
        else:
            break
    if place >= len(said):
        return (place, False) if sentence.skipped(noun.first) == 0 and "\n" in sentence.stop else None
    is_marked = said[place - 1].text == "】"
    is_plain = place == noun.stop and (begins_value(sentence, place) or _has_no_verb(sentence, noun))
    if sentence.skipped(noun.first) == 0 and (is_marked or (is_plain and not sentence.is_named(place, place + 1))):
        return place, False
    return (place, True) if _is_inverted(sentence, noun) and begins_value(sentence, place) else None


def _is_inverted(sentence: Sentence, noun: Cue) -> bool:
    """Whether a conclusion puts the verb before the noun, as Germanic languages do: "Also lautet die Antwort …"."""
    verb = sentence.ends_in(frozenset([Kind.IS]), sentence.skipped(noun.first))
    return verb is not None and sentence.ends_in(frozenset([Kind.SO]), verb.first) is not None


def _has_no_verb(sentence: Sentence, noun: Cue) -> bool:
    """Whether a sentence is a noun and one word, in a language that needs no verb between them: "Cevap evet"."""
    said = sentence.words
    return len(said) == noun.stop + 1 and said[noun.stop - 1].text not in alone(Kind.ANSWER, "en")


def begins_value(sentence: Sentence, place: int) -> bool:
    """Whether a word may begin a value: a number, a formula, a capital, another script."""
    if place >= len(sentence.words):
        return False
    word = sentence.words[place]
    return (
        word.text[0].isdigit()
        or word.text in "$\\(-−+"
        or not word.text.isascii()
        or sentence.text[word.start].isupper()
    )


_ARROWS = frozenset("=>")
_CLOSING = frozenset("\"'”’)]】»」")


def _aside(sentence: Sentence, place: int) -> int | None:
    """The end of a complement or an aside: "to the question", ", in this case,", "(in cm)"; None if there is none."""
    said = sentence.words
    word = said[place].text
    if sentence.past_cue(place, Kind.COMPLEMENT) > place:
        for stop in range(place + 1, min(len(said), place + _MAX_ASIDE_WORDS)):
            if said[stop].text in ":：=" or sentence.past_cue(stop, Kind.IS) > stop:
                return stop
            if said[stop].text in ".;":
                return None
        return None
    closing = {",": ",", "(": ")", "，": "，"}.get(word)
    if closing is None:
        return None
    for stop in range(place + 1, min(len(said), place + _MAX_ASIDE_WORDS)):
        if sentence.past_cue(stop, Kind.OR) > stop:
            return None
        if said[stop].text == closing:
            return stop + 1
    return None


_MAX_ASIDE_WORDS = 18
