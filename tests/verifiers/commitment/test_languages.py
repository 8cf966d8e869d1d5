"""Numbers, bounds, lists, dates and closing tokens in all languages: each row pays the one value and never the other."""

from typing import Any

import pytest

from deploy import cldr
from tests.tables import table
from tests.verifiers.found import Found

BOUNDS = [
    "at least {}", "upwards of {}", "{} minimum", "mindestens {}", "maximal {}", "menos de {}", "por lo menos {}", "moins de {}", "au maximum {}",
    "meno di {}", "più di {}", "menos que {}", "minstens {}", "meer dan {}", "minst {}", "mer än {}", "højst {}", "vähintään {}", "co najmniej {}",
    "więcej niż {}", "alespoň {}", "více než {}", "cel puțin {}", "peste {}", "legalább {}", "en az {}", "{}'ten fazla", "paling sedikit {}",
    "kurang dari {}", "ít nhất {}", "hơn {}", "свыше {}", "понад {}", "поне {}", "τουλάχιστον {}", "πάνω από {}", "على الأقل {}", "أكثر من {}",
    "לפחות {}", "حداقل {}", "कम से कम {}", "কমপক্ষে {}", "少なくとも{}", "{}より大きい", "최소 {}", "อย่างน้อย {}", "不超过{}",
]  # fmt: skip
SCALES = [
    ("3 Dutzend", 36), ("3 Tsd.", 3_000), ("3 Mio.", 3_000_000), ("3 mil", 3_000), ("3 milhões", 3_000_000), ("3 mila", 3_000),
    ("3 miljoen", 3_000_000), ("3 tusen", 3_000), ("3 tuhat", 3_000), ("3 tys.", 3_000), ("3 tisíce", 3_000), ("3 mii", 3_000),
    ("3 ezer", 3_000), ("3 bin", 3_000), ("3 juta", 3_000_000), ("3 nghìn", 3_000), ("3 тысячи", 3_000), ("3 χιλιάδες", 3_000),
    ("3 ألف", 3_000), ("3 אלף", 3_000), ("3 लाख", 300_000), ("3万", 30_000), ("3천", 3_000),
]  # fmt: skip
"""Amounts with a word of CLDR or a dozen, and their values."""
NUMERIC_ALONE = {"3 χιλιάδες", "3천"}
"""`math` does not read them, and pays neither value."""
SAID_IN = {
    "3 mil": "La respuesta es {}.", "3 mila": "La risposta è {}.", "3 mii": "Răspunsul este {}.", "3 ezer": "A válasz {}.",
    "3 bin": "Cevap: {}", "3 juta": "Jawabannya adalah {}.",
}  # fmt: skip
"""Words that multiply in their own language alone."""
UNITS = [
    ("5 кг", "5 kg"), ("60 км/ч", "60 km/h"), ("90 минут", "90 min"), ("1.5 Stunden", "90 min"), ("5 mètres", "5 m"), ("5 metros", "5 m"),
    ("5 متر", "5 m"), ("1시간 30분", "1시간 30분"), ("5미터", "5 m"),
]  # fmt: skip
COUNTED = [
    "{} times", "{} men", "{} apples", "{} яблок", "{} quả táo", "사과 {}개", "{}개", "{} manzanas", "{} Äpfel", "{} người", "{} elma", "{} تفاحات", "{}人",
]  # fmt: skip
UNKNOWN_BESIDE = [
    "минус {}", "корень из {}", "âm {}", "سالب {}", "połowa {}", "hälften av {}", "{}평방", "{} с половиной", "{}인지 의심스럽다",
]  # fmt: skip
NOT_COUNTED = [
    "{} +", "{} /", "{} minus", "{} или 7", "{} hoặc 7", "{} 이상", "{} и более", "{} times as many as x", "{} squared",
]  # fmt: skip
DAYS = [
    "Die Antwort ist 5. Mai 2021.", "The answer is May 5, 2021.", "May 5, 2021", "La respuesta es el 5 de mayo de 2021.", "La réponse est le 5 mai 2021.",
    "Ответ: 5 мая 2021 г.", "정답은 2021년 5월 5일입니다.", "ngày 5 tháng 5 năm 2021", "5. května 2021", "5 Μαΐου 2021", "\\boxed{5 maja 2021}",
    "The answer is 5 May 2021.", "答案是2021年5月5日。",
]  # fmt: skip
SPANS = [
    "1 hora y 30 minutos",
    "1 Stunde und 30 Minuten",
    "1 heure et 30 minutes",
    "1 saat 30 dakika",
    "1 giờ 30 phút",
    "1 ora e 30 minuti",
    "1시간 30분",
    "90 минут",
]
TIMES = ["17 Uhr", "17.00 Uhr", "17h", "오후 5시", "17 часов", "las 17 horas", "ore 17", "5 pm", "下午5点"]
LISTS = [
    "3 y 5",
    "3 und 5",
    "3, und 5",
    "3 и 5",
    "3과 5",
    "3和5",
    "3 e 5",
    "3 ve 5",
    "3 và 5",
    "3 と 5",
    "3 و 5",
    "$3$ et $5$",
]
MEASURES = [
    ("5 килограммов", "5 kg"), ("5 किलोग्राम", "5 kg"), ("5000 г", "5 кг"), ("18 km/h", "5 м/с"), ("0.5 mol/L", "0.5\\text{ M}"), ("500 mM", "0.5\\text{ M}"),
    ("7.54\\times 10^{-5}\\ \\mathrm{L\\,mol^{-1}\\,s^{-1}}", "7.54\\times10^{-5}\\ \\mathrm{M^{-1}\\,s^{-1}}"), ("760 mmHg", "1 atm"), ("5 ₽", "5 рублей"),
    ("5000원", "₩5000"), ("5 reais", "R\\$ 5"), ("3 PHz", "3\\times 10^{15} Hz"),
]  # fmt: skip
OTHER_MEASURES = [
    ("0.5\\text{ m}", "0.5\\text{ M}"),
    ("5 €", "5 рублей"),
    ("5 г", "5 кг"),
    ("6 яблок", "6 kg"),
    ("5 pies", "5 ft"),
]
SOLUTIONS = [
    "Solution: 6·7=42. Answer: 42.", "【答案】42【解析】6×7=42", "解：6×7=42。\n答案：42", "Решение: 6·7=42. Ответ: 42", "解答：6×7＝42　答え：42", "الحل: 6·7=42. الجواب: 42",
    "Rozwiązanie: 6·7=42. Odpowiedź: 42", "Lời giải: 6·7=42. Đáp số: 42", "풀이: 6×7=42. 정답: 42",
]  # fmt: skip
SWAPS = [
    "The answer is not {other} but {}.", "La respuesta no es {other} sino {}.", "Ответ не {other}, а {}.", "Cevap {other} değil {}.",
    "الجواب ليس {other} بل {}.", "答えは{other}ではなく{}です。", "정답은 {other}이 아니라 {}입니다.", "Đáp án không phải {other} mà là {}.",
    "Jawabannya bukan {other} melainkan {}.", "Odpowiedź to nie {other}, lecz {}.",
]  # fmt: skip
TOGETHER = [
    "\\boxed{{3}} and \\boxed{{5}}", "\\boxed{{3}} ve \\boxed{{5}}", "\\boxed{{3}} và \\boxed{{5}}", "\\boxed{{3}} и \\boxed{{5}}",
    "\\boxed{{3}} dan \\boxed{{5}}", "\\boxed{{3}} と \\boxed{{5}}", "\\boxed{{3}}과 \\boxed{{5}}", "\\boxed{{3}} और \\boxed{{5}}",
]  # fmt: skip


