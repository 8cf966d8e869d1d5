"""Compares the rows of two results.

Columns are compared by place. NULL equals NULL, 1 equals 1.0, and text equals neither numbers nor blobs. Numbers that
are not whole may differ by the caller's tolerance, and by the rounding errors of operations in another order.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from verifiers.rules.pairing import MAX_THINGS, can_be_paired
from verifiers.rules.sql.clock import Value
from verifiers.rules.sql.database import Row

ROUNDING = 1e-12
"""A relative tolerance. Sums of thousands of values, added in different orders, differ by less."""


def same_in_order(found: Sequence[Row], wanted: Sequence[Row], float_tol: float) -> bool:
    return len(found) == len(wanted) and all(
        len(one) == len(other) and all(_same(*cells, float_tol) for cells in zip(one, other, strict=True))
        for one, other in zip(found, wanted, strict=True)
    )


def same_multiset(found: Sequence[Row], wanted: Sequence[Row], float_tol: float) -> bool:
    """Whether the rows can be paired one to one, each with an equal row."""
    if len(found) != len(wanted) or Counter(found) == Counter(wanted):
        return len(found) == len(wanted)
    inexact = {place for row in (*found, *wanted) for place, cell in enumerate(row) if isinstance(cell, float)}
    groups, other_groups = _grouped(found, inexact), _grouped(wanted, inexact)
    return groups.keys() == other_groups.keys() and all(
        _can_be_matched(numbers, other_groups[key], float_tol) for key, numbers in groups.items()
    )


def tie_groups(forwards: Sequence[Row], backwards: Sequence[Row]) -> list[slice] | None:
    """The runs of rows that change places between two results of one ordered query, from first to last.

    The result is None if the two results have different rows, because then ties decide which rows are returned.
    """
    balance: Counter[Row] = Counter()
    ends = [0]
    for number, (one, other) in enumerate(zip(forwards, backwards, strict=False), start=1):
        for row, sign in ((_rounded(one), 1), (_rounded(other), -1)):
            balance[row] += sign
            if not balance[row]:
                del balance[row]
        if not balance:
            ends.append(number)
    if len(forwards) != len(backwards) or balance:
        return None
    return [slice(start, end) for start, end in pairwise(ends)]


def _rounded(row: Row) -> Row:
    return tuple(float(f"{cell:.12g}") if isinstance(cell, float) else cell for cell in row)


def _same(one: Value, other: Value, float_tol: float) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return _close(one, other, float_tol)
    return one == other


def _close(one: float, other: float, float_tol: float) -> bool:
    if one == other:
        return True
    if isinstance(one, int) and isinstance(other, int):
        return False
    difference = abs(one - other)
    if 0 < float_tol >= difference:
        return True
    return _has_fraction(one, other) and difference <= ROUNDING * max(abs(one), abs(other)) < float("inf")


def _has_fraction(one: float, other: float) -> bool:
    """Whether two numbers may differ by rounding. Whole numbers may not, unless both are REAL."""
    if isinstance(one, float) and isinstance(other, float):
        return True
    return not (float(one).is_integer() and float(other).is_integer())


def _grouped(rows: Sequence[Row], inexact: set[int]) -> dict[Row, list[tuple[float, ...]]]:
    """The numbers in inexact columns, grouped by the other values of their rows."""
    groups: defaultdict[Row, list[tuple[float, ...]]] = defaultdict(list)
    for row in rows:
        numbers: list[float] = []
        rest: list[Value] = []
        for place, cell in enumerate(row):
            if place in inexact and isinstance(cell, int | float):
                numbers.append(cell)
                rest += (True, None)
            else:
                rest += (False, cell)
        groups[tuple(rest)].append(tuple(numbers))
    return groups


def _can_be_matched(found: list[tuple[float, ...]], wanted: list[tuple[float, ...]], float_tol: float) -> bool:
    if len(found) != len(wanted):
        return False
    found, wanted = sorted(found, key=_sort_key), sorted(wanted, key=_sort_key)
    if same_in_order(found, wanted, float_tol):
        return True
    if len(found[0]) < 2 or len(found) > MAX_THINGS:
        return False
    return can_be_paired(
        [[place for place, other in enumerate(wanted) if same_in_order([one], [other], float_tol)] for one in found]
    )


def _sort_key(numbers: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(float(f"{number:.10g}") for number in numbers), numbers
