"""Responses that single an option out in other words than an answer line: lists of verdicts, eliminations, values, few words."""

from tests.tables import table
from verifiers.rules.multiple_choice import MultipleChoiceParams, judge

CITIES = MultipleChoiceParams(reference="C", choices=["London", "Berlin", "Paris", "Madrid"])
BY_LABEL = MultipleChoiceParams(reference="C")
NUMBERS = MultipleChoiceParams(reference="B", choices=["12", "15", "18", "21"])
CHANGES = MultipleChoiceParams(
    reference="B", choices=["It increases", "It decreases", "It stays the same", "It doubles"]
)
SEVERAL = MultipleChoiceParams(reference=["A", "C"], choices=["London", "Berlin", "Paris", "Madrid"], multi=True)
STEPS = "First we look at the map. Then we compare what is left."

JUDGED_LISTS = [
    "A - incorrect\nB - incorrect\nC - correct\nD - incorrect",
    "**A)** London - Incorrect\n**B)** Berlin - Incorrect\n**C)** Paris - Correct!\n**D)** Madrid - Incorrect",
    "- A: Incorrect, because London is in the UK.\n- B: Incorrect.\n- C: Correct, since it is the capital.\n- D: Incorrect.",
    "- **A. London**: Incorrect. It is in the UK.\n- **B. Berlin**: Wrong.\n\n- **C. Paris**: Right.\n- **D. Madrid**: Wrong.",
    "| Option | City | Verdict |\n|---|---|---|\n| A | London | Incorrect |\n| B | Berlin | Incorrect |\n| C | Paris | Correct |\n| D | Madrid | Wrong |",
    "A) London: capital of the UK, so it's not correct.\n\nB) Berlin: in Germany.\n\nC) Paris: the capital of France. ✔️\n\nD) Madrid: in Spain.",
    "A: wrong. B: wrong. C: right. D: wrong.",
]
JUDGED_LISTS_IN_CHINESE = [
    "A. 伦敦：错误\nB. 柏林：错误\nC. 巴黎：正确\nD. 马德里：错误",
    "A项错误。\nB项错误。\nC项正确。\nD项错误。",
    "A×\nB×\nC√\nD×",
]
IN_CHINESE = ["选项C", "因此是巴黎。", "所以法国的首都是巴黎。"]
NOT_IN_CHINESE = [
    "A√\nB×\nC√\nD×",
    "A. 伦敦：错误\nB. 柏林：错误\nC. 巴黎：不正确\nD. 马德里：正确",
    "可能选C",
    "也许选C",
    "所以法国的首都不是巴黎。",
    "因此可能是巴黎。",
    "所以是巴黎吗？",
]
JUDGED_LISTS_WITH_TEXTS = [
    "A: no. B: no. C: yes. D: no.",
    "Option A: No.\nOption B: No.\nOption C: Yes!\nOption D: No.",
    "A. London: false\nB. Berlin: false\nC. Paris: true\nD. Madrid: false",
    "| Option | Correct? |\n|---|---|\n| A | No |\n| B | No |\n| C | Yes |\n| D | No |",
]
LISTS_OF_NOTHING = [
    "C: correct\nA: wrong\nB: wrong\nC: wrong",
    "A: wrong.\nB: it depends.\nC: right.\nD: it depends.",
    "A: true\nB: true\nC: false\nD: true",
    "A: Correct\nB: Correct\nC: Correct\nD: Incorrect",
    "A: incorrect\nB: incorrect\nC: correct, but D is better\nD: incorrect",
    "A: incorrect\nB: incorrect\nC: incorrect\nD: correct",
    "A: incorrect\nB: incorrect\nC: partially correct\nD: incorrect",
    "A: incorrect\nB: incorrect\nC: not correct\nD: incorrect",
    "A: incorrect\nB: incorrect\nC: could be correct\nD: could be correct",
    "A ❌ B ❌ C ❌ D ✅",
    "A) ❌\nB) ✅\nC) ✅\nD) ❌",
]
IN_FEW_WORDS = [
    "In short: C",
    "To summarise, C.",
    "TL;DR: C",
    "Overall, C.",
    "I would say C.",
    "I'd say it's C.",
    "I'll say C",
    "I answer C.",
    "I'd answer (C).",
    "My guess is C.",
    "I guess C.",
    "C, obviously.",
    "C for sure.",
    "C, I think.",
    "1. C",
    "Q1: C",
    "Answer 1: C",
    "Ans = C",
    "Therefore ⟹ C",
    "My response is C.",
    "The best match is C.",
    "C (Paris)",
    "C = Paris",
    "- [ ] A\n- [ ] B\n- [x] C\n- [ ] D",
    "No. 4: (C)",
    "The statement that is true is C.",
    "The best choice among these is C.",
    "The most suitable option among the four is C.",
]
SINGLED_OUT = [
    "C is the only one in France.",
    "Only C is in France.",
    "Only option C meets the requirement.",
    "Only C contains the capital.",
    "C is the only option with the right country.",
    "C best answers the question.",
    "C best describes it.",
    "C correctly identifies the capital.",
    "Option C most accurately describes the capital of France.",
    "The answer isn't A, it's C.",
    "It's not B, it's C.",
    "A, B, and D can be eliminated, leaving C.",
    "A and B can be ruled out, and so can D, leaving C.",
    "Options A, B, and D are eliminated, leaving only C.",
    "None of A, B or D is the capital of France; C is.",
]
BY_VALUE = [
    (CITIES, "The capital is Paris (C)."),
    (CITIES, "Therefore the capital is Paris, option C."),
    (CITIES, "So the capital of France is Paris (C)."),
    (CITIES, "Thus, the capital of France is Paris."),
    (CITIES, "I'm going with option C, Paris."),
    (CITIES, "The place described is called Paris."),
    (CITIES, "The correct name is Paris."),
    (CITIES, "This describes Paris."),
    (NUMBERS, "Hence the total is 15."),
    (NUMBERS, "So x = 15."),
    (NUMBERS, "Thus, $x = 15$."),
    (NUMBERS, "Therefore, the number of apples is **15**."),
    (CHANGES, "Thus the volume is halved, i.e. it decreases (B)."),
]
REASONS_BELOW = [
    "Answer: C\n\nWhy the others are wrong:\nA: London is in the UK.\nB: Berlin is in Germany.\nD: Madrid is in Spain.",
    "Answer: C\n\nReasons:\nA. London is in England\nB. Berlin is in Germany\nC. Paris is in France\nD. Madrid is in Spain",
]
LEAVES_OPEN = [
    "In short: C or D",
    "In short, not C.",
    "Overall, C is wrong.",
    "Overall, C and D.",
    "I'd say C or D.",
    "I'd say not C.",
    "I can't say C.",
    "I wouldn't say C.",
    "They say C.",
    "I would never answer C.",
    "Should I say C?",
    "If asked, I'd say C, but the answer is A.",
    "I guess C or A.",
    "C, I doubt it.",
    "C, I think not.",
    "Not C, obviously.",
    "C or D, I think.",
    "Only C is wrong.",
    "Only C is not in England.",
    "Only C is unlikely.",
    "C is the only one that is wrong.",
    "C is the only wrong one.",
    "C best describes Germany, not France.",
    "C best answers a different question, so A.",
    "C can be eliminated, leaving A, B and D.",
    "A can be eliminated, leaving C or D.",
    "A, C and D can be eliminated, leaving C.",
    "It isn't C, it's A.",
    "If it isn't A, it's C.",
    "It isn't A, it's C or D.",
    "None of A, B, C or D fits.",
    "None of A or C is right; D is.",
    "Neither A nor C; D is.",
    "The best option among C and D is unclear.",
    "The best option among these is not C.",
    "The best option among these is A, not C.",
    "1. A\n2. C",
    "1. C\n2. A",
    "Q1: A",
    "[ ] C",
    "- [ ] C",
    "- [x] A\n- [ ] B\n- [ ] C\n- [ ] D",
    "- [x] A\n- [ ] B\n- [x] C",
    "C: wrong",
    "C (wrong)",
    "C (or D)",
    "The answer is C.\nD",
    "The answer is C.\n\nD) Madrid",
    "The answer is C.\nA\nD",
    "The answer is C.\n\nOf the others:\nA: wrong\nD: right",
    "Answer: C) Paris\nD) Madrid\nA) London",
]
VALUES_OF_NOTHING = [
    (CITIES, "Thus, the capital of France is not Paris."),
    (CITIES, "So London is Paris."),
    (CITIES, "The place is never called Paris."),
    (CITIES, "This describes Paris or London."),
    (CITIES, "Therefore the answer might be Paris."),
    (CITIES, "So if the capital is Paris"),
    (CITIES, "So whether the capital is Paris or Berlin is unclear."),
    (CITIES, "Therefore the capital is Paris or London."),
    (CITIES, "The capital is London (C)."),
    (CITIES, "The capital isn't Paris (C)."),
    (CITIES, "The capital may be Paris (C)."),
    (NUMBERS, "So 12 is 15."),
    (NUMBERS, "So x is not 15."),
    (NUMBERS, "So x = 15 or x = 18."),
    (NUMBERS, "So the total is 15.5"),
]


