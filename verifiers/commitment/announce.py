"""Announcements of answers, in all languages of the lexicon: "The final answer is …", "Answer: …", 答案是….

A heading such as "**Answer**" above a line is one, too.
"""

from typing import NamedTuple

from verifiers.commitment.contrasts import joins
from verifiers.commitment.cues import Cue, Kind, adverbs, alone, cues, kinds, listed, words
from verifiers.commitment.glance import ends_with
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
    for index in places(Kind.ANSWER, text, start, end)[-_MAX:]:
        if found and index < found[-1].span[0]:
            continue
        if sentence is None or index >= sentence.end:
            sentence = sentence_at(text, index, start, end)
        if (announcement := _announcement(sentence, index, end)) is not None:
            is_led = announcement.stance is Stance.ANNOUNCED and _is_example(text, start, announcement.start)
            found.append(announcement._replace(stance=Stance.SUPPOSED) if is_led else announcement)
    return found


def _is_example(text: str, start: int, end: int) -> bool:
    """Whether the words before an announcement give it as an example: "for example: Answer: 12", 例如【答案】A."""
    head = text[max(start, end - _MAX_LEAD_CHARS) : end].rstrip(_LEADS)
    if not ends_with(head, Kind.IF):
        return False
    phrase = words(head)
    last = [cue for cue in cues(phrase) if cue.kind is Kind.IF and cue.stop == len(phrase)]
    # Not the word of "in the format provided: Answer: 12".
    return any(not listed("examples").isdisjoint(w.text for w in phrase[cue.first : cue.stop]) for cue in last)


_LEADS = " \n*_#>:：([{【「“\"'"
_MAX_LEAD_CHARS = 40


def leads_in(text: str) -> bool:
    """Whether a text does nothing but announce what stands behind it: "Answer:", "So the final answer is"."""
    phrase = words(text)
    heads = cues(phrase)
    if any(cue.kind in _CHANGING for cue in heads):
        return False
    led = [cue for cue in heads if cue.kind in _LEADING]
    covered = {index for cue in led for index in range(cue.first, cue.stop)}
    has_noun = any(cue.kind is Kind.ANSWER for cue in led)
    return has_noun and all(index in covered or word.text in _MARKS for index, word in enumerate(phrase))


_MARKS = frozenset(":：,，\"“「’'*")
_LEADING = kinds("answer so the right is complement")
_CHANGING = kinds("not bad doubt maybe likely if said or wrong but except bound about limit part negative find")


def _announcement(sentence: Sentence, index: int, end: int) -> Announcement | None:
    at = sentence.place((index, index + 1))[0]
    nouns = [cue for cue in sentence.cues if cue.kind is Kind.ANSWER and cue.first <= at < cue.stop]
    if not nouns:
        return None
    noun = max(nouns, key=lambda cue: (cue.stop, -cue.first))
    hit = _answer_start(sentence, noun)
    if hit is None:
        return None
    start, has_verb = hit
    if not has_verb and any(
        cue.kind is Kind.FIND and sentence.skipped(noun.first) <= cue.stop <= noun.first for cue in sentence.cues
    ):
        return None
    stance = sentence.led_stance(noun.first, start)
    if stance is Stance.ANNOUNCED and sentence.past_cue(start, Kind.DOUBT, Kind.MAYBE) > start:
        stance = Stance.HEDGED
    sayings = [cue for cue in sentence.cues if cue.kind is Kind.SAID and cue.stop > noun.stop]
    is_told = any(
        cue.first <= noun.first or (cue.first <= start < cue.stop) for cue in sayings if cue.first < start + 1
    )
    if is_told or sentence.is_told_of(start):
        stance = Stance.ATTRIBUTED
    elif sentence.is_property(start + 1):
        stance = Stance.SUPPOSED
    denied = sentence.past_cue(start, Kind.NOT)
    if denied > start and not _is_no(sentence, start, denied):
        is_led = sentence.past_cue(denied, Kind.THE, Kind.NOUN) > denied
        if begins_value(sentence, denied) or is_led:
            stance = Stance.DENIED
        elif has_verb:
            return None
        is_doubt = sentence.past_cue(start, Kind.DOUBT) > start
        swap = [
            cue.stop
            for cue in sentence.cues
            if cue.kind in (Kind.BUT, Kind.CHOOSE) and cue.first > denied and not is_doubt
        ]
        swap = swap or _restated(sentence, denied)
        start, stance = (max(swap), Stance.ANNOUNCED) if swap else (start, stance)
    start = _past_wrong(sentence, start)
    first = sentence.skipped(noun.first)
    at = sentence.words[start - 1].end
    return Announcement(sentence.words[first].start, (at, end), has_verb, stance)


def _is_no(sentence: Sentence, start: int, stop: int) -> bool:
    """Whether a denial is the announced answer itself: "La réponse est non"."""
    is_last = not any(word.text.isalnum() for word in sentence.words[stop:])
    return is_last and " ".join(word.text for word in sentence.words[start:stop]) in listed("untruth")


def _past_wrong(sentence: Sentence, start: int) -> int:
    """The place behind a number or a letter that is denied behind it, where another one follows: "20 değil 18", AではなくD."""
    denials = [
        cue.stop
        for cue in sentence.cues
        if cue.kind is Kind.WRONG
        and start < cue.first <= start + 2
        and cue.stop < len(sentence.words)
        and not joins(sentence.words[cue.first - 1])
    ]
    stop = max(denials, default=start)
    stop = sentence.past_cue(sentence.past(stop, _CLAUSES), Kind.BUT) if denials else stop
    is_swap = start < stop < len(sentence.words) and _is_label(sentence, start) and _is_label(sentence, stop)
    return stop if is_swap else start


