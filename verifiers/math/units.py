r"""Units: one spelling for each, what they measure, and exact factors between them.

    text  --key-->  "km/h"  --_scale-->  (5/18, no power of pi, {m: 1, s: -1})  --convert, factor, pi_factor-->  number

A key is a product of atoms, each a known unit ("km") or a counting noun ("apple"). A unit word with several senses
(cents, degrees, 分, ') takes the one that fits what it is compared with.

After a number only a plain noun phrase is a unit, for what else may stand there changes the number: `5 squared`,
`5 million`, `5 or more`. In English a counted noun is in the plural, and adverbs, adjectives and participles have none;
so a word nobody listed as a noun has to be a plural, and third persons (`5 fails`), number words and relations are
listed as what they are not.

Sources: SI brochure, 9th edition (BIPM 2019), tables 2 to 8; the international yard and pound agreement (1959) for inch
to mile, ounce to ton; NIST Handbook 44, appendix C, for gallon to teaspoon and acre (those of the US); NIST SP 811,
appendix B, for atm, mmHg, torr, psi, hp and the thermochemical calorie; IAU 2012 resolution B2 for the astronomical
unit. kB, MB and so on convert into nothing, as some count them in
1000s and some in 1024s.

No units library: pint, the usual one, counts in floats unless told otherwise and is much to load for a table; and it
leaves open what this module is mostly about, which words are no unit.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product as pairs_of

MAX_CHARS = 100
_MAX_WORDS = 4
_MAX_EXPONENT = 9


@dataclass(frozen=True, slots=True)
class _Scale:
    """What one of a unit is: `rational` * pi ** `pi` base units of `dimension`."""

    rational: Fraction
    pi: int
    dimension: Mapping[str, int]


def key(text: str) -> str | None:
    """A unit's one spelling, itself a spelling of it; None when the text is no unit or over 100 characters."""
    return _key(text) if len(text) <= MAX_CHARS else None


def is_known(unit: str) -> bool:
    """Whether a key is made of units with a definition only."""
    return unit in _SENSES or _known(unit)


def is_count(unit: str) -> bool:
    """Whether a key is a counting noun: `apple`, `square unit`, `个`."""
    atoms = _atoms(unit)
    if atoms is None or len(atoms) != 1:
        return False
    ((atom, exponent),) = atoms.items()
    return atom not in _ATOMS and atom not in _CLOCK and (exponent == 1 or (atom == "unit" and exponent in (2, 3)))


def dimension(unit: str) -> Mapping[str, int] | None:
    """Base units and their exponents: SI's, and apart from these rad, sr, bit, month and each currency.

    Of a word with several senses, the first one's.
    """
    unit = _senses(unit)[0]
    scale = _scale(unit) if _known(unit) else None
    return None if scale is None else dict(scale.dimension)


def in_base_units(unit: str) -> tuple[Fraction, int, Mapping[str, int]] | None:
    """(r, n, exponents) when one of the unit is r * pi ** n of these base units, of which counting nouns are some.

    Of a word with several senses, the first one's; for °C and °F, what a difference of one is.
    """
    scale = _scale(_senses(unit)[0])
    return None if scale is None else (scale.rational, scale.pi, scale.dimension)


def has_zero_point(unit: str) -> bool:
    """Whether nothing is not zero of it (°C, °F), so that it cannot be added or multiplied."""
    return unit in _ZEROS


def compatible(one: str, other: str) -> bool:
    """Whether both are known and measure the same, in some sense of theirs."""
    return any(_same_dimension(left, right) for left, right in _sense_pairs(one, other))


def factor(source: str, target: str) -> Fraction | None:
    """How many of the target one of the source is; None when none, irrational, or a matter of zero points (°C, °F)."""
    found = pi_factor(source, target)
    return found[0] if found is not None and found[1] == 0 else None


def pi_factor(source: str, target: str) -> tuple[Fraction, int] | None:
    """(r, n) when one of the source is r * pi ** n of the target: a degree is (1/180, 1) radians."""
    if source == target:
        return Fraction(1), 0
    for left, right in _sense_pairs(source, target):
        if left == right:
            return Fraction(1), 0
        one, other = _scale(left), _scale(right)
        if one is None or other is None or one.dimension != other.dimension or left in _ZEROS or right in _ZEROS:
            continue
        return one.rational / other.rational, one.pi - other.pi
    return None


def convert(value: Fraction, source: str, target: str) -> Fraction | None:
    """The value in the target unit, exact; None when there is none or it is irrational."""
    by = factor(source, target)
    if by is not None:
        return value * by
    if not {source, target} <= _ZEROS.keys() | {"K"}:
        return None
    kelvin = value * _ATOMS[source].rational + _ZEROS.get(source, 0)
    return (kelvin - _ZEROS.get(target, 0)) / _ATOMS[target].rational


def compound(parts: Sequence[tuple[Fraction, str]]) -> tuple[Fraction, str] | None:
    """The sum of `5 ft 3 in` or `30° 15' 20''` in its last unit; None unless each unit is smaller than the one before.

    Parts are not negative: a sign before the first one is of the whole, and its owner's to put back.
    """
    if not parts or any(value < 0 for value, _ in parts):
        return None
    sums = (_sum_from(first, parts) for first in _senses(parts[0][1]))
    return next((found for found in sums if found is not None), None)


def _sum_from(first: str, parts: Sequence[tuple[Fraction, str]]) -> tuple[Fraction, str] | None:
    total, unit = parts[0][0], first
    for value, written in parts[1:]:
        found = next((sense for sense in _part_senses(written, first) if _is_smaller(sense, unit)), None)
        by = None if found is None else factor(unit, found)
        if found is None or by is None:
            return None
        total, unit = total * by + value, found
    return total, unit


def _part_senses(written: str, first: str) -> Sequence[str]:
    """After degrees, minutes and seconds are those of arc."""
    if first == "degree" and written in ("min", "s"):
        return ("arcmin",) if written == "min" else ("arcsec",)
    return _senses(written)


def _is_smaller(unit: str, than: str) -> bool:
    by = factor(than, unit)
    return by is not None and by > 1


