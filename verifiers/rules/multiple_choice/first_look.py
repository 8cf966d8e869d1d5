r"""A cheap look that tells of most texts that they name no option.

A text names an option only by one of these, where no command of LaTeX is left in it, and nothing but ASCII, signs and letters
that fold into none of it:

    a label at the end of a phrase, or before something that is no word     "C", "so C.", "C) Paris", "B and C", "C because"
    capitals in a row                                                       "AC", "A C", "(A)(C)"
    an option's whole text                                                  "Paris"
    where an option is a number, a phrase that is one                       "18.0", "B 18", "18 (B)"
    more pieces than any list of options has                                "1, 2, 3, ..."

What is looked for here is that and more, so that it can be found by RE2 in one pass. A text that is not declared to be the
answer must begin with that, or hold three of it, each at the beginning of a phrase; or two if it offers a choice.
"""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain, islice

from verifiers import answers
from verifiers.rules.multiple_choice.forms import EDGES, OR, is_without_markup, without_markup
from verifiers.rules.multiple_choice.phrases import LEADS
from verifiers.rules.multiple_choice.scripts import CIRCLED, ORDINALS, PLACES
from verifiers.sightings import ASCII_SPACE, SPACE, Scan, Scene, beyond_ascii, hides_ascii

MAX_PIECES = 64
_JOINTS = bytes(ord(" ") if chr(byte) in f"{EDGES},;/&+\n" else byte for byte in range(256))
"""What stands between pieces, made space."""
_EMPHASIS = b"$*`"
_MARKS = _EMPHASIS + b"_"
_LOWERED = bytes(ord(" ") if chr(byte).isspace() else byte for byte in range(0x80)).lower() + bytes(range(0x80, 0x100))
"""In lower case, with one kind of space."""
_PARTED = bytes(ord(" ") if byte == ord("_") else byte for byte in range(256))
"""An underscore may be emphasis, or a part of a word."""
_SIGNS = frozenset("".join((*CIRCLED, *PLACES)))
"""What is a label, or stands for one by its place."""
_KEY = re.compile(r"[a-z0-9]{1,8}")
_JOINT_WORDS = "and|or|und|oder|et|ou|y"
_JOINTS_IN_WORDS = f"(?:{_JOINT_WORDS})"
_JOINT = rf"{_JOINTS_IN_WORDS}(?:\z|[^a-z])"
_ENDS = rf"{ASCII_SPACE}*(?:\z|\n|[^a-z0-9\t-\r\x1c-\x20]|{_JOINT}|because|since|rather.than|instead.of|not[^a-z]|as(?:\z|[^a-z]))"
"""Behind a label nothing that makes it part of a phrase."""
_FILLER_WORDS = (
    "the|my|an|in|on|at|during|just|only|number|is|are|would|will|be|it|its|s|option|options|choice|choices|letter|letters|answer|answers|correct|right|best|final|indeed|clearly"
    "|definitely|certainly|obviously|evidently|surely|undoubtedly|actually|simply|really|most|likely|probably|la|el|il|le|les|der"
    "|die|de|letra|lettre|lettera|opcion|opzione|alternativa|buchstabe|antwort"
)
"""What may stand between a lead, or the beginning of a phrase, and an option; and more."""
_FILLERS = frozenset(_FILLER_WORDS.encode().split(b"|"))
_ARTICLES = (b"a", b"o")
"""Portuguese fillers, which may be labels."""
_SKIPPED = f"{_FILLER_WORDS}|a|o|both|either|all|of|{_JOINT_WORDS}"
"""Behind a lead, before the first option of a list; a list may begin with what joins others."""
_WORD = re.compile(rb"[a-z0-9]+")
_LETTER = re.compile(rb"[a-z]")
_DIGIT = re.compile(rb"[0-9]")
_DIGITS = re.compile(rb"[0-9]+")
_SPACES = re.compile(b" +")
_LEAD = Scan(f"(?i){LEADS}")
_CHOICE_IS = re.compile(
    rf"\b(?:correct|right|best){SPACE}(choice){SPACE}(?:is|here{SPACE}is)\b".encode(), re.IGNORECASE
)
"""The one of `LEADS` that has another in it."""
_BEFORE_CHOICE_CHARS = len("correct ")
_CHOICE_IS_CHARS = len("choice here is.")
_GAP = rf"(?:[^a-z0-9]|{_FILLER_WORDS}|opci\?n|op\?\?o|both|either|all|of|a|o)*"
"""Fillers and signs between a lead, or the beginning of a phrase, and an option; and more."""
_NOTHING = Scan(rf"(?i)(?:{_GAP}|{_JOINTS_IN_WORDS})*\z")
"""What may stand before the first phrase of a list; and more."""
_AROUND_NUMBER = f"[{re.escape(''.join(char for char in EDGES if char.isascii() and char != '?'))}]*"
_ON_THE_LEFT = r"[^A-Za-z?<>,;/&+\n]*"
_ONE_NUMBER = re.compile(
    rf"(?:{_ON_THE_LEFT}(?:[,;/&+\n]{_ON_THE_LEFT})?=)?{_AROUND_NUMBER}([0-9]+){_AROUND_NUMBER}".encode()
)
"""A whole number, or an equation that ends in one. Of the pieces on its left none but one stands alone."""
_NUMBER_FIRST = re.compile(rb"[^A-Za-z0-9]*[0-9]")
_NEXT_WORD = re.compile(rb"[^A-Za-z0-9?\\<]*([A-Za-z0-9$*`_]*)([?\\<]?)")
_BEGINS = rf"(?:\A|[,;/&+?\n]|(?:\A|[^a-z]){_JOINTS_IN_WORDS}){_GAP}\b"
_MAX_BESIDE = 2
"""So many options in a text that is no list of them commit to nothing only where they are a choice; more always do."""
_SIGNS_BETWEEN = r"[^a-z0-9?\\<>]"
"""Signs between words, except those that a shadow shows not enough of, and `>`: it may end another lead."""
_BEGINS_CHARS = 200
"""More than may stand before the first word of an option, and that."""


