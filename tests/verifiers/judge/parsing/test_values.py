"""P6 to P8: labels, lines of text, numbers."""

from typing import Any

import pytest

from tests.tables import table
from tests.verifiers.judge.parsing.reading import kind, reading, value


@table(
    ("label", "expected"),
    [
        *[(spelling, "A") for spelling in ("A", "a", "**A**", "(A)", "A.", "A)", "[[A]]", "`A`", " A ", "Ａ", "'A'")],
        *[(spelling, "A") for spelling in ("CORRECT", "Correct.", "Equivalent", "A: CORRECT", "A - correct", "A (correct)")],
        *[(spelling, "B") for spelling in ("Incorrect", "not_equivalent", "Not equivalent", "B: INCORRECT", "\\\\boxed{B}")],
        *[(spelling, "C") for spelling in ("C", "Invalid", "C: INVALID", "C - REPETITIVE", "C - INCOMPLETE")],
        *[
            (spelling, None)
            for spelling in (
                "D", "", " ", "А", "A or B", "A/B", "A|B|C", "A, B", "<A|B|C>", "not A", "A: INCORRECT", "A - REPETITIVE",
                "A: CORRECT, B: INCORRECT", "A, not B", "A?", "A…", "A..", "A | A", "A, A", "A/CORRECT", "A|", "A,", "/A", "A-", "A+", "-A", "A correct", "A is right", "partially correct", "Yes", "1",
                "not correct", "incomplete", "A because they match", "A (equivalent to the reference)", "correct - not", "[[A=B]]", "AA",
                "A " * 200,
            )
        ],
    ],
)  # fmt: skip
def test_labels(label: str, expected: str | None) -> None:
    assert value("eq_abc", f'{{"verdict": "{label}"}}') == expected


@table(
    ("content", "expected"),
    [
        ("VERDICT: A", "A"),
        ("**Verdict:** A", "A"),
        ("### Verdict: **A**", "A"),
        ("- verdict: (A)", "A"),
        ("VERDICT：A", "A"),
        ("They differ.\nFinal Judgment: \\boxed{B}", "B"),
        ("Final Judgment: $\\boxed{A}$ - CORRECT", "A"),
        ("VERDICT: A\nBoth say 4.", "A"),
        ("VERDICT: A\n\nVERDICT: B", None),
        ("```\nVERDICT: A\n```\nVERDICT: B", "B"),
        ("> VERDICT: A\nVERDICT: B", "B"),
        ("code:\n{ int x; }\nVERDICT: B", "B"),
        ("the set {1, 2}\nVERDICT: B", "B"),
        ("Both say 4.\n\nB", "B"),
        ("B.", "B"),
        ("```\nB\n```", "B"),
        ("[Incorrect]", "B"),
        ("A\nA", "A"),
        ("VERDICT: D", None),
        ("VERDICT: A\nVERDICT:", None),
        ("VERDICT: A\nVERDICT: unsure", None),
        ("VERDICT:\nA", None),
        ("VERDICT: A\nor maybe B", None),
        ("VERDICT: A\nNo, incorrect.", None),
        ("VERDICT: A because they match", None),
        ("My verdict: A", None),
        ("The verdict is A", None),
        ("> VERDICT: A", None),
        ("```\nVERDICT: A", None),
        ("```\nVERDICT: A\n```", None),
        ("The code:\n```\nA\n```", None),
        ("It says\n> A", None),
        ("A\nB", None),
        ("The answer is A", None),
        ("I think they are equivalent", None),
        ("Final Decision: Yes", None),
        ("GRADE: C", None),
        ("[[A=B]]", None),
        ("I'm sorry, I can't help with that.", None),
    ],
)
def test_text(content: str, expected: str | None) -> None:
    assert value("eq_abc", content) == expected
    if expected is not None:
        assert "format_fallback" in reading("eq_abc", content).flags
    assert value("eq_abc", content, "length") is None


@table(
    ("content", "expected"),
    [
        *[(text, "YES") for text in ("YES", "yes", "Yes.", "**Yes**", "Final Decision: Yes", "Judgement: Yes")],
        *[(text, "NO") for text in ("No", "NO.", "Final Decision: Not sure\nFinal Decision: No")],
        *[
            (text, None)
            for text in (
                "yesterday", "Yes, it is", "Yes, no doubt", "Yes\nNo", "no idea", "YES/NO", "The answer is yes", "True", "Y",
                "Final Decision: Yes, they match", "Yes.\nNo difference.",
            )
        ],
    ],
)  # fmt: skip
def test_yes_and_no(content: str, expected: str | None) -> None:
    assert value("yesno", content) == expected


@table(
    ("content", "expected"),
    [
        *[(f'{{"score": {given}}}', 8) for given in ("8", "8.0", '"8"', '"8."', '"8/10"', '"8 out of 10"', '"８"', "0.8e1")],
        ('{"score": 7.5}', 7.5),
        ('{"score": 8}\nGood.', 8),
        ('{"score": 3}\n{"score": 8}', None),
        ("Score: 8", 8),
        ("**Score:** 8/10.", 8),
        ("Score: 3\nScore: 8", None),
        ("Well done.\n8", 8),
        ("8 out of 10", 8),
        *[
            (f'{{"score": {given}}}', None)
            for given in (
                "0", "11", "-3", "1e400", "9" * 5000, "true", "null", "[8]", "08", "+8", "NaN", '"4/5"', '"80/100"', '"80%"',
                '"7-8"', '"7 to 8"', '"8,5"', '"eight"', '"8 (good)"', '"0"', '""',
            )
        ],
        *[
            (text, None)
            for text in (
                "Score: 8 - good", "Score: eight", "Score: 8\nof 10 points", "Score: 80/100", "I give 8", "Score: 8\nScore: 12",
                "Rating: 8", '{"score": 8}\nThat is 8 of ten', '{"rating": 8}', '{"score": 8, "Score": 3}', "Score:", "3\n8",
            )
        ],
    ],
)  # fmt: skip
def test_numbers(content: str, expected: float | None) -> None:
    assert value("score10", content) == expected


