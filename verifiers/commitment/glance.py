"""A quick look at the words of a text, before its cues are read: most sentences hold no phrase of the kinds that matter.

A phrase needs all its words. A text that has them may still not hold the phrase.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from itertools import chain

from verifiers.commitment.contrasts import denials
from verifiers.commitment.cues import ALONE, Kind, cues, languages, shortest, vocabulary, words
from verifiers.commitment.letters import MARKS
from verifiers.commitment.slots import slotted
from verifiers.commitment.wording import single, spoken

Tokens = frozenset[str]
"""The words of a text, as its cues are read from, without those of signs and figures in ASCII."""
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
_TELLS = ("by", "gets", "holds", "puts", "says")
_ANSWER = frozenset([Kind.ANSWER])


def tokens(text: str, start: int, end: int) -> Tokens:
    """The words of a part of a text."""
    part = text[start:end].lower()
    if part.isascii():
        phrase = part.translate(_LETTERS).split()
    else:
        part = part.replace("\u2019", "'")
        phrase = _WORDS.findall(part)
    phrase += [sign for sign in _SIGNS if sign in part]
    if _NOT in part:
        phrase += [_NOT, *_WORDS.findall(part.replace(_NOT, " "))]
    return frozenset(phrase)


def may_hold(members: Tokens, kinds: Set[Kind]) -> bool:
    """Whether a text of some words may hold a phrase of some kinds."""
    return _holds(members, _of_kinds(frozenset(kinds)))


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


def may_tell_opinion(members: Tokens, text: str, start: int, end: int) -> bool:
    """Whether a text of some words may tell the opinion of somebody else."""
    if _holds(members, _opinion(_OF_OTHERS)):
        return True
    # Somebody with a name tells an opinion by a verb, or has an answer.
    is_told = _holds(members, _opinion(_TELLS)) or may_hold(members, _ANSWER)
    return is_told and (_holds(members, _opinion(_NAMES)) or any(map(_is_name, _NAME.findall(text, start, end))))


def _is_name(word: str) -> bool:
    return word[0].isupper() and word[1:].islower() and word.lower() not in vocabulary()


Table = Mapping[str, Sequence[Tokens]]
"""The words of phrases, by the one that is in the fewest of them; signs count for nothing."""


def _holds(members: Tokens, table: Table) -> bool:
    return any(members.issuperset(phrase) for word in members & table.keys() for phrase in table[word])


@cache
def _of_kinds(kinds: Set[Kind]) -> Table:
    single = [(word,) for word in denials() if Kind.NOT in kinds]
    return _by_rarest([*shortest(kinds), *single])


@cache
def _by_last(kinds: Sequence[Kind]) -> Table:
    """The words of phrases by the one that they end in."""
    table: dict[str, list[Tokens]] = {}
    for phrase in spoken(*kinds):
        if last := _LAST_WORD.search(phrase):
            table.setdefault(last[0].lower(), []).append(_bare([word.text for word in words(phrase)]))
    return table


@cache
def _opinion(slots: Sequence[str]) -> Table:
    tables = [slotted("opinion", language) for language in languages()]
    members = chain.from_iterable(terms for table in tables for terms in table.values())
    return _by_rarest(phrase for phrase, slot in members if slot in slots)


def _by_rarest(phrases: Iterable[Sequence[str]]) -> Table:
    sides = {_bare(phrase) for phrase in phrases}
    often = Counter(chain.from_iterable(sides))
    table: dict[str, list[Tokens]] = {}
    for side in sides:
        table.setdefault(min(side, key=lambda word: (often[word], word)), []).append(side)
    return table


def _bare(phrase: Sequence[str]) -> Tokens:
    """The words of a phrase as `tokens` has them: "'s" is "s" there."""
    plain = (word if word == _NOT else word.strip("'") for word in phrase if any(map(str.isalpha, word)))
    return frozenset(plain) | ({_SIGNS[0]} if phrase[0] == _SIGNS[0] else frozenset()) or frozenset(phrase[:1])
