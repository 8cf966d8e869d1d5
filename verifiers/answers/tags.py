"""The channel `answer_tag`: what stands between `<answer>` and `</answer>`."""

import re

from verifiers.answers.boxes import with_boxes
from verifiers.answers.json_fields import json_answer
from verifiers.answers.offers import MAX_OFFERS, NO_OFFERS, Offer, Offers, last_matches
from verifiers.answers.spans import strip, trim, unwrap

_ANSWER_TAG = re.compile(r"<(/?)answer\s{0,4}>", re.IGNORECASE)
_MAX_ANSWER_TAG_CHARS = 16


def read_tags(text: str, start: int, end: int) -> Offers:
    """What stands in the answer tags; one that is never closed is a truncated response."""
    first = text.find("<", start, end)
    if first < 0:
        return NO_OFFERS
    offers: list[Offer] = []
    opened: re.Match[str] | None = None
    stop = min(end, text.rfind("<", start, end) + _MAX_ANSWER_TAG_CHARS)
    for match in last_matches(_ANSWER_TAG.finditer(text, first, stop), 2 * MAX_OFFERS):
        if not match[1]:
            opened = match
        elif opened is not None:
            inner = _tagged(text, *strip(text, opened.end(), match.start()))
            offers.append(Offer(*inner, opened.start(), match.end()))
            opened = None
    if opened is not None:
        return Offers(offers, "truncated")
    return with_boxes(text, offers)


def _tagged(text: str, start: int, end: int) -> tuple[int, int]:
    """The answer inside a tag, which may be marked a second time, as in `#### 18` or `{"answer": 18}`."""
    if text.startswith("####", start, end):
        return trim(text, start + 4, end)
    if text.endswith("}", start, end) and text.find("{", start, end) == start:
        fields = json_answer(text, start, end)
        return (start, end) if fields is None else (fields.start, fields.end)
    return unwrap(text, start, end)
