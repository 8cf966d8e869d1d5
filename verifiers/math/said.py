"""Finds answers of one or two words, and times, that a response gives only in its last sentence: "so it is isosceles".

Only the reference shows which word of a sentence is the answer, as with the texts of options. The sentence has to state
that word: behind a verb or a conclusion, at its end or before a last noun, without a doubt, a question or an "or".
"""

import re
from collections.abc import Sequence

from verifiers.commitment import Extraction, ExtractionParams, final_segment
from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import UNMADE, Sentence, sentences
from verifiers.commitment.truths import judgement_of, truth
from verifiers.math.exact import unwrap
from verifiers.math.moments import time_of_day
from verifiers.math.words import as_words

_LEAST_CHARS = 4
"""Shorter words, such as "no" and "one", have too many meanings."""
_MOST_WORDS = 2
_VERBS = frozenset([Kind.IS, Kind.SO])
_OPEN = frozenset([Kind.OR, Kind.NOT, Kind.DOUBT, Kind.MAYBE, Kind.IF, Kind.SAID, Kind.WRONG, Kind.BUT, Kind.HAS])
_CHARS = 300


def said_last(response: str, references: Sequence[str], params: ExtractionParams, outcome: Extraction) -> Span | None:
    """The place of the reference that the last sentence states; None if another answer was found or marked."""
    wordings = [words for reference in references if (words := _words(reference)) is not None]
    is_circled = any(_CIRCLED.fullmatch(unwrap(reference)) for reference in references)
    is_time = any(len(reference) <= _CHARS and time_of_day(reference) for reference in references)
    if (
        not (wordings or is_time or is_circled)
        or outcome.channel is not None
        or outcome.reason != "no_answer"
        or params.extract != "auto"
    ):
        return None
    segment = final_segment(response, params.think)
    tail = list(sentences(response, max(segment.start, segment.end - _CHARS), segment.end))
    if not tail:
        return None
    if is_time and (time := _time(tail[-1])) is not None:
        return time
    if is_circled:
        return _circled(tail[-1])
    last = _without_contrast(tail[-1])
    return next(
        (answer for words in wordings if (answer := _judged(last, words) or _stated(last, words)) is not None), None
    )


def _circled(sentence: Sentence) -> Span | None:
    """The only circled numbers of a sentence, at its end and behind a verb: 其中正确的序号是①③."""
    runs = [*_CIRCLED.finditer(sentence.text, sentence.start, sentence.end)]
    if len(runs) != 1 or sentence.asks or not sentence.kinds.isdisjoint((_OPEN | {Kind.BAD}) - {Kind.HAS}):
        return None
    first, stop = sentence.place(runs[0].span())
    is_led = any(cue.kind in (Kind.IS, Kind.SO, Kind.HAS) and cue.stop <= first for cue in sentence.cues)
    return runs[0].span() if is_led and sentence.ends(stop) else None


_CIRCLED = re.compile(r"[①-⑳](?:[、，,和 ]?[①-⑳]){0,19}")


def _without_contrast(sentence: Sentence) -> Sentence:
    """The sentence before a denial of something else: "It's an ellipse" of "It's an ellipse, not a hyperbola"."""
    commas = [cue.first - 1 for cue in sentence.cues if cue.kind is Kind.NOT and cue.first > 1]
    place = next((at for at in commas if sentence.words[at].text == ","), None)
    return (
        sentence
        if place is None
        else Sentence(sentence.text, sentence.start, sentence.words[place].start, sentence.stop)
    )


def _judged(sentence: Sentence, target: Sequence[str]) -> Span | None:
    """The place of true or false in a sentence that says this of a statement, and nothing else: "The claim is false"."""
    value = truth(target[0]) if len(target) == 1 else None
    if value is None or sentence.asks or judgement_of(sentence) is not value:
        return None
    said = [word for word in sentence.words if word.text == target[0]]
    return (said[-1].start, said[-1].end) if said else None


def _words(reference: str) -> list[str] | None:
    node = as_words(unwrap(reference)) if len(reference) <= _CHARS else None
    words = str(node.leaf).split() if node is not None and len(str(node.leaf)) >= _LEAST_CHARS else []
    return words if 0 < len(words) <= _MOST_WORDS and all(map(str.isalpha, words)) else None


def _time(sentence: Sentence) -> Span | None:
    """The time of the day in words that ends a sentence: "it ends at half past three in the afternoon"."""
    if sentence.asks or not _OPEN.isdisjoint(sentence.kinds):
        return None
    for start in range(1, len(sentence.words)):
        first = sentence.words[start].start
        time_text = sentence.text[first : sentence.end].rstrip(" .!")
        if sentence.ends_in(start, *_LEADS_TO_TIME) is not None and time_of_day(time_text) is not None:
            return first, first + len(time_text)
    return None


_LEADS_TO_TIME = frozenset([Kind.IS, Kind.AT])


def _stated(sentence: Sentence, target: Sequence[str]) -> Span | None:
    sentence_words = [word.text for word in sentence.words]
    if sentence.asks or not _OPEN.isdisjoint(sentence.kinds) or any(word[0].isdigit() for word in sentence_words):
        return None
    if (subject := _subject(sentence, target)) is not None:
        return subject
    end = len(sentence_words) - (not sentence_words[-1][0].isalnum()) if sentence_words else 0
    for stop in (end, end - 1):
        first = stop - len(target)
        if first > 0 and sentence_words[first:stop] == target:
            span = sentence.words[first].start, sentence.words[stop - 1].end
            return span if _is_led(sentence, first) and sentence.stance(span) not in UNMADE else None
    return None


def _subject(sentence: Sentence, target: Sequence[str]) -> Span | None:
    """A name behind a conclusion that is called the one that was asked for: "so Alice is the tallest"."""
    first = sentence.past_cue(0, Kind.SO)
    first += first < len(sentence.words) and sentence.words[first].text == ","
    stop = first + len(target)
    verb = sentence.past_cue(stop, Kind.IS)
    if not first or [word.text for word in sentence.words[first:stop]] != list(target) or verb == stop:
        return None
    span = sentence.words[first].start, sentence.words[stop - 1].end
    is_the_one = verb < len(sentence.words) and sentence.words[verb].text in listed("determiners")
    is_the_one = is_the_one and sentence.text[span[0]].isupper()
    return span if is_the_one and sentence.stance(span) not in UNMADE else None


def _is_led(sentence: Sentence, first: int) -> bool:
    """Whether one verb with a short subject, or a conclusion, leads to a word; otherwise the sentence is about more."""
    verbs = [cue for cue in sentence.cues if cue.kind in _VERBS and cue.stop <= first]
    copulas = [cue for cue in verbs if cue.kind is Kind.IS]
    if not verbs or len(copulas) > 1:
        return False
    lead = copulas[0].first if copulas else first
    concluded = max((cue.stop for cue in verbs if cue.kind is Kind.SO), default=0)
    is_sought = any(cue.kind is Kind.FIND and cue.first < lead for cue in sentence.cues)
    return lead - concluded <= _MOST_SUBJECT_WORDS and not is_sought


_MOST_SUBJECT_WORDS = 4
