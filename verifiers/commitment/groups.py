"""Chooses the answer among the offers of the deciding channel, if the response commits to one."""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from verifiers import numerals
from verifiers.commitment.channels import Channel
from verifiers.commitment.extraction import MAX_CANDIDATES, Candidate, Extraction
from verifiers.commitment.folding import fold
from verifiers.commitment.links import Link, link_of_numbers, link_of_offers, names_alternatives
from verifiers.commitment.neighbours import SPAN_ENDS, unit_behind
from verifiers.commitment.offers import Offer, Offers
from verifiers.commitment.parameters import OnConflict
from verifiers.numerals.spelling import MAX_CHARS

_FLOOD = 3
_SPACE = re.compile(r"\s+|\\[,;:! ]|\$")


def candidates(text: str, channel: Channel, offers: Offers) -> tuple[Candidate, ...]:
    """The last offers of a channel."""
    last = offers.items[-MAX_CANDIDATES:]
    return tuple([Candidate(text[item.start : item.end], channel, (item.start, item.end)) for item in last])


def committed(text: str, channel: Channel, offers: Offers, on_conflict: OnConflict) -> Extraction:
    """The answer among the offers of the deciding channel, or the reason why there is none."""
    items = offers.items
    texts = candidates(text, channel, offers)
    if offers.reason is not None:
        return Extraction(None, channel, None, offers.reason, texts)
    if len(items) == 1 and channel is not Channel.ANSWER_LINE:
        is_plain = not items[0].box_end or text.startswith(SPAN_ENDS, items[0].box_end)
        if is_plain or _unit(text, items[0]) is None:
            return Extraction(_written(text, items[0]), channel, texts[0].span, "found", texts)
    group, conflicting = _last_group(text, items, link_of_numbers if channel is Channel.LAST_NUMBER else link_of_offers)
    if conflicting or (channel is Channel.ANSWER_LINE and names_alternatives(texts[-1].text)):
        return Extraction(None, channel, None, "conflicting_answers", texts)
    if on_conflict == "reject" and _has_others(text, items, group):
        return Extraction(None, channel, None, "conflicting_answers", texts)
    unit = _unit(text, group[-1])
    end = group[-1].end if unit is None else unit[1]
    return Extraction(_joined(text, group), channel, (group[0].start, end), "found", texts)


def _joined(text: str, group: Sequence[Offer]) -> str:
    """The parts of an answer joined, with their units; several parts also keep their names, if each has one.

    Parts with only a comma between them stay as they are: they may be a decimal.
    """
    if len(group) == 2 and text[group[0].end : group[1].start] == ",":
        return text[group[0].start : group[0].end] + "," + _written(text, group[1])
    has_name = len(group) > 1 and all(offer.name for offer in group)
    return ", ".join((f"{offer.name}=" if has_name else "") + _written(text, offer) for offer in group)


def _written(text: str, offer: Offer) -> str:
    unit = _unit(text, offer)
    suffix = offer.after if unit is None else text[slice(*unit)]
    return f"{offer.before}{text[offer.start : offer.end]}{suffix}"


def _unit(text: str, offer: Offer) -> tuple[int, int] | None:
    """The percent sign, degree sign or unit directly behind a box, which belongs to the answer."""
    return unit_behind(text, offer.box_end, len(text)) if offer.box_end else None


def _last_group(
    text: str, items: Sequence[Offer], link_of: Callable[[str, int, int], Link]
) -> tuple[Sequence[Offer], bool]:
    """The offers that make up the last answer, and whether they are alternatives rather than parts."""
    if len(items) == 1:
        return items, False
    offers = [items[-1]]
    breath = {_key(text, items[-1])}
    run = set(breath)
    in_parts = in_breath = True
    for earlier, later in zip(items[-2::-1], items[:0:-1], strict=True):
        link = link_of(text, earlier.outer_end, later.outer_start)
        if link is Link.APART or len(run) >= _FLOOD:
            break
        run |= set() if link is Link.PARTS else {_key(text, earlier)}
        in_breath = in_breath and link is not Link.NEAR
        in_parts = in_parts and link is Link.PARTS
        if in_parts:
            offers.append(earlier)
        elif in_breath:
            breath |= {_key(text, earlier)}
    if len({_key(text, part) for part in offers}) == 1:
        offers = offers[:1]
    return offers[::-1], len(breath) > 1 or len(run) >= _FLOOD


def _has_others(text: str, items: Sequence[Offer], group: Sequence[Offer]) -> bool:
    keys = {_key(text, item) for item in group}
    return any(_key(text, item) not in keys for item in items)


def _key(text: str, offer: Offer) -> str:
    """The key of an offer: two offers with the same characters, apart from layout, have the same key, and so have 47, 47.0 and "forty-seven"."""
    bare = _SPACE.sub(" ", fold(text[offer.start : offer.end])).strip(_EDGES)
    value = Fraction(bare) if _NUMBER.fullmatch(bare) else numerals.value(bare) if len(bare) <= MAX_CHARS else None
    return bare.replace(" ", "") if value is None else f"={value}"


_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40}|/[1-9]\d{0,40})?")
_EDGES = " .\"'“”*"
