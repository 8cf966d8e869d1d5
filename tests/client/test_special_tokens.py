"""Marks of tokenizers at the end of texts."""

from __future__ import annotations

import pytest
from rewardline.special_tokens import without_ending


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\\boxed{4}<|im_end|>", "\\boxed{4}"),
        ("\\boxed{4}<|im_end|>\n", "\\boxed{4}"),
        ("4<|eot_id|><|end_of_text|><pad><pad>", "4"),
        ("4</s></s>", "4"),
        ("4<｜end▁of▁sentence｜>", "4"),
        ("<|im_end|>", ""),
        ("", ""),
        ("4 \n", "4 \n"),
        ("<|im_end|> is a mark", "<|im_end|> is a mark"),
        ("print('</s>')", "print('</s>')"),
    ],
)
def test_marks_are_taken_off_the_end_and_nowhere_else(text: str, left: str) -> None:
    assert without_ending(text) == left


def test_a_trainers_own_marks_can_be_named() -> None:
    assert without_ending("4<fin>", endings=["<fin>", ""]) == "4"
    assert without_ending("4<|im_end|>", endings=["<fin>"]) == "4<|im_end|>"


@pytest.mark.growth
def test_a_million_marks_are_no_work() -> None:
    assert without_ending("4" + "<pad>" * 200_000) == "4"
