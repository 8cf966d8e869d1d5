r"""Units: one spelling for each, what they measure, and exact factors between them.

    text  --key-->  "km/h"  --scale-->  (5/18, no power of pi, {m: 1, s: -1})  --convert, factor, pi_factor-->  number

A key is a product of atoms, each a known unit ("km") or a counting noun ("apple"). A unit word with several senses
(cents, degrees, 分, ') takes the one that fits what it is compared with.

After a number only a plain noun phrase is a unit, because other words there change the number: `5 squared`, `5
million`, `5 or more`. In English a counted noun is in the plural, and adverbs, adjectives and participles have no
plural. So a word that is not listed as a noun has to be a plural, and verbs in the third person (`5 fails`), number
words and relations are listed as no nouns.

Sources: SI brochure, 9th edition (BIPM 2019), tables 2 to 8; the international yard and pound agreement (1959) for inch
to mile, ounce to ton; NIST Handbook 44, appendix C, for gallon to teaspoon and acre (those of the US); NIST SP 811,
appendix B, for atm, torr (also for mmHg, so that 760 of them are 1 atm), psi, hp and the thermochemical calorie; IAU 2012 resolution B2 for the astronomical
unit, 2015 resolution B2 for the parsec, and its symbols of the sun's mass, luminosity and radius, which convert into
nothing as they are measured; so is the dalton. kB, MB and so on convert into nothing, as some count them in
1000s and some in 1024s.

No units library: pint 0.25 counting in fractions takes 0.4 s of CPU and 19 MB in each process and 150 us for a
conversion, has 50 digits for pi where angles and the parsec here are exact, a month of 30.4 days, and no Chinese name;
its definitions would replace some 110 lines. Most of this module decides which words are not units, and pint does not
help with that: it reads `units` as micronits, `Rs` as ronnaseconds and `as` as attoseconds, never reads `C` as a
degree, and raises an error for any unknown word.

    units.yaml   what one of each is, and names  definitions, names    the tables that are made of it
    nouns.yaml   what else is counted            nouns    phrases of it     notation text as tokens, and atoms as text
    reading      the grammar: products, powers   conversion   between units
"""

from verifiers.math.units.conversion import (
    compatible,
    compound,
    convert,
    dimension,
    factor,
    has_zero_point,
    in_base_units,
    is_count,
    is_known,
    pi_factor,
)
from verifiers.math.units.names import names
from verifiers.math.units.reading import PERCENT, key, scaled_key, unlisted

__all__ = [
    "PERCENT", "compatible", "compound", "convert", "dimension", "factor", "has_zero_point", "in_base_units", "is_count",
    "is_known", "key", "load", "pi_factor", "scaled_key", "unlisted",
]  # fmt: skip


def load() -> None:
    """Make the table of names, which takes a tenth of a second of CPU time, before any response."""
    names()
