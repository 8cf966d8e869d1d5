r"""The end of a reasoning decides, whatever its middle considers, doubts and takes back."""

from typing import Any

from tests.tables import table
from tests.verifiers.found import Found

LETTERS = {"choices": ["A", "B", "C", "D"]}


@table(
    ("verifier", "response", "right", "other", "params"),
    [
        # A last paragraph that is only a value, behind answers of the middle.
        ("numeric", "So the answer is 32. Hmm, 12 more come on Friday. Let me add them.\n\n44", "44", "32", {}),
        ("numeric", "So the answer is 32. Hold on a minute. That's not right. Let me add them.\n\n44", "44", "32", {}),
        ("math", "これで正しいと思う。答えは、残りは26切れ。\n\n**216**", "216", "26", {}),
        ("math", "題目要求的是边长。\n\n**$2\\sqrt{3}$**", r"2\sqrt{3}", "3", {}),
        ("math", "So we get it.\n\n**\\(\\pi\\)**", r"\pi", "3", {}),
        (
            "multiple_choice",
            "I think the answer is B. Let me check it.\n\nMethane is potent. Not D.\n\nC",
            "C",
            "B",
            {},
        ),
        # A heading above a conclusion.
        ("numeric", "### Final Answer\n\nTherefore, the answer is 25.", "25", "26", {}),
        ("math", "### 最終的な答え\n\nよって、正しい答えは25です。", "25", "26", {}),
        ("qa", "**Réponse finale**\n\nPar conséquent, la bonne réponse est Zola.", "Zola", "Hugo", {}),
        # The verb before the noun.
        ("qa", "Ja, alles passt, also lautet die Antwort Gutenberg.", "Gutenberg", "Luther", {}),
        ("qa", "Derfor er svaret Ibsen.", "Ibsen", "Hamsun", {}),
        ("multiple_choice", "Ich prüfe es. Ja, das passt, also ist die Antwort A.", "A", "B", {}),
        # What was taken back on the way is not another answer.
        (
            "multiple_choice",
            "D, Neptuno, así que la respuesta es D. No, eso no es correcto.\n\n\\boxed{A}\n\nEspera, eso no es correcto.\n\n"
            "\\boxed{B}",
            "B",
            "A",
            {},
        ),
        # "a" is an article, not the text of an option.
        ("multiple_choice", "Então, a resposta é D.", "D", "A", LETTERS),
    ],
)
def test_the_last_word_of_a_reasoning_counts(
    found: Found, verifier: str, response: str, right: str, other: str, params: dict[str, Any]
) -> None:
    assert [found.judge(verifier, response, reference=each, **params).score for each in (right, other)] == [1.0, 0.0]


@table(
    ("verifier", "response", "reference"),
    [
        ("numeric", "Also lautet die Antwort 18. Moment mal, das stimmt nicht.", "18"),
        ("numeric", "The answer is 18. Hold on a minute. This is wrong.", "18"),
        ("math", "La respuesta es 18. Espera un segundo, eso no es correcto.", "18"),
        ("qa", "Also lautet die Antwort nicht Gutenberg.", "Gutenberg"),
        ("multiple_choice", "D tarda 16 horas, así que tampoco es D.", "D"),
        ("multiple_choice", "The answer is B. I looked at these.\n\nA\n\nC", "C"),
        ("multiple_choice", "So B is right. Hmm.\n\nMethane is potent.\n\nMaybe C", "C"),
        ("numeric", "**Answer**\n\n12. So the answer is 13.", "12"),
    ],
)
def test_what_is_taken_back_or_left_open_is_unpaid(found: Found, verifier: str, response: str, reference: str) -> None:
    assert found.judge(verifier, response, reference=reference).score == 0.0
