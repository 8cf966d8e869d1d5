"""What is doubted in or behind a mark, taken back behind it, or has several labels is paid by no verifier."""

from typing import Any

from tests.tables import table
from tests.verifiers.found import Found


def paid(found: Found, row: tuple[str, str, Any, dict[str, Any]]) -> bool:
    verifier, response, reference, params = row
    return found.judge(verifier, response, reference=reference, **params).score == 1.0


def is_unpaid(found: Found, row: tuple[str, str, Any, dict[str, Any]]) -> None:
    assert not paid(found, row)


CONTAINS = {"metric": "contains"}
BOOL = {"metric": "bool"}


@table(
    "row",
    [
        ("numeric", r"\boxed{12 \text{ maybe}}", 12, {}),
        ("numeric", r"\boxed{\text{maybe } 12}", 12, {}),
        ("numeric", "<answer>12, perhaps</answer>", 12, {}),
        ("numeric", "The answer is 12 (probably not).", 12, {}),
        ("numeric", r"$\boxed{12}$, quizás.", 12, {}),
        ("regression", r"\boxed{12 \text{ vielleicht}}", 12, {}),
        ("math", r"\boxed{12}\text{ maybe}", "12", {}),
        ("math", r"$\boxed{12}$, perhaps.", "12", {}),
        ("multiple_choice", r"\boxed{B?}", "B", {}),
        ("multiple_choice", r"\boxed{B \text{ maybe}}", "B", {}),
        ("multiple_choice", "<answer>B, probably not</answer>", "B", {}),
        ("multiple_choice", "The answer is B (maybe).", "B", {}),
        ("qa", "Paris, perhaps.", "Paris", CONTAINS),
        ("qa", "yes, maybe", "yes", BOOL),
        ("qa", "<answer>yes, probably not</answer>", "yes", BOOL),
    ],
)
def test_a_doubt_beside_the_value_is_no_answer(row: Any, found: Found) -> None:
    is_unpaid(found, row)


@table(
    "row",
    [
        ("math", "The answer is $x+1$, though $x+2$ is possible.", "x+1", {}),
        ("math", "The answer is $x+1$, but it may be $x+2$.", "x+1", {}),
        ("math", r"The answer is $\boxed{5}$, though $6$ is possible.", "5", {}),
        ("numeric", "The answer is 5, but 6 is also possible.", 5, {}),
    ],
)
def test_another_value_that_is_called_possible_is_a_second_answer(row: Any, found: Found) -> None:
    is_unpaid(found, row)


@table(
    "row",
    [
        ("math", "The answer is 5, though 6 is not possible.", "5", {}),
        ("math", "The answer is 5, though 6 was expected.", "5", {}),
        ("math", "The answer is 5, although it may look strange.", "5", {}),
        ("math", "The answer is 5, but 5 is possible only once.", "5", {}),
    ],
)
def test_a_concession_without_another_possible_value_doubts_nothing(row: Any, found: Found) -> None:
    assert paid(found, row)


@table(
    "row",
    [
        ("math", r"\boxed{width: 5, length: 7}", "7", {}),
        ("math", r"\boxed{\text{boys: }5; \text{girls: }7}", "7", {}),
        ("math", "width: 5, length: 7", "7", {}),
        ("math", "The dimensions are width: 5, length: 7.", "7", {}),
        ("math", r"\boxed{length: 5, width: 7}", "width: 5, length: 7", {}),
        ("numeric", "<answer>width: 5, length: 7</answer>", 7, {}),
        ("numeric", "width: 5, length: 7", 7, {}),
        ("math", "<answer>Step 1: 7\nStep 2: 8</answer>", "7", {}),
        ("math", "<answer>Step 1: 3+4\nStep 2: 7\n8</answer>", "7", {}),
        ("math", "<answer>Case 1: 3\nCase 2: 7</answer>", "7", {}),
    ],
)
def test_the_last_of_several_labelled_values_is_no_answer(row: Any, found: Found) -> None:
    is_unpaid(found, row)