def _senses(unit: str) -> Sequence[str]:
    return _SENSES.get(unit, (unit,))


def _sense_pairs(one: str, other: str) -> Iterator[tuple[str, str]]:
    """What the two may mean together. Degrees without a scale are of the other's scale, whichever that is."""
    for left, right in pairs_of(_senses(one), _senses(other)):
        if not ({one, other} & {"degree"} and left != right and {left, right} & _ZEROS.keys()):
            yield left, right


def _same_dimension(one: str, other: str) -> bool:
    if not (_known(one) and _known(other)):
        return False
    left, right = _scale(one), _scale(other)
    return left is not None and right is not None and left.dimension == right.dimension


def _known(unit: str) -> bool:
    atoms = _atoms(unit)
    return atoms is not None and all(atom in _ATOMS for atom in atoms)


@lru_cache(maxsize=4096)
def _scale(unit: str) -> _Scale | None:
    """Counting nouns are dimensions of their own, so that cents per apple convert into dollars per apple."""
    atoms = _atoms(unit)
    return None if atoms is None or _CLOCK & atoms.keys() else _product(atoms)


def _product(atoms: Mapping[str, int]) -> _Scale:
    rational, pi = Fraction(1), 0
    exponents: dict[str, int] = {}
    for atom, exponent in atoms.items():
        scale = _ATOMS.get(atom) or _Scale(Fraction(1), 0, {f"one {atom}": 1})
        rational *= scale.rational**exponent
        pi += scale.pi * exponent
        for base, power in scale.dimension.items():
            exponents[base] = exponents.get(base, 0) + power * exponent
    return _Scale(rational, pi, {base: power for base, power in exponents.items() if power})


# reading


