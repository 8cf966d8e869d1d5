"""Answers announced in many languages, and wrong answers that are called so."""

from tests.tables import table
from verifiers.answers import ExtractionParams, extract
from verifiers.rules.multiple_choice import MultipleChoiceParams, judge

_RIGHT = (
    "Respuesta correcta: C",
    "Resposta correta: C",
    "Richtige Antwort: C",
    "Réponse correcte : C",
    "Bonne réponse : C",
    "Respuesta final: C",
    "Resposta final: C",
    "Réponse finale : C",
    "Endgültige Antwort: C",
    "Risposta finale: C",
    "Risposta esatta: C",
    "Lösung: C",
    "Solución: C",
    "Opción correcta: C",
    "Alternativa correta: C",
    "Opzione corretta: C",
    "Option correcte : C",
    "Gabarito: C",
    "Gabarito: letra C",
    "Gabarito: alternativa C.",
    "Jawaban: C",
    "Jawaban yang benar: C",
    "Jawaban yang benar adalah C.",
    "Jawabannya adalah C.",
    "Kunci jawaban: C",
    "Odpowiedź: C",
    "Poprawna odpowiedź: C",
    "Poprawna odpowiedź to C.",
    "Prawidłowa odpowiedź to C.",
    "Cevap: C",
    "Doğru cevap: C",
    "Doğru cevap C'dir.",
    "Doğru cevap C seçeneğidir.",
    "Đáp án: C",
    "Đáp án đúng: C",
    "Đáp án đúng là C.",
    "Vậy đáp án là C.",
    "คำตอบ: C",
    "คำตอบที่ถูกต้องคือ C",
    "ดังนั้นคำตอบคือ C",
    "उत्तर: C",
    "सही उत्तर C है।",
    "सही उत्तर: C",
    "Svar: C",
    "Rätt svar: C",
    "Rätt svar är C.",
    "Antwoord: C",
    "Het juiste antwoord is C.",
    "Juist antwoord: C",
    "Oikea vastaus: C",
    "Oikea vastaus on C.",
    "Σωστή απάντηση: C",
    "Η σωστή απάντηση είναι C.",
    "Răspuns: C",
    "Răspunsul corect este C.",
    "Správná odpověď: C",
    "Správná odpověď je C.",
    "Відповідь: C",
    "Правильна відповідь: C",
    "Ответ: C",
    "Правильный ответ: C.",
    "Верный вариант: C",
    "Helyes válasz: C",
    "A helyes válasz: C",
    "תשובה: C",
    "התשובה הנכונה היא C",
    "الجواب: C",
    "الجواب الصحيح هو C",
    "پاسخ: C",
    "پاسخ صحیح C است",
    "答え：C",
    "正解：C",
    "正解はCです。",
    "正しい答えはCです",
    "答えはCです。",
    "정답: C",
    "답: C",
    "답은 C입니다.",
    "C가 정답입니다.",
    "La respuesta es C.",
    "La respuesta correcta es la C.",
    "A resposta correta é a letra C.",
    "La réponse est C.",
    "La bonne réponse est C.",
    "Die Antwort ist C.",
    "La risposta corretta è la C.",
    "C'est la réponse C.",
    "C'est la C.",
    "C'est donc la réponse C.",
    "Es ist C.",
    "Entonces, C.",
    "Es la C.",
    "Donc C.",
    "The only option that works is C.",
    "The only correct statement is C.",
    "C is the only one that fits.",
    "C is the only correct option.",
    "Only C is correct.",
    "Only C works.",
    "Only option C satisfies all conditions.",
    "I'd choose C, since A and B are not in France.",
    "I choose C over B.",
    "C it is!",
    "Going with C.",
    "Final: C",
    "Answer C",
    "ANSWER IS C",
    "answer is: c",
    "Ans. C",
    "Ans: (C)",
    "Key: C",
    "Correct: C",
    "Solution: C",
    "Response: C",
    "Selected option: C",
    "Selection: C",
    "Choice: C",
    "My choice: C",
    "My pick: C.",
    "Letter: C",
    "Option: C",
)
_WITH_REASONS = (
    "Doğru cevap: C\n\nAçıklama: Paris başkenttir.",
    "Respuesta correcta: C\n\nPorque París es la capital.",
    "Poprawna odpowiedź to C.\n\nUzasadnienie: tak.",
    "Gabarito: C\n\nJustificativa: a capital.",
    "Đáp án: C\n\nGiải thích: vì thế.",
    "De correcte optie is C.",
    "Opción correcta: C\nPorque sí.",
)
_DENIED = (
    "Respuesta incorrecta: C",
    "Resposta errada: C",
    "Mauvaise réponse : C",
    "Falsche Antwort: C",
    "The only option that does not work is C.",
    "C is the only one that does not fit.",
    "Only C is incorrect.",
    "Wrong: C",
    "Jawaban yang salah adalah C.",
    "Yanlış cevap: C",
    "Not C.",
    "Only C or D works.",
    "Is it C?",
    "The only option that might work is C",
    "C is the only one I ruled out.",
    "Nieprawidłowa odpowiedź to C.",
    "Đáp án sai: C",
    "Ce n'est pas la C.",
    "Not option: C",
    "Wrong answer: C",
    "The wrong answer is C.",
    "Incorrect answer: C",
    "An incorrect answer is C.",
    "A common wrong answer is C",
    "The previous answer was C.",
    "Falsche Antwort: C",
    "Die falsche Antwort ist C.",
    "Mauvaise réponse : C",
    "La mauvaise réponse est C",
    "La respuesta incorrecta es C",
    "La respuesta falsa es C",
    "Une réponse fausse est C.",
    "Неверный ответ: C",
    "Неправильный ответ - C",
    "错误答案：C",
    "错误的答案是C",
    "不正确的答案是C",
    "오답: C",
    "틀린 답은 C",
    "誤答：C",
    "الإجابة الخاطئة هي C",
    "الإجابة غير الصحيحة هي C",
)


