"""Removes asides at the end of a text that state no other number.

An aside shows how the number was computed (`12 (3 × 4)`), or gives the same value again (`3/4, or 0.75`). One that gives the
value again in round figures is an approximation: `5/36, or about 13.9%` is `5/36 ≈ 13.9%`. One that gives a quantity again gives
it in another unit, as a share, or its tolerance: `80 km/h (about 50 mph)`, `70000 dollars, or 7%`, `4.5 m (±0.5 m)`.
"""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from verifiers import cldr
from verifiers.commitment.cues import Kind, adverbs, cues, kinds, listed, words
from verifiers.commitment.glance import ends_with
from verifiers.commitment.measures import are_same, is_money

_CHARS = 80
_END = r"(?=[\u3040-\u30ff\uac00-\ud7a3]{0,4}[\s.。$*!)}\]]{0,6}(?:</answer>\s{0,4})?\Z)"
_POWER = r"(?:\^(?:\{\d{1,2}\}|\d))?"
_VALUE = rf"[$\\]{{0,2}}[-−]?(?:\d{{1,6}} (?=\d+/))?\d(?:[\d.,]{{0,20}}\d)?{_POWER}(?:/\d{{1,12}})?(?:\s?\\?%)?\$?"
_DIGITS = r"\d[\d.,]{0,12}"
_TERM = rf"\$?{_DIGITS}(?:\s[^\W\d_]{{2,12}}|\s[a-wyz])?"
"""A number of a working, maybe with what it counts or its unit: "9 sprints × 60 m"."""
_CALCULATION = re.compile(
    rf"\s\(\s?(?:=\s?)?{_TERM}(?:\s?(?:[×x*+÷/·]|\s[-−]\s)\s?{_TERM}){{1,5}}(?:\s?=\s?{_TERM})?\s?\)" + _END
)
_SHOWN = re.compile(
    rf"(?<![\w.,/^\\])(?P<value>{_VALUE})(?P<aside>\s?=\s?{_TERM}(?:\s?(?:[×x*+÷/·]|\s[-−]\s)\s?{_TERM}){{1,5}})" + _END
)
"""A value, and behind it what it is worked out from: "9 = 4 + 5"."""
_REFERRING = re.compile(r"(?<=[\d%])\s?(?P<aside>\((?P<lead>[^()\d]{1,24}?)\s?\d{1,3}(?:\.\d{1,3})?[a-z]?\))" + _END)
"""A remark that only says where the value comes from: "9 (see line 4)"."""
_COUNTED_BEFORE = re.compile(rf"{_VALUE}(?:\s?[^\W\d_]{{1,12}}){{0,4}}[$*°%]{{0,3}}\Z")
_NOUN_BEHIND = r"(?:\s[^\W\d_]{1,16}(?![^\W\d_]))?"
_LEAD = r"(?P<lead>[,，、]?\s?\(?[^\W\d][^\n\d]{0,24}?|[,，、]\s?[^\W\d])"
_ASIDE = rf"(?P<aside>{_LEAD}(?P<again>{_VALUE})(?P<other>{_NOUN_BEHIND})\)?)"
_AGAIN = re.compile(rf"(?<![A-Za-z\d_.,/])(?P<value>{_VALUE})(?P<unit>{_NOUN_BEHIND}){_ASIDE}{_END}")
_BETWEEN = r"\s?[-−+×x*÷/·]\s?|\s[^\W\d_]{3,12}(?:\s[^\W\d_]{2,8})?\s"
_WORKING = rf"(?P<working>\(?{_TERM}(?:(?:{_BETWEEN}){_TERM}){{1,4}}\)?)(?:\s[^\W\d_]{{2,12}}){{0,3}}?"
_WORKED = re.compile(
    rf"{_WORKING}[,，]?\s(?P<lead>[^\W\d][^\n\d]{{1,16}}?)(?P<again>{_VALUE})(?P<rest>[^\d\n]{{0,80}})\Z"
)
_LED_BY_A_WORD = re.compile(r"[^\W\d][.,]?[\s$(]{0,3}[-−]?\d[\d.,/ %$]{0,24}[^\d\n]{0,80}\Z")
"""What all that is told again has; most texts have not, and are read no further."""
_SAME = frozenset([Kind.OR, Kind.CHOOSE, Kind.BECAUSE])
"""The kinds of words that introduce the same value again."""


