r"""Answer extraction: finds the part of a response that is its answer. No other module does this.

    response ──segment──► the text after thinking ──readers, channels in order──► offers ──commitment──► one answer

*Final segment* (segment). The final segment is the text after the last closing think tag, without the chat tokens that
a tokenizer leaves at the end. A response whose thinking was opened and never closed is truncated: nothing in it is an
answer.

*HTML* (markup). Verifiers that judge the meaning of words remove the tags that only add emphasis, and all text that is
struck out. A call that gives an answer, such as `Finish[Paris]` on a line of its own, is read as an answer line.

*Channels* (channels; `parameters` holds what a caller may ask for; `readers` maps each channel to its reader). The
first channel that the response uses decides. If an explicit channel is used badly (an empty or unclosed last box, an
answer tag that is never closed), there is no answer. An earlier number does not become the answer in its place.

    tags, json_fields    <answer>…</answer>, {"answer": …}       statements    what the last sentence states
    boxes, neighbours    \boxed{…}, and what stands beside it    last_number   the last number that stands alone
    hashes               #### …                                    ├ numerals    how a number is written
    lines, triggers      "The final answer is …"                   ├ roles       labels and bounds are none
    bare                 nothing but an answer                     └ doubt       nor is what is denied or asked
    ending               what a caller reads, at the end

*Context.* The text beside an offer can make it invalid. A box with a factor, sign, bound or function is not an answer
(`2\boxed{21}`), nor is a box that the text asks about or takes back ("\boxed{42} is wrong"). A unit directly behind a
box belongs to it. An answer line that denies or doubts, with no number after it, ends the search. A last number counts
if a sentence states it. It does not count if it is denied, asked, supposed, a label, a bound or a part of an
expression.

*Commitment* (commitment, links). If one channel holds several different offers, a later one corrects an earlier one.
Offers that follow each other directly do not commit to any of them ("\boxed{1} or \boxed{2}", boxes side by side, three
in a short run). The result is `conflicting_answers`, whatever the policy. Offers for one case each, or with "maybe", do
not commit either. Boxes linked by "and" or a comma are parts of one answer. It is written as "a, b", or as "x=a, y=b"
if each box has a name. `on_conflict="reject"` never accepts two different offers. The text behind an answer may
take it back (retraction): what the rest of the text concludes is then the answer, or there is none. It may also put
another value in its place without the form of any channel ("Wait, it's 13."). Of values that only stand beside each
other ("Or 13.") verifiers that judge the meaning of words take neither. A statement of confidence ("12 (confidence: 95%)") is not part of the answer for verifiers that ask for
this (confidence).

*Mentions* (mentions). A caller who asks for reasons gets all that was read as a possible answer, with the stance that
decided about it. Readers note their decisions only for such a caller.

Every step is linear in the length of any response, and looks at the last `MAX_OFFERS` offers of a channel. The regular
expressions here hold no nested repetition, and no unbounded repetition directly behind another.
"""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from sandbox.workers import Task, worker_function
from verifiers import cldr
from verifiers.commitment.alternatives import alternative_to
from verifiers.commitment.announce import announcements, leads_in
from verifiers.commitment.asides import with_approximation, without_asides
from verifiers.commitment.behind import (
    Replacement,
    is_last,
    is_taken_back,
    replacement,
    stance_of_lead,
    taken_back_at,
    takes_back,
    trails_off,
)
from verifiers.commitment.breakdowns import without_breakdown
from verifiers.commitment.byname import INNER_BRACKET, concluded_at, denied_at, ends_in_result, leaves_open
from verifiers.commitment.channels import DEFAULT_CHANNELS, MATH_CHANNELS, Channel
from verifiers.commitment.citations import without_citations, without_citations_at_end
from verifiers.commitment.confidence import without_confidence
from verifiers.commitment.courtesies import without_courtesy
from verifiers.commitment.cues import Kind, words
from verifiers.commitment.ending import is_clause, same_truths, stated_at_end
from verifiers.commitment.extraction import Candidate, Extraction, Mentioned, Reason
from verifiers.commitment.figures import NUMBER, last_digit_end
from verifiers.commitment.folding import fold
from verifiers.commitment.groups import committed
from verifiers.commitment.json_fields import unescaped, without_other_fields
from verifiers.commitment.labels import names_several
from verifiers.commitment.lines import announced_last, clause_end, last_announced
from verifiers.commitment.links import names_alternatives
from verifiers.commitment.markup import without_html, without_struck
from verifiers.commitment.mentions import (
    Notes,
    judged_at,
    listening,
    mentions,
    note,
    note_offers,
    turned,
    without_answer,
)
from verifiers.commitment.names import holds_name, is_another_name
from verifiers.commitment.offers import MAX_OFFERS, NO_OFFERS, Offers
from verifiers.commitment.parameters import ExtractionParams, OnConflict, Think
from verifiers.commitment.readers import READERS, READERS_IF_NAMED
from verifiers.commitment.remarks import without_remark
from verifiers.commitment.roles import supposes
from verifiers.commitment.sayings import ABSENCES, in_signs
from verifiers.commitment.segment import Segment, final_segment
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import DENIES, Sentence, Stance, sentence_at
from verifiers.commitment.statements import narrowed, states_number
from verifiers.commitment.unreal import names_case, tells_other_case, without_case, without_unreal
from verifiers.numerals import parts

