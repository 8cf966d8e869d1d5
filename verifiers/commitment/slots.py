"""Phrases of a lexicon that fill the slots of an idea: `verdict: {wrong: [...], right: [...]}`.

An idea is composed of few slots, one row for each language, and not of sentences.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from verifiers.commitment.cues import Word, languages, phrases, words

Phrases = Mapping[str, Sequence[tuple[Sequence[str], str]]]
"""The phrases of one language by their first words, the longest first, each with its slot."""


@cache
def slotted(idea: str, language: str) -> Phrases:
    """The phrases of an idea. A phrase of several slots fills the first of them."""
    found: dict[str, dict[tuple[str, ...], str]] = {}
    for slot, entries in languages()[language][idea].items():
        add(found, slot, entries)
    return by_length(found)


def add(found: dict[str, dict[tuple[str, ...], str]], slot: str, entries: Iterable[str]) -> None:
    """Add the phrases of some entries to a slot, unless they fill another."""
    for phrase in (each for entry in entries for each in phrases(entry)):
        plain = tuple(word.text for word in words(phrase) if is_word(word))
        if plain:
            found.setdefault(plain[0], {}).setdefault(plain, slot)


def by_length(found: Mapping[str, Mapping[tuple[str, ...], str]]) -> Phrases:
    """The phrases by their first words, the longest first."""
    order = {word: sorted(said.items(), key=lambda each: -len(each[0])) for word, said in found.items()}
    return {word: [([*phrase], slot) for phrase, slot in said] for word, said in order.items()}


def is_word(word: Word) -> bool:
    """Whether a word is more than a sign."""
    return any(map(str.isalnum, word.text))


@cache
def by_first_word(idea: str) -> Mapping[str, Sequence[str]]:
    """The languages that have phrases of an idea with this first word, English first."""
    found: dict[str, list[str]] = {}
    for language in sorted(languages(), key=lambda each: each != "en"):
        for word in slotted(idea, language):
            found.setdefault(word, []).append(language)
    return found


@cache
def openings_of(idea: str, *slots: str) -> frozenset[str]:
    """The first words of the phrases that fill some slots of an idea, in all languages."""
    tables = [slotted(idea, language) for language in languages()]
    return frozenset(word for table in tables for word, said in table.items() if any(slot in slots for _, slot in said))


class Part(NamedTuple):
    """A phrase of an idea found in a text, with the places of its words."""

    language: str
    slot: str
    first: int
    stop: int


def parts(idea: str, said: Sequence[Word]) -> Iterator[Part]:
    """The phrases of an idea in a text: the longest of each language that begins at each word."""
    spoken = by_first_word(idea)
    positions = [position for position, word in enumerate(said) if is_word(word)]
    texts = [said[position].text for position in positions]
    for first, text in enumerate(texts):
        for language in spoken.get(text, ()):
            for phrase, slot in slotted(idea, language)[text]:
                if texts[first : first + len(phrase)] == phrase:
                    yield Part(language, slot, positions[first], positions[first + len(phrase) - 1] + 1)
                    break
