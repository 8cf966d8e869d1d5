"""How well a judge agrees with labels: figures, each with an interval of 95 %.

    share         Wilson's interval (Wilson, 1927)
    kappa         agreement beyond chance (Cohen, 1960); F1 of the best class; both by the percentiles of a bootstrap over
                  the table of labels and verdicts (Efron, 1979), with a fixed seed
    correlation   Pearson's, with Fisher's transformation (Fisher, 1915)

A figure that the rows do not allow (no rows, one label only, one length only) is None, and never a number in its place.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

_Z: Final = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
_SAMPLES: Final = 4_000
_Table = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval, and the number of rows that it comes from."""

    value: float
    low: float
    high: float
    rows: int


def share(hits: int, rows: int) -> Figure | None:
    """The share of hits among rows."""
    if not rows:
        return None
    value, squared = hits / rows, _Z**2
    middle = (value + squared / (2 * rows)) / (1 + squared / rows)
    reach = _Z / (1 + squared / rows) * math.sqrt(value * (1 - value) / rows + squared / (4 * rows**2))
    return Figure(value, max(0.0, middle - reach), min(1.0, middle + reach), rows)


def kappa(labels: Sequence[int], verdicts: Sequence[int], classes: int) -> Figure | None:
    """Cohen's kappa of labels and verdicts, which are classes from 0."""
    return _of_table(_kappas, labels, verdicts, classes)


def f1(labels: Sequence[int], verdicts: Sequence[int], classes: int) -> Figure | None:
    """F1 of the highest class."""
    return _of_table(_f1s, labels, verdicts, classes)


def correlation(first: Sequence[float], second: Sequence[float]) -> Figure | None:
    """Pearson's correlation; None with less than 4 rows, or where one of both never differs."""
    rows = len(first)
    if rows < 4 or min(np.ptp(first), np.ptp(second)) == 0:
        return None
    value = float(np.clip(np.corrcoef(first, second)[0, 1], -1.0, 1.0))
    if abs(value) == 1.0:
        return Figure(value, value, value, rows)
    reach = _Z / math.sqrt(rows - 3)
    return Figure(value, math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach), rows)


def _of_table(
    statistic: Callable[[_Table], _Table], labels: Sequence[int], verdicts: Sequence[int], classes: int
) -> Figure | None:
    rows = len(labels)
    if not rows:
        return None
    table = np.zeros((classes, classes))
    np.add.at(table, (list(labels), list(verdicts)), 1)
    value = float(statistic(table[None])[0])
    if math.isnan(value):
        return None
    drawn = np.random.default_rng(0).multinomial(rows, (table / rows).ravel(), _SAMPLES)
    values = statistic(drawn.reshape(-1, classes, classes).astype(float))
    values = values[~np.isnan(values)]
    low, high = np.quantile(values, (0.025, 0.975))
    return Figure(value, float(low), float(high), rows)


def _kappas(tables: _Table) -> _Table:
    """Of each table of labels (rows) and verdicts (columns); NaN if chance alone explains all agreement."""
    rows = tables.sum((1, 2))
    agreed = np.trace(tables, axis1=1, axis2=2) / rows
    chance = (tables.sum(2) * tables.sum(1)).sum(1) / rows**2
    with np.errstate(divide="ignore", invalid="ignore"):
        kappas: _Table = np.where(chance < 1, (agreed - chance) / (1 - chance), np.nan)
    return kappas


def _f1s(tables: _Table) -> _Table:
    """Of each table; NaN if the class is in no label and in no verdict."""
    counts = tables[:, -1, :].sum(1) + tables[:, :, -1].sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores: _Table = np.where(counts > 0, 2 * tables[:, -1, -1] / counts, np.nan)
    return scores