@table("text", BOUNDS)
def test_a_bound_is_paid_in_no_language(text: str, found: Found) -> None:
    assert found.judge("numeric", f"<answer>{text.format(3)}</answer>", reference=3).score == 0


@table("text, value", SCALES)
def test_a_scale_multiplies_in_every_language(text: str, value: int, found: Found) -> None:
    said = SAID_IN.get(text, "<answer>{}</answer>").format(text)
    for verifier in ("numeric",) if text in NUMERIC_ALONE else ("numeric", "math"):
        scores = [found.judge(verifier, said, reference=str(each)).score for each in (3, value)]
        assert scores == [0, 1], verifier


@table("text", ["3 mil", "3 bin", "3 juta", "3 mii", "3 ezer", "3 mila"])
def test_a_scale_that_is_another_word_elsewhere_multiplies_only_in_its_language(text: str, found: Found) -> None:
    word = text.removeprefix("3 ")
    for verifier in ("numeric", "math"):
        english = f"The answer to this question is 3 {word}."
        assert found.judge(verifier, english, reference="3000").score == 0, verifier
        assert found.judge(verifier, english, reference="3000000").score == 0, verifier
        for alone in (f"\\boxed{{{text}}}", f"<answer>{text}</answer>", f"#### {text}"):
            assert found.judge(verifier, alone, reference="3").score == 0, verifier
    assert found.judge("numeric", f"The answer to this question is 3 {word}.", reference="3").score == 1
    assert found.judge("numeric", "\\boxed{3}", reference=text).status == "invalid"


