"""Where a text names options: by labels, by texts and ordinals, by signs.

Nothing is compiled from the words of a question, because each question is another: its words are looked up in tables,
and the expressions here are the same for all.

`Sights.places` is a quick look at a whole text: where names of options may begin. `Sights.at` reads a name at a place.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import Final, NamedTuple

from memory import remember
from verifiers.caseless import caseless
from verifiers.commitment.spans import Span
from verifiers.rules.multiple_choice.scripts import AND, CIRCLED, ORDINAL_HAN, ORDINALS, PLACE_NOUNS, PLACES
from verifiers.sightings import Scan


class Sight(NamedTuple):
    """The name of an option in a text, and its place."""

    kind: str
    """`label`, `text` (or an ordinal), or `sign`."""
    start: int
    end: int
    name: str
    """The name as it stands in the text; of a label without its brackets."""
    is_open: bool = False
    is_closed: bool = False
    """Whether a bracket stands before a label, and behind it."""


class _Name(NamedTuple):
    """A text or an ordinal that names an option, taken apart into words, numbers and signs, with what stands between."""

    chars: int
    first: str
    rest: tuple[tuple[str, str], ...]
    """The pieces behind the first, each with what has to stand before it: space, underscores, or nothing."""
    before: str
    behind: str
    is_formula: bool

    def end(self, small: str, start: int, limit: int) -> int | None:
        """The end of the name in a caseless text that has its first piece at `start`."""
        position = start + len(self.first)
        for between, piece in self.rest:
            match = _SPACE.match(small, position, limit)
            following = match.end() if match else position
            if between and not _has_between(between, small[position:following]):
                return None
            if self.first in _SIGNS and "$" in small[position:following]:
                return None  # The sign stands before the formula: "A - $x^2$".
            if not small.startswith(piece, following, limit):
                return None
            position = following + len(piece)
        return position


_SIGNS: Final = frozenset("-−+±")
_PIECES: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*\s*|\d[\d.,]*\s*|\S\s*")
_SPACE: Final = re.compile(r"[\s*_$]+")
_BETWEEN_PIECES: Final = "*_$"
"""Signs that may stand between any two pieces, as space may."""


def _small(text: str) -> str:
    """The text as it is compared, with each letter in its place: without case, and with the е that may be written for ё."""
    return caseless(text) if text.isascii() else caseless(text).translate(_PLAIN_SIGNS)


_PLAIN_SIGNS: Final = {0xFF01 + n: 0x21 + n for n in range(94)} | {ord("ё"): "е"}
"""Full-width signs, which forms of texts do not have."""


def _has_between(required: str, between: str) -> bool:
    """Whether the characters between two pieces are those that a name has there, beside others."""
    if required == " ":
        return between != ""
    characters = iter(between)
    return all(character in characters for character in required)


def _name(text: str) -> _Name:
    pieces: list[str] = []
    betweens: list[str] = []
    between = ""
    for piece in _PIECES.findall(_small(text)):
        bare = piece.rstrip()
        if bare in _BETWEEN_PIECES:
            between = between.strip() + bare
            continue
        pieces.append(bare)
        betweens.append(between if between != " " or bare[0].isalpha() else "")
        between = " " if piece != bare and bare[-1].isalpha() else ""
    first, last = text[0], text[-1]
    return _Name(
        len(text),
        pieces[0] if pieces else text,
        tuple(zip(betweens[1:], pieces[1:], strict=True)),
        "digit" if first.isdigit() else "word" if _has_edges(first) else "",
        "digit" if last.isdigit() else "word" if _has_edges(last) else "",
        _OF_FORMULA.search(text) is not None,
    )


_OF_FORMULA: Final = re.compile(r"[\d\\^√π]|\A(?:[^\W\d_]\Z|[-−+±])")
"""What makes a name a formula or an amount, which a sign beside it makes another one: `2x` in `2x^2`, "20 m" in "20 m/s"."""


def _has_edges(char: str) -> bool:
    """Whether a letter belongs to the letters beside it: those of scripts without spaces do not."""
    return char.isalnum() and not "\u3040" <= char <= "\u9fff"


def _is_of_word(char: str) -> bool:
    """Whether a character is a letter, a digit, or a vowel sign: the last letter of সঠিক is no label."""
    return char.isalnum() or (char >= _FIRST_MARK and unicodedata.category(char)[0] == "M")


_FIRST_MARK: Final = "\u0300"
_PARTICLE: Final = re.compile(r"(?:입니다|이다|이에요|예요|임|[은는이가을를])(?![가-힣])")
"""What stands behind a Korean noun without a space and is not part of it."""
_LEADS_INTO_NUMBER: Final = re.compile(r"(?:\d[.,]|[-−+/^×÷±√∓]|\d\*)\Z")
_OPERAND: Final = r"(?:[\d\\({√π]|[^\W\d_](?![^\W\d_]))"
_NUMBER_GOES_ON: Final = re.compile(rf"[.,]\d|\s?[%°√π]|[-−+/^×÷](?=[^\s.,;])|\s[-−+/^×÷]\s?{_OPERAND}|\s?\*\s?\d|\s\d")
_LEADS_INTO_FORMULA: Final = re.compile(r"(?:[-−+/^×÷±√∓\w}]|\d\*)\Z")
_FORMULA_GOES_ON: Final = re.compile(
    rf"\s?(?:\^|[-−+/×÷±*]\s?{_OPERAND}|[√π]|\\(?:pi|sqrt|[dt]?frac|c?dot|times|div|pm)(?![A-Za-z]))"
)


def _stands_alone(name: _Name, text: str, start: int, end: int, limit: int) -> bool:
    """Whether a name is not a part of a longer word, number or formula."""
    if name.before:
        if start and _is_of_word(text[start - 1]):
            return False
        if name.before == "digit" and _LEADS_INTO_NUMBER.search(text, max(0, start - 2), start):
            return False
    if name.behind:
        if end < limit and _is_of_word(text[end]) and not _PARTICLE.match(text, end, limit):
            return False
        if name.behind == "digit" and _NUMBER_GOES_ON.match(text, end, limit):
            return False
    if not name.is_formula:
        return True
    leads = _LEADS_INTO_FORMULA.search(text, max(0, start - 2), start)
    return (name.before == "digit" or not leads) and not _FORMULA_GOES_ON.match(text, end, limit)


class Names:
    """Texts or ordinals that name options, by their beginnings."""

    def __init__(self, texts: Iterable[str]) -> None:
        names = sorted(map(_name, texts), key=lambda name: (name.first, -name.chars))
        self._by_first = {first: tuple(group) for first, group in groupby(names, lambda name: name.first)}
        self._by_char = {char: tuple(group) for char, group in groupby(sorted(self._by_first), lambda first: first[:1])}
        self._begins = {
            first: (_begins(group), first[0].isascii() and first[0].isalnum())
            for first, group in self._by_first.items()
        }

    def at(self, small: str, offset: int, text: str, start: int, limit: int) -> tuple[int, int] | None:
        """The longest name that begins at a place, as its length and its end. `small` is the caseless text from
        `offset` on.
        """
        firsts = self._by_char.get(small[start - offset])
        if firsts is None:
            return None
        best = None
        for first in firsts:
            if not small.startswith(first, start - offset, limit - offset):
                continue
            for name in self._by_first[first]:
                if best is not None and name.chars <= best[0]:
                    break
                end = name.end(small, start - offset, limit - offset)
                if end is not None and _stands_alone(name, text, start, end + offset, limit):
                    best = name.chars, end + offset
                    break
        return best

    def begins(self, text: str, small: str) -> Iterator[Span]:
        """The spans of the first two pieces of names in a text."""
        is_ascii = text.isascii()
        for first, (seconds, has_edge) in self._begins.items():
            if is_ascii and not first.isascii():
                continue
            position, chars = small.find(first), len(first)
            while position >= 0:
                previous = text[position - 1] if position else " "
                if not has_edge or previous in " \n" or not (previous.isascii() and previous.isalnum()):
                    end = _begin_end(small, position + chars, seconds)
                    if end is not None:
                        yield position - (has_edge and previous == "_"), end
                position = small.find(first, position + 1)

    def begins_at(self, small: str, position: int) -> int | None:
        """The end of the first two pieces of a name that begins at a place."""
        piece_ends = [
            _begin_end(small, position + len(first), self._begins[first][0])
            for first in self._by_char.get(small[position], ())
            if small.startswith(first, position)
        ]
        return max((end for end in piece_ends if end is not None), default=None)


def _begins(names: Sequence[_Name]) -> tuple[tuple[str, str], ...]:
    """The second pieces of names with the same first one, with what stands before them; none if no name has one."""
    seconds = {name.rest[0] if name.rest else ("", "") for name in names}
    # "x_1" begins with the pieces x and _
    seconds = {(between, "" if between.strip() else piece) for between, piece in seconds}
    return tuple(sorted(seconds)) if seconds != {("", "")} else ()


def _begin_end(small: str, position: int, seconds: tuple[tuple[str, str], ...]) -> int | None:
    if not seconds:
        return position
    match = _SPACE.match(small, position)
    following = match.end() if match else position
    piece_ends = []
    for between, piece in seconds:
        if not between.strip():
            if not piece:
                piece_ends.append(position)
            elif (not between or following > position) and small.startswith(piece, following):
                piece_ends.append(following + len(piece))
        elif (at := small.rfind(between[0], position, following)) >= 0:
            piece_ends.append(at + 1)
    return max(piece_ends, default=None)


def _edge(text: str, position: int) -> int | None:
    """Where the edge of a word begins: at its first letter, or at an underscore before it. None if a letter is there."""
    previous = text[position - 1] if position else " "
    if previous == "_":
        return position - 1
    return None if previous.isascii() and previous.isalnum() else position


def _edge_behind(text: str, position: int) -> int | None:
    """Where the edge behind a word ends, as `_edge`."""
    following = text[position : position + 1]
    if following == "_":
        return position + 1
    return None if following.isascii() and following.isalnum() else position


_SPACE_IN_SHADOW: Final = r"[\x00-\x20*_$?]"
_ORDINAL: Final = Scan(
    r"(?i)(?:\b|_)(?:"
    rf"(?:{'|'.join([*(word for word, _ in ORDINALS), 'last'])}){_SPACE_IN_SHADOW}+(?:{'|'.join(PLACE_NOUNS)})"
    rf"|[0-9]{{1,2}}{_SPACE_IN_SHADOW}*(?:st|nd|rd|th)"
    rf"|(?:option|choice){_SPACE_IN_SHADOW}*(?:[0-9]|number|#|no))"
)
"""Where an ordinal may begin, in a text with one byte for each character."""


_ALONE: Final = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]"
"""A letter that a label may not stand beside."""
_OF_A_WORD: Final = re.compile(_ALONE)
_OPEN, _CLOSE = re.compile(r"[(\[{<]\s?"), re.compile(r"\s?[)\]}>]")
_MAX_RUN: Final = 26

_SMALL: Final = r"[(\[{<:]\s?[a-z]\b|\b[a-z](?:\b[.)\]!]|\s*(?:\n|$|is\b))"
_LISTED: Final = r"\b[a-j]\s?[,;/&?]|[,;/&?]\s?(?:[a-z]{1,5}\s)?[b-hj]\b|\b[a-j]\s[a-z]{1,5}\s[a-j]\b"
"""A small letter beside a sign of a list, or two of them with a word between them: "a, c", "a and c"."""
_EDGE: Final = r"(?:\b|_)"
_SHORT: Final = ("[A-Z]", "[A-Z]|[0-9]{1,2}", "[A-Za-z]|[0-9]{1,2}")
_SHORT_NUMBER: Final = re.compile(r"[0-9]{2}")
_SCANS: Final = {
    (letters, is_run): Scan(
        "(?m)"
        + (rf"{_EDGE}[A-Z]{{2,26}}{_EDGE}|" if is_run else "")
        + rf"{_EDGE}(?:{letters}){_EDGE}|{_SMALL}|{_LISTED}"
    )
    for letters in _SHORT
    for is_run in (False, True)
}
"""Where labels of one letter, or of two digits, may be named, in a text with one byte for each character."""
_BEFORE_SMALL: Final = re.compile(r"[(\[{<:][\t\n\f\r ]?\Z")
_SMALL_ENDS: Final = re.compile(r"\b", re.ASCII)
_BEHIND_SMALL: Final = re.compile(r"\b[.)\]!]|[\t\n\f\r ]*(?:\n|$|is\b)", re.ASCII | re.MULTILINE)


class Labels:
    """The labels of options, and where a text names them."""

    def __init__(self, labels: Sequence[str], multi: bool) -> None:
        self._letters = (
            frozenset(label for label in labels if len(label) == 1 and label.isupper()) if multi else frozenset()
        )
        longest = sorted(labels, key=lambda label: -len(re.escape(label)))
        small = [label.lower() for label in labels if label.lower() != label]
        self._by_char: dict[str, list[str]] = {}
        for label in (*longest, *small):
            self._by_char.setdefault(label[:1], []).append(label)
        self._small = frozenset(small)
        self._alone = frozenset(label for label in labels if label.isascii() and label.isalnum())
        self._others = [label for label in labels if label and label not in self._alone]
        short = [label for label in self._alone if len(label) == 1 or _SHORT_NUMBER.fullmatch(label)]
        self._long = self._alone.difference(short)
        self._long_small = [label for label in small if len(label) > 1 or not label.isascii()]
        single_letters = "".join(short)
        kind = 2 if single_letters != single_letters.upper() else 1 if any(map(str.isdigit, single_letters)) else 0
        self._scan = _SCANS[_SHORT[kind], bool(self._letters)]
        self._has_short = bool(short)

    def at(self, text: str, start: int, limit: int) -> Sight | None:
        """The label that begins at a place, in brackets or not."""
        opening = _OPEN.match(text, start, limit)
        if opening is not None:
            inside = opening.end()
            for first in (inside, inside - 1) if inside - start > 1 else (inside,):
                if first < limit and (label := self._label(text, first, limit)) is not None:
                    return self._closed(label, text, start, first, limit, is_open=True)
        label = self._label(text, start, limit)
        return None if label is None else self._closed(label, text, start, start, limit, is_open=False)

    def _label(self, text: str, at: int, limit: int) -> str | None:
        char = text[at]
        labels = self._by_char.get(char)
        if labels is None or (at and _OF_A_WORD.match(text, at - 1)):
            return None
        if char in self._letters and (run := self._run(text, at, limit)):
            return run
        for label in labels:
            if text.startswith(label, at, limit) and not _OF_A_WORD.match(text, at + len(label), limit):
                return label
        return None

    def _run(self, text: str, at: int, limit: int) -> str | None:
        """Several labels in a row: "ACD"."""
        end = at
        while end < min(limit, at + _MAX_RUN) and text[end] in self._letters:
            end += 1
        return text[at:end] if end - at > 1 and not _OF_A_WORD.match(text, end, limit) else None

    def _closed(self, label: str, text: str, start: int, at: int, limit: int, *, is_open: bool) -> Sight:
        end = at + len(label)
        closing = _CLOSE.match(text, end, limit)
        return Sight("label", start, closing.end() if closing else end, label, is_open, closing is not None)

    def places(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Where labels may be named, with an order for those that begin at the same place."""
        if self._has_short:
            shadow = text.encode("ascii", "replace")
            position = 0
            while (span := self._scan.find(shadow, position)) is not None:
                if listed := _LIST_PART.fullmatch(text, *span):
                    for name in ("first", "head", "last"):
                        if listed[name] in self._small:
                            yield listed.start(name), 3, listed.end(name)
                    # The sign or the letter at its end may be of the next part, too.
                    position = max(listed.start("last"), listed.end("first"))
                    continue
                order = self._order(text[slice(*span)])
                if order is not None:
                    yield span[0], order, span[1]
                position = span[1] if order is not None else span[0] + 1
        for label in self._long:
            for position in _all(text, label):
                start, end = _edge(text, position), _edge_behind(text, position + len(label))
                if start is not None and end is not None:
                    yield start, 1, end
        for label in self._others:
            for position in _all(text, label):
                yield position, 2, position + len(label)
        for label in self._long_small:
            yield from ((start, 3, end) for start, end in _small_places(text, label))

    def _order(self, sight_text: str) -> int | None:
        """The order of a place where a label of one letter may be named; None if it is not the letter of an option."""
        bare = sight_text.strip("_")
        if bare in self._alone:
            return 1
        if len(bare) > 1 and bare.isupper() and bare.isalpha() and self._letters:
            return 0 if self._letters.issuperset(bare) else None
        letter = sight_text[-1] if sight_text[0] in "([{<:" else sight_text[0]
        return 3 if letter in self._small else None