def without_asides(text: str) -> str:
    """A text of the same length, without the asides at its end."""
    first = max(0, len(text) - _CHARS)
    if ")" in text[-_BRACKET_CHARS:]:
        match = _CALCULATION.search(text, max(first, text.rfind("(") - 1))
        value = _COUNTED_BEFORE.search(text, first, match.start()) if match else None
        if match and value and _may_be(value[0], match[0]):
            text = _blank(text, *match.span())
        elif (hit := _REFERRING.search(text, first)) and _refers(hit["lead"]):
            text = _blank(text, *hit.span("aside"))
    if (
        "=" in text[first:]
        and (shown := _SHOWN.search(text, first))
        and not _is_operand(text[: shown.start()])
        and _number(shown["value"]) in _results(shown["aside"].strip(" ="))
    ):
        return _blank(text, *shown.span("aside"))
    if (hit := _CONVERTED.search(text, first)) and _is_converted(hit):
        return _blank(text, *hit.span("aside"))
    if _LED_BY_A_WORD.search(text, first) is None:
        return text
    if (worked := _WORKED.search(text, first)) and _is_lead(worked["lead"]) and not _is_fraction(worked["working"]):
        return _worked_out(text, worked)
    again = _AGAIN.search(text, first)
    # "7 + 9 = 16, so it is 16" concludes.
    is_result = again is not None and text[: again.start()].endswith(("=", "= ", "=$", "= $"))
    return text if again is None or is_result else _told_once(text, again)


def _refers(lead: str) -> bool:
    """Whether words only lead to the number of a line or a figure, and do not judge the value before them."""
    return ends_with(lead, Kind.LABEL) and {cue.kind for cue in cues(words(lead))} <= _REFERS


_REFERS = kinds("label at by the source stage result")


def ends_in_mark(text: str) -> bool:
    """Whether a text ends in a mark that holds a plain number, so that no aside or remark stands behind its value."""
    first = max(0, len(text) - _MARK_CHARS)
    start = max(text.rfind("\n####", first), text.rfind("\\boxed{", first))
    return start >= 0 and _BARE_MARK.match(text, start) is not None


_MARK_CHARS = 48
_BARE_MARK = re.compile(r"(?:\n####[ \t]{0,4}|\\boxed\{)[-−]?\d[\d.,/]{0,20}\}?[\s$.*)\]\\]{0,8}\Z")
_WORDS = r"(?:\s[^\W\d_]{1,12}[²³]?){0,3}"
_UNIT = r"°?[^\W\d_]{1,16}(?:/[^\W\d_]{1,8})?"
_OTHER = rf"(?P<lead>[^\d(（]{{0,24}}?)(?P<amount>{_DIGITS} ?(?P<other>{_UNIT}|\\?%)(?P<more>(?:,?\s(?:[^\W\d_]{{1,5}}\s)?\d{{1,6}} ?{_UNIT}){{0,2}}))"
_CONVERTED = re.compile(
    rf"\d ?(?P<unit>{_UNIT})(?P<aside>(?:\s?[(（]|(?P<comma>, )){_OTHER}(?:[)）]|(?=[.\s])))" + _END
)


_DIGITS_BEFORE = re.compile(rf"(?<![\d.,]){_DIGITS}\Z")
_DIGITS_CHARS = 16


def _is_converted(match: re.Match[str]) -> bool:
    """Whether an aside behind a quantity holds nothing but a quantity that may be the same, with words that say that it is."""
    before = _DIGITS_BEFORE.search(match.string, max(0, match.start() - _DIGITS_CHARS), match.start() + 1)
    if before is not None and not are_same(before[0] + match["unit"], match["amount"]):
        return False
    is_led = _is_lead(match["lead"]) or (not match["comma"] and _leads_to_rounded(f"{match['lead']}≈", ""))
    return is_led and _is_unit(match["unit"]) and (match["other"].endswith("%") or _is_unit(match["other"]))


def _is_unit(name: str) -> bool:
    return name.casefold() in cldr.UNITS or name in _SYMBOLS or is_money(name)


