"""Counts the distinct n-grams of texts.

N-grams of words are counted without an object for each word, and for several texts in one call, because for short
arrays numpy spends most of its time on the call:

    lanes     eight bytes of a text from each place on, as one number (little-endian on every machine)
    words     the lane a word begins with, cut behind the blank that ends it, and mixed; longer words have each
              further lane added to the multiple of what they had, and are mixed again. All bytes of a word count, and
              where it ends does
    n-grams   the sum of words' numbers times the powers of a base at their places (as Karp and Rabin 1987,
              doi:10.1147/rd.312.0249, have it for characters), modulo 2^64

Words of up to eight bytes never share a number. The chance that two of 1,000 different n-grams share one is 3e-14. The
numbers, and therefore the counts, are the same in every process.
"""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, TypeAlias

from verifiers.rules.arrays import NDArray, np

Count: TypeAlias = tuple[int, int]
"""The number of distinct n-grams, and the number of all n-grams."""
_Numbers: TypeAlias = NDArray[np.uint64]

MAX_WORD_BYTES: Final = 160
"""Texts with longer words are not counted here, because each lane of the longest word costs a round for all words."""
_LANE_BYTES: Final = 8
_LANE: Final = np.dtype("<u8")
_PADDING: Final = b" " * (_LANE_BYTES + 1)
_CUTS: Final = np.array([(1 << 8 * min(size + 1, _LANE_BYTES)) - 1 for size in range(_LANE_BYTES + 1)], np.uint64)
"""Masks by the number of bytes left of a word: the part of a lane that belongs to the word and the blank behind it."""
_MIX: Final = np.uint64(0xBF58476D1CE4E5B9)
_STEP: Final = np.uint64(0xD6E8FEB86659FD93)
_HALF: Final = np.uint64(32)
_BLANK: Final = np.uint8(ord(" "))


def distinct(tokens: Sequence[Hashable], n: int) -> Count:
    total = len(tokens) - n + 1
    if total < 1:
        return 0, 0
    return len(set(zip(*(tokens[start:] for start in range(n)), strict=False))), total


def distinct_of_words(texts: Sequence[bytes], n: int, longest: int = MAX_WORD_BYTES) -> list[Count | None]:
    """The counts for each text, given in UTF-8, of words that are separated by blanks.

    None: the text is not counted, because a word has more characters than `longest`, or more bytes than
    `MAX_WORD_BYTES`.
    """
    joined = b" %b%b" % (b" ".join(texts), _PADDING)
    edges = _edges(joined)
    word_starts = edges[::2].copy()
    sizes = edges[1::2] - word_starts
    stops = accumulate(len(text) + 1 for text in texts)
    firsts = [0, *word_starts.searchsorted([*stops]).tolist()]
    longer = _longer(joined, word_starts, sizes, longest)
    sizes[longer] = 0  # they are not read
    counts: list[Count | None] = [*_counts(_grams(_words(joined, word_starts, sizes), n), firsts, n)]
    for word in longer:
        counts[bisect_right(firsts, word) - 1] = None
    return counts


def with_long_words(text: bytes, longest: int, changed: Callable[[bytes], bytes]) -> bytes:
    """A text in which `changed` replaces each word of more than `longest` bytes."""
    edges = _edges(b" %b " % text)
    long_words = (edges[1::2] - edges[::2] > longest).nonzero()[0]
    pieces: list[bytes] = []
    done_to = 0
    for start, end in zip(edges[2 * long_words].tolist(), edges[2 * long_words + 1].tolist(), strict=True):
        pieces += text[done_to:start], changed(text[start:end])
        done_to = end
    return b"".join(pieces) + text[done_to:]


def _edges(text: bytes) -> NDArray[np.intp]:
    """The place before each word and of its last byte, in a text that begins and ends with a blank."""
    is_blank = np.frombuffer(text, np.uint8) == _BLANK
    edges: NDArray[np.intp] = (is_blank[1:] != is_blank[:-1]).nonzero()[0]
    return edges


def _longer(text: bytes, word_starts: NDArray[np.intp], sizes: NDArray[np.intp], longest: int) -> list[int]:
    """The words that have more characters than `longest`, or more bytes than `MAX_WORD_BYTES`."""

    def is_longer(word: int) -> bool:
        start, size = int(word_starts[word]) + 1, int(sizes[word])
        return size > MAX_WORD_BYTES or len(text[start : start + size].decode("utf-8", "surrogatepass")) > longest

    return list(filter(is_longer, (sizes > longest).nonzero()[0].tolist()))


def _words(text: bytes, word_starts: NDArray[np.intp], sizes: NDArray[np.intp]) -> _Numbers:
    """A number for each word."""
    lanes = np.ndarray(len(text) - _LANE_BYTES, _LANE, text, 1, (1,)).astype(np.uint64)
    numbers: _Numbers = _CUTS.take(sizes, mode="clip")
    numbers &= lanes.take(word_starts)
    np.invert(numbers, numbers)  # no text has a word that becomes 0, which mixing leaves as it is
    _mix(numbers)
    longer = (sizes > _LANE_BYTES).nonzero()[0]
    positions, remaining = word_starts[longer], sizes[longer]
    while longer.size:
        positions += _LANE_BYTES
        remaining -= _LANE_BYTES
        lane = _CUTS.take(remaining, mode="clip")
        lane &= lanes.take(positions)
        lane += numbers[longer] * _STEP
        _mix(lane)
        numbers[longer] = lane
        is_longer = remaining > _LANE_BYTES
        longer, positions, remaining = longer[is_longer], positions[is_longer], remaining[is_longer]
    return numbers


def _mix(numbers: _Numbers) -> None:
    """Mix the bits of numbers, so that sums and multiples do not show. The mapping is one to one.

    The steps are like the last of SplitMix64, doi:10.1145/2714064.2660195.
    """
    numbers ^= numbers >> _HALF
    numbers *= _MIX
    numbers ^= numbers >> _HALF


def _grams(words: _Numbers, n: int) -> _Numbers:
    """A number for the n words that begin at each word."""
    grams = words[: max(0, words.size - n + 1)]
    for offset in range(1, n):
        grams = grams * _STEP
        grams += words[offset : offset + grams.size]
    return grams


def _counts(grams: _Numbers, firsts: Sequence[int], n: int) -> Iterator[Count]:
    """The counts for the texts whose words begin at `firsts`. It sorts the n-grams of each text in place."""
    spans = [(first, max(first, end - n + 1)) for first, end in pairwise(firsts)]
    for first, end in spans:
        grams[first:end].sort()
    is_new = grams[1:] != grams[:-1]
    for first, end in spans:
        yield (int(np.count_nonzero(is_new[first : end - 1])) + 1 if end > first else 0), end - first