_Source = Callable[[tuple[str, ...]], str]
"""From labels to an expression about them."""


class FirstLook:
    """What a text must hold to name one of some options."""

    def __init__(
        self, keys: Collection[str], forms: Sequence[str], numbers: Callable[[], Sequence[Fraction | None]]
    ) -> None:
        """`keys`: the labels, folded; `forms`: the texts, by what makes them the same; `numbers`: those of them that are
        one, None for one that is not written out.
        """
        self._is_ascii = all(map(str.isascii, (*keys, *forms)))
        self._keys = tuple(key for key in keys if key.isascii())
        plain = [b" ".join(_plain(form).split()) for form in forms if form.isascii()]
        texts = [form for form in plain if _LETTER.search(form) or not _DIGIT.search(form)]
        self._forms = [(form, max(form.split(), key=len, default=b"")) for form in texts]
        """With the longest word of each."""
        self._shortest = min((len(word) for _, word in self._forms), default=sys.maxsize)
        self._has_number_labels = any(map(_DIGIT.search, map(str.encode, self._keys)))
        self._has_digits = len(self._forms) < len(plain) or self._has_number_labels
        self._numbers = numbers
        self._digits = {run.lstrip(b"0") for form in plain for run in _DIGITS.findall(form)}
        beginnings = [_first_word(_plain(form)) for form in forms]
        self._labels = frozenset(map(str.encode, self._keys))
        self._beginnings = frozenset(beginnings)
        """First words of texts."""
        words = self._labels | self._beginnings
        self._is_blind = not all(map(_KEY.fullmatch, self._keys)) or not _FILLERS.isdisjoint(words)
        self._passes_all = self._is_blind or b"" in beginnings

    def may_name(self, text: str, is_declared: bool) -> bool:
        """Whether a text may name one; behind a label in one that is declared to be the answer may stand anything."""
        if self._is_blind:
            return True
        if not text.isascii():
            shown = None if is_declared or not self._is_ascii else _shown(text)
            if shown is None:
                return True
            text = shown
        if "\\" in text and not is_without_markup(text := without_markup(text, depth=3)):
            return True
        shadow = text.encode("ascii", "replace")
        if not is_declared and self._is_another_number(shadow):
            return False
        plain = shadow.translate(None, _MARKS)
        if self._mentions(plain):
            return True
        parted = plain if len(plain) == len(shadow) else shadow.translate(_PARTED, _EMPHASIS)
        is_whole = not is_declared and not shadow.lstrip().startswith(b"<")
        beginning = _beginning_with_label_in_ascii if text.isascii() else _beginning_with_label
        places = self._named_places(parted, plain, beginning if is_whole else _named_by_label)
        first = next(places, None)
        if first is not None:
            begins = not is_whole or _NOTHING.begins(parted[:first]) is not None
            is_part = begins and is_whole and parted == plain and self._is_part_of_list(plain)
            if (begins and not is_part) or self._has_more(text, parted, first, places, is_part):
                return True
        if is_declared and (b"=" in shadow or self._may_begin(shadow)):
            return True
        return len(plain) > MAX_PIECES and len(plain.translate(_JOINTS).split()) > MAX_PIECES

    def _named_places(self, parted: bytes, plain: bytes, by_label: _Source) -> Iterator[int]:
        """Where an option may be named by its label or, if one is a number, by that: in one pass over what is the same."""
        if not self._may_be_number:
            return _places(_pattern(self._keys, by_label), parted)
        if parted == plain:
            return _places(_pattern(self._keys, by_label, _named_by_number), plain)
        labels, numbers = _pattern(self._keys, by_label), _pattern(self._keys, _named_by_number)
        return iter(sorted(chain(_places(labels, parted), _places(numbers, plain))))

    def _is_another_number(self, shadow: bytes) -> bool:
        """Whether a text is nothing but a number that no option is, or an equation that ends in one."""
        number = _ONE_NUMBER.fullmatch(shadow)
        return (
            number is not None and self._whole_numbers is not None and number[1].lstrip(b"0") not in self._whole_numbers
        )

    @cached_property
    def _whole_numbers(self) -> Collection[bytes] | None:
        """The digits of all numbers that may be an option, without zeros before them; None where not all are integers."""
        numbers = self._numbers()
        if self._has_number_labels or any(number is None or number.denominator != 1 for number in numbers):
            return None
        return self._digits.union(str(abs(number)).lstrip("0").encode() for number in numbers if number is not None)

    @cached_property
    def _may_be_number(self) -> bool:
        """Whether digits may name an option."""
        return self._has_digits or bool(self._numbers())

    def _is_part_of_list(self, plain: bytes) -> bool:
        """Whether a text begins with a number, which names an option only if it is all of it, or a list: "36 / 2 guests"."""
        if not self._may_be_number or self._has_number_labels or _NUMBER_FIRST.match(plain) is None:
            return False
        return _pattern(self._keys, _number_to_end).begins(plain) != len(plain)

    def _has_more(self, text: str, parted: bytes, first: int, others: Iterator[int], is_second_enough: bool) -> bool:
        """Whether a second phrase, and but for a choice a third one, begins with an option.

        The last of a list may go on behind it.
        """
        found = [first, *islice(others, _MAX_BESIDE)]
        if len(found) <= _MAX_BESIDE:
            found += set(_places(_pattern(self._keys, _beginning_loosely), parted)).difference(found)
        is_second = len(found) == _MAX_BESIDE and (is_second_enough or OR.search(text) is not None)
        return is_second or len(found) > _MAX_BESIDE

    def leads(self, seen: Scene, start: int) -> Sequence[int]:
        """Where `LEADS` are, in a text that has a shadow, that an option may follow."""
        shadow = seen.shadow or b""
        if self._passes_all:
            return list(_apart(_LEAD, shadow, start))
        places = _places(self._followed_lead, shadow, start)
        return [place for place in places if not _is_within_lead(shadow, place)]

    @cached_property
    def _followed_lead(self) -> Scan:
        number = (
            "" if not self._may_be_number else _ANY_NUMBER if self._has_number_labels else _number_alone(self._keys)
        )
        return _followed_lead(self._keys, tuple(sorted(self._beginnings)), number)

    def _mentions(self, plain: bytes) -> bool:
        """Whether the whole text of an option is somewhere in another text, of which a shadow without markup is given."""
        if len(plain) < self._shortest:
            return False
        plain = plain.translate(_LOWERED)
        forms = [form for form, word in self._forms if word in plain]
        return bool(forms) and any(map(_SPACES.sub(b" ", plain).__contains__, forms))

    def _may_begin(self, shadow: bytes) -> bool:
        """Whether what a text begins with, fillers left out, may begin an option's name."""
        position = 0
        while found := _NEXT_WORD.match(shadow, position, _BEGINS_CHARS):
            position = found.end()
            word = _word(found)
            if word is None or position == _BEGINS_CHARS:
                return True
            if word not in _FILLERS:
                return word in self._labels or word in _ARTICLES or self._may_be_text(word)
        return True

    def _may_be_text(self, word: bytes) -> bool:
        return word in self._beginnings or (self._may_be_number and not word.isalpha())


