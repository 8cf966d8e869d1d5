"""Numbers spelled in words, English and Chinese, and digits with a multiplier word behind them.

Conventions. English has the short scale (a billion is 10^9) and `and` only where speech has it: behind `hundred`, and
before a last part below a hundred. Chinese counts by myriads (万 = 10^4, 亿 = 10^8); a bare last digit is worth a tenth
of the unit before it (三万五 is 35000), a gap has 零. An ordinal is no number except as the denominator of a fraction.
A spelling with two readings (`one hundred and two thirds`) has no value: everything here is exact or None.
"""

import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from math import prod

MAX_CHARS = 160
_MAX_WORDS = 24

_UNDER_TWENTY = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_SMALL = {word: number for number, word in enumerate(_UNDER_TWENTY, start=1)}
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "quadrillion": 10**15,
    "quintillion": 10**18,
}  # fmt: skip
_MULTIPLIERS = {"hundred": 100, "dozen": 12, **_SCALES}
_DIGITS = {"zero": 0, **{word: number for word, number in _SMALL.items() if number < 10}}
_IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
_IRREGULAR |= {"twelve": "twelfth"}


def _ordinal(word: str) -> str:
    if word in _TENS:
        return word[:-1] + "ieth"
    return _IRREGULAR.get(word, word + "th")


_ORDINALS = {_ordinal(word): number for word, number in {**_SMALL, **_TENS, "hundred": 100, **_SCALES}.items()}
_DENOMINATORS = {"half": 2, "quarter": 4} | {word: number for word, number in _ORDINALS.items() if number > 2}
_PLURALS = {"halves": "half"} | {word + "s": word for word in [*_ORDINALS, "quarter"]}
_PLURAL_MULTIPLIERS = {word + "s": word for word in _MULTIPLIERS}
_SIGNS = {"minus", "negative"}
_VOCABULARY = {
    *_SMALL, *_TENS, *_MULTIPLIERS, *_PLURAL_MULTIPLIERS, *_DENOMINATORS, *_PLURALS, *_SIGNS,
    "zero", "a", "and", "point", "percent", "first",
} - {"firsts", "seconds"}  # fmt: skip
"""Words a number may be made of. `second` is not among them: behind a number it is a time."""

_SHAPE_IS_MEANING = ("<super>", "<sub>", "<fraction>", "<circle>")
_WRAPPER = re.compile(
    r"\\(?:text|textrm|textbf|textit|textsf|textnormal|mathrm|mathbf|mathsf|mbox|hbox|rm)(?![A-Za-z])"
)
_NEGATIVE_SPACE = "\\!"
_SPACING = re.compile(r"\\(?:[,;:> ]|(?:quad|qquad|enspace|thinspace)(?![A-Za-z]))|~")
_BLANKS = re.compile(r"\s+")
_SIGN_MARKS = str.maketrans({"−": "-", "‐": "-", "’": "'", "‘": "'", "＇": "'"})

_WORD = re.compile(r"(?:(?<!^)[- ])?([A-Za-z]+(?![A-Za-z'])|%)|( ?,)(?= ?[A-Za-z])")
"""A hyphen joins two words; before the first, or with blanks around it, it is a minus."""
_FIGURES = re.compile(r"([+-]? ?)(\d{1,3}(?:,\d{3})+|\d{1,30})(\.\d{1,30})?(?![\d.,]*\d)")
_PER_CENT = re.compile(r"\bper cent\b", re.IGNORECASE)
_SECOND = re.compile(r"second(?![a-z])", re.IGNORECASE)
"""Behind a number other than one: `twenty second` is the 22nd."""
_OF = re.compile(r"of(?![a-z])", re.IGNORECASE)
"""Makes `a fifth` a part: `a fifth of the class`, but not `a fifth grader`."""
_GOING_ON = re.compile(r"(?:to|or|plus|over|out|by)(?![a-z])", re.IGNORECASE)
"""Makes a range, a choice or a calculation of it: `five to seven`, `three over four`."""
_HALF_A = re.compile(r"half an? (?=[a-z])", re.IGNORECASE)


def value(text: str) -> Fraction | None:
    """The number the whole text spells; plain figures (`12`, `12%`) are nobody's words and have none here."""
    spelled = spoken(text)
    if spelled is None:
        return None
    if _HAN_NUMBER.search(spelled):
        return _han(_HAN_GAP.sub("", spelled))
    words, end = _words(spelled, every_word=True)
    return _number(words) if end == len(spelled) else None