@table(
    "row",
    [
        ("math", r"\boxed{width: 5, length: 7}", "width: 5, length: 7", {}),
        ("math", r"\boxed{length: 7, width: 5}", "width: 5, length: 7", {}),
        ("math", r"\boxed{\text{boys: }5, \text{girls: }7}", "5, 7", {}),
        ("numeric", "dogs: 4, cats: 3, total: 7", 7, {}),
        ("math", "<answer>Step 1: 3+4\nStep 2: 7</answer>", "7", {}),
        ("math", "<answer>**Schritt 1:** 3+4\n\n**Schritt 2:** 7</answer>", "7", {}),
        ("qa", "The answer is May 5, 2021.", "May 5, 2021", {}),
        ("qa", "The answer is May.", "May", {}),
        ("qa", "The answer is May 5, 2021", "2021-05-05", {"metric": "date"}),
        ("multiple_choice", "C'est B.", "B", {}),
        ("multiple_choice", "Ответ: В", "B", {}),
        ("multiple_choice", "Απάντηση: Β", "B", {}),
        ("multiple_choice", "答案是(B)。", "B", {}),
        ("multiple_choice", "∠C is 125°.", "A", {"choices": ["125°", "90°", "80°"]}),
        ("multiple_choice", "No, Blue does not meet it.", "B", {"choices": ["yes", "no"]}),
        ("qa", "The answer is Pride or Prejudice.", "Pride or Prejudice", CONTAINS),
        ("qa", "The answer is Pride or Prejudice.", "Pride or Prejudice", {}),
        ("qa", "Nein, das ist nicht wahr.", "no", BOOL),
        ("qa", "No, that is not true.", "false", BOOL),
        ("qa", "Non, ce n'est pas vrai.", "no", BOOL),
        ("qa", "Hayır, bu doğru değil.", "no", BOOL),
        ("qa", "是的，没错。", "yes", BOOL),
        ("qa", "Answer: Yes. Wait, yes, it is true.", "yes", BOOL),
        ("qa", "Answer: No. No, it is not true.", "no", BOOL),
        ("qa", "Answer: Yes. No doubt, it is true.", "yes", BOOL),
        ("qa", "Answer: Yes. But no other animal does so.", "yes", BOOL),
        ("qa", "Answer: No. But he lived there.", "no", BOOL),
        ("qa", "Answer: No. However, it is true that he lived there.", "no", BOOL),
    ],
)
def test_a_plain_right_answer_is_paid(row: Any, found: Found) -> None:
    assert paid(found, row)


@table(
    "row",
    [
        ("qa", "The answer is yes. Wait, no.", "yes", BOOL),
        ("qa", "The answer is yes. No, it's no.", "yes", BOOL),
        ("qa", "La respuesta es sí. Espera, no.", "yes", BOOL),
        ("qa", "Answer: False. Wait, no, it is true.", "false", BOOL),
        ("qa", "Answer: That is wrong. Wait, no, it is right.", "false", BOOL),
        ("qa", "Answer: Nein. Nein, warte, es ist wahr.", "no", BOOL),
        ("qa", "Réponse : faux. Non, attendez, c'est vrai.", "false", BOOL),
        ("qa", "答案：错。等等，不，这是正确的。", "false", BOOL),
        ("qa", "My friend says yes.", "yes", BOOL),
        ("math", "The answer is 12. Wait, no.", "12", {}),
        ("math", r"\boxed{12}. Hmm, no.", "12", {}),
        ("numeric", "Die Antwort ist 12. Moment, nein.", 12, {}),
        ("numeric", "Ответ: 12. Подождите, нет.", 12, {}),
        ("numeric", "答案是12。等等，不对。", 12, {}),
        ("multiple_choice", "The answer is B. Wait, no.", "B", {}),
        ("qa", "The answer is Paris. Actually, no.", "Paris", CONTAINS),
        ("multiple_choice", "The answer is С.", "C", {}),
        ("multiple_choice", "Ответ: В, а не Б", "B", {}),
        ("multiple_choice", "C'est B.", "C", {}),
        ("qa", "The answer is Pride or Prejudice.", "Pride", CONTAINS),
        ("qa", "De hoofdstad is Parijs of Londen.", "Parijs", CONTAINS),
    ],
)
def test_what_is_taken_back_or_said_by_others_is_no_answer(row: Any, found: Found) -> None:
    is_unpaid(found, row)


