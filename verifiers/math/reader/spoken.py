"""Reads texts as a whole, without the grammar: clock times, dates, numbers in words, plain quantities."""

import re
from fractions import Fraction

from verifiers import numerals
from verifiers.math import moments, units
from verifiers.math.quantities import added
from verifiers.math.reader.notation import CURRENCIES
from verifiers.math.tree import Node
from verifiers.numerals.spelling import MAX_CHARS

_RATIO_IN_WORDS = re.compile(r"(\d{1,9})\s+to\s+(\d{1,9})")


def read_spoken(text: str) -> Node | None:
    """Read a clock time, a date, or a number in words with or without a unit."""
    if len(text) > MAX_CHARS:
        return None
    clock = moments.time_of_day(text)
    if clock is not None and (not clock.is_ambiguous or _SPOKEN_CLOCK.search(text)):
        return Node("clock", leaf=text)
    if moments.date(text) is not None:
        return Node("date", leaf=text)
    if ratio := _RATIO_IN_WORDS.fullmatch(text):
        return Node("ratio", tuple(Node("num", leaf=Fraction(part)) for part in ratio.groups()))
    if (parts := _compound(text)) is not None:
        return parts
    if (plain := _PLAIN_QUANTITY.fullmatch(text)) and (unit := units.key(plain[2])) is not None:
        is_unit = plain[2] in _UNIT_LETTERS or (len(plain[2]) > 1 and units.is_known(unit) and text.isascii())
        return Node("quantity", (Node("num", leaf=Fraction(plain[1])),), unit) if is_unit else None
    money = _MONEY.fullmatch(text)
    number = numerals.value(money[2] if money else text)
    if number is not None:
        value = Node("num", leaf=number)
        return Node("quantity", (value,), CURRENCIES[money[1]]) if money else value
    counted = numerals.followed(text)
    unit = units.key(counted[1]) if counted is not None else None
    return Node("quantity", (Node("num", leaf=counted[0]),), unit) if counted is not None and unit is not None else None


_PLAIN_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?) ?([^\d\s].*)")
_UNIT_LETTERS = frozenset("msgNJWVLKh")
"""Letters that are a unit if they stand alone behind a number; the others are as often variables."""
_COMPOUND = re.compile(r"(?:\d+(?:\.\d+)?\s*[^\W\d_]{1,12}\s*){2,4}")
_COMPOUND_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([^\W\d_]{1,12})")


def _compound(text: str) -> Node | None:
    """Read quantities of falling units: `2h 30m`, `3 kg 500 g`. After hours, m is a minute."""
    if not _COMPOUND.fullmatch(text):
        return None
    parts: list[Node] = []
    for value, name in _COMPOUND_PART.findall(text):
        unit = units.key("min" if name == "m" and parts and parts[-1].leaf == "h" else name)
        if unit is None:
            return None
        parts.append(Node("quantity", (Node("num", leaf=Fraction(value)),), unit))
    return added(tuple(parts))


_SPOKEN_CLOCK = re.compile(r"o'clock|[点點时時].{1,3}分")
_MONEY = re.compile(r"\\(dollar|euro|pounds|yen)\s*(.{1,100})", re.DOTALL)
