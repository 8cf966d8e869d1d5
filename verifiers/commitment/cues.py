"""Cues: words that say something about an answer beside them. One pass over a text finds the cues of all languages.

A lexicon (`lexicon/*.yaml`) lists phrases by kind; `(a|b|)` in a phrase stands for a, b or nothing. Phrases are
sequences of words, so that space, emphasis and case between them do not count. In scripts without spaces each character
is a word.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from functools import cache
from itertools import chain, islice, product
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

from verifiers import tables
from verifiers.commitment.letters import MARKS

LEXICON = Path(__file__).parent / "lexicon"


class Kind(StrEnum):
    """The meaning of a cue, and the side it acts on: the text behind it, before it, or on both sides."""

    ANSWER = "answer"
    """A noun that announces an answer if a verb or a colon follows: "the answer is"."""
    RESULT = "result"
    """A noun that announces an answer or only a step towards it."""
    FIND = "find"
    """Words before an answer's noun: the answer is spoken of, not given."""
    REMARK = "remark"
    """A remark about an answer, behind its verb, that does not give the answer."""
    NOUN = "noun"
    """A noun that may stand before an option's label."""
    BAD = "bad"
    """An adjective before an answer's noun that says it is not the answer."""
    GREETS = "greets"
    """Words before an answer that say nothing about it: "great question!"."""
    IT = "it"
    """A pronoun for the thing that a question asks for: "it is"."""
    ASKED = "asked"
    """A noun for the thing that a question asks for: "Year: 1969"."""
    SOURCE = "source"
    """The source of an answer: "according to the passage"."""
    AT = "at"
    """A word before a name or a figure that is not part of it: "in 1969"."""
    ABOUT = "about"
    """A word before a figure that is not exact."""
    BY = "by"
    """A word before the name of an author or maker."""
    EXPLAINS = "explains"
    """The heading of an explanation."""
    NEGATIVE = "negative"
    """The number behind it is below zero."""
    NOWHERE = "nowhere"
    """The thing asked for is not told, whether or not it exists (compare `NONE`): "the question cannot be answered"."""
    JOINS = "joins"
    """A word that may continue an option."""
    OTHER = "other"
    """The sentence is about something other than the answer."""
    RIGHT = "right"
    """An adjective or adverb that may stand beside these words and changes nothing."""
    THE = "the"
    IS = "is"
    SO = "so"
    """The text behind it is a conclusion."""
    CHOOSE = "choose"
    """The text behind it is the choice."""
    FITS = "fits"
    """The text before it is the one that fits."""
    CALLED = "called"
    """The text before it is called the answer."""
    ONLY = "only"
    NOT = "not"
    """The text behind it is denied, up to the verb of another clause."""
    DIFFERS = "differs"
    """What stands directly behind it is something else: "differs from 3", but not the 5 of "differs from it by 5"."""
    EXCEPT = "except"
    """The text behind it is an exception: what is said of the rest does not hold for it."""
    DOUBT = "doubt"
    """The whole clause behind it is denied or doubted."""
    MAYBE = "maybe"
    LIKELY = "likely"
    """The text behind it is only likely. In prose it changes nothing, but the content of a mark is left open by it."""
    IF = "if"
    SAID = "said"
    """The text behind it is the opinion of others, or an earlier opinion."""
    WRONG = "wrong"
    """The text before it is not the answer."""
    TRUE = "true"
    """The text before it is called true, whether or not the question asks for truth."""
    FALSE = "false"
    ENDS = "ends"
    """Words that continue a sentence behind an answer, in languages whose verb comes last."""
    NEUTRAL = "neutral"
    """Its words do not count as cues of their own: "no doubt"."""
    OR = "or"
    YES = "yes"
    """A verdict: a word or sign that stands alone beside what it judges."""
    NO = "no"
    BUT = "but"
    """Another statement or a correction follows."""
    BACK = "back"
    """The sentence takes back the one before it."""
    ALSO = "also"
    """The text beside it is right, too."""
    BECAUSE = "because"
    """The text behind it is about the answer, but not part of it."""
    ASIDE = "aside"
    """The text behind it goes with the answer: "2 left after subtracting 5"."""
    GUESS = "guess"
    """A degree of certainty. Before or behind a plain statement it changes nothing."""
    BOUND = "bound"
    """The number behind it is a limit."""
    LIMIT = "limit"
    """The number before it is a limit."""
    STAGE = "stage"
    """The text behind it is a step towards the answer, or repeats a part of the task."""
    NONE = "none"
    """The thing asked for does not exist, says the response."""
    COMPLEMENT = "complement"
    """A complement of "the answer" that leaves its meaning as it is: "the answer to this question"."""
    PART = "part"
    """The number behind it is a part of an expression."""
    LABEL = "label"
    """The number behind it says which one, not how much."""
    HAS = "has"
    """A verb before an amount."""
    MADE = "made"
    """The number before it is a part of a larger expression: "12 squared"."""
    CASE = "case"
    """The text behind it holds in one of several cases."""
    COURTESY = "courtesy"
    """A sentence that begins with it says nothing about the answer: "let me know", "hope this helps"."""
    CERTAINTY = "certainty"
    """A word for certainty, beside an amount or a degree: "confidence: 95%"."""
    SURE = "sure"
    """A word for certainty that counts only behind an amount ("95% sure"): "Sure: 95" is an answer."""
    DEGREE = "degree"
    """An amount without a number: "high"."""


