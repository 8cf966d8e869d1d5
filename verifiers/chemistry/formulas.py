r"""Reads chemical formulas and equations, and tells whether two of them say the same.

    text ──notation──► tokens ──► terms: coefficient, atoms, charge, state ──► Formula: one side, or two

A formula is read in any usual notation: `H2O`, `H₂O`, `\ce{H2O}`, `\mathrm{SO_4^{2-}}`, `[Cu(NH3)4]2+`, `^{14}_6C`, `C-14`,
`CuSO4·5H2O`, `Na+(aq)`, and so is an equation, `2H2 + O2 -> 2H2O`. Two formulas are the same if they have the same atoms
and charge. A formula that names an element twice (`CH3CH2OH`) says which atoms are neighbours, so the other must say the
same: written from either end, with side groups anywhere (`tree`). Two equations are the same if they are so term by
term, in any order on each side, up to a common factor.

Only notation is read here; nothing is known of chemistry but the symbols of elements. Reading is linear in the text.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Final, Literal

from propcache.api import cached_property

from memory import remember
from verifiers.chemistry import notation
from verifiers.chemistry.notation import Token, TooComplex, Unreadable
from verifiers.chemistry.tree import Atom, Group, Number, shape, summed

MAX_CHARS: Final = 2_000
"""Longer texts are not read as formulas."""
_MAX_TOKENS: Final = 300
"""Several times what long equations have."""
_MAX_DIGITS: Final = 9
_MAX_NESTING: Final = 10

_ELEMENTS: Final = """
H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru
Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At
Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"""
_NUMBERS: Final = {symbol: number for number, symbol in enumerate(_ELEMENTS.split(), 1)} | {"n": 0, "γ": 0}
_PARTICLES: Final = {"D": ("H", 2), "T": ("H", 3), "n": ("n", 1), "p": ("H", 1), "α": ("He", 4)}
_LONE: Final = frozenset("enpαβγ")
"""Symbols of particles: each is a term of its own."""

States = Literal["agree", "ignore", "require"]


@dataclass(frozen=True)
class Term:
    """A species with its coefficient."""

    coefficient: Number
    atoms: tuple[tuple[Atom, Number], ...]
    """Sorted, each atom once."""
    charge: Number
    state: str
    parts: tuple[tuple[Number, Group], ...]
    """What the dots of a hydrate divide, with the number before each."""
    complexes: tuple[object, ...]
    """The atoms of each part in square brackets."""

    @cached_property
    def shape(self) -> object:
        """Which atoms are neighbours; None if no element is named twice."""
        if len(self.parts) == 1 and max(Counter(self.parts[0][1].symbols()).values()) == 1:
            return None
        return sorted((factor, shape(group)) for factor, group in self.parts)


@dataclass(frozen=True, slots=True)
class Formula:
    """One side, or the two sides of an equation; `leads_left` if its arrow does."""

    sides: tuple[tuple[Term, ...], ...]

    @property
    def is_equation(self) -> bool:
        return len(self.sides) == 2

    @property
    def is_balanced(self) -> bool:
        reactants, products = (_totals(side) for side in self.sides)
        if reactants == products:
            return True
        # In a nuclear equation elements change; mass numbers and atomic numbers are kept.
        masses = [_masses(side) for side in self.sides]
        return None not in masses and masses[0] == masses[1]


def _totals(side: Sequence[Term]) -> Mapping[str, Number]:
    totals = summed((symbol, term.coefficient * count) for term in side for (symbol, _), count in term.atoms)
    totals["charge"] = sum(term.coefficient * term.charge for term in side)
    return {name: count for name, count in totals.items() if count and name not in ("e", "γ")}


def _masses(side: Sequence[Term]) -> tuple[Number, Number] | None:
    """The sums of mass numbers and of atomic numbers; None if the mass of an atom is not named."""
    mass: Number = 0
    number: Number = 0
    for term in side:
        for (symbol, mass_number), count in term.atoms:
            if symbol == "e":
                number += term.coefficient * term.charge
            elif mass_number is None and symbol != "γ":
                return None
            else:
                mass += term.coefficient * count * (mass_number or 0)
                number += term.coefficient * count * _NUMBERS[symbol]
    return mass, number


# --- comparison


def difference(
    reference: Formula, answer: Formula, *, states: States = "agree", by_composition: bool = False
) -> str | None:
    """The reason why the answer is not the reference; None if it is."""
    if len(reference.sides) != len(answer.sides):
        return "wrong_answer"
    if not reference.is_equation:
        return _side_difference(reference.sides[0], answer.sides[0], 1, states, by_composition)
    # In an equation ethanol may be C2H6O, unless the reaction only moves atoms, such as from ethanol to an ether.
    reactants, products = ({(term.atoms, term.charge) for term in side} for side in reference.sides)
    moves = not reactants.isdisjoint(products)
    scale = _scale(reference, answer)
    reasons = [
        _side_difference(side, answer_side, scale, "require" if moves and states != "ignore" else states, not moves)
        for side, answer_side in zip(reference.sides, answer.sides, strict=True)
    ]
    reason = next((reason for reason in reasons if reason and reason != "wrong_coefficients"), None)
    reason = reason or next((reason for reason in reasons if reason), None)
    return "unbalanced" if reason == "wrong_coefficients" and not answer.is_balanced else reason


def _scale(reference: Formula, answer: Formula) -> Number:
    totals = [sum(term.coefficient for side in formula.sides for term in side) for formula in (answer, reference)]
    return Fraction(totals[0], totals[1])


def _side_difference(
    reference: Sequence[Term], answer: Sequence[Term], scale: Number, states: States, by_composition: bool
) -> str | None:
    unmatched = list(answer)
    worst = None
    for term in reference:
        reasons = [_term_difference(term, actual, states, by_composition) for actual in unmatched]
        if None not in reasons:
            return next((reason for reason in _TELLING if reason in reasons), "wrong_answer")
        actual = unmatched.pop(reasons.index(None))
        if actual.coefficient != term.coefficient * scale:
            worst = "wrong_coefficients"
    return "wrong_answer" if unmatched else worst


_TELLING: Final = ("wrong_state", "wrong_structure", "wrong_charge", "wrong_isotope")


def _term_difference(term: Term, actual: Term, states: States, by_composition: bool) -> str | None:
    if term.atoms != actual.atoms:
        return "wrong_isotope" if _without_masses(term) == _without_masses(actual) else "wrong_answer"
    if term.charge != actual.charge:
        return "wrong_charge"
    differs = term.shape is not None and term.shape != actual.shape
    differs |= bool(term.complexes and actual.complexes) and term.complexes != actual.complexes
    if differs and not by_composition:
        return "wrong_structure"
    if states != "ignore" and term.state != actual.state and ((term.state and actual.state) or states == "require"):
        return "wrong_state"
    return None


def _without_masses(term: Term) -> Mapping[str, Number]:
    return summed((symbol, count) for (symbol, _), count in term.atoms)


# --- reading


@dataclass(frozen=True, slots=True)
class Digits:
    """How digits before a sign are read: the `other` way than usual, and whether as mhchem does."""

    other: bool
    in_mhchem: bool


@remember(4096)
def read(text: str, other_digits: bool = False) -> Formula:
    r"""Read a formula or an equation.

    `Fe3+` is an ion with three charges, `MnO4-` one with one, and `SO42-` one with two. In mhchem (`\ce{I3-}`) digits count
    atoms; a cation such as `\ce{Fe3+}` is not what mhchem prints, but what is meant. `other_digits` reads such digits the other way.

    Raises:
        Unreadable, TooComplex
    """
    if len(text) > MAX_CHARS:
        raise TooComplex("longer than a formula")
    tokens = list(islice(notation.tokens(text), _MAX_TOKENS + 1))
    if len(tokens) > _MAX_TOKENS:
        raise TooComplex("more symbols than a formula has")
    arrows = [index for index, token in enumerate(tokens) if token.kind == "arrow"]
    if not arrows:
        arrows = [index for index, token in enumerate(tokens) if _is_arrow(tokens, index)]
    if len(arrows) > 1:
        raise Unreadable("more than one arrow")
    token_groups = [tokens[: arrows[0]], tokens[arrows[0] + 1 :]] if arrows else [tokens]
    if arrows and tokens[arrows[0]].text == "←":
        token_groups.reverse()
    digits = Digits(other_digits, _MHCHEM.search(text) is not None)
    sides = tuple(_merged(_side(token_group, digits)) for token_group in token_groups)
    return Formula(sides)


_MHCHEM = re.compile(r"\\ce\s?\{")


def written(text: str) -> list[tuple[str, str]]:
    """The symbols and numbers of a formula in their order, whatever the notation."""
    read(text)
    kinds, texts = {"subscript": "number", "run": "number"}, {".": "·"}
    tokens = (token for token in notation.tokens(text) if token.kind != "bond")
    return [(kinds.get(token.kind, token.kind), texts.get(token.text, token.text)) for token in tokens]


def _is_arrow(tokens: Sequence[Token], index: int) -> bool:
    """Whether an equals sign has the sides of an equation beside it, and is not a double bond: `CH2=CH2`."""
    if tokens[index].kind != "equals" or not 0 < index < len(tokens) - 1:
        return False
    is_tight = not tokens[index].is_behind_space and not tokens[index + 1].is_behind_space
    has_terms = any(token.kind == "plus" for token in tokens) or "number" in (tokens[0].kind, tokens[index + 1].kind)
    return has_terms or not is_tight


def _side(tokens: Sequence[Token], digits: Digits) -> Iterator[Term]:
    start = 0
    for index, token in enumerate(tokens):
        if token.kind == "plus" and not _is_charge(tokens, index):
            yield _Reader(tokens[start:index], digits).term()
            start = index + 1
    yield _Reader(tokens[start:], digits).term()


def _is_charge(tokens: Sequence[Token], index: int) -> bool:
    """Whether a sign belongs to what stands before it: nothing, or what follows a whole term, stands behind it."""
    if tokens[index].is_behind_space or index == 0:
        return False
    following = tokens[index + 1].kind if index + 1 < len(tokens) else "plus"
    if following == "number" and not tokens[index + 1].is_behind_space:  # Fe+3
        return _ends_term(tokens, index + 1)
    return following in ("plus", "minus", "state", "close", "dot")


def _merged(terms: Iterator[Term]) -> tuple[Term, ...]:
    """The terms, with `O2 + O2` as one."""
    merged: dict[object, Term] = {}
    for term in terms:
        key: object = (term.atoms, term.charge, term.state)
        if key in merged and merged[key].shape != term.shape:
            key = (key, str(term.shape))
        if key in merged:
            term = replace(term, coefficient=term.coefficient + merged[key].coefficient)
        merged[key] = term
    return tuple(merged.values())


class _Reader:
    """Reads the tokens of one term."""

    def __init__(self, tokens: Sequence[Token], digits: Digits) -> None:
        self._tokens = tokens
        self._digits = digits
        self._groups = [Group()]
        self._state = ""
        self._mass: int | None = None
        self._number: int | None = None
        self._parts: list[tuple[Number, Group]] = []
        self._factor: Number = 1
        self._can_count = False
        self._complexes: list[object] = []

    def term(self) -> Term:
        tokens = self._tokens
        if not tokens:
            raise Unreadable("a term is missing")
        coefficient: Number = 1
        index = 0
        if tokens[0].kind == "number":
            coefficient, index = _number(tokens[0].text), 1
            if (
                self._digits.other
                and [token.kind for token in tokens[1:]] == ["symbol"]
                and coefficient.denominator == 1
            ):
                self._mass, coefficient = int(coefficient), 1
        while index < len(tokens):
            index = self._take(index)
        self._close_part()
        return self._made(coefficient)

    def _take(self, index: int) -> int:
        token = self._tokens[index]
        following = self._tokens[index + 1] if index + 1 < len(self._tokens) else None
        group = self._groups[-1]
        if self._state and token.kind not in ("superscript", "dot"):
            raise Unreadable("something stands behind the state")
        if token.kind == "symbol":
            self._atom(token.text)
        elif token.kind in ("subscript", "run", "number"):
            return self._count(index, following)
        elif token.kind == "superscript":
            self._superscript(token.text)
        elif token.kind in ("plus", "minus"):
            return self._sign(index, following)
        elif token.kind == "open":
            if len(self._groups) > _MAX_NESTING:
                raise TooComplex("nested deeper than a formula")
            self._groups.append(Group(token.text))
            self._can_count = False
        elif token.kind == "close":
            self._close(token.text)
        elif token.kind == "dot":
            self._close_part()
            self._state = ""
            if following is not None and following.kind == "number":
                self._factor = _number(following.text)
                return index + 2
        elif token.kind == "state":
            if len(self._groups) > 1 or not group.nodes:
                raise Unreadable("a state stands alone")
            self._state = token.text
        elif token.kind not in ("bond", "equals"):
            raise Unreadable(f"{token.text!r} is not part of a formula")
        return index + 1

    def _atom(self, symbol: str) -> None:
        if symbol == "β":
            symbol = "e"
        elif symbol in _PARTICLES:
            symbol, mass = _PARTICLES[symbol]
            self._mass = self._mass if self._mass is not None else mass
        elif symbol not in _NUMBERS and symbol != "e":
            raise Unreadable(f"{symbol!r} is not an element")
        group = self._groups[-1]
        if symbol == "e":
            group.charge += -1 if self._number is None else self._number
            self._mass = None
        elif self._number not in (None, _NUMBERS[symbol]):
            raise Unreadable(f"{symbol} has not the atomic number {self._number}")
        group.nodes.append(((symbol, self._mass), 1))
        self._mass = self._number = None
        self._can_count = True

    def _count(self, index: int, following: Token | None) -> int:
        """A number behind an atom or a group counts it; before an atom a subscript is its atomic number."""
        token = self._tokens[index]
        is_signed = following is not None and following.kind in ("plus", "minus") and not following.is_behind_space
        if is_signed and following is not None and token.kind != "subscript" and self._groups[-1].nodes:
            sign = 1 if following.kind == "plus" else -1
            count, charge = self._count_and_charge(token, sign)
            if charge is not None and _ends_term(self._tokens, index + 1):
                self._times(count)
                self._groups[-1].charge += sign * charge
                return index + 2
        if token.kind in ("subscript", "run") and (not self._can_count or self._mass is not None):
            if not re.fullmatch(r"[-+]?\d{1,3}", token.text) or self._number is not None:
                raise Unreadable(f"{token.text!r} counts nothing")
            self._number = int(token.text)
            return index + 1
        if not self._can_count or token.is_behind_space:
            raise Unreadable(f"{token.text!r} counts nothing")
        self._times(_number(token.text))
        return index + 1

    def _count_and_charge(self, token: Token, sign: int) -> tuple[Number, int | None]:
        """What the digits before a sign mean: a count, a charge, or both."""
        digits = token.text
        if not digits.isdigit():
            return 1, None
        if not self._can_count or token.is_behind_space:
            return 1, int(digits)
        if len(digits) > 1:
            return (_number(digits), 1) if self._digits.other else (_number(digits[:-1]), int(digits[-1]))
        is_charge = len(self._groups[-1].nodes) == 1 and not (self._digits.in_mhchem and sign < 0)
        return (_number(digits), 1) if is_charge == self._digits.other else (1, int(digits))

    def _times(self, count: Number) -> None:
        if count != 1:
            nodes = self._groups[-1].nodes
            nodes[-1] = (nodes[-1][0], nodes[-1][1] * count)
        self._can_count = False

    def _superscript(self, text: str) -> None:
        if text.isdigit():  # a mass number, of the next atom
            self._mass = int(text)
            return
        match = re.fullmatch(r"(\d{0,3})([-+]{1,6})|([-+])(\d{1,3})", text)
        if match is None or not self._groups[-1].nodes:
            raise Unreadable(f"^{text} is neither a charge nor a mass")
        signs = match[2] or match[3]
        size = int(match[1] or match[4] or len(signs))
        group = self._groups[-1]
        if group.nodes[-1][0] == ("e", None):
            group.charge = 0
        group.charge += size if signs[0] == "+" else -size

    def _sign(self, index: int, following: Token | None) -> int:
        token = self._tokens[index]
        nodes = self._groups[-1].nodes
        if token.is_behind_space or not nodes:
            raise Unreadable("a sign stands alone")
        if _ends_term(self._tokens, index):
            self._superscript(token.text)
        elif following is not None and following.kind == "number" and _ends_term(self._tokens, index + 1):
            self._signed(token, _number(following.text))
            return index + 2
        elif token.kind == "plus":
            raise Unreadable("a sign stands inside")
        self._can_count = False
        return index + 1

    def _signed(self, token: Token, number: Number) -> None:
        """What a number behind a sign means: the mass of `C-14`, or the charge of `Fe+3` and `SO4-2`."""
        nodes = self._groups[-1].nodes
        atom, count = nodes[-1]
        is_lone = len(nodes) == 1 and count == 1 and not isinstance(atom, Group) and atom[1] is None
        if is_lone and token.kind == "minus" and not isinstance(atom, Group) and number > _NUMBERS.get(atom[0], number):
            nodes[-1] = ((atom[0], int(number)), count)
        else:
            self._superscript(f"{token.text}{number}")

    def _close(self, bracket: str) -> None:
        group = self._groups.pop()
        if not self._groups or not group.nodes or group.bracket + bracket not in ("()", "[]"):
            raise Unreadable("brackets do not match")
        if self._mass is not None or self._number is not None:
            raise Unreadable("a mass number has no atom")
        outer = self._groups[-1]
        outer.nodes.append((group, 1))
        outer.charge += group.charge
        if bracket == "]":
            self._complexes.append(group.atoms())
        self._can_count = True

    def _close_part(self) -> None:
        if len(self._groups) != 1 or not self._groups[0].nodes or self._mass is not None or self._number is not None:
            raise Unreadable("a part is not finished")
        self._parts.append((self._factor, self._groups[0]))
        self._groups, self._factor, self._can_count = [Group()], 1, False

    def _made(self, coefficient: Number) -> Term:
        charge = sum(factor * group.charge for factor, group in self._parts)
        atoms = summed((atom, factor * count) for factor, group in self._parts for atom, count in group.atoms())
        is_lone = any(token.kind == "symbol" and token.text in _LONE for token in self._tokens)
        if is_lone and (len(atoms) > 1 or max(atoms.values()) > 1):
            raise Unreadable("a particle is a term of its own")
        counted_atoms = tuple(sorted(atoms.items(), key=lambda pair: (pair[0][0], pair[0][1] or 0)))
        complexes = tuple(sorted(self._complexes, key=repr))
        if complexes == (counted_atoms,):  # brackets around all, for the charge
            complexes = ()
        return Term(coefficient, counted_atoms, charge, self._state, tuple(self._parts), complexes)


def _ends_term(tokens: Sequence[Token], index: int) -> bool:
    """Whether nothing of a formula stands behind a token but its state, or the end of a bracket."""
    return index + 1 == len(tokens) or tokens[index + 1].kind in ("state", "close", "plus", "dot")


def _number(text: str) -> Number:
    digits = max(map(len, re.findall(r"\d+", text)), default=0)
    if digits > _MAX_DIGITS:
        raise TooComplex("a number is larger than those of formulas")
    if len(text) == 1 and not text.isdecimal():
        return Fraction(unicodedata.numeric(text)).limit_denominator(10)
    try:
        number = int(text) if text.isdecimal() else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise Unreadable(f"{text!r} is not a number") from None
    if number <= 0:
        raise Unreadable("nothing is counted zero times")
    return number