def followed(text: str) -> tuple[Fraction, str] | None:
    """The number a text begins with, and what it counts: `two hours` is 2 and `hours`.

    The number is as long as the words of numbers go on; when these make no number (`five six apples`, `十几个`), or
    nothing or a hyphen (`two-digit`) comes behind, there is none.
    """
    spelled = spoken(text)
    if spelled is None:
        return None
    if _HAN_NUMBER.match(spelled):
        return _han_followed(_HAN_GAP.sub("", spelled))
    if half := _HALF_A.match(spelled):
        counted = spelled[half.end() :]
        if (first := _WORD.match(counted)) and first[1].lower() not in _VOCABULARY:
            return Fraction(1, 2), counted
    words, end = _words(spelled, every_word=False)
    counted = spelled[end:].strip()
    number = _number(words)
    if number is None or not counted or not (counted[0].isalpha() or counted[0] in "\\$€£°"):
        return None
    if _GOING_ON.match(counted):
        return None
    is_part = words[0] != "a" or words[-1] not in _ORDINALS or _OF.match(counted)
    is_ordinal = number != 1 and _SECOND.match(counted)
    return None if is_ordinal or not is_part or spelled[end] == "-" else (number, counted)


def spoken(text: str) -> str | None:
    """The text without LaTeX's wrappers and spacing, in compatibility form with single blanks; None if too long.

    Characters whose shape is their meaning (², ½, ③) stay as they are: 5² is not 52.
    """
    if len(text) > MAX_CHARS:
        return None
    if not text.isascii():
        text = unicodedata.normalize("NFC", "".join(_compatible(c) for c in text)).translate(_SIGN_MARKS)
    if "\\" in text or "~" in text:
        text = _SPACING.sub(" ", _WRAPPER.sub("", text.replace(_NEGATIVE_SPACE, "")))
    if "\\" not in text:
        text = text.replace("{", "").replace("}", "").strip()
        if text.count("$") == 2 and text[0] == text[-1] == "$":
            text = text[1:-1]
    text = _PER_CENT.sub("percent", _BLANKS.sub(" ", text).strip())
    return text.removesuffix(".") if len(text) <= MAX_CHARS else None


def _compatible(character: str) -> str:
    if character in "\u00ad\u200b\u200c\u200d\u2060\ufeff":
        return ""
    if unicodedata.decomposition(character).startswith(_SHAPE_IS_MEANING):
        return character
    return unicodedata.normalize("NFKC", character)


def _words(text: str, *, every_word: bool) -> tuple[list[str], int]:
    """The words at the beginning of a text (or only the words of numbers) in one spelling, and where they end."""
    words: list[str] = []
    position = 0
    while len(words) <= _MAX_WORDS:
        if (figures := _FIGURES.match(text, position)) and set(words) <= _SIGNS:
            words.append(figures[0].replace(",", "").replace(" ", ""))
            position = figures.end()
        found = _WORD.match(text, position)
        if not found:
            break
        word = (found[1] or ",").lower()
        if found[1] and not every_word and word not in _VOCABULARY:
            break
        if found[2] and not every_word and not _goes_on(text, found.end()):
            break
        words.append(word)
        position = found.end()
        if text[position : position + 1] == " " and _FIGURES.match(text, position + 1) and set(words) <= _SIGNS:
            position += 1
    return words, position


def _goes_on(text: str, position: int) -> bool:
    found = _WORD.match(text, position)
    return bool(found and found[1] and found[1].lower() in _VOCABULARY)


def _number(words: list[str]) -> Fraction | None:
    if not words or len(words) > _MAX_WORDS:
        return None
    if words[0] in _SIGNS:
        magnitude = _signless(words[1:], is_signed=True)
        return None if magnitude is None else -magnitude
    return _signless(words, is_signed=False)


def _signless(words: list[str], *, is_signed: bool) -> Fraction | None:
    if not words or (is_signed and words[0][0] in "+-"):
        return None
    if words[-1] in ("percent", "%"):
        is_plain = len(words) == 2 and words[-1] == "percent" and _is_figures(words[0])
        amount = Fraction(words[0]) if is_plain else _amount(words[:-1])
        return None if amount is None else amount / 100
    if is_signed and len(words) == 1 and _is_figures(words[0]):
        return Fraction(words[0])
    return _amount(words)


