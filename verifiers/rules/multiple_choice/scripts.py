"""The labels of options in the alphabets and number signs of the world."""

import re

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CELESTIAL_STEMS = "甲乙丙丁戊己庚辛壬癸"
_WITHOUT_LOOK_ALIKES = ("أبجدهوزحطي", "কখগঘঙচছজঝঞ", "कखगघङचछजझञ")
PLACES = (CELESTIAL_STEMS, *_WITHOUT_LOOK_ALIKES, "ا")
"""Letters that name an option by its place, whatever its label is, because they are no other script's letters."""
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
CROSSES = "❌✗✘✖🚫"
"""Beside an option: it is a wrong one."""
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
ORDINAL_NOUNS = ("option", "choice", "alternative", "answer option", "answer choice")
ORDINAL_NOUNS_CJK = ("个选项", "個選項", "选项", "選項", "项", "項")
_ORDINAL = re.compile(
    rf"\b(?:{'|'.join(word for words in ORDINALS for word in words)}|last)\s(?:{'|'.join(ORDINAL_NOUNS)})\b|第[一二三四五六七八九十\d]"
    r"|\b(?:option|choice)\s(?:#|no\.\s|number\s)?\d",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d{1,2}", re.ASCII)


def may_be_ordinal(text: str) -> bool:
    """Whether a short text tells an option's place: "the third option", "option 3"."""
    may_be = "ption" in text or "hoice" in text or "native" in text or "第" in text
    return may_be and _ORDINAL.search(text) is not None


def labels_like(label: str) -> dict[str, str] | None:
    """The labels of the alphabet, other than the Latin one, that a label is from; without texts."""
    if _DIGITS.fullmatch(label):
        return {str(number): "" for number in range(100)}
    script = next((script for script in _LABELS_OF_SCRIPTS if label and label[0].upper() in script), None)
    return None if script is None else dict.fromkeys(script, "")
