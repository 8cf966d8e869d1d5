"""Answers that the response itself takes back, puts another in the place of, or tells of somebody else."""

from tests.tables import table
from verifiers.rules.multiple_choice import MultipleChoiceParams, judge

CITIES = MultipleChoiceParams(reference="C", choices=["London", "Berlin", "Paris", "Madrid"])
BY_LABEL = MultipleChoiceParams(reference="C")

TAKEN_BACK = [
    "The answer is C. That's wrong.",
    "The answer is C. This is not right.",
    "The answer is C, but that's wrong.",
    "The answer is C. It isn't.",
    "The answer is C. No, it isn't.",
    "The answer is C. Not really.",
    "The answer is C. Just kidding.",
    "C. No wait.",
    "C. Scratch that.",
    "The answer is C. Hmm, never mind.",
    "The answer is C. Or so one would think.",
    "The answer is C. I take that back.",
    "You'd think the answer is C. It isn't.",
    "My friend said the answer is C, but she was mistaken.",
    "They claim the answer is C. I disagree.",
    "The key says the answer is C. The key is wrong.",
    "<answer>C</answer> That's wrong.",
]
REPLACED = [
    "The answer is C. On second thought, B.",
    "The answer is C. Upon reflection, B.",
    "The answer is C. After reconsidering, I'd say B.",
    "The answer is C.\n\nI changed my mind: B.",
    "The answer is C.\n\nI'm changing my answer to B.",
    "Answer: C\nOn reflection I change my answer to B.",
    "Answer: C\n\nUpdate: B",
    "Answer: C. Hmm, B.",
    "Answer: C\n\n**Edit:** B",
    "Answer: C\n\nCorrected: B",
    "C\n\nWait, B.",
    "The answer is C (B is more likely).",
    "The answer is C but B is better.",
    "The answer is C with 20% probability, B with 80%.",
]
TOLD_OF_OTHERS = [
    "Students often choose C.",
    "A careless reader would go with C.",
    "A common mistake is to pick C.",
    "It's easy to mistakenly pick C.",
    "I was tempted to pick C.",
    "I refuse to choose C.",
    "The trap answer is C.",
    "My friend's answer is C.",
    "The previous answer was C.",
    "The students' first guess was C.",
    "My friend's answer is Paris.",
    "The city that most people think of is Paris.",
]
OPEN = [
    "It's unclear if the answer is C.",
    "Nobody knows whether the answer is C.",
    "It's debatable that the answer is C.",
    "I am unsure; maybe the answer is C.",
]
STANDING = [
    "The answer is C. That's right.",
    "The answer is C.\n\nOr so it seems to me.",
    "The answer is C. It isn't B.",
    "The answer is C. Wait until you see why.",
    "The answer is C. Hmm, that was easy.",
    "The answer is C. It is not a close call.",
    "The answer is C. This is not surprising.",
    "The answer is C, which is false.",
    "The answer is C. It is false: light is faster.",
    "The answer is C. B is more likely to be chosen by tourists.",
    "On second thought, the answer is C.",
    "I changed my mind: the answer is C.",
    "I first said B. On second thought, the answer is C.",
    "Students often choose B, but the answer is C.",
    "A common mistake is to pick B. The answer is C.",
    "Maybe the answer is B? No. The answer is C.",
    "It was unclear whether B or D fits. The answer is C.",
]


@table("response", [*TAKEN_BACK, *REPLACED, *TOLD_OF_OTHERS, *OPEN])
@table("params", [CITIES, BY_LABEL], ids=["texts", "labels"])
def test_what_is_not_stood_by_is_not_paid(response: str, params: MultipleChoiceParams) -> None:
    assert judge(response, params).score == 0.0


@table("response", STANDING)
@table("params", [CITIES, BY_LABEL], ids=["texts", "labels"])
def test_what_is_stood_by_is_paid(response: str, params: MultipleChoiceParams) -> None:
    assert judge(response, params).score == 1.0


def test_an_answer_may_be_replaced_by_a_text() -> None:
    assert judge("Answer: C. On second thought, Berlin.", CITIES).score == 0.0
    assert judge("Answer: C. On second thought, Paris.", CITIES).score == 1.0