def kinds(names: str) -> frozenset[Kind]:
    """Some kinds, by their names: "not maybe if"."""
    return frozenset(map(Kind, names.split()))


class Cue(NamedTuple):
    """A phrase of the lexicon found in a text, with the places of its words."""

    kind: Kind
    first: int
    stop: int


class Word(NamedTuple):
    """A word, a number, a character of a script without spaces, or a sign."""

    text: str
    start: int
    end: int


ALONE = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_LETTER = rf"(?:[^\W\d_{ALONE}]|[{MARKS}])"
_APOSTROPHE = "['\u2019]"
_NOT_NT = rf"(?!n{_APOSTROPHE}t(?![^\W_]))"
_PLAIN = rf"[^\W\d_{ALONE}{MARKS}]++(?!['\u2019{MARKS}])"
"""Most words: letters, with nothing behind them that could belong to them."""
_COMMAND = r"\\(?:text[a-z]{0,8}|math(?:rm|bf|it|sf)|[mh]box|q?quad)(?![A-Za-z])\s?\{?"
_CLITIC = rf"n{_APOSTROPHE}t(?![^\W_])|{_APOSTROPHE}(?:s|re|m|ll|d|ve)(?![^\W_])"
_WORD = re.compile(
    rf"{_PLAIN}|(?P<command>{_COMMAND})|{_CLITIC}|(?:{_NOT_NT}{_LETTER})+"
    rf"|[{ALONE}]|\d+(?:[.,]\d+)*|[^\s*_`\ufe0f]"
)
_CHOICE = re.compile(r"\(([^()]*)\)")


