"""Right answers that models gave to public questions, as their projects published them, and texts like them that are none."""

import json
from pathlib import Path
from typing import Any

from tests.tables import table
from tests.verifiers.found import Found

ROWS = Path(__file__).parents[2] / "data" / "commitment" / "public_rows.jsonl"
TRUTH = {"choices": {"A": "Yes", "B": "No"}}
NOTES = {"choices": {"A": "C", "B": "E", "C": "H", "D": "G"}}
NUMBERS = {"choices": {"A": "3", "B": "5", "C": "7", "D": "9"}}
TOWNS = {"choices": {"A": "Paris", "B": "Rome", "C": "Bonn"}}


@table("row", [json.loads(line) for line in ROWS.read_text("utf-8").splitlines()])
def test_a_right_answer_is_paid(row: dict[str, Any], found: Found) -> None:
    params = {key: row[key] for key in ("reference", "choices") if key in row}
    assert found.judge(row["verifier"], row["response"], **params).score == 1.0


@table(
    ("verifier", "response", "reference", "params", "score"),
    [
        # "Provided" and "given" behind a noun are no conditions.
        ("math", "Based on the information provided, the answer is 9.", "9", {}, 1.0),
        ("qa", "Based on the information provided, the answer is Paris.", "Paris", {}, 1.0),
        ("numeric", "Given the data provided, there are 9 apples.", "9", {}, 1.0),
        ("multiple_choice", "Given the data provided, the answer is D.", "D", {}, 1.0),
        ("math", "The answer is 9, provided that n is even.", "9", {}, 0.0),
        # A label with its own text.
        ("multiple_choice", "Answer: (A) C", "A", NOTES, 1.0),
        ("multiple_choice", "**A. C**", "A", NOTES, 1.0),
        ("multiple_choice", "Answer: (A) E", "A", NOTES, 0.0),
        ("multiple_choice", "The answer is (B). No.", "B", TRUTH, 1.0),
        ("multiple_choice", "The answer is (B). No.", "B", TOWNS, 0.0),
        ("multiple_choice", "The answer is (B). No, it is A.", "B", TRUTH, 0.0),
        ("multiple_choice", "The treaty was signed in (B) Rome in 1957.", "B", TOWNS, 1.0),
        # An explanation that denies something else.
        ("multiple_choice", "B. No. The nest is too small to fit.", "B", TRUTH, 1.0),
        ("multiple_choice", "No. The box is too small.", "B", TRUTH, 1.0),
        ("multiple_choice", "B. The town is not in France.", "B", TOWNS, 1.0),
        ("multiple_choice", "B. It is the wrong town.", "B", TOWNS, 0.0),
        ("multiple_choice", "B. The option is not right.", "B", TOWNS, 0.0),
        ("multiple_choice", "B. The town cannot be the answer.", "B", TOWNS, 0.0),
        ("multiple_choice", "B. Not this one.", "B", TOWNS, 0.0),
        # A denial or a doubt that only says which one is meant.
        ("multiple_choice", "The number that is not prime is 9.", "D", NUMBERS, 1.0),
        ("multiple_choice", "The number that could not be prime is 9.", "D", NUMBERS, 1.0),
        ("multiple_choice", "The pattern that could be folded to form a cube is (D).", "D", {}, 1.0),
        ("multiple_choice", "The answer could not be D.", "D", {}, 0.0),
        ("multiple_choice", "The option that could be correct is D.", "D", {}, 0.0),
        # Words that often speak of an answer may be one.
        ("qa", "It is true that he is a cousin. So the answer is valid.", "valid", {}, 1.0),
        ("qa", "It is true that he is a cousin. So the answer is valid.", "invalid", {}, 0.0),
        ("math", "There are 18 of them. So the answer is valid.", "18", {}, 1.0),
        ("qa", "So the answer is ) }.", ") }", {}, 1.0),
        ("qa", "So the answer is } > > ).", "> > )", {}, 0.0),
        # Letters of constants name other things, too.
        ("math", r"\boxed{e = \frac{1}{2}}", "0.5", {}, 1.0),
        ("math", r"\boxed{i = 3}", "3", {}, 1.0),
        ("math", r"\boxed{\frac12}", r"e = \frac{1}{2}", {}, 1.0),
        ("math", r"\boxed{i = 3}", "3i", {}, 0.0),
        ("math", r"\boxed{e}", "1/2", {}, 0.0),
        # Somebody picks things, and not an answer.
        ("math", r"Her mother picked $\boxed{30}$ apples.", "30", {}, 1.0),
        ("numeric", "The teacher picked 30 apples in total.", "30", {}, 1.0),
        ("math", r"My friend picked $\boxed{30}$.", "30", {}, 0.0),
        ("math", "My friend chose 30 as the answer.", "30", {}, 0.0),
        # The last step of an agent.
        ("multiple_choice", 'Since A and B lie apart, it is far.\nAction: Answer("C")', "C", TOWNS, 1.0),
        ("multiple_choice", 'So A is the nearest.\n**Action: Answer("C")**', "A", TOWNS, 0.0),
        ("multiple_choice", 'Action: Answer("B") or Answer("C")', "C", TOWNS, 0.0),
        ("multiple_choice", 'Action: Answer("B, C")', "C", TOWNS, 0.0),
        ("multiple_choice", 'Action: Answer("C")\nWait, no, it is B.', "C", TOWNS, 0.0),
        ("qa", "Thought: It must be the capital.\nAction 2: Finish[Paris]", "Paris", {}, 1.0),
        ("qa", "Action: finish[not Paris]", "Paris", {}, 0.0),
        ("qa", "Action: finish[Paris or Rome]", "Paris", {}, 0.0),
        ("qa", "Action: search[Paris]", "Paris", {}, 0.0),
        ("numeric", "There are 40 and 2 more.\nfinal_answer(42)", "42", {}, 1.0),
        ("numeric", "Answer(s)\n42", "42", {}, 1.0),
        ("numeric", "f(42)", "42", {}, 0.0),
        # The letter of an option before its text.
        ("qa", "She had the highest score. The answer is (C) Luna.", "Luna", {}, 1.0),
        ("qa", "**(C) Luna**", "Luna", {}, 1.0),
        ("qa", "(B) 2:35 P.M.", "2:35 P.M.", {"metric": "f1"}, 1.0),
        ("qa", "(C) Luna", "(D) Luna", {}, 0.0),
        ("qa", "(C) not Luna", "Luna", {}, 0.0),
        ("qa", "(C) Luna, (D) Rosa", "Luna", {}, 0.0),
        ("qa", "f(C) Luna", "Luna", {}, 0.0),
        ("qa", "J. Smith", "Smith", {}, 0.0),
        # An article is not the name of a quantity.
        ("numeric", "A banana cream pie costs $0.41 more than a pumpkin pie.", "0.41", {}, 1.0),
        ("numeric", "It is 5 more than a.", "5", {}, 0.0),
        ("numeric", "It is 5 more than a dozen.", "5", {}, 0.0),
        ("numeric", "It is 5 less than a third of it.", "5", {}, 0.0),
        ("numeric", "It costs over 5, less than a pie.", "5", {}, 0.0),
        # Somebody who says or picks something is counted, and says no answer.
        ("numeric", "So the number of students who said yes is 4.", "4", {}, 1.0),
        ("math", "The probability that a student picked red is 1/4.", "1/4", {}, 1.0),
        ("math", "The percentage of people who chose blue is 4.", "4", {}, 1.0),
        ("numeric", "The number that people chose is 4.", "4", {}, 0.0),
        ("numeric", "The number my teacher said first is 4.", "4", {}, 0.0),
        ("numeric", "The number of the option that my friend chose first is 4.", "4", {}, 0.0),
        ("numeric", "My friend says the number of people who chose blue is 4.", "4", {}, 0.0),
        ("numeric", "The number of people is what my friend said, that is 4.", "4", {}, 0.0),
        ("numeric", "The number of people who chose blue is 4, my friend said.", "4", {}, 0.0),
        # An x between numbers is a sign; a percentage of a number is a product.
        ("math", "So the total is 9 x $5 = $45.", "45", {}, 1.0),
        ("math", r"\boxed{25\% \text{ of } 60 = 15}", "15", {}, 1.0),
        ("math", "9 x 5 = 46", "45", {}, 0.0),
        ("math", "9 x 5", "45x", {}, 0.0),
        ("math", r"\boxed{25\% \text{ of } 60}", r"25\%", {}, 0.0),
        # What follows at the end of a line of implications is the answer.
        ("math", r"\boxed{9x = 1440 \Longrightarrow 3x = 480 \implies x = 160}", "160", {}, 1.0),
        ("math", r"So $2x > 10 \iff x > 5$.", r"(5, \infty)", {}, 1.0),
        ("math", r"\boxed{9x = 1440 \Rightarrow x = 160}", "1440", {}, 0.0),
        ("math", r"\boxed{p \Rightarrow q}", "q", {}, 0.0),
        ("math", r"\boxed{y = 3}", r"x = 2 \Rightarrow y = 3", {}, 0.0),
        ("math", r"\boxed{x = 5 \Rightarrow \text{contradiction}}", "5", {}, 0.0),
        # A gap before words, and the word for an extreme before a name.
        ("math", r"\boxed{C_n = \frac{1}{2n}\ \text{ for all integers } n \ge 2.}", r"\frac{1}{2n}", {}, 1.0),
        ("math", r"\boxed{\text{Smallest } n = 50}", "50", {}, 1.0),
        ("math", r"\boxed{5\ \text{ or } 6}", "5", {}, 0.0),
        ("math", r"\boxed{\text{Wrong } n = 50}", "50", {}, 0.0),
        ("math", r"\boxed{\text{Minimum } n = 50}", r"\text{Maximum } n = 50", {}, 0.0),
        # The marks of a formula do not end the clause of a denial.
        ("math", r"The answer is \(\boxed{16}\), not \(32\).", "16", {}, 1.0),
        ("numeric", r"The answer is \(16\), not \(32\).", "16", {}, 1.0),
        ("math", r"The answer is \(16\), not \(32\).", "32", {}, 0.0),
        ("math", r"The answer is \(16\), not.", "16", {}, 0.0),
        ("math", r"The answer is \(16\). No, \(32\).", "16", {}, 0.0),
        # A box around a whole solution, which has a box of its own.
        ("math", "\\boxed{Take \\(a = 44\\). Then\n\\(b = 41\\), and the sum is \\(\\boxed{85}\\).\n}", "85", {}, 1.0),
        ("math", r"\boxed{Here $a = 44$. The answer is not $\boxed{85}$.}", "85", {}, 0.0),
        ("math", r"\boxed{One gets $\boxed{5}$ or $\boxed{6}$.}", "5", {}, 0.0),
        ("math", r"\boxed{$\boxed{5}$ is wrong, the answer is 6}", "5", {}, 0.0),
        ("math", r"\boxed{The sum is \(\boxed{5} + 1\).}", "5", {}, 0.0),
    ],
)
def test_a_plain_answer_and_its_neighbour(
    verifier: str, response: str, reference: str, params: dict[str, Any], score: float, found: Found
) -> None:
    assert found.judge(verifier, response, reference=reference, **params).score == score
