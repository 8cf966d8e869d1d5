"""The phrases of the lexicon by kind, for those who look for them in a whole text before they read its words."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import re2

from verifiers.commitment.cues import Kind, all_phrases, cues, languages, listed, phrases, words
from verifiers.sightings import starts


def spoken(kind: Kind) -> Iterator[str]:
    """The phrases of a kind in all languages."""
    for lexicon in languages().values():
        for entry in lexicon.get(kind.value, ()):
            yield from phrases(entry)


@cache
def openings(*kinds: Kind) -> frozenset[str]:
    """The words with which phrases of some kinds begin."""
    return frozenset(words(phrase)[0].text for kind in kinds for phrase in spoken(kind))


def may_say(text: str, start: int, end: int, kinds: frozenset[Kind]) -> bool:
    """Whether a part of a text may have a cue of some kinds, or conclude by an arrow or a pronoun and a verb: a quick look."""
    shown = text[start:end]
    if ">" in shown or not shown.isascii():
        return True
    said = shown.lower().replace("n't", " ").translate(_LETTERS).split()
    heard = frozenset(said)
    keys = _keys(kinds)
    if any(heard.issuperset(rest) for word in heard.intersection(keys) for rest in keys[word]):
        return True
    return not heard.isdisjoint(listed("subjects")) and any(
        one in listed("subjects") and other in _verbs() for one, other in pairwise(said)
    )


_LETTERS = {code: " " for code in range(128) if not chr(code).isalpha()}


@cache
def _keys(kinds: frozenset[Kind]) -> Mapping[str, Sequence[frozenset[str]]]:
    """The words of phrases of some kinds by the one of them that the fewest phrases have."""
    told = list(all_phrases())
    often = Counter(word for said, _ in told for word in said)
    found: dict[str, set[frozenset[str]]] = {}
    for said, known in told:
        if not kinds.isdisjoint(known) and "".join(said).isascii():
            letters = frozenset(filter(str.isalpha, said))
            found.setdefault(min(letters, key=lambda word: (often[word], word)), set()).add(letters)
    return {key: [each for each in rest if not any(other < each for other in rest)] for key, rest in found.items()}


@cache
def _verbs() -> frozenset[str]:
    return frozenset(word.removeprefix("'") for word in openings(Kind.IS))


def places(kind: Kind, text: str, start: int, end: int) -> list[int]:
    """Where the last words of phrases of a kind are, and perhaps parts of other words like them."""
    return starts(_finder(kind), text, start, end)


def begins_with(text: str, start: int, end: int, *kinds: Kind) -> bool:
    """Whether the longest phrase with which a part of a text begins is of one of some kinds."""
    said = words(text, start, end) if start < end else []
    if not said or said[0].text not in openings(*kinds):
        return False
    found = [(cue.stop, cue.kind) for cue in cues(said) if cue.first == 0]
    longest = max(stop for stop, _ in found) if found else 0
    return any(stop == longest and kind in kinds for stop, kind in found)


def ends_with(text: str, *kinds: Kind) -> bool:
    """Whether a text ends in a phrase of one of some kinds."""
    if not text[-1:].isalpha():
        return False
    said = words(text)
    return any(cue.stop == len(said) and cue.kind in kinds for cue in cues(said))


def begins_in(text: str, name: str) -> bool:
    """Whether the first word of a text, past an "and", is in a list."""
    said = words(text)
    if said and said[0].text == "and":
        said = said[1:]
    if not said:
        return False
    return said[0].text in listed(name) or any(
        text.startswith(word, said[0].start) for word in listed(name) if not word.isascii()
    )


def ends_in(text: str, *lists: str) -> bool:
    """Whether the last word of a text is in one of some lists."""
    said = words(text)
    return bool(said) and any(said[-1].text in listed(name) for name in lists)


@cache
def _finder(kind: Kind) -> Any:
    found = {phrase.split()[-1] for phrase in spoken(kind)}
    return re2.compile(("(?i)" + "|".join(map(re.escape, sorted(found, key=len, reverse=True)))).encode())
