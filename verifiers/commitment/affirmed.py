"""The way in which a text names something: it affirms it, denies it, says it of somebody else, or leaves a choice open.

A caller knows which words name a thing and where they stand; what the text says of it is decided here. "Mark Twain did not write it"
and "Mark Twain no lo escribió" do not name Mark Twain: a denied verb denies its subject.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Literal

from verifiers.commitment.behind import is_affirmed, is_taken_back, replacement
from verifiers.commitment.contrasts import ends_in_denial
from verifiers.commitment.cues import Kind, cues, kinds, languages, listed, phrases, words
from verifiers.commitment.language import languages_of
from verifiers.commitment.opinions import possessives
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import DENIES, UNMADE, Sentence, Stance, sentence_at, sentences
from verifiers.commitment.wording import single

Outcome = Literal["found", "absent", "denied", "several_candidates"]
OPPOSITE = {"yes": "no", "no": "yes"}
_GOES_ON = frozenset([Kind.JOINS, Kind.OR, Kind.COMPLEMENT])
_LIMITS = frozenset([Kind.BOUND, Kind.ASIDE])
_MOST_WORDS = 16
"""The largest number of words of an answer that is only names."""
_MAX_VERB_WORDS = 3
_MAX_LAST_WORDS = 12
"""The words, or characters of a script without spaces, from a mention to the verb that ends its sentence."""
_PAUSES = frozenset(",;:，；：、—–(（")


def affirms(text: str, span: Span, name: str) -> Outcome:
    """The way in which a text names something at a place: it affirms it, denies it, or leaves a choice open."""
    sentence = _without_quotes(sentence_at(text, span[0], 0, len(text)), span)
    if _is_asked(sentence) and "?" not in name:
        return "denied"
    if is_taken_back(text, span[1]) or replacement(text, span[1], text[slice(*span)]) is not None:
        return "denied"
    stance = sentence.stance(span)
    is_told = (stance is Stance.SUPPOSED and _is_at_a_time(sentence, span)) or (
        stance is Stance.ATTRIBUTED and sentence.is_sourced
    )
    if stance in UNMADE and not sentence.asks and not is_told:
        return "denied"
    first, stop = sentence.place(span)
    if _is_denied_subject(sentence, first, stop) or _is_compared(sentence, first):
        return "denied"
    if name[:1].isdigit() and (sentence.ends_in(first, *_LIMITS) is not None or sentence.begins(stop, Kind.LIMIT)):
        return "denied"
    if any(cue.first >= stop and sentence.words[cue.first].text in listed("likewise") for cue in sentence.also()):
        return "several_candidates"
    is_open = not any(cue.kind is Kind.OR for cue in cues(words(name))) and _is_a_choice(sentence, first, stop)
    if is_open and not (text[span[0]].islower() and _is_named(sentence, first)):
        return "several_candidates"
    return "found"


def names(text: str, name: str) -> bool:
    """Whether a name stands in a text, and the text does not deny all places where it stands: "the number is not 42"."""
    places = islice(re.finditer(re.escape(name), text), _MOST_PLACES)
    return any(affirms(text, place.span(), name) != "denied" for place in places)


_MOST_PLACES = 64


def _is_compared(sentence: Sentence, first: int) -> bool:
    """Whether something else is compared with a mention: "Ohio has won more games than Michigan"; not "none is older than X"."""
    previous = sentence.skipped(first)
    than = sentence.words[previous - 1].text if previous else ""
    is_more = any((word.text, than) in _comparisons() for word in sentence.words[: max(0, previous - 1)])
    return is_more and DENIES.isdisjoint(sentence.kinds)


@cache
def _comparisons() -> frozenset[tuple[str, str]]:
    """The words on both sides of what is compared, in all languages: "more" and "than"."""
    entries = [entry for lexicon in languages().values() if "than" in lexicon for entry in lexicon[Kind.BOUND]]
    items = [phrase.split() for entry in entries for phrase in phrases(entry)]
    plain = listed("than") - single(Kind.COMPLEMENT)  # "la città più grande di Francia" compares nothing.
    return frozenset((texts[0], texts[1]) for texts in items if len(texts) == _PAIR and texts[1] in plain)


_PAIR = 2


def _is_named(sentence: Sentence, first: int) -> bool:
    """Whether a verb of naming leads to a mention, so that an "or" only joins two words for it: "is called deposition or
    desublimation".
    """
    verbs = [cue for cue in sentence.cues if cue.kind is Kind.IS and cue.stop <= first]
    cues = [cue for cue in verbs if sentence.words[cue.stop - 1].text in listed("naming")]
    return any(first - cue.stop <= _MAX_NAME_WORDS for cue in cues)


_MAX_NAME_WORDS = 5
_QUOTED = re.compile(r"\"[^\"\n]{1,120}\"|“[^”\n]{1,120}”|(?<![^\W_])'[A-Z][^'\n]{1,120}'(?![^\W_])")
_TITLE = re.compile(r"(?<=[^\W_] )(?:[A-Z][a-z]{1,15} ){1,4}[A-Z][a-z]{1,15}")
"""Words with capitals that do not begin a sentence: "I Can Only Imagine"."""


def _without_quotes(sentence: Sentence, span: Span) -> Sentence:
    """The sentence without the words of titles that a mention is not part of: "Call Me Maybe" doubts nothing."""
    text, start, end = sentence.text, sentence.start, sentence.end

    def masked(quoted: re.Match[str]) -> str:
        is_apart = start + quoted.end() <= span[0] or span[1] <= start + quoted.start()
        return quoted[0][0] + "z" * (len(quoted[0]) - 2) + quoted[0][-1] if is_apart else quoted[0]

    display = text[start:end]
    display = _TITLE.sub(masked, _QUOTED.sub(masked, display))
    return Sentence(text[:start] + display + text[end:], start, end, sentence.stop)


def _is_at_a_time(sentence: Sentence, span: Span) -> bool:
    """Whether what is supposed before a mention is only a time, or the mention is an example: "when it fell", "such as X"."""
    supposed = [cue for cue in sentence.cues if cue.kind is Kind.IF and cue.stop <= sentence.place(span)[0]]
    texts = [sentence.words[cue.first].text for cue in supposed]
    is_told = all(word in listed("temporal") or word in listed("examples") for word in texts)
    is_led = sentence.ends_in(sentence.skipped(sentence.place(span)[0]), Kind.IS) is not None
    is_real = is_led or _conditionals(sentence).isdisjoint(word.text for word in sentence.words)
    return bool(supposed) and is_told and is_real and _UNSURE.isdisjoint(sentence.kinds)


def _conditionals(sentence: Sentence) -> frozenset[str]:
    """The words for what would be in the language of a sentence; the Danish one for a town is an English word."""
    terms = languages_of(sentence.text[sentence.start : sentence.end]) or languages().keys()
    return frozenset(word for language in terms for word in languages()[language].get("conditional", ()))


_UNSURE = frozenset([Kind.MAYBE, Kind.DOUBT, Kind.SAID, Kind.NOT])


def is_stuffed(answer: str) -> bool:
    """Whether an answer is stuffed with many words that form no statement."""
    phrase = words(answer[:_LOOKED_THROUGH_CHARS])
    return len(phrase) > _MOST_WORDS and not any(cue.kind in _TELLING for cue in cues(phrase)) and answer.isascii()


_LOOKED_THROUGH_CHARS = 600
_TELLING = kinds("is the so because aside joins answer at complement")


def _is_asked(sentence: Sentence) -> bool:
    """Whether a sentence asks a question that is not answered by yes."""
    opens = [word.text for word in sentence.words[:2]]
    is_turned = len(opens) == 2 and opens[0] in listed("asks") and opens[1] in listed("pronouns")
    return (sentence.asks or is_turned) and not is_affirmed(sentence.text, sentence.end, len(sentence.text))


def _is_a_choice(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether an "or" offers an alternative beside a mention."""
    end = sentence.past(stop, frozenset("\"'”’)»,("))
    previous = sentence.skipped(first)
    texts = [word.text for word in sentence.words]
    if texts[end : end + 1] == ["/"] or texts[previous - 1 : previous] == ["/"]:
        return True
    if any(
        cue.kind is Kind.MAYBE and cue.first == end > stop and sentence.text[sentence.words[cue.stop].start].isupper()
        for cue in sentence.cues
        if cue.stop < len(texts)
    ):
        return True
    if len(texts) <= _SHORT_WORDS and any(
        word in _PLAIN_OR for word in (*texts[end : end + 1], *texts[previous - 1 : previous])
    ):
        return True
    for cue in sentence.cues:
        if cue.kind is not Kind.OR:
            continue
        if cue.first == end and not any(
            bound.kind is Kind.BOUND and bound.first <= cue.stop for bound in sentence.cues if bound.first == cue.stop
        ):
            return True
        if cue.stop == previous or texts[cue.stop : previous] == ["."]:
            return True
    return False


