"""Removes asides at the end of a text that state no other number.

An aside shows how the number was computed (`12 (3 × 4)`), or gives the same value again (`3/4, or 0.75`). One that gives the
value again in round figures is an approximation: `5/36, or about 13.9%` is `5/36 ≈ 13.9%`. One that gives a quantity again gives
it in another unit, or its tolerance: `80 km/h (about 50 mph)`, `4.5 m (±0.5 m)`.
"""

import re
from fractions import Fraction

from verifiers import cldr
from verifiers.commitment.cues import Kind, adverbs, cues, listed, words
from verifiers.commitment.measures import are_same

_CHARS = 80
_END = r"(?=[\s.。$*!)}\]]{0,6}(?:</answer>\s{0,4})?\Z)"
_VALUE = r"[$\\]{0,2}[-−]?\d(?:[\d.,]{0,20}\d)?(?:/\d{1,12})?(?:\s?\\?%)?\$?"
_DIGITS = r"\d[\d.,]{0,12}"
_TERM = rf"\$?{_DIGITS}(?:\s[^\W\d_]{{2,12}}|\s[a-wyz])?"
"""A number of a working, maybe with what it counts or its unit: "9 sprints × 60 m"."""
_CALCULATION = re.compile(
    rf"\s\(\s?(?:=\s?)?{_TERM}(?:\s?(?:[×x*+÷/·]|\s[-−]\s)\s?{_TERM}){{1,5}}(?:\s?=\s?{_TERM})?\s?\)" + _END
)
_COUNTED_BEFORE = re.compile(r"\d(?:\s?[^\W\d_]{1,12}){0,4}[$*°%]{0,3}\Z")
_AGAIN = re.compile(
    rf"(?<![\w.,/])(?P<value>{_VALUE})(?P<aside>(?P<lead>,?\s[^\W\d][^\n\d]{{1,24}}?)(?P<again>{_VALUE})){_END}"
)
_SAME = frozenset([Kind.OR, Kind.CHOOSE, Kind.BECAUSE])
"""The kinds of words that introduce the same value again."""


def without_asides(text: str) -> str:
    """A text of the same length, without the asides at its end."""
    first = max(0, len(text) - _CHARS)
    if ")" in text[-_BRACKET_CHARS:]:
        match = _CALCULATION.search(text, max(first, text.rfind("(") - 1))
        if match and _COUNTED_BEFORE.search(text, first, match.start()):
            text = _blank(text, *match.span())
    if (hit := _CONVERTED.search(text, first)) and _is_converted(hit):
        return _blank(text, *hit.span("aside"))
    again = _AGAIN.search(text, first)
    # "7 + 9 = 16, so it is 16" concludes.
    is_result = again and text[: again.start()].endswith(("=", "= ", "=$", "= $"))
    is_same = again and not is_result and _is_lead(again["lead"]) and _is_same(again["value"], again["again"])
    return _blank(text, *again.span("aside")) if again and is_same else text


_WORDS = r"(?:\s[^\W\d_]{1,12}[²³]?){0,3}"
_UNIT = r"°?[^\W\d_]{1,16}(?:/[^\W\d_]{1,8})?"
_OTHER = rf"(?P<lead>[^\d(（]{{0,24}}?)(?P<amount>{_DIGITS}) ?(?P<other>{_UNIT})"
_CONVERTED = re.compile(
    rf"\d ?(?P<unit>{_UNIT})(?P<aside>(?:\s?[(（]|(?P<comma>, )){_OTHER}(?:[)）]|(?=[.\s])))" + _END
)


_DIGITS_BEFORE = re.compile(rf"(?<![\d.,]){_DIGITS}\Z")
_DIGITS_CHARS = 16


def _is_converted(match: re.Match[str]) -> bool:
    """Whether an aside behind a quantity holds nothing but a quantity that may be the same, with words that say that it is."""
    before = _DIGITS_BEFORE.search(match.string, max(0, match.start() - _DIGITS_CHARS), match.start() + 1)
    amount, other = _number(before[0].rstrip(".,")) if before else None, _number(match["amount"].rstrip(".,"))
    if amount is not None and other is not None and not are_same(amount, match["unit"], other, match["other"]):
        return False
    is_led = _is_lead(match["lead"]) or (not match["comma"] and _leads_to_rounded(f"{match['lead']}≈", ""))
    return is_led and all(name.casefold() in cldr.UNITS or name in _SYMBOLS for name in (match["unit"], match["other"]))


