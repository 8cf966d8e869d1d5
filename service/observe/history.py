"""Remembers the last hour of what `panels.py` shows, without Prometheus: one figure per line and step, of this process alone.

    registry ──► children (last value) ──► leaves (sums of this step, by labels) ──► lines (a ring of figures for each)
     sample         rise of a counter        one for each distinct term                rate, quantile, ratio

Counters are read as Prometheus reads them: a value that fell began again at 0. A step that was missed has no figure.
"""

import asyncio
import math
import os
import re
import socket
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from prometheus_client.metrics_core import Metric

from service.observe.panels import ROWS, Increase, Level, Line, Match, Panel, Quantile, Rate, Ratio, Row, Seldom, Term
from verifiers.pace import Pace

STEP_S: Final = 5.0
STEPS: Final = 720
"""The figures that are kept: an hour of them."""
MAX_LINES: Final = 24
"""The lines of one legend that have figures of their own. What comes when so many are in use goes into one line more."""
OTHER: Final = "other"
_DIGITS: Final = 4
"""Significant digits of a figure in an answer."""

Group: TypeAlias = tuple[str, ...]
Cells: TypeAlias = Mapping[Group, float]


class Series(msgspec.Struct, frozen=True):
    """One line of a panel."""

    name: str
    """The title of its panel."""
    legend: str
    unit: str
    """Units are Grafana's: `ops` and `reqps` are per second, `s` seconds, `percentunit` a share, `short` a number."""
    labels: dict[str, str]
    values: list[float | None]
    """`values[i]` belongs to the time `start + i * step_s`. Not a number, null in JSON: there was nothing to see."""


class Shown(msgspec.Struct, frozen=True):
    """One panel in words."""

    name: str
    row: str
    about: str
    unit: str
    kind: str
    red_above: float | None
    """A figure above this one is trouble."""


class Past(msgspec.Struct, frozen=True):
    """The last hour of one replica, or what is new of it."""

    replica: str
    step_s: float
    start: float
    """The time of the first values, in seconds since 1970."""
    until: float
    """The time of the last values: `since` of the next call."""
    panels: list[Shown]
    """All panels in their order. Empty if only what is new was asked for."""
    series: list[Series]


class History:
    """The figures of one process. It belongs to one event loop, so it has no locks."""

    def __init__(
        self,
        collect: Callable[[], Iterable[Metric]],
        *,
        rows: Sequence[Row] = ROWS,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`collect` gives all metrics. `clock` must be the event loop's."""
        self._collect = collect
        self._rows = [Row(row.title, [candidate for candidate in row.panels if _is_of_one(candidate)]) for row in rows]
        self._clock = clock
        self._epoch_s = round(wall() - clock(), 1)
        self._leaves = _Leaves()
        self._tracks = [
            _Track(panel, line, self._leaves) for row in self._rows for panel in row.panels for line in panel.lines
        ]
        self._children: dict[tuple[str, ...], _Child] = {}
        self._first: int | None = None
        self._step = 0
        self._at = 0.0
        self.replica = f"{socket.gethostname()} ({os.getpid()})"

    async def run(self) -> None:
        """Take a sample at each step, for as long as the service runs."""
        await self.read()
        while True:
            due = (self._step + 1) * STEP_S  # timers may fire a little early, and the step is then still to come
            await asyncio.sleep(max(0.0, due - self._clock()))
            await self.read()

    def sample(self) -> None:
        """Read all metrics. Nothing happens if this step has its figures already."""
        for _ in self._sampling():
            pass

    async def read(self) -> None:
        """The same, but others get their turn between families."""
        pace = Pace()
        for _ in self._sampling():
            await pace.keep()

    def _sampling(self) -> Iterator[None]:
        """Read all metrics, with a stop behind each family."""
        now = self._clock()
        step = int(now / STEP_S)
        if self._first is not None and step <= self._step:
            return
        elapsed_s = None if self._first is None else now - self._at
        self._leaves.begin()
        for family in self._collect():
            for name, labels, value, *_ in family.samples:
                if name in self._leaves.by_metric:
                    self._child(name, labels, begun=elapsed_s is not None).add(value)
            yield
        self._leaves.end(step)
        for track in self._tracks:
            track.note(step, self._step, elapsed_s)
        self._first = step if self._first is None else self._first
        self._step, self._at = step, now

    def _child(self, name: str, labels: Mapping[str, str], *, begun: bool) -> "_Child":
        key = (name, *labels.values())
        child = self._children.get(key)
        if child is None:
            # A counter that was not there at the last step has risen from 0; at the first step nothing is known.
            child = self._children[key] = _Child(self._leaves.of(name, labels), 0.0 if begun else math.nan)
        return child

    def since(self, at_s: float | None = None) -> Callable[[], Past]:
        """The figures after a time, or all of the last hour. Calling the result renders them, in any thread."""
        first = max(self._first or 0, self._step - STEPS + 1)
        if at_s is not None:
            new = math.floor(min(max(at_s - self._epoch_s, 0.0) / STEP_S, self._step) + 0.01) + 1
            first = max(first, new)
        steps = range(first, self._step + 1) if self._first is not None else range(0)
        columns = [(track, group, column.values(steps)) for track in self._tracks for group, column in track.columns()]
        start = round(self._epoch_s + steps.start * STEP_S, 1)

        def render() -> Past:
            series = [_series(track, group, values) for track, group, values in columns]
            panels = [] if at_s is not None else _shown(self._rows)
            until = round(start + (len(steps) - 1) * STEP_S, 1)
            return Past(self.replica, STEP_S, start, until, panels, series)

        return render


def _is_of_one(panel: Panel) -> bool:
    """Whether a panel is about one process. Replicas cannot be counted from one of them."""
    return not any(isinstance(line.value, Level) and line.value.how == "count" for line in panel.lines)


def _shown(rows: Sequence[Row]) -> list[Shown]:
    return [
        Shown(panel.title, row.title, panel.about, panel.unit, panel.kind, panel.red_above)
        for row in rows
        for panel in row.panels
    ]


def _series(track: "_Track", group: Group, values: npt.NDArray[np.float64]) -> Series:
    labels = dict(zip(track.by, group, strict=True))
    return Series(track.panel.title, track.legend(labels), track.panel.unit, labels, _rounded(values))


def _rounded(values: npt.NDArray[np.float64]) -> list[float | None]:
    size = np.abs(values, where=np.isfinite(values) & (values != 0), out=np.ones_like(values))
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(size)))
    rounded: list[float | None] = (np.round(values * scale) / scale).tolist()
    return rounded