def is_short(word: str) -> bool:
    """Whether a word is one of the short ones that stand between others in every sentence: "in", "and", "und"."""
    return word in listed("short")


def is_or(text: str) -> bool:
    """Whether a text between two names is nothing but an "or", quotes and brackets."""
    phrase = words(text)
    return any(cue.kind is Kind.OR and cue.first == 0 and cue.stop == len(phrase) for cue in cues(phrase)) or (
        len(phrase) == 1 and phrase[0].text in _PLAIN_OR
    )


_SHORT_WORDS = 6
_PLAIN_OR = single(Kind.OR) - {"of", "からか", "か", "から"}
"""Words for "or" that need no other word of their language in a short answer; the Dutch one is an English word, too."""


_SLASHED = re.compile(r"\s/\s|[A-Z][a-z]{2,}/[A-Z][a-z]{2,}")


def leaves_open(text: str) -> bool:
    """Whether a short text leaves a choice open: "Paris or Rome", "Paris ou Rome", "Paris / Rome"."""
    if _SLASHED.search(text):
        return True
    all_sentences = list(sentences(text, 0, len(text)))
    cues = [cue for sentence in all_sentences for cue in sentence.cues]
    hedges = [cue for cue in cues if cue.kind is Kind.MAYBE]
    is_plain = any(
        len(sentence.words) <= _SHORT_WORDS and any(word.text in _PLAIN_OR for word in sentence.words[1:-1])
        for sentence in all_sentences
    )
    return is_plain or any(cue.kind is Kind.OR for cue in cues) or len(hedges) > 1


