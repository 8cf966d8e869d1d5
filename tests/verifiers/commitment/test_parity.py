"""Every verifier reads every cue alike: what unmakes an answer for one unmakes it for all, in all languages."""

from typing import Any

import pytest

from tests.tables import table
from tests.verifiers.found import Found
from verifiers.commitment.cues import Kind, alone, languages, phrases

CHOICES = ["London", "Berlin", "Paris", "Madrid"]
VERIFIERS: list[tuple[str, str, dict[str, Any]]] = [
    ("math", "12", {"reference": "12"}),
    ("numeric", "12", {"reference": 12}),
    ("regression", "12", {"reference": 12}),
    ("expression", "12", {"reference": "12"}),
    ("qa", "12", {"reference": "12", "in_sentences": True}),
    ("multiple_choice", "C", {"reference": "C", "choices": CHOICES}),
]


def judged(found: Found, text: str) -> dict[str, float | None]:
    """What each verifier makes of a sentence about its own value, `{}`, and another one."""
    return {
        name: found.judge(
            name, text.replace("{other}", "15" if value == "12" else "B").replace("{}", value), **params
        ).score
        for name, value, params in VERIFIERS
    }


@pytest.mark.parametrize("language", sorted(languages()))
def test_every_language_announces_and_denies(language: str, found: Found) -> None:
    lexicon = languages()[language]
    assert lexicon["answer"]
    assert lexicon.get("not") or lexicon.get("wrong"), "a language that cannot deny announces nothing"
    assert set(judged(found, lexicon["says"]).values()) == {1.0}
    assert set(judged(found, lexicon["denies"]).values()) == {0.0}


def test_the_words_of_a_kind_are_told_from_those_of_others_and_from_phrases() -> None:
    entries = {phrase for entry in languages()["en"]["not"] for phrase in phrases(entry)}
    assert alone(Kind.NOT, "en") == {phrase for phrase in entries if " " not in phrase}
    assert "not" in alone(Kind.NOT, "en")


def spoken(kind: str) -> list[str]:
    """The phrases of a kind in English, longer ones, as they are said."""
    return sorted(
        {
            phrase.replace(" 's", "'s").replace(" n't", "n't")
            for entry in languages()["en"][kind]
            for phrase in phrases(entry)
        }
    )


@pytest.mark.wording
@pytest.mark.parametrize("kind", ["back"])
def test_what_takes_back_takes_back_for_all(kind: str, found: Found) -> None:
    paid = {
        phrase: scores
        for phrase in spoken(kind)
        # A capital A may name an option.
        if not phrase.startswith("a ")
        and 1.0 in (scores := judged(found, f"The answer is {{}}. {phrase.capitalize()}.")).values()
    }
    assert paid == {}


DOUBTED = [
    "Maybe",
    "Perhaps",
    "Possibly",
    "If",
    "Unless",
    "Suppose",
    "Assume",
    "I doubt that",
    "I don't think that",
    "It is false that",
    "My friend says that",
    "Some people think that",
    "The user claims that",
    "I am not sure that",
    "It is unlikely that",
]


@pytest.mark.parametrize("lead", DOUBTED)
def test_what_is_doubted_supposed_or_others_opinion_is_no_answer(lead: str, found: Found) -> None:
    assert set(judged(found, f"{lead} the answer is {{}}.").values()) == {0.0}


STOOD_BY = [
    "The answer is {}. We get no contradiction.",
    "The answer is {}. Any other one leads to a contradiction.",
    "The answer is {}. This gives the result.",
    "The answer is {}. There is no need to redo that.",
    "The answer is {}. I have no doubts about that.",
    "The answer is {}. That is what the question asks for.",
    "The answer is {}. This causes an error.",
    "The answer is {}. We get an error.",
    "The answer is {}. It does not have that.",
    "The answer is {}. It was bad.",
    "The answer is {}, I guess.",
    "I have no doubt that the answer is {}.",
    "The answer is {}, not 7.",
    "So the answer is {}.",
    "The answer is definitely {}.",
    "The final answer is: {}",
    "**Answer:** {}",
    "The answer to the question is {}.",
    "If I am right, the answer is {}.",
    "The answer is {} because it is told.",
    "The answer is {}.\n\nI hope this helps!",
    "The answer isn't {other}, it's {}.",
    "The answer is {}. It is not {other}.",
    "The answer is {}. No, it isn't {other}.",
    "The answer is {other}. No, that's wrong, it's {}.",
    "\\boxed{{other}}\n\nWait, that's wrong. The answer is {}.",
    "The answer is {}, since {other} is too much.",
    "The correct answer to this question is {}.",
    "The answer is {other}... wait, that's wrong. The answer is {}.",
    "The answer is {other}. No, that's not right. It's {}.",
    "The answer is {other}. Wait, that's wrong. So it is {}.",
    "Die Antwort ist {other}. Nein, das ist falsch. Es ist {}.",
    "The answer is {}, of course, and the rest is easy.",
    "The answer would be {}.",
    "Half of 24 is {}, so the answer is {}.",
    "Since half of them are red, the answer is {}.",
    "There is no doubt that the answer is {}.",
    "The answer to the other question is {other}. The answer is {}.",
    "If x were even, then x+1 would be odd, so the answer is {}.",
    "If that were so the answer would be {other}, so the answer is {}.",
]