@table(
    "row",
    [
        ("Mark Twain no lo escribió.", "Mark Twain"),
        ("Mark Twain ne l'a pas écrit.", "Mark Twain"),
        ("Mark Twain non l'ha scritto.", "Mark Twain"),
        ("Mark Twain não o escreveu.", "Mark Twain"),
        ("Mark Twain schrieb es nicht.", "Mark Twain"),
        ("Mark Twain schreef het niet.", "Mark Twain"),
        ("Mark Twain skrev det inte.", "Mark Twain"),
        ("Mark Twain nie napisał tego.", "Mark Twain"),
        ("Mark Twain bunu yazmadı.", "Mark Twain"),
        ("Mark Twain nu a scris-o.", "Mark Twain"),
        ("Mark Twain ei kirjoittanut sitä.", "Mark Twain"),
        ("Mark Twain nem írta meg.", "Mark Twain"),
        ("Mark Twain tidak menulisnya.", "Mark Twain"),
        ("Mark Twain không viết nó.", "Mark Twain"),
        ("Марк Твен этого не писал.", "Марк Твен"),
        ("Марк Твен не писав цього.", "Марк Твен"),
        ("Ο Μαρκ Τουέιν δεν το έγραψε.", "Μαρκ Τουέιν"),
        ("马克·吐温没写过。", "马克·吐温"),
        ("マーク・トウェインはそれを書いていません。", "マーク・トウェイン"),
        ("मार्क ट्वेन ने इसे नहीं लिखा।", "मार्क ट्वेन"),
        ("مارك توين لم يكتبه.", "مارك توين"),
        ("מארק טוויין לא כתב את זה.", "מארק טוויין"),
        ("มาร์ค ทเวน ไม่ได้เขียนมัน", "มาร์ค ทเวน"),
    ],
)
def test_the_subject_of_a_denied_verb_is_not_named(row: tuple[str, str], found: Found) -> None:
    is_unpaid(found, ("qa", *row, CONTAINS))


@table(
    "row",
    [
        ("Vienna, Austria; Bratislava, Slovakia; and Budapest, Hungary.", "Budapest, Vienna and Bratislava"),
        ("He lived from 1723 to 1792.", "1723-1792"),
        ("The song was written byAndrew Lloyd Webber.", "Andrew Lloyd Webber"),
        ("The leader when the wall was built was Nikita Khrushchev.", "Nikita Khrushchev"),
        ('The man in "Call Me Maybe" is Holden Nowell.', "Holden Nowell"),
        ("The voice is provided by Tori Kelly.", "Tori Kelly"),
        ("It came out on September 26, 2017.", "September 2017"),
        ("There are 7 of them.", "seven"),
        ("Pygmies", "Pygmies (short height)"),
        ("Doves", "PIGEONS or DOVES"),
        ("It is the Cassini Division.", "Cassini's Division"),
        ("Mark Twain lo escribió, no Dickens.", "Mark Twain"),
    ],
)
def test_a_name_in_other_words_is_contained(row: tuple[str, str], found: Found) -> None:
    assert paid(found, ("qa", *row, CONTAINS))


@table(
    "row",
    [
        ("It came out on August 19. The DVD came on November 22, 2016.", "August 19, 2016"),
        ("Harry Potter and the Philosopher's Stone", "Harry Potter III"),
        ("Vienna and Budapest.", "Budapest, Vienna and Bratislava"),
        ("Trick", "Trick or Treat"),
        ("McDonald", "Donald"),
        ("When it rains he may be Tom.", "Tom"),
    ],
)
def test_a_part_of_a_reference_is_not_the_reference(row: tuple[str, str], found: Found) -> None:
    is_unpaid(found, ("qa", *row, CONTAINS))


@table(
    "text, pays",
    [
        ("This turned out to be wrong.", False),
        ("(Incorrect.)", False),
        ("Das ist leider falsch.", False),
        ("It is never wrong.", True),
        ("This shows that the claim is false.", True),
        ("This means he was wrong.", True),
        ("That is not surprising.", True),
    ],
)
def test_a_sentence_that_only_rejects_what_it_points_to_takes_it_back(text: str, pays: bool, found: Found) -> None:
    for verifier in ("math", "numeric"):
        shown = f"The answer is 42. {text}"
        assert (found.judge(verifier, shown, reference="42").score == 1.0) is pays, verifier


