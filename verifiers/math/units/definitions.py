"""The definitions of units: the exact size of each in base units, and the words with several senses."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from verifiers import tables
from verifiers.commitment.latex import split


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of a unit: `rational` * pi ** `pi` base units of `dimension`."""

    rational: Fraction
    pi: int
    dimension: Mapping[str, int]


UNITS = tables.texts(Path(__file__).with_name("units.yaml"))
"""The table of all units."""
SENSES: Mapping[str, tuple[str, ...]] = {word: tuple(senses) for word, senses in UNITS["senses"].items()}
"""The possible meanings of words with several senses."""
ZEROS: Mapping[str, Fraction] = {unit: Fraction(zero) for unit, zero in UNITS["zeros"].items()}
"""The zero of each scale in kelvin."""
CLOCK_SIGNS = split("a.m. p.m.")
"""Halves of the day, which stand behind a time and are not units."""
ATOMS: dict[str, Scale] = {}
"""The size of each unit, with every prefix in use."""
_POWER = re.compile(r"(?P<name>.+?)(?P<exponent>-?\d+)?")


def product_of(atoms: Mapping[str, int]) -> Scale:
    """The size of a product of units with their exponents; a word that is not a unit is a dimension of its own."""
    rational, pi = Fraction(1), 0
    dimension: dict[str, int] = {}
    for atom, exponent in atoms.items():
        scale = ATOMS.get(atom) or Scale(Fraction(1), 0, {f"one {atom}": 1})
        rational *= scale.rational**exponent
        pi += scale.pi * exponent
        for base, power in scale.dimension.items():
            dimension[base] = dimension.get(base, 0) + power * exponent
    return Scale(rational, pi, {base: power for base, power in dimension.items() if power})


def powers_of(factors: Iterable[str]) -> dict[str, int]:
    """The exponents of units, as `units.yaml` writes them: `lb`, `m`, `s-2`."""
    return {match["name"]: int(match["exponent"] or 1) for match in map(_POWER.fullmatch, factors) if match}


def _size(text: str) -> Scale:
    """One of a unit, as `units.yaml` writes it: `1/180 pi rad`, `9.80665 lb m s-2`."""
    number, *factors = text.split()
    powers = powers_of(factors)
    known = product_of({name: exponent for name, exponent in powers.items() if name in ATOMS})
    bases = {name: exponent for name, exponent in powers.items() if name not in ATOMS}
    pi = bases.pop("pi", 0)
    return Scale(Fraction(number) * known.rational, known.pi + pi, {**known.dimension, **bases})


def _define() -> None:
    for symbol, (size, _, prefixes) in UNITS["prefixed"].items():
        one = _size(size)
        for prefix, (_, power) in {"": ("", 0), **UNITS["prefixes"]}.items():
            if not prefix or prefix in prefixes:
                ATOMS[prefix + symbol] = Scale(one.rational * Fraction(10) ** int(power), one.pi, one.dimension)
    ATOMS.update((atom, _size(size)) for atom, (size, _) in UNITS["unprefixed"].items())
    ATOMS.update((word, ATOMS[senses[0]]) for word, senses in SENSES.items() if senses[0] in ATOMS)


_define()
