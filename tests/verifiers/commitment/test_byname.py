"""What the text behind a mark says of its value by name, in 17 languages."""

from pathlib import Path

import yaml

from tests.tables import table
from tests.verifiers.commitment.test_parity import CHOICES
from tests.verifiers.found import Found

SAID = yaml.safe_load((Path(__file__).parents[2] / "data" / "commitment" / "byname.yaml").read_text("utf-8"))
MARKS = [r"\boxed{48}", "<answer>48</answer>"]
TAKES_BACK = ["wrong", "denied", "concluded", "recheck"]
STANDS = ["right", "check", "other", "each", "without"]


@table("language", [*SAID])
def test_a_mark_stands_unless_its_value_is_denied_or_another_is_concluded(language: str, found: Found) -> None:
    for mark in MARKS:
        for idea in [*TAKES_BACK, *STANDS]:
            shown = f"{mark}\n\n{SAID[language][idea]}"
            assert found.judge("math", shown, reference="48").score == float(idea in STANDS), shown
    assert found.judge("math", SAID[language]["contrast"], reference="48").score == 1.0
    assert found.judge("math", SAID[language]["contrast"], reference="42").score == 0.0


@table(
    "text, reference, score",
    [
        (r"\boxed{48}" "\n\nTherefore it is 42, not 48.", "42", 1.0),
        (r"\boxed{48}" "\n\nSo it's 42.", "42", 1.0),
        (r"\boxed{48}" "\n\nLa bonne réponse devrait être 42.", "42", 1.0),
        ("So the answer is 49. But that counts b = 0. So there are 48 pairs.", "48", 1.0),
        ("So the answer is 49. But that counts b = 0. So there are 48 pairs.", "49", 0.0),
        ("所以答案是49。等一下，我多算了b=0。所以一共有48对。", "48", 1.0),
        ("よって答えは49です。いや、1つ多く数えました。したがって48組です。", "48", 1.0),
        (r"\boxed{48}" "\n\nIs 48 wrong? No, it is right.", "48", 1.0),
        (r"\boxed{48}" "\n\n48 is wrong. No, wait. 48 is right.", "48", 1.0),
        (r"\boxed{48}" "\n\n等等，检查一下。6×18=108。", "48", 1.0),
        (r"\boxed{48}" "\n\nSo it's approximately 50.", "48", 1.0),
        (r"\boxed{15}" "\n\nBut k must be odd, so k = 16.", "16", 1.0),
        (r"\boxed{15}" "\n\nMais k doit être impair, donc k = 16.", "15", 0.0),
        ("The official worked example says the answer is 15, but we get 16.", "16", 1.0),
        ("提示说答案是15，但我算出来是16。", "15", 0.0),
        ("The official answer is 15, but I get 16.", "15", 0.0),
        ("La pista dice que la respuesta es 15, pero yo obtengo 16.", "16", 1.0),
        ("ヒントでは答えは15だが、私の計算では16になる。", "15", 0.0),
        ("The answer is 15, but I found 3 errors in the table.", "15", 1.0),
        (r"\boxed{15} Note: for n = 3, the answer is 16.", "15", 1.0),
        ("#### 15\n\nRemarque : pour n = 3, la réponse est 16.", "15", 1.0),
        (r"\boxed{15}" "\n\n注意：n=3の場合、答えは16です。", "15", 1.0),
        (r"\boxed{15}" "\n\nRemark: for n=3 the answer would be 16.", "15", 1.0),
        (r"We need n = 3. \boxed{15}" "\n\nFor n = 3, the answer is 16.", "16", 1.0),
        ("For n = 2, the answer is 15. For n = 3, the answer is 16.", "15", 0.0),
        ("The answer is 15. In the previous problem, the answer was 16.", "15", 1.0),
        ("答案是15。上一题的答案是16。", "15", 1.0),
        ("As in the previous problem, the answer is 16.", "16", 1.0),
        (r"\boxed{15}" "\n\nBut this counts each pair twice, so we divide by 2 to get 16.", "15", 0.0),
        (r"\boxed{15}" "\n\nBut each of the 2 rows has 8, so we get 16 for each.", "15", 1.0),
        ("The answer is 15 (should be 16).", "15", 0.0),
        ("The answer is $x^2$ (should be $x^3$).", "x^2", 0.0),
        (r"\boxed{x^2}" "\n\nRechecking, I get $x^3$.", "x^2", 0.0),
        (r"\boxed{x^2}" "\n\nIts derivative is $2x$. So it is $x^2$.", "x^2", 1.0),
        (r"\boxed{(1,2)}" "\n\nThe order is reversed, so it should be (2,1).", "(1,2)", 0.0),
        (r"\boxed{1, 2}" "\n\nBut x = 2 is extraneous.", "1,2", 0.0),
        (r"\boxed{1, 2}" "\n\nOnly 1 is valid.", "1,2", 0.0),
        (r"\boxed{1, 2}" "\n\n3 does not work, and 2 is not negative.", "1,2", 1.0),
        (r"\boxed{15}" "\n\nThis must still be doubled.", "15", 0.0),
        (r"\boxed{15}" "\n\nThat is one too many.", "15", 0.0),
        (r"\boxed{15}" "\n\nI forgot to add one.", "15", 0.0),
        (r"\boxed{15}" "\n\nI forgot nothing.", "15", 1.0),
        (r"\boxed{15}" "\n\nProbe: 7 + 9 = 16, also ist es 16.", "15", 0.0),
        (r"\boxed{15}" "\n\n検算:7+9=16なので、16です。", "15", 0.0),
        (r"\boxed{15}" "\n\nWait, let me double check: 7 + 8 = 15. Yes.", "15", 1.0),
        (r"\boxed{15}" "\n\nIf the order matters, the answer is 20.", "15", 1.0),
        (r"\boxed{15}" "\n\nThe answer to part (b) is 20.", "15", 1.0),
        ("Die Antwort ist 15 (sollte 16 sein).", "15", 0.0),
        (r"\boxed{15} (the true value is 16)", "15", 0.0),
        (r"\boxed{15 \text{ (should be 16)}}", "15", 0.0),
        ("The answer is 15. (Note: the correct value is 16.)", "15", 0.0),
        ("The answer is 15. [Correction: 16.]", "16", 1.0),
        (r"\boxed{7/2} (that is 3.5)", "7/2", 1.0),
        ("The answer is 15 (should be at most 16).", "15", 1.0),
        ("The answer is 15. (It is not 16.)", "15", 1.0),
        (r"\boxed{15} (all 3 are correct)", "15", 1.0),
        (r"\boxed{15}" "\n\nCheck 1: it works.", "15", 1.0),
        (r"\boxed{15}" "\n\nCheck: 7 + 9 = 16, so it is 16.", "15", 0.0),
        (r"\boxed{15}" "\n\n检验:7+9=16,所以是16。", "15", 0.0),
        (r"\boxed{15}" "\n\nПроверка: 7 + 9 = 16, значит, 16.", "15", 0.0),
        (r"\boxed{15}" "\n\nCheck: 7 + 8 = 15, so it is correct.", "15", 1.0),
        (r"\boxed{15}" "\n\nCheck: 15 + 1 = 16, so both sides are 16.", "15", 1.0),
        ("Initially the answer is 15, but after correction it's 16.", "15", 0.0),
        ("The answer was 15, but is now 16.", "15", 0.0),
        ("Answer: 15, corrected to 16", "15", 0.0),
        (r"\boxed{15} — but I am not sure if it is 15 or 16.", "15", 0.0),
        ("मान लीजिए n = 17.", "17", 0.0),
        ("Quedan 42 y no 54.", "42", 1.0),
        ("Il y en a 42 et non 48.", "42", 1.0),
        ("Die Antwort ist 42 statt 48.", "42", 1.0),
    ],
)
def test_what_is_said_last_counts(text: str, reference: str, score: float, found: Found) -> None:
    assert found.judge("math", text, reference=reference).score == score