_SUPERSCRIPT = re.compile("[⁻⁰¹²³⁴-⁹]{1,3}")
_LAYOUT = re.compile(
    r"\\(?:text|textrm|textbf|mathrm|mathsf|mathbf|mathit|operatorname|mbox|rm|left|right|unit|si)(?![A-Za-z])"
    r"|\\[,;:!> ]|~"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_COMMANDS = {
    "circ": "°", "degree": "°", "celsius": "°C", "mu": "μ", "Omega": "Ω", "ohm": "Ω", "AA": "Å", "cdot": "·",
    "dollar": "$", "textdollar": "$", "euro": "€", "pounds": "£", "yen": "¥", "prime": "'",
}  # fmt: skip
_SIGNS = str.maketrans({
    "−": "-", "–": "-", "‐": "-", "‑": "-", "⋅": "·", "∙": "·", "•": "·", "*": "·", "º": "°", "′": "'", "’": "'", "″": '"', "“": '"',
    "”": '"', "µ": "μ",
})  # fmt: skip
_RAISED_DEGREE = re.compile(r"\^ ?(?:\{ ?° ?\}|°)")
_RAISED_PRIMES = re.compile(r"\^ ?(?:\{ ?('+(?: ')?) ?\}|('+))")
_DEGREE_SCALE = re.compile(r"° ?(?:\{ ?([CFK]) ?\}|([CFK])(?![A-Za-z]))")
_PREFIXED_SIGN = re.compile(r"(?<![A-Za-z])([kMGmμ]) (?=Ω)|(μ) ?(?=[A-Za-z])")
_EXPONENT = re.compile(r"\^ ?(?:\{ ?(-?) ?(\d) ?\}|\( ?(-?) ?(\d) ?\)|(-?) ?(\d)(?!\d))")
_HYPHEN = re.compile(r"(?<=[A-Za-zΩ]) ?- ?(?=[A-Za-zμΩ])")
_DOT = re.compile(r"(?<=[A-Za-z])\.")
_BRACES_OF_FRACTIONS = str.maketrans("{}", "()")
_BRACES_OF_LAYOUT = str.maketrans("{}", "  ")
"""Text in braces is no factor of its own: the square in `\\text{m/s}^2` is of the second."""
_MATH_EXPONENT = re.compile(r"\$ ?(\^[^$]{1,8})\$")
_BLANKS = re.compile(r"\s+")
_LATIN = "A-Za-zÀ-ÖØ-öø-ɏμΩ"
_TOKEN = re.compile(
    rf" |(?P<word>°[CF](?![A-Za-z])|[{_LATIN}]+(?:-[{_LATIN}]+)*|[\u3040-\u30ff\u4e00-\u9fff]+)"
    r"|(?P<frac>\\frac)|(?P<exponent>\^-?\d)|(?P<sign>''|[$€£¥¢°'\"])|(?P<operator>[/·()]|\d|-)"
)
_OTHER_SCRIPT = re.compile(r"(?<=[\u3040-\u30ff\u4e00-\u9fff])[A-Za-z]|(?<=[A-Za-z])[\u3040-\u30ff\u4e00-\u9fff]")


@lru_cache(maxsize=4096)
def _key(text: str) -> str | None:
    atoms = _atoms(text)
    if atoms is None:
        return None
    unit = _written(atoms)
    return unit if _atoms(unit) == atoms else None


@lru_cache(maxsize=4096)
def _atoms(text: str) -> Mapping[str, int] | None:
    """The atoms of a unit and their exponents."""
    if len(text) > MAX_CHARS:
        return None
    bare = _BLANKS.sub(" ", text).strip().casefold().replace(" ", "")
    if bare in _CLOCK_NAMES:
        return {_CLOCK_NAMES[bare]: 1}
    tokens = _tokens(_plain(text))
    if not tokens:
        return None
    try:
        reading = _Reading(tokens)
        atoms = reading.product()
        return _MERGED.get(_written(atoms), atoms) if reading.is_at_end and atoms else None
    except _NoUnit:
        return None


def _plain(text: str) -> str:
    """The text without layout, one sign for each idea."""
    text = _SUPERSCRIPT.sub(lambda run: "^{" + run[0] + "}", text)
    text = unicodedata.normalize("NFKC", text.replace("″", '"').replace("´", "'")).translate(_SIGNS)
    text = _MATH_EXPONENT.sub(r"\1", text)
    text = _COMMAND.sub(lambda name: _COMMANDS.get(name[1], name[0]), _LAYOUT.sub(" ", text))
    text = _RAISED_DEGREE.sub("°", _BLANKS.sub(" ", text))
    text = _RAISED_PRIMES.sub(lambda run: (run[1] or run[2]).replace(" ", ""), text).replace("' '", "''")
    text = _PREFIXED_SIGN.sub(lambda sign: sign[1] or sign[2], _DEGREE_SCALE.sub(_scale_sign, text))
    text = _EXPONENT.sub(lambda run: "^" + (run[1] or run[3] or run[5] or "") + (run[2] or run[4] or run[6]), text)
    text = _HYPHEN.sub("-", _DOT.sub(" ", text))
    return text.translate(_BRACES_OF_FRACTIONS if "\\frac" in text else _BRACES_OF_LAYOUT).strip()


def _scale_sign(sign: re.Match[str]) -> str:
    scale = sign[1] or sign[2]
    return "K" if scale == "K" else f"°{scale}"


def _tokens(text: str) -> list[tuple[str, str]] | None:
    """Kind and text of each token; None when a character has no place in a unit."""
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or _OTHER_SCRIPT.match(text, position):
            return None
        position = match.end()
        if match.lastgroup is not None:
            tokens.append((match.lastgroup, match[0]))
    return tokens


def _written(atoms: Mapping[str, int]) -> str:
    """`kg·m/s^2`, `J/(K·kg)`, `1/s`, `square unit`."""
    if len(atoms) == 1 and atoms.get("unit") in (2, 3):
        return "square unit" if atoms["unit"] == 2 else "cubic unit"
    above = "·".join(_power(atom, atoms[atom]) for atom in sorted(atoms) if atoms[atom] > 0)
    below = [_power(atom, -atoms[atom]) for atom in sorted(atoms) if atoms[atom] < 0]
    if not below:
        return above
    return f"{above or 1}/{below[0]}" if len(below) == 1 else f"{above or 1}/({'·'.join(below)})"


def _power(atom: str, exponent: int) -> str:
    return atom if exponent == 1 else f"{atom}^{exponent}"


class _NoUnit(Exception):
    """The text is no unit."""


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
        """After a division only another one follows: whether `J/kg K` divides by K is open (SI brochure, 5.2)."""
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

    def _peek(self, ahead: int = 0) -> tuple[str, str]:
        return self._tokens[self._at + ahead] if self._at + ahead < len(self._tokens) else ("", "")

    def _divides(self) -> bool:
        kind, text = self._peek()
        return (kind, text) == ("operator", "/") or (kind == "word" and text.casefold() in ("per", "每"))

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
            above = self._group()
            _multiply(above, self._group(), -1)
            return above
        raise _NoUnit

    def _group(self) -> dict[str, int]:
        self._depth += 1
        if self._peek() != ("operator", "(") or self._depth > 8:
            raise _NoUnit
        self._at += 1
        inner = self.product()
        if self._peek() != ("operator", ")"):
            raise _NoUnit
        self._at += 1
        return inner

    def _raised(self, atoms: dict[str, int]) -> dict[str, int]:
        exponent = self._exponent()
        if exponent is None:
            return atoms
        if any((atom not in _ATOMS and atom != "unit") or atom in _SIGN_ATOMS.values() for atom in atoms):
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
        """Words in a row, and an exponent, which is of the last one."""
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
        words, what = words[: words.index("of")], words[words.index("of") + 1 :]
        if not _is_plain(what) or any(_named(word) for word in what):
            return None
    if len(words) > 1 and words[-1].casefold() in _EXTENTS:
        words = words[:-1]
    parts = [part for word in words for part in word.split("-")]
    units: list[dict[str, int]] = []
    raised = 1
    while parts:
        word = parts[0].casefold()
        if word in _RAISING and raised == 1:
            raised, parts = _RAISING[word], parts[1:]
            continue
        if word in _RAISED and units and raised == 1 and set(units[-1].values()) == {1}:
            units[-1] = {atom: power * _RAISED[word] for atom, power in units[-1].items()}
            parts = parts[1:]
            continue
        found = next(((unit, size) for size in (3, 2, 1) if (unit := _named(" ".join(parts[:size])))), None)
        if found is None:
            return None
        units.append({atom: power * raised for atom, power in found[0].items()})
        raised, parts = 1, parts[found[1] :]
    return units if units and raised == 1 else None


def _named(name: str) -> dict[str, int] | None:
    """The unit of a name. Case is part of a symbol where another symbol differs in nothing else, as in mW and MW."""
    atoms = _SYMBOLS.get(name) or _NAMES.get(name.casefold()) or _folded(name)
    return None if atoms is None else dict(atoms)


def _folded(name: str) -> Mapping[str, int] | None:
    """The unit of a symbol in the wrong case; but Mm is not mm, which is a thousandth of a millionth of it."""
    if len(name) < 2 or (name[0] in "mM" and name[0].swapcase() + name[1:] in _SYMBOLS):
        return None
    return _FOLDED.get(name.casefold())


def _chinese_rate(word: str) -> dict[str, int]:
    """`米每秒`, `每秒`."""
    above, *below = word.split("每")
    total: dict[str, int] = {}
    for part, sign in ((above, 1), *((part, -1) for part in below)):
        if part == above == "" and sign == 1:
            continue
        atoms = _named(part) or _chinese_noun(part)
        if atoms is None:
            raise _NoUnit
        _multiply(total, atoms, sign)
    return total


# counting nouns


def noun(words: Sequence[str], *, is_certain: bool = False) -> str | None:
    """The counting noun of a phrase, its head in the singular when it is listed; None when it is no plain noun phrase.

    `is_certain`: only a noun can stand here, as after "per", so that it may be an unlisted one in the singular.
    """
    if len(words) == 1 and (chinese := _chinese_noun(words[0])) is not None:
        return next(iter(chinese))
    words = _without_extent([word.casefold() for word in words])
    if len(words) > 2 and words[1] == "to" and words[0] in ("way", "ways", "method", "methods"):
        return "way" if _is_plain([word for word in words[2:] if word != "the"]) else None
    tail: list[str] = []
    if "of" in words:
        words, tail = words[: words.index("of")], words[words.index("of") :]
        if not _is_plain(tail[1:]):
            return None
    head = words[-1] if words else ""
    singular = _SINGULARS.get(head)
    listed_plural = singular is not None and (singular != head or head in _SAME_IN_PLURAL or _is_plural(head))
    if not _is_plain([word for word in words if not (listed_plural and word in _DESCRIBING)]):
        return None
    if len(words) + len(tail) > _MAX_WORDS + 1:
        return None
    if singular is None and not (is_certain or _is_plural(head)):
        return None
    modifiers = [word for word in words[:-1] if word not in _COUNTED_BY]
    if singular is None or not _DESCRIBING.isdisjoint(modifiers):
        singular = head
    return " ".join([*modifiers, singular, *tail])


def _without_extent(words: list[str]) -> list[str]:
    """`5 apples left`, `5 apples in total`: said of the counting, not of the number."""
    if len(words) > 2 and words[-2:] in (["in", "total"], ["in", "all"]):
        return words[:-2]
    return words[:-1] if len(words) > 1 and words[-1] in ("left", "remaining", "altogether", "total") else words


def _is_plain(words: Sequence[str]) -> bool:
    """One to four words that are no number, relation, judgement, verb or adverb."""
    if not 1 <= len(words) <= _MAX_WORDS:
        return False
    return all(_is_ordinary(part) or ("-" in word and len(part) == 1) for word in words for part in word.split("-"))


def _is_ordinary(word: str) -> bool:
    word = word.casefold()
    if word in _SINGULARS:
        return True
    if len(word) < 2 or not re.fullmatch(r"[a-zß-öø-ɏ]+", word):
        return False
    return word not in _NOT_NOUNS and not word.endswith(_NOT_NOUN_ENDINGS)


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))


