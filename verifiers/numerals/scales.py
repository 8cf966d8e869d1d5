"""Words behind a number that multiply it, in all languages: `3 million`, `3 Tsd.`, `3 juta`, `3 ألف`, `3 Dutzend`."""

from collections.abc import Mapping
from fractions import Fraction

from verifiers import cldr

_DOZENS = (
    "dozen dutzend dutzende docena docenas douzaine douzaines dozzina dozzine dúzia dúzias dozijn dozijnen dussin "
    "dusin tusinaa tucet tuctů tucat düzine tuzin tuziny tuzinów duzină duzini lusin tá дюжина дюжины дюжин дюжини "
    "دزينة दर्जन দজন ডজন ダース 다스 打 โหล δωδεκάδα δωδεκάδεσ תריסר دوجین tucatnyi"
)
_HUNDREDS = "hundred hundert honderd hundra سو مئة सौ 百 백 ร้อย מאה seratus trăm"
_MORE = {
    "k": 3, "tsd": 3, "tausende": 3, "milliers": 3, "тысяча": 3, "m": 6, "mn": 6, "mio": 6, "lakhs": 5, "crores": 7,
    "mrd": 9, "b": 9, "bn": 9, "billions": 9, "t": 12, "tn": 12, "trillions": 12,
    "百万": 6, "百萬": 6, "千万": 7, "千萬": 7, "十万": 5, "十萬": 5, "十亿": 9, "十億": 9, "百亿": 10, "百億": 10,
    "千亿": 11, "千億": 11, "万亿": 12, "萬億": 12, "백만": 6, "천만": 7,
}  # fmt: skip
"""Forms that CLDR lacks: words of one or two letters, plurals, scales of scales."""
SCALES: Mapping[str, Fraction | None] = (
    {word: Fraction(10**power) if power else None for word, power in cldr.SCALES.items()}
    | {word: Fraction(10**power) for word, power in _MORE.items()}
    | dict.fromkeys(_HUNDREDS.split(), Fraction(100))
    | dict.fromkeys(_DOZENS.split(), Fraction(12))
    | {"十": Fraction(10)}
)
"""The factor of each word, in lower case; None for a word that means one factor here and another one there."""
