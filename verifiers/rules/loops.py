"""Loops: stretches of a text that come again and again, with any words or none.

A loop is a stretch of at most `_MAX_PERIOD` characters that comes at least `_MIN_ROUNDS` times in a row and is at least
`_MIN_LOOP_CHARS` long in all. Finding one takes two looks:

    suspects    at few places, far enough apart that no loop fits between them, eight characters are looked for again
                within the longest period. A long period makes a long loop, so that the farther is looked, the fewer
                places there are. Where they come again at some distance, a few more of those that would, if it were
                a loop, are looked for at that distance. Nothing found, no loop: most texts end here. It is done with
                numbers for all places, and several texts, in one go, as most of what numpy takes for few numbers is
                the call
    looped      near suspects, at each place in `_STRIDE`, the loop itself is measured
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from verifiers.rules.arrays import NDArray, np
from verifiers.rules.words import lowered
from verifiers.sightings import beyond_ascii

_PROBE = 16  # a power of two, so that halving it reaches every length
_GRAM = 8  # bytes of a number; no probe is shorter
_STRIDE = 40
_MAX_PERIOD = 1_000
_MIN_ROUNDS = 4
_MIN_LOOP_CHARS = 60
_CELLS = 1 << 18
"""About so many pairs of places are compared in one go."""
_END = b"\xff"
"""What no text has in UTF-8."""
_BLANK = np.uint8(ord(" "))

_Numbers = NDArray[np.uint16]
_Places = NDArray[np.intp]
_Span = tuple[int, int, int]
"""From a place, to a place, up to a period."""


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


def evened(texts: Sequence[str]) -> list[str]:
    """In lower case, with one space between words and none around them: `" ".join(text.lower().split())` for each."""
    plain = np.frombuffer(_END.join(map(_lowered, texts)), np.uint8)
    is_kept = plain != _BLANK
    is_kept[1:] |= is_kept[:-1]
    kept = plain[is_kept]
    ends = (kept == _END[0]).nonzero()[0].tolist()
    chars = memoryview(kept)
    spans = zip([0, *(end + 1 for end in ends)], [*ends, kept.size], strict=True)
    return [str(chars[start:end], "utf-8", "surrogatepass").strip(" ") for start, end in spans]


def _lowered(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogatepass")
    return lowered(text, encoded, beyond_ascii(text, encoded))


def looped(texts: Sequence[str]) -> list[int]:
    """How many characters of each text are further rounds of a loop."""
    return [_looped(text, spans) if spans else 0 for text, spans in zip(texts, _suspects(texts), strict=True)]


def _looped(text: str, suspects: Sequence[_Span]) -> int:
    """Looks from one place in `_STRIDE`: where the next `_PROBE` characters come again within the longest period, it
    measures how far the text goes on equalling itself at that distance. Work is bounded by the longest period for
    each place looked from, and what was found to be a loop is not looked at again.
    """
    position, counted, floor = 0, 0, 0
    last = len(text) - _PROBE
    for first, final, longest in _merged(suspects):
        position += max(0, -((position - first) // _STRIDE)) * _STRIDE
        while position <= min(final, last):
            again = text.find(text[position : position + _PROBE], position + 1, position + _PROBE + longest)
            period = again - position
            least = max(_MIN_ROUNDS * period, _MIN_LOOP_CHARS)
            end = again + _common(text, position, again) if again >= 0 else position
            may_reach = end - max(floor, position - _STRIDE) >= least
            start = _start(text, position, period, floor) if again >= 0 and may_reach else position
            if end - start >= least:
                counted += end - start - period
                position = floor = end
            else:
                position += _STRIDE
    return counted


def _suspects(texts: Sequence[str]) -> list[list[_Span]]:
    """Where in each text loops may be seen from; in order."""
    ends = [*accumulate(map(len, texts))]
    grams = _grams(texts)
    spans: list[list[_Span]] = [[] for _ in texts]
    for scale, runs in zip(_SCALES, _runs(grams, ends[-1]), strict=True):
        for first, last in runs:
            for text in range(bisect_right(ends, first), bisect_right(ends, last) + 1):
                begin = ends[text] - len(texts[text])
                spans[text].append((first - begin - scale.stride + 1, last - begin + _STRIDE, scale.longest))
    return [sorted(found) for found in spans]


def _grams(texts: Sequence[str]) -> _Numbers:
    """A number for the `_GRAM` characters from each place of all texts on: where they are the same, it is.

    Zeros follow, so that from each place it is a longest period to the end.
    """
    grams: _Numbers = np.frombuffer(b"".join([*map(_units, texts), _PADDING]), _UNIT)
    for reach, factor in _FACTORS:  # of so many characters, then of twice as many, up to all
        further = grams[reach:]
        grams = grams[:-reach] * factor
        grams += further
    return grams


def _units(text: str) -> bytes:
    """A number of two bytes for each character: the lower ones of its code."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) == len(text) * _UNIT.itemsize:
        return units
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), _UNIT)[::2].tobytes()