def asks(text: str) -> bool:
    """Whether a text is one sentence, and asks: "Paris?"."""
    return text.rstrip(_CLOSES_QUESTION).endswith(_QUESTIONS) and len(list(sentences(text, 0, len(text)))) == 1


_QUESTIONS, _CLOSES_QUESTION = ("?", "？", "؟"), " .!*_\"'”’)"


def is_denial(text: str) -> bool:
    """Whether a short text only says what the answer is not: "not 4", "It wasn't 4.", "4 değil"."""
    sentence = Sentence(text, 0, len(text), "")
    if sentence.kinds.isdisjoint(_DENIALS) or Kind.BUT in sentence.kinds:
        return False
    is_told = Kind.BOUND not in sentence.kinds and ". " not in text
    start = sentence.past_cue(0, Kind.IT) if is_told else 0
    return sentence.begins(start, Kind.NOT) or any(
        cue.kind is Kind.WRONG and cue.first and sentence.ends(cue.stop) for cue in sentence.cues
    )


_DENIALS = frozenset([Kind.NOT, Kind.WRONG])


def describes(text: str) -> bool:
    """Whether a text behind a name only describes it: ", the capital of France", ", which lies on the Seine"."""
    return Sentence(text, 0, len(text), "").begins(0, *_DESCRIBES)


_DESCRIBES = frozenset([Kind.THE, Kind.BECAUSE])


def denies_at(text: str, index: int) -> bool:
    """Whether the words before a place deny what stands there: "no dog at [1, 2, 3, 4]"."""
    sentence = sentence_at(text, index, max(0, index - _DENIAL_CHARS), index + 1)
    return sentence.stance((index, index + 1)) is Stance.DENIED


_DENIAL_CHARS = 80


def says_truth(answer: str, reference: str) -> Outcome:
    """The way in which an answer states a yes or a no. It may not state both, and "no idea" is neither."""
    terms = set(_truths(answer))
    if reference not in terms:
        return "absent"
    return "several_candidates" if OPPOSITE[reference] in terms else "found"


def _truths(answer: str) -> Iterator[str]:
    """The words yes and no that stand alone: before a sign, or at an end of the text."""
    for sentence in sentences(answer, 0, len(answer)):
        for index, word in enumerate(sentence.words):
            if word.text in OPPOSITE and (sentence.ends(index + 1) or sentence.begins(index + 1, *_GOES_ON)):
                yield word.text