@table(
    "text, reference",
    [
        ("Die Antwort ist 3 Billion.", 3 * 10**12),
        ("La réponse est 3 billions.", 3 * 10**12),
        ("The answer is 3 billion.", 3 * 10**9),
    ],
)
def test_a_scale_means_what_the_language_of_the_text_gives_it(text: str, reference: int, found: Found) -> None:
    assert found.judge("numeric", text, reference=reference).score == 1
    assert found.judge("math", text, reference=str(reference)).score == 1


@table("text, reference", UNITS)
def test_a_unit_is_one_in_every_language(text: str, reference: str, found: Found) -> None:
    assert found.judge("math", f"\\boxed{{{text}}}", reference=reference).score == 1


@table("text", COUNTED)
def test_what_is_counted_is_paid_in_every_language(text: str, found: Found) -> None:
    for verifier in ("numeric", "math"):
        scores = [found.judge(verifier, f"\\boxed{{{text.format(6)}}}", reference=each).score for each in ("6", "7")]
        assert scores == [1, 0], verifier


@table(
    ("text", "reference", "score"),
    [
        ("42 is correct.", "42", 1),
        ("We conclude that 42 is correct.", "42", 1),
        ("17 is correct.", "correct", 0),
        ("42 is wrong.", "42", 0),
        ("So the statement with 42 is true.", "True", 1),
        ("So the statement with 42 is true.", "42", 0),
    ],
)
def test_a_number_that_is_called_right_is_the_answer(text: str, reference: str, score: int, found: Found) -> None:
    assert found.judge("math", text, reference=reference).score == score


@table(
    ("text", "reference", "score"),
    [
        ("The answer is 60 miles per hour.", "60 miles", 0),
        ("The answer is 60 miles per hour.", "60 miles per hour", 1),
        ("<answer>5 meters per second</answer>", "5 m", 0),
        ("<answer>5 meters per second</answer>", "5 m/s", 1),
        ("The answer is 20 dollars per hour.", "$20", 0),
        ("Die Antwort ist 60 Meter pro Sekunde.", "60 m", 0),
        ("La respuesta es 60 metros por segundo.", "60 m", 0),
        ("La réponse est 60 mètres par seconde.", "60 m", 0),
    ],
)
def test_a_rate_is_read_whole(text: str, reference: str, score: int, found: Found) -> None:
    assert found.judge("math", text, reference=reference).score == score


