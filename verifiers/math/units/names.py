"""The names of units: symbols, English names with plurals and prefixes, Chinese and Japanese names."""

from collections.abc import Mapping, Sequence
from functools import cache

from verifiers import cldr
from verifiers.commitment.cues import listed, vocabulary
from verifiers.commitment.latex import split
from verifiers.math.units.definitions import ATOMS, UNITS, powers_of
from verifiers.math.units.nouns import is_noun

_SHORT = 4
_SENSE_NAMES = {"cent": "cents", "penny": "pennies", "分": "", "¥": ""}


@cache
def names() -> Mapping[str, Mapping[str, int]]:
    """The names of units and of products of units, in which case does not count."""
    table: dict[str, Mapping[str, int]] = {**_local(), "unit": {"unit": 1}, "units": {"unit": 1}, "单位": {"unit": 1}}
    for symbol, (_, names, prefixes) in UNITS["prefixed"].items():
        for name in names.split():
            plurals = (name, f"{name}s", f"{name[:-1]}ies" if name.endswith("y") else f"{name}es")
            for prefix, word in ("", ""), *((prefix, UNITS["prefixes"][prefix][0]) for prefix in prefixes):
                table |= {word + plural: {prefix + symbol: 1} for plural in plurals}
    for atom, (_, spellings) in UNITS["unprefixed"].items():
        table |= {spelling: {atom: 1} for spelling in spellings.split(", ") if spelling}
        table |= {} if len(atom) == 1 else {atom.casefold(): {atom: 1}}
    table |= cldr.SHORT_UNITS
    for symbol, words in UNITS["han"].items():
        table |= {word: {symbol: 1} for word in words.split()}
    for atom, spellings in _SENSE_NAMES.items():
        table |= {spelling: {atom: 1} for spelling in (atom, *spellings.split())}
    for word in [word for word, atoms in table.items() if "\u4e00" <= word[0] <= "\u9fff" and "m" in next(iter(atoms))]:
        table |= {f"平方{word}": _raised_atoms(table[word], 2), f"立方{word}": _raised_atoms(table[word], 3)}
    return table | {name: powers_of(factors.split()) for name, factors in UNITS["products"].items()}


def _local() -> Mapping[str, Mapping[str, int]]:
    """The names of other languages, without those short words that have a meaning of their own around an answer."""
    of_answers = vocabulary()
    return {
        word: atoms
        for word, atoms in cldr.UNITS.items()
        if (len(word) > _SHORT or word not in of_answers) and not is_noun(word)
    }


def _raised_atoms(atoms: Mapping[str, int], exponent: int) -> dict[str, int]:
    return {atom: power * exponent for atom, power in atoms.items()}


def _folded_symbols() -> dict[str, Mapping[str, int]]:
    """Symbols in any case, except those that differ from another one in case alone."""
    table: dict[str, Mapping[str, int]] = {}
    for symbol in SYMBOLS:
        folded = symbol.casefold()
        table[folded] = {} if folded in table else SYMBOLS[symbol]
    return {folded: atoms for folded, atoms in table.items() if atoms and folded not in _WORDS_LIKE_SYMBOLS}


def parted(name: str) -> Sequence[str]:
    """Two symbols with nothing between them: `Nm`, `JK`; empty if that is a word, a plural (`cms`), or two such products."""
    pairs = [(name[:at], name[at:]) for at in range(1, len(name)) if {name[:at], name[at:]} <= _JOINABLE]
    return pairs[0] if len(pairs) == 1 and not name.endswith("s") and name.casefold() not in vocabulary() else ()


_JOINABLE = frozenset(
    prefix + symbol for symbol, (_, _, prefixes) in UNITS["prefixed"].items() for prefix in ("", *prefixes)
)
"""The symbols of units that take prefixes."""
_WORDS_LIKE_SYMBOLS = split("as ha pa ns ms")
SYMBOLS: Mapping[str, Mapping[str, int]] = (
    {atom: {atom: 1} for atom in ATOMS}
    | {"l": {"L": 1}, "ml": {"mL": 1}}
    | {f"u{atom[1:]}": {atom: 1} for atom in ATOMS if atom[0] == "μ" and atom != "μs"}  # us is a word
)
"""Symbols as they are written."""
PER = listed("rates") | {"每"}
"""Words for a division: "per", "pro"."""
FOLDED = _folded_symbols()
"""Symbols in the wrong case."""
