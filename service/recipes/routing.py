"""Chooses the recipe of a row by its labels: `domain` before `data_source` before `tag`. There is no default.

Several routes may match a label. An exact route comes before those with `*`; among those, the one with the most
characters that are not `*` comes first; among equals, the one with more conditions. If this does not tell two routes
apart, the table is refused: the recipe of a row must never depend on the order of a file.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import combinations, groupby
from operator import attrgetter
from typing import Any, Final

from service.recipes.model import RouteSpec
from verifiers.base import InvalidItem

KINDS: Final = ("domain", "data_source", "tag")
_MAX_STARS: Final = 4
_LEVELS: Final = {"easy": 1.0, "medium": 2.0, "hard": 3.0}


class AmbiguousRoutes(Exception):
    """Two routes may match the same row, and no rule says which comes first."""


@dataclass(frozen=True, slots=True)
class Row:
    """The data of a row that routes look at."""

    labels: Mapping[str, str]
    """The labels of the row, by kind. Missing labels are left out."""
    difficulty: float | str | None
    """As the row has it. It is read only if a route asks: data sets have levels of their own (`VERY_HARD`)."""
    reference_fields: Set[str]
    """The fields of a reference that is an object."""


@dataclass(frozen=True, slots=True)
class _Route:
    spec: RouteSpec
    pattern: re.Pattern[str]

    @property
    def rank(self) -> tuple[bool, int, int]:
        """The rank of the route. The highest comes first."""
        spec = self.spec
        conditions = (spec.difficulty is not None) + (spec.reference_has is not None)
        return "*" not in spec.pattern, len(spec.pattern.replace("*", "")), conditions

    def matches(self, label: str, row: Row) -> bool:
        spec = self.spec
        if self.pattern.fullmatch(label) is None:
            return False
        if spec.reference_has is not None and spec.reference_has not in row.reference_fields:
            return False
        if spec.difficulty is None:
            return True
        difficulty = difficulty_of(row.difficulty)
        return difficulty is not None and spec.difficulty.holds(difficulty)


def difficulty_of(value: float | str | None) -> float | None:
    """A difficulty as a number.

    Raises:
        InvalidItem: the difficulty is neither a number nor one of the levels.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        level = _LEVELS.get(value.strip().lower())
        if level is not None:
            return level
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidItem(
            "bad_difficulty", f"difficulty {str(value)[:40]!r} is neither a number nor one of {list(_LEVELS)}"
        )
    return number


class Table:
    """The routes of one file."""

    def __init__(self, specs: Iterable[RouteSpec]) -> None:
        """Gather the routes of one file.

        Raises:
            AmbiguousRoutes: two routes may match the same row. The error names both.
        """
        routes = [_Route(spec, _compiled(spec.pattern)) for spec in specs]
        self._by_kind: dict[str, Sequence[_Route]] = {
            kind: sorted((r for r in routes if r.spec.kind == kind), key=attrgetter("rank"), reverse=True)
            for kind in KINDS
        }
        for alike in (alike for ranked in self._by_kind.values() for _, alike in groupby(ranked, attrgetter("rank"))):
            for first, second in combinations(alike, 2):
                if _clash(first, second):
                    both = f"{route_text(first.spec)} and {route_text(second.spec)}"
                    raise AmbiguousRoutes(f"{both} may match the same row")

    def find(self, kind: str, row: Row) -> RouteSpec | None:
        """The route for the row's label of this kind."""
        label = row.labels[kind]
        return next((route.spec for route in self._by_kind[kind] if route.matches(label, row)), None)


def find(tables: Sequence[Table], row: Row) -> RouteSpec | None:
    """The first route for the row. It tries the labels in their order, and for each label the tables in theirs."""
    for kind in KINDS:
        if kind in row.labels:
            for table in tables:
                route = table.find(kind, row)
                if route is not None:
                    return route
    return None


def route_text(spec: RouteSpec) -> str:
    """The text for a route in a message."""
    conditions: dict[str, Any] = {spec.kind: spec.pattern}
    if spec.difficulty is not None:
        conditions["difficulty"] = spec.difficulty.model_dump(exclude_none=True)
    if spec.reference_has is not None:
        conditions["reference_has"] = spec.reference_has
    description = ", ".join(f"{name} {value}" for name, value in conditions.items())
    return f"the route of {description} to {spec.recipe}"


def _compiled(pattern: str) -> re.Pattern[str]:
    if pattern.count("*") > _MAX_STARS:
        raise AmbiguousRoutes(f"{pattern!r}: at most {_MAX_STARS} stars in a label")
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def _clash(first: _Route, second: _Route) -> bool:
    """Whether two routes of one kind and rank may match the same row."""
    ranges = (first.spec.difficulty, second.spec.difficulty)
    if ranges[0] is not None and ranges[1] is not None and not ranges[0].meets(ranges[1]):
        return False
    return _meet(first.spec.pattern, second.spec.pattern)


def _meet(first: str, second: str) -> bool:
    """Whether some text matches both patterns."""

    @cache
    def meet(i: int, j: int) -> bool:
        if i == len(first) and j == len(second):
            return True
        if i < len(first) and first[i] == "*":
            return meet(i + 1, j) or (j < len(second) and meet(i, j + 1))
        if j < len(second) and second[j] == "*":
            return meet(i, j + 1) or (i < len(first) and meet(i + 1, j))
        return i < len(first) and j < len(second) and first[i] == second[j] and meet(i + 1, j + 1)

    return meet(0, 0)