@table("text", UNKNOWN_BESIDE)
def test_unknown_words_beside_a_number_are_no_noun(text: str, found: Found) -> None:
    for marked in ("<answer>{}</answer>", "\\boxed{{\\text{{{}}}}}"):
        assert found.judge("math", marked.format(text.format(6)), reference="6").score == 0, marked


@table("text", NOT_COUNTED)
def test_a_bound_or_an_operator_is_no_noun(text: str, found: Found) -> None:
    for verifier in ("numeric", "math"):
        assert found.judge(verifier, f"<answer>{text.format(6)}</answer>", reference="6").score == 0, verifier


@table("text", DAYS)
def test_a_day_is_one_in_every_language(text: str, found: Found) -> None:
    scores = [found.judge("math", text, reference=f"May {day}, 2021").score for day in (5, 6)]
    scores += [found.judge("qa", text, reference=f"2021-05-0{day}", metric="date").score for day in (5, 6)]
    assert scores == [1, 0, 1, 0]


@table("text, right, wrong", [
    *((text, "90 min", "91 min") for text in SPANS), *((text, "17:00", "18:00") for text in TIMES), *((text, "3, 5", "3, 6") for text in LISTS),
])  # fmt: skip
def test_durations_times_and_lists_are_read_in_every_language(text: str, right: str, wrong: str, found: Found) -> None:
    assert [found.judge("math", f"\\boxed{{{text}}}", reference=each).score for each in (right, wrong)] == [1, 0]


@table("text, reference, score", [*((*row, 1) for row in MEASURES), *((*row, 0) for row in OTHER_MEASURES)])
def test_quantities_are_compared_in_units_of_every_language(
    text: str, reference: str, score: int, found: Found
) -> None:
    assert found.judge("math", f"\\boxed{{{text}}}", reference=reference).score == score


@table("solution", SOLUTIONS)
def test_a_worked_solution_is_read_for_its_answer(solution: str, found: Found) -> None:
    assert [found.judge("math", f"\\boxed{{{answer}}}", reference=solution).score for answer in (42, 6)] == [1, 0]


@table("unit, answer, score", [
    ("$10^{3} \\mathrm{~N} / \\mathrm{C}$", "1.5", 1), ("$10^{3} \\mathrm{~N} / \\mathrm{C}$", "1500 \\text{ N/C}", 1),
    ("$10^{3} \\mathrm{~N} / \\mathrm{C}$", "1.5 \\times 10^3", 1), ("$10^{3} \\mathrm{~N} / \\mathrm{C}$", "1.5\\ 10^{3} \\mathrm{~N} / \\mathrm{C}", 1),
    ("$10^{3} \\mathrm{~N} / \\mathrm{C}$", "1.5 \\text{ N/C}", 0), ("$10^{3} \\mathrm{~N} / \\mathrm{C}$", "15000", 0), ("$\\mathrm{atm}$", "1140 \\text{ mmHg}", 1),
    ("%", "1.5", 1), ("$\\$$", "1.5 \\text{ dollars}", 1),
])  # fmt: skip
def test_a_unit_is_read_as_scibench_writes_it(unit: str, answer: str, score: int, found: Found) -> None:
    assert found.judge("math", f"\\boxed{{{answer}}}", reference={"final_answer": "1.5", "unit": unit}).score == score


NUMBERS = ["1.5\\text{E}6", "1.5*10**6", "\\frac{3}{2}\\times10^6", "\\phantom{0}1500000", "1.5\\ 10^{6}"]


@table("text", NUMBERS)
def test_numbers_of_programs_and_of_latex_are_read_alike(text: str, found: Found) -> None:
    for verifier in ("math",) if "\\ 10" in text else ("numeric", "math"):
        assert [found.judge(verifier, f"\\boxed{{{text}}}", reference=each).score for each in ("1.5e6", "6")] == [
            1,
            0,
        ], verifier