def without_substances(text: str) -> str:
    """A text of the same length, without the figures of a formula that an amount is of, at its end: "3.2 g of CO2 are formed"."""
    start = max(0, len(text) - 2 * _CHARS)
    for match in reversed([*_AMOUNT_OF.finditer(text, start)]):
        is_unit = match["unit"].casefold() in cldr.UNITS or match["unit"] in _SYMBOLS
        if is_unit and (match["of"] is None or match["of"].strip() in listed("of")):
            first, stop = match.span("formula")
            text = text[:first] + "".join("x" if sign.isdigit() else sign for sign in match["formula"]) + text[stop:]
    return text


_AMOUNT_OF = re.compile(
    r"\d ?(?P<unit>[^\W\d_]{1,16})(?P<of> [^\W\d_]{1,4})? (?P<formula>[(\[]{0,2}[A-Z][A-Za-z\d₀-₉()\[\]]{1,24})"
)
_SYMBOLS = {symbol for atoms in cldr.UNITS.values() for symbol in atoms}
_ROUNDED = re.compile(
    rf"(?<=[\d)}}$%π])(?P<lead>,?\s\(?\s?[^\W\d][^\n\d$]{{1,40}}?|\s\(?(?:≈|\\approx)\s?)"
    rf"(?P<again>{_VALUE})(?P<unit>{_WORDS})(?P<close>\)?){_END}"
)
_VALUE_BEFORE = re.compile(rf"(?<![\w.,/^}})√]){_VALUE}\Z")


def with_approximation(text: str) -> str:
    """A text of the same length, with ≈ for the words before round figures of the value before them, at its end."""
    first = max(0, len(text) - _CHARS)
    rounded = _ROUNDED.search(text, first)
    if rounded is None or not _leads_to_rounded(rounded["lead"], rounded["unit"]):
        return text
    exact = _VALUE_BEFORE.search(text, first, rounded.start())
    if exact and not _rounds(exact[0], rounded["again"]):
        return text
    start, end = rounded.span("lead")
    text = _blank(text, *rounded.span("close"))
    repetition, sign = rounded["again"], f" ≈{' ' * (end - start - 2)}"
    if text[start - 1] != "$":
        return text[:start] + sign + text[end:]
    repetition = (
        repetition.replace("$", " ", 1) if repetition.startswith("$") and repetition.endswith("$") else f"{repetition}$"
    )
    head = text[: start - 1] + " " * (len(rounded["again"]) - len(repetition) + 1)
    return f"{head}{sign}{repetition}{text[rounded.end('again') :]}"


def _leads_to_rounded(lead: str, unit: str) -> bool:
    """Whether all words say that a value is only near: "or about", "(approximately"; before them its unit may stand, as behind."""
    phrase = words(lead)
    signals = [cue for cue in cues(phrase) if cue.kind in (Kind.OR, Kind.ABOUT, Kind.CHOOSE, Kind.BECAUSE)]
    first = min((cue.first for cue in signals), default=0)
    if first and lead[: phrase[first].start].strip(" ,") not in ("", "(", unit.strip()):
        return False
    read_words = {*range(first), *(index for cue in signals for index in range(cue.first, cue.stop))}
    is_near = any(cue.kind is Kind.ABOUT for cue in signals) or "≈" in lead or "approx" in lead
    return is_near and all(
        index in read_words or word.text in adverbs() for index, word in enumerate(phrase) if word.text.isalpha()
    )


def _rounds(value: str, repetition: str) -> bool:
    """Whether the figures of a number are another one, rounded."""
    exact, near = _number(value), _number(repetition)
    if exact is None or near is None:
        return False
    decimals = len(repetition.partition(".")[2].strip("$\\% ")) + (2 if "%" in repetition else 0)
    return abs(exact - near) <= Fraction(1, 10**decimals)


def _number(figures: str) -> Fraction | None:
    """A number as `_VALUE` has it; None for a division by zero, or digits that are not grouped as those of thousands."""
    bare = figures.strip("$\\% ").replace("−", "-")
    top, _, bottom = _THOUSANDS.sub("", bare).partition("/")
    if not _DECIMAL.fullmatch(top) or (bottom and not int(bottom)):
        return None
    return Fraction(top) / Fraction(bottom or 1) / (100 if "%" in figures else 1)


_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?")
_BRACKET_CHARS = 24
"""Text that may stand behind an aside in brackets: a mark, an end tag."""


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _is_lead(text: str) -> bool:
    """Whether all words only introduce the same value again: "or", "that is", "equivalently"."""
    phrase = words(text)
    indices = {index for cue in cues(phrase) if cue.kind in _SAME for index in range(cue.first, cue.stop)}
    return bool(indices) and all(
        index in indices or word.text in adverbs() for index, word in enumerate(phrase) if word.text.isalpha()
    )


def _is_same(value: str, repetition: str) -> bool:
    number = _number(value)
    return number is not None and number == _number(repetition)
