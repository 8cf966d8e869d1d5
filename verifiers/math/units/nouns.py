"""Decides which words may stand behind a number as counting nouns, and which may not."""

import re
from collections.abc import Sequence
from pathlib import Path

from verifiers import tables
from verifiers.commitment.language import times
from verifiers.commitment.latex import split
from verifiers.numerals.scales import LOCAL, SCALES

_MAX_WORDS = 4


def noun(words: Sequence[str], *, is_certain: bool = False) -> str | None:
    """The counting noun of a phrase, with a listed head in the singular; None if it is not a plain noun phrase.

    `is_certain`: only a noun can stand here, as after "per", so that it may be an unlisted one in the singular.
    """
    if len(words) == 1 and (chinese := chinese_noun(words[0])) is not None:
        return next(iter(chinese))
    words = _without_extent([word.casefold() for word in words])
    if len(words) == 1 and words[0] in times():  # before another word it is an operator
        return "time"
    if len(words) > 2 and words[1] == "to" and words[0] in ("way", "ways", "method", "methods"):
        return "way" if is_plain([word for word in words[2:] if word != "the"]) else None
    tail: list[str] = []
    if "of" in words:
        words, tail = words[: words.index("of")], words[words.index("of") :]
        if not is_plain(tail[1:]):
            return None
    head = words[-1] if words else ""
    singular = _SINGULARS.get(head)
    listed_plural = singular is not None and (singular != head or head in _SAME_IN_PLURAL or _is_plural(head))
    if not is_plain([word for word in words if not (listed_plural and word in _DESCRIBING)]):
        return None
    if len(words) + len(tail) > _MAX_WORDS + 1:
        return None
    if singular is None and not (is_certain or _is_plural(head)):
        return None
    modifiers = [word for word in words[:-1] if word not in _COUNTED_BY]
    if singular is None or not _DESCRIBING.isdisjoint(modifiers):
        singular = head
    return " ".join([*modifiers, singular, *tail])


def _without_extent(words: list[str]) -> list[str]:
    """Remove words about the counting, not the number: `5 apples left`, `5 apples in total`."""
    if len(words) > 2 and words[-2:] in (["in", "total"], ["in", "all"]):
        return words[:-2]
    return words[:-1] if len(words) > 1 and words[-1] in ("left", "remaining", "altogether", "total") else words


def is_plain(words: Sequence[str]) -> bool:
    """Whether a phrase has one to four words, none of them a number, relation, judgement, verb or adverb."""
    if not 1 <= len(words) <= _MAX_WORDS:
        return False
    return all(_is_ordinary(part) or ("-" in word and len(part) == 1) for word in words for part in word.split("-"))


def _is_ordinary(word: str) -> bool:
    word = word.casefold()
    if word in _SINGULARS:
        return True
    if word in SCALES or word in LOCAL:
        return False
    if len(word) < 2 or not re.fullmatch(r"[a-zß-öø-ɏ]+", word):
        return False
    return word not in _NOT_NOUNS and not word.endswith(_NOT_NOUN_ENDINGS)


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))


def is_noun(word: str) -> bool:
    """Whether a word is one of the listed nouns: `pies` are not Spanish feet."""
    return word in _SINGULARS


def chinese_noun(word: str) -> dict[str, int] | None:
    """A measure word, alone or before what is counted: `个`, `名学生`, `道题`; the key is the measure word."""
    if word in _CHINESE_NOUNS:
        return {_CHINESE_NOUNS[word]: 1}
    if word[:1] in _MEASURE_WORDS and len(word) <= 7 and _NOT_CHINESE_NOUN.isdisjoint(word[1:]):
        return {_CHINESE_NOUNS.get(word[0], word[0]): 1}
    return None


_SAME_IN_PLURAL = split("fish sheep deer series species dice")
_TABLE = tables.texts(Path(__file__).with_name("nouns.yaml"))
_NOUNS, _NEVER_SINGULAR, _COUNTED_BY, _DESCRIBING, _NOT_NOUNS = (
    split(_TABLE[kind]) for kind in ("nouns", "never singular", "counted by", "describing", "not nouns")
)
_NOT_NOUN_ENDINGS = tuple(_TABLE["not noun endings"].split())
_CHINESE_NOUNS = {**{word: word for word in _TABLE["han nouns"].split()}, "人": "person", "个人": "person"}
_MEASURE_WORDS = frozenset(_TABLE["han measure words"])
_NOT_CHINESE_NOUN = frozenset(_TABLE["han signs of no noun"])


def _singulars() -> dict[str, str]:
    table: dict[str, str] = {}
    for word in _NOUNS - _NOT_NOUNS:
        plurals = _TABLE["irregular"].get(word, _plural(word)).split()
        if word in _NEVER_SINGULAR:
            table |= {plural: plural for plural in plurals}
        else:
            table |= dict.fromkeys([word, *plurals], word)
    return table


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"


_SINGULARS = _singulars()
