"""Special tokens at the end of a response. Some trainers leave them in its text."""

from __future__ import annotations

from collections.abc import Sequence

ENDINGS = (
    *("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|finetune_right_pad_id|>"),
    *("</s>", "<eos>", "<pad>", "<|pad|>", "[PAD]", "<end_of_turn>", "<|end|>", "<|return|>", "<|im_start|>"),
    *("<｜end▁of▁sentence｜>", "<｜▁pad▁｜>", "<|END_OF_TURN_TOKEN|>", "<|end_of_sentence|>", "<|endofresponse|>"),
)
"""The end marks of the model families that are trained today."""


def without_ending(text: str, endings: Sequence[str] = ENDINGS) -> str:
    """Strip all such marks from the end of a text. Within the text they stay: there the model wrote them."""
    marks = tuple(ending for ending in endings if ending)
    stripped = text.rstrip()
    if not marks or not stripped.endswith(marks):
        return text
    while stripped.endswith(marks):
        longest = max((mark for mark in marks if stripped.endswith(mark)), key=len)
        stripped = stripped[: -len(longest)].rstrip()
    return stripped