__all__ = [
    "ABSENCES",
    "DEFAULT_CHANNELS",
    "MATH_CHANNELS",
    "MAX_OFFERS",
    "NUMBER",
    "Candidate",
    "Channel",
    "Extraction",
    "ExtractionParams",
    "OnConflict",
    "Reason",
    "Segment",
    "Think",
    "alternative_to",
    "announced_last",
    "announcements",
    "corrected",
    "extract",
    "final_segment",
    "fold",
    "in_signs",
    "is_clause",
    "is_taken_back",
    "judged_at",
    "last_announced",
    "last_digit_end",
    "leads_in",
    "load",
    "names_alternatives",
    "names_several",
    "of_sentence",
    "same_truths",
    "says_what_is",
    "stated",
    "stated_at_end",
    "supposes",
    "takes_back",
    "tells_need",
    "turns_behind",
    "wavers",
    "without_answer",
    "without_citations",
    "without_citations_at_end",
    "without_confidence",
    "without_courtesy",
    "without_html",
    "without_other_fields",
    "without_struck",
]


def load() -> None:
    """Read the lexicons, and build the phrase finder and all tables of words.

    This takes more than half a second of CPU time, so it is done before any response.
    """
    for text in _LOADING:
        corrected(text, extract(text, ExtractionParams(), MATH_CHANNELS))
        without_breakdown(without_remark(with_approximation(without_asides(text))))
        without_confidence(text, 0, len(text))
        parts.in_figures(text, "")


_LOADING = (
    r"Then the answer is 5. So it is \boxed{5}, not 6. Wait, no, it's 7.",
    r"Put it in \boxed{}. The answer is 4... wait, 5 and 6. Hope this helps.",
    "She has at least 12 or 13 left in step 2, or 4 to 5 times 3.",
    r"I am 95% sure (confidence: 95%) that it is \boxed{12} times that, or 12",
    "It is 12. For n = 3, if we had ignored x, it would be 7 and a half.",
)
"""Texts that need all the tables."""


@worker_function
def load_in_worker(payload: None) -> None:
    """As `load`, for `LOAD`."""
    load()


LOAD = Task("verifiers.commitment", "load_in_worker", time_limit_s=5.0, warm=(None,))
"""Has workers forked from a process that has loaded everything. It is registered and never called."""


def says_what_is(text: str, start: int, span: Span) -> bool:
    """Whether the sentence of an answer has a verb of being, as "the line is x + y = 5" has, and "so x + y = 5" has not."""
    return Kind.IS in sentence_at(text, span[0], start, span[1]).kinds


