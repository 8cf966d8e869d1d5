"""Finds loops: stretches of a text that repeat in a row, with or without words.

A loop is a stretch of at most `_MAX_PERIOD` characters that repeats at least `_MIN_ROUNDS` times in a row, with a total
length of at least `_MIN_LOOP_CHARS`. The search has two steps:

    suspects    A few places are tested, so close together that every loop covers one. Eight characters of each are
                searched again within the longest period. A long period makes a long loop, so a longer period needs
                fewer places. If the characters come again at some distance, a few more that would repeat in a loop are
                tested at that distance. If none repeat, there is no loop; most texts end here. numpy tests all places
                of several texts in one call, because for few numbers the call itself takes most of the time.
    looped      Near suspects, one place in `_STRIDE` is tried, and the loop itself is measured.
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
"""The approximate number of pairs of places that are compared in one call."""
_END = b"\xff"
"""A byte that no text has in UTF-8."""
_BLANK = np.uint8(ord(" "))

_Numbers = NDArray[np.uint16]
_Places = NDArray[np.intp]
_Span = tuple[int, int, int]
"""A span with the longest period: first place, last place, period."""


@dataclass(frozen=True)
class _Scale:
    """The settings of the search for loops of a range of periods."""

    longest: int
    """The longest period."""
    probe: int
    """The number of characters that are searched again, up to one longest period ahead."""
    stride: int
    """The distance of the tested places. Every loop covers one of them whose characters come again inside the loop."""


def _scale(shortest: int, longest: int, probe: int) -> _Scale:
    """The scale for a range of periods. Characters repeat inside a loop if they end one period before its end."""
    rests = (max(_MIN_ROUNDS * period, _MIN_LOOP_CHARS) - period for period in range(shortest, longest + 1))
    return _Scale(longest, probe, min(rests) - probe + 1)


_SCALES = (_scale(1, 40, 12), _scale(41, 200, 24), _scale(201, _MAX_PERIOD, 64))


def evened(texts: Sequence[str]) -> list[str]:
    """Each text in lower case with single spaces: `" ".join(text.lower().split())`."""
    plain = np.frombuffer(_END.join(map(_lowered, texts)), np.uint8)
    is_kept = plain != _BLANK
    is_kept[1:] |= is_kept[:-1]
    codes = plain[is_kept]
    stops = (codes == _END[0]).nonzero()[0].tolist()
    chars = memoryview(codes)
    spans = zip([0, *(end + 1 for end in stops)], [*stops, codes.size], strict=True)
    return [str(chars[start:end], "utf-8", "surrogatepass").strip(" ") for start, end in spans]


def _lowered(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogatepass")
    return lowered(text, encoded, beyond_ascii(text, encoded))


def looped(texts: Sequence[str]) -> list[int]:
    """The number of characters of each text that are further rounds of a loop."""
    return [_looped(text, spans) if spans else 0 for text, spans in zip(texts, _suspects(texts), strict=True)]


def _looped(text: str, suspects: Sequence[_Span]) -> int:
    """The number of looped characters of a text, searched near its suspects.

    One place in `_STRIDE` is tried. If its next `_PROBE` characters come again within the longest period, the length of
    the repetition at that distance is measured. The longest period bounds the work for each place, and a found loop is
    not searched again.
    """
    position, counted, floor = 0, 0, 0
    last = len(text) - _PROBE
    for first, final, longest in _merged(suspects):
        position += max(0, -((position - first) // _STRIDE)) * _STRIDE
        while position <= min(final, last):
            repeat = text.find(text[position : position + _PROBE], position + 1, position + _PROBE + longest)
            period = repeat - position
            min_chars = max(_MIN_ROUNDS * period, _MIN_LOOP_CHARS)
            end = repeat + _common(text, position, repeat) if repeat >= 0 else position
            may_reach = end - max(floor, position - _STRIDE) >= min_chars
            start = _start(text, position, period, floor) if repeat >= 0 and may_reach else position
            if end - start >= min_chars:
                counted += end - start - period
                position = floor = end
            else:
                position += _STRIDE
    return counted


def _suspects(texts: Sequence[str]) -> list[list[_Span]]:
    """The spans of each text where loops may begin, in order."""
    stops = [*accumulate(map(len, texts))]
    grams = _grams(texts)
    spans: list[list[_Span]] = [[] for _ in texts]
    for scale, runs in zip(_SCALES, _runs(grams, stops[-1]), strict=True):
        for first, last in runs:
            for text in range(bisect_right(stops, first), bisect_right(stops, last) + 1):
                offset = stops[text] - len(texts[text])
                spans[text].append((first - offset - scale.stride + 1, last - offset + _STRIDE, scale.longest))
    return [sorted(text_spans) for text_spans in spans]


def _grams(texts: Sequence[str]) -> _Numbers:
    """A number for the `_GRAM` characters from each place of all texts. Equal characters have equal numbers.

    Zeros are appended, so that a longest period fits behind each place.
    """
    grams: _Numbers = np.frombuffer(b"".join([*map(_units, texts), _PADDING]), _UNIT)
    for reach, factor in _FACTORS:  # numbers of one character, then of two, four, up to all
        later = grams[reach:]
        grams = grams[:-reach] * factor
        grams += later
    return grams


def _units(text: str) -> bytes:
    """The two lower bytes of the code of each character."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) == len(text) * _UNIT.itemsize:
        return units
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), _UNIT)[::2].tobytes()


