"""Quantities in two or more units; their last number is only a part: `12 hours 30 minutes`, 5'11", 3元5角."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from memory import remember
from verifiers import cldr
from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.letters import LETTERS
from verifiers.commitment.wording import single

_FAMILIES: Final[tuple[Mapping[str, int], ...]] = (
    {
        "years?|yrs?|年": 365 * 86_400,
        "months?|个月|個月": 30 * 86_400,
        "weeks?|wks?|周|週|星期": 7 * 86_400,
        "days?|天|日": 86_400,
        "hours?|hrs?|h|小时|小時|时|時間": 3_600,
        "minutes?|mins?|m|分钟|分鐘|分": 60,
        "seconds?|secs?|s|秒钟|秒": 1,
    },
    {"miles?|mi": 63_360, "yards?|yds?": 36, "foot|feet|ft|['′’]": 12, "inch(?:es)?|in|[\"″”]|''": 1},
    {
        "kilomet(?:er|re)s?|km|公里|千米": 1_000_000,
        "met(?:er|re)s?|m|米": 1_000,
        "centimet(?:er|re)s?|cm|厘米|公分": 10,
        "millimet(?:er|re)s?|mm|毫米": 1,
    },
    {"tons?": 32_000, "stones?|st": 224, "pounds?|lbs?": 16, "ounces?|oz": 1},
    {"tonn?es?|吨": 1_000_000, "kilograms?|kilos?|kg|千克|公斤": 1_000, "grams?|g|克": 1},
    {"dollars?|euros?|pounds?|rupees?|pesos?": 100, "cents?|pence|p|paise|paisa|centavos?": 1},
    {"元|块|塊": 100, "角|毛": 10, "分": 1},
    {"gallons?|gal": 768, "quarts?|qt": 192, "pints?|pt": 96, "cups?": 48, "tablespoons?|tbsp": 3, "teaspoons?|tsp": 1},
    {"lit(?:er|re)s?|l|升": 1_000, "millilit(?:er|re)s?|ml|毫升": 1},
    {"degrees?|[°º]": 3_600, "(?:arc)?minutes?|['′’]": 60, "(?:arc)?seconds?|[\"″”]|''": 1},
)


_UNITS = [[(re.compile(names, re.IGNORECASE), size) for names, size in family.items()] for family in _FAMILIES]
_UNIT = rf"{LETTERS.pattern}|[°º]|''|['′’\"″”]"
_AMOUNT = r"\d{1,12}(?:\.\d{1,12})?"
_PLAIN = re.compile(_AMOUNT)
_UNIT_BEHIND = re.compile(rf"[ \u00a0-]?({_UNIT})")
_JOINTS = "|".join(map(re.escape, sorted(single(Kind.JOINS) | listed("besides"))))
_PART_BEFORE = re.compile(
    rf"(?<![A-Za-z0-9_.,])(?P<amount>{_AMOUNT})[ \u00a0-]?(?P<unit>{_UNIT})[,，]?\s?(?:(?:{_JOINTS})\s?)?\Z",
    re.IGNORECASE,
)
_PART_CHARS = 48
_MAX_PARTS = 4
_INCHES = "in"
"""The text behind feet that have no unit."""


def whole_measure(text: str, start: int, number: tuple[int, int], end: int) -> tuple[int, int] | None:
    """The span of a measure in several units that ends in the number at a span; None if the number is not part of one.

    A part is less than one of the unit before it: "2 hours, 120 minutes" says the same twice.
    """
    first, stop = number
    prefix = text[first - 1 : first]
    if not (prefix in _ENDS_OF_PARTS or prefix.isalpha()) or _PLAIN.fullmatch(text, first, stop) is None:
        return None
    unit = _unit_behind(text, stop, end)
    amount, smaller = float(text[first:stop]), _sizes(unit or _INCHES)
    for count in range(_MAX_PARTS):
        part = _PART_BEFORE.search(text, max(start, first - _PART_CHARS), first)
        if part is None or (not unit and count == 0 and part["unit"] not in _FEET_SIGNS):
            break
        larger = _sizes(part["unit"])
        if not any(amount * smaller[family] < larger[family] for family in larger.keys() & smaller.keys()):
            break
        first, amount, smaller = part.start(), float(part["amount"]), larger
    return None if first == number[0] else (first, text.index(unit, stop) + len(unit))


def _unit_behind(text: str, stop: int, end: int) -> str:
    """The unit behind a number: a word, or its beginning in a script without spaces, as in 30분이; empty for none."""
    word = _UNIT_BEHIND.match(text, stop, end)
    if word is None:
        return ""
    shortest = 1 if word[1] >= _UNSPACED else len(word[1])
    names = (word[1][:length] for length in range(min(len(word[1]), _MAX_UNIT_CHARS), shortest - 1, -1))
    return next((name for name in names if _sizes(name)), "")


_ENDS_OF_PARTS = frozenset(" \u00a0\n,，'′’\"″”°º")
_FEET_SIGNS = frozenset("'′’")
_UNSPACED = "\u0e00"
_MAX_UNIT_CHARS = 24


def are_same(measure: str, other: str) -> bool:
    """Whether two quantities may be the same, nearly: no two units of one family say that they are not."""
    sums, others = _totals(measure), _totals(other)
    pairs = [(sums[family], others[family]) for family in sums.keys() & others.keys()]
    return not pairs or any(abs(left - right) <= left / _NEARLY for left, right in pairs)


def _totals(measure: str) -> Mapping[int, Fraction]:
    """The sum of the parts of a quantity, for each family of units: "1 hour and 30 minutes"."""
    sums: Mapping[int, Fraction] | None = None
    for part in _MEASURED.finditer(measure):
        amount, sizes = Fraction(part["amount"].replace(",", ".")), _sizes(part["unit"])
        amounts = {family: amount * size for family, size in sizes.items()}
        sums = {f: sums[f] + amounts[f] for f in sums.keys() & amounts.keys()} if sums is not None else amounts
    return sums or {}


_MEASURED = re.compile(rf"(?P<amount>\d{{1,12}}(?:[.,]\d{{1,12}})?)[ \u00a0-]?(?P<unit>{_UNIT})")
_NEARLY = 20
"""Rounded quantities differ by a twentieth at most."""


def is_money(unit: str) -> bool:
    """Whether a unit is the name of a currency, or of a part of one."""
    return not (_sizes("dollars").keys() | _sizes("元").keys()).isdisjoint(_sizes(unit))


def is_unit(word: str) -> bool:
    """Whether a word is the name of a unit of a measure of several: miles, feet, minutes."""
    return bool(_sizes(word))


@remember(256)
def _sizes(unit: str) -> Mapping[int, int]:
    """The size of a unit of this name, for each family of units; the names of all languages are those of CLDR."""
    atoms = cldr.UNITS.get(unit.casefold(), {})
    names = {unit, *(atom for atom, exponent in atoms.items() if len(atoms) == exponent == 1)}
    return {
        family: size
        for family, units in enumerate(_UNITS)
        for pattern, size in units
        if any(pattern.fullmatch(name) for name in names)
    }
