"""Reads texts as a whole, without the grammar: clock times, dates, numbers in words, plain quantities."""

import re
from fractions import Fraction

from verifiers import cldr, numerals
from verifiers.commitment.amounts import lead_end
from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.latex import any_of
from verifiers.commitment.letters import LETTERS
from verifiers.commitment.wording import single
from verifiers.math import moments, units
from verifiers.math.quantities import added
from verifiers.math.reader.notation import CURRENCIES
from verifiers.math.tree import Node
from verifiers.numerals.spelling import MAX_CHARS, spoken
from verifiers.rules.numeric import reading
from verifiers.rules.numeric.values import Number

_DECIMAL = r"[-+]?\d+(?:\.\d+)?"
_PERCENT = re.compile(
    rf"(?P<before>{_DECIMAL}){reading.PERCENT_BEHIND.pattern}|(?:{'|'.join(cldr.PERCENTS['before'])})\s?(?P<behind>{_DECIMAL})",
    re.IGNORECASE,
)
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
    if (amounts := _compound(text)) is not None:
        return amounts
    if percent := _PERCENT.fullmatch(text):
        return Node("%", (Node("num", leaf=Fraction(percent["before"] or percent["behind"])),))
    if (counted := _NUMBER_WITH_NOUN.fullmatch(text)) and (unit := units.key(counted["noun"])) is not None:
        return Node("quantity", (Node("num", leaf=Fraction(counted["value"])),), unit)
    plain = _PLAIN_QUANTITY.fullmatch(text)
    if plain and " -" not in plain["unit"] and (unit := units.key(plain["unit"])) is not None:
        is_named = text.isascii() or plain["unit"].casefold() in cldr.UNITS
        is_unit = plain["unit"] in _UNIT_LETTERS or (len(plain["unit"]) > 1 and units.is_known(unit) and is_named)
        return Node("quantity", (_scaled(plain["value"], plain["power"]),), unit) if is_unit else None
    if (rate := _RATE.fullmatch(text)) and rate["lead"] in cldr.RATES:
        unit = units.key(f"{rate['unit']}/{cldr.RATES[rate['lead']]}")
        return None if unit is None else Node("quantity", (Node("num", leaf=Fraction(rate["value"])),), unit)
    if pay := _PAY.fullmatch(text):
        unit = units.key(f"{CURRENCIES[pay[1]]} {pay[3]}")
        return None if unit is None else Node("quantity", (Node("num", leaf=Fraction(pay[2].replace(",", ""))),), unit)
    money = _MONEY.fullmatch(text)
    number = numerals.value(money[2] if money else text)
    if number is not None:
        value = Node("num", leaf=number)
        return Node("quantity", (value,), CURRENCIES[money[1]]) if money else value
    followed = numerals.followed(text)
    unit = units.key(followed[1]) if followed is not None else None
    return (
        Node("quantity", (Node("num", leaf=followed[0]),), unit) if followed is not None and unit is not None else None
    )


def _scaled(value: str, power: str | None) -> Node:
    """A number, or a number times a power of ten."""
    number = Node("num", leaf=Fraction(value))
    if power is None:
        return number
    exponent = Node("num", leaf=Fraction(power.lstrip("-")))
    exponent = Node("neg", (exponent,)) if power.startswith("-") else exponent
    return Node("*", (number, Node("^", (Node("num", leaf=Fraction(10)), exponent))))


