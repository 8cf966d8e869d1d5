"""Writes the words of CLDR that the verifiers read, for every locale that Babel has: `python -m deploy.cldr`.

The words of scales and units, the months, and the words that join a list. A word may mean one thing in one language and
another elsewhere. The languages of the lexicon come first, and English first among them. A scale word that stays without
one meaning is kept with the power 0: it is a scale, but nobody can say which.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from babel import localedata

_VERIFIERS = Path(__file__).parents[1] / "verifiers"
WORDS = _VERIFIERS / "cldr" / "words.json"
_SPOKEN = {path.stem for path in (_VERIFIERS / "commitment" / "lexicon").glob("*.yaml")} | {"nb", "nn", "no", "ms"}
_LAYOUT = re.compile("[\u200e\u200f\u061c'{}0-9]")
_ZEROS = re.compile("0+")
_FEWEST_LETTERS = 3
"""Shorter words in Latin letters are units elsewhere."""
_VOWELS = frozenset("aeiou")
"""An abbreviation without them is no noun of any language. Others count with their dot: `Mio.`, not `bio`."""
_FEWEST_OF_A_NAME = 4
_UNITS: Mapping[str, Mapping[str, int]] = {
    "length-kilometer": {"km": 1}, "length-meter": {"m": 1}, "length-decimeter": {"dm": 1}, "length-centimeter": {"cm": 1},
    "length-millimeter": {"mm": 1}, "length-micrometer": {"μm": 1}, "length-nanometer": {"nm": 1}, "length-mile": {"mi": 1},
    "length-yard": {"yd": 1}, "length-foot": {"ft": 1}, "length-inch": {"in": 1}, "mass-kilogram": {"kg": 1},
    "mass-gram": {"g": 1}, "mass-milligram": {"mg": 1}, "mass-tonne": {"t": 1}, "mass-pound": {"lb": 1},
    "mass-ounce": {"oz": 1}, "duration-year": {"year": 1}, "duration-month": {"month": 1}, "duration-week": {"week": 1},
    "duration-day": {"day": 1}, "duration-hour": {"h": 1}, "duration-minute": {"min": 1}, "duration-second": {"s": 1},
    "duration-millisecond": {"ms": 1}, "volume-liter": {"L": 1}, "volume-milliliter": {"mL": 1},
    "volume-cubic-meter": {"m": 3}, "volume-cubic-centimeter": {"cm": 3}, "area-square-meter": {"m": 2},
    "area-square-centimeter": {"cm": 2}, "area-square-kilometer": {"km": 2}, "area-hectare": {"ha": 1},
    "speed-kilometer-per-hour": {"km": 1, "h": -1}, "speed-meter-per-second": {"m": 1, "s": -1},
    "temperature-celsius": {"°C": 1}, "angle-degree": {"degree": 1}, "energy-joule": {"J": 1}, "energy-kilojoule": {"kJ": 1},
    "energy-kilocalorie": {"kcal": 1}, "energy-calorie": {"cal": 1}, "power-watt": {"W": 1}, "power-kilowatt": {"kW": 1},
    "energy-kilowatt-hour": {"kWh": 1}, "electric-ampere": {"A": 1}, "electric-volt": {"V": 1}, "electric-ohm": {"Ω": 1},
    "frequency-hertz": {"Hz": 1}, "force-newton": {"N": 1}, "pressure-pascal": {"Pa": 1},
}  # fmt: skip
"""The units of CLDR that the verifiers know, by their symbols."""
Words = Iterator[tuple[str, Any]]


def words() -> dict[str, Any]:
    """The words by what they are for, each with its meaning."""
    scales = _meanings(partial(_scales, width="short")) | _meanings(partial(_scales, width="long"))
    months, units, measures = _meanings(_months), _meanings(_units), _english_measures()
    return {
        "scales": {
            word: power or 0
            for word, (power, tier) in scales.items()
            if tier <= units.get(word, _LAST)[1]
            and (tier < _OTHERS or word not in measures)
            and not (word.endswith(".") and word.rstrip(".") in scales)  # it ends a sentence
        },
        "months": {word: month for word, (month, _) in months.items() if month is not None},
        "units": {
            word: _UNITS[unit] for word, (unit, tier) in units.items() if unit and tier < scales.get(word, _LAST)[1]
        },
        "and": list(_meanings(lambda name, locale: _joints(locale, ("standard", "unit")))),
        "or": list(_meanings(lambda name, locale: _joints(locale, ("or",)))),
    }


def _meanings(read: Callable[[str, Mapping[str, Any]], Words]) -> dict[str, tuple[Any, int]]:
    """Words with their meaning: the one that English gives them, else the lexicon's languages, else all others.

    The number says which of these three it is. The meaning is None if they do not agree on one.
    """
    tiers: Sequence[dict[str, set[Any]]] = ({}, {}, {})
    for name in sorted(localedata.locale_identifiers()):
        language = name.partition("_")[0]
        table = tiers[0 if language == "en" else 1 if language in _SPOKEN else 2]
        data: dict[str | int | None, Any] = dict(localedata.load(name).items())
        for text, meaning in read(language, localedata.LocaleDataDict(data)):
            if word := " ".join(_LAYOUT.sub("", text).casefold().split()).strip(" ,;"):
                table.setdefault(word, set()).add(meaning)
    found = {word: (table[word], tier) for tier, table in reversed([*enumerate(tiers)]) for word in table}
    return {word: (said.pop() if len(said) == 1 else None, tier) for word, (said, tier) in sorted(found.items())}


_OTHERS = 2
"""The languages that the lexicon has not."""
_LAST = (None, 3)


def _scales(language: str, locale: Mapping[str, Any], width: str) -> Words:
    """The words behind a number that stand for a power of ten; short forms only of the lexicon's languages."""
    if width == "short" and language not in _SPOKEN:
        return
    for forms in locale["compact_decimal_formats"].get(width, {}).values():
        for magnitude, form in forms.items():
            pattern = str(getattr(form, "pattern", form))
            word, zeros = _LAYOUT.sub("", pattern).strip(), _ZEROS.search(pattern)
            letters = word.rstrip(".")
            is_short = len(letters) < (_FEWEST_LETTERS if word[:1] < "\u0370" else 2) and word[:1] < "\u3040"
            may_be_noun = width == "short" and word.isascii() and bool(_VOWELS & {*word.casefold()})
            if zeros and word and not is_short and not (may_be_noun and letters == word):
                yield word if may_be_noun else letters, len(magnitude) - len(zeros[0])


