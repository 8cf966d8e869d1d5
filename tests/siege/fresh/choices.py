"""Fresh items whose answer is an option, a word, a name or a text: questions with options, and answers in prose."""

import json

from tests.siege.fresh.draw import Draw, Posted

_LETTERS = "ABCDEFGHIJ"
_UNITS = ("m/s", "kJ", "mol", "kPa", "cm^2", "N", "eV", "%")
_ENDS = (
    "The answer is ({}).",
    "Therefore, option ({}) is correct.",
    "**Answer: {}**",
    "\\boxed{{{}}}",
    "<answer>{}</answer>",
    "So the correct choice is {}.",
)


def multiple_choice(draw: Draw) -> Posted:
    """A question of MMLU-Pro's kind: up to ten options of some words each, or of quantities."""
    count = draw.randint(4, 10)
    style = draw.randrange(4)
    if style == 0:
        unit = draw.choice(_UNITS)
        options = [f"{draw.fresh_int(3) + 7 * place}.{draw.randint(1, 9)} {unit}" for place in range(count)]
    else:
        options = [draw.phrase(draw.randint(1, 4) * style).capitalize() for _ in range(count)]
    right, other = draw.sample(_LETTERS[:count], 2)
    said = right if draw.is_right else other
    if style == 1 and draw.random() < 0.3:
        end = f"The answer is {options[_LETTERS.index(said)]}."
    else:
        end = draw.choice(_ENDS).format(said)
    response = f"{draw.prose()}\n\n{end}"
    return Posted(response, float(draw.is_right), right, {"choices": options}, draw.sentence())


def exact_match(draw: Draw) -> Posted:
    wanted = draw.phrase(draw.randint(1, 5))
    said = wanted if draw.is_right else draw.phrase(2)
    return Posted(f"{draw.thought()}{said}", float(draw.is_right), [wanted, wanted.upper()], {}, draw.sentence())


def nemo_gym(draw: Draw) -> Posted:
    """A row of graphwalks: the nodes that a search reaches."""
    nodes = [f"{draw.fresh_int(6):x}{place}" for place in range(draw.randint(2, 9))]
    listed = ", ".join(reversed(nodes) if draw.is_right else draw.names(3))
    row = {"expected_answer": json.dumps(nodes), "problem_type": "bfs"}
    response = f"{draw.prose()}\n\nFinal Answer: [{listed}]"
    return Posted(response, float(draw.is_right), row, {"server": "graphwalks"}, draw.sentence())


def qa(draw: Draw) -> Posted:
    metric = draw.choice(("exact", "f1", "contains", "rouge", "bleu", "chrf", "wer"))
    wanted = " ".join(name.capitalize() for name in draw.names(draw.randint(3, 6)))
    said = wanted if draw.is_right else " ".join(draw.names(4))
    response = f"{draw.thought()}<answer>{said}</answer>"
    if metric in ("exact", "f1", "contains") and draw.random() < 0.5:
        response = f"{draw.prose()} The answer is {said}."
    params = {"metric": metric, "max_words": draw.randint(60, 10**6)}
    if metric not in ("exact", "contains"):
        params["threshold"] = draw.fraction(0.5, 0.9)
    golds = [wanted, draw.phrase(3)] if metric != "wer" else [wanted]
    return Posted(response, float(draw.is_right), golds, params, draw.sentence())


_LANGUAGES = {
    "en": ("the house of my friend is by the sea", "and we all went there to see the boats come home with"),
    "de": ("das Haus meines Freundes steht am Meer", "und wir gingen alle hin, um die Boote zu sehen mit"),
    "fr": ("la maison de mon ami est au bord de la mer", "et nous y sommes tous allés pour voir les bateaux avec"),
}
_RUSSIAN = (
    "ответ на этот вопрос",
    "хорошо известен всем",
    "столица находится",
    "на берегах большой реки",
    "у самого моря",
)


def language(draw: Draw) -> Posted:
    wanted = draw.choice((*_LANGUAGES, "ru"))
    russian = " ".join(draw.choices(_RUSSIAN, k=15))
    latin = " ".join(
        f"{first.capitalize()}, {then} {draw.name()}."
        for first, then in [_LANGUAGES.get(wanted, _LANGUAGES["en"])] * draw.randint(3, 8)
    )
    said = latin if (wanted != "ru") is draw.is_right else f"{russian} {draw.fresh_int()}."
    return Posted(said, float(draw.is_right), None, {"language": wanted, "min_share": draw.fraction(0.6, 0.8)})


def regex(draw: Draw) -> Posted:
    label, word = draw.name(), draw.name()
    year = draw.randint(1900, 2100)
    kind = draw.randrange(4)
    pattern, said = (
        (rf"{label}-\d{{4}}-{word}", f"{label}-{year}-{word}"),
        (
            rf"(?:{label}|{word})+ \w+ [a-f0-9]{{{len(label)}}}",
            f"{label}{word} then {'a1' * len(label)}"[: -len(label)],
        ),
        (rf"(?i){label}\s+(?:is|was)\s+[A-Z][a-z]+\.", f"{label} was  {word.capitalize()}."),
        (rf"(?=.*{word}){label}.{{1,40}}", f"{label} beside {word}"),
    )[kind]
    said = said if draw.is_right else f"{word}?"
    return Posted(f"{draw.thought()}{said}", float(draw.is_right), pattern)