@table(
    "answer, reference, score",
    [("['1', '2']", "[1, 2]", 1), ("[1, 2]", "['1', '2']", 1), ("['2', '1']", "['1', '2']", 0)],
)
def test_numbers_in_quotes_are_numbers(answer: str, reference: str, score: int, found: Found) -> None:
    assert found.judge("math", f"<answer>{answer}</answer>", reference=reference, ordered=True).score == score


@table("text", SWAPS)
def test_what_is_said_instead_counts(text: str, found: Found) -> None:
    said = text.replace("{other}", "20").replace("{}", "18")
    assert [found.judge("numeric", said, reference=each).score for each in (18, 20)] == [1, 0]


@table("text", TOGETHER)
def test_joined_boxes_are_parts_of_one_answer(text: str, found: Found) -> None:
    said = text.replace("{{", "{").replace("}}", "}")
    assert [found.judge("math", said, reference=each).score for each in ("3, 5", "5")] == [1, 0]


@table(
    "text",
    [
        "11 février 1929",
        "11 lutego 1929",
        "11 Februari 1929",
        "11 فبراير 1929",
        "11 de febrero de 1929",
        "11. Februar 1929",
    ],
)
def test_a_month_is_one_in_every_language(text: str, found: Found) -> None:
    scores = [found.judge("qa", text, reference=each, metric="date").score for each in ("1929-02-11", "1929-03-11")]
    assert scores == [1, 0]


THOUGHT = [
    "<reason>\\boxed{5}</reason>{}", "<unused94>thought\n\\boxed{5}<unused95>{}", "<|im_start|>think\n\\boxed{5}<|im_end|>\n<|im_start|>answer\n{}",
    "<details><summary>Thinking</summary>\\boxed{5}</details>\n\n{}", "&lt;think&gt;\\boxed{5}&lt;/think&gt;{}",
    "<scratchpad>\\boxed{5}</scratchpad>{}", "<thoughts>\\boxed{5}</thoughts>{}", "<longcat_think>\\boxed{5}</longcat_think>{}",
    "<analysis>\\boxed{5}</analysis>{}", "<|inner_prefix|>\\boxed{5}<|inner_suffix|>{}",
]  # fmt: skip


@table("text", THOUGHT)
def test_the_thinking_of_any_model_is_not_the_answer(text: str, found: Found) -> None:
    assert found.judge("math", text.replace("{}", "I give up."), reference="5").score == 0
    assert found.judge("math", text.replace("{}", "7"), reference="7").score == 1


CHOSEN: list[tuple[str, dict[str, Any], float]] = [
    ("C) 12", {}, 1),
    ("(C) twelve", {}, 1),
    ("c. gravity", {}, 1),
    ("**C) 12**", {}, 1),
    ('{"answer": "C. gravity"}', {}, 1),
    ("c is the correct choice", {}, 1),
    ("C) is wrong", {}, 0),
    ("C: no, B", {}, 0),
    ("C, or B", {}, 0),
    ("选项A和B都对。\n所以应选A、B。<eoe>\n【答案】C <eoa>", {}, 1),
    ("Answer: A\nAnswer: B\nAnswer: C", {}, 0),
    ("Prose about A.\nAnswer: B, C", {}, 0),
    ("Die richtigen Antworten sind A und C.", {"reference": ["A", "C"], "multi": True}, 1),
    ("Las respuestas correctas son A y C.", {"reference": ["A", "C"], "multi": True}, 1),
    ("정답은 A와 C입니다.", {"reference": ["A", "C"], "multi": True}, 1),
]


@table("text, params, score", CHOSEN)
def test_plain_whole_answers_and_last_lines_choose(
    text: str, params: dict[str, Any], score: float, found: Found
) -> None:
    assert found.judge("multiple_choice", text, **({"reference": "C"} | params)).score == score


@pytest.mark.wording
def test_the_words_of_cldr_are_those_of_babel() -> None:
    assert cldr.WORDS.read_text("utf-8") == cldr.written()
