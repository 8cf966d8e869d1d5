"""Short answers that put an option before others, begin with an interjection, or call it right with caution."""

import pytest

from verifiers.rules.multiple_choice import MultipleChoiceParams, judge

CITIES = ["London", "Berlin", "Paris", "Madrid"]
VERDICTS = MultipleChoiceParams(reference="A", choices=["yes", "no", "maybe"])

PREFERRED = [
    "C, not A.",
    "C and not A.",
    "C (not A).",
    "**C**, not **B**",
    "C) Paris, not A) London.",
    "C, not A, B, or D.",
    "C rather than B.",
    "C instead of B.",
    "C as opposed to B",
    "Definitely C, not D.",
    "It's C and not B.",
    "It is C rather than B.",
    "Paris, not London or Berlin.",
    "It's Paris rather than London.",
    "So it is Paris and not Berlin.",
]
NOT_PREFERRED = [
    "C, not sure.",
    "C, not C.",
    "C, not only A.",
    "C, not just A.",
    "C and not A or C",
    "C, not A but B.",
    "A, not C.",
    "B, not A or C.",
    "A rather than C.",
    "A and C, not B.",
    "C or A, not B.",
    "C over B",
    "C, not A?",
    "If C, not A.",
    "I'm not sure it's C rather than A.",
]
EXCLAIMED = [
    "Sure! C.",
    "Yes, C.",
    "Of course, C.",
    "Hmm, C.",
    "Easy: C.",
    "Well... C.",
    "Great question! (C)",
    "No, it's C.",
    "No, it's Paris.",
    "• C",
    "したがって、C。",
]
NOT_EXCLAIMED = [
    "Yes, C?",
    "No, not C.",
    "No. B or C.",
    "No, C is wrong.",
    "Well, C or D.",
    "OK, C... or B.",
    "Sure! C? No.",
    "No, it's not C.",
    "No, it could be C.",
    "If no, it's C.",
    "There is no, it is C",
]
CAUTIOUS = [
    "C seems right.",
    "So C looks correct.",
    "C should be correct.",
    "C has to be right.",
    "C is likely correct.",
    "C is probably the best answer.",
    "C is the likeliest.",
    "C best describes this.",
    "C describes it best.",
    "C answers the question.",
    "Only option C satisfies this.",
    "C is what the question asks for.",
    "I think C.",
    "I would go for option C.",
    "This gives us option C.",
    "We get option C.",
    "C, as no other city is in France.",
    "Paris, as no other city is in France.",
]
NOT_CAUTIOUS = [
    "At first glance, C seems right.",
    "C seems right at first.",
    "C seems right, but it isn't.",
    "C looks right. But B is.",
    "C seems right. However, the answer is B.",
    "B seems best. C seems best.",
    "C is likely correct, or B.",
    "C should be correct only if x is positive.",
    "C seems unlikely.",
    "C appears to be a distractor.",
    "I thought C.",
    "I think A or C.",
    "I don't think C.",
    "They think C.",
    "We get option A or C.",
    "This suggests option C is wrong.",
    "C describes something else.",
    "C answers it partly.",
    "C, as I said, is wrong.",
    "C, as is B, is wrong.",
    "C, as well as B.",
    "The teacher's guess is Paris.",
    "The obvious but misleading choice is Paris.",
]


@pytest.mark.parametrize("response", [*PREFERRED, *EXCLAIMED, *CAUTIOUS])
def test_a_short_answer_names_its_option(response: str) -> None:
    assert judge(response, MultipleChoiceParams(reference="C", choices=CITIES)).score == 1.0
    for label in "ABD":
        assert judge(response, MultipleChoiceParams(reference=label, choices=CITIES)).score == 0.0


@pytest.mark.parametrize("response", [*NOT_PREFERRED, *NOT_EXCLAIMED, *NOT_CAUTIOUS])
def test_what_only_looks_like_one_does_not_name_it(response: str) -> None:
    assert judge(response, MultipleChoiceParams(reference="C", choices=CITIES)).score == 0.0


@pytest.mark.parametrize(
    ("response", "expected"), [("Yes.", 1.0), ("Yes, no.", 0.0), ("No, yes.", 0.0), ("Well, yes.", 1.0)]
)
def test_an_interjection_that_is_an_option_is_one(response: str, expected: float) -> None:
    assert judge(response, VERDICTS).score == expected
