"""Writes the words of CLDR that the verifiers read, for every locale that Babel has: `python -m deploy.cldr`.

The words of scales, units and percents, the months, and the words for "or" in lists. A word may mean one thing in one language and
another elsewhere. The languages of the lexicon come first, and English first among them. A scale word is kept with what
it means in each language.
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
_SPOKEN = {path.stem for path in (_VERIFIERS / "commitment" / "lexicon").glob("*.yaml")} | {"nb", "nn", "no"}
_LAYOUT = re.compile("[\u200e\u200f\u061c'{}0-9]")
_GREEK_LETTER = re.compile(r"[\u0370-\u03ff]\.?")
"""A variable, or a prefix: micro."""
_ZEROS = re.compile("0+")
_FEWEST_LETTERS = 3
"""Shorter words in Latin letters are units elsewhere."""
_VOWELS = frozenset("aeiou")
"""An abbreviation without them is not a noun of any language. Others count with their dot: `Mio.`, not `bio`."""
_FEWEST_OF_A_NAME, _FEWEST_OF_OTHERS = 4, 6
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
    "speed-mile-per-hour": {"mi": 1, "h": -1}, "area-square-foot": {"ft": 2}, "area-square-inch": {"in": 2},
    "area-square-mile": {"mi": 2}, "volume-cubic-foot": {"ft": 3}, "volume-cubic-kilometer": {"km": 3}, "volume-gallon": {"gal": 1},
    "temperature-fahrenheit": {"°F": 1}, "temperature-kelvin": {"K": 1},
    "temperature-celsius": {"°C": 1}, "angle-degree": {"degree": 1}, "energy-joule": {"J": 1}, "energy-kilojoule": {"kJ": 1},
    "energy-kilocalorie": {"kcal": 1}, "energy-calorie": {"cal": 1}, "power-watt": {"W": 1}, "power-kilowatt": {"kW": 1},
    "energy-kilowatt-hour": {"kWh": 1}, "electric-ampere": {"A": 1}, "electric-volt": {"V": 1}, "electric-ohm": {"Ω": 1},
    "frequency-hertz": {"Hz": 1}, "force-newton": {"N": 1}, "pressure-pascal": {"Pa": 1},
}  # fmt: skip
"""The units of CLDR that the verifiers know, by their symbols."""
Words = Iterator[tuple[str, Any]]


def words() -> dict[str, Any]:
    """The words by what they are for, each with its meaning."""
    scales = _by_language(partial(_scales, width="short")) | _by_language(partial(_scales, width="long"))
    months, units = _meanings(_months), _meanings(_units, may_be_most=True)
    return {
        "scales": {
            word: powers
            for word, powers in scales.items()
            if not (word.endswith(".") and word.rstrip(".") in scales)  # it ends a sentence
        },
        "months": {word: month for word, month in months.items() if month is not None},
        "units": _undotted(
            {word: _UNITS[unit] for word, unit in units.items() if unit and not _is_scale(scales.get(word, {}))}
        ),
        "percent": {word: side for word, side in _meanings(_percents).items() if side},
        "or": list(_meanings(lambda name, locale: _joints(locale))),
    }


def _meanings(read: Callable[[str, Mapping[str, Any]], Words], may_be_most: bool = False) -> dict[str, Any]:
    """Words with their meaning: the one that English gives them, else the lexicon's languages, else all others.

    The meaning is None if they do not agree on one.
    """
    tiers: Sequence[dict[str, dict[Any, set[str]]]] = ({}, {}, {})
    for language, word, meaning in _read(read):
        tier = tiers[0 if language == "en" else 1 if language in _SPOKEN else 2]
        tier.setdefault(word, {}).setdefault(meaning, set()).add(language)
    meanings = {word: table[word] for table in reversed(tiers) for word in table}
    return {word: _one(by_meaning, may_be_most) for word, by_meaning in sorted(meanings.items())}


def _one(by_meaning: Mapping[Any, set[str]], may_be_most: bool) -> Any:
    """The only meaning, or that of most languages; None if there is none."""
    first, *alternatives = sorted(by_meaning, key=lambda meaning: -len(by_meaning[meaning]))
    is_most = may_be_most and all(len(by_meaning[first]) > len(by_meaning[alternative]) for alternative in alternatives)
    return first if is_most or not alternatives else None


def _undotted(units: Mapping[str, Mapping[str, int]]) -> dict[str, Mapping[str, int]]:
    """The names of units without the dots of abbreviations, unless such a name has a meaning of its own (`г`, `г.`)."""
    bare = {word.replace(".", ""): meaning for word, meaning in units.items()}
    return dict(sorted((bare | {word: meaning for word, meaning in units.items() if "." not in word}).items()))


def _is_scale(powers: Mapping[str, int]) -> bool:
    """Whether a word is a scale in one of the lexicon's languages, so that it is not read as a unit."""
    return not _SPOKEN.isdisjoint(powers)


