r"""Decides when an acceptance by Math-Verify does not count, because the two sides differ in something that it ignores.

Its reader drops units, words, subscripts and degree signs, takes letters of a word as factors, the right side of an
equation for the equation, and a set for a tuple. This module checks what Math-Verify drops, on the two texts. Each
check has a pair that Math-Verify accepts wrongly, and a test confirms that it does. `second_opinion` checks values that
are too near to each other.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verifiers.commitment.latex import COMMAND, split

_WORD = re.compile(r"(?<![\\a-zA-Z])[^\W\d_]+")
_WRITING = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|operatorname|mbox|left|right|displaystyle|,|;|!|:| )\*?"
)
_ARITHMETIC = split(
    "frac dfrac tfrac cfrac sqrt cdot times div pm infty cup cap circ degree ln log exp begin end quad qquad le leq "
    "ge geq ne neq lt gt in"
)
_RELATION = re.compile(r"\\(?:leq?|geq?|neq?|lt|gt|in|equiv|approx|sim|subset\w*)(?![a-zA-Z])|[=<>≤≥≠∈≈]")
_SIDES = {"\\le": "≤", "\\leq": "≤", "\\ge": "≤", "\\geq": "≤", "≥": "≤", ">": "<", "\\gt": "<", "\\lt": "<"}
_SUBSCRIPT = re.compile(r"_\s*(\{[^{}]*\}|\w|\\[a-zA-Z]+)")
_TEXT = re.compile(r"\\(?:text|math)[a-z]{0,3}\s*\{([^{}]*\}(?:\^\{?-?\w)?)")
_NUMERAL = re.compile(r"\d+(?:\.\d+)?")
_JUXTAPOSED = re.compile(r"\d\s*\(")
_OPENING, _CLOSING = "([{|", ")]}|"


@dataclass(frozen=True, slots=True)
class Veto:
    """One thing that the two sides must have alike."""

    name: str
    of: Callable[[str], object]
    reference: str
    accepted: str
    """A pair that Math-Verify alone takes for equal."""


def first(reference: str, answer: str) -> str | None:
    """The name of the first check that makes an acceptance invalid."""
    return next((veto.name for veto in VETOES if veto.of(reference) != veto.of(answer)), None)


def _bare(text: str) -> str:
    return _WRITING.sub(" ", text)


def _names(text: str) -> tuple[frozenset[str], Sequence[str]]:
    """The letters, and the words in their order."""
    names = _WORD.findall(COMMAND.sub(" ", _bare(text)))
    return frozenset(names), [name for name in names if len(name) > 1]


def _written(text: str) -> tuple[Sequence[str], int, int] | None:
    """The words with their exponents, and the number of signs beside them; None without any."""
    texts = [match.replace(" ", "") for match in _TEXT.findall(text)]
    return (texts, text.count("+"), text.count("-")) if texts else None


def _elements(text: str) -> Counter[str] | None:
    """The numerals of a list."""
    return Counter(_NUMERAL.findall(text)) if "," in text else None


def _ratio(text: str) -> str | None:
    return "".join(text.split()) if ":" in text else None


def _marks(text: str) -> frozenset[str]:
    return frozenset(COMMAND.findall(_bare(text))) - _ARITHMETIC | frozenset(re.findall("['′!]{1,9}", text))


def _relations(text: str) -> Counter[str]:
    return Counter(_SIDES.get(relation, relation) for relation in _RELATION.findall(text))


def _subscripts(text: str) -> Counter[str]:
    return Counter(subscript.strip("{} ") for subscript in _SUBSCRIPT.findall(text))


def _brackets(text: str) -> str | None:
    """The brackets around a list; None if there are none."""
    text = _bare(text).replace("\\{", "{").replace("\\}", "}").strip(" $")
    if "," not in text or not text or text[0] not in _OPENING or text[-1] not in _CLOSING:
        return None
    return text[0] + text[-1]


def _degrees(text: str) -> int:
    return text.count("\\circ") + text.count("°") + text.count("\\degree")


VETOES = (
    Veto("names", _names, "DACB", "ABCD"),
    Veto("relations", _relations, "9", "4+1=9"),
    Veto("subscripts", _subscripts, "4210_7", "4210_8"),
    Veto("brackets", _brackets, "(2,1)", r"\{2,1\}"),
    Veto("degrees", _degrees, r"\sin 1^\circ", r"\sin 1"),
    Veto("percent", lambda text: text.count("%"), "9", r"900\%"),
    Veto("juxtaposed", lambda text: len(_JUXTAPOSED.findall(_bare(text))), "5", "2(3)"),
    Veto("written", _written, r"12\text{ cm}^2", r"12\text{ cm}^3"),
    Veto("elements", _elements, "2, 2, 3", "2, 3, 3"),
    Veto("ratio", _ratio, "2:3:5", "2:5:3"),
    Veto("marks", _marks, "x", "x'"),
)
