r"""Makes the cheap decisions: two equal texts, or two plain numbers.

They are made in the service process, so everything is linear in the text and nothing builds a large number: a plain
number has at most `MAX_PLAIN_DIGITS` digits and `MAX_PLAIN_EXPONENT` as its exponent. A decimal is read as an exact
rational: 0.5 is 1/2, and 0.333 is not 1/3.
"""

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

from memory import remember
from verifiers.math.limits import MAX_EQUAL_TEXT_CHARS

MAX_PLAIN_DIGITS = 1_000
MAX_PLAIN_EXPONENT = 1_000

_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"), None)
ASCII_DIGITS = {chr(c): str(unicodedata.decimal(chr(c))) for c in range(0x660, 0x10000) if chr(c).isdecimal()}
"""The digits of all scripts in use: ৫ is 5."""
_IN_ASCII = str.maketrans(ASCII_DIGITS | dict(zip("．，／－−＋٫٬", ".,/--+.,", strict=True)))
"""Not NFKC: that makes 52 of 5²."""
_WRAPPERS = (
    ("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"), ("`", "`"), ('"', '"'), ('\\"', '\\"'),
    ("'", "'"),
)  # fmt: skip
_BY_FIRST = {sign: [pair for pair in _WRAPPERS if pair[0][0] == sign] for sign in {pair[0][0] for pair in _WRAPPERS}}
"""The wrappers that begin with each sign; most texts begin with another one."""
_BOX = re.compile(r"\\f?boxed\s*\{|\\fbox\s*\{")
_THOUSANDS = r"[1-9]\d{0,2}(?:(?:,\d{3})+|(?:\{,\}\d{3})+|(?:,\\!\d{3})+|(?:\\,\d{3})+)"
_UNSIGNED = rf"(?:{_THOUSANDS}|\d+)(?:\.\d+)?|\.\d+"
_FRACTION_COMMAND = r"\\[dtc]?frac\s*(?:\{\s*(-?\d+)\s*\}\s*\{\s*(-?\d+)\s*\}|(\d)\s*(\d))"
_DECIMAL = re.compile(rf"([+-]?)\s*({_UNSIGNED})(?:[eE]([+-]?\d{{1,4}}))?\.?")
_SLASH = re.compile(r"([+-]?)\s*(\d+)\s*/\s*(\d+)")
_FRACTION = re.compile(rf"([+-]?)\s*{_FRACTION_COMMAND}")
_SEPARATORS = re.compile(r"\{,\}|,\\!|\\,|,")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a value may be from the reference; it is enough to keep one of the two bounds."""

    absolute: float = 0.0
    relative: float = 0.0
    exact_years: bool = False
    """Whether a whole number that may be a year has no relative tolerance."""

    def share(self, reference: Fraction | None) -> float:
        """The share of a reference by which an answer may differ from it; None is a number that is not rational."""
        is_exact = self.exact_years and reference is not None and reference.denominator == 1
        return 0.0 if is_exact and reference in _YEARS else self.relative

    def allows(self, reference: Fraction, answer: Fraction) -> bool:
        if reference == answer:
            return True
        if not self.absolute and not self.relative:
            return False
        gap = abs(reference - answer)
        return gap <= Fraction(self.absolute) or gap <= Fraction(self.share(reference)) * abs(reference)


_YEARS = range(1500, 2101)
EXACT = Tolerance()


def decide(reference: str, answer: str, tolerance: Tolerance) -> tuple[bool, str] | None:
    """Whether two texts are equal, and how that was found (`text`, `exact`); None if they have to be read."""
    reference_text, reference_value = _seen(reference)
    answer_text, answer_value = _seen(answer)
    if reference_text == answer_text:
        return True, "text"
    if reference_value is None or answer_value is None:
        return None
    return tolerance.allows(reference_value, answer_value), "exact"


def is_number(text: str) -> bool:
    """Whether the text is a plain number."""
    return _seen(text)[1] is not None


_MAX_REMEMBERED_CHARS = 100


def _seen(text: str) -> tuple[str, Fraction | None]:
    """`plain(text)` and `number(text)`, cached: the samples of a prompt share a reference, and mostly their answers."""
    return _remembered(text) if len(text) <= _MAX_REMEMBERED_CHARS else (plain(text), number(text))


@remember(8192)
def _remembered(text: str) -> tuple[str, Fraction | None]:
    plain_text = plain(text)
    return plain_text, _value(plain_text)


_EATEN = re.compile(r"\\?([\a\b\f\v])(?=[A-Za-z])")
r"""Escape sequences that a programming language made of LaTeX commands in a string: a form feed before `rac{1}{2}`
was `\frac`."""
_COMMANDS = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\v": r"\v"}


def repaired(text: str) -> str:
    """A text with its LaTeX commands restored."""
    return _EATEN.sub(lambda sign: _COMMANDS[sign[1]], text)


def plain(text: str) -> str:
    """A text without what carries no meaning: invisible characters, wrappers such as `$..$`, runs of blanks."""
    if len(text) > MAX_EQUAL_TEXT_CHARS:
        return text
    if not text.isascii():
        text = text.translate(_INVISIBLE)
    return " ".join(unwrap(repaired(text)).split())


def unwrap(text: str) -> str:
    r"""The inside of `$x$`, `\(x\)`, `\boxed{x}`, `**x**` when that is the whole text, up to four deep."""
    for _ in range(4):
        text = text.strip()
        content = _inside(text) if text[:1] in _BY_FIRST else None
        if content is None:
            return text
        text = content
    return text.strip()


def _inside(text: str) -> str | None:
    for opening, closing in _BY_FIRST[text[0]]:
        if len(text) > len(opening) + len(closing) and text.startswith(opening) and text.endswith(closing):
            content = text[len(opening) : -len(closing)]
            if opening.strip("*") and (opening in content or closing in content):
                continue
            return content
    box = _BOX.match(text)
    if box and text.endswith("}") and _closes_at_end(text, box.end() - 1):
        return text[box.end() : -1]
    return None


def _closes_at_end(text: str, start: int) -> bool:
    depth = 0
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return index == len(text) - 1
    return False


def number(text: str) -> Fraction | None:
    r"""The value of a plain number: `-3`, `1,234.50`, `3/4`, `\frac{3}{4}`, `1.5e3`; None for anything else."""
    return None if len(text) > 3 * MAX_PLAIN_DIGITS else _value(plain(text))


def _value(text: str) -> Fraction | None:
    if not text.isascii():
        text = text.translate(_IN_ASCII)
    if match := _DECIMAL.fullmatch(text):
        return _decimal(*match.groups())
    if match := _SLASH.fullmatch(text):
        sign, top, bottom = match.groups()
    elif match := _FRACTION.fullmatch(text):
        sign = match[1]
        top, bottom = match[2] or match[4], match[3] or match[5]
    else:
        return None
    if max(len(top), len(bottom)) > MAX_PLAIN_DIGITS or int(bottom) == 0:
        return None
    value = Fraction(int(top), int(bottom))
    return -value if sign == "-" else value


def _decimal(sign: str, digits: str, exponent: str | None) -> Fraction | None:
    if not digits.isdigit():
        digits = _SEPARATORS.sub("", digits)
    if len(digits) > MAX_PLAIN_DIGITS or abs(int(exponent or 0)) > MAX_PLAIN_EXPONENT:
        return None
    integer_digits, _, decimals = digits.partition(".")
    value = Fraction(int(integer_digits + decimals), 10 ** len(decimals)) if decimals else Fraction(int(integer_digits))
    if exponent:
        value *= Fraction(10) ** int(exponent)
    return -value if sign == "-" else value
