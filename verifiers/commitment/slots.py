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
    table: dict[str, dict[tuple[str, ...], str]] = {}
    for slot, entries in languages()[language][idea].items():
        add(table, slot, entries)
    return by_length(table)


def add(table: dict[str, dict[tuple[str, ...], str]], slot: str, entries: Iterable[str]) -> None:
    """Add the phrases of some entries to a slot, unless they fill another."""
    for phrase in (item for entry in entries for item in phrases(entry)):
        plain = tuple(word.text for word in words(phrase) if is_word(word))
        if plain:
            table.setdefault(plain[0], {}).setdefault(plain, slot)


def by_length(table: Mapping[str, Mapping[tuple[str, ...], str]]) -> Phrases:
    """The phrases by their first words, the longest first."""
    order = {word: sorted(mapping.items(), key=lambda item: -len(item[0])) for word, mapping in table.items()}
    return {word: [([*phrase], slot) for phrase, slot in terms] for word, terms in order.items()}


def is_word(word: Word) -> bool:
    """Whether a word is more than a sign."""
    return any(map(str.isalnum, word.text))


@cache
def by_first_word(idea: str) -> Mapping[str, Sequence[str]]:
    """The languages that have phrases of an idea with this first word, English first."""
    table: dict[str, list[str]] = {}
    for language in sorted(languages(), key=lambda item: item != "en"):
        for word in slotted(idea, language):
            table.setdefault(word, []).append(language)
    return table


@cache
def openings_of(idea: str, *slots: str) -> frozenset[str]:
    """The first words of the phrases that fill some slots of an idea, in all languages."""
    tables = [slotted(idea, language) for language in languages()]
    return frozenset(
        word for table in tables for word, terms in table.items() if any(slot in slots for _, slot in terms)
    )


class Part(NamedTuple):
    """A phrase of an idea found in a text, with the places of its words."""

    language: str
    slot: str
    first: int
    stop: int


def parts(idea: str, wording: Sequence[Word]) -> Iterator[Part]:
    """The phrases of an idea in a text: the longest of each language that begins at each word."""
    spoken = by_first_word(idea)
    positions = [position for position, word in enumerate(wording) if is_word(word)]
    texts = [wording[position].text for position in positions]
    for first, text in enumerate(texts):
        for language in spoken.get(text, ()):
            for phrase, slot in slotted(idea, language)[text]:
                if texts[first : first + len(phrase)] == phrase:
                    yield Part(language, slot, positions[first], positions[first + len(phrase) - 1] + 1)
                    break