@pytest.mark.parametrize("text", STOOD_BY)
def test_what_is_stood_by_is_paid_by_all(text: str, found: Found) -> None:
    assert set(judged(found, text).values()) == {1.0}


UNMADE = [
    "{} is wrong.",
    "The answer is {}. Hmm, that can't be right.",
    "The answer is {}. That is not it.",
    "The answer is {}. This leads to a contradiction.",
    "The answer is {}. Or so they would say.",
    "The answer is {}. Let me redo that.",
    "The answer is {}. That answer makes no sense.",
    "The answer is {}. That isn't what the question asks for.",
    "The answer is {}. That seems way off.",
    "The answer is {}. I have my doubts about that.",
    "Is the answer {}?",
    "The answer is {}. Wait, no, it's 13.",
    "\\boxed{{}} is not the answer.",
    "<answer>not {}</answer>",
    "The answer is not {}, but 7.",
    "The wrong answer is {}.",
    "The answer is {}, which is incorrect.",
    "The answer isn't {}, it's {other}.",
    "\\boxed{{}}\n\nWait, that's wrong. The answer is {other}.",
    "The answer is {}... wait, that's wrong. The answer is {other}.",
    "The answer is {}. No, that's not right. It's {other}.",
    "If x were 3, the answer would be {}.",
    "Were x 3, the answer would be {}.",
    "The answer would be {} if x were 3.",
    "Wenn x 3 wäre, wäre die Antwort {}.",
    "Si x était 3, la réponse serait {}.",
    "Si x fuera 3, la respuesta sería {}.",
    "Se x fosse 3, la risposta sarebbe {}.",
    "Se x fosse 3, a resposta seria {}.",
    "Если бы x было 3, ответ был бы {}.",
    "Als x 3 was, zou het antwoord {} zijn.",
    "It is between {other} and, I think, {}.",
    "It is from {other} to, say, {}.",
    "Es liegt zwischen {other} und, glaube ich, {}.",
    "Está entre {other} y, creo, {}.",
    "The answer is {} and, of course, {other}.",
    "The answer is {}, I think, and {other}.",
    "The answer is {}, I guess, or {other}.",
    "\\boxed{{}} and, I think, \\boxed{{other}}",
    "The answer used to be {}.",
    "The answer is said to be {}.",
    "The answer was thought to be {}.",
    "The answer is {}, though I doubt it.",
    "The answer is far from {}.",
    "{} is the answer to a different question.",
    "The answer to another question is {}.",
    "A common mistake is {}.",
    "It can't be that the answer is {}.",
    "In no case is the answer {}.",
    "Under no circumstances is the answer {}.",
    "There's a 50% chance the answer is {}.",
    "The answer is rarely {}.",
    "For the answer to be {}, x must be 7.",
    "Half of the answer is {}.",
    "Twice the answer is {}.",
    "The answer plus one is {}.",
    "The square of the answer is {}.",
    "Die Hälfte der Antwort ist {}.",
    "La moitié de la réponse est {}.",
    "La mitad de la respuesta es {}.",
    "La metà della risposta è {}.",
    "Metade da resposta é {}.",
]


@pytest.mark.parametrize("text", UNMADE)
def test_what_is_unmade_is_paid_by_none(text: str, found: Found) -> None:
    assert 1.0 not in judged(found, text).values()