def _chinese_noun(word: str) -> dict[str, int] | None:
    """A measure word, alone or before what is counted: `个`, `名学生`, `道题`; the key is the measure word."""
    if word in _CHINESE_NOUNS:
        return {_CHINESE_NOUNS[word]: 1}
    if word[:1] in _MEASURE_WORDS and len(word) <= 7 and _NOT_CHINESE_NOUN.isdisjoint(word[1:]):
        return {_CHINESE_NOUNS.get(word[0], word[0]): 1}
    return None


# tables: units


def _split(names: str) -> frozenset[str]:
    return frozenset(names.split())


_PREFIXES = {
    "G": ("giga", 9), "M": ("mega", 6), "k": ("kilo", 3), "h": ("hecto", 2), "d": ("deci", -1), "c": ("centi", -2),
    "m": ("milli", -3), "μ": ("micro", -6), "n": ("nano", -9), "p": ("pico", -12), "f": ("femto", -15),
    "T": ("tera", 12),
}  # fmt: skip
_POUND_KG = Fraction("0.45359237")
_INCH_M = Fraction("0.0254")
_GALLON_M3 = 231 * _INCH_M**3
_STANDARD_GRAVITY = Fraction("9.80665")
_POUND_FORCE_N = _POUND_KG * _STANDARD_GRAVITY
_MASS_FORCE = {"kg": 1, "m": 1, "s": -2}
_ENERGY = {"kg": 1, "m": 2, "s": -2}
_POWER = {"kg": 1, "m": 2, "s": -3}
_PRESSURE = {"kg": 1, "m": -1, "s": -2}
_VOLTAGE = {"kg": 1, "m": 2, "s": -3, "A": -1}

