r"""A cheap look that tells of most texts that they name no option.

A text names an option only by one of these, where no command of LaTeX is left in it, and nothing but ASCII, signs and letters
that fold into none of it:

    a label at the end of a phrase, or before something that is no word     "C", "so C.", "C) Paris", "B and C", "C because"
    capitals in a row                                                       "AC", "A C", "(A)(C)"
    an option's whole text                                                  "Paris"
    where an option is a number, a phrase that is one                       "18.0", "B 18", "18 (B)"
    more pieces than any list of options has                                "1, 2, 3, ..."

What is looked for here is that and more, so that it can be found by RE2 in one pass. A text that is not declared to be the
answer must begin with that, or hold two of it, each at the beginning of a phrase.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

import re2

from verifiers.rules.multiple_choice.forms import EDGES, is_without_markup, without_markup
from verifiers.rules.multiple_choice.phrases import LEADS
from verifiers.rules.multiple_choice.scripts import CIRCLED
from verifiers.sightings import ASCII_SPACE, Scene, has_other_alphabets, hides_ascii

MAX_PIECES = 64
_JOINTS = bytes(ord(" ") if chr(byte) in f"{EDGES},;/&+\n" else byte for byte in range(256))
"""What stands between pieces, made space."""
_EMPHASIS = b"$*`"
_MARKS = _EMPHASIS + b"_"
_LOWERED = bytes(ord(" ") if chr(byte).isspace() else byte for byte in range(0x80)).lower() + bytes(range(0x80, 0x100))
"""In lower case, with one kind of space."""
_PARTED = bytes(ord(" ") if byte == ord("_") else byte for byte in range(256))
"""An underscore may be emphasis, or a part of a word."""
_SIGNS = frozenset("".join(CIRCLED))
_KEY = re.compile(r"[a-z0-9]{1,8}")
_JOINTS_IN_WORDS = "(?:and|or|und|oder|et|ou|y)"
_JOINT = rf"{_JOINTS_IN_WORDS}(?:\z|[^a-z])"
_ENDS = rf"{ASCII_SPACE}*(?:\z|\n|[^a-z0-9\t-\r\x1c-\x20]|{_JOINT}|because|since|as(?:\z|[^a-z]))"
"""Behind a label nothing that makes it part of a phrase."""
_FILLERS = (
    "the|an|is|are|its?|s|options?|choices?|letters?|answers?|correct|right|best|final|indeed|clearly|definitely|certainly|obviously"
    "|evidently|surely|undoubtedly|actually|simply|really|most|likely|probably|la|el|il|les?|der|die|de|letra|lettre|lettera|opcion"
    "|opzione|alternativa|buchstabe|antwort"
)
"""Words that may stand between a lead, or the beginning of a phrase, and an option; and more."""
_FILLER = re.compile(_FILLERS.encode())
_ARTICLES = (b"a", b"o")
"""Portuguese fillers, which may be labels."""
_WORD = re.compile(rb"[a-z0-9]+")
_LETTER = re.compile(rb"[a-z]")
_DIGIT = re.compile(rb"[0-9]")
_LEAD = re2.compile(f"(?i){LEADS}".encode())
_GAP = rf"(?:[^a-z0-9]|{_FILLERS}|opci\?n|op\?\?o|both|either|all|of|a|o)*"
"""Fillers and signs between a lead, or the beginning of a phrase, and an option; and more."""
_NEXT_WORD = re.compile(rb"[^A-Za-z0-9?\\<]*([A-Za-z0-9$*`_]*)([?\\<]?)")
_BEGINS = rf"(?:\A|[,;/&+\n]|(?:\A|[^a-z]){_JOINTS_IN_WORDS}){_GAP}\b"
_MAX_SEARCHES = 16
_MAX_SEARCHED_CHARS = 32_000
"""A search may read the rest of a text; where there are more of them, or more text, each lead is looked at by itself."""
_MAX_LEADS = 64
_FOLLOWS_CHARS = 200
"""Behind a lead; more than may stand between it and the first word of an option, and that."""


class FirstLook:
    """What a text must hold to name one of some options."""

    def __init__(self, keys: Collection[str], forms: Sequence[str], has_numbers: Callable[[], bool]) -> None:
        """`keys`: the labels, folded; `forms`: the texts, by what makes them the same; `has_numbers`: one is a number."""
        self._is_ascii = all(map(str.isascii, (*keys, *forms)))
        self._keys = tuple(key for key in keys if key.isascii())
        plain = [b" ".join(_plain(form).split()) for form in forms if form.isascii()]
        texts = [form for form in plain if _LETTER.search(form) or not _DIGIT.search(form)]
        self._forms = [(form, max(form.split(), key=len, default=b"")) for form in texts]
        """With the longest word of each."""
        self._has_digits = len(self._forms) < len(plain) or any(map(_DIGIT.search, map(str.encode, self._keys)))
        self._has_numbers = has_numbers
        beginnings = [_first_word(_plain(form)) for form in forms]
        self._beginnings = {*map(str.encode, self._keys), *_ARTICLES, *beginnings}
        self._is_blind = not all(map(_KEY.fullmatch, self._keys)) or any(map(_FILLER.fullmatch, self._beginnings))
        self._passes_all = self._is_blind or b"" in beginnings

    def may_name(self, text: str, is_declared: bool) -> bool:
        """Whether a text may name one; behind a label in one that is declared to be the answer may stand anything."""
        if self._is_blind or (not text.isascii() and (is_declared or not self._is_ascii or _may_be_other_label(text))):
            return True
        if "\\" in text and not is_without_markup(text := without_markup(text, depth=3)):
            return True
        shadow = text.encode("ascii", "replace")
        if self._mentions(shadow):
            return True
        parted, plain = shadow.translate(_PARTED, _EMPHASIS), shadow.translate(None, _MARKS)
        is_whole = not is_declared and not shadow.lstrip().startswith(b"<")
        labels = _beginning_with_label if is_whole else _named_by_label
        places = _places(labels(self._keys), parted)
        if self._has_digits or self._has_numbers():
            places = chain(places, _places(_named_by_number(self._keys), plain))
        first = next(places, None)
        if first is not None and (first == 0 or not is_whole or self._has_two(parted, places)):
            return True
        if is_declared and (b"=" in shadow or self._may_begin(shadow, 0)):
            return True
        return len(plain) > MAX_PIECES and len(plain.translate(_JOINTS).split()) > MAX_PIECES

    def _has_two(self, parted: bytes, other_places: Iterator[int]) -> bool:
        """Whether a second phrase begins with an option; the last of a list may go on behind it."""
        return next(other_places, None) is not None or len([*_places(_beginning_loosely(self._keys), parted)]) > 1

    def leads(self, seen: Scene, start: int) -> list[int] | None:
        """Where `LEADS` are, in a text that has a shadow, that an option may follow; None where there are too many."""
        shadow = seen.shadow or b""
        is_short = not self._passes_all and len(shadow) - start <= _MAX_SEARCHED_CHARS
        if is_short and not self._hides_or_mentions(seen.text[start:], shadow[start:]):
            leads = _leads_to(self._keys, self._has_digits or self._has_numbers())
            found = [*islice(_places(leads, shadow, start), _MAX_SEARCHES + 1)]
            if len(found) <= _MAX_SEARCHES:
                return found
        spans = [lead.span() for lead in islice(_LEAD.finditer(shadow, start), _MAX_LEADS + 1)]
        if len(spans) > _MAX_LEADS:
            return None
        return [first for first, end in spans if self._passes_all or self._may_begin(shadow, end)]

    def _hides_or_mentions(self, text: str, shadow: bytes) -> bool:
        if not text.isascii() and not self._is_ascii:
            return True
        return self._mentions(shadow, in_part="\\" in text) or hides_ascii(text)

    def _mentions(self, shadow: bytes, in_part: bool = False) -> bool:
        """Whether the whole text of an option, as a shadow shows it, is somewhere in another text; or a word of it."""
        if not self._forms:
            return False
        plain = shadow.translate(_LOWERED, _MARKS)
        forms = [form for form, word in self._forms if word in plain]
        while forms and not in_part and b"  " in plain:
            plain = plain.replace(b"  ", b" ")
        return any(in_part or form in plain for form in forms)

    def _may_begin(self, shadow: bytes, position: int) -> bool:
        """Whether what stands at a place, fillers left out, may begin an option's name."""
        end = position + _FOLLOWS_CHARS
        while found := _NEXT_WORD.match(shadow, position, end):
            position = found.end()
            if found[2] or position == end or b"_" in found[1]:
                return True
            word = found[1].lower().translate(None, _MARKS)
            if not _FILLER.fullmatch(word):
                break
        return word in self._beginnings or (
            _DIGIT.search(word) is not None and (self._has_digits or self._has_numbers())
        )