def _amount(words: Sequence[str]) -> Fraction | None:
    words = [words[0], *(_PLURAL_MULTIPLIERS.get(word, word) for word in words[1:])] if words else []
    return _only({_cardinal(words), _decimal(words), _multiplied(words), *_fractions(words), *_mixed(words)})


def _only(readings: AbstractSet[Fraction | None]) -> Fraction | None:
    """The one value of all the readings there are."""
    values = [reading for reading in readings if reading is not None]
    return values[0] if len(values) == 1 else None


def _is_figures(word: str) -> bool:
    return word[-1].isdecimal()


def _cardinal(words: Sequence[str]) -> Fraction | None:
    if list(words) == ["zero"]:
        return Fraction(0)
    if len(words) > 1 and words[0] == "a" and words[1] in _MULTIPLIERS:
        words = ["one", *words[1:]]
    total, ceiling, start = 0, 10**30, 0
    for index, word in enumerate(words):
        if word in _SCALES:
            skipped = start + (start > 0 and words[start] == ",")
            group = _below_thousand(words[skipped:index])
            if group is None or _SCALES[word] >= ceiling:
                return None
            total, ceiling, start = total + group * _SCALES[word], _SCALES[word], index + 1
    rest = _last_group(words[start:], is_first=start == 0)
    return None if rest is None else Fraction(total + rest)


def _last_group(words: Sequence[str], *, is_first: bool) -> int | None:
    if is_first:
        return _hundreds(words)
    if not words:
        return 0
    if words[0] == "and":
        return _below_hundred(words[1:])
    if words[0] == ",":
        group = _below_thousand(words[1:])
        return group if group and group >= 100 else None
    return _below_thousand(words)


def _below_thousand(words: Sequence[str]) -> int | None:
    group = _hundreds(words)
    return group if group and group < 1000 else None


def _hundreds(words: Sequence[str]) -> int | None:
    """Up to 9999: `fifteen hundred` is said, `twenty hundred` is not."""
    if "hundred" not in words:
        return _below_hundred(words)
    at = words.index("hundred")
    hundreds, rest = _below_hundred(words[:at]), words[at + 1 :]
    if not hundreds or hundreds % 10 == 0:
        return None
    if not rest:
        return hundreds * 100
    below = _below_hundred(rest[1:] if rest[0] == "and" else rest)
    return None if below is None else hundreds * 100 + below


def _below_hundred(words: Sequence[str]) -> int | None:
    if len(words) == 1:
        return _SMALL.get(words[0]) or _TENS.get(words[0])
    if len(words) == 2 and words[0] in _TENS and _DIGITS.get(words[1]):
        return _TENS[words[0]] + _DIGITS[words[1]]
    return None


def _decimal(words: Sequence[str]) -> Fraction | None:
    if "point" not in words:
        return None
    at = words.index("point")
    whole = _cardinal(words[:at]) if at else Fraction(0)
    digits = words[at + 1 :]
    if whole is None or not digits or not all(digit in _DIGITS for digit in digits):
        return None
    return whole + Fraction(int("".join(str(_DIGITS[digit]) for digit in digits)), 10 ** len(digits))


def _multiplied(words: Sequence[str]) -> Fraction | None:
    """`2.5 million`, `two and a half million`, `half a million`, `two dozen`."""
    end = len(words)
    if not end or words[-1] not in _MULTIPLIERS:
        return None
    multiplier = _MULTIPLIERS[words[end - 1]]
    end -= 1
    if words[end] in _SCALES and end and words[end - 1] == "hundred":
        multiplier *= 100
        end -= 1
    head = list(words[:end])
    if len(head) == 1 and _is_figures(head[0]):
        return Fraction(head[0]) * multiplier
    if head in (["half"], ["half", "a"], ["a", "half"]):
        return Fraction(multiplier, 2)
    if words[-1] == "dozen":
        factor = Fraction(1) if head == ["a"] else _cardinal(head)
        return factor * 12 if factor else None
    amount = _only({_decimal(head), *_mixed(head)})
    return None if amount is None else amount * multiplier