_TIMES_POWER = r"\s?\\(?:times|cdot)\s?10\s?\^\s?\{?\s?(?P<power>-?\d{1,3})\s?\}?"
_NOUN_WORD = "[A-Za-z]{2,20}"
_NUMBER_WITH_NOUN = re.compile(
    rf"(?P<value>{_DECIMAL})\s?(?P<bracket>\()?"
    rf"(?P<noun>{_NOUN_WORD}(?(bracket)|[ -]{_NOUN_WORD})(?:[ -]{_NOUN_WORD}){{0,3}})(?(bracket)\))"
)
"""A number with a noun of several words, also in brackets, as ASDiv has it: "5 red apples", "32 (pet fish)"."""
_PLAIN_QUANTITY = re.compile(rf"(?P<value>[-+]?\d+(?:\.\d+)?)(?:{_TIMES_POWER})? ?(?P<unit>[^\d\s].*)")
_RATE = re.compile(rf"(?P<lead>{LETTERS.pattern})\s?(?P<value>\d+(?:\.\d+)?)\s?(?P<unit>{LETTERS.pattern})")
"""A rate whose unit of time stands in front: 時速60km, 每小时60公里."""
_UNIT_LETTERS = frozenset("msgNJWVLKh")
"""Letters that are a unit if they stand alone behind a number; the others are as often variables."""
_PART = rf"(\d+(?:\.\d+)?)\s*({LETTERS.pattern})"
_COMPOUND = re.compile(
    rf"{_PART}(?:(?:\s*,)?(?:\s+(?:{any_of(single(Kind.JOINS))}))?\s*{_PART}){{1,3}}\.?", re.IGNORECASE
)
_COMPOUND_PART = re.compile(_PART)


def _compound(text: str) -> Node | None:
    """Read quantities of falling units: `2h 30m`, `3 kg 500 g`. After hours, m is a minute."""
    if not _COMPOUND.fullmatch(text):
        return None
    amounts: list[Node] = []
    for value, name in _COMPOUND_PART.findall(text):
        unit = units.key("min" if name == "m" and amounts and amounts[-1].leaf == "h" else name)
        if unit is None:
            return None
        amounts.append(Node("quantity", (Node("num", leaf=Fraction(value)),), unit))
    return added(tuple(amounts))


def read_counted(text: str) -> Node | None:
    """Read a number with one word behind it that no table has, and that can only be a noun: `6 яблок`, `6 elma`.

    In scripts that glue words to numbers the word has to be a counter that is known: `사과 6개`, and so has the one behind
    a noun. `numeric` reads the words: a bound, a scale or an operator of any language of the lexicons makes no number.
    More words may be anything, such as "с половиной" (and a half), so they make none either.
    """
    if text[:1].isalpha() and (lead := lead_end(text)):
        bare = text[lead:].strip(" .")
        return (
            Node("num", leaf=Fraction(bare)) if bare.isascii() and bare.isdecimal() and len(bare) <= MAX_CHARS else None
        )
    plain = spoken(text)
    if plain is None or plain.isascii() or not (match := _COUNTED.fullmatch(plain)):
        return None
    first, *more_words = match["behind"].split()
    unit = None if more_words else units.key(first)
    is_counter = first.casefold() in listed("counters")
    if unit is None and not is_counter and (match["before"] or more_words or not match["gap"]):
        return None
    number = reading.read(plain)
    if not isinstance(number, Number) or number.is_percent or number.currency or number.exponent:
        return None
    return Node("quantity", (Node("num", leaf=number.fraction),), _THING if unit is None or match["before"] else unit)


_THING = "thing"
"""A counted noun that stands for any other."""
_COUNTED = re.compile(
    rf"(?P<before>{LETTERS.pattern}\s)?[-+]?\d[\d.,]*(?P<gap>\s)?(?P<behind>{LETTERS.pattern}(?:\s{LETTERS.pattern})?)\.?"
)
_SPOKEN_CLOCK = re.compile(r"o'clock|(?i:uhr)|[点點时時시].{1,3}[分분]")
_PAY = re.compile(r"\\(dollar|euro|pounds|yen)\s*(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)\s?((?:/|\D{1,6}\s)[^\d/]{1,40})")
"""Money by something else: `$15/hour`, `€15 pro Stunde`."""
_MONEY = re.compile(r"\\(dollar|euro|pounds|yen)\s*(.{1,100})", re.DOTALL)
