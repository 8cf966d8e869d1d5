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
        return min(around, key=lambda item: item[0])[1] if around else None


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


def mentions(notes: Notes, segment: Span, extraction: Extraction) -> tuple[Mentioned, ...]:
    """The mentions that were read for an extraction, in order."""
    candidates: list[Mentioned] = []
    for channel, offers in notes.offers:
        is_number = channel is Channel.LAST_NUMBER
        spans = [(offer.start, offer.end) for offer in offers.items[-(_MAX_NUMBERS if is_number else MAX_MENTIONS) :]]
        for span in spans:
            stance = notes.stance(channel, span)
            if stance is None and is_number:
                stance = _in_sentence(notes.text, segment, span, spans)
            candidates.append(Mentioned(span, stance or _STANCES.get(channel, Stance.STATED), channel))
    candidates += [Mentioned(span, stance, channel) for (channel, span), stance in notes.stances.items()]
    return in_order([*_answers(candidates, extraction), *candidates])


def _in_sentence(text: str, segment: Span, span: Span, spans: Sequence[Span]) -> Stance:
    """The stance of its sentence towards a number that did not decide, as it is the last one that counts."""
    sentence = sentence_at(text, span[0], *segment)
    extents = [extent for extent in spans if extent != span and sentence.start <= extent[0] < sentence.end]
    return sentence.stance(span, extents)


def _answers(mentions: Sequence[Mentioned], extraction: Extraction) -> Sequence[Mentioned]:
    """The mention that is the answer, or those that are its parts. What was not judged has the stance of its channel."""
    if extraction.span is None or extraction.channel is None:
        return ()
    first, stop = extraction.span
    usual = _STANCES.get(extraction.channel, Stance.STATED)
    candidates = [
        mention for mention in mentions if mention.channel == extraction.channel and first <= mention.span[0] < stop
    ]
    candidates = [mention if mention.stance not in UNMADE else _with(mention, stance=usual) for mention in candidates]
    if len({mention.span for mention in candidates}) > 1:
        return [_with(mention, is_answer=True) for mention in candidates]
    return [
        Mentioned(extraction.span, candidates[-1].stance if candidates else usual, extraction.channel, is_answer=True)
    ]


_with = msgspec.structs.replace


def in_order(mentions: Iterable[Mentioned]) -> tuple[Mentioned, ...]:
    """The last mentions in the order of the text. Of mentions that overlap, the first given one is kept."""
    candidates: list[Mentioned] = []
    for mention in mentions:
        index = bisect_left(candidates, mention.span, key=lambda rival: rival.span)
        is_free = index == len(candidates) or mention.span[1] <= candidates[index].span[0]
        if (
            is_free
            and mention.span[0] < mention.span[1]
            and (not index or candidates[index - 1].span[1] <= mention.span[0])
        ):
            candidates.insert(index, mention)
    answers = [mention for mention in candidates[:-MAX_MENTIONS] if mention.is_answer]
    return (*answers, *candidates[len(answers) - MAX_MENTIONS :])


def turned(mentions: Sequence[Mentioned], span: Span, stance: Stance, *, corrects: bool) -> tuple[Mentioned, ...]:
    """The mentions after the text has turned from the answer to another value, at `span`.

    A value that `corrects` is the answer in its place; otherwise both stand, and there is none.
    """
    mention = next((candidate for candidate in mentions if candidate.is_answer), None)
    old = without_answer(mentions, Stance.RETRACTED if corrects else None)
    if mention is None:
        return old
    return in_order([Mentioned(span, stance, mention.channel, corrects), *old])


def without_answer(mentions: Sequence[Mentioned], stance: Stance | None = None) -> tuple[Mentioned, ...]:
    """The mentions with none as the answer. `stance` is what becomes of the stance towards the answer before."""
    return tuple(
        [
            _with(mention, is_answer=False, stance=stance or mention.stance) if mention.is_answer else mention
            for mention in mentions
        ]
    )


def judged_at(extraction: Extraction, span: Span) -> Extraction:
    """The extraction, whose answer among the mentions is at another place: what of its text, or around it, is judged."""
    if extraction.sent is None:
        return extraction
    mention = next((candidate for candidate in extraction.mentions if candidate.is_answer), None)
    answer = Mentioned(span, mention.stance if mention else Stance.STATED, extraction.channel or "", is_answer=True)
    rivals = [candidate for candidate in extraction.mentions if not candidate.is_answer]
    return _with(extraction, mentions=in_order([answer, *rivals]))


def moved(mentions: Sequence[Mentioned], by: int) -> tuple[Mentioned, ...]:
    """The mentions of a part of a text, as places of the whole text; the part begins at `by`."""
    return tuple([_with(mention, span=(mention.span[0] + by, mention.span[1] + by)) for mention in mentions])
