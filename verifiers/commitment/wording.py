"""The phrases of the lexicon by kind, for those who look for them in a whole text before they read its words."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import re2

from verifiers.commitment.cues import Kind, languages, phrases, words

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def spoken(kind: Kind) -> Iterator[str]:
    """The phrases of a kind in all languages."""
    for lexicon in languages().values():
        for entry in lexicon.get(kind.value, ()):
            yield from phrases(entry)


@cache
def openings(*kinds: Kind) -> frozenset[str]:
    """The words with which phrases of some kinds begin."""
    return frozenset(words(phrase)[0].text for kind in kinds for phrase in spoken(kind))


def places(kind: Kind, text: str, start: int, end: int) -> list[int]:
    """Where the last words of phrases of a kind are, and perhaps parts of other words like them."""
    readable = text if text.isascii() else _SURROGATE.sub("\ufffd", text)
    return [each.start() for each in _finder(kind).finditer(readable, start, end)]


@cache
def _finder(kind: Kind) -> Any:
    found = {phrase.split()[-1] for phrase in spoken(kind)}
    return re2.compile("(?i)" + "|".join(map(re.escape, sorted(found, key=len, reverse=True))))