# symbol, one of it in base units, their exponents, names, prefixes in use
_PREFIXED: Sequence[tuple[str, Fraction, Mapping[str, int], str, str]] = (
    ("m", Fraction(1), {"m": 1}, "meter metre", "GMkhdcmμnf"),
    ("g", Fraction(1, 1000), {"kg": 1}, "gram gramme", "Mkhdcmμn"),
    ("s", Fraction(1), {"s": 1}, "second", "mμnpf"),
    ("A", Fraction(1), {"A": 1}, "ampere amp", "kmμn"),
    ("K", Fraction(1), {"K": 1}, "kelvin", "m"),
    ("mol", Fraction(1), {"mol": 1}, "mole", "kmμn"),
    ("cd", Fraction(1), {"cd": 1}, "candela", "m"),
    ("Hz", Fraction(1), {"s": -1}, "hertz", "TGMkm"),
    ("N", Fraction(1), _MASS_FORCE, "newton", "MkmμG"),
    ("Pa", Fraction(1), _PRESSURE, "pascal", "GMkhm"),
    ("J", Fraction(1), _ENERGY, "joule", "GMkmμ"),
    ("W", Fraction(1), _POWER, "watt", "TGMkmμn"),
    ("C", Fraction(1), {"A": 1, "s": 1}, "coulomb", "kmμnp"),
    ("V", Fraction(1), _VOLTAGE, "volt", "MkmμGn"),
    ("F", Fraction(1), {"A": 2, "s": 4, "kg": -1, "m": -2}, "farad", "mμnp"),
    ("Ω", Fraction(1), {"kg": 1, "m": 2, "s": -3, "A": -2}, "ohm", "GMkmμ"),
    ("S", Fraction(1), {"A": 2, "s": 3, "kg": -1, "m": -2}, "siemens", "mμ"),
    ("Wb", Fraction(1), {"kg": 1, "m": 2, "s": -2, "A": -1}, "weber", "mμ"),
    ("T", Fraction(1), {"kg": 1, "s": -2, "A": -1}, "tesla", "mμn"),
    ("H", Fraction(1), {"kg": 1, "m": 2, "s": -2, "A": -2}, "henry", "mμn"),
    ("lm", Fraction(1), {"cd": 1, "sr": 1}, "lumen", ""),
    ("lx", Fraction(1), {"cd": 1, "sr": 1, "m": -2}, "lux", ""),
    ("Bq", Fraction(1), {"s": -1}, "becquerel", "GMk"),
    ("Gy", Fraction(1), {"m": 2, "s": -2}, "gray", "m"),
    ("Sv", Fraction(1), {"m": 2, "s": -2}, "sievert", "mμ"),
    ("kat", Fraction(1), {"mol": 1, "s": -1}, "katal", ""),
    ("L", Fraction(1, 1000), {"m": 3}, "liter litre", "khdcmμ"),
    ("eV", Fraction("1.602176634e-19"), _ENERGY, "electronvolt", "TGMkm"),
    ("bar", Fraction(100_000), _PRESSURE, "bar", "km"),
    ("cal", Fraction("4.184"), _ENERGY, "calorie", "k"),
    ("Wh", Fraction(3600), _ENERGY, "watthour", "GMk"),
    ("rad", Fraction(1), {"rad": 1}, "radian", "m"),
    ("sr", Fraction(1), {"sr": 1}, "steradian", ""),
)  # fmt: skip
_LENGTH: Mapping[str, int] = {"m": 1}
_AREA: Mapping[str, int] = {"m": 2}
_VOLUME: Mapping[str, int] = {"m": 3}
_MASS: Mapping[str, int] = {"kg": 1}
_TIME: Mapping[str, int] = {"s": 1}
# key, one of it in base units, their exponents, further spellings between commas
_OTHER: Sequence[tuple[str, Fraction, Mapping[str, int], str]] = (
    ("in", _INCH_M, _LENGTH, "inch, inches, ins, 英寸"),
    ("ft", 12 * _INCH_M, _LENGTH, "foot, feet, fts, 英尺"),
    ("yd", 36 * _INCH_M, _LENGTH, "yard, yards, yds, 码"),
    ("mi", 63360 * _INCH_M, _LENGTH, "mile, miles, mis, 英里"),
    ("nmi", Fraction(1852), _LENGTH, "nautical mile, nautical miles, 海里"),
    ("light year", Fraction(9_460_730_472_580_800), _LENGTH, "light years, lightyear, lightyears, ly, 光年"),
    ("au", Fraction(149_597_870_700), _LENGTH, "astronomical unit, astronomical units"),
    ("Å", Fraction(1, 10**10), _LENGTH, "angstrom, angstroms, ångström, ångströms"),
    ("picometer", Fraction(1, 10**12), _LENGTH, "picometers, picometre, picometres"),
    ("里", Fraction(500), _LENGTH, "华里"),
    ("acre", 4840 * (36 * _INCH_M) ** 2, _AREA, "acres, 英亩"),
    ("ha", Fraction(10_000), _AREA, "hectare, hectares, 公顷"),
    ("亩", Fraction(2000, 3), _AREA, "市亩"),
    ("gal", _GALLON_M3, _VOLUME, "gals, gallon, gallons, 加仑"),
    ("qt", _GALLON_M3 / 4, _VOLUME, "qts, quart, quarts"),
    ("pt", _GALLON_M3 / 8, _VOLUME, "pint, pints"),
    ("cup", _GALLON_M3 / 16, _VOLUME, "cups"),
    ("fl oz", _GALLON_M3 / 128, _VOLUME, "fluid ounce, fluid ounces, floz"),
    ("tbsp", _GALLON_M3 / 256, _VOLUME, "tablespoon, tablespoons, tbsps"),
    ("tsp", _GALLON_M3 / 768, _VOLUME, "teaspoon, teaspoons, tsps"),
    ("lb", _POUND_KG, _MASS, "lbs, pound, pounds, 磅"),
    ("oz", _POUND_KG / 16, _MASS, "ozs, ounce, ounces, 盎司"),
    ("ton", 2000 * _POUND_KG, _MASS, "tons, short ton, short tons"),
    ("t", Fraction(1000), _MASS, "tonne, tonnes, metric ton, metric tons, 吨, 公吨"),
    ("斤", Fraction(1, 2), _MASS, "市斤"),
    ("min", Fraction(60), _TIME, "mins, minute, minutes, 分钟, 分鐘"),
    ("h", Fraction(3600), _TIME, "hr, hrs, hour, hours, 小时, 小時, 时, 時, 时间, 個小時, 个小时, 時間"),
    ("day", Fraction(86_400), _TIME, "d, days, 天, 日"),
    ("week", Fraction(7 * 86_400), _TIME, "wk, wks, weeks, 周, 週, 星期, 个星期"),
    ("fortnight", Fraction(14 * 86_400), _TIME, "fortnights"),
    ("month", Fraction(1), {"month": 1}, "months, mo, mos, 月, 个月"),
    ("year", Fraction(12), {"month": 1}, "years, yr, yrs, 年, 岁"),
    ("decade", Fraction(120), {"month": 1}, "decades"),
    ("century", Fraction(1200), {"month": 1}, "centuries, 世纪"),
    ("°C", Fraction(1), {"K": 1}, "degree celsius, degrees celsius, celsius, degrees c, degree c, deg c, 摄氏度"),
    (
        "°F", Fraction(5, 9), {"K": 1},
        "degree fahrenheit, degrees fahrenheit, fahrenheit, degrees f, degree f, deg f, 华氏度",
    ),
    ("atm", Fraction(101_325), _PRESSURE, "atmosphere, atmospheres, 大气压"),
    ("mmHg", Fraction("13.5951") * _STANDARD_GRAVITY, _PRESSURE, "mm hg, millimeters of mercury"),
    ("torr", Fraction(101_325, 760), _PRESSURE, "torrs"),
    ("lbf", _POUND_FORCE_N, _MASS_FORCE, "pound force, pounds force"),
    ("psi", _POUND_FORCE_N / _INCH_M**2, _PRESSURE, ""),
    ("hp", 550 * 12 * _INCH_M * _POUND_FORCE_N, _POWER, "horsepower"),
    ("bit", Fraction(1), {"bit": 1}, "bits, 比特"),
    ("B", Fraction(8), {"bit": 1}, "byte, bytes, 字节"),
    ("KiB", Fraction(8 * 1024), {"bit": 1}, "kibibyte, kibibytes"),
    ("MiB", Fraction(8 * 1024**2), {"bit": 1}, "mebibyte, mebibytes"),
    ("GiB", Fraction(8 * 1024**3), {"bit": 1}, "gibibyte, gibibytes"),
    ("kB", Fraction(1), {"kB": 1}, "kilobyte, kilobytes"),
    ("MB", Fraction(1), {"MB": 1}, "megabyte, megabytes"),
    ("GB", Fraction(1), {"GB": 1}, "gigabyte, gigabytes"),
    ("TB", Fraction(1), {"TB": 1}, "terabyte, terabytes"),
    ("$", Fraction(1), {"USD": 1}, "dollar, dollars, usd, us dollar, us dollars, bucks, buck, 美元"),
    ("US cent", Fraction(1, 100), {"USD": 1}, "us cents"),
    ("yuan", Fraction(1), {"CNY": 1}, "元, 块钱, 元钱, 人民币, rmb, cny, renminbi"),
    ("jiao", Fraction(1, 10), {"CNY": 1}, "角, 毛钱"),
    ("fen", Fraction(1, 100), {"CNY": 1}, "分钱"),
    ("euro", Fraction(1), {"EUR": 1}, "euros, eur, 欧元"),
    ("euro cent", Fraction(1, 100), {"EUR": 1}, "euro cents"),
    ("pound sterling", Fraction(1), {"GBP": 1}, "pounds sterling, gbp, 英镑"),
    ("GB penny", Fraction(1, 100), {"GBP": 1}, "pence"),
    ("yen", Fraction(1), {"JPY": 1}, "jpy, 日元, 円"),
    ("rupee", Fraction(1), {"INR": 1}, "rupees, rs, inr, 卢比"),
    ("paisa", Fraction(1, 100), {"INR": 1}, "paise"),
)  # fmt: skip
# key, one of it, the power of pi in it, spellings
_ANGLES: Sequence[tuple[str, Fraction, int, str]] = (
    ("degree", Fraction(1, 180), 1, "degrees, deg, degs, 度"),
    ("arcmin", Fraction(1, 180 * 60), 1, "arcminute, arcminutes, minutes of arc, 角分"),
    ("arcsec", Fraction(1, 180 * 3600), 1, "arcsecond, arcseconds, seconds of arc, 角秒"),
    ("revolution", Fraction(2), 1, "revolutions, rev, revs, 转"),
)
_PRODUCTS = {
    "mph": "mi/h", "kph": "km/h", "kmh": "km/h", "kmph": "km/h", "mps": "m/s", "fps": "ft/s", "rpm": "revolution/min",
    "knot": "nmi/h", "knots": "nmi/h", "cc": "cm^3", "ccs": "cm^3", "sqft": "ft^2", "mpg": "mi/gal",
    "平方单位": "unit^2", "立方单位": "unit^3", "kilohm": "kΩ", "kilohms": "kΩ", "megohm": "MΩ", "megohms": "MΩ", "立方": "m^3", "平米": "m^2",
}  # fmt: skip
_CHINESE = {
    "m": "米 メートル 公尺", "km": "千米 公里 キロメートル 公里路", "dm": "分米", "cm": "厘米 公分 センチメートル", "mm": "毫米 ミリメートル",
    "μm": "微米", "nm": "纳米", "g": "克 グラム", "kg": "千克 公斤 キログラム", "mg": "毫克", "μg": "微克", "L": "升 公升 リットル",
    "mL": "毫升", "s": "秒 秒钟 秒鐘 秒間", "ms": "毫秒", "A": "安 安培", "V": "伏 伏特", "W": "瓦 瓦特", "kW": "千瓦", "J": "焦 焦耳",
    "kJ": "千焦", "N": "牛 牛顿", "Pa": "帕 帕斯卡", "kPa": "千帕", "MPa": "兆帕", "Hz": "赫兹 赫", "Ω": "欧姆 欧", "C": "库仑 库",
    "F": "法拉", "T": "特斯拉", "cal": "卡路里 卡", "kcal": "千卡 大卡", "kWh": "千瓦时", "mol": "摩尔", "rad": "弧度", "K": "开尔文",
}  # fmt: skip
_SENSES: Mapping[str, Sequence[str]] = {
    "cent": ("US cent", "euro cent"), "penny": ("GB penny", "US cent"), "分": ("fen", "min", "arcmin"),
    "degree": ("degree", "°C", "°F"), "¥": ("yuan", "yen"), "'": ("ft", "arcmin"), "''": ("in", "arcsec"),
}  # fmt: skip
_SENSE_NAMES = {"cent": "cents", "penny": "pennies", "分": "", "¥": ""}
_SIGN_ATOMS = {
    "$": "$",
    "€": "euro",
    "£": "pound sterling",
    "¥": "¥",
    "¢": "cent",
    "°": "degree",
    "'": "'",
    "''": "''",
    '"': "''",
}
_ZEROS = {"°C": Fraction("273.15"), "°F": Fraction("459.67") * Fraction(5, 9)}
"""What zero on a scale is in kelvin."""
_CLOCK = _split("a.m. p.m.")
_SAME_IN_PLURAL = _split("fish sheep deer series species dice")
_CLOCK_NAMES = {"am": "a.m.", "a.m.": "a.m.", "a.m": "a.m.", "pm": "p.m.", "p.m.": "p.m.", "p.m": "p.m."}
_RAISING = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_RAISED = {"squared": 2, "cubed": 3}
_NEVER_RAISED = _split("squared cubed of")
_EXTENTS = _split("long wide tall high deep thick old")
_MERGED: Mapping[str, Mapping[str, int]] = {
    "W·h": {"Wh": 1}, "h·kW": {"kWh": 1}, "MW·h": {"MWh": 1}, "ft·lb": {"ft": 1, "lbf": 1},
}  # fmt: skip
"""Products with a name of their own; a foot-pound is one of force."""