def words(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """The words between two places. Emphasis is not a word, nor are commands for words within mathematics."""
    end = len(text) if end is None else end
    phrase = [
        _new(Word, (match[0].lower().replace("\u2019", "'"), *match.span()))
        for match in _WORD.finditer(text, start, end)
        if match.lastindex is None
    ]
    has_name = text.find("May", start, end) >= 0 or text.find("NO", start, end) >= 0
    return _with_names(text, phrase) if has_name else phrase


def _with_names(text: str, phrase: Sequence[Word]) -> list[Word]:
    """The words, with capitals where they are names: the month of "May 5, 2021" is not the verb of "may be 5", and the
    formula NO2 is not a denial.
    """
    return [
        word._replace(text=text[word.start : word.end])
        if word.text in _NAMES and _NAMES[word.text].match(text, word.start)
        else word
        for word in phrase
    ]


_NAMES = {
    "may": re.compile(r"May(?!\s+(?:I\b|(?:be|have|not|also|well|it)\b))"),
    "no": re.compile(r"NO(?=[_^+(₂₃]|\d)"),
}


def first_word(text: str, start: int, end: int) -> str:
    """The text of the first word between two places; empty if there is no word."""
    for match in _WORD.finditer(text, start, end):
        if match.lastindex is None:
            return match[0].lower().replace("\u2019", "'")
    return ""


def has_words(text: str, start: int, end: int, count: int) -> bool:
    """Whether there are at least so many words between two places."""
    matches = (match for match in _WORD.finditer(text, start, end) if match.lastindex is None)
    return next(islice(matches, count - 1, None), None) is not None


_new = tuple.__new__
"""Makes the tuple of each word in half the time."""


class _Node:
    """A node of the tree of phrases: the next words of phrases that begin alike, and the kinds of those ending here."""

    __slots__ = ("following", "kinds", "plain")

    def __init__(self) -> None:
        self.following: dict[str, _Node] = {}
        self.kinds: dict[Kind, int] = {}
        """The kinds of the phrase, each with its languages, one bit per language."""
        self.plain = 0
        """The languages that the phrase identifies, one bit per language."""


def cues(phrase: Sequence[Word]) -> list[Cue]:
    """The longest phrase of each kind that begins at each word, in order, without those inside a neutral phrase.

    A word that means something else in English counts if a longer or clearer phrase or several such words identify its
    language, or if the text holds no English and a letter outside ASCII.
    """
    trie, skipped = _trie(), adverbs()
    texts = [word.text for word in phrase]
    hits: list[tuple[Cue, int]] = []
    spoken, neutral, count = _ENGLISH, 0, len(texts)
    for first, text in enumerate(texts):
        if (node := trie.get(text)) is None:
            continue
        longest: dict[Kind, tuple[int, int]] = {}
        index = first + 1
        while node is not None:
            spoken |= node.plain
            for kind, limit in node.kinds.items():
                longest[kind] = index, limit
            following = node.following
            if not following:
                break
            while index < count and texts[index] not in following and texts[index] in skipped:
                index += 1
            node = following.get(texts[index]) if index < count else None
            index += 1
        if Kind.NEUTRAL in longest:
            neutral = max(neutral, longest[Kind.NEUTRAL][0])
        for kind, (stop, limit) in longest.items():
            if stop > neutral or kind is Kind.NEUTRAL:
                hits.append((_new(Cue, (kind, first, stop)), limit))
    if not any(limit & _ENGLISH for _, limit in hits) and (_is_foreign(phrase) or _is_covered(phrase, hits)):
        return [cue for cue, _ in hits]
    signals = [cue for cue, limit in hits if limit & spoken]
    if len(hits) - len(signals) < _SEVERAL:
        return signals
    spoken |= _told_by_several(texts, [(cue, limit) for cue, limit in hits if not limit & spoken])
    return [cue for cue, limit in hits if limit & spoken]


_SEVERAL = 3


def _told_by_several(texts: Sequence[str], hits: Sequence[tuple[Cue, int]]) -> int:
    """The languages, one bit each, of which several words stand together that tell nothing alone: "la … est … ou"."""
    by_language: dict[int, set[str]] = {}
    for cue, limit in hits:
        while limit and len(texts[cue.first]) > 1:
            bit = limit & -limit
            by_language.setdefault(bit, set()).add(texts[cue.first])
            limit ^= bit
    return sum(bit for bit, terms in by_language.items() if len(terms) >= _SEVERAL)


def _is_foreign(phrase: Sequence[Word]) -> bool:
    return any(not word.text.isascii() for word in phrase)


def _is_covered(phrase: Sequence[Word], hits: Sequence[tuple[Cue, int]]) -> bool:
    """Whether all words belong to one lexicon: "10 o 20"."""
    covered = {index for cue, _ in hits for index in range(cue.first, cue.stop)}
    return all(index in covered for index, word in enumerate(phrase) if word.text.isalpha())


def phrases(text: str) -> Iterator[str]:
    """All forms of a phrase of the lexicon, one for each combination of its choices."""
    texts = _CHOICE.split(text)
    for chosen in product(*(part.split("|") if index % 2 else (part,) for index, part in enumerate(texts))):
        yield " ".join("".join(chosen).split())


_GLUED = re.compile(r"[^\s(|]\(|\)[^\s)|]")


def _parts(text: str) -> Sequence[Sequence[tuple[str, ...]]]:
    """The parts of a phrase, each with its choices as words.

    A phrase whose choices are parts of words is one part, with all its forms as choices.
    """
    if _GLUED.search(text):
        return [[_terms(phrase) for phrase in phrases(text)]]
    slots = [part.split("|") if index % 2 else [part] for index, part in enumerate(_CHOICE.split(text)) if part.strip()]
    return [[_terms(choice) for choice in part] for part in slots]


def _terms(text: str) -> tuple[str, ...]:
    """The words of a phrase, each kept once for all phrases that hold it."""
    return tuple([intern(word.text) for word in words(text)])


@cache
def _entries(language: str) -> Sequence[tuple[Kind, str]]:
    lexicon = languages()[language]
    return [(kind, entry) for kind in Kind for entry in lexicon.get(kind.value, ())]


@cache
def _parsed(language: str) -> Sequence[tuple[Kind, Sequence[Sequence[tuple[str, ...]]]]]:
    """The parts of the phrases of a language, each with its kind."""
    return [(kind, _parts(entry)) for kind, entry in _entries(language)]


def _words(language: str) -> set[str]:
    """All words of a lexicon's phrases."""
    return {word for _, slots in _parsed(language) for part in slots for choice in part for word in choice}


def shortest(kinds: Set[Kind]) -> Iterator[tuple[str, ...]]:
    """The words of the phrases of some kinds in all languages, without the parts that may be left out."""
    for slots in _of(kinds):
        for choices in product(*(part for part in slots if () not in part)):
            yield tuple(chain.from_iterable(choices))


def words_of(kinds: Set[Kind]) -> set[str]:
    """All words of the phrases of some kinds."""
    return {word for slots in _of(kinds) for part in slots for choice in part for word in choice}


def first_words(kinds: Set[Kind]) -> set[str]:
    """The words that a phrase of some kinds may begin with."""
    return {choice[0] for slots in _of(kinds) for choice in _ahead(slots)}


def _ahead(slots: Iterable[Sequence[tuple[str, ...]]]) -> Iterator[tuple[str, ...]]:
    """The choices up to the first part that may not be left out."""
    for part in slots:
        yield from filter(None, part)
        if () not in part:
            return


def _of(kinds: Set[Kind]) -> Iterator[Sequence[Sequence[tuple[str, ...]]]]:
    return (slots for language in languages() for kind, slots in _parsed(language) if kind in kinds)


@cache
def languages() -> Mapping[str, Mapping[str, Any]]:
    """The lexicons, by the names of their files."""
    return {path.stem: tables.texts(path) for path in sorted(LEXICON.glob("*.yaml"))}


@cache
def listed(name: str) -> frozenset[str]:
    """The words of a lexicon list that holds no cues: "adverbs", "pronouns"."""
    return frozenset(word for lexicon in languages().values() for word in lexicon.get(name, ()))


def adverbs() -> frozenset[str]:
    """Words that may stand anywhere within a phrase."""
    return listed("adverbs")


@cache
def alone(kind: Kind, language: str) -> frozenset[str]:
    """The single words of a language that are cues of a kind."""
    all_phrases = (phrase for each, entry in _entries(language) if each is kind for phrase in phrases(entry))
    return frozenset(phrase for phrase in all_phrases if " " not in phrase)


@cache
def vocabulary() -> frozenset[str]:
    """All words of the lexicons, also those that may stand before a label and say nothing."""
    return adverbs() | listed("leads") | {word for language in languages() for word in _words(language)}


@cache
def _trie() -> Mapping[str, _Node]:
    root = _Node()
    english = {*_words("en"), *languages()["en"]["english"]}
    for bit, language in enumerate(sorted(languages(), key=lambda item: item != "en")):
        for kind, slots in _parsed(language):
            for node, (phrase, is_english) in _ends(root, slots, english).items():
                is_plain = len(phrase) >= _PLAIN_CHARS or not phrase.isascii()
                node.plain |= (is_plain and not is_english) << bit
                node.kinds[kind] = node.kinds.get(kind, 0) | 1 << bit
    return _shared(root, {}).following


def _shared(node: _Node, table: dict[Any, _Node]) -> _Node:
    """The same tree in which all parts that are alike are one: phrases end in the same few ways."""
    following = {intern(word): _shared(child, table) for word, child in node.following.items()}
    key = node.plain, *node.kinds.items(), *((word, id(child)) for word, child in following.items())
    if (kept := table.get(key)) is None:
        node.following, kept = following, node
        table[key] = node
    return kept


def _ends(
    root: _Node, slots: Sequence[Sequence[tuple[str, ...]]], english: set[str]
) -> Mapping[_Node, tuple[str, bool]]:
    """Add all forms of a phrase to the tree: their last nodes, each with its letters and whether all is English."""
    table = {root: ("", True)}
    for part in slots:
        choices = [(choice, "".join(choice), english.issuperset(choice)) for choice in part]
        table = {
            _end(node, choice): (prefix + letters, was_english and is_english)
            for node, (prefix, was_english) in table.items()
            for choice, letters, is_english in choices
        }
    return table


def _end(node: _Node, texts: Sequence[str]) -> _Node:
    for word in texts:
        if (following := node.following.get(word)) is None:
            following = node.following[word] = _Node()
        node = following
    return node


_ENGLISH = 1
_PLAIN_CHARS = 3
