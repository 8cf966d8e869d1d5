r"""Formulas in words, as they are written: "x must be at least 5" is `x \ge 5`, "the square root of 2" is `\sqrt{2}`.

What is said for which sign stands under `written` in the lexicons. A saying has one relation at most, and on each side one
value: a number, a name, a formula, a root or logarithm of one, or two with one sign between them. Whatever could be meant in
two ways ("the square root of 2 times 3") is none.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from verifiers import numerals
from verifiers.commitment.cues import Kind, Word, cues, languages, listed, phrases, words

RELATIONS = {">": ">", ">=": r"\ge", "<": "<", "<=": r"\le"}
_PREFIXES = {"sqrt": r"\sqrt{%s}", "cbrt": r"\sqrt[3]{%s}"}
_INFIXES = {"/": r"\frac{%s}{%s}", "*": r"%s \cdot %s"}
ABSENCES = ("no solution", "does not exist")
"""What is said where there is nothing to write."""
_VALUES = (r"\infty", r"-\infty", r"\mathbb{R}")
"""Signs that are a whole value."""
_MAX_CHARS = 120
_ATOM = re.compile(r"[-−+]?(?:\d[\d.,]*|[A-Za-z]|\\?pi|π|\d+/\d+|\\[dt]?frac\{-?\d+\}\{\d+\})")
_SUBJECT = re.compile(r"\$?(?:[A-Za-z](?:_\d)?|\|[A-Za-z]\|)\$?")

_Piece = tuple[str, str]
"""The sign that a phrase is said for, or none and the text as it stands."""


def in_signs(text: str) -> str | None:
    """A formula in words as LaTeX; None where a text is none, or more."""
    if len(text) > _MAX_CHARS:
        return None
    phrase = words(text)
    first = next((index for index in range(len(phrase)) if relates(phrase, index)), None)
    if first is None:
        pieces = _pieces(text, phrase)
        return _value(pieces) if any(sign for sign, _ in pieces) else None
    (sign, _), *pieces = _pieces(text, phrase[first:])
    subject, value = _subject(text, phrase, first), _value(pieces)
    return None if subject is None or value is None else f"{subject} {RELATIONS[sign]} {value}".strip()


def relates(phrase: Sequence[Word], index: int) -> bool:
    """Whether a phrase for a relation begins at a word."""
    return any(sign in RELATIONS for sign, _ in _at(phrase, index))


def subject_end(phrase: Sequence[Word], stop: int) -> int:
    """The place behind the name that the words before a relation are told of, without their verb: "x", "x is", "x can be"."""
    if stop > 1 and phrase[stop - 1].text in listed("being") and phrase[stop - 2].text in listed("able"):
        return stop - 2
    return min([cue.first for cue in cues(phrase) if cue.kind is Kind.IS and cue.stop == stop], default=stop)


def divides(phrase: Sequence[Word], index: int) -> int:
    """The place behind words for a division that begin at a word; the same place if there are none."""
    return max((stop for sign, stop in _at(phrase, index) if sign == "/"), default=index)


def may_divide(word: str) -> bool:
    """Whether words for a division may begin with a word."""
    return any(sign == "/" for _, sign in _written().get(word, ()))


def finds_none(phrase: Sequence[Word], index: int) -> bool:
    """Whether the words from a place to the end say that there is no solution, or that what was asked for does not exist."""
    return any((sign, len(phrase)) in _at(phrase, index) for sign in ABSENCES)


def names_value(phrase: Sequence[Word], index: int) -> bool:
    """Whether the words from a place to the end are the name of a value: "infinity"."""
    return any((sign, len(phrase)) in _at(phrase, index) for sign in _VALUES)


def _pieces(text: str, phrase: Sequence[Word]) -> Sequence[_Piece]:
    """The phrases that are said for a sign, and what stands between them."""
    pieces: list[_Piece] = []
    index = start = 0
    while index < len(phrase):
        sign, stop = max(_at(phrase, index), key=lambda item: item[1], default=("", index))
        if sign:
            pieces += [*_between(text, phrase, start, index), (sign, "")]
            start = index = stop
        else:
            index += 1
    return pieces + _between(text, phrase, start, len(phrase))


def _between(text: str, phrase: Sequence[Word], first: int, stop: int) -> list[_Piece]:
    return [("", text[phrase[first].start : phrase[stop - 1].end])] if first < stop else []


def _at(wording: Sequence[Word], index: int) -> Sequence[tuple[str, int]]:
    """The signs for which phrases are said that begin at a word, and where those end."""
    items = _written().get(wording[index].text, ())
    hits = [(sign, index + len(phrase)) for phrase, sign in items]
    return [
        (sign, stop)
        for (sign, stop), (phrase, _) in zip(hits, items, strict=True)
        if [word.text for word in wording[index:stop]] == list(phrase)
    ]


@cache
def _written() -> Mapping[str, Sequence[tuple[Sequence[str], str]]]:
    """The phrases with their signs, by their first words."""
    table: dict[str, list[tuple[Sequence[str], str]]] = {}
    for lexicon in languages().values():
        for sign, entries in lexicon.get("written", {}).items():
            for phrase in (item for entry in entries for item in phrases(entry)):
                texts = [word.text for word in words(phrase)]
                table.setdefault(texts[0], []).append((texts, sign))
    return table


def _subject(text: str, phrase: Sequence[Word], stop: int) -> str | None:
    """The name of which a relation is told, without its verb; empty where none is."""
    if not stop:
        return ""
    stop = subject_end(phrase, stop)
    display = text[phrase[0].start : phrase[stop - 1].end] if stop else ""
    return display.strip("$") if _SUBJECT.fullmatch(display) else None


def _value(pieces: Sequence[_Piece]) -> str | None:
    """What one value is written as: `a`, `sqrt a`, `log a of b`, or two of them with a sign between."""
    infixes = [index for index, (sign, _) in enumerate(pieces) if sign in _INFIXES]
    if not infixes:
        return _term(pieces)
    items, right = pieces[: infixes[0]], pieces[infixes[0] + 1 :]
    if len(infixes) > 1 or len(items) != 1:
        return None
    sides = _term(items), _term(right)
    return None if None in sides else _INFIXES[pieces[infixes[0]][0]] % sides


def _term(pieces: Sequence[_Piece]) -> str | None:
    match [sign for sign, _ in pieces]:
        case [""]:
            return _atom(pieces[0][1])
        case [sign] if sign in ABSENCES or sign in _VALUES:
            return sign
        case [prefix, ""] if prefix in _PREFIXES:
            content = _atom(pieces[1][1])
            return None if content is None else _PREFIXES[prefix] % content
        case ["log", "", "of", ""]:
            base, content = _atom(pieces[1][1]), _atom(pieces[3][1])
            return None if base is None or content is None else rf"\log_{{{base}}}({content})"
    return None


def _atom(text: str) -> str | None:
    """A number or a name, in figures or in words."""
    bare = text.strip(" .").strip("$ ")
    if _ATOM.fullmatch(bare):
        return rf"\{bare}" if bare == "pi" else bare
    value = numerals.value(bare)
    return None if value is None else f"({value})" if value < 0 or value.denominator > 1 else str(value)
