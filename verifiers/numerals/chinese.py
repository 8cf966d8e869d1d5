"""Numbers in Chinese, and figures with Chinese units."""

import re
from fractions import Fraction
from math import prod

_HAN_DIGITS = {digit: number for number, digits in enumerate(
    ("零〇", "一壹", "二两兩贰貳", "三叁", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")) for digit in digits
}  # fmt: skip
_HAN_UNITS = {"亿": 10**8, "億": 10**8, "万": 10**4, "萬": 10**4, "千": 1000, "仟": 1000, "百": 100, "佰": 100,
              "十": 10, "拾": 10}  # fmt: skip
_ONE_SPELLING = str.maketrans({"億": "亿", "萬": "万", "仟": "千", "佰": "百", "拾": "十", "負": "负", "點": "点"})
_LARGEST_FIRST = ("亿", "万", "千", "百", "十")
_SIGNS_OF_HAN = "".join([*_HAN_DIGITS, *_HAN_UNITS])
HAN_NUMBER = re.compile(
    rf"[-+]?(?:[{_SIGNS_OF_HAN}半]|[负負](?=[\d{_SIGNS_OF_HAN}半])|\d[\d,.]{{0,30}} ?[{_SIGNS_OF_HAN}])"
)
"""The beginning of a number in Chinese."""
_HAN_PART = rf"[\d{_SIGNS_OF_HAN}][\d.,{_SIGNS_OF_HAN}]*(?:[点點][{_SIGNS_OF_HAN}]+)?"
_HAN_RUN = re.compile(
    rf"([-+负負]?)(一?半|{_HAN_PART}(?:又{_HAN_PART})?(?:分之{_HAN_PART})?)", re.IGNORECASE
)  # fmt: skip
_HAN_WHOLE = re.compile(rf"(?:({_HAN_PART})又)?({_HAN_PART})分之({_HAN_PART})")
_HAN_MULTIPLIER = "[十百千]?(?:万亿|[万亿])?"
_HAN_CHAIN = re.compile(rf"(\d[\d,]*(?:\.\d+)?)({_HAN_MULTIPLIER})")
_HAN_DECIMAL = re.compile(rf"([{''.join(_HAN_DIGITS)}]{{1,30}})([百千]?(?:万亿|[万亿])?)")
"""A number with a decimal point. The digits behind it are said one by one: 九点三十 is half past nine."""
HAN_GAP = re.compile(rf"(?<=\d) (?=[{_SIGNS_OF_HAN}分])|(?<=[之负負又]) (?=\d)")
"""Blanks inside a number."""
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,30}")
_NOT_COUNTED = ("点", "點", "分之", "又", "几", "幾", "多", "余", "餘", "来", "來", "半", "%")
"""Signs behind a number that continue it or make it vague: 十几个, 三百余人."""
_HALVED = (
    "个", "個", "小时", "小時", "天", "年", "分钟", "分鐘", "秒", "米", "公里", "千米", "斤", "公斤", "克", "升", "杯", "元",
)  # fmt: skip
"""The measure words that 半 counts. Before other words it is a prefix (半径, 半圆)."""


def han(text: str) -> Fraction | None:
    """The number that the whole text spells."""
    match = _HAN_RUN.fullmatch(text)
    if not match:
        return None
    sign, number = match.groups()
    number = number.translate(_ONE_SPELLING)
    magnitude = _figures(number) if sign in ("负", "負") and number.isascii() else _han_magnitude(number)
    return -magnitude if magnitude is not None and sign in ("-", "负", "負") else magnitude


def han_followed(text: str) -> tuple[Fraction, str] | None:
    """The number at the beginning of a text, and the counted noun."""
    match = _HAN_RUN.match(text)
    if not match:
        return None
    number, counted = han(match[0]), text[match.end() :].strip()
    if number is None or not counted[:1].isalpha() or counted.startswith(_NOT_COUNTED):
        return None
    if match[2] == "半" and not counted.startswith(_HALVED):
        return None
    return number, counted


def _han_magnitude(text: str) -> Fraction | None:
    if text in ("半", "一半"):
        return Fraction(1, 2)
    if fraction := _HAN_WHOLE.fullmatch(text):
        integer = _han_or_figures(fraction[1]) if fraction[1] else Fraction(0)
        bottom, top = _bottom(fraction[2]), _han_or_figures(fraction[3])
        if integer is None or top is None or not bottom or (fraction[1] and top >= bottom):
            return None
        return integer + top / bottom
    return _han_amount(text)


def _bottom(text: str) -> Fraction | None:
    return Fraction(_HAN_UNITS[text]) if text in _HAN_UNITS else _han_or_figures(text)


def _han_or_figures(text: str) -> Fraction | None:
    """The value of a part of a fraction. Plain figures are allowed here, and 百分之百 is the whole."""
    if text == "百":
        return Fraction(100)
    if _HAN_CHAIN.fullmatch(text) and text[-1].isdecimal():
        return _figures(text)
    return _han_amount(text)


def _han_amount(text: str) -> Fraction | None:
    if text[0].isascii():
        return _han_chain(text)
    if "点" in text:
        return _han_decimal(text)
    number = _han_integer(text)
    return None if number is None else Fraction(number)


def _han_decimal(text: str) -> Fraction | None:
    whole_text, _, decimals = text.partition("点")
    integer, decimal = _han_integer(whole_text), _HAN_DECIMAL.fullmatch(decimals)
    if integer is None or not decimal:
        return None
    digits = "".join(str(_HAN_DIGITS[digit]) for digit in decimal[1])
    return (integer + Fraction(int(digits), 10 ** len(digits))) * _product(decimal[2])


def _product(units: str) -> int:
    return prod(_HAN_UNITS[unit] for unit in units)


def _han_integer(text: str) -> int | None:
    """The value of an integer, read by its largest unit: the count of that unit, plus the rest below it."""
    if len(text) == 1 and text in _HAN_DIGITS:
        return _HAN_DIGITS[text]
    if len(text) > 40:
        return None
    unit_sign = next((unit for unit in _LARGEST_FIRST if unit in text), None)
    if unit_sign is None:
        return None
    unit = _HAN_UNITS[unit_sign]
    head, _, tail = text.rpartition(unit_sign)
    count = 1 if not head and unit == 10 else _han_integer(head)
    if not count or count >= (unit if unit >= 10**4 else 10):
        return None
    lower = _han_rest(tail, unit)
    return None if lower is None else count * unit + lower


def _han_rest(text: str, unit: int) -> int | None:
    if not text:
        return 0
    if text[0] in "零〇":
        lower = _han_integer(text[1:])
        return lower if lower and lower < unit // 10 else None
    lower = _han_integer(text)
    if not lower:
        return None
    if len(text) == 1 and text in _HAN_DIGITS:
        return lower * unit // 10
    return lower if unit // 100 <= lower < unit else None


def _han_chain(text: str) -> Fraction | None:
    """The value of figures with units between them: 1.2亿, 3亿5000万, 1万2000.

    Every part is below the unit before it. 3千5 may mean 3500 in speech and 3005 in writing, so it has no value.
    """
    total, ceiling, position = Fraction(0), 0, 0
    while position < len(text):
        match = _HAN_CHAIN.match(text, position)
        amount = _figures(match[1]) if match else None
        if not match or amount is None:
            return None
        unit = _product(match[2])
        if amount.denominator != 1 and match[0] != text:
            return None
        if unit == 1 and (position == 0 or amount * 10 < ceiling):
            return None
        if position and amount * unit >= ceiling:
            return None
        total, ceiling, position = total + amount * unit, unit, match.end()
    return total


def _figures(text: str) -> Fraction | None:
    integer, _, part = text.partition(".")
    if not _GROUPED.fullmatch(integer) or len(part) > 30:
        return None
    return Fraction(integer.replace(",", "") + ("." + part if part else ""))
