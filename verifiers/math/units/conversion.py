"""The dimensions of units, and exact factors between units."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product as pairs_of

from memory import remember
from verifiers.math.units.definitions import ATOMS, CLOCK_SIGNS, SENSES, ZEROS, Scale, product_of
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


def compatible(first: str, second: str) -> bool:
    """Whether both units are known and measure the same, in some sense of each."""
    return any(_same_dimension(first_sense, right) for first_sense, right in _sense_pairs(first, second))


def factor(source: str, target: str) -> Fraction | None:
    """How many of the target one of the source is; None if irrational, incompatible, or of scales such as °C and °F."""
    pi_and_ratio = pi_factor(source, target)
    return pi_and_ratio[0] if pi_and_ratio is not None and pi_and_ratio[1] == 0 else None


def pi_factor(source: str, target: str) -> tuple[Fraction, int] | None:
    """(r, n) if one of the source is r * pi ** n of the target: a degree is (1/180, 1) radians."""
    if source == target:
        return Fraction(1), 0
    for p, q in _sense_pairs(source, target):
        if p == q:
            return Fraction(1), 0
        a, b = _scale(p), _scale(q)
        if a is None or b is None or a.dimension != b.dimension or p in ZEROS or q in ZEROS:
            continue
        return a.rational / b.rational, a.pi - b.pi
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


def compound(amounts: Sequence[tuple[Fraction, str]]) -> tuple[Fraction, str] | None:
    """The sum of `5 ft 3 in` or `30° 15' 20''` in its last unit; None unless each unit is smaller than the one before.

    Parts are not negative: a sign before the first part belongs to the whole, and the caller puts it back.
    """
    if not amounts or any(value < 0 for value, _ in amounts):
        return None
    sums = (_sum_from(first, amounts) for first in _senses(amounts[0][1]))
    return next((total for total in sums if total is not None), None)


def _sum_from(first: str, amounts: Sequence[tuple[Fraction, str]]) -> tuple[Fraction, str] | None:
    total, unit = amounts[0][0], first
    for value, unit_text in amounts[1:]:
        sense = next((candidate for candidate in _part_senses(unit_text, first) if _is_smaller(candidate, unit)), None)
        by = None if sense is None else factor(unit, sense)
        if sense is None or by is None:
            return None
        total, unit = total * by + value, sense
    return total, unit


def _part_senses(unit_text: str, first: str) -> Sequence[str]:
    """The senses of a part: after degrees, minutes and seconds are those of arc."""
    if first == "degree" and unit_text in ("min", "s"):
        return ("arcmin",) if unit_text == "min" else ("arcsec",)
    return _senses(unit_text)


def _is_smaller(unit: str, than: str) -> bool:
    by = factor(than, unit)
    return by is not None and by > 1


def _senses(unit: str) -> Sequence[str]:
    return SENSES.get(unit, (unit,))


def _sense_pairs(first: str, second: str) -> Iterator[tuple[str, str]]:
    """The senses that two units can have together. Degrees without a scale are on the scale of the other one."""
    for first_sense, right in pairs_of(_senses(first), _senses(second)):
        if not ({first, second} & {"degree"} and first_sense != right and {first_sense, right} & ZEROS.keys()):
            yield first_sense, right


def _same_dimension(first: str, second: str) -> bool:
    if not (_known(first) and _known(second)):
        return False
    first_scale, second_scale = _scale(first), _scale(second)
    return first_scale is not None and second_scale is not None and first_scale.dimension == second_scale.dimension


def _known(unit: str) -> bool:
    atoms = atoms_of(unit)
    return atoms is not None and all(atom in ATOMS for atom in atoms)


@remember(4096)
def _scale(unit: str) -> Scale | None:
    """The scale of a unit. Counting nouns are dimensions, so that cents per apple convert into dollars per apple."""
    atoms = atoms_of(unit)
    return None if atoms is None or CLOCK_SIGNS & atoms.keys() else product_of(atoms)
