r"""Reads the number that a short text states.

Words before the number and a unit behind it are allowed. A second number, an operator, or a word that makes it a range,
a bound or a choice is not allowed.
"""

import re
from collections.abc import Iterator, Sequence, Set
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from memory import remember
from verifiers import cldr, numerals
from verifiers.commitment import amounts
from verifiers.commitment.letters import LETTERS
from verifiers.math import units
from verifiers.numerals.chinese import HAN_NUMBER
from verifiers.numerals.parts import in_figures
from verifiers.rules.numeric import currencies, notation, scales, values
from verifiers.rules.numeric.values import Number, Unreadable

_MAX_TEXT_CHARS = 4000
_MAX_REMEMBERED_CHARS = 64
_MAX_DIGITS = 1000
_EQUALS = re.compile(r"\\(?:approx|sim(?:eq)?)(?![A-Za-z])|(?<![<>!])=(?![<>])|≈|:(?!\d)")
_REMARK = re.compile(r"(?<=[\d%])\s?\(\s?(?:[<>]=?|[≤≥]|\\[lg](?:eq?|t)(?![A-Za-z]))\s?-?[\d.,]{1,40}\s?\)")
"""A remark that a number is beyond another one: `12 (> 10)`."""
_DECIMAL = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d*)?|\.\d+"
_BEGIN = re.compile(
    rf"(?<![A-Za-z\d_.^\\])(?P<sign>[-+]?)\s?(?P<currency>[{currencies.SIGNS}]?)\s?(?P<inner_sign>-?)(?=\.?\d|\\[dt]?frac)"
)
_IN_BRACES = re.compile(r"\s?\{\s?(?P<top>-?\d+)\s?\}\s?\{\s?(?P<bottom>-?\d+)\s?\}|(?P<two>\d\d)")
_FRACTION = re.compile(r"(?:(?P<whole>\d+)\s?)?\\[dt]?frac\s?")
_MIXED = re.compile(r"(?P<whole>\d+)\s(?P<top>\d+)\s?[/⁄]\s?(?P<bottom>\d+)")
_TEN = re.compile(r"10\s?\^\s?(?:\{\s?(?P<braced>[-+]?\d{1,9})\s?\}|(?P<bare>[-+]?\d{1,9}))")
_PLAIN = re.compile(_DECIMAL)
_TIMES_TEN = re.compile(
    r"[eE](?P<e>[-+]?\d{1,9})|\s?(?:\\times|\\cdot|[x×*·])\s?10\s?\^\s?\{?\s?(?P<power>[-+]?\d{1,9})\s?\}?"
)
_DIVIDED = re.compile(rf"\s?[/⁄]\s?(?P<divisor>{_DECIMAL})")
_PERCENT = re.compile(r"\s?%")
_GOES_ON = re.compile(r"[\d^!]")
_MORE_BEHIND = re.compile(r"\s?[多余餘](?![于於])")
_SEVERAL = re.compile(r"[-–—~,;،؛、]")
_PERCENTS = {side: "|".join(sorted(words, reverse=True)) for side, words in cldr.PERCENTS.items()}
PERCENT_BEHIND = re.compile(rf"\s?(?:{_PERCENTS['behind']})(?![A-Za-zÀ-ӿ])", re.IGNORECASE)
_PERCENT_BEFORE = re.compile(rf"(?:{_PERCENTS['before']})\s?$", re.IGNORECASE)
_FRACTION_IN_WORDS = re.compile(r"per\s?cent|百分之", re.IGNORECASE)
"""The words with which a number in words is read as a fraction: "fifty percent" as 1/2."""
_EDGES = " .,;:!*\"'$()"
_ONE_LETTER_UNITS = frozenset("mgshlLCFKNJWVAdMt")
_OUTSIDE_WORDS = re.compile(r"[\s.,;!?'\"()$°²³/%-]*")


def read(text: str, decimal_comma: bool = False, languages: Set[str] = frozenset()) -> Number | Unreadable:
    """The number that a short text states; `languages` are those of the text around it. Linear in its length."""
    if len(text) > _MAX_TEXT_CHARS:
        return Unreadable("unparseable")
    is_short = len(text) <= _MAX_REMEMBERED_CHARS
    return (_read_again if is_short else _read)(text, decimal_comma, languages)


@remember(8192)
def _read_again(text: str, decimal_comma: bool, languages: Set[str]) -> Number | Unreadable:
    """The same with a cache: references, and answers to one question, are often the same few texts."""
    return _read(text, decimal_comma, languages)