def _mixed(words: Sequence[str]) -> set[Fraction]:
    """`three and a half`; but `a million and a half` is said for 1,500,000 too, and has no reading here."""
    readings: set[Fraction] = set()
    for at, word in enumerate(words):
        if word != "and" or not at or (words[at - 1] in _MULTIPLIERS and words[at + 1 : at + 2] == ["a"]):
            continue
        whole = _cardinal(words[:at])
        if whole is not None:
            readings |= {whole + part for part in _fractions(words[at + 1 :]) if part < 1}
    return readings


def _fractions(words: Sequence[str]) -> set[Fraction]:
    """`one` or `a` has a singular behind it, every other numerator a plural: `twenty third` is no fraction."""
    if list(words) == ["half"]:
        return {Fraction(1, 2)}
    readings: set[Fraction] = set()
    for at in range(max(1, len(words) - 2), len(words)):
        top = Fraction(1) if list(words[:at]) == ["a"] else _cardinal(words[:at])
        bottom = _denominator(words[at:], is_plural=top != 1)
        if top is not None and bottom:
            readings.add(top / bottom)
    return readings


def _denominator(words: Sequence[str], *, is_plural: bool) -> int | None:
    last = words[-1]
    if is_plural != (last in _PLURALS):
        return None
    last = _PLURALS.get(last, last)
    if len(words) == 1:
        return _DENOMINATORS.get(last)
    ordinal = _ORDINALS.get(last)
    if not ordinal:
        return None
    if words[0] in _TENS and ordinal < 10:
        return _TENS[words[0]] + ordinal
    if words[0] in ("ten", "hundred") and ordinal >= 1000:
        return ordinal * (10 if words[0] == "ten" else 100)
    return 100 + ordinal if words[0] == "hundred" and ordinal < 100 and is_plural else None