def _atom_table() -> dict[str, _Scale]:
    table = {atom: _Scale(rational, 0, exponents) for atom, rational, exponents, _ in _OTHER}
    table |= {atom: _Scale(rational, pi, {"rad": 1}) for atom, rational, pi, _ in _ANGLES}
    table |= {word: table[senses[0]] for word, senses in _SENSES.items() if senses[0] in table}
    for symbol, rational, exponents, _, prefixes in _PREFIXED:
        table[symbol] = _Scale(rational, 0, exponents)
        for prefix in prefixes:
            table[prefix + symbol] = _Scale(rational * Fraction(10) ** _PREFIXES[prefix][1], 0, exponents)
    return table


def _name_table() -> dict[str, Mapping[str, int]]:
    """Names, which have no case."""
    table: dict[str, Mapping[str, int]] = {"unit": {"unit": 1}, "units": {"unit": 1}, "单位": {"unit": 1}}
    for symbol, _, _, names, prefixes in _PREFIXED:
        for name in names.split():
            plurals = (name, f"{name}s", f"{name[:-1]}ies" if name.endswith("y") else f"{name}es")
            for prefix, word in ("", ""), *((prefix, _PREFIXES[prefix][0]) for prefix in prefixes):
                table |= {word + plural: {prefix + symbol: 1} for plural in plurals}
    for atom, spellings in [(row[0], row[3]) for row in (*_OTHER, *_ANGLES)]:
        table |= {spelling: {atom: 1} for spelling in spellings.split(", ") if spelling}
        table |= {} if len(atom) == 1 else {atom.casefold(): {atom: 1}}
    for symbol, words in _CHINESE.items():
        table |= {word: {symbol: 1} for word in words.split()}
    for atom, spellings in _SENSE_NAMES.items():
        table |= {spelling: {atom: 1} for spelling in (atom, *spellings.split())}
    for word in [word for word, atoms in table.items() if "\u4e00" <= word[0] <= "\u9fff" and "m" in next(iter(atoms))]:
        table |= {f"平方{word}": _raised_atoms(table[word], 2), f"立方{word}": _raised_atoms(table[word], 3)}
    return table