class _Leaf:
    """The sums of one term in this step, by its labels."""

    def __init__(self, term: Term) -> None:
        self.term = term
        self.is_level = isinstance(term, Level)
        self.cells: dict[Group, float] = {}
        self._recent: dict[Group, deque[tuple[int, float]]] = {}
        """The rises within the last hour, for a term that counts over an hour."""

    def begin(self) -> None:
        """Begin a step. Groups of counters stay, because a counter that is there once stays, too."""
        self.cells = {} if self.is_level else dict.fromkeys(self.cells, 0.0)

    def add(self, group: Group, value: float) -> None:
        current = self.cells.get(group)
        how = self.term.how if isinstance(self.term, Level) else "sum"
        if current is None or how == "sum":
            self.cells[group] = value + (current or 0.0)
        else:
            self.cells[group] = max(current, value) if how == "max" else min(current, value)

    def end(self, step: int) -> None:
        if not isinstance(self.term, Increase) or self.term.per_step:
            return
        for group, rise in self.cells.items():
            recent = self._recent.setdefault(group, deque())
            if rise:
                recent.append((step, rise))
            while recent and recent[0][0] <= step - STEPS:
                recent.popleft()
            self.cells[group] = sum(rise for _, rise in recent)


class _Leaves:
    """One leaf for each distinct term. Quantiles of one histogram share the rates of its buckets."""

    def __init__(self) -> None:
        self._by_term: dict[Term, _Leaf] = {}
        self.by_metric: dict[str, list[_Leaf]] = {}

    def leaf(self, term: Term) -> _Leaf:
        if isinstance(term, Quantile):
            term = Rate(f"{term.metric}_bucket", ("le", *term.by), term.where)
        leaf = self._by_term.get(term)
        if leaf is None:
            leaf = self._by_term[term] = _Leaf(term)
            self.by_metric.setdefault(term.metric, []).append(leaf)
        return leaf

    def of(self, metric: str, labels: Mapping[str, str]) -> "list[tuple[_Leaf, Group]]":
        """The leaves of one child of a metric, with its group in each."""
        return [
            (leaf, tuple(labels.get(label, "") for label in leaf.term.by))
            for leaf in self.by_metric[metric]
            if all(_fits(match, labels) for match in leaf.term.where)
        ]

    def begin(self) -> None:
        for leaf in self._by_term.values():
            leaf.begin()

    def end(self, step: int) -> None:
        for leaf in self._by_term.values():
            leaf.end(step)


def _fits(match: Match, labels: Mapping[str, str]) -> bool:
    label, how, value = match
    if value.startswith("$"):
        return True
    label_value = labels.get(label, "")
    is_equal = label_value == value if how in ("=", "!=") else re.fullmatch(value, label_value) is not None
    return is_equal is not how.startswith("!")


@dataclass(slots=True)
class _Child:
    """One child of a metric."""

    leaves: Sequence[tuple[_Leaf, Group]]
    last: float

    def add(self, value: float) -> None:
        previous, self.last = self.last, value
        for leaf, group in self.leaves:
            if leaf.is_level:
                leaf.add(group, value)
            elif value != previous or group not in leaf.cells:
                leaf.add(group, _rise(previous, value))


def _rise(previous: float, value: float) -> float:
    if math.isnan(previous):
        return 0.0
    return value - previous if value >= previous else value


