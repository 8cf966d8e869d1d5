"""Numbers in English words: cardinals, decimals, fractions, and figures with a multiplier."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction

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
CARDINALS = {"zero", *_SMALL, *_TENS}
"""The words that may begin a number in words, apart from `a`."""
_IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
_IRREGULAR |= {"twelve": "twelfth"}


def _ordinal(word: str) -> str:
    if word in _TENS:
        return word[:-1] + "ieth"
    return _IRREGULAR.get(word, word + "th")


ORDINALS = {_ordinal(word): number for word, number in {**_SMALL, **_TENS, "hundred": 100, **_SCALES}.items()}
"""The ordinals with their numbers."""
_DENOMINATORS = {"half": 2, "quarter": 4} | {word: number for word, number in ORDINALS.items() if number > 2}
_PLURALS = {"halves": "half"} | {word + "s": word for word in [*ORDINALS, "quarter"]}
_PLURAL_MULTIPLIERS = {word + "s": word for word in _MULTIPLIERS}
_SIGNS = {"minus", "negative"}
VOCABULARY = {
    *_SMALL, *_TENS, *_MULTIPLIERS, *_PLURAL_MULTIPLIERS, *_DENOMINATORS, *_PLURALS, *_SIGNS,
    "zero", "a", "and", "point", "percent", "first",
} - {"firsts", "seconds"}  # fmt: skip
"""The words of numbers, with ordinals."""
"""The words of numbers. `second` is not among them: behind a number it is a time."""
WORD = re.compile(r"(?:(?<!^)[- ])?([A-Za-z]+(?![A-Za-z'])|%)|( ?,)(?= ?[A-Za-z])")
"""A hyphen joins two words. Before the first word, or with blanks around it, it is a minus sign."""
_FIGURES = re.compile(r"([+-]? ?)(\d{1,3}(?:,\d{3})+|\d{1,30})(\.\d{1,30})?(?![\d.,]*\d)")


def number_words(text: str, *, every_word: bool) -> tuple[list[str], int]:
    """The words at the beginning of a text (or only the words of numbers) in one spelling, and the end of them."""
    words: list[str] = []
    position = 0
    while len(words) <= _MAX_WORDS:
        if (figures := _FIGURES.match(text, position)) and set(words) <= _SIGNS:
            words.append(figures[0].replace(",", "").replace(" ", ""))
            position = figures.end()
        match = WORD.match(text, position)
        if not match:
            break
        word = (match[1] or ",").lower()
        if match[1] and not every_word and word not in VOCABULARY:
            break
        if match[2] and not every_word and not _goes_on(text, match.end()):
            break
        words.append(word)
        position = match.end()
        if text[position : position + 1] == " " and _FIGURES.match(text, position + 1) and set(words) <= _SIGNS:
            position += 1
    return words, position


def _goes_on(text: str, position: int) -> bool:
    match = WORD.match(text, position)
    return bool(match and match[1] and match[1].lower() in VOCABULARY)


def number_of(words: list[str]) -> Fraction | None:
    """The number that words spell; None if they spell none, or several."""
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
    """The value that all readings share; None if there is none."""
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
    last_group = _last_group(words[start:], is_first=start == 0)
    return None if last_group is None else Fraction(total + last_group)


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
    """A number up to 9999: `fifteen hundred` is English, `twenty hundred` is not."""
    if "hundred" not in words:
        return _below_hundred(words)
    at = words.index("hundred")
    hundreds, tail = _below_hundred(words[:at]), words[at + 1 :]
    if not hundreds or hundreds % 10 == 0:
        return None
    if not tail:
        return hundreds * 100
    lower = _below_hundred(tail[1:] if tail[0] == "and" else tail)
    return None if lower is None else hundreds * 100 + lower


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
    integer = _cardinal(words[:at]) if at else Fraction(0)
    digits = words[at + 1 :]
    if integer is None or not digits or not all(digit in _DIGITS for digit in digits):
        return None
    return integer + Fraction(int("".join(str(_DIGITS[digit]) for digit in digits)), 10 ** len(digits))


def _multiplied(words: Sequence[str]) -> Fraction | None:
    """A number with a multiplier: `2.5 million`, `two and a half million`, `half a million`, `two dozen`."""
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
    """The readings of `three and a half`. `A million and a half` may also mean 1,500,000, and has no reading here."""
    readings: set[Fraction] = set()
    for at, word in enumerate(words):
        if word != "and" or not at or (words[at - 1] in _MULTIPLIERS and words[at + 1 : at + 2] == ["a"]):
            continue
        integer = _cardinal(words[:at])
        if integer is not None:
            readings |= {integer + part for part in _fractions(words[at + 1 :]) if part < 1}
    return readings


def _fractions(words: Sequence[str]) -> set[Fraction]:
    """The readings of a fraction: a singular follows `one` or `a`, a plural any other numerator.

    `Twenty third` is none.
    """
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
    ordinal = ORDINALS.get(last)
    if not ordinal:
        return None
    if words[0] in _TENS and ordinal < 10:
        return _TENS[words[0]] + ordinal
    if words[0] in ("ten", "hundred") and ordinal >= 1000:
        return ordinal * (10 if words[0] == "ten" else 100)
    return 100 + ordinal if words[0] == "hundred" and ordinal < 100 and is_plural else None