@table(
    "text",
    [
        *[
            "Let n = 17.",
            "Soit $n = 17$.",
            "Sei n = 17.",
            "Sea n = 17.",
            "Seja n = 17.",
            "Sia n = 17.",
            "Пусть n = 17.",
        ],
        *[
            "设n=17。",
            "n=17とする。",
            "n=17이라 하자.",
            "Niech n = 17.",
            "Laat n = 17.",
            "Låt n = 17.",
            "Legyen n = 17.",
        ],
        *["Έστω n = 17.", "n = 17 olsun.", "ليكن n = 17.", "Giả sử n = 17.", "Нехай n = 17."],
        *["Next, we now check n = 17.", "We are given that n = 17.", "题目给出n=17。"],
    ],
)
def test_a_value_that_is_only_supposed_is_not_an_answer(text: str, found: Found) -> None:
    assert found.judge("math", text, reference="17").score == 0.0
    assert found.judge("expression", text, reference="17").score == 0.0


@table(
    "text",
    [
        *[
            "Le total vaut 14 + 3 = 17, soit n = 17.",
            "Also n = 17.",
            "Entonces n = 17.",
            "所以设备总数n=17。",
            "よってn=17となる。",
        ],
        *["Consider 2n = 34, so n = 17.", "Let m = 34. Then n = 17.", "Sei m = 34. Dann ist n = 17."],
    ],
)
def test_a_value_that_is_concluded_is_an_answer(text: str, found: Found) -> None:
    assert found.judge("math", text, reference="17").score == 1.0