_UNIT = np.dtype("<u2")
_BASE = 0x9E35
_FACTORS = tuple((reach, np.uint16(pow(_BASE, reach, 1 << 16))) for reach in (1, 2, 4))
"""Powers of the base. Together they give each character of a gram its own power."""
_PADDING = bytes((_MAX_PERIOD + 2 * _GRAM) * _UNIT.itemsize)


def _runs(grams: _Numbers, size: int) -> Iterator[list[tuple[int, int]]]:
    """The runs of neighbouring places where loops may begin, as first and last place, in order, for each scale."""
    looks = [_test_scale(grams, size, scale) for scale in _SCALES]
    counts = [look.rows.size for look in looks]
    positions = np.concatenate([look.rows * scale.stride for look, scale in zip(looks, _SCALES, strict=True)])
    may_be_loop = _may_be_loop(
        grams, positions, np.concatenate([look.periods for look in looks]), np.repeat(_PROBES, counts)
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
class _ScaleResult:
    """The results for the places of a scale. A place is a row."""

    is_suspect: NDArray[np.bool_]
    """Whether each row may have a loop, as far as known, with one extra row before and behind."""
    rows: _Places
    """The places whose gram comes again. They are tested next."""
    periods: _Places
    """The distance for each of these places."""


def _test_scale(grams: _Numbers, size: int, scale: _Scale) -> _ScaleResult:
    count = len(range(0, size, scale.stride))
    is_suspect = np.zeros(count + 2, np.bool_)
    hits = [_NOWHERE]
    rows = _CELLS // scale.longest
    for first in range(0, count, rows):
        comes_again = _comes_again(grams, first, min(rows, count - first), scale)
        repeats = comes_again.ravel().nonzero()[0]
        if repeats.size > _MANY * len(comes_again):
            is_flood = np.count_nonzero(comes_again, axis=1) > _MANY
            is_suspect[first + 1 : first + 1 + len(comes_again)] = is_flood
            comes_again[is_flood] = False
            repeats = comes_again.ravel().nonzero()[0]
        hits.append(repeats + first * scale.longest)
    hit_rows, periods = np.divmod(np.concatenate(hits), scale.longest)
    periods += 1
    return _ScaleResult(is_suspect, hit_rows, periods)


_NOWHERE = np.zeros(0, np.intp)
_MANY = 8
"""The number of distances at which grams come again. In most texts there is less than one for each place.

More of them are a flood. Measuring then takes less time than a test of every distance.
"""


def _comes_again(grams: _Numbers, first: int, count: int, scale: _Scale) -> NDArray[np.bool_]:
    """Whether the gram of each of `count` rows from `first` on comes again 1, 2, ... characters later."""
    step = grams.itemsize
    offset = first * scale.stride
    shape, strides = (count, scale.longest), (scale.stride * step, step)
    later = np.ndarray(shape, grams.dtype, grams, (offset + 1) * step, strides)
    comes_again: NDArray[np.bool_] = later == grams[offset : offset + count * scale.stride : scale.stride, None]
    return comes_again


def _may_be_loop(grams: _Numbers, positions: _Places, periods: _Places, probes: _Places) -> NDArray[np.bool_]:
    """Whether a probe comes again at this distance, together with the characters that would repeat in a loop.

    In a loop the text equals itself at a distance of one period over all rounds but one. The probe lies within these
    rounds, so at least half of their other characters lie before it or behind it.
    """
    last = positions + (probes - _GRAM)
    is_loop = _equal(grams, last, periods)
    is_loop &= _equal(grams, (positions + last) // 2, periods)
    candidates = is_loop.nonzero()[0]
    if candidates.size:
        positions, last, periods = positions[candidates], last[candidates], periods[candidates]
        half = (np.maximum(_MIN_ROUNDS * periods, _MIN_LOOP_CHARS) - periods - probes[candidates]) // 2
        is_equal_before = _equal(grams, positions - half, periods) & _equal(grams, positions - half // 2, periods)
        is_loop[candidates] = is_equal_before | (
            _equal(grams, last + half, periods) & _equal(grams, last + half // 2, periods)
        )
    return is_loop


def _equal(grams: _Numbers, positions: _Places, periods: _Places) -> NDArray[np.bool_]:
    """Whether grams are equal at these distances. The result for places beyond the ends of the grams has no meaning."""
    equal: NDArray[np.bool_] = grams.take(positions, mode="clip") == grams.take(positions + periods, mode="clip")
    return equal


def _merged(spans: Sequence[_Span]) -> Iterator[_Span]:
    """The spans, merged so that none overlaps another."""
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
    """The start of the stretch that repeats at this distance. It is less than a stride back, or was found before."""
    floor = max(floor, position - _STRIDE)
    while position > floor and text[position - 1] == text[position - 1 + period]:
        position -= 1
    return position


def _common(text: str, first: int, second: int) -> int:
    """The number of characters from `second` on that equal those from `first` on."""
    end = len(text) - second
    count, step = 0, _PROBE
    while text[first + count : first + count + step] == text[second + count : second + count + step] and count < end:
        count, step = min(count + step, end), step * 2
    while step := step // 2:
        if text[first + count : first + count + step] == text[second + count : second + count + step]:
            count = min(count + step, end)
    return count
