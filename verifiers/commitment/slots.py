"""Phrases of a lexicon that fill the slots of an idea: `verdict: {wrong: [...], right: [...]}`.

An idea is composed of few slots, one row for each language, and not of sentences.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from sys import intern
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
        plain = tuple(intern(word.text) for word in words(phrase) if is_word(word))
        if plain:
            table.setdefault(plain[0], {}).setdefault(plain, slot)


def by_length(table: Mapping[str, Mapping[tuple[str, ...], str]]) -> Phrases:
    """The phrases by their first words, the longest first."""
    order = {word: sorted(mapping.items(), key=lambda item: -len(item[0])) for word, mapping in table.items()}
    return {word: [([*phrase], slot) for phrase, slot in terms] for word, terms in order.items()}


def is_word(word: Word) -> bool:
    """Whether a word is more than a sign."""
    return word.text.isalnum() or any(map(str.isalnum, word.text))


class _Terms(NamedTuple):
    """The phrases of a language that begin with one word."""

    language: str
    longer: Mapping[str, Sequence[tuple[Sequence[str], str]]]
    """By their second words, the longest first, each with its slot."""
    alone: str | None
    """The slot that the word fills by itself."""


_NO_TERMS: Mapping[str, Sequence[tuple[Sequence[str], str]]] = {}


@cache
def _terms(idea: str) -> Mapping[str, Sequence[_Terms]]:
    """The phrases of an idea by their first words, English first."""
    table: dict[str, list[_Terms]] = {}
    for language in sorted(languages(), key=lambda item: item != "en"):
        for word, terms in slotted(idea, language).items():
            longer: dict[str, list[tuple[Sequence[str], str]]] = {}
            for phrase, slot in terms:
                if len(phrase) > 1:
                    longer.setdefault(phrase[1], []).append((phrase, slot))
            alone = next((slot for phrase, slot in terms if len(phrase) == 1), None)
            table.setdefault(word, []).append(_Terms(language, longer or _NO_TERMS, alone))
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
    begun = _terms(idea)
    if begun.keys().isdisjoint(word.text for word in wording):
        return
    positions = [position for position, word in enumerate(wording) if word.text.isalnum() or is_word(word)]
    texts = [wording[position].text for position in positions]
    for first, text in enumerate(texts):
        for language, longer, alone in begun.get(text, ()):
            following = texts[first + 1] if longer and first + 1 < len(texts) else ""
            for phrase, slot in longer.get(following, ()):
                if texts[first : first + len(phrase)] == phrase:
                    yield Part(language, slot, positions[first], positions[first + len(phrase) - 1] + 1)
                    break
            else:
                if alone is not None:
                    yield Part(language, alone, positions[first], positions[first] + 1)