def turns_behind(text: str, span: Span) -> bool:
    """Whether the sentence of an answer denies something, or turns from it, behind the answer: "5 or -1, but -1 fails"."""
    sentence = sentence_at(text, span[0], 0, len(text))
    return not Sentence(text, span[1], sentence.end, "").kinds.isdisjoint(DENIES | {Kind.BUT, Kind.BACK})


def tells_need(text: str, segment: Segment, span: Span) -> bool:
    """Whether a sentence says that at least or at most a number of something is needed: "at least 3 moves are needed".

    Things are counted. A quantity with a unit may be any greater one: "it takes at least 20 minutes".
    """
    unit = next(iter(words(text, span[1], min(segment.end, span[1] + _UNIT_CHARS))), None)
    is_counted = unit is None or unit.text.casefold() not in cldr.UNITS
    return is_counted and sentence_at(text, span[0], segment.start, segment.end).tells_need(span)


def extract(
    response: str,
    params: ExtractionParams,
    auto: Sequence[Channel] = DEFAULT_CHANNELS,
    segment: Segment | None = None,
    sent: str | None = None,
) -> Extraction:
    """Find the answer of a response. Never raises.

    `auto` is the order of channels for `extract="auto"`. `segment` is the final segment, if the caller has it already.
    With `sent`, the same response as it was sent, the extraction has its `mentions`.
    """
    segment = segment or final_segment(response, params.think)
    is_withdrawn = False
    if Channel.ANSWER_LINE in _channels(params.extract, auto):
        meant = unescaped(response)
        is_withdrawn, response = meant is not response and meant.isspace(), meant
    if sent is None:
        extraction = _standing(response, params, auto, segment, _extracted(response, params, auto, segment))
        return _without_answer(extraction) if is_withdrawn else extraction
    with listening(response) as notes:
        extraction = _standing(response, params, auto, segment, _extracted(response, params, auto, segment))
        _read_rest(response, segment, auto if params.extract == "auto" else (), notes)
    phrase = mentions(notes, (segment.start, segment.end), extraction)
    extraction = msgspec.structs.replace(extraction, mentions=phrase, sent=sent)
    return _without_answer(extraction) if is_withdrawn else extraction


def _without_answer(extraction: Extraction) -> Extraction:
    """The extraction of a response that was nothing but an object that takes its answer back."""
    phrase = without_answer(extraction.mentions)
    return msgspec.structs.replace(extraction, answer=None, span=None, reason="no_answer", mentions=phrase)


def _extracted(response: str, params: ExtractionParams, auto: Sequence[Channel], segment: Segment) -> Extraction:
    if segment.reason != "found":
        return Extraction(None, None, None, segment.reason)
    readers = READERS if params.extract == "auto" else READERS_IF_NAMED
    if params.extract is not Channel.WHOLE:
        segment = msgspec.structs.replace(segment, end=without_unreal(response, segment.start, segment.end))
    channels = _channels(params.extract, auto)
    if params.extract == "auto":
        segment = _without_case(response, segment, channels, params.on_conflict)
    end = segment.end
    if params.extract == "auto":
        extraction = _marked(response, segment, channels, params.on_conflict)
        if extraction is not None:
            return _alone_at_end(response, params, auto, segment, extraction) or extraction
        channels = [channel for channel in channels if channel not in _MARKS]
    for channel in channels:
        if end == segment.end and channel in _SAID_LAST:
            end = without_courtesy(response, segment.start, end)
        offers = readers[channel](response, segment.start, end if channel in _SAID_LAST else segment.end)
        note_offers(response, channel, offers)
        if offers.reason is None and not offers.items:
            continue
        return committed(response, channel, offers, params.on_conflict)
    return Extraction(None, None, None, "no_answer")


