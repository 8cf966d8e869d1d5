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
UNITS = [
    ("5 кг", "5 kg"), ("60 км/ч", "60 km/h"), ("90 минут", "90 min"), ("1.5 Stunden", "90 min"), ("5 mètres", "5 m"), ("5 metros", "5 m"),
    ("5 متر", "5 m"), ("1시간 30분", "1시간 30분"), ("5미터", "5 m"),
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
    for verifier in ("numeric",) if text in NUMERIC_ALONE else ("numeric", "math"):
        scores = [found.judge(verifier, f"<answer>{text}</answer>", reference=str(each)).score for each in (3, value)]
        assert scores == [0, 1], verifier


@table("text, reference", UNITS)
def test_a_unit_is_one_in_every_language(text: str, reference: str, found: Found) -> None:
    assert found.judge("math", f"\\boxed{{{text}}}", reference=reference).score == 1


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