UNMADE_ELSEWHERE = [
    "Die Antwort ist {}. Das führt zu einem Widerspruch.",
    "La réponse est {}. Cela mène à une contradiction.",
    "La respuesta es {}. No es eso.",
    "Ответ: {}. Это приводит к противоречию.",
    "答案是{}。这会导致矛盾。",
    "Die Antwort ist auf keinen Fall {}.",
    "La réponse n'est en aucun cas {}.",
    "La respuesta no es en ningún caso {}.",
    "La risposta non è in nessun caso {}.",
    "A resposta não é em nenhum caso {}.",
    "Man sagt, die Antwort sei {}.",
    "Die Antwort könnte {} sein.",
    "Die Antwort ist wohl kaum {}.",
    "Die Antwort ist fast {}.",
    "Die Antwort ist alles andere als {}.",
    "Die Antwort ist {}. Quatsch, das stimmt nicht.",
    "Die Antwort ist {}, aber das ist falsch.",
    "Die Antwort kann nicht {} sein.",
    "Ich glaube nicht, dass die Antwort {} ist.",
    "Die Antwort ist keineswegs {}.",
    "Die Antwort ist nie {}.",
    "Ist die Antwort {}? Nein.",
    "La réponse pourrait être {}.",
    "La réponse n'est jamais {}.",
    "La réponse est presque {}.",
    "La réponse ne peut pas être {}.",
    "La réponse est loin d'être {}.",
    "Je ne pense pas que la réponse soit {}.",
    "La réponse est {}. Non, c'est faux.",
    "La réponse est tout sauf {}.",
    "La réponse était {}, mais c'est {other}.",
    "La respuesta podría ser {}.",
    "La respuesta nunca es {}.",
    "La respuesta es casi {}.",
    "La respuesta no puede ser {}.",
    "La respuesta es cualquier cosa menos {}.",
    "La respuesta es {}. No, eso está mal.",
    "No creo que la respuesta sea {}.",
    "La risposta potrebbe essere {}.",
    "La risposta non può essere {}.",
    "La risposta non è mai {}.",
    "La risposta è quasi {}.",
    "La risposta è {}. No, è sbagliato.",
    "A resposta poderia ser {}.",
    "A resposta nunca é {}.",
    "A resposta não pode ser {}.",
    "A resposta é quase {}.",
    "A resposta é {}. Não, está errado.",
    "Ответ может быть {}.",
    "Ответ никак не {}.",
    "Ответ не может быть {}.",
    "Ответ: {}. Нет, это неверно.",
    "Ответ почти {}.",
    "答案可能是{}。",
    "答案绝不是{}。",
    "答案不可能是{}。",
    "答案几乎是{}。",
    "答案是{}。不，这是错的。",
    "答案曾经是{}。",
    "答案据说是{}。",
    "答案的一半是{}。",
    "別人說答案是{}。",
    "答えは{}ではない。",
    "答えは{}かもしれない。",
    "答えは{}です。いや、違います。",
    "答えはほぼ{}です。",
    "정답은 {}이 아닙니다.",
    "정답은 {}일 수도 있습니다.",
    "정답은 {}입니다. 아니, 틀렸습니다.",
    "Het antwoord is nooit {}.",
    "Odpowiedź może być {}.",
    "Cevap {} olabilir.",
    "Cevap {} değil.",
    "الجواب ليس {}.",
    "الجواب ربما {}.",
]
"""Doubted, denied, taken back, or others' opinion, in other languages than English."""
STOOD_BY_ELSEWHERE = [
    "Die Antwort ist {}. Das führt zu keinem Widerspruch.",
    "Die Antwort ist {}. Das führt zu einem Fehler.",
    "La réponse est {}. Cela ne mène à aucune contradiction.",
    "Ответ: {}. Это не приводит к противоречию.",
    "答案是{}。这不会导致矛盾。",
    "Nein, das ist falsch. Die Antwort ist {}.",
    "La réponse est {}. C'est juste.",
    "La respuesta es {}. Eso está bien.",
    "La risposta è {}, mai {other}.",
    "Ответ: {}. Это верно.",
    "정답은 {}입니다.",
    "답은 {}이에요. 맞습니다.",
    "答えは{}です。",
    "A resposta é {}. Está certo.",
    "La respuesta es {other}. No, eso está mal. La respuesta es {}.",
    "La réponse est {other}. Non, c'est faux. La réponse est {}.",
    "Ответ: {other}. Нет, это неверно. Ответ: {}.",
    "정답은 {other}입니다. 아니, 틀렸습니다. 정답은 {}입니다.",
    "A resposta é {other}. Não, está errado. A resposta é {}.",
    "La risposta è {other}. No, è sbagliato. La risposta è {}.",
    "He ran fast. The answer is {}.",
]


@table("text", UNMADE_ELSEWHERE)
def test_what_is_unmade_in_another_language_is_paid_by_none(text: str, found: Found) -> None:
    assert 1.0 not in judged(found, text).values()


@table("text", STOOD_BY_ELSEWHERE)
def test_what_is_stood_by_in_another_language_is_paid_by_all(text: str, found: Found) -> None:
    assert set(judged(found, text).values()) == {1.0}
