"""How many different n-grams there are.

Of words they are counted without making an object of each, which takes less than half of the time: the text is one
array of bytes, a word is the sum of its bytes' own numbers times the powers of a base at their places, divided by the
power at its first place (polynomial hashing: Karp and Rabin 1987, doi:10.1147/rd.312.0249) and mixed, and an n-gram is
such a sum of its words' numbers. All of it is done modulo 2^64. That two of 1,000 different n-grams get the same number has a chance of
3e-14; the numbers are the same in every process, and so is what is counted.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, TypeAlias

from verifiers.rules.arrays import NDArray, np

_Numbers: TypeAlias = NDArray[np.uint64]

MAX_WORD_BYTES: Final = 160
"""Texts with longer words are not counted here: polynomials modulo 2^64 do not tell apart some of 1,024 bytes and more."""
_PIECE_BYTES: Final = 1 << 15
_WORD_BITS: Final = 1 << 64
_BASE: Final = 0x9E3779B97F4A7C15
_MIX: Final = np.uint64(0xBF58476D1CE4E5B9)
_STEP: Final = np.uint64(0xD6E8FEB86659FD93)
_HALF: Final = np.uint64(32)
_BLANK: Final = np.uint8(ord(" "))
_CONTINUES, _CONTINUES_MASK = np.uint8(0x80), np.uint8(0xC0)


def _powers(base: int) -> _Numbers:
    powers = np.full(_PIECE_BYTES + 2, base, np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


_POWERS: Final = _powers(_BASE)
_INVERSES: Final = _powers(pow(_BASE, -1, _WORD_BITS))


def _mix(numbers: _Numbers) -> None:
    """Leave nothing of sums and multiples. One to one (steps like the last of SplitMix64, doi:10.1145/2714064.2660195)."""
    numbers ^= numbers >> _HALF
    numbers *= _MIX
    numbers ^= numbers >> _HALF


def _numbers_of_bytes() -> _Numbers:
    numbers = _POWERS[1:0x101].copy()
    _mix(numbers)
    numbers[_BLANK] = 0
    return numbers


_BYTES: Final = _numbers_of_bytes()


def distinct(tokens: Sequence[Hashable], n: int) -> tuple[int, int]:
    """How many different n-grams there are, and how many in all."""
    total = len(tokens) - n + 1
    if total < 1:
        return 0, 0
    return len(set(zip(*(tokens[start:] for start in range(n)), strict=False))), total


def distinct_of_words(text: bytes, n: int, longest: int = MAX_WORD_BYTES) -> tuple[int, int] | None:
    """The same for the words of a text, in UTF-8, that blanks part.

    None: not counted, as there is a word of more characters than `longest`, or of more bytes than `MAX_WORD_BYTES`.
    """
    found = []
    for piece in _pieces(text) if len(text) > _PIECE_BYTES else (text,):
        words = _words(np.frombuffer(b" %b " % piece, np.uint8), longest)
        if words is None:
            return None
        found.append(words)
    return _distinct(np.concatenate(found) if len(found) > 1 else found[0], n)


def with_long_words(text: bytes, longest: int, changed: Callable[[bytes], bytes]) -> bytes:
    """A text with each word of more than so many bytes as `changed` makes it."""
    edges = _edges(np.frombuffer(b" %b " % text, np.uint8))
    places = (edges[1::2] - edges[::2] > longest).nonzero()[0]
    parts: list[bytes] = []
    behind = 0
    for start, end in zip(edges[2 * places].tolist(), edges[2 * places + 1].tolist(), strict=True):
        parts += text[behind:start], changed(text[start:end])
        behind = end
    return b"".join(parts) + text[behind:]


def _pieces(text: bytes) -> Iterator[bytes]:
    """Words stay whole, unless they are far too long."""
    start = 0
    while start < len(text):
        end = start + _PIECE_BYTES
        if end < len(text):
            end = max(text.rfind(b" ", start, end), start + MAX_WORD_BYTES + 1)
        yield text[start:end]
        start = end


def _distinct(words: _Numbers, n: int) -> tuple[int, int]:
    total = words.size - n + 1
    if total < 1:
        return 0, 0
    grams = words[:total]
    for place in range(1, n):
        grams = grams * _STEP
        grams += words[place : place + total]
    grams.sort()
    return int(np.count_nonzero(grams[1:] != grams[:-1])) + 1, total


def _words(data: NDArray[np.uint8], longest: int) -> _Numbers | None:
    """A number for each word of a text that begins and ends with a blank; None when one is longer."""
    edges = _edges(data)
    starts = edges[::2]
    most_bytes = (edges[1::2] - starts).max(initial=0)
    if most_bytes > longest and (most_bytes > MAX_WORD_BYTES or _most_chars(data, edges) > longest):
        return None
    terms = _BYTES.take(data)
    terms *= _POWERS[: data.size]
    sums = terms.cumsum()[edges]
    words: _Numbers = sums[1::2] - sums[::2]
    words *= _INVERSES[starts]
    words ^= words >> _HALF  # leaves no sums, which n-grams are made of again
    return words


def _most_chars(data: NDArray[np.uint8], edges: NDArray[np.intp]) -> int:
    """How many characters the longest word has: in UTF-8, the bytes that do not continue one."""
    chars = ((data & _CONTINUES_MASK) != _CONTINUES).cumsum()[edges]
    return int((chars[1::2] - chars[::2]).max())


def _edges(data: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Where in a text that begins and ends with a blank the last byte before each word is, and the last of the word."""
    is_blank = data == _BLANK
    edges: NDArray[np.intp] = (is_blank[1:] != is_blank[:-1]).nonzero()[0]
    return edges
