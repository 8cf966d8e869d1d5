"""Words and characters that multiply the number before them: `3 million`, `$3bn`, `5 lakh`, `3亿5000万`, `35만`."""

import re

_SCALE_WORDS = (
    ("十", 10), ("dozen", 12), ("hundred 百", 10**2), ("k thousand 千", 10**3), ("万 萬", 10**4), ("lakh lakhs 十万 十萬", 10**5),
    ("천 tausend тысяч тысячи тысяча тыс", 10**3), ("만", 10**4), ("백만", 10**6), ("천만", 10**7), ("억", 10**8), ("조", 10**12),
    ("millions millionen millones millón milhões milhão milioni milione mln миллион миллиона миллионов млн", 10**6),
    ("milliarde milliarden milliard milliards miliardi miliardo миллиард миллиарда миллиардов млрд", 10**9),
    ("m mn mio million 百万 百萬", 10**6), ("crore crores 千万 千萬", 10**7), ("亿 億", 10**8),
    ("b bn mrd billion 十亿 十億", 10**9), ("百亿 百億", 10**10), ("千亿 千億", 10**11), ("t tn trillion 万亿 萬億", 10**12),
)  # fmt: skip
_SCALES = {word: scale for words, scale in _SCALE_WORDS for word in words.split()}
WORDS_OF_OTHERS = (
    r"(?:tausend|mill(?:ions|ionen|ones|ón)|milh(?:ões|ão)|milion[ie]|mln|milliard(?:en?|s)?|miliard[io]|тыс(?:яч[иа]?)?|миллион(?:а|ов)?|млн"
    r"|миллиард(?:а|ов)?|млрд)(?!\w)"
)
"""Words for scales that are none of English; an English `billion` is what it is in any language."""
HANGUL = "[백천]?만|[억조]|천"
_SCALE = re.compile(
    rf"\s?(?:{WORDS_OF_OTHERS}|{HANGUL})|"
    r"\s?(?:(?:hundred|thousand|million|billion|trillion|dozen|lakhs?|crores?|mn|mio|mrd|bn|tn)(?![a-z])"
    r"|[十百千万萬]?[亿億]|[十百千]?[万萬]|千(?![克米瓦卡伏帕])|百(?![分帕])|十)",
    re.IGNORECASE,
)
_SCALE_LETTER = re.compile(r"[kKMB](?![A-Za-zΩ/^²³])")
"""Directly behind a number; `m`, and a letter after a space, is a unit unless the number is money."""
_MONEY_SCALE_LETTER = re.compile(r"\s?[kmbt](?![a-z])", re.IGNORECASE)
_MAX_SCALES = 2
_MYRIADS = re.compile(
    r"(?<![\d.,])(\d{1,12})(?:([亿億万萬])零?|([억만])\s?)(\d{1,8})((?:[백천]?만|천|[万萬千百])?)(?![\d.,亿億万萬千百十억만천])"
)


def scale_behind(after: str, is_money: bool) -> tuple[int, str]:
    """What the number is to be multiplied with, and what stands behind that."""
    letter = (_MONEY_SCALE_LETTER if is_money else _SCALE_LETTER).match(after)
    if letter and not _SCALE.match(after):
        return _SCALES[letter[0].strip().lower()], after[letter.end() :]
    scale = 1
    for _ in range(_MAX_SCALES):
        if match := _SCALE.match(after):
            scale, after = scale * _SCALES[match[0].strip().lower()], after[match.end() :]
    return scale, after


def without_myriads(text: str) -> str:
    return _MYRIADS.sub(_myriads, text)


def _myriads(number: re.Match[str]) -> str:
    """`3亿5000万` and `1万2千` in digits; of a lower part without its scale (`1万2`) nobody knows what is meant."""
    high, low = _SCALES[number[2] or number[3]], int(number[4]) * _SCALES.get(number[5], 1)
    is_whole = bool(number[5]) or len(number[4]) == len(str(high)) - 1
    return str(int(number[1]) * high + low) if low < high and is_whole else number[0]
