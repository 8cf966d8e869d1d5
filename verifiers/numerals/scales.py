"""Words behind a number that multiply it, in all languages: `3 million`, `3 Tsd.`, `3 juta`, `3 ألف`, `3 Dutzend`.

One rule says which of them multiply. A word multiplies as it does in the language of the text around it. In a text whose
language has no such word, or is not known, a word multiplies if it can only be a scale: an English word, one in other
letters than Latin ones, a long one, or an abbreviation (`Tsd`, `Mio.`). So `6 bin` is 6000 in Turkish and `6 mil` in
Spanish; in English neither multiplies, and alone neither has a value.
"""

import unicodedata
from collections.abc import Mapping, Set
from fractions import Fraction

from verifiers import cldr

_DOZENS = (
    "dozen dutzend dutzende docena docenas douzaine douzaines dozzina dozzine dúzia dúzias dozijn dozijnen dussin "
    "dusin tusinaa tucet tuctů tucat düzine tuzin tuziny tuzinów duzină duzini lusin tá дюжина дюжины дюжин дюжини "
    "دزينة दर्जन দজন ডজন ダース 다스 打 โหล δωδεκάδα δωδεκάδεσ תריסר دوجین tucatnyi"
)
_HUNDREDS = "hundred hundert honderd hundra سو مئة सौ 百 백 ร้อย מאה seratus trăm сотня сотни сотен сотень centenas centaine centaines cientos centinaia yüz"
_TENS = "десяток десятка десятки десятков десятків chục decenas dizaine dizaines dezenas decine puluh"
_MORE = {
    "k": 3, "tsd": 3, "tausende": 3, "milliers": 3, "тысяча": 3, "m": 6, "mn": 6, "mio": 6, "lakhs": 5, "crores": 7,
    "mrd": 9, "b": 9, "bn": 9, "billions": 9, "t": 12, "tn": 12, "trillions": 12,
    "百万": 6, "百萬": 6, "千万": 7, "千萬": 7, "十万": 5, "十萬": 5, "十亿": 9, "十億": 9, "百亿": 10, "百億": 10,
    "千亿": 11, "千億": 11, "万亿": 12, "萬億": 12, "백만": 6, "천만": 7, "ngàn": 3, "tỷ": 9, "tỉ": 9,
}  # fmt: skip
"""Forms that CLDR lacks: words of one or two letters, plurals, scales of scales."""
_FEWEST_LETTERS = 5
"""Shorter words in Latin letters are mostly another word in English."""
_VOWELS = frozenset("aeiouáàâäãåéèêëíìîïóòôöõúùûüýęąěǝ")
_FIRST = [
    "ar", "bg", "bn", "cs", "da", "de", "el", "es", "fa", "fi", "fr", "he", "hi", "hu", "id", "it", "ja", "ko", "nl",
    "pl", "pt", "ro", "ru", "sv", "th", "tr", "uk", "vi", "zh",
]  # fmt: skip
"""The languages that a text can tell; they come before the others where it tells none."""


def _anywhere(word: str, powers: Mapping[str, int]) -> bool:
    is_short = word[0] < "\u0250" and len(word) < _FEWEST_LETTERS
    may_be_another = is_short and not word.endswith(".") and not _VOWELS.isdisjoint(word)
    return "en" in powers or not may_be_another


def _one(powers: Mapping[str, int]) -> Fraction | None:
    """What a word means if the language is not known: as in English, else as in all of the more common languages."""
    if "en" in powers:
        return Fraction(10 ** powers["en"])
    meanings = {powers[language] for language in _FIRST if language in powers} or {*powers.values()}
    return Fraction(10 ** meanings.pop()) if len(meanings) == 1 else None


SCALES: Mapping[str, Fraction | None] = (
    {word: _one(powers) for word, powers in cldr.SCALES.items() if _anywhere(word, powers)}
    | {word: Fraction(10**power) for word, power in _MORE.items()}
    | dict.fromkeys(_HUNDREDS.split(), Fraction(100))
    | dict.fromkeys(_DOZENS.split(), Fraction(12))
    | dict.fromkeys(["十", *_TENS.split()], Fraction(10))
)
"""The factor of each word that multiplies in all texts, in lower case; None for a word without one meaning."""
LOCAL: Mapping[str, Mapping[str, int]] = {
    word: told
    for word, powers in cldr.SCALES.items()
    if any(SCALES.get(word) != 10**power for power in powers.values())
    if (told := {language: power for language, power in powers.items() if language in _FIRST})
}
"""The words that multiply, or whose factor depends, on the language of the text: their powers of ten by language."""


def factor(word: str, languages: Set[str] = frozenset()) -> Fraction | None:
    """The factor of a scale word in a text of some languages; None if it has none that is sure."""
    powers = {power for language, power in LOCAL.get(word, {}).items() if language in languages}
    return Fraction(10 ** powers.pop()) if len(powers) == 1 else SCALES.get(word)


def multiplies(word: str, languages: Set[str] = frozenset()) -> bool:
    """Whether a word is a scale in a text of some languages, or may be one because the text tells no language."""
    return word in SCALES or (word in LOCAL and (not languages or not languages.isdisjoint(LOCAL[word])))


def scale_word(tail: str, languages: Set[str]) -> str:
    """The longest scale word at the beginning of a text, maybe behind a space."""
    head = tail[: _MAX_WORD_CHARS + 2].casefold().removeprefix(" ")
    for length in range(min(len(head), _MAX_WORD_CHARS) if head[:1].isalpha() else 0, 0, -1):
        word, following = head[:length], head[length : length + 1]
        if not multiplies(word, languages) or (length == 1 and word.isascii()):
            continue
        if following and following in _UNITS_OF_HAN.get(word, ""):
            continue
        if word[-1] >= _UNSPACED or not following or unicodedata.category(following)[0] not in "LM":
            return word
    return ""


_MAX_WORD_CHARS = 24
_UNITS_OF_HAN = {"千": "克米瓦卡伏帕", "百": "分帕"}
"""Signs behind a scale character that make it a unit: 千克."""
_UNSPACED = "\u0e00"
"""Letters from this one on belong to scripts without spaces: 3 ล้านคน, 3만명."""