FRACTIONS = MultipleChoiceParams(reference="B", choices=[r"$\frac{1}{2}$", r"$\frac{2}{3}$", r"$\sqrt{2}$"])
LENGTHS = MultipleChoiceParams(reference="B", choices=["12 cm", "15 cm", "18 cm"])
YES_OR_NO = MultipleChoiceParams(reference="A", choices=["Yes", "No"])
TRUE_OR_FALSE = MultipleChoiceParams(reference="B", choices=["True", "False"])

MEASURES = [
    (FRACTIONS, r"The answer is \dfrac{2}{3}."),
    (FRACTIONS, r"\boxed{\dfrac23}"),
    (FRACTIONS, r"$\tfrac{2}{3}$"),
    (NUMBERS, "The answer is 15 apples."),
    (NUMBERS, "<answer>15 cm</answer>"),
    (NUMBERS, r"\boxed{15\text{ km/h}}"),
    (NUMBERS, r"\boxed{15\mbox{ cm}^2}"),
    (NUMBERS, r"\boxed{15^\circ}"),
    (NUMBERS, r"答案是 $\boxed{15\text{角}}$。"),
    (LENGTHS, "15cm"),
    (LENGTHS, "The answer is 15cm"),
    (LENGTHS, "The answer is 15."),
]
NO_MEASURES = [
    "The answer is 15 or 18 apples",
    "The answer is 15%",
    "The answer is 15 percent",
    "The answer is 15 thousand",
    "The answer is 15 more than 12",
    "The answer is 15 times 2",
    "The answer is 15 and a half",
    "The answer is 15 1/2",
    "The answer is 15/2",
    r"\boxed{15t}",
    r"\boxed{15x + 2}",
    r"\boxed{x^2 + 2y = 15}",
    "The answer is 15 squared",
    "The answer is 15 minutes 3 seconds",
]
TEXT_FIRST = [
    (CITIES, "Paris. It's the capital of France."),
    (CITIES, "**Paris**. It is the capital."),
    (CITIES, "Paris, because it is the capital."),
    (CITIES, "Paris, the capital of France."),
    (CITIES, "Paris is the capital of France."),
    (YES_OR_NO, "Yes, it is."),
    (YES_OR_NO, "Yes. The sun is a star."),
    (TRUE_OR_FALSE, "False. The sun is a star."),
    (TRUE_OR_FALSE, "The statement is false."),
    (TRUE_OR_FALSE, "Therefore, the statement is False."),
]
TEXT_FIRST_BUT = [
    (CITIES, "Paris. Or London."),
    (CITIES, "Paris, maybe."),
    (CITIES, "Paris, Texas"),
    (CITIES, "Paris; Rome"),
    (CITIES, "Paris is the wrong answer."),
    (CITIES, "Paris is the second best."),
    (CITIES, "Paris. But I am unsure."),
    (CITIES, "Paris - wait, Madrid."),
    (CITIES, "Paris. It is like Madrid."),
    (YES_OR_NO, "Yes, but no."),
    (YES_OR_NO, "Yes, no."),
    (TRUE_OR_FALSE, "The statement is not false."),
    (TRUE_OR_FALSE, "The claim is false or true."),
]
SETS = [
    "The correct answers are:\n- A. London\n- C. Paris",
    "**Answer:**\n- **A. London**\n- **C. Paris**",
    "Answer:\nA. London\nC. Paris",
    "The correct options are:\n\n- A: it is large.\n- C: it is the capital.\n\nThe others are small.",
    "The correct answers are:\n\n- A\n- C\n\nB is wrong.",
    "A is correct because of its size. B is wrong. C is correct because of its age. D is wrong.",
    "A, C\n\nA is right since it is large. C is right since it is old.",
    "Therefore, A and C are the answers.",
    "AC两项正确",
]
NO_SETS = [
    "The correct answers are:\n- A\n- B",
    "The correct answers are:\n- A\n- B\n- C",
    "The correct answers are:\n- A\n- not C",
    "The correct answers are:\n- A\n- C (wrong)",
    "The correct answers are:\n- A. London\n- C. Paris\n- D. Madrid",
    "A is correct. B is correct. C is correct.",
    "A is correct. C may be correct.",
]
POINTED_AT = [
    "This is consistent with option C.",
    "Everything points to C.",
    "This leads us to option C.",
    "The evidence supports C.",
    "so option C is the one we want.",
    "It is the largest, i.e. option C.",
]
POINTED_ELSEWHERE = [
    "This is inconsistent with option C.",
    "Nothing points to C.",
    "This points away from C.",
    "The evidence does not support C.",
    "This supports option C or D.",
    "This contradicts option C.",
]