def _is_label(sentence: Sentence, index: int) -> bool:
    """Whether a word is a number or a capital letter."""
    word = sentence.words[index]
    return word.text[0].isdigit() or (len(word.text) == 1 and sentence.text[word.start].isupper())


def _restated(sentence: Sentence, denied: int) -> list[int]:
    """The places where a clause behind a denial states the answer instead: "is not 15, it's 12"."""
    phrase = sentence.words
    return [
        cue.stop
        for cue in sentence.cues
        if cue.kind is Kind.IS
        and cue.first > denied + 2
        and phrase[cue.first - 2].text in _CLAUSES
        and phrase[cue.first - 1].text.isalpha()
        and begins_value(sentence, cue.stop)
    ]


_CLAUSES = frozenset(",;—–，；、")


def _answer_start(sentence: Sentence, noun: Cue) -> tuple[int, bool] | None:
    """The word behind which an announcement ends, and whether it has a verb; None if it announces nothing."""
    phrase, index = sentence.words, noun.stop
    if any(
        cue.kind in (Kind.IS, Kind.CHOOSE) and noun.first <= cue.first and cue.stop == index for cue in sentence.cues
    ):
        index += index < len(phrase) and phrase[index].text in ":："
        is_label = index < len(phrase) and sentence.text[phrase[index].start : phrase[index].end].isupper()
        return (index, True) if is_label else None
    while index < len(phrase):
        if (stop := sentence.past_cue(index, Kind.IS)) > index:
            if phrase[index].text == "'s" and not begins_value(sentence, stop):
                return None
            if stop < len(phrase) and phrase[stop].text in ",，" and (position := _aside(sentence, stop)) is not None:
                stop = position
            value = stop
            while value < len(phrase) and phrase[value].text in adverbs():
                value += 1
            stop = value if begins_value(sentence, value) else stop
            return (stop + 1, True) if stop < len(phrase) and phrase[stop].text in ":：" else (stop, True)
        if phrase[index].text in ":：=—" or (phrase[index].text in "-–" and index > noun.stop - 1):
            is_arrow = phrase[index].text in "=—-–"
            return sentence.past(index + 1, _ARROWS) if is_arrow else index + 1, False
        if sentence.past_cue(index, Kind.NOT) > index:
            return index, True
        if (led := sentence.past_cue(index, Kind.RIGHT, Kind.BAD)) > index:
            index = led
        elif phrase[index].text in _CLOSING:
            index += 1
        elif (position := _aside(sentence, index)) is not None:
            index = position
        else:
            break
    if index >= len(phrase):
        return (index, False) if sentence.skipped(noun.first) == 0 and "\n" in sentence.stop else None
    is_marked = phrase[index - 1].text == "】"
    is_plain = index == noun.stop and (begins_value(sentence, index) or _has_no_verb(sentence, noun))
    if sentence.skipped(noun.first) == 0 and (is_marked or (is_plain and not sentence.is_named(index, index + 1))):
        return index, False
    return (index, True) if _is_inverted(sentence, noun) and begins_value(sentence, index) else None


def _is_inverted(sentence: Sentence, noun: Cue) -> bool:
    """Whether a conclusion puts the verb before the noun, as Germanic languages do: "Also lautet die Antwort …"."""
    verb = sentence.ends_in(sentence.skipped(noun.first), Kind.IS)
    return verb is not None and sentence.ends_in(verb.first, Kind.SO) is not None


def _has_no_verb(sentence: Sentence, noun: Cue) -> bool:
    """Whether a sentence is a noun and one word, in a language that needs no verb between them: "Cevap evet"."""
    phrase = sentence.words
    return len(phrase) == noun.stop + 1 and phrase[noun.stop - 1].text not in alone(Kind.ANSWER, "en")


def begins_value(sentence: Sentence, index: int) -> bool:
    """Whether a word may begin a value: a number, a formula, a capital, another script."""
    if index >= len(sentence.words):
        return False
    word = sentence.words[index]
    return (
        word.text[0].isdigit()
        or word.text in "$\\(-−+"
        or not word.text.isascii()
        or sentence.text[word.start].isupper()
    )


_ARROWS = frozenset("=>")
_CLOSING = frozenset("\"'”’)]】»」")


def _aside(sentence: Sentence, index: int) -> int | None:
    """The end of a complement or an aside: "to the question", ", in this case,", "(in cm)"; None if there is none."""
    phrase = sentence.words
    word = phrase[index].text
    if sentence.past_cue(index, Kind.COMPLEMENT) > index:
        for stop in range(index + 1, min(len(phrase), index + _MAX_ASIDE_WORDS)):
            if phrase[stop].text in ":：=" or sentence.past_cue(stop, Kind.IS) > stop:
                return stop
            if phrase[stop].text in ".;":
                return None
        return None
    closing = {",": ",", "(": ")", "，": "，"}.get(word)
    if closing is None:
        return None
    is_choice = False
    for stop in range(index + 1, min(len(phrase), index + _MAX_ASIDE_WORDS)):
        is_choice = is_choice or sentence.past_cue(stop, Kind.OR) > stop
        if phrase[stop].text == closing:
            # The task's own choice, as in "the answer (Yes or No) is No"; a value stands behind it.
            is_told = word == "(" and (sentence.begins(stop + 1, Kind.IS) or sentence.shown(stop + 1, stop + 2) == ":")
            return stop + 1 if is_told or not is_choice else None
    return None


_MAX_ASIDE_WORDS = 18
