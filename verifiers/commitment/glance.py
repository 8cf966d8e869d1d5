"""A quick look at the words of a text in ASCII, before its cues are read: most sentences hold no phrase of the kinds that matter.

A phrase needs all its words. A text that has them may still not hold the phrase, and any other text may hold all.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from itertools import chain

from verifiers.commitment.contrasts import denials
from verifiers.commitment.cues import Kind, languages, shortest, vocabulary, words
from verifiers.commitment.slots import slotted
from verifiers.commitment.wording import last_letters, single, spoken

Tokens = frozenset[bytes]
"""Words in ASCII. Bytes are cut into words in a third of the time that texts take."""
_LETTERS = bytes(code if chr(code).isalpha() else 32 for code in range(128)).ljust(256)
_NOT = b"n't"
"""The only phrase of letters that begins within a word: "don't" is "do" and "n't"."""
_BOX = b"["
"""The boxes of a list begin with it: "[ ]", "[x]"."""
_NAME = re.compile(r"(?<![A-Za-z])[A-Z][a-z]{1,30}(?![A-Za-z])")
_OF_OTHERS = (
    "who",
    "own",
    "source",
    "named",
    "experts",
    "reported",
    "my",
    "earlier",
    "elsewhere",
    "thought",
    "surnames",
)
"""The slots that tell of somebody or of something else; no opinion of others is without one of them, or a name."""
_TELLS = ("by", "gets", "holds", "picks", "puts", "says")
_ANSWER = frozenset([Kind.ANSWER])


def tokens(text: str, start: int, end: int) -> Tokens | None:
    """The words of a part of a text that are letters; None if it is not in ASCII."""
    part = text[start:end]
    part = part if part.isascii() else part.replace("\u2019", "'")
    if not part.isascii():
        return None
    encoded = part.encode().lower()
    phrase = encoded.translate(_LETTERS).split()
    if _BOX in encoded and _BOX in encoded.replace(b"\\[", b""):
        phrase.append(_BOX)
    if _NOT in encoded:
        phrase += [_NOT, *encoded.replace(_NOT, b" ").translate(_LETTERS).split()]
    return frozenset(phrase)


def may_hold(members: Tokens | None, kinds: Set[Kind]) -> bool:
    """Whether a text of some words may hold a phrase of some kinds."""
    return members is None or _holds(members, _of_kinds(frozenset(kinds)))


def may_end_in(members: Tokens | None, head: str, kind: Kind) -> bool:
    """Whether a text of some words may have a phrase of a kind, or a number of a list that follows it, at the end of its `head`."""
    letters = last_letters(head)
    if members is None or not letters or "\\" in head or letters in single(Kind.JOINS):
        return may_hold(members, frozenset([kind]))
    return any(members.issuperset(phrase) for phrase in _by_last(kind).get(letters.encode(), ()))


def may_tell_opinion(members: Tokens | None, text: str, start: int, end: int) -> bool:
    """Whether a text of some words may tell the opinion of somebody else."""
    if members is None or _holds(members, _opinion(_OF_OTHERS)):
        return True
    # Somebody with a name tells an opinion by a verb, or has an answer.
    is_told = _holds(members, _opinion(_TELLS)) or may_hold(members, _ANSWER)
    return is_told and any(name.lower() not in vocabulary() for name in _NAME.findall(text, start, end))


Table = Mapping[bytes, Sequence[Tokens]]
"""The words of phrases, by the one that is in the fewest of them; signs count for nothing."""


def _holds(members: Tokens, table: Table) -> bool:
    return any(members.issuperset(phrase) for word in members & table.keys() for phrase in table[word])


@cache
def _of_kinds(kinds: Set[Kind]) -> Table:
    single = [(word,) for word in denials() if Kind.NOT in kinds]
    return _by_rarest([*shortest(kinds), *single])


@cache
def _by_last(kind: Kind) -> Table:
    """The words of phrases by the letters that they end in."""
    table: dict[bytes, list[Tokens]] = {}
    for phrase in spoken(kind):
        if phrase.isascii() and (letters := last_letters(phrase)):
            table.setdefault(letters.encode(), []).append(_bare([word.text for word in words(phrase)]))
    return table


@cache
def _opinion(slots: Sequence[str]) -> Table:
    tables = [slotted("opinion", language) for language in languages()]
    members = chain.from_iterable(terms for table in tables for terms in table.values())
    return _by_rarest(phrase for phrase, slot in members if slot in slots)


def _by_rarest(phrases: Iterable[Sequence[str]]) -> Table:
    sides = {_bare(phrase) for phrase in phrases if "".join(phrase).isascii()}
    often = Counter(chain.from_iterable(sides))
    table: dict[bytes, list[Tokens]] = {}
    for side in sides:
        table.setdefault(min(side, key=lambda word: (often[word], word)), []).append(side)
    return table


def _bare(phrase: Sequence[str]) -> Tokens:
    """The words of a phrase as `tokens` has them: "'s" is "s" there."""
    plain = (word if word == "n't" else word.strip("'") for word in phrase if any(map(str.isalpha, word)))
    members = frozenset(word.encode() for word in plain) or frozenset([phrase[0].encode()])
    return members | {_BOX} if phrase[0] == "[" else members
