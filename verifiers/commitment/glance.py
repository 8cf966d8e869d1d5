"""A quick look at the words of a text, before its cues are read: most sentences hold no phrase of the kinds that matter.

A phrase needs all its words. A text that has them may still not hold the phrase.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import chain
from sys import intern
from typing import Final

from verifiers.commitment.contrasts import denials
from verifiers.commitment.cues import ALONE, Kind, cues, kinds, languages, listed, phrases, shortest, vocabulary, words
from verifiers.commitment.letters import MARKS
from verifiers.commitment.slots import slotted
from verifiers.commitment.wording import single, spoken

Tokens = frozenset[str]
"""The words of a text, as its cues are read from, without those of signs and figures in ASCII."""
Members = tuple[str, ...]
"""The words of a phrase, in the order of the alphabet: a fourth of the memory of a set."""
_LETTERS = "".join(chr(code) if chr(code).isalpha() else " " for code in range(128))
"""A table that leaves the letters of ASCII; such texts are cut at blanks in a fifth of the time that an expression takes."""
_WORD = rf"[^\W\d_{ALONE}{MARKS}]++(?![{MARKS}])|(?:[^\W\d_{ALONE}]|[{MARKS}])+|[^\x00-\x7f\s\d]"
_WORDS, _LAST_WORD = re.compile(_WORD), re.compile(rf"(?:{_WORD})\Z")
_MAX_WORD_CHARS = 40
_NOT = "n't"
"""The only phrase of letters that begins within a word: "don't" is "do" and "n't"."""
_SIGNS = ("[", "&")
"""Signs of ASCII that phrases need: the boxes of a list are "[ ]" and "[x]"."""
_NAME = re.compile(r"(?<![^\W\d_])[^\W\d_a-z][^\W\d_]{1,30}(?![^\W\d_])")
_OF_OTHERS = ("who", "own", "source", "named", "experts", "reported", "my", "earlier", "elsewhere", "thought")
"""The slots that tell of somebody or of something else; no opinion of others is without one of them, or a name."""
_NAMES = ("surnames",)
_TELLS = ("by", "gets", "holds", "picks", "puts", "says")


def tokens(text: str, start: int, end: int) -> Tokens:
    """The words of a part of a text."""
    part = text[start:end].lower()
    if part.isascii():
        phrase = part.translate(_LETTERS).split()
    else:
        part = part.replace("\u2019", "'")
        phrase = _WORDS.findall(part)
    signs = part.replace("\\[", "")
    phrase += [sign for sign in _SIGNS if sign in signs]
    if _NOT in part:
        phrase += [_NOT, *_WORDS.findall(part.replace(_NOT, " "))]
    return frozenset(phrase)


def held(members: Tokens, wanted: int) -> int:
    """What a text of some words may hold, of the kinds with some bits: `UNSETTLING`, or the others."""
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


def may_hold(members: Tokens, wanted: Set[Kind]) -> bool:
    """Whether a text of some words may hold a phrase of some kinds."""
    bits = bits_of(frozenset(wanted))
    return any(held(members, table) & bits for table in (UNSETTLING, ~UNSETTLING) if bits & table)


def may_end_in(members: Tokens, head: str, *kinds: Kind) -> bool:
    """Whether a text of some words may have a phrase of a kind, or a number of a list that follows it, at the end of its `head`."""
    last = _LAST_WORD.search(head, max(0, len(head) - _MAX_WORD_CHARS)) if "\\" not in head else None
    word = last[0].lower() if last else ""
    if not word or word in single(Kind.JOINS):
        return may_hold(members, frozenset(kinds))
    return any(members.issuperset(phrase) for phrase in _by_last(kinds).get(word, ()))


def ends_with(text: str, *kinds: Kind) -> bool:
    """Whether a text ends in a phrase that has one of some kinds."""
    if not text[-1:].isalpha() or not may_end_in(tokens(text, 0, len(text)), text, *kinds):
        return False
    phrase = words(text)
    return any(cue.stop == len(phrase) and cue.kind in kinds for cue in cues(phrase))


def may_end_stance(members: Tokens, word: str) -> bool:
    """Whether a word of a text may be the last one of words that doubt, deny or suppose what follows, or tell an opinion."""
    return any(members.issuperset(phrase) for phrase in _stances().get(word.strip("'"), ()))


def may_tell_opinion(bits: int, text: str, start: int, end: int) -> bool:
    """Whether a text that may hold some kinds may tell the opinion of somebody else."""
    if bits & _OTHERS_BIT:
        return True
    # Somebody with a name tells an opinion by a verb, or has an answer.
    is_told = bits & (_TELLS_BIT | _BITS[Kind.ANSWER])
    return bool(is_told) and (bool(bits & _NAMES_BIT) or any(map(_is_name, _NAME.findall(text, start, end))))


def _is_name(word: str) -> bool:
    return word[0].isupper() and word[1:].islower() and word.lower() not in vocabulary()


_BITS = {kind: 1 << place for place, kind in enumerate(Kind)}
_OTHERS_BIT, _NAMES_BIT, _TELLS_BIT, CONCEDES, UNREAL, REJECTS = (1 << len(Kind) + place for place in range(6))
"""The bits of the sides of an opinion, of words such as "although", of verbs such as "had" in the condition of what is not the case, and
of what a verdict rejects with.
"""
_REJECTS = ("wrong", "undo", "unsure", "no", "not")
UNSETTLES: Final = CONCEDES | bits_of(kinds("not differs bad doubt wrong false no if maybe but said"))
"""The bits of what denies, doubts, supposes or concedes."""
UNSETTLING: Final = UNSETTLES | UNREAL | _OTHERS_BIT | _NAMES_BIT | _TELLS_BIT | bits_of(kinds("likely bound answer"))
"""The bits of what may unsettle an answer. Each text is asked for them; few are asked for the rest."""


@cache
def _table(wanted: int) -> tuple[Tokens, Mapping[str, Sequence[tuple[Members, int]]]]:
    """The other words of phrases with some bits, by the one that is in the fewest phrases; signs in ASCII count for nothing."""
    sides: dict[Members, int] = {}
    for phrase, bit in _phrases():
        if bit & wanted:
            members = _bare(phrase)
            sides[members] = sides.get(members, 0) | bit
    often = Counter(chain.from_iterable(sides))
    table: dict[str, list[tuple[Members, int]]] = {}
    for members, bits in sides.items():
        rarest = min(members, key=lambda word: (often[word], word))
        remainder = tuple([word for word in members if word != rarest])
        table.setdefault(rarest, []).append((remainder, bits))
    return frozenset(table), {word: tuple(entries) for word, entries in table.items()}


def _phrases() -> Iterator[tuple[Sequence[str], int]]:
    for kind, bit in _BITS.items():
        yield from ((phrase, bit) for phrase in shortest(frozenset([kind])))
    for bit, members in ((_BITS[Kind.NOT], denials()), (CONCEDES, listed("although")), (UNREAL, listed("unreal"))):
        yield from (((word,), bit) for word in members)
    for slots, bit in ((_OF_OTHERS, _OTHERS_BIT), (_NAMES, _NAMES_BIT), (_TELLS, _TELLS_BIT)):
        yield from ((phrase, bit) for phrase, slot in _told() if slot in slots)
    for verdict in (lexicon["verdict"] for lexicon in languages().values()):
        entries = chain.from_iterable(verdict.get(slot, ()) for slot in _REJECTS)
        yield from (([word.text for word in words(text)], REJECTS) for entry in entries for text in phrases(entry))


def _told() -> Iterator[tuple[Sequence[str], str]]:
    """The phrases of the parts of opinions, each with its slot."""
    return chain.from_iterable(terms for name in languages() for terms in slotted("opinion", name).values())


@cache
def _stances() -> Mapping[str, Sequence[Members]]:
    """The words of phrases by the last one."""
    table: dict[str, list[Members]] = {word: [(word,)] for word in denials()}
    governing = ([word.text for word in words(text)] for text in spoken(*_GOVERNING))
    for phrase in chain(governing, (phrase for phrase, _ in _told())):
        table.setdefault(phrase[-1].strip("'"), []).append(_bare(phrase))
    return table


_GOVERNING = (Kind.NOT, Kind.DIFFERS, Kind.BAD, Kind.DOUBT, Kind.MAYBE, Kind.IF, Kind.SAID)


@cache
def _by_last(kinds: Sequence[Kind]) -> Mapping[str, Sequence[Members]]:
    """The words of phrases by the one that they end in."""
    table: dict[str, list[Members]] = {}
    for phrase in spoken(*kinds):
        if last := _LAST_WORD.search(phrase):
            table.setdefault(last[0].lower(), []).append(_bare([word.text for word in words(phrase)]))
    return table


def _bare(phrase: Sequence[str]) -> Members:
    """The words of a phrase as `tokens` has them: "'s" is "s" there."""
    plain = {word if word == _NOT else word.strip("'") for word in phrase if any(map(str.isalpha, word))}
    if phrase[0] == _SIGNS[0]:
        plain.add(_SIGNS[0])
    return tuple(map(intern, sorted(plain))) or (phrase[0],)
