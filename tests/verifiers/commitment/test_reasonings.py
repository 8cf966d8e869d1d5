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


@table(
    ("response", "reference", "score"),
    [
        # A check that fails, and words that only look like one.
        (r"\boxed{42}. But plugging this back in, the equation is not satisfied.", "42", 0.0),
        (r"\boxed{42}. Checking: 42 does not satisfy the original equation.", "42", 0.0),
        (r"\boxed{42}. 验算：42+6=47，不相等，说明算错了。", "42", 0.0),
        (r"\boxed{42}. Проверка: 42 + 6 = 47. Не сходится.", "42", 0.0),
        (r"\boxed{42}. Oops.", "42", 0.0),
        (r"\boxed{42}. I have to start over.", "42", 0.0),
        (r"\boxed{42}. Note that x = -3 does not satisfy the original equation.", "42", 1.0),
        (r"\boxed{42}. Many students forget the second case.", "42", 1.0),
        (r"\boxed{42}. I hope I did not make an arithmetic mistake.", "42", 1.0),
        (r"\boxed{42}. 注意不要漏掉一种情况。", "42", 1.0),
        (r"\boxed{42}. Wait, I forgot to mention that x is positive.", "42", 1.0),
        (r"\boxed{42}. I must have made a mistake when I wrote 1800.", "42", 1.0),
        (r"\boxed{48}. Wait, each box holds 6. So each gets 8.", "48", 1.0),
        # What does not exist, with a reason.
        ("The inverse does not exist, since the determinant is 0.", "0", 0.0),
        ("The inverse does not exist, since the determinant is 0.", "does not exist", 1.0),
        ("极限不存在，因为左极限为1，右极限为-1。", "-1", 0.0),
        ("La limite n'existe pas, puisque le dénominateur vaut 0.", "0", 0.0),
        ("Die Gleichung hat keine reelle Lösung, da die Diskriminante -7 ist.", "-7", 0.0),
        ("Impossible, because 7 is odd.", "7", 0.0),
        # A value that is rejected.
        ("x = 9 or x = 2. We reject x = 2.", "2", 0.0),
        ("Las raíces son x = 9 y x = 2; se descarta x = 2.", "2", 0.0),
        ("x=9またはx=2。x=2は不適。", "2", 0.0),
        ("Hmm, 42 seems too small. I must have made an error somewhere.", "42", 0.0),
        ("The error is 42.", "42", 1.0),
        # What is not the case, and what follows from it.
        ("If we ignored friction, the answer would be 42.", "42", 0.0),
        ("Si se permitieran repeticiones, la respuesta sería 50.", "50", 0.0),
        (r"If n were even, we would have \boxed{42}. But n is odd.", "42", 0.0),
        (r"If they shared equally, each would get \boxed{42}.", "42", 1.0),
        (r"If she had kept it all, she would have \boxed{42} dollars.", "42", 1.0),
        (r"If n were 5, we would have \boxed{42}. It isn't.", "42", 0.0),
        (r"Si Paul n'avait rien donné, il aurait \boxed{42} billes.", "42", 1.0),
        # A number that is a greatest or least one, or a limit that is reached.
        (r"Hence \boxed{42} is the maximum.", "42", 1.0),
        (r"Somit ist \boxed{42} das Minimum.", "42", 1.0),
        (r"At least \boxed{42} coins are needed.", "42", 1.0),
        (r"The answer is at least \boxed{42}.", "42", 0.0),
        (r"There are more than \boxed{42} coins.", "42", 0.0),
        ("Tom must be at least 42 years old.", "42", 1.0),
        ("So x must be at least 42.", "42", 0.0),
        # Where an extremum is attained, without a mark.
        ("The maximum is 42 and occurs at x = 3.", "42", 1.0),
        ("The maximum is 42 and occurs at x = 3.", "3", 0.0),
        ("Le maximum vaut 42 et il est atteint en x = 3.", "42", 1.0),
        ("Наибольшее значение равно 42 и достигается при x = 3.", "42", 1.0),
        ("所以最大值是42，在x=3处取得。", "42", 1.0),
        ("The maximum profit is 42 dollars, which occurs when 3 units are sold.", "42", 1.0),
        ("The minimum is not 42 at t = 2.", "42", 0.0),
        ("The maximum is 9, and the sum with x = 3 is 12.", "12", 1.0),
        ("The function is 42 for t = 2 and 19 for t = 3.", "42", 0.0),
        # A root that is rejected beside the answer.
        ("答：$x=3$（$x=-2$ 不符合题意，舍去）", "3", 1.0),
        ("Solo sirve x = 5 (x = -2 no sirve).", "-2", 0.0),
        ("Ответ: x = 7 (корень x = -4 не подходит).", "7", 1.0),
        ("x=-2（舍去），x=3。", "-2", 0.0),
        ("x = 7 (x = -4 is also a root)", "7", 0.0),
        # Differences.
        (r"Der Unterschied beträgt \boxed{42}.", "42", 1.0),
        ("So x differs from y by 42.", "42", 1.0),
        ("Число x отличается от y на 42.", "42", 1.0),
        (r"The answer differs from \boxed{42}.", "42", 0.0),
        # What is wrong is counted, or is something else than the answer.
        (r"He made \boxed{42} mistakes.", "42", 1.0),
        (r"Он допустил \boxed{42} ошибки.", "42", 1.0),
        ("She made 42 mistakes.", "42", 1.0),
        ("Il a fait 42 erreurs.", "42", 1.0),
        ("So 42 wrong.", "42", 0.0),
        (r"\boxed{42} of the claims are wrong.", "42", 1.0),
        (r"\boxed{42} is wrong.", "42", 0.0),
        (r"\boxed{42} is a mistake.", "42", 0.0),
        (r"The number of false statements is \boxed{42}.", "42", 1.0),
        (r"Le plus petit nombre qui ne convient pas est \boxed{42}.", "42", 1.0),
        (r"不满足条件的数有\boxed{42}个。", "42", 1.0),
        (r"\boxed{42}, so the given statement is false.", "42", 1.0),
        (r"\boxed{42}, but that is false.", "42", 0.0),
        ("\\boxed{42}\n\nCommon mistake: forgetting the last row gives 26.", "42", 1.0),
        ("\\boxed{42}\n\nMy mistake: I divided before adding.", "42", 0.0),
        ("\\boxed{42}\n\nHad we forgotten the last row, we would have got 36.", "42", 1.0),
        ("\\boxed{42}\n\nI was worried that I had misread the question.", "42", 1.0),
        ("\\boxed{42}\n\nI see that I misread the question.", "42", 0.0),
        # Whose answer.
        (r"So, Bob's answer should be \boxed{42}.", "42", 1.0),
        ("The answer is 7. The answer 42 overlooks the tax.", "7", 1.0),
        ("The answer 42 overlooks the tax.", "42", 0.0),
        # Roots and absences.
        ("On garde x = 3 (x = -2 est exclu).", "3", 1.0),
        ("x = 2 is extraneous, so the equation has no solution.", "no solution", 1.0),
        ("If each side is doubled, the answer would be 42.", "42", 1.0),
        ("Hence there are 48 ways.\n\nIf order mattered, the answer would be 96.", "48", 1.0),
        ("如果题目说的是非负整数，那么答案就是49。\n\n因此一共有48对。", "48", 1.0),
        ("若a>0，则答案为2；否则为3。", "3", 0.0),
        ("Case 1: a > 0. Then \\boxed{2}.\n\nCase 2: a < 0. Then \\boxed{3}.", "3", 0.0),
        # Corrections.
        ("I think the answer is 49. Wait, that's not right. So there are 48 pairs.", "48", 1.0),
        ("The answer is 48. Correction: 42.", "42", 1.0),
        ("Die Antwort ist 48, nein, 42.", "42", 1.0),
    ],
)
def test_what_a_text_says_of_its_own_values_counts(found: Found, response: str, reference: str, score: float) -> None:
    assert found.judge("math", response, reference=reference).score == score