def _raised_atoms(atoms: Mapping[str, int], exponent: int) -> dict[str, int]:
    return {atom: power * exponent for atom, power in atoms.items()}


def _folded_symbols() -> dict[str, Mapping[str, int]]:
    """Symbols in any case, where no two differ in case alone."""
    table: dict[str, Mapping[str, int]] = {}
    for symbol in _SYMBOLS:
        folded = symbol.casefold()
        table[folded] = {} if folded in table else _SYMBOLS[symbol]
    return {folded: atoms for folded, atoms in table.items() if atoms and folded not in _WORDS_LIKE_SYMBOLS}


_ATOMS = _atom_table()
_WORDS_LIKE_SYMBOLS = _split("as ha pa ns ms")


# tables: nouns

_NOUNS = _split(
    """
    apple orange banana pear peach cherry grape lemon melon berry fruit vegetable potato tomato carrot onion egg
    cookie cake pie pizza slice piece bagel muffin donut doughnut cupcake sandwich burger candy chocolate loaf bread
    sweet nut seed bean flower rose tulip daisy plant tree leaf branch bush person man woman child boy girl baby adult
    student pupil teacher friend player team member worker employee customer passenger guest visitor voter runner driver
    soldier doctor nurse parent brother sister son daughter sibling cousin family kid couple group class club school
    animal dog cat cow horse pig goat chicken duck bird rabbit mouse rat elephant lion tiger bear monkey frog ant bee
    spider snake turtle puppy kitten lamb wolf fox toy doll ball balloon kite game puzzle card deck coin dime nickel
    stamp sticker marble bead block brick tile button bottle can box bag basket bucket jar carton crate packet pack
    package bowl plate spoon fork knife glass mug jug barrel tank pencil pen crayon marker eraser book notebook magazine
    newspaper page chapter word letter sentence line row column paper sheet card picture photo photograph painting
    drawing poster song movie film ticket seat chair table desk bed room house home building floor apartment store shop
    shirt t-shirt dress skirt shoe sock hat cap coat jacket glove sweater jean pair car bus truck bike bicycle train
    plane boat ship wheel road street bridge trip lap step stair shot goal point win game match round
    question problem answer test exam quiz lesson mistake error score mark grade vote way method choice option
    arrangement combination permutation outcome possibility case solution root value number integer digit prime set
    subset element pair triple quadruple tuple sequence term vertex edge face side corner angle triangle square
    rectangle circle polygon pentagon hexagon octagon quadrilateral parallelogram trapezoid rhombus cube sphere cone
    cylinder prism pyramid diagonal segment ray path route graph node region cell dot chord arc point
    intersection asymptote function permutation matrix color colour shape pattern token chip ring bell
    bracelet necklace ribbon rope string shelf drawer key lock phone computer robot machine battery lamp light bulb
    window door fence post pole nail screw bolt toothpick stick match straw item object thing product part
    copy sample trial toss roll flip turn move handshake meeting appointment job task order call message
    email gift present prize medal badge trophy sale container pot pan tray stone rock shell star planet moon galaxy
    photon electron proton neutron atom molecule ion particle cycle oscillation vibration wave beat breath heartbeat
    patient customer citizen resident household farm farmer field garden village town city county state country
    serving portion dose pill tablet drop worm fish sheep deer series species dice die
    """
)
_IRREGULAR = {
    "point": "points pts",
    "person": "people persons", "man": "men", "woman": "women", "child": "children", "mouse": "mice", "vertex":
    "vertices vertexes", "matrix": "matrices", "leaf": "leaves", "loaf": "loaves", "knife": "knives", "wolf": "wolves",
    "shelf": "shelves", "die": "dice", "dice": "dice", "quiz": "quizzes", "fish": "fish fishes",
    "sheep": "sheep", "deer": "deer", "series": "series", "species": "species", "potato": "potatoes",
    "tomato": "tomatoes", "bus": "buses", "rhombus": "rhombuses rhombi",
}  # fmt: skip
_NEVER_SINGULAR = _split("sweet prime square light present win roll match post order call set turn move part root cube")
"""Listed nouns that are also adjectives, verbs or operations: they need their plural."""
_COUNTED_BY = _split("different distinct possible")
_DESCRIBING = _split("positive negative even odd right equal real total infinite correct incorrect wrong")
"""What would change a number, and between a number and a listed noun in the plural tells which ones are counted."""
_NOT_NOUNS = _split(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety zeros zeroes ones twos threes fours fives
    sixes sevens eights nines tens twenties hundred hundreds thousand thousands dozen dozens gross score half halves
    halfs third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth
    ninths tenth tenths hundredth hundredths thousandth thousandths millionth millionths lakh lakhs crore crores first
    once twice thrice double doubles triple quadruple doubled tripled halved squared cubed power powers factorial
    factorials pi tau phi exponential sqrt percent percents pct percentage percentages permille
    negative negatives positive positives opposite opposites inverse inverses reciprocal reciprocals minus plus times
    multiplied divided over mod modulo remainder remainders residue residues multiple multiples factor factors divisor
    divisors quotient complement complements conjugate conjugates infinity infinite infinities imaginary

    not no nor never none neither non without except excluding but unless although though however instead isn aren
    wasn doesn don didn cannot cant wont ain nothing null void false fake true right wrong wrongs incorrect correct
    invalid valid rejected reject rejects extraneous spurious impossible undefined bogus bad good error errors mistake
    mistakes failed fail fails maybe perhaps probably approximate approx approximately about around almost nearly
    roughly circa exactly only just even odd actually really guess guesses unsure unknown unclear ish

    or and more less fewer least most greater larger bigger smaller lower higher above below under beneath
    beyond within between inside outside beside besides near up down upto at to from in on into onto off out by of for
    with per as than then that this these those it its he she they we you us i me my your our their his her hers ours
    yours theirs max maximum maxima minimum minima limit limits bound bounds upper lower ceiling tops minimums
    maximums inclusive exclusive included excluded extra extras

    if when whenever where wherever while because since so thus hence therefore otherwise else given assuming provided
    such suppose let iff implies imply any all each every both either some many several few much other others another
    else a an the whose which who what why how equal equals equaling unequal differs exceed exceeds exceeding
    is are was were be been being am has have had having do does did done can could will would shall should may might
    must get gets got gives give gave becomes become makes make made means mean remains remain leaves works work holds
    hold exists exist occurs occur happens happen satisfies satisfy contradicts contradict divides divide adds add
    subtracts subtract subtracted added removes remove removed increases increase increased decreases decrease decreased
    loses lost rises falls goes comes starts ends stops begins lies sits needs wants says seems appears looks shows
    proves yields yield belongs depends varies matters counts applies fits suffices converges diverges vanishes cancels
    disagrees agrees checks check

    here there now later earlier ago before after again back forward forwards backward backwards upward upwards downward
    downwards towards toward afterwards sometimes always nevertheless nonetheless regardless across apart away together
    too very also still yet already yes ok okay left remaining altogether total sum difference product ratio average
    mean median mode answer answers result results wait hmm sorry oops correction corrections final

    mas más menos moins plus fois veces vezes jamais jamás después apres après sauf nichts falls mindestens höchstens
    weniger mehr nicht kein keine pas non nem nunca sans sin ou und oder et como mal

    debt debts loss losses deficit deficits shortage shortages anti pseudo basis mille cien ciento cientos mil
    millones milliers millionen tausende hunderte docena docenas douzaine douzaines centaine centaines
    dizaine dizaines decenas centenas milhares medios medias tercios cuartos quintos mitades demis quarts tiers
    cinquièmes dixièmes centièmes décimos decimos centésimos de des du del
    """
)
_NOT_NOUN_ENDINGS = (
    "illion",
    "illions",
    "illionth",
    "illionths",
    "teenth",
    "tieth",
    "teenths",
    "tieths",
    "wise",
    "fold",
    "ably",
)
_CHINESE_NOUNS = {word: word for word in _split(
    "个 個 只 隻 道 种 種 名 本 支 枝 张 張 条 條 头 頭 匹 棵 朵 辆 輛 艘 架 台 件 双 雙 对 對 组 組 套 次 位 颗 粒 根 把 "
    "盒 箱 袋 瓶 杯 碗 盆 页 頁 题 題 间 間 家 层 層 排 列 班 级 站 圈 步 局 场 轮 回 遍 块 片 包 串 束 份 项 枚 株 座 幅 "
    "封 篇 首 句 字 顶 副 筐 篮 桶 队 户 棟 栋 冊 册 倍 通り 人次 点"
)} | {"人": "person", "个人": "person"}  # fmt: skip
_MEASURE_WORDS = frozenset(
    "个個只隻道种種名本支枝张張条條头頭匹棵朵辆輛艘架台件双雙对對组組套位颗粒根把盒箱袋瓶杯碗页块片包串份项枚株座"
)
_NOT_CHINESE_NOUN = frozenset(
    "不非无無没沒未以的之是为為负負正半倍万萬亿億百千十一二三四五六七八九零两几多少上下内外余餘左右约約错錯对對或和且若当當时時"
    "到至于於超过過低高大小减減加乘除约整每共在有再又被才就都也等于个個の以が"
)


def _singulars() -> dict[str, str]:
    table: dict[str, str] = {}
    for word in _NOUNS - _NOT_NOUNS:
        plurals = _IRREGULAR.get(word, _plural(word)).split()
        if word in _NEVER_SINGULAR:
            table |= {plural: plural for plural in plurals}
        else:
            table |= dict.fromkeys([word, *plurals], word)
    return table


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"


def _spellings_of_products() -> dict[str, Mapping[str, int]]:
    return {name: _Reading(_tokens(unit) or ()).product() for name, unit in _PRODUCTS.items()}


_SINGULARS = _singulars()
_SYMBOLS: Mapping[str, Mapping[str, int]] = (
    {atom: {atom: 1} for atom in _ATOMS}
    | {"l": {"L": 1}, "ml": {"mL": 1}}
    | {f"u{atom[1:]}": {atom: 1} for atom in _ATOMS if atom[0] == "μ" and atom != "μs"}  # us is a word
)
_FOLDED = _folded_symbols()
_NAMES = _name_table()
_NAMES |= _spellings_of_products()