def _without_case(response: str, segment: Segment, channels: Sequence[Channel], on_conflict: OnConflict) -> Segment:
    """The segment without a last sentence that tells of another case than the mark before it: "For n = 3, the answer is 16."."""
    end = without_case(response, segment.start, segment.end)
    if end == segment.end:
        return segment
    shorter = msgspec.structs.replace(segment, end=end)
    extraction = _marked(response, shorter, channels, on_conflict)
    if extraction is None or extraction.answer is None or extraction.span is None:
        return segment
    return segment if names_case(response, extraction.span[0], end, extraction.answer) else shorter


def _alone_at_end(
    response: str, params: ExtractionParams, auto: Sequence[Channel], segment: Segment, extraction: Extraction
) -> Extraction | None:
    """The number or formula that is all of a last paragraph, behind an announcement in another; None if there is none."""
    is_open = extraction.channel is Channel.ANSWER_LINE and params.on_conflict != "reject"
    start = max(segment.start, segment.end - _MAX_ALONE_CHARS)
    last = _LAST_PARAGRAPH.search(response, start, segment.end) if is_open else None
    if last is None or (extraction.span is not None and extraction.span[1] > last.start()):
        return None
    remainder = msgspec.structs.replace(segment, start=last.start("value"))
    later = _extracted(response, params, auto, remainder)
    return later if later.answer is not None else None


_MAX_ALONE_CHARS = 120
_ALONE = rf"\*{{0,2}}(?:\${{1,2}}[^$\n]{{1,80}}\${{1,2}}|\\\[(?:(?!\\\]).){{1,80}}\\\]|{NUMBER})\*{{0,2}}"
_LAST_PARAGRAPH = re.compile(rf"(?<=[.!?。！？।؟])[^\S\n]{{0,4}}\n\s{{0,8}}\n\s{{0,8}}(?P<value>{_ALONE}\s{{0,8}})\Z")


def _standing(
    response: str, params: ExtractionParams, auto: Sequence[Channel], segment: Segment, extraction: Extraction
) -> Extraction:
    """The extraction, if the words before its mark and the text behind let it stand; else what follows a retraction."""
    if extraction.channel is None or extraction.span is None or params.extract is Channel.WHOLE:
        return extraction
    if extraction.channel in _FORMS and (lead := stance_of_lead(response, segment.start, extraction.span)) is not None:
        note(response, extraction.channel, extraction.span, lead)
        return msgspec.structs.replace(extraction, answer=None, span=None, reason="no_answer")
    if is_last(response, extraction.span[1]) and INNER_BRACKET.search(extraction.answer or "") is None:
        return extraction
    if extraction.channel in _MARKS and replacement(response, extraction.span[1], extraction.answer or "") is not None:
        return extraction
    if extraction.channel in _MARKS and leaves_open(response, extraction.span[1], extraction.answer or ""):
        return msgspec.structs.replace(extraction, answer=None, span=None, reason="conflicting_answers")
    stop = taken_back_at(response, extraction.span[1])
    is_gainsaid = stop is None and extraction.channel in _MARKS
    if is_gainsaid:
        stop = _gainsaid_at(response, extraction.span[1], extraction.answer or "", params.extract == "auto")
    if stop is None:
        return extraction
    note(response, extraction.channel, extraction.span, Stance.RETRACTED)
    remainder = msgspec.structs.replace(segment, start=max(segment.start, stop))
    later = _standing(response, params, auto, remainder, _extracted(response, params, auto, remainder))
    if later.span is not None and (
        later.channel in _STATES or _is_concluded(response, stop, later, is_result=is_gainsaid)
    ):
        return later
    reason: Reason = "no_answer" if extraction.channel is Channel.BOXED else "conflicting_answers"
    return msgspec.structs.replace(extraction, answer=None, span=None, reason=reason)


def _gainsaid_at(response: str, end: int, answer: str, is_auto: bool) -> int | None:
    """The place behind which the answer is given that the text puts in place of a mark's value; None if that stands."""
    stop = denied_at(response, end, answer)
    return concluded_at(response, end, answer) if stop is None and is_auto else stop


