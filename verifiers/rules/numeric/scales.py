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
_WORDS = sorted((word for word in _SCALES if len(word) > 1 or not word.isascii()), key=len, reverse=True)
_MAX_WORD_CHARS = max(map(len, _WORDS))
_UNITS_OF_HAN = {"千": "克米瓦卡伏帕", "百": "分帕"}
"""Signs behind a scale character that make it a unit: 千克."""
_SCALE_LETTER = re.compile(r"[kKMB](?![A-Za-zΩ/^²³])")
"""Letters directly behind a number. `m`, and a letter after a space, is a unit unless the number is money."""
_MONEY_SCALE_LETTER = re.compile(r"\s?[kmbt](?![a-z])", re.IGNORECASE)
_MAX_SCALES = 2
_MYRIADS = re.compile(
    r"(?<![\d.,])(\d{1,12})(?:([亿億万萬])零?|([억만])\s?)(\d{1,8})((?:[백천]?만|천|[万萬千百])?)(?![\d.,亿億万萬千百十억만천])"
)


def scale_behind(after: str, is_money: bool) -> tuple[int, str]:
    """The factor of the number, and the text behind the scale."""
    letter = (_MONEY_SCALE_LETTER if is_money else _SCALE_LETTER).match(after)
    if letter and not _word(after):
        return _SCALES[letter[0].strip().lower()], after[letter.end() :]
    scale = 1
    for _ in range(_MAX_SCALES):
        if word := _word(after):
            scale, after = scale * _SCALES[word], after.lstrip(" ")[len(word) :]
    return scale, after


def _word(after: str) -> str:
    """The longest scale word at the beginning of a text, maybe behind a space."""
    shown = after[: _MAX_WORD_CHARS + 2].lower().removeprefix(" ")
    for word in _WORDS if shown[:1].isalpha() else ():
        following = shown[len(word) : len(word) + 1]
        if shown.startswith(word) and not (following and following in _UNITS_OF_HAN.get(word, "")):
            return word if word[-1] > "ᄀ" or not following.isalpha() else ""
    return ""


def without_myriads(text: str) -> str:
    return _MYRIADS.sub(_myriads, text)


def _myriads(number: re.Match[str]) -> str:
    """`3亿5000万` and `1万2千` in digits. A lower part without its scale (`1万2`) has no clear meaning."""
    high, low = _SCALES[number[2] or number[3]], int(number[4]) * _SCALES.get(number[5], 1)
    is_whole = bool(number[5]) or len(number[4]) == len(str(high)) - 1
    return str(int(number[1]) * high + low) if low < high and is_whole else number[0]
