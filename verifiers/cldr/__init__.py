"""Words of all languages, from CLDR: scales of numbers, months, units, percents, and the words for "or" in lists.

`deploy/cldr.py` writes the file.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

_WORDS: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))


def _meanings(table: str) -> dict[str, Any]:
    return dict(sorted((word, meaning) for meaning, words in _WORDS[table] for word in words))


SCALES: Final[Mapping[str, Mapping[str, int]]] = _meanings("scales")
"""The power of ten of each word behind a number, by language."""
MONTHS: Final[Mapping[str, int]] = _meanings("months")
_MORE = {
    "g": "граммов gam", "kg": "килограммов", "h": "ora ore uur uren jam giờ година години годин", "min": "хвилин хвилини phút menit",
    "day": "día dia giorno dni dní dnů nap napok 일", "month": "mes mese mois", "atm": "атм", "mol": "моль", "degree": "grad 도",
}  # fmt: skip
SHORT_UNITS: Final = {name: {symbol: 1} for symbol, names in _MORE.items() for name in names.split()}
"""Names of units that CLDR lacks, or that are too short to be taken from it."""
UNITS: Final[Mapping[str, Mapping[str, int]]] = _meanings("units") | SHORT_UNITS
"""The symbols and exponents of each name of a unit."""


def _rates() -> dict[str, str]:
    """What stands before the number of a rate, with the unit it divides by: 時速, as 時速 キロメートル has the name of kilometres."""
    leads: dict[str, str] = {}
    for name, atoms in UNITS.items():
        if sorted(atoms.values()) == [-1, 1]:
            over, per = sorted(atoms, key=lambda symbol: -atoms[symbol])
            cuts = [cut for cut in range(1, len(name)) if UNITS.get(name[cut:].strip()) == {over: 1}]
            leads |= {name[:cut].strip(): per for cut in cuts}
    return leads


RATES: Final = _rates()
"""The unit that a word before a number divides by: 時速60km is 60 km/h."""
_PERCENTS: Final = {side: tuple(words) for side, words in _WORDS["percent"]}
PERCENTS: Final[Mapping[str, Sequence[str]]] = {
    "before": (*_PERCENTS["before"], "百分之"),
    "behind": (*_PERCENTS["behind"], "per cent", "pct", "퍼센트", "phần trăm", "بالمئة"),
}
"""The words for a percent sign, by the side of the number on which they stand; some of them CLDR lacks."""
OR: Final = frozenset(_WORDS["or"])