@table(
    "text, score",
    [
        (r"\boxed{C}" "\n\nC is wrong.", 0.0),
        (r"\boxed{C}" "\n\nHowever, the question asks for the exception, so it must be B.", 0.0),
        ("The hint says the answer is C, but my derivation gives B.", 0.0),
        ("The answer is C. In the previous question, the answer was B.", 1.0),
        (r"\boxed{C}" "\n\nC ist falsch.", 0.0),
        (r"\boxed{C}" "\n\nC es incorrecta.", 0.0),
        (r"\boxed{C}" "\n\nC是错的。", 0.0),
        (r"\boxed{C}" "\n\nC is right.", 1.0),
        (r"\boxed{C}" "\n\nA、B、D正确，C错误。", 1.0),
        ("C'est la C et non la B.", 1.0),
        ("Es la C y no la B.", 1.0),
    ],
)
def test_options_are_denied_by_name(text: str, score: float, found: Found) -> None:
    assert found.judge("multiple_choice", text, reference="C", choices=CHOICES).score == score


@table(
    "text, reference, score",
    [
        (r"\boxed{Paris}" "\n\nThe correct answer is Lyon, not Paris.", "Lyon", 1.0),
        (r"\boxed{Paris}" "\n\nFinal answer: Lyon", "Paris", 0.0),
        ("<answer>no</answer>\n\nThe answer is yes.", "yes", 1.0),
        (r"\boxed{巴黎}" "\n\n正确答案是里昂。", "里昂", 1.0),
        (r"\boxed{巴黎}" "\n\n答案是根据文章得出的。", "巴黎", 1.0),
        (r"\boxed{Paris}" "\n\nThe answer is Paris, the capital of France.", "Paris", 1.0),
        (r"\boxed{Paris}" "\n\nThe answer is given in paragraph 2.", "Paris", 1.0),
        (r"\boxed{Paris} (should be Lyon)", "Paris", 0.0),
        (r"\boxed{Hamlet}" "\n\nIt was Shakespeare.", "Hamlet", 1.0),
    ],
)
def test_a_name_announced_behind_a_mark_takes_its_place(text: str, reference: str, score: float, found: Found) -> None:
    assert found.judge("qa", text, reference=reference).score == score


@table("text, score", [("{} (should be C)", 0.0), ("{}\n\nRechecking, I get C.", 0.0), ("{} (not C)", 1.0)])
def test_a_letter_that_a_bracket_or_a_check_puts_in_place_leaves_no_answer(
    text: str, score: float, found: Found
) -> None:
    for mark in (r"\boxed{B}", "The answer is B"):
        assert found.judge("multiple_choice", text.format(mark), reference="B", choices=[*"wxyz"]).score == score
