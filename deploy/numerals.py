"""Writes the numbers in words of all languages that the verifiers read: `python3 deploy/numerals.py`.

The spellings are those of the Unicode CLDR (UTS 35, part 3, rule-based number formats), as ICU carries out its rules, and
those of num2words. The packages are Debian's python3-icu, num2words of PyPI, and Debian's wamerican for the words that
English has, too. None of them is needed to read the file.

Each number below 10,000 is spelled by each rule set. Most end in the spelling of a smaller number, behind a head:
`zweihundert|zweiundvierzig`. So a language needs its words below a hundred, its heads, and what is left.
"""

import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_VERIFIERS = Path(__file__).parents[1] / "verifiers"
WORDS = _VERIFIERS / "numerals" / "words.json"
_SPOKEN = sorted(
    path.stem for path in (_VERIFIERS / "commitment" / "lexicon").glob("*.yaml") if path.stem not in ("en", "zh")
)
_LOCALES = [
    *_SPOKEN,
    *["nb", "hr", "sk", "sl", "sr", "sr_Latn", "lt", "lv", "et", "ca", "fr_CH", "fr_BE", "no", "pt_PT", "pt_BR"],
]
_WITHOUT_RULES = frozenset(["bn", "no", "pt_BR"])
"""Languages that CLDR has no rules for, or has by another name."""
_DICTIONARY = Path("/usr/share/dict/american-english")
_CASES = frozenset(
    [
        "genitive",
        "dative",
        "accusative",
        "instrumental",
        "locative",
        "ablative",
        "partitive",
        "essive",
        "translative",
        "inessive",
        "elative",
        "illative",
        "adessive",
        "allative",
        "plural",
        "financial",
    ]
)
_RATHER_NUMBERS = frozenset(["dix", "doze"])
"""What ends an answer is hardly ever the English name or verb."""
_LEAST, _MOST = 100, 10_000
_Table = dict[str, int]


def key(text: str) -> str:
    """The letters of a spelling, with digits, without case, blanks, hyphens and apostrophes."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("ș", "ş").replace("ț", "ţ")
    return "".join(c for c in plain if unicodedata.category(c) in ("Ll", "Lo", "Mn", "Mc", "Nd"))


def words() -> dict[str, dict[str, _Table]]:
    """Whole spellings, heads and minus signs (worth -1) of each language, and the whole ones that are English words."""
    english = {line.casefold() for line in _DICTIONARY.read_text("utf-8").splitlines()} - _RATHER_NUMBERS
    languages = {locale: tables_of([*_spellings(locale)]) for locale in _LOCALES}
    spelled = {text: value for tables in languages.values() for text, value in tables["whole"].items()}
    return languages | {"en": {"whole": {text: value for text, value in sorted(spelled.items()) if text in english}}}


def tables_of(spellings: Sequence[Sequence[str]]) -> dict[str, _Table]:
    """The tables of a language from its spellings of -1 and of 0, 1, 2, … by each rule set."""
    whole, heads, signs = _Table(), _Table(), _Table()
    for minus_one, *spelled in spellings:
        if minus_one.endswith(spelled[1]) and (sign := minus_one.removesuffix(spelled[1])):
            signs[sign] = -1
        whole |= {spelled[number]: number for number in range(_LEAST)}
        for number in range(_LEAST, _MOST):
            rest = number % (1000 if number >= 1000 else 100)
            rests = {by_rules[rest + 1] for by_rules in spellings} if rest else set()
            tail = max((text for text in rests if spelled[number].endswith(text)), key=len, default="")
            table = heads if tail else whole
            table[spelled[number].removesuffix(tail)] = number - rest if tail else number
    return {"whole": whole, "heads": heads, "signs": signs}


def _spellings(locale: str) -> Iterator[Sequence[str]]:
    """The keys of -1 and of all numbers, by num2words and by each rule set for cardinals in the nominative that spells them in words."""
    import icu  # type: ignore[import-not-found]  # noqa: PLC0415 - only who writes the file has it
    import num2words  # type: ignore[import-not-found]  # noqa: PLC0415 - as above

    numbers = range(-1, _MOST)
    if locale in num2words.CONVERTER_CLASSES:
        yield [_by_num2words(number, locale, num2words.num2words) for number in numbers]
    if locale in _WITHOUT_RULES:
        return
    spell = icu.RuleBasedNumberFormat(icu.URBNFRuleSetTag.SPELLOUT, icu.Locale(locale))
    for name in map(spell.getRuleSetName, range(spell.getNumberOfRuleSetNames())):
        is_cardinal = name.startswith("%spellout-cardinal") or name == "%spellout-numbering"
        if (
            is_cardinal
            and _CASES.isdisjoint(name.split("-"))
            and not any(map(str.isdigit, spell.format(_MOST - 1, name)))
        ):
            yield [key(spell.format(number, name)) for number in numbers]


def _by_num2words(number: int, locale: str, num2words: Callable[..., str]) -> str:
    """The key by num2words; empty where a language of it has no such number."""
    try:
        return key(num2words(number, lang=locale))
    except (ValueError, IndexError):
        return ""


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}:{json.dumps(tables, ensure_ascii=False)}" for name, tables in words().items())
    WORDS.write_text("{" + ",\n".join(lines) + "}\n", "utf-8")
