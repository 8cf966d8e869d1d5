"""The stems of English words by Porter's algorithm (1980), with NLTK's amendments, which rouge-score uses."""

from collections.abc import Sequence
from typing import Final

Rule = tuple[str, str, int, str]
"""A suffix, what it becomes, and the least measure of the rest of the word and the letters that it may end in; empty: any.
The first suffix that fits decides.
"""
_VOWELS: Final = frozenset("aeiou")
_PAIRS: Final = (
    "sky:sky skies:sky dying:die lying:lie tying:tie news:news innings:inning inning:inning outings:outing outing:outing "
    "cannings:canning canning:canning howe:howe proceed:proceed exceed:exceed succeed:succeed"
)
_IRREGULAR: Final = dict(pair.split(":") for pair in _PAIRS.split())
_SHORT: Final = 2
"""Words of as many letters stay as they are."""
_SHORT_PLURAL: Final = 4


def stem(word: str) -> str:
    """The stem of a word in lower case."""
    if word in _IRREGULAR or len(word) <= _SHORT:
        return _IRREGULAR.get(word, word)
    word = word[:-1] if word.endswith("ies") and len(word) == _SHORT_PLURAL else _replaced(word, _PLURALS)
    word = _without_tense(word)
    if word.endswith("y") and len(word) > _SHORT and _kinds(word[:-1])[-1] == "c":
        word = f"{word[:-1]}i"
    if word.endswith("alli") and _measure(word[:-4]):
        word = word[:-2]
    for rules in (_SECOND, _THIRD, _FOURTH):
        word = _replaced(word, rules)
    return _without_e(word)


def _kinds(word: str) -> str:
    """A c for each consonant and a v for each vowel; y is a vowel behind a consonant."""
    kinds = ""
    for letter in word:
        is_vowel = letter in _VOWELS or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if is_vowel else "c"
    return kinds


def _measure(word: str) -> int:
    return _kinds(word).count("vc")


def _is_closed(word: str) -> bool:
    """Whether a word ends in consonant, vowel, consonant, as hop does."""
    kinds = _kinds(word)
    return (kinds.endswith("cvc") and word[-1] not in "wxy") or kinds == "vc"


def _replaced(word: str, rules: Sequence[Rule]) -> str:
    for suffix, new, least, ends in rules:
        if word.endswith(suffix):
            body = word.removesuffix(suffix)
            return body + new if _measure(body) >= least and (not ends or body.endswith(tuple(ends))) else word
    return word


def _without_tense(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == _SHORT_PLURAL else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    bodies = [word.removesuffix(end) for end in ("ed", "ing") if word.endswith(end)]
    if not bodies or "v" not in _kinds(bodies[0]):
        return word
    body = bodies[0]
    if body.endswith(("at", "bl", "iz")):
        return f"{body}e"
    if body[-1] == body[-2:-1] and _kinds(body)[-1] == "c":
        return body if body[-1] in "lsz" else body[:-1]
    return f"{body}e" if _measure(body) == 1 and _is_closed(body) else body


def _without_e(word: str) -> str:
    if word.endswith("e"):
        body, measure = word[:-1], _measure(word[:-1])
        word = body if measure > 1 or (measure == 1 and not _is_closed(body)) else word
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _rules(text: str, least: int) -> list[Rule]:
    return [(suffix, new, least, "") for suffix, _, new in (pair.partition(":") for pair in text.split())]


_PLURALS: Final = _rules("sses:ss ies:i ss:ss s:", 0)
_SECOND: Final = [
    *_rules(
        "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize "
        "ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful",
        1,
    ),
    ("ogi", "og", 1, "l"),
]
_THIRD: Final = _rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:", 1)
_FOURTH: Final = [
    *_rules("al ance ence er ic able ible ant ement ment ent", 2),
    ("ion", "", 2, "st"),
    *_rules("ou ism ate iti ous ive ize", 2),
]
