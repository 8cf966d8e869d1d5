r"""Formulas of chemistry among references of mathematics.

    CH3CH2OH, \ce{CO2}, 2H2 + O2 -> 2H2O          chemistry alone: mathematics cannot read it
    NO2                                           chemistry decides, unless the answer is only a word
    \mathrm{CO_2}, [Ar] 3d^5 4s^1, sp^3           both: an answer is right if it is so in one of the two
    B2, C3                                        may be labels

Where both are possible, or it may be a label, a formula must be written with the same symbols and numbers in the same
order: C_2H and H_2C are products. `verifiers.chemistry` reads and compares.
"""

import re
from typing import Final

from verifiers.chemistry import answers, formulas, notation
from verifiers.chemistry.answers import Chemical
from verifiers.chemistry.notation import TooComplex, Unreadable
from verifiers.math.tree import Node

_MAY_BE = re.compile(r"[A-Z]|\d[spdf]|sp|[a-z]{7}")
_CERTAIN = re.compile(r"\\ce(?![a-zA-Z])")
_WORD = re.compile(r"[a-z]{7}")
_COUNTED = re.compile(r"\d")
_LABEL = re.compile(r"[A-Z]\d{1,2}")
"""A capital with a number may be a label, a square or a cycle as well: B2, C3. It is compared as it is written."""
_ARROWS: Final = frozenset("→⇌←")


def of_reference(text: str) -> Chemical | None:
    """The reference as chemistry; None if it is none."""
    if len(text) > formulas.MAX_CHARS or not _MAY_BE.search(text):
        return None
    try:
        chemical = answers.read_reference(text)
    except (Unreadable, TooComplex):
        return None
    is_name = chemical.name is not None and "sp" not in chemical.name[:2]
    return None if is_name and not _WORD.search(text) else chemical


def shown(text: str) -> Node:
    """What stands for a reference that mathematics does not read."""
    return Node("text", leaf=text)


def is_alone(chemical: Chemical, text: str) -> bool:
    """Whether a reference that mathematics can read is only chemistry."""
    is_reaction = chemical.formula is not None and chemical.formula.is_equation and bool(_COUNTED.search(text))
    return bool(_CERTAIN.search(text)) or (is_reaction and not _ARROWS.isdisjoint(notation.plain(text)))


def is_word(text: str, node: Node) -> bool:
    """Whether mathematics reads a formula as a word: the case of its letters then counts (NO2, No2)."""
    return node.kind in ("text", "prose") and bool(_COUNTED.search(text))


def outcome(chemical: Chemical, text: str, answer: str, is_only: bool) -> str:
    """`equal`, `different`, `unparseable` or `too_complex`."""
    try:
        if chemical.formula is None or (is_only and not _LABEL.fullmatch(text)):
            return "equal" if answers.difference(chemical, answer) is None else "different"
        return "equal" if formulas.written(text) == formulas.written(answer) else "different"
    except Unreadable:
        return "unparseable"
    except TooComplex:
        return "too_complex"