@table(
    ("schema", "content", "score"),
    [
        ("score10", '{"score": 1}', 0.0),
        ("score10", '{"score": 10}', 1.0),
        ("oi_score10", '{"SCORE": "1"}', 0.1),
        ("oi_quality", '{"REASONING": "x", "SCORE": 10}', 1.0),
        ("steps", '{"first_error": 0}', 1.0),
        ("steps", '{"first_error": 1}', 0.0),
        ("steps", '{"first_error": "5"}', 0.8),
        ("steps", "First error: 4", 0.6),
        ("pair", '{"winner": "Tie"}', 0.5),
        ("pair", '{"winner": "RESPONSE_B"}', 0.0),
        ("arena5", "My final verdict is tie: [[A=B]]", 0.5),
        ("arena5", "**My final verdict is:** [[A >> B]]", 1.0),
        ("arena5", "My final verdict is: Assistant B is slightly better: [[B>A]]", 0.25),
        ("arena5", "Both were good.\n[[A>B]]", 0.75),
        ("compass", "C", 0.0),
        ("compass", "They agree.\nFinal Judgment: \\boxed{A} - CORRECT", 1.0),
        ("xverify", "[Correct]", 1.0),
        ("xverify", "Incorrect", 0.0),
        ("general_verifier", "They agree.\nFinal Decision: Yes", 1.0),
        ("roll_yesno", "NO", 0.0),
        ("skills_math", "They agree.\nJudgement: Yes", 1.0),
        ("hle", "extracted_final_answer: 4\nreasoning: the same\ncorrect: yes", 1.0),
        ("hle", "extracted_final_answer: 4\nreasoning: no\ncorrect: no\nconfidence: 100%", 0.0),
        ("simpleqa", "NOT_ATTEMPTED", 0.0),
        ("simpleqa", "A: CORRECT", 1.0),
    ],
)
def test_what_verdicts_are_worth(schema: str, content: str, score: float) -> None:
    assert reading(schema, content).score == pytest.approx(score)


@table(
    ("schema", "content"),
    [
        *[("steps", f'{{"first_error": {given}}}') for given in ("6", "-1", "2.5", "true", "null", '"step 3"', '"3/5"', "[2]")],
        ("steps", '{"first_error": 3}\nStep 3 is wrong.'),
        ("pair", '{"winner": "Neither"}'),
        ("pair", '{"winner": "A>B"}'),
        ("pair", "Response A is better than Response B"),
        ("arena5", "My final verdict is tie: [[A>B]]"),
        ("arena5", "My final verdict is different [[A!=B]]"),
        ("arena5", "My final verdict is: [[A>B]] or [[A=B]]"),
        ("arena5", "[[A>B]]\n[[B>A]]"),
        ("arena5", "The other judge said [[A>B]]"),
        ("xverify", "The answer is correct"),
        ("general_verifier", "Yes"),
        ("compass", "A\nFinal Judgment: \\boxed{D}"),
    ],
)  # fmt: skip
def test_what_is_off_the_menu(schema: str, content: str) -> None:
    assert value(schema, content) is None


def test_kinds_tell_what_was_wrong() -> None:
    given: list[tuple[Any, ...]] = [
        ("score10", '{"score": 12}', "out_of_range"),
        ("score10", "Score: 4/5", "scale_mismatch"),
        ("eq_abc", '{"verdict": "D"}', "schema_mismatch"),
        ("eq_abc", '{"verdict": "A or B"}', "ambiguous"),
        ("eq_abc", "I cannot tell", "no_verdict"),
    ]
    assert [kind(schema, content) for schema, content, _ in given] == [expected for *_, expected in given]


@table(
    ("schema", "content", "expected"),
    [
        ("eq_abc", "<answer>B</answer>", "B"),
        ("eq_abc", "It is the same.\n<answer>\nA\n</answer>", None),
        ("eq_abc", "It is the same.\n<answer> A </answer>", "A"),
        ("eq_abc", "<answer>A</answer>\n<answer>B</answer>", None),
        ("eq_abc", "A\n<answer>B</answer>", None),
        ("eq_abc", "The response ends in <answer>A</answer>", None),
        ("eq_abc", "<answer>A</answer>\nSo says the response.", None),
        ("score10", "[[7]]", 7),
        ("score10", "<score>7</score>", 7),
        ("score10", "评分：7", 7),
        ("eq_abc", "正确", "A"),
        ("eq_abc", "判断：不正确", "B"),
        ("eq_abc", '{"verdict": "错误"}', "B"),
        ("yesno", "否", "NO"),
        ("yesno", '{"verdict": true}', "YES"),
        ("eq_abc", '{"verdict": true}', None),
        ("eq_abc", '```json\n{"reasoning": "x", "verdict": "A"}\n```\nLet me know if you need anything else!', "A"),
    ],
)
def test_forms_that_other_prompts_ask_for(schema: str, content: str, expected: Any) -> None:
    assert value(schema, content) == expected