def _is_concluded(response: str, start: int, later: Extraction, *, is_result: bool) -> bool:
    """Whether a last number ends a sentence that concludes it ("So 48.", "6*8=48."), or is a line of its own.

    With `is_result`, the sentence is known to conclude.
    """
    if later.channel not in (Channel.LAST_NUMBER, Channel.BARE) or later.span is None:
        return False
    if not any(map(str.isdigit, later.answer or "")):
        return False
    if is_result:
        return True
    line = max(start, response.rfind("\n", start, later.span[0]) + 1)
    text = response[line : later.span[0]] + response[later.span[1] :].partition("\n")[0]
    if not any(map(str.isalnum, text)):
        return True
    sentence = sentence_at(response, later.span[0], start, len(response))
    first, stop = sentence.place(later.span)
    is_led = not _CONCLUDES.isdisjoint(sentence.kinds) or any(word.text == "=" for word in sentence.words[:first])
    if is_led and stop == len(sentence.words):
        return True
    return ends_in_result(sentence, first) and not any(word.text[0].isdigit() for word in sentence.words[:first])


_UNIT_CHARS = 40
_CONCLUDES = frozenset([Kind.SO, Kind.IS, Kind.IT])


def _marked(response: str, segment: Segment, channels: Sequence[Channel], on_conflict: OnConflict) -> Extraction | None:
    """The content of the last mark of any form among some channels; None if there is no mark.

    A mark inside another mark is a part of it. An announcement behind a mark counts if it holds another value.
    """
    used: list[tuple[int, Channel, Offers]] = []
    start = segment.start
    for channel in channels:
        if channel not in _MARKS:
            continue
        offers = READERS[channel](response, start, segment.end) if start < segment.end else NO_OFFERS
        note_offers(response, channel, offers)
        if offers.items or offers.reason is not None:
            last = offers.items[-1].outer_end if offers.reason is None else min(offers.at, segment.end)
            used.append((last, channel, offers))
            if channel is not Channel.ANSWER_LINE:
                start = max(start, last)
    if not used:
        return None
    first = used[0]
    for item in used[1:]:
        if item[0] > first[0] and _is_another(response, first[2], item[2], item[1]):
            first = item
    return committed(response, first[1], first[2], on_conflict)


def _read_rest(response: str, segment: Segment, auto: Sequence[Channel], notes: Notes) -> None:
    """Read the marks before the ones that decided, which were not read because they could not change anything."""
    indices = [offer.outer_start for _, offers in notes.offers for offer in offers.items]
    stop = min(indices, default=segment.start)
    for channel in [channel for channel in _MARKS if channel in auto and segment.start < stop]:
        note_offers(response, channel, READERS[channel](response, segment.start, stop))


def _is_another(response: str, offers: Offers, proposals: Offers, channel: Channel) -> bool:
    """Whether a later mark holds a value, and a different one than an earlier mark."""
    if not proposals.items or proposals.reason is not None:
        return False
    later = proposals.items[-1]
    if offers.items and offers.reason is None and later.outer_start < offers.items[-1].outer_end:
        return False
    if channel is not Channel.ANSWER_LINE:
        return True
    # "\\boxed{15} Without the restriction, the answer is 20": the mark is the answer.
    is_earlier = bool(offers.items) and offers.reason is None
    if is_earlier and tells_other_case(response, offers.items[-1].outer_end, (later.outer_start, later.start)):
        return False
    text = response[later.start : later.end]
    if is_earlier and holds_name(response, offers.items[-1]) and text[0].isalpha():
        return is_another_name(response, offers.items[-1], later)
    return any(char.isdigit() or char in "$\\" for char in text)


_MARKS = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE)
_FORMS = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4)
_STATES = frozenset([*_MARKS, Channel.FINAL_STATEMENT])
"""Channels in which a response says what its answer is, so that they may replace one that it takes back."""
_SAID_LAST = frozenset([Channel.BARE, Channel.FINAL_STATEMENT, Channel.LAST_NUMBER, Channel.LAST_LINE])
"""Channels that read the end of a response, or check that the response says nothing else."""


