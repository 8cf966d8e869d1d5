"""The phrases of the lexicon by kind, for a search in a whole text before its words are read."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import re2

from verifiers.commitment.cues import (
    Kind,
    Word,
    alone,
    cues,
    first_word,
    first_words,
    languages,
    listed,
    phrases,
    words,
)
from verifiers.sightings import spans


def spoken(*kinds: Kind) -> Iterator[str]:
    """The phrases of some kinds in all languages."""
    for entry in chain.from_iterable(lexicon.get(kind, ()) for lexicon in languages().values() for kind in kinds):
        yield from phrases(entry)


@cache
def single(*kinds: Kind) -> frozenset[str]:
    """The phrases of some kinds that are one word, in all languages."""
    return frozenset().union(*(alone(kind, language) for kind in kinds for language in languages()))


@cache
def openings(*kinds: Kind) -> frozenset[str]:
    """The first words of the phrases of some kinds."""
    return frozenset(first_words(frozenset(kinds)))


def places(kind: Kind, text: str, start: int, end: int) -> list[int]:
    """The places of the last words of phrases of a kind, which hold letters.

    In scripts without spaces they may be parts of other words.
    """
    if not _LETTER.search(text, start, end):
        return []
    extents = spans(_finder(kind), text, start, end)
    return [first for first, stop in extents if not _is_within_word(text, first, stop)]


def _is_within_word(text: str, start: int, end: int) -> bool:
    return (text[start].isascii() and text[start - 1 : start].isalpha() and text[start - 1].isascii()) or (
        text[end - 1].isascii() and text[end : end + 1].isalpha() and text[end].isascii()
    )


def begins_with(text: str, start: int, end: int, *kinds: Kind) -> bool:
    """Whether the longest phrase at the beginning of a part of a text has one of some kinds."""
    if start >= end or first_word(text, start, end) not in openings(*kinds):
        return False
    phrase = words(text, start, end)
    hits = [(cue.stop, cue.kind) for cue in cues(phrase) if cue.first == 0]
    longest = max(stop for stop, _ in hits) if hits else 0
    return any(stop == longest and kind in kinds for stop, kind in hits)


_LETTER = re.compile(r"[^\W\d_]")


def without_guesses(phrase: Sequence[Word]) -> Sequence[Word]:
    """Words without a degree of certainty among them, and its brackets: "and, I think,", "and (of course)"."""
    signals = [cue for cue in cues(phrase) if cue.kind is Kind.GUESS]
    indices = {index for cue in signals for index in range(cue.first, cue.stop)}
    return [
        word for index, word in enumerate(phrase) if index not in indices and not (signals and word.text in "()（）")
    ]


def begins_in(text: str, name: str) -> bool:
    """Whether the first word of a text, past an "and", is in a list."""
    phrase = words(text)
    if phrase and phrase[0].text == "and":
        phrase = phrase[1:]
    if not phrase:
        return False
    return phrase[0].text in listed(name) or any(
        text.startswith(word, phrase[0].start) for word in listed(name) if not word.isascii()
    )


def ends_in(text: str, *lists: str) -> bool:
    """Whether the last word of a text is in one of some lists."""
    phrase = words(text)
    return bool(phrase) and any(phrase[-1].text in listed(name) for name in lists)


@cache
def _finder(kind: Kind) -> Any:
    terms = {phrase.split()[-1] for phrase in spoken(kind)}
    return re2.compile(("(?i)" + "|".join(map(re.escape, sorted(terms, key=len, reverse=True)))).encode())