def _score(response: str) -> float | None:
    return judge(response, MultipleChoiceParams(reference="C")).score


@table("sentence", _RIGHT)
def test_a_sentence_that_says_which_is_right(sentence: str) -> None:
    assert _score(sentence) == 1.0
    assert _score(f"Some reasoning about the matter in question.\n\n{sentence}") == 1.0


@table("response", _WITH_REASONS)
def test_reasons_may_follow(response: str) -> None:
    assert _score(response) == 1.0


@table("sentence", _DENIED)
def test_a_sentence_that_says_which_is_wrong_or_may_be_right(sentence: str) -> None:
    assert _score(sentence) == 0.0
    assert _score(f"Some reasoning about the matter in question.\n\n{sentence}") == 0.0


@table(
    "phrase",
    ["Wrong answer: 42", "The wrong answer is 42.", "Falsche Antwort: 42", "错误答案：42", "La respuesta falsa es 42"],
)
def test_what_is_called_wrong_is_no_answer_elsewhere(phrase: str) -> None:
    assert extract(phrase, ExtractionParams.model_validate({"extract": "answer_line"})).answer is None


@table("phrase", ["Respuesta final: 42", "Respuesta correcta: 42", "Risposta finale: 42", "Resposta correta: 42"])
def test_adjectives_before_a_colon(phrase: str) -> None:
    assert extract(phrase, ExtractionParams.model_validate({"extract": "answer_line"})).answer == "42"


@table("above", ["Find the statement that is wrong", "The others are false", "It is like no other"])
def test_what_stands_on_the_line_above_says_nothing_of_the_answer(above: str) -> None:
    for response in (f"{above}\nAnswer: 42", f"{above}\n\nAnswer: 42"):
        assert extract(response, ExtractionParams.model_validate({"extract": "answer_line"})).answer == "42"


@table(
    "response",
    [
        "B（汉武帝）",
        "正解：B（汉武帝）",
        "正しい選択肢はBです。",
        "正答：B",
        "解答：B",
        "汉武帝です。",
        "Richtig ist B.",
        "Letra B",
        "Chọn B",
        "Chọn đáp án B.",
        "उत्तर B है।",
    ],
)
def test_more_ways_to_name_it_elsewhere(response: str) -> None:
    choices = ["秦始皇", "汉武帝", "唐太宗"]
    assert judge(response, MultipleChoiceParams(reference="B", choices=choices)).score == 1.0
    assert judge(response, MultipleChoiceParams(reference="C", choices=choices)).score == 0.0


@table(
    "response",
    [
        "उत्तर B नहीं है।",
        "B（唐太宗）",
        "正しい選択肢はBではありません。",
        "汉武帝ですか？",
        "Richtig ist B nicht.",
        "Không chọn B",
        "Chọn B hoặc C",
    ],
)
def test_near_misses_of_them(response: str) -> None:
    params = MultipleChoiceParams(reference="B", choices=["秦始皇", "汉武帝", "唐太宗"])
    assert judge(response, params).score == 0.0