@table("before", ["", f"{STEPS}\n\n"], ids=["alone", "below steps"])
@table("response", [*JUDGED_LISTS, *SINGLED_OUT, *POINTED_AT])
@table("params", [CITIES, BY_LABEL], ids=["texts", "labels"])
def test_an_option_is_singled_out(before: str, response: str, params: MultipleChoiceParams) -> None:
    verdict = judge(before + response, params)
    assert (verdict.score, verdict.detail.get("options")) == (1.0, ["C"])


@table("response", [*JUDGED_LISTS_WITH_TEXTS, *IN_FEW_WORDS, *REASONS_BELOW])
def test_an_option_is_named_in_other_words(response: str) -> None:
    assert judge(response, CITIES).score == 1.0


@table("response", [*JUDGED_LISTS_IN_CHINESE, *IN_CHINESE])
def test_an_option_is_singled_out_in_chinese(response: str) -> None:
    params = MultipleChoiceParams(reference="C", choices=["伦敦", "柏林", "巴黎", "马德里"])
    assert judge(response, params).score == 1.0
    if response in JUDGED_LISTS_IN_CHINESE:
        assert judge(response, BY_LABEL).score == 1.0


@table("response", NOT_IN_CHINESE)
def test_what_leaves_it_open_in_chinese_is_not_paid(response: str) -> None:
    params = MultipleChoiceParams(reference="C", choices=["伦敦", "柏林", "巴黎", "马德里"])
    assert judge(response, params).score == judge(response, BY_LABEL).score == 0.0


