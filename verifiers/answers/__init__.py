r"""The one place of answer extraction: which part of a response is its answer.

    response ──segment──► the text after thinking ──readers, channels in order──► offers ──commitment──► one answer

*Final segment* (segment). Text after the last closing think tag, without the chat tokens a tokenizer leaves at the end.
Thinking that was opened and never closed is a truncated response: nothing in it is an answer.

*HTML* (markup). Those who judge what words mean look at a text without the tags that are mere emphasis, and without what
is struck out.

*Channels* (channels; parameters: what a caller may ask for; readers: which module finds the offers of which channel).
The first channel that is used at all decides. An explicit channel that is used badly (an empty or unclosed last box, an
answer tag never closed) gives no answer; it never makes an earlier number one.

    tags, json_fields    <answer>…</answer>, {"answer": …}       statements    what the last sentence states
    boxes, neighbours    \boxed{…}, and what stands beside it    last_number   the last number that stands alone
    hashes               #### …                                    ├ numerals    how a number is written
    lines, triggers      "The final answer is …"                   ├ roles       labels and bounds are none
    bare                 nothing but an answer                     └ doubt       nor is what is denied or asked

*Context.* What stands beside an offer can unmake it. A box with a factor, sign, bound or function, or one that is asked
about or taken back, is no answer (`2\boxed{21}`, "\boxed{42} is wrong"); a unit directly behind it belongs to it. An
answer line that denies or doubts, with no number after it, ends the search. A last number counts where a sentence
states it: not where it is denied, asked, supposed, a label, a bound or a part of an expression.

*Commitment* (commitment, links). Several different offers in one channel: a later one corrects an earlier one. Offers
made in one breath do not commit to any ("\boxed{1} or \boxed{2}", boxes side by side, three in a short run):
`conflicting_answers`, whatever the policy; nor do offers made for one case each, or with "maybe". Boxes linked by "and"
or a comma are parts of one answer, given as "a, b", or as "x=a, y=b" if each has a name. `on_conflict="reject"` accepts
no two different offers at all. What directly follows an answer may correct it in no channel's form (corrections: "Wait, it's
13."); those who judge what words mean take neither. How sure a response says it is ("12 (confidence: 95%)") is no part of its answer
for those who ask (confidence).

Every step is linear in the length of the response, whatever is in it, and looks at the last `MAX_OFFERS` offers of a
channel. The regular expressions here hold no nested or unbounded-then-unbounded repetition.
"""

from collections.abc import Sequence
from typing import Literal

from verifiers.answers.channels import DEFAULT_CHANNELS, MATH_CHANNELS, Channel
from verifiers.answers.citations import without_citations, without_citations_at_end
from verifiers.answers.commitment import candidates, commit
from verifiers.answers.confidence import without_confidence
from verifiers.answers.corrections import uncorrected
from verifiers.answers.courtesies import without_courtesy
from verifiers.answers.extraction import Candidate, Extraction, Reason
from verifiers.answers.folding import fold
from verifiers.answers.lines import read_lines
from verifiers.answers.links import names_alternatives
from verifiers.answers.markup import without_html, without_struck
from verifiers.answers.numerals import NUMBER, last_digit_end
from verifiers.answers.offers import MAX_OFFERS
from verifiers.answers.parameters import ExtractionParams, OnConflict, Think
from verifiers.answers.readers import READERS, READERS_IF_NAMED
from verifiers.answers.segment import Segment, final_segment
from verifiers.answers.triggers import ANSWER_STEMS, OTHER_ANSWER_STEMS, announces

__all__ = [
    "ANSWER_STEMS",
    "DEFAULT_CHANNELS",
    "MATH_CHANNELS",
    "MAX_OFFERS",
    "NUMBER",
    "OTHER_ANSWER_STEMS",
    "Candidate",
    "Channel",
    "Extraction",
    "ExtractionParams",
    "OnConflict",
    "Reason",
    "Segment",
    "Think",
    "announced",
    "announces",
    "extract",
    "final_segment",
    "fold",
    "last_digit_end",
    "names_alternatives",
    "uncorrected",
    "without_citations",
    "without_citations_at_end",
    "without_confidence",
    "without_courtesy",
    "without_html",
    "without_struck",
]


def extract(
    response: str,
    params: ExtractionParams,
    auto: Sequence[Channel] = DEFAULT_CHANNELS,
    segment: Segment | None = None,
) -> Extraction:
    """Find the answer. Never raises; `auto` is the order of channels for `extract="auto"`; `segment`: the final one of
    the response, for callers who have looked for it.
    """
    segment = segment or final_segment(response, params.think)
    if segment.reason != "found":
        return Extraction(None, None, None, segment.reason)
    readers = READERS if params.extract == "auto" else READERS_IF_NAMED
    end = segment.end
    for channel in _channels(params.extract, auto):
        if end == segment.end and channel in _SAID_LAST:
            end = without_courtesy(response, segment.start, end)
        offers = readers[channel](response, segment.start, end if channel in _SAID_LAST else segment.end)
        if offers.reason is None and not offers.items:
            continue
        return commit(response, channel, offers, params.on_conflict)
    return Extraction(None, None, None, "no_answer")


_SAID_LAST = frozenset([Channel.BARE, Channel.FINAL_STATEMENT, Channel.LAST_NUMBER, Channel.LAST_LINE])
"""Channels that look at the last thing a response says, or at whether it says anything else."""


def announced(text: str, stems: Sequence[int] | None = None) -> Sequence[Candidate]:
    """What the answer lines of a final segment offer, of which nothing is chosen; `stems`: where `ANSWER_STEMS` are, for
    callers who have looked and know that there are none of `OTHER_ANSWER_STEMS`.
    """
    return candidates(text, Channel.ANSWER_LINE, read_lines(text, 0, len(text), stems))


def _channels(wanted: Literal["auto"] | Channel | tuple[Channel, ...], auto: Sequence[Channel]) -> Sequence[Channel]:
    if isinstance(wanted, Channel):
        return (wanted,)
    return wanted if isinstance(wanted, tuple) else auto