def _shown(text: str) -> str | None:
    """A text without characters that are ASCII ones in disguise, or hide one; None where others may be labels."""
    others = beyond_ascii(text)
    if hides_ascii(others):
        others += beyond_ascii(text := answers.fold(text))
    return text if _SIGNS.isdisjoint(others) else None


def _word(found: re.Match[bytes]) -> bytes | None:
    """A word without emphasis; None where a shadow does not show enough of it."""
    word: bytes
    word, sign = found.groups()
    if sign:
        return None
    if word.isalnum():
        return word.lower()
    return None if b"_" in word else word.lower().translate(None, _MARKS)


def _places(pattern: Scan, shadow: bytes, start: int = 0) -> Iterator[int]:
    """Where an expression matches; matches may overlap."""
    while place := pattern.find(shadow, start):
        yield place[0]
        start = place[0] + 1


def _apart(pattern: Scan, shadow: bytes, start: int) -> Iterator[int]:
    """The same for matches that do not overlap; none is empty."""
    while place := pattern.find(shadow, start):
        yield place[0]
        start = place[1]


def _plain(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(None, _MARKS)


def _first_word(form: bytes) -> bytes:
    """The first word of an option's text that is no filler."""
    return next((word for word in _WORD.findall(form) if word not in _FILLERS), b"")


def _is_within_lead(shadow: bytes, place: int) -> bool:
    """Whether the word there is a part of a longer one of `LEADS`."""
    if shadow[place : place + 1] not in b"cC":
        return False
    longer = _CHOICE_IS.search(shadow, max(0, place - _BEFORE_CHOICE_CHARS), place + _CHOICE_IS_CHARS)
    return longer is not None and longer.start(1) == place


_ORDINAL = (
    rf"(?:{'|'.join(word for words in ORDINALS for word in words)}|last)[^a-z0-9](?:answer[^a-z0-9])?(?:option|choice|alternative)"
    r"|(?:option|choice)[^a-z0-9]+(?:(?:no|number)[^a-z0-9]+)?[0-9]"
)


@lru_cache(maxsize=256)
def _followed_lead(keys: tuple[str, ...], beginnings: tuple[bytes, ...], number: str) -> Scan:
    """One of `LEADS`, and behind it, fillers left out, what may be an option: a label that is no part of a phrase, what
    begins as a text does, capitals in a row, `number`, or what a shadow does not show; or more fillers than stand before one.
    """
    capitals = "".join(key.upper() for key in keys if len(key) == 1 and key.isalpha())
    texts = "|".join(map(bytes.decode, beginnings))
    shapes = [
        r"[a-z0-9$*`]*[?\\<>_]|[a-z0-9]+[$*`]+[a-z0-9]",
        rf"(?:{'|'.join(keys)}){_ENDS}" if keys else "",
        rf"(?-i:[{capitals}][$*`]*[{capitals}][{capitals}$*`]*)(?:[^a-z0-9]|\z)" if capitals else "",
        rf"(?:{texts})(?:[^a-z0-9]|\z)" if texts else "",
        number,
        _ORDINAL,
    ]
    named = "|".join(filter(None, shapes))
    skipped = rf"(?:{'|'.join((_SKIPPED, *keys))}){_SIGNS_BETWEEN}+"
    return Scan(rf"(?i)(?:{LEADS}){_SIGNS_BETWEEN}*(?:(?:{skipped}){{0,3}}(?:{named})|(?:{skipped}){{4}})")


@lru_cache(maxsize=512)
def _pattern(keys: tuple[str, ...], *sources: _Source) -> Scan:
    """What matches one of several expressions about some labels."""
    return Scan(f"(?i){'|'.join(f'(?:{source(keys)})' for source in sources)}")


def _named_by_label(keys: tuple[str, ...]) -> str:
    """A label as a word of its own, with nothing behind it that makes it part of a phrase, or capitals in a row."""
    return rf"(?:{_any_of(keys)}){_ENDS}|(?-i:[A-Z][)\]]?{ASCII_SPACE}?[(\[]?[A-Z])"


def _beginning_with_label(keys: tuple[str, ...]) -> str:
    """A phrase that begins with a label and ends, or goes on in signs, or nothing but capitals; among other letters one
    may be small.
    """
    label = rf"{_BEGINS}(?:{'|'.join(keys)}){_ENDS}"
    letters = r"(?:[A-Z][^a-z0-9]*[A-Za-z]|[a-z][^a-z0-9]*[A-Z])[^a-z0-9]*[a-z]?[^a-z0-9]*"
    return rf"{label}|\A{_GAP}(?-i:{letters})\z"


def _beginning_with_label_in_ascii(keys: tuple[str, ...]) -> str:
    """The same where all letters are seen: nothing but capitals is a list of labels, or of more letters than two."""
    labels = "".join(key.upper() for key in keys if len(key) == 1 and key.isalpha())
    letters = "[A-Z][^a-z0-9]*[A-Z][^a-z0-9]*[A-Z][^a-z0-9]*"
    two = f"[{labels}][^A-Za-z0-9]*[{labels}][^A-Za-z0-9]*" if labels else letters
    return rf"{_BEGINS}(?:{'|'.join(keys)}){_ENDS}|\A{_GAP}(?-i:{two}|{letters})\z"


def _beginning_loosely(keys: tuple[str, ...]) -> str:
    return rf"{_BEGINS}(?:{'|'.join(keys)})(?:\z|[^a-z0-9])"


def _named_by_number(keys: tuple[str, ...]) -> str:
    """A phrase with a digit and without letters, except for fillers and a label beside it."""
    joint = rf"[,;/&+?\n]|{_JOINT}"
    before = rf"(?:\A|{joint}){_GAP}(?:(?:{_any_of(keys)})[^a-z0-9]+)?"
    return rf"{before}[0-9][^a-z]*{_beside_number(keys)}(?:\z|{joint})"


_ANY_NUMBER = "[a-z]*[0-9]"


def _number_alone(keys: tuple[str, ...]) -> str:
    """A number with no word behind it but a label, one that joins, or one that gives a reason, as far as a shadow shows."""
    ends = rf"\z|[?\\<>_;/&+!\n]|[.,](?:[^0-9]|\z)|{_JOINT}|because|since|as(?:[^a-z]|\z)|[a-z]+[$*`_]"
    return rf"{_ANY_NUMBER}[^a-z]*{_beside_number(keys)}(?:{ends})"


def _number_to_end(keys: tuple[str, ...]) -> str:
    """Nothing but a number, or numbers and signs, and what may stand beside it."""
    return rf"(?:{_GAP}|{_JOINTS_IN_WORDS})*[0-9][^a-z]*{_beside_number(keys)}\z"


def _beside_number(keys: tuple[str, ...]) -> str:
    return rf"(?:(?:option|choice)[^a-z]*)?(?:(?:{_any_of(keys)})[^a-z0-9]*)?"


def _any_of(keys: Iterable[str]) -> str:
    """Labels; digits may follow a word at once, as in "option2"."""
    words = "|".join(key for key in keys if key[0].isalpha())
    numbers = "|".join(key for key in keys if not key[0].isalpha())
    return "|".join(
        f"(?:\\A|{before})(?:{each})" for each, before in ((words, "[^a-z0-9]"), (numbers, "[^0-9]")) if each
    )
