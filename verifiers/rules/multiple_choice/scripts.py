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
_DIGITS = re.compile(r"\d{1,2}", re.ASCII)


def labels_like(label: str) -> dict[str, str] | None:
    """The labels of the alphabet, other than the Latin one, that a label is from; without texts."""
    if _DIGITS.fullmatch(label):
        return {str(number): "" for number in range(100)}
    script = next((script for script in _LABELS_OF_SCRIPTS if label and label[0].upper() in script), None)
    return None if script is None else dict.fromkeys(script, "")
