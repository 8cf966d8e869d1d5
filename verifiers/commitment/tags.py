"""The channel `answer_tag`: the text between `<answer>` and `</answer>`."""

import re
from itertools import islice, pairwise

import msgspec

from verifiers.commitment.beside import read_beside
from verifiers.commitment.boxes import with_boxes
from verifiers.commitment.cues import listed, words
from verifiers.commitment.json_fields import json_answer
from verifiers.commitment.offers import MAX_OFFERS, NO_OFFERS, Offer, Offers, last_matches
from verifiers.commitment.spans import strip, trim, unwrap
from verifiers.commitment.wording import ends_in

_ANSWER_TAG = re.compile(r"<(/?)answer\s{0,4}>", re.IGNORECASE)
_MAX_ANSWER_TAG_CHARS = 16
_PLACEHOLDERS = ("...", "…")
"""Placeholders in tags that only show the form of an answer."""
_MENTION_CHARS = 24


def read_tags(text: str, start: int, end: int) -> Offers:
    """The content of the answer tags. A tag that is never closed makes the response truncated.

    A tag inside another divides it, and each part with content is an offer of its own. The nesting of tags never
    chooses the answer.
    """
    first = text.find("<", start, end)
    if first < 0:
        return NO_OFFERS
    last = min(end, text.rfind("<", start, end) + _MAX_ANSWER_TAG_CHARS)
    tags = last_matches(_ANSWER_TAG.finditer(text, first, last), 2 * MAX_OFFERS)
    if not tags:
        return NO_OFFERS
    offers: list[Offer] = []
    depth = 0
    for tag, following in pairwise(tags):
        closes, is_end = bool(tag[1]), bool(following[1])
        if not closes and not is_end and depth == 0 and _is_mentioned(text, tag):
            continue
        depth = max(depth - 1, 0) if closes else depth + 1
        origin, stop = strip(text, tag.end(), following.start())
        if following is not tags[-1] and text[origin:stop] in _PLACEHOLDERS:
            continue
        if depth and ((is_end and not closes) or (origin < stop and (is_end or not closes))):
            outer_end = following.end() if is_end else following.start()
            offers.append(Offer(*_tagged(text, origin, stop), tag.start(), outer_end))
    if not tags[-1][1]:
        return Offers(offers, "truncated")
    if offers:
        neighbour = read_beside(text, start, end, offers[-1])
        if neighbour.is_other:
            return Offers(offers, "no_answer", offers[-1].outer_end)
        offers[-1] = msgspec.structs.replace(offers[-1], before=neighbour.before, after=neighbour.after)
    return with_boxes(text, offers)


def _is_mentioned(text: str, tag: re.Match[str]) -> bool:
    """Whether the text only speaks about an opening tag: "in <answer> tags".

    The next tag behind it does not close it.
    """
    prefix = text[max(0, tag.start() - _MENTION_CHARS) : tag.start()].rstrip()
    if prefix.endswith(_QUOTES) or text.startswith(_QUOTES, tag.end()) or ends_in(prefix, "form", "mention"):
        return True
    if not prefix.isascii() and any(word.text in listed("mention") for word in words(prefix)[-_NEAR_WORDS:]):
        return True
    suffix = [
        word.text for word in words(text, tag.end(), tag.end() + _MENTION_CHARS) if word.text not in ("xml", "html")
    ]
    return bool(suffix) and (suffix[0] in listed("tag") or suffix[0] == "…" or suffix[:3] == ["."] * 3)


_QUOTES = ("`", '"', "'", "“", "‘", "”", "’")
_NEAR_WORDS = 5


def _tagged(text: str, start: int, end: int) -> tuple[int, int]:
    """The answer inside a tag, which may be marked a second time, as in `#### 18` or `{"answer": 18}`."""
    if text.startswith("####", start, end):
        return trim(text, start + 4, end)
    if text.endswith("}", start, end) and text.find("{", start, end) == start:
        fields = json_answer(text, start, end)
        return (start, end) if fields is None else (fields.start, fields.end)
    return unwrap(text, _last_stage(text, start, end), end)


_STAGE = re.compile(r"^[*_#\s-]{0,6}([^\W\d]{1,20})\s?(\d{1,2})[*_]{0,2}[:：.)][*_\s]{0,3}(?=\S)", re.MULTILINE)


def _last_stage(text: str, start: int, end: int) -> int:
    """The start of what the last of numbered steps gives, if nothing else is there: "Step 1: 3+4", "Step 2: 7"."""
    stages = list(islice(_STAGE.finditer(text[start:end]), MAX_OFFERS))
    rising = [int(stage[2]) for stage in stages] == list(range(1, len(stages) + 1))
    if len(stages) < 2 or not rising or any(stage[1].lower() not in listed("stage") for stage in stages):
        return start
    is_whole = stages[0].start() == 0 and "\n" not in text[start + stages[-1].end() : end].strip()
    return start + stages[-1].end() if is_whole else start