def _read(text: str, decimal_comma: bool, languages: Set[str]) -> Number | Unreadable:
    text = _REMARK.sub("", in_figures(notation.plain(text, decimal_comma)))
    sides = _EQUALS.split(text)
    text = sides[-1]
    figures = list(_figures(text))
    if _names_several(sides):
        return Unreadable("conflicting_answers")
    if text.endswith("?"):
        return Unreadable("unparseable")
    if not figures:
        return _in_words(text)
    if len(figures) > 1:
        return Unreadable("conflicting_answers" if _several(text, figures) else "unparseable")
    figure = figures[0]
    head, tail = text[: figure.start], text[figure.end :]
    negative = amounts.negative_before(head)
    head = head[: len(head) - len(negative)]
    currency, tail = currencies.currency_beside(figure.currency, head, tail)
    scale, tail = scales.scale_behind(tail, bool(currency), languages)
    is_bounded = amounts.is_bounded(text, figure.start, figure.end) or _MORE_BEHIND.match(tail)
    if is_bounded or any(amounts.is_bounded(side, len(side), len(side)) for side in sides[:-1]):
        return Unreadable("conflicting_answers")
    percent = PERCENT_BEHIND.match(tail)
    tail = tail[percent.end() :] if percent else tail
    if _FACTORIAL_BEHIND.match(tail) or not _is_wording(head) or not _is_unit(tail):
        return Unreadable("unparseable")
    leads = _PERCENT_BEFORE.sub("", head)
    if not amounts.leads_to_number(leads, tail) or not (amounts.is_counted(tail) or _is_known_unit(tail)):
        return Unreadable("unparseable")
    if figure.value is None or scale is None:
        return Unreadable("unparseable")
    is_percent = figure.is_percent or bool(percent or _PERCENT_BEFORE.search(head))
    number = Number(*figure.value, is_percent, currency)
    return values.scaled(number, scale, bool(negative))


class _Figure(NamedTuple):
    """A number in figures, with its place."""

    start: int
    end: int
    value: tuple[Fraction, int] | None
    """The value with its exponent; None if there is none, as for a division by zero."""
    is_percent: bool
    currency: str


def _figures(text: str) -> Iterator[_Figure]:
    """The numbers of a text, in order."""
    position = 0
    while sign_match := _BEGIN.search(text, position):
        position = sign_match.start() + 1
        form = next((candidate for form_reader in _FORMS if (candidate := form_reader(text, sign_match.end()))), None)
        if form is None:
            continue
        end, value = form
        percent = _PERCENT.match(text, end)
        end = percent.end() if percent else end
        if _GOES_ON.match(text, end):
            continue
        position = max(position, end)
        if value is not None and sign_match["sign"] and sign_match["inner_sign"]:
            value = None
        if value is not None:
            sign = -1 if "-" in (sign_match["sign"], sign_match["inner_sign"]) else 1
            value = values.normal(sign * value[0], value[1])
        yield _Figure(sign_match.start(), end, value, percent is not None, sign_match["currency"])


_Form = tuple[int, tuple[Fraction, int] | None] | None
"""The end of a number in one notation, and its value with an exponent."""


def _fraction(text: str, start: int) -> _Form:
    r"""`\frac{3}{4}`, `2\frac34`."""
    name = _FRACTION.match(text, start)
    braces = _IN_BRACES.match(text, name.end()) if name else None
    if name is None or braces is None:
        return None
    top, bottom = (braces["two"][0], braces["two"][1]) if braces["two"] else (braces["top"], braces["bottom"])
    value = _quotient(name["whole"] or "0", top, bottom)
    raised = _TIMES_TEN.match(text, braces.end())
    if raised and raised["power"]:
        return raised.end(), (value[0], int(raised["power"])) if value else None
    return braces.end(), value


def _mixed(text: str, start: int) -> _Form:
    """`2 1/4`."""
    mixed = _MIXED.match(text, start)
    return (mixed.end(), _quotient(mixed["whole"], mixed["top"], mixed["bottom"])) if mixed else None


def _power_of_ten(text: str, start: int) -> _Form:
    ten = _TEN.match(text, start)
    return (ten.end(), (Fraction(1), int(ten["braced"] or ten["bare"]))) if ten else None


def _decimal(text: str, start: int) -> _Form:
    """`1,000.5`, `1.2e5`, `3/4`."""
    plain = _PLAIN.match(text, start)
    if plain is None:
        return None
    raised = _TIMES_TEN.match(text, plain.end())
    end = raised.end() if raised else plain.end()
    exponent = int(raised["e"] or raised["power"]) if raised else 0
    divided = _DIVIDED.match(text, end)
    end = divided.end() if divided else end
    if end - start > _MAX_DIGITS or (divided and exponent):
        return end, None
    divisor = _exact(divided["divisor"]) if divided else Fraction(1)
    return end, (_exact(plain[0]) / divisor, exponent) if divisor else None


