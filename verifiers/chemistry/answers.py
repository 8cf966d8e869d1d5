r"""Tells whether an answer in the notation of chemistry is the reference: a formula, an equation, a configuration, a name.

H2O, 2H2 + O2 -> 2H2O          formulas.py
[Ar] 3d^5 4s^1                 the same electrons, in any order, with a core's electrons written out or not
2,2-dimethylpropane, sp^3      the same text but for fonts, spaces, hyphens and case
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Final

from memory import remember
from verifiers.chemistry import formulas, notation
from verifiers.chemistry.formulas import Formula, States
from verifiers.chemistry.notation import TooComplex, Unreadable

_CORES: Final = {
    "He": "1s2",
    "Ne": "1s2 2s2 2p6",
    "Ar": "1s2 2s2 2p6 3s2 3p6",
    "Kr": "1s2 2s2 2p6 3s2 3p6 3d10 4s2 4p6",
    "Xe": "1s2 2s2 2p6 3s2 3p6 3d10 4s2 4p6 4d10 5s2 5p6",
    "Rn": "1s2 2s2 2p6 3s2 3p6 3d10 4s2 4p6 4d10 5s2 5p6 4f14 5d10 6s2 6p6",
}
_SHELL = re.compile(r"([1-8][spdf])\^?(\d{1,2}?)\s?,?\s?(?=[1-8][spdf]|\Z)")
_SHELLS = re.compile(
    rf"(?:\[({'|'.join(_CORES)})\]\s?)?((?:{_SHELL.pattern.replace('(', '(?:').replace('(?:?', '(?')})+)"
)
_HYBRID = re.compile(r"sp\^?\{?[1-3]?\}?(?:d\^?\{?[1-3]?\}?)?")
_RAISED = re.compile(r"\^\{([\d,]{1,12})\}")
_OPEN = re.compile(r"\d[-+]|\A\d{1,3}[A-Z][a-z]?\Z")
"""Digits with two meanings: a count or a charge, a coefficient or a mass number."""
_LOCANT = re.compile(r"(?:^|[-,(\[ ])(?:\d{1,2}|[NORSEZ]|cis|trans|tert|sec|[omp])(?:,\d{1,2})*-(?=[a-zA-Z(\[])")


@dataclass(frozen=True, slots=True)
class Chemical:
    """A reference as it was read. Exactly one of its fields is not None."""

    formula: Formula | None = None
    shells: Counter[str] | None = None
    name: str | None = None


@remember(4096)
def read_reference(text: str) -> Chemical:
    """Read a reference.

    Raises:
        Unreadable, TooComplex: it is nothing that is known here.
    """
    if len(text) > formulas.MAX_CHARS:
        raise TooComplex(f"longer than {formulas.MAX_CHARS} characters")
    try:
        return Chemical(formulas.read(text))
    except Unreadable:
        if (shells := _shells(text)) is not None:
            return Chemical(shells=shells)
        if _HYBRID.fullmatch(_unbraced(text)) or _LOCANT.search(_unbraced(text)):
            return Chemical(name=name(text))
        raise


def read_name(text: str) -> Chemical:
    """Read a reference that is a name, or any other words.

    Raises:
        Unreadable: it has no letters.
    """
    return Chemical(name=name(text))


def difference(
    reference: Chemical, answer: str, *, states: States = "agree", by_composition: bool = False
) -> str | None:
    """The reason why the answer is not the reference; None if it is.

    Raises:
        Unreadable, TooComplex: the answer is not of the reference's kind.
    """
    if len(answer) > formulas.MAX_CHARS:
        raise TooComplex(f"longer than {formulas.MAX_CHARS} characters")
    if reference.shells is not None:
        return None if _shells(answer) == reference.shells else "wrong_answer"
    if reference.name is not None:
        return None if name(answer) == reference.name else "wrong_answer"
    assert reference.formula is not None
    compare = partial(formulas.difference, reference.formula, states=states, by_composition=by_composition)
    reason = compare(formulas.read(answer))
    if reason is None or not _OPEN.search(notation.plain(answer)):
        return reason
    return compare(formulas.read(answer, other_digits=True)) and reason


def name(text: str) -> str:
    """A name without fonts, case, spaces and hyphens (but for those between digits), as names are compared.

    Raises:
        Unreadable: it has no letters.
    """
    text = _RAISED.sub(r"(\1)", notation.plain(text))  # tricyclo[3.1.0.0^{2,4}]
    text = re.sub(r"(?<=\d)[({]([A-Z])[)}](?=-)", r"\1", text)  # the hydrogen of 1{H}-pyrrole
    text = re.sub(r"[\s{}^\x22]|(?<!\d)-|-(?!\d)", "", text).casefold()
    if not any(character.isalpha() for character in text):
        raise Unreadable("not a name")
    return text


def _unbraced(text: str) -> str:
    return re.sub(r"[{}]", "", notation.plain(text))


def _shells(text: str) -> Counter[str] | None:
    """The electrons of each subshell."""
    match = _SHELLS.fullmatch(" ".join(_unbraced(text).split()))
    if match is None:
        return None
    electrons: Counter[str] = Counter()
    for part in (_CORES.get(match[1] or "", ""), match[2]):
        for subshell, count in _SHELL.findall(part):
            electrons[subshell] += int(count)
    return electrons
