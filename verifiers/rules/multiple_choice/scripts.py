"""The labels of options in many alphabets and number signs."""

import re
from collections.abc import Mapping

from verifiers.sightings import beyond_ascii

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CELESTIAL_STEMS = "甲乙丙丁戊己庚辛壬癸"
_WITHOUT_LOOK_ALIKES = ("أبجدهوزحطي", "কখগঘঙচছজঝঞ", "कखगघङचछजझञ")
PLACES = (CELESTIAL_STEMS, *_WITHOUT_LOOK_ALIKES, "ا")
"""Letters that name an option by its place, whatever its label is, because no other script uses them."""
AND = "و"
"""The Arabic letter that is a word, too."""
_LABELS_OF_SCRIPTS = (
    CELESTIAL_STEMS,
    "АБВГДЕЖЗИК",
    "ΑΒΓΔΕΖΗΘΙΚ",
    "アイウエオカキクケコ",
    "가나다라마바사아자차",
    "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊ",
    "אבגדהוזחטי",
    *_WITHOUT_LOOK_ALIKES,
)
CIRCLED = ("①②③④⑤⑥⑦⑧⑨⑩", "➀➁➂➃➄➅➆➇➈➉", "❶❷❸❹❺❻❼❽❾❿", "➊➋➌➍➎➏➐➑➒➓", "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽")
ORDINALS = (
    ("first", "1st"),
    ("second", "2nd"),
    ("third", "3rd"),
    ("fourth", "4th"),
    ("fifth", "5th"),
    ("sixth", "6th"),
    ("seventh", "7th"),
    ("eighth", "8th"),
    ("ninth", "9th"),
    ("tenth", "10th"),
)
ORDINALS_CJK = tuple(zip("一二三四五六七八九十", ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"), strict=True))
PLACE_NOUNS = ("option", "choice", "alternative", "one", "answer")
"""Nouns that name an option behind an ordinal."""
ORDINAL_HAN = "第"
_DIGITS = re.compile(r"\d{1,2}", re.ASCII)


def labels_like(label: str) -> dict[str, str] | None:
    """The labels, without texts, of the alphabet of a label, if that alphabet is not the Latin one."""
    if _DIGITS.fullmatch(label):
        return {str(number): "" for number in range(100)}
    script = next((script for script in _LABELS_OF_SCRIPTS if label and label[0].upper() in script), None)
    return None if script is None else dict.fromkeys(script, "")


_LOOK_ALIKES = str.maketrans("АВЕКМНОРСТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEKMHOPCTXABEZHIKMNOPTYX")  # they look alike
_LONE = re.compile(r"(?<![^\W_])[АВЕКМНОРСТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ](?=[*_\"'»”)\]}]{0,3}(?:[.,:;!?)\]]|\s*[—–-]|\s*(?:\n|\Z)))")
"""A letter that says nothing else: "В этом" and "А это" begin with words of one letter."""
_UNLIKE = re.compile(r"(?<![^\W_])[БГДЖЗИЛΓΔΘΛ](?![^\W_])")
"""A lone letter of these alphabets without a Latin look-alike: the text counts its options by them."""


_WORD = re.compile(r"[\u0370-\u03ff\u0400-\u04ff]{3}")


def in_latin(text: str, labels: Mapping[str, str], start: int) -> str:
    """The text with lone Cyrillic and Greek letters as the Latin labels that they look like: "Ответ: В" is B.

    The answer stands behind `start`. Only a text with words of such an alphabet may write its labels so; elsewhere the letter is another one.
    """
    if text[start:].isascii() or _WORD.search(beyond_ascii(text)) is None or not "".join(labels).isascii():
        return text
    if _WORD.search(text) is None or _UNLIKE.search(text):
        return text
    return _LONE.sub(lambda match: match[0].translate(_LOOK_ALIKES), text)
