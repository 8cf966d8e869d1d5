"""A quick look at the words of a text in ASCII, before its cues are read: most sentences hold no phrase of the kinds that matter.

A phrase needs all its words. A text that has them may still not hold the phrase, and any other text may hold all.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import chain
from typing import Final

from verifiers.commitment.contrasts import denials
from verifiers.commitment.cues import Kind, kinds, languages, listed, shortest, vocabulary, words
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
_TELLS = ("by", "gets", "holds", "puts", "says")


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


def held(members: Tokens | None, wanted: int) -> int:
    """What a text of some words may hold, of the kinds with some bits (`UNSETTLING` or the others); all bits if its words are not known."""
    if members is None:
        return -1
    keys, table = _table(wanted)
    bits = 0
    for word in members & keys:
        for phrase, bit in table[word]:
            if bits & bit != bit and members.issuperset(phrase):
                bits |= bit
    return bits


@cache
def bits_of(members: Set[Kind]) -> int:
    """The bits of some kinds."""
    return sum(_BITS[kind] for kind in members)


def may_hold(members: Tokens | None, wanted: Set[Kind]) -> bool:
    """Whether a text of some words may hold a phrase of some kinds."""
    bits = bits_of(frozenset(wanted))
    return any(held(members, table) & bits for table in (UNSETTLING, ~UNSETTLING) if bits & table)


def may_end_in(members: Tokens | None, head: str, kind: Kind) -> bool:
    """Whether a text of some words may have a phrase of a kind, or a number of a list that follows it, at the end of its `head`."""
    letters = last_letters(head)
    if members is None or not letters or "\\" in head or letters in single(Kind.JOINS):
        return may_hold(members, frozenset([kind]))
    return any(members.issuperset(phrase) for phrase in _by_last(kind).get(letters.encode(), ()))


def may_end_stance(members: Tokens | None, word: str) -> bool:
    """Whether a word of a text may be the last one of words that doubt, deny or suppose what follows, or tell an opinion."""
    return members is None or any(members.issuperset(phrase) for phrase in _stances().get(word.strip("'").encode(), ()))


def may_tell_opinion(bits: int, text: str, start: int, end: int) -> bool:
    """Whether a text that may hold some kinds may tell the opinion of somebody else."""
    if bits < 0 or bits & _OF_OTHERS_BIT:
        return True
    # Somebody with a name tells an opinion by a verb, or has an answer.
    is_told = bits & (_TELLS_BIT | _BITS[Kind.ANSWER])
    return bool(is_told) and any(name.lower() not in vocabulary() for name in _NAME.findall(text, start, end))


_BITS = {kind: 1 << place for place, kind in enumerate(Kind)}
_OF_OTHERS_BIT, _TELLS_BIT = 1 << len(Kind), 2 << len(Kind)
CONCEDES: Final = 4 << len(Kind)
"""The bit of words such as "although"."""
UNREAL: Final = 8 << len(Kind)
"""The bit of verbs in the condition of what is not the case: "had"."""
UNSETTLES: Final = CONCEDES | sum(
    _BITS[kind] for kind in kinds("not differs bad doubt wrong false no if maybe but said")
)
"""The bits of what denies, doubts, supposes or concedes."""
UNSETTLING: Final = UNSETTLES | UNREAL | _OF_OTHERS_BIT | _TELLS_BIT | bits_of(kinds("likely bound answer"))
"""The bits of what may unsettle an answer. Each text is asked for them; few are asked for the rest."""


@cache
def _table(wanted: int) -> tuple[Tokens, Mapping[bytes, Sequence[tuple[Tokens, int]]]]:
    """The words of phrases with some bits, by the one that is in the fewest phrases; signs count for nothing."""
    sides: dict[Tokens, int] = {}
    for phrase, bit in chain(_of_kinds(), _opinion(_OF_OTHERS, _OF_OTHERS_BIT), _opinion(_TELLS, _TELLS_BIT)):
        if bit & wanted and "".join(phrase).isascii():
            members = _bare(phrase)
            sides[members] = sides.get(members, 0) | bit
    often = Counter(chain.from_iterable(sides))
    table: dict[bytes, list[tuple[Tokens, int]]] = {}
    for members, bits in sides.items():
        table.setdefault(min(members, key=lambda word: (often[word], word)), []).append((members, bits))
    return frozenset(table), table


def _of_kinds() -> Iterator[tuple[Sequence[str], int]]:
    for kind, bit in _BITS.items():
        yield from ((phrase, bit) for phrase in shortest(frozenset([kind])))
    for bit, members in ((_BITS[Kind.NOT], denials()), (CONCEDES, listed("although")), (UNREAL, listed("unreal"))):
        yield from (((word,), bit) for word in members)


def _opinion(slots: Sequence[str], bit: int) -> Iterator[tuple[Sequence[str], int]]:
    return ((phrase, bit) for phrase, slot in _told() if slot in slots)


def _told() -> Iterator[tuple[Sequence[str], str]]:
    """The phrases of the parts of opinions, each with its slot."""
    return chain.from_iterable(terms for name in languages() for terms in slotted("opinion", name).values())


@cache
def _stances() -> Mapping[bytes, Sequence[Tokens]]:
    """The words of phrases by the last one."""
    governing = chain.from_iterable(map(spoken, _GOVERNING))
    table: dict[bytes, list[Tokens]] = {word.encode(): [frozenset([word.encode()])] for word in denials()}
    opinions = (phrase for phrase, _ in _told())
    for phrase in chain(([word.text for word in words(text)] for text in governing), opinions):
        table.setdefault(phrase[-1].strip("'").encode(), []).append(_bare(phrase))
    return table


_GOVERNING = kinds("not differs bad doubt maybe if said")


@cache
def _by_last(kind: Kind) -> Mapping[bytes, Sequence[Tokens]]:
    """The words of phrases by the letters that they end in."""
    table: dict[bytes, list[Tokens]] = {}
    for phrase in spoken(kind):
        if phrase.isascii() and (letters := last_letters(phrase)):
            table.setdefault(letters.encode(), []).append(_bare([word.text for word in words(phrase)]))
    return table


def _bare(phrase: Sequence[str]) -> Tokens:
    """The words of a phrase as `tokens` has them: "'s" is "s" there."""
    plain = (word if word == "n't" else word.strip("'") for word in phrase if any(map(str.isalpha, word)))
    members = frozenset(word.encode() for word in plain) or frozenset([phrase[0].encode()])
    return members | {_BOX} if phrase[0] == "[" else members
