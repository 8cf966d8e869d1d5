"""Whose answer a text tells, what it tells of an answer, and what it offers beside one, in 16 languages."""

import json
from pathlib import Path

import yaml

from tests.tables import table
from tests.verifiers.commitment.test_parity import CHOICES
from tests.verifiers.found import Found

SAID = yaml.safe_load((Path(__file__).parents[2] / "data" / "commitment" / "others.yaml").read_text("utf-8"))
ROWS = [(language, idea, text) for language, ideas in SAID.items() for idea, text in ideas.items()]


@table("language, idea, text", ROWS)
def test_what_is_told_of_an_answer_is_not_the_answer(language: str, idea: str, text: str, found: Found) -> None:
    shown = rf"\boxed{{42}}" f"\n\n{text}" if idea == "offered" else text
    assert found.judge("math", shown, reference="42").score == float(idea == "plain")


@table(
    "verifier, text, reference, score",
    [
        ("math", r"\boxed{42} is what my friend got.", "42", 0.0),
        ("math", r"So her brother got \boxed{42} candies.", "42", 1.0),
        ("math", "The answer is 42, according to Bob.", "42", 0.0),
        ("math", "According to the Pythagorean theorem, the answer is 42.", "42", 1.0),
        ("math", "> The answer is 42.\n\nThat is what the user claimed. I cannot confirm it.", "42", 0.0),
        ("math", r"\cancel{\boxed{42}}", "42", 0.0),
        ("math", r"\phantom{\boxed{42}}", "42", 0.0),
        ("math", r"\boxed{42 \text{ (placeholder)}}", "42", 0.0),
        ("math", r"(just guessing) \boxed{42}", "42", 0.0),
        ("math", r"\boxed{42 \text{ (apples)}}", "42", 1.0),
        ("math", "The answer is 42. (If that's wrong, 48.)", "42", 0.0),
        ("math", "The answer is 42; if not, 48.", "42", 0.0),
        ("math", "The answer is 42, with 48 as a fallback.", "42", 0.0),
        ("math", r"\boxed{42} (or 48 if n is odd)", "42", 0.0),
        ("math", r"Either \boxed{42} or 48.", "42", 0.0),
        ("math", r"\boxed{42} or 48", "42", 0.0),
        ("math", r"\boxed{42} (alternativ 48)", "42", 0.0),
        ("math", r"\boxed{42}（或48）", "42", 0.0),
        ("math", r"\boxed{42}; failing that, 48.", "42", 0.0),
        ("math", r"\boxed{42} unless the order matters, in which case 48", "42", 0.0),
        ("math", r"\boxed{42} (or 84/2)", "42", 1.0),
        ("math", r"\boxed{41.67} (or 42)", "41.67", 1.0),
        ("math", r"\boxed{42} unless I made an error", "42", 1.0),
        ("chemistry", r"\boxed{CO2} (or CO)", "CO2", 0.0),
        ("chemistry", r"\boxed{CO2}, if not, CO", "CO2", 0.0),
        ("chemistry", r"\boxed{CO2} (or O2C)", "CO2", 1.0),
        ("expression", r"\boxed{6*7}, otherwise 6*8", "42", 0.0),
        ("expression", r"\boxed{6*7} (or 42)", "42", 1.0),
        ("math", "The answer is 42. (If n were 7, it would be 49.)", "42", 1.0),
        ("math", r"Had the coin been fair, we'd get \boxed{42}, alas, it's biased.", "42", 0.0),
        ("math", "如果硬币是公平的，就是 42, 但它不公平.", "42", 0.0),
        ("math", "Se la moneta fosse equa, sarebbe <answer>42</answer>. Ma non lo è.", "42", 0.0),
        ("math", r"If he walked, he would need \boxed{42} minutes, but by bus only 5.", "42", 1.0),
        ("math", r"If n is odd, then it is \boxed{42}, but this is not obvious.", "42", 1.0),
        ("math", r"The answer differs from \boxed{42}.", "42", 0.0),
        ("math", r"Die Antwort weicht von \boxed{42} ab.", "42", 0.0),
        ("math", r"The number of people different from Tom is \boxed{42}.", "42", 1.0),
        ("math", r"\boxed{42} must still be doubled.", "42", 0.0),
        ("math", r"\boxed{42} must be added to make a square.", "42", 1.0),
        ("math", r"\boxed{42} + 3", "42", 0.0),
        ("math", r"% \boxed{42}", "42", 0.0),
        ("math", r"20\% of 210 is \boxed{42}", "42", 1.0),
        ("math", "La réponse 42 oublie la taxe.", "42", 0.0),
        ("numeric", "42 contradicts the premise.", "42", 0.0),
        ("numeric", "He took 42 breaks.", "42", 1.0),
        ("math", r"Beginners often write \boxed{42}.", "42", 0.0),
        ("math", r"Beginners often write \boxed{42} letters.", "42", 1.0),
        ("math", r"A hasty reader would put \boxed{42}.", "42", 0.0),
        ("math", r"Muchos responden \boxed{42} por error.", "42", 0.0),
        ("math", r"Многие по ошибке пишут \boxed{42}.", "42", 0.0),
        ("math", r"He opened \boxed{42} doors by mistake.", "42", 1.0),
        ("math", r"친구는 \boxed{42}라고 한다.", "42", 0.0),
        ("math", "The answer is 42. This could also be found by counting all 6 rows.", "42", 1.0),
        ("math", "The upper bound on the answer is 42.", "42", 0.0),
        ("math", "The upper bound is 42.", "42", 1.0),
        ("math", "The naive answer is 42.", "42", 0.0),
        ("math", "The answer to part (a) is 42.", "42", 0.0),
        ("math", "The answer to part (b) is 42.", "42", 1.0),
        ("math", "The answer is the number of divisors of 42.", "42", 0.0),
        ("math", "The answer is one of 42 possibilities.", "42", 0.0),
        ("math", "The statement is false.", "False", 1.0),
        ("math", "It's an ellipse, not a hyperbola.", "ellipse", 1.0),
        ("numeric", "some time after 1912", "1912", 0.0),
        ("numeric", "Cevap 42 ya da 48.", "42", 0.0),
        ("chemistry", "No H2O is formed.", "H2O", 0.0),
        ("chemistry", "If heated, it would give CO2.", "CO2", 0.0),
        ("chemistry", "The product is H2O; no CO2 is formed.", "H2O", 1.0),
    ],
)
def test_the_words_around_an_answer_count(verifier: str, text: str, reference: str, score: float, found: Found) -> None:
    assert found.judge(verifier, text, reference=reference).score == score


