"""Loops: stretches of a text that come again and again, with any words or none.

A loop is a stretch of at most `_MAX_PERIOD` characters that comes at least `_MIN_ROUNDS` times in a row and is at least
`_MIN_LOOP_CHARS` long in all. Finding one takes two looks:

    suspects    at few places, far enough apart that no loop fits between them, a few characters are looked for again
                within the longest period. A long period makes a long loop, so that the farther is looked, the fewer
                places there are. The first eight of them are looked for at all places in one go, as numbers. Nothing
                found, no loop: most texts end here
    looped      near suspects, at each place in `_STRIDE`, the loop itself is measured
"""

from collections.abc import Iterator
from dataclasses import dataclass

from verifiers.rules.arrays import NDArray, np
from verifiers.rules.words import lowered
from verifiers.sightings import beyond_ascii

_PROBE = 16  # a power of two, so that halving it reaches every length
_GRAM = 8  # twice the bytes of a number that is compared at once; no probe is shorter
_STRIDE = 40
_MAX_PERIOD = 1_000
_MIN_ROUNDS = 4
_MIN_LOOP_CHARS = 60


@dataclass(frozen=True)
class _Scale:
    """How loops of a range of periods are suspected."""

    longest: int
    """The longest period."""
    probe: int
    """So many characters are looked for again, one longest period far."""
    stride: int
    """At one place in so many: one of them lies in every loop so that what stands there comes again in it."""


def _scale(shortest: int, longest: int, probe: int) -> _Scale:
    """What stands in a loop comes again in it if it ends a period before the loop does."""
    rests = (max(_MIN_ROUNDS * period, _MIN_LOOP_CHARS) - period for period in range(shortest, longest + 1))
    return _Scale(longest, probe, min(rests) - probe + 1)


_SCALES = (_scale(1, 40, 12), _scale(41, 200, 24), _scale(201, _MAX_PERIOD, 64))


def evened(text: str) -> str:
    """In lower case, with one space between words and none around them: `" ".join(text.lower().split())`."""
    encoded = text.encode("utf-8", "surrogatepass")
    plain = np.frombuffer(lowered(text, encoded, beyond_ascii(text, encoded)), np.uint8)
    is_kept = plain != ord(" ")
    is_kept[1:] |= is_kept[:-1]
    kept: bytes = plain[is_kept].tobytes()
    return kept.rstrip(b" ").decode("utf-8", "surrogatepass")


def looped(text: str) -> int:
    """How many characters of a text are further rounds of a loop.

    Looks from one place in `_STRIDE`: where the next `_PROBE` characters come again within the longest period, it
    measures how far the text goes on equalling itself at that distance. Work is bounded by the longest period for
    each place looked from, and what was found to be a loop is not looked at again.
    """
    position, counted, floor = 0, 0, 0
    last = len(text) - _PROBE
    for first, final, longest in _suspects(text):
        position += max(0, -((position - first) // _STRIDE)) * _STRIDE
        while position <= min(final, last):
            again = text.find(text[position : position + _PROBE], position + 1, position + _PROBE + longest)
            period = again - position
            start = _start(text, position, period, floor) if again >= 0 else position
            end = again + _common(text, position, again) if again >= 0 else position
            if end - start >= max(_MIN_ROUNDS * period, _MIN_LOOP_CHARS):
                counted += end - start - period
                position = floor = end
            else:
                position += _STRIDE
    return counted


def _suspects(text: str) -> Iterator[tuple[int, int, int]]:
    """Where loops may be seen from: from a place to a place, up to a period; in order, none overlapping another."""
    grams = _grams(text)
    found = sorted(
        (place - scale.stride + 1, place + _STRIDE, scale.longest)
        for scale in _SCALES
        for place in _places(grams, len(text), scale)
        if _comes_thrice(text, place, scale)
    )
    return _merged(found)


def _grams(text: str) -> NDArray[np.uint32]:
    """A number for the `_GRAM` characters from each place on: where they are the same, it is.

    Of a character beyond ASCII its last byte counts. Zeros follow, so that from each place it is a longest period to
    the end.
    """
    if text.isascii():
        chars = text.encode()
    else:
        chars = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint8).tobytes()
    chars += _PADDING
    halves = np.ndarray(len(chars) - _GRAM // 2 + 1, np.uint32, chars, 0, (1,)).copy()
    grams = halves[: -_GRAM // 2] * _FACTOR
    grams ^= halves[_GRAM // 2 :]
    return grams


_FACTOR = np.uint32(0x9E3779B1)
_PADDING = bytes(_MAX_PERIOD + 2 * _GRAM)


def _places(grams: NDArray[np.uint32], size: int, scale: _Scale) -> list[int]:
    """Places of a scale of which the gram comes again, a longest period far."""
    count = len(range(0, size - scale.probe, scale.stride))
    if not count:
        return []
    step = grams.itemsize
    later = np.ndarray((count, scale.longest), np.uint32, grams, step, (scale.stride * step, step))
    comes_again = (later == grams[: count * scale.stride : scale.stride, None]).tobytes()
    places: list[int] = []
    found = comes_again.find(_YES)
    while found >= 0:
        row = found // scale.longest
        places.append(row * scale.stride)
        found = comes_again.find(_YES, (row + 1) * scale.longest)
    return places


_YES = 1


def _comes_thrice(text: str, place: int, scale: _Scale) -> bool:
    """Whether a probe comes again, and once more behind that or before, each within the longest period.

    In a loop it does at each place of which it comes again: there are at least three places of the same phase, as
    `max(_MIN_ROUNDS * period, _MIN_LOOP_CHARS) - probe + 1` is at least `3 * period` for the periods of each scale.
    """
    probe, reach = text[place : place + scale.probe], scale.probe + scale.longest
    again = text.find(probe, place + 1, place + reach)
    if again < 0:
        return False
    is_behind = text.find(probe, again + 1, again + reach) >= 0
    return is_behind or text.find(probe, max(0, place - scale.longest), place + scale.probe - 1) >= 0


def _merged(spans: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    if not spans:
        return
    first, final, longest = spans[0]
    for start, end, reach in spans[1:]:
        if start > final:
            yield first, final, longest
            first, final, longest = start, end, reach
        else:
            final, longest = max(final, end), max(longest, reach)
    yield first, final, longest


def _start(text: str, position: int, period: int, floor: int) -> int:
    """Where the stretch that equals itself at this distance begins: less than a stride before, or it had been found."""
    floor = max(floor, position - _STRIDE)
    while position > floor and text[position - 1] == text[position - 1 + period]:
        position -= 1
    return position


def _common(text: str, left: int, right: int) -> int:
    """How many characters from `right` on equal those from `left` on."""
    end = len(text) - right
    count, step = 0, _PROBE
    while text[left + count : left + count + step] == text[right + count : right + count + step] and count < end:
        count, step = min(count + step, end), step * 2
    while step := step // 2:
        if text[left + count : left + count + step] == text[right + count : right + count + step]:
            count = min(count + step, end)
    return count
