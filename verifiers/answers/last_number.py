"""The channel `last_number`: the last number of a text, where it stands alone.

It is none as a part of an expression, a range or a time; nor, by what the words around it say, as a label or a bound
(roles.py) or in doubt (doubt.py).
"""

import re

from verifiers.answers.doubt import is_doubted
from verifiers.answers.factorials import is_factorial
from verifiers.answers.measures import whole_measure
from verifiers.answers.numerals import NUMBER, last_digit_end
from verifiers.answers.offers import NO_OFFERS, Offer, Offers
from verifiers.answers.roles import is_bound_to_words, is_label
from verifiers.answers.spans import strip

_NUMBER = re.compile(rf"(?=[-+−－＋\s$€£¥￥₹\\\d.½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])(?<![A-Za-z\d_.\\^]){NUMBER}")
"""What a number begins with is looked at first: letters are passed over in two thirds of the time."""
_NUMBER_CHARS = 400
_PART_BEFORE = re.compile(
    r"(?:[A-Za-z\d)}\]][ ]?[-−+*/×·÷<>≤≥]|\d[ ]?x|\d\.\(|[\^_](?:\{?[-−+])?|\\(?:times|cdot|div|le|ge|leq|geq|lt|gt)|(?<!\\text)(?<!\\textbf)(?<!\\mathbf)"
    r"(?<!\\mathrm)\{)[ $]{0,2}$"
)
_TAG_BEFORE = re.compile(r"<(?!(?:sub|sup|s|del|strike)>)[A-Za-z_]\w{0,19}>[ $]{0,2}$", re.IGNORECASE)
"""The number begins what is in a tag; an index, a power or what is struck out is none."""
_PART_ENDS = frozenset("-−+*/×·÷<>≤≥^_{x(")
_PART_AFTER = re.compile(
    r"[ ]?[*×·÷+/=^][ ]?(?!\\?circ|\{\\?circ)[\w(\\{$]|[-−–]\d|[({_]|[.:]\d|\.\(\d"
    r"|\\(?![%$,;!: )\]\\]|text|mathrm|quad|qquad|degree|circ|end)|[a-cefi-knopqrtuvwxyz](?![A-Za-zµ])"
    r"|[ ]?(?:π|pi\b|[²³¹⁰⁴-⁹⁻⁺√]|(?:squared|cubed|doubled|tripled|halved|factorial|mod)\b|[ ]?(?:degrees?\s|°[CF]?\s)?below\s(?:zero|freezing)\b|times\s\$?\d)|[ ][xyznk](?!\w)|以[上下内]|[多余餘](?![于於])"
)
_SCALE = re.compile(
    r"\.\.\.|…|(?:st|nd|rd|th)\b|[ ]?(?:(?:hundred|thousand|million|billion|trillion|dozen)\b|[万亿千百兆])",
    re.IGNORECASE,
)
"""What makes another number of digits, and so belongs to it."""
_SIGNS = "-−－+＋"
_DASH_BEFORE = re.compile(r"(?:^|\n|[A-Za-z]{2,}|\d)[ ]?$")
_TERM_BEFORE = re.compile(r"(?:^|[^A-Za-z])[A-Za-z][ ]?$|[)}][ ]?$")
_DASH_ENDS = re.compile(r"[A-Za-z]{2,}[ ][-−][ ]$")
_RANGE = re.compile(r"\s?(?:[-−–—~～]|to|until|through|bis|至|到)\s?|:", re.IGNORECASE)

_REJECTS = re.compile(
    r"[%°$*_)\\]{0,4}(?:\s[a-z]{1,16}){0,2},?\s\(?(?:and\s)?(?:not|rather\sthan|instead\sof)\s"
    r"(?:(?:the|my|our|his|her|their|an?)\s(?:[a-z]{1,16}\s)?)?[($*_\\]{0,4}",
    re.IGNORECASE,
)
"""Between a number and one that it is not: "4, not 5", "4 apples instead of the usual 5"."""