def _by_language(read: Callable[[str, Mapping[str, Any]], Words]) -> dict[str, dict[str, int]]:
    """Words with their meaning in each language that has one."""
    languages: dict[str, dict[str, set[int]]] = {}
    for language, word, meaning in _read(read):
        languages.setdefault(word, {}).setdefault(language, set()).add(meaning)
    single = {
        word: {language: meanings.pop() for language, meanings in sorted(by.items()) if len(meanings) == 1}
        for word, by in sorted(languages.items())
    }
    return {word: by for word, by in single.items() if by}


def _read(read: Callable[[str, Mapping[str, Any]], Words]) -> Iterator[tuple[str, str, Any]]:
    """Each locale's words, with the language and the meaning."""
    for name in sorted(localedata.locale_identifiers()):
        language = name.partition("_")[0]
        data: dict[str | int | None, Any] = dict(localedata.load(name).items())
        for text, meaning in read(language, localedata.LocaleDataDict(data)):
            if word := " ".join(_LAYOUT.sub("", text).casefold().split()).strip(" ,;"):
                yield language, word, meaning


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
    """The names of units, with and without the dot of an abbreviation.

    Names in Latin letters are other words elsewhere: short ones do not count, nor do those of few letters or of several
    words in languages that the lexicon has not.
    """
    is_spoken = language in _SPOKEN
    for unit in _UNITS.keys() & locale["unit_patterns"].keys():
        for width, forms in locale["unit_patterns"][unit].items():
            for kind, form in forms.items() if hasattr(forms, "items") else ():
                name = form.replace("{0}", "").strip()
                is_named = width == "long" and len(name) >= (_FEWEST_OF_A_NAME if is_spoken else _FEWEST_OF_OTHERS)
                if kind == "per" or (name.isascii() and "/" in name) or _GREEK_LETTER.fullmatch(name):
                    continue
                if (is_spoken and not name.isascii()) or (is_named and (is_spoken or " " not in name)):
                    yield name, unit


def _percents(language: str, locale: Mapping[str, Any]) -> Words:
    """The words for a percent sign, with the side of the number on which they stand."""
    forms = locale["unit_patterns"].get("concentr-percent", {}).get("long", {})
    for form in forms.values() if language in _SPOKEN and hasattr(forms, "values") else ():
        if any(map(str.isalpha, name := form.replace("{0}", ""))):
            yield name, "before" if form.endswith("{0}") else "behind"


def _joints(locale: Mapping[str, Any]) -> Words:
    pattern = locale["list_patterns"].get("or", {}).get("2", "")
    between = pattern.partition("{0}")[2].partition("{1}")[0]
    if any(map(str.isalpha, between)):
        yield between.strip(" 、،"), None


def written() -> str:
    """The words as the file holds them: all that share a meaning on one line."""
    return "{" + ",\n".join(f"{_line(name)}: {_lines(table)}" for name, table in words().items()) + "}\n"


def _lines(table: Any) -> str:
    if not isinstance(table, Mapping):
        return _line(table)
    by_meaning: dict[str, list[str]] = {}
    for word, meaning in table.items():
        by_meaning.setdefault(_line(meaning), []).append(word)
    return "[" + ",\n".join(f"[{meaning},{_line(words)}]" for meaning, words in by_meaning.items()) + "]"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    WORDS.write_text(written(), "utf-8")