_UNIT = np.dtype("<u2")
_BASE = 0x9E35
_FACTORS = tuple((reach, np.uint16(pow(_BASE, reach, 1 << 16))) for reach in (1, 2, 4))
"""The powers of the base, so that each character of a gram has one of its own."""
_PADDING = bytes((_MAX_PERIOD + 2 * _GRAM) * _UNIT.itemsize)


def _runs(grams: _Numbers, size: int) -> Iterator[list[tuple[int, int]]]:
    """The first and the last of neighbouring places from which on there may be loops; in order, for each scale."""
    looks = [_look(grams, size, scale) for scale in _SCALES]
    counts = [look.rows.size for look in looks]
    places = np.concatenate([look.rows * scale.stride for look, scale in zip(looks, _SCALES, strict=True)])
    may_be_loop = _may_be_loop(
        grams, places, np.concatenate([look.periods for look in looks]), np.repeat(_PROBES, counts)
    )
    start = 0
    for look, scale, count in zip(looks, _SCALES, counts, strict=True):
        is_suspect = look.is_suspect
        is_suspect[look.rows[may_be_loop[start : start + count]] + 1] = True
        edges = (is_suspect[1:] != is_suspect[:-1]).nonzero()[0] * scale.stride
        yield [*zip(edges[::2].tolist(), (edges[1::2] - scale.stride).tolist(), strict=True)]
        start += count


_PROBES = np.array([scale.probe for scale in _SCALES])


@dataclass(frozen=True)
class _Look:
    """What the places of a scale show, which are rows here."""

    is_suspect: NDArray[np.bool_]
    """For each row, and one before and behind them, whether there may be a loop as far as is known."""
    rows: _Places
    """Where a gram comes again: this is to be asked."""
    periods: _Places
    """For each of those, at which distance."""


def _look(grams: _Numbers, size: int, scale: _Scale) -> _Look:
    count = len(range(0, size, scale.stride))
    is_suspect = np.zeros(count + 2, np.bool_)
    found = [_NOWHERE]
    rows = _CELLS // scale.longest
    for first in range(0, count, rows):
        comes_again = _comes_again(grams, first, min(rows, count - first), scale)
        again = comes_again.ravel().nonzero()[0]
        if again.size > _MANY * len(comes_again):
            is_flood = np.count_nonzero(comes_again, axis=1) > _MANY
            is_suspect[first + 1 : first + 1 + len(comes_again)] = is_flood
            comes_again[is_flood] = False
            again = comes_again.ravel().nonzero()[0]
        found.append(again + first * scale.longest)
    places, periods = np.divmod(np.concatenate(found), scale.longest)
    periods += 1
    return _Look(is_suspect, places, periods)


_NOWHERE = np.zeros(0, np.intp)
_MANY = 8
"""Distances at which a gram comes again; in most texts, fewer than one for each place.

Where they are more, it is a flood, in which measuring takes less than asking at every distance.
"""


def _comes_again(grams: _Numbers, first: int, count: int, scale: _Scale) -> NDArray[np.bool_]:
    """For each of so many rows from the first on: whether its gram comes again 1, 2, ... characters behind."""
    step = grams.itemsize
    place = first * scale.stride
    shape, strides = (count, scale.longest), (scale.stride * step, step)
    later = np.ndarray(shape, grams.dtype, grams, (place + 1) * step, strides)
    comes_again: NDArray[np.bool_] = later == grams[place : place + count * scale.stride : scale.stride, None]
    return comes_again


def _may_be_loop(grams: _Numbers, places: _Places, periods: _Places, probes: _Places) -> NDArray[np.bool_]:
    """Whether a probe comes again at this distance, and with it what it would in a loop.

    There the text equals itself at a distance of one period over all rounds but one. A probe lies among those, so half
    of what remains of them, at least, lies before it or behind it.
    """
    last = places + (probes - _GRAM)
    found = _equal(grams, last, periods)
    found &= _equal(grams, (places + last) // 2, periods)
    kept = found.nonzero()[0]
    if kept.size:
        places, last, periods = places[kept], last[kept], periods[kept]
        half = (np.maximum(_MIN_ROUNDS * periods, _MIN_LOOP_CHARS) - periods - probes[kept]) // 2
        before = _equal(grams, places - half, periods) & _equal(grams, places - half // 2, periods)
        found[kept] = before | (_equal(grams, last + half, periods) & _equal(grams, last + half // 2, periods))
    return found


def _equal(grams: _Numbers, places: _Places, periods: _Places) -> NDArray[np.bool_]:
    """Beyond either end of the grams, whatever is there."""
    equal: NDArray[np.bool_] = grams.take(places, mode="clip") == grams.take(places + periods, mode="clip")
    return equal


def _merged(spans: Sequence[_Span]) -> Iterator[_Span]:
    """None overlapping another."""
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