@table(
    "text, score",
    [
        ("Contrary to popular belief, Mark Twain didn't write it.", 0.0),
        ("It's falsely attributed to Mark Twain.", 0.0),
        ("Mark Twain denied writing it.", 0.0),
        ("Mark Twain's brother wrote it.", 0.0),
        ("The brother of Mark Twain wrote it.", 0.0),
        ("Some sources say Mark Twain, others say Dickens.", 0.0),
        ("यह Mark Twain ने नहीं लिखा।", 0.0),
        ("لم يكتبه Mark Twain.", 0.0),
        ("Mark Twain's father is John Clemens.", 1.0),
        ("Mark Twain refused the prize in 1901.", 1.0),
        ("The author, Mark Twain, did not live to see it.", 1.0),
        ("Mark Twain's novel. He wrote it in 1884.", 1.0),
    ],
)
def test_a_name_is_that_of_who_did_it(text: str, score: float, found: Found) -> None:
    assert found.judge("qa", text, reference="Mark Twain", metric="contains").score == score


@table(
    "text, score",
    [
        ("Lisa picked C.", 0.0),
        ("除C以外都对。", 0.0),
        ("除C以外都错。", 1.0),
        ("No es B sino C.", 1.0),
        ("Ce n'est pas B mais C.", 1.0),
    ],
)
def test_an_option_is_chosen_by_contrast(text: str, score: float, found: Found) -> None:
    assert found.judge("multiple_choice", text, reference="C", choices=CHOICES).score == score


@table(
    "text, value",
    [
        ("Definitely not.", False),
        ("That is not the case.", False),
        ("The claim does not hold.", False),
        ("Yes? No.", False),
        ("Absolutely.", True),
        ("当然。", True),
        ("Claro que no.", False),
        ("Конечно.", True),
    ],
)
def test_a_judgement_is_a_yes_or_a_no(text: str, value: bool, found: Found) -> None:
    assert found.judge("qa", text, reference=value, metric="bool").score == 1.0
    assert found.judge("qa", text, reference=not value, metric="bool").score == 0.0
    options = {"A": "True", "B": "False"}
    if text.startswith("The claim"):
        assert found.judge("multiple_choice", text, reference="B", choices=options).score == 1.0


