r"""Finds points on both sides of each place where a part of an expression may stop being one analytic function.

|x + 3| is x + 3 on one side of -3 and -x - 3 on the other. Between two such *breaks* an expression is analytic, and two
analytic functions that agree at a point drawn at random agree as far as they go, up to chance. So a point between each
two breaks tells all: for |x + 3|, one below -3 and one above.

Breaks are zeros of the arguments of | |, sgn, max, min (of their differences), floor, ceiling, mod, roots, powers,
logarithms, inverse functions and arg, and poles beside any of these. A *line* lets one letter vary, and has the other
letters at the values of a point. The zeros on a line are found with floats: solved if the argument is linear, otherwise
between the points of a grid, which are near 0, of all magnitudes, and near the numbers that are written in the
expression. A double zero such as that of (x + 5)^2 changes no sign and is found as a minimum. With several letters,
lines start also from points beyond the breaks of others.

A name that a sum or an integral binds has the value of its bounds.
"""

import math
from bisect import bisect
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, pairwise

from memory import remember
from verifiers.math.points import BOUND, Coordinate, Letters, Point, names, points
from verifiers.math.tree import Node, replace_names
from verifiers.math.values.floats import FAILS, Compiled, Float, compiled
from verifiers.math.values.numbers import ONE, NoValue
from verifiers.math.values.operations import GROWING
from verifiers.math.values.rational import exact_or_none

MOST_POINTS = 40
_MOST_EARLY = 3
_MOST_FOLDS = 40
_BASES = 3
_MOST_SEEDS = 6
_PER_CELL = 2
_MOST_BREAKS, _MOST_MINIMA = 8, 4
"""On one line."""
_Line = Callable[[float], float | None]


def fold_points(
    reference: Node, answer: Node, of: Letters, is_real: bool, differs: Callable[[Point], bool] = lambda point: False
) -> Iterator[Point]:
    """Points close to both sides of each break of both expressions, and far from all; none if there are no breaks.

    Some that seem to differ come before the search is over, as the rest may not be needed.
    """
    arguments = dict.fromkeys([*folds(reference), *folds(answer)])
    if not arguments or not (of.real or of.natural or of.complex):
        return
    functions = list(_functions(list(arguments)[:_MOST_FOLDS], is_real))
    coordinates = _coordinates(of)
    first, *bases = points(of)[:_BASES]
    spots, early = list[_Spot](), 0
    for more_spots in chain(_in_cells(functions, first, coordinates), _on_lines(functions, bases, coordinates)):
        spots += more_spots
        if (
            early < _MOST_EARLY
            and (spot := next((spot for spot in more_spots if differs(spot.point)), None)) is not None
        ):
            early += 1
            yield spot.point
    if is_real and len(functions) == len(arguments) and _is_by_sign(reference) and _is_by_sign(answer):
        spots = _without_repetitions(spots, functions)
    yield from (spot.point for spot in _spread(spots, MOST_POINTS))


def level_points(reference: Node, answer: Node, of: Letters, is_real: bool) -> Iterator[Point]:
    """Points where one of the exponents is near 0, so that few digits show the power: for e^{x - 2000}, x near 2000."""
    exponents = (part.args[-1] for side in (reference, answer) for part in side.walk() if _is_exponential(part))
    functions = list(_functions(dict.fromkeys(filter(names, exponents)), is_real))
    for spots in _on_lines(functions, points(of)[:1] if functions else (), _coordinates(of)):
        yield from (spot.point for spot in spots if spot.point.is_close)


def _is_exponential(part: Node) -> bool:
    return part.kind == "^" or (part.kind == "fn" and part.leaf in GROWING)


