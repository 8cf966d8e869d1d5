"""The channel `hash4`: the rest of a line behind `####`, as in GSM8K, unless it is a heading."""

import re

from verifiers.commitment.boxes import with_boxes
from verifiers.commitment.offers import NO_OFFERS, Offer, Offers, last_matches
from verifiers.commitment.spans import strip, trim

_HASH4 = re.compile(r"####(?<!#####)(?!#)[ \t]{0,8}([^\n]*)")
"""Exactly four signs. The pattern begins with them, so that the engine finds them quickly."""
_NUMBERED_HEADING = re.compile(r"\d{1,3}[.)、:]\s+\S")
_STARTS_AS_NUMBER = re.compile(r"[-+−$€£¥\\({*\s]{0,6}\d")


def read_hashes(text: str, start: int, end: int, headings: bool = False) -> Offers:
    """The rest of each line behind `####`.

    Unless `headings` is set, a line that looks like a Markdown heading is skipped.
    """
    if text.find("#", start, end) < 0 or (first := text.find("####", start, end)) < 0:
        return NO_OFFERS
    offers: list[Offer] = []
    for match in last_matches(_HASH4.finditer(text, first, end)):
        span = trim(text, match.start(1), match.end(1))
        is_last = match.end() == end or strip(text, match.end(), end)[0] == end
        if headings or is_last or _is_value(match[1]):
            offers.append(Offer(*span, match.start(), match.end()))
    return with_boxes(text, offers)


def _is_value(line: str) -> bool:
    return _STARTS_AS_NUMBER.match(line) is not None and _NUMBERED_HEADING.match(line) is None
