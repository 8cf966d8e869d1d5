"""Answers, marks, fences and retractions in any order: something is always said of them, and one option at most is paid."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables import table
from verifiers.rules.multiple_choice import MultipleChoiceParams, judge

_CHOICES = (
    ["London", "Berlin", "Paris", "Madrid"],
    ["12 cm", "15 cm", "18 cm", "24 cm"],
    ["伦敦", "柏林", "巴黎", "马德里"],
    ["yes", "no", "maybe", "unclear"],
)
_PIECES = st.sampled_from(
    [
        "C",
        "B",
        "A",
        "Paris",
        "18 cm",
        "巴黎",
        "yes",
        "no",
        "no, ",
        "not",
        "Not C.",
        ", not A",
        "rather than B",
        "or",
        "= ",
        "x = ",
        "(",
        ")",
        " ",
        "\n",
        "\n\n",
        ". ",
        "。",
        "，",
        "?",
        "```",
        "~~~",
        "~~~x",
        "#### ",
        "#3",
        "✅",
        "❌",
        "✓",
        "• ",
        '{"answer": "C"}',
        '{"answer": {"label": "B"}}',
        "\\boxed{C}",
        "<answer>C</answer>",
        "The answer is ",
        "It's ",
        "I think ",
        "Sure! ",
        "Oops, ",
        "Scratch that.",
        "seems right",
        "because ",
        "不是C",
        "选C",
        "是",
        "也许",
        "1945",
        "\u200b",
        "İ",
    ]
)


@pytest.mark.wording
@settings(max_examples=600, deadline=None)
@given(st.lists(_PIECES, max_size=12), st.sampled_from(_CHOICES))
def test_one_option_at_most_is_paid(pieces: list[str], choices: list[str]) -> None:
    text = "".join(pieces)
    paid = [label for label in "ABCD" if judge(text, MultipleChoiceParams(reference=label, choices=choices)).score]
    assert len(paid) <= 1


@table("response", ['{"answer": "C"}~~~x', '{"answer": "C"}\n~~~x', "#### C\n~~~x", "~~~C ✓ x"])
def test_a_fence_may_be_all_that_follows(response: str) -> None:
    assert judge(response, MultipleChoiceParams(reference="C", choices=_CHOICES[0])).score in (0.0, 1.0)