@table(
    "text, score",
    [
        ("Answer: If the store were bigger, there would be 42 boxes.", 0.0),
        ("Answer: If the store is bigger, there will be 42 boxes.", 0.0),
        ("Answer: When we add them, there are 42 boxes.", 1.0),
        ("Answer: 42, because if it were 43, it would be odd.", 1.0),
        ("Answer: He would have 42 apples.", 1.0),
        ("<answer>If the store were bigger, there would be 42 boxes.</answer>", 0.0),
        ("Antwort: Wenn der Laden größer wäre, gäbe es 42 Kisten.", 0.0),
        ("Risposta finale: Il contadino raccoglierebbe 42 mele se piovesse.", 0.0),
        ("Risposta finale: Il contadino raccoglierebbe 42 mele.", 1.0),
        ("Végső válasz: A raktárban 42 doboz lenne, ha nagyobb volna.", 0.0),
        ("Végső válasz: A raktárban 42 doboz van.", 1.0),
        ("Son cevap: Çiftlik büyük olsaydı 42 koyun olurdu.", 0.0),
        ("Son cevap: 42 koyun.", 1.0),
        ("תשובה סופית: החנות הייתה מוכרת 42 ספרים אילו הייתה גדולה יותר.", 0.0),
        ("תשובה סופית: החנות מכרה 42 ספרים.", 1.0),
        ("চূড়ান্ত উত্তর: দোকানটি বড় হলে 42টি বই বিক্রি করত।", 0.0),
        ("চূড়ান্ত উত্তর: 42", 1.0),
        ("Jawaban akhir: Toko itu akan menjual 42 buku seandainya lebih besar.", 0.0),
        ("Jawaban akhir: Toko itu menjual 42 buku.", 1.0),
        ("최종 답: 창고가 더 컸다면 상자가 42개였을 것입니다.", 0.0),
        ("최종 답: 상자는 42개입니다.", 1.0),
        ("最终答案: 如果仓库更大，就会有42个箱子。", 0.0),
        ("最终答案: 一共有42个箱子。", 1.0),
    ],
)
def test_an_answer_line_that_only_supposes_is_not_an_answer(text: str, score: float, found: Found) -> None:
    assert [found.judge(verifier, text, reference="42").score for verifier in ("math", "numeric")] == [score, score]


@table(
    "text, verdict",
    [
        ("It flies.\nTherefore, the answer (Yes or No) is No.", "no"),
        ("It flies.\nTherefore, the answer (Yes or No) is:\n\nYes", "yes"),
        ("The answer (Yes or No): Yes", "yes"),
        ("The answer (Yes or No) is unknown.", None),
        ("The answer (Yes or No) is Yes or No.", None),
        ("The answer (Yes or No) is not Yes.", None),
        ("The answer (Yes or No) depends.", None),
    ],
)
def test_the_choice_of_the_task_in_brackets_is_no_second_answer(text: str, verdict: str | None, found: Found) -> None:
    scores = {word: found.judge("qa", text, reference=word, metric="bool").score for word in ("yes", "no")}
    assert scores == {"yes": float(verdict == "yes"), "no": float(verdict == "no")}
    written = text.replace("Yes", "12").replace("No", "13")
    assert found.judge("math", written, reference="12").score == float(verdict == "yes")


@table(
    "text, reference, score",
    [
        ("Yes, some patients have no illness.", "yes", 1.0),
        ("Yes, that is false in general.", "yes", 0.0),
        ("Yes, the claim is wrong since 3 is odd.", "yes", 0.0),
        ("No, it is true for all n.", "no", 0.0),
        ("Yes, there is no doubt about it.", "yes", 1.0),
        ("Yes, but the answer is no.", "yes", 0.0),
        ("Yes, no it isn't.", "yes", 0.0),
        ("Yes. Actually, there is no such thing.", "yes", 0.0),
        ("No. However, it is true that he was there.", "no", 1.0),
        ("Yes. However, it is false that he was there.", "yes", 1.0),
        ("No. However, it is true that he was there.", "yes", 0.0),
        ("No, it is true that he was there.", "no", 0.0),
        ("No. Wait, it is true that he was there.", "no", 0.0),
        ("No. Actually, it is true that he was there.", "no", 0.0),
        ("No. But it is true.", "no", 0.0),
        ("No. However, yes.", "no", 0.0),
    ],
)
def test_a_yes_stands_beside_a_no_that_tells_another_thing(
    text: str, reference: str, score: float, found: Found
) -> None:
    assert found.judge("qa", text, reference=reference, metric="bool").score == score


