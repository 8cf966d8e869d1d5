r"""Finds equations between numbers anywhere in a text, and decides whether they hold.

    "She has 16 - 3 = 13 eggs, and 13 * 2 = $27."   ──►   16 - 3 = 13 holds,  13 * 2 = 27 does not

An equation counts only if one of its sides computes something and both hold nothing but numbers. If a side can be
understood in several ways (where it begins in its sentence, what its percent sign means), each way is tried. A rounded
decimal equals its value. An equation is false only if it holds in none of these ways. Values are exact and small.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise

from memory import remember
from verifiers.commitment.latex import split
from verifiers.math import values
from verifiers.math.exact import number
from verifiers.math.reader import read
from verifiers.math.rounding import is_rounded
from verifiers.math.tree import TooComplex, Unreadable
from verifiers.math.values import NoValue

_MAX_EQUATIONS = 200
_MAX_EQUATION_CHARS = 300
_MAX_EXPONENTS = 200
_NEAR_CHARS = 40
_DELIMITERS = re.compile(r"\\[()\[\]]|\$\$")
_RUN_COMMAND = r"\\(?:[dt]?frac|times|cdot|div|left|right)(?![A-Za-z])|\\[,;:!%$ ]"
_RUN = re.compile(rf"(?:[\d+\-*/^(){{}}%!=&$ \t×·÷−–]|(?<=\d),(?=\d)|[.](?=\d)|(?<=\d )x(?= \d)|{_RUN_COMMAND})+")
_OPERATION = re.compile(r"[\d)}%!]\s{0,4}(?:[-+*/^×·÷−–(]|\\(?:times|cdot|div)|x )|\\[dt]?frac|\)\s{0,4}\d|\d!(?!=)")
_POWER = re.compile(r"\^\s?(?:\{\s?[-−]?(\d{1,2})\s?\}|(\d{1,2})(?!\d))(?!\s?\^)")
_SMALL_FACTORIAL = re.compile(r"(?<![\d.])\d{1,2}!")
_LONG_DIGITS = re.compile(r"\d{20}")
_PLAIN_NUMBER = re.compile(r"\s*-?(?:\d[\d,]*(?:\.\d+)?|\.\d+)\s*")
_OPERATOR_FIRST = re.compile(r"\s*(?:[-+*/^×·÷−–!%]\s|[*/^×·÷!%]|\\(?:times|cdot|div))")
_CLOCK = re.compile(r":\d")
_BULLET = re.compile(r"\s*[-+*–]\s+(?=[\d($\\])")
_OPENS = frozenset("<>*`\"'“”‘’—→⇒「")
_STOPS = frozenset(":;,.!?。，：；、")
ACTING = split(
    "of times plus minus by over per and or to from with into than multiplied divided sum product difference less more "
    "twice double triple thrice half square squared cube cubed root sqrt negative percent choose base sin cos tan log ln"
)
"""Words that act on the number after them, so that an equation does not begin at that number."""
_NO_UNITS = split(
    "million billion trillion thousand hundred dozen percent times plus minus over mod of multiplied divided squared "
    "cubed remainder rem and or to second minute hour day week month year "
    "millions billions thousands hundreds dozens seconds minutes hours days weeks months years"
)
"""Words after a number that change the number, or units that are often converted during a calculation."""
_WORD_BEFORE = re.compile(r"(?<![^\W\d_])(?<!\\)[A-Za-z]{2,20}\Z")
_WORD_AFTER = re.compile(r"\s?(?:\\(?:text|mathrm)\s?\{\s?)?([A-Za-z]{1,20})(?![A-Za-z])")
Readings = tuple[str, ...]
"""The ways in which one side of an equation may be meant."""


@dataclass(frozen=True, slots=True)
class Computation:
    """An equation between numbers that computes something."""

    left: str
    right: str
    holds: bool | None
    """Whether the equation holds; None if a side is too large, or cannot be read."""


def computations(text: str, max_chars: int) -> Iterator[Computation]:
    """The equations of a text from its beginning, until `max_chars` characters of them are read."""
    for lhs_readings, rhs_readings in _all_equations(text):
        if not any(_OPERATION.search(side[0]) for side in (lhs_readings, rhs_readings)):
            continue
        max_chars -= sum(map(len, (*lhs_readings, *rhs_readings)))
        if max_chars < 0:
            return
        lhs, rhs = (side[-1].strip(" $&") for side in (lhs_readings, rhs_readings))
        yield Computation(lhs, rhs, _holds(lhs_readings, rhs_readings))


def _all_equations(text: str) -> Iterator[tuple[Readings, Readings]]:
    """Both sides of each equation that holds nothing but numbers, from the beginning of the text."""
    for run in islice(_runs(text), _MAX_EQUATIONS):
        sides = [(side,) for side in run.text.split("=")]
        for lhs, rhs in pairwise([_first_side(run), *sides[1:-1], _last_side(run)]):
            if lhs and rhs:
                yield lhs, rhs


@dataclass(frozen=True, slots=True)
class _Run:
    """A stretch of numbers and signs with `=` among them, and the text around it in its line."""

    before: str
    text: str
    after: str

    @property
    def is_span(self) -> bool:
        """Whether the run fills all the space between two dollar signs."""
        stripped = self.text.strip()
        return stripped.count("$") == 2 and stripped[0] == stripped[-1] == "$"


_CUT = "\0"
"""Marks where a line continues with text that is not read."""


def _runs(text: str) -> Iterator[_Run]:
    position = text.find("=")
    while position >= 0:
        start = max(
            text.rfind("\n", max(position - _MAX_EQUATION_CHARS, 0), position) + 1, position - _MAX_EQUATION_CHARS
        )
        newline = text.find("\n", position, position + _MAX_EQUATION_CHARS)
        end = min(len(text), position + _MAX_EQUATION_CHARS) if newline < 0 else newline
        line = _DELIMITERS.sub("$", text[start:end])
        if "mod" not in line:
            is_cut = (start > 0 and text[start - 1] != "\n", end < len(text) and text[end] != "\n")
            yield from _in_line(_CUT * is_cut[0] + line + _CUT * is_cut[1])
        position = text.find("=", end)


def _in_line(line: str) -> Iterator[_Run]:
    for run in _RUN.finditer(line):
        if "=" in run[0]:
            yield _Run(line[max(run.start() - _NEAR_CHARS, 0) : run.start()], run[0], line[run.end() :][:_NEAR_CHARS])


def _first_side(run: _Run) -> Readings:
    """The readings of the side before the first `=`; empty if that side may begin before the run."""
    side = run.text[: run.text.index("=")]
    if side.count("(") > side.count(")"):
        side = side.replace("(", " ", 1)
    if run.is_span or not run.before:
        return (side, side[bullet.end() :]) if (bullet := _BULLET.match(side)) else (side,)
    word = _WORD_BEFORE.search(run.before)
    is_after_words = run.before[-1] in _STOPS or (word is not None and word[0].lower() not in ACTING)
    is_start = run.before[-1] in _OPENS or run.before.endswith(r"\\") or (run.text[0] in " \t" and is_after_words)
    return (side,) if is_start and not _OPERATOR_FIRST.match(side) else ()


def _last_side(run: _Run) -> Readings:
    """The readings of the side after the last `=`; empty if it may continue after the run, or a word multiplies it."""
    side = run.text[run.text.rindex("=") + 1 :].rstrip(" $&({\t")
    if side.count(")") > side.count("("):
        side = side.rstrip(")")
    word = _WORD_AFTER.match(run.after)
    is_unit = word is not None and len(word[1]) > 1 and word[1].lower() not in _NO_UNITS
    is_end = run.is_span or not run.after or run.after[0] in _OPENS | _STOPS or run.after.startswith(r"\\") or is_unit
    if not is_end or _CLOCK.match(run.after):
        return ()
    return (side, side[:-1]) if side.endswith("!") else (side,)


def _holds(p_side: Readings, g_side: Readings) -> bool | None:
    lefts = [(text, value) for side in p_side for text in _percents(side) if (value := _number(text)) is not None]
    rights = [(text, value) for side in g_side for text in _percents(side) if (value := _number(text)) is not None]
    if not lefts or not rights:
        return None
    return any(_may_equal(lhs, rhs) for lhs in lefts for rhs in rights)


def _percents(side: str) -> Readings:
    """The readings of a percent sign: as a hundredth, and as a unit."""
    side = side.replace(r"\$", " ").replace(r"\%", "%").replace("$", " ").replace("&", " ").replace(" x ", r" \times ")
    return (side, side.replace("%", "")) if "%" in side else (side,)


@remember(1024)
def _number(side: str) -> Fraction | None:
    """The value of small rational arithmetic."""
    if (value := number(side)) is not None:
        return value
    powers = _POWER.findall(side)
    size = 1
    for braced, bare in powers:
        size *= max(int(braced or bare), 1)
    is_small = size <= _MAX_EXPONENTS and side.count("^") == len(powers) and not _LONG_DIGITS.search(side)
    if not is_small or side.count("!") != len(_SMALL_FACTORIAL.findall(side)):
        return None
    try:
        return values.exact(read(side))
    except (Unreadable, TooComplex, NoValue):
        return None


def _may_equal(lhs: tuple[str, Fraction], rhs: tuple[str, Fraction]) -> bool:
    """Whether two values are equal, or one is the other rounded."""
    (p_text, p), (g_text, g) = lhs, rhs
    if p == g:
        return True
    if p.denominator == g.denominator == 1 and "." not in p_text and "." not in g_text:
        return False
    return is_rounded(p, g, bool(_PLAIN_NUMBER.fullmatch(p_text))) or is_rounded(
        g, p, bool(_PLAIN_NUMBER.fullmatch(g_text))
    )