def stated(response: str, start: int, end: int) -> tuple[int, int]:
    """The span of the formula or number that a tag or an announcement holds."""
    if end - start > _MAX_STATED_CHARS or "\n" in response[start:end]:
        return start, end
    first, stop = narrowed(response, start, max(start, clause_end(Sentence(response, start, end, ""))))
    # "6 times as many as x": without the rest, the operator would be a noun.
    return (start, end) if stop < end and response.endswith(" times", first, stop) else (first, stop)


_MAX_STATED_CHARS = 400


def of_sentence(response: str, params: ExtractionParams, extraction: Extraction) -> Extraction:
    """The number of an announced sentence, as the sentence states it without the announcement: "Antwort: Marie hat 2 Hunde gekauft.".

    Only the one number of a sentence that ends the response, behind words, is read so; else the extraction stays as it is.
    """
    if extraction.channel is not Channel.ANSWER_LINE or extraction.span is None or params.extract != "auto":
        return extraction
    start, segment = extraction.span[0], final_segment(response, params.think)
    sentence = sentence_at(response, start, start, segment.end)
    is_ended = sentence.stop in _STOPS and last_digit_end(response, sentence.end, segment.end) is None
    if not is_ended or not states_number(Sentence(response, start, sentence.end, sentence.stop)):
        return extraction
    alone = msgspec.structs.replace(segment, start=start)
    later = _standing(response, params, _NUMBERS, alone, _extracted(response, params, _NUMBERS, alone))
    if later.answer is None or later.span is None:
        return extraction
    return msgspec.structs.replace(later, mentions=judged_at(extraction, later.span).mentions, sent=extraction.sent)


_NUMBERS = (Channel.LAST_NUMBER,)
_STOPS = frozenset(".。।۔!！")


def wavers(answer: str) -> bool:
    r"""Whether the content of a mark asks or doubts its own value: `12 \text{ maybe}`, "12, probably not", "12?"."""
    if len(answer) > _MAX_STATED_CHARS or not any(map(str.isalpha, answer)):
        return False
    return Sentence(answer, 0, len(answer), "").wavers()


def corrected(response: str, extraction: Extraction, on_conflict: OnConflict = "last") -> Extraction:
    """The extraction, changed by a correction directly behind the answer: another answer, or none if it is taken back.

    A correction must call the answer wrong and state another one ("Wait, no, it's 12."). "Or 12." leaves both standing.
    """
    for _ in range(_MAX_CORRECTIONS):
        if extraction.answer is None or extraction.span is None or is_last(response, extraction.span[1]):
            return extraction
        end = extraction.span[1]
        correction = replacement(response, end, extraction.answer) if extraction.channel in _MARKS else None
        is_doubted = extraction.channel in _MARKS and trails_off(response, extraction.span)
        if correction is None and not is_doubted and not is_taken_back(response, end):
            return extraction
        extraction = msgspec.structs.replace(extraction, mentions=_turned(extraction.mentions, correction))
        if correction is None or not correction.corrects or on_conflict == "reject":
            break
        extraction = msgspec.structs.replace(extraction, answer=correction.value, span=correction.span)
    phrase = without_answer(extraction.mentions)
    return msgspec.structs.replace(extraction, answer=None, span=None, reason="conflicting_answers", mentions=phrase)


def _turned(phrase: tuple[Mentioned, ...], replacement: Replacement | None) -> tuple[Mentioned, ...]:
    if replacement is None:
        return without_answer(phrase, Stance.RETRACTED)
    return turned(phrase, replacement.span, replacement.stance, corrects=replacement.corrects) if phrase else phrase


_MAX_CORRECTIONS = 3


def _channels(item: Literal["auto"] | Channel | tuple[Channel, ...], auto: Sequence[Channel]) -> Sequence[Channel]:
    if isinstance(item, Channel):
        return (item,)
    return item if isinstance(item, tuple) else auto
