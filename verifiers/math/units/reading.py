"""Reads a unit: products, quotients and powers of named units and counting nouns."""

import re
from collections.abc import Mapping, Sequence

from memory import remember
from verifiers.commitment.amounts import is_counted
from verifiers.commitment.latex import split
from verifiers.math.units.definitions import ATOMS
from verifiers.math.units.names import FOLDED, PER, SYMBOLS, names, parted
from verifiers.math.units.notation import BLANKS, plain, tokenized, written
from verifiers.math.units.nouns import chinese_noun, is_plain, noun

MAX_CHARS = 100
_MAX_EXPONENT = 9


def key(text: str) -> str | None:
    """The one spelling of a unit, which is itself read as that unit; None for no unit, or over 100 characters."""
    return _key(text) if len(text) <= MAX_CHARS else None


def scaled_key(text: str) -> tuple[int, str] | None:
    r"""A power of ten and the key of a unit as a data set writes them: `$10^{3} \mathrm{~N}$`; the key may be empty.

    It is `%` for a percent sign. None for anything else.
    """
    text = text.replace("\\$", "\\dollar ").replace("\\%", "%")
    if text.count("$") % 2 == 0:
        text = text.replace("$", " ").replace("~", " ")
    power = _POWER_OF_TEN.match(text)
    unit_text = text[power.end() :] if power else text
    exponent = int(power[1] or power[2]) if power else 0
    if unit_text.strip() in (PERCENT, "" if power else PERCENT):
        return exponent, unit_text.strip()
    unit = key(unit_text)
    return None if unit is None else (exponent, unit)


PERCENT = "%"
_IN_ROMAN = r"\\mathrm\s?\{(?=10\s?\^\s?(?:\{[-+]?\d{1,3}\}|\d{1,3})\})"
_POWER = r"10\s?\^\s?(?:\{\s?([-+]?\d{1,3})\s?\}|([-+]?\d{1,3}))"
_POWER_OF_TEN = re.compile(rf"\s*(?:\\times\s*|{_IN_ROMAN})?{_POWER}\s*(?:\\cdot|\\times|\}}(?=\s))?")


def unlisted(text: str) -> str | None:
    """A word behind a number that no table lists, if it can only be what is counted or measured: not the Hungarian half of "42 fele"."""
    word = text.strip()
    if len(word) > _MAX_UNLISTED_CHARS or (noun([word]) is None and not is_counted(word)):
        return None
    return noun([word], is_certain=True)


_MAX_UNLISTED_CHARS = 12


@remember(4096)
def _key(text: str) -> str | None:
    atoms = atoms_of(text)
    if atoms is None:
        return None
    unit = written(atoms)
    return unit if atoms_of(unit) == atoms else None


@remember(4096)
def atoms_of(text: str) -> Mapping[str, int] | None:
    """The atoms of a unit and their exponents."""
    if len(text) > MAX_CHARS:
        return None
    bare = BLANKS.sub(" ", text).strip().casefold().replace(" ", "")
    if bare in _CLOCK_NAMES and text != _PICOMETRE:
        return {_CLOCK_NAMES[bare]: 1}
    tokens = tokenized(plain(text))
    if not tokens:
        return None
    try:
        reading = _Reading(tokens)
        atoms = reading.product()
        return _MERGED.get(written(atoms), atoms) if reading.is_at_end and atoms else None
    except _NoUnit:
        return None


class _NoUnit(Exception):
    """The text is not a unit."""


class _Reading:
    """Reads products, quotients and powers. All methods raise `_NoUnit`."""

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._tokens)

    def product(self) -> dict[str, int]:
        """Read products and quotients; after a division only another division may follow.

        The SI brochure (5.2) leaves open whether `J/kg K` divides by K.
        """
        total: dict[str, int] = {}
        divides = False
        if self._peek() == ("operator", "1") and self._peek(1) == ("operator", "/"):
            self._at += 1
        elif not self._divides():
            _multiply(total, self._factor(after_per=False), 1)
        while not self.is_at_end and self._peek() != ("operator", ")"):
            if self._divides():
                self._at += 1
                divides = True
            elif divides:
                raise _NoUnit
            elif self._peek() in (("operator", "·"), ("operator", "-")):
                self._at += 1
            elif self._peek()[0] == "sign":
                raise _NoUnit
            _multiply(total, self._factor(after_per=divides), -1 if divides else 1)
        return {atom: exponent for atom, exponent in total.items() if exponent}

    def _peek(self, offset: int = 0) -> tuple[str, str]:
        return self._tokens[self._at + offset] if self._at + offset < len(self._tokens) else ("", "")

    def _divides(self) -> bool:
        kind, text = self._peek()
        return (kind, text) == ("operator", "/") or (kind == "word" and text.casefold() in PER)

    def _factor(self, *, after_per: bool) -> dict[str, int]:
        kind, text = self._peek()
        self._at += 1
        if kind == "word":
            self._at -= 1
            return self._phrase(after_per)
        if kind == "sign":
            return self._raised({_SIGN_ATOMS[text]: 1})
        if (kind, text) == ("operator", "("):
            self._at -= 1
            return self._raised(self._group())
        if kind == "frac":
            numerator = self._group()
            _multiply(numerator, self._group(), -1)
            return numerator
        raise _NoUnit

    def _group(self) -> dict[str, int]:
        self._depth += 1
        if self._peek() != ("operator", "(") or self._depth > 8:
            raise _NoUnit
        self._at += 1
        unit = self.product()
        if self._peek() != ("operator", ")"):
            raise _NoUnit
        self._at += 1
        return unit

    def _raised(self, atoms: dict[str, int]) -> dict[str, int]:
        exponent = self._exponent()
        if exponent is None:
            return atoms
        if any((atom not in ATOMS and atom != "unit") or atom in _SIGN_ATOMS.values() for atom in atoms):
            raise _NoUnit
        return {atom: power * exponent for atom, power in atoms.items()}

    def _exponent(self) -> int | None:
        kind, text = self._peek()
        if kind == "exponent":
            self._at += 1
            return int(text[1:])
        if (kind, text) in (("operator", "2"), ("operator", "3")):
            self._at += 1
            return int(text)
        return None

    def _phrase(self, after_per: bool) -> dict[str, int]:
        """Read words in a row and an exponent, which belongs to the last word."""
        words: list[str] = []
        while self._peek()[0] == "word" and not self._divides():
            words.append(self._peek()[1])
            self._at += 1
        if len(words) == 1 and "每" in words[0]:
            return _chinese_rate(words[0])
        exponent = self._exponent()
        units = _units(words)
        if units is None:
            atom = noun(words, is_certain=after_per)
            if atom is None or exponent is not None:
                raise _NoUnit
            return {atom: 1}
        if after_per and len(units) > 1:
            raise _NoUnit
        if exponent is not None:
            if not _NEVER_RAISED.isdisjoint(words):
                raise _NoUnit
            units[-1] = {atom: power * exponent for atom, power in units[-1].items()}
        total: dict[str, int] = {}
        for unit in units:
            _multiply(total, unit, 1)
        return total


