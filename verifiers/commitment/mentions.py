"""The mentions by which a response was judged, each with its stance, for callers that ask why.

Readers of channels and judges of sentences `note` what they decide while a caller listens. A mention so has the stance
that decided about it, and nothing is kept if nobody listens.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from verifiers.commitment.channels import Channel
from verifiers.commitment.extraction import Extraction, Mentioned
from verifiers.commitment.offers import Offers
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import UNMADE, Stance, sentence_at

MAX_MENTIONS = 100
"""The mentions of a response that are shown, counted from the end."""
_MAX_NUMBERS = 32
"""The numbers before the last one whose sentences are judged."""
_STANCES = {
    Channel.ANSWER_TAG: Stance.MARKED,
    Channel.BOXED: Stance.MARKED,
    Channel.HASH4: Stance.MARKED,
    Channel.ANSWER_LINE: Stance.ANNOUNCED,
}
"""The stances of offers that nothing is noted of; those of other channels are stated."""


class Notes:
    """What was decided about the mentions of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stances: dict[tuple[Channel, Span], Stance] = {}
        self.offers: list[tuple[Channel, Offers]] = []

    def stance(self, channel: Channel, span: Span) -> Stance | None:
        """The stance noted of the offer of a channel, or of the text around it. A box may stand in any channel."""
        around = [
            (end - start, stance)
            for (noted, (start, end)), stance in self.stances.items()
            if noted in (channel, Channel.BOXED) and start <= span[0] and span[1] <= end
        ]
        return min(around, key=lambda each: each[0])[1] if around else None


_notes: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def listening(text: str) -> Iterator[Notes]:
    """Have all that is noted of a text kept."""
    notes = Notes(text)
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def note(text: str, channel: Channel, span: Span, stance: Stance) -> None:
    """Keep the stance towards a mention, if somebody listens to this text."""
    notes = _notes.get()
    if notes is not None and notes.text is text and span[0] < span[1]:
        notes.stances[channel, span] = stance


def is_heard(text: str) -> bool:
    """Whether somebody listens to this text."""
    notes = _notes.get()
    return notes is not None and notes.text is text


def note_offers(text: str, channel: Channel, offers: Offers) -> None:
    """Keep the offers that a channel found, if somebody listens to this text."""
    notes = _notes.get()
    if notes is not None and notes.text is text:
        notes.offers.append((channel, offers))


def mentions(notes: Notes, segment: Span, found: Extraction) -> tuple[Mentioned, ...]:
    """The mentions that were read for an extraction, in order."""
    said: list[Mentioned] = []
    for channel, offers in notes.offers:
        is_number = channel is Channel.LAST_NUMBER
        spans = [(each.start, each.end) for each in offers.items[-(_MAX_NUMBERS if is_number else MAX_MENTIONS) :]]
        for span in spans:
            stance = notes.stance(channel, span)
            if stance is None and is_number:
                stance = _in_sentence(notes.text, segment, span, spans)
            said.append(Mentioned(span, stance or _STANCES.get(channel, Stance.STATED), channel))
    said += [Mentioned(span, stance, channel) for (channel, span), stance in notes.stances.items()]
    return in_order([*_answers(said, found), *said])


def _in_sentence(text: str, segment: Span, span: Span, spans: Sequence[Span]) -> Stance:
    """The stance of its sentence towards a number that did not decide, as it is the last one that counts."""
    sentence = sentence_at(text, span[0], *segment)
    others = [each for each in spans if each != span and sentence.start <= each[0] < sentence.end]
    return sentence.stance(span, others)


def _answers(said: Sequence[Mentioned], found: Extraction) -> Sequence[Mentioned]:
    """The mention that is the answer, or those that are its parts. What was not judged has the stance of its channel."""
    if found.span is None or found.channel is None:
        return ()
    first, stop = found.span
    usual = _STANCES.get(found.channel, Stance.STATED)
    parts = [each for each in said if each.channel == found.channel and first <= each.span[0] < stop]
    parts = [each if each.stance not in UNMADE else _with(each, stance=usual) for each in parts]
    if len({each.span for each in parts}) > 1:
        return [_with(each, is_answer=True) for each in parts]
    return [Mentioned(found.span, parts[-1].stance if parts else usual, found.channel, is_answer=True)]


_with = msgspec.structs.replace


def in_order(said: Iterable[Mentioned]) -> tuple[Mentioned, ...]:
    """The last mentions in the order of the text. Of mentions that overlap, the first given one is kept."""
    kept: list[Mentioned] = []
    for each in said:
        place = bisect_left(kept, each.span, key=lambda other: other.span)
        is_free = place == len(kept) or each.span[1] <= kept[place].span[0]
        if is_free and each.span[0] < each.span[1] and (not place or kept[place - 1].span[1] <= each.span[0]):
            kept.insert(place, each)
    answers = [each for each in kept[:-MAX_MENTIONS] if each.is_answer]
    return (*answers, *kept[len(answers) - MAX_MENTIONS :])


def turned(said: Sequence[Mentioned], span: Span, stance: Stance, *, corrects: bool) -> tuple[Mentioned, ...]:
    """The mentions after the text has turned from the answer to another value, at `span`.

    A value that `corrects` is the answer in its place; otherwise both stand, and there is none.
    """
    before = next((each for each in said if each.is_answer), None)
    old = without_answer(said, Stance.RETRACTED if corrects else None)
    if before is None:
        return old
    return in_order([Mentioned(span, stance, before.channel, corrects), *old])


def without_answer(said: Sequence[Mentioned], stance: Stance | None = None) -> tuple[Mentioned, ...]:
    """The mentions with none as the answer. `stance` is what becomes of the stance towards the answer before."""
    return tuple(
        [_with(each, is_answer=False, stance=stance or each.stance) if each.is_answer else each for each in said]
    )


def judged_at(found: Extraction, span: Span) -> Extraction:
    """The extraction, whose answer among the mentions is at another place: what of its text, or around it, is judged."""
    if found.sent is None:
        return found
    before = next((each for each in found.mentions if each.is_answer), None)
    answer = Mentioned(span, before.stance if before else Stance.STATED, found.channel or "", is_answer=True)
    others = [each for each in found.mentions if not each.is_answer]
    return _with(found, mentions=in_order([answer, *others]))


def moved(said: Sequence[Mentioned], by: int) -> tuple[Mentioned, ...]:
    """The mentions of a part of a text, as places of the whole text; the part begins at `by`."""
    return tuple([_with(each, span=(each.span[0] + by, each.span[1] + by)) for each in said])
