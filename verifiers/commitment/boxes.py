r"""The channel `boxed`: the content of `\boxed{…}` and similar commands, with matched braces and boxes inside boxes.

The text beside a box also decides whether it is the answer: neighbours.py.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from verifiers.commitment.behind import is_denied
from verifiers.commitment.beside import PLAIN, read_beside
from verifiers.commitment.extraction import Reason
from verifiers.commitment.links import Link, link_of_offers
from verifiers.commitment.neighbours import is_spoken_of, stands_alone, with_name
from verifiers.commitment.offers import MAX_OFFERS, NO_OFFERS, Offer, Offers
from verifiers.commitment.spans import strip, unwrap
from verifiers.commitment.stance import sentence_at

_BOX_OPENING = re.compile(r"(?:\s{0,8}\[[^\]\n]{0,40}\]){0,2}\s{0,8}\{")
_BOX_BARE = re.compile(r"\s{0,8}((?:[-+−]?\d|\\[A-Za-z])[^\s$]{0,200}|[A-Za-z](?![A-Za-z]))")
_COMMAND = r"(?:[A-Za-z]{0,8}boxed|fbox|framebox)"
r"""Any command that ends in `boxed`: models garble it, as in `\beginboxed{5}`."""
_PLAIN_BOX = re.compile(rf"\\{_COMMAND}\{{([^{{}}\\]{{0,200}})\}}")
_FORMULA_OPENS = re.compile(r"(?:\\[(\[]|(?<!\\)\$)[^$]{0,40}\Z")
_MAX_OPENING = 42
"""The characters that it reads."""
_BRACES = re.compile(rf"(?P<box>\\{{1,2}}{_COMMAND}(?![A-Za-z]))|\\[^A-Za-z]|(?P<open>\{{+)|(?P<close>\}}+)")


def with_boxes(text: str, offers: Sequence[Offer]) -> Offers:
    """The same offers, each narrowed to the boxes inside it. The last one decides whether there is an answer."""
    items: list[Offer] = []
    reason: Reason | None = None
    for offer in offers:
        proposals = read_boxes(text, offer.start, offer.end)
        reason = proposals.reason or ("no_answer" if offer.start == offer.end else None)
        if reason is None and not proposals.items:
            items.append(offer)
        elif reason is None:
            first, last = proposals.items[0], proposals.items[-1]
            items.extend(proposals.items)
            items[-len(proposals.items)] = msgspec.structs.replace(first, outer_start=offer.outer_start)
            items[-1] = msgspec.structs.replace(items[-1], outer_end=max(offer.outer_end, last.outer_end))
    return Offers(items, reason)


@dataclass(slots=True)
class _OpenBox:
    depth: int
    outer_start: int
    start: int


def read_boxes(text: str, start: int, end: int) -> Offers:
    """The closed boxes outside any other closed box. A box that holds only another box is replaced by that box."""
    offers, boxes = _closed_and_open(text, start, end)
    if boxes and (not offers or boxes[-1].outer_start > offers[-1].outer_start):
        return Offers(offers, "truncated")
    if offers and offers[-1].start >= offers[-1].end:
        while offers and offers[-1].start >= offers[-1].end and is_spoken_of(text, start, offers[-1]):
            offers.pop()
        if offers and offers[-1].start >= offers[-1].end:
            return Offers([box for box in offers if box.start < box.end], "no_answer")
    if not offers:
        return NO_OFFERS
    last = offers[-1].outer_end
    if len(offers) > 1:
        offers = _usable(text, start, end, offers)
    neighbour = read_beside(text, start, end, offers[-1]) if offers else PLAIN
    if not offers or neighbour.is_other or not stands_alone(text, start, end, offers[-1], neighbour):
        return Offers(offers, "no_answer", last)
    if neighbour is not PLAIN:
        offers[-1] = msgspec.structs.replace(offers[-1], before=neighbour.before, after=neighbour.after)
    return Offers(offers)


def _closed_and_open(text: str, start: int, end: int) -> tuple[list[Offer], list[_OpenBox]]:
    """The closed boxes outside any other closed box, and the boxes that are never closed."""
    indices = _box_commands(text, start, end)
    if not indices:
        return [], []
    commands = iter(indices)
    position = next(commands)
    offers: list[Offer] = []
    boxes: list[_OpenBox] = []
    if len(indices) == 1 and (plain := _PLAIN_BOX.match(text, position, end)):
        _close(text, offers, _OpenBox(1, position, plain.start(1)), plain.end(1))
        return offers, boxes
    depth = 0
    while match := _BRACES.search(text, position, end):
        position = match.end()
        kind = match.lastgroup
        if kind == "box":
            if opening := _BOX_OPENING.match(text, position, end):
                depth, position = depth + 1, opening.end()
                boxes.append(_OpenBox(depth, match.start(), position))
            elif bare := _BOX_BARE.match(text, position, end):
                stop = bare.start(1) + len(bare[1].rstrip(".,;:!?)*。，"))
                position = max(stop, bare.start(1) + 1)
                offers.append(Offer(bare.start(1), stop, match.start(), stop))
            elif not _has_text_after(text, position, end):
                boxes.append(_OpenBox(depth + 1, match.start(), end))
        elif kind == "open":
            depth += position - match.start()
        elif kind == "close":
            after = max(depth - position + match.start(), 0)
            while boxes and boxes[-1].depth > after:
                box = boxes.pop()
                _close(text, offers, box, match.start() + depth - box.depth)
            depth = after
        if not boxes:
            if len(indices) == 1:
                break
            # The text between two boxes, with its braces, belongs to neither box.
            depth, following = 0, next((command for command in commands if command >= position), None)
            if following is None:
                break
            position = _command_start(text, position, following)
    return offers, boxes


def _usable(text: str, start: int, end: int, boxes: Sequence[Offer]) -> list[Offer]:
    """The boxes that hold something, with their names. The last one must not be called wrong."""
    filled = [box for box in boxes if box.start < box.end]
    denied = [box for box in filled[-_MAX_JUDGED:] if is_denied(text, start, (box.outer_start, box.outer_end), end)]
    if denied and denied[-1] is filled[-1] and not _is_contrast(filled):
        denied.pop()
    elif denied and denied[-1] is filled[-2] and _is_range(text, start, end, *filled[-2:]):
        denied.append(filled[-1])
    return [with_name(text, start, box) for box in filled if box not in denied]


def _is_contrast(boxes: Sequence[Offer]) -> bool:
    """Whether the last box only holds what the answer is not: "12, not 15"."""
    return len(boxes) > 1 and boxes[-1].outer_start - boxes[-2].outer_end <= _MAX_CONTRAST_CHARS


def _is_range(text: str, start: int, end: int, low: Offer, high: Offer) -> bool:
    """Whether two boxes are the ends of a range: "between 3 and 4"."""
    sentence = sentence_at(text, low.outer_start, start, end)
    is_joined = link_of_offers(text, low.outer_end, high.outer_start) is Link.PARTS
    return is_joined and sentence.bounds((low.outer_start, low.outer_end))


_MAX_CONTRAST_CHARS = 24
_MAX_JUDGED = 8


def _box_commands(text: str, start: int, end: int) -> list[int]:
    """The places where the last boxes may begin: the last backslash before each `box`."""
    if text.find("\\", start, end) < 0:
        return []
    indices: list[int] = []
    at = end
    for _ in range(MAX_OFFERS):
        at = text.rfind("box", start, at)
        if at < 0:
            break
        _, backslash, name = text[max(start, at - _MAX_NAME_CHARS) : at].rpartition("\\")
        if backslash and (name in ("", "f", "frame") or (name.isalpha() and text.startswith("boxed", at))):
            indices.append(at - len(name) - 1)
    return indices[::-1]


_MAX_NAME_CHARS = 9


def _command_start(text: str, start: int, last_backslash: int) -> int:
    """The start of a command.

    Backslashes in a row are read as pairs; the last pair, or the odd one, is the command's.
    """
    first = last_backslash
    while first > start and text[first - 1] == "\\":
        first -= 1
    return last_backslash - (last_backslash - first) % 2


def _has_text_after(text: str, position: int, end: int) -> bool:
    r"""Whether any text follows a bare `\boxed`. If so, the text speaks about boxes; if not, the box was cut off."""
    return strip(text, position, end)[0] < end


def _close(text: str, offers: list[Offer], box: _OpenBox, stop: int) -> None:
    """Add a closed box. One that holds a text, with boxes in formulas of its own, is replaced by those boxes."""
    proposals: list[Offer] = []
    while offers and offers[-1].outer_start > box.outer_start:
        proposals.append(offers.pop())
    if any(
        _FORMULA_OPENS.search(text, max(box.start, proposal.outer_start - _MAX_OPENING), proposal.outer_start)
        for proposal in proposals
    ):
        offers += proposals[::-1]
        return
    start, end = box.start, stop
    if start == end or not (text[start].isalnum() and text[end - 1].isalnum()):
        start, end = unwrap(text, *strip(text, start, end))
    if len(proposals) == 1 and (proposals[0].outer_start, proposals[0].outer_end) == (start, end):
        start, end = proposals[0].start, proposals[0].end
    offers.append(Offer(start, end, box.outer_start, stop + 1, stop + 1))
