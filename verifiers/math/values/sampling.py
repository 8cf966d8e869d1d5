"""Evaluates two expressions where both have values, with enough digits to tell these apart."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from memory import remember
from verifiers.math.limits import MAX_VALUE_BITS
from verifiers.math.points import ORIGIN, Letters, Point, letters, more_points, names, points
from verifiers.math.tree import Node, TooComplex
from verifiers.math.values.evaluation import Evaluation
from verifiers.math.values.floats import FAILS, Compiled, compiled
from verifiers.math.values.folds import fold_points, folds, level_points
from verifiers.math.values.numbers import NoValue, Number, OutsideDomain
from verifiers.math.values.traits import absolute_values, is_complex, is_defined, is_piecewise_analytic

FIRST_BITS = 64
"""The precision of the first pass, which shows how large values are."""
_SECOND_BITS = 1_024
_USUAL_BITS = 384
"""The precision that the first pass chooses for nearly all values; `_bits_for`."""
_SPARE_BITS = 192
MIN_POINTS = 3
"""Expressions with variables have to agree at this many points."""
_MEROMORPHIC_POINTS = 4
"""Functions without breaks that agree at four points are equal up to chance."""
_ANALYTIC_POINTS = 6
"""The same for functions with breaks, before the points beside these."""


def near(lhs: Number, rhs: Number, bits: int, magnitude: int) -> bool:
    """Whether two values are the same up to rounding."""
    with mp.workprec(bits):
        return bool(abs(lhs - rhs) <= rounding_noise(bits, magnitude))


def rounding_noise(bits: int, magnitude: int) -> Number:
    """A bound on the rounding error of a value at this precision, given the largest magnitude on the way to it."""
    return mpmath.ldexp(1, 3 * magnitude + 64 - bits)


def confirmed(reference: Node, answer: Node, log_base: int | None) -> bool:
    """Whether the gap keeps shrinking as the precision grows, at the first point where both have values."""
    sampling = _Sampling(reference, answer, log_base)
    for point, _ in islice(sampling.points(), 3):
        try:
            pair = sampling.pair(point, _most_bits(reference, answer, is_constant=not point.values), more_digits=True)
        except TooComplex:
            continue
        if pair is not None:
            lhs, rhs, bits, magnitude = pair
            return rhs is not None and near(lhs, rhs, bits, magnitude)
    return True


_MOST_TOO_LARGE = 48
"""After this many points where a value is too large, others are no longer tried."""
Pair = tuple[Number, Number | None, int, int]
"""Both values at one point, their precision in bits, and the largest magnitude on the way to them."""


def pairs(reference: Node, answer: Node, log_base: int | None) -> Iterator[Pair]:
    """Both values at each point where they can be compared; the answer's is None if its absence is a difference.

    Points where a value would be too large are left out, unless too few others remain. Those close to a break are not:
    what was not seen on both sides of it is not known to be equal.

    Raises:
        NoValue: there is no variable, and the reference has no value.
        TooComplex: a value is too large, where there is no variable, or close to a break.
    """
    sampling = _Sampling(reference, answer, log_base)
    cap = _most_bits(reference, answer, is_constant=sampling.is_constant)
    passed = failed = 0
    too_large: TooComplex | None = None
    for point, is_needed in sampling.points():
        if not is_needed and (passed >= MIN_POINTS or failed >= _MOST_TOO_LARGE):
            break
        try:
            pair = sampling.pair(point, cap)
        except TooComplex as error:
            if point.is_close:
                raise
            too_large = error
            failed += 1
            continue
        if pair is not None:
            passed += 1
            yield pair
    enough = 1 if sampling.is_constant else MIN_POINTS
    if too_large is not None and passed < enough:
        raise too_large


def meet(reference: Node, answer: Node, log_base: int | None) -> bool:
    """Whether two expressions that were proved the same have values together, and these do not speak against it.

    One point is enough: where both have a value at a point drawn at random, they have them around it, too.
    """
    sampling = _Sampling(reference, answer, log_base)
    for point in sampling.any_points():
        try:
            pair = sampling.quick_pair(point) or sampling.pair(point, _MOST_BITS_OF_MEETING)
        except TooComplex:
            return is_defined(reference) and is_defined(answer)
        except NoValue:
            return False
        if pair is not None:
            lhs, rhs, bits, magnitude = pair
            return rhs is not None and near(lhs, rhs, bits, magnitude)
    return False


_MOST_BITS_OF_MEETING = 400


def has_value(node: Node) -> bool:
    """Whether an expression with letters has a value within the limits at the first point."""
    sampling = _Sampling(node, node, None)
    try:
        found = sampling.usual(node, next(sampling.any_points()))
    except TooComplex:
        return False
    return not (sampling.is_constant or found.fails) and found.magnitude <= _most_bits(node, is_constant=False)


def has_values(node: Node) -> bool:
    """Whether an expression with letters has values at as many points as a comparison needs.

    Raises:
        TooComplex: a value is too large at too many points.
    """
    with suppress(NoValue):
        return bool(names(node)) and sum(1 for _ in islice(pairs(node, node, None), MIN_POINTS)) == MIN_POINTS
    return False


def _most_bits(*nodes: Node, is_constant: bool) -> int:
    """The largest size of a value in bits: a series is slow with many digits, so its values must be smaller."""
    series = sum(part.kind in _SERIES for node in nodes for part in node.walk())
    if is_constant and not series:
        return MAX_VALUE_BITS
    if is_constant and series <= _FEW_SERIES:
        return 6_000
    return max(min(3_000, _SERIES_BITS // series), _LEAST_BITS) if series else 3_000


_SERIES = frozenset(["fn", "log", "const", "apply"])
_FEW_SERIES = 6
_SERIES_BITS = 60_000
"""The limit for all series together: hundreds of them with thousands of bits take minutes."""
_LEAST_BITS = 256


class _Sampling:
    """Evaluates two expressions at the points where they are compared."""

    def __init__(self, reference: Node, answer: Node, log_base: int | None) -> None:
        self._reference = reference
        self._answer = answer
        self._log_base = log_base
        self._letters: Letters = letters(reference, answer)
        self._is_real = not (self._letters.complex or is_complex(reference) or is_complex(answer))
        self._needs_real = not (self._letters.complex or is_complex(reference))
        self._bars = absolute_values(reference) - absolute_values(answer)

    @property
    def is_constant(self) -> bool:
        """Whether there are no letters."""
        return points(self._letters)[0] is ORIGIN

    def any_points(self) -> Iterator[Point]:
        """Points that are the same for all expressions with these letters, to find one with values at."""
        return chain(points(self._letters), () if self.is_constant else more_points(self._letters))

    def points(self) -> Iterator[tuple[Point, bool]]:
        """The points, and whether each has to be looked at: the usual ones and those beside breaks.

        There are more for expressions that have few values at those, unless they are very long.
        """
        usual = points(self._letters)
        if self._letters.natural and self._has_terms():
            usual = usual[:-1]
        if self.is_constant:
            yield usual[0], True
            return
        enough = self._enough(len(usual))
        for point in self._needed(usual[:enough]):
            yield point, True
        for point in usual[enough:]:
            yield point, False
        if not self._are_long():
            for point in more_points(self._letters):
                yield point, False

    def _needed(self, usual: Sequence[Point]) -> Iterator[Point]:
        """Points that have to be looked at, first one where floats show a difference: then the rest is not needed."""
        differs = self._differing()
        break_points = fold_points(self._reference, self._answer, self._letters, self._is_real, differs or _never)
        first = usual[0]
        if differs:
            levels = level_points(self._reference, self._answer, self._letters, self._is_real)
            first = next(filter(differs, chain(usual, levels)), first)
        yield first
        if differs:
            yield from islice(break_points, 1)
        yield from (point for point in usual if point is not first)
        yield from break_points

    def seem_apart(self) -> bool:
        """Whether floats show a difference at one of the first points."""
        differs = self._differing()
        return differs is not None and any(map(differs, points(self._letters)[:2]))

    def _differing(self) -> Callable[[Point], bool] | None:
        """Whether floats show a clear difference at a point; None if they show nothing of these expressions."""
        if not self._is_real or self._reference == self._answer:
            return None
        try:
            lhs, rhs = (compiled(node, self._is_real) for node in (self._reference, self._answer))
        except NoValue:
            return None
        return lambda point: _differ(lhs, rhs, point)

    def _enough(self, usual: int) -> int:
        """How many of the usual points are looked at: fewer if a few tell all, or those beside breaks tell the rest."""
        sides = (self._reference, self._answer)
        if self._letters.natural or self._letters.complex or not all(map(is_piecewise_analytic, sides)):
            return usual
        return _ANALYTIC_POINTS if any(map(folds, sides)) else _MEROMORPHIC_POINTS

    def _has_terms(self) -> bool:
        """Whether there is a sum or a product: of its last point it would have a thousand terms."""
        return any(part.kind in ("sum", "prod") for node in (self._reference, self._answer) for part in node.walk())

    def _are_long(self) -> bool:
        return sum(1 for node in (self._reference, self._answer) for _ in node.walk()) > _LONG_NODES

    def usual(self, node: Node, point: Point) -> "_Found":
        """A value to some fifty digits."""
        return self._found(node, point, _USUAL_BITS, settles=True)

    def quick_pair(self, point: Point) -> Pair | None:
        """Both values to some fifty digits; None if these are not enough."""
        lhs, rhs = self.usual(self._reference, point), self.usual(self._answer, point)
        magnitude = max(lhs.magnitude, rhs.magnitude)
        if lhs.fails or rhs.fails or 3 * magnitude + 256 > _USUAL_BITS:
            return None
        return lhs.value, rhs.value, _USUAL_BITS, magnitude

    def pair(self, point: Point, cap: int, more_digits: bool = False) -> Pair | None:
        """Both values at a point, `more_digits` with more precision; None if the point decides nothing."""
        lhs, rhs = self.usual(self._reference, point), self.usual(self._answer, point)
        bits, magnitude = _USUAL_BITS, max(lhs.magnitude, rhs.magnitude)
        if more_digits or not (lhs.is_plain and rhs.is_plain):
            lhs, rhs, bits, magnitude = self._in_passes(point, cap, more_digits)
        if lhs.fails and (point is ORIGIN or not lhs.is_outside):
            raise NoValue(lhs.fails)
        if lhs.fails or rhs.fails:
            return _DIFFERENT if self._differs(lhs, rhs, point) else None
        if point is not ORIGIN and self._needs_real and not is_real_within(lhs.value, bits):
            return None
        return lhs.value, rhs.value, bits, magnitude

    def _in_passes(self, point: Point, cap: int, more_digits: bool) -> tuple["_Found", "_Found", int, int]:
        """Both values, with more and more digits until these are enough for what is met on the way."""
        lhs, rhs = self._first(self._reference, point), self._first(self._answer, point)
        bits, magnitude = FIRST_BITS, 0
        for _ in range(_MAX_PASSES):
            if lhs.fails or rhs.fails or max(lhs.magnitude, rhs.magnitude) <= magnitude:
                break
            magnitude = max(lhs.magnitude, rhs.magnitude)
            if magnitude > cap:
                raise TooComplex("a value is too large")
            bits = _bits_for(magnitude, more_digits)
            lhs, rhs = self._settled(self._reference, point, bits), self._settled(self._answer, point, bits)
        return lhs, rhs, bits, magnitude

    def _differs(self, lhs: "_Found", rhs: "_Found", point: Point) -> bool:
        """Whether a value on one side only is a difference: the other has none anywhere, or lacks an absolute value."""
        if lhs.fails:
            return lhs.is_outside and not rhs.fails and self._bars < 0
        return point is ORIGIN or not rhs.is_outside or self._bars > 0

    def _first(self, node: Node, point: Point) -> "_Found":
        """The value at low precision; a constant without a value there may have one at a higher precision."""
        value = self._found(node, point, FIRST_BITS)
        return self._found(node, point, _SECOND_BITS) if value.fails and point is ORIGIN else value

    def _settled(self, node: Node, point: Point, bits: int) -> "_Found":
        """The value with the bits that the first pass asks for; with twice as many if it has none with those."""
        value = self._found(node, point, bits, settles=True)
        return self._found(node, point, 2 * bits + _AGAIN_BITS, settles=True) if value.fails else value

    def _found(self, node: Node, point: Point, bits: int, settles: bool = False) -> "_Found":
        return _evaluated(node, point, bits, self._log_base, self._is_real, settles)


_LONG_NODES = 1_000
"""The limit for both sides together; finding no value of a longer one at 74 points takes longer than an answer may."""
_AGAIN_BITS = 640
_MAX_PASSES = 4
"""How often the magnitude may turn out larger, because the first pass does not see everything that is small."""
_BITS_STEP = 128
"""Precisions are rounded up to a multiple of this, so that cached values can be used again."""


def _bits_for(magnitude: int, more_digits: bool) -> int:
    bits = _SPARE_BITS + 4 * magnitude
    return 2 * bits + _AGAIN_BITS if more_digits else -(-bits // _BITS_STEP) * _BITS_STEP


_DIFFERENT: Pair = (0, None, FIRST_BITS, 1)


@dataclass(frozen=True, slots=True)
class _Found:
    """A value and the largest magnitude on the way to it, or the reason why there is none."""

    value: Number
    magnitude: int
    fails: str = ""
    is_outside: bool = False
    """Whether there may be a value at other points."""
    is_plain: bool = False
    """Whether `_USUAL_BITS` are enough for it, and nothing on the way was rounded off: then one pass is enough."""


@remember(2048)
def _evaluated(node: Node, point: Point, bits: int, log_base: int | None, is_real: bool, settles: bool) -> _Found:
    with mp.workprec(bits):
        evaluation = Evaluation(point.values, log_base, is_real, settles)
        try:
            value = evaluation.value(node)
        except NoValue as error:
            return _Found(None, 1, str(error), isinstance(error, OutsideDomain))
        is_plain = not evaluation.is_rounded and _bits_for(evaluation.magnitude, more_digits=False) <= _USUAL_BITS
        return _Found(value, evaluation.magnitude, is_plain=is_plain)


def _differ(lhs: Compiled, rhs: Compiled, point: Point) -> bool:
    try:
        values = {name: float(value) for name, value in point.values.items() if not isinstance(value, tuple)}
        lhs_value, rhs_value = lhs(values), rhs(values)
        return bool(_CLEAR * max(abs(lhs_value), abs(rhs_value)) < abs(lhs_value - rhs_value) < math.inf)
    except FAILS:
        return False


_CLEAR = 1e-10


def _never(_: Point) -> bool:
    return False


def seem_apart(reference: Node, answer: Node) -> bool:
    """Whether floats show that two expressions differ, so that a proof need not be tried."""
    return _Sampling(reference, answer, None).seem_apart()


def is_real_within(value: Number, bits: int) -> bool:
    """Whether a value has no imaginary part beyond rounding."""
    imaginary = abs(mpmath.im(value))
    return bool(imaginary <= mpmath.ldexp(1, -bits // 2) * max(1, abs(value)))
