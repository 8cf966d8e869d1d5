"""Finds one-to-one pairs of predictions and reference boxes with the largest total worth.

It is the Hungarian method with potentials (Kuhn 1955; Munkres 1957), on integers, for each group of boxes that can be
paired. The choice uses `_BITS` binary places of each worth; the worth of the chosen pairs is then summed exactly.
"""

from collections.abc import Mapping
from fractions import Fraction

Pair = tuple[int, int]
"""Positions of a prediction and of a reference box."""

_BITS = 80
"""300 errors of this size are far below what a float can tell apart."""


def best_pairs(worth: Mapping[Pair, Fraction], *, most_pairs: bool) -> list[Pair]:
    """Pairs from `worth` (all values in [0, 1]) with the largest sum.

    With `most_pairs`, among the largest sets of pairs.
    """
    chosen: list[Pair] = []
    for group in _groups(worth):
        rows = sorted({pair[0] for pair in group})
        columns = sorted({pair[1] for pair in group})
        if len(group) == 1:
            chosen += group
            continue
        bonus = (min(len(rows), len(columns)) + 1) << _BITS if most_pairs else 0
        is_wide = len(rows) <= len(columns)
        if not is_wide:
            rows, columns = columns, rows
        values = [[0] * len(columns) for _ in rows]
        row_of, column_of = ({key: at for at, key in enumerate(side)} for side in (rows, columns))
        for pair in group:
            first, second = pair if is_wide else pair[::-1]
            share = worth[pair]
            values[row_of[first]][column_of[second]] = bonus + (share.numerator << _BITS) // share.denominator
        assigned = [(rows[row], columns[column]) for row, column in _assignment(values)]
        chosen += [pair for pair in (assigned if is_wide else [pair[::-1] for pair in assigned]) if pair in worth]
    return sorted(chosen)


def _groups(worth: Mapping[Pair, Fraction]) -> list[list[Pair]]:
    """The pairs divided so that no box is in two groups."""
    of_row: dict[int, list[Pair]] = {}
    of_column: dict[int, list[Pair]] = {}
    for pair in worth:
        of_row.setdefault(pair[0], []).append(pair)
        of_column.setdefault(pair[1], []).append(pair)
    groups = []
    while of_row:
        _, waiting = of_row.popitem()
        group: list[Pair] = []
        while waiting:
            group.append(pair := waiting.pop())
            for row, _ in of_column.pop(pair[1], ()):
                waiting += of_row.pop(row, ())
        groups.append(sorted(group))
    return groups


def _assignment(values: list[list[int]]) -> list[Pair]:
    """A column for each row, none used twice, with the largest sum. There are no more rows than columns."""
    columns = range(len(values[0]))
    top = max(map(max, values))
    row_height, column_height = [0] * len(values), [0] * len(columns)
    owner: list[int] = [-1] * len(columns)
    for start in range(len(values)):
        row, distance = start, 0
        costs = [(top + 1) << 20] * len(columns)
        previous_columns = [-1] * len(columns)
        came_from = -1
        waiting = set(columns)
        visited: list[tuple[int, int]] = []
        while True:
            height, line = row_height[row] - top - distance, values[row]
            best = -1
            for column in waiting:
                cost = -line[column] - height - column_height[column]
                if cost < costs[column]:
                    costs[column], previous_columns[column] = cost, came_from
                if best < 0 or costs[column] < costs[best] or (costs[column] == costs[best] and owner[column] < 0):
                    best = column
            distance = costs[best]
            waiting.remove(best)
            visited.append((best, distance))
            if owner[best] < 0:
                break
            row, came_from = owner[best], best
        row_height[start] += distance
        for column, reached in visited[:-1]:
            row_height[owner[column]] += distance - reached
            column_height[column] -= distance - reached
        while best >= 0:
            previous = previous_columns[best]
            owner[best] = start if previous < 0 else owner[previous]
            best = previous
    return sorted((row, column) for column, row in enumerate(owner) if row >= 0)