_LIST_PART: Final = re.compile(
    r"(?P<first>[a-z])\s?[,;/&、，]|(?:(?P<head>[a-z])\s[a-z]{1,5}\s|[,;/&、，]\s?(?:[a-z]{1,5}\s)?)(?P<last>[a-z])"
)


def _all(text: str, part: str) -> Iterator[int]:
    position = text.find(part)
    while position >= 0:
        yield position
        position = text.find(part, position + 1)


def _small_places(text: str, label: str) -> Iterator[Span]:
    for position in _all(text, label):
        end = position + len(label)
        previous = _BEFORE_SMALL.search(text, max(0, position - 2), position)
        if previous is not None and _SMALL_ENDS.match(text, end):
            yield previous.start(), end
        elif _SMALL_ENDS.match(text, position) and (following := _BEHIND_SMALL.match(text, end)):
            yield position, following.end()


class Sights:
    """The names of the options of one question."""

    def __init__(
        self, labels: Sequence[str], texts: Iterable[str], ordinals: Collection[str], signs: Iterable[str], multi: bool
    ) -> None:
        self._labels = Labels(labels, multi)
        self._names = (Names(texts), _ordinal_names(tuple(ordinals)))
        self._has_ordinals = bool(ordinals)
        self._signs = frozenset(signs)

    def places(self, text: str) -> Sequence[Span]:
        """The spans where options may be named, or where such names begin, in order."""
        small = _small(text)
        spans = [*self._labels.places(text), *self._ordinal_places(text, small)]
        spans += [(start, 4, end) for start, end in self._names[0].begins(text, small)]
        if not text.isascii():
            spans += [(sign.start(), 5, sign.end()) for sign in _SIGN.finditer(text) if sign[0] in self._signs]
        spans.sort(key=lambda span: (span[0], span[1], -span[2]))
        merged: list[Span] = []
        reached = 0
        for start, _, end in spans:
            if start >= reached:
                merged.append((start, end))
                reached = end
        return merged

    def names_label(self, text: str) -> bool:
        """Whether a text may name an option by its label."""
        return next(self._labels.places(text), None) is not None

    def names_more(self, text: str, labels: int) -> bool:
        """Whether a text may name more labels, signs and ordinals than this number."""
        signs = () if text.isascii() else _SIGN.finditer(text)
        names = chain(self._labels.places(text), signs, self._ordinal_places(text, _small(text)))
        return next(islice(names, labels, None), None) is not None

    def _ordinal_places(self, text: str, small: str) -> Iterator[tuple[int, int, int]]:
        if not self._has_ordinals:
            return
        shadow = text.encode("ascii", "replace")
        position = 0
        while (span := _ORDINAL.find(shadow, position)) is not None:
            start = span[0] + (text[span[0]] == "_")
            end = self._names[1].begins_at(small, start)
            if end is not None:
                yield span[0], 4, end
            position = span[0] + 1 if end is None else end
        if not text.isascii():
            for position in _all(text, ORDINAL_HAN):
                end = self._names[1].begins_at(small, position)
                if end is not None:
                    yield position, 4, end

    def within(self, text: str, start: int, end: int, positions: Sequence[int], most_before: int) -> Iterator[Sight]:
        """The names between `start` and `end`. Each begins at most `most_before` characters from one of the places."""
        small = _small(text[start:end])
        position = start
        for anchor in positions:
            for label_start in range(max(position, anchor - most_before), min(end, anchor + most_before + 1)):
                sight = self._at(small, start, text, label_start, end)
                if sight is not None and sight.end > anchor:
                    yield sight
                    position = max(sight.end, label_start + 1)
                    break

    def _at(self, small: str, offset: int, text: str, label_start: int, limit: int) -> Sight | None:
        longest = None
        for names in self._names:
            name = names.at(small, offset, text, label_start, limit)
            if name is not None and (longest is None or name[0] > longest[0]):
                longest = name
        if longest is not None:
            return Sight("text", label_start, longest[1], text[label_start : longest[1]])
        char = text[label_start]
        if char in self._signs and not (_is_bound(char) and _is_of_sentence(text, label_start, limit)):
            return Sight("sign", label_start, label_start + 1, char)
        return self._labels.at(text, label_start, limit)


_SIGN: Final = re.compile(f"[{''.join(map(re.escape, (*PLACES, *CIRCLED)))}]")


def _is_bound(sign: str) -> bool:
    """Whether a sign is a letter of a word if it stands beside one."""
    return sign.isalpha() and not "\u3400" < sign < "\u9fff"


def _is_beside_letters(text: str, position: int, limit: int) -> bool:
    return (position > 0 and _is_of_word(text[position - 1])) or (
        position + 1 < limit and _is_of_word(text[position + 1])
    )


def _is_of_sentence(text: str, position: int, limit: int) -> bool:
    """Whether a letter is a part of a word, or the word "and": الإجابات: A و C."""
    is_joint = text[position] == AND and text[position + 1 : limit].strip()[:1].isalnum()
    return is_joint or _is_beside_letters(text, position, limit)


@remember(64)
def _ordinal_names(ordinals: tuple[str, ...]) -> Names:
    """Ordinals are words of ours: there are as many sets of them as numbers of options."""
    return Names(ordinals)
