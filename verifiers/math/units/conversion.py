"""The dimensions of units, and exact factors between units."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product as pairs_of

from memory import remember
from verifiers.math.units.definitions import ATOMS, CLOCK_SIGNS, SENSES, ZEROS, Scale
from verifiers.math.units.reading import atoms_of


def is_known(unit: str) -> bool:
    """Whether a key consists only of units with a definition."""
    return unit in SENSES or _known(unit)


def is_count(unit: str) -> bool:
    """Whether a key is a counting noun: `apple`, `square unit`, `个`."""
    atoms = atoms_of(unit)
    if atoms is None or len(atoms) != 1:
        return False
    ((atom, exponent),) = atoms.items()
    return atom not in ATOMS and atom not in CLOCK_SIGNS and (exponent == 1 or (atom == "unit" and exponent in (2, 3)))


def dimension(unit: str) -> Mapping[str, int] | None:
    """Base units and their exponents: SI's, and apart from these rad, sr, bit, month and each currency.

    For a word with several senses, the first sense counts.
    """
    unit = _senses(unit)[0]
    scale = _scale(unit) if _known(unit) else None
    return None if scale is None else dict(scale.dimension)


def in_base_units(unit: str) -> tuple[Fraction, int, Mapping[str, int]] | None:
    """(r, n, exponents) if one of the unit is r * pi ** n of these base units; counting nouns are base units, too.

    For a word with several senses, the first sense counts; for °C and °F, a difference of one degree.
    """
    scale = _scale(_senses(unit)[0])
    return None if scale is None else (scale.rational, scale.pi, scale.dimension)


def has_zero_point(unit: str) -> bool:
    """Whether the scale of a unit does not begin at nothing (°C, °F), so that values cannot be added or multiplied."""
    return unit in ZEROS


def compatible(one: str, other: str) -> bool:
    """Whether both units are known and measure the same, in some sense of each."""
    return any(_same_dimension(left, right) for left, right in _sense_pairs(one, other))


def factor(source: str, target: str) -> Fraction | None:
    """How many of the target one of the source is; None if irrational, incompatible, or of scales such as °C and °F."""
    found = pi_factor(source, target)
    return found[0] if found is not None and found[1] == 0 else None


def pi_factor(source: str, target: str) -> tuple[Fraction, int] | None:
    """(r, n) if one of the source is r * pi ** n of the target: a degree is (1/180, 1) radians."""
    if source == target:
        return Fraction(1), 0
    for left, right in _sense_pairs(source, target):
        if left == right:
            return Fraction(1), 0
        one, other = _scale(left), _scale(right)
        if one is None or other is None or one.dimension != other.dimension or left in ZEROS or right in ZEROS:
            continue
        return one.rational / other.rational, one.pi - other.pi
    return None


def convert(value: Fraction, source: str, target: str) -> Fraction | None:
    """The exact value in the target unit; None if there is none or it is irrational."""
    by = factor(source, target)
    if by is not None:
        return value * by
    if not {source, target} <= ZEROS.keys() | {"K"}:
        return None
    kelvin = value * ATOMS[source].rational + ZEROS.get(source, 0)
    return (kelvin - ZEROS.get(target, 0)) / ATOMS[target].rational


def compound(parts: Sequence[tuple[Fraction, str]]) -> tuple[Fraction, str] | None:
    """The sum of `5 ft 3 in` or `30° 15' 20''` in its last unit; None unless each unit is smaller than the one before.

    Parts are not negative: a sign before the first part belongs to the whole, and the caller puts it back.
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
    """The senses of a part: after degrees, minutes and seconds are those of arc."""
    if first == "degree" and written in ("min", "s"):
        return ("arcmin",) if written == "min" else ("arcsec",)
    return _senses(written)


def _is_smaller(unit: str, than: str) -> bool:
    by = factor(than, unit)
    return by is not None and by > 1


def _senses(unit: str) -> Sequence[str]:
    return SENSES.get(unit, (unit,))


def _sense_pairs(one: str, other: str) -> Iterator[tuple[str, str]]:
    """The senses that two units can have together. Degrees without a scale are on the scale of the other one."""
    for left, right in pairs_of(_senses(one), _senses(other)):
        if not ({one, other} & {"degree"} and left != right and {left, right} & ZEROS.keys()):
            yield left, right


def _same_dimension(one: str, other: str) -> bool:
    if not (_known(one) and _known(other)):
        return False
    left, right = _scale(one), _scale(other)
    return left is not None and right is not None and left.dimension == right.dimension


def _known(unit: str) -> bool:
    atoms = atoms_of(unit)
    return atoms is not None and all(atom in ATOMS for atom in atoms)


@remember(4096)
def _scale(unit: str) -> Scale | None:
    """The scale of a unit. Counting nouns are dimensions, so that cents per apple convert into dollars per apple."""
    atoms = atoms_of(unit)
    return None if atoms is None or CLOCK_SIGNS & atoms.keys() else _product(atoms)


def _product(atoms: Mapping[str, int]) -> Scale:
    rational, pi = Fraction(1), 0
    exponents: dict[str, int] = {}
    for atom, exponent in atoms.items():
        scale = ATOMS.get(atom) or Scale(Fraction(1), 0, {f"one {atom}": 1})
        rational *= scale.rational**exponent
        pi += scale.pi * exponent
        for base, power in scale.dimension.items():
            exponents[base] = exponents.get(base, 0) + power * exponent
    return Scale(rational, pi, {base: power for base, power in exponents.items() if power})
