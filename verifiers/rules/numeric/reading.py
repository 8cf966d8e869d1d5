r"""The one number that a short text states: its grammar, and what may stand beside it.

Words before it and a unit behind it are allowed; a second number, an operator, a word that makes it a range, a bound or
a choice is not.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from verifiers import numerals
from verifiers.numerals.chinese import HAN_NUMBER
from verifiers.rules.numeric import bounds, currencies, notation, scales, values
from verifiers.rules.numeric.values import Number, Unreadable

_MAX_TEXT_CHARS = 4000
_MAX_REMEMBERED_CHARS = 64
_MAX_DIGITS = 1000
_EQUALS = re.compile(r"\\(?:approx|sim(?:eq)?)(?![A-Za-z])|(?<![<>!])=(?![<>])|≈|:(?!\d)")
_REMARK = re.compile(r"(?<=[\d%])\s?\(\s?(?:[<>]=?|[≤≥]|\\[lg](?:eq?|t)(?![A-Za-z]))\s?-?[\d.,]{1,40}\s?\)")
"""That a number is beyond another one: `12 (> 10)`."""
_RELATION = r"(?:大于|小于|高于|低于|大過|不足|不等于|最多|最少|起码)(?:或|且)?(?:等于)?"
_RELATION_BEFORE, _RELATION_BEHIND = re.compile(rf"{_RELATION}\s?$"), re.compile(rf"\s?{_RELATION}")
_DECIMAL = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d*)?|\.\d+"
_NUMBER = re.compile(
    rf"""(?<![A-Za-z\d_.^\\])
    (?P<sign>[-+]?)\s?(?P<currency>[{currencies.SIGNS}]?)\s?(?P<inner_sign>-?)
    (?:
        (?:(?P<whole>\d+)\s?)?\\[dt]?frac\s?(?:\{{\s?(?P<top>-?\d+)\s?\}}\s?\{{\s?(?P<bottom>-?\d+)\s?\}}|(?P<two>\d\d))
      | (?P<mixed>\d+)\s(?P<mixed_top>\d+)\s?[/⁄]\s?(?P<mixed_bottom>\d+)
      | 10\s?\^\s?(?:\{{\s?(?P<ten>[-+]?\d{{1,9}})\s?\}}|(?P<ten_bare>[-+]?\d{{1,9}}))
      | (?P<decimal>{_DECIMAL})
        (?:[eE](?P<e>[-+]?\d{{1,9}})|\s?(?:\\times|\\cdot|[x×*·])\s?10\s?\^\s?\{{?\s?(?P<power>[-+]?\d{{1,9}})\s?\}}?)?
        (?:\s?[/⁄]\s?(?P<divisor>{_DECIMAL}))?
    )
    (?P<percent>\s?%)?(?![\d^!])""",
    re.VERBOSE,
)
_HEDGE = re.compile(
    r"(?<![A-Za-z\\])(?:or|either|not|between|if|unless|otherwise|more|less|fewer|greater|smaller|least|most|than|over|under"
    r"|above|below|and\s(?:up|upwards|higher|lower)|exceeds?|half|plus|times|squared|cubed|infinit\w*|nan|up\sto"
    r"|(?:is|was)\s(?:wrong|incorrect|false))(?![A-Za-z])|n['’]t(?![A-Za-z])|[或不至到]|以[上下内]|超过|多于|少于",
    re.IGNORECASE,
)
_MORE_BEHIND = re.compile(r"\s?[多余餘](?![于於])")
_SEVERAL = re.compile(r"\s?(?:-|–|—|~|to|and|or|,|;|،|؛|、|或|和|至|到)\s?", re.IGNORECASE)
_NEGATIVE_WORD = re.compile(r"\b(?:negative|minus)\s?$|负$", re.IGNORECASE)
_PERCENT_BEHIND = re.compile(r"\s?(?:percent|per\scent|pct)(?![A-Za-z])", re.IGNORECASE)
_PERCENT_BEFORE = re.compile(r"百分之\s?$")
_PERCENT_WORD = re.compile(r"per\s?cent|百分之", re.IGNORECASE)
_EDGES = " .,;:!*\"'$()"
_ONE_LETTER_UNITS = frozenset("mgshlLCFKNJWVAdMt")
_WORD = re.compile(r"[^\W\d_]+")
_OUTSIDE_WORDS = re.compile(r"[\s.,;!?'\"()$°²³/%-]*")


def read(text: str, decimal_comma: bool = False) -> Number | Unreadable:
    """The number that a short text states; linear in its length."""
    if len(text) > _MAX_TEXT_CHARS:
        return Unreadable("unparseable")
    is_short = len(text) <= _MAX_REMEMBERED_CHARS
    return _read_again(text, decimal_comma) if is_short else _read(text, decimal_comma)


@lru_cache(maxsize=8192)
def _read_again(text: str, decimal_comma: bool) -> Number | Unreadable:
    """References, and answers to the same question, are the same few texts over and over."""
    return _read(text, decimal_comma)


def _read(text: str, decimal_comma: bool) -> Number | Unreadable:
    text = _REMARK.sub("", notation.plain(text, decimal_comma))
    sides = _EQUALS.split(text)
    text = sides[-1]
    found = list(_NUMBER.finditer(text))
    if _names_several(sides):
        return Unreadable("conflicting_answers")
    if text.endswith("?"):
        return Unreadable("unparseable")
    if not found:
        return _in_words(text)
    if len(found) > 1:
        return Unreadable("conflicting_answers" if _several(text, found) else "unparseable")
    match = found[0]
    before, after = text[: match.start()], text[match.end() :]
    currency, after = currencies.currency_beside(match["currency"], before, after)
    scale, after = scales.scale_behind(after, bool(currency))
    if any(_HEDGE.search(wording) for wording in (*sides[:-1], before, after)) or _MORE_BEHIND.match(after):
        return Unreadable("conflicting_answers")
    if bounds.bound_before(before) or bounds.bound_behind(after):
        return Unreadable("conflicting_answers")
    if _RELATION_BEFORE.search(before) or _RELATION_BEHIND.match(after):
        return Unreadable("conflicting_answers")
    negative = _NEGATIVE_WORD.search(before)
    if _FACTORIAL_BEHIND.match(after):
        return Unreadable("unparseable")
    if not _is_wording(before[: negative.start()] if negative else before) or not _is_unit(after):
        return Unreadable("unparseable")
    number = _number(match)
    if number is None:
        return Unreadable("unparseable")
    is_percent = number.is_percent or bool(_PERCENT_BEHIND.match(after) or _PERCENT_BEFORE.search(before))
    return values.scaled(replace(number, is_percent=is_percent, currency=currency), scale, negative is not None)


_FACTORIAL_BEHIND = re.compile(r"[)\]}]{1,4}\s?!")
_NAME = re.compile(r"(?:\A|[^\w.])([A-Za-z]\w{0,3})\s?\Z")
_NEXT_NAME = re.compile(r"(?:[,;、，]|\b(?:and|or)\b|\n)\s*([A-Za-z]\w{0,3})\s?\Z")
_NAME_CHARS = 20
"""At the end of a side: more than joins a name to what is before it."""
_DIGIT = re.compile(r"\d")


def _names_several(sides: Sequence[str]) -> bool:
    """Whether, by what stands between signs of equality, several names are given values: "x = 12, y = 13"."""
    for before, side in pairwise(sides[:-1]):
        next_name, name = _NEXT_NAME.search(side[-_NAME_CHARS:]), _NAME.search(before[-_NAME_CHARS:])
        if next_name is not None and name is not None and name[1] != next_name[1] and _DIGIT.search(side):
            return True
    return False


def _in_words(text: str) -> Number | Unreadable:
    """`forty-two`, 百分之五十, `twelve apples`: a text that is a number in words, alone or with what it counts."""
    text = text.strip(_EDGES)
    value, counted = numerals.value(text), ""
    if value is None and (found := numerals.followed(text)) and _is_counted(text, found[1]):
        value, counted = found
    if value is None:
        return Unreadable("unparseable")
    is_percent = _PERCENT_WORD.search(text) is not None
    currency, _ = currencies.currency_beside("", "", counted)
    return Number(value * 100 if is_percent else value, is_percent=is_percent, currency=currency)


def _is_counted(text: str, counted: str) -> bool:
    """Whether it is a unit or a few words, with no other number among them; 一 before a word is its article."""
    if _HEDGE.search(text) or _MORE_BEHIND.match(counted) or _RELATION_BEHIND.match(counted) or not _is_unit(counted):
        return False
    words = _WORD.findall(counted)
    if not words or len(words) > _MAX_COUNTED_WORDS or words[0].lower() in ("of", "second"):
        return False
    if not counted.isascii():
        is_article, is_clock = text.startswith("一" + counted[:1]), "点" in text and counted[0] in "分钟"
        return len(counted) <= _MAX_COUNTED_HAN and not (is_article or is_clock or HAN_NUMBER.search(counted))
    return not any(numerals.value(word) is not None for word in words)


_MAX_COUNTED_WORDS = 3
_MAX_COUNTED_HAN = 6


def _several(text: str, found: Sequence[re.Match[str]]) -> bool:
    gaps = (text[left.end() : right.start()] for left, right in pairwise(found))
    return all(
        _SEVERAL.search(gap) or not gap.strip() or max(map(len, _WORD.findall(gap)), default=0) > 1 for gap in gaps
    )


def _is_wording(before: str) -> bool:
    """Words before the number; a lone letter or an operator would make it part of an expression."""
    words = _WORD.findall(before)
    return _is_words(before, words) and not any(
        word.isascii() and len(word) == 1 and word not in "aI" for word in words
    )


def _is_unit(after: str) -> bool:
    words = _WORD.findall(after)
    lone = [word for word in words if word.isascii() and len(word) == 1 and word not in "aI"]
    return _is_words(after, words) and all(word in _ONE_LETTER_UNITS for word in lone)


def _is_words(text: str, words: Sequence[str]) -> bool:
    rest = _WORD.sub("", text)
    return _OUTSIDE_WORDS.fullmatch(rest) is not None and not ("-" in rest and not words) and "/ " not in rest


def _number(match: re.Match[str]) -> Number | None:
    if any(len(group or "") > _MAX_DIGITS for group in match.groups()):
        return None
    exponent = int(match["e"] or match["power"] or match["ten"] or match["ten_bare"] or 0)
    if (match["divisor"] and exponent) or (match["sign"] and match["inner_sign"]):
        return None
    fraction = _fraction(match)
    if fraction is None:
        return None
    if "-" in (match["sign"], match["inner_sign"]):
        fraction = -fraction
    fraction, exponent = values.normal(fraction, exponent)
    return Number(fraction, exponent, bool(match["percent"]), match["currency"])


def _fraction(match: re.Match[str]) -> Fraction | None:
    whole, top, bottom = match["whole"], match["top"], match["bottom"]
    if match["two"]:
        top, bottom = match["two"][0], match["two"][1]
    if match["mixed"]:
        whole, top, bottom = match["mixed"], match["mixed_top"], match["mixed_bottom"]
    if match["ten"] or match["ten_bare"]:
        return Fraction(1)
    if top is not None:
        return int(whole or 0) + Fraction(int(top), int(bottom)) if int(bottom) else None
    divisor = _decimal(match["divisor"]) if match["divisor"] else Fraction(1)
    return _decimal(match["decimal"]) / divisor if divisor else None


def _decimal(text: str) -> Fraction:
    whole, _, decimals = text.replace(",", "").partition(".")
    return Fraction(int(whole + decimals or "0"), 10 ** len(decimals))
