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


def same_in_order(actual: Sequence[Row], expected: Sequence[Row], float_tol: float) -> bool:
    return len(actual) == len(expected) and all(
        len(left_row) == len(right_row)
        and all(_same(*cells, float_tol) for cells in zip(left_row, right_row, strict=True))
        for left_row, right_row in zip(actual, expected, strict=True)
    )


def same_multiset(actual: Sequence[Row], expected: Sequence[Row], float_tol: float) -> bool:
    """Whether the rows can be paired one to one, each with an equal row."""
    if len(actual) != len(expected) or Counter(actual) == Counter(expected):
        return len(actual) == len(expected)
    inexact = {column for row in (*actual, *expected) for column, cell in enumerate(row) if isinstance(cell, float)}
    groups, other_groups = _grouped(actual, inexact), _grouped(expected, inexact)
    return groups.keys() == other_groups.keys() and all(
        _can_be_matched(numbers, other_groups[key], float_tol) for key, numbers in groups.items()
    )


def tie_groups(forwards: Sequence[Row], backwards: Sequence[Row]) -> list[slice] | None:
    """The runs of rows that change places between two results of one ordered query, from first to last.

    The result is None if the two results have different rows, because then ties decide which rows are returned.
    """
    balance: Counter[Row] = Counter()
    stops = [0]
    for number, (forward, backward) in enumerate(zip(forwards, backwards, strict=False), start=1):
        for row, sign in ((_rounded(forward), 1), (_rounded(backward), -1)):
            balance[row] += sign
            if not balance[row]:
                del balance[row]
        if not balance:
            stops.append(number)
    if len(forwards) != len(backwards) or balance:
        return None
    return [slice(start, end) for start, end in pairwise(stops)]


def _rounded(row: Row) -> Row:
    return tuple(float(f"{cell:.12g}") if isinstance(cell, float) else cell for cell in row)


def _same(value: Value, expected: Value, float_tol: float) -> bool:
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return _close(value, expected, float_tol)
    return value == expected


def _close(number: float, expected: float, float_tol: float) -> bool:
    if number == expected:
        return True
    if isinstance(number, int) and isinstance(expected, int):
        return False
    difference = abs(number - expected)
    if 0 < float_tol >= difference:
        return True
    return _has_fraction(number, expected) and difference <= ROUNDING * max(abs(number), abs(expected)) < float("inf")


def _has_fraction(number: float, expected: float) -> bool:
    """Whether two numbers may differ by rounding. Whole numbers may not, unless both are REAL."""
    if isinstance(number, float) and isinstance(expected, float):
        return True
    return not (float(number).is_integer() and float(expected).is_integer())


def _grouped(rows: Sequence[Row], inexact: set[int]) -> dict[Row, list[tuple[float, ...]]]:
    """The numbers in inexact columns, grouped by the other values of their rows."""
    groups: defaultdict[Row, list[tuple[float, ...]]] = defaultdict(list)
    for row in rows:
        numbers: list[float] = []
        key: list[Value] = []
        for column, cell in enumerate(row):
            if column in inexact and isinstance(cell, int | float):
                numbers.append(cell)
                key += (True, None)
            else:
                key += (False, cell)
        groups[tuple(key)].append(tuple(numbers))
    return groups


def _can_be_matched(actual: list[tuple[float, ...]], expected: list[tuple[float, ...]], float_tol: float) -> bool:
    if len(actual) != len(expected):
        return False
    actual, expected = sorted(actual, key=_sort_key), sorted(expected, key=_sort_key)
    if same_in_order(actual, expected, float_tol):
        return True
    if len(actual[0]) < 2 or len(actual) > MAX_THINGS:
        return False
    return can_be_paired(
        [
            [index for index, expected_row in enumerate(expected) if same_in_order([row], [expected_row], float_tol)]
            for row in actual
        ]
    )


def _sort_key(numbers: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(float(f"{number:.10g}") for number in numbers), numbers