def _is_denied_subject(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether a mention is the subject of a verb that is denied; `first` and `stop` are the places of its words."""
    start = sentence.skipped(first)
    if start and sentence.words[start - 1].text in _PAUSES:
        return _is_denied_verb(sentence, stop)
    if start:
        is_last = len(sentence.words) - stop <= _MAX_LAST_WORDS and _ends_in_denial(sentence, stop)
        return is_last or _is_relative_of(sentence, start, stop, is_before=True)
    is_denied = _is_denied_verb(sentence, stop) or _has_denial(sentence, stop) or _ends_in_denial(sentence, stop)
    return is_denied or _refuses(sentence, stop) or _is_relative_of(sentence, stop, stop, is_before=False)


def _refuses(sentence: Sentence, stop: int) -> bool:
    """Whether its verb refuses or denies the deed asked for: "X refused to write it", "X denied doing that"."""
    texts = [word.text for word in sentence.words[stop:]]
    return len(texts) > 2 and texts[0] in listed("refuses") and texts[-1] in listed("subjects")


def _is_relative_of(sentence: Sentence, index: int, stop: int, *, is_before: bool) -> bool:
    """Whether the subject is somebody related to a mention: "X's brother wrote it", "the brother of X wrote it"; not
    "X's father is Y".
    """
    phrase = sentence.words
    if is_before:
        start = sentence.past_cue(0, Kind.THE)
        if index - start != 2 or phrase[start].text not in listed("kin") or phrase[index - 1].text not in listed("of"):
            return False
    else:
        if index >= len(phrase) or phrase[index].text not in possessives() or index + 1 >= len(phrase):
            return False
        kin = next((size for size in (1, 2) if sentence.shown(index + 1, index + 1 + size) in listed("kin")), 0)
        stop = index + 1 + kin
        if not kin:
            return False
    end = sentence.past_cue(stop, Kind.IS)
    is_name = end > stop and end < len(phrase) and sentence.text[phrase[end].start].isupper()
    return stop < len(phrase) and phrase[stop].text not in _PAUSES and not is_name


def _is_denied_verb(sentence: Sentence, stop: int) -> bool:
    """Whether its verb is denied: "X did not write it", "X is not the capital"; not "X, not Y" nor "X wrote it, not Y"."""
    denials = [cue for cue in sentence.cues if cue.kind is Kind.NOT and cue.first >= stop]
    denial = next((cue for cue in denials if not sentence.is_beyond(cue)), None)
    if denial is None or denial.first - stop > _MAX_VERB_WORDS:
        return False
    between, suffix = sentence.words[stop : denial.first], sentence.words[denial.stop : denial.stop + 1]
    if not all(word.text[-1].isalpha() or word.text in "'’" for word in between):
        return False
    if not suffix or sentence.text[suffix[0].start].isupper() or sentence.begins(denial.stop, Kind.ONLY):
        return False
    is_description = bool(between) and sentence.begins(stop, Kind.IS)
    if not is_description or suffix[0].text == "the":
        return True
    # "X was not involved", but not "Paris is not an island", which only describes it.
    ends = any(sentence.ends(denial.stop + size) for size in range(1, _MAX_PREDICATE_WORDS + 1))
    return ends and not sentence.begins(denial.stop, Kind.THE)


_MAX_PREDICATE_WORDS = 2


def _has_denial(sentence: Sentence, stop: int) -> bool:
    """Whether a word that denies verbs stands beside it: "X no lo escribió", "X ne l'a pas écrit", "X skrev det inte"."""
    phrase = sentence.words
    for index in range(stop, min(stop + _MAX_VERB_WORDS, len(phrase))):
        word = phrase[index].text
        if word in _PAUSES or word[0].isdigit():
            return False
        is_clear = len(word) >= _CLEAR_LETTERS or not word.isascii()
        is_beside = index == stop or is_clear or index == len(phrase) - 1
        if word in listed("verb_denials") and is_beside and not sentence.begins(index + 1, Kind.ONLY):
            successor = next((other for other in phrase[index + 1 :] if other.text not in "'’"), None)
            return successor is None or (successor.text[0].isalpha() and not sentence.text[successor.start].isupper())
    return False


_CLEAR_LETTERS = 4
"""Shorter words that deny are other words in other languages: "no", "ne", "ei"."""


def _ends_in_denial(sentence: Sentence, stop: int) -> bool:
    """Whether the verb comes last and denies: "X bunu yazmadı", それを書いていません."""
    phrase = sentence.words[stop:]
    if not phrase or not _PAUSES.isdisjoint(word.text for word in phrase):
        return False
    return ends_in_denial(sentence.text[phrase[0].start : sentence.end])
