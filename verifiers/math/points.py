r"""Chooses the points at which two expressions are compared: the kind of each letter, and the values it gets.

*Real* is the default kind of a letter: values of both signs, and of several sizes.

*Natural* is a letter inside a factorial or double factorial, a binomial coefficient, gcd, lcm or mod, in the exponent
of a negative number as in (-1)^n, or inside a floor or ceiling if it has a customary name of an integer. Such letters
get natural numbers in every order of their sizes (k <= n and k > n), some with a common factor, some large.

*Complex* is a letter inside Re, Im, arg or a conjugate, and z or w beside i, Re, Im, arg, a conjugate or |z|. An
expression with i inside Re or Im has real letters: Re(x + iy), |1 + i\omega|.

The points depend on nothing but the names and what they stand for, so a value at a point can be remembered.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

from memory import remember
from verifiers.math.tree import Node

Coordinate = Fraction | tuple[Fraction, Fraction] | Any
"""A real number, the real and imaginary part of a complex one, or mpmath's number."""

BOUND = frozenset(["sum", "prod", "int", "lim"])
"""Kinds that bind a name: (name, first, last, the part with that name); the target of a limit is both first and
last."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """One value for each letter; a point equals only itself, so that a lookup is fast."""

    values: Mapping[str, Coordinate]
    is_close: bool = False
    """Whether it is close to a break of the expressions that are compared."""


ORIGIN = Point({})
"""The point for expressions without letters."""


@dataclass(frozen=True, slots=True)
class Letters:
    """The names in two expressions, in order, grouped by kind."""

    real: tuple[str, ...]
    natural: tuple[str, ...]
    complex: tuple[str, ...]


@remember(4096, recursive=True)
def names(node: Node) -> frozenset[str]:
    """The variables of an expression, without names that a sum or product binds."""
    if node.kind == "sym":
        return frozenset([str(node.leaf)]) if node.leaf else frozenset()
    if node.kind in BOUND:
        index, low, high, term = node.args
        return names(low) | names(high) | (names(term) - names(index))
    return _union(names(arg) for arg in node.args)


def letters(*nodes: Node) -> Letters:
    """The kind of each name when these expressions are compared with each other."""
    nodes = tuple(dict.fromkeys(nodes))
    everything = _union(names(node) for node in nodes)
    complex_names = _complex_names(nodes) & everything
    natural = (_union(_natural(node) for node in nodes) & everything) - complex_names
    real = everything - complex_names - natural
    return Letters(tuple(sorted(real)), tuple(sorted(natural)), tuple(sorted(complex_names)))


def _union(name_sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*name_sets)


# --- what a letter stands for

_OF_INTEGERS = frozenset(["!", "binom", "mod"])
_WHOLE = frozenset(["floor", "ceil"])
_CUSTOMARY_INTEGERS = frozenset("nmkjlNMK")
_CUSTOMARY_COMPLEX = frozenset("zw")
_CONJUGATED = frozenset(["z", "w", r"\zeta", r"\omega"])
_COMPLEX_PARTS = frozenset(["Re", "Im", "arg"])
CONJUGATES = frozenset(["bar", "^*"])


@remember(4096, recursive=True)
def _natural(node: Node) -> frozenset[str]:
    inside = _union(_natural(arg) for arg in node.args)
    if node.kind in _OF_INTEGERS or (node.kind == "apply" and node.leaf == "!!"):
        return inside | names(node)
    if node.kind == "fn" and node.leaf in ("gcd", "lcm"):
        return inside | names(node)
    if node.kind in _WHOLE:
        return inside | frozenset(name for name in names(node) if _base(name) in _CUSTOMARY_INTEGERS)
    if node.kind == "^" and _is_negative(node.args[0]):
        return inside | names(node.args[1])
    if node.kind in BOUND:
        bounds = names(node.args[1]) | names(node.args[2])
        return (inside - names(node.args[0])) | (bounds if node.kind in ("sum", "prod") else frozenset())
    return inside


def _is_negative(node: Node) -> bool:
    """Whether a minus sign is written before the whole node: -1, (-x), -1/2."""
    if node.kind in ("*", "/"):
        return sum(_is_negative(arg) for arg in node.args) % 2 == 1
    if node.kind == "bracket" and len(node.args) == 1:
        return _is_negative(node.args[0])
    return node.kind == "neg" or (isinstance(node.leaf, Fraction) and node.leaf < 0)


def _base(name: str) -> str:
    return name.partition("_")[0]


def _complex_names(nodes: Iterable[Node]) -> frozenset[str]:
    leaves = [part for node in nodes for part in node.walk()]
    result = _union(_split_names(part) for part in leaves)
    customary = frozenset(name for part in leaves if part.kind == "sym" for name in names(part) if _is_customary(name))
    if customary and _speak_of_complex(leaves, customary):
        result |= customary
    return result


def _is_customary(name: str) -> bool:
    return _base(name) in _CUSTOMARY_COMPLEX


def _split_names(part: Node) -> frozenset[str]:
    """The names inside Re, Im, arg or a conjugate."""
    if part.kind == "fn" and part.leaf in _COMPLEX_PARTS and not has_i(part):
        return names(part)
    if part.kind == "apply" and part.leaf in CONJUGATES and not has_i(part):
        return frozenset(name for name in names(part) if _base(name) in _CONJUGATED)
    return _NO_NAMES


_NO_NAMES = frozenset[str]()


def _speak_of_complex(subnodes: Iterable[Node], customary: frozenset[str]) -> bool:
    """Whether z is a complex number here, and no coordinate beside x and y."""
    nodes = list(subnodes)
    if any(has_i(part) or (part.kind == "fn" and part.leaf in _COMPLEX_PARTS) or _split_names(part) for part in nodes):
        return True
    in_bars = any(part.kind == "abs" and names(part) & customary for part in nodes)
    return in_bars and not {"x", "y"} <= _union(names(part) for part in nodes)


@remember(4096, recursive=True)
def has_i(node: Node) -> bool:
    """Whether a node contains the imaginary unit."""
    return (node.kind == "const" and node.leaf == "i") or any(has_i(arg) for arg in node.args)


# --- the points

_SPREADS = ((0.3, 2.5), (0.3, 2.5), (0.3, 2.5), (2.5, 12.0), (0.01, 0.3), (20.0, 60.0))
_ALL_POSITIVE, _ANY_SIGN, _ALL_NEGATIVE = (1,), (-1, 1), (-1,)
_SMALL, _COMMON_FACTOR, _LARGE = range(1, 13), range(6, 200, 6), range(1_000, 1_600)
_MORE = 60
_MOST_ORDERS = 3
"""Up to this many names get values in every order of size; for more names, orders are drawn at random."""


@remember(512)
def points(of: Letters) -> tuple[Point, ...]:
    """The points of comparison; the first four have small numbers, all positive and of any sign."""
    if not (of.real or of.natural or of.complex):
        return (ORIGIN,)
    source = _source(of, "first")
    drawn = [_point(of, source, low, high, signs) for low, high in _SPREADS for signs in (_ALL_POSITIVE, _ANY_SIGN)]
    drawn += [_point(of, source, low, high, _ALL_NEGATIVE) for low, high in _SPREADS[:2]]
    if not of.natural:
        return (*drawn, *(_whole_point(of, source) for _ in range(4)))
    ordered = _orders(of.natural, source)
    drawn = [_with_naturals(point, of, ordered(_SMALL)) for point in drawn]
    drawn += [_with_naturals(_whole_point(of, source), of, ordered(numbers)) for numbers in (_COMMON_FACTOR, _LARGE)]
    return tuple(drawn)


@remember(128)
def more_points(of: Letters) -> tuple[Point, ...]:
    r"""Further points, for expressions that have values at few of the first points.

    At two of three points the reals rise or fall with the names, as in \sqrt{a-b} + \sqrt{b-c}.
    """
    source = _source(of, "more")
    drawn = [_point(of, source, *source.choice(_SPREADS), _ANY_SIGN) for _ in range(_MORE)]
    return tuple(_sorted(point, of, turn % 3) for turn, point in enumerate(drawn))


def _source(of: Letters, purpose: str) -> random.Random:
    return random.Random(f"{purpose} {of}")  # noqa: S311 - not a secret


def _point(of: Letters, source: random.Random, low: float, high: float, signs: tuple[int, ...]) -> Point:
    def real() -> Fraction:
        size = int(source.uniform(low, high) * 2**24) * 2 + 1
        return Fraction(size * source.choice(signs), 2**25)

    values: dict[str, Coordinate] = {name: real() for name in of.real}
    values |= {name: Fraction(source.choice(_SMALL)) for name in of.natural}
    values |= {name: (real(), real()) for name in of.complex}
    return Point(values)


def _whole_point(of: Letters, source: random.Random) -> Point:
    point = _point(of, source, 0.3, 2.5, _ANY_SIGN)
    return Point({**point.values, **{name: Fraction(source.randint(1, 9)) for name in of.real}})


def _with_naturals(point: Point, of: Letters, numbers: tuple[int, ...]) -> Point:
    return Point({**point.values, **dict(zip(of.natural, map(Fraction, numbers), strict=True))})


def _sorted(point: Point, of: Letters, turn: int) -> Point:
    """Sort the reals of a point. Turn 1: they rise with their names; turn 2: they fall; turn 0: no change."""
    if not turn:
        return point
    reals = sorted((point.values[name] for name in of.real), reverse=turn == 2, key=_size)
    return Point({**point.values, **dict(zip(of.real, reals, strict=True))})


def _size(value: Coordinate) -> Fraction:
    return value[0] if isinstance(value, tuple) else value


def _orders(naturals: tuple[str, ...], source: random.Random) -> Callable[[range], tuple[int, ...]]:
    """Draw different numbers for the names, each time in another order of size."""
    count = len(naturals)
    turns = list(permutations(range(count))) if count <= _MOST_ORDERS else []
    used = 0

    def draw(numbers: range) -> tuple[int, ...]:
        nonlocal used
        drawn = sorted(source.sample(numbers, count)) if count <= len(numbers) else source.choices(numbers, k=count)
        used += 1
        if turns:
            return tuple(drawn[position] for position in turns[used % len(turns)])
        source.shuffle(drawn)
        return tuple(drawn)

    return draw