def _multiply(total: dict[str, int], atoms: Mapping[str, int], sign: int) -> None:
    for atom, exponent in atoms.items():
        total[atom] = total.get(atom, 0) + sign * exponent
        if abs(total[atom]) > _MAX_EXPONENT:
            raise _NoUnit


def _units(words: Sequence[str]) -> list[dict[str, int]] | None:
    """The factors of a run of words, all of them known: `square kilometers`, `newton meters`, `cups of flour`."""
    if "of" in words:
        words, material = words[: words.index("of")], words[words.index("of") + 1 :]
        if not is_plain(material) or any(_named(word) for word in material):
            return None
    if len(words) > 1 and words[-1].casefold() in _EXTENTS:
        words = words[:-1]
    pieces = [piece for word in words for piece in word.split("-")]
    units: list[dict[str, int]] = []
    raised = 1
    while pieces:
        word = pieces[0].casefold()
        if word in _RAISING and raised == 1:
            raised, pieces = _RAISING[word], pieces[1:]
            continue
        if word in _RAISED and units and raised == 1 and set(units[-1].values()) == {1}:
            units[-1] = {atom: power * _RAISED[word] for atom, power in units[-1].items()}
            pieces = pieces[1:]
            continue
        known_unit = next(((unit, size) for size in (3, 2, 1) if (unit := _named(" ".join(pieces[:size])))), None)
        if known_unit is None:
            if not (parts := parted(pieces[0])):
                return None
            pieces = [*parts, *pieces[1:]]
            continue
        units.append({atom: power * raised for atom, power in known_unit[0].items()})
        raised, pieces = 1, pieces[known_unit[1] :]
    return units if units and raised == 1 else None


def _named(name: str) -> dict[str, int] | None:
    """The unit with a name. Case counts for a symbol if another one differs in case only, as in mW and MW."""
    atoms = SYMBOLS.get(name) or names().get(name.casefold()) or _folded(name)
    return None if atoms is None else dict(atoms)


def _folded(name: str) -> Mapping[str, int] | None:
    """The unit of a symbol in the wrong case; but Mm is not mm, which is 10^-9 of it."""
    if len(name) < 2 or (name[0] in "mM" and name[0].swapcase() + name[1:] in SYMBOLS):
        return None
    return FOLDED.get(name.casefold())


def _chinese_rate(word: str) -> dict[str, int]:
    """The unit of a Chinese rate: `米每秒`, `每秒`."""
    numerator, *denominators = word.split("每")
    total: dict[str, int] = {}
    for part, sign in ((numerator, 1), *((part, -1) for part in denominators)):
        if part == numerator == "" and sign == 1:
            continue
        atoms = _named(part) or chinese_noun(part)
        if atoms is None:
            raise _NoUnit
        _multiply(total, atoms, sign)
    return total


_SIGN_ATOMS = {
    "$": "$", "€": "euro", "£": "pound sterling", "¥": "¥", "¢": "cent", "°": "degree", "'": "'", "''": "''",
    '"': "''",
}  # fmt: skip
_PICOMETRE = "pm"
"""A time such as `3 pm` is read before units are."""
_CLOCK_NAMES = {"am": "a.m.", "a.m.": "a.m.", "a.m": "a.m.", "pm": "p.m.", "p.m.": "p.m.", "p.m": "p.m."}
_RAISING = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_RAISED = {"squared": 2, "cubed": 3}
_NEVER_RAISED = split("squared cubed of")
_EXTENTS = split("long wide tall high deep thick old")
_MERGED: Mapping[str, Mapping[str, int]] = {
    "W·h": {"Wh": 1}, "h·kW": {"kWh": 1}, "MW·h": {"MWh": 1}, "ft·lb": {"ft": 1, "lbf": 1},
}  # fmt: skip
"""Products with a name of their own; the pound in a foot-pound is one of force."""
