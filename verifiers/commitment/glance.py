"""A quick look at a sentence before its words are read: most sentences that mention a value do not commit to it or deny it.

It compares only the letters between spaces. A sentence that it does not rule out may still say nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache

from verifiers.commitment.cues import Kind, adverbs, last_words, listed, shortest, words_of
from verifiers.commitment.stance import ANNOUNCES, DENIES, MAX_VERDICT_CHARS, OPENS, Sentence
from verifiers.sightings import beyond_ascii

_ANYWHERE = ANNOUNCES | {Kind.ONLY, Kind.EXCEPT, Kind.YES}
_BEHIND = frozenset([Kind.CALLED, Kind.FITS, Kind.TRUE])
_BEFORE = frozenset([Kind.CHOOSE, Kind.SO])
_ALL = _ANYWHERE | _BEHIND | _BEFORE
_BOUND = frozenset([Kind.BOUND])
_UNMAKES = DENIES | _BOUND
_BETWEEN = frozenset([Kind.THE, Kind.NOUN, Kind.RIGHT, Kind.IS])
"""The kinds of words that may stand between a mention and the words that lead to it."""
Said = frozenset[bytes]
"""Words in ASCII. Bytes are cut into words and compared in a third of the time that texts take."""
_LETTERS = bytes(code if chr(code).isalpha() else 32 for code in range(128)).ljust(256)
_LEADING = bytes(code if chr(code).isalnum() else 44 if code in b",:;" else 32 for code in range(128)).ljust(256)
"""Tables that leave letters, or letters, digits and one sign for a pause, and put blanks in place of the rest."""
_DISPLAY_ENDS = b"\\]"
"""No phrase goes on behind a backslash, so that this bracket closes none: `\\[ 5 \\]` is not an "[ ]"."""
_NOT = b"nt"
"""Stands for "n't", whose letters would else be parts of other words."""
_NO_WORDS = OPENS | frozenset("*_`\ufe0f")
"""The signs that may stand between a limit and its number, apart from commands such as `\\text{`."""
_MAX_BOUND_CHARS = 16
"""The longest last word of a limit, and the longest command."""
_MAX_LEAD_CHARS = 100
_MAX_HEADED_CHARS = 60
_MAX_HEADING_WORDS = 8


def may_commit(sentence: Sentence, indices: Sequence[int], predecessor: Sentence | None) -> bool:
    """Whether a sentence may call a mention the answer, or conclude it.

    `indices` are those of the words of the mentions; empty means anywhere. `predecessor` is the sentence before.
    """
    text, start = sentence.text, sentence.heard_from
    display = text[start : sentence.end + MAX_VERDICT_CHARS]
    if ">" in display or not display.isascii():
        return True
    terms = _said(display)
    if not _compared().isdisjoint(terms):
        return True
    if not indices:
        return _says(_ALL, terms) or not _leads().isdisjoint(terms)
    if _says(_ANYWHERE, terms) or (not _subjects_of_exceptions().isdisjoint(terms) and _says(DENIES, terms)):
        return True
    if _says(_BEHIND, terms) and _says(_BEHIND, _said(text[indices[0] : sentence.end + MAX_VERDICT_CHARS])):
        return True
    if (_says(_BEFORE, terms) or not _subjects().isdisjoint(terms)) and any(
        _is_led(text[max(start, index - _MAX_LEAD_CHARS) : index]) for index in indices
    ):
        return True
    return predecessor is not None and indices[0] - start < _MAX_HEADED_CHARS and _may_head(predecessor)


def may_deny(sentence: Sentence) -> bool:
    """Whether a sentence, or a verdict behind it on its line, may deny a mention."""
    return _may_say(DENIES, sentence)


def may_limit(sentence: Sentence, index: int) -> bool:
    """Whether a sentence may call a mention at a place a limit: "at least 3"."""
    text, start = sentence.text, sentence.heard_from
    while index > start and (text[index - 1] in _NO_WORDS or text[index - 1].isspace()):
        index -= 1
    prefix = text[max(start, index - _MAX_BOUND_CHARS) : index].lower()
    return (prefix.endswith(_bounds()) or "\\" in prefix) and _may_say(_BOUND, sentence)


def _may_say(kinds: frozenset[Kind], sentence: Sentence) -> bool:
    text = sentence.text[sentence.heard_from : sentence.end + MAX_VERDICT_CHARS]
    if not text.isascii():
        text = text.lower().replace("\u2019", "'")
        if not _signs_beyond_ascii().isdisjoint(beyond_ascii(text)):
            return True
        text = text.encode("ascii", "replace").decode()
    return _says(kinds, _said(text))


def load() -> None:
    """Build the tables of words, before any response is read."""
    _leads()
    _compared()
    _subjects_of_exceptions()
    _between()
    _signs()
    _signs_beyond_ascii()
    _bounds()
    for kinds in (_ALL, _ANYWHERE, _BEHIND, _BEFORE, DENIES, _BOUND, ANNOUNCES):
        _by_rarest(kinds)


def _may_head(predecessor: Sentence) -> bool:
    """Whether a line may announce the beginning of the next line."""
    if "\n" not in predecessor.stop:
        return False
    text = predecessor.text[predecessor.heard_from : predecessor.end]
    is_heading = text.rstrip(" *_`").endswith((":", "：")) or len(text.split()) <= _MAX_HEADING_WORDS
    return is_heading and (not text.isascii() or _says(ANNOUNCES, _said(text)))


def _said(text: str) -> Said:
    """The words of a text that consist of letters, and its signs that phrases hold."""
    key = text.encode().lower().replace(_DISPLAY_ENDS, b" ")
    signs = [sign for sign in _signs() if sign in key]
    return frozenset([*key.replace(b"n't", b" " + _NOT + b" ").translate(_LETTERS).split(), *signs])


def _says(kinds: frozenset[Kind], terms: Said) -> bool:
    """Whether `terms` hold all words of some phrase of these kinds."""
    phrases = _by_rarest(kinds)
    return any(terms.issuperset(phrase) for word in phrases.keys() & terms for phrase in phrases[word])


def _is_led(prefix: str) -> bool:
    """Whether a text may end in a choice or a conclusion that leads to what follows."""
    leads, between = _leads(), _between()
    for word in reversed(prefix.encode("ascii", "replace").lower().translate(_LEADING).replace(b",", b" , ").split()):
        if word in leads or word == b",":
            return True
        if word not in between:
            return False
    return False


@cache
def _leads() -> Said:
    """The last words of phrases that lead to a mention.

    Behind a comma or a contrast such a phrase may stand anywhere.
    """
    return _bare(last_words(_BEFORE | {Kind.BUT})) | _subjects()


@cache
def _subjects() -> Said:
    """Words that lead to a mention together with a verb: "it is"."""
    return _bare(listed("subjects"))


@cache
def _subjects_of_exceptions() -> Said:
    """The nouns that may be called false: "the statement that is not true is"."""
    return _bare(words_of(frozenset([Kind.NOUN])) | listed("claims") | listed("nominal"))


@cache
def _compared() -> Said:
    """Words that call one of several mentions the better one."""
    return _bare(listed("compared"))


@cache
def _between() -> Said:
    return _bare(adverbs() | words_of(_BETWEEN))


def _bare(words: Iterable[str]) -> Said:
    """The words in ASCII, as they stand in a text without its signs."""
    return frozenset(_NOT if word == "n't" else _bare_word(word).encode() for word in words if word.isascii())


def _bare_word(word: str) -> str:
    return word[1:] if len(word) > 1 and word[0] == "'" else word


@cache
def _bounds() -> tuple[str, ...]:
    """The last words of phrases that make the number behind them a limit."""
    return tuple(last_words(_BOUND))


@cache
def _signs() -> Sequence[bytes]:
    """The ASCII words of phrases that are signs: the brackets of "[x]"."""
    return [word for word in _bare(words_of(_ALL | _UNMAKES)) if not word.isalpha()]


@cache
def _signs_beyond_ascii() -> frozenset[str]:
    """The characters beyond ASCII of all phrases that may deny."""
    return frozenset(beyond_ascii("".join(words_of(_UNMAKES))))


@cache
def _by_rarest(kinds: Set[Kind]) -> Mapping[bytes, Iterable[Said]]:
    """The words of phrases of some kinds, keyed by the word that the fewest phrases hold."""
    phrases = [_bare(wording) for wording in shortest(kinds) if "".join(wording).isascii()]
    often = Counter(word for phrase in phrases for word in phrase)
    table: dict[bytes, set[Said]] = {}
    for phrase in phrases:
        table.setdefault(min(phrase, key=lambda word: (not word.isalpha(), often[word], word)), set()).add(phrase)
    return {key: _shortest(terms) for key, terms in table.items()}


def _shortest(phrases: Iterable[Said]) -> Sequence[Said]:
    """The phrases that do not hold all words of another phrase."""
    hits: list[Said] = []
    for phrase in sorted(phrases, key=len):
        if not any(members <= phrase for members in hits):
            hits.append(phrase)
    return hits
