"""Short answers that put an option before others, begin with an interjection, or call it right with caution."""

from tests.tables import table
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


@table("response", [*PREFERRED, *EXCLAIMED, *CAUTIOUS])
def test_a_short_answer_names_its_option(response: str) -> None:
    assert judge(response, MultipleChoiceParams(reference="C", choices=CITIES)).score == 1.0
    for label in "ABD":
        assert judge(response, MultipleChoiceParams(reference=label, choices=CITIES)).score == 0.0


@table("response", [*NOT_PREFERRED, *NOT_EXCLAIMED, *NOT_CAUTIOUS])
def test_what_only_looks_like_one_does_not_name_it(response: str) -> None:
    assert judge(response, MultipleChoiceParams(reference="C", choices=CITIES)).score == 0.0


@table(("response", "expected"), [("Yes.", 1.0), ("Yes, no.", 0.0), ("No, yes.", 0.0), ("Well, yes.", 1.0)])
def test_an_interjection_that_is_an_option_is_one(response: str, expected: float) -> None:
    assert judge(response, VERDICTS).score == expected


LENGTHS = MultipleChoiceParams(reference="C", choices=["12 cm", "15 cm", "18 cm", "24 cm"])
YEARS = MultipleChoiceParams(reference="C", choices=["1914", "1939", "1945", "1918"])


@table(
    "response",
    [
        "= 18 cm",
        "x = 18 cm",
        "6 x 3 = 18 cm",
        "Area: 6 * 3 = 18 cm.",
        "x = 6 + 12\n  = 18 cm",
        "12\\times 1.5 = 18\\text{ cm}",
        "**Total = 18 cm**",
    ],
)
def test_a_last_line_may_be_an_equation_that_ends_in_the_option(response: str) -> None:
    assert judge(response, LENGTHS).score == 1.0


@table(
    "response",
    [
        "18 cm = 12 cm + 6 cm",
        "24 cm = 18 cm",
        "x != 18 cm",
        "x <= 18 cm",
        "if x = 18 cm",
        "x = 18 cm or 24 cm",
        "x = 12 cm\ny = 18 cm",
        "x = 18 cm\n\nThe answer is B.",
        "Suppose that x = 18 cm",
        "wrong: x = 18 cm",
    ],
)
def test_an_equation_that_need_not_hold_names_no_option(response: str) -> None:
    assert judge(response, LENGTHS).score == 0.0


@table("response", ["In 1945.", "It ended in 1945.", "The war ended in **1945**.", "It was in 1945."])
def test_when_something_was_is_an_option(response: str) -> None:
    assert judge(response, YEARS).score == 1.0


@table(
    "response",
    [
        "It did not end in 1945.",
        "It ended after 1945.",
        "It may have ended in 1945.",
        "It began in 1939. It ended in 1918.",
    ],
)
def test_when_something_was_not_is_none(response: str) -> None:
    assert judge(response, YEARS).score == 0.0


@table(
    ("response", "expected"),
    [
        ("Hence, C (Paris).", 1.0),
        ("So it's C (Paris)", 1.0),
        ("Hence, C (Berlin).", 0.0),
        ("Hence, C (or B).", 0.0),
        ("So C (not sure).", 0.0),
        ("The tower is in Paris.", 1.0),
        ("The tower is near Paris.", 0.0),
        ("The tower in Berlin is taller than the one in Paris.", 0.0),
    ],
)
def test_what_stands_beside_the_option_decides(response: str, expected: float) -> None:
    assert judge(response, MultipleChoiceParams(reference="C", choices=CITIES)).score == expected


IN_CHINESE = MultipleChoiceParams(reference="C", choices=["伦敦", "柏林", "巴黎", "马德里"])


@table(
    "response",
    [
        "我认为是C。",
        "显然是C。",
        "应该是C，而不是B。",
        "不是B，而是C。",
        "不是A、B，而是C。",
        "那就选C吧。",
        "C，因为首都是巴黎。",
        "法国的首都是巴黎。",
    ],
)
def test_a_short_answer_in_chinese_names_its_option(response: str) -> None:
    assert judge(response, IN_CHINESE).score == 1.0


@table(
    "response",
    [
        "有人选C",
        "很多同学选C",
        "大家都会选C",
        "他认为是C",
        "我不认为是C",
        "我认为是C或D",
        "不是C，而是B。",
        "是B，不是C。",
        "不是C，不是B，是D。",
        "很明显是C？",
        "首都可能是巴黎。",
        "首都是巴黎吗？",
        "最大的干扰项是巴黎。",
        "C，因为我错了，选B",
    ],
)
def test_what_others_pick_or_is_denied_in_chinese_is_none(response: str) -> None:
    assert judge(response, IN_CHINESE).score == 0.0


@table(
    ("response", "expected"),
    [
        ("3", 1.0),
        ("3. 5", 1.0),
        ("#3", 1.0),
        ("Number 3.", 1.0),
        ("Only 3", 1.0),
        ("3.5", 0.0),
        ("3:15", 0.0),
        ("3.0", 0.0),
    ],
)
def test_a_number_that_begins_with_a_label_is_another_number(response: str, expected: float) -> None:
    params = MultipleChoiceParams(reference="3", choices={"1": "3", "2": "4", "3": "5", "4": "6"})
    assert judge(response, params).score == expected


@table(("response", "expected"), [("Just A and C.", 1.0), ("Only A and C", 1.0), ("Not only A and C.", 0.0)])
def test_only_some_of_several_options_may_be_said(response: str, expected: float) -> None:
    params = MultipleChoiceParams(reference=["A", "C"], choices=["w", "x", "y", "z"], multi=True)
    assert judge(response, params).score == expected