_FORMS = (_fraction, _mixed, _power_of_ten, _decimal)


def _quotient(integer: str, top: str, bottom: str) -> tuple[Fraction, int] | None:
    if len(integer + top + bottom) > _MAX_DIGITS or not int(bottom):
        return None
    return int(integer) + Fraction(int(top), int(bottom)), 0


def _exact(text: str) -> Fraction:
    integer_digits, _, decimals = text.replace(",", "").partition(".")
    return Fraction(int(integer_digits + decimals or "0"), 10 ** len(decimals))


def _is_known_unit(text: str) -> bool:
    unit = units.key(text.strip(" ."))
    return unit is not None and units.is_known(unit)


_FACTORIAL_BEHIND = re.compile(r"[)\]}]{1,4}\s?!")
_NAME = re.compile(r"(?:\A|[^\w.])([A-Za-z]\w{0,3})\s?\Z")
_NEXT_NAME = re.compile(r"(?:[,;、，]|\b(?:and|or)\b|\n)\s*([A-Za-z]\w{0,3})\s?\Z")
_NAME_CHARS = 20
"""Characters read at the end of a side of an equation: more than a name and its joint to the text before."""
_DIGIT = re.compile(r"\d")


def _names_several(sides: Sequence[str]) -> bool:
    """Whether the text between equality signs gives values to several names: "x = 12, y = 13"."""
    for previous, side in pairwise(sides[:-1]):
        next_name, name = _NEXT_NAME.search(side[-_NAME_CHARS:]), _NAME.search(previous[-_NAME_CHARS:])
        if next_name is not None and name is not None and name[1] != next_name[1] and _DIGIT.search(side):
            return True
    return False


def _in_words(text: str) -> Number | Unreadable:
    """The number of a text in words, alone or with a counted noun: `forty-two`, 百分之五十, `twelve apples`."""
    text = text.strip(_EDGES)
    value, counted = numerals.value(text), ""
    if value is None and (counted_number := numerals.followed(text)) and _is_counted(text, counted_number[1]):
        value, counted = counted_number
    if value is None:
        return Unreadable("unparseable")
    is_fraction = _FRACTION_IN_WORDS.search(text) is not None
    is_percent = is_fraction or PERCENT_BEHIND.match(counted) is not None
    currency, _ = currencies.currency_beside("", "", counted)
    return Number(value * 100 if is_fraction else value, is_percent=is_percent, currency=currency)


def _is_counted(text: str, counted: str) -> bool:
    """Whether a text is a unit or a few words without another number; 一 before a word is its article."""
    if amounts.is_bounded(text, 0, len(text) - len(counted)) or _MORE_BEHIND.match(counted) or not _is_unit(counted):
        return False
    words, is_scaled = LETTERS.findall(counted), scales.scale_behind(counted, False)[0] != 1
    if not words or is_scaled or len(words) > _MAX_COUNTED_WORDS or amounts.is_no_amount(words[0]):
        return False
    if not counted.isascii():
        is_article, is_clock = text.startswith("一" + counted[:1]), "点" in text and counted[0] in "分钟"
        return len(counted) <= _MAX_COUNTED_HAN and not (is_article or is_clock or HAN_NUMBER.search(counted))
    return not any(numerals.value(word) is not None for word in words)


_MAX_COUNTED_WORDS = 3
_MAX_COUNTED_HAN = 6


def _several(text: str, figures: Sequence[_Figure]) -> bool:
    gaps = (text[figure.end : next_figure.start] for figure, next_figure in pairwise(figures))
    return all(_SEVERAL.search(gap) or not gap.strip() or amounts.joins(gap) for gap in gaps)


def _is_wording(head: str) -> bool:
    """Whether the text before a number is only words. A lone letter or an operator would make it an expression."""
    words = LETTERS.findall(head)
    if len(words) > 1 and len(words[0]) == 1 and (words[0] == "A" or amounts.is_verb(words[1])):
        words = words[1:]  # "A total of", "x is"
    return _is_words(head, words) and not any(word.isascii() and len(word) == 1 and word not in "aI" for word in words)


def _is_unit(tail: str) -> bool:
    words = LETTERS.findall(tail)
    lone = [word for word in words if word.isascii() and len(word) == 1 and word not in "aI"]
    return _is_words(tail, words) and all(word in _ONE_LETTER_UNITS for word in lone)


def _is_words(text: str, words: Sequence[str]) -> bool:
    tail = LETTERS.sub("", text)
    return _OUTSIDE_WORDS.fullmatch(tail) is not None and (bool(words) or not {"-", "/"} & {*tail}) and "/ " not in tail