def _places(pattern: Any, shadow: bytes, start: int = 0) -> Iterator[int]:
    """Where an expression matches; matches may overlap."""
    while match := pattern.search(shadow, start):
        yield match.start()
        start = match.start() + 1


def _may_be_other_label(text: str) -> bool:
    """Whether there is more than ASCII and signs that are no labels."""
    return has_other_alphabets(text) or hides_ascii(text) or not _SIGNS.isdisjoint(text)


def _plain(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(None, _MARKS)


def _first_word(form: bytes) -> bytes:
    """The first word of an option's text that is no filler."""
    return next((word for word in _WORD.findall(form) if not _FILLER.fullmatch(word)), b"")


@lru_cache(maxsize=256)
def _named_by_label(keys: tuple[str, ...]) -> Any:
    """A label as a word of its own, with nothing behind it that makes it part of a phrase, or capitals in a row."""
    return re2.compile(rf"(?i)(?:{_any_of(keys)}){_ENDS}|(?-i:[A-Z][)\]]?{ASCII_SPACE}?[(\[]?[A-Z])".encode())


@lru_cache(maxsize=256)
def _beginning_with_label(keys: tuple[str, ...]) -> Any:
    """A phrase that begins with a label and ends, or goes on in signs, or nothing but capitals."""
    label = rf"{_BEGINS}(?:{'|'.join(keys)}){_ENDS}"
    return re2.compile(rf"(?i){label}|\A{_GAP}(?-i:[A-Z][^a-z0-9]*[A-Z])[^a-z0-9]*\z".encode())


@lru_cache(maxsize=256)
def _beginning_loosely(keys: tuple[str, ...]) -> Any:
    return re2.compile(rf"(?i){_BEGINS}(?:{'|'.join(keys)})(?:\z|[^a-z0-9])".encode())


@lru_cache(maxsize=256)
def _leads_to(keys: tuple[str, ...], has_numbers: bool) -> Any:
    """`LEADS`, and behind one a label, or a number where `has_numbers`, or what a shadow does not show."""
    label = rf"(?:\b|_)(?:{'|'.join(keys)}){_ENDS}"
    hidden = r"[?\\<]|[a-z0-9]+[$*`_]+[a-z0-9]"
    number = rf"|(?:\b(?:{'|'.join(keys)})[^a-z0-9]+)?[0-9]+(?:\z|[^a-z0-9 ]| [^a-z]| (?:because|since|as)\b)"
    return re2.compile(rf"(?i)(?:{LEADS}){_GAP}(?:{label}|{hidden}{number if has_numbers else ''})".encode())


@lru_cache(maxsize=256)
def _named_by_number(keys: tuple[str, ...]) -> Any:
    """A phrase with a digit and without letters, except for fillers and a label beside it."""
    joint = rf"[,;/&+\n]|{_JOINT}"
    before = rf"(?:\A|{joint}){_GAP}(?:(?:{_any_of(keys)})[^a-z0-9]+)?"
    beside = rf"(?:(?:option|choice)[^a-z]*)?(?:(?:{_any_of(keys)})[^a-z0-9]*)?"
    return re2.compile(rf"(?i){before}[0-9][^a-z]*{beside}(?:\z|{joint})".encode())


def _any_of(keys: Iterable[str]) -> str:
    """Labels; digits may follow a word at once, as in "option2"."""
    words = "|".join(key for key in keys if key[0].isalpha())
    numbers = "|".join(key for key in keys if not key[0].isalpha())
    return "|".join(
        f"(?:\\A|{before})(?:{each})" for each, before in ((words, "[^a-z0-9]"), (numbers, "[^0-9]")) if each
    )
