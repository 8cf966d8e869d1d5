"""Options told in a plain sentence, as an exception, as a verdict above its reasons, or above what speaks against the others."""

from tests.tables import table
from verifiers.rules.multiple_choice import MultipleChoiceParams, judge

CITIES = MultipleChoiceParams(reference="C", choices=["London", "Berlin", "Paris", "Madrid"])
BY_LABEL = MultipleChoiceParams(reference="C", choices=["w", "x", "y", "z"])
OF_TWO = MultipleChoiceParams(reference="A", choices=["p", "q"])
VERDICTS = MultipleChoiceParams(reference="A", choices=["yes", "no", "maybe"])
REACTIONS = MultipleChoiceParams(
    reference="B", choices=["The reaction is spontaneous", "The reaction is not spontaneous", "It is at equilibrium"]
)
TRUTHS = MultipleChoiceParams(reference="B", choices=["True", "False"])
NONE_OF_THEM = MultipleChoiceParams(reference="D", choices=["Nuclei", "Ribosomes", "Vacuoles", "None of the above"])
ALL_OF_THEM = MultipleChoiceParams(reference="D", choices=["Heat", "Light", "Sound", "All of the above"])
PAIR = MultipleChoiceParams(reference=["A", "C"], choices=["London", "Berlin", "Paris", "Madrid"], multi=True)

IN_A_SENTENCE = [
    "The city we're looking for is Paris.",
    "The city we are looking for is Paris.",
    "The capital of France is **Paris**.",
    "France's capital: Paris",
    "France is a country in Europe. Its capital is Paris.",
    "The city described is **C) Paris**.\n\n- A) London is in England.\n- B) Berlin is in Germany.",
    "Since it lies on the Seine, Paris.",
    "My pick would be C.",
    "Option C it is.",
    "Among the four options only C survives.",
    "I believe the answer to be C.",
    "The correct option is C, as none of A, B, or D is in France.",
    "Output: C",
    "Final decision: **C**",
    "Ans: (c) Paris",
    "Paris [C]",
    "Which one? C.",
    "What is the capital of France? C) Paris",
    '{"answer": {"label": "C", "text": "Paris"}}',
]
NOT_IN_A_SENTENCE = [
    "The other city is Paris.",
    "The capital of France isn't Paris.",
    "The second choice is Paris.",
    "A common mistake is Paris.",
    "This rules out: Paris",
    "The city I eliminated is Paris.",
    "The capital of Germany is Berlin, of France is Paris.",
    "The capital might be Paris.",
    "If it rains the capital is Paris.",
    "It is Paris. Actually, Berlin.",
    "London is in England. The capital of France is Paris. I choose London.",
    "Since it might lie on the Seine, Paris.",
    "My second pick would be C.",
    "One would expect the answer to be C.",
    "I don't believe the answer to be C.",
    "Option C it isn't.",
    "Which one? C or B.",
    "Paris [B]",
    '{"answer": {"label": "B", "text": "Paris"}}',
]
EXCEPTIONS = [
    "The false statement is C.",
    "The incorrect statement is **C**.",
    "The statement that is NOT true is C.",
    "The exception is C.",
    "C is the odd one out.",
    "A) True\nB) True\nC) False\nD) True\n\nThe incorrect statement is C.",
]
NO_EXCEPTIONS = [
    "The false statement is not C.",
    "The false statements are B and C.",
    "The incorrect answer is C.",
    "C is the wrong answer.",
    "C is an exception or B.",
]
REASONS_BELOW = [
    "C) Paris\n\nA) London is the capital of the UK.\nB) Berlin is the capital of Germany.\nD) Madrid is the capital of Spain.",
    "C. Paris\n\nA. London – in England, across the Channel\nB. Berlin – in Germany, on the Spree",
]
NO_REASONS_BELOW = [
    "C) Paris\n\nA) London\nB) Berlin\nD) Madrid",
    "C) Paris\nA) London is a city too\nB) Berlin is a city too",
    "C) Paris\n\nA) London is also correct here.\nB) Berlin is in Germany.",
    "C) Paris\n\nA) London is in the UK.\nB) Berlin is in Germany.\nC) Paris is in France.\nD) Madrid is in Spain.",
]


@table("response", [*IN_A_SENTENCE, *REASONS_BELOW])
def test_an_option_may_be_told_in_prose(response: str) -> None:
    assert judge(response, CITIES).score == 1.0


