"""What a text looks like, in numbers: words, phrases, signatures of near-equal texts, repetition, kinds of characters.

A phrase is four words in a row, hashed. Digits count as one digit, so that a template filled with other numbers is the same. The
signature is MinHash (Broder 1997): of each of 64 hash functions it keeps the least value over the phrases. The share of equal
places in two signatures estimates how many phrases two texts share, of all that they have (Jaccard), with a standard error of
0.06.
"""

import re
import unicodedata
import zlib
from typing import Final

import numpy as np
import numpy.typing as npt

MAX_CHARS: Final = 4_000
"""Of a longer text the first and the last half of these are looked at."""
PLACES: Final = 64
"""Of a signature."""
MANY_WORDS: Final = 20
"""Texts with fewer words are too short for a signature: they are compared letter by letter."""
_TAIL_CHARS: Final = 600
_SAMPLED_CHARS: Final = 400
_WORD: Final = re.compile(r"\w+|[^\w\s]")
_DIGITS: Final = re.compile(r"\d+")
_TERM: Final = re.compile(r"\b(?:\d+(?:[.,/]\d+)*|[A-Z])\b")
_random: Final = np.random.default_rng(19970611)
_FACTORS: Final = _random.integers(1, 2**32, PLACES, dtype=np.uint64) | np.uint64(1)
_SHIFTS: Final = _random.integers(0, 2**32, PLACES, dtype=np.uint64)
_BASES: Final = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F], dtype=np.uint64)

Hashes = npt.NDArray[np.uint64]
Signature = npt.NDArray[np.uint32]


def cut(text: str, max_chars: int = MAX_CHARS) -> str:
    """The text, without its middle if it is long."""
    return text if len(text) <= max_chars else f"{text[: max_chars // 2]}\n{text[-(max_chars // 2) :]}"


def words(text: str) -> list[bytes]:
    """Words and signs, in UTF-8."""
    return " ".join(_WORD.findall(_DIGITS.sub("0", text.lower()))).encode("utf-8", "surrogatepass").split()


def phrases(words: list[bytes]) -> Hashes:
    """The hashes of four words in a row, in order."""
    words = words + [b""] * (len(_BASES) - len(words))
    hashes = np.fromiter(map(zlib.crc32, words), np.uint64, len(words))
    count = len(words) - len(_BASES) + 1
    mixed = np.zeros(count, np.uint64)
    for at, base in enumerate(_BASES):
        mixed = mixed * np.uint64(31) + hashes[at : at + count] * base
    return mixed >> np.uint64(16)


def phrase(words: list[bytes], at: int) -> str:
    """The phrase at a position, as words. Digits are 0 in it."""
    return b" ".join(words[at : at + len(_BASES)]).decode(errors="replace")


def signature(hashes: Hashes) -> Signature:
    """The MinHash of a text with these phrases: one value for each place."""
    table = hashes[:, None] * _FACTORS + _SHIFTS
    minima: Signature = (table >> np.uint64(32)).min(axis=0).astype(np.uint32)
    return minima


def repetition(text: str) -> float | None:
    """How far the last 600 characters can be packed, from 0 (the same again and again) to 1. None: the text is too short
    to tell. The piece has one length because long texts can always be packed further.
    """
    tail = text[-_TAIL_CHARS:].encode("utf-8", "surrogatepass")
    return None if len(text) < _TAIL_CHARS // 2 else min(1.0, len(zlib.compress(tail, 1)) / len(tail))


def terms_at_end(text: str) -> int:
    """How many different numbers and letters of options its last 200 characters hold."""
    return len(set(_TERM.findall(text[-200:])))


def kinds_of_characters(text: str) -> set[str]:
    """The kinds of its characters: category and, beyond ASCII, the block of 128 in Unicode."""
    chars = set(text[: _SAMPLED_CHARS // 2] + text[-_SAMPLED_CHARS // 2 :])
    return {
        "ascii" if " " <= char <= "~" or char in "\n\t\r" else f"{unicodedata.category(char)}{ord(char) >> 7:x}"
        for char in chars
    }


MARKS: Final = ("\\boxed", "<think>", "</think>", "<answer>", "</answer>", "```", "####", "<tool_call>", '{"')
"""Marks of the forms that trainers ask for."""


def marks(text: str) -> int:
    """Which marks the text holds, one bit each."""
    return sum(1 << at for at, mark in enumerate(MARKS) if mark in text)


def numbers(text: str) -> list[str]:
    """The numbers in the text, in order."""
    return _DIGITS.findall(text)