def read_numbers(text: str, start: int, end: int) -> Offers:
    """The numbers near the end of the text; none when the last one is part of something larger."""
    last_digit = last_digit_end(text, start, end)
    if last_digit is None:
        return NO_OFFERS
    window = max(start, last_digit - _NUMBER_CHARS), min(end, last_digit + 8)
    offers: list[Offer] = []
    for match in _NUMBER.finditer(text, *window):
        number_start = match.start()
        if text[number_start] == " ":
            number_start += 1
        if not text[number_start].isdigit():
            number_start = strip(text, _without_dash(text, start, match), match.end())[0]
        if text[number_start] == "$" and text.startswith("$", match.end(), end):
            number_start += 1
        offers.append(Offer(number_start, match.end(), number_start, match.end()))
    if not offers or offers[-1].end < last_digit:
        return NO_OFFERS
    if len(offers) > 1 and _RANGE.fullmatch(text, offers[-2].end, offers[-1].start):
        return Offers(offers, "conflicting_answers")
    if len(offers) > 1 and _REJECTS.fullmatch(text, offers[-2].end, offers[-1].start):
        offers.pop()
    last = offers[-1]
    before = text[max(start, last.start - 24) : last.start]
    if before.rstrip(" $").endswith(">") and (tag := _TAG_BEFORE.search(before)):
        before = before[: tag.start()]
    may_be_part = before.rstrip(" $")[-1:] in _PART_ENDS or "\\" in before
    if may_be_part and _PART_BEFORE.search(before) and not _DASH_ENDS.search(before):
        return NO_OFFERS
    if _PART_AFTER.match(text, last.end, end) or is_factorial(text, start, end, last):
        return NO_OFFERS
    if is_label(text, start, end, last) or is_doubted(text, start, end, last):
        return Offers(offers, "no_answer")
    if is_bound_to_words(text, start, last):
        return NO_OFFERS
    if _is_one_of_a_list(text, start, end, last):
        return Offers(offers, "conflicting_answers")
    if whole := whole_measure(text, start, (last.start, last.end), end):
        return Offers([*(offer for offer in offers if offer.end <= whole[0]), Offer(*whole, *whole)])
    if scaled := _SCALE.match(text, last.end, end):
        offers[-1] = Offer(last.start, scaled.end(), last.start, scaled.end())
    return Offers(offers)


def _without_dash(text: str, start: int, match: re.Match[str]) -> int:
    """Where a number starts when the sign before it is a dash ("Total - 5") or an operator ("x - 5")."""
    position = match.start()
    if text[position] not in _SIGNS:
        return position
    before = text[max(start, position - 24) : position]
    spaced = text[position + 1].isspace()
    if spaced and (_DASH_BEFORE.search(before) or _TERM_BEFORE.search(before)):
        return position + 1
    return position


_LIST_LINE = re.compile(
    r"(?P<mark>[-−–—*+•·>]\s{1,4}|[(\[]?(?:\d{1,3}|[A-Za-z]{1,4})[.):\]]\s{1,4})?[$*_`(\[{\\]{0,6}"
    rf"(?:(?P<name>[A-Za-z]\w{{0,3}})\s?[=:≈]\s?)?(?P<number>{NUMBER})\s?[%°]?[$*_`)\]}}\\]{{0,6}}[.,;!]?"
)
_MAX_LIST_LINE_CHARS = 60
_MAX_LIST_LINES = 64


def _is_one_of_a_list(text: str, start: int, end: int, last: Offer) -> bool:
    """Whether it is an entry of a list of different numbers, of which none is chosen.

    That are lines with nothing but a number, or the same name and a number: two with the marks of a list, or three. Of two
    without marks the second corrects the first.
    """
    stop = text.find("\n", last.end, end)
    below = _list_line(text, start, end if stop < 0 else stop)
    numbers = set[str]()
    line = below
    for _ in range(_MAX_LIST_LINES):
        if below is None or line is None or line["name"] != below["name"]:
            break
        numbers.add(line["number"].strip())
        if len(numbers) == (2 if line["mark"] else 3):
            return True
        line = _list_line(text, start, strip(text, start, max(start, line.start() - 1))[1])
    return False


def _list_line(text: str, start: int, end: int) -> re.Match[str] | None:
    """The line that ends there, if it is one of a list."""
    first, end = strip(text, max(start, text.rfind("\n", start, end) + 1), end)
    return None if end - first > _MAX_LIST_LINE_CHARS else _LIST_LINE.fullmatch(text, first, end)
