r"""Finds an answer of several parts where only a reference with as many parts says that all of them are asked for.

Part (a): \boxed{5}   Part (b): \boxed{7}      boxes of numbered parts
The answer is 5 or -1.                         alternatives, which otherwise commit to none
x = 5 ⏎ y = 7      (a) 5 ⏎ (b) 7               the last lines
"""

import re
from collections.abc import Sequence, Set
from typing import NamedTuple

from memory import remember
from verifiers.commitment import Channel, Extraction, names_alternatives, turns_behind
from verifiers.math.exact import unwrap
from verifiers.math.words import LABELS, labelled_parts

_LABEL = re.compile(r"(?<![^\s*(\[#])\(?(?P<label>[a-h]|[1-9]|i{1,3}|iv)\)?\s?(?:[).:]|\*\*)")
_APART = re.compile(r"[,;]\s|\s?\\quad\s?")
_BEFORE_CHARS = 2_000


class Parts(NamedTuple):
    """The parts of an answer as a list, and their place."""

    text: str
    span: tuple[int, int]


def of_parts(response: str, extraction: Extraction, references: Sequence[str]) -> Parts | None:
    """The parts of an answer that has as many as a reference; else None."""
    boxes = extraction.candidates
    if extraction.reason == "conflicting_answers" or extraction.channel in (None, *_UNMARKED):
        sizes = _sizes(tuple(references))
        return (_alternatives(response, extraction, sizes) or _lines(response, sizes)) if sizes else None
    if extraction.channel is not Channel.BOXED or extraction.answer is None or len(boxes) < 2:
        return None
    labels, end = [], 0
    for box in boxes:
        text = response[max(end, box.span[0] - _BEFORE_CHARS) : box.span[0]]
        labels.append(next((found["label"] for found in reversed([*_LABEL.finditer(text)])), None))
        end = box.span[1]
    count = len(labels)
    if not any(tuple(labels) == of_kind[:count] for of_kind in LABELS):
        return None
    if any((parts := labelled_parts(unwrap(reference))) and len(parts) == count for reference in references):
        text = " ".join(f"({label}) {box.text}" for label, box in zip(labels, boxes, strict=True))
    elif count in _sizes(tuple(references)):
        text = ", ".join(box.text for box in boxes)
    else:
        return None
    return Parts(text, (boxes[0].span[0], boxes[-1].span[1]))


@remember(256)
def _sizes(references: Sequence[str]) -> frozenset[int]:
    """The numbers of values of the references that are lists."""
    plain = [unwrap(text) for text in references if "(" not in text and len(text) <= _BEFORE_CHARS]
    return frozenset(2 if names_alternatives(text) else len(_APART.split(text)) for text in plain) - {1}


def _alternatives(response: str, extraction: Extraction, sizes: Set[int]) -> Parts | None:
    """Two alternatives, if a reference has two values."""
    offered = extraction.candidates[-1:] if extraction.channel is Channel.ANSWER_LINE else extraction.candidates[-2:]
    span = (offered[0].span[0], offered[-1].span[1]) if offered and 2 in sizes else (0, 0)
    text = response[slice(*span)]
    is_whole = extraction.answer is None and names_alternatives(text) and not turns_behind(response, span)
    return Parts(text, span) if is_whole else None


def _lines(response: str, sizes: Set[int]) -> Parts | None:
    """The values of the last lines, which have names or labels of their own, if a reference has as many values."""
    lines = [*_LINE.finditer(response, max(0, len(response) - _BEFORE_CHARS))]
    for size in sizes:
        tail = [_VALUE.fullmatch(line[0]) for line in lines[-size:]]
        named = [(line["name"] or line["label"], line["value"]) for line in tail if line is not None]
        names = tuple(name for name, _ in named)
        if len({*names}) != size or any(_PROSE.search(value) for _, value in named):
            continue
        span = lines[-size].start(), lines[-1].end()
        if all(line and line["name"] for line in tail):
            return Parts(", ".join(f"{name} = {value}" for name, value in named), span)
        if any(names == of_kind[:size] for of_kind in LABELS):
            return Parts(" ".join(f"({label}) {value}" for label, value in named), span)
    return None


_UNMARKED = (Channel.BARE, Channel.FINAL_STATEMENT, Channel.LAST_NUMBER)
_PROSE = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_OPENS_LINE = r"\s{0,8}(?:[-*•]\s)?\s{0,4}[*$]{0,3}(?:\\\()?\s?"
_LABELLED = r"(?:[Pp]art )?\(?(?P<label>[a-h]|[1-9]|i{1,3}|iv)(?:\)|[.:])[.:]?\*{0,2}:?"
_NAMED = r"(?P<name>[a-zA-Z](?:_\d)?)\s?="
_CONTENT = r"\s?[$*]{0,2}(?P<value>(?:(?!\\\))[^\n=$*]){1,60}?)(?:\\\)|[$*.,;\s]){0,8}"
_VALUE = re.compile(rf"{_OPENS_LINE}(?:{_NAMED}|{_LABELLED}){_CONTENT}")