@table("response", JUDGED_LISTS_WITH_TEXTS)
def test_yes_and_true_may_be_what_unknown_options_say(response: str) -> None:
    assert judge(response, BY_LABEL).score == 0.0


def test_texts_that_are_verdicts_are_listed_not_judged() -> None:
    restated = "A. Yes\nB. No\nC. True\nD. False"
    assert judge(restated, MultipleChoiceParams(reference="C", choices=["Yes", "No", "True", "False"])).score == 0.0
    grades = ["Correct", "Incorrect", "Wrong", "Unclear"]
    restated = "\n".join(f"{label}. {grade}" for label, grade in zip("ABCD", grades, strict=True))
    assert judge(restated, MultipleChoiceParams(reference="A", choices=grades)).score == 0.0


def test_a_list_of_verdicts_tells_a_set() -> None:
    for calls in ("true", "false"), ("correct", "incorrect"), ("yes", "no"):
        listed = [
            f"{label}. {city}: {calls[label in 'BD']}"
            for label, city in zip("ABCD", ("London", "Berlin", "Paris", "Madrid"), strict=True)
        ]
        assert judge("\n".join(listed), SEVERAL).score == 1.0
        assert judge("\n".join([*listed[:2], "C. Paris: maybe", listed[3]]), SEVERAL).score == 0.0
        assert judge("\n".join([*listed[:3], f"D. Madrid: {calls[0]}"]), SEVERAL).score == 0.0
        assert judge("\n".join([listed[0], "B. Berlin: maybe", *listed[2:]]), SEVERAL).score == 0.0
        assert judge("\n".join(listed), CITIES).score == 0.0


@table(("params", "response"), BY_VALUE)
def test_a_last_sentence_may_end_in_the_options_text(params: MultipleChoiceParams, response: str) -> None:
    assert judge(response, params).score == 1.0
    assert judge(f"{STEPS} {response}", params).score == 1.0


@table("response", [*LEAVES_OPEN, *LISTS_OF_NOTHING, *POINTED_ELSEWHERE])
@table("params", [CITIES, BY_LABEL], ids=["texts", "labels"])
def test_what_leaves_it_open_is_not_paid(response: str, params: MultipleChoiceParams) -> None:
    assert judge(response, params).score == 0.0


@table(("params", "response"), [*MEASURES, *TEXT_FIRST])
def test_an_option_is_named_by_its_text(params: MultipleChoiceParams, response: str) -> None:
    assert judge(response, params).score == 1.0


@table("response", NO_MEASURES)
def test_more_than_a_unit_makes_another_number(response: str) -> None:
    assert judge(response, NUMBERS).score == 0.0


def test_another_unit_is_another_option() -> None:
    assert judge("The answer is 15 km.", LENGTHS).score == 0.0


@table("response", SETS)
def test_a_set_may_be_told_one_by_one(response: str) -> None:
    assert judge(response, SEVERAL).score == 1.0


def test_what_an_option_says_is_not_said_against_it() -> None:
    choices = ["No rent", "High rent", "Less noise", "More noise"]
    params = MultipleChoiceParams(reference=["A", "C"], choices=choices, multi=True)
    listed = "The correct answers are:\n- A. No rent\n- C. Less noise"
    assert judge(listed, params).score == 1.0
    assert judge(f"{listed} is wrong", params).score == 0.0


@table("response", NO_SETS)
def test_other_sets_told_one_by_one_earn_nothing(response: str) -> None:
    assert judge(response, SEVERAL).score == 0.0


@table(("params", "response"), [*VALUES_OF_NOTHING, *TEXT_FIRST_BUT])
def test_what_does_not_say_that_it_is_the_value_is_not_paid(params: MultipleChoiceParams, response: str) -> None:
    assert judge(response, params).score == 0.0
