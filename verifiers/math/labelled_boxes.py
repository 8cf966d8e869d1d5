r"""Finds the answers of numbered parts in boxes of their own: `Part (a): \boxed{5}`, `Part (b): \boxed{7}`.

Only a reference with as many parts says that all of them are asked for.
"""

import re
from collections.abc import Sequence

from verifiers.commitment import Channel, Extraction
from verifiers.math.exact import unwrap
from verifiers.math.words import LABELS, labelled_parts

_LABEL = re.compile(r"(?<![^\s*(\[#])\(?(?P<label>[a-h]|[1-9]|i{1,3}|iv)\)?\s?(?:[).:]|\*\*)")
_APART = re.compile(r"[,;]\s|\s?\\quad\s?")
_BEFORE_CHARS = 2_000


def of_parts(response: str, extraction: Extraction, references: Sequence[str]) -> str | None:
    """The answers in boxes behind labels that count up, as a list, if a reference has as many parts; else None."""
    boxes = extraction.candidates
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
    sizes = [(labelled_parts(unwrap(reference)), len(_APART.split(unwrap(reference)))) for reference in references]
    if any(parts is not None and len(parts) == count for parts, _ in sizes):
        return " ".join(f"({label}) {box.text}" for label, box in zip(labels, boxes, strict=True))
    is_list = any(
        size == count and "(" not in reference for (_, size), reference in zip(sizes, references, strict=True)
    )
    return ", ".join(box.text for box in boxes) if is_list else None