def breaks(node: Node, name: str, values: Mapping[str, Coordinate]) -> list[float]:
    """The breaks of a real expression as one of its letters varies, in order; the other letters have these values."""
    arguments = [argument for argument in folds(node) if name in names(argument)]
    if not arguments:
        return []
    return _breaks(list(_functions(arguments, is_real=True)), values, (name, "real"))[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Spot:
    """A point on a line, and between which double zeros of the line it is."""

    point: Point
    between: Hashable = None


def _in_cells(
    functions: Sequence["_Function"], base: Point, coordinates: Sequence["_Direction"]
) -> Iterator[list[_Spot]]:
    """Points between the breaks of all coordinates: of the first, of the second beside each break of the first, …"""
    seeds = [_Spot(base)]
    for coordinate in coordinates:
        new_spots = list[_Spot]()
        for seed in seeds:
            spots = _beside(functions, seed.point, coordinate)
            yield spots
            new_spots += spots
        seeds = _spread([*seeds, *new_spots], _MOST_SEEDS)


def _on_lines(
    functions: Sequence["_Function"], bases: Iterable[Point], coordinates: Sequence["_Direction"]
) -> Iterator[list[_Spot]]:
    return (_beside(functions, base, coordinate) for base in bases for coordinate in coordinates)


def _without_repetitions(spots: Sequence[_Spot], functions: Sequence["_Function"]) -> list[_Spot]:
    """Two points for each combination of signs: where all arguments keep their signs, an expression is one formula."""
    cells: dict[Hashable, list[_Spot]] = {}
    for spot in spots:
        values = {name: _as_float(value) for name, value in spot.point.values.items()}
        cell = cells.setdefault((spot.between, *(_sign(function, values) for _, function, _ in functions)), [])
        if len(cell) < _PER_CELL:
            cell.append(spot)
    return [spot for cell_spots in cells.values() for spot in cell_spots]


def _sign(function: Compiled, values: dict[str, Float]) -> int | None:
    try:
        value = function(values)
    except FAILS:
        return None
    return int(value > 0) - int(value < 0)


def _spread(spots: list[_Spot], limit: int) -> list[_Spot]:
    step = len(spots) / limit
    return spots if step <= 1 else [spots[int(index * step)] for index in range(limit)]


# --- what may fold


@remember(1024)
def folds(node: Node) -> tuple[Node, ...]:
    """The expressions at whose zeros a node may fold, jump or branch."""
    nodes = list(_parts(node))
    arguments = [argument for part in nodes for argument in _arguments(part) if names(argument)]
    if not arguments and not any(part.kind == "fn" and part.leaf in ("arctan", "arccot") for part in nodes):
        return ()
    poles = [pole for part in nodes for pole in _poles(part) if names(pole)]
    factors = dict.fromkeys(
        factor for expression in (*arguments, *poles) for factor in _factors(expression) if names(factor)
    )
    return tuple(factors)


def _parts(node: Node) -> Iterator[Node]:
    """The node and all nodes below it, with the bounds of a sum or an integral in place of the name that it binds."""
    if node.kind not in BOUND:
        yield node
        for arg in node.args:
            yield from _parts(arg)
        return
    index, low, high, term = node.args
    for bound in dict.fromkeys((low, high)):
        yield from _parts(bound)
        yield from _parts(replace_names(term, {str(index.leaf): bound}))


def _arguments(part: Node) -> Iterator[Node]:
    match part.kind:
        case "abs" | "root":
            yield part.args[0]
        case "^" if (exponent := exact_or_none(part.args[1])) is None or exponent.denominator != 1:
            yield part.args[0]
        case "log":
            yield part.args[1]
        case "floor" | "ceil":
            yield from _around(part.args[0])
        case "mod":
            yield from _around(Node("/", part.args))
        case "fn" if part.leaf in ("max", "min"):
            yield from (_difference(first, second) for first, second in combinations(part.args, 2))
        case "fn" if part.leaf in _BRANCHING:
            yield part.args[0]
        case "fn" if part.leaf in _ENDING:
            yield from _around(part.args[0])


_BRANCHING = frozenset(["sgn", "ln", "lg", "arg", "arccot"])
_ENDING = frozenset(["arcsin", "arccos", "arcsec", "arccsc", "arcosh", "artanh"])
"""Functions that end or branch at 1 or -1."""


def _around(node: Node) -> Iterator[Node]:
    yield from (node, _difference(node, ONE), Node("+", (node, ONE)))


def _difference(first: Node, second: Node) -> Node:
    return Node("+", (first, Node("neg", (second,))))


@remember(1024)
def _is_by_sign(node: Node) -> bool:
    """Whether the signs of the arguments tell which formula holds: not where there are many branches, as for arcsin."""
    return not any(
        part.kind in ("floor", "ceil", "mod", *BOUND)
        or (part.kind == "fn" and part.leaf in (*_ENDING, "arctan", "arccot", "arg"))
        for part in node.walk()
    )


def _poles(part: Node) -> Iterator[Node]:
    if part.kind == "/":
        yield part.args[1]
    elif part.kind == "^" and (exponent := exact_or_none(part.args[1])) is not None and exponent < 0:
        yield part.args[0]
    elif part.kind == "fn" and part.leaf in ("tan", "sec"):
        yield Node("fn", part.args, "cos")
    elif part.kind == "fn" and part.leaf in ("cot", "csc"):
        yield Node("fn", part.args, "sin")


def _factors(node: Node) -> Iterator[Node]:
    """The parts of a product whose zeros and poles are all zeros and poles of it."""
    if node.kind in ("*", "/", "neg", "bracket"):
        for arg in node.args:
            yield from _factors(arg)
    elif node.kind in ("abs", "root") or (node.kind == "^" and exact_or_none(node.args[1]) is not None):
        yield from _factors(node.args[0])
    else:
        yield node


# --- lines

_Direction = tuple[str, str]
"""A name, and what varies: `real`, `natural`, or the `re` or `im` of a complex number."""
_Function = tuple[Node, Compiled, str]
"""An argument, its function on floats, and the part of its values that counts: `re` or `im`."""


def _functions(arguments: Iterable[Node], is_real: bool) -> Iterator[_Function]:
    for argument in arguments:
        try:
            function = compiled(argument, is_real)
        except NoValue:
            continue
        yield argument, function, "re"
        if not is_real:
            yield argument, function, "im"


def _coordinates(of: Letters) -> list[_Direction]:
    return [
        *((name, "real") for name in of.real),
        *((name, "natural") for name in of.natural),
        *((name, part) for name in of.complex for part in ("re", "im")),
    ]


def _beside(functions: Sequence[_Function], base: Point, coordinate: _Direction) -> list[_Spot]:
    """The points on both sides of each break, on the line through a point along a coordinate."""
    zeros, double = _breaks(functions, base.values, coordinate)
    points: dict[Fraction, bool] = {}
    for break_at, is_close in _places(zeros):
        for value in _whole(break_at) if coordinate[1] == "natural" else [Fraction(break_at)]:
            points[value] = is_close or points.get(value, False)
    return [
        _Spot(_moved(base, coordinate, value, is_close), (base, coordinate, bisect(double, value)) if double else None)
        for value, is_close in points.items()
    ]


def _breaks(
    functions: Sequence[_Function], values: Mapping[str, Coordinate], coordinate: _Direction
) -> tuple[list[float], list[float]]:
    """The breaks on a line in order, and those of them that are double zeros."""
    point = {name: _as_float(value) for name, value in values.items()}
    single, double = list[float](), list[float]()
    for argument, function, part in functions:
        if coordinate[0] in names(argument):
            zeros = _zeros(_on_line(function, part, point, coordinate), _written(argument))
            single += zeros[0]
            double += zeros[1]
    return _apart([*single, *double]), sorted(double)


def _as_float(value: object) -> Float:
    return complex(*map(float, value)) if isinstance(value, tuple) else float(value)  # type: ignore[arg-type] # mpmath's


def _on_line(function: Compiled, part: str, point: dict[str, Float], coordinate: _Direction) -> _Line:
    name, kind = coordinate
    point, start = dict(point), point.get(name, 0.0)

    def at(coordinate_value: float) -> float | None:
        point[name] = coordinate_value if kind in ("real", "natural") else _with_part(start, kind, coordinate_value)
        try:
            value = function(point)
        except OverflowError:
            return math.inf
        except FAILS:
            return None
        return float((value.real if part == "re" else value.imag) if isinstance(value, complex) else value)

    return at


def _with_part(start: complex, kind: str, value: float) -> complex:
    return complex(value, start.imag) if kind == "re" else complex(start.real, value)


def _moved(base: Point, coordinate: _Direction, value: Fraction, is_close: bool) -> Point:
    name, kind = coordinate
    start = base.values[name]
    if not isinstance(start, tuple):
        return Point({**base.values, name: value}, is_close)
    re, im = start
    return Point({**base.values, name: (value, im) if kind == "re" else (re, value)}, is_close)


@remember(1024)
def _written(node: Node) -> tuple[float, ...]:
    """The numbers that are written in an expression, of both signs, with their doubles and halves."""
    sizes = {abs(part.leaf) for part in node.walk() if isinstance(part.leaf, Fraction) and part.leaf}
    floats = [float(size) for size in sizes if size < _LARGEST][:_MOST_WRITTEN]
    return tuple(sign * size * factor for size in floats for factor in (0.5, 1.0, 2.0) for sign in (1, -1))


_LARGEST = 10**30
_MOST_WRITTEN = 6


# --- zeros


def _zeros(at: _Line, numbers: Sequence[float]) -> tuple[list[float], list[float]]:
    """The zeros and the poles with a change of sign, with the ends of the domain; and the double zeros."""
    linear = _zero_of_linear(at)
    return (linear, []) if linear is not None else _scanned(at, sorted({*_GRID, *numbers}))


_FAR = (1e6, 1e12, 1e24, 1e48, 1e96, 1e144)


def _zero_of_linear(at: _Line) -> list[float] | None:
    """The zero of a linear function; None for any other."""
    middle, near, off = at(0.0), at(1.7), at(-431.3)
    if middle is None or near is None or off is None:
        return None
    for far in _FAR:
        low, high = at(-far), at(far)
        if low is None or high is None or not math.isfinite(low + high):
            return None
        slope, noise = (high - low) / (2 * far), 1e-9 * (abs(low) + abs(high) + abs(middle))
        if any(abs(low + slope * (x + far) - value) > noise for x, value in ((0, middle), (1.7, near), (-431.3, off))):
            return None
        if abs(slope) * far > noise:
            zero = -middle / slope
            return [zero - (at(zero) or 0.0) / slope]
    return []


_NEAR = [0.0, *(sign * (step + 0.0137) / 2 for step in range(21) for sign in (1, -1))]
_SIZES = [10 ** (power / 4) for power in range(5, 29)] + [10.0**power for power in (9, 12, 16, 24, 48, 96, 192, 300)]
_TINY = [10.0**-power for power in (1, 2, 3, 5)]
_GRID = [*_NEAR, *(sign * size for size in (*_SIZES, *_TINY) for sign in (1, -1))]


def _scanned(at: _Line, grid: Sequence[float]) -> tuple[list[float], list[float]]:
    values = [at(x) for x in grid]
    changes: list[tuple[float, float]] = []
    edges: list[float] = []
    last: float | None = None
    for (a, y), (b, y_next) in pairwise(zip(grid, values, strict=True)):
        if y is None or y_next is None:
            if y is not None or y_next is not None:
                edges += _end_of_domain(at, a, b)
        elif y == 0:
            edges += [a] if y_next and last else []  # what is 0 at both has no zero here, or is too small for a float
        elif y_next and (y < 0) != (y_next < 0) and math.isfinite(y + y_next):
            changes.append((a, b))
        last = y
    single, double = _nearest(edges), list[float]()
    for a, b in _nearest_of(changes, _MOST_BREAKS):
        single.append(_bisected(_has_sign_of(at, a), a, b))
    for x in _minima(grid, values)[:_MOST_MINIMA]:
        zero = _touched(at, grid[x - 1], grid[x + 1])
        (double if len(zero) == 1 else single).extend(zero)
    return single, double


def _nearest_of(changes: list[tuple[float, float]], limit: int) -> list[tuple[float, float]]:
    """The places nearest to 0, and the outermost ones."""
    if len(changes) <= limit:
        return changes
    return [*sorted(changes, key=lambda change: abs(change[0]))[: limit - 2], changes[0], changes[-1]]


def _has_sign_of(at: _Line, start: float) -> Callable[[float], bool]:
    is_negative = (at(start) or 0.0) < 0
    return lambda x: _is_below(at(x), is_negative)


def _is_below(value: float | None, is_negative: bool) -> bool:
    return value is not None and (value < 0) == is_negative


def _bisected(is_left: Callable[[float], bool], a: float, b: float) -> float:
    """The place between a and b where `is_left` becomes false; first its magnitude."""
    for _ in range(36):
        middle = (
            (a + b) / 2 if a * b <= 0 or 1e-2 < a / b < 1e2 else math.copysign(math.sqrt(abs(a)) * math.sqrt(abs(b)), a)
        )
        a, b = (middle, b) if is_left(middle) else (a, middle)
    return (a + b) / 2


def _end_of_domain(at: _Line, a: float, b: float) -> list[float]:
    """The end of the domain between a place with a value and one without, and the zero between the end and the value."""
    inside, outside = (a, b) if at(b) is None else (b, a)
    start = at(inside) or 0.0
    end = _bisected(lambda x: at(x) is not None, inside, outside)
    zeros = [end]
    for share in (1e-9, 1e-3):
        edge = end + (inside - end) * share
        value = at(edge)
        if value is not None and (value < 0) != (start < 0):
            return [*zeros, _bisected(_has_sign_of(at, inside), inside, edge)]
    return zeros


def _minima(grid: Sequence[float], values: Sequence[float | None]) -> list[int]:
    """The places on a grid where the size of a function is smallest among neighbours of its sign, the nearest to 0
    first.
    """
    minima = []
    for index in range(1, len(grid) - 1):
        a, b, c = values[index - 1 : index + 2]
        if a is None or b is None or c is None or not (a > 0) == (b > 0) == (c > 0):
            continue
        if abs(b) <= abs(a) and abs(b) <= abs(c) and not a == b == c and math.isfinite(a + c):
            minima.append(index)
    return sorted(minima, key=lambda index: abs(grid[index]))


_GOLDEN = (math.sqrt(5) - 1) / 2


def _touched(at: _Line, a: float, b: float) -> list[float]:
    """The double zero between two places, or the two zeros that are close to each other."""
    first, low, high = at(a) or 0.0, a, b
    scale = max(abs(first), abs(at(b) or 0.0))

    def size(x: float) -> float:
        value = at(x)
        return math.inf if value is None else value if first > 0 else -value

    low_probe, high_probe = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    low_size, high_size = size(low_probe), size(high_probe)
    for _ in range(32):
        if min(low_size, high_size) < 0:
            negative_probe = low_probe if low_size < 0 else high_probe
            return [
                _bisected(lambda x: size(x) > 0, low, negative_probe),
                _bisected(lambda x: size(x) > 0, high, negative_probe),
            ]
        if low_size <= high_size:
            b, high_probe, high_size = high_probe, low_probe, low_size
            low_probe = b - _GOLDEN * (b - a)
            low_size = size(low_probe)
        else:
            a, low_probe, low_size = low_probe, high_probe, high_size
            high_probe = a + _GOLDEN * (b - a)
            high_size = size(high_probe)
    return [(a + b) / 2] if min(low_size, high_size) <= 1e-7 * scale else []


# --- between the breaks


def _nearest(breaks: list[float]) -> list[float]:
    """The breaks nearest to 0, and the outermost ones."""
    if len(breaks) <= _MOST_BREAKS:
        return breaks
    ordered = sorted(breaks, key=abs)
    return [*ordered[: _MOST_BREAKS - 2], min(breaks), max(breaks)]


def _apart(breaks: list[float]) -> list[float]:
    """The breaks in order; those that differ by rounding are one."""
    distinct: list[float] = []
    for zero in sorted(_nearest(breaks)):
        if math.isfinite(zero) and (not distinct or zero - distinct[-1] > 1e-7 * abs(zero) + 1e-40):
            distinct.append(zero)
    return distinct


def _places(breaks: Sequence[float]) -> Iterator[tuple[float, bool]]:
    """Places close to both sides of each break, and some that are far outside of all."""
    if not breaks:
        return
    first, last = breaks[0], breaks[-1]
    yield first - _step(first), True
    for low, high in pairwise(breaks):
        width = high - low
        if width < 2 * max(_step(low), _step(high)):
            yield low + 0.4571 * width, True
        else:
            yield from ((low + _step(low), True), (high - _step(high), True))
    yield last + _step(last), True
    yield from ((first - 3.317 * (1 + abs(first)), False), (last + 3.317 * (1 + abs(last)), False))


def _step(x: float) -> float:
    return 0.2913 + abs(x) * 1e-6


def _whole(abscissa: float) -> Iterator[Fraction]:
    return (Fraction(number) for number in (math.floor(abscissa), math.ceil(abscissa)) if number > 0)