def without_substances(text: str) -> str:
    """A text of the same length, without the figures of a formula that an amount is of, at its end: "3.2 g of CO2 are formed"."""
    start = max(0, len(text) - 2 * _CHARS)
    for match in reversed([*_AMOUNT_OF.finditer(text, start)]):
        if _is_unit(match["unit"]) and (match["of"] is None or match["of"].strip() in listed("of")):
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
    if (root := _ROOT_BEFORE.search(text, first, rounded.start())) and not _rounds_root(root, rounded["again"]):
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


_ROOT_BEFORE = re.compile(r"(?<![\w.^}])(?P<times>\d{0,4})(?:√|\\sqrt)\s?[({]?(?P<of>\d{1,9})[)}]?\$?\Z")


def _rounds_root(root: re.Match[str], repetition: str) -> bool:
    """Whether figures may be a root, rounded: "√2, about 1.41"; not "√2, about 1.5"."""
    near = _number(repetition)
    value = int(root["times"] or 1) * math.sqrt(int(root["of"]))
    return near is None or abs(value - near) <= 10 ** -_decimals(repetition) * _UP_TO


_UP_TO = 0.75
"""Figures that are cut and not rounded are off by less than one in their last place."""


def _decimals(figures: str) -> int:
    return len(figures.partition(".")[2].strip("$\\% ")) + (2 if "%" in figures else 0)


def _rounds(value: str, repetition: str) -> bool:
    """Whether the figures of a number are another one, rounded."""
    exact, near = _number(value), _number(repetition)
    if exact is None or near is None:
        return False
    return abs(exact - near) <= Fraction(1, 10 ** _decimals(repetition))


def _number(figures: str) -> Fraction | None:
    """A number as `_VALUE` has it; None for a division by zero, or digits that are not grouped as those of thousands.

    -2^{10} is not one: it is read as -(2^{10}) here, and as a power of -2 elsewhere.
    """
    bare = _DECIMAL_COMMA.sub(".", _THOUSANDS.sub("", figures.strip("$\\% ").replace("−", "-")))
    whole, _, bare = bare.rpartition(" ")
    top, _, bottom = bare.partition("/")
    top, _, power = top.partition("^")
    if not _DECIMAL.fullmatch(top) or (bottom and not int(bottom)) or (power and top.startswith("-")):
        return None
    value = Fraction(top) ** int(power.strip("{}") or 1) / Fraction(bottom or 1)
    return (int(whole or 0) + value) / (100 if "%" in figures else 1)


_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}\Z)")


_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?")
_BRACKET_CHARS = 24
"""Text that may stand behind an aside in brackets: a mark, an end tag."""


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _is_lead(text: str) -> bool:
    """Whether all words only introduce the same value again: "or", "that is", "equivalently", "soit"."""
    if _restates(text):
        return True
    phrase = words(text)
    indices = {index for cue in cues(phrase) if cue.kind in _SAME for index in range(cue.first, cue.stop)}
    return bool(indices) and all(
        index in indices or word.text in adverbs() for index, word in enumerate(phrase) if word.text.isalpha()
    )


_SIGNS = re.compile(r"[\s.,:;，、(（'’-]+")


def _restates(text: str) -> bool:
    return _SIGNS.sub("", text).casefold() in _restating()


@cache
def _restating() -> frozenset[str]:
    return frozenset(_SIGNS.sub("", phrase).casefold() for phrase in listed("restates"))


def _told_once(text: str, again: re.Match[str]) -> str:
    """A text in which a value is given again: once, if the two are the same; as two, if not ("7/2, i.e. 3.25")."""
    value, repetition = _number(again["value"]), _number(again["again"])
    is_plain = again["other"].strip() in ("", again["unit"].strip()) and not _is_operand(text[: again.start()])
    if value is None or repetition is None or not is_plain or not _is_lead(again["lead"]):
        return text
    if value == repetition or _is_rounded(value, again["again"]):
        return _blank(text, *again.span("aside"))
    head = text[_sentence_start(text, again.start()) : again.start()].rstrip(" $")
    is_told = not any(map(str.isdigit, head)) and (head.endswith(_TELLS) or ends_with(head, Kind.IS))
    return _as_two(text, *again.span("lead")) if is_told and _restates(again["lead"]) else text


_TELLS = (":", "：", "=")


def _sentence_start(text: str, end: int) -> int:
    return max(text.rfind(sign, 0, end) for sign in ("\n", ". ", "。", "! ", "? ")) + 1