@table(
    ("response", "pays"),
    [
        ("Antwort: Marie hat insgesamt 12 Schachteln bestellt.", True),
        ("**Antwort:** Janet nimmt täglich 12 Dollar auf dem Bauernmarkt ein.", True),
        ("Réponse: Marie a commandé 12 boîtes de pizza.", True),
        ("### Respuesta\nJosh obtuvo una ganancia de **$12**.", True),
        ("Ответ: Жан может заполнить 12 пакетов.", True),
        ("### 最終的な答え\n\nジルは12個を売りました。", True),
        ("答案：宾客拿走了12片派。", True),
        ("**Final Answer: John drinks 12 glasses of water in a week.**", True),
        ("### Final Answer\n\nThe total is as follows.\n\n$$12$$", True),
        ("### Final Answer\n\nThe total is as follows.\n\n\\[12\\]", True),
        ("よって、答えは「Answer: 12」となります。", True),
        ('Entonces, la respuesta es: "Answer: 12". Jean tiene 12.', True),
        ("¡Respuesta: 12!", True),
        ("Answer: [12].", True),
        ("उत्तर: १२", True),
        ("Answer: 12!", False),
        ("Answer: [12, 13].", False),
        ('Answer: "12" or "13".', False),
        ("Antwort: Marie hat nicht 12 Schachteln bestellt.", False),
        ("Antwort: Tom hat höchstens 12 Kuchen verkauft.", False),
        ("Antwort: Tom hat 12 Kuchen und 13 Brote verkauft.", False),
        ("Antwort: Die Hälfte von 12 Kuchen.", False),
        ("Réponse: Marie a commandé moins de 12 boîtes.", False),
        ("Réponse: Peut-être que Marie a commandé 12 boîtes.", False),
        ("Respuesta: La raíz cuadrada de 12.", False),
        ("Respuesta: Si Josh vendió 12 pasteles.", False),
        ("Ответ: Том продал менее 12 пирогов.", False),
        ("### 最終的な答え\n\nジルは箱を12個売りませんでした、残念です。でも13個。", False),
        ("Antwort: Marie hat 12 Schachteln bestellt. Sie isst 13.", False),
        ("Antwort: Hat Marie insgesamt 12 Schachteln bestellt?", False),
        ("Answer: My teacher says that Tom sold 12 cakes.", False),
    ],
)
def test_an_announced_sentence_states_its_number(response: str, pays: bool, found: Found) -> None:
    for verifier in ("math", "numeric"):
        assert found.judge(verifier, f"First 3 + 4 = 7.\n\n{response}", reference="12").score == float(pays), verifier


BESIDE = [
    ("# 13", "13"), ("=> 13", "13"), ("-> 13", "13"), ("➡ 13", "13"), ("• 13", "13"),
    ("<answer>13 fois</answer>", "13"), ("<answer>13 veces</answer>", "13"), ("<answer>13 Mal</answer>", "13"),
    (r"\boxed{5\text{ ft }2\text{ in}}", r"62\text{ in}"), (r"\boxed{6\text{ feet } 3\text{ inches}}", "75 in"),
    (r"\boxed{6\,\mathrm{kg\,m2\,s^{-2}}}", "6 J"), ("H2SO4", r"\ce{H2SO4}"), ("Al2(SO4)3", r"\ce{Al2(SO4)3}"),
]  # fmt: skip
NOT_BESIDE = [
    ("# Step 13", "13"), ("## 13", "13"), ("x => 13", "13"), (">= 13", "13"), ("# 13\n14", "13"), ("<answer>13 fois 2</answer>", "13"),
    ("<answer>13 加上</answer>", "13"), (r"\boxed{5\text{ ft }2\text{ in}}", r"5\text{ ft}^2"), (r"\boxed{3\text{ km }2\text{ h}}", "3 km"),
    ("not H2SO4", r"\ce{H2SO4}"), ("Al2(SO4)3", "3"), ("step3", "3"), ("Case3 and 4", "3"),
]  # fmt: skip


@table("response, reference", BESIDE)
def test_marks_times_and_a_second_amount_stand_beside_a_number(response: str, reference: str, found: Found) -> None:
    assert found.judge("math", response, reference=reference).score == 1.0


@table("response, reference", NOT_BESIDE)
def test_other_marks_and_operators_do_not(response: str, reference: str, found: Found) -> None:
    assert found.judge("math", response, reference=reference).score == 0.0
