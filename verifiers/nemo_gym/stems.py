"""The stems of English words by Porter's algorithm (1980), with NLTK's amendments, which rouge-score uses."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

Condition = Callable[[str], bool]
Rule = tuple[str, str, Condition | None]
"""A suffix, what it becomes, and what must hold for the rest of the word; the first suffix that fits decides."""

_VOWELS: Final = frozenset("aeiou")
_IRREGULAR: Final[Mapping[str, str]] = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "innings": "inning",
    "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning", "canning": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_SHORT: Final = 2
"""Words of as many letters stay as they are."""
_SHORT_PLURAL: Final = 4


def stem(word: str) -> str:
    """The stem of a word in lower case."""
    if word in _IRREGULAR or len(word) <= _SHORT:
        return _IRREGULAR.get(word, word)
    word = _without_plural(word)
    word = _without_tense(word)
    word = _replaced(word, [("y", "i", lambda body: len(body) > 1 and _kinds(body)[-1] == "c")])
    word = _second(word)
    word = _replaced(word, _THIRD)
    word = _replaced(word, _FOURTH)
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


def _is_long(body: str) -> bool:
    return _measure(body) > 0


def _is_longer(body: str) -> bool:
    return _measure(body) > 1


def _has_vowel(body: str) -> bool:
    return "v" in _kinds(body)


def _is_closed(word: str) -> bool:
    """Whether a word ends in consonant, vowel, consonant, as hop does."""
    kinds = _kinds(word)
    return (kinds.endswith("cvc") and word[-1] not in "wxy") or kinds == "vc"


def _replaced(word: str, rules: Sequence[Rule]) -> str:
    for suffix, new, holds in rules:
        if word.endswith(suffix):
            body = word[: len(word) - len(suffix)]
            return body + new if holds is None or holds(body) else word
    return word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) == _SHORT_PLURAL:
        return word[:-1]
    return _replaced(word, [("sses", "ss", None), ("ies", "i", None), ("ss", "ss", None), ("s", "", None)])


def _without_tense(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == _SHORT_PLURAL else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _is_long(word[:-3]) else word
    body = next(
        (word[: -len(end)] for end in ("ed", "ing") if word.endswith(end) and _has_vowel(word[: -len(end)])), ""
    )
    if not body:
        return word
    if body.endswith(("at", "bl", "iz")):
        return f"{body}e"
    if body[-1] == body[-2:-1] and _kinds(body)[-1] == "c":
        return body if body[-1] in "lsz" else body[:-1]
    return f"{body}e" if _measure(body) == 1 and _is_closed(body) else body


def _second(word: str) -> str:
    if word.endswith("alli") and _is_long(word[:-4]):
        return _second(word[:-2])
    return _replaced(word, _SECOND)


def _without_e(word: str) -> str:
    if word.endswith("e"):
        body = word[:-1]
        if _is_longer(body) or (_measure(body) == 1 and not _is_closed(body)):
            word = body
    return word[:-1] if word.endswith("ll") and _is_longer(word[:-1]) else word


def _rules(text: str, holds: Condition) -> list[Rule]:
    return [(suffix, new, holds) for suffix, _, new in (pair.partition(":") for pair in text.split())]


_SECOND: Final = [
    *_rules(
        "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize "
        "ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful",
        _is_long,
    ),
    ("logi", "log", lambda rest: _is_long(f"{rest}l")),
]
_THIRD: Final = _rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:", _is_long)
_FOURTH: Final[list[Rule]] = [
    *_rules("al ance ence er ic able ible ant ement ment ent", _is_longer),
    ("ion", "", lambda rest: _is_longer(rest) and rest[-1] in "st"),
    *_rules("ou ism ate iti ous ive ize", _is_longer),
]