WAYS_TO_ANSWER = [
    "The answer is C.",
    "Answer: C.",
    "The correct option is (C).",
    "I'd go with C.",
    "I choose option C.",
    "So it's C.",
    "Therefore, Paris.",
    "C is correct.",
    "C) Paris",
    "C.",
    "It's C, not B.",
    "Only C works.",
    "C seems right.",
    "C because none of the others is in France.",
    "Paris, as no other city is in France.",
    "The capital of France is Paris.",
]
WAYS_TO_TURN_FROM_IT = [
    "Then again, Berlin.",
    "Actually, B.",
    "Oops, B.",
    "My mistake, B.",
    "I'm wrong; B.",
    "Sorry, B.",
    "I meant B.",
    "Correction: B.",
    "On reflection, B.",
    "Or B.",
    "Or Berlin.",
    "Either that or B.",
    "Also B.",
    "B too.",
    "Hmm, maybe B.",
    "But B also works.",
    "Not C.",
    "It's not C.",
    "Scratch that.",
    "I take it back.",
    "So it's B.",
    "The answer is B.",
]
IN_CHINESE = MultipleChoiceParams(reference="C", choices=["伦敦", "柏林", "巴黎", "马德里"])
WAYS_TO_ANSWER_IN_CHINESE = [
    "选C。",
    "答案是C。",
    "故选C。",
    "C项正确。",
    "我认为是C。",
    "因此，答案为C。",
    "不是B，而是C。",
]
WAYS_TO_TURN_FROM_IT_IN_CHINESE = [
    "不对，选B。",
    "等等，应该是B。",
    "或者B。",
    "也可能是B。",
    "B也对。",
    "错了，是B。",
    "更正：B。",
    "不是C。",
    "也许B。",
    "但B更好。",
    "抱歉，B。",
    "应为B。",
]


@table("behind", WAYS_TO_TURN_FROM_IT)
def test_however_it_was_told_an_answer_may_be_turned_from(behind: str) -> None:
    assert [told for told in WAYS_TO_ANSWER if judge(told, CITIES).score != 1.0] == []
    assert [told for told in WAYS_TO_ANSWER if judge(f"{told} {behind}", CITIES).score != 0.0] == []
    assert [told for told in WAYS_TO_ANSWER if judge(f"{told}\n\n{behind}", CITIES).score != 0.0] == []


@table("behind", WAYS_TO_TURN_FROM_IT_IN_CHINESE)
def test_however_it_was_told_in_chinese_an_answer_may_be_turned_from(behind: str) -> None:
    told = WAYS_TO_ANSWER_IN_CHINESE
    assert [one for one in told if judge(one, IN_CHINESE).score != 1.0] == []
    assert [one for one in told if judge(one + behind, IN_CHINESE).score != 0.0] == []


@table(
    ("response", "expected"),
    [
        ('{"answer": "C"}', 1.0),
        ('{"answer": "C"}\n\nThat is Paris.', 1.0),
        ('{"answer": {"label": "C", "text": "Paris"}} The answer is B.', 0.0),
        ('{"answer": "C"} Or D.', 0.0),
        ('{"answer": "C"}\n\nB', 0.0),
        ("#### C\nThe answer is B.", 0.0),
        ("C ✓\n\nB", 0.0),
        ("C ✓ But B also works.", 0.0),
        ("✅ C\n❌ B", 1.0),
        ("C是正确的吗？", 0.0),
        ("C选项正确？", 0.0),
    ],
)
def test_a_field_or_a_mark_is_not_all_that_counts(response: str, expected: float) -> None:
    assert judge(response, CITIES).score == expected


@table(
    "response",
    [
        "The answer is C. It's not B.",
        "The answer is C. B is not right.",
        "The answer is C, not A, B, or D.",
        "C. Is it B? No, B is in Germany.",
        "The answer is C. It is not a trick question.",
        "The answer is C. Then again, it was an easy question.",
        "The answer is C. Sorry for the long explanation.",
    ],
)
def test_what_is_said_of_the_others_takes_nothing_back(response: str) -> None:
    assert judge(response, CITIES).score == 1.0
