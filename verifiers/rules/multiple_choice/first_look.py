r"""A cheap look that tells of most texts that they name no option.

A text names an option only by one of these, where it is ASCII and no command of LaTeX is left in it:

    a label at the end of a phrase, or before something that is no word     "C", "so C.", "C) Paris", "B and C", "C because"
    capitals in a row                                                       "AC", "A C", "(A)(C)"
    an option's whole text                                                  "Paris"
    where an option is a number, a phrase that is one                       "18.0", "B 18"
    more pieces than any list of options has                                "1, 2, 3, ..."

What is looked for here is that and more, so that it can be found by RE2 in one pass.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import re2

from verifiers.rules.multiple_choice.forms import EDGES, is_without_markup, without_markup
from verifiers.rules.multiple_choice.phrases import LEADS
from verifiers.sightings import ASCII_SPACE

MAX_PIECES = 64
_JOINTS = bytes(ord(" ") if chr(byte) in f"{EDGES},;/&+\n" else byte for byte in range(256))
"""What stands between pieces, made space."""
_SPACES = bytes(ord(" ") if 0x1C <= byte <= 0x1F else byte for byte in range(256))
_EMPHASIS = b"$*`"
_MARKS = _EMPHASIS + b"_"
_PARTED = bytes(ord(" ") if byte == ord("_") else byte for byte in range(256))
"""An underscore may be emphasis, or a part of a word."""
_KEY = re.compile(r"[a-z0-9]{1,8}")
_JOINT = r"(?:and|or|und|oder|et|ou|y)(?:\z|[^a-z])"
_FILLERS = (
    "the|is|are|its?|s|options?|choices?|letters?|answers?|correct|right|best|final|indeed|clearly|definitely|certainly|obviously"
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
_NEXT_WORD = re.compile(rb"[^A-Za-z0-9?\\<]*([A-Za-z0-9$*`_]*)([?\\<]?)")
_FOLLOWS_CHARS = 200
"""Behind a lead; more than may stand between it and the first word of an option, and that."""


class FirstLook:
    """What a text must hold to name one of some options."""

    def __init__(self, keys: Iterable[str], forms: Iterable[str], has_numbers: Callable[[], bool]) -> None:
        """`keys`: the labels, folded; `forms`: the texts, by what makes them the same; `has_numbers`: one is a number."""
        self._keys = tuple(key for key in keys if key.isascii())
        plain = [b" ".join(_plain(form).split()) for form in forms if form.isascii()]
        self._forms = [form for form in plain if _LETTER.search(form) or not _DIGIT.search(form)]
        self._has_digits = len(self._forms) < len(plain) or any(map(_DIGIT.search, map(str.encode, self._keys)))
        self._has_numbers = has_numbers
        beginnings = [_first_word(_plain(form)) for form in forms]
        self._beginnings = {*map(str.encode, self._keys), *_ARTICLES, *beginnings}
        self._is_blind = not all(map(_KEY.fullmatch, self._keys)) or any(map(_FILLER.fullmatch, self._beginnings))
        self._passes_all = self._is_blind or b"" in beginnings

    def may_name(self, text: str, is_declared: bool) -> bool:
        """Whether a text may name one; behind a label in one that is declared to be the answer may stand anything."""
        if self._is_blind or not text.isascii():
            return True
        if "\\" in text and not is_without_markup(text := without_markup(text, depth=3)):
            return True
        shadow, plain = text.encode(), _plain(text)
        parted = shadow.translate(_PARTED, _EMPHASIS)
        if _named_by_label(self._keys).search(parted) is not None or (is_declared and self._may_begin(shadow, 0)):
            return True
        lowered = b" ".join(plain.lower().translate(_SPACES).split())
        if any(form in lowered for form in self._forms):
            return True
        if _named_by_number(self._keys).search(plain) is not None and (self._has_digits or self._has_numbers()):
            return True
        return len(plain.translate(_JOINTS).split()) > MAX_PIECES

    def leads(self, shadow: bytes, start: int) -> Iterator[tuple[int, bool]]:
        """Where in the shadow of a text `LEADS` are, and whether an option may follow."""
        for lead in _LEAD.finditer(shadow, start):
            yield lead.start(), self._passes_all or self._may_begin(shadow, lead.end())

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


def _plain(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(None, _MARKS)


def _first_word(form: bytes) -> bytes:
    """The first word of an option's text that is no filler."""
    return next((word for word in _WORD.findall(form) if not _FILLER.fullmatch(word)), b"")


@lru_cache(maxsize=256)
def _named_by_label(keys: tuple[str, ...]) -> Any:
    """A label as a word of its own, with nothing behind it that makes it part of a phrase, or capitals in a row."""
    label = rf"(?:{_any_of(keys)}){ASCII_SPACE}*(?:\z|\n|[^a-z0-9\t-\r\x1c-\x20]|{_JOINT}|because|since)"
    return re2.compile(rf"(?i){label}|(?-i:[A-Z][)\]]?{ASCII_SPACE}?[(\[]?[A-Z])".encode())


@lru_cache(maxsize=256)
def _named_by_number(keys: tuple[str, ...]) -> Any:
    """A phrase with a digit and without letters, except for fillers and a label before it."""
    joint = rf"[,;/&+\n]|{_JOINT}"
    before = rf"(?:\A|{joint})(?:[^a-z0-9]|{_FILLERS}|a|o)*(?:(?:{_any_of(keys)})[^a-z0-9]+)?"
    return re2.compile(rf"(?i){before}[0-9][^a-z]*(?:\z|{joint})".encode())


def _any_of(keys: Iterable[str]) -> str:
    """Labels; digits may follow a word at once, as in "option2"."""
    words = "|".join(key for key in keys if key[0].isalpha())
    numbers = "|".join(key for key in keys if not key[0].isalpha())
    return "|".join(
        f"(?:\\A|{before})(?:{each})" for each, before in ((words, "[^a-z0-9]"), (numbers, "[^0-9]")) if each
    )
