"""Numbers below ten thousand in the words of forty languages, with a sign: `zweiundvierzig`, `kırk iki`, `마흔둘`, `menos dois`.

`words.json` has the spellings by language, from CLDR; `deploy/numerals.py` writes it. A number is a whole spelling, or a
head and a smaller number: `dos mil | doscientos | cinco`. A word of one or two Latin letters, or one that English has, too
(`once`, `elf`), is a number only behind a sign.
"""

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final

from verifiers import cldr

_LANGUAGES: Final = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
_ENGLISH: Final = frozenset(_LANGUAGES.pop("en")["whole"])
_Meanings = dict[str, list[tuple[str, int]]]


def _by_text(table: str) -> _Meanings:
    """The languages and values of each text of one kind of table."""
    meanings: _Meanings = {}
    for language, tables in _LANGUAGES.items():
        for text, value in tables[table].items():
            meanings.setdefault(text, []).append((language, value))
    return meanings


_WHOLE, _HEADS = _by_text("whole"), _by_text("heads")
_SIGNS: Final = tuple(_by_text("signs"))
_MAX_HEAD_CHARS: Final = max(map(len, _HEADS))
_MAX_CHARS = 100
_NOT_JOINED = str.maketrans("șț", "şţ", " -'’ʼ\u00ad\u200b")


def in_words(spelled: str) -> Fraction | None:
    """The number that a whole text spells in any language; None if it spells none, or several."""
    if len(spelled) > _MAX_CHARS or spelled.isdecimal():
        return None
    if (scaled := _scaled(spelled.casefold())) is not None:
        return scaled
    key = spelled.casefold().translate(_NOT_JOINED)
    if not (key in _ENGLISH or (key.isascii() and len(key) < _FEWEST_LETTERS)) and (number := _only(key)) is not None:
        return number
    numbers = {_only(key.removeprefix(sign)) for sign in _SIGNS if key.startswith(sign)} - {None}
    number = numbers.pop() if len(numbers) == 1 else None
    return -number if number else None


_FEWEST_LETTERS = 3


def _scaled(spelled: str) -> Fraction | None:
    """The value of a number with a scale word of the same language: `zwei millionen`, `un millón`; None if it has none, or several."""
    head, _, word = spelled.strip().rpartition(" ")
    powers = cldr.SCALES.get(word, {}) if head else {}
    key = head.translate(_NOT_JOINED)
    values = {
        number * 10 ** powers[language] for language, number in _readings(key, 1000) if language in powers and number
    }
    return Fraction(values.pop()) if len(values) == 1 else None


def _only(key: str) -> Fraction | None:
    """The value in all languages, or in most of them: `tres` is 60 in Danish alone."""
    first, *others = [*Counter(value for _, value in set(_readings(key, 10_000))).most_common(2), (None, 0)]
    return None if first[0] is None or first[1] == others[0][1] else Fraction(first[0])


def _readings(key: str, limit: int) -> Iterator[tuple[str, int]]:
    """The languages in which a key spells a number below a limit, and the number."""
    yield from (meaning for meaning in _WHOLE.get(key, ()) if meaning[1] < limit)
    for cut in range(1, min(len(key), _MAX_HEAD_CHARS + 1)):
        for language, head in _HEADS.get(key[:cut], ()) if limit > 100 else ():
            rests = _readings(key[cut:], 1000 if head >= 1000 else 100) if head < limit else ()
            yield from ((language, head + rest) for spoken, rest in rests if spoken == language and rest)