def _as_two(text: str, start: int, end: int) -> str:
    """A text with an "or" for the words between two values that are called the same, and are not."""
    if any(cue.kind is Kind.OR for cue in cues(words(text[start:end]))):
        return text
    joint = _OR if end - start >= len(_OR) else _SHORT_OR
    return text[:start] + joint.ljust(end - start) + text[end:]


_OR, _SHORT_OR = " or ", "或"


def _is_operand(head: str) -> bool:
    """Whether a text ends in an operator, or in the comma of a list."""
    head = head.rstrip(" $(")
    return head.endswith(_OPERATORS) or ends_with(head, Kind.PART)


_OPERATORS = tuple("+-−*×x/÷·^,，、;")


def _is_rounded(value: Fraction, repetition: str) -> bool:
    """Whether figures with decimals are another value, rounded: "1/3, or 33.3%"."""
    near, decimals = _number(repetition), _decimals(repetition)
    return near is not None and decimals > 0 and 2 * abs(value - near) <= Fraction(1, 10**decimals)


def _worked_out(text: str, worked: re.Match[str]) -> str:
    """A text with what a working comes to, in place of both: "250 plus 20, or 270", "16 + 16, or 32"."""
    result, values = _number(worked["again"]), _results(worked["working"])
    if result is not None and any(abs(value - result) <= _tolerance(worked["again"]) for value in values):
        return _blank(text, worked.start(), worked.start("again"))
    is_plain = result is not None and len(values) == 1 and not any(map(str.isalpha, worked["working"]))
    return _as_two(text, *worked.span("lead")) if is_plain else text


def _is_fraction(working: str) -> bool:
    """Whether a working is a fraction, which is a value as it stands: not "120/20", which comes to 6."""
    values = _results(working) if _FRACTION.fullmatch(working.rstrip(" ,")) else []
    return bool(values) and values[0].denominator > 1


_FRACTION = re.compile(r"\d+/\d+")


def _may_be(value: str, working: str) -> bool:
    """Whether a working in brackets may come to the value before it, which may be in per cent."""
    number = _number(_FIGURES.match(value)[0])  # type: ignore[index]  # a value begins with them
    results = _results(working.partition("=")[0] if not working.lstrip(" (").startswith("=") else working)
    return (
        number is None or not results or any(_near(number, result * scale) for result in results for scale in (1, 100))
    )


def _near(number: Fraction, result: Fraction) -> bool:
    return abs(number - result) <= abs(result) / _NEARLY


_FIGURES = re.compile(_VALUE)
_NEARLY = 20
"""A value may be rounded from its working by a twentieth at most."""


def _tolerance(figures: str) -> Fraction:
    return Fraction(1, 2 * 10 ** _decimals(figures)) if "." in figures else Fraction(0)


def _results(working: str) -> list[Fraction]:
    """The values that a working of numbers can have: one if it has signs; if it has words, that of each operation on two numbers."""
    numbers = [
        number for figures in re.findall(_DIGITS, working) if (number := _number(figures.rstrip(".,"))) is not None
    ]
    signs = [sign for gap in re.split(_DIGITS, working)[1:-1] for sign in [gap.strip(" $()")]]
    operations = [_OPERATIONS[last] for sign in signs if (last := sign.rpartition(" ")[2]) in _OPERATIONS]
    if len(operations) == len(signs):
        return _evaluated(numbers, operations)
    if len(numbers) != 2:
        return []
    left, right = numbers
    return [left + right, left - right, left * right, *([left / right] if right else [])]


def _evaluated(numbers: list[Fraction], signs: Sequence[str]) -> list[Fraction]:
    """The value of numbers with signs between them, products first; none for a division by zero."""
    terms = [numbers[0]]
    for sign, number in zip(signs, numbers[1:], strict=False):
        if sign in "+-":
            terms.append(number if sign == "+" else -number)
        elif sign == "*":
            terms[-1] *= number
        elif number:
            terms[-1] /= number
        else:
            return []
    return [sum(terms, Fraction(0))]


_OPERATIONS = {
    **dict.fromkeys("+", "+"),
    **dict.fromkeys("-−", "-"),
    **dict.fromkeys("×x*·", "*"),
    **dict.fromkeys("÷/", "/"),
}