@dataclass(slots=True)
class _Column:
    """The figures of one line of the last hour, in a ring."""

    used_at: int = -STEPS
    """The last step with a figure other than 0."""
    ring: "array[float]" = field(default_factory=lambda: array("f", [math.nan]) * STEPS)

    def values(self, steps: range) -> npt.NDArray[np.float64]:
        return np.frombuffer(self.ring, np.float32)[np.arange(steps.start, steps.stop) % STEPS].astype(np.float64)


class _Track:
    """The figures of one line of the table: a column for each of its groups."""

    def __init__(self, panel: Panel, line: Line, leaves: _Leaves) -> None:
        self.panel = panel
        self._line = line
        self._value = line.value.part if isinstance(line.value, Ratio) else line.value
        self._term = self._value.value if isinstance(self._value, Seldom) else self._value
        self._leaf = leaves.leaf(self._term)
        self._whole = leaves.leaf(line.value.whole) if isinstance(line.value, Ratio) else None
        self.by = self._term.by
        self._other: Group = (OTHER,) * len(self.by)
        self._columns: dict[Group, _Column] = {}

    def columns(self) -> Iterable[tuple[Group, _Column]]:
        return self._columns.items()

    def legend(self, labels: Mapping[str, str]) -> str:
        """The name of a line: `p99 http`. The line of all others has the name of its first label: `p99 other door`."""
        text = self._line.legend
        is_other = set(labels.values()) == {OTHER}
        for index, (label, value) in enumerate(labels.items()):
            text_shown = value if not is_other else "" if index else f"{OTHER} {label}"
            text = text.replace("{{" + label + "}}", text_shown)
        return text.strip() or ("(none)" if labels and "instance" not in labels else "")

    def note(self, step: int, previous_step: int, elapsed_s: float | None) -> None:
        """Keep the figures of a step. `previous_step` is the last step that has figures."""
        figures = self._figures(elapsed_s, None)
        if not figures.keys() <= self._columns.keys():
            self._make_room(figures, step)
            if not figures.keys() <= self._columns.keys():
                figures = self._figures(elapsed_s, self._columns.keys())
        for group, column in self._columns.items():
            for missed in range(max(previous_step + 1, step - STEPS + 1), step):
                column.ring[missed % STEPS] = math.nan
            figure = column.ring[step % STEPS] = figures.get(group, math.nan)
            if figure and not math.isnan(figure):
                column.used_at = step

    def _make_room(self, figures: Cells, step: int) -> None:
        """Give the largest new groups columns, as many as there may be. Groups in use take those of idle ones."""
        new = [group for group in figures if group not in self._columns]
        new.sort(key=lambda group: figures[group] if figures[group] > 0 else 0.0, reverse=True)
        room = max(0, MAX_LINES - len(self._columns))
        active = sum(1 for group in new[room:] if figures[group] > 0)
        for group in [group for group, column in self._columns.items() if column.used_at <= step - STEPS][:active]:
            del self._columns[group]
            room += 1
        for group in chain(new[:room], [self._other] if len(new) > room else []):
            self._columns.setdefault(group, _Column())

    def _figures(self, elapsed_s: float | None, groups: Iterable[Group] | None) -> Cells:
        """The figures of this step, by group. Groups that are not `groups` are one."""
        if elapsed_s is None and not self._leaf.is_level:
            return {}
        cells = self._folded(self._leaf, groups)
        if isinstance(self._term, Quantile):
            return _quantiles(cells, self._term.share)
        if not self.by and not self._leaf.is_level:
            cells = cells or {(): 0.0}
        if self._whole is not None:
            wholes = self._folded(self._whole, groups if self._whole.term.by else None)
            return {group: _divided(cell, wholes.get(group, wholes.get((), 0.0))) for group, cell in cells.items()}
        if isinstance(self._term, Rate) and elapsed_s is not None:
            return {group: cell / elapsed_s for group, cell in cells.items()}
        return cells

    def _folded(self, leaf: _Leaf, groups: Iterable[Group] | None) -> Cells:
        if groups is None:
            return leaf.cells
        folded = _Leaf(leaf.term)
        extra = len(leaf.term.by) - len(self.by)
        for group, cell in leaf.cells.items():
            folded.add(group if group[extra:] in groups else (*group[:extra], *self._other), cell)
        return folded.cells


def _divided(part: float, divisor: float) -> float:
    return part / divisor if divisor else math.nan


def _quantiles(cells: Cells, share: float) -> Cells:
    """The quantile of each group from its buckets, whose bound is the first label, as `histogram_quantile` has it."""
    buckets: dict[Group, list[tuple[float, float]]] = {}
    for (bound, *group), count in cells.items():
        buckets.setdefault(tuple(group), []).append((float(bound), count))
    return {group: _quantile(sorted(bounds), share) for group, bounds in buckets.items()}


def _quantile(buckets: Sequence[tuple[float, float]], share: float) -> float:
    """The quantile of cumulative counts by upper bound, the last of which is infinite."""
    rank = share * buckets[-1][1]
    if not rank:
        return math.nan
    low = count_below = 0.0
    for bound, count in buckets:
        if count >= rank:
            if math.isinf(bound):
                return low
            return low + (bound - low) * (rank - count_below) / (count - count_below)
        low, count_below = bound, count
    return low
