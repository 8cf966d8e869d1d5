"""Tells the language of a text by the words of the lexicons in it, as far as a few words tell it."""

import re
from collections.abc import Mapping, Set
from functools import cache
from typing import Any

from verifiers.commitment.cues import languages
from verifiers.commitment.letters import LETTERS

_CHARS_BEFORE, _CHARS_BEHIND = 300, 100
_MARKUP = re.compile(r"\\[A-Za-z]+|</?[A-Za-z][\w-]*>?")
"""Commands of LaTeX and tags: `<answer>` is not an English word."""
_NONE: Set[str] = frozenset()
_ENGLISH: Set[str] = frozenset(["en"])
_LETTERS_OF = {
    language: frozenset(letters)
    for language, letters in (
        ("tr", "ğışĞİŞ"),
        ("pl", "łąęż"),
        ("es", "ñ¿¡"),
        ("pt", "ãõ"),
        ("ro", "ăț"),
        ("hu", "őű"),
        ("cs", "řů"),
    )
}
"""Letters that no other language of the lexicons writes."""


def languages_around(text: str, start: int, end: int, word: str) -> Set[str]:
    """The languages of the words near a place, except for one word; none if no word tells."""
    return languages_of(text[max(0, start - _CHARS_BEFORE) : end + _CHARS_BEHIND], word)


def languages_of(text: str, remainder: str = "") -> Set[str]:
    """The languages that know the most words of a text; none if no word tells."""
    table = _languages_of_words()
    count: dict[str, int] = {}
    for word in {match[0].casefold() for match in LETTERS.finditer(_MARKUP.sub(" ", text))} - {remainder.casefold()}:
        for language in table.get(word, _NONE):
            count[language] = count.get(language, 0) + 1
    for language, letters in _LETTERS_OF.items():
        if not letters.isdisjoint(text):
            count[language] = count.get(language, 0) + 1
    maximum = max(count.values(), default=0)
    members = frozenset(language for language, words in count.items() if words == maximum)
    return _ENGLISH if "en" in members else members


def is_english(text: str) -> bool:
    """Whether a text of ASCII letters has a word that English alone has among the languages of the lexicons."""
    table = _languages_of_words()
    return text.isascii() and any(table.get(word.casefold()) == _ENGLISH for word in LETTERS.findall(text))


@cache
def times() -> frozenset[str]:
    """The words for "times" in all languages with spaces, which also stand between two numbers."""
    others = (word for name, lexicon in languages().items() if name != "en" for word in lexicon.get("infixes", ()))
    return frozenset(["times", *(word for word in others if word < "\u0e00")])


@cache
def _languages_of_words() -> Mapping[str, Set[str]]:
    table: dict[str, set[str]] = {}
    for language, lexicon in languages().items():
        for word in LETTERS.findall(" ".join(_texts(lexicon))):
            table.setdefault(word.casefold(), set()).add(language)
    return table


def _texts(lexicon: Any) -> list[str]:
    """All phrases of a lexicon. A text alone is one of its names, and no phrase."""
    phrases = [phrase for phrase in lexicon.values() if isinstance(phrase, list)]
    return [text for listed in phrases for text in listed if isinstance(text, str)]