_HAN_DIGITS = {digit: number for number, digits in enumerate(
    ("零〇", "一壹", "二两兩贰貳", "三叁", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")) for digit in digits
}  # fmt: skip
_HAN_UNITS = {"亿": 10**8, "億": 10**8, "万": 10**4, "萬": 10**4, "千": 1000, "仟": 1000, "百": 100, "佰": 100,
              "十": 10, "拾": 10}  # fmt: skip
_ONE_SPELLING = str.maketrans({"億": "亿", "萬": "万", "仟": "千", "佰": "百", "拾": "十", "負": "负", "點": "点"})
_LARGEST_FIRST = ("亿", "万", "千", "百", "十")
_SIGNS_OF_HAN = "".join([*_HAN_DIGITS, *_HAN_UNITS])
_HAN_NUMBER = re.compile(
    rf"[-+]?(?:[{_SIGNS_OF_HAN}半]|[负負](?=[\d{_SIGNS_OF_HAN}半])|\d[\d,.]{{0,30}} ?[{_SIGNS_OF_HAN}])"
)
_HAN_PART = rf"[\d{_SIGNS_OF_HAN}][\d.,{_SIGNS_OF_HAN}]*(?:[点點][{_SIGNS_OF_HAN}]+)?"
_HAN_RUN = re.compile(
    rf"([-+负負]?)(一?半|{_HAN_PART}(?:又{_HAN_PART})?(?:分之{_HAN_PART})?)", re.IGNORECASE
)  # fmt: skip
_HAN_WHOLE = re.compile(rf"(?:({_HAN_PART})又)?({_HAN_PART})分之({_HAN_PART})")
_HAN_MULTIPLIER = "[十百千]?(?:万亿|[万亿])?"
_HAN_CHAIN = re.compile(rf"(\d[\d,]*(?:\.\d+)?)({_HAN_MULTIPLIER})")
_HAN_DECIMAL = re.compile(rf"([{''.join(_HAN_DIGITS)}]{{1,30}})({_HAN_MULTIPLIER})")
_HAN_GAP = re.compile(rf"(?<=\d) (?=[{_SIGNS_OF_HAN}分])|(?<=[之负負又]) (?=\d)")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,30}")
_NOT_COUNTED = ("点", "點", "分之", "又", "几", "幾", "多", "余", "餘", "来", "來", "半", "%")
"""What behind a number goes on with it or makes it vague: 十几个, 三百余人."""
_HALVED = (
    "个",
    "個",
    "小时",
    "小時",
    "天",
    "年",
    "分钟",
    "分鐘",
    "秒",
    "米",
    "公里",
    "千米",
    "斤",
    "公斤",
    "克",
    "升",
    "杯",
    "元",
)
"""What 半 counts; in front of other words it is a prefix (半径, 半圆)."""


def _han(text: str) -> Fraction | None:
    found = _HAN_RUN.fullmatch(text)
    if not found:
        return None
    sign, number = found.groups()
    number = number.translate(_ONE_SPELLING)
    magnitude = _figures(number) if sign in ("负", "負") and number.isascii() else _han_magnitude(number)
    return -magnitude if magnitude is not None and sign in ("-", "负", "負") else magnitude


def _han_followed(text: str) -> tuple[Fraction, str] | None:
    found = _HAN_RUN.match(text)
    if not found:
        return None
    number, counted = _han(found[0]), text[found.end() :].strip()
    if number is None or not counted[:1].isalpha() or counted.startswith(_NOT_COUNTED):
        return None
    if found[2] == "半" and not counted.startswith(_HALVED):
        return None
    return number, counted


def _han_magnitude(text: str) -> Fraction | None:
    if text in ("半", "一半"):
        return Fraction(1, 2)
    if fraction := _HAN_WHOLE.fullmatch(text):
        whole = _han_or_figures(fraction[1]) if fraction[1] else Fraction(0)
        bottom, top = _bottom(fraction[2]), _han_or_figures(fraction[3])
        if whole is None or top is None or not bottom or (fraction[1] and top >= bottom):
            return None
        return whole + top / bottom
    return _han_amount(text)


def _bottom(text: str) -> Fraction | None:
    return Fraction(_HAN_UNITS[text]) if text in _HAN_UNITS else _han_or_figures(text)


def _han_or_figures(text: str) -> Fraction | None:
    """A part of a fraction: plain figures have a meaning there, and 百分之百 is all of it."""
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
    whole_text, _, behind = text.partition("点")
    whole, decimal = _han_integer(whole_text), _HAN_DECIMAL.fullmatch(behind)
    if whole is None or not decimal:
        return None
    digits = "".join(str(_HAN_DIGITS[digit]) for digit in decimal[1])
    return (whole + Fraction(int(digits), 10 ** len(digits))) * _product(decimal[2])


def _product(units: str) -> int:
    return prod(_HAN_UNITS[unit] for unit in units)


def _han_integer(text: str) -> int | None:
    """By the largest unit: how many of it, and the rest below it."""
    if len(text) == 1 and text in _HAN_DIGITS:
        return _HAN_DIGITS[text]
    if len(text) > 40:
        return None
    unit_sign = next((unit for unit in _LARGEST_FIRST if unit in text), None)
    if unit_sign is None:
        return None
    unit = _HAN_UNITS[unit_sign]
    head, _, rest = text.rpartition(unit_sign)
    count = 1 if not head and unit == 10 else _han_integer(head)
    if not count or count >= (unit if unit >= 10**4 else 10):
        return None
    below = _han_rest(rest, unit)
    return None if below is None else count * unit + below


def _han_rest(text: str, unit: int) -> int | None:
    if not text:
        return 0
    if text[0] in "零〇":
        below = _han_integer(text[1:])
        return below if below and below < unit // 10 else None
    below = _han_integer(text)
    if not below:
        return None
    if len(text) == 1 and text in _HAN_DIGITS:
        return below * unit // 10
    return below if unit // 100 <= below < unit else None


def _han_chain(text: str) -> Fraction | None:
    """Figures with units between them: 1.2亿, 3亿5000万, 1万2000.

    Every part is below the unit before it; 3千5 is said for 3500 and written for 3005, and has no value.
    """
    total, ceiling, position = Fraction(0), 0, 0
    while position < len(text):
        found = _HAN_CHAIN.match(text, position)
        amount = _figures(found[1]) if found else None
        if not found or amount is None:
            return None
        unit = _product(found[2])
        if amount.denominator != 1 and found[0] != text:
            return None
        if unit == 1 and (position == 0 or amount * 10 < ceiling):
            return None
        if position and amount * unit >= ceiling:
            return None
        total, ceiling, position = total + amount * unit, unit, found.end()
    return total


def _figures(text: str) -> Fraction | None:
    whole, _, part = text.partition(".")
    if not _GROUPED.fullmatch(whole) or len(part) > 30:
        return None
    return Fraction(whole.replace(",", "") + ("." + part if part else ""))