def _months(language: str, locale: Mapping[str, Any]) -> Words:
    for widths in locale["months"].values():
        for width in ("wide", "abbreviated") if language in _SPOKEN else ("wide",):
            for number, name in widths.get(width, {}).items():
                if not any(map(str.isdigit, name)) and len(name) > 1:
                    yield name.replace(".", ""), number


def _units(language: str, locale: Mapping[str, Any]) -> Words:
    """The names of units in the lexicon's languages, but short ones in Latin letters: they are other words elsewhere."""
    if language not in _SPOKEN:
        return
    for unit in _UNITS.keys() & locale["unit_patterns"].keys():
        for width, forms in locale["unit_patterns"][unit].items():
            for form in forms.values() if hasattr(forms, "values") else ():
                name = form.replace("{0}", "").strip()
                if not name.isascii() or (width == "long" and len(name) >= _FEWEST_OF_A_NAME and "/" not in name):
                    yield name.replace(".", ""), unit


def _english_measures() -> set[str]:
    """The words behind a number that are some unit in English, of any width: `min`, `miles`."""
    forms = _texts(localedata.load("en")["unit_patterns"])
    return {form.replace("{0}", "").strip().casefold() for form in forms}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)


def _joints(locale: Mapping[str, Any], kinds: Sequence[str]) -> Words:
    for kind in kinds:
        pattern = locale["list_patterns"].get(kind, {}).get("2", "")
        between = pattern.partition("{0}")[2].partition("{1}")[0]
        if any(map(str.isalpha, between)):
            yield between.strip(" 、،"), None


def written() -> str:
    """The words as the file holds them."""
    return json.dumps(words(), ensure_ascii=False, indent=0, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    WORDS.write_text(written(), "utf-8")