@table(
    "lead, score",
    [
        ("This is wrong:", 0.0),
        ("Dies ist falsch:", 0.0),
        ("The answer is not", 0.0),
        ("I doubt that it is", 0.0),
        ("Maybe", 0.0),
        ("This is right:", 1.0),
        ("It is not hard to see that", 1.0),
        ("My first try was wrong.", 1.0),
        ("We get:", 1.0),
    ],
)
def test_a_formula_stands_as_the_words_above_it_say(lead: str, score: float, found: Found) -> None:
    assert found.judge("math", f"{lead}\n\n$$x+5$$", reference="x+5").score == score


@table(
    "verifier, text, reference, score",
    [
        ("numeric", "5.200,00 €", "5200", 1.0),
        ("numeric", "5 200,50", "5200.5", 1.0),
        ("numeric", "1.005.200,5", "1005200.5", 1.0),
        ("numeric", "5.200,00", "5.2", 0.0),
        ("numeric", "3,5", "3.5", 0.0),
        ("numeric", "5 200,500", "5200.5", 0.0),
        ("numeric", "5, 200,50", "5200.5", 0.0),
        ("math", r"\boxed{m\angle A=30^\circ}", "30", 1.0),
        ("math", r"\boxed{m\angle A=40^\circ}", "30", 0.0),
        ("math", r"\boxed{3m\angle A}", r"3m\angle A", 1.0),
        ("math", "Hence no real solution exists.", "no solution", 1.0),
        ("math", "Hence no other solution exists.", "no solution", 0.0),
        ("math", "The answer is 12. For n = 3 no solution exists.", "12", 1.0),
    ],
)
def test_plain_forms_of_answers_are_read(verifier: str, text: str, reference: str, score: float, found: Found) -> None:
    assert found.judge(verifier, text, reference=reference).score == score


_LATEX = r"\( 15 + 6 = 21 \)"


@table(
    "text, reference, score",
    [
        ('{\n"reasoning": "6 - 4,\nso 2.\nThe correct answer is 2.",\n"answer": "2"\n}', "2", 1.0),
        ('{\n"reasoning": "6 - 4,\nso 2.\nThe correct answer is 2.",\n"answer": "2"\n}', "3", 0.0),
        (f'```json\n{{"reasoning": "The answer is {_LATEX} ft.", "answer": "21"}}\n```', "21", 1.0),
        (f'```json\n{{"reasoning": "{_LATEX}", "answer": "22"}}\n```', "21", 0.0),
        ('{"reasoning": "a\nb", "answer": "2" or "3"}', "3", 0.0),
        ('{"reasoning": "a\nb\nc, "answer": "\\"5\\""\n}\n\nThat is all.', "5", 1.0),
        ('He wrote "so the answer is 5."', "5", 1.0),
        ('The answer is 5."', "5", 1.0),
        ('The answer is 5 or 6."', "5", 0.0),
    ],
)
def test_answers_stand_in_json_as_models_write_it(text: str, reference: str, score: float, found: Found) -> None:
    """With line breaks and LaTeX's backslashes in its strings, which JSON does not allow, or with a quote that was never opened."""
    assert found.judge("numeric", text, reference=reference).score == score


@table(
    "value, reference, score",
    [
        (r"\(\frac{333}{1997}\)", r"\frac{333}{1997}", 1.0),
        (r"\[\frac{333}{1998}\]", r"\frac{333}{1997}", 0.0),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", 1.0),
        (r"\begin{pmatrix}1\\3\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", 0.0),
        (r"x \in \{1, 2\}", r"x \in \{1, 2\}", 1.0),
        (r"10\%", r"10\%", 1.0),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}", 1.0),
        (r"\ud800", "1", 0.0),
    ],
)
def test_answers_in_json_are_read_with_escapes_and_without(
    value: str, reference: str, score: float, found: Found
) -> None:
    r"""As JSON wants it (`\\frac`), and as models write it (`\frac`); the first value is of a row of NeMo-Gym's math_with_judge."""
    escaped = json.dumps({"reasoning": r"So \(a\).", "answer": value})
    for text in (escaped, f"```json\n{escaped}\n```", f'{{"answer": "{value}"}}'):
        assert found.judge("math", text, reference=reference).score == score
    whole = found.judge("exact_match", escaped, reference=escaped)
    assert whole.score == 1.0, "the whole text is compared as it was sent"
