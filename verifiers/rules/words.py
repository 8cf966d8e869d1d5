"""Splits a text into words, and measures its length.

Each Han character and each kana is a word, because their scripts have no spaces; all other words are separated by
spaces. Characters are Unicode code points. Invisible characters (zero-width, bidi controls, soft hyphens) count if
length is punished, and do not count if length is wanted.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator

from verifiers.rules.arrays import np
from verifiers.sightings import beyond_ascii

Unit = Annotated[
    Literal["characters", "words", "lines", "tokens"],
    BeforeValidator(lambda name: "characters" if name == "chars" else name),
]
MAX_LENGTH = 2**53
"""The largest length in parameters. Verdicts repeat it, and every JSON reader reads it exactly."""


def split(text: str) -> list[str]:
    """The words of a text, in order."""
    return _WORD.findall(text) if has_unspaced(beyond_ascii(text)) else text.split()


def has_unspaced(text: str) -> bool:
    """Whether a text holds a character that is a word of its own."""
    return _UNSPACED_CHAR.search(text) is not None


def spaced(text: str) -> str:
    """The text with a blank on either side of each character that is a word of its own."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    is_unspaced = _IS_UNSPACED.take(codes, mode="clip")
    is_apart = is_unspaced[1:] | is_unspaced[:-1]
    targets = np.arange(codes.size)
    targets[1:] += is_apart.cumsum()
    parted = np.full(codes.size + np.count_nonzero(is_apart), ord(" "), "<u4")
    parted[targets] = codes
    return parted.tobytes().decode("utf-32-le", "surrogatepass")


def lowered(text: str, encoded: bytes, beyond: str) -> bytes:
    """The text in lower case, in UTF-8, with a blank for each space; `beyond`: its characters beyond ASCII.

    Most texts have neither capitals nor space among those; changed as bytes, no string is made of each word.
    """
    if beyond != beyond.lower():
        encoded = text.lower().encode("utf-8", "surrogatepass")
    return _with_blanks(encoded, beyond)


def _with_blanks(encoded: bytes, beyond: str) -> bytes:
    """A text with a blank for each space, and ASCII in lower case."""
    if not beyond.isprintable():  # no space beyond ASCII is
        for char in _SPACES_BEYOND_ASCII:
            if char in beyond:
                encoded = encoded.replace(char.encode(), b" ")
    return encoded.translate(_LOWERED)


_SPACES_BEYOND_ASCII = "".join(filter(str.isspace, map(chr, range(0x80, 0x3001))))
"""All space characters beyond ASCII."""
_LOWERED = bytes(ord(" ") if byte < 0x80 and chr(byte).isspace() else byte for byte in bytes(range(0x100)).lower())


def measure(text: str, unit: Unit) -> int:
    """The length of a text in a unit. Tokens are no such unit, because only the trainer's tokenizer can count them."""
    if unit == "characters":
        return len(text)
    if unit == "words":
        return _count(text)
    assert unit == "lines"
    return len(text.splitlines())


def _count(text: str) -> int:
    """The number of words. A word begins behind a blank, or at the start."""
    if len(text) < _MANY_CHARS:
        return len(split(text))
    encoded = text.encode("utf-8", "surrogatepass")
    beyond = beyond_ascii(text, encoded)
    if has_unspaced(beyond):
        return len(_WORD.findall(text))
    is_blank = np.frombuffer(_with_blanks(encoded, beyond), np.uint8) == ord(" ")
    return int(np.count_nonzero(is_blank[:-1] > is_blank[1:])) + (not is_blank[0])


_MANY_CHARS = 800
"""From this number of characters on, words are counted faster without a string for each."""


def without_hidden(text: str) -> str:
    """The text without invisible characters beyond ASCII."""
    return _INVISIBLE.sub("", text) if _INVISIBLE.search(beyond_ascii(text)) else text


def visible(text: str) -> str:
    """The text without invisible characters, and without space at either end."""
    text = without_hidden(text)
    if text.encode("ascii", "ignore").translate(None, _SHOWN):
        text = text.translate(_WITHOUT_CONTROLS)
    return text.strip()


_ASCII = bytes(range(128))
_SHOWN = bytes(code for code in range(128) if chr(code).isprintable() or chr(code) in "\t\n\r")
_WITHOUT_CONTROLS = dict.fromkeys(set(_ASCII) - set(_SHOWN))


_UNSPACED_RANGES = (
    *((0x2E80, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B), (0x3041, 0x3096)),
    *((0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)),
    *((0xF900, 0xFAFF), (0xFF66, 0xFF9D), (0x1B000, 0x1B16F), (0x20000, 0x323AF)),
)


def _class(ranges: Sequence[tuple[int, int]]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_IS_UNSPACED = np.zeros(_UNSPACED_RANGES[-1][1] + 2, np.bool_)
"""A table by code point. The last entry stands for all later code points."""
for _first, _last in _UNSPACED_RANGES:
    _IS_UNSPACED[_first : _last + 1] = True
_UNSPACED = _class(_UNSPACED_RANGES)
_UNSPACED_CHAR = re.compile(rf"[{_UNSPACED}]")
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_INVISIBLE_RANGES = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F)),
    *((0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF9, 0xFFFB), (0xE0000, 0xE0FFF)),
)
_INVISIBLE = re.compile(f"[{_class(_INVISIBLE_RANGES)}]+")
