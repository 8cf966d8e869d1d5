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
    said = words(text)
    first = next((place for place in range(len(said)) if relates(said, place)), None)
    if first is None:
        pieces = _pieces(text, said)
        return _value(pieces) if any(sign for sign, _ in pieces) else None
    (sign, _), *pieces = _pieces(text, said[first:])
    subject, value = _subject(text, said, first), _value(pieces)
    return None if subject is None or value is None else f"{subject} {RELATIONS[sign]} {value}".strip()


def relates(said: Sequence[Word], place: int) -> bool:
    """Whether a phrase for a relation begins at a word."""
    return any(sign in RELATIONS for sign, _ in _at(said, place))


def subject_end(said: Sequence[Word], stop: int) -> int:
    """The place behind the name that the words before a relation are told of, without their verb: "x", "x is", "x can be"."""
    if stop > 1 and said[stop - 1].text in listed("being") and said[stop - 2].text in listed("able"):
        return stop - 2
    return min([cue.first for cue in cues(said) if cue.kind is Kind.IS and cue.stop == stop], default=stop)


def divides(said: Sequence[Word], place: int) -> int:
    """The place behind words for a division that begin at a word; the same place if there are none."""
    return max((stop for sign, stop in _at(said, place) if sign == "/"), default=place)


def may_divide(word: str) -> bool:
    """Whether words for a division may begin with a word."""
    return any(sign == "/" for _, sign in _written().get(word, ()))


def finds_none(said: Sequence[Word], place: int) -> bool:
    """Whether the words from a place to the end say that there is no solution, or that what was asked for does not exist."""
    return any((sign, len(said)) in _at(said, place) for sign in ABSENCES)


def names_value(said: Sequence[Word], place: int) -> bool:
    """Whether the words from a place to the end are the name of a value: "infinity"."""
    return any((sign, len(said)) in _at(said, place) for sign in _VALUES)


def _pieces(text: str, said: Sequence[Word]) -> Sequence[_Piece]:
    """The phrases that are said for a sign, and what stands between them."""
    pieces: list[_Piece] = []
    place = begun = 0
    while place < len(said):
        sign, stop = max(_at(said, place), key=lambda each: each[1], default=("", place))
        if sign:
            pieces += [*_between(text, said, begun, place), (sign, "")]
            begun = place = stop
        else:
            place += 1
    return pieces + _between(text, said, begun, len(said))


def _between(text: str, said: Sequence[Word], first: int, stop: int) -> list[_Piece]:
    return [("", text[said[first].start : said[stop - 1].end])] if first < stop else []


def _at(said: Sequence[Word], place: int) -> Sequence[tuple[str, int]]:
    """The signs for which phrases are said that begin at a word, and where those end."""
    known = _written().get(said[place].text, ())
    found = [(sign, place + len(phrase)) for phrase, sign in known]
    return [
        (sign, stop)
        for (sign, stop), (phrase, _) in zip(found, known, strict=True)
        if [word.text for word in said[place:stop]] == list(phrase)
    ]


@cache
def _written() -> Mapping[str, Sequence[tuple[Sequence[str], str]]]:
    """The phrases with their signs, by their first words."""
    found: dict[str, list[tuple[Sequence[str], str]]] = {}
    for lexicon in languages().values():
        for sign, entries in lexicon.get("written", {}).items():
            for phrase in (each for entry in entries for each in phrases(entry)):
                said = [word.text for word in words(phrase)]
                found.setdefault(said[0], []).append((said, sign))
    return found


def _subject(text: str, said: Sequence[Word], stop: int) -> str | None:
    """The name of which a relation is told, without its verb; empty where none is."""
    if not stop:
        return ""
    stop = subject_end(said, stop)
    shown = text[said[0].start : said[stop - 1].end] if stop else ""
    return shown.strip("$") if _SUBJECT.fullmatch(shown) else None


def _value(pieces: Sequence[_Piece]) -> str | None:
    """What one value is written as: `a`, `sqrt a`, `log a of b`, or two of them with a sign between."""
    infixes = [place for place, (sign, _) in enumerate(pieces) if sign in _INFIXES]
    if not infixes:
        return _term(pieces)
    left, right = pieces[: infixes[0]], pieces[infixes[0] + 1 :]
    if len(infixes) > 1 or len(left) != 1:
        return None
    sides = _term(left), _term(right)
    return None if None in sides else _INFIXES[pieces[infixes[0]][0]] % sides


def _term(pieces: Sequence[_Piece]) -> str | None:
    match [sign for sign, _ in pieces]:
        case [""]:
            return _atom(pieces[0][1])
        case [sign] if sign in ABSENCES or sign in _VALUES:
            return sign
        case [prefix, ""] if prefix in _PREFIXES:
            inner = _atom(pieces[1][1])
            return None if inner is None else _PREFIXES[prefix] % inner
        case ["log", "", "of", ""]:
            base, inner = _atom(pieces[1][1]), _atom(pieces[3][1])
            return None if base is None or inner is None else rf"\log_{{{base}}}({inner})"
    return None


def _atom(text: str) -> str | None:
    """A number or a name, in figures or in words."""
    bare = text.strip(" .").strip("$ ")
    if _ATOM.fullmatch(bare):
        return rf"\{bare}" if bare == "pi" else bare
    value = numerals.value(bare)
    return None if value is None else f"({value})" if value < 0 or value.denominator > 1 else str(value)
