"""Passing quickly over what is not ASCII, and finding expressions by RE2, which sees a shadow of a text: one byte for each
character, `?` for those that are not ASCII.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import re2

ASCII_SPACE = r"[\t-\r\x1c-\x20]"
r"""What `\s` is among ASCII characters; RE2's own knows fewer."""
SPACE = r"[\x00-\x20\x7F?]"
"""At least what may be space in the text, as its shadow shows it."""
_LATIN_OR_SIGNS = bytes({*range(0xD0), 0xE2})
"""The bytes, in UTF-8, of Latin, Greek and what has no letters: punctuation, arrows, mathematical signs."""

_ASCII = bytes(range(0x80))
_FIRST_BYTES, _OTHER_BYTES = _ASCII + b"?" * 0x80, bytes(range(0x80, 0xC0))
"""Of the bytes of a character in UTF-8 the first as a shadow shows it, and those to leave out."""


def beyond_ascii(text: str, encoded: bytes | None = None) -> str:
    """The characters that are not ASCII, in order: in most texts few, and ten times faster to get than to look past.

    `encoded`: the text in UTF-8 (surrogatepass), where it is at hand.
    """
    if text.isascii():
        return ""
    encoded = encoded or text.encode("utf-8", "surrogatepass")
    return encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass")


def has_other_alphabets(text: str) -> bool:
    """Whether there is a letter that is neither Latin nor Greek, or something else beyond U+0400 that is no sign."""
    return not text.isascii() and bool(text.encode("utf-8", "surrogatepass").translate(None, _LATIN_OR_SIGNS))


def spans(pattern: Any, text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Where an expression of RE2, made of bytes, matches whole characters."""
    part = text[start:end].encode("utf-8", "surrogatepass")
    if len(part) == len(text[start:end]):
        for match in pattern.finditer(part):
            yield match.start() + start, match.end() + start
        return
    behind, place = 0, start
    for match in pattern.finditer(part):
        first = place + len(part[behind : match.start()].decode("utf-8", "surrogatepass"))
        behind, place = match.end(), first + len(match[0].decode("utf-8", "surrogatepass"))
        yield first, place


class Scan:
    """An expression of RE2, for which text is looked through in one pass."""

    __slots__ = ("_pattern",)

    def __init__(self, pattern: str) -> None:
        self._pattern = re2.compile(pattern.encode())

    def find(self, text: bytes, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
        """Where the first match is, of those that do not begin before `start` and end by `end`."""
        match = self._pattern.search(text, start, len(text) if end is None else end)
        return None if match is None else match.span()

    def is_in(self, text: bytes) -> bool:
        return self._pattern.search(text) is not None

    def begins(self, text: bytes, start: int = 0) -> int | None:
        """The end of a match that begins there."""
        match = self._pattern.match(text, start)
        return None if match is None else int(match.end())


class Scene(msgspec.Struct, frozen=True):
    """A text and its shadow; None where it has letters that are ASCII ones when case does not count: İ, ı, ſ and K."""

    text: str
    shadow: bytes | None
    has_other_alphabets: bool


def scene(text: str) -> Scene:
    if text.isascii():
        return Scene(text, text.encode(), False)
    encoded = text.encode("utf-8", "surrogatepass")
    has_other_alphabets = bool(encoded.translate(None, _LATIN_OR_SIGNS))
    if "\u0130" in text or "\u0131" in text or "\u017f" in text or "\u212a" in text:
        return Scene(text, None, has_other_alphabets)
    return Scene(text, encoded.translate(_FIRST_BYTES, _OTHER_BYTES), has_other_alphabets)