@table("response", [*NOT_IN_A_SENTENCE, *NO_REASONS_BELOW])
def test_prose_about_an_option_need_not_choose_it(response: str) -> None:
    assert judge(response, CITIES).score == 0.0


@table("response", EXCEPTIONS)
def test_the_exception_is_the_answer(response: str) -> None:
    assert judge(response, BY_LABEL).score == 1.0


@table("response", NO_EXCEPTIONS)
def test_what_is_wrong_is_no_exception(response: str) -> None:
    assert judge(response, BY_LABEL).score == 0.0


def test_of_two_options_the_false_one_may_be_told_for_the_other() -> None:
    assert judge("The false statement is A.", OF_TWO).score == 0.0


@table(
    "response",
    [
        "Yes. There is no evidence of harm.",
        "Yes, there is no doubt.",
        "**Yes.** The drug did not cause harm.",
        "Yes - the results were not affected.",
    ],
)
def test_reasons_for_a_verdict_may_deny_something(response: str) -> None:
    assert judge(response, VERDICTS).score == 1.0


@table(
    "response",
    ["Yes. No.", "Yes and no. It depends.", "Yes. But maybe no.", "Yes. Actually, no.", "Yes? There is none."],
)
def test_a_verdict_beside_another_is_none(response: str) -> None:
    assert judge(response, VERDICTS).score == 0.0


def test_a_statement_may_be_called_false_for_a_reason() -> None:
    assert judge("The statement is **False** because the Earth orbits the Sun.", TRUTHS).score == 1.0
    assert judge("The statement is false because of A, but actually true.", TRUTHS).score == 0.0


def test_what_a_reason_denies_leaves_the_conclusion_alone() -> None:
    assert judge("Since ΔG is not negative, the reaction is not spontaneous.", REACTIONS).score == 1.0
    assert judge("Since ΔG may be positive, the reaction is not spontaneous.", REACTIONS).score == 0.0


def test_options_called_true_as_a_reason_are_not_beside_the_answer() -> None:
    assert judge("Since A, B and C are true, D is the answer.", ALL_OF_THEM).score == 1.0
    assert judge("A is right, D is the answer.", ALL_OF_THEM).score == 0.0
    assert judge("The correct option is D, as none of A, B, or C fits.", NONE_OF_THEM).score == 1.0


@table(("response", "score"), [("A/C", 1.0), ("Answer: A / C", 1.0), ("A or C", 0.0), ("A/C or B", 0.0)])
def test_a_slash_joins_a_set_where_several_are_asked_for(response: str, score: float) -> None:
    assert judge(response, PAIR).score == score
    assert judge(response, CITIES).score == 0.0


TREATMENTS = MultipleChoiceParams(
    reference="B", choices=["Administer naloxone", "Administer thiamine", "Obtain a CT scan"]
)


@table(
    "response",
    [
        "This suggests Wernicke encephalopathy. The best next step is to **administer thiamine**.",
        "The most appropriate next step is (B) administer thiamine.",
        "The next step in management is **B. Administer thiamine**.\n\n**Rationale:** Thiamine is given before glucose.",
        "So we give vitamins first. Answer B.",
    ],
)
def test_the_next_step_may_be_told(response: str) -> None:
    assert judge(response, TREATMENTS).score == 1.0


@table(
    "response",
    [
        "Administer naloxone, then administer thiamine.",
        "The next best option is to administer thiamine.",
        "The next step is not to administer thiamine.",
        "The next step might be (B) administer thiamine.",
        "We cannot answer B.",
    ],
)
def test_another_step_may_not(response: str) -> None:
    assert judge(response, TREATMENTS).score == 0.0


VALUES = MultipleChoiceParams(reference="C", choices=["0.5", "1.5", "2.5", "-2.5"])


@table(
    "response",
    [
        "The value is 2.5.",
        "The result is 2.5 (C).",
        "It is 2.5, which matches C.",
        "Of the four, C best fits the data.",
    ],
)
def test_a_value_may_be_told_in_one_sentence(response: str) -> None:
    assert judge(response, VALUES).score == 1.0


@table(
    "response",
    [
        "The first value is 2.5.",
        "The value isn't 2.5.",
        "The value is -2.5.",
        "The slope is 2.5. Now compute the rest.",
        "It is 2.5, which almost matches C.",
        "It is 2.5, which matches neither C nor B.",
    ],
)
def test_a_value_on_the_way_is_none(response: str) -> None:
    assert judge(response, VALUES).score == 0.0
